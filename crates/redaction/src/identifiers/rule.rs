//! One rule of a family table: what an identifier looks like, how it is checked, which words announce it.

/// Whether a value without its keyword is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StandaloneMatch {
    /// Only next to a keyword.
    Never,
    /// With its check right and its separators written.
    Separated,
    /// With its check right.
    Valid,
}

/// An identifier of one kind.
pub(crate) struct IdentifierRule {
    pub(crate) label: &'static str,
    /// `d` digit, `a` letter, `w` either; `-` a place where a separator (space, dot, hyphen, slash) may stand.
    pub(crate) shapes: &'static [&'static str],
    /// Folded, lower case; one of them on the same line within reach.
    pub(crate) keywords: &'static [&'static str],
    /// Over letters and digits in lower case, without separators.
    pub(crate) check: fn(&str) -> bool,
    pub(crate) standalone: StandaloneMatch,
}

/// A compiled shape: sets of places, as bits.
#[derive(Clone, Copy)]
pub(crate) struct IdentifierShape {
    length: usize,
    /// Where a digit must stand.
    digits: u64,
    /// Where a letter must stand.
    letters: u64,
    /// Bit n: a separator may stand before the n-th letter or digit.
    breaks: u64,
}

impl IdentifierShape {
    pub(crate) fn compile(text: &str) -> Self {
        let mut shape = Self { length: 0, digits: 0, letters: 0, breaks: 0 };
        for class in text.bytes() {
            let here = 1 << shape.length;
            match class {
                b'-' => {
                    shape.breaks |= here;
                    continue;
                }
                b'd' => shape.digits |= here,
                b'a' => shape.letters |= here,
                _ => {}
            }
            shape.length += 1;
        }
        shape
    }

    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Whether the same values fit both.
    pub(crate) fn has_places_of(&self, other: &Self) -> bool {
        (self.length, self.digits, self.letters) == (other.length, other.digits, other.letters)
    }

    /// Whether a value of this length, letters and digits alone, has its digits where they must and may be.
    pub(crate) fn fits(&self, digits: u64) -> bool {
        self.digits & !digits == 0 && self.letters & digits == 0
    }

    /// Whether the last place of a separator is used: before the check digit of a RUT, the serial of an SSN.
    pub(crate) fn is_separated(&self, breaks: u64) -> bool {
        self.breaks != 0 && breaks & (1 << self.breaks.ilog2()) != 0
    }

    /// Whether separators stand only where this shape has them.
    pub(crate) fn allows(&self, breaks: u64) -> bool {
        breaks & !self.breaks == 0
    }
}

/// Shapes without a check digit.
pub(crate) fn unchecked(_: &str) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::IdentifierShape;

    #[test]
    fn a_shape_knows_its_letters_digits_and_separators() {
        let shape = IdentifierShape::compile("dd-ddd-a");
        // "12345z", "1234zz", "123456".
        assert!(shape.fits(0b011111) && !shape.fits(0b001111) && !shape.fits(0b111111));
        assert!(shape.allows(0) && shape.allows(1 << 2 | 1 << 5) && !shape.allows(1 << 3));
    }

    #[test]
    fn only_the_last_place_of_a_separator_tells_a_written_number() {
        let shape = IdentifierShape::compile("dd-ddd-a");
        assert_eq!(shape.length(), 6);
        assert!(shape.is_separated(1 << 5) && shape.is_separated(1 << 2 | 1 << 5) && !shape.is_separated(1 << 2));
        assert!(!IdentifierShape::compile("dddd").is_separated(0));
        assert!(
            shape.has_places_of(&IdentifierShape::compile("ddddd-a"))
                && !shape.has_places_of(&IdentifierShape::compile("dddddd"))
        );
        assert!(!shape.has_places_of(&IdentifierShape::compile("dddddw")), "a place of either kind is another one");
        let either = IdentifierShape::compile("dw");
        assert!(either.fits(0b01) && either.fits(0b11) && !either.fits(0b10));
    }
}

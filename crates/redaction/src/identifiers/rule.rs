//! One rule of a family table: the shape of an identifier, its check, and its keywords.

/// Whether a value without its keyword is redacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StandaloneMatch {
    /// Only next to a keyword.
    Never,
    /// If its check is right and its separators are written.
    Separated,
    /// If its check is right.
    Valid,
}

/// An identifier of one kind.
pub(crate) struct IdentifierRule {
    pub(crate) label: &'static str,
    /// `d` digit, `a` letter, `w` either; `-` a position where a separator (space, dot, hyphen, slash) may be written.
    pub(crate) shapes: &'static [&'static str],
    /// Folded, lower case; one of them precedes the value on the same line.
    pub(crate) keywords: &'static [&'static str],
    /// Applied to letters and digits in lower case, without separators.
    pub(crate) check: fn(&str) -> bool,
    pub(crate) standalone: StandaloneMatch,
}

#[derive(Clone, Copy)]
pub(crate) struct IdentifierShape {
    length: usize,
    digits: u64,
    letters: u64,
    /// Bit n: a separator may precede the n-th letter or digit.
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

    /// Whether the same values match both.
    pub(crate) fn has_places_of(&self, other: &Self) -> bool {
        (self.length, self.digits, self.letters) == (other.length, other.digits, other.letters)
    }

    /// Whether a value of this length has digits where they are required or allowed.
    pub(crate) fn fits(&self, digits: u64) -> bool {
        self.digits & !digits == 0 && self.letters & digits == 0
    }

    /// Whether the last separator is written: before the check digit of a RUT, the serial of an SSN.
    pub(crate) fn is_separated(&self, breaks: u64) -> bool {
        self.breaks != 0 && breaks & (1 << self.breaks.ilog2()) != 0
    }

    /// Whether separators are only where this shape allows them.
    pub(crate) fn allows(&self, breaks: u64) -> bool {
        breaks & !self.breaks == 0
    }
}

/// For shapes without a check digit.
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
    fn only_the_last_separator_shows_a_written_number() {
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

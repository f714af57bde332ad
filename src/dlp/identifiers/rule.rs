//! One rule of a family table: what an identifier looks like, how it is checked, which words announce it.

/// Whether a value without its keyword is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alone {
    /// Only beside a keyword.
    Never,
    /// With its check right and its separators written.
    Separated,
    /// With its check right.
    Valid,
}

/// An identifier of one kind.
pub struct Rule {
    pub label: &'static str,
    /// `d` digit, `a` letter, `w` either; `-` a place where a separator (space, dot, hyphen, slash) may stand.
    pub shapes: &'static [&'static str],
    /// Folded, lower case; one of them on the same line within reach.
    pub keywords: &'static [&'static str],
    /// Over letters and digits in lower case, without separators.
    pub check: fn(&str) -> bool,
    pub alone: Alone,
}

/// A compiled shape.
pub struct Shape {
    classes: Vec<u8>,
    /// Bit n: a separator may stand before the n-th letter or digit.
    breaks: u64,
}

impl Shape {
    pub fn compile(text: &str) -> Self {
        let mut shape = Self { classes: Vec::new(), breaks: 0 };
        for class in text.bytes() {
            match class {
                b'-' => shape.breaks |= 1 << shape.classes.len(),
                _ => shape.classes.push(class),
            }
        }
        shape
    }

    pub fn length(&self) -> usize {
        self.classes.len()
    }

    /// Whether letters and digits fit, places of separators aside.
    pub fn fits(&self, value: &str) -> bool {
        value.len() == self.classes.len()
            && value.bytes().zip(&self.classes).all(|(byte, class)| match class {
                b'd' => byte.is_ascii_digit(),
                b'a' => byte.is_ascii_alphabetic(),
                _ => byte.is_ascii_alphanumeric(),
            })
    }

    /// Whether the last place of a separator is used: before the check digit of a RUT, the serial of an SSN.
    pub fn is_separated(&self, breaks: u64) -> bool {
        self.breaks != 0 && breaks & (1 << self.breaks.ilog2()) != 0
    }

    /// Whether separators stand only where this shape has them.
    pub fn allows(&self, breaks: u64) -> bool {
        breaks & !self.breaks == 0
    }
}

/// Shapes without a check digit.
pub fn unchecked(_: &str) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::Shape;

    #[test]
    fn a_shape_knows_its_letters_digits_and_separators() {
        let shape = Shape::compile("dd-ddd-a");
        assert!(shape.fits("12345z") && !shape.fits("1234zz"));
        assert!(shape.allows(0) && shape.allows(1 << 2 | 1 << 5) && !shape.allows(1 << 3));
    }
}

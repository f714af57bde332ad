//! Byte offsets ↔ Unicode code point offsets. The program counts bytes, the contract counts code points (contract.md,
//! `redact` and `extract`), and every answer crosses this door once.

use super::Span;

/// One checkpoint for this many code points: a conversion walks at most so many characters.
const STRIDE: usize = 64;

/// Converts offsets of one text. Building is linear; a conversion is O(log n) to code points and O(1) to bytes.
/// ASCII text needs no table at all.
#[derive(Debug, Clone)]
pub struct CodePoints<'a> {
    text: &'a str,
    /// Byte offset of every [`STRIDE`]th code point; empty for ASCII text.
    checkpoints: Vec<usize>,
    count: usize,
}

impl<'a> CodePoints<'a> {
    pub fn new(text: &'a str) -> Self {
        if text.is_ascii() {
            return Self { text, checkpoints: Vec::new(), count: text.len() };
        }
        let mut checkpoints = Vec::with_capacity(text.len() / STRIDE + 1);
        let mut count = 0;
        for (at, _) in text.char_indices() {
            if count % STRIDE == 0 {
                checkpoints.push(at);
            }
            count += 1;
        }
        Self { text, checkpoints, count }
    }

    /// How many code points the text has.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The code point offset of a byte offset. Past the end it is the length; inside a character, that character's.
    pub fn from_byte(&self, byte: usize) -> usize {
        let byte = byte.min(self.text.len());
        if self.checkpoints.is_empty() {
            return byte;
        }
        let slot = self.checkpoints.partition_point(|&at| at <= byte).saturating_sub(1);
        let start = self.checkpoints[slot];
        // A continuation byte has the form 10xxxxxx, so whatever is not one begins a character.
        let begun = self.text.as_bytes()[start..byte].iter().filter(|b| (**b & 0xC0) != 0x80).count();
        let inside = byte < self.text.len() && !self.text.is_char_boundary(byte);
        slot * STRIDE + begun - usize::from(inside)
    }

    /// The byte offset of a code point offset; `None` past the end.
    pub fn to_byte(&self, code_point: usize) -> Option<usize> {
        if code_point > self.count {
            return None;
        }
        if self.checkpoints.is_empty() {
            return Some(code_point);
        }
        if code_point == self.count {
            return Some(self.text.len());
        }
        let start = *self.checkpoints.get(code_point / STRIDE)?;
        self.text[start..].char_indices().nth(code_point % STRIDE).map(|(at, _)| start + at)
    }

    /// A byte span in code points.
    pub fn span_from_bytes(&self, span: Span) -> Span {
        Span::new(self.from_byte(span.start), self.from_byte(span.end))
    }

    /// A code point span in bytes; `None` where it is inverted or does not fit the text.
    pub fn span_to_bytes(&self, start: usize, end: usize) -> Option<Span> {
        if start > end {
            return None;
        }
        Some(Span::new(self.to_byte(start)?, self.to_byte(end)?))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn offsets_past_the_end_are_refused_or_clamped() {
        let points = CodePoints::new("año");
        assert_eq!(points.count(), 3);
        assert_eq!(points.to_byte(3), Some(4));
        assert_eq!(points.to_byte(4), None);
        assert_eq!(points.from_byte(99), 3);
        assert_eq!(points.span_to_bytes(2, 1), None);
    }

    #[test]
    fn an_offset_inside_a_character_is_that_characters() {
        assert_eq!(CodePoints::new("año").from_byte(2), 1);
    }

    proptest! {
        #[test]
        fn both_directions_agree_with_counting(text in "(\\PC|\\n){0,300}") {
            let points = CodePoints::new(&text);
            for (code_point, (byte, _)) in text.char_indices().enumerate() {
                prop_assert_eq!(points.from_byte(byte), code_point);
                prop_assert_eq!(points.to_byte(code_point), Some(byte));
            }
            prop_assert_eq!(points.to_byte(points.count()), Some(text.len()));
            prop_assert_eq!(points.from_byte(text.len()), text.chars().count());
        }
    }
}

//! Dates in Spanish and English: found in the text before redaction, resolved against the day of the document, and bound
//! to the finding of the same clause. Only the typed value leaves this module, never the words.

mod bind;
#[cfg(test)]
mod bind_tests;
mod cells;
mod courses;
mod ends;
#[cfg(test)]
mod ends_tests;
mod forms;
mod holidays;
mod patterns;
mod reach;
mod resolve;
mod spoken;
mod starts;
#[cfg(test)]
mod tests;

pub(super) use bind::bind;
pub(super) use courses::COURSE;
pub(super) use ends::{Tense, tense_before};
pub use patterns::find;
pub use resolve::{Direction, Said};

use anamnesis_text::Span;

/// A date where it was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateMention {
    /// Bytes of the text that extraction reads.
    pub span: Span,
    pub said: Said,
}

//! Dates in Spanish and English: found in the text before redaction, resolved against the day of the document, and bound
//! to the finding of the same clause. Only the typed value leaves this module, never the words.

mod colloquial;
mod courses;
mod distance;
#[cfg(test)]
mod end_date_tests;
mod end_dates;
mod forms;
mod holidays;
mod linking;
#[cfg(test)]
mod linking_tests;
mod patterns;
mod resolve;
mod start_dates;
mod table_rows;
#[cfg(test)]
mod tests;

pub(super) use courses::COURSE;
pub(super) use end_dates::{EndTense, tense_before};
pub(super) use linking::link_dates;
pub use patterns::find;
pub use resolve::{DateDirection, DateExpression};

use anamnesis_text::Span;

/// A date where it was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateMention {
    /// Bytes of the text that extraction reads.
    pub span: Span,
    pub said: DateExpression,
}

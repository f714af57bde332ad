//! Dates and ages that redaction takes out of a text and passes on as typed values.

use anamnesis_text::Span;
use chrono::NaiveDate;

/// How exact a date was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Precision {
    Year,
    Month,
    Day,
}

/// A typed value that redaction took out of the text; goes to typed columns only, never to text, quote, log, event or
/// vector (model.md "Decisions" 7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SideValue {
    Date {
        date: NaiveDate,
        precision: Precision,
    },
    /// Whole years.
    Age(u16),
}

/// A side value and the place of its replacement in the redacted text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlacedValue {
    pub at: Span,
    pub value: SideValue,
}

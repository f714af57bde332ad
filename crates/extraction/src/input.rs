//! The input of extraction.

use chrono::NaiveDate;

use super::dates::DateMention;
use anamnesis_core::document::DocumentType;
use anamnesis_core::side_value::PlacedValue;
use anamnesis_text::{Document, Span};

/// One question to the extractor. Spans are bytes of the document's text.
#[derive(Debug, Clone, Copy)]
pub struct ExtractionInput<'a> {
    pub document: &'a Document,
    pub document_type: Option<DocumentType>,
    /// Places whose context is asked for; one that does not fit the text gets the default context.
    pub targets: &'a [Span],
    /// Dates and ages that redaction took out, for events and appointments.
    pub values: &'a [PlacedValue],
    /// Dates as said before redaction, at their places in this text.
    pub dates: &'a [DateMention],
    /// The day of the document, from which dates are resolved; without it no finding has a date.
    pub today: Option<NaiveDate>,
}

impl<'a> ExtractionInput<'a> {
    pub fn new(document: &'a Document) -> Self {
        Self { document, document_type: None, targets: &[], values: &[], dates: &[], today: None }
    }
}

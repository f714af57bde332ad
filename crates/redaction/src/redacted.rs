//! The result of redaction: the text, its replacements, and the mapping between its positions and those of the source.

use super::fixpoint;
use anamnesis_core::side_value::PlacedValue;
use anamnesis_text::{Document, Span};

/// One stretch that was replaced. Holds no value: offsets, type, recogniser, score, replacement, keyed fingerprint.
#[derive(Debug, Clone, PartialEq)]
pub struct Redaction {
    /// Its position in the source.
    pub source: Span,
    /// Position of the replacement in the redacted text.
    pub redacted: Span,
    /// Label of contract.md (PERSON, ES_DNI …).
    pub label: &'static str,
    /// The recogniser that found it.
    pub recognizer: &'static str,
    /// 0.0–1.0.
    pub score: f64,
    /// The replacement in the redacted text.
    pub replacement: String,
    /// HMAC of the normalised value under the patient's key (first 8 bytes): equal values are recognisable, no value is.
    pub fingerprint: u64,
}

/// A text without personal data. Its fields are private to this crate: only a redactor builds it.
#[derive(Debug, Clone, PartialEq)]
pub struct Redacted {
    pub(crate) document: Document,
    pub(crate) redactions: Vec<Redaction>,
    pub(crate) values: Vec<PlacedValue>,
    pub(crate) policy: String,
}

impl Redacted {
    /// The redacted text with its turns.
    pub fn document(&self) -> &Document {
        &self.document
    }

    pub fn redactions(&self) -> &[Redaction] {
        &self.redactions
    }

    pub fn values(&self) -> &[PlacedValue] {
        &self.values
    }

    /// The position in the redacted text of a position of the source outside of all replacements.
    pub fn place_of(&self, source: usize) -> usize {
        moved(source, &self.redactions, |one| (one.source, one.redacted))
    }

    /// The position in the redacted text of a border of the source. A border inside a value moves after its
    /// replacement.
    pub fn border_of(&self, source: usize) -> usize {
        // A border inside a value moves after its replacement, because a tag cannot be cut in two.
        let cut = self.redactions.iter().find(|one| one.source.start < source && source < one.source.end);
        cut.map_or_else(|| self.place_of(source), |one| one.redacted.end)
    }

    /// The span in the redacted text of a span of the source; a replaced span becomes that of its replacement.
    pub fn span_of(&self, source: Span) -> Span {
        let replaced = self.redactions.iter().filter(|one| one.source.overlaps(&source)).map(|one| one.redacted);
        let whole = replaced.reduce(|a, b| Span::new(a.start.min(b.start), a.end.max(b.end)));
        whole.unwrap_or_else(|| Span::new(self.border_of(source.start), self.border_of(source.end)))
    }

    /// The stretch of the redacted text that covers a stretch of the source, with the whole replacements at its ends.
    pub fn cover_of(&self, source: Span) -> Span {
        let replaced = |place: usize| {
            let cuts = |one: &&Redaction| one.source.start < place && place < one.source.end;
            self.redactions.iter().find(cuts).map(|one| one.redacted)
        };
        let start = replaced(source.start).map_or_else(|| self.place_of(source.start), |whole| whole.start);
        let end = replaced(source.end).map_or_else(|| self.place_of(source.end), |whole| whole.end);
        Span::new(start, end.max(start))
    }

    /// This redaction and one of the text that it made, as one.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        fixpoint::compose(self, next)
    }

    /// Policy and recogniser version, stored with the document.
    pub fn policy(&self) -> &str {
        &self.policy
    }
}

/// Maps a position across replacements. `pair` returns the span on the side of `place` and on the other side.
pub(crate) fn moved(place: usize, redactions: &[Redaction], pair: impl Fn(&Redaction) -> (Span, Span)) -> usize {
    let before = redactions.partition_point(|one| pair(one).0.end <= place);
    // Only the last replacement matters: its two ends already contain the shifts of all before it.
    before.checked_sub(1).map_or(place, |last| {
        let (here, there) = pair(&redactions[last]);
        there.end + (place - here.end)
    })
}

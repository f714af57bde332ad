//! Dates in Spanish and English: found in the text before redaction, resolved against the day of the document, and bound
//! to the finding of the same clause. Only the typed value leaves this module, never the words.

mod bind;
#[cfg(test)]
mod bind_tests;
mod cells;
mod forms;
mod holidays;
mod patterns;
mod reach;
mod resolve;
mod spoken;
#[cfg(test)]
mod tests;

pub(super) use bind::bind;
pub use patterns::find;
pub use resolve::{Direction, Said};

use crate::dlp::Redacted;
use crate::text::Span;

/// A date where it was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateMention {
    /// Bytes of the text that extraction reads.
    pub span: Span,
    pub said: Said,
}

impl DateMention {
    /// The same mention at its place in the redacted text; one that was replaced is where its replacement is.
    pub fn placed_in(&self, redacted: &Redacted) -> Self {
        let replaced =
            redacted.redactions().iter().filter(|one| one.source.overlaps(&self.span)).map(|one| one.redacted);
        let span = replaced.reduce(|a, b| Span::new(a.start.min(b.start), a.end.max(b.end)));
        let kept = || Span::new(redacted.border_of(self.span.start), redacted.border_of(self.span.end));
        Self { span: span.unwrap_or_else(kept), said: self.said }
    }
}

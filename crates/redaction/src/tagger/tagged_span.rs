//! A finding of the model, with its tokens.

use super::super::document::DocumentContext;
use super::super::finding::PiiFinding;
use super::super::token::{TextToken, TextTokenKind};

/// In a text of up to this many words, only the lists distinguish a name from another word.
pub(crate) const FEW: usize = 4;
/// A finding of the model and the tokens it covers.
pub(crate) struct TaggedSpan {
    pub(super) finding: PiiFinding,
    pub(super) first: usize,
    /// One after the last.
    pub(super) end: usize,
}

/// The words of a finding.
pub(crate) fn words<'a>(context: &'a DocumentContext<'_>, one: &TaggedSpan) -> impl Iterator<Item = &'a TextToken> {
    context.tokens[one.first..one.end].iter().filter(|token| token.kind == TextTokenKind::Word)
}

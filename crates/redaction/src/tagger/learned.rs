//! What the model found, with the tokens it covers.

use super::super::context::Context;
use super::super::finding::Finding;
use super::super::token::{Kind, Token};

/// Words of a text up to which nothing tells a name from another word but the lists.
pub(crate) const FEW: usize = 4;
/// A finding of the model and the tokens it covers.
pub(crate) struct Learned {
    pub(super) finding: Finding,
    pub(super) first: usize,
    /// One behind the last.
    pub(super) end: usize,
}

/// The words of a finding.
pub(crate) fn words<'a>(context: &'a Context<'_>, one: &Learned) -> impl Iterator<Item = &'a Token> {
    context.tokens[one.first..one.end].iter().filter(|token| token.kind == Kind::Word)
}

//! How words of a finding are written.

use super::super::super::context::Context;
use super::super::super::token::{Case, Kind, Token};
use super::words;

/// Large letters alone, where the words around are written with small ones.
pub(super) fn is_short_form(context: &Context<'_>, at: usize) -> bool {
    const AROUND: usize = 40;
    let token = &context.tokens[at];
    if !token.is_word() || !matches!(token.case, Case::Upper | Case::Other) {
        return false;
    }
    let around = at.saturating_sub(AROUND)..(at + AROUND).min(context.tokens.len());
    let words = context.tokens[around].iter().filter(|token| token.is_word() && token.span.len() > 2);
    let (all, small) =
        words.fold((0, 0), |(all, small), token| (all + 1, small + usize::from(token.case != Case::Upper)));
    let lower = context.lower(token);
    small >= 2 && small * 5 >= all || words::is_abbreviation(lower) && small > 0 || words::is_sure_abbreviation(lower)
}

/// The words of a stretch of tokens.
pub(super) fn words_of<'a>(
    context: &'a Context<'_>,
    first: usize,
    end: usize,
) -> impl Iterator<Item = &'a Token> + Clone {
    context.tokens[first..end].iter().filter(|token| token.kind == Kind::Word)
}

//! How words of a finding are written.

use super::super::super::document::DocumentContext;
use super::super::super::token::{LetterCase, TextToken, TextTokenKind};
use super::stop_words;

/// Only capitals, where the surrounding words have lower-case letters.
pub(super) fn is_short_form(context: &DocumentContext<'_>, at: usize) -> bool {
    const AROUND: usize = 40;
    let token = &context.tokens[at];
    if !token.is_word() || !matches!(token.case, LetterCase::Upper | LetterCase::Other) {
        return false;
    }
    let around = at.saturating_sub(AROUND)..(at + AROUND).min(context.tokens.len());
    let words = context.tokens[around].iter().filter(|token| token.is_word() && token.span.len() > 2);
    let (all, small) =
        words.fold((0, 0), |(all, small), token| (all + 1, small + usize::from(token.case != LetterCase::Upper)));
    let lower = context.lower(token);
    small >= 2 && small * 5 >= all
        || stop_words::is_abbreviation(lower) && small > 0
        || stop_words::is_sure_abbreviation(lower)
}

/// The words of a stretch of tokens.
pub(super) fn words_of<'a>(
    context: &'a DocumentContext<'_>,
    first: usize,
    end: usize,
) -> impl Iterator<Item = &'a TextToken> + Clone {
    context.tokens[first..end].iter().filter(|token| token.kind == TextTokenKind::Word)
}

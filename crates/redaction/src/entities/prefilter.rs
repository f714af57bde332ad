//! Necessary conditions of patterns, checked by tokens or by a word of the text, so that most texts skip the patterns.
//! A condition may be true without a match, but never false with one.

use super::super::document::DocumentContext;
use super::super::token::{LONG_STRETCH, TextToken, TextTokenKind};

/// Whether a number passes, by its token and the bytes after it. A stretch that is one sign hides its numbers.
fn any_number(context: &DocumentContext<'_>, passes: impl Fn(&TextToken, &[u8]) -> bool) -> bool {
    let bytes = context.view.plain.as_bytes();
    context.tokens.iter().any(|token| match token.kind {
        TextTokenKind::Number => passes(token, &bytes[token.span.end..]),
        // Such a stretch is one token, so its numbers are unseen and the text must pass.
        TextTokenKind::Sign => token.span.len() > LONG_STRETCH,
        TextTokenKind::Word | TextTokenKind::Break => false,
    })
}

/// Digits, one of the signs, digits: "3/4", "12.5".
pub(crate) fn has_joined_numbers(context: &DocumentContext<'_>, signs: &[u8]) -> bool {
    any_number(context, |_, after| match after {
        [sign, next, ..] => signs.contains(sign) && next.is_ascii_digit(),
        _ => false,
    })
}

/// Four digits, the first of which is that of a year.
pub(crate) fn has_year(context: &DocumentContext<'_>) -> bool {
    any_number(context, |number, _| number.span.len() == 4 && context.plain(number).starts_with(['1', '2']))
}

/// Five digits and no more.
pub(crate) fn has_five_digits(context: &DocumentContext<'_>) -> bool {
    any_number(context, |number, _| number.span.len() == 5)
}

/// A digit and two capital letters after it.
pub(crate) fn has_digit_and_two_large(context: &DocumentContext<'_>) -> bool {
    any_number(context, |_, after| match after {
        [one, two, ..] => one.is_ascii_uppercase() && two.is_ascii_uppercase(),
        _ => false,
    })
}

/// Up to three digits and a word that begins as those of years do, perhaps after a space or hyphen.
pub(crate) fn has_years_of_age(context: &DocumentContext<'_>) -> bool {
    let word = |byte: &u8| matches!(byte.to_ascii_lowercase(), b'a' | b'y');
    any_number(context, |number, after| match after {
        [b' ' | b'-', next, ..] if number.span.len() <= 3 => word(next),
        [next, ..] => number.span.len() <= 3 && word(next),
        [] => false,
    })
}

/// Two words of one letter with at most two signs between them, as in spelled words.
pub(crate) fn has_spelled_letters(context: &DocumentContext<'_>) -> bool {
    let mut last = None;
    context.tokens.iter().any(|token| match token.kind {
        TextTokenKind::Word if token.span.len() == 1 => {
            let before = last.replace(token.span.end);
            before.is_some_and(|end| token.span.start <= end + 2)
        }
        TextTokenKind::Sign => token.span.len() > LONG_STRETCH,
        _ => false,
    })
}

/// One of the words, with a digit right after it.
pub(crate) fn has_before_digit(lower: &str, words: &[&str]) -> bool {
    let digit = |at: usize| lower.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    words.iter().any(|word| lower.match_indices(word).any(|(at, _)| digit(at + word.len())))
}

/// Whether one of the words occurs anywhere.
pub(crate) fn has_any(lower: &str, words: &[&str]) -> bool {
    words.iter().any(|word| lower.contains(word))
}

//! Vetoes: findings of the model that are always rejected, however high their score. If a rule found the same value,
//! only some of them apply. Without vetoes, 13 clean lines more of the fixed sets are touched
//! (docs/redaction-model.md).

use super::super::document::DocumentContext;
use super::super::entities::cues::OPENERS;
use super::super::entities::word_classes::{WordClasses, word_classes};
use super::super::entities::{FIGURES, ROUND_THE_CLOCK, allowlist, eponyms};
use super::super::identifiers::is_crisis_line;
use super::super::label;
use super::super::token::{LetterCase, TextToken, TextTokenKind};
use super::evidence::{is_day, is_sign};
use super::tagged_span::{TaggedSpan, words};

/// Public help lines and fellowships: help must stay readable.
const HELP: &[&str] = &[
    "crisis text line",
    "veterans crisis line",
    "suicide and crisis lifeline",
    "crisis lifeline",
    "lifeline",
    "samaritans",
    "the samaritans",
    "childline",
    "trevor project",
    "the trevor project",
    "poison control",
    "alcoholics anonymous",
    "narcotics anonymous",
    "alcoholicos anonimos",
    "narcoticos anonimos",
    "telefono de la esperanza",
];

/// Whether a finding is always rejected. Next to a replacement, only a finding that needs no context counts. Crisis
/// lines, codes and figures with units never are personal data.
pub(crate) fn is_vetoed(context: &DocumentContext<'_>, one: &TaggedSpan, is_ruled: bool) -> bool {
    if context.is_near_replacement(one.first, one.end) && !is_evident(context, one) && !is_ruled {
        return true;
    }
    let single = one.end - one.first == 1;
    if single && is_crisis_line(context.lower(&context.tokens[one.first])) {
        return true;
    }
    match one.finding.label {
        label::DATE => {
            (one.end - 1..=one.end).any(|at| eponyms::is_unit(context, at)) || !is_ruled && is_figure(context, one)
        }
        label::ORGANIZATION | label::PERSON | label::LOCATION if !is_ruled && is_abbreviations(context, one) => true,
        label::PERSON if !is_ruled && says_nothing_but_an_opener(context, one) => true,
        label::ORGANIZATION | label::PERSON | label::LOCATION if !is_ruled => {
            HELP.contains(&one.finding.span.slice(&context.view.lower)) || allowlist::hold(context, one.first, one.end)
        }
        label::POSTAL_CODE if !holds_a_code(context, one) => true,
        label::PHONE | label::NUMBER | label::POSTAL_CODE => {
            is_crisis_line(&digits_around(context, one)) || is_code(context, one)
        }
        _ => false,
    }
}

/// "PMH: GERD, HLD, THA": short unlisted words in capitals, in a text with lower-case letters.
fn is_abbreviations(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    const LONGEST: usize = 5;
    // A name with an inner comma is found by its rule; what only the model finds is a list ("GERD, HLD").
    let listed = context.tokens[one.first..one.end].iter().any(|token| context.plain(token) == ",");
    let known = |token: &TextToken| !listed && is_sign(context, token);
    let short = |token: &TextToken| token.case == LetterCase::Upper && token.span.len() <= LONGEST && !known(token);
    !context.no_case()
        && has_small_letters(context, one)
        && words(context, one).count() > 0
        && words(context, one).all(short)
}

/// In a line of capitals an abbreviation looks like a name, so the surrounding words must have lower-case letters.
fn has_small_letters(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    const AROUND: usize = 40;
    let around = one.first.saturating_sub(AROUND)..(one.end + AROUND).min(context.tokens.len());
    let words = context.tokens[around].iter().filter(|token| token.is_word() && token.span.len() > 2);
    let (all, small) =
        words.fold((0, 0), |(all, small), token| (all + 1, small + usize::from(token.case != LetterCase::Upper)));
    small >= 2 && small * 5 >= all
}

fn says_nothing_but_an_opener(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    let word = context.lower(&context.tokens[one.first]);
    let asks = word == "tomas" && one.first > 0 && context.plain(&context.tokens[one.first - 1]) == "¿";
    one.end - one.first == 1 && (asks || OPENERS.contains(word) && !word_classes(word).has(WordClasses::GIVEN))
}

/// "fasting 16/8", "BiPAP 14/6", "on call 24/7".
fn is_figure(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    let before = one.first.checked_sub(1).map(|at| context.lower(&context.tokens[at])).unwrap_or_default();
    let round = one.finding.span.slice(&context.view.lower) == ROUND_THE_CLOCK && !is_day(context, one);
    FIGURES.contains(before) || round
}

/// At least two digits, or number words: "AF" and "6 mm OS" are no code.
fn holds_a_code(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    let digits = one.finding.span.slice(&context.view.lower).bytes().filter(u8::is_ascii_digit).count();
    digits >= 2 || words(context, one).any(|token| word_classes(context.lower(token)).has(WordClasses::NUMBER))
}

/// Evidence without context, because the model was not trained on text with replacements. The replacement itself is no
/// evidence.
fn is_evident(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    let inside = |token: &&TextToken| {
        let next = context.replaced.partition_point(|boundary| boundary.end <= token.span.start);
        context.replaced.get(next).is_some_and(|boundary| boundary.start < token.span.end)
    };
    let mut own = context.tokens[one.first..one.end].iter().filter(|token| !inside(token));
    let digits = |token: &TextToken| context.lower(token).bytes().any(|byte| byte.is_ascii_digit());
    let has = |token: &TextToken, kind: WordClasses| word_classes(context.lower(token)).has(kind);
    match one.finding.label {
        label::PERSON | label::LOCATION | label::ORGANIZATION | label::COUNTRY => {
            own.any(|token| token.is_word() && is_sign(context, token))
        }
        label::EMAIL => own.any(|token| matches!(context.lower(token), "@" | "." | "arroba")),
        label::DATE => own.any(|token| digits(token) || has(token, WordClasses::MONTH)),
        label::SEX | label::FAMILY | label::PROFESSION => false,
        _ => own.any(|token| digits(token) || has(token, WordClasses::NUMBER)),
    }
}

/// Digits of a number with its neighbours: "717 003" is a part of "717 003 717".
fn digits_around(context: &DocumentContext<'_>, one: &TaggedSpan) -> String {
    let number = |at: usize| context.tokens.get(at).is_some_and(|token| token.kind == TextTokenKind::Number);
    let (mut first, mut end) = (one.first, one.end);
    while first > 0 && number(first - 1) && context.touches(first - 1, first) {
        first -= 1;
    }
    while number(end) && context.touches(end - 1, end) {
        end += 1;
    }
    let digits = context.tokens[first..end].iter().filter(|token| token.kind == TextTokenKind::Number);
    digits.map(|token| context.lower(token)).collect()
}

fn is_code(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    const SYSTEMS: &[&str] = &[
        "nct", "isrctn", "cpt", "snomed", "loinc", "icd", "rxnorm", "atc", "cie", "dsm", "hcpcs", "ndc", "drg", "mesh",
        "omim",
    ];
    let before = |by: usize| one.first.checked_sub(by).map(|at| context.lower(&context.tokens[at])).unwrap_or_default();
    SYSTEMS.contains(&before(1)) || SYSTEMS.contains(&before(2)) && matches!(before(1), ":" | "-" | "code" | "codigo")
}

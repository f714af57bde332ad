//! Findings that the model joined wrongly: names on both sides of a full stop or a dash, and a place that is the name
//! of a person after a title.

use super::super::super::document::DocumentContext;
use super::super::super::finding::{DetectionLayer, PiiFinding};
use super::super::super::label;
use super::super::super::token::{LetterCase, TextToken, TextTokenKind};
use super::super::cues::{FUNCTION, TITLES};
use super::super::word_classes::{WordClasses, word_classes};
use super::super::{informal, lexicon};
use crate::word_tables::{self, WordList};
use anamnesis_text::Span;

/// Letters from which a word before a full stop is no abbreviation.
const WHOLE: usize = 4;
/// Titles of which the name of a person follows and no place.
static PERSONAL: WordList = WordList::listed(word_tables::ENTITIES, "splits.personal");

/// Cuts a finding at the ends of sentences and at dashes between spaces. Returns the parts after the first cut.
pub(super) fn apart(context: &DocumentContext<'_>, one: &mut PiiFinding) -> Vec<PiiFinding> {
    let cut = match one.label {
        label::PERSON => one.layer == DetectionLayer::Entity && one.recognizer != "field",
        label::ORGANIZATION | label::LOCATION | label::EMAIL => one.is_learned(),
        _ => false,
    };
    if !cut || one.span.slice(&context.view.plain).contains(['@', '_']) {
        return Vec::new();
    }
    let first = context.tokens.partition_point(|token| token.span.end <= one.span.start);
    let end = context.tokens.partition_point(|token| token.span.start < one.span.end);
    let borders: Vec<usize> =
        (first + 1..end.saturating_sub(1)).filter(|at| is_border(context, one.label, *at)).collect();
    let Some(until) = borders.first() else { return Vec::new() };
    let whole = one.clone();
    one.span.end = context.tokens[until - 1].span.end;
    let ends = borders.iter().skip(1).copied().chain([end]);
    let parts = borders.iter().zip(ends).filter(|(from, to)| **from + 1 < *to);
    let parts = parts.filter_map(|(from, to)| part(context, &whole, (*from + 1, to))).collect();
    if let Some(kept) = part(context, &whole, (first, *until)) {
        (one.label, one.span) = (kept.label, kept.span);
    } else {
        one.span.end = one.span.start;
    }
    parts
}

/// A full stop after a whole word, or a dash, with a space after it.
fn is_border(context: &DocumentContext<'_>, kind: &str, at: usize) -> bool {
    let (before, sign, next) = (&context.tokens[at - 1], &context.tokens[at], &context.tokens[at + 1]);
    if sign.kind != TextTokenKind::Sign || next.span.start <= sign.span.end {
        return false;
    }
    match context.plain(sign) {
        "." => {
            let lower = context.lower(before);
            before.span.end == sign.span.start
                && before.kind == TextTokenKind::Word
                && before.span.len() >= WHOLE
                && !TITLES.contains(lower)
                && !matches!(lower, "hosp" | "gral" | "univ" | "ntra" | "psiq" | "dept" | "prof")
        }
        "?" | "!" => true,
        "-" | "–" | "—" => kind == label::PERSON && before.span.end < sign.span.start,
        _ => false,
    }
}

/// One of the parts, where it names a person: small words of every day and numbers do not.
fn part(context: &DocumentContext<'_>, whole: &PiiFinding, (first, end): (usize, usize)) -> Option<PiiFinding> {
    let named = |token: &TextToken| {
        let lower = context.lower(token);
        let known = lexicon::word(lower);
        token.is_word()
            && (known.given
                || known.is_strong()
                || informal::is_unknown(lower) && lower.len() > WHOLE
                || token.is_capitalized() && !lexicon::is_ordinary(lower))
    };
    let tokens = &context.tokens[first..end];
    let number = tokens.iter().find(|token| token.kind == TextTokenKind::Number && token.span.len() > WHOLE);
    let (kind, span) = match number {
        Some(number) => (label::NUMBER, number.span),
        None if tokens.iter().any(named) => {
            let kind = if whole.label == label::EMAIL { label::PERSON } else { whole.label };
            (kind, Span::new(tokens[0].span.start, tokens[end - first - 1].span.end))
        }
        None => return None,
    };
    Some(PiiFinding { label: kind, span, value: None, subject: None, ..whole.clone() })
}

/// "el dr Pacheco" as a place: the name after the title is a person's.
pub(super) fn relabelled(context: &DocumentContext<'_>, one: &mut PiiFinding) {
    if !one.is_learned() || !matches!(one.label, label::LOCATION | label::ORGANIZATION) {
        return;
    }
    let first = context.tokens.partition_point(|token| token.span.end <= one.span.start);
    let end = context.tokens.partition_point(|token| token.span.start < one.span.end);
    let Some(title) = (first..end).find(|at| PERSONAL.contains(context.lower(&context.tokens[*at]))) else { return };
    let name = (title + 1..end).find(|at| context.tokens[*at].is_word());
    // "Dr. Seuss Elementary" and "Doctor's Hospital" are organisations.
    let organization =
        (first..title).any(|at| context.tokens[at].is_capitalized()) || end - title > 4 && !context.no_case();
    let Some(name) = name.filter(|_| !organization) else { return };
    let last = (name..end).take_while(|at| is_of_a_name(context, *at)).last();
    if let Some(last) = last {
        one.label = label::PERSON;
        one.span = Span::new(context.tokens[title].span.start, context.tokens[last].span.end);
    }
}

fn is_of_a_name(context: &DocumentContext<'_>, at: usize) -> bool {
    let token = &context.tokens[at];
    let lower = context.lower(token);
    token.is_word()
        && !FUNCTION.contains(lower)
        && !matches!(lower, "el" | "la" | "los" | "las" | "de" | "del" | "the" | "at" | "from")
        && !(word_classes(lower).has(WordClasses::NUMBER) || word_classes(lower).has(WordClasses::MONTH))
        && (token.case != LetterCase::Lower
            || lexicon::is_name(lower)
            || !lexicon::is_ordinary_in(context.language, lower))
}

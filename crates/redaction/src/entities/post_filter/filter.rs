//! Puts clinical words and words of speech back into the text that rules or the model took for a person, a place, an
//! organisation, a street or a number. A wrong replacement removes the meaning. People of the message, check digits and
//! an organisation's own recognisers are exempt.

use super::super::super::document::DocumentContext;
use super::super::super::finding::{DetectionLayer, PiiFinding};
use super::super::super::label;
use super::super::super::token::{LetterCase, TextTokenKind};
use super::super::lexicon;
use super::super::word_classes::{WordClasses, word_classes};
use super::names::{is_hyphenated_letter, names_no_person};
use super::numbers::{
    counts_measures, holds_a_reading, is_bare_figure, is_clinical_plate, is_clinical_term, is_clock, is_measure,
    is_no_mail, is_no_number, is_no_street, is_without_figures,
};
use super::splits::{apart, relabelled};
use super::word_forms::is_short_form;
use crate::deadline;
use crate::entities::post_filter::stop_words;
use crate::word_tables::{self, WordList};
use anamnesis_text::Span;

/// Spaces between the fields of a form.
const GAP: usize = 3;

/// Drops findings of clinical words and of speech, and trims such words from the ends of the others.
pub(crate) fn drop_false_positives(context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
    let rest: Vec<PiiFinding> = found.iter_mut().flat_map(|one| apart(context, one)).collect();
    found.extend(rest);
    for one in found.iter_mut().filter(|one| is_questioned(one) && !holds_number(context, one)) {
        deadline::check();
        relabelled(context, one);
        one.span = trimmed(context, one);
        if is_month(context, one) || is_spoken_year(context, one) {
            one.label = label::DATE;
        }
    }
    found.retain(|one| {
        deadline::check();
        !one.span.is_empty() && !(is_questioned(one) && !holds_number(context, one) && is_no_data(context, one))
    });
}

/// Lists and the model are questioned; a name of the message, a check digit or a keyword are not.
fn is_questioned(one: &PiiFinding) -> bool {
    let learned = one.is_learned();
    match one.label {
        label::PERSON | label::LOCATION | label::ORGANIZATION | label::ADDRESS => one.layer == DetectionLayer::Entity,
        label::VEHICLE_ID => one.recognizer == "plate",
        label::DATE
        | label::MEDICAL_RECORD
        | label::NUMBER
        | label::EMAIL
        | label::PHONE
        | label::POSTAL_CODE
        | label::HANDLE => learned,
        _ => false,
    }
}

/// Digits of a run that no dose, value or year has: it is an identifier, whatever the model called it.
const IDENTIFIER_DIGITS: usize = 7;

fn holds_number(context: &DocumentContext<'_>, one: &PiiFinding) -> bool {
    let long = |run: &[u8]| run.len() >= IDENTIFIER_DIGITS;
    // "2.431.278-1".
    let grouped = |part: &str| part.bytes().filter(u8::is_ascii_digit).count() >= IDENTIFIER_DIGITS;
    let pieces = |text: &str| text.split(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '-')).any(grouped);
    if matches!(one.label, label::ADDRESS | label::MEDICAL_RECORD | label::NUMBER | label::PHONE)
        && pieces(one.span.slice(&context.view.plain))
    {
        return true;
    }
    one.span.slice(&context.view.plain).as_bytes().split(|byte| !byte.is_ascii_digit()).any(long)
}

/// The tokens under a span.
fn range(context: &DocumentContext<'_>, span: Span) -> std::ops::Range<usize> {
    let first = context.tokens.partition_point(|token| token.span.end <= span.start);
    let end = context.tokens.partition_point(|token| token.span.start < span.end);
    first..end
}

/// "TAVR 2021" is a year, "Nan – OCD" a relative and "GERD Ruiz" a name: clinical words at the edges of a finding are
/// no part of it.
fn trimmed(context: &DocumentContext<'_>, one: &PiiFinding) -> Span {
    let tokens = range(context, one.span);
    let (mut first, mut end) = (tokens.start, tokens.end);
    let gap = |at: &usize| context.tokens[*at].span.start >= context.tokens[at - 1].span.end + GAP;
    if let (label::PERSON, Some(field)) = (one.label, (first + 1..end).find(gap)) {
        return Span::new(one.span.start, context.tokens[field - 1].span.end);
    }
    let edge = |at: usize| is_edge(context, one, at);
    let all_capitals = (first..end).all(|at| context.tokens[at].case == LetterCase::Upper);
    if end - first < 2 || !(first..end).any(edge) || all_capitals {
        return one.span;
    }
    let sign = |at: usize| context.tokens[at].kind == TextTokenKind::Sign;
    while first < end && (edge(first) || sign(first)) {
        first += 1;
    }
    while end > first && (edge(end - 1) || sign(end - 1)) {
        end -= 1;
    }
    if first == end {
        return if one.label == label::DATE { one.span } else { Span::new(one.span.start, one.span.start) };
    }
    Span::new(context.tokens[first].span.start.max(one.span.start), context.tokens[end - 1].span.end.min(one.span.end))
}

fn is_edge(context: &DocumentContext<'_>, one: &PiiFinding, at: usize) -> bool {
    let token = &context.tokens[at];
    let lower = context.lower(token);
    let learned = one.is_learned();
    let clings = at > 0 && context.tokens[at - 1].span.end == token.span.start && context.tokens[at - 1].is_word();
    match (one.label, token.kind) {
        // "DM2 2024".
        (label::DATE, TextTokenKind::Number) => learned && clings,
        (label::DATE, TextTokenKind::Word) => {
            let unknown = token.case == LetterCase::Lower
                && token.span.len() > 3
                && !lexicon::is_ordinary(lower)
                && !lexicon::is_ordinary_in(context.language, lower);
            learned && (is_short_form(context, at) || unknown) && !is_time(lower) && lower.len() > 1
        }
        (label::PERSON, TextTokenKind::Word) => {
            let named = lexicon::word(lower).is_name();
            stop_words::is_abbreviation(lower) && is_short_form(context, at)
                || is_answer_of_a_box(context, at)
                || is_grade_letter(context, at)
                || learned && (stop_words::is_medicine(lower) || super::clinical_words::is_word(lower))
                || learned
                    && !named
                    && token.span.len() > 1
                    && token.is_capitalized()
                    && stop_words::opens(context.language, lower)
        }
        _ => false,
    }
}

/// "[X] N": the letter that answers a box.
fn is_answer_of_a_box(context: &DocumentContext<'_>, at: usize) -> bool {
    let letter = matches!(context.plain(&context.tokens[at]), "Y" | "N" | "S");
    let before = at.checked_sub(1).map(|at| context.plain(&context.tokens[at])).unwrap_or_default();
    letter && matches!(before, "]" | ")" | "☐" | "☒" | "☑")
}

/// "hepatitis C", "grade B": the letter of a kind or a grade.
fn is_grade_letter(context: &DocumentContext<'_>, at: usize) -> bool {
    static OF: WordList = WordList::listed(word_tables::ENTITIES, "filter.of");
    let before = at.checked_sub(1).map(|at| context.lower(&context.tokens[at])).unwrap_or_default();
    context.tokens[at].span.len() == 1 && OF.contains(before)
}

/// "two thousand eight", "dos mil doce" as the number of a record: the model knows numbers, and not what they count.
fn is_spoken_year(context: &DocumentContext<'_>, one: &PiiFinding) -> bool {
    let text = one.span.slice(&context.view.lower);
    let said = ["two thousand ", "nineteen ", "twenty twenty", "dos mil ", "mil novecientos "];
    one.label == label::MEDICAL_RECORD
        && one.is_learned()
        && said.iter().any(|year| text.starts_with(year))
        && text.split(' ').count() <= 5
}

/// "since June", "before April": a month that is a first name too.
fn is_month(context: &DocumentContext<'_>, one: &PiiFinding) -> bool {
    const BEFORE: &[&str] = &[
        "in", "since", "until", "till", "before", "after", "by", "last", "next", "this", "from", "early", "late",
        "mid", "through", "during", "every", "en", "desde", "hasta", "antes", "durante", "para",
    ];
    let tokens = range(context, one.span);
    let before = tokens.start.checked_sub(1).map(|at| context.lower(&context.tokens[at])).unwrap_or_default();
    one.label == label::PERSON
        && tokens.len() == 1
        && BEFORE.contains(&before)
        && word_classes(context.lower(&context.tokens[tokens.start])).has(WordClasses::MONTH)
}

fn is_time(lower: &str) -> bool {
    const DAYS: &[&str] = &[
        "mon", "tue", "tues", "wed", "weds", "thu", "thur", "thurs", "fri", "sat", "sun", "lun", "mie", "jue", "vie",
        "sab", "dom",
    ];
    let known = word_classes(lower);
    known.has(WordClasses::MONTH) || known.has(WordClasses::NUMBER) || DAYS.contains(&lower)
}

/// Whether a finding is a clinical word or of speech.
fn is_no_data(context: &DocumentContext<'_>, one: &PiiFinding) -> bool {
    let tokens = range(context, one.span);
    if tokens.is_empty() {
        return false;
    }
    let (first, end) = (tokens.start, tokens.end);
    if one.is_learned() && is_clinical_term(context, one, (first, end)) {
        return true;
    }
    let learned = one.is_learned();
    let figures = matches!(one.label, label::ADDRESS | label::MEDICAL_RECORD | label::NUMBER | label::PHONE);
    if learned && figures && holds_a_reading(context, (first, end)) {
        return true;
    }
    // "RR 15 SpO2 95 RA GCS 14": two measures at least, for "HR5 2TG" is a place in Hereford.
    if learned && one.label == label::POSTAL_CODE {
        let apart = !one.span.slice(&context.view.plain).contains("  ") && end - first > 2;
        return is_clock(context, (first, end))
            || apart && holds_a_reading(context, (first, end)) && counts_measures(context, (first, end)) > 1;
    }
    if learned && (figures || one.label == label::HANDLE) && is_clock(context, (first, end)) {
        return true;
    }
    match one.label {
        label::PERSON | label::LOCATION | label::ORGANIZATION => names_no_person(context, one, (first, end)),
        label::EMAIL => is_no_mail(context, (first, end)),
        label::ADDRESS if one.is_learned() && is_no_street(context, (first, end)) => true,
        label::ADDRESS => {
            is_measure(context, (first, end))
                || one.is_learned()
                    && (is_hyphenated_letter(context, first, end) || is_bare_figure(context, (first, end)))
        }
        label::VEHICLE_ID => is_clinical_plate(context, (first, end)),
        label::PHONE => is_measure(context, (first, end)),
        label::MEDICAL_RECORD | label::NUMBER => {
            is_no_number(context, (first, end))
                || is_bare_figure(context, (first, end))
                || is_measure(context, (first, end))
                || is_without_figures(context, (first, end))
        }
        _ => false,
    }
}

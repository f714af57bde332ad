//! Compares the findings of the model with the word lists. A model that reads three words of context takes a word after
//! "in" for a place: "in remission", "oral". The verifier reads lists and context as clues; in a text of a few words
//! they must agree.

use std::sync::LazyLock;

use regex::Regex;

use super::super::document::DocumentContext;
use super::super::entities::cues::{NameTrigger, RELATIONS, trigger};
use super::super::entities::word_classes::{WordClasses, word_classes};
use super::super::entities::{eponyms, lexicon, person_verbs, words as cues};
use super::super::finding::{DetectionLayer, PiiFinding};
use super::super::label;
use super::super::token::{LetterCase, TextToken, TextTokenKind};
use super::tagged_span::{FEW, TaggedSpan, words};
use super::{false_positives, organization_evidence, person_evidence};
use crate::pattern::compiled;
use crate::word_tables::{self, WordList};
use anamnesis_text::Span;

/// Certainty from which the model alone says that a word of a text without capitals is a first name.
const SURE: f64 = 0.85;
/// Letters of an abbreviation: "CBT", "SCOFF".
const ABBREVIATION: usize = 5;

/// "27/30", "6 de 12".
static FRACTION: LazyLock<Regex> = LazyLock::new(|| compiled(r"^[0-9]{1,3} ?(?:/|de|of|-) ?[0-9]{1,3}$"));
/// "02:15".
static CLOCK: LazyLock<Regex> = LazyLock::new(|| compiled(r"^[0-9]{1,2}:[0-9]{2}$"));
/// Words before a day and a month without a year.
static DATE_CUES: WordList = WordList::listed(word_tables::TAGGER, "evidence.date_cues");

/// Spans that rules found, sorted and without overlap, so that one search is enough.
pub(crate) struct RuleSpans(Vec<Span>);

impl RuleSpans {
    pub(crate) fn from_findings(found: &[PiiFinding]) -> Self {
        let mut spans: Vec<Span> = found
            .iter()
            .filter(|known| known.layer != DetectionLayer::Residual && !is_generic_label(known.label))
            .map(|known| known.span)
            .collect();
        spans.sort_unstable_by_key(|span| (span.start, span.end));
        let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
        for span in spans {
            match merged.last_mut() {
                Some(last) if span.start < last.end => last.end = last.end.max(span.end),
                _ => merged.push(span),
            }
        }
        Self(merged)
    }

    pub(crate) fn meets(&self, span: Span) -> bool {
        self.0.get(self.0.partition_point(|known| known.end <= span.start)).is_some_and(|known| known.overlaps(&span))
    }
}

/// Labels that many people share, which are no evidence of a name.
fn is_generic_label(label: &str) -> bool {
    matches!(label, label::PROFESSION | label::FAMILY | label::SEX)
}

/// Whether lists and context alone would accept a finding of the model.
pub(crate) fn has_evidence(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    match one.finding.label {
        label::PERSON | label::LOCATION | label::ORGANIZATION => names_person(context, one),
        label::ADDRESS => {
            let thing = false_positives::is_scale(context, one)
                || person_verbs::is_word_and_noun(context, one.first, one.end)
                || eponyms::is_hyphenated(context, one.first, one.end);
            is_address(context, one) && !thing && !false_positives::is_scale_or_more(context, one)
        }
        label::DATE if person_verbs::is_word_and_noun(context, one.first, one.end) && !has_digits(context, one) => {
            false
        }
        label::DATE if is_hour(context, one) => false,
        label::DATE => {
            !is_fraction(context, one)
                && !is_clock(context, one)
                && !false_positives::is_scale(context, one)
                && is_time(context, one)
        }
        _ => true,
    }
}

fn is_fraction(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    FRACTION.is_match(one.finding.span.slice(&context.view.lower)) && !is_day(context, one)
}

fn is_clock(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    CLOCK.is_match(one.finding.span.slice(&context.view.lower))
}

/// Whether a text has too few words for context to be evidence.
pub(crate) fn is_short(context: &DocumentContext<'_>) -> bool {
    context.tokens.iter().filter(|token| token.kind == TextTokenKind::Word).take(FEW + 1).count() <= FEW
}

/// The clues of lists and context about a finding, each yes or no, in an order that is part of the verifier's format.
pub(crate) fn clues(context: &DocumentContext<'_>, one: &TaggedSpan) -> [bool; 32] {
    let announced = trigger(context, one.first);
    let (first, end) = (one.first, one.end);
    let words_of_text = context.tokens.iter().filter(|token| token.kind == TextTokenKind::Word).take(FEW + 1).count();
    [
        announced == NameTrigger::Strong,
        announced == NameTrigger::Relation,
        announced == NameTrigger::Weak,
        false_positives::is_abbreviated(context, one),
        person_evidence::has_person_context(context, one),
        person_evidence::is_organization_field(context, one),
        false_positives::is_thing(context, one),
        false_positives::is_quality(context, one),
        words(context, one).any(|token| is_sign(context, token)),
        is_first_name(context, one),
        words(context, one).all(|token| is_ordinary(context, token)),
        organization_evidence::is_title(context, one),
        organization_evidence::is_organization(context, one),
        organization_evidence::is_lowercase_organization(context, one),
        organization_evidence::is_named_inside(context, one),
        words(context, one).any(TextToken::is_capitalized),
        first.checked_sub(1).is_some_and(|at| RELATIONS.contains(context.lower(&context.tokens[at]))),
        words_of_text <= FEW,
        words_of_text <= 1,
        context.no_case(),
        context.tokens.get(end).is_some_and(|next| person_verbs::is_person_verb(context.lower(next)))
            && context.touches(end - 1, end),
        person_verbs::begins_sentence(context, first),
        false_positives::is_scale(context, one),
        false_positives::is_scale_or_more(context, one),
        person_verbs::is_word_and_noun(context, first, end),
        eponyms::is_hyphenated(context, first, end),
        has_digits(context, one),
        is_address(context, one),
        organization_evidence::is_corner(context, one),
        is_time(context, one),
        is_day(context, one),
        is_fraction(context, one) || is_clock(context, one) || is_hour(context, one),
    ]
}

fn has_digits(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    one.finding.span.slice(&context.view.lower).bytes().any(|byte| byte.is_ascii_digit())
}

/// "Handoff at 1900": four digits after "at" are an hour.
fn is_hour(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    let before = one.first.checked_sub(1).map(|at| context.lower(&context.tokens[at])).unwrap_or_default();
    one.end - one.first == 1 && context.tokens[one.first].span.len() == 4 && matches!(before, "at" | "eta" | "@" | "~")
}

/// A word of the lists of names and places that is no ordinary word.
pub(crate) fn is_sign(context: &DocumentContext<'_>, token: &TextToken) -> bool {
    let lower = context.lower(token);
    let known = word_classes(lower);
    let listed = [WordClasses::GIVEN, WordClasses::SURNAME, WordClasses::PLACE, WordClasses::COUNTRY]
        .into_iter()
        .any(|kind| known.has(kind));
    listed && !lexicon::is_ordinary_in(context.language, lower.strip_suffix("'s").unwrap_or(lower))
}

pub(crate) fn is_ordinary(context: &DocumentContext<'_>, token: &TextToken) -> bool {
    let lower = context.lower(token);
    let short = token.case == LetterCase::Upper && lower.len() <= ABBREVIATION && !context.no_case();
    let bare = lower.strip_suffix("'s").unwrap_or(lower);
    let single = bare.strip_suffix('s').filter(|single| single.len() > 4);
    let ordinary = |word| lexicon::is_ordinary_in(context.language, word);
    let small = || token.case == LetterCase::Lower || context.token_at(token.span.start) == 0;
    bare.len() <= 2 || short || ordinary(bare) || single.is_some_and(ordinary) || small() && lexicon::is_rare(bare)
}

fn names_person(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    let announced = trigger(context, one.first) == NameTrigger::Strong;
    if !announced && false_positives::is_abbreviated(context, one) {
        return false;
    }
    if person_evidence::has_person_context(context, one) || person_evidence::is_organization_field(context, one) {
        return true;
    }
    if !announced && (false_positives::is_thing(context, one) || false_positives::is_quality(context, one)) {
        return false;
    }
    if words(context, one).any(|token| is_sign(context, token)) || is_first_name(context, one) {
        return true;
    }
    let large = words(context, one).any(TextToken::is_capitalized);
    let related = one.first.checked_sub(1).is_some_and(|at| RELATIONS.contains(context.lower(&context.tokens[at])));
    if words(context, one).all(|token| is_ordinary(context, token)) {
        if one.finding.label != label::PERSON
            && (organization_evidence::is_title(context, one) || organization_evidence::is_organization(context, one))
        {
            return true;
        }
        if organization_evidence::is_lowercase_organization(context, one)
            || organization_evidence::is_named_inside(context, one)
        {
            return true;
        }
        // "baby ASA": a lone abbreviation is no one's name after a relation.
        let short = words(context, one).all(|token| token.case == LetterCase::Upper && token.span.len() < ABBREVIATION);
        return (announced || related && !short) && large && one.finding.label == label::PERSON;
    }
    if !large && !context.no_case() {
        return false;
    }
    let all = context.tokens.iter().filter(|token| token.kind == TextTokenKind::Word).count();
    // "¿Duermo?": a single word is capitalised because it is the first.
    large && !context.no_case() && all > 1 || all > FEW
}

/// A number, a month or an ordinary word of time: "Lattinen 11" is no date.
fn is_time(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    let short = one.finding.span.slice(&context.view.lower).bytes().filter(u8::is_ascii_digit).count() <= 2;
    let time = |token: &TextToken| {
        let known = word_classes(context.lower(token));
        known.has(WordClasses::MONTH) || known.has(WordClasses::NUMBER) || is_ordinary(context, token)
    };
    !short || words(context, one).count() == 0 || words(context, one).any(time)
}

/// First names that are also words or eponyms ("Marie", "Mark", "remedios"): capitalised inside a sentence, or in a
/// text without capitals if the model is sure.
fn is_first_name(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    // "ROS otherwise negative": capital letters alone are an abbreviation before they are a name.
    let given = |token: &TextToken| {
        let short = token.case == LetterCase::Upper && token.span.len() <= ABBREVIATION && !context.no_case();
        word_classes(context.lower(token)).has(WordClasses::GIVEN) && !short
    };
    if one.finding.label != label::PERSON || !words(context, one).any(given) {
        return false;
    }
    let before = one.first.checked_sub(1).map(|at| &context.tokens[at]);
    let inside = before.is_some_and(|token| token.kind == TextTokenKind::Word || context.plain(token) == ",");
    if context.no_case() {
        return one.finding.score >= SURE && !is_a_word_first(context, one);
    }
    inside && context.tokens[one.first].is_capitalized()
}

/// "Abril es su peor mes": a word at the beginning of a text without capitals that is also a name, and nothing that people do.
fn is_a_word_first(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    let at = one.first;
    let word = one.end - at == 1 && word_classes(context.lower(&context.tokens[at])).has(WordClasses::COMMON);
    word && person_verbs::begins_sentence(context, at)
        && !person_verbs::acts(context, at)
        && !cues::cue_of_a_name(context, at)
}

/// A word of streets, a name, or a word that is no ordinary one; a number alone is a part of more.
fn is_address(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    let street =
        |token: &TextToken| organization_evidence::STREETS.contains(context.lower(token)) || is_sign(context, token);
    words(context, one).any(street)
        || organization_evidence::is_corner(context, one)
        || words(context, one).count() == 0
        || words(context, one).any(|token| !is_ordinary(context, token))
}

/// A day and a month, after a word of time.
pub(crate) fn is_day(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    let text = one.finding.span.slice(&context.view.lower);
    let numbers: Vec<u32> = text.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect();
    let [a, b] = numbers[..] else { return false };
    let fits = (1..=12).contains(&a) && (1..=31).contains(&b) || (1..=31).contains(&a) && (1..=12).contains(&b);
    let before = one.first.checked_sub(1).map(|at| context.lower(&context.tokens[at]));
    let visit = context
        .tokens
        .get(one.end)
        .is_some_and(|next| matches!(context.lower(next), "visit" | "appt" | "appointment" | "admission" | "clinic"));
    fits && text.contains(['/', '-']) && (visit || before.is_some_and(|before| DATE_CUES.contains(before)))
}

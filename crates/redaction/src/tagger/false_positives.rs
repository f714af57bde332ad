//! Words that read like a name but mean a scale, a sign, a device or a brand, according to lists and grades.

use super::super::document::DocumentContext;
use super::super::entities::cues::{RELATIONS, ROLES};
use super::super::entities::word_classes::{WordClasses, word_classes};
use super::super::entities::{allowlist, eponyms, lexicon, person_verbs};
use super::super::finding::{DetectionLayer, PiiFinding};
use super::super::label;
use super::super::token::{LetterCase, TextToken, TextTokenKind};
use super::organization_evidence::STREETS;
use super::tagged_span::{FEW, TaggedSpan, words};
use crate::word_tables::{self, WordList};

/// Most letters of an abbreviation next to another one.
const ABBREVIATION: usize = 6;
/// Score up to which a rule's name or place may be a thing.
const DOUBTED: f64 = 0.8;
/// Score of a rule that knows a surname and nothing else.
const UNSURE: f64 = 0.65;

static PEOPLES: WordList = WordList::listed(word_tables::TAGGER, "false_positives.peoples");

/// Things that the model mistakes for a person, a place or an organisation.
pub(crate) fn is_thing(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    eponyms::denotes_thing(context, one.first, one.end - 1)
        || eponyms::names_a_thing(context, one.first, one.end)
        || is_graded(context, one)
        || eponyms::is_hyphenated(context, one.first, one.end)
        || is_double(context, one.first, one.end)
        || is_numbered_double(context, one.first, one.end)
        || is_brand(context, one)
        || is_no_person(context, one)
        || words(context, one).all(|token| PEOPLES.contains(context.lower(token)))
}

/// "Eve of surgery", "Patience and reassurance": a word that is no everyday name at the beginning of a sentence, and what
/// it is of, or what is said next to it in lower case. People are joined by their capital letters and by relations.
pub(crate) fn is_quality(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    let word = |at: usize| context.tokens.get(at).map(|token| context.lower(token)).unwrap_or_default();
    let known = word_classes(word(one.first));
    let next = word(one.end);
    let beside = context.tokens.get(one.end + 1);
    let small = beside.is_some_and(|token| token.case == LetterCase::Lower && token.span.len() > 3);
    let person = RELATIONS.contains(word(one.end + 1)) || ROLES.contains(word(one.end + 1));
    let noun = || lexicon::is_noun(word(one.end + 1)) && !person;
    one.finding.label == label::PERSON
        && one.end - one.first == 1
        && !context.no_case()
        && person_verbs::begins_sentence(context, one.first)
        && !known.has(WordClasses::EVERYDAY_NAME)
        && small
        && (next == "of" || next == "and" && noun())
}

/// "AOx3, MAE, PERRLA": up to six capital letters between commas, next to another abbreviation.
pub(crate) fn is_abbreviated(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    let upper = |at: Option<usize>| {
        at.and_then(|at| context.tokens.get(at)).is_some_and(|token| token.case == LetterCase::Upper && token.is_word())
    };
    let comma =
        |at: Option<usize>| at.and_then(|at| context.tokens.get(at)).is_some_and(|token| context.plain(token) == ",");
    let (before, after) = (one.first.checked_sub(1), Some(one.end));
    let known = |token: &TextToken| word_classes(context.lower(token)).has(WordClasses::SURNAME);
    one.end - one.first == 1
        && !context.no_case()
        && context.tokens[one.first].case == LetterCase::Upper
        && context.tokens[one.first].span.len() <= ABBREVIATION
        && !words(context, one).any(known)
        && (comma(before) && upper(one.first.checked_sub(2)) || comma(after) && upper(Some(one.end + 1)))
}

/// "Bair Hugger", "Lotrimin AF": one of the words is a brand. After "at" or "from" it may be the organisation that makes it.
fn is_brand(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    let before = one.first.checked_sub(1).map(|at| context.lower(&context.tokens[at])).unwrap_or_default();
    let organization =
        one.finding.label == label::ORGANIZATION && matches!(before, "at" | "from" | "for" | "en" | "de");
    !organization && words(context, one).any(|token| eponyms::is_brand(context.lower(token)))
}

/// "Hoyer lift", "Adie tonic pupil": no first name, and the noun after it that it belongs to.
fn is_no_person(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    let known = |token: &TextToken| word_classes(context.lower(token));
    let many =
        |token: &TextToken| known(token).has(WordClasses::EVERYDAY_NAME) && !known(token).has(WordClasses::COMMON);
    let given = |token: &TextToken| {
        known(token).has(WordClasses::GIVEN) && !known(token).has(WordClasses::SURNAME) || many(token)
    };
    person_verbs::is_word_and_noun(context, one.first, one.end) && !words(context, one).any(many)
        || one.finding.label != label::LOCATION
            && !words(context, one).any(given)
            && person_verbs::leads_a_noun(context, one.first, one.end - 1)
}

/// A grade after the words, or as their last one: no person or organisation is called so. A bare number is one after an eponym
/// or in a text of a few words.
fn is_graded(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    let given = |token: &TextToken| word_classes(context.lower(token)).has(WordClasses::EVERYDAY_NAME);
    let at = match one.end - one.first > 1 && eponyms::is_graded(context, one.end - 1) {
        true => one.end - 1,
        false => one.end,
    };
    if !eponyms::is_graded(context, at) {
        return false;
    }
    let number = context.tokens.get(at).is_some_and(|token| token.kind == TextTokenKind::Number);
    let few = context.tokens.iter().filter(|token| token.kind == TextTokenKind::Word).count() <= FEW;
    !number || (few || is_eponymous(context, one)) && !words(context, one).any(given)
}

/// One of the words is an eponym or next to one: "Hunt" of "Hunt and Hess".
fn is_eponymous(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    let eponym = |token: &TextToken| lexicon::is_eponym(context.lower(token));
    let joined = context.tokens.get(one.end).is_some_and(|sign| matches!(context.lower(sign), "and" | "y" | "-"));
    words(context, one).any(eponym) || joined && context.tokens.get(one.end + 1).is_some_and(eponym)
}

/// A name, place or organisation of a rule that is a part of a fixed phrase. Also a doubtful name or place: one of two
/// names of a scale, a double name with an eponym ("Kellgren-Lawrence"), a name with a grade ("Ann Arbor IIIB"), or in
/// a few words a name with its figure after another one ("Fontaine IIb, Rutherford 3").
pub(crate) fn is_doubtful(context: &DocumentContext<'_>, rule: &PiiFinding) -> bool {
    if rule.layer != DetectionLayer::Entity || !matches!(rule.recognizer, "name" | "place" | "organisation") {
        return false;
    }
    let first = context.tokens.partition_point(|token| token.span.end <= rule.span.start);
    let end = context.tokens.partition_point(|token| token.span.start < rule.span.end);
    if allowlist::hold(context, first, end) {
        return true;
    }
    if rule.recognizer == "organisation" {
        return false;
    }
    let Some(next) = context.tokens.get(end) else { return rule.score <= DOUBTED && is_double(context, first, end) };
    let graded = next.is_capitalized() && eponyms::is_subgrade(context.lower(next));
    let single = end - first == 1;
    let figure = single
        && rule.score <= UNSURE
        && !person_verbs::begins_sentence(context, first)
        && is_figure_of_a_few(context, end);
    graded
        || figure
        || is_numbered_double(context, first, end)
        || rule.score <= DOUBTED && (is_double(context, first, end) || single && is_one_of_two(context, first, end))
}

/// A number of up to two digits in a text of a few words.
fn is_figure_of_a_few(context: &DocumentContext<'_>, at: usize) -> bool {
    let number =
        context.tokens.get(at).is_some_and(|token| token.kind == TextTokenKind::Number && token.span.len() <= 2);
    number && is_of_few_words(context)
}

fn is_of_few_words(context: &DocumentContext<'_>) -> bool {
    context.tokens.iter().filter(|token| token.kind == TextTokenKind::Word).count() <= FEW
}

/// "Roland-Morris 14", "Harris-Benedict 1650 kcal" as all that a short text says.
fn is_numbered_double(context: &DocumentContext<'_>, first: usize, end: usize) -> bool {
    let double = end - first == 3 && context.plain(&context.tokens[first + 1]) == "-";
    let number = context.tokens.get(end).is_some_and(|token| token.kind == TextTokenKind::Number);
    double && number && person_verbs::begins_sentence(context, first) && is_of_few_words(context)
}

/// "Kellgren-Lawrence", "Tolosa-Hunt": two capitalised words around a hyphen, one of them an eponym that is no person's
/// name.
fn is_double(context: &DocumentContext<'_>, first: usize, end: usize) -> bool {
    let hyphen = |at: usize| context.tokens.get(at).is_some_and(|sign| context.plain(sign) == "-");
    let pure = |at: usize| {
        let word = context.tokens.get(at).map(|token| context.lower(token)).unwrap_or_default();
        lexicon::is_eponym(word) && !lexicon::word(word).is_name()
    };
    (first.saturating_sub(1)..=end).filter(|at| *at > 0 && hyphen(*at)).any(|at| pure(at - 1) || pure(at + 1))
}

fn is_one_of_two(context: &DocumentContext<'_>, first: usize, end: usize) -> bool {
    let word = |at: usize| context.tokens.get(at).map(|token| context.lower(token)).unwrap_or_default();
    let joins = |at: usize| matches!(word(at), "and" | "y" | "e" | "or" | "versus" | "vs" | "/");
    let pure = |at: usize| lexicon::is_eponym(word(at)) && !lexicon::word(word(at)).given;
    let graded = lexicon::is_eponym(word(end + 1)) && eponyms::is_graded(context, end + 2);
    let before = first >= 2 && joins(first - 1) && pure(first - 2);
    joins(end) && (graded || pure(end + 1)) || before
}

/// A scale with its figure that the model takes for an address or a date: "Rome IV", "Montgomery-Asberg 22".
pub(crate) fn is_scale(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    let eponym = |token: &TextToken| lexicon::is_eponym(context.lower(token));
    let mut all = words(context, one).peekable();
    let graded = one.end - one.first == 2 && eponyms::is_graded(context, one.end - 1) && is_roman(context, one.end - 1);
    all.peek().is_some() && all.all(eponym) || graded
}

/// "Rai 2, Binet B": an eponym, and no word of streets.
pub(crate) fn is_scale_or_more(context: &DocumentContext<'_>, one: &TaggedSpan) -> bool {
    words(context, one).any(|token| lexicon::is_eponym(context.lower(token)))
        && !words(context, one).any(|token| STREETS.contains(context.lower(token)))
}

fn is_roman(context: &DocumentContext<'_>, at: usize) -> bool {
    context.tokens[at].kind == TextTokenKind::Word
}

//! False positives of rules and model for a street, a number, a mail address or a plate: figures with their unit, lists
//! of relatives and their diseases, check boxes of a form.

use super::super::super::document::DocumentContext;
use super::super::super::finding::PiiFinding;
use super::super::super::label;
use super::super::super::token::{LetterCase, TextToken, TextTokenKind};
use super::super::cues::RELATIONS;
use super::super::word_classes::{WordClasses, word_classes};
use super::super::{lexicon, places};
use super::names::is_after_employer;
use super::word_forms::{is_short_form, words_of};
use crate::entities::post_filter::stop_words;
use crate::word_tables::{self, WordList};

/// Years that texts mention without a day or month.
const YEARS: std::ops::RangeInclusive<u32> = 1940..=2039;

/// "papá – TLP", "CABG 2011", "Zofran 4, K-Dur 20": clinical words, relatives and ordinary words about them, and
/// no one's name, no long number and no street among them.
pub(super) fn is_clinical_term(context: &DocumentContext<'_>, one: &PiiFinding, (first, end): (usize, usize)) -> bool {
    let lower = |at: usize| context.lower(&context.tokens[at]);
    // "The Old Forge Surgery": a clinical word may be a part of what an organisation is called.
    let house_like = matches!(one.label, label::ADDRESS | label::ORGANIZATION | label::LOCATION);
    let clinic = |at: usize| {
        let lower = lower(at);
        if word_classes(lower).has(WordClasses::NUMBER) {
            return false;
        }
        stop_words::is_medicine(lower)
            || super::clinical_words::is_word(lower) && !(house_like && context.tokens[at].case == LetterCase::Title)
            || one.label != label::DATE && super::clinical_words::is_measure(lower) && is_with_a_figure(context, at)
            || stop_words::is_abbreviation(lower)
                && is_short_form(context, at)
                && !(one.label == label::ADDRESS && STREETS.contains(&lower))
                && !(one.label == label::MEDICAL_RECORD && CODES.contains(&lower))
    };
    let plain = |at: usize| {
        let token = &context.tokens[at];
        match token.kind {
            TextTokenKind::Word => {
                let word = lower(at);
                let known = lexicon::word(word);
                let ordinary = lexicon::is_ordinary_in(context.language, word) && !known.is_strong();
                token.span.len() == 1
                    || clinic(at)
                    || stop_words::is_kin(word)
                    || matches!(word, "mat" | "pat")
                    || ordinary
            }
            TextTokenKind::Number => (token.span.len() < 4 || is_year(lower(at))) && !clings_to_a_word(context, at),
            _ => !matches!(context.plain(token), "@" | "_"),
        }
    };
    let listed = |at: usize| {
        is_apart(context, at) && (first..end).any(|at| stop_words::is_kin(lower(at)) || lower(at).len() == 1)
    };
    let disease = (first..end)
        .all(|at| super::clinical_words::is_word(lower(at)) && context.tokens[at].case == LetterCase::Lower);
    let organization = one.label == label::ORGANIZATION && is_after_employer(context, first) && !disease;
    !organization
        && (one.label != label::PHONE
            || (first..end).filter(|at| word_classes(lower(*at)).has(WordClasses::NUMBER)).count() < SAID)
        && (first..end).any(|at| clinic(at) || listed(at))
        && (first..end).all(plain)
}

/// Written in capitals, these are kinds of streets too.
const STREETS: &[&str] = &[
    "ct", "dr", "st", "pl", "av", "ave", "rd", "cra", "pr", "rm", "sq", "apt", "fl", "ca", "pa", "md", "va", "la",
    "ms", "al", "ar",
];

/// A dash between spaces.
fn is_apart(context: &DocumentContext<'_>, at: usize) -> bool {
    let token = &context.tokens[at];
    matches!(context.plain(token), "-" | "–" | "—")
        && at > 0
        && context.tokens[at - 1].span.end < token.span.start
        && context.tokens.get(at + 1).is_some_and(|next| next.span.start > token.span.end)
}

/// "69 BP 187", "62 RR 12 sats 91", "OA 2008": figures of up to three digits, or a year, and what they measure; apart, and
/// no street among them.
pub(super) fn is_measure(context: &DocumentContext<'_>, (first, end): (usize, usize)) -> bool {
    let mut any = false;
    let only = (first..end).all(|at| {
        let token = &context.tokens[at];
        let lower = context.lower(token);
        match token.kind {
            TextTokenKind::Number => token.span.len() < 4 && !clings_to_a_word(context, at) || is_year(lower),
            TextTokenKind::Word => {
                let measured =
                    stop_words::is_abbreviation(lower) && is_short_form(context, at) && !CODES.contains(&lower)
                        || stop_words::is_medicine(lower)
                        || super::clinical_words::is_measure(lower)
                        || super::clinical_words::is_word(lower)
                        || MEASURES.contains(lower);
                let number = word_classes(lower).has(WordClasses::NUMBER);
                any |= measured && token.span.len() > 1 && !number;
                measured || token.span.len() == 1 || number
            }
            _ => matches!(context.plain(token), "/" | "." | "," | ":" | "%" | "-" | "(" | ")"),
        }
    });
    let letters = words_of(context, first, end).all(|token| token.span.len() == 1)
        && !context.tokens[first..end].iter().any(|token| token.kind == TextTokenKind::Number);
    any && only && end - first > 1
        || letters
        || is_lone_year(context, (first, end))
        || only && is_pressure(context, (first, end))
}

/// "07:00 BO. PU'd. Wt 51", "Hb 10.9 Hto 33 leuc 13.2": what is measured and its figure, and no street, no name and no long
/// number among them.
pub(super) fn holds_a_reading(context: &DocumentContext<'_>, (first, end): (usize, usize)) -> bool {
    let lower = |at: usize| context.lower(&context.tokens[at]);
    let measure = |at: usize| {
        let token = &context.tokens[at];
        token.is_word()
            && token.span.len() > 1
            && !(at > 0 && context.tokens[at - 1].span.end == token.span.start)
            && !CODES.contains(&lower(at))
            && !STREETS.contains(&lower(at))
            && (MEASURES.contains(lower(at)) || super::clinical_words::is_measure(lower(at)))
            && !word_classes(lower(at)).has(WordClasses::NUMBER)
    };
    let read = (first..end).any(|at| measure(at) && is_with_a_figure(context, at));
    let foreign = |at: usize| {
        let token = &context.tokens[at];
        match token.kind {
            TextTokenKind::Number => token.span.len() > 3 && !is_year(lower(at)),
            TextTokenKind::Word => {
                STREET_WORDS.contains(lower(at))
                    || token.case == LetterCase::Title
                        && (lexicon::word(lower(at)).is_strong() || places::is_place(lower(at)))
            }
            _ => false,
        }
    };
    let said = (first..end).filter(|at| word_classes(lower(*at)).has(WordClasses::NUMBER)).count();
    read && said < SAID && !(first..end).any(|at| foreign(at) && !measure(at))
}

/// How many words name what is measured.
pub(super) fn counts_measures(context: &DocumentContext<'_>, (first, end): (usize, usize)) -> usize {
    let measure = |token: &&TextToken| {
        let lower = context.lower(token);
        MEASURES.contains(lower) || super::clinical_words::is_measure(lower)
    };
    words_of(context, first, end).filter(measure).count()
}

/// Words of digits from which a telephone may be said.
const SAID: usize = 6;

/// "104/68 P 58 T": a figure over another.
fn is_pressure(context: &DocumentContext<'_>, (first, end): (usize, usize)) -> bool {
    let figure = |at: usize| {
        let token = &context.tokens[at];
        token.kind == TextTokenKind::Number && (2..=3).contains(&token.span.len())
    };
    (first + 1..end.saturating_sub(1)).any(|at| {
        let sign = &context.tokens[at];
        let tight = context.tokens[at - 1].span.end == sign.span.start
            && context.tokens.get(at + 1).is_some_and(|next| next.span.start == sign.span.end);
        context.plain(sign) == "/" && tight && figure(at - 1) && figure(at + 1)
    })
}

/// "168/62", "97%", "7.2", "2 nights": a number of up to three digits that belongs to the words next to it, or of up to
/// two digits without a keyword.
pub(super) fn is_bare_figure(context: &DocumentContext<'_>, (first, end): (usize, usize)) -> bool {
    let [token] = &context.tokens[first..end] else { return false };
    let plain = |at: Option<usize>| {
        at.and_then(|at| context.tokens.get(at)).map(|token| context.plain(token)).unwrap_or_default()
    };
    let (before, after) = (plain(first.checked_sub(1)), plain(Some(end)));
    let joined = matches!(before, "/" | ".") || matches!(after, "/" | "." | "%");
    token.kind == TextTokenKind::Number
        && (token.span.len() <= 2 && !matches!(before, "#" | "-") && after != "-" || token.span.len() == 3 && joined)
}

/// "@0340", "@1625": an hour after the sign, with no more than measures next to it.
pub(super) fn is_clock(context: &DocumentContext<'_>, (first, end): (usize, usize)) -> bool {
    let hour = |at: usize| {
        let token = &context.tokens[at];
        let digits = context.plain(token);
        let after = at > 0
            && context.plain(&context.tokens[at - 1]) == "@"
            && context.tokens[at - 1].span.end == token.span.start;
        let value = digits.parse::<u32>().unwrap_or(u32::MAX);
        after && (3..=4).contains(&digits.len()) && value / 100 < 24 && value % 100 < 60
    };
    let other = |at: usize| {
        let token = &context.tokens[at];
        let lower = context.lower(token);
        match token.kind {
            TextTokenKind::Number => token.span.len() < 4,
            TextTokenKind::Word => {
                MEASURES.contains(lower)
                    || super::clinical_words::is_measure(lower)
                    || stop_words::is_abbreviation(lower)
            }
            _ => true,
        }
    };
    (first..end).any(hour) && (first..end).all(|at| hour(at) || other(at))
}

/// A figure or a number word follows directly.
fn is_with_a_figure(context: &DocumentContext<'_>, at: usize) -> bool {
    let figure = |at: usize| {
        let token = context.tokens.get(at);
        token.is_some_and(|next| {
            next.kind == TextTokenKind::Number || word_classes(context.lower(next)).has(WordClasses::NUMBER)
        })
    };
    let sign = context
        .tokens
        .get(at + 1)
        .is_some_and(|next| matches!(context.plain(next), "<" | ">" | "=" | ":" | "~" | "-" | "actual" | "is" | "was"));
    figure(at + 1) || sign && figure(at + 2)
}

/// Letters before record numbers.
const CODES: &[&str] = &["rx", "mr", "pt", "dx", "bm", "hc", "ss", "id", "pv", "ci", "cc"];

/// A hyphen joins it to letters, as it does in codes.
fn clings_to_a_word(context: &DocumentContext<'_>, at: usize) -> bool {
    let joined = |left: usize, right: usize| {
        let (Some(a), Some(b)) = (context.tokens.get(left), context.tokens.get(right)) else { return false };
        a.span.end == b.span.start
    };
    let hyphen = |at: usize| context.tokens.get(at).is_some_and(|token| context.plain(token) == "-");
    at > 0 && hyphen(at - 1) && joined(at - 1, at) || hyphen(at + 1) && joined(at, at + 1)
}

fn is_year(lower: &str) -> bool {
    lower.len() == 4 && lower.parse().is_ok_and(|year: u32| YEARS.contains(&year))
}

static MEASURES: WordList = WordList::listed(word_tables::ENTITIES, "numbers.measures");

/// One number of four digits that is a year of today, or a word of time with it.
fn is_lone_year(context: &DocumentContext<'_>, (first, end): (usize, usize)) -> bool {
    let [token] = &context.tokens[first..end] else { return false };
    token.kind == TextTokenKind::Number && is_year(context.lower(token))
}

/// "2023 PTR": a year and an operation look like a number plate.
pub(super) fn is_clinical_plate(context: &DocumentContext<'_>, (first, end): (usize, usize)) -> bool {
    let trade = words_of(context, first, end).any(|token| stop_words::is_abbreviation(context.lower(token)));
    let number = context.tokens[first..end].iter().find(|token| token.kind == TextTokenKind::Number);
    trade && number.is_some_and(|token| is_year(context.lower(token)))
}

/// Two words or more, and neither a sign of mail nor a word that says it: the boxes of a form.
pub(super) fn is_no_mail(context: &DocumentContext<'_>, (first, end): (usize, usize)) -> bool {
    let said = |token: &TextToken| {
        matches!(
            context.lower(token),
            "@" | "arroba" | "at" | "dot" | "punto" | "gmail" | "hotmail" | "yahoo" | "outlook"
        )
    };
    let gap = (first + 1..end).any(|at| context.tokens[at].span.start > context.tokens[at - 1].span.end);
    gap && !context.tokens[first..end].iter().any(said)
}

/// "mothers basement": ordinary words without a number and without a word of streets.
pub(super) fn is_no_street(context: &DocumentContext<'_>, (first, end): (usize, usize)) -> bool {
    let plain = |token: &TextToken| {
        let lower = context.lower(token);
        let ordinary = |word: &str| lexicon::is_ordinary_in(context.language, word) || RELATIONS.contains(word);
        token.case == LetterCase::Lower && (ordinary(lower) || lower.strip_suffix('s').is_some_and(ordinary))
    };
    let street = |token: &TextToken| {
        STREET_WORDS.contains(context.lower(token)) || word_classes(context.lower(token)).has(WordClasses::NUMBER)
    };
    context.tokens[first..end].iter().all(|token| token.is_word() && plain(token) && !street(token))
}

static STREET_WORDS: WordList = WordList::listed(word_tables::ENTITIES, "numbers.street_words");

/// Words alone, and one of them a relative or an ordinary noun: the number of a record has figures, or says them.
pub(super) fn is_without_figures(context: &DocumentContext<'_>, (first, end): (usize, usize)) -> bool {
    let ordinary = |token: &TextToken| {
        lexicon::is_ordinary_in(context.language, context.lower(token)) || RELATIONS.contains(context.lower(token))
    };
    context.tokens[first..end]
        .iter()
        .all(|token| token.is_word() && ordinary(token) && !word_classes(context.lower(token)).has(WordClasses::NUMBER))
}

/// A score out of another ("41/56").
pub(super) fn is_no_number(context: &DocumentContext<'_>, (first, end): (usize, usize)) -> bool {
    let short = |token: &TextToken| token.kind == TextTokenKind::Number && token.span.len() < 4;
    let named = |token: &TextToken| {
        let lower = context.lower(token);
        token.case == LetterCase::Upper && stop_words::is_abbreviation(lower) && !CODES.contains(&lower)
    };
    // "/ T2" of "T2DM": a part of a word.
    let cut = context
        .tokens
        .get(end)
        .is_some_and(|next| next.is_word() && next.span.start == context.tokens[end - 1].span.end);
    let digits: usize = context.tokens[first..end]
        .iter()
        .filter(|token| token.kind == TextTokenKind::Number)
        .map(|token| token.span.len())
        .sum();
    cut && digits <= 2
        || match &context.tokens[first..end] {
            [a, sign, b] => short(a) && context.plain(sign) == "/" && short(b),
            // "AF 2022": a disease and its year.
            [word, year] => named(word) && year.kind == TextTokenKind::Number && is_year(context.lower(year)),
            _ => false,
        }
}

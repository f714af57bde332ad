//! What rules and the model took for a street, a number, a mail address or a plate: figures and what they measure, lists of
//! relatives and what they have, the boxes of a form.

use super::super::super::context::Context;
use super::super::super::finding::Finding;
use super::super::super::label;
use super::super::super::token::{Case, Kind, Token};
use super::super::cues::RELATIONS;
use super::super::traits::{Traits, traits};
use super::super::{lexicon, places};
use super::forms::{is_short_form, words_of};
use super::names::is_behind_employer;
use crate::entities::trade::words as trade;

/// Years that stand alone in texts.
const YEARS: std::ops::RangeInclusive<u32> = 1940..=2039;

/// "papá – TLP", "CABG 2011", "Zofran 4, K-Dur 20": words of the clinic, relatives and ordinary words about them, and
/// nobody's name, no long number and no street among them.
pub(super) fn is_of_the_clinic(context: &Context<'_>, one: &Finding, (first, end): (usize, usize)) -> bool {
    let lower = |at: usize| context.lower(&context.tokens[at]);
    // "The Old Forge Surgery": a word of the clinic may be a part of what a house is called.
    let house_like = matches!(one.label, label::ADDRESS | label::ORGANIZATION | label::LOCATION);
    let clinic = |at: usize| {
        let lower = lower(at);
        if traits(lower).has(Traits::NUMBER) {
            return false;
        }
        trade::is_medicine(lower)
            || super::clinic::is_word(lower) && !(house_like && context.tokens[at].case == Case::Title)
            || one.label != label::DATE && super::clinic::is_measure(lower) && is_with_a_figure(context, at)
            || trade::is_abbreviation(lower)
                && is_short_form(context, at)
                && !(one.label == label::ADDRESS && STREETS.contains(&lower))
                && !(one.label == label::MEDICAL_RECORD && CODES.contains(&lower))
    };
    let plain = |at: usize| {
        let token = &context.tokens[at];
        match token.kind {
            Kind::Word => {
                let word = lower(at);
                let known = lexicon::word(word);
                let ordinary = lexicon::is_ordinary_in(context.language, word) && !known.is_strong();
                token.span.len() == 1 || clinic(at) || trade::is_kin(word) || matches!(word, "mat" | "pat") || ordinary
            }
            Kind::Number => (token.span.len() < 4 || is_year(lower(at))) && !clings_to_a_word(context, at),
            _ => !matches!(context.plain(token), "@" | "_"),
        }
    };
    let listed =
        |at: usize| is_apart(context, at) && (first..end).any(|at| trade::is_kin(lower(at)) || lower(at).len() == 1);
    let disease = (first..end).all(|at| super::clinic::is_word(lower(at)) && context.tokens[at].case == Case::Lower);
    let house = one.label == label::ORGANIZATION && is_behind_employer(context, first) && !disease;
    !house
        && (one.label != label::PHONE
            || (first..end).filter(|at| traits(lower(*at)).has(Traits::NUMBER)).count() < SAID)
        && (first..end).any(|at| clinic(at) || listed(at))
        && (first..end).all(plain)
}

/// Written in capitals, these are kinds of streets too.
const STREETS: &[&str] = &[
    "ct", "dr", "st", "pl", "av", "ave", "rd", "cra", "pr", "rm", "sq", "apt", "fl", "ca", "pa", "md", "va", "la",
    "ms", "al", "ar",
];

/// A dash that stands apart.
fn is_apart(context: &Context<'_>, at: usize) -> bool {
    let token = &context.tokens[at];
    matches!(context.plain(token), "-" | "–" | "—")
        && at > 0
        && context.tokens[at - 1].span.end < token.span.start
        && context.tokens.get(at + 1).is_some_and(|next| next.span.start > token.span.end)
}

/// "69 BP 187", "62 RR 12 sats 91", "OA 2008": figures of up to three digits, or a year, and what they measure; apart, and
/// no street among them.
pub(super) fn is_measure(context: &Context<'_>, (first, end): (usize, usize)) -> bool {
    let mut any = false;
    let only = (first..end).all(|at| {
        let token = &context.tokens[at];
        let lower = context.lower(token);
        match token.kind {
            Kind::Number => token.span.len() < 4 && !clings_to_a_word(context, at) || is_year(lower),
            Kind::Word => {
                let measured = trade::is_abbreviation(lower) && is_short_form(context, at) && !CODES.contains(&lower)
                    || trade::is_medicine(lower)
                    || super::clinic::is_measure(lower)
                    || super::clinic::is_word(lower)
                    || MEASURES.contains(&lower);
                let number = traits(lower).has(Traits::NUMBER);
                any |= measured && token.span.len() > 1 && !number;
                measured || token.span.len() == 1 || number
            }
            _ => matches!(context.plain(token), "/" | "." | "," | ":" | "%" | "-" | "(" | ")"),
        }
    });
    let letters = words_of(context, first, end).all(|token| token.span.len() == 1)
        && !context.tokens[first..end].iter().any(|token| token.kind == Kind::Number);
    any && only && end - first > 1
        || letters
        || is_lone_year(context, (first, end))
        || only && is_pressure(context, (first, end))
}

/// "07:00 BO. PU'd. Wt 51", "Hb 10.9 Hto 33 leuc 13.2": what is measured and its figure, and no street, no name and no long
/// number among them.
pub(super) fn holds_a_reading(context: &Context<'_>, (first, end): (usize, usize)) -> bool {
    let lower = |at: usize| context.lower(&context.tokens[at]);
    let measure = |at: usize| {
        let token = &context.tokens[at];
        token.is_word()
            && token.span.len() > 1
            && !(at > 0 && context.tokens[at - 1].span.end == token.span.start)
            && !CODES.contains(&lower(at))
            && !STREETS.contains(&lower(at))
            && (MEASURES.contains(&lower(at)) || super::clinic::is_measure(lower(at)))
            && !traits(lower(at)).has(Traits::NUMBER)
    };
    let read = (first..end).any(|at| measure(at) && is_with_a_figure(context, at));
    let foreign = |at: usize| {
        let token = &context.tokens[at];
        match token.kind {
            Kind::Number => token.span.len() > 3 && !is_year(lower(at)),
            Kind::Word => {
                STREET_WORDS.contains(&lower(at))
                    || token.case == Case::Title
                        && (lexicon::word(lower(at)).is_strong() || places::is_place(lower(at)))
            }
            _ => false,
        }
    };
    let said = (first..end).filter(|at| traits(lower(*at)).has(Traits::NUMBER)).count();
    read && said < SAID && !(first..end).any(|at| foreign(at) && !measure(at))
}

/// How many words name what is measured.
pub(super) fn counts_measures(context: &Context<'_>, (first, end): (usize, usize)) -> usize {
    let measure = |token: &&Token| {
        let lower = context.lower(token);
        MEASURES.contains(&lower) || super::clinic::is_measure(lower)
    };
    words_of(context, first, end).filter(measure).count()
}

/// Words of digits from which a telephone may be said.
const SAID: usize = 6;

/// "104/68 P 58 T": a figure over another.
fn is_pressure(context: &Context<'_>, (first, end): (usize, usize)) -> bool {
    let figure = |at: usize| {
        let token = &context.tokens[at];
        token.kind == Kind::Number && (2..=3).contains(&token.span.len())
    };
    (first + 1..end.saturating_sub(1)).any(|at| {
        let sign = &context.tokens[at];
        let tight = context.tokens[at - 1].span.end == sign.span.start
            && context.tokens.get(at + 1).is_some_and(|next| next.span.start == sign.span.end);
        context.plain(sign) == "/" && tight && figure(at - 1) && figure(at + 1)
    })
}

/// "168/62", "97%", "7.2", "2 nights": a number of up to three digits that belongs to what stands beside it, or one of up
/// to two that nothing announces.
pub(super) fn is_bare_figure(context: &Context<'_>, (first, end): (usize, usize)) -> bool {
    let [token] = &context.tokens[first..end] else { return false };
    let plain = |at: Option<usize>| {
        at.and_then(|at| context.tokens.get(at)).map(|token| context.plain(token)).unwrap_or_default()
    };
    let (before, behind) = (plain(first.checked_sub(1)), plain(Some(end)));
    let joined = matches!(before, "/" | ".") || matches!(behind, "/" | "." | "%");
    token.kind == Kind::Number
        && (token.span.len() <= 2 && !matches!(before, "#" | "-") && behind != "-" || token.span.len() == 3 && joined)
}

/// "@0340", "@1625": an hour behind the sign, with no more than measures beside it.
pub(super) fn is_clock(context: &Context<'_>, (first, end): (usize, usize)) -> bool {
    let hour = |at: usize| {
        let token = &context.tokens[at];
        let digits = context.plain(token);
        let behind = at > 0
            && context.plain(&context.tokens[at - 1]) == "@"
            && context.tokens[at - 1].span.end == token.span.start;
        let value = digits.parse::<u32>().unwrap_or(u32::MAX);
        behind && (3..=4).contains(&digits.len()) && value / 100 < 24 && value % 100 < 60
    };
    let other = |at: usize| {
        let token = &context.tokens[at];
        let lower = context.lower(token);
        match token.kind {
            Kind::Number => token.span.len() < 4,
            Kind::Word => {
                MEASURES.contains(&lower) || super::clinic::is_measure(lower) || trade::is_abbreviation(lower)
            }
            _ => true,
        }
    };
    (first..end).any(hour) && (first..end).all(|at| hour(at) || other(at))
}

/// A figure, or one that is said, stands right behind.
fn is_with_a_figure(context: &Context<'_>, at: usize) -> bool {
    let figure = |at: usize| {
        let token = context.tokens.get(at);
        token.is_some_and(|next| next.kind == Kind::Number || traits(context.lower(next)).has(Traits::NUMBER))
    };
    let sign = context
        .tokens
        .get(at + 1)
        .is_some_and(|next| matches!(context.plain(next), "<" | ">" | "=" | ":" | "~" | "-" | "actual" | "is" | "was"));
    figure(at + 1) || sign && figure(at + 2)
}

/// Letters that stand before the numbers of records.
const CODES: &[&str] = &["rx", "mr", "pt", "dx", "bm", "hc", "ss", "id", "pv", "ci", "cc"];

/// A hyphen joins it to letters, as it does in codes.
fn clings_to_a_word(context: &Context<'_>, at: usize) -> bool {
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

const MEASURES: &[&str] = &[
    "bp",
    "hr",
    "rr",
    "pr",
    "temp",
    "sats",
    "sat",
    "spo",
    "sao",
    "sato",
    "pulse",
    "weight",
    "height",
    "wt",
    "ht",
    "gcs",
    "glasgow",
    "ta",
    "fc",
    "fr",
    "pa",
    "pas",
    "pad",
    "peso",
    "talla",
    "imc",
    "bmi",
    "afebril",
    "afebrile",
    "mmhg",
    "lpm",
    "bpm",
    "kg",
    "cm",
    "ra",
    "aa",
    "temperatura",
    "tension",
    "frecuencia",
    "pulso",
    "obs",
    "spo2",
    "cows",
    "ciwa",
    "leuc",
    "leucos",
    "leu",
    "plaq",
    "plaquetas",
    "creat",
    "hb",
    "hto",
    "hcto",
    "glucom",
    "glu",
    "gluc",
    "altura",
    "urea",
    "phq",
    "gad",
    "audit",
    "pcl",
    "edss",
    "dtx",
    "hgt",
    "trop",
    "troponin",
    "troponina",
    "lipase",
    "lipasa",
    "resps",
    "saturations",
    "sv",
    "vs",
    "eva",
    "nrs",
    "ews",
    "news",
    "mews",
    "basal",
    "on",
    "air",
    "o",
    "t",
];

/// One number of four digits that is a year of today, or a word of time with it.
fn is_lone_year(context: &Context<'_>, (first, end): (usize, usize)) -> bool {
    let [token] = &context.tokens[first..end] else { return false };
    token.kind == Kind::Number && is_year(context.lower(token))
}

/// "2023 PTR": a year and an operation look like a number plate.
pub(super) fn is_plate_of_the_trade(context: &Context<'_>, (first, end): (usize, usize)) -> bool {
    let trade = words_of(context, first, end).any(|token| trade::is_abbreviation(context.lower(token)));
    let number = context.tokens[first..end].iter().find(|token| token.kind == Kind::Number);
    trade && number.is_some_and(|token| is_year(context.lower(token)))
}

/// Two words or more, and neither a sign of mail nor a word that says it: the boxes of a form.
pub(super) fn is_no_mail(context: &Context<'_>, (first, end): (usize, usize)) -> bool {
    let said = |token: &Token| {
        matches!(
            context.lower(token),
            "@" | "arroba" | "at" | "dot" | "punto" | "gmail" | "hotmail" | "yahoo" | "outlook"
        )
    };
    let gap = (first + 1..end).any(|at| context.tokens[at].span.start > context.tokens[at - 1].span.end);
    gap && !context.tokens[first..end].iter().any(said)
}

/// "mothers basement": ordinary words without a number and without a word of streets.
pub(super) fn is_no_street(context: &Context<'_>, (first, end): (usize, usize)) -> bool {
    let plain = |token: &Token| {
        let lower = context.lower(token);
        let ordinary = |word: &str| lexicon::is_ordinary_in(context.language, word) || RELATIONS.contains(word);
        token.case == Case::Lower && (ordinary(lower) || lower.strip_suffix('s').is_some_and(ordinary))
    };
    let street = |token: &Token| {
        STREET_WORDS.contains(&context.lower(token)) || traits(context.lower(token)).has(Traits::NUMBER)
    };
    context.tokens[first..end].iter().all(|token| token.is_word() && plain(token) && !street(token))
}

const STREET_WORDS: &[&str] = &[
    "street",
    "avenue",
    "road",
    "lane",
    "drive",
    "court",
    "place",
    "way",
    "terrace",
    "square",
    "close",
    "crescent",
    "row",
    "hill",
    "box",
    "calle",
    "avenida",
    "plaza",
    "paseo",
    "camino",
    "carretera",
    "ronda",
    "piso",
    "puerta",
    "portal",
    "colonia",
    "barrio",
    "pasaje",
    "esquina",
    "corner",
    "block",
];

/// Words alone, and one of them a relative or an ordinary noun: the number of a record has figures, or says them.
pub(super) fn is_without_figures(context: &Context<'_>, (first, end): (usize, usize)) -> bool {
    let ordinary = |token: &Token| {
        lexicon::is_ordinary_in(context.language, context.lower(token)) || RELATIONS.contains(context.lower(token))
    };
    context.tokens[first..end]
        .iter()
        .all(|token| token.is_word() && ordinary(token) && !traits(context.lower(token)).has(Traits::NUMBER))
}

/// A score out of another ("41/56").
pub(super) fn is_no_number(context: &Context<'_>, (first, end): (usize, usize)) -> bool {
    let short = |token: &Token| token.kind == Kind::Number && token.span.len() < 4;
    let named = |token: &Token| {
        let lower = context.lower(token);
        token.case == Case::Upper && trade::is_abbreviation(lower) && !CODES.contains(&lower)
    };
    // "/ T2" of "T2DM": a part of a word.
    let cut = context
        .tokens
        .get(end)
        .is_some_and(|next| next.is_word() && next.span.start == context.tokens[end - 1].span.end);
    let digits: usize = context.tokens[first..end]
        .iter()
        .filter(|token| token.kind == Kind::Number)
        .map(|token| token.span.len())
        .sum();
    cut && digits <= 2
        || match &context.tokens[first..end] {
            [a, sign, b] => short(a) && context.plain(sign) == "/" && short(b),
            // "AF 2022": a disease and its year.
            [word, year] => named(word) && year.kind == Kind::Number && is_year(context.lower(year)),
            _ => false,
        }
}

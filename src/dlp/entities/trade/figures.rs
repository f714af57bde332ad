//! What rules and the model took for a street, a number, a mail address or a plate: figures and what they measure, lists of
//! relatives and what they have, the boxes of a form.

use super::super::super::context::Context;
use super::super::super::finding::Finding;
use super::super::super::label;
use super::super::super::token::{Case, Kind, Token};
use super::super::cues::RELATIONS;
use super::super::lexicon;
use super::super::traits::{Traits, traits};
use super::names::is_behind_employer;
use super::tidy::{is_short_form, words_of};

/// Years that stand alone in texts.
const YEARS: std::ops::RangeInclusive<u32> = 1940..=2039;

/// "papá – TLP", "CABG 2011", "Zofran 4, K-Dur 20": words of the clinic, relatives and ordinary words about them, and
/// nobody's name, no long number and no street among them.
pub(super) fn is_of_the_clinic(context: &Context<'_>, one: &Finding, (first, end): (usize, usize)) -> bool {
    let lower = |at: usize| context.lower(&context.tokens[at]);
    let clinic = |at: usize| {
        let lower = lower(at);
        super::is_medicine(lower)
            || super::is_abbreviation(lower)
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
                token.span.len() == 1 || clinic(at) || super::is_kin(word) || matches!(word, "mat" | "pat") || ordinary
            }
            Kind::Number => (token.span.len() < 4 || is_year(lower(at))) && !clings_to_a_word(context, at),
            _ => !matches!(context.plain(token), "@" | "_"),
        }
    };
    let listed =
        |at: usize| is_apart(context, at) && (first..end).any(|at| super::is_kin(lower(at)) || lower(at).len() == 1);
    let house = one.label == label::ORGANIZATION && is_behind_employer(context, first);
    !house && (first..end).any(|at| clinic(at) || listed(at)) && (first..end).all(plain)
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
                let measured = super::is_abbreviation(lower) && is_short_form(context, at) && !CODES.contains(&lower)
                    || super::is_medicine(lower)
                    || MEASURES.contains(&lower);
                any |= measured && token.span.len() > 1;
                measured || token.span.len() == 1
            }
            _ => matches!(context.plain(token), "/" | "." | "," | ":" | "%" | "-" | "(" | ")"),
        }
    });
    let letters = words_of(context, first, end).all(|token| token.span.len() == 1)
        && !context.tokens[first..end].iter().any(|token| token.kind == Kind::Number);
    any && only && end - first > 1 || letters || is_lone_year(context, (first, end))
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
    let trade = words_of(context, first, end).any(|token| super::is_abbreviation(context.lower(token)));
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
    matches!(&context.tokens[first..end], [a, sign, b] if short(a) && context.plain(sign) == "/" && short(b))
}

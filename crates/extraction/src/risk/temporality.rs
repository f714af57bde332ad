//! Whether a risk is present or over. A risk that is dated long ago, placed in an age or a time of life, or said to
//! have ended is history; one that goes on since then, or happened days ago, is not.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::passage_dates;
use crate::analysis::AnalyzedDocument;
use crate::lexicon::word_lists::{self, WordList};
use crate::tokenized::TokenizedText;
use crate::{Risk, RiskClass};
use anamnesis_core::fact_date::DatePrecision;
use chrono::Datelike;

/// Days after which what happened is history.
const RECENT: i64 = 60;
/// Years after which a year that is named is history.
const YEARS: i32 = 1;
/// Words after "no longer" that name the ended thing.
const ENDED: usize = 4;

/// Whether a finding is one of the past.
pub(super) fn is_past(doc: &AnalyzedDocument<'_>, risk: &Risk, words: &Range<usize>, of_entry: bool) -> bool {
    if let (Some(at), Some(today)) = (risk.at, doc.input.today) {
        let lenient = if at.precision == DatePrecision::Year { 365 } else { 31 };
        let old = (today - at.day).num_days() > RECENT + lenient;
        // "Started sertraline in March, wants to die": a date makes no wish of today one of the past.
        let present = !of_entry && passage_dates::is_present_thought(doc.reading, risk, words);
        return old && !goes_on(doc.reading, words) && !present;
    }
    let reading = doc.reading;
    // "Self-harmed as a teenager and again last night", "hits her since years": of now, whatever else is said.
    if says(reading, words, NOW) || goes_on(reading, words) || days_ago(reading, words) || at_an_hour(doc, risk, words)
    {
        return false;
    }
    // An attempt without a day is one of the past, as far as its time goes; its level takes care.
    risk.class == RiskClass::AttemptHistory
        || !risk.denied && says(reading, words, &NOT_SINCE)
        || says_past(doc, words)
        || at_an_age(reading, words) && is_dated(reading, risk, words)
}

/// Whether the words say themselves that it is over.
pub(super) fn says_past(doc: &AnalyzedDocument<'_>, words: &Range<usize>) -> bool {
    let reading = doc.reading;
    let closing = words.end.saturating_sub(3).max(words.start)..words.end;
    says(reading, words, &PAST)
        || says(reading, &closing, &NO_LONGER)
        || is_over(reading, words)
        || is_former(reading, words)
        || in_a_year(doc, words)
        || years_ago(reading, words)
}

/// "Ya no pienso en morir", "no longer cuts herself". "Ya no quiero vivir", "ya no aguanto más": a wish to live that is over
/// is a wish to die that is not.
fn is_over(reading: &TokenizedText<'_>, words: &Range<usize>) -> bool {
    let word = |at: usize| reading.word(at);
    let lives = |at: usize| LIVING.contains(word(at));
    let ends = |at: usize| matches!((word(at), word(at + 1)), ("ya", "no") | ("no", "longer"));
    // "Quisiera dormirme y ya no despertar": after "ya no", an infinitive is what is wished.
    let wished = |at: usize| word(at) == "ya" && is_infinitive(word(at + 2));
    words.clone().any(|at| ends(at) && at + 1 < words.end && !wished(at) && !(at + 2..at + 2 + ENDED).any(lives))
}

/// "Se arrojó a la 01:00", "stabbed himself at approx 0100": an act with an hour and no day is of the day of the note.
fn at_an_hour(doc: &AnalyzedDocument<'_>, risk: &Risk, words: &Range<usize>) -> bool {
    static HOUR: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let lead = "a las?|sobre las?|hacia las?|at|at (?:about|around|approx(?:imately)?)";
        Regex::new(&format!(r"(?i)(?-u:\b)(?:{lead}) (?:(?:[01]?[0-9]|2[0-3])[:.]|0[0-9])[0-5][0-9](?-u:\b)")).ok()
    });
    let act = matches!(risk.class, RiskClass::AttemptHistory | RiskClass::SelfHarm);
    let passage = doc.text().get(risk.span.start..risk.span.end).unwrap_or_default();
    act && HOUR.as_ref().is_some_and(|hour| hour.is_match(passage))
        && !says_past(doc, words)
        && !words.clone().any(|word| {
            matches!(doc.reading.word(word), "seen" | "reviewed" | "vista" | "visto" | "ingresa" | "ingreso")
        })
}

/// "Ex self-harmer". "Her ex" is a person.
fn is_former(reading: &TokenizedText<'_>, words: &Range<usize>) -> bool {
    static PERSON: WordList = WordList::listed(word_lists::RISK, "temporality.person_before_ex");
    let person = |at: usize| at.checked_sub(1).is_some_and(|before| PERSON.contains(reading.word(before)));
    words.clone().any(|at| reading.word(at) == "ex" && !person(at))
}

/// "Despertar", "levantarme", "seguirlo".
fn is_infinitive(word: &str) -> bool {
    let bare = ["me", "te", "se", "nos", "lo", "la", "los", "las"]
        .iter()
        .find_map(|end| word.strip_suffix(end))
        .unwrap_or(word);
    word.len() > 3 && ["ar", "er", "ir"].iter().any(|end| bare.ends_with(end) || word.ends_with(end))
}

/// "A los 15", "hasta los 14", "until 9", "aged 12", "cuando tenía 15 años", "at 16".
fn at_an_age(reading: &TokenizedText<'_>, words: &Range<usize>) -> bool {
    let word = |at: usize| reading.word(at);
    let age = |at: usize| word(at).parse::<u8>().is_ok_and(|age| (1..=60).contains(&age));
    words.clone().any(|at| match word(at) {
        "a" | "hasta" | "desde" => matches!(word(at + 1), "los" | "sus") && age(at + 2),
        "aged" | "age" | "until" => age(at + 1),
        "at" => age(at + 1) && !matches!(word(at + 2), ":" | "am" | "pm" | "h" | "hours" | "mg" | "%"),
        "tenia" => age(at + 1),
        "was" => age(at + 1) && matches!(word(at.saturating_sub(2)), "when"),
        _ => false,
    })
}

/// An age dates an act; a thought it dates only where the verb is one of the past.
fn is_dated(reading: &TokenizedText<'_>, risk: &Risk, words: &Range<usize>) -> bool {
    matches!(risk.class, RiskClass::Abuse | RiskClass::SelfHarm)
        || words.clone().any(|at| {
            matches!(
                reading.word(at),
                "was" | "had" | "were" | "did" | "thought" | "penso" | "pense" | "tuvo" | "tuve" | "estuvo" | "quiso"
            )
        })
}

/// "In 2019", "en 2016": a year that is named. "Since 2019" goes on.
fn in_a_year(doc: &AnalyzedDocument<'_>, words: &Range<usize>) -> bool {
    let reading = doc.reading;
    let now = doc.input.today.map(|today| today.year());
    words.clone().any(|at| {
        let year = reading.word(at).parse::<i32>().ok().filter(|year| (1940..2100).contains(year));
        let led = at
            .checked_sub(1)
            .is_some_and(|before| matches!(reading.word(before), "in" | "en" | "de" | "of" | "(" | "year" | "ano"));
        year.is_some_and(|year| led && now.is_none_or(|now| now - year > YEARS))
    })
}

/// "Hace 4 años", "five years ago", "hace dos años que no …", "for 2 years".
fn years_ago(reading: &TokenizedText<'_>, words: &Range<usize>) -> bool {
    let word = |at: usize| reading.word(at);
    words.clone().any(|at| {
        let number = is_number(word(at + 1));
        let since = at.checked_sub(1).is_some_and(|before| word(before) == "desde");
        match word(at) {
            "hace" => number && matches!(word(at + 2), "ano" | "anos") && !since,
            "clean" | "free" => words.clone().any(|year| matches!(word(year), "years" | "year")),
            _ => false,
        }
    })
}

/// "Dejó de cortarse en la adolescencia", "hace dos años que no se corta", "has not cut herself in five years": an act
/// that was given up long ago is history.
pub(super) fn stopped_long_ago(doc: &AnalyzedDocument<'_>, words: &Range<usize>) -> bool {
    let reading = doc.reading;
    let word = |at: usize| reading.word(at);
    let stops = words.clone().any(|at| {
        matches!((word(at), word(at + 1)), ("dejo" | "dejado" | "deje", "de"))
            || matches!(word(at), "stopped" | "quit" | "ceased")
    });
    let since = words.clone().any(|at| {
        let years = |at: usize| matches!(word(at), "anos" | "ano" | "years");
        word(at) == "hace" && years(at + 2) && word(at + 3) == "que" && word(at + 4) == "no"
            || word(at) == "in" && years(at + 2)
    });
    since || stops && says_past(doc, words)
}

/// "Hace tres días", "two days ago", "2h ago": no history.
fn days_ago(reading: &TokenizedText<'_>, words: &Range<usize>) -> bool {
    let word = |at: usize| reading.word(at);
    let unit = |word: &str| {
        matches!(
            word,
            "dia" | "dias" | "hora" | "horas" | "minutos" | "day" | "days" | "hour" | "hours" | "minutes" | "hrs" | "h"
        )
    };
    words.clone().any(|at| {
        let spanish = word(at) == "hace" && is_number(word(at + 1)) && unit(word(at + 2));
        let joined = word(at).strip_suffix('h').is_some_and(|number| number.parse::<u8>().is_ok());
        spanish || (unit(word(at)) || joined) && word(at + 1) == "ago"
    })
}

/// "Desde hace años", "for years" after a verb of now, "since 2019": the risk goes on.
fn goes_on(reading: &TokenizedText<'_>, words: &Range<usize>) -> bool {
    let word = |at: usize| reading.word(at);
    words.clone().any(|at| match word(at) {
        "desde" => word(at + 1) == "hace" && !matches!(word(at + 2), "que"),
        "since" => word(at + 1).parse::<u16>().is_ok() && !not_since(reading, words, at),
        _ => false,
    })
}

fn not_since(reading: &TokenizedText<'_>, words: &Range<usize>, at: usize) -> bool {
    (words.start.max(at.saturating_sub(3))..at)
        .any(|word| matches!(reading.word(word), "not" | "none" | "n't" | "never" | "nothing"))
}

fn is_number(word: &str) -> bool {
    word.parse::<u8>().is_ok()
        || matches!(
            word,
            "un" | "una"
                | "dos"
                | "tres"
                | "cuatro"
                | "cinco"
                | "seis"
                | "siete"
                | "ocho"
                | "nueve"
                | "diez"
                | "unos"
                | "unas"
                | "varios"
                | "muchos"
                | "pocos"
                | "algunos"
        )
}

fn says(reading: &TokenizedText<'_>, words: &Range<usize>, list: &[&str]) -> bool {
    let held = |phrase: &&str| {
        let count = phrase.split(' ').count();
        words.clone().any(|word| {
            phrase.split(' ').enumerate().all(|(at, part)| reading.word(word + at) == part) && word + count <= words.end
        })
    };
    list.iter().any(held)
}

static LIVING: WordList = WordList::listed(word_lists::RISK, "temporality.living");

static PAST: WordList = WordList::listed(word_lists::RISK, "temporality.past");

static NOT_SINCE: WordList = WordList::listed(word_lists::RISK, "temporality.not_since");

static NO_LONGER: WordList = WordList::listed(word_lists::RISK, "temporality.no_longer");

const NOW: &[&str] = &[
    "today",
    "tonight",
    "last night",
    "this morning",
    "yesterday",
    "just now",
    "hoy",
    "anoche",
    "ayer",
    "esta manana",
    "esta noche",
    "ahora",
    "traido",
    "traida",
    "brought",
    "overnight",
    "me he tomado",
    "me he tragado",
    "se ha tomado",
    "acaba de",
    "acabo de",
    "i just took",
    "triage",
    "fresh",
    "recent",
    "frescos",
    "frescas",
    "recientes",
    "reciente",
    "this week",
    "last week",
    "esta semana",
    "this afternoon",
    "intentional",
    "voluntaria",
    "this evening",
];

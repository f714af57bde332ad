//! Amounts: "50 mg", "0,5mg", "875/125 mg", "375 mg/m2", "media pastilla", "dos gotas", "fifty".

use std::ops::Range;

use super::dose_changes::{follows, is_brought_to, is_second_of_pair};
use super::fractions::fraction;
use crate::lexicon::LabelledPhrases;
use crate::lexicon::word_lists::{self, WordList};
use crate::tokenized::TokenizedText;
use anamnesis_text::{Language, begins_number, number_words};

/// Words between a name and a separate number after a comma.
const ASIDE: usize = 4;

/// A number with its unit and its place.
#[derive(Debug, Clone)]
pub(crate) struct Dose {
    pub(crate) words: Range<usize>,
    pub(crate) text: String,
    /// Milligrams say more than "one tablet", and both more than a bare number.
    pub(crate) rank: u8,
}

pub(crate) struct DoseRules;

impl DoseRules {
    /// All amounts within a range; a bare number only right at its beginning.
    pub(crate) fn find(&self, reading: &TokenizedText<'_>, labels: &LabelledPhrases, words: Range<usize>) -> Vec<Dose> {
        self.amounts(reading, labels, words, false)
    }

    /// Bare numbers anywhere count too: the words answer a question about a dose.
    pub(crate) fn bare(&self, reading: &TokenizedText<'_>, labels: &LabelledPhrases, words: Range<usize>) -> Vec<Dose> {
        self.amounts(reading, labels, words, true)
    }

    fn amounts(
        &self,
        reading: &TokenizedText<'_>,
        labels: &LabelledPhrases,
        words: Range<usize>,
        anywhere: bool,
    ) -> Vec<Dose> {
        let units = labels.find(reading, words.clone());
        let unit_at = |word: usize| {
            let here = units.iter().find(|(at, _)| at.start == word);
            here.and_then(|(at, name)| name.strip_prefix("unit:").map(|unit| (at.clone(), unit)))
        };
        let mut out = Vec::new();
        let mut word = words.start;
        while word < words.end {
            if let Some(dose) = fraction(reading, word, words.end, unit_at) {
                word = dose.words.end;
                out.push(dose);
                continue;
            }
            let Some((end, number)) = number_at(reading, word, words.end) else {
                out.extend(glued(reading.word(word)).map(|text| Dose { words: word..word + 1, text, rank: 3 }));
                word += 1;
                continue;
            };
            let slashed = slashed(reading, end).filter(|_| end < words.end);
            let dose = match unit_at(end).or(slashed) {
                Some((at, unit)) if !is_laboratory(reading, at.end) => Some(Dose {
                    words: word..at.end,
                    text: format!("{number} {unit}"),
                    rank: if strength(unit) { 3 } else { 2 },
                }),
                Some(_) => None,
                // A bare number is a dose where it follows the name at once and is not "2 times", "3 years" or a list.
                None if (anywhere
                    || opens(reading, words.start, word)
                    || out.last().is_some_and(|known: &Dose| follows(reading, known.words.end, word))
                    || is_second_of_pair(reading, words.start, word)
                    || is_brought_to(reading, words.start, word) && closes(reading, end, words.end)
                    || is_standalone(reading, words.clone(), word, end))
                    && (bare(reading, end, words.end)
                        || reading.word(end) == "of" && is_second_of_pair(reading, words.start, word))
                    && !is_year(&number)
                    && !is_day_of_month(&number)
                    && number != "2/2" =>
                {
                    Some(Dose { words: word..end, text: number, rank: 1 })
                }
                None => None,
            };
            word = dose.as_ref().map_or(end, |dose| dose.words.end);
            out.extend(dose);
        }
        out
    }
}

/// "Citalopram 2019": when, not how much.
fn is_year(number: &str) -> bool {
    number.len() == 4 && number.parse::<u32>().is_ok_and(|year| (1950..=2060).contains(&year) && year % 50 != 0)
}

/// "Changed to levofloxacin 8/1": a day and a month, no strengths of two parts.
fn is_day_of_month(number: &str) -> bool {
    let parts = number.split_once('/').map(|(day, month)| (day.parse::<u32>(), month.parse::<u32>()));
    matches!(parts, Some((Ok(first), Ok(second))) if first <= 31 && second <= 12 && first != second)
}

/// Right at the beginning, but for "de", "of", "at".
fn opens(reading: &TokenizedText<'_>, start: usize, word: usize) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::MEDICATION, "dose.opens");
    (start..word).all(|w| WORDS.contains(reading.word(w)))
}

/// "Carvedilol, 12.5 twice", "rosuvastatin now, ten.": between a comma and the end, or the times of the day.
fn is_standalone(reading: &TokenizedText<'_>, words: Range<usize>, word: usize, end: usize) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::MEDICATION, "dose.is_standalone");
    let now = (word.saturating_sub(3).max(words.start)..word).any(|at| matches!(reading.word(at), "now" | "ahora"));
    let opened = word > words.start
        && (word - words.start <= ASIDE
            && matches!(reading.word(word - 1), "," | "-" | "–" | "—" | ":" | "(" | "now" | "ahora")
            || now && WORDS.contains(reading.word(word - 1)));
    let amount = reading.word(word).starts_with(|c: char| c.is_ascii_digit()) || word + 1 >= end;
    opened
        && closes(reading, end, words.end)
        && amount
        && !matches!(reading.word(word), "one" | "uno" | "una" | "un" | "a")
}

/// Words that may follow a bare amount: the end, a sign, the times of the day.
fn closes(reading: &TokenizedText<'_>, end: usize, limit: usize) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::MEDICATION, "dose.closes");
    end >= limit || WORDS.contains(reading.word(end))
}

/// "mg/día", "mg/kg", "mcg/h", written as one: the unit before the slash.
fn slashed(reading: &TokenizedText<'_>, word: usize) -> Option<(Range<usize>, &'static str)> {
    let (unit, per) = reading.word(word).split_once('/')?;
    let laboratory = matches!(per, "dl" | "ml" | "l" | "mmol");
    unit_of(unit).filter(|_| !laboratory).map(|unit| (word..word + 1, unit))
}

/// "24 ng/ml", "0,8 mEq/l", "110 mg/dl": a concentration measured, not an amount taken.
pub(crate) fn is_laboratory(reading: &TokenizedText<'_>, after_unit: usize) -> bool {
    matches!(reading.word(after_unit), "/") && matches!(reading.word(after_unit + 1), "dl" | "l" | "mmol" | "ml")
        || matches!(reading.word(after_unit), "/dl" | "/l" | "/ml")
}

fn strength(unit: &str) -> bool {
    matches!(unit, "mg" | "mcg" | "g" | "ml" | "IU" | "mEq")
}

fn bare(reading: &TokenizedText<'_>, next: usize, end: usize) -> bool {
    static NOT_DOSES: WordList = WordList::listed(word_lists::MEDICATION, "dose.not_doses");
    let follows = reading.word(next);
    // "Quetiapine 100 de noche" says when; "2 de ellas" says how many of them.
    let joined = match follows {
        "de" => matches!(reading.word(next + 1), "noche" | "manana" | "tarde" | "dia" | "la"),
        "y" | "and" => reading.word(next.saturating_sub(1)).len() > 1,
        _ => true,
    };
    next >= end || joined && !NOT_DOSES.contains(follows)
}

/// A number in figures or words: the word after it, and its digits with a decimal point.
pub(crate) fn number_at(reading: &TokenizedText<'_>, word: usize, limit: usize) -> Option<(usize, String)> {
    let text = reading.word(word);
    // ".1": the tenth that a hasty hand writes.
    if text == "." && touches(reading, word) {
        let (end, digits) = number_at(reading, word + 1, limit)?;
        return digits.bytes().all(|b| b.is_ascii_digit()).then(|| (end, format!("0.{digits}")));
    }
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        let plain = text.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | '/'));
        if !plain || super::frequency::is_scheme(text) {
            return None;
        }
        // "10 - 20 mg": a range counts unchanged.
        let ranged = matches!(reading.word(word + 1), "-" | "–")
            && reading.word(word + 2).starts_with(|c: char| c.is_ascii_digit())
            && word + 2 < limit;
        return Some(if ranged {
            (word + 3, format!("{}-{}", decimal(text), decimal(reading.word(word + 2))))
        } else {
            (word + 1, decimal(text))
        });
    }
    if !begins_number(text) {
        return None;
    }
    let end = limit.min(word + 6);
    let source = reading.source(&(word..end));
    let said = number_words(source.slice(reading.text), Language::Unknown);
    let first = said.first().filter(|number| number.span.start == 0)?;
    if let Some(spoken) = spoken_strength(reading, word, limit) {
        return Some(spoken);
    }
    let mut digits = first.digits.clone();
    let mut next = reading.words_at(anamnesis_text::Span::new(source.start, source.start + first.span.end)).end;
    if matches!(reading.word(next), "point" | "punto" | "coma") {
        let tail = said
            .iter()
            .find(|number| source.start + number.span.start == reading.source(&(next + 1..next + 2)).start)?;
        digits = format!("{digits}.{}", tail.digits);
        next = reading.words_at(anamnesis_text::Span::new(source.start, source.start + tail.span.end)).end;
    }
    Some((next, digits))
}

/// A full stop right before figures, with a space before it.
fn touches(reading: &TokenizedText<'_>, stop: usize) -> bool {
    let (Some(here), Some(next)) = (reading.words.get(stop), reading.words.get(stop + 1)) else { return false };
    let apart = stop
        .checked_sub(1)
        .and_then(|at| reading.words.get(at))
        .is_none_or(|before| before.source.end < here.source.start);
    here.source.end == next.source.start
        && apart
        && next.source.slice(reading.text).starts_with(|c: char| c.is_ascii_digit())
}

/// Strengths as they are spoken: "one twenty-five" is 125, "seven fifty" 750, "cero veinticinco" 0.25; the times that
/// follow are no part of it ("two hundred four times a day").
fn spoken_strength(reading: &TokenizedText<'_>, word: usize, limit: usize) -> Option<(usize, String)> {
    let value = |at: usize| {
        let source = reading.source(&(at..at + 1));
        let said = number_words(source.slice(reading.text), Language::Unknown);
        said.first().and_then(|number| number.digits.parse::<u32>().ok())
    };
    let spelled = |at: usize| {
        at < limit && begins_number(reading.word(at)) && !reading.word(at).starts_with(|c: char| c.is_ascii_digit())
    };
    if !spelled(word) {
        return None;
    }
    let first = value(word)?;
    let end_of = |mut at: usize| {
        while at < limit && spelled(at) {
            at += 1;
        }
        at
    };
    let end = end_of(word);
    let times = |at: usize| matches!(reading.word(at), "times" | "veces" | "time");
    // "Two hundred four times": the last word counts the times.
    if end - word >= 2 && times(end) && value(end - 1).is_some_and(|n| n < 10) {
        let source = reading.source(&(word..end - 1));
        let said = number_words(source.slice(reading.text), Language::Unknown);
        // "Two fifty three times": read as it is spoken, up to the times.
        let whole = said.first().filter(|number| number.span.len() == source.len());
        return whole.map(|whole| (end - 1, whole.digits.clone())).or_else(|| spoken_strength(reading, word, end - 1));
    }
    let rest: Vec<u32> = (word + 1..end).filter_map(value).collect();
    match (first, rest.as_slice()) {
        (0, [tens]) if (5..100).contains(tens) => Some((end, format!("0.{tens:02}"))),
        (0, [tens, ones]) if *tens >= 20 && *ones < 10 => Some((end, format!("0.{:02}", tens + ones))),
        (1..=9, [tens]) if (10..100).contains(tens) => Some((end, format!("{}", first * 100 + tens))),
        (1..=9, [tens, ones]) if (20..100).contains(tens) && *ones < 10 && tens % 10 == 0 => {
            Some((end, format!("{}", first * 100 + tens + ones)))
        }
        _ => None,
    }
}

/// "0,5" → "0.5"; "1.000" is a thousand where no one weighs in thousandths.
fn decimal(text: &str) -> String {
    let text = text.trim_end_matches(['.', ',']);
    match text.split_once('.') {
        Some((whole, tail)) if tail.len() == 3 && whole != "0" && !text.contains(',') => format!("{whole}{tail}"),
        _ => text.replace(',', "."),
    }
}

/// "50mg", "0,5mg", "100mcg" written as one.
fn glued(word: &str) -> Option<String> {
    let digits = word.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',' | '/' | '-')))?;
    let (number, unit) = word.split_at(digits);
    if unit.split_once('/').is_some_and(|(_, per)| matches!(per, "dl" | "ml" | "l")) {
        return None;
    }
    let unit = unit_of(unit.split('/').next().unwrap_or(unit))?;
    number.starts_with(|c: char| c.is_ascii_digit()).then(|| format!("{} {unit}", decimal(number)))
}

fn unit_of(written: &str) -> Option<&'static str> {
    Some(match written {
        "mg" | "mgs" | "mgr" | "miligramos" => "mg",
        "mcg" | "ug" | "μg" | "mcgs" => "mcg",
        "g" | "gr" | "grs" => "g",
        "ml" | "cc" => "ml",
        "ui" | "iu" | "u" => "IU",
        "meq" => "mEq",
        _ => return None,
    })
}

//! Dose, route and frequency around the name of a medicine.

use std::ops::Range;

use crate::extract::lexicon::{Labels, label};
use crate::extract::matcher::Matcher;
use crate::extract::reading::Reading;
use crate::text::{Language, number_words};

const REGIMEN: &str = include_str!("../lexicon/regimen.tsv");

/// How a medicine is taken, as far as it was said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Regimen {
    /// "50 mg", "1 tablet"; a bare number where no unit was said.
    pub dose: Option<String>,
    pub route: Option<String>,
    pub frequency: Option<String>,
}

pub struct RegimenRules {
    labels: Labels,
    correction: Matcher,
}

/// A number with its unit, and where it stood.
struct Dose {
    words: Range<usize>,
    text: String,
    /// Milligrams say more than "one tablet", and both more than a bare number.
    rank: u8,
}

impl RegimenRules {
    pub fn builtin() -> Self {
        Self { labels: Labels::load(REGIMEN), correction: label(super::SPEECH, "correction") }
    }

    /// Reads the words around a mention: those after it up to the next medicine, and a dose right before it.
    pub fn read(
        &self,
        reading: &Reading<'_>,
        mention: &Range<usize>,
        before: Range<usize>,
        after: Range<usize>,
    ) -> Regimen {
        let mut regimen = self.read_words(reading, after);
        let near = before.start.max(mention.start.saturating_sub(4))..mention.start;
        let ahead = self.doses(reading, near).pop().filter(|dose| {
            dose.rank > 0 && (dose.words.end..mention.start).all(|w| matches!(reading.word(w), "of" | "de" | "del"))
        });
        if let Some(dose) = ahead {
            regimen.dose = Some(dose.text);
        }
        if regimen.route.is_none() && reading.word(mention.end.saturating_sub(1)) == "inhaler" {
            regimen.route = Some("inhaled".into());
        }
        regimen
    }

    /// What a stretch of words says, whatever medicine it belongs to.
    pub fn read_words(&self, reading: &Reading<'_>, words: Range<usize>) -> Regimen {
        let labels = self.labels.find(reading, words.clone());
        let first = |prefix: &str| labels.iter().find_map(|(_, name)| name.strip_prefix(prefix)).map(str::to_owned);
        let per = words.clone().find_map(|w| per_time(reading.word(w)));
        let scheme = words.clone().map(|w| reading.word(w)).find(|word| is_scheme(word)).map(str::to_owned);
        Regimen {
            dose: self.dose(reading, words),
            route: first("route:"),
            frequency: scheme.or_else(|| per.map(str::to_owned)).or_else(|| first("freq:")),
        }
    }

    /// The dose that holds: the last one where the speaker corrects or changes it, else the most telling one.
    fn dose(&self, reading: &Reading<'_>, words: Range<usize>) -> Option<String> {
        let mut doses = self.doses(reading, words);
        let best = doses.iter().map(|dose| dose.rank).max()?;
        doses.retain(|dose| dose.rank == best);
        let last = doses.pop()?;
        let Some(previous) = doses.last() else { return Some(last.text) };
        let between = previous.words.end..last.words.start;
        let corrected = between.clone().any(|w| self.correction.at(reading, w).is_some())
            || (between.len() <= 3 && between.clone().any(|w| matches!(reading.word(w), "to" | "a" | "hasta")));
        match corrected {
            true => Some(last.text),
            false => doses.into_iter().next().map(|dose| dose.text),
        }
    }

    fn doses(&self, reading: &Reading<'_>, words: Range<usize>) -> Vec<Dose> {
        let units = self.labels.find(reading, words.clone());
        let unit_at = |word: usize| {
            let here = units.iter().find(|(at, _)| at.start == word);
            here.and_then(|(at, name)| name.strip_prefix("unit:").map(|unit| (at.clone(), unit)))
        };
        let mut out = Vec::new();
        let mut word = words.start;
        while word < words.end {
            let Some((end, number)) = number_at(reading, word, words.end) else {
                out.extend(glued(reading.word(word)).map(|text| Dose { words: word..word + 1, text, rank: 3 }));
                word += 1;
                continue;
            };
            let slashed =
                reading.word(end).split_once('/').and_then(|(unit, _)| unit_of(unit)).filter(|_| end < words.end);
            let dose = match unit_at(end).or(slashed.map(|unit| (end..end + 1, unit))) {
                Some((at, unit)) => Some(Dose {
                    words: word..at.end,
                    text: format!("{number} {unit}"),
                    rank: if strength(unit) { 3 } else { 2 },
                }),
                // A bare number is a dose where it follows the name at once and is not "2 times", "3 years" or a list.
                None if word == words.start && bare(reading, end, words.end) => {
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

fn strength(unit: &str) -> bool {
    matches!(unit, "mg" | "mcg" | "g" | "ml" | "IU" | "mEq")
}

fn bare(reading: &Reading<'_>, next: usize, end: usize) -> bool {
    const NOT_DOSES: &[&str] = &[
        "times", "veces", "vez", "years", "anos", "days", "dias", "weeks", "semanas", "months", "meses", "hours",
        "horas", "%", "or", "o",
    ];
    next >= end || !NOT_DOSES.contains(&reading.word(next))
}

/// A number in figures or words: the word after it, and its digits with a decimal point.
fn number_at(reading: &Reading<'_>, word: usize, limit: usize) -> Option<(usize, String)> {
    let text = reading.word(word);
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        let plain = text.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | '/'));
        return (plain && !is_scheme(text)).then(|| (word + 1, decimal(text)));
    }
    let end = limit.min(word + 6);
    let source = reading.source(&(word..end));
    let said = number_words(source.of(reading.text), Language::Unknown);
    let first = said.first().filter(|number| number.span.start == 0)?;
    let mut digits = first.digits.clone();
    let mut next = reading.words_at(crate::text::Span::new(source.start, source.start + first.span.end)).end;
    if matches!(reading.word(next), "point" | "punto" | "coma") {
        let tail = said
            .iter()
            .find(|number| source.start + number.span.start == reading.source(&(next + 1..next + 2)).start)?;
        digits = format!("{digits}.{}", tail.digits);
        next = reading.words_at(crate::text::Span::new(source.start, source.start + tail.span.end)).end;
    }
    Some((next, digits))
}

/// "0,5" → "0.5"; "1.000" is a thousand where nobody weighs in thousandths.
fn decimal(text: &str) -> String {
    let text = text.trim_end_matches(['.', ',']);
    match text.split_once('.') {
        Some((whole, tail)) if tail.len() == 3 && whole != "0" && !text.contains(',') => format!("{whole}{tail}"),
        _ => text.replace(',', "."),
    }
}

/// "50mg", "0,5mg", "100mcg" written as one.
fn glued(word: &str) -> Option<String> {
    let digits = word.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',' | '/')))?;
    let (number, unit) = word.split_at(digits);
    let unit = unit_of(unit.split('/').next().unwrap_or(unit))?;
    number.starts_with(|c: char| c.is_ascii_digit()).then(|| format!("{} {unit}", decimal(number)))
}

fn unit_of(written: &str) -> Option<&'static str> {
    Some(match written {
        "mg" | "mgs" | "mgr" => "mg",
        "mcg" | "ug" => "mcg",
        "g" | "gr" => "g",
        "ml" | "cc" => "ml",
        "ui" | "iu" | "u" => "IU",
        _ => return None,
    })
}

/// "mg/24h", "50mg/dia": how often, written after the slash.
fn per_time(word: &str) -> Option<&'static str> {
    Some(match word.rsplit_once('/')?.1 {
        "24h" | "24" | "dia" | "day" | "d" => "1/day",
        "12h" | "12" => "2/day",
        "8h" => "3/day",
        "6h" => "4/day",
        "semana" | "week" => "1/week",
        _ => return None,
    })
}

/// "1-0-1", "0-0-1/2": doses of the day's meals.
fn is_scheme(word: &str) -> bool {
    let parts: Vec<&str> = word.split('-').collect();
    let small = |part: &&str| matches!(*part, "0" | "1" | "2" | "3" | "4" | "1/2" | "0.5" | "0,5" | "1/4");
    (3..=4).contains(&parts.len()) && parts.iter().all(small)
}

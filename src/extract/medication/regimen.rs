//! Dose, route and frequency around the name of a medicine, with their places.

use std::ops::Range;

use super::dose::{Dose, DoseRules};
use super::frequency::FrequencyRules;
use crate::extract::lexicon::Labels;
use crate::extract::matcher::Matcher;
use crate::extract::phrasebook::Builder;
use crate::extract::reading::Reading;

pub(in crate::extract) const REGIMEN: &str = include_str!("../lexicon/regimen.tsv");
/// Words after a name in which its dose and its frequency are looked for.
const DOSE_REACH: usize = 12;
const FREQUENCY_REACH: usize = 24;
/// Words before a name in which "a patch of", "half a tablet of" stand.
const AHEAD: usize = 6;

/// Words that were read, in normal form, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub text: String,
    pub words: Range<usize>,
}

/// How a medicine is taken, as far as it was said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Regimen {
    /// "50 mg", "1 tablet"; a bare number where no unit was said.
    pub dose: Option<Said>,
    pub route: Option<Said>,
    pub frequency: Option<Said>,
}

pub struct RegimenRules {
    labels: Labels,
    doses: DoseRules,
    frequencies: FrequencyRules,
    correction: Matcher,
}

impl RegimenRules {
    pub fn builtin(book: &mut Builder) -> Self {
        let correction = crate::extract::lexicon::label(book, super::SPEECH, "correction");
        let labels = Labels::fixed(book, REGIMEN);
        Self { labels, doses: DoseRules, frequencies: FrequencyRules, correction }
    }

    /// Reads the words around a mention: those after it up to the next medicine, and "half a tablet of" before it.
    pub fn read(
        &self,
        reading: &Reading<'_>,
        mention: &Range<usize>,
        before: Range<usize>,
        after: Range<usize>,
    ) -> Regimen {
        let mut regimen = self.read_words(reading, after.start..clause_end(reading, after));
        let near = before.start.max(mention.start.saturating_sub(AHEAD))..mention.start;
        if let Some(dose) = self.dose_ahead(reading, &near) {
            regimen.dose = Some(Said { text: dose.text, words: dose.words });
        }
        regimen.route = regimen.route.or_else(|| self.route_ahead(reading, &near));
        if regimen.route.is_none() && reading.word(mention.end.saturating_sub(1)) == "inhaler" {
            regimen.route = Some(Said { text: "inhaled".into(), words: mention.end - 1..mention.end });
        }
        regimen
    }

    /// "Half a tablet of", "20 de": the last dose before the name, with nothing but "of" between.
    fn dose_ahead(&self, reading: &Reading<'_>, near: &Range<usize>) -> Option<Dose> {
        let of = |word: usize| matches!(reading.word(word), "of" | "de" | "del" | "the" | "la" | "el");
        let linked = |dose: &Dose| {
            (dose.words.end..near.end).all(of) && (dose.rank > 1 || (dose.rank == 1 && dose.words.end < near.end))
        };
        self.doses.find(reading, &self.labels, near.clone()).pop().filter(linked)
    }

    /// "A patch of", "colirio de": a form that says the way in.
    fn route_ahead(&self, reading: &Reading<'_>, near: &Range<usize>) -> Option<Said> {
        let of = |word: usize| matches!(reading.word(word), "of" | "de" | "del" | "con" | "with");
        let labels = self.labels.find(reading, near.clone());
        let (words, name) = labels.into_iter().rfind(|(_, name)| name.starts_with("route:"))?;
        let linked = (words.end..near.end).all(of) || words.end == near.end;
        linked.then(|| Said { text: name["route:".len()..].to_owned(), words })
    }

    /// What a stretch of words says, whatever medicine it belongs to.
    pub fn read_words(&self, reading: &Reading<'_>, words: Range<usize>) -> Regimen {
        let labels = self.labels.find(reading, words.start..words.end.min(words.start + FREQUENCY_REACH));
        let route = labels.iter().find_map(|(at, name)| {
            name.strip_prefix("route:").map(|text| Said { text: text.to_owned(), words: at.clone() })
        });
        let dose = self.dose(reading, words.start..words.end.min(words.start + DOSE_REACH));
        let frequency =
            self.frequencies.find(reading, &labels, words.start..words.end.min(words.start + FREQUENCY_REACH));
        Regimen { dose, route, frequency }
    }

    /// Whether words between two medicines are no more than doses, times and what joins a list.
    pub fn is_list(&self, reading: &Reading<'_>, between: Range<usize>) -> bool {
        let labels = self.labels.find(reading, between.clone());
        between.clone().all(|word| {
            let text = reading.word(word);
            reading.words[word].punctuation && !matches!(text, ";" | ".")
                || text.starts_with(|c: char| c.is_ascii_digit())
                || labels.iter().any(|(at, _)| at.contains(&word))
                || super::dose::number_at(reading, word, between.end).is_some()
                || matches!(
                    text,
                    "and"
                        | "y"
                        | "e"
                        | "the"
                        | "el"
                        | "la"
                        | "los"
                        | "las"
                        | "plus"
                        | "mas"
                        | "of"
                        | "de"
                        | "od"
                        | "bd"
                        | "tds"
                        | "qds"
                        | "nocte"
                        | "mane"
                        | "with"
                        | "con"
                        | "or"
                        | "o"
                        | "both"
                        | "also"
                        | "then"
                        | "half"
                        | "x"
                        | "her"
                        | "his"
                        | "my"
                        | "mi"
                        | "su"
                        | "al"
                )
        })
    }

    /// A number that answers "how much?": bare numbers count too.
    pub fn answered_dose(&self, reading: &Reading<'_>, words: Range<usize>) -> Option<Said> {
        let mut doses = self.doses.bare(reading, &self.labels, words.clone());
        let last = doses.pop()?;
        // "Two in the morning and one at night" is no correction: the first number stands.
        let corrected = words.clone().any(|word| self.correction.at(reading, word).is_some());
        let said = if corrected { last } else { doses.into_iter().next().unwrap_or(last) };
        Some(Said { text: said.text, words: said.words })
    }

    /// The dose that holds: the last one where the speaker corrects or changes it, else the most telling one.
    fn dose(&self, reading: &Reading<'_>, words: Range<usize>) -> Option<Said> {
        let mut doses = self.doses.find(reading, &self.labels, words);
        let best = doses.iter().map(|dose| dose.rank).max()?;
        doses.retain(|dose| dose.rank == best);
        let last = doses.pop()?;
        let Some(previous) = doses.last() else { return Some(Said { text: last.text, words: last.words }) };
        let between = previous.words.end..last.words.start;
        let corrected = between.clone().any(|w| self.correction.at(reading, w).is_some())
            || (between.len() <= 3 && between.clone().any(|w| matches!(reading.word(w), "to" | "a" | "hasta")));
        let said = if corrected { last } else { doses.into_iter().next().unwrap_or(last) };
        Some(Said { text: said.text, words: said.words })
    }
}

/// A new clause speaks of something else.
fn clause_end(reading: &Reading<'_>, words: Range<usize>) -> usize {
    const STOPS: &[&str] = &[
        ";", "!", "?", "pero", "but", "porque", "because", "aunque", "although", "que", "which", "who", "que",
        "camina", "duerme", "sleeps", "walks",
    ];
    words.clone().find(|&word| STOPS.contains(&reading.word(word))).unwrap_or(words.end)
}

//! Dose, route and frequency around the name of a medicine, with their places.

use std::ops::Range;

use super::dose::{Dose, DoseRules};
use super::fractions;
use super::frequency::FrequencyRules;
use crate::lexicon::LabelledPhrases;
use crate::lexicon::word_lists::{self, WordList};
use crate::matcher::PhraseMatcher;
use crate::phrase_trie::TrieBuilder;
use crate::tokenized::TokenizedText;

pub(crate) const REGIMEN: &str = include_str!("../lexicon/regimen.tsv");
/// Words after a name in which its dose and its frequency are looked for.
const DOSE_REACH: usize = 12;
const FREQUENCY_REACH: usize = 24;
/// How many words before a name "a patch of", "half a tablet of" may come.
const AHEAD: usize = 6;

/// Words that were read, in normal form, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RegimenPart {
    pub(crate) text: String,
    pub(crate) words: Range<usize>,
}

/// How a medicine is taken, as far as it was said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Regimen {
    /// "50 mg", "1 tablet"; a bare number where no unit was said.
    pub(crate) dose: Option<RegimenPart>,
    pub(crate) route: Option<RegimenPart>,
    pub(crate) frequency: Option<RegimenPart>,
    /// Another dose came before: "5 por 2,5", "100 → 75".
    pub(crate) changed: bool,
}

pub(crate) struct RegimenRules {
    labels: LabelledPhrases,
    doses: DoseRules,
    frequencies: FrequencyRules,
    correction: PhraseMatcher,
}

impl RegimenRules {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        let correction = crate::lexicon::label(trie, super::SPEECH, "correction");
        let labels = LabelledPhrases::fixed(trie, REGIMEN);
        Self { labels, doses: DoseRules, frequencies: FrequencyRules, correction }
    }

    /// Reads the words around a mention: those after it up to the next medicine, and "half a tablet of" before it.
    pub(crate) fn read(
        &self,
        reading: &TokenizedText<'_>,
        mention: &Range<usize>,
        before: Range<usize>,
        after: Range<usize>,
    ) -> Regimen {
        let mut regimen = self.read_words(reading, after.start..clause_end(reading, after));
        let near = before.start.max(mention.start.saturating_sub(AHEAD))..mention.start;
        // "5 mg of ramipril, now 10", "subimos 50 de sertralina a 100": the dose before the name is the old one.
        let newer = regimen.dose.as_ref().is_some_and(|dose| regimen.changed || is_aim(reading, dose, mention.end));
        if let Some(dose) = self.dose_ahead(reading, &near).filter(|_| !newer) {
            regimen.dose = Some(RegimenPart { text: dose.text, words: dose.words });
        }
        regimen.route = regimen.route.or_else(|| self.route_ahead(reading, &near));
        if regimen.route.is_none() && reading.word(mention.end.saturating_sub(1)) == "inhaler" {
            regimen.route = Some(RegimenPart { text: "inhaled".into(), words: mention.end - 1..mention.end });
        }
        regimen
    }

    /// "Half a tablet of", "20 de": the last dose before the name, with nothing but "of" between.
    fn dose_ahead(&self, reading: &TokenizedText<'_>, near: &Range<usize>) -> Option<Dose> {
        let of = |word: usize| matches!(reading.word(word), "of" | "de" | "del" | "the" | "la" | "el");
        let linked = |dose: &Dose| {
            (dose.words.end..near.end).all(of) && (dose.rank > 1 || (dose.rank == 1 && dose.words.end < near.end))
        };
        let mut doses = self.doses.find(reading, &self.labels, near.clone());
        let last = doses.pop().filter(linked)?;
        // "Half a tablet of 50 mg", "half of her 50 mg".
        if let Some(part) = doses.pop().filter(|part| fractions::is_part(part) && last.rank == 3) {
            return Some(Dose { text: format!("{}, {}", last.text, part.text), ..last });
        }
        let text = fractions::halved(reading, near.start, &last).unwrap_or_else(|| last.text.clone());
        Some(Dose { text, ..last })
    }

    /// "A patch of", "colirio de": a form that says the way in.
    fn route_ahead(&self, reading: &TokenizedText<'_>, near: &Range<usize>) -> Option<RegimenPart> {
        let of = |word: usize| matches!(reading.word(word), "of" | "de" | "del" | "con" | "with");
        let labels = self.labels.find(reading, near.clone());
        let (words, name) = labels.into_iter().rfind(|(_, name)| name.starts_with("route:"))?;
        let linked = (words.end..near.end).all(of) || words.end == near.end;
        linked.then(|| RegimenPart { text: name["route:".len()..].to_owned(), words })
    }

    /// The regimen in a stretch of words, whatever medicine it belongs to.
    pub(crate) fn read_words(&self, reading: &TokenizedText<'_>, words: Range<usize>) -> Regimen {
        let labels = self.labels.find(reading, words.start..words.end.min(words.start + FREQUENCY_REACH));
        let route = labels.iter().find_map(|(at, name)| {
            name.strip_prefix("route:").map(|text| RegimenPart { text: text.to_owned(), words: at.clone() })
        });
        let near = words.start..words.end.min(words.start + DOSE_REACH);
        let (dose, changed) = self.dose(reading, super::dose_changes::before_condition(reading, near));
        let times = dose.as_ref().map_or(0, |dose| {
            dose.text.split(", ").filter(|part| part.contains(" at ") || part.contains(" in the ")).count()
        });
        let each = (times > 1).then(|| dose.clone()).flatten();
        let each = each.map(|dose| RegimenPart { text: format!("{times}/day"), words: dose.words });
        let frequency = each.or_else(|| {
            self.frequencies.find(reading, &labels, words.start..words.end.min(words.start + FREQUENCY_REACH))
        });
        Regimen { dose, route, frequency, changed }
    }

    /// "La de 100", "the 50s": the strength of a tablet that an answer names.
    pub(crate) fn strength_named(&self, reading: &TokenizedText<'_>, words: Range<usize>) -> Option<RegimenPart> {
        words.clone().find_map(|word| {
            let article = matches!(reading.word(word), "la" | "el" | "las" | "los" | "una" | "uno");
            let (end, number) = (article && reading.word(word + 1) == "de")
                .then(|| super::dose::number_at(reading, word + 2, words.end))
                .flatten()?;
            is_strength(&number).then(|| RegimenPart { text: number, words: word + 2..end })
        })
    }

    /// Whether words between two medicines are no more than doses, times and what joins a list.
    pub(crate) fn is_list(&self, reading: &TokenizedText<'_>, between: Range<usize>) -> bool {
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
    pub(crate) fn answered_dose(&self, reading: &TokenizedText<'_>, words: Range<usize>) -> Option<RegimenPart> {
        let mut doses = self.doses.bare(reading, &self.labels, words.clone());
        let last = doses.pop()?;
        // "Two in the morning and one at night" is no correction: the first number stays.
        let corrected = words.clone().any(|word| self.correction.at(reading, word).is_some());
        let said = if corrected { last } else { doses.into_iter().next().unwrap_or(last) };
        Some(RegimenPart { text: said.text, words: said.words })
    }

    /// The dose that holds, and whether it replaced another: the last one where the speaker corrects or changes it,
    /// doses at different times of the day together, else the most specific one.
    fn dose(&self, reading: &TokenizedText<'_>, words: Range<usize>) -> (Option<RegimenPart>, bool) {
        let mut doses = self.doses.find(reading, &self.labels, words.clone());
        if let Some(split) = self.by_time_of_day(reading, &doses, words.end) {
            return (Some(split), false);
        }
        // "75, was 50": the former dose is no present one, but may name the unit of the present one.
        let old = |dose: &Dose| is_former(reading, dose.words.start, words.start);
        let replaced = |pair: &[Dose]| self.replaces(reading, pair[0].words.end..pair[1].words.start) && !old(&pair[1]);
        if let Some(at) = doses.windows(2).rposition(replaced).map(|at| at + 1)
            && (doses[at].rank >= doses[at - 1].rank || doses[at].rank == 1)
        {
            let (last, before) = (&doses[at], &doses[at - 1]);
            // "5 to 10 mg" is a range, and no change.
            let stated = |word: usize| {
                super::dose_changes::is_change(reading.word(word))
                    || super::dose_changes::is_arrow(reading, word)
                    || matches!(reading.word(word), "from" | "de" | "desde" | "por" | "now" | "ahora")
            };
            let changed = (words.start..last.words.start).any(stated);
            return (Some(RegimenPart { text: with_unit_of(last, before), words: last.words.clone() }), changed);
        }
        let former = doses.len();
        if doses.iter().any(|dose| !old(dose)) {
            doses.retain(|dose| !old(dose));
        }
        let replaced = doses.len() < former;
        let strength = doses.first().filter(|first| first.rank == 1).cloned();
        let Some(best) = doses.iter().map(|dose| dose.rank).max() else { return (None, false) };
        // "50 mg medio comprimido": a strength, and the part of it that is taken.
        if let [strength, part] = doses.as_slice()
            && strength.rank == 3
            && fractions::is_part(part)
            && part.words.start <= strength.words.end + 1
        {
            let words = strength.words.start..part.words.end;
            return (Some(RegimenPart { text: format!("{}, {}", strength.text, part.text), words }), false);
        }
        doses.retain(|dose| dose.rank == best);
        let Some(last) = doses.pop() else { return (None, false) };
        let corrected = doses.last().is_some_and(|previous| {
            (previous.words.end..last.words.start).any(|w| self.correction.at(reading, w).is_some())
        });
        let said = if corrected { last } else { doses.into_iter().next().unwrap_or(last) };
        // "La de 50, dos puff": a strength, and how many of it.
        let text =
            match strength.filter(|bare| best == 2 && bare.words.end <= said.words.start && is_strength(&bare.text)) {
                Some(bare) => format!("{}, {}", bare.text, said.text),
                None => said.text,
            };
        // "It was 50, ahora 100".
        let before = said.words.start.saturating_sub(2).max(words.start)..said.words.start;
        let now = before.clone().any(|w| matches!(reading.word(w), "now" | "ahora"));
        (Some(RegimenPart { text, words: said.words }), now || replaced)
    }

    /// Whether words between two doses put the second in the place of the first.
    fn replaces(&self, reading: &TokenizedText<'_>, between: Range<usize>) -> bool {
        let stated = || between.clone().any(|w| super::dose_changes::is_change(reading.word(w)));
        let arrow = between.clone().any(|w| super::dose_changes::is_arrow(reading, w));
        let apart = between.clone().any(|w| matches!(reading.word(w), "," | "." | "and" | "y"));
        let now = between.clone().rev().take(3).any(|w| matches!(reading.word(w), "now" | "ahora"));
        let joined = between.len() <= 9
            && between.end > between.start
            && (matches!(reading.word(between.end - 1), "to" | "a" | "hasta") || now)
            && !between.clone().any(|w| matches!(reading.word(w), ";" | "or" | "o"))
            && (!apart || stated());
        let swapped = between.len() == 1 && reading.word(between.start) == "por";
        arrow && between.len() <= 4 || joined || swapped
    }

    /// "40 in the morning and 20 at night": every amount with its time of the day.
    fn by_time_of_day(&self, reading: &TokenizedText<'_>, doses: &[Dose], end: usize) -> Option<RegimenPart> {
        let first = doses.first().filter(|_| doses.len() > 1)?;
        let labels = self.labels.find(reading, first.words.start..end);
        let slot = |dose: &Dose| {
            let named = labels
                .iter()
                .filter(|(at, _)| at.start >= dose.words.end && at.start <= dose.words.end + 1)
                .find_map(|(_, name)| name.strip_prefix("freq:1/day "));
            named.or_else(|| time_of_day(reading.word(dose.words.end)))
        };
        let mut parts = Vec::new();
        let mut last = first;
        for dose in doses {
            let gap = dose.words.start.saturating_sub(last.words.end);
            let Some(slot) = slot(dose).filter(|_| gap <= 7) else { break };
            parts.push(format!("{} {slot}", with_unit_of(dose, first)));
            last = dose;
        }
        (parts.len() > 1).then(|| RegimenPart { text: parts.join(", "), words: first.words.start..last.words.end })
    }
}

fn time_of_day(word: &str) -> Option<&'static str> {
    Some(match word {
        "manana" | "mane" | "morning" | "am" | "breakfast" | "desayuno" => "in the morning",
        "mediodia" | "noon" | "lunch" | "almuerzo" | "comida" => "at noon",
        "tarde" | "evening" => "in the evening",
        "noche" | "night" | "nocte" | "bedtime" | "hs" | "cena" | "pm" => "at night",
        _ => return None,
    })
}

/// A number of milligrams or micrograms rather than of tablets.
fn is_strength(text: &str) -> bool {
    text.split('/').next().unwrap_or(text).parse::<f64>().is_ok_and(|number| number >= 4.5 || number.fract() != 0.0)
}

/// A bare number has the unit of the dose next to it.
fn with_unit_of(dose: &Dose, other: &Dose) -> String {
    match other.text.split_once(' ') {
        Some((_, unit)) if dose.rank == 1 => format!("{} {unit}", dose.text),
        _ => dose.text.clone(),
    }
}

/// "Was 50", "antes 50", "from 25", "used to take 20": a former dose.
fn is_former(reading: &TokenizedText<'_>, dose: usize, from: usize) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::MEDICATION, "regimen.is_former");
    let near = |words: usize| dose.saturating_sub(words).max(from)..dose;
    let stated = near(2).any(|word| WORDS.contains(reading.word(word)));
    stated && !near(1).any(|word| matches!(reading.word(word), "now" | "ahora"))
        || near(4).any(|word| reading.word(word) == "used" && reading.word(word + 1) == "to")
}

/// "A 100", "to 20", "hasta 40" right after the name: the target of a change of dose.
fn is_aim(reading: &TokenizedText<'_>, dose: &RegimenPart, from: usize) -> bool {
    dose.words.start == from + 1 && matches!(reading.word(from), "to" | "a" | "hasta" | "→" | "->")
}

/// A new clause speaks of something else.
fn clause_end(reading: &TokenizedText<'_>, words: Range<usize>) -> usize {
    const STOPS: &[&str] = &[
        ";", "!", "?", "pero", "but", "porque", "because", "aunque", "although", "que", "which", "who", "que",
        "camina", "duerme", "sleeps", "walks",
    ];
    words.clone().find(|&word| STOPS.contains(&reading.word(word))).unwrap_or(words.end)
}

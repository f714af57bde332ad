//! Tobacco, alcohol and drugs: used, given up or denied, and how much. Words that mean a substance only among habits
//! ("copas", "ice", "weed") count where habits are spoken of: in their section, after a question about them, with a verb
//! of using, or with an amount.

mod abstinence;
mod amounts;
mod homonyms;
mod readings;
mod unit_words;

use std::ops::Range;

use self::abstinence::{counts_days_without, has_not_quit, is_abstinence, spans, tests};
use self::amounts::{amount, amount_at, amount_before};
use self::homonyms::{is_given_name, is_of_another_thing, is_verb_by_accent};
use self::unit_words::{DRUNK, is_dose};
pub(crate) use self::unit_words::{counts_drinks, is_packs};
use super::analysis::{AnalyzedDocument, AssertionStatus};
use super::dialogue::Polarity;
use super::lexicon::label;
use super::matcher::PhraseMatcher;
use super::phrase_trie::TrieBuilder;
use super::structure::Section;
use super::tokenized::{TextSentence, TokenizedText};
use super::{Entity, EntityType, Experiencer, Temporality};
use crate::lexicon::word_lists::{self, WordList};
use readings::{is_ambiguous, is_use, is_verb, takes_a_medicine};

pub(super) const FILE: &str = include_str!("lexicon/substances.tsv");
/// Words between a substance and what says that it was given up.
const QUIT_BEFORE: usize = 5;
const QUIT_AFTER: usize = 6;
/// Words between a substance, with its amount, and the year until which it was used.
const QUIT_UNTIL: usize = 9;
/// Turns after a question about habits in which they are spoken of.
const TOPIC_TURNS: usize = 2;

/// Words before "drugs" that make them medicines.
static MEDICINES: WordList = WordList::listed(word_lists::GENERAL, "substances.medicines");
/// Words that head statements about habits.
const LABELS: &[&str] = &["tox", "toxicos", "sustancias", "substances", "drugs", "drogas"];
/// Drinks that everybody has: a use only with an amount.
const EVERYDAY: &str = "caffeine use";

struct SubstanceEntry {
    name: &'static str,
    code: &'static str,
    sure: bool,
}

pub(crate) struct SubstanceRules {
    substances: Vec<SubstanceEntry>,
    names: PhraseMatcher,
    /// What is said to be free of a substance, or to have been given up, by the place of its substance.
    free: PhraseMatcher,
    former: PhraseMatcher,
    quit: PhraseMatcher,
    habit: PhraseMatcher,
    not_substance: PhraseMatcher,
}

/// What words say of a substance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SubstanceUse {
    Named,
    Free,
    Former,
}

struct SubstanceMention {
    words: Range<usize>,
    substance: usize,
    says: SubstanceUse,
}

const FREE: [(&str, &str); 3] =
    [("alcohol_free", "alcohol use"), ("tobacco_free", "tobacco use"), ("drug_free", "drug use")];
const FORMER: [(&str, &str); 3] =
    [("ex_alcohol", "alcohol use"), ("ex_tobacco", "tobacco use"), ("ex_drugs", "drug use")];

impl SubstanceRules {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        let mut substances = Vec::new();
        let mut phrases: Vec<(&'static str, u32)> = Vec::new();
        for (head, words) in FILE.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t'))
        {
            let mut parts = head.split(':');
            let (Some(kind), Some(name), Some(code)) = (parts.next(), parts.next(), parts.next()) else { continue };
            let index = u32::try_from(substances.len()).unwrap_or(u32::MAX);
            phrases.extend(words.split('|').map(|phrase| (phrase.trim(), index)));
            substances.push(SubstanceEntry { name, code, sure: kind == "sure" });
        }
        let names = PhraseMatcher::new(trie, phrases);
        let place = |name: &str| substances.iter().position(|one| one.name == name);
        let mut of = |rows: &[(&str, &str)]| {
            let lines = rows.iter().flat_map(|(row, name)| {
                let index = place(name).and_then(|at| u32::try_from(at).ok()).unwrap_or(u32::MAX);
                let lines = FILE.lines().filter_map(|line| line.split_once('\t')).filter(move |(head, _)| head == row);
                lines.flat_map(move |(_, words)| words.split('|').map(move |phrase| (phrase.trim(), index)))
            });
            PhraseMatcher::new(trie, lines.collect::<Vec<_>>())
        };
        let (free, former) = (of(&FREE), of(&FORMER));
        let mut list = |name| label(trie, FILE, name);
        let (quit, habit, not_substance) = (list("quit"), list("habit"), list("not_substance"));
        Self { substances, names, free, former, quit, habit, not_substance }
    }

    /// Where the name of a substance ends that begins at a word.
    pub(crate) fn name_at(&self, reading: &TokenizedText<'_>, word: usize) -> Option<usize> {
        self.names.at(reading, word).map(|hit| hit.words.end)
    }

    pub(crate) fn find(&self, doc: &AnalyzedDocument<'_>, out: &mut Vec<Entity>) {
        let mut entities: Vec<Entity> = Vec::new();
        for (index, sentence) in doc.sentences() {
            for found in self.in_sentence(doc, index, sentence) {
                let Some(entity) = self.entity(doc, index, &found) else { continue };
                if takes_a_medicine(doc, &found.words, out) {
                    continue;
                }
                let same = |other: &&mut Entity| {
                    other.value == entity.value
                        && other.context.negated == entity.context.negated
                        && other.context.experiencer == entity.context.experiencer
                        && other.status == entity.status
                };
                match entities.iter_mut().find(same) {
                    // A repetition: the mention with the amount stays.
                    Some(other) if other.frequency.is_none() && entity.frequency.is_some() => *other = entity,
                    Some(_) => {}
                    None => entities.push(entity),
                }
            }
        }
        out.append(&mut entities);
    }

    fn in_sentence(&self, doc: &AnalyzedDocument<'_>, index: usize, sentence: &TextSentence) -> Vec<SubstanceMention> {
        let reading = doc.reading;
        let mut found: Vec<SubstanceMention> = Vec::new();
        for (matcher, says) in
            [(&self.former, SubstanceUse::Former), (&self.free, SubstanceUse::Free), (&self.names, SubstanceUse::Named)]
        {
            for hit in matcher.find(reading, sentence.words.clone()) {
                let taken = found.iter().any(|one| one.words.start < hit.words.end && hit.words.start < one.words.end);
                if !taken {
                    found.push(SubstanceMention { words: hit.words, substance: hit.meaning as usize, says });
                }
            }
        }
        found.sort_by_key(|one| one.words.start);
        let sure = found.iter().any(|one| one.says == SubstanceUse::Named && self.substances[one.substance].sure);
        let habits = doc.structure.place(index).is_some_and(|place| place.section == Section::Social)
            || self.was_asked(doc, index);
        let topic = sure || self.habit.first(reading, sentence.words.clone()).is_some() || habits;
        let keep = |at: usize| {
            let one = &found[at];
            let substance = &self.substances[one.substance];
            let amount = || amount(reading, one.words.end, sentence.words.end).is_some();
            let next = found.get(at + 1).filter(|next| next.words.start <= one.words.end + 4);
            // "Vapes nicotine" is one use.
            let vaped = reading.word(one.words.start) == "nicotine"
                && found[..at].iter().any(|other| {
                    self.substances[other.substance].name == "vaping" && other.words.end + 2 >= one.words.start
                });
            let of_another = vaped
                || is_verb(reading.word(one.words.start))
                    && next.is_some_and(|n| n.substance != one.substance && n.says == SubstanceUse::Named);
            one.says != SubstanceUse::Named && (topic || !is_ambiguous(reading, &one.words))
                || one.says == SubstanceUse::Named
                    && ((substance.sure || topic && substance.name != EVERYDAY || amount())
                        && !of_another
                        && !self.is_none(reading, one, sentence)
                        && !is_dose(reading, &one.words, &sentence.words, habits))
        };
        let kept: Vec<bool> = (0..found.len()).map(keep).collect();
        found.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(one, _)| one).collect()
    }

    /// "Drinks plenty of water", "no smoking area".
    fn is_none(&self, reading: &TokenizedText<'_>, one: &SubstanceMention, sentence: &TextSentence) -> bool {
        let (start, end) = (one.words.start, one.words.end);
        // "Vino el sábado": someone came.
        let before = start.checked_sub(1).map_or("", |word| reading.word(word));
        let came = reading.word(start) == "vino"
            && (start == sentence.words.start
                || !matches!(
                    before,
                    "de" | "el" | "un" | "mas" | "o" | "y" | "del" | "con" | "bebe" | "bebo" | "toma" | "tomo" | ","
                ))
            && matches!(
                reading.word(end),
                "el" | "la" | "a" | "con" | "por" | "ayer" | "hoy" | "mi" | "su" | "de" | "y" | "anoche"
            );
        // "Bebé" is a baby, "prescription drugs" are medicines, and a label ("Tox: no") is no substance.
        let source = reading.source(&(start..end)).slice(reading.text);
        let baby = matches!(reading.word(start), "bebe") && source.ends_with('é');
        let medicines = matches!(reading.word(start), "drugs" | "drug") && MEDICINES.contains(before);
        let label = LABELS.contains(&reading.word(start)) && reading.word(end) == ":" && end < sentence.words.end;
        came || baby
            || medicines
            || label
            || is_given_name(reading, start, sentence)
            || is_verb_by_accent(reading, start)
            || is_of_another_thing(reading, start, end)
            || self.is_drink_without(reading, start, end..sentence.words.end)
    }

    /// "Drinks two glasses of water": a drink that is none is named after, before any sign or real one.
    fn is_drink_without(&self, reading: &TokenizedText<'_>, verb: usize, following: Range<usize>) -> bool {
        let drinks = is_verb(reading.word(verb)) && !reading.word(verb).starts_with("smok");
        let reach = if drinks { DRUNK } else { 3 };
        (following.start..following.end.min(following.start + reach))
            .enumerate()
            .take_while(|(nth, word)| {
                *nth < 3 || !reading.words[*word].punctuation && self.names.at(reading, *word).is_none()
            })
            .any(|(_, word)| self.not_substance.at(reading, word).is_some())
    }

    /// "No fumador, bebedor ocasional", "tabaco no, alcohol los findes": each denial is spent on the substance before.
    fn is_denied_by_another(
        &self,
        doc: &AnalyzedDocument<'_>,
        found: &SubstanceMention,
        within: &Range<usize>,
    ) -> bool {
        let reading = doc.reading;
        let start = found.words.start;
        let stem = |stem: &&str| reading.word(start).starts_with(*stem);
        let stated =
            ["beb", "fum", "drink", "smok"].iter().any(stem) || amount(reading, found.words.end, within.end).is_some();
        let denials = doc.scopes.denials(reading, &found.words);
        let spent = |cue: &Range<usize>| {
            let sign = |at: usize| at < start && reading.words[at].punctuation;
            // "Tabaco no,": the value of the name before it.
            let value = cue.len() == 1
                && sign(cue.end)
                && (within.start..cue.start).any(|at| self.name_at(reading, at) == Some(cue.start));
            // "No fumador,": a denial that is a name by itself.
            let whole = self.free.at(reading, cue.start).is_some_and(|hit| sign(hit.words.end));
            cue.end <= start && (value || whole)
        };
        stated && !denials.is_empty() && denials.iter().all(spent)
    }

    /// Whether another person asked about habits shortly before.
    fn was_asked(&self, doc: &AnalyzedDocument<'_>, index: usize) -> bool {
        let reading = doc.reading;
        let here = &reading.sentences[index];
        let Some(turn) = here.turn else { return false };
        let before = reading.sentences[..index].iter().rev();
        let near = before.take_while(|sentence| sentence.turn.is_some_and(|before| before + TOPIC_TURNS >= turn));
        near.filter(|sentence| sentence.question && sentence.speaker != here.speaker).any(|sentence| {
            self.habit.first(reading, sentence.words.clone()).is_some()
                || self.names.first(reading, sentence.words.clone()).is_some()
        })
    }

    fn entity(&self, doc: &AnalyzedDocument<'_>, index: usize, found: &SubstanceMention) -> Option<Entity> {
        let reading = doc.reading;
        let substance = &self.substances[found.substance];
        let words = &reading.sentences[index].words;
        let mut assertion = doc.assertion(index, &found.words).or_else(|| self.answered(doc, index, found))?;
        if found.says == SubstanceUse::Named && assertion.context.negated {
            assertion.context.negated = !self.is_denied_by_another(doc, found, words);
        }
        let mut status = None;
        match found.says {
            // "Sober since May", "82 días sin cristal": it was there, and is over.
            SubstanceUse::Free if is_abstinence(reading, &found.words) && spans(reading, words) => {
                status = Some("resolved")
            }
            SubstanceUse::Named if counts_days_without(reading, &found.words, words) => status = Some("resolved"),
            SubstanceUse::Free => {
                assertion.context.negated = true;
                assertion.context.temporality = Temporality::Recent;
            }
            SubstanceUse::Former => status = Some("resolved"),
            SubstanceUse::Named
                if self.wants_to_quit(reading, found, words) || has_not_quit(reading, found.words.start, words) =>
            {
                assertion.context.negated = false;
            }
            SubstanceUse::Named if self.has_quit(reading, found, words) => status = Some("resolved"),
            SubstanceUse::Named => {}
        }
        if status.is_some() {
            assertion.context.negated = false;
            assertion.context.temporality = Temporality::Historical;
        }
        let mut entity = doc.entity(EntityType::Condition, &found.words, substance.name.into(), &assertion)?;
        entity.code = Some(substance.code);
        entity.status = status.map(str::to_owned);
        // A test of the urine shows what was taken once, not a habit.
        if tests(reading, words.clone()) {
            entity.confidence = entity.confidence.min(0.5);
        }
        let said_so = !assertion.context.negated && assertion.context.experiencer == Experiencer::Patient;
        let said = amount(reading, found.words.end, words.end)
            .or_else(|| amount_before(reading, found.words.start, words.start));
        let said = said
            .filter(|amount| amount.len() > 1)
            .map(|amount| reading.source(&amount).slice(doc.text()).to_lowercase());
        entity.frequency = said.filter(|_| said_so && found.says == SubstanceUse::Named);
        Some(entity)
    }

    /// A question about habits that an amount answers, or that a person goes on without: "still not smoking?".
    fn answered(&self, doc: &AnalyzedDocument<'_>, index: usize, found: &SubstanceMention) -> Option<AssertionStatus> {
        let reading = doc.reading;
        let question = &reading.sentences[index];
        let answer = doc.question_answers.answer(index).filter(|_| doc.question_answers.asks(index))?;
        let given = &reading.sentences[answer.sentence];
        let turn = reading.sentences[answer.sentence..].iter().take_while(|sentence| sentence.turn == given.turn);
        let named = turn.clone().any(|sentence| {
            let hits = self.names.find(reading, sentence.words.clone());
            hits.iter().any(|hit| self.substances[hit.meaning as usize].name == self.substances[found.substance].name)
        });
        if named || answer.polarity != Polarity::Other {
            return None;
        }
        let mut assertion = doc.answered(index, answer.sentence, &found.words);
        let goes_on = |word: usize| matches!(reading.word(word), "still" | "sigue" | "sigues" | "llevas" | "lleva");
        if found.says == SubstanceUse::Free && question.words.clone().any(goes_on) {
            return Some(assertion);
        }
        let only = self.names.find(reading, question.words.clone()).len() == 1;
        assertion.confidence = 0.7;
        (found.says == SubstanceUse::Named && only && amount_at(reading, given.words.start, given.words.end).is_some())
            .then_some(assertion)
    }

    fn has_quit(&self, reading: &TokenizedText<'_>, found: &SubstanceMention, within: &Range<usize>) -> bool {
        let parted = |range: Range<usize>| {
            range.into_iter().any(|word| matches!(reading.word(word), ";" | "." | ":" | "but" | "pero"))
        };
        let from = within.start.max(found.words.start.saturating_sub(QUIT_BEFORE));
        let to = within.end.min(found.words.end + QUIT_AFTER);
        let before = (from..found.words.start).find_map(|word| self.quit.at(reading, word));
        let after = (found.words.end..to).find_map(|word| self.quit.at(reading, word));
        // "No ha dejado de fumar": the denial comes before the auxiliary.
        let helps = |word: &usize| {
            matches!(
                reading.word(*word),
                "ha" | "he"
                    | "has"
                    | "have"
                    | "had"
                    | "been"
                    | "logrado"
                    | "podido"
                    | "conseguido"
                    | "logra"
                    | "able"
                    | "to"
            )
        };
        let denied = |word: usize| {
            let first = (from..word).rev().find(|at| !helps(at));
            first.is_some_and(|at| matches!(reading.word(at), "no" | "not" | "n't" | "never" | "nunca" | "sin"))
        };
        // "Tobacco: quit 2010", "fumador hasta 2015".
        let year = |word: usize| {
            let word = reading.word(word);
            word.len() == 4 && word.parse::<u16>().is_ok_and(|year| (1900..=2100).contains(&year))
        };
        let until = (found.words.end..within.end.min(found.words.end + QUIT_UNTIL)).find(|word| {
            matches!(reading.word(*word), "hasta" | "until" | "till")
                && year(word + 1)
                && !parted(found.words.end..*word)
        });
        let labelled = reading.word(found.words.end) == ":"
            && self.quit.at(reading, found.words.end + 1).is_some_and(|hit| year(hit.words.end));
        if until.is_some() || labelled {
            return true;
        }
        // "Ex-smoker, drinks two glasses of wine": what was given up is the substance named before.
        let spent = |quit: usize| {
            let named = (quit..found.words.start).any(|word| self.name_at(reading, word).is_some());
            named && is_use(reading.word(found.words.start))
        };
        before.is_some_and(|hit| {
            !denied(hit.words.start) && !parted(hit.words.end..found.words.start) && !spent(hit.words.end)
        }) || after.is_some_and(|hit| !denied(hit.words.start) && !parted(found.words.end..hit.words.start))
    }

    /// "Wants to stop smoking", "intenta dejar el tabaco": it goes on.
    fn wants_to_quit(&self, reading: &TokenizedText<'_>, found: &SubstanceMention, within: &Range<usize>) -> bool {
        let from = within.start.max(found.words.start.saturating_sub(QUIT_BEFORE + 2));
        let holds = |list: &[&str]| (from..found.words.start).any(|word| list.contains(&reading.word(word)));
        let wish = [
            "want",
            "wants",
            "trying",
            "tries",
            "quiero",
            "quiere",
            "intenta",
            "intento",
            "intentando",
            "hoping",
            "plans",
            "desea",
            "gustaria",
            "would",
            "help",
            "ayuda",
            "advised",
            "aconseja",
            "recomienda",
            "cut",
            "reducir",
        ];
        holds(&wish) && holds(&["stop", "quit", "quitting", "stopping", "dejar", "down", "reducir", "give", "cut"])
    }
}

#[cfg(test)]
mod tests;

//! Tobacco, alcohol and drugs: used, given up or denied, and how much. Words that mean a substance only among habits
//! ("copas", "ice", "weed") count where habits are spoken of: in their section, after a question about them, with a verb
//! of using, or with an amount.

mod amounts;
mod counted;
mod days;
mod homonyms;

use std::ops::Range;

use self::amounts::{amount, amount_at, amount_before};
use self::counted::{DRUNK, is_dose};
pub(crate) use self::counted::{counts_drinks, is_packs};
use self::days::{counts_days_without, has_not_quit, is_abstinence, spans, tests};
use self::homonyms::{is_given_name, is_of_another_thing, is_verb_by_accent};
use super::dialogue::Polarity;
use super::lexicon::label;
use super::matcher::Matcher;
use super::phrasebook::Builder;
use super::reading::{Reading, Sentence};
use super::scene::{Scene, Stance};
use super::structure::Section;
use super::{Entity, EntityType, Experiencer, Temporality};

pub(super) const FILE: &str = include_str!("lexicon/substances.tsv");
/// Words between a substance and what says that it was given up.
const QUIT_BEFORE: usize = 5;
const QUIT_AFTER: usize = 6;
/// Words between a substance, with its amount, and the year until which it was used.
const QUIT_UNTIL: usize = 9;
/// Turns after a question about habits in which they are spoken of.
const TOPIC_TURNS: usize = 2;

/// Words before "drugs" that make them medicines.
const MEDICINES: &[&str] = &[
    "sulfa",
    "sulpha",
    "sulfur",
    "prescription",
    "prescribed",
    "pressure",
    "water",
    "anti",
    "antibiotic",
    "cancer",
    "new",
    "my",
    "these",
    "those",
    "generic",
    "study",
    "cold",
    "nsaid",
    "inflammatory",
    "statin",
    "arthritis",
    "psych",
];
/// Words that head what is said of habits.
const LABELS: &[&str] = &["tox", "toxicos", "sustancias", "substances", "drugs", "drogas"];
/// Drinks that everybody has: a use only with an amount.
const EVERYDAY: &str = "caffeine use";

struct Substance {
    name: &'static str,
    code: &'static str,
    sure: bool,
}

pub(crate) struct SubstanceRules {
    substances: Vec<Substance>,
    names: Matcher,
    /// What is said to be free of a substance, or to have been given up, by the place of its substance.
    free: Matcher,
    former: Matcher,
    quit: Matcher,
    habit: Matcher,
    not_substance: Matcher,
}

/// What words say of a substance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
    Named,
    Free,
    Former,
}

struct Found {
    words: Range<usize>,
    substance: usize,
    says: Says,
}

const FREE: [(&str, &str); 3] =
    [("alcohol_free", "alcohol use"), ("tobacco_free", "tobacco use"), ("drug_free", "drug use")];
const FORMER: [(&str, &str); 3] =
    [("ex_alcohol", "alcohol use"), ("ex_tobacco", "tobacco use"), ("ex_drugs", "drug use")];

impl SubstanceRules {
    pub(crate) fn builtin(book: &mut Builder) -> Self {
        let mut substances = Vec::new();
        let mut phrases: Vec<(&'static str, u32)> = Vec::new();
        for (head, words) in FILE.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t'))
        {
            let mut parts = head.split(':');
            let (Some(kind), Some(name), Some(code)) = (parts.next(), parts.next(), parts.next()) else { continue };
            let index = u32::try_from(substances.len()).unwrap_or(u32::MAX);
            phrases.extend(words.split('|').map(|phrase| (phrase.trim(), index)));
            substances.push(Substance { name, code, sure: kind == "sure" });
        }
        let names = Matcher::new(book, phrases);
        let place = |name: &str| substances.iter().position(|one| one.name == name);
        let mut of = |rows: &[(&str, &str)]| {
            let lines = rows.iter().flat_map(|(row, name)| {
                let index = place(name).and_then(|at| u32::try_from(at).ok()).unwrap_or(u32::MAX);
                let lines = FILE.lines().filter_map(|line| line.split_once('\t')).filter(move |(head, _)| head == row);
                lines.flat_map(move |(_, words)| words.split('|').map(move |phrase| (phrase.trim(), index)))
            });
            Matcher::new(book, lines.collect::<Vec<_>>())
        };
        let (free, former) = (of(&FREE), of(&FORMER));
        let mut list = |name| label(book, FILE, name);
        let (quit, habit, not_substance) = (list("quit"), list("habit"), list("not_substance"));
        Self { substances, names, free, former, quit, habit, not_substance }
    }

    /// Where the name of a substance ends that begins at a word.
    pub(crate) fn name_at(&self, reading: &Reading<'_>, word: usize) -> Option<usize> {
        self.names.at(reading, word).map(|hit| hit.words.end)
    }

    pub(crate) fn find(&self, scene: &Scene<'_>, out: &mut Vec<Entity>) {
        let mut entities: Vec<Entity> = Vec::new();
        for (index, sentence) in scene.sentences() {
            for found in self.in_sentence(scene, index, sentence) {
                let Some(entity) = self.entity(scene, index, &found) else { continue };
                if takes_a_medicine(scene, &found.words, out) {
                    continue;
                }
                let same = |other: &&mut Entity| {
                    other.value == entity.value
                        && other.context.negated == entity.context.negated
                        && other.context.experiencer == entity.context.experiencer
                        && other.status == entity.status
                };
                match entities.iter_mut().find(same) {
                    // Said again: the telling that says how much is kept.
                    Some(other) if other.frequency.is_none() && entity.frequency.is_some() => *other = entity,
                    Some(_) => {}
                    None => entities.push(entity),
                }
            }
        }
        out.append(&mut entities);
    }

    fn in_sentence(&self, scene: &Scene<'_>, index: usize, sentence: &Sentence) -> Vec<Found> {
        let reading = scene.reading;
        let mut found: Vec<Found> = Vec::new();
        for (matcher, says) in [(&self.former, Says::Former), (&self.free, Says::Free), (&self.names, Says::Named)] {
            for hit in matcher.find(reading, sentence.words.clone()) {
                let taken = found.iter().any(|one| one.words.start < hit.words.end && hit.words.start < one.words.end);
                if !taken {
                    found.push(Found { words: hit.words, substance: hit.meaning as usize, says });
                }
            }
        }
        found.sort_by_key(|one| one.words.start);
        let sure = found.iter().any(|one| one.says == Says::Named && self.substances[one.substance].sure);
        let habits = scene.structure.place(index).is_some_and(|place| place.section == Section::Social)
            || self.was_asked(scene, index);
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
                    && next.is_some_and(|n| n.substance != one.substance && n.says == Says::Named);
            one.says != Says::Named && (topic || !is_ambiguous(reading, &one.words))
                || one.says == Says::Named
                    && ((substance.sure || topic && substance.name != EVERYDAY || amount())
                        && !of_another
                        && !self.is_none(reading, one, sentence)
                        && !is_dose(reading, &one.words, &sentence.words, habits))
        };
        let kept: Vec<bool> = (0..found.len()).map(keep).collect();
        found.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(one, _)| one).collect()
    }

    /// "Drinks plenty of water", "no smoking area".
    fn is_none(&self, reading: &Reading<'_>, one: &Found, sentence: &Sentence) -> bool {
        let (start, end) = (one.words.start, one.words.end);
        // "Vino el sábado": somebody came.
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
        // "Bebé" is a baby, "prescription drugs" are medicines, and a label ("Tox: no") is none of its own.
        let source = reading.source(&(start..end)).of(reading.text);
        let baby = matches!(reading.word(start), "bebe") && source.ends_with('é');
        let medicines = matches!(reading.word(start), "drugs" | "drug") && MEDICINES.contains(&before);
        let label = LABELS.contains(&reading.word(start)) && reading.word(end) == ":" && end < sentence.words.end;
        came || baby
            || medicines
            || label
            || is_given_name(reading, start, sentence)
            || is_verb_by_accent(reading, start)
            || is_of_another_thing(reading, start, end)
            || self.is_drink_without(reading, start, end..sentence.words.end)
    }

    /// "Drinks two glasses of water": a drink that is none is named behind, before any sign or real one.
    fn is_drink_without(&self, reading: &Reading<'_>, verb: usize, behind: Range<usize>) -> bool {
        let drinks = is_verb(reading.word(verb)) && !reading.word(verb).starts_with("smok");
        let reach = if drinks { DRUNK } else { 3 };
        (behind.start..behind.end.min(behind.start + reach))
            .enumerate()
            .take_while(|(nth, word)| {
                *nth < 3 || !reading.words[*word].punctuation && self.names.at(reading, *word).is_none()
            })
            .any(|(_, word)| self.not_substance.at(reading, word).is_some())
    }

    /// "No fumador, bebedor ocasional", "tabaco no, alcohol los findes": each denial is spent on the substance before.
    fn is_denied_by_another(&self, scene: &Scene<'_>, found: &Found, within: &Range<usize>) -> bool {
        let reading = scene.reading;
        let start = found.words.start;
        let stem = |stem: &&str| reading.word(start).starts_with(*stem);
        let stated =
            ["beb", "fum", "drink", "smok"].iter().any(stem) || amount(reading, found.words.end, within.end).is_some();
        let denials = scene.contexts.denials(reading, &found.words);
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

    /// Whether somebody else asked about habits shortly before.
    fn was_asked(&self, scene: &Scene<'_>, index: usize) -> bool {
        let reading = scene.reading;
        let here = &reading.sentences[index];
        let Some(turn) = here.turn else { return false };
        let before = reading.sentences[..index].iter().rev();
        let near = before.take_while(|sentence| sentence.turn.is_some_and(|before| before + TOPIC_TURNS >= turn));
        near.filter(|sentence| sentence.question && sentence.speaker != here.speaker).any(|sentence| {
            self.habit.first(reading, sentence.words.clone()).is_some()
                || self.names.first(reading, sentence.words.clone()).is_some()
        })
    }

    fn entity(&self, scene: &Scene<'_>, index: usize, found: &Found) -> Option<Entity> {
        let reading = scene.reading;
        let substance = &self.substances[found.substance];
        let words = &reading.sentences[index].words;
        let mut stance = scene.stance(index, &found.words).or_else(|| self.answered(scene, index, found))?;
        if found.says == Says::Named && stance.context.negated {
            stance.context.negated = !self.is_denied_by_another(scene, found, words);
        }
        let mut status = None;
        match found.says {
            // "Sober since May", "82 días sin cristal": it was there, and is over.
            Says::Free if is_abstinence(reading, &found.words) && spans(reading, words) => status = Some("resolved"),
            Says::Named if counts_days_without(reading, &found.words, words) => status = Some("resolved"),
            Says::Free => {
                stance.context.negated = true;
                stance.context.temporality = Temporality::Recent;
            }
            Says::Former => status = Some("resolved"),
            Says::Named
                if self.wants_to_quit(reading, found, words) || has_not_quit(reading, found.words.start, words) =>
            {
                stance.context.negated = false;
            }
            Says::Named if self.has_quit(reading, found, words) => status = Some("resolved"),
            Says::Named => {}
        }
        if status.is_some() {
            stance.context.negated = false;
            stance.context.temporality = Temporality::Historical;
        }
        let mut entity = scene.entity(EntityType::Condition, &found.words, substance.name.into(), &stance)?;
        entity.code = Some(substance.code);
        entity.status = status.map(str::to_owned);
        // A test of the urine shows what was taken once, not a habit.
        if tests(reading, words.clone()) {
            entity.confidence = entity.confidence.min(0.5);
        }
        let told = !stance.context.negated && stance.context.experiencer == Experiencer::Patient;
        let said = amount(reading, found.words.end, words.end)
            .or_else(|| amount_before(reading, found.words.start, words.start));
        let said = said
            .filter(|amount| amount.len() > 1)
            .map(|amount| reading.source(&amount).of(scene.text()).to_lowercase());
        entity.frequency = said.filter(|_| told && found.says == Says::Named);
        Some(entity)
    }

    /// A question about habits that an amount answers, or that a person goes on without: "still not smoking?".
    fn answered(&self, scene: &Scene<'_>, index: usize, found: &Found) -> Option<Stance> {
        let reading = scene.reading;
        let question = &reading.sentences[index];
        let answer = scene.exchanges.answer(index).filter(|_| scene.exchanges.asks(index))?;
        let given = &reading.sentences[answer.sentence];
        let turn = reading.sentences[answer.sentence..].iter().take_while(|sentence| sentence.turn == given.turn);
        let named = turn.clone().any(|sentence| {
            let hits = self.names.find(reading, sentence.words.clone());
            hits.iter().any(|hit| self.substances[hit.meaning as usize].name == self.substances[found.substance].name)
        });
        if named || answer.polarity != Polarity::Other {
            return None;
        }
        let mut stance = scene.answered(index, answer.sentence, &found.words);
        let goes_on = |word: usize| matches!(reading.word(word), "still" | "sigue" | "sigues" | "llevas" | "lleva");
        if found.says == Says::Free && question.words.clone().any(goes_on) {
            return Some(stance);
        }
        let only = self.names.find(reading, question.words.clone()).len() == 1;
        stance.confidence = 0.7;
        (found.says == Says::Named && only && amount_at(reading, given.words.start, given.words.end).is_some())
            .then_some(stance)
    }

    fn has_quit(&self, reading: &Reading<'_>, found: &Found, within: &Range<usize>) -> bool {
        let parted = |range: Range<usize>| {
            range.into_iter().any(|word| matches!(reading.word(word), ";" | "." | ":" | "but" | "pero"))
        };
        let from = within.start.max(found.words.start.saturating_sub(QUIT_BEFORE));
        let to = within.end.min(found.words.end + QUIT_AFTER);
        let before = (from..found.words.start).find_map(|word| self.quit.at(reading, word));
        let after = (found.words.end..to).find_map(|word| self.quit.at(reading, word));
        // "No ha dejado de fumar": the denial stands before the auxiliary.
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
        before.is_some_and(|hit| !denied(hit.words.start) && !parted(hit.words.end..found.words.start))
            || after.is_some_and(|hit| !denied(hit.words.start) && !parted(found.words.end..hit.words.start))
    }

    /// "Wants to stop smoking", "intenta dejar el tabaco": it goes on.
    fn wants_to_quit(&self, reading: &Reading<'_>, found: &Found, within: &Range<usize>) -> bool {
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

/// "Dry cough", "TT aplicado": words that mean abstinence only where habits are spoken of.
fn is_ambiguous(reading: &Reading<'_>, words: &Range<usize>) -> bool {
    words.len() == 1 && matches!(reading.word(words.start), "dry" | "tt" | "clean" | "limpio" | "limpia")
}

/// A verb that says what is smoked or drunk only where nothing follows.
fn is_verb(word: &str) -> bool {
    // "Smoker", "fumador" name a person.
    let noun = ["er", "ers", "dor", "dora", "dores", "doras"].iter().any(|ending| word.ends_with(ending));
    !noun && ["drink", "drank", "smok", "beb", "fum", "tom"].iter().any(|stem| word.starts_with(stem))
}

/// "No tomar anticonceptivos": a verb that by itself speaks of drinking, with a medicine behind it.
fn takes_a_medicine(scene: &Scene<'_>, words: &Range<usize>, found: &[Entity]) -> bool {
    let verb = words.clone().next_back().map_or("", |word| scene.reading.word(word));
    let near = words.end..(words.end + 3).min(scene.reading.words.len());
    verb.starts_with("tom")
        && found.iter().filter(|entity| entity.kind == EntityType::Medication).any(|medicine| {
            let start = scene.reading.words_at(medicine.span).start;
            near.contains(&start) && (words.end..start).all(|word| !scene.reading.words[word].punctuation)
        })
}

#[cfg(test)]
mod tests;

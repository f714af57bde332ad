//! Preferences, goals, people, appointments and events: a first reading of what is not clinical.

use std::ops::Range;

mod clauses;
mod household;
mod people;
mod wishes;

use household::Household;
use people::People;
use wishes::Wishes;

use super::lexicon::{Lexicon, List, Mention};
use super::phrasebook::Builder;
use super::scene::Scene;
use super::{Entity, EntityType};
use anamnesis_core::finding::Experiencer;
use anamnesis_text::Speaker;

/// The lists of wishes and households.
pub(super) const FILES: &[&str] = &[wishes::FILE, household::FILE];
pub(super) const FILE: &str = include_str!("lexicon/facts.tsv");
/// Words that a preference or a goal may be long.
const LONGEST_CLAUSE: usize = 16;
/// Words of a preference or a goal that only who has it says.
const FIRST_PERSON: &[&str] = &[
    "i",
    "me",
    "my",
    "mi",
    "prefiero",
    "preferiria",
    "odio",
    "detesto",
    "adoro",
    "aborrezco",
    "evito",
    "disfruto",
    "soporto",
    "aguanto",
    "quiero",
    "soy",
    "estoy",
];

/// Relatives whose bare mention tells that the patient has one: "my wife". That somebody has a mother is no news, so that
/// a mother, a cousin or a sister-in-law is remembered only for what is said of her.
const OWN_PEOPLE: &[&str] =
    &["spouse", "partner", "son", "daughter", "children", "roommate", "housemate", "caregiver", "friend", "pet"];
/// How surely a bare mention is read as worth remembering: below what is remembered at all.
const BARE: f64 = 0.25;

pub(crate) struct FactRules {
    lexicon: Lexicon,
    wishes: Wishes,
    household: Household,
    people: People,
}

impl FactRules {
    pub(crate) fn builtin(book: &mut Builder) -> Self {
        let lexicon = Lexicon::load(book, List::Facts);
        Self {
            lexicon,
            wishes: Wishes::builtin(book),
            household: Household::builtin(book),
            people: People::builtin(book),
        }
    }

    pub(crate) fn find(&self, scene: &Scene<'_>, out: &mut Vec<Entity>) {
        for (index, sentence) in scene.sentences() {
            for mention in self.lexicon.find(scene.reading, sentence.words.clone()) {
                let kind = match EntityType::from_code(mention.concept.group) {
                    // A clinician's own likes and plans are nobody's memory.
                    Some(EntityType::Preference | EntityType::Goal) if sentence.speaker == Speaker::Clinician => {
                        continue;
                    }
                    Some(kind) => kind,
                    None => continue,
                };
                out.extend(self.entity(scene, index, kind, &mention, &sentence.words));
            }
        }
        let known = out.clone();
        self.wishes.find(scene, &known, out);
        self.household.find(scene, out);
        self.people.find(scene, out);
    }

    fn entity(
        &self,
        scene: &Scene<'_>,
        index: usize,
        kind: EntityType,
        mention: &Mention,
        within: &Range<usize>,
    ) -> Option<Entity> {
        let words = match mention.concept.name {
            "clause" => mention.words.start..clause_end(scene, mention.words.end, within.end),
            // "Pintar me relaja": what is liked comes first.
            "before" => clause_start(scene, mention.words.start, within.start)..mention.words.end,
            _ => mention.words.clone(),
        };
        let clause = matches!(mention.concept.name, "clause" | "before");
        let is_whole = || is_infinitive(scene.reading.word(mention.words.end - 1));
        if mention.concept.name == "clause" && words.end == mention.words.end && !is_whole() {
            return None;
        }
        let mut stance = scene.stance(index, &mention.words)?;
        stance.confidence = stance.confidence.min(0.7);
        // "Mi madre" names a person in the patient's life, whatever is said of her.
        if kind == EntityType::Relationship {
            stance.context = super::Context::default();
            let after = mention.words.end..within.end;
            let gone = after
                .take(3)
                .any(|word| matches!(scene.reading.word(word), "died" | "passed" | "murio" | "fallecio" | "ha"));
            if gone || !OWN_PEOPLE.contains(&mention.concept.name) {
                stance.confidence = BARE;
            }
        }
        // "Prefiero no hablar de mi padre" is the speaker's own, whoever is named in it.
        let is_own = |word: usize| FIRST_PERSON.contains(&scene.reading.word(word));
        if matches!(kind, EntityType::Preference | EntityType::Goal) && mention.words.clone().any(is_own) {
            stance.context.experiencer = Experiencer::Patient;
        }
        let value = if clause {
            scene.reading.source(&words).of(scene.text()).to_lowercase()
        } else {
            mention.concept.name.to_owned()
        };
        scene.entity(kind, &words, value, &stance)
    }
}

/// A Spanish verb that says by itself what is wanted: "quiero volver a estudiar". "Poder" and "ser" say nothing alone.
fn is_infinitive(word: &str) -> bool {
    let bare = ["me", "se", "lo", "la"].into_iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
    let ends = ["ar", "er", "ir"].into_iter().any(|end| bare.ends_with(end));
    ends && bare.len() > 4 && !matches!(bare, "poder" | "tener" | "hacer" | "estar" | "volver" | "lograr" | "llegar")
}

fn clause_start(scene: &Scene<'_>, to: usize, limit: usize) -> usize {
    let limit = limit.max(to.saturating_sub(LONGEST_CLAUSE));
    (limit..to).rev().find(|word| stops(scene, *word)).map_or(limit, |word| word + 1)
}

fn clause_end(scene: &Scene<'_>, from: usize, limit: usize) -> usize {
    let limit = limit.min(from + LONGEST_CLAUSE);
    (from..limit).find(|word| stops(scene, *word)).unwrap_or(limit)
}

/// Whether a clause ends at a word.
fn stops(scene: &Scene<'_>, word: usize) -> bool {
    matches!(
        scene.reading.word(word),
        "," | "." | ";" | ":" | "?" | "!" | "pero" | "but" | "porque" | "because" | "aunque" | "although"
    )
}

#[cfg(test)]
mod tests;

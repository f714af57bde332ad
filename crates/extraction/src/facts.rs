//! Preferences, goals, people, appointments and events: a first reading of what is not clinical.

use std::ops::Range;

mod clauses;
mod household;
mod opinions;
mod people;
mod wishes;

use household::Household;
use people::People;
use wishes::Wishes;

use super::lexicon::{Lexicon, List, Mention};
use super::phrasebook::Builder;
use super::scene::{Scene, Stance};
use super::{Entity, EntityType};
use anamnesis_core::document::DocumentType;
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
        opinions::find(scene, out);
    }

    fn entity(
        &self,
        scene: &Scene<'_>,
        index: usize,
        kind: EntityType,
        mention: &Mention,
        within: &Range<usize>,
    ) -> Option<Entity> {
        let line = line_of_speech(scene, index, within, &mention.words);
        let words = match mention.concept.name {
            "clause" => mention.words.start..clause_end(scene, mention.words.end, line.end),
            // "Pintar me relaja": what is liked comes first.
            "before" => clause_start(scene, mention.words.start, line.start)..mention.words.end,
            _ => mention.words.clone(),
        };
        let clause = matches!(mention.concept.name, "clause" | "before");
        let is_whole = || is_infinitive(scene.reading.word(mention.words.end - 1));
        if mention.concept.name == "clause" && words.end == mention.words.end && !is_whole() {
            return None;
        }
        let mut stance = scene.stance(index, &mention.words)?;
        stance.confidence = stance.confidence.min(0.7);
        if matches!(kind, EntityType::Preference | EntityType::Goal) {
            if is_bodily(scene, &mention.words)
                || is_anothers(scene, index, &mention.words)
                || is_denied_as_a_whole(scene, within, mention.words.start)
            {
                return None;
            }
            keep_to_its_line(scene, within, &line, &mention.words, &mut stance);
        }
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

/// "She hates face to face", said by the patient: another person's liking.
fn is_anothers(scene: &Scene<'_>, index: usize, lead: &Range<usize>) -> bool {
    let sentence = &scene.reading.sentences[index];
    let chat = scene.input.document_type == Some(DocumentType::ChatMessage);
    let spoken = sentence.speaker == Speaker::Patient || (chat && sentence.turn.is_none());
    let third = |word: usize| {
        matches!(
            scene.reading.word(word),
            "she" | "he" | "they" | "ella" | "le" | "les" | "prefiere" | "odia" | "detesta" | "adora"
        )
    };
    let first = |word: usize| FIRST_PERSON.contains(&scene.reading.word(word));
    let from = lead.start.saturating_sub(1).max(sentence.words.start);
    spoken && (from..lead.end).any(third) && !lead.clone().any(first)
}

/// The line in which a mention stands, where a new line begins another sentence: speech and chats have no full stops. The
/// lines of a letter are wrapped, and one sentence.
fn line_of_speech(scene: &Scene<'_>, index: usize, within: &Range<usize>, mention: &Range<usize>) -> Range<usize> {
    let chat = scene.input.document_type == Some(DocumentType::ChatMessage);
    if !chat && scene.reading.sentences[index].turn.is_none() {
        return within.clone();
    }
    let begins = |word: &usize| scene.reading.begins_line(*word);
    let start = (within.start + 1..=mention.start).rev().find(begins).unwrap_or(within.start);
    let end = (mention.end.max(start + 1)..within.end).find(begins).unwrap_or(within.end);
    start..end
}

/// What proves a liking is its line, and a denial of another line does not deny it.
fn keep_to_its_line(
    scene: &Scene<'_>,
    within: &Range<usize>,
    line: &Range<usize>,
    mention: &Range<usize>,
    stance: &mut Stance,
) {
    if line == within || stance.answered {
        return;
    }
    stance.evidence = scene.reading.source(line);
    let denies = |word: usize| matches!(scene.reading.word(word), "n't" | "not" | "no" | "never" | "nunca" | "dont");
    // "i dont think" may end the line before.
    let near = line.start.saturating_sub(3).max(within.start);
    stance.context.negated &= (near..mention.start).any(denies);
}

/// "I can't stand on my left leg".
fn is_bodily(scene: &Scene<'_>, lead: &Range<usize>) -> bool {
    matches!(scene.reading.word(lead.end - 1), "stand" | "bear" | "aguanto" | "soporto")
        && matches!(
            scene.reading.word(lead.end),
            "on" | "up" | "for" | "unaided" | "without" | "still" | "straight" | "weight" | "peso"
        )
}

/// "Don't think I don't like the group", "no es que no me guste": what is denied is the denial.
fn is_denied_as_a_whole(scene: &Scene<'_>, within: &Range<usize>, before: usize) -> bool {
    let from = before.saturating_sub(LONGEST_CLAUSE).max(within.start);
    let denies = |word: usize| matches!(scene.reading.word(word), "n't" | "not" | "no" | "dont" | "isnt");
    let thinks = |word: usize| {
        matches!(
            scene.reading.word(word),
            "think" | "that" | "sure" | "creas" | "crea" | "pienses" | "piense" | "pensar"
        ) || (scene.reading.word(word) == "es" && scene.reading.word(word + 1) == "que")
    };
    let whole =
        |word: usize| (word + 1..before).take(3).take_while(|next| !scene.reading.words[*next].punctuation).any(thinks);
    (from..before).any(|word| denies(word) && whole(word))
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

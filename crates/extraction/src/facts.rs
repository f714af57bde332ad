//! Preferences, goals, people, appointments and events: a first reading of facts that are not clinical.

use std::ops::Range;

mod clauses;
mod goals;
mod household;
mod opinions;
mod relationships;

use goals::GoalRules;
use household::HouseholdRules;
use relationships::RelationshipRules;

use super::analysis::{AnalyzedDocument, AssertionStatus};
use super::lexicon::{ConceptMention, Lexicon, LexiconList};
use super::phrase_trie::TrieBuilder;
use super::{Entity, EntityType};
use crate::lexicon::word_lists::{self, WordList};
use anamnesis_core::document::DocumentType;
use anamnesis_core::finding::Experiencer;
use anamnesis_text::Speaker;

/// The lists of wishes and households.
pub(super) const FILES: &[&str] = &[goals::FILE, household::FILE];
pub(super) const FILE: &str = include_str!("lexicon/facts.tsv");
const LONGEST_CLAUSE: usize = 16;
static FIRST_PERSON: WordList = WordList::listed(word_lists::GENERAL, "facts.first_person");

/// Relatives whose bare mention says that the patient has one: "my wife". Every person has a mother, so that a mother,
/// a cousin or a sister-in-law is stored only with a statement about her.
const OWN_PEOPLE: &[&str] =
    &["spouse", "partner", "son", "daughter", "children", "roommate", "housemate", "caregiver", "friend", "pet"];
/// Confidence of a bare mention: below the threshold of storage.
const BARE: f64 = 0.25;

pub(crate) struct FactRules {
    lexicon: Lexicon,
    wishes: GoalRules,
    household: HouseholdRules,
    people: RelationshipRules,
}

impl FactRules {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        let lexicon = Lexicon::load(trie, LexiconList::Facts);
        Self {
            lexicon,
            wishes: GoalRules::builtin(trie),
            household: HouseholdRules::builtin(trie),
            people: RelationshipRules::builtin(trie),
        }
    }

    pub(crate) fn find(&self, doc: &AnalyzedDocument<'_>, out: &mut Vec<Entity>) {
        for (index, sentence) in doc.sentences() {
            for mention in self.lexicon.find(doc.reading, sentence.words.clone()) {
                let kind = match EntityType::from_code(mention.concept.group) {
                    // A clinician's own likes and plans are not stored.
                    Some(EntityType::Preference | EntityType::Goal) if sentence.speaker == Speaker::Clinician => {
                        continue;
                    }
                    Some(kind) => kind,
                    None => continue,
                };
                out.extend(self.entity(doc, index, kind, &mention, &sentence.words));
            }
        }
        let known = out.clone();
        self.wishes.find(doc, &known, out);
        self.household.find(doc, out);
        self.people.find(doc, out);
        opinions::find(doc, out);
    }

    fn entity(
        &self,
        doc: &AnalyzedDocument<'_>,
        index: usize,
        kind: EntityType,
        mention: &ConceptMention,
        within: &Range<usize>,
    ) -> Option<Entity> {
        let line = line_of_speech(doc, index, within, &mention.words);
        let words = match mention.concept.name {
            "clause" => mention.words.start..clause_end(doc, mention.words.end, line.end),
            // "Pintar me relaja": the liked thing comes first.
            "before" => clause_start(doc, mention.words.start, line.start)..mention.words.end,
            _ => mention.words.clone(),
        };
        let clause = matches!(mention.concept.name, "clause" | "before");
        let is_whole = || is_infinitive(doc.reading.word(mention.words.end - 1));
        if mention.concept.name == "clause" && words.end == mention.words.end && !is_whole() {
            return None;
        }
        let mut assertion = doc.assertion(index, &mention.words)?;
        assertion.confidence = assertion.confidence.min(0.7);
        if matches!(kind, EntityType::Preference | EntityType::Goal) {
            if is_bodily(doc, &mention.words)
                || is_anothers(doc, index, &mention.words)
                || is_denied_as_a_whole(doc, within, mention.words.start)
            {
                return None;
            }
            limit_to_its_line(doc, within, &line, &mention.words, &mut assertion);
        }
        // "Mi madre" names a person in the patient's life, whatever the statement about her.
        if kind == EntityType::Relationship {
            assertion.context = super::MentionContext::default();
            let after = mention.words.end..within.end;
            let gone = after
                .take(3)
                .any(|word| matches!(doc.reading.word(word), "died" | "passed" | "murio" | "fallecio" | "ha"));
            if gone || !OWN_PEOPLE.contains(&mention.concept.name) {
                assertion.confidence = BARE;
            }
        }
        // "Prefiero no hablar de mi padre" is the speaker's own, although it names the father.
        let is_own = |word: usize| FIRST_PERSON.contains(doc.reading.word(word));
        if matches!(kind, EntityType::Preference | EntityType::Goal) && mention.words.clone().any(is_own) {
            assertion.context.experiencer = Experiencer::Patient;
        }
        let value = if clause {
            doc.reading.source(&words).slice(doc.text()).to_lowercase()
        } else {
            mention.concept.name.to_owned()
        };
        doc.entity(kind, &words, value, &assertion)
    }
}

/// "She hates face to face", said by the patient: another person's liking.
fn is_anothers(doc: &AnalyzedDocument<'_>, index: usize, lead: &Range<usize>) -> bool {
    let sentence = &doc.reading.sentences[index];
    let chat = doc.input.document_type == Some(DocumentType::ChatMessage);
    let spoken = sentence.speaker == Speaker::Patient || (chat && sentence.turn.is_none());
    let third = |word: usize| {
        matches!(
            doc.reading.word(word),
            "she" | "he" | "they" | "ella" | "le" | "les" | "prefiere" | "odia" | "detesta" | "adora"
        )
    };
    let first = |word: usize| FIRST_PERSON.contains(doc.reading.word(word));
    let from = lead.start.saturating_sub(1).max(sentence.words.start);
    spoken && (from..lead.end).any(third) && !lead.clone().any(first)
}

/// The line of a mention, where a new line begins another sentence: speech and chats have no full stops. The lines of a
/// letter are wrapped, and one sentence.
fn line_of_speech(
    doc: &AnalyzedDocument<'_>,
    index: usize,
    within: &Range<usize>,
    mention: &Range<usize>,
) -> Range<usize> {
    let chat = doc.input.document_type == Some(DocumentType::ChatMessage);
    if !chat && doc.reading.sentences[index].turn.is_none() {
        return within.clone();
    }
    let begins = |word: &usize| doc.reading.begins_line(*word);
    let start = (within.start + 1..=mention.start).rev().find(begins).unwrap_or(within.start);
    let end = (mention.end.max(start + 1)..within.end).find(begins).unwrap_or(within.end);
    start..end
}

/// The evidence of a liking is its line, and a denial of another line does not deny it.
fn limit_to_its_line(
    doc: &AnalyzedDocument<'_>,
    within: &Range<usize>,
    line: &Range<usize>,
    mention: &Range<usize>,
    assertion: &mut AssertionStatus,
) {
    if line == within || assertion.answered {
        return;
    }
    assertion.evidence = doc.reading.source(line);
    let denies = |word: usize| matches!(doc.reading.word(word), "n't" | "not" | "no" | "never" | "nunca" | "dont");
    // "i dont think" may end the line before.
    let near = line.start.saturating_sub(3).max(within.start);
    assertion.context.negated &= (near..mention.start).any(denies);
}

/// "I can't stand on my left leg".
fn is_bodily(doc: &AnalyzedDocument<'_>, lead: &Range<usize>) -> bool {
    matches!(doc.reading.word(lead.end - 1), "stand" | "bear" | "aguanto" | "soporto")
        && matches!(
            doc.reading.word(lead.end),
            "on" | "up" | "for" | "unaided" | "without" | "still" | "straight" | "weight" | "peso"
        )
}

/// "Don't think I don't like the group", "no es que no me guste": the denial itself is denied.
fn is_denied_as_a_whole(doc: &AnalyzedDocument<'_>, within: &Range<usize>, before: usize) -> bool {
    let from = before.saturating_sub(LONGEST_CLAUSE).max(within.start);
    let denies = |word: usize| matches!(doc.reading.word(word), "n't" | "not" | "no" | "dont" | "isnt");
    let thinks = |word: usize| {
        matches!(doc.reading.word(word), "think" | "that" | "sure" | "creas" | "crea" | "pienses" | "piense" | "pensar")
            || (doc.reading.word(word) == "es" && doc.reading.word(word + 1) == "que")
    };
    let whole =
        |word: usize| (word + 1..before).take(3).take_while(|next| !doc.reading.words[*next].punctuation).any(thinks);
    (from..before).any(|word| denies(word) && whole(word))
}

/// A Spanish verb that names the wish by itself: "quiero volver a estudiar". "Poder" and "ser" say nothing alone.
fn is_infinitive(word: &str) -> bool {
    let bare = ["me", "se", "lo", "la"].into_iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
    let ends = ["ar", "er", "ir"].into_iter().any(|end| bare.ends_with(end));
    ends && bare.len() > 4 && !matches!(bare, "poder" | "tener" | "hacer" | "estar" | "volver" | "lograr" | "llegar")
}

fn clause_start(doc: &AnalyzedDocument<'_>, to: usize, limit: usize) -> usize {
    let limit = limit.max(to.saturating_sub(LONGEST_CLAUSE));
    (limit..to).rev().find(|word| stops(doc, *word)).map_or(limit, |word| word + 1)
}

fn clause_end(doc: &AnalyzedDocument<'_>, from: usize, limit: usize) -> usize {
    let limit = limit.min(from + LONGEST_CLAUSE);
    (from..limit).find(|word| stops(doc, *word)).unwrap_or(limit)
}

fn stops(doc: &AnalyzedDocument<'_>, word: usize) -> bool {
    matches!(
        doc.reading.word(word),
        "," | "." | ";" | ":" | "?" | "!" | "pero" | "but" | "porque" | "because" | "aunque" | "although"
    )
}

#[cfg(test)]
mod tests;

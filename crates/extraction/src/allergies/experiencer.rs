//! Whose an allergy is: "no, that's my dad", "esa era mi mamá", "my husband's the one with shellfish", "mi vieja sí, yo no".

use std::ops::Range;

use super::{AllergyFindings, AllergyMention, AllergyRules, WORDS};
use crate::analysis::AnalyzedDocument;
use crate::lexicon::label;
use crate::lexicon::word_lists::{self, WordList};
use crate::matcher::PhraseMatcher;
use crate::phrase_trie::TrieBuilder;
use crate::{EntityType, Experiencer};
use anamnesis_core::wording::person;
use anamnesis_text::Speaker;

/// Words between "that is" and the one whose it is.
const OWNER: usize = 5;
/// How many words of a clause a contrast may be away from the substance.
const REACH: usize = 16;

pub(super) struct OwnerWords {
    /// "Yo no", "not me", "el paciente no": the other one has it, not who this is about.
    not_own: PhraseMatcher,
    /// "I'm the one who", "soy yo", "that's me".
    mine: PhraseMatcher,
    /// A relative who speaks of themselves: "yo a la dipirona", "I can't have".
    of_speaker: PhraseMatcher,
}

impl OwnerWords {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        Self {
            not_own: label(trie, WORDS, "not_own"),
            mine: label(trie, WORDS, "mine"),
            of_speaker: label(trie, WORDS, "of_speaker"),
        }
    }
}

/// Words of a label before its colon: "Brother [PERSON]:", "Fam: son Mateo".
const LABEL: usize = 5;

/// "Hijo menor: alérgico a la leche": a relative before a colon, in a form of the patient's.
pub(super) fn is_of_labelled_relative(doc: &AnalyzedDocument<'_>, word: usize) -> bool {
    let reading = doc.reading;
    let start = reading.sentences[reading.sentence_of(word)].words.start;
    let colon = (start.max(word.saturating_sub(6))..word).rev().find(|at| reading.word(*at) == ":");
    let before = |colon: usize| start.max(colon.saturating_sub(LABEL))..colon;
    colon.is_some_and(|colon| before(colon).any(|at| is_relative(reading.word(at))))
}

/// A relative by name or word, without those whom a redacted name replaces.
pub(super) fn is_relative(word: &str) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::ALLERGIES, "experiencer.is_relative");
    person(word).is_some() || WORDS.contains(word)
}

impl AllergyRules {
    /// Gives each allergy to whom the words around say it belongs, and denies it of the patient where they say so.
    pub(super) fn give_to_owners(&self, doc: &AnalyzedDocument<'_>, out: &mut AllergyFindings) {
        out.placed.sort_by_key(|placed| placed.words.start);
        let places: Vec<Range<usize>> = out.placed.iter().map(|placed| placed.words.clone()).collect();
        let mut denied: Vec<AllergyMention> = Vec::new();
        for placed in out.placed.iter_mut().filter(|placed| !placed.words.is_empty()) {
            if let Some(experiencer) = relative_or_claim(doc, placed) {
                placed.entity.context.uncertain |= experiencer == Experiencer::Patient;
                placed.entity.context.experiencer = experiencer;
            }
            let own = placed.entity.context.experiencer == Experiencer::Patient;
            if own && self.is_of_the_speaker(doc, placed) {
                placed.entity.context.experiencer = Experiencer::Family;
                continue;
            }
            let regions = regions(doc, placed, &places);
            if own {
                let Some(asked) = regions.iter().find_map(|words| self.owner(doc, words, &placed.words)) else {
                    continue;
                };
                if asked {
                    denied.push(denial(placed));
                }
                placed.entity.context.experiencer = Experiencer::Family;
                placed.entity.context.negated = false;
                placed.entity.context.uncertain = false;
            } else if placed.entity.context.experiencer == Experiencer::Family && !placed.entity.context.negated {
                let contrast = regions.iter().any(|words| {
                    self.owners.not_own.first(doc.reading, words.clone()).is_some()
                        || self.owner(doc, words, &placed.words) == Some(true)
                        || doc.scopes.denied_near(doc.reading, &placed.words, 1)
                });
                if contrast {
                    denied.push(denial(placed));
                }
            }
        }
        out.placed.append(&mut denied);
    }

    /// A relative who was asked speaks of themselves: "yo a la dipirona, me desmayé".
    fn is_of_the_speaker(&self, doc: &AnalyzedDocument<'_>, placed: &AllergyMention) -> bool {
        let sentence = &doc.reading.sentences[doc.reading.sentence_of(placed.words.start)];
        if sentence.speaker != Speaker::Family {
            return false;
        }
        let from = placed.words.start.saturating_sub(REACH).max(sentence.words.start);
        let before =
            (from..placed.words.start).filter_map(|word| self.owners.of_speaker.at(doc.reading, word)).next_back();
        before.is_some_and(|hit| {
            hit.words.end <= placed.words.start && !has_subject(doc, hit.words.end..placed.words.start)
        })
    }

    /// Whether words assign a nearby allergy to a relative: `Some(true)` where they answer a doubt about the patient
    /// ("no, that's my dad"), `Some(false)` where they only say who has it.
    pub(super) fn owner(
        &self,
        doc: &AnalyzedDocument<'_>,
        words: &Range<usize>,
        substance: &Range<usize>,
    ) -> Option<bool> {
        static WORDS: WordList = WordList::listed(word_lists::ALLERGIES, "experiencer.owner");
        let reading = doc.reading;
        let speaker = reading.sentences[reading.sentence_of(words.start)].speaker;
        let is_person = |word: usize| is_relative(reading.word(word));
        for at in words.clone() {
            if speaker != Speaker::Patient
                && let Some(mine) = self.owners.mine.at(reading, at)
            {
                let contrast = |word: usize| {
                    matches!(reading.word(word), "him" | "her" | "he" | "she" | "el" | "ella" | "'s" | "no" | "not")
                };
                let turn = reading.sentences[reading.sentence_of(at)].words.clone();
                if speaker == Speaker::Family || turn.into_iter().any(contrast) {
                    return Some(mine.words.end > substance.end || substance.start >= words.end);
                }
            }
            let glued = reading.word(at) == "thats";
            if !(glued || matches!(reading.word(at), "is" | "'s" | "was" | "were" | "es" | "era" | "fue" | "eran")) {
                continue;
            }
            let before = reading.word(at.wrapping_sub(1));
            let points = glued || WORDS.contains(before) || substance.contains(&at.wrapping_sub(1));
            let ends = words.end.min(at + 1 + OWNER);
            let stop = |word: &usize| {
                matches!(
                    reading.word(*word),
                    "," | "." | ";" | "?" | "not" | "who" | "when" | "because" | "what" | "que"
                )
            };
            let until = (at + 1..ends).find(stop).unwrap_or(ends);
            let named = (at + 1..until).find(|word| is_person(*word));
            // "Aclarado con la madre: la alérgica es ella."
            let her =
                matches!(reading.word(at + 1), "ella" | "her" | "him") && matches!(before, "alergica" | "alergico");
            if her && (words.start..at).any(is_person) {
                return Some(true);
            }
            if points && named.is_some_and(|word| !gives(reading.word(word + 2)) && !gives(reading.word(word + 1))) {
                return Some(true);
            }
            // "My husband's the one with shellfish", "mi marido es el que no puede".
            let the_one = matches!(
                (reading.word(at + 1), reading.word(at + 2)),
                ("the", "one") | ("el" | "la", "que" | "alergico" | "alergica") | ("quien", _)
            );
            let from = at.saturating_sub(3).max(words.start);
            if the_one && (from..at).any(is_person) {
                return Some(at > substance.start);
            }
        }
        None
    }
}

/// Another person who is a relative ("my wife is allergic to …", "he's allergic" after "that's my dad"), or a relative who
/// claims something of the patient ("my mum reckons codeine"): then it is the patient's, and a claim.
fn relative_or_claim(doc: &AnalyzedDocument<'_>, placed: &AllergyMention) -> Option<Experiencer> {
    let reading = doc.reading;
    let index = reading.sentence_of(placed.words.start);
    let sentence = &reading.sentences[index];
    let from = placed.words.start.saturating_sub(8).max(sentence.words.start);
    let relative = (from..placed.words.start).rev().find(|word| is_relative(reading.word(*word)));
    let context = &placed.entity.context;
    if let Some(relative) = relative {
        let says = matches!(
            reading.word(relative + 1),
            "reckons"
                | "thinks"
                | "says"
                | "said"
                | "swears"
                | "dice"
                | "decia"
                | "cree"
                | "jura"
                | "piensa"
                | "insists"
        );
        let own = (relative + 1..placed.words.start).any(|word| {
            matches!(
                reading.word(word),
                "her" | "she" | "he" | "his" | "herself" | "himself" | "ella" | "el" | "is" | "es"
            )
        });
        if says && context.experiencer != Experiencer::Patient {
            return (!own).then_some(Experiencer::Patient);
        }
        return (context.experiencer == Experiencer::Other).then_some(Experiencer::Family);
    }
    let pronoun = matches!(reading.word(sentence.words.start), "he" | "she" | "el" | "ella");
    let before = index.checked_sub(1).map(|before| &reading.sentences[before]);
    let named = before.filter(|before| before.turn == sentence.turn && before.turn.is_some());
    let after_relative = named.is_some_and(|before| before.words.clone().any(|word| is_relative(reading.word(word))));
    (context.experiencer == Experiencer::Other && pronoun && after_relative).then_some(Experiencer::Family)
}

/// "It was my mother who gave it to me" speaks of no allergy.
fn gives(word: &str) -> bool {
    matches!(word, "gave" | "told" | "said" | "says" | "dio" | "dijo" | "dice" | "gives" | "noticed" | "thought")
}

/// Whether another person is named between the speaker's "I" and a substance.
fn has_subject(doc: &AnalyzedDocument<'_>, mut words: Range<usize>) -> bool {
    words.any(|word| matches!(doc.reading.word(word), "him" | "her" | "he" | "she" | "le" | "lo" | "." | "?" | ";"))
}

/// The same allergy, denied of the patient.
fn denial(placed: &AllergyMention) -> AllergyMention {
    let mut entity = placed.entity.clone();
    entity.context.experiencer = Experiencer::Patient;
    entity.context.negated = true;
    entity.context.uncertain = false;
    entity.kind = EntityType::Allergy;
    entity.reaction = None;
    entity.status = None;
    AllergyMention { entity, words: placed.words.clone(), frame: super::AllergyFrame::Allergy, mentioned: None }
}

/// Where the text may say whose an allergy is: its own sentence up to the next substance, the next sentence, and the
/// answer.
fn regions(doc: &AnalyzedDocument<'_>, placed: &AllergyMention, places: &[Range<usize>]) -> Vec<Range<usize>> {
    let reading = doc.reading;
    let index = reading.sentence_of(placed.words.start);
    let here = &reading.sentences[index];
    let next = places.iter().map(|other| other.start).filter(|start| *start >= placed.words.end).min();
    let previous = places.iter().map(|other| other.end).filter(|end| *end <= placed.words.start).max();
    let limit = next.unwrap_or(usize::MAX);
    let from = previous.unwrap_or(0).max(here.words.start).max(placed.words.start.saturating_sub(REACH));
    let own = from..here.words.end.min(limit).min(placed.words.end + REACH);
    let mut out: Vec<Range<usize>> = std::iter::once(own).collect();
    let mut answering = None;
    for (at, later) in reading.sentences.iter().enumerate().skip(index + 1).take(3) {
        let gap = doc.text().get(here.span.end..later.span.start).unwrap_or("");
        let same = later.turn == here.turn && !gap.contains('\n');
        let replies = here.speaker != Speaker::Patient
            && later.speaker != here.speaker
            && later.turn.zip(here.turn).is_some_and(|(later, here)| later == here + 1);
        let answers = replies || doc.question_answers.answer(index).is_some_and(|answer| answer.sentence == at);
        answering = answering.or(answers.then_some(later.turn));
        if later.words.start >= limit || !(same || answering == Some(later.turn)) {
            break;
        }
        out.push(later.words.start..later.words.end.min(limit).min(later.words.start + REACH));
    }
    out.retain(|words| !words.is_empty());
    out
}

//! The person of whom a note goes on to speak after a relative: a pronoun of another gender than the patient's, or a
//! stressed one ("she herself takes it"), means the person named before. Where it may be either, the reading is in
//! doubt.

use super::super::CueScope;
use super::super::cues::CueCategory;
use super::{ExperiencerRules, PersonMention, PersonSentence, is_self};
use crate::tokenized::TokenizedText;

/// Sentences after which a pronoun no longer means a relative.
const LONGEST_MEMORY: usize = 3;
/// Mentions of one gender for each of the other from which on it is the patient's.
const MAJORITY: usize = 2;

/// A person whom a pronoun may mean.
#[derive(Clone)]
struct TopicPerson {
    category: CueCategory,
    cue: std::ops::Range<usize>,
    sentence: usize,
}

/// The relatives of whom a document spoke last, and whether its patient is a "she".
pub(in crate::assertion) struct TopicState {
    patient_is_she: Option<bool>,
    she: Option<TopicPerson>,
    he: Option<TopicPerson>,
    sentence: usize,
}

impl TopicState {
    pub(super) fn new(reading: &TokenizedText<'_>) -> Self {
        Self { patient_is_she: patient_is_she(reading), she: None, he: None, sentence: 0 }
    }

    /// A new paragraph, and another speaker, begin with no one.
    pub(super) fn enter(&mut self, index: usize, reading: &TokenizedText<'_>) {
        self.sentence = index;
        let before = index.checked_sub(1).map(|before| &reading.sentences[before]);
        let here = &reading.sentences[index];
        let gap = before.and_then(|before| reading.text.get(before.span.end..here.span.start)).unwrap_or("");
        if gap.matches('\n').count() > 1 || before.is_some_and(|before| before.turn != here.turn) {
            (self.she, self.he) = (None, None);
        }
    }

    fn name(&mut self, person: &PersonMention) {
        let held = TopicPerson { category: person.category, cue: person.words.clone(), sentence: self.sentence };
        match person.is_she {
            Some(true) => self.she = Some(held),
            Some(false) => self.he = Some(held),
            None => (self.she, self.he) = (Some(held.clone()), Some(held)),
        }
    }

    fn held(&self, is_she: bool) -> Option<TopicPerson> {
        let held = if is_she { &self.she } else { &self.he };
        held.clone().filter(|held| self.sentence <= held.sentence + LONGEST_MEMORY)
    }
}

impl PersonSentence<'_, '_> {
    /// The stretches of a note's sentence in which a pronoun means a relative named before.
    pub(super) fn carried(&self, topics: &mut TopicState) -> Vec<CueScope> {
        let mut out = Vec::new();
        for at in self.sentence.words.clone() {
            if let Some(person) = self.people.iter().find(|person| person.words.start == at) {
                topics.name(person);
                continue;
            }
            out.extend(self.stressed_name(topics, at));
            let Some(is_she) = self.pronoun(at) else { continue };
            let stressed = self.is_stressed(at);
            let from = at + 1 + usize::from(stressed);
            let Some(held) = topics.held(is_she).filter(|_| stressed || self.opens_clause(at)) else { continue };
            let other = topics.patient_is_she.is_some_and(|patient| patient != is_she);
            let category = match (other, stressed) {
                (true, _) if stressed || self.states(from) || self.states(from + 1) => held.category,
                (false, true) => CueCategory::Uncertain,
                _ => continue,
            };
            out.push(self.scope_of(category, is_she, from, &held.cue));
        }
        out
    }

    /// "Moira herself is waiting for a new hip" in a man's note: she is not the patient.
    fn stressed_name(&self, topics: &TopicState, at: usize) -> Option<CueScope> {
        let is_she = match self.word(at) {
            "herself" => true,
            "himself" => false,
            _ => return None,
        };
        let other = topics.patient_is_she.is_some_and(|patient| patient != is_she);
        let named = at > self.sentence.words.start && {
            let source = self.reading.words[at - 1].source.slice(self.reading.text);
            source == "]" || source.starts_with(char::is_uppercase) && self.pronoun(at - 1).is_none()
        };
        (other && named).then(|| self.scope_of(CueCategory::Family, is_she, at + 1, &(at..at + 1)))
    }

    fn scope_of(&self, category: CueCategory, is_she: bool, from: usize, cue: &std::ops::Range<usize>) -> CueScope {
        let words = cue.clone();
        let person = PersonMention { from: cue.start, words, category, is_she: Some(is_she), is_hers: None };
        let (to, _) = self.clause(&person, from);
        CueScope { category, words: from..to, cue: cue.clone() }
    }

    fn pronoun(&self, at: usize) -> Option<bool> {
        match self.word(at) {
            "she" | "ella" => Some(true),
            "he" => Some(false),
            "el" if is_self(self.reading, at) => Some(false),
            _ => None,
        }
    }

    fn is_stressed(&self, pronoun: usize) -> bool {
        matches!(self.word(pronoun + 1), "herself" | "himself" | "misma" | "mismo")
    }

    fn opens_clause(&self, at: usize) -> bool {
        at == self.sentence.words.start
            || matches!(self.before(at), "," | ";" | "(" | "." | ":" | "and" | "y" | "e" | "que" | "but" | "pero")
    }
}

impl ExperiencerRules {
    /// No one is spoken of yet.
    pub(in crate::assertion) fn topics(&self, reading: &TokenizedText<'_>) -> TopicState {
        TopicState::new(reading)
    }
}

/// Whether a note's patient is a "she": by the nouns for the patient, else by the pronouns of most of its sentences.
fn patient_is_she(reading: &TokenizedText<'_>) -> Option<bool> {
    let (mut she, mut he) = (0, 0);
    for at in 0..reading.words.len() {
        let before = at.checked_sub(1).map_or("", |before| reading.word(before));
        match reading.word(at) {
            "paciente" | "pcte" | "pte" if before == "la" => she += 3,
            "paciente" | "pcte" | "pte" if before == "el" => he += 3,
            // A stressed pronoun is as likely another person's.
            "she" | "he" if matches!(reading.word(at + 1), "herself" | "himself") => {}
            "she" | "her" => she += 1,
            "he" | "his" | "him" => he += 1,
            "nina" | "senora" | "mujer" if matches!(before, "la" | "una") => she += 2,
            "nino" | "senor" | "varon" | "hombre" if matches!(before, "el" | "un") => he += 2,
            _ => {}
        }
    }
    match (she, he) {
        (0, 0) => None,
        (she, he) if she >= MAJORITY * he => Some(true),
        (she, he) if he >= MAJORITY * she => Some(false),
        _ => None,
    }
}

//! What every family of rules looks at: the words, their contexts, who asked and who answered.

use std::ops::Range;

use super::context::Contexts;
use super::dialogue::{Exchanges, Polarity, asks_whether_there_is};
use super::input::ExtractionInput;
use super::questions::{self, interrogates};
use super::reading::{Reading, Sentence};
use super::structure::{Section, Structure};
use super::{Context, DocumentType, Entity, EntityType, Epistemic, Experiencer, RegimenPlaces};
use anamnesis_text::{Span, Speaker};

/// Words of a sentence beyond which evidence is the clause.
const LONGEST_CLAUSE: usize = 45;
/// Words of a clause before and after what it proves.
const CLAUSE_REACH: usize = 18;

pub(crate) struct Scene<'a> {
    pub(crate) input: &'a ExtractionInput<'a>,
    pub(crate) reading: &'a Reading<'a>,
    pub(crate) contexts: Contexts,
    pub(crate) exchanges: Exchanges,
    pub(crate) structure: Structure,
}

/// How a mention is meant once questions are answered: whose word it is, what surrounds it, what proves it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stance {
    pub(crate) context: Context,
    pub(crate) epistemic: Epistemic,
    pub(crate) evidence: Span,
    /// Index of the turn in which it stands.
    pub(crate) turn: Option<usize>,
    /// It stood in a question that somebody answered with yes or no.
    pub(crate) answered: bool,
    pub(crate) confidence: f64,
}

impl Scene<'_> {
    /// The section in which a word stands.
    pub(crate) fn section(&self, word: usize) -> Option<Section> {
        self.structure.section_of(self.reading, word)
    }

    pub(crate) fn text(&self) -> &str {
        self.reading.text
    }

    /// The sentences that may hold findings: an agent's words never do.
    pub(crate) fn sentences(&self) -> impl Iterator<Item = (usize, &Sentence)> {
        self.reading.sentences.iter().enumerate().filter(|(_, sentence)| sentence.speaker != Speaker::Agent)
    }

    pub(crate) fn is_dialogue(&self) -> bool {
        !self.input.document.turns.is_empty()
    }

    /// How a mention in a sentence is meant; `None` where it is only asked about.
    pub(crate) fn stance(&self, sentence: usize, words: &Range<usize>) -> Option<Stance> {
        self.meant(sentence, words, false)
    }

    /// The same for an illness or a symptom, which a question may take for given: "and the insomnia?".
    pub(crate) fn stance_of_finding(&self, sentence: usize, words: &Range<usize>) -> Option<Stance> {
        self.meant(sentence, words, true)
    }

    fn meant(&self, sentence: usize, words: &Range<usize>, takes_for_given: bool) -> Option<Stance> {
        let place = &self.reading.sentences[sentence];
        let mut context = self.contexts.of(self.reading, words);
        let own = self.contexts.of_the_speaker(self.reading, words);
        if place.speaker == Speaker::Family && !own && (self.addresses_patient(place) || self.speaks_of_own(place)) {
            context.experiencer = Experiencer::Patient;
        }
        let epistemic = self.epistemic(place.speaker);
        let (turn, evidence) = (place.turn, self.clause(place, words));
        let mut stance = Stance { context, epistemic, evidence, turn, answered: false, confidence: 0.9 };
        // A question that a box answers asks no more.
        let asked = self.exchanges.asks(sentence) && self.structure.boxes(sentence).is_empty();
        if asked && self.is_dialogue() && place.speaker != Speaker::Patient {
            let given = takes_for_given && questions::presupposes(self.reading, place, words);
            return self.questioned(sentence, words, stance, given);
        }
        let written = asked && !self.is_dialogue() && asks_whether_there_is(self.reading, place, words);
        if written && self.exchanges.answer(sentence).is_some_and(|answer| answer.polarity != Polarity::Other) {
            return self.questioned(sentence, words, stance, false);
        }
        if self.contexts.only_asked(self.reading, words)
            || (asked && !self.is_dialogue() && interrogates(self.reading, place))
        {
            return None;
        }
        if asked && self.is_dialogue() {
            // "Is it cancer, doctor?" — "No, a cyst."
            let answer = self.exchanges.answer(sentence).filter(|answer| self.is_clinicians(answer.sentence));
            match answer.map(|answer| (answer.polarity, answer.doubtful)) {
                Some((Polarity::No, false)) => stance.context.negated = true,
                Some((Polarity::Yes, false)) => {}
                _ => stance.context.uncertain |= !stance.context.negated,
            }
        } else if asked {
            stance.context.uncertain |= !stance.context.negated;
        }
        stance.confidence = match (stance.epistemic, stance.context.uncertain) {
            (Epistemic::Inferred, _) => 0.6,
            (_, true) => 0.5,
            (Epistemic::Observed, _) => 0.85,
            _ => 0.9,
        };
        Some(stance)
    }

    /// A mention in somebody's question to the patient or a relative: the answer says what holds.
    fn questioned(
        &self,
        sentence: usize,
        words: &Range<usize>,
        mut stance: Stance,
        given_for_true: bool,
    ) -> Option<Stance> {
        let place = &self.reading.sentences[sentence];
        let taken = questions::is_excepted(self.reading, place, words);
        let answer = self.exchanges.answer(sentence);
        let polarity = match answer {
            _ if taken => Polarity::Yes,
            Some(answer) if answer.polarity != Polarity::Other && !given_for_true => answer.polarity,
            Some(answer) if given_for_true => {
                stance.confidence = 0.65;
                questions::course(self.reading, &self.reading.sentences[answer.sentence], answer.polarity)?
            }
            _ => return None,
        };
        stance.context.negated = polarity == Polarity::No || (stance.context.negated && !taken);
        // The question's own doubt is settled by its answer.
        let doubtful = answer.is_some_and(|answer| answer.doubtful) && !taken;
        stance.context.uncertain = doubtful && !stance.context.negated;
        stance.answered = true;
        let Some(answer) = answer.filter(|_| !taken) else {
            stance.confidence = 0.65;
            return Some(stance);
        };
        let given = &self.reading.sentences[answer.sentence];
        if given.speaker == Speaker::Clinician && place.speaker == Speaker::Clinician {
            return None;
        }
        stance.evidence = Span::new(stance.evidence.start, given.span.end);
        stance.epistemic = self.epistemic(given.speaker);
        stance.confidence = if doubtful { 0.5 } else { stance.confidence.min(0.85) };
        Some(stance)
    }

    fn is_clinicians(&self, sentence: usize) -> bool {
        self.reading.sentences.get(sentence).is_some_and(|sentence| sentence.speaker == Speaker::Clinician)
    }

    /// The clause that proves a mention: the sentence, or of one without end the words around.
    fn clause(&self, place: &Sentence, words: &Range<usize>) -> Span {
        if place.words.len() <= LONGEST_CLAUSE {
            return place.span;
        }
        let parts = |word: &usize| matches!(self.reading.word(*word), ";" | "." | ":" | "?" | "!" | "•" | "|");
        let from = place.words.start.max(words.start.saturating_sub(CLAUSE_REACH));
        let to = place.words.end.min(words.end + CLAUSE_REACH);
        let start = (from..words.start).rev().find(parts).map_or(from, |word| word + 1);
        let end = (words.end..to).find(parts).map_or(to, |word| word + 1);
        self.reading.source(&(start..end))
    }

    /// "You are allergic to it, mother!": a relative who says "you" speaks of the patient.
    fn addresses_patient(&self, sentence: &Sentence) -> bool {
        sentence
            .words
            .clone()
            .any(|word| matches!(self.reading.word(word), "you" | "your" | "usted" | "eres" | "tienes" | "tu"))
    }

    /// "My mother is diabetic", said by the daughter who came along: the mother is the patient.
    fn speaks_of_own(&self, sentence: &Sentence) -> bool {
        // "My husband's brother" is another.
        if self.reading.word(sentence.words.start + 2) == "'s" {
            return false;
        }
        let mut words = sentence.words.clone().take(2).map(|word| self.reading.word(word));
        matches!(words.next(), Some("my" | "mi"))
            && words.next().is_some_and(|relative| {
                matches!(
                    relative,
                    "mother"
                        | "father"
                        | "mom"
                        | "dad"
                        | "son"
                        | "daughter"
                        | "husband"
                        | "wife"
                        | "brother"
                        | "sister"
                        | "grandmother"
                        | "grandfather"
                        | "partner"
                        | "madre"
                        | "padre"
                        | "mama"
                        | "papa"
                        | "hijo"
                        | "hija"
                        | "marido"
                        | "mujer"
                        | "esposo"
                        | "esposa"
                        | "hermano"
                        | "hermana"
                        | "abuela"
                        | "abuelo"
                        | "pareja"
                )
            })
    }

    /// The stance of words in a question that was answered by more than yes or no ("how much?" — "four hundred").
    pub(crate) fn answered(&self, sentence: usize, answer: usize, words: &Range<usize>) -> Stance {
        let (asked, given) = (&self.reading.sentences[sentence], &self.reading.sentences[answer]);
        let mut context = self.contexts.of(self.reading, words);
        (context.uncertain, context.negated) = (false, false);
        let evidence = Span::new(asked.span.start, given.span.end.max(asked.span.end));
        let epistemic = self.epistemic(given.speaker);
        Stance { context, epistemic, evidence, turn: asked.turn, answered: true, confidence: 0.8 }
    }

    /// Who says it decides what it is worth (model.md "Provenance"): the patient's and the family's word is explicit,
    /// a clinician's finding in a dialogue observed, a model's analysis inferred.
    pub(crate) fn epistemic(&self, speaker: Speaker) -> Epistemic {
        match (self.input.document_type, speaker) {
            (Some(DocumentType::Analysis), _) => Epistemic::Inferred,
            (_, Speaker::Clinician) => Epistemic::Observed,
            _ => Epistemic::Explicit,
        }
    }

    /// Builds a finding; `None` unless mention and evidence are literally there and one holds the other.
    pub(crate) fn entity(
        &self,
        kind: EntityType,
        words: &Range<usize>,
        value: String,
        stance: &Stance,
    ) -> Option<Entity> {
        let span = self.reading.source(words);
        let turn = self.reading.sentences[self.reading.sentence_of(words.start)].turn;
        let evidence = Span::new(stance.evidence.start.min(span.start), stance.evidence.end.max(span.end));
        let entity = Entity {
            kind,
            span,
            evidence,
            turn,
            value,
            code: None,
            context: stance.context,
            epistemic: stance.epistemic,
            confidence: stance.confidence,
            status: None,
            severity: None,
            dose: None,
            route: None,
            frequency: None,
            places: RegimenPlaces::default(),
            at: None,
            ends: None,
            reaction: None,
            measured: None,
            subject: None,
            group: None,
            view: None,
        };
        entity.is_grounded(self.text()).then_some(entity)
    }
}

//! The common input of all families of rules: the words, their contexts, questions and answers.

use std::ops::Range;

use super::assertion::AssertionScopes;
use super::dialogue::{Polarity, QuestionAnswers, asks_whether_there_is};
use super::input::ExtractionInput;
use super::questions::{self, interrogates};
use super::structure::{DocumentStructure, Section};
use super::tokenized::{TextSentence, TokenizedText};
use super::{DocumentType, Entity, EntityType, Epistemic, Experiencer, MentionContext, RegimenPlaces};
use crate::lexicon::word_lists::{self, WordList};
use anamnesis_text::{Span, Speaker};

/// Words of a sentence beyond which evidence is the clause.
const LONGEST_CLAUSE: usize = 45;
/// Words of a clause that are quoted before and after a finding.
const CLAUSE_REACH: usize = 18;

pub(crate) struct AnalyzedDocument<'a> {
    pub(crate) input: &'a ExtractionInput<'a>,
    pub(crate) reading: &'a TokenizedText<'a>,
    pub(crate) scopes: AssertionScopes,
    pub(crate) question_answers: QuestionAnswers,
    pub(crate) structure: DocumentStructure,
}

/// How a mention is meant once questions are answered: whose word it is, what surrounds it, what proves it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AssertionStatus {
    pub(crate) context: MentionContext,
    pub(crate) epistemic: Epistemic,
    pub(crate) evidence: Span,
    /// Index of its turn.
    pub(crate) turn: Option<usize>,
    /// It was part of a question that someone answered with yes or no.
    pub(crate) answered: bool,
    pub(crate) confidence: f64,
}

impl AnalyzedDocument<'_> {
    /// The section of a word.
    pub(crate) fn section(&self, word: usize) -> Option<Section> {
        self.structure.section_of(self.reading, word)
    }

    pub(crate) fn text(&self) -> &str {
        self.reading.text
    }

    /// The sentences that may hold findings: an agent's words never do.
    pub(crate) fn sentences(&self) -> impl Iterator<Item = (usize, &TextSentence)> {
        self.reading.sentences.iter().enumerate().filter(|(_, sentence)| sentence.speaker != Speaker::Agent)
    }

    pub(crate) fn is_dialogue(&self) -> bool {
        !self.input.document.turns.is_empty()
    }

    /// How a mention in a sentence is meant; `None` where it is only asked about.
    pub(crate) fn assertion(&self, sentence: usize, words: &Range<usize>) -> Option<AssertionStatus> {
        self.meant(sentence, words, false)
    }

    /// The same for an illness or a symptom, which a question may take for given: "and the insomnia?".
    pub(crate) fn assertion_of_finding(&self, sentence: usize, words: &Range<usize>) -> Option<AssertionStatus> {
        self.meant(sentence, words, true)
    }

    fn meant(&self, sentence: usize, words: &Range<usize>, takes_for_given: bool) -> Option<AssertionStatus> {
        let place = &self.reading.sentences[sentence];
        let mut context = self.scopes.mention_context(self.reading, words);
        let own = self.scopes.of_the_speaker(self.reading, words);
        if place.speaker == Speaker::Family && !own && (self.addresses_patient(place) || self.speaks_of_own(place)) {
            context.experiencer = Experiencer::Patient;
        }
        let epistemic = self.epistemic(place.speaker);
        let (turn, evidence) = (place.turn, self.clause(place, words));
        let mut assertion = AssertionStatus { context, epistemic, evidence, turn, answered: false, confidence: 0.9 };
        // A question that a box answers asks no more.
        let asked = self.question_answers.asks(sentence) && self.structure.boxes(sentence).is_empty();
        if asked && self.is_dialogue() && place.speaker != Speaker::Patient {
            let given = takes_for_given && questions::presupposes(self.reading, place, words);
            return self.questioned(sentence, words, assertion, given);
        }
        let written = asked && !self.is_dialogue() && asks_whether_there_is(self.reading, place, words);
        if written && self.question_answers.answer(sentence).is_some_and(|answer| answer.polarity != Polarity::Other) {
            return self.questioned(sentence, words, assertion, false);
        }
        if self.scopes.only_asked(self.reading, words)
            || (asked && !self.is_dialogue() && interrogates(self.reading, place))
        {
            return None;
        }
        if asked && self.is_dialogue() {
            // "Is it cancer, doctor?" — "No, a cyst."
            let answer = self.question_answers.answer(sentence).filter(|answer| self.is_clinicians(answer.sentence));
            match answer.map(|answer| (answer.polarity, answer.doubtful)) {
                Some((Polarity::No, false)) => assertion.context.negated = true,
                Some((Polarity::Yes, false)) => {}
                _ => assertion.context.uncertain |= !assertion.context.negated,
            }
        } else if asked {
            assertion.context.uncertain |= !assertion.context.negated;
        }
        assertion.confidence = match (assertion.epistemic, assertion.context.uncertain) {
            (Epistemic::Inferred, _) => 0.6,
            (_, true) => 0.5,
            (Epistemic::Observed, _) => 0.85,
            _ => 0.9,
        };
        Some(assertion)
    }

    /// A mention in someone's question to the patient or a relative: the answer says what holds.
    fn questioned(
        &self,
        sentence: usize,
        words: &Range<usize>,
        mut assertion: AssertionStatus,
        given_for_true: bool,
    ) -> Option<AssertionStatus> {
        let place = &self.reading.sentences[sentence];
        let taken = questions::is_excepted(self.reading, place, words);
        let answer = self.question_answers.answer(sentence);
        let polarity = match answer {
            _ if taken => Polarity::Yes,
            Some(answer) if answer.polarity != Polarity::Other && !given_for_true => answer.polarity,
            Some(answer) if given_for_true => {
                assertion.confidence = 0.65;
                questions::course(self.reading, &self.reading.sentences[answer.sentence], answer.polarity)?
            }
            _ => return None,
        };
        assertion.context.negated = polarity == Polarity::No || (assertion.context.negated && !taken);
        // The question's own doubt is settled by its answer.
        let doubtful = answer.is_some_and(|answer| answer.doubtful) && !taken;
        assertion.context.uncertain = doubtful && !assertion.context.negated;
        assertion.answered = true;
        let Some(answer) = answer.filter(|_| !taken) else {
            assertion.confidence = 0.65;
            return Some(assertion);
        };
        let given = &self.reading.sentences[answer.sentence];
        if given.speaker == Speaker::Clinician && place.speaker == Speaker::Clinician {
            return None;
        }
        assertion.evidence = Span::new(assertion.evidence.start, given.span.end);
        assertion.epistemic = self.epistemic(given.speaker);
        assertion.confidence = if doubtful { 0.5 } else { assertion.confidence.min(0.85) };
        Some(assertion)
    }

    fn is_clinicians(&self, sentence: usize) -> bool {
        self.reading.sentences.get(sentence).is_some_and(|sentence| sentence.speaker == Speaker::Clinician)
    }

    /// The clause that proves a mention: the sentence, or of one without end the words around.
    fn clause(&self, place: &TextSentence, words: &Range<usize>) -> Span {
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
    fn addresses_patient(&self, sentence: &TextSentence) -> bool {
        sentence
            .words
            .clone()
            .any(|word| matches!(self.reading.word(word), "you" | "your" | "usted" | "eres" | "tienes" | "tu"))
    }

    /// "My mother is diabetic", said by the daughter who came along: the mother is the patient.
    fn speaks_of_own(&self, sentence: &TextSentence) -> bool {
        static WORDS: WordList = WordList::listed(word_lists::GENERAL, "analysis.speaks_of_own");
        // "My husband's brother" is another.
        if self.reading.word(sentence.words.start + 2) == "'s" {
            return false;
        }
        let mut words = sentence.words.clone().take(2).map(|word| self.reading.word(word));
        matches!(words.next(), Some("my" | "mi")) && words.next().is_some_and(|relative| WORDS.contains(relative))
    }

    /// The stance of words in a question that was answered by more than yes or no ("how much?" — "four hundred").
    pub(crate) fn answered(&self, sentence: usize, answer: usize, words: &Range<usize>) -> AssertionStatus {
        let (asked, given) = (&self.reading.sentences[sentence], &self.reading.sentences[answer]);
        let mut context = self.scopes.mention_context(self.reading, words);
        (context.uncertain, context.negated) = (false, false);
        let evidence = Span::new(asked.span.start, given.span.end.max(asked.span.end));
        let epistemic = self.epistemic(given.speaker);
        AssertionStatus { context, epistemic, evidence, turn: asked.turn, answered: true, confidence: 0.8 }
    }

    /// The speaker decides the epistemic status (model.md "Provenance"): a statement of the patient or the family is
    /// explicit, a clinician's finding in a dialogue observed, a model's analysis inferred.
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
        assertion: &AssertionStatus,
    ) -> Option<Entity> {
        let span = self.reading.source(words);
        let turn = self.reading.sentences[self.reading.sentence_of(words.start)].turn;
        let evidence = Span::new(assertion.evidence.start.min(span.start), assertion.evidence.end.max(span.end));
        let entity = Entity {
            kind,
            span,
            evidence,
            turn,
            value,
            code: None,
            context: assertion.context,
            epistemic: assertion.epistemic,
            confidence: assertion.confidence,
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

//! Statements about a medicine in the sentences after it: answers that do not name it, doses that are added or
//! corrected.

use std::ops::Range;

use super::regimen::Regimen;
use super::status::DrugStatus;
use super::{MedicationRules, SentenceDrugs, StatusWindow};
use crate::analysis::{AnalyzedDocument, AssertionStatus};
use crate::lexicon::ConceptMention;
use anamnesis_text::Speaker;

/// Sentences of an answer in which the fate of a medicine is said.
const ANSWERING_SENTENCES: usize = 3;
/// Sentences below a question in a text without turns in which it is answered.
const LINES_BELOW: usize = 4;
/// Words of a sentence in which a bare number may answer for a dose.
const LONGEST_ANSWER: usize = 12;

impl MedicationRules {
    /// The next sentence of the same turn and line, where it goes on about the medicine and names no other.
    pub(super) fn next_sentence(
        &self,
        doc: &AnalyzedDocument<'_>,
        drugs: &[SentenceDrugs],
        slot: usize,
    ) -> Option<DrugStatus> {
        let index = drugs[slot].sentence;
        let (here, next) = (&doc.reading.sentences[index], doc.reading.sentences.get(index + 1)?);
        let gap = doc.text().get(here.span.end..next.span.start)?;
        let named = drugs.get(slot + 1).is_some_and(|found| found.sentence == index + 1);
        let same = next.turn == here.turn && next.speaker == here.speaker && !gap.contains('\n');
        (same && !named && !next.question && drugs[slot].mentions.len() == 1)
            .then(|| self.statuses.goes_on(doc.reading, next.words.clone()))
            .flatten()
    }

    /// "And the lithium?" — "Haven't touched it since May": the sentence that answers, and its statement about the
    /// medicine that the question named last.
    pub(super) fn elliptic(
        &self,
        doc: &AnalyzedDocument<'_>,
        drugs: &[SentenceDrugs],
        slot: usize,
        nth: usize,
    ) -> Option<(usize, DrugStatus)> {
        let found = &drugs[slot];
        let asked = &doc.reading.sentences[found.sentence];
        if nth + 1 != found.mentions.len() || !doc.question_answers.asks(found.sentence) {
            return None;
        }
        let until = drugs.get(slot + 1).map_or(usize::MAX, |next| next.sentence);
        let Some(turn) = asked.turn else { return self.answered_below(doc, found.sentence, until) };
        let mut count = 0;
        for (index, sentence) in doc.reading.sentences.iter().enumerate().skip(found.sentence + 1) {
            if index >= until || sentence.turn.is_none_or(|t| t > turn + 2) || count >= ANSWERING_SENTENCES {
                return None;
            }
            if sentence.speaker == asked.speaker || sentence.speaker == Speaker::Agent {
                if sentence.turn.is_some_and(|t| t > turn) && sentence.question {
                    return None;
                }
                continue;
            }
            count += 1;
            if let Some(status) = self.statuses.answered(doc.reading, sentence.words.clone()) {
                return Some((index, status));
            }
        }
        None
    }

    /// "I was on 20 of it but they put me up to 40": the number after the change; "was increased from 20" names the old one.
    pub(super) fn brought_to(
        &self,
        doc: &AnalyzedDocument<'_>,
        around: &StatusWindow,
        mut regimen: Regimen,
    ) -> Regimen {
        let after = around.after.clone();
        let Some(at) = self.statuses.changed_to(doc.reading, after.clone()).filter(|_| !regimen.changed) else {
            return regimen;
        };
        let from = |word: usize| matches!(doc.reading.word(word), "from" | "de" | "desde");
        if from(at) || from(at - 1) {
            return regimen;
        }
        if let Some(dose) = self.regimen.answered_dose(doc.reading, at..after.end.min(at + 3)) {
            regimen.dose = Some(dose);
            regimen.changed = true;
        }
        regimen
    }

    /// "You take a hundred of sertraline, right?" — "No, fifty.": the number is denied, not the medicine.
    pub(super) fn corrected(
        &self,
        doc: &AnalyzedDocument<'_>,
        sentence: usize,
        dosed: bool,
        mut assertion: AssertionStatus,
    ) -> AssertionStatus {
        if !(dosed && assertion.answered && assertion.context.negated) {
            return assertion;
        }
        let numbered = |words: &Range<usize>| self.regimen.answered_dose(doc.reading, words.clone()).is_some();
        let answer = doc.question_answers.answer(sentence).map(|answer| &doc.reading.sentences[answer.sentence].words);
        if answer.is_some_and(|words| words.len() <= LONGEST_ANSWER && numbered(words)) {
            assertion.context.negated = false;
        }
        assertion
    }

    /// "How much lithium?" — "Four hundred": the answer says how it is taken, and so that it is.
    pub(super) fn answered_regimen(
        &self,
        doc: &AnalyzedDocument<'_>,
        found: &SentenceDrugs,
        mention: &ConceptMention,
    ) -> Option<AssertionStatus> {
        let answer = doc.question_answers.answer(found.sentence)?;
        let given = &doc.reading.sentences[answer.sentence];
        if given.speaker == doc.reading.sentences[found.sentence].speaker || given.question {
            return None;
        }
        let said = self.regimen.read_words(doc.reading, given.words.clone());
        let dose = said.dose.or_else(|| {
            let short = given.words.len() <= LONGEST_ANSWER;
            short.then(|| self.regimen.answered_dose(doc.reading, given.words.clone())).flatten()
        });
        (dose.is_some() || said.frequency.is_some())
            .then(|| doc.answered(found.sentence, answer.sentence, &mention.words))
    }

    /// As [`Self::elliptic`], in a chat that came as one text: the lines below the question.
    fn answered_below(&self, doc: &AnalyzedDocument<'_>, question: usize, until: usize) -> Option<(usize, DrugStatus)> {
        let asked = &doc.reading.sentences[question];
        let below = doc.reading.sentences.iter().enumerate().skip(question + 1).take(LINES_BELOW);
        for (index, sentence) in below.take_while(|(index, _)| *index < until) {
            let gap = doc.text().get(asked.span.end..sentence.span.start)?;
            if sentence.question || gap.contains("\n\n") {
                return None;
            }
            if gap.contains('\n')
                && let Some(status) = self.statuses.answered(doc.reading, sentence.words.clone())
            {
                return Some((index, status));
            }
        }
        None
    }

    /// Dose and frequency that the next two turns add or correct, before another medicine is named.
    pub(super) fn follow_up(
        &self,
        doc: &AnalyzedDocument<'_>,
        sentence: usize,
        next: Option<&SentenceDrugs>,
        regimen: Regimen,
    ) -> Regimen {
        let mut regimen = regimen;
        let here = &doc.reading.sentences[sentence];
        let Some(turn) = here.turn else { return regimen };
        let until = next.map_or(doc.reading.sentences.len(), |drugs| drugs.sentence);
        // "And the fluoxetine?" leaves the question open; "how many attacks?" asks for no dose.
        let mut about_dose = here.question || regimen.dose.is_none();
        for later in doc.reading.sentences.iter().take(until.min(sentence + 6)).skip(sentence + 1) {
            if later.turn.is_none_or(|t| t > turn + 2)
                || later.speaker == Speaker::Agent
                || self.asks(doc, &later.words)
            {
                break;
            }
            let said = self.regimen.read_words(doc.reading, later.words.clone());
            if let Some(at) = self.statuses.changed_to(doc.reading, later.words.clone())
                && !matches!(doc.reading.word(at), "from" | "de" | "desde")
                && let Some(dose) = self.regimen.answered_dose(doc.reading, at..later.words.end.min(at + 3))
            {
                regimen.dose = Some(dose);
                continue;
            }
            // The patient corrects an earlier statement; a clinician who asks "100?" does not.
            let asserts = later.speaker != Speaker::Clinician || !later.question;
            let with_unit = said.dose.as_ref().is_some_and(|dose| dose.text.contains(' '));
            let answers = later.turn != Some(turn) && later.words.len() <= LONGEST_ANSWER;
            if later.question {
                about_dose = self.asks_dose(doc, &later.words) || said.dose.is_some();
            }
            let strength = self.regimen.strength_named(doc.reading, later.words.clone());
            if with_unit && asserts {
                regimen.dose = said.dose;
            } else if let Some(strength) = strength.filter(|_| asserts && later.turn != Some(turn)) {
                regimen.dose = Some(strength);
            } else if asserts && answers && about_dose {
                let bare = self.regimen.answered_dose(doc.reading, later.words.clone());
                regimen.dose = bare.or(regimen.dose);
            }
            // "We could space the sessions to once a month" is no dosage.
            if self.visit.first(doc.reading, later.words.clone()).is_none() {
                regimen.frequency = regimen.frequency.or(said.frequency);
            }
            regimen.route = regimen.route.or(said.route);
        }
        regimen
    }

    /// "How much?", "what dose?", but not "how long?".
    fn asks_dose(&self, doc: &AnalyzedDocument<'_>, words: &Range<usize>) -> bool {
        words.clone().any(|word| self.ask_dose.at(doc.reading, word).is_some())
    }
}

//! Queries of the rules about the scopes around a mention, apart from its context as a whole.

use std::ops::Range;

use super::cues::CueCategory;
use super::{AssertionScopes, CueScope, continues_after_answer, denies};
use crate::tokenized::TokenizedText;
use anamnesis_text::Span;

impl AssertionScopes {
    /// The cues that reach a mention, with their categories and the places of their words.
    pub(crate) fn cues(&self, reading: &TokenizedText<'_>, target: &Range<usize>) -> Vec<(&'static str, Span)> {
        let scopes = self.sentences.get(reading.sentence_of(target.start)).into_iter().flatten();
        let reaching = scopes.filter(|scope| scope.covers(target));
        reaching.map(|scope| (scope.category.name(), reading.source(&scope.cue))).collect()
    }

    /// Whether a mention is only asked about, in words that are no question themselves ("they ask me if …"), or comes
    /// after an empty box of a form. The words after an answer are stated: "asked about self-harm: says no, but cuts
    /// …".
    pub(crate) fn only_asked(&self, reading: &TokenizedText<'_>, target: &Range<usize>) -> bool {
        let mut scopes = self.sentences.get(reading.sentence_of(target.start)).into_iter().flatten();
        scopes.any(|scope| {
            // "Asked about mood: says …": the answer is the patient's statement.
            let answered = continues_after_answer(reading, scope.cue.end..target.start);
            let unsaid = scope.category == CueCategory::Unsaid || scope.category == CueCategory::Asked && !answered;
            unsaid && scope.covers(target)
        })
    }

    /// Whether a denial reaches words that is no part of the mention they belong to: "there is no point in living" denies
    /// nothing. A cue may run into the mention, but not begin in it: "no thoughts of" in "no thoughts of self-harm".
    pub(crate) fn denied_from_outside(
        &self,
        reading: &TokenizedText<'_>,
        target: &Range<usize>,
        mention: &Range<usize>,
    ) -> bool {
        let mut scopes = self.sentences.get(reading.sentence_of(target.start)).into_iter().flatten();
        scopes.any(|scope| {
            let apart = scope.cue.end <= target.start || target.end <= scope.cue.start;
            let runs_in = (scope.cue.start..mention.start.min(scope.cue.end)).any(|word| denies(reading.word(word)));
            scope.category == CueCategory::Negated && (apart || runs_in) && scope.covers(target)
        })
    }

    /// Whether a mention is denied by a word that does nothing else ("no", "never", "niega"): "stopped" and "suspende" end
    /// a medicine that was taken.
    pub(crate) fn plainly_denied(&self, reading: &TokenizedText<'_>, target: &Range<usize>) -> bool {
        let mut scopes = self.sentences.get(reading.sentence_of(target.start)).into_iter().flatten();
        scopes.any(|scope| {
            let said = scope.cue.clone().any(|word| denies(reading.word(word)));
            scope.category == CueCategory::Negated && (said || scope.cue.is_empty()) && scope.covers(target)
        })
    }

    /// Whether a denial outside certain words reaches a mention: "does not tolerate" denies no intolerance.
    pub(crate) fn denied_but_by(
        &self,
        reading: &TokenizedText<'_>,
        target: &Range<usize>,
        words: &Range<usize>,
    ) -> bool {
        let mut scopes = self.sentences.get(reading.sentence_of(target.start)).into_iter().flatten();
        scopes.any(|scope| {
            let apart = scope.cue.end <= words.start || words.end <= scope.cue.start;
            // "Not allergic to" denies "allergic to".
            let denies = scope.cue.start < words.start && words.end <= scope.cue.end;
            scope.category == CueCategory::Negated && (apart || denies) && scope.covers(target)
        })
    }

    /// Whether a denial reaches a mention whose cue begins at most so many words after a place.
    pub(crate) fn denied_within(
        &self,
        reading: &TokenizedText<'_>,
        target: &Range<usize>,
        end: usize,
        after: usize,
    ) -> bool {
        let mut scopes = self.sentences.get(reading.sentence_of(target.start)).into_iter().flatten();
        scopes.any(|scope| {
            scope.category == CueCategory::Negated
                && scope.covers(target)
                && scope.cue.start <= end.saturating_add(after)
        })
    }

    /// The cues of the denials that reach a mention, by their words.
    pub(crate) fn denials(&self, reading: &TokenizedText<'_>, target: &Range<usize>) -> Vec<Range<usize>> {
        let scopes = self.sentences.get(reading.sentence_of(target.start)).into_iter().flatten();
        let denied = scopes.filter(|scope| scope.category == CueCategory::Negated && scope.covers(target));
        denied.map(|scope| scope.cue.clone()).collect()
    }

    /// Whether a denial right next to a mention, at most so many words away, reaches it.
    pub(crate) fn denied_near(&self, reading: &TokenizedText<'_>, target: &Range<usize>, reach: usize) -> bool {
        let mut scopes = self.sentences.get(reading.sentence_of(target.start)).into_iter().flatten();
        scopes.any(|scope| {
            // On either side: "denies fever" and "fever denied".
            let near = scope.cue.end.abs_diff(target.start).min(scope.cue.start.abs_diff(target.end)) <= reach;
            scope.category == CueCategory::Negated && near && scope.covers(target)
        })
    }

    /// Whether a relative who speaks says a mention of themselves.
    pub(crate) fn of_the_speaker(&self, reading: &TokenizedText<'_>, target: &Range<usize>) -> bool {
        let mut scopes = self.sentences.get(reading.sentence_of(target.start)).into_iter().flatten();
        scopes.any(|scope| scope.category == CueCategory::Speaker && scope.covers(target))
    }

    /// Whether a sentence comes back to the patient before a mention, or shares it with them, although it names a relative.
    pub(crate) fn is_own(&self, reading: &TokenizedText<'_>, target: &Range<usize>) -> bool {
        let mut scopes = self.sentences.get(reading.sentence_of(target.start)).into_iter().flatten();
        scopes.any(|scope| scope.category == CueCategory::Own && scope.covers(target))
    }

    /// Whether a mention is said to have ended: "cured", "outgrown", "in remission". A denial of another kind denies it.
    pub(crate) fn ended(&self, reading: &TokenizedText<'_>, target: &Range<usize>) -> bool {
        let Some(scopes) = self.sentences.get(reading.sentence_of(target.start)) else { return false };
        let of = |category| scopes.iter().filter(move |scope| scope.category == category && scope.covers(target));
        // "Cured" ends and denies by the same words; any other denial denies.
        let gone = |denial: &CueScope| of(CueCategory::Ended).any(|ended| ended.cue == denial.cue);
        of(CueCategory::Ended).next().is_some() && of(CueCategory::Negated).all(gone)
    }

    /// Whether a denial that ends before a mention reaches it: words that deny in themselves ("no pego ojo") do not
    /// deny their own finding.
    pub(crate) fn denied_before(&self, reading: &TokenizedText<'_>, target: &Range<usize>) -> bool {
        let mut scopes = self.sentences.get(reading.sentence_of(target.start)).into_iter().flatten();
        scopes.any(|scope| {
            scope.category == CueCategory::Negated
                && scope.cue.end <= target.start
                && scope.words.contains(&target.start)
        })
    }

    /// The words around a mention that speak of whom it speaks: up to where the sentence comes back to the patient, or from
    /// there on.
    pub(crate) fn of_same_person(&self, reading: &TokenizedText<'_>, target: &Range<usize>) -> Range<usize> {
        let index = reading.sentence_of(target.start);
        let mut words = reading.sentences[index].words.clone();
        let scopes = self.sentences.get(index).into_iter().flatten();
        for own in scopes.filter(|scope| scope.category == CueCategory::Own) {
            if own.words.contains(&target.start) {
                words.start = words.start.max(own.words.start);
            } else if own.words.start >= target.end {
                words.end = words.end.min(own.words.start);
            }
        }
        words
    }
}

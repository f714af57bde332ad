//! A medicine given up for its effect: "lithium, d/c'd for tremor", "se retira por hipotensión", "made me wired so I
//! binned it", "I had a seizure on it, so never again".

use std::ops::Range;

use super::{AllergenMention, AllergyFindings, AllergyFrame, AllergyRules, WORDS};
use crate::analysis::AnalyzedDocument;
use crate::lexicon::{ConceptMention, label};
use crate::matcher::PhraseMatcher;
use crate::medication::{is_exchange_verb, is_of_next};
use crate::phrase_trie::TrieBuilder;
use crate::{EntityType, Experiencer, Reaction, Temporality};
use anamnesis_text::Speaker;

/// Words between a medicine and the verb that ends it, and between that and its reason.
const TO_END: usize = 14;
const TO_REASON: usize = 7;
/// Words between the effect and "so I stopped it".
const TO_SO: usize = 12;
/// Words of a reason that no list knows.
const REASON: usize = 5;
/// Confidence of such a reason: a hypothesis.
const UNLISTED: f64 = 0.5;

pub(super) struct DiscontinuationWords {
    ended: PhraseMatcher,
    reason: PhraseMatcher,
    no_effect: PhraseMatcher,
    on_it: PhraseMatcher,
}

impl DiscontinuationWords {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        Self {
            ended: label(trie, WORDS, "ended"),
            reason: label(trie, WORDS, "reason"),
            no_effect: label(trie, WORDS, "no_effect"),
            on_it: label(trie, WORDS, "on_it"),
        }
    }
}

impl AllergyRules {
    /// A stopped medicine of the sentence, and its effect, before or after the verb.
    pub(super) fn ended_for(
        &self,
        doc: &AnalyzedDocument<'_>,
        index: usize,
        substances: &[AllergenMention],
        out: &mut AllergyFindings,
    ) {
        let sentence = &doc.reading.sentences[index];
        if substances.is_empty() || doc.question_answers.asks(index) || sentence.speaker == Speaker::Clinician {
            return;
        }
        let ends = self.stopped.ended.find(doc.reading, sentence.words.clone());
        if ends.is_empty() {
            return;
        }
        let reactions = self.reactions.find(doc.reading, sentence.words.clone());
        for (nth, substance) in substances.iter().enumerate() {
            if !substance.drug || substance.class || out.taken.contains(&substance.words.start) {
                continue;
            }
            let before = nth.checked_sub(1).map_or(sentence.words.start, |n| substances[n].words.end);
            let after = substances.get(nth + 1).map_or(sentence.words.end, |next| next.words.start);
            let next = substances.get(nth + 1).map(|next| next.words.start);
            for end in &ends {
                let exchange = is_exchange_verb(doc.reading.word(end.words.start));
                // "Takes bisoprolol and stopped ramipril because of cough": the one after the verb.
                if !exchange && next.is_some_and(|next| is_of_next(doc.reading, substance.words.end, &end.words, next))
                {
                    continue;
                }
                // "Ramipril changed to losartan because of cough": the one that was left.
                if exchange && nth > 0 && end.words.end <= substance.words.start && end.words.start >= before {
                    continue;
                }
                let follows = end.words.start >= substance.words.end
                    && end.words.start <= substance.words.end + TO_END
                    && end.words.end <= after;
                let leads = end.words.end <= substance.words.start
                    && end.words.start >= before
                    && substance.words.start - end.words.end <= 4;
                if !(follows || leads) {
                    continue;
                }
                let from = end.words.end.max(substance.words.end);
                let found = self.reason_after(doc, from, sentence.words.end.min(from + TO_REASON), sentence.words.end);
                let found = found.or_else(|| {
                    let mentioned = reactions.iter().find(|r| {
                        follows && r.words.start >= substance.words.end && r.words.end <= end.words.start + 1
                    })?;
                    self.leads_to_end(doc, mentioned, end.words.start)
                        .then(|| (mentioned.words.clone(), Some(mentioned.concept.group)))
                });
                // "Cambie A por B": the other medicine is no harm that the first one did.
                let is_other = |place: &Range<usize>| substances.iter().any(|s| place.contains(&s.words.start));
                let found = found.filter(|(place, group)| group.is_some() || !is_other(place));
                if let Some((place, group)) = found {
                    self.push_ended(doc, index, substance, (place, group), out);
                    break;
                }
            }
        }
    }

    /// "… because of tremor", "por lagunas y hormigueo": the words after the word that gives a reason.
    fn reason_after(
        &self,
        doc: &AnalyzedDocument<'_>,
        from: usize,
        to: usize,
        limit: usize,
    ) -> Option<(Range<usize>, Option<&'static str>)> {
        let reading = doc.reading;
        let stops = |word: usize| matches!(reading.word(word), "." | ";" | "?" | "but" | "pero");
        // "Stopped (rash)", "stopped – sedation", "stopped, weight gain."
        if matches!(reading.word(from), "(" | "-" | "–" | "—" | "," | ":") {
            let found = self.reactions.find(reading, from + 1..limit.min(from + 4)).into_iter().next();
            let closes = |r: &ConceptMention| r.words.end >= limit || reading.words[r.words.end].punctuation;
            let sure =
                |r: &ConceptMention| r.words.start <= from + 2 && closes(r) && !self.effects.treats(doc, r.words.start);
            if let Some(found) = found.filter(sure) {
                return Some((found.words, Some(found.concept.group)));
            }
        }
        let hits = (from..to).take_while(|word| !stops(*word)).filter_map(|word| self.stopped.reason.at(reading, word));
        hits.into_iter().find_map(|hit| self.harm_after(doc, &hit.words, limit))
    }

    /// The harm that a reason names.
    fn harm_after(
        &self,
        doc: &AnalyzedDocument<'_>,
        cue: &Range<usize>,
        limit: usize,
    ) -> Option<(Range<usize>, Option<&'static str>)> {
        let reading = doc.reading;
        let start = cue.end;
        let parts = |word: &usize| {
            matches!(reading.word(*word), "." | ";" | "," | "?" | "(" | ")" | "but" | "pero" | "and" | "y")
        };
        let end = (start..limit.min(start + REASON + 3)).find(parts).unwrap_or(limit.min(start + REASON + 3));
        let wide = start..limit.min(start + REASON + 3);
        if self.stopped.no_effect.first(reading, start..end).is_some() || start >= end {
            return None;
        }
        let mut known = self.reactions.find(reading, wide);
        known.retain(|r| !self.effects.denied(doc, &r.words));
        if let (Some(first), Some(last)) = (known.first(), known.last()) {
            let allergic = known.iter().find(|r| r.concept.group == "allergic").unwrap_or(first);
            return Some((first.words.start..last.words.end, Some(allergic.concept.group)));
        }
        // "For", "after" and "with" give many reasons: only a listed harm counts after them.
        let weak = cue.len() == 1
            && matches!(reading.word(cue.start), "for" | "after" | "following" | "from" | "with" | "tras" | "x");
        let plain = (start..end).all(|word| reading.word(word).chars().all(char::is_alphabetic));
        let said = end - start <= REASON && (end - start > 1 || reading.word(start).len() > 4);
        (plain && said && !weak).then_some((start..end, None))
    }

    /// "… saw spiders, so I stopped it": a reaction that a joining word ties to the end of the medicine.
    fn leads_to_end(&self, doc: &AnalyzedDocument<'_>, reaction: &ConceptMention, end: usize) -> bool {
        let reading = doc.reading;
        let between = reaction.words.end..end.max(reaction.words.end);
        let joined = between.is_empty()
            || between.clone().any(|word| {
                matches!(
                    reading.word(word),
                    "so" | "and" | "n" | "&" | "," | "y" | "e" | "asi" | "entonces" | "por" | "then"
                )
            });
        let parted = between.clone().any(|word| matches!(reading.word(word), "." | "?" | ";" | "but" | "pero"));
        joined
            && !parted
            && between.len() <= TO_SO
            && !self.effects.denied(doc, &reaction.words)
            && !self.effects.treats(doc, reaction.words.start)
    }

    /// Whether a sentence goes on about a substance that another named: the next one of the same turn and line, or the
    /// answer to it.
    pub(super) fn follows(&self, doc: &AnalyzedDocument<'_>, before: usize, index: usize) -> bool {
        let (named, here) = (&doc.reading.sentences[before], &doc.reading.sentences[index]);
        let gap = doc.text().get(named.span.end..here.span.start).unwrap_or("");
        match (named.turn, here.turn) {
            (Some(named), Some(turn)) => index <= before + 3 && turn <= named + 1,
            (None, None) => index == before + 1 && !gap.contains('\n'),
            _ => false,
        }
    }

    /// The sentence after one that names a medicine: "Wellbutrin, as a student. I had a seizure on it, so never again."
    pub(super) fn ended_later(
        &self,
        doc: &AnalyzedDocument<'_>,
        index: usize,
        named: &AllergenMention,
        out: &mut AllergyFindings,
    ) {
        let reading = doc.reading;
        let sentence = &reading.sentences[index];
        if sentence.question || sentence.speaker == Speaker::Clinician || out.taken.contains(&named.words.start) {
            return;
        }
        let words = sentence.words.clone();
        let on_it = self.stopped.on_it.first(reading, words.clone()).is_some();
        let ended = self.stopped.ended.find(reading, words.clone());
        let opens = (words.start..words.end.min(words.start + 3)).any(|word| {
            self.effects.leads.at(reading, word).is_some() && !matches!(reading.word(word), "i" | "we" | "had" | "con")
        });
        if !(on_it || !ended.is_empty() || opens) {
            return;
        }
        let reactions = self.reactions.find(reading, words);
        let mentioned = reactions.iter().find(|r| {
            let tied = on_it || opens || ended.iter().any(|end| self.leads_to_end(doc, r, end.words.start));
            tied && !self.effects.denied(doc, &r.words) && !self.effects.treats(doc, r.words.start)
        });
        if let Some(mentioned) = mentioned {
            self.push_ended(doc, index, named, (mentioned.words.clone(), Some(mentioned.concept.group)), out);
        }
    }

    fn push_ended(
        &self,
        doc: &AnalyzedDocument<'_>,
        index: usize,
        substance: &AllergenMention,
        (place, group): (Range<usize>, Option<&'static str>),
        out: &mut AllergyFindings,
    ) {
        let here = doc.reading.sentence_of(substance.words.start);
        let Some(mut assertion) =
            doc.assertion(here, &substance.words).or_else(|| Some(doc.answered(here, index, &substance.words)))
        else {
            return;
        };
        if here != index {
            assertion = doc.answered(here, index, &substance.words);
        }
        let mut context = assertion.context;
        if context.uncertain
            || context.temporality == Temporality::Hypothetical
            || context.experiencer == Experiencer::Other
        {
            return;
        }
        context.negated = false;
        context.temporality = Temporality::Recent;
        assertion.context = context;
        let allergic = matches!(group, Some("allergic" | "itch"));
        self.push(doc, substance, &assertion, AllergyFrame::Effect, out);
        let Some(placed) = out.placed.last_mut().filter(|placed| placed.words == substance.words) else { return };
        placed.entity.kind = if allergic { EntityType::Allergy } else { EntityType::Intolerance };
        placed.entity.status = None;
        if group.is_none() {
            placed.entity.confidence = placed.entity.confidence.min(UNLISTED);
        }
        let span = doc.reading.source(&place);
        let name = span.slice(doc.text()).split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        placed.mentioned = Some(Reaction { name, place: span });
    }
}

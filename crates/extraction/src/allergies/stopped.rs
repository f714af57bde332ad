//! A medicine given up for what it did: "lithium, d/c'd for tremor", "se retira por hipotensión", "made me wired so I binned
//! it", "I had a seizure on it, so never again".

use std::ops::Range;

use super::{Allergies, AllergyRules, Frame, Substance, WORDS};
use crate::lexicon::{Mention, label};
use crate::matcher::Matcher;
use crate::medication::{exchanges, is_of_next};
use crate::phrasebook::Builder;
use crate::scene::Scene;
use crate::{EntityType, Experiencer, Reaction, Temporality};
use anamnesis_text::Speaker;

/// Words between a medicine and the verb that ends it, and between that and its reason.
const TO_END: usize = 14;
const TO_REASON: usize = 7;
/// Words between what it did and "so I stopped it".
const TO_SO: usize = 12;
/// Words of a reason that no list knows.
const REASON: usize = 5;
/// How surely such a reason is read: a hypothesis.
const UNLISTED: f64 = 0.5;

pub(super) struct StoppedWords {
    ended: Matcher,
    reason: Matcher,
    no_effect: Matcher,
    on_it: Matcher,
}

impl StoppedWords {
    pub(crate) fn builtin(book: &mut Builder) -> Self {
        Self {
            ended: label(book, WORDS, "ended"),
            reason: label(book, WORDS, "reason"),
            no_effect: label(book, WORDS, "no_effect"),
            on_it: label(book, WORDS, "on_it"),
        }
    }
}

impl AllergyRules {
    /// A medicine of the sentence that was ended, and what it did, before or behind the verb.
    pub(super) fn ended_for(&self, scene: &Scene<'_>, index: usize, substances: &[Substance], out: &mut Allergies) {
        let sentence = &scene.reading.sentences[index];
        if substances.is_empty() || scene.exchanges.asks(index) || sentence.speaker == Speaker::Clinician {
            return;
        }
        let ends = self.stopped.ended.find(scene.reading, sentence.words.clone());
        if ends.is_empty() {
            return;
        }
        let reactions = self.reactions.find(scene.reading, sentence.words.clone());
        for (nth, substance) in substances.iter().enumerate() {
            if !substance.drug || substance.class || out.taken.contains(&substance.words.start) {
                continue;
            }
            let before = nth.checked_sub(1).map_or(sentence.words.start, |n| substances[n].words.end);
            let after = substances.get(nth + 1).map_or(sentence.words.end, |next| next.words.start);
            let next = substances.get(nth + 1).map(|next| next.words.start);
            for end in &ends {
                let exchange = exchanges(scene.reading.word(end.words.start));
                // "Takes bisoprolol and stopped ramipril because of cough": the one behind the verb.
                if !exchange
                    && next.is_some_and(|next| is_of_next(scene.reading, substance.words.end, &end.words, next))
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
                let found =
                    self.reason_behind(scene, from, sentence.words.end.min(from + TO_REASON), sentence.words.end);
                let found = found.or_else(|| {
                    let told = reactions.iter().find(|r| {
                        follows && r.words.start >= substance.words.end && r.words.end <= end.words.start + 1
                    })?;
                    self.leads_to_end(scene, told, end.words.start)
                        .then(|| (told.words.clone(), Some(told.concept.group)))
                });
                // "Cambie A por B": the other medicine is no harm that the first one did.
                let is_other = |place: &Range<usize>| substances.iter().any(|s| place.contains(&s.words.start));
                let found = found.filter(|(place, group)| group.is_some() || !is_other(place));
                if let Some((place, group)) = found {
                    self.push_ended(scene, index, substance, (place, group), out);
                    break;
                }
            }
        }
    }

    /// "… because of tremor", "por lagunas y hormigueo": what stands behind the word that gives a reason.
    fn reason_behind(
        &self,
        scene: &Scene<'_>,
        from: usize,
        to: usize,
        limit: usize,
    ) -> Option<(Range<usize>, Option<&'static str>)> {
        let reading = scene.reading;
        let stops = |word: usize| matches!(reading.word(word), "." | ";" | "?" | "but" | "pero");
        // "Stopped (rash)", "stopped – sedation", "stopped, weight gain."
        if matches!(reading.word(from), "(" | "-" | "–" | "—" | "," | ":") {
            let found = self.reactions.find(reading, from + 1..limit.min(from + 4)).into_iter().next();
            let closes = |r: &Mention| r.words.end >= limit || reading.words[r.words.end].punctuation;
            let sure =
                |r: &Mention| r.words.start <= from + 2 && closes(r) && !self.effects.treats(scene, r.words.start);
            if let Some(found) = found.filter(sure) {
                return Some((found.words, Some(found.concept.group)));
            }
        }
        let hits = (from..to).take_while(|word| !stops(*word)).filter_map(|word| self.stopped.reason.at(reading, word));
        hits.into_iter().find_map(|hit| self.harm_behind(scene, &hit.words, limit))
    }

    /// What a reason names, where it is a harm.
    fn harm_behind(
        &self,
        scene: &Scene<'_>,
        cue: &Range<usize>,
        limit: usize,
    ) -> Option<(Range<usize>, Option<&'static str>)> {
        let reading = scene.reading;
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
        known.retain(|r| !self.effects.denied(scene, &r.words));
        if let (Some(first), Some(last)) = (known.first(), known.last()) {
            let allergic = known.iter().find(|r| r.concept.group == "allergic").unwrap_or(first);
            return Some((first.words.start..last.words.end, Some(allergic.concept.group)));
        }
        // "For", "after" and "with" give many reasons: only a listed harm counts behind them.
        let weak = cue.len() == 1
            && matches!(reading.word(cue.start), "for" | "after" | "following" | "from" | "with" | "tras" | "x");
        let plain = (start..end).all(|word| reading.word(word).chars().all(char::is_alphabetic));
        let said = end - start <= REASON && (end - start > 1 || reading.word(start).len() > 4);
        (plain && said && !weak).then_some((start..end, None))
    }

    /// "… saw spiders, so I stopped it": a reaction that a joining word ties to the end of the medicine.
    fn leads_to_end(&self, scene: &Scene<'_>, reaction: &Mention, end: usize) -> bool {
        let reading = scene.reading;
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
            && !self.effects.denied(scene, &reaction.words)
            && !self.effects.treats(scene, reaction.words.start)
    }

    /// Whether a sentence goes on about what another named: the next one of the same turn and line, or the answer to it.
    pub(super) fn follows(&self, scene: &Scene<'_>, before: usize, index: usize) -> bool {
        let (named, here) = (&scene.reading.sentences[before], &scene.reading.sentences[index]);
        let gap = scene.text().get(named.span.end..here.span.start).unwrap_or("");
        match (named.turn, here.turn) {
            (Some(named), Some(turn)) => index <= before + 3 && turn <= named + 1,
            (None, None) => index == before + 1 && !gap.contains('\n'),
            _ => false,
        }
    }

    /// The sentence behind one that names a medicine: "Wellbutrin, as a student. I had a seizure on it, so never again."
    pub(super) fn ended_later(&self, scene: &Scene<'_>, index: usize, named: &Substance, out: &mut Allergies) {
        let reading = scene.reading;
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
        let told = reactions.iter().find(|r| {
            let tied = on_it || opens || ended.iter().any(|end| self.leads_to_end(scene, r, end.words.start));
            tied && !self.effects.denied(scene, &r.words) && !self.effects.treats(scene, r.words.start)
        });
        if let Some(told) = told {
            self.push_ended(scene, index, named, (told.words.clone(), Some(told.concept.group)), out);
        }
    }

    fn push_ended(
        &self,
        scene: &Scene<'_>,
        index: usize,
        substance: &Substance,
        (place, group): (Range<usize>, Option<&'static str>),
        out: &mut Allergies,
    ) {
        let here = scene.reading.sentence_of(substance.words.start);
        let Some(mut stance) =
            scene.stance(here, &substance.words).or_else(|| Some(scene.answered(here, index, &substance.words)))
        else {
            return;
        };
        if here != index {
            stance = scene.answered(here, index, &substance.words);
        }
        let mut context = stance.context;
        if context.uncertain
            || context.temporality == Temporality::Hypothetical
            || context.experiencer == Experiencer::Other
        {
            return;
        }
        context.negated = false;
        context.temporality = Temporality::Recent;
        stance.context = context;
        let allergic = matches!(group, Some("allergic" | "itch"));
        self.push(scene, substance, &stance, Frame::Effect, out);
        let Some(placed) = out.placed.last_mut().filter(|placed| placed.words == substance.words) else { return };
        placed.entity.kind = if allergic { EntityType::Allergy } else { EntityType::Intolerance };
        placed.entity.status = None;
        if group.is_none() {
            placed.entity.confidence = placed.entity.confidence.min(UNLISTED);
        }
        let span = scene.reading.source(&place);
        let name = span.of(scene.text()).split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        placed.told = Some(Reaction { name, place: span });
    }
}

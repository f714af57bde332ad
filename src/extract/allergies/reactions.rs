//! What a substance does to the patient, said without the word "allergy", and the lines of a form.

use super::{Allergies, AllergyRules, Substance};
use crate::extract::medication::SentenceDrugs;
use crate::extract::scene::{Scene, Stance};
use crate::text::Speaker;

/// Words besides "Allergies" in a form's title.
const FORM_TITLE: usize = 3;

impl AllergyRules {
    /// "What happens when you take sulfa?", "penicillin gave me hives", "el ibuprofeno me sienta mal".
    pub(super) fn reacted(&self, scene: &Scene<'_>, index: usize, substances: &[Substance], out: &mut Allergies) {
        let sentence = &scene.reading.sentences[index];
        if substances.is_empty() {
            return;
        }
        if let Some(asked) = self.first(&self.what_happens, scene, &sentence.words) {
            let named: Vec<Substance> = substances
                .iter()
                .filter(|s| s.words.start >= asked.end && s.words.start <= asked.end + 3)
                .cloned()
                .collect();
            return self.known(scene, index, &named, out);
        }
        let reactions = self.reactions.find(scene.reading, sentence.words.clone());
        let Some(cause) = self.first(&self.causes, scene, &sentence.words) else { return };
        let Some(reaction) = reactions.iter().find(|reaction| reaction.words.end > cause.start) else { return };
        let asks = scene.is_dialogue() && scene.exchanges.asks(index);
        if !asks && scene.reading.sentences[index].speaker != Speaker::Clinician {
            let status = Some(if reaction.concept.group == "allergic" { "allergy" } else { "intolerance" });
            let before: Vec<Substance> =
                substances.iter().filter(|s| s.words.start.abs_diff(cause.start) <= 8).cloned().collect();
            self.take(scene, index, &before, status, out);
        }
    }

    /// "El ibuprofeno, ¿qué tal?" — "Me salen ronchas con él": the reaction is to what was just named.
    pub(super) fn reacted_to_it(&self, scene: &Scene<'_>, index: usize, drugs: &[SentenceDrugs], out: &mut Allergies) {
        let sentence = &scene.reading.sentences[index];
        let (Some(turn), Speaker::Patient | Speaker::Family) = (sentence.turn, sentence.speaker) else { return };
        let words = &sentence.words;
        let refers = words.clone().any(|word| {
            matches!(
                scene.reading.word(word),
                "it" | "them" | "that" | "el" | "ella" | "eso" | "esa" | "ese" | "la" | "lo"
            )
        });
        let cause =
            self.first(&self.causes, scene, words).is_some() || self.first(&self.intolerant, scene, words).is_some();
        let slot = drugs.partition_point(|found| found.sentence < index);
        let Some(last) = slot.checked_sub(1).map(|before| &drugs[before]) else { return };
        let near = scene.reading.sentences[last.sentence].turn.is_some_and(|named| named + 1 == turn);
        let named_here = drugs.get(slot).is_some_and(|found| found.sentence == index);
        if !(refers && cause && near) || named_here || last.mentions.len() != 1 || scene.exchanges.asks(index) {
            return;
        }
        let Some(reaction) = self.reactions.find(scene.reading, words.clone()).into_iter().next() else { return };
        if scene.contexts.of(scene.reading, &reaction.words).negated {
            return;
        }
        let mention = &last.mentions[0];
        let substance = Substance::of(mention);
        let stance = scene.answered(last.sentence, index, &mention.words);
        let status = if reaction.concept.group == "allergic" { "allergy" } else { "intolerance" };
        self.push(scene, &substance, &stance, Some(status), out);
    }

    /// A clinician who asks what a substance does to the patient knows of the allergy.
    pub(super) fn known(&self, scene: &Scene<'_>, index: usize, named: &[Substance], out: &mut Allergies) {
        let sentence = &scene.reading.sentences[index];
        let context = crate::extract::Context::default();
        let epistemic = scene.epistemic(sentence.speaker);
        let stance = Stance {
            context,
            epistemic,
            evidence: sentence.span,
            turn: sentence.turn,
            answered: false,
            confidence: 0.7,
        };
        for substance in named {
            self.push(scene, substance, &stance, None, out);
        }
    }

    /// Lines under a title "Allergies" of a form, down to a blank line or the next title of another kind.
    pub(super) fn in_form(&self, scene: &Scene<'_>, index: usize, before: bool) -> bool {
        let sentence = &scene.reading.sentences[index];
        if sentence.turn.is_some() {
            return false;
        }
        let words = sentence.words.clone();
        let titled = words.clone().any(|word| scene.reading.word(word) == ":");
        let cue = self.first(&self.asks, scene, &words);
        if let Some(cue) = &cue {
            let alone = words.len() <= cue.len() + FORM_TITLE && cue.start < words.start + 2;
            let denied = scene.contexts.of(scene.reading, &(cue.start..cue.start + 1)).negated;
            return alone && !denied;
        }
        if !before {
            return false;
        }
        let previous = &scene.reading.sentences[index - 1];
        let gap = scene.text().get(previous.span.end..sentence.span.start).unwrap_or("");
        let field = matches!(
            scene.reading.word(words.start),
            "medication"
                | "medicine"
                | "drug"
                | "substance"
                | "allergen"
                | "reaction"
                | "severity"
                | "type"
                | "food"
                | "medicamento"
                | "farmaco"
                | "sustancia"
                | "alergeno"
                | "reaccion"
                | "gravedad"
                | "tipo"
                | "alimento"
                | "medicacion"
                | "name"
                | "nombre"
                | "-"
                | "*"
                | "•"
        );
        gap.matches('\n').count() <= 1 && (!titled || field)
    }
}

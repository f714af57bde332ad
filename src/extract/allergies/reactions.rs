//! What a substance does to the patient, said without the word "allergy", and the lines of a form.

use super::{Allergies, AllergyRules, Substance};
use crate::extract::medication::SentenceDrugs;
use crate::extract::scene::{Scene, Stance};
use crate::extract::structure::Section;
use crate::text::Speaker;

/// The status of what is not tolerated, which is no allergy.
const INTOLERANCE: &str = "intolerance";

/// A list of allergens under a title.
pub(super) struct Listed {
    /// The first word after the title.
    pub from: usize,
    pub status: Option<&'static str>,
}

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

    /// Whether a sentence lists allergens under a title ("Allergies:", "ALERGIAS" on a line alone), and from which word. A
    /// sentence that tells what somebody takes has left the list, wherever it stands.
    pub(super) fn listed(&self, scene: &Scene<'_>, index: usize) -> Option<Listed> {
        let place = scene.structure.place(index)?;
        let status = match place.section {
            Section::Allergies => None,
            Section::Intolerances => Some(INTOLERANCE),
            _ => return None,
        };
        let sentence = &scene.reading.sentences[index];
        let left = sentence.turn.is_some() || self.taking.first(scene.reading, sentence.words.clone()).is_some();
        (!left && place.from < sentence.words.end).then_some(Listed { from: place.from, status })
    }
}

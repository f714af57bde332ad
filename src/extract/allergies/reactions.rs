//! What a substance does to the patient, said without the word "allergy", and the lines of a form.

use std::ops::Range;

use super::{Allergies, AllergyRules, Substance};
use crate::extract::Reaction;
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

    /// Keeps with each substance what it does: "sulfa: hives", "codeine - nausea", "hives with sulfa". What follows a sign
    /// needs no list of reactions; elsewhere only listed reactions count.
    pub(super) fn add_reactions(&self, scene: &Scene<'_>, out: &mut Allergies) {
        let reading = scene.reading;
        let places: Vec<Range<usize>> = out.entities.iter().map(|entity| reading.words_at(entity.span)).collect();
        for (entity, words) in out.entities.iter_mut().zip(&places) {
            if entity.context.negated || words.is_empty() {
                continue;
            }
            let sentence = &reading.sentences[reading.sentence_of(words.start)];
            let within = sentence.words.clone();
            let next = places.iter().map(|other| other.start).filter(|start| *start >= words.end).min();
            let after = words.end..next.unwrap_or(within.end).min(within.end);
            let before = places.iter().map(|other| other.end).filter(|end| *end <= words.start).max();
            let before = before.unwrap_or(within.start).max(within.start)..words.start;
            // The answer to "what happens with it?" is evidence too.
            let answer = reading.words_at(entity.evidence);
            let answer = within.end.max(answer.start)..answer.end.max(within.end);
            let place = listed_after(scene, &after)
                .or_else(|| self.affirmed_reaction(scene, after.clone()))
                .or_else(|| self.affirmed_reaction(scene, before).filter(|found| leads_to(scene, found, words)))
                .or_else(|| next.is_none().then(|| self.affirmed_reaction(scene, answer)).flatten());
            let place = place.map(|place| reading.source(&place)).filter(|place| !place.is_empty());
            entity.reaction = place.map(|place| Reaction { name: place.of(scene.text()).to_lowercase(), place });
        }
    }

    fn affirmed_reaction(&self, scene: &Scene<'_>, words: Range<usize>) -> Option<Range<usize>> {
        let mut found = self.reactions.find(scene.reading, words).into_iter();
        found.find(|found| !scene.contexts.of(scene.reading, &found.words).negated).map(|found| found.words)
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

/// Words that a reaction after a sign may be long.
const LONGEST_REACTION: usize = 5;

/// "(swollen lips)", "- nausea and vomiting", ": hives": what follows the sign, up to the next one.
fn listed_after(scene: &Scene<'_>, after: &Range<usize>) -> Option<Range<usize>> {
    const NO_REACTION: &[&str] =
        &["none", "no", "denied", "unknown", "severe", "mild", "ninguna", "desconocida", "stopped", "mg", "see", "ver"];
    let reading = scene.reading;
    if !matches!(reading.word(after.start), "-" | "–" | "—" | ":" | "(" | "→" | "=" | ">") {
        return None;
    }
    let start = after.start + 1;
    let sign = |word: &usize| {
        reading.words.get(*word).is_none_or(|word| word.punctuation)
            || matches!(reading.word(*word), "when" | "in" | "cuando" | "en" | "hace" | "since" | "desde")
    };
    let end = (start..after.end).find(sign).unwrap_or(after.end);
    let numbered = (start..end).any(|word| reading.word(word).bytes().any(|byte| byte.is_ascii_digit()));
    let said = !(start..end).any(|word| NO_REACTION[..4].contains(&reading.word(word)))
        && !NO_REACTION.contains(&reading.word(start));
    (start < end && end - start <= LONGEST_REACTION && !numbered && said).then_some(start..end)
}

/// "Hives with sulfa", "urticaria por penicilina": only small words stand between.
fn leads_to(scene: &Scene<'_>, reaction: &Range<usize>, substance: &Range<usize>) -> bool {
    let small = |word: usize| {
        matches!(
            scene.reading.word(word),
            "with"
                | "from"
                | "to"
                | "after"
                | "on"
                | "the"
                | "con"
                | "por"
                | "a"
                | "al"
                | "tras"
                | "la"
                | "el"
                | "de"
                | "taking"
                | "tomar"
                | "secondary"
                | "due"
                | "secundaria"
                | "and"
                | "y"
        )
    };
    reaction.end < substance.start && (reaction.end..substance.start).all(small)
}

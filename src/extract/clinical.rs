//! Conditions and symptoms: named by the lexicon, meant as their context says.

use super::lexicon::{Lexicon, List, Mention, SPEECH, label};
use super::matcher::Matcher;
use super::phrasebook::Builder;
use super::reading::Reading;
use super::scene::Scene;
use super::{Entity, EntityType, Temporality};
use crate::text::Span;

pub struct ClinicalRules {
    lexicon: Lexicon,
    reactions: Lexicon,
    grades: [(&'static str, Matcher); 3],
}

impl ClinicalRules {
    pub fn builtin(book: &mut Builder) -> Self {
        let mut grade = |name| (name, label(book, SPEECH, name));
        let grades = [grade("severe"), grade("moderate"), grade("mild")];
        Self { lexicon: Lexicon::load(book, List::Clinical), reactions: Lexicon::load(book, List::Reactions), grades }
    }

    /// Where the finding ends that begins at a word.
    pub fn finding_at(&self, reading: &Reading<'_>, word: usize) -> Option<usize> {
        self.lexicon.at(reading, word).map(|mention| mention.words.end)
    }

    pub fn find(&self, scene: &Scene<'_>, out: &mut Vec<Entity>) {
        let allergens = said_allergens(out);
        let reactions: Vec<Span> = out.iter().filter_map(|e| e.reaction.as_ref()).map(|r| r.place).collect();
        for (index, sentence) in scene.sentences() {
            for mention in self.lexicon.find(scene.reading, sentence.words.clone()) {
                let place = scene.reading.source(&mention.words);
                let kept = reactions.iter().any(|reaction| reaction.overlaps(&place));
                if kept || self.is_reaction(scene, &mention, &allergens) {
                    continue;
                }
                if self.is_answered_by_name(scene, index, &mention) {
                    continue;
                }
                let Some(mut stance) = scene.stance_of_finding(index, &mention.words) else { continue };
                if super::context::denies(scene.reading.word(mention.words.start)) {
                    stance.context.negated = scene.contexts.denied_before(scene.reading, &mention.words);
                }
                let ended = scene.contexts.ended(scene.reading, &mention.words) && !is_onset(scene, &sentence.words);
                let illness = mention.concept.group == "condition";
                if ended && illness && stance.context.negated {
                    // "The eczema has cleared up": it was there.
                    stance.context.negated = false;
                    stance.context.temporality = Temporality::Historical;
                }
                let kind =
                    if mention.concept.group == "condition" { EntityType::Condition } else { EntityType::Symptom };
                let Some(mut entity) = scene.entity(kind, &mention.words, mention.concept.name.into(), &stance) else {
                    continue;
                };
                entity.code = mention.concept.code;
                entity.status = (ended && illness && !stance.context.negated).then(|| "resolved".to_owned());
                entity.severity = self.severity(scene, &mention.words, &sentence.words);
                out.push(entity);
            }
        }
    }

    /// "Any tremor, fits?" — "Tremor yes. Fits never.": an answer that names what it speaks of says nothing of the rest, and
    /// says itself what was asked.
    fn is_answered_by_name(&self, scene: &Scene<'_>, index: usize, asked: &Mention) -> bool {
        let reading = scene.reading;
        if !scene.is_dialogue() || !scene.exchanges.asks(index) {
            return false;
        }
        let Some(answer) = scene.exchanges.answer(index) else { return false };
        let turn = reading.sentences[answer.sentence].turn;
        let given = reading.sentences[answer.sentence..].iter().take_while(|sentence| sentence.turn == turn);
        let named: Vec<Mention> =
            given.flat_map(|sentence| self.lexicon.find(reading, sentence.words.clone())).collect();
        let same = named.iter().any(|mention| mention.concept.name == asked.concept.name);
        same || (answer.names && !named.is_empty())
    }

    /// "Penicillin (hives)": what an allergen once did is no illness of its own; the allergy's evidence tells it.
    fn is_reaction(&self, scene: &Scene<'_>, mention: &Mention, allergens: &[Span]) -> bool {
        let reading = scene.reading;
        let sentence = &reading.sentences[reading.sentence_of(mention.words.start)];
        let start = reading.source(&mention.words).start;
        let first = allergens.partition_point(|allergen| allergen.start < sentence.span.start);
        let mut before = allergens[first..]
            .iter()
            .take_while(|allergen| allergen.start < start)
            .filter(|a| a.end <= start)
            .peekable();
        if before.peek().is_none() {
            return false;
        }
        if !self.reactions.find(reading, mention.words.clone()).is_empty() {
            return true;
        }
        // Only the nearest can stand in front of the bracket that is still open.
        before.last().is_some_and(|allergen| {
            let from = reading.words_at(*allergen).end;
            reading.word(from) == "(" && (from..mention.words.start).all(|word| reading.word(word) != ")")
        })
    }

    /// A grade stands right before or after its noun.
    fn severity(
        &self,
        scene: &Scene<'_>,
        mention: &std::ops::Range<usize>,
        within: &std::ops::Range<usize>,
    ) -> Option<String> {
        let before = mention.start.saturating_sub(2).max(within.start)..mention.start;
        let after = mention.end..(mention.end + 2).min(within.end);
        before.chain(after).find_map(|word| {
            self.grades
                .iter()
                .find(|(_, grade)| grade.at(scene.reading, word).is_some())
                .map(|(name, _)| (*name).to_owned())
        })
    }
}

/// "Diagnosed with asthma as a child" tells when it began.
fn is_onset(scene: &Scene<'_>, words: &std::ops::Range<usize>) -> bool {
    words.clone().any(|word| {
        let text = scene.reading.word(word);
        text.starts_with("diagn") || matches!(text, "since" | "desde" | "dx" | "onset" | "debut")
    })
}

/// The places of the allergens that are said to be some, in their order.
fn said_allergens(found: &[Entity]) -> Vec<Span> {
    let said = found.iter().filter(|entity| entity.kind == EntityType::Allergy && !entity.context.negated);
    let mut places: Vec<Span> = said.map(|entity| entity.span).collect();
    places.sort_unstable();
    places
}

//! Conditions and symptoms: named by the lexicon, meant as their context says.

use super::lexicon::{Lexicon, List, Mention, SPEECH, label};
use super::matcher::Matcher;
use super::phrasebook::Builder;
use super::scene::Scene;
use super::{Entity, EntityType};
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
                let Some(stance) = scene.stance(index, &mention.words) else { continue };
                let kind =
                    if mention.concept.group == "condition" { EntityType::Condition } else { EntityType::Symptom };
                let Some(mut entity) = scene.entity(kind, &mention.words, mention.concept.name.into(), &stance) else {
                    continue;
                };
                entity.code = mention.concept.code;
                entity.severity = self.severity(scene, &mention.words, &sentence.words);
                out.push(entity);
            }
        }
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

/// The places of the allergens that are said to be some, in their order.
fn said_allergens(found: &[Entity]) -> Vec<Span> {
    let said = found.iter().filter(|entity| entity.kind == EntityType::Allergy && !entity.context.negated);
    let mut places: Vec<Span> = said.map(|entity| entity.span).collect();
    places.sort_unstable();
    places
}

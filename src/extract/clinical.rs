//! Conditions and symptoms: named by the lexicon, meant as their context says.

use super::lexicon::{Lexicon, List, SPEECH, label};
use super::matcher::Matcher;
use super::phrasebook::Builder;
use super::scene::Scene;
use super::{Entity, EntityType};
use crate::text::Span;

pub struct ClinicalRules {
    lexicon: Lexicon,
    grades: [(&'static str, Matcher); 3],
}

impl ClinicalRules {
    pub fn builtin(book: &mut Builder) -> Self {
        let mut grade = |name| (name, label(book, SPEECH, name));
        let grades = [grade("severe"), grade("moderate"), grade("mild")];
        Self { lexicon: Lexicon::load(book, List::Clinical), grades }
    }

    /// Findings outside `reactions`, the places where what a substance does is told: "penicillin (hives)" is no illness
    /// of its own, and "lactose intolerance" is kept once.
    pub fn find(&self, scene: &Scene<'_>, reactions: &[Span], out: &mut Vec<Entity>) {
        let substance = |e: &&Entity| matches!(e.kind, EntityType::Allergy | EntityType::Intolerance);
        let mut taken: Vec<Span> = out.iter().filter(substance).map(|e| e.span).collect();
        taken.extend(out.iter().filter_map(|e| e.reaction.as_ref()).map(|r| r.place));
        taken.extend_from_slice(reactions);
        for (index, sentence) in scene.sentences() {
            for mention in self.lexicon.find(scene.reading, sentence.words.clone()) {
                let place = scene.reading.source(&mention.words);
                if taken.iter().any(|other| other.overlaps(&place)) {
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

//! Conditions and symptoms: named by the lexicon, meant as their context says.

use super::lexicon::{CLINICAL, Lexicon, SPEECH, label};
use super::matcher::Matcher;
use super::phrasebook::Builder;
use super::scene::Scene;
use super::{Entity, EntityType};

pub struct ClinicalRules {
    lexicon: Lexicon,
    grades: [(&'static str, Matcher); 3],
}

impl ClinicalRules {
    pub fn builtin(book: &mut Builder) -> Self {
        let mut grade = |name| (name, label(book, SPEECH, name));
        let grades = [grade("severe"), grade("moderate"), grade("mild")];
        Self { lexicon: Lexicon::load(book, CLINICAL), grades }
    }

    pub fn find(&self, scene: &Scene<'_>, out: &mut Vec<Entity>) {
        for (index, sentence) in scene.sentences() {
            for mention in self.lexicon.find(scene.reading, sentence.words.clone()) {
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

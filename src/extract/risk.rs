//! Words of risk: ideation, plans and means, attempts, self-harm, harm to others, abuse. A denial is kept as a denial;
//! what somebody else did or said of themselves is not the patient's risk.

use std::ops::Range;

use super::dialogue::Polarity;
use super::matcher::Matcher;
use super::scene::Scene;
use super::{Experiencer, Risk, RiskClass};
use crate::text::Speaker;

pub(super) const FILE: &str = include_str!("lexicon/risk.tsv");

/// A row of the list: `None` for what only looks like risk.
#[derive(Clone, Copy)]
struct Row {
    class: Option<RiskClass>,
    /// The words say "me" or "I": they are the speaker's own.
    own: bool,
}

pub struct RiskRules {
    rows: Vec<Row>,
    matcher: Matcher,
}

impl RiskRules {
    pub fn builtin() -> Self {
        let mut rows = Vec::new();
        let mut phrases = Vec::new();
        for line in FILE.lines().filter(|line| !line.starts_with('#')) {
            let mut fields = line.splitn(3, '\t');
            let (Some(class), Some(person), Some(words)) = (fields.next(), fields.next(), fields.next()) else {
                continue;
            };
            let index = u32::try_from(rows.len()).unwrap_or(u32::MAX);
            phrases.extend(words.split('|').map(|phrase| (phrase.trim(), index)));
            rows.push(Row { class: RiskClass::from_code(class), own: person == "1" });
        }
        Self { matcher: Matcher::new(phrases), rows }
    }

    pub fn find(&self, scene: &Scene<'_>) -> Vec<Risk> {
        let mut out: Vec<Risk> = Vec::new();
        for (index, sentence) in scene.sentences() {
            for hit in self.matcher.find(scene.reading, sentence.words.clone()) {
                let row = self.rows[hit.meaning as usize];
                let Some(class) = row.class else { continue };
                out.extend(self.risk(scene, index, &hit.words, class, row.own));
            }
        }
        // The gravest first: what a reader must see, whatever came first in the text.
        out.sort_by_key(|risk| (risk.denied, risk.experiencer != Experiencer::Patient, gravity(risk.class), risk.span));
        out
    }

    fn risk(&self, scene: &Scene<'_>, index: usize, words: &Range<usize>, class: RiskClass, own: bool) -> Option<Risk> {
        let sentence = &scene.reading.sentences[index];
        let context = scene.contexts.of(scene.reading, words);
        let asked = scene.is_dialogue() && scene.exchanges.asks(index) && sentence.speaker != Speaker::Patient;
        let denied = match (asked, scene.exchanges.answer(index).map(|answer| answer.polarity)) {
            (true, Some(Polarity::No)) => true,
            (true, Some(Polarity::Yes)) => context.negated && own,
            // Asked and neither affirmed nor denied: the question alone is nothing.
            (true, _) => return None,
            (false, _) => context.negated,
        };
        let about_others = matches!(class, RiskClass::HarmToOthers | RiskClass::Abuse);
        let experiencer = if own || about_others { Experiencer::Patient } else { context.experiencer };
        let span = scene.reading.source(words);
        scene.text().get(span.start..span.end).map(|_| Risk { class, span, denied, experiencer })
    }
}

fn gravity(class: RiskClass) -> u8 {
    match class {
        RiskClass::PlanOrMeans => 0,
        RiskClass::AttemptHistory => 1,
        RiskClass::HarmToOthers => 2,
        RiskClass::ActiveIdeation => 3,
        RiskClass::SelfHarm => 4,
        RiskClass::Abuse => 5,
        RiskClass::PassiveIdeation => 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::{ExtractionInput, Extractor};
    use crate::text::{Document, Language};

    fn class(text: &str) -> Option<RiskClass> {
        static EXTRACTOR: std::sync::LazyLock<Extractor> = std::sync::LazyLock::new(Extractor::builtin);
        let document = Document::plain(text, Language::Unknown);
        let found = EXTRACTOR.extract(&ExtractionInput::of(&document)).risk;
        found.into_iter().find(|risk| !risk.denied && risk.experiencer == Experiencer::Patient).map(|risk| risk.class)
    }

    #[test]
    fn every_class_is_heard_in_both_languages() {
        use RiskClass::*;
        for (text, expected) in [
            ("A veces pienso que ojalá no despertara.", PassiveIdeation),
            ("I just don't want to be here anymore.", PassiveIdeation),
            ("Me quiero matar.", ActiveIdeation),
            ("I keep thinking about killing myself.", ActiveIdeation),
            ("Presenta ideación autolítica estructurada.", ActiveIdeation),
            ("He guardado pastillas para tomármelas todas.", PlanOrMeans),
            ("I have a plan to end my life.", PlanOrMeans),
            ("Escribí una carta de despedida.", PlanOrMeans),
            ("Hace dos años intenté suicidarme.", AttemptHistory),
            ("I tried to kill myself in college.", AttemptHistory),
            ("Anoche me corté en los brazos.", SelfHarm),
            ("I've been cutting myself again.", SelfHarm),
            ("Tengo ganas de matar a mi jefe.", HarmToOthers),
            ("I want to hurt my brother.", HarmToOthers),
            ("Mi marido me pega.", Abuse),
            ("My boyfriend hits me when he drinks.", Abuse),
        ] {
            assert_eq!(class(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn denials_idioms_and_other_people_are_not_risk() {
        for text in [
            "Niega ideación suicida.",
            "No he pensado en hacerme daño.",
            "Nunca intentaría matarme.",
            "Denies suicidal ideation.",
            "I would never hurt myself.",
            "No suicidal thoughts or plans.",
            "Me muero de risa.",
            "Estoy matando el tiempo.",
            "This job is killing me.",
            "I'm dying to see the movie.",
            "Mi tío se suicidó: hubo un intento de suicidio de mi tío.",
            "Her brother had a suicide attempt.",
            "Me corté el pelo ayer.",
            "Sin ideas de muerte ni ideación autolítica.",
        ] {
            assert_eq!(class(text), None, "{text}");
        }
    }
}

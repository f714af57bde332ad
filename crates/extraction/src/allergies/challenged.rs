//! "Provocación oral con naproxeno 500 mg: negativa", "supervised challenge with egg passed": what a patient was challenged with and
//! bore is no allergen, whatever the chart says. A test of the skin or of blood alone takes nothing back.

use super::{Allergies, AllergyRules, Frame, Placed, Substance};
use crate::EntityType;
use crate::medication::challenges;
use crate::scene::Scene;

/// Words by which a challenge went well.
const BORNE: &[&str] = &[
    "negativa",
    "negativas",
    "negativo",
    "negativos",
    "negative",
    "tolerada",
    "toleradas",
    "tolerado",
    "tolerados",
    "tolera",
    "tolero",
    "tolerated",
    "passed",
    "uneventful",
    "superada",
    "superadas",
    "pasada",
];
/// Words by which it did not.
const HARMED: &[&str] = &[
    "positiva",
    "positivas",
    "positivo",
    "positivos",
    "positive",
    "failed",
    "anafilaxia",
    "anaphylaxis",
    "urticaria",
    "stopped",
    "suspendida",
    "interrumpida",
    "broncoespasmo",
    "planned",
    "pendiente",
    "pending",
    "booked",
    "programada",
    "awaiting",
];

impl AllergyRules {
    /// Denies the allergens with which a sentence says that a challenge went well.
    pub(super) fn borne_in_challenge(
        &self,
        scene: &Scene<'_>,
        index: usize,
        substances: &[Substance],
        out: &mut Allergies,
    ) {
        let reading = scene.reading;
        let sentence = &reading.sentences[index];
        let Some(challenge) = challenges(reading, &sentence.words) else { return };
        let said = |list: &[&str]| sentence.words.clone().any(|word| list.contains(&reading.word(word)));
        let without = |word: usize| {
            matches!(reading.word(word), "no" | "sin" | "without")
                && matches!(reading.word(word + 1), "reaction" | "reaccion" | "any" | "reacciones" | "incident")
        };
        let borne = said(BORNE) || sentence.words.clone().any(without);
        if !borne || said(HARMED) || sentence.question {
            return;
        }
        let named =
            substances.iter().filter(|one| !one.class && one.words.start.abs_diff(challenge) <= sentence.words.len());
        for substance in named {
            let Some(mut stance) = scene.stance(index, &substance.words) else { continue };
            stance.context.negated = true;
            stance.context.uncertain = false;
            let known = out.placed.iter().any(|placed| placed.words == substance.words);
            if known || stance.context.experiencer != crate::Experiencer::Patient {
                continue;
            }
            if let Some(entity) = scene.entity(EntityType::Allergy, &substance.words, substance.name.clone(), &stance) {
                out.placed.push(Placed { entity, words: substance.words.clone(), frame: Frame::Allergy, told: None });
                out.touched.push(substance.words.start);
            }
        }
    }
}

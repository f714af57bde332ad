//! What a medicine is not taken for, and what a denied complaint would come from, is there: "avoid ibuprofen because of her
//! ulcer", "no toma aspirina por su gastritis", "niega dolor por la fractura". A denial ends where a reason is given for it.

use std::ops::Range;

use super::scene::Scene;
use super::{Entity, EntityType};

/// Words between what is denied and what it would be for or from.
const FARTHEST: usize = 7;
/// Words that give a reason or a purpose.
const LINKS: &[&str] = &[
    "por", "para", "given", "dado", "dada", "dados", "dadas", "for", "because", "due", "debido", "view", "vista",
    "tras",
];
/// Words of a stretch of time, which is no reason: "no chest pain for weeks".
const STRETCH: &[&str] = &[
    "minutes", "hours", "days", "weeks", "months", "years", "day", "week", "month", "year", "while", "ages", "now",
    "horas", "dias", "semanas", "meses", "anos", "dia", "semana", "mes", "ano", "noche", "noches", "manana", "tarde",
    "momento", "ahora",
];
/// Words behind which something may be named in general: "avoid metformin in renal failure".
const IN_GENERAL: &[&str] = &["in", "en"];
/// Words with which a list or a denial goes on.
const GOES_ON: &[&str] = &[
    "no", "not", "sin", "without", "ni", "nor", "or", "o", "and", "y", "niega", "denies", "tampoco", "n't", ";", ".",
    "?",
];

/// Takes a denial from what stands behind a reason.
pub(crate) fn settle(scene: &Scene<'_>, entities: &mut [Entity]) {
    let complaint = |kind| matches!(kind, EntityType::Condition | EntityType::Symptom);
    let denied: Vec<(Range<usize>, bool)> = entities
        .iter()
        .filter(|entity| entity.context.negated && (complaint(entity.kind) || entity.kind == EntityType::Medication))
        .map(|entity| (scene.reading.words_at(entity.span), entity.kind == EntityType::Medication))
        .collect();
    for entity in entities.iter_mut().filter(|entity| entity.context.negated && complaint(entity.kind)) {
        let here = scene.reading.words_at(entity.span);
        match denied.iter().find_map(|(before, medicine)| reason(scene, before, &here, *medicine)) {
            Some(Reason::Given) => entity.context.negated = false,
            Some(Reason::InGeneral) => {
                entity.context.negated = false;
                entity.context.uncertain = true;
            }
            None => {}
        }
    }
}

enum Reason {
    Given,
    InGeneral,
}

/// How what is denied leads to what stands at `here`: by a word that gives a reason, and nothing that goes on denying.
fn reason(scene: &Scene<'_>, denied: &Range<usize>, here: &Range<usize>, medicine: bool) -> Option<Reason> {
    let between = denied.end..here.start;
    if denied.end > here.start || between.is_empty() || between.len() > FARTHEST {
        return None;
    }
    let has = |list: &[&str]| between.clone().any(|word| list.contains(&scene.reading.word(word)));
    // "No tos por la noche ni fiebre": what follows the reason is denied again.
    if has(GOES_ON) || has(STRETCH) || scene.reading.sentence_of(denied.start) != scene.reading.sentence_of(here.start)
    {
        return None;
    }
    // "No pain for years, no fever": a stretch of time is no reason.
    let last = scene.reading.word(here.start.checked_sub(1)?);
    match () {
        () if last == "," => None,
        () if has(LINKS) => Some(Reason::Given),
        () if medicine && IN_GENERAL.contains(&last) => Some(Reason::InGeneral),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::{ExtractionInput, Extractor};
    use anamnesis_text::{Document, Language};

    static EXTRACTOR: std::sync::LazyLock<Extractor> = std::sync::LazyLock::new(Extractor::builtin);

    /// Whether a condition or symptom is denied, and whether it is certain.
    fn said(text: &str, name: &str) -> (bool, bool) {
        let found = EXTRACTOR.extract(&ExtractionInput::of(&Document::plain(text, Language::Unknown))).entities;
        let one = found.iter().find(|entity| entity.value == name).unwrap_or_else(|| panic!("{text}: {found:?}"));
        (one.context.negated, !one.context.uncertain)
    }

    #[test]
    fn what_a_medicine_is_not_taken_for_is_there() {
        for (text, name) in [
            ("Evitar naproxeno por úlcera gástrica.", "peptic ulcer"),
            ("No toma clopidogrel por su gastritis.", "gastritis"),
            ("No metformin given renal failure.", "chronic kidney disease"),
            ("Sin anticonceptivos por migraña con aura.", "migraine with aura"),
            ("Niega cefalea por la sinusitis.", "sinusitis"),
        ] {
            assert_eq!(said(text, name), (false, true), "{text}");
        }
        assert_eq!(said("Evitar metformina en insuficiencia renal.", "chronic kidney disease"), (false, false));
    }

    #[test]
    fn a_list_behind_one_denial_is_denied_whatever_lies_between() {
        for (text, name) in [
            ("No chest pain for three weeks or dyspnoea.", "shortness of breath"),
            ("Niega fiebre por la noche ni tos.", "cough"),
            ("No fever, cough, headache.", "headache"),
            ("No aspirin, no asthma.", "asthma"),
        ] {
            assert!(said(text, name).0, "{text}");
        }
    }
}

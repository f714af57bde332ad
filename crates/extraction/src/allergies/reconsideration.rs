//! Allergies once the whole document is read.

use super::*;

/// Decisions after the whole document is read. A side effect of a medicine that the patient still takes is no
/// intolerance. An allergen of the patient's is no medicine because it is named: of nineteen such bare names in whole
/// documents none was a current medicine.
pub(crate) fn reconsider(entities: &mut Vec<Entity>) {
    let own = |entity: &Entity| entity.context.experiencer == Experiencer::Patient && !entity.context.negated;
    let allergen =
        |entity: &&Entity| matches!(entity.kind, EntityType::Allergy | EntityType::Intolerance) && own(entity);
    let allergens: Vec<String> = entities.iter().filter(allergen).map(|entity| entity.value.clone()).collect();
    for entity in entities.iter_mut().filter(|entity| own(entity) && is_bare(entity)) {
        if allergens.contains(&entity.value) {
            entity.confidence = entity.confidence.min(SELDOM);
        }
    }
    let taken: Vec<String> =
        entities.iter().filter(|entity| is_current(entity)).map(|entity| entity.value.clone()).collect();
    let stopped = |value: &str, entities: &[Entity]| {
        entities
            .iter()
            .any(|e| e.kind == EntityType::Medication && e.value == value && e.status.as_deref() == Some("stopped"))
    };
    let borne: Vec<bool> = entities
        .iter()
        .map(|entity| {
            let mentioned =
                entity.status.as_deref() == Some(adverse_effects::EFFECT) && entity.kind == EntityType::Intolerance;
            mentioned && taken.contains(&entity.value) && !stopped(&entity.value, entities)
        })
        .collect();
    let mut borne = borne.into_iter();
    entities.retain(|_| !borne.next().unwrap_or(false));
    for entity in entities.iter_mut().filter(|entity| entity.status.as_deref() == Some(adverse_effects::EFFECT)) {
        entity.status = None;
    }
}

//! The final statement of a document about each medicine and each allergen: one finding each, however often it is named.
//!
//! A letter names a medicine in its list, in its course and in its plan. What was stopped, held, changed or never taken
//! says more than that it is in a list; of two such statements the later one holds, and its dose with it.

use super::{Entity, EntityType, Experiencer, Temporality};

/// The findings with the mentions of one medicine, and those of one allergen, put together. All others as they are.
pub fn resolve_mentions(entities: &[Entity]) -> Vec<Entity> {
    let mut out: Vec<Entity> = Vec::with_capacity(entities.len());
    let mut done: Vec<(bool, &str)> = Vec::new();
    for entity in entities {
        let Some(family) = family_of(entity) else {
            out.push(entity.clone());
            continue;
        };
        let key = (family == SubstanceFamily::Allergen, entity.value.as_str());
        if done.contains(&key) {
            continue;
        }
        done.push(key);
        let same = |other: &&Entity| family_of(other) == Some(family) && other.value == entity.value;
        let mentions: Vec<&Entity> = entities.iter().filter(same).collect();
        match family {
            SubstanceFamily::Medicine => out.extend(medicine(&mentions)),
            SubstanceFamily::Allergen => out.extend(allergen(&mentions)),
        }
    }
    out.sort_by_key(|entity| (entity.span, entity.kind));
    out
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SubstanceFamily {
    Medicine,
    Allergen,
}

/// Only statements about the patient: two relatives may take the same medicine.
fn family_of(entity: &Entity) -> Option<SubstanceFamily> {
    match (entity.context.experiencer, entity.kind) {
        (Experiencer::Patient, EntityType::Medication) => Some(SubstanceFamily::Medicine),
        (Experiencer::Patient, EntityType::Allergy | EntityType::Intolerance) => Some(SubstanceFamily::Allergen),
        _ => None,
    }
}

fn medicine(mentions: &[&Entity]) -> Vec<Entity> {
    let status = |entity: &Entity| entity.status.clone().unwrap_or_default();
    let said: Vec<&Entity> =
        mentions.iter().copied().filter(|e| e.context.temporality != Temporality::Hypothetical).collect();
    let plan = mentions.iter().copied().rfind(|e| status(e) == "suggested");
    let declined = said.iter().copied().rfind(|e| status(e) == "declined");
    let dosed = said.iter().any(|e| e.dose.is_some() && !e.context.negated && status(e) != "stopped");
    // A bare denial somewhere ("there was no insulin") says less than a dose that is given.
    let weak = |e: &Entity| status(e) == "not_taken" && e.dose.is_none() && dosed;
    let stated = said
        .iter()
        .copied()
        .rfind(|e| !matches!(status(e).as_str(), "" | "active" | "not_adherent" | "declined") && !weak(e));
    let decisive = stated
        .or_else(|| said.iter().copied().rfind(|e| status(e) == "not_adherent"))
        .or_else(|| said.iter().copied().rfind(|e| status(e) == "active"))
        .or(declined)
        .or_else(|| said.iter().copied().rfind(|e| status(e) != "declined" && !e.context.uncertain))
        .or_else(|| said.iter().copied().rfind(|e| status(e) != "declined"));
    let Some(decisive) = decisive else {
        return declined.or(plan).map(|one| filled(one, mentions)).into_iter().collect();
    };
    let over = matches!(status(decisive).as_str(), "stopped" | "not_taken");
    let mut out = vec![filled(decisive, &said)];
    // A current medicine needs no proposal; a stopped one may be proposed again.
    if over && declined.is_none() {
        out.extend(plan.filter(|plan| plan.span.start > decisive.span.start).map(|plan| (*plan).clone()));
    }
    out
}

/// A mention completed by the others: the last strength, the route, the times and the days.
fn filled(decisive: &Entity, mentions: &[&Entity]) -> Entity {
    let mut entity = decisive.clone();
    let others = || mentions.iter().rev().filter(|other| other.span != decisive.span);
    if entity.dose.is_none() {
        let strength = |e: &&&Entity| e.dose.as_ref().is_some_and(|dose| dose.contains(' '));
        if let Some(other) = others().find(strength).or_else(|| others().find(|e| e.dose.is_some())) {
            entity.dose.clone_from(&other.dose);
            entity.places.dose = other.places.dose;
        }
    }
    if entity.route.is_none() {
        entity.route = others().find_map(|other| other.route.clone());
    }
    if entity.frequency.is_none() {
        entity.frequency = others().find_map(|other| other.frequency.clone());
    }
    entity.at = entity.at.or_else(|| others().find_map(|other| other.at));
    entity.ends = entity.ends.or_else(|| others().find_map(|other| other.ends));
    entity
}

fn allergen(mentions: &[&Entity]) -> Vec<Entity> {
    let asserted = |e: &&&Entity| !e.context.negated && e.context.temporality != Temporality::Hypothetical;
    let certain = |e: &&&Entity| asserted(e) && !e.context.uncertain;
    let with_reaction = mentions.iter().find(|e| asserted(e) && e.reaction.is_some());
    let denied = mentions.iter().rfind(|e| e.context.negated);
    let first = mentions.iter().find(certain).or_else(|| mentions.iter().find(asserted));
    // "Penicillin allergy … not allergic, removed": the last statement, unless a reaction supports the allergy.
    let decisive = match (with_reaction, denied, first) {
        (Some(stated), Some(denied), _) if denied.span.start > stated.span.start => denied,
        (Some(stated), ..) => stated,
        (None, Some(denied), Some(first)) if denied.span.start < first.span.start => first,
        (None, Some(denied), _) => denied,
        (None, None, Some(first)) => first,
        (None, None, None) => return mentions.first().map(|e| (*e).clone()).into_iter().collect(),
    };
    let mut entity = (*decisive).clone();
    entity.at = entity.at.or_else(|| mentions.iter().find_map(|e| e.at));
    entity.confidence = mentions.iter().fold(entity.confidence, |sure, e| sure.max(e.confidence));
    vec![entity]
}

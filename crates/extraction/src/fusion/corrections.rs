//! Whose a finding is, whether it is past, and whether a medicine is taken: where the reader is sure of it and the rules say
//! otherwise.

use super::DocumentReading;
use super::reader_evidence::tags;
use crate::reader::AttributeScores;
use crate::{Entity, EntityType, Experiencer, Temporality};

/// How probable it must be that a finding is meant otherwise. What becomes the patient's own is acted upon, so that needs more.
const SURE: f32 = 0.8;
const SURE_OF_PAST: f32 = 0.9;
const SURE_OF_PATIENT: f32 = 0.95;
/// How probable a status alone must be, where all that are not taken together are [`SURE`].
const LIKELIEST: f32 = 0.5;
/// That something of the finding's kind is named there at all: else the reader speaks of something else.
const SEEN: f32 = 0.5;

/// Statuses of a medicine that the patient does not take.
pub(super) const NOT_TAKEN: [&str; 5] = ["stopped", "not_taken", "suggested", "declined", "on_hold"];

impl DocumentReading {
    /// Follows the reader where it is sure.
    pub(super) fn correct(&self, entity: &mut Entity) {
        let (line, bytes) = self.place(entity.span);
        let (layer, kinds) = tags(entity.kind);
        if self.predictions.support(line, &bytes, layer, kinds) < SEEN {
            return;
        }
        let Some(attributes) = self.predictions.attributes(line, &bytes, layer) else { return };
        person(entity, &attributes);
        time(entity, &attributes);
        status(entity, &attributes);
    }
}

fn person(entity: &mut Entity, attributes: &AttributeScores) {
    // An allergy that leaves the patient's list harms, and so does a denial that leaves its person.
    if matches!(entity.kind, EntityType::Allergy | EntityType::Intolerance) || entity.context.negated {
        return;
    }
    let share = |value: &str| attributes.probability("person", value).unwrap_or(0.0);
    let (family, other) = (share("family"), share("other"));
    if entity.context.experiencer == Experiencer::Patient && family + other >= SURE {
        entity.context.experiencer = if family >= other { Experiencer::Family } else { Experiencer::Other };
    } else if entity.context.experiencer != Experiencer::Patient && share("patient") >= SURE_OF_PATIENT {
        entity.context.experiencer = Experiencer::Patient;
    }
}

fn time(entity: &mut Entity, attributes: &AttributeScores) {
    let share = |value: &str| attributes.probability("time", value).unwrap_or(0.0);
    let may_end = matches!(entity.kind, EntityType::Condition | EntityType::Symptom) && !entity.context.negated;
    if may_end && entity.context.temporality == Temporality::Recent && share("past") >= SURE_OF_PAST {
        entity.context.temporality = Temporality::Historical;
    }
}

fn status(entity: &mut Entity, attributes: &AttributeScores) {
    if entity.kind != EntityType::Medication || entity.context.negated {
        return;
    }
    let share = |value: &str| attributes.probability("status", value).unwrap_or(0.0);
    let taken = matches!(entity.status.as_deref(), None | Some("active" | "started" | "changed"));
    let best = NOT_TAKEN.into_iter().max_by(|a, b| share(a).total_cmp(&share(b)));
    let Some(best) = best.filter(|best| share(best) >= LIKELIEST) else { return };
    if taken && NOT_TAKEN.iter().map(|status| share(status)).sum::<f32>() >= SURE {
        entity.status = Some(best.to_owned());
        if best == "suggested" {
            entity.context.temporality = Temporality::Hypothetical;
        }
    }
}

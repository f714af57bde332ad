//! The current values of a document: the patient's allergies and medicines (contract.md, `values`).

use std::collections::HashSet;
use std::sync::LazyLock;

use super::lexicon::{DRUGS, names_of_group};
use super::negative_statements::is_current;
use super::{Entity, EntityType, Epistemic, Experiencer, Temporality};

/// Current allergies and medicines, each once, in the order in which they were first named. A brand or a name of
/// another language is followed by the preferred name: "lipitor (atorvastatin)".
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CurrentValues {
    pub allergies: Vec<String>,
    pub medications: Vec<String>,
}

impl CurrentValues {
    pub fn from_entities(text: &str, entities: &[Entity]) -> Self {
        let current = |entity: &&Entity| {
            entity.kind == EntityType::Allergy
                && !entity.context.negated
                && !entity.context.uncertain
                && entity.context.temporality != Temporality::Hypothetical
                && entity.context.experiencer == Experiencer::Patient
                && entity.status.is_none()
        };
        // A clinician who only talks about a medicine has not said that it is taken.
        let taken = |entity: &&Entity| {
            let stated = entity.status.is_some() || entity.epistemic != Epistemic::Observed;
            is_current(entity) && stated && !is_class(&entity.value) && !ended_later(entities, entity)
        };
        Self {
            allergies: names(text, entities.iter().filter(current)),
            medications: names(text, entities.iter().filter(taken)),
        }
    }
}

/// The same medicine stopped in a later sentence.
fn ended_later(entities: &[Entity], entity: &Entity) -> bool {
    let last = entities
        .iter()
        .rev()
        .find(|other| other.kind == EntityType::Medication && other.value == entity.value && other.status.is_some());
    last.is_some_and(|last| {
        last.span.start > entity.span.start && matches!(last.status.as_deref(), Some("stopped" | "not_taken"))
    })
}

/// Names of groups rather than of medicines.
fn is_class(value: &str) -> bool {
    static CLASSES: LazyLock<HashSet<&str>> = LazyLock::new(|| names_of_group(DRUGS, "class").collect());
    CLASSES.contains(value)
}

fn names<'a>(text: &str, entities: impl Iterator<Item = &'a Entity>) -> Vec<String> {
    let mut seen: Vec<&str> = Vec::new();
    let mut out = Vec::new();
    for entity in entities {
        if seen.contains(&entity.value.as_str()) {
            continue;
        }
        seen.push(&entity.value);
        let said = entity.span.slice(text).to_lowercase();
        out.push(if said == entity.value { said } else { format!("{said} ({})", entity.value) });
    }
    out
}

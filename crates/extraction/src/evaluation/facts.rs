//! The facts that a document must and must not give.

use super::gold::{GoldFact, GoldRow};
use super::rows::same_value;
use super::{EvaluationReport, MatchCounts};
use crate::{CurrentValues, Entity, Experiencer, Extraction, Temporality};
use anamnesis_text::Document;

impl EvaluationReport {
    pub(super) fn facts(&mut self, gold: &GoldRow, document: &Document, found: &Extraction) {
        for (task, facts, wanted) in [("must come out", &gold.must, true), ("must not come out", &gold.must_not, false)]
        {
            for fact in facts.iter().flatten() {
                let right = states(fact, document, found) == wanted;
                self.count(task, gold, MatchCounts { right: right.into(), extra: 0, missing: (!right).into() });
                if !right {
                    let value = fact.value.as_deref().unwrap_or("");
                    self.miss(task, gold, &format!("{} {value}", fact.fact), "");
                }
            }
        }
    }
}

/// Whether a document states a fact of its patient, now and for certain (denied where the fact is a denial).
fn states(fact: &GoldFact, document: &Document, found: &Extraction) -> bool {
    let names = |value: &str| fact.value.as_deref().is_none_or(|wanted| same_value(wanted, value));
    match fact.fact.as_str() {
        "no_known_allergies" | "no_medications" => {
            found.statements.iter().any(|statement| statement.kind.code() == fact.fact)
        }
        "risk" => found.risk.iter().any(|risk| {
            risk.denied == fact.negated && risk.experiencer == Experiencer::Patient && names(risk.class.code())
        }),
        "risk_of_family" => found
            .risk
            .iter()
            .any(|risk| !risk.denied && risk.experiencer == Experiencer::Family && names(risk.class.code())),
        "hypothesis" => found.hypotheses.iter().any(|hypothesis| names(&hypothesis.text)),
        "allergy" => {
            CurrentValues::from_entities(&document.text, &found.entities).allergies.iter().any(|value| names(value))
        }
        "medication" => {
            let current = CurrentValues::from_entities(&document.text, &found.entities).medications;
            let dosed = |entity: &Entity| match (&fact.dose, &entity.dose) {
                (Some(wanted), Some(dose)) => dose.split(' ').next() == Some(wanted.as_str()),
                (wanted, _) => wanted.is_none(),
            };
            current.iter().any(|value| names(value))
                && found.entities.iter().any(|entity| names(&entity.value) && dosed(entity))
        }
        "condition" => found.entities.iter().any(|entity| {
            matches!(entity.kind.code(), "condition" | "symptom")
                && names(&entity.value)
                && entity.context.negated == fact.negated
                && own_and_now(entity)
        }),
        "intolerance" => found.entities.iter().any(|entity| {
            let intolerance = entity.kind.code() == "intolerance";
            let named = entity.value.contains("intoleran") || intolerance;
            named && names(&entity.value) && !entity.context.negated && own_and_now(entity)
        }),
        _ => false,
    }
}

/// A doubtful denial counts, a doubtful finding does not.
fn own_and_now(entity: &Entity) -> bool {
    entity.context.experiencer == Experiencer::Patient
        && entity.context.temporality == Temporality::Recent
        && (!entity.context.uncertain || entity.context.negated)
}

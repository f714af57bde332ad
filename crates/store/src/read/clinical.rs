//! The clinical store as it stands at an instant. A row there is what makes a memory decision-grade (seed 002, section
//! 6); what time did to it since is the memory's to say.

use std::collections::HashMap;
use std::sync::LazyLock;

use chrono::{DateTime, Utc};

use super::{Filter, Memory, When, code};
use crate::records::FindingWords;
use crate::seal::{open_record, open_text};
use crate::write::clinical::{clinical_cell, status};
use crate::{Store, StoreError};
use anamnesis_core::finding::{EntityType, Polarity};
use anamnesis_core::ids::MemoryId;
use anamnesis_core::memory::State;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::PatientKeys;
use anamnesis_sql::{Row, Sql};

// Medications first: PostgreSQL takes the types of the columns from the first branch.
static CLINICAL: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT 'medication', memory_id, name_sealed, dose_sealed, route_sealed, frequency_sealed, until FROM medications \
           WHERE org_id = $1 AND patient_id = $2 \
         UNION ALL SELECT 'condition', memory_id, name_sealed, code_sealed, NULL, NULL, NULL FROM conditions \
           WHERE org_id = $1 AND patient_id = $2 \
         UNION ALL SELECT 'allergy', memory_id, substance_sealed, reaction_sealed, NULL, NULL, NULL FROM allergies \
           WHERE org_id = $1 AND patient_id = $2 \
         UNION ALL SELECT 'symptom', memory_id, name_sealed, NULL, NULL, NULL, NULL FROM symptom_states \
           WHERE org_id = $1 AND patient_id = $2 \
         UNION ALL SELECT 'appointment', memory_id, title_sealed, NULL, NULL, NULL, at FROM appointments \
           WHERE org_id = $1 AND patient_id = $2 \
         UNION ALL SELECT 'health_signal', memory_id, reading_sealed, NULL, NULL, NULL, synced_at FROM health_signals \
           WHERE org_id = $1 AND patient_id = $2",
    )
});

/// One row of the clinical store with the memory behind it. The words are the clinical store's own.
#[derive(Debug, Clone, PartialEq)]
pub struct Clinical {
    /// `appointment` stands for events too: the memory's own entity tells them apart.
    pub entity: EntityType,
    pub memory: Memory,
    /// The clinical status at the instant: active, refuted, resolved, inactive, stopped, not_taken, superseded, or a
    /// state's own code.
    pub status: &'static str,
    /// Of appointments and events: when.
    pub at: Option<DateTime<Utc>>,
}

impl Store {
    /// The clinical store of a patient, newest statement first.
    ///
    /// # Errors
    /// When the store cannot be read or a cell does not open.
    pub async fn clinical(&self, scope: Scope, when: When) -> Result<Vec<Clinical>, StoreError> {
        let Some(keys) = self.keys_of(scope).await? else { return Ok(Vec::new()) };
        let mut rows: HashMap<MemoryId, Row> = HashMap::new();
        for row in self.rows(&CLINICAL, scope, Vec::new()).await? {
            rows.insert(MemoryId(row.uuid(1)?), row);
        }
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let entities = EntityType::ALL.iter().copied().filter(|e| e.is_clinical()).collect();
        let memories = self.memories(scope, &Filter { entities, ..Filter::default() }, when).await?;
        memories
            .into_iter()
            .filter_map(|memory| rows.remove(&memory.id).map(|row| (memory, row)))
            .map(|(memory, row)| entry(memory, &row, &keys))
            .collect()
    }
}

fn entry(mut memory: Memory, row: &Row, keys: &PatientKeys) -> Result<Clinical, StoreError> {
    let mut entity = code(row, 0, EntityType::from_code)?;
    let id = memory.id.0;
    let open = |table, at: usize, column| -> Result<Option<String>, StoreError> {
        row.opt_blob(at)?.map(|sealed| open_text(keys, clinical_cell(table, id, column), &sealed)).transpose()
    };
    let mut words = memory.words.take().unwrap_or_default();
    match entity {
        EntityType::Medication => {
            words.concept = open("medications", 2, "name")?.ok_or(StoreError::Shape)?;
            words.dose = open("medications", 3, "dose")?;
            words.route = open("medications", 4, "route")?;
            words.frequency = open("medications", 5, "frequency")?;
        }
        EntityType::Condition => {
            words.concept = open("conditions", 2, "name")?.ok_or(StoreError::Shape)?;
            words.code = open("conditions", 3, "code")?;
        }
        EntityType::Allergy => {
            words.concept = open("allergies", 2, "substance")?.ok_or(StoreError::Shape)?;
            words.reaction = open("allergies", 3, "reaction")?;
        }
        EntityType::Symptom => words.concept = open("symptom_states", 2, "name")?.ok_or(StoreError::Shape)?,
        EntityType::HealthSignal => {
            let cell = clinical_cell("health_signals", id, "reading");
            words = open_record::<FindingWords>(keys, cell, &row.blob(2)?)?;
        }
        _ => words.concept = open("appointments", 2, "title")?.ok_or(StoreError::Shape)?,
    }
    memory.words = Some(words);
    // Both stand in one table: the memory says which of the two it is.
    if memory.entity == Some(EntityType::Intolerance) {
        entity = EntityType::Intolerance;
    }
    // A condition that nothing confirmed and nothing ended is not resolved: only `State::Resolved` says so.
    let state: State = memory.standing.state;
    let status = status(entity, Polarity::of(memory.negated), state);
    let at = if entity == EntityType::Appointment { row.opt_time(6)? } else { None };
    Ok(Clinical { entity, memory, status, at })
}

pub(crate) fn statements() -> Vec<&'static Sql> {
    vec![&CLINICAL]
}

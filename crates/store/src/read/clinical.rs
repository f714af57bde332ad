//! The clinical store at an instant. A clinical row makes a memory decision-grade (seed 002, section 6); changes by
//! time since then are read from the memory.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use super::{Memory, MemoryFilter, ReadInstant, code};
use crate::encrypted_columns::{open_record, open_text};
use crate::records::FindingWords;
use crate::statements::read::clinical as sql;
use crate::write::clinical::{clinical_cell, status};
use crate::{MemoryReader, StoreError};
use anamnesis_core::finding::{EntityType, Polarity};
use anamnesis_core::ids::MemoryId;
use anamnesis_core::memory::State;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::PatientKeys;
use anamnesis_sql::Row;

/// One row of the clinical store with its memory. The words are the clinical store's own.
#[derive(Debug, Clone, PartialEq)]
pub struct ClinicalRow {
    /// `appointment` includes events: the memory's entity distinguishes them.
    pub entity: EntityType,
    pub memory: Memory,
    /// The clinical status at the instant: active, refuted, resolved, inactive, stopped, not_taken, superseded, or a
    /// state's own code.
    pub status: &'static str,
    /// Of appointments and events: when.
    pub at: Option<DateTime<Utc>>,
}

impl MemoryReader<'_> {
    /// The clinical store of a patient, newest statement first.
    ///
    /// # Errors
    /// When the store cannot be read or a cell does not open.
    pub async fn clinical(self, scope: Scope, when: ReadInstant) -> Result<Vec<ClinicalRow>, StoreError> {
        let Some(keys) = self.keys_of(scope).await? else { return Ok(Vec::new()) };
        let mut rows: HashMap<MemoryId, Row> = HashMap::new();
        for row in self.rows(&sql::OF_PATIENT, scope, Vec::new()).await? {
            rows.insert(MemoryId(row.uuid(sql::of_patient::MEMORY_ID)?), row);
        }
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let entities = EntityType::ALL.iter().copied().filter(|e| e.is_clinical()).collect();
        let memories = self.memories(scope, &MemoryFilter { entities, ..MemoryFilter::default() }, when).await?;
        memories
            .into_iter()
            .filter_map(|memory| rows.remove(&memory.id).map(|row| (memory, row)))
            .map(|(memory, row)| entry(memory, &row, &keys))
            .collect()
    }
}

fn entry(mut memory: Memory, row: &Row, keys: &PatientKeys) -> Result<ClinicalRow, StoreError> {
    let mut entity = code(row, sql::of_patient::ENTITY_TYPE, EntityType::from_code)?;
    let id = memory.id.0;
    let open = |table, at: usize, column| -> Result<Option<String>, StoreError> {
        row.opt_blob(at)?.map(|sealed| open_text(keys, clinical_cell(table, id, column), &sealed)).transpose()
    };
    let (first, detail) = (sql::of_patient::WORDS_SEALED, sql::of_patient::DETAIL_SEALED);
    let mut words = memory.words.take().unwrap_or_default();
    match entity {
        EntityType::Medication => {
            words.concept = open("medications", first, "name")?.ok_or(StoreError::Shape)?;
            words.dose = open("medications", detail, "dose")?;
            words.route = open("medications", sql::of_patient::ROUTE_SEALED, "route")?;
            words.frequency = open("medications", sql::of_patient::FREQUENCY_SEALED, "frequency")?;
        }
        EntityType::Condition => {
            words.concept = open("conditions", first, "name")?.ok_or(StoreError::Shape)?;
            words.code = open("conditions", detail, "code")?;
        }
        EntityType::Allergy => {
            words.concept = open("allergies", first, "substance")?.ok_or(StoreError::Shape)?;
            words.reaction = open("allergies", detail, "reaction")?;
        }
        EntityType::Symptom => words.concept = open("symptom_states", first, "name")?.ok_or(StoreError::Shape)?,
        EntityType::HealthSignal => {
            let cell = clinical_cell("health_signals", id, "reading");
            words = open_record::<FindingWords>(keys, cell, &row.blob(first)?)?;
        }
        _ => words.concept = open("appointments", first, "title")?.ok_or(StoreError::Shape)?,
    }
    memory.words = Some(words);
    // Both are in one table; the memory's entity distinguishes them.
    if memory.entity == Some(EntityType::Intolerance) {
        entity = EntityType::Intolerance;
    }
    // A condition that nothing confirmed and nothing ended is not resolved: only `State::Resolved` says so.
    let state: State = memory.status.state;
    let status = status(entity, Polarity::from_negated(memory.negated), state);
    let at = if entity == EntityType::Appointment { row.opt_time(sql::of_patient::AT)? } else { None };
    Ok(ClinicalRow { entity, memory, status, at })
}

//! The clinical store: a projection of memories of standing. An inference never enters, a contested claim changes
//! nothing, a family member's illness is marked as theirs (seed 002, sections 2, 5 and 6).

use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::BatchWriter;
use super::memories::{ChangedMemory, LoadedGroup};
use crate::StoreError;
use crate::encrypted_columns::Sealer;
use crate::records::FindingWords;
use crate::statements::write::clinical as sql;
use anamnesis_core::finding::{EntityType, Experiencer, Polarity};
use anamnesis_core::memory::{Class, State};
use anamnesis_core::projection::{Assertion, ProjectedMemory};
use anamnesis_core::provenance::Trust;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::ColumnRef;
use anamnesis_sql::{Arg, Bulk, Sql};

/// The tables of the clinical store; [`table_of`] says the place.
static TABLES: [&LazyLock<Bulk>; 6] =
    [&sql::CONDITION, &sql::ALLERGY, &sql::MEDICATION, &sql::SYMPTOM, &sql::APPOINTMENT, &sql::SIGNAL];

/// Takes memories out of each of them, in the same order.
pub(super) static CLEAR: [&LazyLock<Sql>; 6] = [
    &sql::DELETE_CONDITIONS,
    &sql::DELETE_ALLERGIES,
    &sql::DELETE_MEDICATIONS,
    &sql::DELETE_SYMPTOMS,
    &sql::DELETE_APPOINTMENTS,
    &sql::DELETE_SIGNALS,
];

/// Cells of a clinical row.
pub(crate) fn clinical_cell(table: &'static str, memory: Uuid, column: &'static str) -> ColumnRef {
    ColumnRef { table, row: memory, column }
}

impl BatchWriter<'_> {
    pub(super) async fn write_clinical(&mut self, changed: &[ChangedMemory<'_>]) -> Result<(), StoreError> {
        let mut tables = TABLES.map(|table| (table, Vec::new()));
        let mut withdrawn = Vec::new();
        for c in changed.iter().filter(|c| c.opening().entity.is_clinical()) {
            if is_authoritative(&c.folded, c.opening()) {
                let (place, row) = self.clinical_row(c)?;
                tables[place].1.push(row);
            } else if c.was.is_some() {
                withdrawn.push((c.scope.patient().0, c.folded.id.0.as_bytes().to_vec()));
            }
        }
        if !withdrawn.is_empty() {
            for clear in CLEAR.iter() {
                self.tx.execute(clear, vec![self.target.org.0.into(), Arg::Pairs(withdrawn.clone())]).await?;
            }
        }
        for (table, rows) in tables {
            self.tx.bulk(table, rows).await?;
        }
        Ok(())
    }

    fn clinical_row(&self, c: &ChangedMemory<'_>) -> Result<(usize, Vec<Arg>), StoreError> {
        let (folded, opening) = (&c.folded, c.opening());
        let words = &c.text_of(folded.told_by).ok_or(StoreError::Shape)?.words;
        let entry = ClinicalEntry {
            scope: c.scope,
            id: folded.id.0,
            words,
            clear: ClinicalColumns::from_projection(folded, opening, words, folded.state),
            sealer: Sealer { keys: self.keys_of(c.scope)?, entropy: self.entropy },
            now: self.target.now,
        };
        let row = match opening.entity {
            EntityType::Condition => entry.condition(),
            EntityType::Allergy | EntityType::Intolerance => entry.allergy(),
            EntityType::Medication => entry.medication(),
            EntityType::Symptom => entry.symptom(),
            EntityType::HealthSignal => entry.signal()?,
            _ => entry.appointment(),
        };
        Ok((table_of(opening.entity), row))
    }
}

/// The inputs of a row of the clinical store.
struct ClinicalEntry<'a> {
    scope: Scope,
    /// Of the memory.
    id: Uuid,
    words: &'a FindingWords,
    clear: ClinicalColumns,
    sealer: Sealer<'a>,
    now: DateTime<Utc>,
}

impl ClinicalEntry<'_> {
    fn seal(&self, table: &'static str, column: &'static str, text: &str) -> Arg {
        self.sealer.text(clinical_cell(table, self.id, column), text)
    }

    fn maybe(&self, table: &'static str, column: &'static str, text: Option<&str>) -> Arg {
        self.sealer.optional(clinical_cell(table, self.id, column), text)
    }

    fn condition(&self) -> Vec<Arg> {
        sql::condition::Row {
            org_id: self.scope.org().0.into(),
            patient_id: self.scope.patient().0.into(),
            memory_id: self.id.into(),
            name_sealed: self.seal("conditions", "name", &self.words.concept),
            code_sealed: self.maybe("conditions", "code", self.words.code.as_deref()),
            status: self.clear.status.into(),
            experiencer: self.clear.experiencer.into(),
            trust: self.clear.trust.into(),
            set_by: self.clear.set_by.into(),
            since: self.clear.since.into(),
            created_at: self.now.into(),
            updated_at: self.now.into(),
        }
        .into()
    }

    fn allergy(&self) -> Vec<Arg> {
        sql::allergy::Row {
            org_id: self.scope.org().0.into(),
            patient_id: self.scope.patient().0.into(),
            memory_id: self.id.into(),
            substance_sealed: self.seal("allergies", "substance", &self.words.concept),
            reaction_sealed: self.maybe("allergies", "reaction", self.words.reaction.as_deref()),
            status: self.clear.status.into(),
            trust: self.clear.trust.into(),
            set_by: self.clear.set_by.into(),
            since: self.clear.since.into(),
            created_at: self.now.into(),
            updated_at: self.now.into(),
        }
        .into()
    }

    fn medication(&self) -> Vec<Arg> {
        sql::medication::Row {
            org_id: self.scope.org().0.into(),
            patient_id: self.scope.patient().0.into(),
            memory_id: self.id.into(),
            name_sealed: self.seal("medications", "name", &self.words.concept),
            dose_sealed: self.maybe("medications", "dose", self.words.dose.as_deref()),
            route_sealed: self.maybe("medications", "route", self.words.route.as_deref()),
            frequency_sealed: self.maybe("medications", "frequency", self.words.frequency.as_deref()),
            status: self.clear.status.into(),
            trust: self.clear.trust.into(),
            set_by: self.clear.set_by.into(),
            since: self.clear.since.into(),
            until: self.clear.until.into(),
            created_at: self.now.into(),
            updated_at: self.now.into(),
        }
        .into()
    }

    fn symptom(&self) -> Vec<Arg> {
        sql::symptom::Row {
            org_id: self.scope.org().0.into(),
            patient_id: self.scope.patient().0.into(),
            memory_id: self.id.into(),
            name_sealed: self.seal("symptom_states", "name", &self.words.concept),
            severity: self.clear.severity.into(),
            status: self.clear.status.into(),
            trust: self.clear.trust.into(),
            set_by: self.clear.set_by.into(),
            onset: self.clear.since.into(),
            last_confirmed_at: self.clear.last_confirmed_at.into(),
            expires_at: self.clear.expires_at.into(),
            created_at: self.now.into(),
            updated_at: self.now.into(),
        }
        .into()
    }

    fn appointment(&self) -> Vec<Arg> {
        sql::appointment::Row {
            org_id: self.scope.org().0.into(),
            patient_id: self.scope.patient().0.into(),
            memory_id: self.id.into(),
            title_sealed: self.seal("appointments", "title", &self.words.concept),
            status: self.clear.status.into(),
            at: self.clear.day.into(),
            set_by: self.clear.set_by.into(),
            created_at: self.now.into(),
            updated_at: self.now.into(),
        }
        .into()
    }

    fn signal(&self) -> Result<Vec<Arg>, StoreError> {
        let reading = clinical_cell("health_signals", self.id, "reading");
        let row = sql::signal::Row {
            org_id: self.scope.org().0.into(),
            patient_id: self.scope.patient().0.into(),
            memory_id: self.id.into(),
            metric_hash: self.sealer.keys.hash("metric", self.words.concept.as_bytes()).into(),
            reading_sealed: self.sealer.record(reading, self.words)?,
            status: self.clear.status.into(),
            synced_at: self.clear.last_confirmed_at.into(),
            created_at: self.now.into(),
            updated_at: self.now.into(),
        };
        Ok(row.into())
    }
}

/// The unsealed columns of clinical rows: each table has some of them.
struct ClinicalColumns {
    status: &'static str,
    experiencer: &'static str,
    trust: i64,
    set_by: &'static str,
    since: DateTime<Utc>,
    until: Option<DateTime<Utc>>,
    severity: Option<&'static str>,
    last_confirmed_at: DateTime<Utc>,
    expires_at: DateTime<Utc>,
    day: Option<DateTime<Utc>>,
}

impl ClinicalColumns {
    fn from_projection(f: &ProjectedMemory, a: &Assertion, words: &FindingWords, state: State) -> Self {
        let last_confirmed_at = f.last_confirmed_at.unwrap_or(a.asserted_at);
        Self {
            status: status(a.entity, a.polarity, state),
            experiencer: a.experiencer.code(),
            trust: super::findings::trust_number(if f.vouched { Trust::T1 } else { a.trust }),
            set_by: f.set_by.code(),
            since: f.valid_from,
            until: f.valid_to,
            severity: severity(words.severity.as_deref()),
            last_confirmed_at,
            expires_at: f.expires_at.unwrap_or(last_confirmed_at),
            day: day_of(words),
        }
    }

    /// Of the table of this kind of fact, in the order in which reconciliation reads its columns (`projections.sql`).
    fn columns(&self, entity: EntityType) -> Vec<Arg> {
        let (status, trust, set_by) = (self.status.into(), self.trust.into(), self.set_by.into());
        let (since, confirmed) = (self.since.into(), self.last_confirmed_at.into());
        match entity {
            EntityType::Condition => vec![status, self.experiencer.into(), trust, set_by, since],
            EntityType::Allergy | EntityType::Intolerance => vec![status, trust, set_by, since],
            EntityType::Medication => vec![status, trust, set_by, since, self.until.into()],
            EntityType::Symptom => {
                vec![self.severity.into(), status, trust, set_by, since, confirmed, self.expires_at.into()]
            }
            EntityType::HealthSignal => vec![status, confirmed],
            _ => vec![status, self.day.into(), set_by],
        }
    }
}

/// The day of what happens, where it is known.
fn day_of(words: &FindingWords) -> Option<DateTime<Utc>> {
    let day = words.date.as_deref()?.parse::<chrono::NaiveDate>().ok()?;
    day.and_hms_opt(0, 0, 0).map(|at| at.and_utc())
}

/// The table of a kind of clinical fact: its place in [`TABLES`] and [`CLEAR`].
fn table_of(entity: EntityType) -> usize {
    match entity {
        EntityType::Condition => 0,
        EntityType::Allergy | EntityType::Intolerance => 1,
        EntityType::Medication => 2,
        EntityType::Symptom => 3,
        EntityType::HealthSignal => 5,
        _ => 4,
    }
}

/// The clinical table of a projected memory of this log, and the unsealed columns of its row in this state; `None` if
/// it has no clinical row.
pub(super) fn clinical_clear(
    loaded: &LoadedGroup,
    folded: &ProjectedMemory,
    state: State,
) -> Option<(usize, Vec<Arg>)> {
    let a = loaded.log.assertions.iter().find(|a| a.id == folded.opened_by)?;
    let words = &loaded.texts.get(&folded.told_by)?.words;
    let stands = a.entity.is_clinical() && is_authoritative(folded, a);
    stands.then(|| (table_of(a.entity), ClinicalColumns::from_projection(folded, a, words, state).columns(a.entity)))
}

/// Whether a memory may have a row in the clinical store at all.
fn is_authoritative(f: &ProjectedMemory, a: &Assertion) -> bool {
    let subject = match a.entity {
        EntityType::Condition => a.experiencer != Experiencer::Other,
        _ => a.experiencer == Experiencer::Patient,
    };
    let said = match a.entity {
        // A denial is stored as a memory. In the clinical tables only allergies, conditions and medications can be
        // refuted.
        EntityType::Symptom | EntityType::HealthSignal => a.polarity == Polarity::Affirmed,
        entity if entity.happens() => a.polarity == Polarity::Affirmed,
        _ => !a.blanket,
    };
    let class = if f.vouched { a.class.vouched(a.entity) } else { a.class };
    let is_hypothesis = matches!(class, Class::Inference | Class::Pattern);
    a.tombstone.is_none()
        && !is_hypothesis
        && (a.trust <= Trust::T3 || f.vouched)
        && !f.contested
        && !f.ungrounded
        && subject
        && said
        && f.state.is_visible()
}

pub(crate) fn status(entity: EntityType, polarity: Polarity, state: State) -> &'static str {
    match entity {
        EntityType::Condition | EntityType::Allergy | EntityType::Intolerance => match (state, polarity) {
            (State::Active, Polarity::Affirmed) => "active",
            (State::Active, Polarity::Negated) => "refuted",
            (State::Resolved, _) => "resolved",
            _ => "inactive",
        },
        EntityType::Medication => match (state, polarity) {
            (State::Active, Polarity::Affirmed) => "active",
            (State::Active, Polarity::Negated) => "not_taken",
            (State::Superseded, _) => "superseded",
            _ => "stopped",
        },
        _ => state.code(),
    }
}

/// Severity is unsealed only as one of the three grades.
fn severity(said: Option<&str>) -> Option<&'static str> {
    ["mild", "moderate", "severe"].into_iter().find(|grade| said == Some(*grade))
}

//! The clinical store: a projection of memories of standing. An inference never enters, a contested claim changes
//! nothing, a family member's illness is marked as theirs (seed 002, sections 2, 5 and 6).

use std::sync::LazyLock;

use chrono::{DateTime, Utc};

use super::Writer;
use super::memories::{Changed, Loaded};
use crate::StoreError;
use crate::records::FindingWords;
use crate::seal::Sealer;
use anamnesis_core::finding::{EntityType, Experiencer, Polarity};
use anamnesis_core::fold::{Assertion, Folded};
use anamnesis_core::memory::{Class, State};
use anamnesis_core::provenance::Trust;
use anamnesis_crypto::Cell;
use anamnesis_sql::{Arg, Bulk, ColumnType, Sql};

macro_rules! table {
    ($name:ident, $table:literal, [$($column:literal: $kind:ident),+ $(,)?], $update:literal) => {
        static $name: LazyLock<Bulk> = LazyLock::new(|| {
            let columns = [
                ("org_id", ColumnType::Uuid), ("patient_id", ColumnType::Uuid), ("memory_id", ColumnType::Uuid),
                $(($column, ColumnType::$kind),)+
                ("created_at", ColumnType::Int), ("updated_at", ColumnType::Int),
            ];
            Bulk::new($table, &columns, concat!("ON CONFLICT (org_id, patient_id, memory_id) DO UPDATE SET ", $update, ", updated_at = excluded.updated_at"))
        });
    };
}

table!(
    CONDITIONS,
    "conditions",
    ["name_sealed": Bytes, "code_sealed": Bytes, "status": Text, "experiencer": Text, "trust": Int, "set_by": Text, "since": Int],
    "name_sealed = excluded.name_sealed, code_sealed = excluded.code_sealed, status = excluded.status, trust = excluded.trust, set_by = excluded.set_by, since = excluded.since"
);
table!(
    ALLERGIES,
    "allergies",
    ["substance_sealed": Bytes, "reaction_sealed": Bytes, "status": Text, "trust": Int, "set_by": Text, "since": Int],
    "substance_sealed = excluded.substance_sealed, reaction_sealed = excluded.reaction_sealed, status = excluded.status, trust = excluded.trust, set_by = excluded.set_by, since = excluded.since"
);
table!(
    MEDICATIONS,
    "medications",
    ["name_sealed": Bytes, "dose_sealed": Bytes, "route_sealed": Bytes, "frequency_sealed": Bytes, "status": Text, "trust": Int, "set_by": Text, "since": Int, "until": Int],
    "name_sealed = excluded.name_sealed, dose_sealed = excluded.dose_sealed, route_sealed = excluded.route_sealed, frequency_sealed = excluded.frequency_sealed, status = excluded.status, trust = excluded.trust, set_by = excluded.set_by, since = excluded.since, until = excluded.until"
);
table!(
    SYMPTOMS,
    "symptom_states",
    ["name_sealed": Bytes, "severity": Text, "status": Text, "trust": Int, "set_by": Text, "onset": Int, "last_confirmed_at": Int, "expires_at": Int],
    "name_sealed = excluded.name_sealed, severity = excluded.severity, status = excluded.status, trust = excluded.trust, set_by = excluded.set_by, onset = excluded.onset, last_confirmed_at = excluded.last_confirmed_at, expires_at = excluded.expires_at"
);
table!(
    APPOINTMENTS,
    "appointments",
    ["title_sealed": Bytes, "status": Text, "at": Int, "set_by": Text],
    "title_sealed = excluded.title_sealed, status = excluded.status, at = excluded.at, set_by = excluded.set_by"
);
table!(
    SIGNALS,
    "health_signals",
    ["metric_hash": Bytes, "reading_sealed": Bytes, "status": Text, "synced_at": Int],
    "reading_sealed = excluded.reading_sealed, status = excluded.status, synced_at = excluded.synced_at"
);
pub(super) static CLEAR: LazyLock<Vec<Sql>> = LazyLock::new(|| {
    vec![
        Sql::new("DELETE FROM conditions WHERE org_id = $1 AND (patient_id, memory_id) IN {pairs $2}"),
        Sql::new("DELETE FROM allergies WHERE org_id = $1 AND (patient_id, memory_id) IN {pairs $2}"),
        Sql::new("DELETE FROM medications WHERE org_id = $1 AND (patient_id, memory_id) IN {pairs $2}"),
        Sql::new("DELETE FROM symptom_states WHERE org_id = $1 AND (patient_id, memory_id) IN {pairs $2}"),
        Sql::new("DELETE FROM appointments WHERE org_id = $1 AND (patient_id, memory_id) IN {pairs $2}"),
        Sql::new("DELETE FROM health_signals WHERE org_id = $1 AND (patient_id, memory_id) IN {pairs $2}"),
    ]
});

/// Cells of a clinical row.
pub(crate) fn clinical_cell(table: &'static str, memory: uuid::Uuid, column: &'static str) -> Cell {
    Cell { table, row: memory, column }
}

impl Writer<'_> {
    pub(super) async fn write_clinical(&mut self, changed: &[Changed<'_>]) -> Result<(), StoreError> {
        let mut tables: [(&Bulk, Vec<Vec<Arg>>); 6] = [
            (&CONDITIONS, vec![]),
            (&ALLERGIES, vec![]),
            (&MEDICATIONS, vec![]),
            (&SYMPTOMS, vec![]),
            (&APPOINTMENTS, vec![]),
            (&SIGNALS, vec![]),
        ];
        let mut withdrawn = Vec::new();
        for c in changed.iter().filter(|c| c.opening().entity.is_clinical()) {
            if has_standing(&c.folded, c.opening()) {
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

    fn clinical_row(&self, c: &Changed<'_>) -> Result<(usize, Vec<Arg>), StoreError> {
        let (f, a) = (&c.folded, c.opening());
        let words = &c.told(f.told_by).ok_or(StoreError::Shape)?.words;
        let sealer = Sealer { keys: self.keys_of(c.scope)?, entropy: self.entropy };
        let seal = |table, column, text: &str| sealer.text(clinical_cell(table, f.id.0, column), text);
        let maybe = |table, column, text: &Option<String>| {
            sealer.optional(clinical_cell(table, f.id.0, column), text.as_deref())
        };
        let sealed: Vec<Arg> = match a.entity {
            EntityType::Condition => {
                vec![seal("conditions", "name", &words.concept), maybe("conditions", "code", &words.code)]
            }
            EntityType::Allergy | EntityType::Intolerance => {
                vec![seal("allergies", "substance", &words.concept), maybe("allergies", "reaction", &words.reaction)]
            }
            EntityType::Medication => {
                let t = "medications";
                vec![
                    seal(t, "name", &words.concept),
                    maybe(t, "dose", &words.dose),
                    maybe(t, "route", &words.route),
                    maybe(t, "frequency", &words.frequency),
                ]
            }
            EntityType::Symptom => vec![seal("symptom_states", "name", &words.concept)],
            EntityType::HealthSignal => {
                let hash = sealer.keys.hash("metric", words.concept.as_bytes());
                vec![hash.into(), sealer.record(clinical_cell("health_signals", f.id.0, "reading"), words)?]
            }
            _ => vec![seal("appointments", "title", &words.concept)],
        };
        let now = Arg::from(self.target.now);
        let mut row = vec![c.scope.org().0.into(), c.scope.patient().0.into(), f.id.0.into()];
        row.extend(sealed);
        row.extend(clear(f, a, words, f.state));
        row.extend([now.clone(), now]);
        Ok((table_of(a.entity), row))
    }
}

/// What nothing seals of a clinical row, in the order of its columns: reconciliation compares them.
fn clear(f: &Folded, a: &Assertion, words: &FindingWords, state: State) -> Vec<Arg> {
    let trust = Arg::from(super::findings::trust_number(if f.vouched { Trust::T1 } else { a.trust }));
    let (set_by, status) = (Arg::from(f.set_by.code()), Arg::from(status(a.entity, a.polarity, state)));
    let confirmed = f.last_confirmed_at.unwrap_or(a.asserted_at);
    match a.entity {
        EntityType::Condition => vec![status, a.experiencer.code().into(), trust, set_by, f.valid_from.into()],
        EntityType::Allergy | EntityType::Intolerance => vec![status, trust, set_by, f.valid_from.into()],
        EntityType::Medication => vec![status, trust, set_by, f.valid_from.into(), f.valid_to.into()],
        EntityType::Symptom => {
            let severity = severity(words.severity.as_deref()).into();
            let until = f.expires_at.unwrap_or(confirmed);
            vec![severity, status, trust, set_by, f.valid_from.into(), confirmed.into(), until.into()]
        }
        EntityType::HealthSignal => vec![status, confirmed.into()],
        _ => vec![status, day_of(words).into(), set_by],
    }
}

/// The day of what happens, where it is known.
fn day_of(words: &FindingWords) -> Option<DateTime<Utc>> {
    let day = words.date.as_deref()?.parse::<chrono::NaiveDate>().ok()?;
    day.and_hms_opt(0, 0, 0).map(|at| at.and_utc())
}

/// The table of a kind of clinical fact, in the order of [`CLEAR`].
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

/// The table in which a folded memory of this log stands, and what nothing seals of its row in this state; `None` where it has no
/// clinical row.
pub(super) fn clinical_clear(loaded: &Loaded, folded: &Folded, state: State) -> Option<(usize, Vec<Arg>)> {
    let a = loaded.log.assertions.iter().find(|a| a.id == folded.opened_by)?;
    let words = &loaded.told.get(&folded.told_by)?.words;
    let stands = a.entity.is_clinical() && has_standing(folded, a);
    stands.then(|| (table_of(a.entity), clear(folded, a, words, state)))
}

/// Whether a memory may stand in the clinical store at all.
fn has_standing(f: &Folded, a: &Assertion) -> bool {
    let subject = match a.entity {
        EntityType::Condition => a.experiencer != Experiencer::Other,
        _ => a.experiencer == Experiencer::Patient,
    };
    let said = match a.entity {
        // A denial is kept as a memory; in the tables of what is, only allergies, conditions and medications refute.
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

/// Severity goes in clear only as one of the three grades.
fn severity(said: Option<&str>) -> Option<&'static str> {
    ["mild", "moderate", "severe"].into_iter().find(|grade| said == Some(*grade))
}

pub(crate) fn statements() -> Vec<&'static Sql> {
    let mut all: Vec<&'static Sql> =
        vec![CONDITIONS.sql(), ALLERGIES.sql(), MEDICATIONS.sql(), SYMPTOMS.sql(), APPOINTMENTS.sql(), SIGNALS.sql()];
    all.extend(CLEAR.iter());
    all
}

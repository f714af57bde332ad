//! Documents whose source may go, and patients whose record is past its term: found by index, with all that decides when and
//! how.

use std::collections::HashMap;
use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::consents;
use crate::{Next, StoreError};
use anamnesis_core::document::DocumentType;
use anamnesis_core::ids::{DocumentId, OrgId, PatientId};
use anamnesis_core::retention::PrivacyTier;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::KeyStore;
use anamnesis_sql::{Arg, Bulk, ColumnType, DbError, Row, Sql, Transaction};

macro_rules! select {
    ($which:literal) => {
        LazyLock::new(|| {
            Sql::new(concat!(
                "SELECT d.patient_id, d.document_id, d.revision, d.document_type, d.recorded_at, d.retention_due_at, d.reckoned, \
                 p.privacy_tier, p.country, (SELECT count(*) FROM legal_hold AS h WHERE h.org_id = d.org_id \
                   AND h.patient_id = d.patient_id AND h.lifted_at IS NULL \
                   AND (h.document_id IS NULL OR h.document_id = d.document_id)) \
                 FROM documents AS d JOIN patient_profile AS p ON p.org_id = d.org_id AND p.patient_id = d.patient_id \
                 WHERE d.org_id = $1 AND d.fate IS NULL AND ",
                $which
            ))
        })
    };
}

static ALL: LazyLock<Sql> = select!(
    "(d.patient_id, d.document_id, d.revision) > ($2, $3, $4) ORDER BY d.patient_id, d.document_id, d.revision LIMIT $5"
);
static UNDATED: LazyLock<Sql> = select!(
    "d.reckoned = 0 AND (d.patient_id, d.document_id, d.revision) > ($2, $3, $4) \
     ORDER BY d.patient_id, d.document_id, d.revision LIMIT $5"
);
static DUE: LazyLock<Sql> = select!(
    "d.reckoned = 1 AND d.retention_due_at IS NOT NULL AND d.retention_due_at <= $6 \
     AND (d.retention_due_at, d.patient_id, d.document_id, d.revision) > ($7, $2, $3, $4) \
     ORDER BY d.retention_due_at, d.patient_id, d.document_id, d.revision LIMIT $5"
);
static OF_PATIENTS: LazyLock<Sql> = select!("d.reckoned = 1 AND d.patient_id IN {uuids $2}");
static DATE_ANEW: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "UPDATE documents SET reckoned = 0, updated_at = $3 WHERE org_id = $1 AND fate IS NULL AND reckoned = 1 \
         AND (patient_id, document_id) IN {pairs $2}",
    )
});
static ORGANIZATION: LazyLock<Sql> =
    LazyLock::new(|| Sql::new("SELECT privacy_tier, country FROM organization WHERE org_id = $1"));
static RECKON: LazyLock<Bulk> = LazyLock::new(|| {
    Bulk::over(
        "UPDATE documents SET reckoned = 1, retention_due_at = r.due, updated_at = r.now FROM {rows} AS r \
         WHERE documents.org_id = r.org_id AND documents.patient_id = r.patient_id \
         AND documents.document_id = r.document_id AND documents.revision = r.revision AND documents.fate IS NULL",
        &[
            ("org_id", ColumnType::Uuid),
            ("patient_id", ColumnType::Uuid),
            ("document_id", ColumnType::Uuid),
            ("revision", ColumnType::Int),
            ("due", ColumnType::Int),
            ("now", ColumnType::Int),
        ],
    )
});

macro_rules! none_since {
    ($table:literal, $at:literal) => {
        concat!(
            " AND NOT EXISTS (SELECT 1 FROM ",
            $table,
            " AS x WHERE x.org_id = p.org_id AND x.patient_id = p.patient_id AND ",
            $at,
            " > $2)"
        )
    };
}
/// A patient of whom nothing came since: no message, no act of a person, nothing that was asked for. What jobs write of what
/// was there before does not count. An erasure that has begun is not begun again.
macro_rules! dormant {
    ($which:literal) => {
        concat!(
            "SELECT p.created_at, p.patient_id, (SELECT count(*) FROM legal_hold AS h WHERE h.org_id = p.org_id \
               AND h.patient_id = p.patient_id AND h.lifted_at IS NULL) \
             FROM patient_profile AS p WHERE p.org_id = $1 AND p.created_at <= $2",
            none_since!("documents", "x.recorded_at"),
            none_since!("extracted_findings", "x.created_at"),
            none_since!("memory_event", "x.derived = 0 AND x.created_at"),
            none_since!("memory", "x.last_confirmed_at"),
            none_since!("profile_statement", "x.created_at"),
            none_since!("conversation_preferences", "x.created_at"),
            none_since!("consent", "x.created_at"),
            none_since!("ephemeral_mode", "x.created_at"),
            none_since!("legacy_record", "x.created_at"),
            none_since!("rights_answer", "x.answered_at"),
            " AND NOT EXISTS (SELECT 1 FROM erasure AS x WHERE x.org_id = p.org_id AND x.patient_id = p.patient_id \
               AND x.what = 'patient')",
            // The same by the trail, which cannot be set back.
            none_since!(
                "action_audit",
                "(x.action IN ('document_stored', 'signal_stored', 'profile_updated', 'consent_permit', 'consent_deny', \
                   'ephemeral_on', 'ephemeral_off') OR substr(x.action, 1, 8) = 'command_') AND x.at"
            ),
            // Last: it is found by its age alone, and a patient who comes this far has nothing else.
            none_since!("inbox", "x.created_at"),
            $which
        )
    };
}
static DORMANT: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(dormant!(" AND (p.created_at, p.patient_id) > ($3, $4) ORDER BY p.created_at, p.patient_id LIMIT $5"))
});
static STILL_DORMANT: LazyLock<Sql> = LazyLock::new(|| Sql::new(dormant!(" AND p.patient_id IN {uuids $3}")));

// Where the organisation has memories forgotten: patients with a denial and memories, and when they were last forgotten for one.
// Which scope it denies is sealed.
static WITHDRAWN: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT c.from_at, c.patient_id, c.id, (SELECT max(e.at) FROM memory_event AS e WHERE e.org_id = c.org_id \
           AND e.patient_id = c.patient_id AND e.derived = 0 AND e.action = 'forgotten' AND e.source = 'task') \
         FROM consent AS c JOIN organization AS o ON o.org_id = c.org_id \
         WHERE c.org_id = $1 AND o.withdrawal = 'forget' AND c.provision = 'deny' AND c.from_at <= $2 \
         AND EXISTS (SELECT 1 FROM memory AS m WHERE m.org_id = c.org_id AND m.patient_id = c.patient_id AND m.kind <> 'raw' \
           AND m.state NOT IN ('inactive', 'quarantined')) \
         AND (c.from_at, c.patient_id, c.id) > ($3, $4, $5) ORDER BY c.from_at, c.patient_id, c.id LIMIT $6",
    )
});

pub fn statements() -> Vec<&'static Sql> {
    vec![
        &OF_PATIENTS,
        &DATE_ANEW,
        &WITHDRAWN,
        &ALL,
        &UNDATED,
        &DUE,
        &DORMANT,
        &STILL_DORMANT,
        &ORGANIZATION,
        RECKON.sql(),
    ]
}

/// Which documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lane {
    /// All that still have their source, in the order of their keys.
    All,
    /// Those of which nobody reckoned yet when they are due.
    Unreckoned,
    /// Those that are due, by the instant at which they were.
    Due,
    /// No documents: patients whose denial is in force now, and was not when it was recorded ([`withdrawn`]).
    Withdrawn,
    /// No documents: patients whose whole record is past its term ([`dormant`]).
    Records,
}

/// The last row of the page before: when it was due in microseconds, and its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place(pub i64, pub Uuid, pub Uuid, pub u32);

impl Place {
    /// Before every row.
    pub const START: Place = Place(i64::MIN, Uuid::nil(), Uuid::nil(), 0);
}

/// A document as far as keeping it matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub place: Place,
    pub patient: PatientId,
    pub document: DocumentId,
    pub revision: u32,
    pub document_type: DocumentType,
    pub recorded_at: DateTime<Utc>,
    /// As reckoned before.
    pub due_at: Option<DateTime<Utc>>,
    pub reckoned: bool,
    pub patient_tier: Option<PrivacyTier>,
    pub country: Option<String>,
    /// A legal hold keeps it.
    pub held: bool,
}

/// Documents of a lane after `after`, at most `limit`; `until` matters to those that are due.
///
/// # Errors
/// Of the database.
pub async fn sources(
    tx: &mut Transaction,
    org: OrgId,
    lane: Lane,
    until: DateTime<Utc>,
    Next { after, limit }: Next<Place>,
) -> Result<Vec<Source>, DbError> {
    let mut args: Vec<Arg> = vec![org.0.into(), after.1.into(), after.2.into(), after.3.into(), limit.into()];
    let sql: &Sql = match lane {
        Lane::Withdrawn | Lane::Records => return Ok(Vec::new()),
        Lane::All => &ALL,
        Lane::Unreckoned => &UNDATED,
        Lane::Due => {
            args.extend([until.into(), after.0.into()]);
            &DUE
        }
    };
    tx.fetch_all(sql, args).await?.iter().map(source).collect()
}

/// Documents of these patients of which it was noted when they are due.
///
/// # Errors
/// Of the database.
pub async fn sources_of(tx: &mut Transaction, org: OrgId, patients: &[Uuid]) -> Result<Vec<Source>, DbError> {
    let rows = tx.fetch_all(&OF_PATIENTS, vec![org.0.into(), Arg::Uuids(patients.to_vec())]).await?;
    rows.iter().map(source).collect()
}

/// When these documents are due is to be found anew: what is noted is not what the policy says.
///
/// # Errors
/// Of the database.
pub async fn date_anew(
    tx: &mut Transaction,
    org: OrgId,
    documents: &[(PatientId, DocumentId)],
    now: DateTime<Utc>,
) -> Result<u64, DbError> {
    let pairs = documents.iter().map(|(patient, document)| (patient.0, document.0.as_bytes().to_vec())).collect();
    tx.execute(&DATE_ANEW, vec![org.0.into(), Arg::Pairs(pairs), now.into()]).await
}

fn source(row: &Row) -> Result<Source, DbError> {
    let decode = |index| DbError::Decode { index };
    let (patient, document) = (row.uuid(0)?, row.uuid(1)?);
    let revision = u32::try_from(row.i64(2)?).map_err(|_| decode(2))?;
    Ok(Source {
        place: Place(row.opt_i64(5)?.unwrap_or(i64::MIN), patient, document, revision),
        patient: PatientId(patient),
        document: DocumentId(document),
        revision,
        document_type: DocumentType::from_code(&row.text(3)?).ok_or(decode(3))?,
        recorded_at: row.time(4)?,
        due_at: row.opt_time(5)?,
        reckoned: row.bool(6)?,
        patient_tier: row.opt_text(7)?.as_deref().and_then(PrivacyTier::from_code),
        country: row.opt_text(8)?,
        held: row.i64(9)? > 0,
    })
}

/// A patient of whom nothing came since a term began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dormant {
    pub place: Place,
    pub patient: PatientId,
    /// A legal hold keeps the patient, or a document of theirs.
    pub held: bool,
}

fn dormant_row(row: &Row) -> Result<Dormant, DbError> {
    let patient = row.uuid(1)?;
    Ok(Dormant {
        place: Place(row.i64(0)?, patient, Uuid::nil(), 0),
        patient: PatientId(patient),
        held: row.i64(2)? > 0,
    })
}

/// A patient with a denial, and memories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withdrawn {
    pub place: Place,
    pub patient: PatientId,
    /// It is the one by which memory is denied now, and nothing was forgotten since it is in force: it began after it was recorded,
    /// came back when a permit ended, or the organisation asks for it only now.
    pub forgets: bool,
}

/// Patients with a denial that began up to `until`, after `after`, at most `limit`, where the organisation has memories forgotten.
///
/// # Errors
/// Of the database or the key store.
pub async fn withdrawn(
    tx: &mut Transaction,
    (org, keys): (OrgId, &dyn KeyStore),
    until: DateTime<Utc>,
    Next { after, limit }: Next<Place>,
) -> Result<Vec<Withdrawn>, StoreError> {
    let args = vec![org.0.into(), until.into(), after.0.into(), after.1.into(), after.2.into(), limit.into()];
    let rows = tx.fetch_all(&WITHDRAWN, args).await?;
    let patients = rows.iter().map(|row| row.uuid(1)).collect::<Result<Vec<_>, DbError>>()?;
    let scopes: Vec<Scope> = patients.iter().filter_map(|patient| Scope::new(org, PatientId(*patient)).ok()).collect();
    if scopes.is_empty() {
        return Ok(Vec::new());
    }
    let keys = keys.find(&scopes).await?.known;
    let said = consents::rows_of(tx, org, Arg::Uuids(patients.clone())).await?;
    let denying_of = |(patient, all): (&PatientId, &Vec<consents::Recorded>)| {
        let keys = keys.get(&Scope::new(org, *patient).ok()?)?;
        Some((*patient, consents::denying(all, keys, until)?))
    };
    let denying: HashMap<PatientId, consents::Denial> = said.iter().filter_map(denying_of).collect();
    let of = |(row, patient): (&Row, Uuid)| {
        let (consent, patient) = (row.uuid(2)?, PatientId(patient));
        let denying = denying.get(&patient).copied();
        let forgotten = row.opt_time(3)?;
        let forgets = |denial: consents::Denial| denial.id == consent && forgotten.is_none_or(|at| at < denial.since);
        let place = Place(row.i64(0)?, patient.0, consent, 0);
        Ok(Withdrawn { place, patient, forgets: denying.is_some_and(forgets) })
    };
    rows.iter().zip(patients).map(of).collect()
}

/// Patients of whom nothing came since `until`, after `after`, at most `limit`.
///
/// # Errors
/// Of the database.
pub async fn dormant(
    tx: &mut Transaction,
    org: OrgId,
    until: DateTime<Utc>,
    Next { after, limit }: Next<Place>,
) -> Result<Vec<Dormant>, DbError> {
    let args = vec![org.0.into(), until.into(), after.0.into(), after.1.into(), limit.into()];
    tx.fetch_all(&DORMANT, args).await?.iter().map(dormant_row).collect()
}

/// Those of these patients who are dormant and not held now: their rows are locked.
///
/// # Errors
/// Of the database.
pub(crate) async fn still_dormant(
    tx: &mut Transaction,
    org: OrgId,
    until: DateTime<Utc>,
    patients: Vec<Uuid>,
) -> Result<Vec<PatientId>, DbError> {
    let rows = tx.fetch_all(&STILL_DORMANT, vec![org.0.into(), until.into(), Arg::Uuids(patients)]).await?;
    let dormant = rows.iter().map(dormant_row).collect::<Result<Vec<_>, _>>()?;
    Ok(dormant.into_iter().filter(|one| !one.held).map(|one| one.patient).collect())
}

/// What the organisation itself asks for, and where it works.
///
/// # Errors
/// Of the database.
pub async fn organization(tx: &mut Transaction, org: OrgId) -> Result<(Option<PrivacyTier>, Option<String>), DbError> {
    let Some(row) = tx.fetch_optional(&ORGANIZATION, vec![org.0.into()]).await? else { return Ok((None, None)) };
    Ok((row.opt_text(0)?.as_deref().and_then(PrivacyTier::from_code), row.opt_text(1)?))
}

/// Notes when documents are due, or that they never are.
///
/// # Errors
/// Of the database.
pub async fn reckon(
    tx: &mut Transaction,
    org: OrgId,
    reckoned: &[(&Source, Option<DateTime<Utc>>)],
    now: DateTime<Utc>,
) -> Result<u64, DbError> {
    let row = |(source, due): &(&Source, Option<DateTime<Utc>>)| {
        let (patient, document) = (source.patient.0.into(), source.document.0.into());
        vec![org.0.into(), patient, document, source.revision.into(), (*due).into(), now.into()]
    };
    tx.bulk(&RECKON, reckoned.iter().map(row).collect()).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use anamnesis_sql::{Access, Database, Location};

    #[tokio::test]
    async fn what_is_due_and_what_is_new_are_found_by_index_in_order_without_sorting() {
        let db = Database::open(&Location::Memory).await.unwrap();
        let mut tx = db.begin(Access::Platform).await.unwrap();
        let key = || vec![Uuid::nil().into(), Uuid::nil().into(), Uuid::nil().into(), 0i64.into(), 1i64.into()];
        let due = [key(), vec![0i64.into(), 0i64.into()]].concat();
        for (sql, args, index) in [
            (&*UNDATED, key(), "documents_unreckoned"),
            (&*DUE, due, "documents_retention"),
            (&*ALL, key(), "sqlite_autoindex_documents_1"),
        ] {
            let explain = Sql::new(Box::leak(format!("EXPLAIN QUERY PLAN {}", sql.sqlite()).into_boxed_str()));
            let plan: Vec<String> =
                tx.fetch_all(&explain, args).await.unwrap().iter().map(|row| row.text(3).unwrap()).collect();
            assert!(plan[0].starts_with(&format!("SEARCH d USING INDEX {index} (org_id=?")), "{plan:?}");
            assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{plan:?}");
        }
        let explain = Sql::new(Box::leak(format!("EXPLAIN QUERY PLAN {}", DORMANT.sqlite()).into_boxed_str()));
        let args = vec![Uuid::nil().into(), 0i64.into(), 0i64.into(), Uuid::nil().into(), 1i64.into()];
        let rows = tx.fetch_all(&explain, args).await.unwrap();
        let plan: Vec<String> = rows.iter().map(|row| row.text(3).unwrap()).collect();
        assert!(plan[0].starts_with("SEARCH p USING COVERING INDEX patient_profile_age (org_id=?"), "{plan:?}");
        assert!(!plan.iter().any(|step| step.starts_with("SCAN") || step.contains("TEMP B-TREE")), "{plan:?}");
    }
}

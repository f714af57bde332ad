//! Documents whose source may go: found by index, with all that decides when and how.

use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Next;
use anamnesis_core::document::DocumentType;
use anamnesis_core::ids::{DocumentId, OrgId, PatientId};
use anamnesis_core::retention::PrivacyTier;
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
static UNRECKONED: LazyLock<Sql> = select!(
    "d.reckoned = 0 AND (d.patient_id, d.document_id, d.revision) > ($2, $3, $4) \
     ORDER BY d.patient_id, d.document_id, d.revision LIMIT $5"
);
static DUE: LazyLock<Sql> = select!(
    "d.reckoned = 1 AND d.retention_due_at IS NOT NULL AND d.retention_due_at <= $6 \
     AND (d.retention_due_at, d.patient_id, d.document_id, d.revision) > ($7, $2, $3, $4) \
     ORDER BY d.retention_due_at, d.patient_id, d.document_id, d.revision LIMIT $5"
);
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

pub fn statements() -> Vec<&'static Sql> {
    vec![&ALL, &UNRECKONED, &DUE, &ORGANIZATION, RECKON.sql()]
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
        Lane::All => &ALL,
        Lane::Unreckoned => &UNRECKONED,
        Lane::Due => {
            args.extend([until.into(), after.0.into()]);
            &DUE
        }
    };
    tx.fetch_all(sql, args).await?.iter().map(source).collect()
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
            (&*UNRECKONED, key(), "documents_unreckoned"),
            (&*DUE, due, "documents_retention"),
            (&*ALL, key(), "sqlite_autoindex_documents_1"),
        ] {
            let explain = Sql::new(Box::leak(format!("EXPLAIN QUERY PLAN {}", sql.sqlite()).into_boxed_str()));
            let plan: Vec<String> =
                tx.fetch_all(&explain, args).await.unwrap().iter().map(|row| row.text(3).unwrap()).collect();
            assert!(plan[0].starts_with(&format!("SEARCH d USING INDEX {index} (org_id=?")), "{plan:?}");
            assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{plan:?}");
        }
    }
}

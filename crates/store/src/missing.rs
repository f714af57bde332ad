//! Rows against the audit trail: what was deleted behind the program leaves the entry that brought it, and what was changed so that it
//! looks done has none.

use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::auditing::acts;
use anamnesis_core::ids::OrgId;
use anamnesis_sql::{Arg, DbError, Sql, Transaction};

// In the words of the partial index `action_audit_acts`, by which an engine finds it.
macro_rules! of_acts {
    () => {
        "IN ('hold_set', 'hold_lifted', 'erase', 'quarantined_retried', 'consent_permit', 'consent_deny', 'ephemeral_on', \
         'ephemeral_off')"
    };
}
// The same of `action_audit_rows`.
macro_rules! of_rows {
    () => {
        "IN ('document_stored', 'content_purged', 'summary_only', 'source_dropped', 'archived', 'verified', 'confirmed', 'ended', \
         'denied', 'protected', 'unprotected', 'forgotten', 'recovered', 'corrected', 'answered', 'reinforced', 'weakened')"
    };
}
// A row that was deleted leaves the entry of the message that brought it.
macro_rules! missing {
    ($first:literal, $second:literal, $table:literal) => {
        concat!(
            "SELECT count(*) FROM action_audit AS a WHERE a.org_id = $1 AND a.patient_id IN {uuids $2} AND a.action ",
            of_acts!(),
            " AND a.action IN ('",
            $first,
            "', '",
            $second,
            "') AND a.subject_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ",
            $table,
            " AS c WHERE c.org_id = $1 AND c.patient_id = a.patient_id AND c.id = a.subject_id)"
        )
    };
}
static CONSENTS: LazyLock<Sql> = LazyLock::new(|| Sql::new(missing!("consent_permit", "consent_deny", "consent")));
static SWITCHES: LazyLock<Sql> =
    LazyLock::new(|| Sql::new(missing!("ephemeral_on", "ephemeral_off", "ephemeral_mode")));
// What was said in ephemeral mode, and what was erased, went by right.
static DOCUMENTS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(concat!(
        "SELECT count(*) FROM action_audit AS a WHERE a.org_id = $1 AND a.patient_id IN {uuids $2} AND a.action ",
        of_rows!(),
        " AND a.action = 'document_stored' AND a.subject_id IS NOT NULL \
         AND NOT EXISTS (SELECT 1 FROM documents AS d WHERE d.org_id = $1 AND d.patient_id = a.patient_id \
           AND d.document_id = a.subject_id) \
         AND NOT EXISTS (SELECT 1 FROM action_audit AS x WHERE x.org_id = $1 AND x.patient_id = a.patient_id AND x.action ",
        of_acts!(),
        " AND (x.action = 'ephemeral_on' OR x.action = 'erase' AND x.subject_id = a.subject_id \
           AND x.outcome IN ('done', 'begun', 'restored')))"
    ))
});
// Of a memory that is there, as many acts as the trail tells.
static ACTS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(concat!(
        "SELECT count(*) FROM (SELECT a.patient_id, a.subject_id, a.action, count(*) AS entries FROM action_audit AS a \
           WHERE a.org_id = $1 AND a.patient_id IN {uuids $2} AND a.action ",
        of_rows!(),
        " AND a.action IN ('verified', 'confirmed', 'ended', 'denied', 'protected', 'unprotected', 'forgotten', 'recovered', 'corrected', \
           'answered', 'reinforced', 'weakened') AND a.subject_id IS NOT NULL \
           AND EXISTS (SELECT 1 FROM memory AS m WHERE m.org_id = $1 AND m.patient_id = a.patient_id AND m.id = a.subject_id) \
           AND NOT EXISTS (SELECT 1 FROM action_audit AS x WHERE x.org_id = $1 AND x.patient_id = a.patient_id AND x.action ",
        of_acts!(),
        " AND (x.action = 'ephemeral_on' OR x.action = 'erase' AND x.outcome IN ('done', 'begun', 'restored'))) GROUP BY a.patient_id, a.subject_id, a.action) AS s \
         WHERE s.entries > (SELECT count(*) FROM memory_event AS e WHERE e.org_id = $1 AND e.patient_id = s.patient_id \
           AND e.memory_id = s.subject_id AND e.derived = 0 AND e.action = s.action)"
    ))
});
// Of what came since all rows are covered and the trail is whole: when a row was changed last is covered by nothing.
static FATES: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(concat!(
        "SELECT count(*) FROM documents AS d WHERE d.org_id = $1 AND d.patient_id IN {uuids $2} AND d.fate IS NOT NULL \
         AND d.recorded_at >= $3 AND NOT EXISTS (SELECT 1 FROM action_audit AS a WHERE a.org_id = $1 \
           AND a.patient_id = d.patient_id AND a.action ",
        of_rows!(),
        // An archived source goes after its term.
        " AND a.action IN (d.fate, CASE d.fate WHEN 'source_dropped' THEN 'archived' ELSE d.fate END) \
           AND a.subject_id = d.document_id)"
    ))
});
static TOMBSTONES: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(concat!(
        "SELECT count(*) FROM extracted_findings AS f WHERE f.org_id = $1 AND f.patient_id IN {uuids $2} \
         AND f.tombstone_of IS NOT NULL AND f.recorded_at >= $3 AND NOT EXISTS (SELECT 1 FROM action_audit AS a \
           WHERE a.org_id = $1 AND a.patient_id = f.patient_id AND a.action ",
        of_rows!(),
        " AND a.action = 'content_purged' AND a.subject_id = f.tombstone_of)"
    ))
});
// Entries of persons who were taken out of the trail do not say any more of what they are.
static NAMELESS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(concat!(
        "SELECT count(*) FROM action_audit WHERE org_id = $1 AND patient_id = $2 AND action ",
        of_rows!(),
        " AND action IN ('content_purged', 'summary_only', 'source_dropped', 'archived')"
    ))
});
/// Rows of these patients that the trail names and that are not there, and rows that look done and of which it says nothing. Of the
/// latter those `since` which all rows are covered, and the trail is whole: `None` looks at none.
///
/// # Errors
/// Of the database.
pub(crate) async fn count(
    tx: &mut Transaction,
    org: OrgId,
    patients: &[Uuid],
    since: Option<DateTime<Utc>>,
) -> Result<u64, DbError> {
    let of = || vec![org.0.into(), Arg::Uuids(patients.to_vec())];
    let mut found = 0;
    for sql in [&CONSENTS, &SWITCHES, &DOCUMENTS, &ACTS] {
        found += counted(tx, sql, of()).await?;
    }
    let Some(since) = since else { return Ok(found) };
    let since = acts::horizon(tx, org).await?.map_or(since, |horizon| since.max(horizon));
    let mut silent = 0;
    for sql in [&FATES, &TOMBSTONES] {
        silent += counted(tx, sql, [of(), vec![since.into()]].concat()).await?;
    }
    if silent > 0 {
        silent = silent.saturating_sub(counted(tx, &NAMELESS, vec![org.0.into(), Uuid::nil().into()]).await?);
    }
    Ok(found + silent)
}

async fn counted(tx: &mut Transaction, sql: &Sql, args: Vec<Arg>) -> Result<u64, DbError> {
    let row = tx.fetch_optional(sql, args).await?;
    Ok(row.map(|row| row.i64(0)).transpose()?.map_or(0, i64::unsigned_abs))
}

pub(crate) fn statements() -> Vec<&'static Sql> {
    vec![&CONSENTS, &SWITCHES, &DOCUMENTS, &ACTS, &FATES, &TOMBSTONES, &NAMELESS]
}

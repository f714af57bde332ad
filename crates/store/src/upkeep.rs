//! Rows that served their purpose: ids of messages that no producer sends again, events that are published, attempts that
//! nobody will go on with, and records about records (runs of jobs, lifted holds, receipts) that are past their term.

use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::{Next, auditing, fading};
use anamnesis_core::clock::micros;
use anamnesis_core::ids::OrgId;
use anamnesis_crypto::{PlatformKey, first_half};
use anamnesis_sql::{Arg, DbError, Row, Sql, Transaction};

// The same message after that is known by what it says: a document by its revision, any other by the derived ids of its
// rows.
static MESSAGES: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT created_at, message_hash FROM inbox WHERE org_id = $1 AND created_at <= $2 \
         AND (created_at, message_hash) > ($3, $4) ORDER BY created_at, message_hash LIMIT $5",
    )
});
static EVENTS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT published_at, id FROM outbox WHERE org_id = $1 AND published_at IS NOT NULL AND published_at <= $2 \
         AND (published_at, id) > ($3, $4) ORDER BY published_at, id LIMIT $5",
    )
});
// Belongs to no organisation: the hash is keyed and tells none. Rows live for as long as a message is worked.
static ATTEMPTS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT updated_at, message_hash FROM attempt WHERE updated_at <= $1 AND (updated_at, message_hash) > ($2, $3) \
         ORDER BY updated_at, message_hash LIMIT $4",
    )
});
static BATCHES: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT updated_at, id FROM attempt_batch WHERE updated_at <= $1 AND (updated_at, id) > ($2, $3) \
         ORDER BY updated_at, id LIMIT $4",
    )
});
// What came without consent has no term: older versions kept it. A hold on the patient, or on a document of theirs, keeps it.
static ASIDE_BODIES: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT created_at, id FROM quarantine WHERE (org_id = $1 OR org_id IS NULL) AND body_sealed IS NOT NULL \
         AND (created_at <= $2 OR reason = 'no_consent') AND NOT EXISTS (SELECT 1 FROM legal_hold AS h \
           WHERE h.org_id = quarantine.key_org_id AND h.patient_id = quarantine.key_patient_id AND h.lifted_at IS NULL) \
         AND (created_at, id) > ($3, $4) ORDER BY created_at, id LIMIT $5",
    )
});
static ASIDES: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT created_at, id FROM quarantine WHERE (org_id = $1 OR org_id IS NULL) AND body_sealed IS NULL \
         AND created_at <= $2 AND (created_at, id) > ($3, $4) ORDER BY created_at, id LIMIT $5",
    )
});
static ANSWERS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT answered_at, id FROM rights_answer WHERE org_id = $1 AND answered_at <= $2 \
         AND (answered_at, id) > ($3, $4) ORDER BY answered_at, id LIMIT $5",
    )
});
// A hold on the patient, or on the document, keeps what is archived. The same words when it is deleted: a hold may have come since.
macro_rules! not_held {
    () => {
        "NOT EXISTS (SELECT 1 FROM legal_hold AS h WHERE h.org_id = document_archive.org_id \
           AND h.patient_id = document_archive.patient_id AND h.lifted_at IS NULL \
           AND (h.document_id IS NULL OR h.document_id = document_archive.document_id))"
    };
}
static ARCHIVES: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(concat!(
        "SELECT archived_at, document_id FROM document_archive WHERE org_id = $1 AND archived_at <= $2 AND ",
        not_held!(),
        " AND (archived_at, document_id) > ($3, $4) ORDER BY archived_at, document_id LIMIT $5"
    ))
});
static RUNS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT finished_at, job || '/' || as_of FROM job_run WHERE org_id = $1 AND state <> 'running' \
         AND finished_at IS NOT NULL AND finished_at <= $2 AND (finished_at, job || '/' || as_of) > ($3, $4) \
         ORDER BY finished_at, job || '/' || as_of LIMIT $5",
    )
});
static HOLDS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT lifted_at, id FROM legal_hold WHERE org_id = $1 AND lifted_at IS NOT NULL AND lifted_at <= $2 \
         AND (lifted_at, id) > ($3, $4) ORDER BY lifted_at, id LIMIT $5",
    )
});
// One that is not complete stays until it is.
static RECEIPTS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT done_at, id FROM erasure WHERE org_id = $1 AND done_at IS NOT NULL AND files_at IS NOT NULL AND done_at <= $2 \
         AND (done_at, id) > ($3, $4) ORDER BY done_at, id LIMIT $5",
    )
});
static PATTERNS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT created_at, month || '/' || dimension || '/' || value FROM cohort_pattern WHERE org_id = $1 \
         AND created_at <= $2 AND (created_at, month || '/' || dimension || '/' || value) > ($3, $4) \
         ORDER BY created_at, month || '/' || dimension || '/' || value LIMIT $5",
    )
});
static DROP_ARCHIVED: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(concat!(
        "UPDATE documents SET fate = 'source_dropped', fate_at = $4, updated_at = $4 WHERE org_id = $1 AND fate = 'archived' \
         AND (patient_id, document_id, revision) IN (SELECT patient_id, document_id, revision FROM document_archive \
           WHERE org_id = $1 AND document_id IN {uuids $2} AND archived_at <= $3 AND ",
        not_held!(),
        ")"
    ))
});
static FORGET_ARCHIVES: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(concat!(
        "DELETE FROM document_archive WHERE org_id = $1 AND document_id IN {uuids $2} AND archived_at <= $3 AND ",
        not_held!()
    ))
});
static FORGET_RUNS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "DELETE FROM job_run WHERE org_id = $1 AND job || '/' || as_of IN {texts $2} AND state <> 'running' AND finished_at <= $3",
    )
});
static FORGET_HOLDS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "DELETE FROM legal_hold WHERE org_id = $1 AND id IN {uuids $2} AND lifted_at IS NOT NULL AND lifted_at <= $3",
    )
});
static FORGET_RECEIPTS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new("DELETE FROM erasure WHERE org_id = $1 AND id IN {uuids $2} AND done_at <= $3 AND files_at IS NOT NULL")
});
static FORGET_PATTERNS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "DELETE FROM cohort_pattern WHERE org_id = $1 AND month || '/' || dimension || '/' || value IN {texts $2} \
         AND created_at <= $3",
    )
});
// Who looked at a message that is gone is in the audit trail, which has its own term.
static FORGET_ASIDE_ACTS: LazyLock<Sql> =
    LazyLock::new(|| Sql::new("DELETE FROM quarantine_act WHERE quarantine_id IN {uuids $1}"));
static FORGET_ANSWERS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new("DELETE FROM rights_answer WHERE org_id = $1 AND id IN {uuids $2} AND answered_at <= $3")
});
static FORGET_ASIDE_BODIES: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "UPDATE quarantine SET state = 'dropped', body_sealed = NULL, attributes_sealed = NULL, expired_at = $2, \
         updated_at = $2 WHERE id IN {uuids $1} AND body_sealed IS NOT NULL",
    )
});
// One message ends its term once, as a rule: the trace has the message's own id. Written before the body goes.
static TRACE_ASIDE_BODIES: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "INSERT INTO quarantine_act (id, quarantine_id, at, actor, action, created_at, updated_at) \
         SELECT id, id, $2, 'upkeep', 'dropped', $2, $2 FROM quarantine WHERE id IN {uuids $1} AND body_sealed IS NOT NULL \
         ON CONFLICT (id) DO NOTHING",
    )
});
static FORGET_ASIDES: LazyLock<Sql> =
    LazyLock::new(|| Sql::new("DELETE FROM quarantine WHERE id IN {uuids $1} AND body_sealed IS NULL"));
static FORGET_MESSAGES: LazyLock<Sql> =
    LazyLock::new(|| Sql::new("DELETE FROM inbox WHERE org_id = $1 AND message_hash IN {blobs $2}"));
static FORGET_EVENTS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new("DELETE FROM outbox WHERE org_id = $1 AND id IN {uuids $2} AND published_at IS NOT NULL")
});
static FORGET_ATTEMPTS: LazyLock<Sql> =
    LazyLock::new(|| Sql::new("DELETE FROM attempt WHERE updated_at <= $1 AND message_hash IN {blobs $2}"));
static FORGET_BATCHES: LazyLock<Sql> =
    LazyLock::new(|| Sql::new("DELETE FROM attempt_batch WHERE updated_at <= $1 AND id IN {uuids $2}"));

pub fn statements() -> Vec<&'static Sql> {
    let read = [&MESSAGES, &EVENTS, &ATTEMPTS, &BATCHES, &ASIDE_BODIES, &ASIDES, &ANSWERS];
    let records = [&ARCHIVES, &RUNS, &HOLDS, &RECEIPTS, &PATTERNS];
    let forget = [&FORGET_MESSAGES, &FORGET_EVENTS, &FORGET_ATTEMPTS, &FORGET_BATCHES, &FORGET_ANSWERS];
    let aside = [&FORGET_ASIDE_BODIES, &TRACE_ASIDE_BODIES, &FORGET_ASIDES, &FORGET_ASIDE_ACTS];
    let forget_records =
        [&DROP_ARCHIVED, &FORGET_ARCHIVES, &FORGET_RUNS, &FORGET_HOLDS, &FORGET_RECEIPTS, &FORGET_PATTERNS];
    let all = [&read[..], &records, &forget, &aside, &forget_records];
    all.concat().into_iter().map(|sql| &**sql).collect()
}

/// The mark of [`fading::mark`] that says up to when receipts of erasures have ended.
const RECEIPTS_ENDED: &str = "receipts_ended";

/// Up to when receipts of erasures have ended, whatever their term was then: of erasures before it there may be none. A mark that
/// this program did not write says nothing.
///
/// # Errors
/// Of the database.
pub async fn receipts_ended(
    tx: &mut Transaction,
    org: OrgId,
    key: &PlatformKey,
) -> Result<Option<DateTime<Utc>>, DbError> {
    let Some(mark) = fading::mark(tx, org, RECEIPTS_ENDED).await? else { return Ok(None) };
    let (at, _) = mark.as_u64_pair();
    let ended = DateTime::from_timestamp_micros(at.cast_signed());
    Ok(ended.filter(|ended| ended_mark(org, key, *ended) == mark))
}

/// Notes that receipts of erasures up to an instant go. Never back: what went stays gone.
///
/// # Errors
/// Of the database.
pub async fn end_receipts(
    tx: &mut Transaction,
    org: OrgId,
    key: &PlatformKey,
    (until, now): (DateTime<Utc>, DateTime<Utc>),
) -> Result<(), DbError> {
    if receipts_ended(tx, org, key).await?.is_some_and(|ended| ended >= until) {
        return Ok(());
    }
    fading::set_mark(tx, org, RECEIPTS_ENDED, ended_mark(org, key, until), now).await
}

/// The instant, and half of a keyed hash of it.
fn ended_mark(org: OrgId, key: &PlatformKey, at: DateTime<Utc>) -> uuid::Uuid {
    let at = micros(at).cast_unsigned();
    let hash = first_half(key.hash(RECEIPTS_ENDED, &[org.0.as_bytes(), &at.to_be_bytes()]));
    let (first, _) = uuid::Uuid::from_bytes(hash).as_u64_pair();
    uuid::Uuid::from_u64_pair(at, first)
}

/// Which rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lane {
    Messages,
    Events,
    Attempts,
    /// Attempts of batches of which nobody asked.
    Batches,
    /// Entries of the audit trail, a block at a time.
    Audit,
    /// Contents of quarantined messages.
    AsideBodies,
    /// Quarantined messages without a content.
    Asides,
    /// Answers to what people asked for.
    Answers,
    /// Sealed texts of documents that left every search.
    Archives,
    /// The ledger of runs of jobs.
    Runs,
    /// Legal holds that were lifted.
    Holds,
    /// Receipts of complete erasures.
    Receipts,
    /// Counts over groups of patients.
    Patterns,
}

/// How a row of a lane is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    /// By an id, which has its sixteen bytes and is compared as an id.
    Id,
    /// By a hash.
    Hash,
    /// By the texts of its key, with strokes in between.
    Text,
}

impl Lane {
    fn named(self) -> Named {
        match self {
            Self::Messages | Self::Attempts => Named::Hash,
            Self::Runs | Self::Patterns => Named::Text,
            _ => Named::Id,
        }
    }
}

/// The last row of the page before: its instant in microseconds and its key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct After(pub i64, pub Vec<u8>);

impl After {
    /// Before every row.
    pub fn start(lane: Lane) -> Self {
        Self(i64::MIN, if lane.named() == Named::Id { vec![0; 16] } else { Vec::new() })
    }
}

/// A row that may go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spent {
    pub lane: Lane,
    pub place: After,
}

/// Rows of a lane that are as old as `until` or older, after `after`, at most `limit`.
///
/// # Errors
/// Of the database.
pub async fn spent(
    tx: &mut Transaction,
    org: OrgId,
    lane: Lane,
    until: DateTime<Utc>,
    Next { after, limit }: Next<&After>,
) -> Result<Vec<Spent>, DbError> {
    if lane == Lane::Audit {
        let next = Next { after: after.0, limit };
        let blocks = auditing::purgeable(tx, org, until, next).await?;
        return Ok(blocks.into_iter().map(|number| Spent { lane, place: After(number, Vec::new()) }).collect());
    }
    let mut args = vec![until.into(), after.0.into(), key(lane, &after.1)?, limit.into()];
    // An attempt belongs to no organisation.
    if !matches!(lane, Lane::Attempts | Lane::Batches) {
        args.insert(0, org.0.into());
    }
    let rows = tx.fetch_all(found_by(lane), args).await?;
    let place = |row: &Row| {
        let name = match lane.named() {
            Named::Text => row.text(1)?.into_bytes(),
            Named::Id | Named::Hash => row.blob(1)?,
        };
        Ok(Spent { lane, place: After(row.i64(0)?, name) })
    };
    rows.iter().map(place).collect()
}

/// What finds the rows of a lane; entries of the audit trail are found by their block.
fn found_by(lane: Lane) -> &'static Sql {
    match lane {
        Lane::Messages => &MESSAGES,
        Lane::Events => &EVENTS,
        Lane::Attempts => &ATTEMPTS,
        Lane::Batches => &BATCHES,
        Lane::AsideBodies => &ASIDE_BODIES,
        Lane::Asides | Lane::Audit => &ASIDES,
        Lane::Answers => &ANSWERS,
        Lane::Archives => &ARCHIVES,
        Lane::Runs => &RUNS,
        Lane::Holds => &HOLDS,
        Lane::Receipts => &RECEIPTS,
        Lane::Patterns => &PATTERNS,
    }
}

fn key(lane: Lane, bytes: &[u8]) -> Result<Arg, DbError> {
    let wrong = DbError::Decode { index: 1 };
    match lane.named() {
        Named::Hash => Ok(bytes.into()),
        Named::Text => Ok(std::str::from_utf8(bytes).map_err(|_| wrong)?.into()),
        Named::Id => Ok(uuid::Uuid::from_slice(bytes).map_err(|_| wrong)?.into()),
    }
}

/// Deletes rows of one lane, or the contents of quarantined messages, by one statement. An attempt that was taken up
/// again since stays.
///
/// # Errors
/// Of the database.
pub async fn forget(
    tx: &mut Transaction,
    org: OrgId,
    lane: Lane,
    (until, now): (DateTime<Utc>, DateTime<Utc>),
    spent: &[&Spent],
) -> Result<u64, DbError> {
    if spent.is_empty() {
        return Ok(0);
    }
    let blobs = || Arg::Blobs(spent.iter().map(|row| row.place.1.clone()).collect());
    let ids = || Arg::Uuids(spent.iter().filter_map(|row| uuid::Uuid::from_slice(&row.place.1).ok()).collect());
    let texts = || Arg::Texts(spent.iter().filter_map(|row| String::from_utf8(row.place.1.clone()).ok()).collect());
    match lane {
        Lane::Messages => tx.execute(&FORGET_MESSAGES, vec![org.0.into(), blobs()]).await,
        Lane::Attempts => tx.execute(&FORGET_ATTEMPTS, vec![until.into(), blobs()]).await,
        Lane::Events => tx.execute(&FORGET_EVENTS, vec![org.0.into(), ids()]).await,
        Lane::AsideBodies => {
            tx.execute(&TRACE_ASIDE_BODIES, vec![ids(), now.into()]).await?;
            tx.execute(&FORGET_ASIDE_BODIES, vec![ids(), now.into()]).await
        }
        Lane::Asides => {
            tx.execute(&FORGET_ASIDE_ACTS, vec![ids()]).await?;
            tx.execute(&FORGET_ASIDES, vec![ids()]).await
        }
        Lane::Archives => {
            tx.execute(&DROP_ARCHIVED, vec![org.0.into(), ids(), until.into(), now.into()]).await?;
            tx.execute(&FORGET_ARCHIVES, vec![org.0.into(), ids(), until.into()]).await
        }
        Lane::Runs => tx.execute(&FORGET_RUNS, vec![org.0.into(), texts(), until.into()]).await,
        Lane::Holds => tx.execute(&FORGET_HOLDS, vec![org.0.into(), ids(), until.into()]).await,
        Lane::Receipts => tx.execute(&FORGET_RECEIPTS, vec![org.0.into(), ids(), until.into()]).await,
        Lane::Patterns => tx.execute(&FORGET_PATTERNS, vec![org.0.into(), texts(), until.into()]).await,
        Lane::Answers => tx.execute(&FORGET_ANSWERS, vec![org.0.into(), ids(), until.into()]).await,
        Lane::Batches => tx.execute(&FORGET_BATCHES, vec![until.into(), ids()]).await,
        Lane::Audit => {
            let blocks: Vec<i64> = spent.iter().map(|row| row.place.0).collect();
            auditing::purge(tx, org, &blocks, until).await
        }
    }
}

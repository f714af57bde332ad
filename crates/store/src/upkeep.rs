//! Rows that served their purpose: ids of messages that no producer sends again, events that are published, attempts that
//! nobody will go on with.

use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::{Next, auditing};
use anamnesis_core::ids::OrgId;
use anamnesis_sql::{Arg, DbError, Sql, Transaction};

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
    let forget = [&FORGET_MESSAGES, &FORGET_EVENTS, &FORGET_ATTEMPTS, &FORGET_BATCHES];
    let aside = [&FORGET_ASIDE_BODIES, &TRACE_ASIDE_BODIES, &FORGET_ASIDES, &FORGET_ANSWERS];
    read.into_iter().chain(forget).chain(aside).map(|sql| &**sql).collect()
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
}

impl Lane {
    /// Rows that an id names, which has its sixteen bytes and is compared as an id.
    fn has_ids(self) -> bool {
        !matches!(self, Self::Messages | Self::Attempts)
    }
}

/// The last row of the page before: its instant in microseconds and its key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct After(pub i64, pub Vec<u8>);

impl After {
    /// Before every row.
    pub fn start(lane: Lane) -> Self {
        Self(i64::MIN, if lane.has_ids() { vec![0; 16] } else { Vec::new() })
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
    let (at, key): (Arg, Arg) = (after.0.into(), key(lane, &after.1)?);
    let rows = match lane {
        Lane::Messages => tx.fetch_all(&MESSAGES, vec![org.0.into(), until.into(), at, key, limit.into()]).await?,
        Lane::Events => tx.fetch_all(&EVENTS, vec![org.0.into(), until.into(), at, key, limit.into()]).await?,
        Lane::Attempts => tx.fetch_all(&ATTEMPTS, vec![until.into(), at, key, limit.into()]).await?,
        Lane::AsideBodies => {
            tx.fetch_all(&ASIDE_BODIES, vec![org.0.into(), until.into(), at, key, limit.into()]).await?
        }
        Lane::Asides => tx.fetch_all(&ASIDES, vec![org.0.into(), until.into(), at, key, limit.into()]).await?,
        Lane::Answers => tx.fetch_all(&ANSWERS, vec![org.0.into(), until.into(), at, key, limit.into()]).await?,
        Lane::Batches => tx.fetch_all(&BATCHES, vec![until.into(), at, key, limit.into()]).await?,
        Lane::Audit => {
            let next = Next { after: after.0, limit };
            let blocks = auditing::purgeable(tx, org, until, next).await?;
            return Ok(blocks.into_iter().map(|number| Spent { lane, place: After(number, Vec::new()) }).collect());
        }
    };
    rows.iter().map(|row| Ok(Spent { lane, place: After(row.i64(0)?, row.blob(1)?) })).collect()
}

fn key(lane: Lane, bytes: &[u8]) -> Result<Arg, DbError> {
    if !lane.has_ids() {
        return Ok(bytes.into());
    }
    Ok(uuid::Uuid::from_slice(bytes).map_err(|_| DbError::Decode { index: 1 })?.into())
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
    match lane {
        Lane::Messages => tx.execute(&FORGET_MESSAGES, vec![org.0.into(), blobs()]).await,
        Lane::Attempts => tx.execute(&FORGET_ATTEMPTS, vec![until.into(), blobs()]).await,
        Lane::Events => tx.execute(&FORGET_EVENTS, vec![org.0.into(), ids()]).await,
        Lane::AsideBodies => {
            tx.execute(&TRACE_ASIDE_BODIES, vec![ids(), now.into()]).await?;
            tx.execute(&FORGET_ASIDE_BODIES, vec![ids(), now.into()]).await
        }
        Lane::Asides => tx.execute(&FORGET_ASIDES, vec![ids()]).await,
        Lane::Answers => tx.execute(&FORGET_ANSWERS, vec![org.0.into(), ids(), until.into()]).await,
        Lane::Batches => tx.execute(&FORGET_BATCHES, vec![until.into(), ids()]).await,
        Lane::Audit => {
            let blocks: Vec<i64> = spent.iter().map(|row| row.place.0).collect();
            auditing::purge(tx, org, &blocks, until).await
        }
    }
}

//! Rows that are no longer needed: ids of messages that no producer repeats, published events, abandoned attempts, and
//! records about records (job runs, released holds, receipts) past their term.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::statements::upkeep as sql;
use crate::{PageRequest, audit_trail, decay_index};
use anamnesis_core::clock::micros;
use anamnesis_core::ids::OrgId;
use anamnesis_crypto::{PlatformKey, first_half};
use anamnesis_sql::{Arg, DbError, Row, Sql, Transaction};

/// The mark of [`decay_index::mark`] that says up to when receipts of erasures have ended.
const RECEIPTS_ENDED: &str = "receipts_ended";

/// The instant before which receipts of erasures have expired, whatever their term was: for older erasures there may be
/// none. A mark that this program did not write is ignored.
///
/// # Errors
/// Of the database.
pub async fn receipts_ended(
    tx: &mut Transaction,
    org: OrgId,
    key: &PlatformKey,
) -> Result<Option<DateTime<Utc>>, DbError> {
    let Some(mark) = decay_index::mark(tx, org, RECEIPTS_ENDED).await? else { return Ok(None) };
    let (at, _) = mark.as_u64_pair();
    let ended = DateTime::from_timestamp_micros(at.cast_signed());
    Ok(ended.filter(|ended| ended_mark(org, key, *ended) == mark))
}

/// Records that receipts of erasures up to an instant are deleted. It never moves back, because deleted receipts do not
/// return.
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
    decay_index::set_mark(tx, org, RECEIPTS_ENDED, ended_mark(org, key, until), now).await
}

/// The instant, and half of a keyed hash of it.
fn ended_mark(org: OrgId, key: &PlatformKey, at: DateTime<Utc>) -> uuid::Uuid {
    let at = micros(at).cast_unsigned();
    let hash = first_half(key.hash(RECEIPTS_ENDED, &[org.0.as_bytes(), &at.to_be_bytes()]));
    let (first, _) = uuid::Uuid::from_bytes(hash).as_u64_pair();
    uuid::Uuid::from_u64_pair(at, first)
}

/// A queue of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UpkeepQueue {
    Messages,
    Events,
    Attempts,
    /// Attempts of batches that were not asked for.
    Batches,
    /// Entries of the audit trail, a block at a time.
    Audit,
    /// Contents of quarantined messages. The stored progress of a run has the former name.
    #[serde(rename = "aside_bodies")]
    QuarantineBodies,
    /// Quarantined messages without a content. The stored progress of a run has the former name.
    #[serde(rename = "asides")]
    QuarantineRows,
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

/// How a row of a queue is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UpkeepKeyKind {
    /// By an id, which has its sixteen bytes and is compared as an id.
    Id,
    /// By a hash.
    Hash,
    /// By the texts of its key, with strokes in between.
    Text,
}

impl UpkeepQueue {
    fn named(self) -> UpkeepKeyKind {
        match self {
            Self::Messages | Self::Attempts => UpkeepKeyKind::Hash,
            Self::Runs | Self::Patterns => UpkeepKeyKind::Text,
            _ => UpkeepKeyKind::Id,
        }
    }
}

/// The last row of the page before: its instant in microseconds and its key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpkeepKey(pub i64, pub Vec<u8>);

impl UpkeepKey {
    /// Before every row.
    pub fn start(queue: UpkeepQueue) -> Self {
        Self(i64::MIN, if queue.named() == UpkeepKeyKind::Id { vec![0; 16] } else { Vec::new() })
    }
}

/// A row that may go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpiredRow {
    pub queue: UpkeepQueue,
    pub place: UpkeepKey,
}

/// Rows of a queue that are as old as `until` or older, after `after`, at most `limit`.
///
/// # Errors
/// Of the database.
pub async fn expired_rows(
    tx: &mut Transaction,
    org: OrgId,
    queue: UpkeepQueue,
    until: DateTime<Utc>,
    PageRequest { after, limit }: PageRequest<&UpkeepKey>,
) -> Result<Vec<ExpiredRow>, DbError> {
    if queue == UpkeepQueue::Audit {
        let next = PageRequest { after: after.0, limit };
        let blocks = audit_trail::purgeable(tx, org, until, next).await?;
        return Ok(blocks
            .into_iter()
            .map(|number| ExpiredRow { queue, place: UpkeepKey(number, Vec::new()) })
            .collect());
    }
    let mut args = vec![until.into(), after.0.into(), key(queue, &after.1)?, limit.into()];
    // An attempt belongs to no organisation.
    if !matches!(queue, UpkeepQueue::Attempts | UpkeepQueue::Batches) {
        args.insert(0, org.0.into());
    }
    let rows = tx.fetch_all(found_by(queue), args).await?;
    let place = |row: &Row| {
        let name = match queue.named() {
            UpkeepKeyKind::Text => row.text(sql::messages::KEY)?.into_bytes(),
            UpkeepKeyKind::Id | UpkeepKeyKind::Hash => row.blob(sql::messages::KEY)?,
        };
        Ok(ExpiredRow { queue, place: UpkeepKey(row.i64(sql::messages::SINCE)?, name) })
    };
    rows.iter().map(place).collect()
}

/// The statement for the rows of a queue, all in the columns of [`sql::MESSAGES`]; entries of the audit trail are found
/// by their block.
fn found_by(queue: UpkeepQueue) -> &'static Sql {
    match queue {
        UpkeepQueue::Messages => &sql::MESSAGES,
        UpkeepQueue::Events => &sql::EVENTS,
        UpkeepQueue::Attempts => &sql::ATTEMPTS,
        UpkeepQueue::Batches => &sql::BATCHES,
        UpkeepQueue::QuarantineBodies => &sql::QUARANTINE_BODIES,
        UpkeepQueue::QuarantineRows | UpkeepQueue::Audit => &sql::QUARANTINE_ROWS,
        UpkeepQueue::Answers => &sql::ANSWERS,
        UpkeepQueue::Archives => &sql::ARCHIVES,
        UpkeepQueue::Runs => &sql::RUNS,
        UpkeepQueue::Holds => &sql::HOLDS,
        UpkeepQueue::Receipts => &sql::RECEIPTS,
        UpkeepQueue::Patterns => &sql::PATTERNS,
    }
}

fn key(queue: UpkeepQueue, bytes: &[u8]) -> Result<Arg, DbError> {
    let wrong = DbError::Decode { index: sql::messages::KEY };
    match queue.named() {
        UpkeepKeyKind::Hash => Ok(bytes.into()),
        UpkeepKeyKind::Text => Ok(std::str::from_utf8(bytes).map_err(|_| wrong)?.into()),
        UpkeepKeyKind::Id => Ok(uuid::Uuid::from_slice(bytes).map_err(|_| wrong)?.into()),
    }
}

/// Deletes rows of one queue, or the contents of quarantined messages, by one statement. An attempt that was resumed
/// since stays.
///
/// # Errors
/// Of the database.
pub async fn forget(
    tx: &mut Transaction,
    org: OrgId,
    queue: UpkeepQueue,
    (until, now): (DateTime<Utc>, DateTime<Utc>),
    spent: &[&ExpiredRow],
) -> Result<u64, DbError> {
    if spent.is_empty() {
        return Ok(0);
    }
    let blobs = || Arg::Blobs(spent.iter().map(|row| row.place.1.clone()).collect());
    let ids = || Arg::Uuids(spent.iter().filter_map(|row| uuid::Uuid::from_slice(&row.place.1).ok()).collect());
    let texts = || Arg::Texts(spent.iter().filter_map(|row| String::from_utf8(row.place.1.clone()).ok()).collect());
    match queue {
        UpkeepQueue::Messages => tx.execute(&sql::DELETE_MESSAGES, vec![org.0.into(), blobs()]).await,
        UpkeepQueue::Attempts => tx.execute(&sql::DELETE_ATTEMPTS, vec![until.into(), blobs()]).await,
        UpkeepQueue::Events => tx.execute(&sql::DELETE_EVENTS, vec![org.0.into(), ids()]).await,
        UpkeepQueue::QuarantineBodies => {
            tx.execute(&sql::TRACE_QUARANTINE_BODIES, vec![ids(), now.into()]).await?;
            tx.execute(&sql::DROP_QUARANTINE_BODIES, vec![ids(), now.into()]).await
        }
        UpkeepQueue::QuarantineRows => {
            tx.execute(&sql::DELETE_QUARANTINE_ACTS, vec![ids()]).await?;
            tx.execute(&sql::DELETE_QUARANTINE_ROWS, vec![ids()]).await
        }
        UpkeepQueue::Archives => {
            tx.execute(&sql::DROP_ARCHIVED, vec![org.0.into(), ids(), until.into(), now.into()]).await?;
            tx.execute(&sql::DELETE_ARCHIVES, vec![org.0.into(), ids(), until.into()]).await
        }
        UpkeepQueue::Runs => tx.execute(&sql::DELETE_RUNS, vec![org.0.into(), texts(), until.into()]).await,
        UpkeepQueue::Holds => tx.execute(&sql::DELETE_HOLDS, vec![org.0.into(), ids(), until.into()]).await,
        UpkeepQueue::Receipts => tx.execute(&sql::DELETE_RECEIPTS, vec![org.0.into(), ids(), until.into()]).await,
        UpkeepQueue::Patterns => tx.execute(&sql::DELETE_PATTERNS, vec![org.0.into(), texts(), until.into()]).await,
        UpkeepQueue::Answers => tx.execute(&sql::DELETE_ANSWERS, vec![org.0.into(), ids(), until.into()]).await,
        UpkeepQueue::Batches => tx.execute(&sql::DELETE_BATCHES, vec![until.into(), ids()]).await,
        UpkeepQueue::Audit => {
            let blocks: Vec<i64> = spent.iter().map(|row| row.place.0).collect();
            audit_trail::purge(tx, org, &blocks, until).await
        }
    }
}

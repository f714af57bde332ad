//! Keyset pagination over due rows: in the order of instants, queue after queue, continuing after the previous page. A
//! job defines only its queues and what it does with a row.

use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::driver::{JobError, JobPage, JobWindow};
use super::ledger::RunCursor;
use anamnesis_sql::Transaction;

/// Rows in several queues, each with a separate order.
#[async_trait]
pub(crate) trait DueQueues: Send + Sync {
    type Queue: Copy + Send + Sync + 'static;
    /// The position of a row in the order of its queue.
    type Position: Clone + Serialize + DeserializeOwned + Send + Sync;
    type Row: Send + Sync;
    /// One after the other.
    const QUEUES: &'static [Self::Queue];

    /// Before every row of the queue.
    fn start(queue: Self::Queue) -> Self::Position;

    fn place(row: &Self::Row) -> Self::Position;

    /// Rows after `after`, in order, at most `window.limit`.
    async fn read(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        queue: Self::Queue,
        after: &Self::Position,
    ) -> Result<Vec<Self::Row>, JobError>;
}

#[derive(Debug, Serialize, Deserialize)]
struct QueueCursor<P> {
    #[serde(rename = "lane")]
    queue: usize,
    after: P,
}

/// The next page with a row in it, of whichever queue has one.
///
/// # Errors
/// Of the database, or when the cursor was written by another version.
pub(crate) async fn page<L: DueQueues>(
    queues: &L,
    tx: &mut Transaction,
    window: &JobWindow,
    from: Option<&RunCursor>,
) -> Result<JobPage<L::Row>, JobError> {
    let mut at: Option<QueueCursor<L::Position>> = match from {
        Some(cursor) => Some(cursor.read()?),
        None => entry::<L>(0),
    };
    while let Some(now) = at.take() {
        let Some(queue) = L::QUEUES.get(now.queue).copied() else { break };
        let rows = queues.read(tx, window, queue, &now.after).await?;
        at = match rows.last().filter(|_| is_full(rows.len(), window)) {
            Some(last) => Some(QueueCursor { queue: now.queue, after: L::place(last) }),
            None => entry::<L>(now.queue + 1),
        };
        if !rows.is_empty() {
            let next = at.map(|at| RunCursor::write(&at));
            return Ok(JobPage { examined: rows.len() as u64, changes: rows, next });
        }
    }
    Ok(JobPage::end())
}

fn entry<L: DueQueues>(queue: usize) -> Option<QueueCursor<L::Position>> {
    L::QUEUES.get(queue).map(|first| QueueCursor { queue, after: L::start(*first) })
}

/// Where the next page of a single order begins: after the last row, unless this page was not full.
pub(crate) fn next_after<R, P: Serialize>(
    rows: &[R],
    window: &JobWindow,
    place: impl Fn(&R) -> P,
) -> Option<RunCursor> {
    rows.last().filter(|_| is_full(rows.len(), window)).map(|last| RunCursor::write(&place(last)))
}

fn is_full(rows: usize, window: &JobWindow) -> bool {
    rows >= window.limit as usize
}

#[cfg(test)]
#[path = "keyset_pages_tests.rs"]
mod tests;

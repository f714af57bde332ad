//! How jobs go through what is due, a page at a time: in the order of instants, lane after lane, from where the page before
//! ended. Written once, so that a job says only what its lanes are and what it does with a row.

use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::driver::{JobError, Page, Window};
use super::ledger::Cursor;
use anamnesis_sql::Transaction;

/// Rows in several lanes, each in an order of its own.
#[async_trait]
pub trait Lanes: Send + Sync {
    type Lane: Copy + Send + Sync + 'static;
    /// Where a row stands in the order of its lane.
    type Place: Clone + Serialize + DeserializeOwned + Send + Sync;
    type Row: Send + Sync;
    /// One after the other.
    const LANES: &'static [Self::Lane];

    /// Before every row of the lane.
    fn start(lane: Self::Lane) -> Self::Place;

    fn place(row: &Self::Row) -> Self::Place;

    /// Rows after `after`, in order, at most `window.limit`.
    async fn read(
        &self,
        tx: &mut Transaction,
        window: &Window,
        lane: Self::Lane,
        after: &Self::Place,
    ) -> Result<Vec<Self::Row>, JobError>;
}

#[derive(Debug, Serialize, Deserialize)]
struct At<P> {
    lane: usize,
    after: P,
}

/// The next page with a row in it, of whichever lane has one.
///
/// # Errors
/// Of the database, or when the cursor was written by another version.
pub async fn page<L: Lanes>(
    lanes: &L,
    tx: &mut Transaction,
    window: &Window,
    from: Option<&Cursor>,
) -> Result<Page<L::Row>, JobError> {
    let mut at: Option<At<L::Place>> = match from {
        Some(cursor) => Some(cursor.read()?),
        None => entry::<L>(0),
    };
    while let Some(now) = at.take() {
        let Some(lane) = L::LANES.get(now.lane).copied() else { break };
        let rows = lanes.read(tx, window, lane, &now.after).await?;
        at = match rows.last().filter(|_| is_full(rows.len(), window)) {
            Some(last) => Some(At { lane: now.lane, after: L::place(last) }),
            None => entry::<L>(now.lane + 1),
        };
        if !rows.is_empty() {
            let next = at.map(|at| Cursor::write(&at));
            return Ok(Page { examined: rows.len() as u64, changes: rows, next });
        }
    }
    Ok(Page::end())
}

fn entry<L: Lanes>(lane: usize) -> Option<At<L::Place>> {
    L::LANES.get(lane).map(|first| At { lane, after: L::start(*first) })
}

/// Where the next page of a single order begins: after the last row, unless this page was not full.
pub(crate) fn next_after<R, P: Serialize>(rows: &[R], window: &Window, place: impl Fn(&R) -> P) -> Option<Cursor> {
    rows.last().filter(|_| is_full(rows.len(), window)).map(|last| Cursor::write(&place(last)))
}

fn is_full(rows: usize, window: &Window) -> bool {
    rows >= window.limit as usize
}

#[cfg(test)]
#[path = "lanes_tests.rs"]
mod tests;

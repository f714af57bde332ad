//! Events for the outside, written in the transaction of what they tell and published later. Ids and codes only, and
//! yet sealed: that a patient has memories at all is nobody's business.

use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use serde::Serialize;
use uuid::Uuid;

use super::engine::{Bulk, ColumnType, DbError, Transaction};
use crate::clock::Entropy;
use crate::crypto::{Cell, PatientKeys};

static INSERT: LazyLock<Bulk> = LazyLock::new(|| {
    Bulk::new(
        "outbox",
        &[
            ("org_id", ColumnType::Uuid),
            ("id", ColumnType::Uuid),
            ("patient_id", ColumnType::Uuid),
            ("event_type", ColumnType::Text),
            ("body_sealed", ColumnType::Bytes),
            ("created_at", ColumnType::Int),
            ("updated_at", ColumnType::Int),
        ],
        "ON CONFLICT (org_id, id) DO NOTHING",
    )
});

/// The cell that an event's body is sealed for.
pub fn body_cell(id: Uuid) -> Cell {
    Cell { table: "outbox", row: id, column: "body" }
}

/// An event to publish.
#[derive(Debug)]
pub struct Event<'a, B> {
    pub keys: &'a PatientKeys,
    /// Derived from what happened, so that telling it again is the same event.
    pub id: Uuid,
    /// As in contract.md, "Events out", without prefix: `memory.changed.v1`.
    pub event_type: &'static str,
    pub body: B,
}

/// Writes events by one statement; those already there stay as they are. Returns how many were new.
///
/// # Errors
/// Of the database.
pub async fn enqueue<B: Serialize>(
    tx: &mut Transaction,
    events: &[Event<'_, B>],
    now: DateTime<Utc>,
    entropy: &dyn Entropy,
) -> Result<u64, DbError> {
    let rows = events
        .iter()
        .map(|event| {
            let scope = event.keys.scope();
            let body = serde_json::to_vec(&event.body).map_err(|_| DbError::Other { code: "event".to_owned() })?;
            let sealed = event.keys.seal(body_cell(event.id), &body, entropy);
            Ok(vec![
                scope.org().0.into(),
                event.id.into(),
                scope.patient().0.into(),
                event.event_type.into(),
                sealed.into(),
                now.into(),
                now.into(),
            ])
        })
        .collect::<Result<Vec<_>, DbError>>()?;
    tx.bulk(&INSERT, rows).await
}

//! Events for the outside, written in the transaction of what they tell and published later. Ids and codes only, and
//! yet sealed: that a patient has memories at all is nobody's business.

use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use uuid::Uuid;

use anamnesis_core::clock::Entropy;
use anamnesis_core::event::EventData;
use anamnesis_core::ids::derive;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::{Cell, PatientKeys};
use anamnesis_sql::{Bulk, ColumnType, DbError, Sql, Transaction};

static INSERT: LazyLock<Bulk> = LazyLock::new(|| {
    let columns = [
        ("org_id", ColumnType::Uuid),
        ("id", ColumnType::Uuid),
        ("patient_id", ColumnType::Uuid),
        ("event_type", ColumnType::Text),
        ("body_sealed", ColumnType::Bytes),
    ];
    let shared = [("created_at", ColumnType::Int), ("updated_at", ColumnType::Int)];
    Bulk::sharing("outbox", &shared, &columns, "ON CONFLICT (org_id, id) DO NOTHING")
});

pub(super) fn statement() -> &'static Sql {
    INSERT.sql()
}

/// The field of a sealed body that holds the trace context of the message behind the event. It is taken out before the event
/// leaves, and goes with the patient's key.
pub const TRACEPARENT: &str = "traceparent";

/// The cell that an event's body is sealed for.
pub fn body_cell(id: Uuid) -> Cell {
    Cell { table: "outbox", row: id, column: "body" }
}

/// The data of an event with the patient whom it is about.
pub(crate) fn scoped(scope: Scope, mut body: Value) -> Value {
    if let Value::Object(fields) = &mut body {
        fields.insert("organization_id".to_owned(), json!(scope.org()));
        fields.insert("patient_id".to_owned(), json!(scope.patient()));
    }
    body
}

/// What is told, of whom: ids and codes only.
#[derive(Debug)]
pub(crate) struct Told {
    scope: Scope,
    id: Uuid,
    event_type: &'static str,
    body: Value,
}

impl Told {
    /// `key` tells this event from any other of its type and patient, so that telling it again is the same event;
    /// `body` is an object of ids and codes.
    pub(crate) fn new(scope: Scope, event_type: &'static str, key: &[&[u8]], body: Value) -> Self {
        let (org, patient) = (scope.org().0, scope.patient().0);
        let mut parts: Vec<&[u8]> = vec![org.as_bytes(), patient.as_bytes(), event_type.as_bytes()];
        parts.extend_from_slice(key);
        Self { scope, id: derive("event", &parts), event_type, body: scoped(scope, body) }
    }

    pub(crate) fn scope(&self) -> Scope {
        self.scope
    }

    /// With the keys of its patient, ready to be written.
    pub(crate) fn under(self, keys: &PatientKeys) -> Event<'_> {
        Event { keys, told: self }
    }
}

/// An event to publish.
#[derive(Debug)]
pub struct Event<'a> {
    keys: &'a PatientKeys,
    told: Told,
}

impl<'a> Event<'a> {
    /// As [`Told::new`], of the patient whose keys these are.
    pub fn new<D: EventData>(keys: &'a PatientKeys, key: &[&[u8]], data: &D) -> Self {
        Told::new(keys.scope(), D::TYPE, key, json!(data)).under(keys)
    }
}

/// Writes events by one statement; those already there stay as they are. Returns how many were new.
///
/// # Errors
/// Of the database.
pub async fn enqueue(
    tx: &mut Transaction,
    events: &[Event<'_>],
    now: DateTime<Utc>,
    entropy: &dyn Entropy,
) -> Result<u64, DbError> {
    let rows = events
        .iter()
        .map(|Event { keys, told }| {
            let sealed = keys.seal(body_cell(told.id), told.body.to_string().as_bytes(), entropy);
            vec![
                told.scope.org().0.into(),
                told.id.into(),
                told.scope.patient().0.into(),
                told.event_type.into(),
                sealed.into(),
            ]
        })
        .collect();
    tx.bulk_sharing(&INSERT, vec![now.into(), now.into()], rows).await
}

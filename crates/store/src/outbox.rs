//! Events for other systems, written in the transaction of their cause and published later. They contain only ids and
//! codes, and are still sealed, because even the existence of a patient's memories is confidential.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::statements::outbox as sql;
use anamnesis_core::clock::Entropy;
use anamnesis_core::event::EventData;
use anamnesis_core::ids::derive;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::{ColumnRef, PatientKeys};
use anamnesis_sql::{Arg, DbError, Transaction};

/// The field of a sealed body that holds the trace context of the causing message. It is removed before the event is
/// published, and destroyed with the patient's key.
pub const TRACEPARENT: &str = "traceparent";

/// The cell that an event's body is sealed for.
pub fn body_cell(id: Uuid) -> ColumnRef {
    ColumnRef { table: "outbox", row: id, column: "body" }
}

/// The data of an event with the patient whom it is about.
pub(crate) fn scoped(scope: Scope, mut body: Value) -> Value {
    if let Value::Object(fields) = &mut body {
        fields.insert("organization_id".to_owned(), json!(scope.org()));
        fields.insert("patient_id".to_owned(), json!(scope.patient()));
    }
    body
}

/// The content of an event and its patient: ids and codes only.
#[derive(Debug)]
pub(crate) struct EventRecord {
    scope: Scope,
    id: Uuid,
    event_type: &'static str,
    body: Value,
}

impl EventRecord {
    /// `key` distinguishes this event from any other of its type and patient, so that a repetition is the same event;
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
    pub(crate) fn under(self, keys: &PatientKeys) -> NewOutboxEvent<'_> {
        NewOutboxEvent { keys, record: self }
    }
}

/// An event to publish.
#[derive(Debug)]
pub struct NewOutboxEvent<'a> {
    keys: &'a PatientKeys,
    record: EventRecord,
}

impl<'a> NewOutboxEvent<'a> {
    /// As [`EventRecord::new`], of the patient whose keys these are.
    pub fn new<D: EventData>(keys: &'a PatientKeys, key: &[&[u8]], data: &D) -> Self {
        EventRecord::new(keys.scope(), D::TYPE, key, json!(data)).under(keys)
    }
}

/// Writes events by one statement; those already there stay as they are. Returns how many were new.
///
/// # Errors
/// Of the database.
pub async fn enqueue(
    tx: &mut Transaction,
    events: &[NewOutboxEvent<'_>],
    now: DateTime<Utc>,
    entropy: &dyn Entropy,
) -> Result<u64, DbError> {
    let row = |NewOutboxEvent { keys, record }: &NewOutboxEvent<'_>| -> Vec<Arg> {
        sql::insert::Row {
            org_id: record.scope.org().0.into(),
            id: record.id.into(),
            patient_id: record.scope.patient().0.into(),
            event_type: record.event_type.into(),
            body_sealed: keys.seal(body_cell(record.id), record.body.to_string().as_bytes(), entropy).into(),
        }
        .into()
    };
    let shared = sql::insert::Shared { created_at: now.into(), updated_at: now.into() };
    tx.bulk_sharing(&sql::INSERT, shared.into(), events.iter().map(row).collect()).await
}

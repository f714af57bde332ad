//! Events to publish: ids and codes only, never text (contract.md, "Events out"). Their ids are derived, so that a
//! replay yields the same event.

use std::sync::LazyLock;

use serde_json::{Value, json};
use uuid::Uuid;

use super::Writer;
use crate::crypto::Cell;
use crate::domain::ids::derive;
use crate::domain::scope::Scope;
use crate::store::StoreError;
use crate::store::engine::{Arg, Bulk, ColumnType, Sql};
use crate::store::records::Alarm;

static OUTBOX: LazyLock<Bulk> = LazyLock::new(|| {
    let columns = [
        ("org_id", ColumnType::Uuid),
        ("id", ColumnType::Uuid),
        ("patient_id", ColumnType::Uuid),
        ("event_type", ColumnType::Text),
        ("body_sealed", ColumnType::Bytes),
        ("created_at", ColumnType::Int),
        ("updated_at", ColumnType::Int),
    ];
    Bulk::new("outbox", &columns, "ON CONFLICT (org_id, id) DO NOTHING")
});

/// Events of one transaction, in order.
#[derive(Debug, Default)]
pub(in crate::store) struct Events(Vec<(Scope, Uuid, &'static str, Value)>);

impl Events {
    /// `key` tells this event from any other of its type and patient; `body` holds ids and codes.
    pub fn push(&mut self, scope: Scope, event_type: &'static str, key: &[&[u8]], mut body: Value) {
        let (org, patient) = (scope.org().0, scope.patient().0);
        let mut parts: Vec<&[u8]> = vec![org.as_bytes(), patient.as_bytes(), event_type.as_bytes()];
        parts.extend_from_slice(key);
        if let Value::Object(fields) = &mut body {
            fields.insert("organization_id".to_owned(), json!(org));
            fields.insert("patient_id".to_owned(), json!(patient));
        }
        self.0.push((scope, derive("event", &parts), event_type, body));
    }
}

/// The cell of an event's body.
pub(in crate::store) fn body_cell(id: Uuid) -> Cell {
    Cell { table: "outbox", row: id, column: "body" }
}

impl Writer<'_> {
    /// What is raised of a patient of whom nothing is kept: which danger, and nothing else.
    pub(super) fn alarms(&mut self, alarms: &[Alarm]) {
        for alarm in alarms {
            let body = json!({"class": alarm.class, "experiencer": alarm.experiencer.code(), "ephemeral": true});
            let key: [&[u8]; 2] = [&alarm.message, alarm.class.as_bytes()];
            self.events.push(alarm.scope, "anamnesis.risk.flagged.v1", &key, body);
        }
    }

    pub(super) async fn flush_events(&mut self) -> Result<(), StoreError> {
        let events = std::mem::take(&mut self.events.0);
        let now = Arg::from(self.target.now);
        let mut rows = Vec::with_capacity(events.len());
        for (scope, id, event_type, body) in events {
            let keys = self.keys_of(scope)?;
            let sealed = keys.seal(body_cell(id), body.to_string().as_bytes(), self.entropy);
            let org = self.org().0;
            let patient = scope.patient().0;
            rows.push(vec![
                org.into(),
                id.into(),
                patient.into(),
                event_type.into(),
                sealed.into(),
                now.clone(),
                now.clone(),
            ]);
        }
        self.done.events += rows.len();
        self.tx.bulk(&OUTBOX, rows).await?;
        Ok(())
    }
}

pub(super) fn statements() -> Vec<&'static Sql> {
    vec![OUTBOX.sql()]
}

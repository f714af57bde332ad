//! An event as it leaves: a CloudEvent of ids and codes.

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Value, json};
use uuid::Uuid;

use anamnesis_core::event::{EventData as _, MessageQuarantined};
use anamnesis_core::ids::{OrgId, derive};
use anamnesis_observability::metrics::Label as _;
use anamnesis_observability::metrics::labels::EventType;
use anamnesis_store::outbox::TRACEPARENT;
use anamnesis_store::outbox_claims::{ClaimedEvent, QuarantineNotice};

/// Who says it.
pub(crate) const SOURCE: &str = "urn:anamnesis";
/// First word of every type of event.
const PREFIX: &str = "anamnesis.";

/// The type of a notice of a quarantined message.
pub(super) const NOTICE: &str = MessageQuarantined::TYPE;

/// An event for subscribers. Delivery is idempotent: its id is stable.
#[derive(Debug, Clone, PartialEq)]
pub struct OutboxEvent {
    pub id: Uuid,
    /// `anamnesis.memory.changed.v1`; the routing key too.
    pub(crate) kind: String,
    pub(crate) time: DateTime<Utc>,
    /// The patient, so that a consumer can keep their order.
    pub(crate) partition: Option<Uuid>,
    pub(crate) data: Value,
    /// W3C trace context: of the message behind it, and from its publication on that of the publication.
    pub(crate) traceparent: Option<String>,
}

impl OutboxEvent {
    /// An event of the outbox; `None` when its body cannot be read, which is a defect.
    pub(super) fn from_claimed(org: OrgId, pending: &ClaimedEvent) -> Option<Self> {
        let mut data: Value = serde_json::from_slice(pending.body.as_deref()?).unwrap_or_else(|_| json!({"org": org}));
        let trace = data.as_object_mut().and_then(|fields| fields.remove(TRACEPARENT));
        let traceparent = trace.and_then(|trace| trace.as_str().map(str::to_owned));
        let (id, kind, time) = (pending.id, pending.event_type.clone(), pending.created_at);
        Some(Self { id, kind, time, partition: Some(pending.patient.0), data, traceparent })
    }

    /// A quarantined message: its id and the reason's code, nothing else.
    pub(super) fn from_notice(notice: &QuarantineNotice) -> Self {
        let (quarantine_id, reason, organization_id) = (notice.id, notice.reason, notice.org);
        let data = json!(MessageQuarantined { quarantine_id, reason, organization_id });
        let id =
            derive("event.quarantine", &[notice.id.as_bytes(), &notice.created_at.timestamp_micros().to_be_bytes()]);
        let kind = NOTICE.to_owned();
        Self { id, kind, time: notice.created_at, partition: None, data, traceparent: None }
    }

    /// RFC 3339, as CloudEvents want it.
    pub(super) fn time_text(&self) -> String {
        self.time.to_rfc3339_opts(SecondsFormat::Micros, true)
    }

    /// In structured mode.
    pub(crate) fn structured(&self) -> Value {
        let mut event = json!({"specversion": "1.0", "id": self.id, "source": SOURCE, "type": self.kind,
            "time": self.time_text(), "datacontenttype": "application/json", "data": self.data});
        if let (Some(partition), Value::Object(fields)) = (self.partition, &mut event) {
            fields.insert("partitionkey".to_owned(), json!(partition));
        }
        if let (Some(traceparent), Value::Object(fields)) = (&self.traceparent, &mut event) {
            fields.insert(TRACEPARENT.to_owned(), json!(traceparent));
        }
        event
    }
}

/// The metric's word for a type of event; `None` for one that the contract does not have.
pub(super) fn label(kind: &str) -> Option<EventType> {
    let word = kind.strip_prefix(PREFIX)?.strip_suffix(".v1")?.replace('.', "_");
    EventType::from_code(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_of_event_has_its_series() {
        for kind in ["document.indexed", "memory.changed", "reconfirmation.due", "contradiction.found", "risk.flagged"]
        {
            assert!(label(&format!("anamnesis.{kind}.v1")).is_some(), "{kind}");
        }
        assert_eq!(label("anamnesis.other.v1"), None);
    }
}

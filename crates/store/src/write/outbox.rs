//! The outbox events of a batch, collected while it is written (contract.md, "Events out").

use serde_json::{Value, json};

use super::BatchWriter;
use crate::StoreError;
use crate::outbox::{EventRecord, TRACEPARENT, enqueue};
use crate::records::{EventTrace, RiskAlarm};
use anamnesis_core::event::{EventData, HeardBy, RiskFlagged};
use anamnesis_core::scope::Scope;

/// The detector of a risk: the classifier if there is a probability.
pub(super) fn found_by(learned: Option<f64>) -> HeardBy {
    if learned.is_some() { HeardBy::Learned } else { HeardBy::Rules }
}

/// Events of one transaction, in order.
#[derive(Debug, Default)]
pub(crate) struct EventBuffer {
    records: Vec<EventRecord>,
    /// The traces that they continue.
    traces: Vec<EventTrace>,
}

impl EventBuffer {
    /// Sets the traces that events continue from now on.
    pub(super) fn within(&mut self, traces: &[EventTrace]) {
        self.traces = traces.to_vec();
    }

    /// See [`EventRecord::new`].
    pub(crate) fn push<D: EventData>(&mut self, scope: Scope, key: &[&[u8]], data: &D) {
        self.repeat::<D>(scope, key, json!(data));
    }

    /// The same of data that was written before.
    pub(crate) fn repeat<D: EventData>(&mut self, scope: Scope, key: &[&[u8]], mut body: Value) {
        if let Some(trace) = self.trace(scope, &body) {
            body[TRACEPARENT] = json!(trace.traceparent);
        }
        self.records.push(EventRecord::new(scope, D::TYPE, key, body));
    }

    /// That of the document which the event names, else of the patient's first message in the batch.
    fn trace(&self, scope: Scope, body: &Value) -> Option<&EventTrace> {
        let own = || self.traces.iter().filter(|trace| trace.scope == scope);
        let names = |trace: &&EventTrace| trace.document.is_some_and(|id| body["document_id"] == json!(id));
        own().find(names).or_else(|| own().next())
    }
}

impl BatchWriter<'_> {
    /// The risk alarm of a patient in ephemeral mode: the danger, and nothing else.
    pub(super) fn alarms(&mut self, alarms: &[RiskAlarm]) {
        for alarm in alarms {
            let key: [&[u8]; 2] = [&alarm.message, alarm.class.as_bytes()];
            let data = RiskFlagged {
                document_id: None,
                revision: None,
                class: alarm.class,
                experiencer: alarm.experiencer,
                level: alarm.level,
                by: found_by(alarm.learned),
                confidence: alarm.learned,
                ephemeral: Some(true),
            };
            self.events.push(alarm.scope, &key, &data);
        }
    }

    pub(super) async fn flush_events(&mut self) -> Result<(), StoreError> {
        let keys = self.keys;
        let sealed =
            |record: EventRecord| keys.get(&record.scope()).map(|keys| record.under(keys)).ok_or(StoreError::Race);
        let events =
            std::mem::take(&mut self.events.records).into_iter().map(sealed).collect::<Result<Vec<_>, StoreError>>()?;
        self.done.events += events.len();
        enqueue(self.tx, &events, self.target.now, self.entropy).await?;
        Ok(())
    }
}

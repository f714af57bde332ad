//! What a batch tells the outside, gathered while it is written (contract.md, "Events out").

use serde_json::{Value, json};

use super::Writer;
use crate::StoreError;
use crate::outbox::{TRACEPARENT, Told, enqueue};
use crate::records::{Alarm, TraceOf, heard_by};
use anamnesis_core::finding::RiskLevel;
use anamnesis_core::scope::Scope;

/// Adds to a `risk.flagged.v1` its level, who heard the risk, and the probability where it was the learned ear.
pub(super) fn tell_who_heard(body: &mut Value, learned: Option<f64>, level: RiskLevel) {
    body["level"] = json!(level.code());
    body["by"] = json!(heard_by(learned));
    if let Some(probability) = learned {
        body["confidence"] = json!(probability);
    }
}

/// Events of one transaction, in order.
#[derive(Debug, Default)]
pub(crate) struct Events {
    told: Vec<Told>,
    /// The traces that they go on with.
    traces: Vec<TraceOf>,
}

impl Events {
    /// The traces that events go on with from now on.
    pub(super) fn within(&mut self, traces: &[TraceOf]) {
        self.traces = traces.to_vec();
    }

    /// See [`Told::new`].
    pub(crate) fn push(&mut self, scope: Scope, event_type: &'static str, key: &[&[u8]], mut body: Value) {
        if let Some(trace) = self.trace(scope, &body) {
            body[TRACEPARENT] = json!(trace.traceparent);
        }
        self.told.push(Told::new(scope, event_type, key, body));
    }

    /// That of the document which the event names, else of the patient's first message in the batch.
    fn trace(&self, scope: Scope, body: &Value) -> Option<&TraceOf> {
        let own = || self.traces.iter().filter(|trace| trace.scope == scope);
        let names = |trace: &&TraceOf| trace.document.is_some_and(|id| body["document_id"] == json!(id));
        own().find(names).or_else(|| own().next())
    }
}

impl Writer<'_> {
    /// What is raised of a patient of whom nothing is kept: which danger, and nothing else.
    pub(super) fn alarms(&mut self, alarms: &[Alarm]) {
        for alarm in alarms {
            let mut body = json!({"class": alarm.class, "experiencer": alarm.experiencer.code(), "ephemeral": true});
            tell_who_heard(&mut body, alarm.learned, alarm.level);
            let key: [&[u8]; 2] = [&alarm.message, alarm.class.as_bytes()];
            self.events.push(alarm.scope, "anamnesis.risk.flagged.v1", &key, body);
        }
    }

    pub(super) async fn flush_events(&mut self) -> Result<(), StoreError> {
        let keys = self.keys;
        let sealed = |told: Told| keys.get(&told.scope()).map(|keys| told.under(keys)).ok_or(StoreError::Race);
        let events =
            std::mem::take(&mut self.events.told).into_iter().map(sealed).collect::<Result<Vec<_>, StoreError>>()?;
        self.done.events += events.len();
        enqueue(self.tx, &events, self.target.now, self.entropy).await?;
        Ok(())
    }
}

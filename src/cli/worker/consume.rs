//! The worker's handling of broker messages: the pipeline, a separate process for crash suspects, and quarantine as the
//! last resort.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::gate::KeyGate;
use anamnesis_core::reason::Reason;
use anamnesis_messages::MessageOrigin;
use anamnesis_pipeline::isolation::Isolation;
use anamnesis_pipeline::{Disposition, Pipeline, RawMessage};
use anamnesis_rabbitmq::Queue;
use anamnesis_rabbitmq::consumer::{AckDecision, InboundMessage, MessageHandler, OfferCounts, label};

/// The pipeline as the consumer sees it.
pub(crate) struct PipelineHandler {
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) isolation: Isolation,
    pub(crate) gate: Arc<KeyGate>,
}

impl PipelineHandler {
    async fn quarantine_message(&self, message: &InboundMessage, reason: Reason) -> AckDecision {
        match self.pipeline.quarantine_message(&raw(message), reason).await {
            Ok(()) => AckDecision::Ack,
            Err(_) => AckDecision::RetryUncounted,
        }
    }
}

#[async_trait]
impl MessageHandler for PipelineHandler {
    async fn handle_batch(&self, queue: Queue, messages: &[InboundMessage]) -> Vec<AckDecision> {
        loop {
            if !self.gate.opens().await {
                return vec![AckDecision::RetryUncounted; messages.len()];
            }
            let decisions = self.run_batch(queue, messages).await;
            // Messages that failed for missing keys wait here, and not in a retry queue. Stored messages are then
            // recognised.
            if !decisions.contains(&AckDecision::RetryUncounted) || !self.gate.keys_unavailable().await {
                return decisions;
            }
        }
    }

    async fn handle_isolated(&self, queue: Queue, message: &InboundMessage) -> AckDecision {
        if !self.gate.opens().await {
            return AckDecision::RetryUncounted;
        }
        decision(self.pipeline.run_isolated(&self.isolation, label(queue), &raw(message)).await)
    }

    fn retry_proof(&self, offers: OfferCounts, body: &[u8]) -> [u8; 32] {
        self.pipeline.retry_proof(offers.retries, offers.waits, body)
    }

    fn now(&self) -> Option<DateTime<Utc>> {
        Some(self.pipeline.store().clock().now())
    }

    async fn exhausted(&self, _: Queue, message: &InboundMessage) -> AckDecision {
        // At any number of attempts: a message is not to blame for a missing key.
        if self.gate.keys_unavailable().await || self.pipeline.lacks_keys(&raw(message)).await {
            return AckDecision::RetryUncounted;
        }
        self.quarantine_message(message, Reason::TransientExhausted).await
    }
}

impl PipelineHandler {
    async fn run_batch(&self, queue: Queue, messages: &[InboundMessage]) -> Vec<AckDecision> {
        let raws: Vec<RawMessage> = messages.iter().map(raw).collect();
        // Only checked for redelivered messages, because a first delivery has killed no process.
        let again: Vec<usize> = (0..messages.len()).filter(|at| messages[*at].redelivered).collect();
        let asked: Vec<RawMessage> = again.iter().map(|at| raws[*at].clone()).collect();
        let Ok(split) = self.pipeline.split_suspects(&asked).await else {
            return vec![AckDecision::RetryUncounted; messages.len()];
        };
        let suspects: Vec<usize> = split.suspects.iter().map(|at| again[*at]).collect();
        let mut decisions = vec![AckDecision::Isolate; messages.len()];
        let together: Vec<usize> = (0..messages.len()).filter(|at| !suspects.contains(at)).collect();
        let batch = together.iter().map(|at| raws[*at].clone()).collect();
        let done = self.pipeline.run_from(label(queue), batch).await;
        for (at, disposition) in together.into_iter().zip(done) {
            decisions[at] = decision(disposition);
        }
        decisions
    }
}

/// The one table from dispositions to acknowledgements.
fn decision(disposition: Disposition) -> AckDecision {
    match disposition {
        Disposition::Stored | Disposition::Duplicate | Disposition::Ephemeral | Disposition::Quarantined(_) => {
            AckDecision::Ack
        }
        Disposition::Retry => AckDecision::Retry,
        Disposition::Waits => AckDecision::RetryUncounted,
    }
}

fn raw(message: &InboundMessage) -> RawMessage {
    let (attributes, refused) = (message.attributes.clone(), message.refused.clone());
    let origin = MessageOrigin::Broker { user: message.user.clone(), received: message.received };
    RawMessage { body: message.body.clone(), attributes, refused, sent_at: message.sent_at(), origin }
}

//! What the worker does with messages of the broker: the pipeline, for suspects a process of their own, and for those
//! that nothing helped a place in quarantine.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::gate::Gate;
use anamnesis_core::reason::Reason;
use anamnesis_messages::Origin;
use anamnesis_pipeline::isolation::Isolation;
use anamnesis_pipeline::{Disposition, Pipeline, Raw};
use anamnesis_rabbitmq::Queue;
use anamnesis_rabbitmq::consumer::{Message, Offers, Verdict, Work, label};

/// The pipeline as the consumer sees it.
pub(crate) struct Through {
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) isolation: Isolation,
    pub(crate) gate: Arc<Gate>,
}

impl Through {
    async fn aside(&self, message: &Message, reason: Reason) -> Verdict {
        match self.pipeline.set_aside(&raw(message), reason).await {
            Ok(()) => Verdict::Settled,
            Err(_) => Verdict::Waits,
        }
    }
}

#[async_trait]
impl Work for Through {
    async fn together(&self, queue: Queue, messages: &[Message]) -> Vec<Verdict> {
        loop {
            if !self.gate.opens().await {
                return vec![Verdict::Waits; messages.len()];
            }
            let verdicts = self.worked(queue, messages).await;
            // What failed for want of keys waits here, and not in a tier. What was stored is known then.
            if !verdicts.contains(&Verdict::Waits) || !self.gate.is_shut().await {
                return verdicts;
            }
        }
    }

    async fn alone(&self, queue: Queue, message: &Message) -> Verdict {
        if !self.gate.opens().await {
            return Verdict::Waits;
        }
        verdict(self.pipeline.run_isolated(&self.isolation, label(queue), &raw(message)).await)
    }

    fn retry_proof(&self, offers: Offers, body: &[u8]) -> [u8; 32] {
        self.pipeline.retry_proof(offers.retries, offers.waits, body)
    }

    fn now(&self) -> Option<DateTime<Utc>> {
        Some(self.pipeline.store().clock().now())
    }

    async fn give_up(&self, _: Queue, message: &Message) -> Verdict {
        // However often: a message is not to blame for a key that is away.
        if self.gate.is_shut().await || self.pipeline.lacks_keys(&raw(message)).await {
            return Verdict::Waits;
        }
        self.aside(message, Reason::TransientExhausted).await
    }
}

impl Through {
    async fn worked(&self, queue: Queue, messages: &[Message]) -> Vec<Verdict> {
        let raws: Vec<Raw> = messages.iter().map(raw).collect();
        // Asked of those only that came again: a first delivery killed nobody.
        let again: Vec<usize> = (0..messages.len()).filter(|at| messages[*at].redelivered).collect();
        let asked: Vec<Raw> = again.iter().map(|at| raws[*at].clone()).collect();
        let Ok(parted) = self.pipeline.part(&asked).await else { return vec![Verdict::Waits; messages.len()] };
        let suspects: Vec<usize> = parted.suspects.iter().map(|at| again[*at]).collect();
        let mut verdicts = vec![Verdict::Alone; messages.len()];
        let together: Vec<usize> = (0..messages.len()).filter(|at| !suspects.contains(at)).collect();
        let batch = together.iter().map(|at| raws[*at].clone()).collect();
        let done = self.pipeline.run_from(label(queue), batch).await;
        for (at, disposition) in together.into_iter().zip(done) {
            verdicts[at] = verdict(disposition);
        }
        verdicts
    }
}

/// The one table from what became of a message to what the broker is told.
fn verdict(disposition: Disposition) -> Verdict {
    match disposition {
        Disposition::Stored | Disposition::Duplicate | Disposition::Ephemeral | Disposition::Quarantined(_) => {
            Verdict::Settled
        }
        Disposition::Retry => Verdict::Later,
        Disposition::Waits => Verdict::Waits,
    }
}

fn raw(message: &Message) -> Raw {
    let (attributes, refused) = (message.attributes.clone(), message.refused.clone());
    let origin = Origin::Broker { user: message.user.clone(), received: message.received };
    Raw { body: message.body.clone(), attributes, refused, origin }
}

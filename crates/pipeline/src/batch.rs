//! A batch from start to end: its organisations in turn, then its quarantined messages, metrics and log.

use std::time::Instant;

use futures::FutureExt as _;

use super::batch_log;
use super::message::{BatchMessage, MessageOutcome, RawMessage};
use super::{Disposition, Pipeline, PipelineError};
use anamnesis_core::failpoints;
use anamnesis_messages::Rejection;
use anamnesis_observability::metrics::labels::Queue;
use anamnesis_sql::Fault;
use anamnesis_store::StoreError;
use anamnesis_store::quarantine::RejectedMessage;

impl Pipeline {
    /// Processes a batch and counts it for this queue; the caller counts what is in flight.
    pub async fn run_from(&self, queue: Queue, bodies: Vec<RawMessage>) -> Vec<Disposition> {
        let started = Instant::now();
        // On the heap and without its type, which is as deep as the pipeline.
        let ((mut batch, open), spent) = batch_log::measured(self.process_batch(queue, bodies).boxed()).await;
        self.end_spans(&mut batch, open);
        let done = || batch.iter().map(|message| message.disposition(open));
        self.count_dispositions(queue, batch.iter().map(|message| message.kind).zip(done()));
        self.count_lag(queue, batch.iter().map(|message| message.sent_at).zip(done()));
        self.log_batch(queue, &batch, open, (spent, started));
        done().collect()
    }

    /// A batch with its outcomes, and the disposition of messages without one.
    async fn process_batch(&self, queue: Queue, bodies: Vec<RawMessage>) -> (Vec<BatchMessage>, Disposition) {
        let (mut batch, by_organization) = self.decode(queue, bodies);
        let mut failed = false;
        for (org, entries) in by_organization {
            let places: Vec<usize> = entries.iter().map(|entry| entry.place).collect();
            let outcomes = match self.process_organization(org, entries).await {
                Ok(outcomes) => {
                    self.outage.ended();
                    outcomes
                }
                Err(error) => {
                    self.count_failure(&error);
                    // Where another worker took part of the batch, the store works.
                    if let PipelineError::Store(cause) = &error
                        && cause.fault() == Fault::Store
                        && !matches!(cause, StoreError::Race)
                    {
                        self.outage.began(cause);
                    }
                    tracing::warn!(%error, code = "batch_failed", "a batch failed and will be retried");
                    places.iter().map(|place| MessageOutcome::new(*place, error.again())).collect()
                }
            };
            for outcome in outcomes {
                let place = outcome.place;
                batch[place].outcome = Some(outcome);
            }
        }
        // Last, because a command of this batch may forbid storing anything.
        if !self.quarantine(&mut batch).await && !failpoints::is("quarantine_unwritten") {
            failed = true;
            let open = |outcome: &mut MessageOutcome| outcome.disposition = Disposition::Waits;
            let quarantined =
                |outcome: &&mut MessageOutcome| matches!(outcome.disposition, Disposition::Quarantined(_));
            batch.iter_mut().filter_map(|message| message.outcome.as_mut()).filter(quarantined).for_each(open);
        }
        (batch, if failed { Disposition::Waits } else { Disposition::Stored })
    }

    /// Writes quarantined messages. Returns whether that succeeded; if not, they stay open and are redelivered.
    async fn quarantine(&self, batch: &mut [BatchMessage]) -> bool {
        let mut rejected = Vec::new();
        let mut unread = Vec::new();
        for message in batch {
            let Some(MessageOutcome { disposition: Disposition::Quarantined(reason), field, unkept, .. }) =
                &message.outcome
            else {
                continue;
            };
            // Bodies are moved: nothing after this reads them.
            let raw = std::mem::take(&mut message.raw);
            let problem = anamnesis_messages::Problem::Conflict;
            let refusal = Rejection { reason: *reason, problem, field: field.clone() };
            match message.organization {
                Some(_) => {
                    let entry = self.rejected(message.organization, raw, &refusal);
                    let entry = RejectedMessage { patient: message.patient, ..entry };
                    rejected.push(if *unkept { entry.without_content() } else { entry });
                }
                // Its patient could not be read.
                None => unread.push((raw, refusal)),
            }
        }
        match self.refused(unread, &mut rejected).await {
            Ok(()) => self.store.quarantined().quarantine(&rejected).await.is_ok(),
            Err(_) => false,
        }
    }
}

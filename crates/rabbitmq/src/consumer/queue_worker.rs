//! The worker of one queue: it forms batches after a short linger, works a bounded number of them concurrently, and then
//! acknowledges or retries each message. Independent of the broker: messages come from a stream, acknowledgements go to
//! an [`Acker`], retries to a [`MessagePublisher`].

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::{Stream, StreamExt as _};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::acker::{AckChannel, Acker, ChannelClosed};
use super::{AckDecision, ConsumerStatus, InboundMessage, MessageHandler, OfferCounts, QueueLimits, label};
use crate::names::retry_key;
use crate::{Backoff, MessagePublisher, Names, OutboundMessage, Queue, Tier};
use anamnesis_core::clock::Entropy;
use anamnesis_core::failpoints;
use anamnesis_observability::metrics::Metrics;

/// The worker of one queue within one session.
pub struct QueueWorker<A> {
    pub queue: Queue,
    pub names: Names,
    pub limits: QueueLimits,
    pub handler: Arc<dyn MessageHandler>,
    pub publisher: Arc<dyn MessagePublisher>,
    pub acker: Acker<A>,
    pub status: Arc<ConsumerStatus>,
    pub metrics: Arc<Metrics>,
    /// Cancelled when no new work may begin: the process drains, or the session is over.
    pub stop: CancellationToken,
    /// Slows a worker whose every message fails, so that an outage does not flush the queue into the retry tiers.
    pub brake: Mutex<Backoff>,
    /// The pauses between two attempts to send a retry.
    pub resend: Backoff,
    /// The batches in progress of all sessions: an ending process waits for them.
    pub in_progress: TaskTracker,
}

/// The end of one batch. Where it tells that the channel is gone, the others go on to their commits: dropped in the middle of
/// their work they would look like those of a process that died.
fn finish(
    tasks: &mut JoinSet<Result<(), ChannelClosed>>,
    ended: Result<Result<(), ChannelClosed>, tokio::task::JoinError>,
) -> Result<(), ChannelClosed> {
    let ended = flat(ended);
    if ended.is_err() {
        tasks.detach_all();
    }
    ended
}

/// The pauses of a throttled worker, and those between two attempts to send a retry.
pub(crate) fn pauses(entropy: &Arc<dyn Entropy>) -> (Mutex<Backoff>, Backoff) {
    let pauses =
        |first, longest| Backoff::new(Duration::from_millis(first), Duration::from_secs(longest), Arc::clone(entropy));
    (Mutex::new(pauses(250, 30)), pauses(200, 5))
}

impl<A: AckChannel + 'static> QueueWorker<A> {
    /// Takes messages until the stream ends or the worker is stopped, then finishes what is in progress.
    ///
    /// # Errors
    /// [`ChannelClosed`] when the channel broke: what was not acknowledged comes again.
    pub async fn run(
        self: Arc<Self>,
        mut arrivals: impl Stream<Item = InboundMessage> + Unpin,
    ) -> Result<(), ChannelClosed> {
        let slots = Arc::new(Semaphore::new(self.limits.slots.max(1)));
        let mut tasks: JoinSet<Result<(), ChannelClosed>> = JoinSet::new();
        'taking: loop {
            // One future until it is ready: dropped half-way it would take its messages along, and they would be neither
            // worked nor acknowledged while the channel lives.
            let next = self.next(&slots, &mut arrivals);
            tokio::pin!(next);
            let batch = loop {
                tokio::select! {
                    biased;
                    () = self.stop.cancelled() => break 'taking,
                    Some(ended) = tasks.join_next(), if !tasks.is_empty() => finish(&mut tasks, ended)?,
                    batch = &mut next => break batch,
                }
            };
            let Some((permit, batch)) = batch else { break };
            tasks.spawn(self.in_progress.track_future(Arc::clone(&self).batch(permit, batch)));
        }
        while let Some(ended) = tasks.join_next().await {
            finish(&mut tasks, ended)?;
        }
        Ok(())
    }

    /// A free slot and messages to fill it, or `None` at the end of the stream. To be dropped only when the worker is
    /// stopped: what it has taken comes again with the next session.
    async fn next(
        &self,
        slots: &Arc<Semaphore>,
        arrivals: &mut (impl Stream<Item = InboundMessage> + Unpin),
    ) -> Option<(OwnedSemaphorePermit, Vec<InboundMessage>)> {
        let permit = Arc::clone(slots).acquire_owned().await.ok()?;
        let mut first = arrivals.next().await?;
        let mut size = first.body.len();
        self.arrived(&mut first).await;
        let mut batch = vec![first];
        let company = tokio::time::sleep(self.limits.linger);
        tokio::pin!(company);
        while batch.len() < self.limits.batch.max(1) && size < self.limits.bytes {
            let next = tokio::select! {
                biased;
                next = arrivals.next() => next,
                () = &mut company => break,
            };
            // The end of the stream shows again when the next batch is asked for.
            let Some(mut next) = next else { break };
            size += next.body.len();
            self.arrived(&mut next).await;
            batch.push(next);
        }
        Some((permit, batch))
    }

    async fn arrived(&self, message: &mut InboundMessage) {
        message.believe(|offers, body| self.handler.retry_proof(offers, body));
        self.acker.track(message.tag).await;
        self.status.arrived();
        if message.redelivered {
            self.metrics.ingest.redelivered.with_labels(label(self.queue)).inc();
        }
    }

    /// One batch: worked, acknowledged, and what failed sent away for later.
    async fn batch(
        self: Arc<Self>,
        permit: OwnedSemaphorePermit,
        batch: Vec<InboundMessage>,
    ) -> Result<(), ChannelClosed> {
        let flight = InFlightGuard::new(&self, batch.len());
        if failpoints::is("ack_before_commit") {
            self.acker.ack(&tags(&batch)).await?;
        }
        let decisions = match self.queue {
            Queue::Poison => vec![AckDecision::Isolate; batch.len()],
            queue => self.handler.handle_batch(queue, &batch).await,
        };
        let (mut acked, mut later, mut isolated) = (Vec::new(), Vec::new(), Vec::new());
        for (message, decision) in batch.into_iter().zip(decisions) {
            match decision {
                AckDecision::Ack => acked.push(message),
                AckDecision::Retry => later.push((message, true)),
                AckDecision::RetryUncounted => later.push((message, false)),
                AckDecision::Isolate => isolated.push(message),
            }
        }
        self.acker.ack(&tags(&acked)).await?;
        self.throttle(acked.is_empty() && isolated.is_empty()).await;
        drop(permit);
        self.schedule_retries(later).await?;
        for message in isolated {
            if self.stop.is_cancelled() {
                break;
            }
            match self.handler.handle_isolated(self.queue, &message).await {
                AckDecision::Ack => self.acker.ack(&[message.tag]).await?,
                AckDecision::Retry | AckDecision::Isolate => self.schedule_retries(vec![(message, true)]).await?,
                AckDecision::RetryUncounted => self.schedule_retries(vec![(message, false)]).await?,
            }
        }
        drop(flight);
        Ok(())
    }

    /// Holds the slot for a while when nothing works, and forgets about it when something does.
    async fn throttle(&self, nothing_works: bool) {
        let pause = {
            let mut brake = self.brake.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            if !nothing_works {
                brake.reset();
                return;
            }
            brake.pause()
        };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = self.stop.cancelled() => {}
        }
    }

    /// Sends messages into their tiers, or gives them up after too many tries that count (`true`). Goes on until the broker
    /// has taken them or the worker is stopped: then they stay open and come again.
    async fn schedule_retries(&self, messages: Vec<(InboundMessage, bool)>) -> Result<(), ChannelClosed> {
        let mut waiting = Vec::with_capacity(messages.len());
        for (message, counts) in messages {
            let spent = counts && message.offers.retries >= self.limits.retries;
            if spent && self.handler.exhausted(self.queue, &message).await == AckDecision::Ack {
                self.acker.ack(&[message.tag]).await?;
            } else {
                waiting.push((message, counts));
            }
        }
        let mut pause = self.resend.clone();
        while !waiting.is_empty() && !self.stop.is_cancelled() {
            let outbound: Vec<OutboundMessage> =
                waiting.iter().map(|(message, counts)| self.retry_message(message, *counts)).collect();
            let sent = self.publisher.publish(&outbound).await;
            let (mut left, mut done, mut why) = (Vec::new(), Vec::new(), None);
            for (message, sent) in waiting.into_iter().zip(sent) {
                match sent {
                    Err(error) if !failpoints::is("retry_without_confirm") => {
                        why = Some(error.code());
                        left.push(message);
                    }
                    _ => done.push(message.0.tag),
                }
            }
            self.acker.ack(&done).await?;
            waiting = left;
            if let Some(code) = why {
                tracing::warn!(
                    code,
                    waiting = waiting.len(),
                    "retries cannot be published yet; their messages stay unacknowledged"
                );
                tokio::select! {
                    () = tokio::time::sleep(pause.pause()) => {}
                    () = self.stop.cancelled() => {}
                }
            }
        }
        Ok(())
    }

    fn retry_message(&self, message: &InboundMessage, counts: bool) -> OutboundMessage {
        let tier = Tier::after(message.offers.total());
        let proof = |offers: OfferCounts, body: &[u8]| self.handler.retry_proof(offers, body);
        let key = retry_key(tier, self.queue, &message.routing_key);
        message.retry_message(self.names.retry(), key, counts, self.handler.now(), proof)
    }
}

fn tags(messages: &[InboundMessage]) -> Vec<u64> {
    messages.iter().map(|message| message.tag).collect()
}

/// A task that panicked acknowledged nothing: its session ends, so that its messages come again at once.
fn flat(ended: Result<Result<(), ChannelClosed>, tokio::task::JoinError>) -> Result<(), ChannelClosed> {
    ended.unwrap_or(Err(ChannelClosed))
}

/// Counts messages in flight while it lives.
struct InFlightGuard {
    status: Arc<ConsumerStatus>,
    metrics: Arc<Metrics>,
    began: std::time::Instant,
    messages: i64,
}

impl InFlightGuard {
    fn new<A>(worker: &QueueWorker<A>, messages: usize) -> Self {
        let messages = i64::try_from(messages).unwrap_or(0);
        worker.metrics.ingest.in_flight.add(messages);
        Self {
            status: Arc::clone(&worker.status),
            metrics: Arc::clone(&worker.metrics),
            began: worker.status.began(),
            messages,
        }
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.metrics.ingest.in_flight.sub(self.messages);
        self.status.ended(self.began);
    }
}

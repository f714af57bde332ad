//! One queue's way through the worker: batches that wait a moment for company, a bounded number of them at once, and
//! what becomes of each message afterwards. Knows no broker: messages come from a stream, acknowledgements go to a
//! [`Settler`], retries to an [`Outlet`].

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::{Stream, StreamExt as _};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::settle::{Acks, Gone, Settler};
use super::{Limits, Message, Offers, Status, Verdict, Work, label};
use crate::names::retry_key;
use crate::{Backoff, Letter, Names, Outlet, Queue, Tier};
use anamnesis_core::clock::Entropy;
use anamnesis_core::failpoints;
use anamnesis_observability::metrics::Metrics;

/// The lane of one queue within one generation.
pub struct Lane<A> {
    pub queue: Queue,
    pub names: Names,
    pub limits: Limits,
    pub work: Arc<dyn Work>,
    pub outlet: Arc<dyn Outlet>,
    pub settler: Settler<A>,
    pub status: Arc<Status>,
    pub metrics: Arc<Metrics>,
    /// Cancelled when nothing may be begun any more: draining, or the generation is over.
    pub over: CancellationToken,
    /// Slows a lane whose every message fails, so that an outage does not flush the queue into the tiers.
    pub brake: Mutex<Backoff>,
    /// The pauses between two attempts to send a retry.
    pub resend: Backoff,
    /// Every batch of every generation that is still worked on: an ending process waits for them.
    pub in_progress: TaskTracker,
}

/// The end of one batch. Where it tells that the channel is gone, the others go on to their commits: dropped in the middle of
/// their work they would look like those of a process that died.
fn finish(
    tasks: &mut JoinSet<Result<(), Gone>>,
    ended: Result<Result<(), Gone>, tokio::task::JoinError>,
) -> Result<(), Gone> {
    let ended = flat(ended);
    if ended.is_err() {
        tasks.detach_all();
    }
    ended
}

/// The pauses of a braked lane, and those between two attempts to send a retry.
pub(crate) fn pauses(entropy: &Arc<dyn Entropy>) -> (Mutex<Backoff>, Backoff) {
    let pauses =
        |first, longest| Backoff::new(Duration::from_millis(first), Duration::from_secs(longest), Arc::clone(entropy));
    (Mutex::new(pauses(250, 30)), pauses(200, 5))
}

impl<A: Acks + 'static> Lane<A> {
    /// Takes messages until the stream ends or the lane is over, then finishes what is in hand.
    ///
    /// # Errors
    /// [`Gone`] when the channel broke: what was not acknowledged comes again.
    pub async fn run(self: Arc<Self>, mut arrivals: impl Stream<Item = Message> + Unpin) -> Result<(), Gone> {
        let slots = Arc::new(Semaphore::new(self.limits.slots.max(1)));
        let mut tasks: JoinSet<Result<(), Gone>> = JoinSet::new();
        'taking: loop {
            // One future until it is ready: dropped half-way it would take its messages along, and nobody would work
            // or acknowledge them while the channel lives.
            let next = self.next(&slots, &mut arrivals);
            tokio::pin!(next);
            let batch = loop {
                tokio::select! {
                    biased;
                    () = self.over.cancelled() => break 'taking,
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

    /// A free slot and messages to fill it, or `None` at the end of the stream. To be dropped only when the lane is over:
    /// what it has taken comes again with the next generation.
    async fn next(
        &self,
        slots: &Arc<Semaphore>,
        arrivals: &mut (impl Stream<Item = Message> + Unpin),
    ) -> Option<(OwnedSemaphorePermit, Vec<Message>)> {
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

    async fn arrived(&self, message: &mut Message) {
        message.believe(|offers, body| self.work.retry_proof(offers, body));
        self.settler.opened(message.tag).await;
        self.status.arrived();
        if message.redelivered {
            self.metrics.ingest.redelivered.of(label(self.queue)).inc();
        }
    }

    /// One batch: worked, acknowledged, and what failed sent away for later.
    async fn batch(self: Arc<Self>, permit: OwnedSemaphorePermit, batch: Vec<Message>) -> Result<(), Gone> {
        let flight = Flight::of(&self, batch.len());
        if failpoints::is("ack_before_commit") {
            self.settler.settle(&tags(&batch)).await?;
        }
        let verdicts = match self.queue {
            Queue::Parked => vec![Verdict::Alone; batch.len()],
            queue => self.work.together(queue, &batch).await,
        };
        let (mut settled, mut later, mut alone) = (Vec::new(), Vec::new(), Vec::new());
        for (message, verdict) in batch.into_iter().zip(verdicts) {
            match verdict {
                Verdict::Settled => settled.push(message),
                Verdict::Later => later.push((message, true)),
                Verdict::Waits => later.push((message, false)),
                Verdict::Alone => alone.push(message),
            }
        }
        self.settler.settle(&tags(&settled)).await?;
        self.slow_down(settled.is_empty() && alone.is_empty()).await;
        drop(permit);
        self.later(later).await?;
        for message in alone {
            if self.over.is_cancelled() {
                break;
            }
            match self.work.alone(self.queue, &message).await {
                Verdict::Settled => self.settler.settle(&[message.tag]).await?,
                Verdict::Later | Verdict::Alone => self.later(vec![(message, true)]).await?,
                Verdict::Waits => self.later(vec![(message, false)]).await?,
            }
        }
        drop(flight);
        Ok(())
    }

    /// Holds the slot for a while when nothing works, and forgets about it when something does.
    async fn slow_down(&self, nothing_works: bool) {
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
            () = self.over.cancelled() => {}
        }
    }

    /// Sends messages into their tiers, or gives them up after too many tries that count (`true`). Goes on until the broker
    /// has taken them or the lane is over: then they stay open and come again.
    async fn later(&self, messages: Vec<(Message, bool)>) -> Result<(), Gone> {
        let mut waiting = Vec::with_capacity(messages.len());
        for (message, counts) in messages {
            let spent = counts && message.offers.retries >= self.limits.retries;
            if spent && self.work.give_up(self.queue, &message).await == Verdict::Settled {
                self.settler.settle(&[message.tag]).await?;
            } else {
                waiting.push((message, counts));
            }
        }
        let mut pause = self.resend.clone();
        while !waiting.is_empty() && !self.over.is_cancelled() {
            let letters: Vec<Letter> = waiting.iter().map(|(message, counts)| self.letter(message, *counts)).collect();
            let sent = self.outlet.publish(&letters).await;
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
            self.settler.settle(&done).await?;
            waiting = left;
            if let Some(code) = why {
                tracing::warn!(
                    code,
                    waiting = waiting.len(),
                    "retries cannot be sent yet; their messages stay where they are"
                );
                tokio::select! {
                    () = tokio::time::sleep(pause.pause()) => {}
                    () = self.over.cancelled() => {}
                }
            }
        }
        Ok(())
    }

    fn letter(&self, message: &Message, counts: bool) -> Letter {
        let tier = Tier::after(message.offers.total());
        let proof = |offers: Offers, body: &[u8]| self.work.retry_proof(offers, body);
        let key = retry_key(tier, self.queue, &message.routing_key);
        message.again(self.names.retry(), key, counts, self.work.now(), proof)
    }
}

fn tags(messages: &[Message]) -> Vec<u64> {
    messages.iter().map(|message| message.tag).collect()
}

/// A task that panicked settled nothing: its generation ends, so that its messages come again at once.
fn flat(ended: Result<Result<(), Gone>, tokio::task::JoinError>) -> Result<(), Gone> {
    ended.unwrap_or(Err(Gone))
}

/// Counts messages in flight while it lives.
struct Flight {
    status: Arc<Status>,
    metrics: Arc<Metrics>,
    began: std::time::Instant,
    messages: i64,
}

impl Flight {
    fn of<A>(lane: &Lane<A>, messages: usize) -> Self {
        let messages = i64::try_from(messages).unwrap_or(0);
        lane.metrics.ingest.in_flight.add(messages);
        Self {
            status: Arc::clone(&lane.status),
            metrics: Arc::clone(&lane.metrics),
            began: lane.status.began(),
            messages,
        }
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.metrics.ingest.in_flight.sub(self.messages);
        self.status.ended(self.began);
    }
}

//! Publishes the outbox: claims events, hands each to every destination, marks those that all have taken. At least once
//! and under stable ids; nothing is marked that was not confirmed. An event is kept until it is delivered, refused with 410,
//! dropped by a person, or its patient is erased; who has taken it already is stored with it.

mod delivery_progress;
mod event;
mod exchange_destination;
mod spans;
mod webhook;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::TimeDelta;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

pub use event::OutboxEvent;
pub use exchange_destination::{EXCHANGE, ExchangeDestination};
pub use webhook::{WebhookDestination, signature, webhook_name};

use self::delivery_progress::DeliveryProgress;
use self::event::NOTICE;
use anamnesis_core::clock::{Clock, Entropy};
use anamnesis_core::failpoints;
use anamnesis_core::ids::OrgId;
use anamnesis_observability::metrics::Metrics;
use anamnesis_observability::metrics::labels::Delivery;
use anamnesis_rabbitmq::Backoff;
use anamnesis_store::outbox_claims::{ClaimedEvent, DeliveryEnd};
use anamnesis_store::{Store, StoreError};

/// Events of one claim.
const WINDOW: i64 = 256;
/// How long a claim holds: longer than any publishing takes.
const CLAIM: TimeDelta = TimeDelta::seconds(60);
/// Attempts at a notice are not counted: it always rests for half a minute, as after a fifth attempt.
const NOTICE_ATTEMPT: i64 = 5;
/// Interval of a pass over all outboxes, also those without a notification, in units of the relay's pause.
const SWEEP: u32 = 20;
/// How long a pass in progress may take once the process drains.
const FINISH: Duration = Duration::from_secs(3);

/// What became of an event at a destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryOutcome {
    Accepted,
    /// The receiver says that it never wants it (410). Nothing waits for it.
    Refused,
    /// An attempt failed: it is tried again.
    Failed,
    /// Nothing was tried: the destination failed before and is left alone for so long.
    Paused(Duration),
}

/// Where events go.
#[async_trait]
pub trait Destination: Send + Sync {
    /// Tells it from the others, now and after a restart; no blanks.
    fn name(&self) -> &str;

    /// Where an event goes, for its span.
    fn address(&self, _: &OutboxEvent) -> String {
        self.name().to_owned()
    }

    /// Whether an event would be sent now, and not merely be waved through or put off.
    fn tries(&self, _: &OutboxEvent) -> bool {
        true
    }

    /// One answer per event, in order.
    async fn deliver(&self, events: &[OutboxEvent]) -> Vec<DeliveryOutcome>;

    /// Says goodbye.
    async fn close(&self) {}
}

/// The relay of one process.
pub struct OutboxRelay {
    store: Store,
    destinations: Vec<Arc<dyn Destination>>,
    metrics: Arc<Metrics>,
    /// The time of claims is the machine's, whatever the time of memory is: they are about processes.
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    pause: Duration,
    newest: std::sync::atomic::AtomicI64,
}

impl OutboxRelay {
    pub fn new(
        store: Store,
        destinations: Vec<Arc<dyn Destination>>,
        metrics: Arc<Metrics>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        pause: Duration,
    ) -> Self {
        Self { store, destinations, metrics, clock, entropy, pause, newest: i64::MIN.into() }
    }

    /// Publishes until the process drains, then ends the pass in progress.
    pub async fn run(&self, draining: &CancellationToken) {
        let mut backoff = Backoff::new(self.pause, Duration::from_secs(5).max(self.pause), Arc::clone(&self.entropy));
        let mut looks = 0;
        while !draining.is_cancelled() {
            let sweep = looks % SWEEP == 0;
            looks += 1;
            let given_up = async {
                draining.cancelled().await;
                tokio::time::sleep(FINISH).await;
            };
            let passed = tokio::select! {
                passed = self.pass(sweep) => passed,
                // What was claimed and not marked is offered again when its claim runs out.
                () = given_up => break,
            };
            let pause = match passed {
                Ok(()) => {
                    backoff.reset();
                    self.pause
                }
                Err(error) => {
                    tracing::warn!(%error, code = "outbox_delivery_failed", "the outbox could not be read; delivery is retried");
                    looks = 0;
                    backoff.pause()
                }
            };
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = draining.cancelled() => break,
                // What was just committed goes out at once.
                () = self.store.outbox_notifier().notified_of_events(), if passed_well(looks) => {}
            }
        }
        for destination in &self.destinations {
            destination.close().await;
        }
    }

    /// One pass: the organisations with a notification, or all of them, and quarantined messages.
    ///
    /// # Errors
    /// Of the store.
    pub async fn pass(&self, sweep: bool) -> Result<(), StoreError> {
        let rung = self.store.outbox_notifier().take_organizations();
        let orgs: Vec<OrgId> =
            if sweep { self.store.stats().every_organization().await? } else { rung.into_iter().collect() };
        let (mut waiting, mut oldest) = (0, None);
        for org in &orgs {
            while self.window(*org).await? {}
            if sweep {
                let (number, since) = self.store.outbox().pending_events(*org).await?;
                waiting += number;
                oldest = oldest.into_iter().chain(since).min();
            }
        }
        if sweep {
            let age = oldest.map_or(0, |since| (self.store.clock().now() - since).num_seconds().max(0));
            self.metrics.store.outbox_pending.set(waiting);
            self.metrics.store.outbox_oldest.set(age);
        }
        while self.notices().await? {}
        Ok(())
    }

    /// Claims and publishes a window of one organisation's events; whether there may be more.
    async fn window(&self, org: OrgId) -> Result<bool, StoreError> {
        let now = self.clock.now();
        let pending = self.store.outbox().claim_events(org, now, now + CLAIM, WINDOW).await?;
        if pending.is_empty() {
            return Ok(false);
        }
        let full = pending.len() as i64 == WINDOW;
        let (events, gone): (Vec<_>, Vec<_>) =
            pending.into_iter().partition(|pending| pending.body.is_some() && !self.behind(pending));
        let outgoing: Vec<OutboxEvent> =
            events.iter().filter_map(|pending| OutboxEvent::from_claimed(org, pending)).collect();
        anamnesis_core::failpoints::crash_at("events_claimed");
        let before = events.iter().map(|pending| (DeliveryProgress::after(&pending.taken), pending.attempts)).collect();
        let after = self.deliver(&outgoing, before).await;
        anamnesis_core::failpoints::crash_at("events_published");
        // Events of an erased patient are not delivered.
        let mut ended =
            BTreeMap::from([(DeliveryEnd::Gone, gone.iter().map(|pending| pending.id).collect::<Vec<Uuid>>())]);
        let mut resting: BTreeMap<(Duration, String), Vec<Uuid>> = BTreeMap::new();
        for (pending, progress) in events.iter().zip(&after) {
            self.count(&pending.event_type, progress);
            match progress.rest() {
                Some(rest) => resting.entry((rest, progress.taken())).or_default().push(pending.id),
                None if progress.is_refused() => ended.entry(DeliveryEnd::Refused).or_default().push(pending.id),
                None => ended.entry(DeliveryEnd::Delivered).or_default().push(pending.id),
            }
        }
        for (how, ids) in ended.into_iter().filter(|(_, ids)| !ids.is_empty()) {
            self.store.outbox().end_events(org, ids, how, self.clock.now()).await?;
        }
        for ((rest, taken), ids) in resting {
            self.store.outbox().rest_events(org, ids, self.clock.now() + rest, &taken).await?;
        }
        // Behind a destination that rests there may be events for the others.
        Ok(full && !after.iter().any(|progress| progress.failed))
    }

    fn count(&self, event_type: &str, progress: &DeliveryProgress) {
        let Some(kind) = event::label(event_type) else { return };
        let outcome = match progress.rest() {
            _ if progress.failed => Delivery::Error,
            Some(_) => return,
            None if progress.is_refused() => Delivery::Refused,
            None => Delivery::Ok,
        };
        self.metrics.store.published.with_labels((kind, outcome)).inc();
    }

    /// The seeded bug of a watermark: whatever is older than the newest event that went out counts as gone out.
    fn behind(&self, pending: &ClaimedEvent) -> bool {
        let at = pending.created_at.timestamp_micros();
        failpoints::is("outbox_watermark") && self.newest.fetch_max(at, std::sync::atomic::Ordering::SeqCst) > at
    }

    /// Offers each event to the destinations that have not taken it yet. With each event's progress comes the number of
    /// the attempt.
    async fn deliver(&self, events: &[OutboxEvent], before: Vec<(DeliveryProgress, i64)>) -> Vec<DeliveryProgress> {
        let mut all = before;
        for destination in &self.destinations {
            let name = destination.name();
            let open: Vec<usize> = (0..events.len()).filter(|at| !all[*at].0.has(name)).collect();
            if open.is_empty() {
                continue;
            }
            let mut offered: Vec<OutboxEvent> = open.iter().map(|at| events[*at].clone()).collect();
            let spans = spans::begin(&self.metrics.traces, destination.as_ref(), &mut offered);
            let answers = destination.deliver(&offered).await;
            spans::end(spans, &answers);
            for (at, taken) in open.into_iter().zip(answers) {
                let taken = if failpoints::is("publish_unconfirmed") { DeliveryOutcome::Accepted } else { taken };
                let (progress, attempts) = &mut all[at];
                progress.note(name, taken, *attempts);
            }
        }
        all.into_iter().map(|(progress, _)| progress).collect()
    }

    /// Delivers notices of quarantined messages; whether there may be more.
    async fn notices(&self) -> Result<bool, StoreError> {
        let notices = self.store.outbox().unnoticed(self.clock.now(), WINDOW).await?;
        let outgoing: Vec<OutboxEvent> = notices.iter().map(OutboxEvent::from_notice).collect();
        if outgoing.is_empty() {
            return Ok(false);
        }
        let before = notices.iter().map(|notice| (DeliveryProgress::after(&notice.taken), NOTICE_ATTEMPT)).collect();
        let after = self.deliver(&outgoing, before).await;
        let mut done = Vec::new();
        let mut resting: BTreeMap<(Duration, String), Vec<Uuid>> = BTreeMap::new();
        for (notice, progress) in notices.iter().zip(&after) {
            self.count(NOTICE, progress);
            match progress.rest() {
                Some(rest) => resting.entry((rest, progress.taken())).or_default().push(notice.id),
                None => done.push(notice.id),
            }
        }
        if !done.is_empty() {
            self.store.outbox().mark_noticed(done, self.clock.now()).await?;
        }
        for ((rest, taken), ids) in resting {
            self.store.outbox().rest_notices(ids, self.clock.now() + rest, &taken).await?;
        }
        Ok(notices.len() as i64 == WINDOW && !after.iter().any(|progress| progress.failed))
    }
}

/// After an error nothing rings: the store is left alone for the pause.
fn passed_well(looks: u32) -> bool {
    looks > 0
}

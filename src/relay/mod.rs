//! Publishes the outbox: claims events, hands each to every destination, marks those that all have taken. At least once
//! and under stable ids; nothing is marked that was not confirmed.

mod event;
mod exchange;
mod webhook;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::TimeDelta;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

pub use event::Event;
pub use exchange::Exchange;
pub use webhook::{Hook, HookError, signature};

use crate::broker::Backoff;
use crate::bug;
use crate::clock::{Clock, Entropy};
use crate::domain::ids::OrgId;
use crate::metrics::Metrics;
use crate::metrics::labels::Outcome;
use crate::store::relay::Pending;
use crate::store::{Store, StoreError};

/// Events of one claim.
const WINDOW: i64 = 256;
/// How long a claim holds: longer than any publishing takes.
const CLAIM: TimeDelta = TimeDelta::seconds(60);
/// How long an event rests that was not taken, at first and at most.
const REST: (i64, i64) = (2, 30);
/// Looks at the outboxes of which nobody has rung, in units of the relay's pause.
const SWEEP: u32 = 20;
/// How long a pass in progress may take once the process drains.
const FINISH: Duration = Duration::from_secs(3);

/// What became of an event at a destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    Yes,
    /// Not now.
    Later,
    /// Never: it was refused for good. Nothing waits for it.
    Never,
}

/// Where events go.
#[async_trait]
pub trait Destination: Send + Sync {
    /// One answer per event, in order.
    async fn deliver(&self, events: &[Event]) -> Vec<Taken>;

    /// Says goodbye.
    async fn close(&self) {}
}

/// The relay of one process.
pub struct Relay {
    store: Store,
    destinations: Vec<Arc<dyn Destination>>,
    metrics: Arc<Metrics>,
    /// The time of claims is the machine's, whatever the time of memory is: they are about processes.
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    pause: Duration,
    /// What some destinations have taken while others have not.
    partly: std::sync::Mutex<BTreeMap<Uuid, BTreeSet<usize>>>,
    newest: std::sync::atomic::AtomicI64,
}

impl Relay {
    pub fn new(
        store: Store,
        destinations: Vec<Arc<dyn Destination>>,
        metrics: Arc<Metrics>,
        (clock, entropy): (Arc<dyn Clock>, Arc<dyn Entropy>),
        pause: Duration,
    ) -> Self {
        Self {
            store,
            destinations,
            metrics,
            clock,
            entropy,
            pause,
            partly: std::sync::Mutex::default(),
            newest: i64::MIN.into(),
        }
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
                    tracing::warn!(%error, code = "relay_waits", "the outbox cannot be read for now");
                    looks = 0;
                    backoff.pause()
                }
            };
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = draining.cancelled() => break,
                // What was just committed goes out at once.
                () = self.store.bell().rings(), if passed_well(looks) => {}
            }
        }
        for destination in &self.destinations {
            destination.close().await;
        }
    }

    /// One look: the organisations that rang, or all of them, and what was set aside.
    ///
    /// # Errors
    /// Of the store.
    pub async fn pass(&self, sweep: bool) -> Result<(), StoreError> {
        let rung = self.store.bell().taken();
        let orgs: Vec<OrgId> = if sweep { self.store.every_organization().await? } else { rung.into_iter().collect() };
        let mut waiting = 0;
        for org in &orgs {
            while self.window(*org).await? {}
            if sweep {
                waiting += self.store.pending_events(*org).await?;
            }
        }
        if sweep {
            self.metrics.store.outbox_pending.set(waiting);
        }
        while self.notices().await? {}
        Ok(())
    }

    /// Claims and publishes a window of one organisation's events; whether there may be more.
    async fn window(&self, org: OrgId) -> Result<bool, StoreError> {
        let now = self.clock.now();
        let pending = self.store.claim_events(org, (now, now + CLAIM), WINDOW).await?;
        if pending.is_empty() {
            return Ok(false);
        }
        let full = pending.len() as i64 == WINDOW;
        let (events, gone): (Vec<_>, Vec<_>) =
            pending.into_iter().partition(|pending| pending.body.is_some() && !self.behind(pending));
        let told: Vec<Event> = events.iter().filter_map(|pending| Event::of(org, pending)).collect();
        crate::bug::crash_at("events_claimed");
        let taken = self.deliver(&told).await;
        crate::bug::crash_at("events_published");
        // Of an erased patient there is nothing to tell any more.
        let mut done: Vec<Uuid> = gone.iter().map(|pending| pending.id).collect();
        let mut rest: BTreeMap<i64, Vec<Uuid>> = BTreeMap::new();
        for (pending, taken) in events.iter().zip(&taken) {
            let outcome = if *taken { Outcome::Ok } else { Outcome::Error };
            if let Some(kind) = event::label(&pending.event_type) {
                self.metrics.store.published.of((kind, outcome)).inc();
            }
            match taken {
                true => done.push(pending.id),
                false => rest.entry(resting(pending)).or_default().push(pending.id),
            }
        }
        let all_well = rest.is_empty();
        if !done.is_empty() {
            self.store.mark_published(org, done, self.clock.now()).await?;
        }
        for (seconds, ids) in rest {
            self.store.rest_events(org, ids, self.clock.now() + TimeDelta::seconds(seconds)).await?;
        }
        Ok(full && all_well)
    }

    /// The seeded bug of a watermark: whatever is older than the newest event that went out counts as gone out.
    fn behind(&self, pending: &Pending) -> bool {
        let at = pending.created_at.timestamp_micros();
        bug::is("outbox_watermark") && self.newest.fetch_max(at, std::sync::atomic::Ordering::SeqCst) > at
    }

    /// Whether each event was taken by every destination, now or at an earlier attempt of this process.
    async fn deliver(&self, events: &[Event]) -> Vec<bool> {
        for (at, destination) in self.destinations.iter().enumerate() {
            let open: Vec<Event> = events.iter().filter(|event| !self.has(event.id, at)).cloned().collect();
            if open.is_empty() {
                continue;
            }
            let taken = destination.deliver(&open).await;
            for (event, taken) in open.iter().zip(taken) {
                if taken != Taken::Later || bug::is("publish_unconfirmed") {
                    self.lock().entry(event.id).or_default().insert(at);
                }
            }
        }
        let mut partly = self.lock();
        let whole = |event: &Event| {
            let taken = partly.get(&event.id).is_some_and(|by| by.len() == self.destinations.len());
            if taken {
                partly.remove(&event.id);
            }
            taken
        };
        events.iter().map(whole).collect()
    }

    /// Tells of what was set aside; whether there may be more.
    async fn notices(&self) -> Result<bool, StoreError> {
        let notices = self.store.unnoticed(WINDOW).await?;
        let told: Vec<Event> = notices.iter().map(Event::of_notice).collect();
        if told.is_empty() {
            return Ok(false);
        }
        let taken = self.deliver(&told).await;
        let done: Vec<Uuid> = notices.iter().zip(&taken).filter(|(_, taken)| **taken).map(|(n, _)| n.id).collect();
        let more = done.len() as i64 == WINDOW;
        if !done.is_empty() {
            self.store.mark_noticed(done, self.clock.now()).await?;
        }
        Ok(more)
    }

    fn has(&self, event: Uuid, destination: usize) -> bool {
        self.lock().get(&event).is_some_and(|by| by.contains(&destination))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<Uuid, BTreeSet<usize>>> {
        self.partly.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// After an error nothing rings: the store is left alone for the pause.
fn passed_well(looks: u32) -> bool {
    looks > 0
}

/// Seconds until the next attempt: doubling.
fn resting(pending: &Pending) -> i64 {
    let doubled = u32::try_from(pending.attempts.clamp(1, 12) - 1).unwrap_or(0);
    (REST.0 << doubled).min(REST.1)
}

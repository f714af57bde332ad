//! The queue worker, against a model of the broker and of the store on one thread: steps take the place of
//! time, everything fails before or after it took effect, as a seed decides, and thousands of seeds are tried. In the end every message must have had
//! its effect once, and none may be gone that had none.

#![allow(clippy::unwrap_used, clippy::expect_used)] // a test may

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anamnesis_core::clock::{Entropy, SeededEntropy};
use anamnesis_observability::metrics::{Identity, Metrics};
use anamnesis_rabbitmq::consumer::acker::{AckChannel, Acker, ChannelClosed};
use anamnesis_rabbitmq::consumer::{
    AckDecision, InboundMessage, MessageHandler, OfferCounts, QueueLimits, QueueWorker,
};
use anamnesis_rabbitmq::{Backoff, BrokerError, MessagePublisher, Names, OutboundMessage, Queue};
use async_trait::async_trait;
use futures::stream;
use lapin::BasicProperties;
use tokio_util::sync::CancellationToken;

/// Seeds of a run; `ANAMNESIS_SIMULATION_SEEDS` asks for more.
const SEEDS: u64 = 2_000;
const MESSAGES: u64 = 24;

/// The draws of one seed.
struct Fate(SeededEntropy);

impl Fate {
    fn draw(&self, of: u64) -> u64 {
        let mut bytes = [0u8; 8];
        self.0.fill(&mut bytes);
        u64::from_le_bytes(bytes) % of
    }

    fn one_in(&self, n: u64) -> bool {
        self.draw(n) == 0
    }
}

/// Lets so many others go first: what time would do.
async fn steps(number: u64) {
    for _ in 0..number {
        tokio::task::yield_now().await;
    }
}

/// What the broker and the store hold. Survives the deaths of workers.
struct SimulatedServers {
    fate: Fate,
    state: Mutex<State>,
}

#[derive(Default)]
pub(crate) struct State {
    /// Ready to be delivered: number of the message and how often it was offered again.
    ready: VecDeque<(u64, OfferCounts)>,
    /// Delivered by the channel that lives now, by tag.
    unacked: BTreeMap<u64, (u64, OfferCounts)>,
    generation: u64,
    /// The inbox, and how often each effect took place.
    inbox: BTreeSet<u64>,
    effects: BTreeMap<u64, u32>,
    quarantined: BTreeSet<u64>,
}

/// The channel of one generation; poisoned when it is over.
struct Channel {
    servers: Arc<SimulatedServers>,
    generation: u64,
}

#[async_trait]
impl AckChannel for Channel {
    async fn ack(&self, tag: u64, multiple: bool) -> Result<bool, ChannelClosed> {
        steps(self.servers.fate.draw(3)).await;
        let mut state = self.servers.state.lock().unwrap();
        if state.generation != self.generation {
            return Ok(false);
        }
        match self.servers.fate.draw(40) {
            // Lost on its way: the channel is over and the broker never knew.
            0 => return Ok(false),
            1 => return Err(ChannelClosed),
            _ => {}
        }
        if multiple {
            state.unacked.retain(|open, _| *open > tag);
        } else {
            state.unacked.remove(&tag);
        }
        Ok(true)
    }
}

/// Where retries go: taken, refused, or taken with the confirm lost.
pub(crate) struct SimulatedExchange(Arc<SimulatedServers>);

#[async_trait]
impl MessagePublisher for SimulatedExchange {
    async fn publish(&self, letters: &[OutboundMessage]) -> Vec<Result<(), BrokerError>> {
        steps(self.0.fate.draw(5)).await;
        let one = |outbound: &OutboundMessage| {
            let drawn = self.0.fate.draw(6);
            if drawn == 0 {
                return Err(BrokerError::Unroutable);
            }
            let number = u64::from_be_bytes(outbound.body.as_slice().try_into().unwrap());
            let mut message =
                InboundMessage::new(0, false, "", outbound.properties.clone(), outbound.body.clone(), 1 << 20);
            message.believe(proof);
            self.0.state.lock().unwrap().ready.push_back((number, message.offers));
            if drawn == 1 { Err(BrokerError::Late { step: "confirm" }) } else { Ok(()) }
        };
        letters.iter().map(one).collect()
    }
}

/// The pipeline and its store: an effect and the inbox row are one transaction, which may fail before or after it.
struct Pipeline(Arc<SimulatedServers>);

impl Pipeline {
    fn commit(&self, number: u64) -> AckDecision {
        let mut state = self.0.state.lock().unwrap();
        match self.0.fate.draw(16) {
            0 => return AckDecision::Retry,
            1 => return AckDecision::RetryUncounted,
            _ => {}
        }
        if state.inbox.insert(number) {
            *state.effects.entry(number).or_default() += 1;
        }
        // The commit took place and its answer was lost.
        if self.0.fate.one_in(12) { AckDecision::Retry } else { AckDecision::Ack }
    }
}

fn number(message: &InboundMessage) -> u64 {
    u64::from_be_bytes(message.body.as_ref().try_into().unwrap())
}

#[async_trait]
impl MessageHandler for Pipeline {
    fn retry_proof(&self, offers: OfferCounts, body: &[u8]) -> [u8; 32] {
        proof(offers, body)
    }

    async fn handle_batch(&self, _: Queue, messages: &[InboundMessage]) -> Vec<AckDecision> {
        steps(self.0.fate.draw(30)).await;
        let alone = |message: &InboundMessage| message.redelivered && self.0.fate.one_in(10);
        messages.iter().map(|m| if alone(m) { AckDecision::Isolate } else { self.commit(number(m)) }).collect()
    }

    async fn handle_isolated(&self, _: Queue, message: &InboundMessage) -> AckDecision {
        steps(self.0.fate.draw(200)).await;
        self.commit(number(message))
    }

    async fn exhausted(&self, _: Queue, message: &InboundMessage) -> AckDecision {
        if self.0.fate.one_in(4) {
            return AckDecision::Retry;
        }
        self.0.state.lock().unwrap().quarantined.insert(number(message));
        AckDecision::Ack
    }
}

/// One worker's life: it consumes until it is killed, drains, or has nothing more to do.
async fn generation(servers: &Arc<SimulatedServers>, tags: &mut u64) {
    let (number, killed_after) = {
        let mut state = servers.state.lock().unwrap();
        state.generation += 1;
        let back: Vec<(u64, OfferCounts)> = std::mem::take(&mut state.unacked).into_values().collect();
        for message in back {
            state.ready.push_front(message);
        }
        (state.generation, servers.fate.draw(120))
    };
    let stop = CancellationToken::new();
    let first = number == 1;
    let prefetch = 8;
    let (from, source) = (*tags, Arc::clone(servers));
    let arrivals = stream::unfold(from, move |tag| {
        let servers = Arc::clone(&source);
        async move {
            loop {
                let next = {
                    let mut state = servers.state.lock().unwrap();
                    if state.generation != number {
                        return None;
                    }
                    let free = state.unacked.len() < prefetch;
                    let next = if free { state.ready.pop_front() } else { None };
                    if let Some(next) = next {
                        state.unacked.insert(tag + 1, next);
                    }
                    next
                };
                if let Some((number, offers)) = next {
                    let message = message(tag + 1, number, offers, !first);
                    return Some((message, tag + 1));
                }
                tokio::task::yield_now().await;
            }
        }
    });
    let worker = Arc::new(worker(servers, number, &stop));
    let running = tokio::spawn(worker.run(Box::pin(arrivals)));
    steps(5 + killed_after * 4).await;
    match servers.fate.draw(3) {
        // Drained: what is in progress is finished.
        0 => {
            stop.cancel();
            let _ = running.await;
        }
        // The line broke: the work goes on, its acknowledgements reach nobody.
        1 => {
            servers.state.lock().unwrap().generation += 1;
            stop.cancel();
            let _ = running.await;
        }
        // Killed between any two steps.
        _ => {
            running.abort();
            let _ = running.await;
        }
    }
    *tags += 1_000;
}

/// What shows here that the counts are the worker's.
fn proof(offers: OfferCounts, body: &[u8]) -> [u8; 32] {
    let mut proof = [0; 32];
    proof[..4].copy_from_slice(&offers.retries.to_be_bytes());
    proof[8..12].copy_from_slice(&offers.waits.to_be_bytes());
    proof[4..8].copy_from_slice(&body[body.len() - 4..]);
    proof
}

fn message(tag: u64, number: u64, offers: OfferCounts, redelivered: bool) -> InboundMessage {
    let fresh =
        InboundMessage::new(tag, redelivered, "bulk.x", BasicProperties::default(), number.to_be_bytes().to_vec(), 64);
    let tries = (0..offers.total()).map(|n| n < offers.retries);
    tries.fold(fresh, |message, counts| {
        let outbound = message.retry_message(String::new(), String::new(), counts, None, proof);
        let mut again = InboundMessage::new(tag, redelivered, "bulk.x", outbound.properties, outbound.body, 64);
        again.believe(proof);
        again
    })
}

fn worker(servers: &Arc<SimulatedServers>, generation: u64, stop: &CancellationToken) -> QueueWorker<Channel> {
    let entropy: Arc<dyn Entropy> = Arc::new(SeededEntropy::new(generation));
    QueueWorker {
        queue: Queue::Bulk,
        names: Names::new("t"),
        limits: QueueLimits { slots: 2, batch: 4, bytes: 1 << 20, linger: Duration::ZERO, retries: 30 },
        handler: Arc::new(Pipeline(Arc::clone(servers))),
        publisher: Arc::new(SimulatedExchange(Arc::clone(servers))),
        acker: Acker::new(Channel { servers: Arc::clone(servers), generation }),
        status: Arc::default(),
        metrics: metrics(),
        stop: stop.clone(),
        brake: Mutex::new(Backoff::new(Duration::ZERO, Duration::ZERO, Arc::clone(&entropy))),
        resend: Backoff::new(Duration::ZERO, Duration::ZERO, entropy),
        in_progress: tokio_util::task::TaskTracker::new(),
    }
}

/// One registry for all seeds: nobody reads it.
fn metrics() -> Arc<Metrics> {
    static METRICS: std::sync::OnceLock<Arc<Metrics>> = std::sync::OnceLock::new();
    Arc::clone(METRICS.get_or_init(|| Arc::new(Metrics::new(&Identity::default()).unwrap())))
}

/// Runs one seed to its end; what is wrong with the end.
async fn run(seed: u64) -> Result<(), String> {
    let state =
        State { ready: (0..MESSAGES).map(|number| (number, OfferCounts::default())).collect(), ..State::default() };
    let servers = Arc::new(SimulatedServers { fate: Fate(SeededEntropy::new(seed)), state: Mutex::new(state) });
    let mut tags = 0;
    for _ in 0..400 {
        {
            let state = servers.state.lock().unwrap();
            if state.ready.is_empty() && state.unacked.is_empty() {
                break;
            }
        }
        generation(&servers, &mut tags).await;
    }
    let state = servers.state.lock().unwrap();
    let lost: Vec<u64> = (0..MESSAGES).filter(|n| !state.inbox.contains(n) && !state.quarantined.contains(n)).collect();
    let twice: Vec<&u64> = state.effects.iter().filter(|(_, times)| **times > 1).map(|(n, _)| n).collect();
    let left = state.ready.len() + state.unacked.len();
    match (lost.is_empty(), twice.is_empty(), left) {
        (true, true, 0) => Ok(()),
        _ => Err(format!("seed {seed}: lost {lost:?}, twice {twice:?}, left {left}")),
    }
}

#[test]
fn whatever_fails_whenever_every_message_has_its_effect_once() {
    let asked = std::env::var("ANAMNESIS_SIMULATION_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    let mut wrong = Vec::new();
    for seed in 0..asked.unwrap_or(SEEDS) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        if let Err(problem) = runtime.block_on(run(seed)) {
            wrong.push(problem);
        }
    }
    assert!(wrong.is_empty(), "{} seeds went wrong:\n{}", wrong.len(), wrong[..wrong.len().min(5)].join("\n"));
}

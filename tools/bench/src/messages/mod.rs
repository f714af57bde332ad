//! `anamnesis-bench messages`: documents through the broker and the production worker, which runs as a process of its
//! own, next to what the broker alone and the database alone do with the same, in the same run; and what the worker
//! costs in memory while it idles, works, and stands before a backlog.

mod rabbitmq_fixture;
mod worker;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Value, json};

use super::baseline_inserts;
use super::corpus;
use super::ingest::StageTime;
use anamnesis_config::BrokerConfig;
use anamnesis_core::ids::{DocumentId, OrgId, PatientId, derive};
use anamnesis_core::scope::{Scope, ScopeError};
use anamnesis_rabbitmq::BrokerError;
use anamnesis_search::{Recall, RecallError, SearchRequest};
use anamnesis_sql::{Database, DbError, Location};

pub(crate) use rabbitmq_fixture::BrokerFixture;
pub(crate) use worker::{WorkerProcess, WorkerUsage};

/// How often the worker is started to see how soon it consumes.
const STARTS: usize = 5;
/// How long the worker idles before its memory is looked at.
const IDLE: Duration = Duration::from_secs(3);
/// The bare consumer takes the documents so often: it is too fast to be measured by them once.
const BARE: u64 = 5;
/// Chat messages sent at most while the bulk queue is worked, and the pause between two of them.
const CHATS: u64 = 16;
const BETWEEN_CHATS: Duration = Duration::from_millis(400);
/// Longest wait for a chat message to be found.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long the worker works before a backlog.
const BEFORE_BACKLOG: Duration = Duration::from_secs(15);

/// What may stop a measurement.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MessagesError {
    #[error("the broker: {0}")]
    Broker(#[from] BrokerError),
    #[error("the store: {0}")]
    Store(#[from] DbError),
    #[error(transparent)]
    Recall(#[from] RecallError),
    #[error(transparent)]
    Scope(#[from] ScopeError),
    #[error("the worker {0}")]
    Worker(&'static str),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// What is measured, and with what.
pub(crate) struct MessagePlan {
    pub(crate) documents: u64,
    /// Messages of the backlogs.
    pub(crate) backlogs: Vec<u64>,
    pub(crate) batch: usize,
    pub(crate) prefetch: u16,
    /// Batches of the bulk queue in work at once, and connections of the bare upserts.
    pub(crate) slots: usize,
    /// Of the slow embedding server.
    pub(crate) latency: Duration,
    pub(crate) program: PathBuf,
    /// Where the workers' logs go.
    pub(crate) folder: PathBuf,
    /// Of a worker that embeds at once, and of one with another, empty store that embeds slowly.
    pub(crate) quick: Vec<(String, String)>,
    pub(crate) slow: Vec<(String, String)>,
    /// The store of the quick worker, and an empty one.
    pub(crate) store: Location,
    pub(crate) empty: Location,
    pub(crate) broker: BrokerConfig,
}

/// What a worker did before a backlog.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Backlog {
    /// Waiting when it began.
    pub(crate) messages: u64,
    pub(crate) peak_mb: Option<f64>,
    pub(crate) documents_per_second: f64,
}

/// How soon chat was found while the bulk queue was worked. Seconds from before it was published.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Chat {
    pub(crate) messages: u64,
    pub(crate) p50_seconds: f64,
    pub(crate) max_seconds: f64,
    /// Each, in the order of sending.
    pub(crate) seconds: Vec<f64>,
    /// Bulk messages that still waited at the end.
    pub(crate) bulk_left: u64,
}

/// The figures. Rates are messages per second; memory in mebibytes, `null` where the operating system does not tell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct MessageMeasurement {
    pub(crate) bench: &'static str,
    /// `sqlite` or `postgres`.
    pub(crate) store: &'static str,
    /// `release` or `debug`.
    pub(crate) build: &'static str,
    pub(crate) documents: u64,
    pub(crate) stored: u64,
    pub(crate) batch: usize,
    pub(crate) prefetch: u16,
    pub(crate) documents_per_second: f64,
    pub(crate) bare_consumer_per_second: f64,
    pub(crate) bare_upserts_per_second: f64,
    pub(crate) ratio_to_bare_consumer: f64,
    pub(crate) ratio_to_bare_upserts: f64,
    pub(crate) redelivered_per_second: f64,
    /// Redelivery over fresh.
    pub(crate) redelivery_ratio: f64,
    pub(crate) latency_ms: u64,
    pub(crate) documents_per_second_at_latency: f64,
    /// At that latency over without.
    pub(crate) share_kept_at_latency: f64,
    /// Of the worker's process.
    pub(crate) cpu_ms_per_document: Option<f64>,
    pub(crate) start_to_consuming_ms: f64,
    pub(crate) idle_mb: Option<f64>,
    /// At most, up to the end of the fresh pass.
    pub(crate) loaded_mb: Option<f64>,
    pub(crate) backlogs: Vec<Backlog>,
    pub(crate) chat: Option<Chat>,
    pub(crate) stages: BTreeMap<&'static str, StageTime>,
}

/// Runs all of it. `recall` reads the quick worker's store; without it chat is not measured.
///
/// # Errors
/// When broker, store or worker cannot be used.
pub(crate) async fn measure(
    plan: &MessagePlan,
    recall: Option<&Recall>,
    on_progress: &(dyn Fn(&str) + Sync),
) -> Result<MessageMeasurement, MessagesError> {
    let corner = BrokerFixture::make(plan.broker.clone()).await?;
    let measured = passes(plan, &corner, recall, on_progress).await;
    corner.remove().await;
    measured
}

async fn passes(
    plan: &MessagePlan,
    corner: &BrokerFixture,
    recall: Option<&Recall>,
    on_progress: &(dyn Fn(&str) + Sync),
) -> Result<MessageMeasurement, MessagesError> {
    let documents = plan.documents;
    on_progress("bare consumer");
    let bare = documents * BARE;
    corner.send_bare((0..bare).map(|n| corpus::document(n % documents))).await?;
    let drained = corner.drain_bare(bare, plan.prefetch, plan.batch as u64).await?;
    on_progress("starts");
    let (start, idle) = starts(plan).await?;
    on_progress("fresh");
    let fresh = pass(plan, corner, &plan.quick, 0..documents).await?;
    on_progress("redelivery");
    let again = pass(plan, corner, &plan.quick, 0..documents).await?;
    on_progress("bare upserts");
    let (store, upserts) = upserts(plan).await?;
    on_progress("slow embeddings");
    let slow = pass(plan, corner, &plan.slow, 0..documents).await?;
    on_progress("chat");
    let mut next = documents;
    let chat = match recall {
        Some(recall) => Some(chat(plan, corner, recall, next..next + 2 * documents).await?),
        None => None,
    };
    next += 2 * documents;
    let mut backlogs = Vec::new();
    for messages in &plan.backlogs {
        on_progress("backlog");
        backlogs.push(backlog(plan, corner, next..next + messages).await?);
        next += messages;
    }
    let rate = |messages: u64, took: Duration| messages as f64 / took.as_secs_f64().max(1e-9);
    let (bare_consumer, bare_upserts) = (rate(bare, drained), rate(documents, upserts.took));
    let fresh_rate = fresh.worked.per_second();
    Ok(MessageMeasurement {
        bench: "messages",
        store,
        build: if cfg!(debug_assertions) { "debug" } else { "release" },
        documents,
        stored: fresh.stored,
        batch: plan.batch,
        prefetch: plan.prefetch,
        documents_per_second: fresh_rate,
        bare_consumer_per_second: bare_consumer,
        bare_upserts_per_second: bare_upserts,
        ratio_to_bare_consumer: fresh_rate / bare_consumer,
        ratio_to_bare_upserts: fresh_rate / bare_upserts,
        redelivered_per_second: again.worked.per_second(),
        redelivery_ratio: again.worked.per_second() / fresh_rate,
        latency_ms: u64::try_from(plan.latency.as_millis()).unwrap_or(u64::MAX),
        documents_per_second_at_latency: slow.worked.per_second(),
        share_kept_at_latency: slow.worked.per_second() / fresh_rate,
        cpu_ms_per_document: fresh.worked.cpu.map(|cpu| cpu.as_secs_f64() * 1e3 / fresh.worked.messages as f64),
        start_to_consuming_ms: start.as_secs_f64() * 1e3,
        idle_mb: idle.map(mebibytes),
        loaded_mb: fresh.peak.map(mebibytes),
        backlogs,
        chat,
        stages: fresh.stages,
    })
}

/// The median of some starts before an empty queue, and what the last one idles at.
async fn starts(plan: &MessagePlan) -> Result<(Duration, Option<u64>), MessagesError> {
    let mut times = Vec::new();
    let mut idle = None;
    for start in 0..=STARTS {
        let worker = WorkerProcess::start(&plan.program, &plan.quick, &plan.folder.join("worker.log")).await?;
        // The first one finds cold files.
        if start > 0 {
            times.push(worker.until_ready);
        }
        if start == STARTS {
            tokio::time::sleep(IDLE).await;
            idle = worker.memory().0;
        }
        worker.end().await?;
    }
    times.sort();
    Ok((times[STARTS / 2], idle))
}

/// All messages through a worker, once.
struct MessagePass {
    worked: WorkerUsage,
    stored: u64,
    peak: Option<u64>,
    stages: BTreeMap<&'static str, StageTime>,
}

/// Fills the queues, then starts a worker: how fast it works what waits for it, from the moment when it consumes.
async fn pass(
    plan: &MessagePlan,
    corner: &BrokerFixture,
    environment: &[(String, String)],
    numbers: std::ops::Range<u64>,
) -> Result<MessagePass, MessagesError> {
    let messages = numbers.end - numbers.start;
    corner.send(numbers.map(corpus::document)).await?;
    let worker = WorkerProcess::start(&plan.program, environment, &plan.folder.join("worker.log")).await?;
    let worked = worker.until_processed(messages).await?;
    let stored = worker.processed(Some("stored")).await?;
    let seconds = worker.stages().await?;
    let all: f64 = seconds.values().sum();
    let share = |seconds: f64| StageTime { seconds, share: if all > 0.0 { seconds / all } else { 0.0 } };
    let stages = seconds.into_iter().map(|(stage, seconds)| (stage, share(seconds))).collect();
    let peak = worker.memory().1;
    worker.end().await?;
    Ok(MessagePass { worked, stored, peak, stages })
}

async fn upserts(plan: &MessagePlan) -> Result<(&'static str, baseline_inserts::Baseline), MessagesError> {
    let (from, to) = (Database::open(&plan.store).await?, Database::open(&plan.empty).await?);
    let done = baseline_inserts::upserts(&from, &to, plan.batch, plan.slots).await?;
    let engine = from.engine();
    from.close().await;
    to.close().await;
    Ok((engine, done))
}

/// Chat while the bulk queue is worked: each message is looked for by search from the moment before it is sent.
async fn chat(
    plan: &MessagePlan,
    corner: &BrokerFixture,
    recall: &Recall,
    bulk: std::ops::Range<u64>,
) -> Result<Chat, MessagesError> {
    // Chat among them would be waited for in turn: no backlog of bulk.
    corner.send_bulk(bulk.map(corpus::document)).await?;
    let worker = WorkerProcess::start(&plan.program, &plan.quick, &plan.folder.join("worker.log")).await?;
    let mut times = Vec::new();
    for number in 0..CHATS.min(plan.documents) {
        let (body, scope, document) = chat_message(number)?;
        let began = Instant::now();
        corner.send(std::iter::once(body)).await?;
        while !found(recall, scope, document, number).await? {
            if began.elapsed() > PATIENCE {
                return Err(MessagesError::Worker("does not let chat be found"));
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        times.push(began.elapsed().as_secs_f64());
        tokio::time::sleep(BETWEEN_CHATS).await;
    }
    let bulk_left = corner.waiting().await?.into();
    worker.end().await?;
    corner.purge().await?;
    let seconds = times.clone();
    times.sort_by(f64::total_cmp);
    let (p50_seconds, max_seconds) = (times[times.len() / 2], times[times.len() - 1]);
    Ok(Chat { messages: times.len() as u64, p50_seconds, max_seconds, seconds, bulk_left })
}

fn sentence(number: u64) -> String {
    format!("Esta noche he dormido mal y el trabajo me preocupa, por {number}.ª vez.")
}

/// A short message of a patient who is not among the others.
fn chat_message(number: u64) -> Result<(Vec<u8>, Scope, DocumentId), ScopeError> {
    let id = |kind: &str| derive(kind, &[b"bench chat".as_slice(), number.to_be_bytes().as_slice()]);
    let (org, patient, document) = (derive("organization", &[b"bench chat".as_slice()]), id("patient"), id("document"));
    let body: Value = json!({"organization_id": org, "patient_id": patient, "document_id": document, "revision": 1,
        "document_type": "chat_message", "occurred_at": "2025-11-02T21:30:00Z", "language": "es",
        "text": sentence(number)});
    Ok((body.to_string().into_bytes(), Scope::new(OrgId(org), PatientId(patient))?, DocumentId(document)))
}

async fn found(recall: &Recall, scope: Scope, document: DocumentId, number: u64) -> Result<bool, MessagesError> {
    let request = SearchRequest { query: sentence(number), min_score: Some(-1.0), ..SearchRequest::default() };
    Ok(recall.search(scope, &request).await?.hits.iter().any(|hit| hit.document_id == document))
}

/// Lets a fresh worker work before so many messages, then takes them away.
async fn backlog(
    plan: &MessagePlan,
    corner: &BrokerFixture,
    numbers: std::ops::Range<u64>,
) -> Result<Backlog, MessagesError> {
    let messages = numbers.end - numbers.start;
    corner.send(numbers.map(corpus::document)).await?;
    let worker = WorkerProcess::start(&plan.program, &plan.quick, &plan.folder.join("worker.log")).await?;
    let worked = worker.during(BEFORE_BACKLOG).await?;
    let peak_mb = worker.memory().1.map(mebibytes);
    worker.end().await?;
    corner.purge().await?;
    Ok(Backlog { messages, peak_mb, documents_per_second: worked.per_second() })
}

fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

//! `anamnesis-bench ingest`: how fast documents become memory, where the time goes, and how that compares with inserting the same
//! rows and nothing else ([`super::baseline_inserts`]).
//!
//! What is measured is the pipeline from bytes to commit. Making or reading the messages is not; a fake embedding
//! server in the same process is, in processor time and memory.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::future::try_join_all;
use serde::Serialize;

use super::baseline_inserts::{self, Baseline};
use super::{corpus, process};
use anamnesis_observability::metrics::labels::Stage;
use anamnesis_observability::metrics::{Label as _, Metrics};
use anamnesis_pipeline::intake::spool::{LineContent, Spool, SpoolError};
use anamnesis_pipeline::{Disposition, DispositionCounts, Pipeline, RawMessage};
use anamnesis_sql::{Database, DbError, Location};

/// How often a batch is offered in all while something outside fails.
const OFFERS: u32 = 8;
/// Between the offers: this, doubled each time, at most [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// What may stop a measurement.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BenchError {
    #[error(transparent)]
    Spool(#[from] SpoolError),
    #[error("{path}: line {line} is longer than a message may be")]
    TooLong { path: String, line: u64 },
    #[error("no message to measure with")]
    Nothing,
    #[error("the pipeline panicked")]
    Panicked,
    #[error(transparent)]
    Store(#[from] DbError),
}

/// Where the messages come from. Read once for each pass, a batch at a time.
#[derive(Debug, Clone)]
pub(crate) enum DocumentSource {
    /// So many documents of [`corpus`].
    Generated(u64),
    /// NDJSON files or folders of them; at most `limit` messages.
    Data { path: PathBuf, limit: Option<u64>, max_body_bytes: usize },
}

type Bodies = Box<dyn Iterator<Item = Result<Vec<u8>, BenchError>> + Send>;

impl DocumentSource {
    fn bodies(&self) -> Result<Bodies, BenchError> {
        match self {
            Self::Generated(count) => Ok(Box::new((0..*count).map(|number| Ok(corpus::document(number))))),
            Self::Data { path, limit, max_body_bytes } => {
                let records = Spool::find(std::slice::from_ref(path), *max_body_bytes)?.records();
                let body = |record: Result<anamnesis_pipeline::intake::spool::SpoolRecord, SpoolError>| {
                    let record = record?;
                    match record.content {
                        LineContent::Line(body) => Ok(body),
                        LineContent::TooLong(_) | LineContent::Beyond => {
                            Err(BenchError::TooLong { path: record.source.to_string(), line: record.line })
                        }
                    }
                };
                let most = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
                Ok(Box::new(records.take(most).map(body)))
            }
        }
    }

    /// Messages of a pass, where that is known before.
    pub(crate) fn len_hint(&self) -> Option<u64> {
        match self {
            Self::Generated(count) => Some(*count),
            Self::Data { .. } => None,
        }
    }
}

/// How messages are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IngestLoad {
    /// Messages of a batch, at least 1.
    pub(crate) batch: usize,
    /// Batches in work at once, as a worker's slots are; at least 1.
    pub(crate) slots: usize,
}

/// Batches that are made ready for each slot before the clock runs.
const READY: usize = 16;

/// Seconds of a stage, summed over documents and threads, and its share of all stages.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct StageTime {
    pub(crate) seconds: f64,
    pub(crate) share: f64,
}

/// The figures. Rates are messages per second; `null` where the operating system does not tell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct IngestMeasurement {
    pub(crate) bench: &'static str,
    /// `sqlite` or `postgres`.
    pub(crate) store: &'static str,
    /// `release` or `debug`.
    pub(crate) build: &'static str,
    pub(crate) documents: u64,
    pub(crate) stored: u64,
    /// Quarantined or given up, in the first pass.
    pub(crate) not_stored: u64,
    pub(crate) body_bytes_per_document: f64,
    /// Messages of a transaction.
    pub(crate) batch: usize,
    /// Batches in work at once, and connections of the bare upserts.
    pub(crate) slots: usize,
    /// `whole`, or `patterns` without extraction.
    pub(crate) profile: &'static str,
    pub(crate) documents_per_second: f64,
    pub(crate) bare_documents_per_second: f64,
    pub(crate) ratio_to_bare_upserts: f64,
    pub(crate) redelivered_duplicates: u64,
    pub(crate) redelivered_documents_per_second: f64,
    /// The second pass over the first.
    pub(crate) redelivery_ratio: f64,
    pub(crate) cpu_ms_per_document: Option<f64>,
    /// Mebibytes resident at most, up to the end of the first pass.
    pub(crate) peak_mb: Option<f64>,
    /// Mebibytes resident after each tenth of the first pass: flat, or it grows with what was done.
    pub(crate) resident_mb: Vec<f64>,
    pub(crate) store_bytes_per_document: f64,
    /// A server's write-ahead log during each pass, whichever process wrote it; `null` for an embedded store.
    pub(crate) log_bytes_per_document: Option<f64>,
    pub(crate) log_bytes_per_redelivery: Option<f64>,
    pub(crate) stages: BTreeMap<&'static str, StageTime>,
    /// Rows of the bare upserts, by table.
    pub(crate) rows: BTreeMap<&'static str, u64>,
    /// Each round, where there was more than one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) rounds: Vec<Round>,
}

/// Rates of one round: the pipeline and, right after it, the bare upserts of what it left.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Round {
    pub(crate) documents_per_second: f64,
    pub(crate) bare_documents_per_second: f64,
    pub(crate) ratio_to_bare_upserts: f64,
}

impl IngestMeasurement {
    /// Rounds in stores of their own as one measurement: of each rate and ratio the median, which one round that had to wait
    /// for something else on the machine does not move. What was not stored is summed; all else is the first round's.
    pub(crate) fn from_rounds(all: Vec<Self>) -> Option<Self> {
        let round = |one: &Self| Round {
            documents_per_second: one.documents_per_second,
            bare_documents_per_second: one.bare_documents_per_second,
            ratio_to_bare_upserts: one.ratio_to_bare_upserts,
        };
        let rounds: Vec<Round> = all.iter().map(round).collect();
        let not_stored = all.iter().map(|one| one.not_stored).sum();
        let of = |figure: fn(&Self) -> f64| median(all.iter().map(figure).collect());
        let rates = (
            of(|one| one.documents_per_second),
            of(|one| one.bare_documents_per_second),
            of(|one| one.ratio_to_bare_upserts),
            of(|one| one.redelivered_documents_per_second),
            of(|one| one.redelivery_ratio),
        );
        let cpu = all.iter().map(|one| one.cpu_ms_per_document).collect::<Option<Vec<_>>>().map(median);
        let first = all.into_iter().next()?;
        let rounds = if rounds.len() > 1 { rounds } else { Vec::new() };
        Some(Self {
            documents_per_second: rates.0,
            bare_documents_per_second: rates.1,
            ratio_to_bare_upserts: rates.2,
            redelivered_documents_per_second: rates.3,
            redelivery_ratio: rates.4,
            cpu_ms_per_document: cpu,
            not_stored,
            rounds,
            ..first
        })
    }
}

/// The middle one, or the mean of the two in the middle.
fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_unstable_by(f64::total_cmp);
    match figures.len() {
        0 => f64::NAN,
        many if many % 2 == 1 => figures[many / 2],
        many => f64::midpoint(figures[many / 2 - 1], figures[many / 2]),
    }
}

/// Runs the three passes: all messages fresh, the bare upserts of what they left, all messages again.
///
/// # Errors
/// When messages cannot be read or a store refuses; a message that the pipeline quarantines is a figure, not an error.
pub(crate) async fn measure(
    pipeline: &Arc<Pipeline>,
    source: &DocumentSource,
    load: IngestLoad,
    empty: &Location,
    on_progress: &(dyn Fn(u64) + Sync),
) -> Result<IngestMeasurement, BenchError> {
    let db = pipeline.store().db();
    let mut log = Log::at(db).await?;
    let fresh = pass(pipeline, source, load, on_progress).await?;
    if fresh.tally.total() == 0 {
        return Err(BenchError::Nothing);
    }
    let peak = process::peak_bytes();
    let stages = stages(pipeline.metrics());
    db.checkpoint().await?;
    let store_bytes = db.bytes().await?;
    let fresh_log = log.grown(db).await?;
    let again = pass(pipeline, source, load, on_progress).await?;
    let again_log = log.grown(db).await?;
    let empty = Database::open(empty).await?;
    let bare = baseline_inserts::upserts(db, &empty, load.batch, load.slots).await?;
    empty.close().await;
    let mut measured = figures(&fresh, &again, &bare, load, stages, (peak, store_bytes));
    measured.store = db.engine();
    let documents = measured.documents as f64;
    let each = |bytes: Option<u64>| bytes.map(|bytes| bytes as f64 / documents);
    (measured.log_bytes_per_document, measured.log_bytes_per_redelivery) = (each(fresh_log), each(again_log));
    Ok(measured)
}

/// Puts every message through the pipeline once, and returns how many bytes they were.
///
/// # Errors
/// When messages cannot be read or the store refuses.
pub(crate) async fn fill(
    pipeline: &Arc<Pipeline>,
    source: &DocumentSource,
    load: IngestLoad,
    report: &(dyn Fn(u64) + Sync),
) -> Result<u64, BenchError> {
    Ok(pass(pipeline, source, load, report).await?.bytes)
}

/// How a server's write-ahead log grows.
struct Log(Option<u64>);

impl Log {
    async fn at(db: &Database) -> Result<Self, DbError> {
        Ok(Self(db.log_position().await?))
    }

    /// Since the last look.
    async fn grown(&mut self, db: &Database) -> Result<Option<u64>, DbError> {
        let before = std::mem::replace(&mut self.0, db.log_position().await?);
        Ok(self.0.zip(before).map(|(now, before)| now.saturating_sub(before)))
    }
}

fn figures(
    fresh: &IngestPass,
    again: &IngestPass,
    bare: &Baseline,
    load: IngestLoad,
    stages: BTreeMap<&'static str, StageTime>,
    (peak, store_bytes): (Option<u64>, u64),
) -> IngestMeasurement {
    let documents = fresh.tally.total();
    let each = |amount: f64| amount / documents as f64;
    let rate = |took: Duration| documents as f64 / took.as_secs_f64().max(1e-9);
    let (fresh_rate, again_rate, bare_rate) = (rate(fresh.took), rate(again.took), rate(bare.took));
    IngestMeasurement {
        bench: "ingest",
        store: "",
        build: if cfg!(debug_assertions) { "debug" } else { "release" },
        documents,
        stored: fresh.tally.count("stored"),
        not_stored: fresh.tally.count("quarantined") + fresh.tally.count("retry"),
        body_bytes_per_document: each(fresh.bytes as f64),
        batch: load.batch,
        slots: load.slots,
        profile: "whole",
        documents_per_second: fresh_rate,
        bare_documents_per_second: bare_rate,
        ratio_to_bare_upserts: fresh_rate / bare_rate,
        redelivered_duplicates: again.tally.count("duplicate"),
        redelivered_documents_per_second: again_rate,
        redelivery_ratio: again_rate / fresh_rate,
        cpu_ms_per_document: fresh.cpu.map(|cpu| each(cpu.as_secs_f64() * 1_000.0)),
        peak_mb: peak.map(mebibytes),
        resident_mb: tenths(&fresh.resident),
        store_bytes_per_document: each(store_bytes as f64),
        log_bytes_per_document: None,
        log_bytes_per_redelivery: None,
        stages,
        rows: bare.rows.iter().copied().collect(),
        rounds: Vec::new(),
    }
}

fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// The last value of each tenth of a series; fewer where it is shorter.
fn tenths(series: &[u64]) -> Vec<f64> {
    let ends = (1..=10).map(|tenth| series.len() * tenth / 10).filter(|end| *end > 0);
    let mut ends: Vec<usize> = ends.collect();
    ends.dedup();
    ends.into_iter().map(|end| mebibytes(series[end - 1])).collect()
}

/// All messages once.
#[derive(Default)]
struct IngestPass {
    tally: DispositionCounts,
    /// Inside the pipeline only.
    took: Duration,
    cpu: Option<Duration>,
    bytes: u64,
    /// Bytes resident after each batch.
    resident: Vec<u64>,
}

async fn pass(
    pipeline: &Arc<Pipeline>,
    source: &DocumentSource,
    load: IngestLoad,
    on_progress: &(dyn Fn(u64) + Sync),
) -> Result<IngestPass, BenchError> {
    let (batch, slots) = (load.batch.max(1), load.slots.max(1));
    let mut bodies = source.bodies()?;
    let mut pass = IngestPass { cpu: Some(Duration::ZERO), ..IngestPass::default() };
    loop {
        let next = bodies.by_ref().take(batch * slots * READY).collect::<Result<Vec<_>, _>>()?;
        if next.is_empty() {
            return Ok(pass);
        }
        pass.bytes += next.iter().map(|body| body.len() as u64).sum::<u64>();
        let ready: VecDeque<Vec<Vec<u8>>> = next.chunks(batch).map(<[_]>::to_vec).collect();
        drop(next);
        let ready = Arc::new(Mutex::new(ready));
        let (started, before) = (Instant::now(), process::cpu());
        let working = (0..slots).map(|_| tokio::spawn(slot(Arc::clone(pipeline), Arc::clone(&ready))));
        let done = try_join_all(working).await.map_err(|_| BenchError::Panicked)?;
        pass.took += started.elapsed();
        let used = process::cpu().zip(before).map(|(after, before)| after.saturating_sub(before));
        pass.cpu = pass.cpu.zip(used).map(|(sum, used)| sum + used);
        for slot in done {
            slot.done.into_iter().for_each(|disposition| pass.tally.add(disposition));
            pass.resident.extend(slot.resident);
        }
        on_progress(pass.tally.total());
    }
}

/// What one slot did.
#[derive(Default)]
struct Slot {
    done: Vec<Disposition>,
    /// Bytes resident after each batch.
    resident: Vec<u64>,
}

/// Takes batches until none is left.
async fn slot(pipeline: Arc<Pipeline>, ready: Arc<Mutex<VecDeque<Vec<Vec<u8>>>>>) -> Slot {
    let mut slot = Slot::default();
    let next = || ready.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).pop_front();
    while let Some(bodies) = next() {
        slot.done.extend(offer(&pipeline, bodies).await);
        slot.resident.extend(process::resident_bytes());
    }
    slot
}

/// Offers a batch until nothing of it asks for more, with pauses, as a consumer would.
async fn offer(pipeline: &Pipeline, bodies: Vec<Vec<u8>>) -> Vec<Disposition> {
    let raw = |body: &Vec<u8>| RawMessage::from_body(body.clone());
    let mut done = pipeline.run(bodies.iter().map(raw).collect()).await;
    let mut pause = FIRST_PAUSE;
    for _ in 1..OFFERS {
        let open: Vec<usize> = (0..done.len()).filter(|at| done[*at].is_open()).collect();
        if open.is_empty() {
            break;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
        let again = pipeline.run(open.iter().map(|at| raw(&bodies[*at])).collect()).await;
        for (at, disposition) in open.into_iter().zip(again) {
            done[at] = disposition;
        }
    }
    done
}

fn stages(metrics: &Metrics) -> BTreeMap<&'static str, StageTime> {
    let seconds = |stage: Stage| metrics.stages.seconds.with_labels(stage).get_sample_sum();
    let all: f64 = Stage::ALL.iter().map(|stage| seconds(*stage)).sum();
    let one = |stage: &Stage| {
        let seconds = seconds(*stage);
        (stage.code(), StageTime { seconds, share: if all > 0.0 { seconds / all } else { 0.0 } })
    };
    Stage::ALL.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_an_odd_number_the_median_is_one_of_them_and_of_an_even_one_it_lies_between_two() {
        assert_eq!(median(vec![9.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 9.0]), 3.0);
    }

    #[test]
    fn a_curve_has_ten_points_at_most_and_ends_where_the_run_ended() {
        let series: Vec<u64> = (1..=25).map(|n| n << 20).collect();
        let curve = tenths(&series);
        assert_eq!((curve.len(), curve[0], curve[9]), (10, 2.0, 25.0));
        assert_eq!(tenths(&series[..3]), [1.0, 2.0, 3.0]);
        assert!(tenths(&[]).is_empty());
    }
}

//! `anamnesis-bench jobs`: what a run costs. A store is filled with memories of which few are due; the run, its
//! repetition, and the run after a change of policy are timed, next to one statement that writes every row; thirty
//! usual runs show how far the store grows, and batches of documents are committed alone and while a run asks about a
//! quarter of all memories.
//!
//! Memories are invented: a hundred to a patient, beliefs of different ages; as many as asked for are due to expire in
//! the measured run, a half more fall below their threshold in it, and as many again expire one after the other in the
//! thirty runs that follow.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::concurrent_latency::{self, BackgroundLoad, BatchLatency, NotStored};
use super::process::{forget_peak, peak_bytes};
use anamnesis_core::clock::{ManualClock, from_micros};
use anamnesis_core::ids::{OrgId, PatientId, derive};
use anamnesis_core::memory::Kind;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::KeyError;
use anamnesis_jobs::JobName;
use anamnesis_jobs::driver::{JobError, JobOutcome};
use anamnesis_jobs::ledger::Trigger;
use anamnesis_jobs::planner::{PlannedOrganization, run_of};
use anamnesis_jobs::policy::Policies;
use anamnesis_jobs::scheduler::JobScheduler;
use anamnesis_pipeline::Pipeline;
use anamnesis_sql::{Access, Arg, Bulk, ColumnType, DbError, Sql};
use anamnesis_store::Store;
use anamnesis_store::decay_index;

const MEMORIES_OF_A_PATIENT: u64 = 100;
/// Rows of one insert.
const CHUNK: u64 = 5_000;
/// Microseconds of 2026-03-01T12:00Z: the evening before the first run.
const BEGIN: i64 = 1_772_366_400_000_000;
/// A belief of 0.9 falls to its threshold after so many days.
const UNTIL_UNCERTAIN: i64 = 1_200;
/// Usual runs over which growth is measured, after the measured one.
const USUAL_RUNS: u64 = 30;
/// By how much faster beliefs fade in the run next to which documents are committed: a quarter of all fall at once.
const FASTER: f64 = 2.5;
/// Batches of documents that are committed while nothing else is done.
const BATCHES_ALONE: u64 = 40;

const COLUMNS: [(&str, ColumnType); 34] = [
    ("org_id", ColumnType::Uuid),
    ("patient_id", ColumnType::Uuid),
    ("id", ColumnType::Uuid),
    ("group_hash", ColumnType::Bytes),
    ("attribute_hash", ColumnType::Bytes),
    ("kind", ColumnType::Text),
    ("class", ColumnType::Text),
    ("sensitivity", ColumnType::Text),
    ("state", ColumnType::Text),
    ("contested", ColumnType::Bool),
    ("ungrounded", ColumnType::Bool),
    ("content_sealed", ColumnType::Bytes),
    ("source_type", ColumnType::Text),
    ("epistemic", ColumnType::Text),
    ("is_proxy", ColumnType::Bool),
    ("trust", ColumnType::Int),
    ("set_by", ColumnType::Text),
    ("negated", ColumnType::Bool),
    ("experiencer", ColumnType::Text),
    ("extraction_confidence", ColumnType::Float),
    ("initial_confidence", ColumnType::Float),
    ("confidence_basis", ColumnType::Text),
    ("confidence", ColumnType::Float),
    ("is_protected", ColumnType::Bool),
    ("valid_from", ColumnType::Int),
    ("last_confirmed_at", ColumnType::Int),
    ("expires_at", ColumnType::Int),
    ("state_at", ColumnType::Int),
    ("terms", ColumnType::Ints),
    ("redaction_policy", ColumnType::Text),
    ("schema_version", ColumnType::Int),
    ("recorded_at", ColumnType::Int),
    ("decay_bucket", ColumnType::Int),
    ("updated_at", ColumnType::Int),
];
static MEMORIES: LazyLock<Bulk> = LazyLock::new(|| {
    let mut columns = COLUMNS.to_vec();
    columns.push(("created_at", ColumnType::Int));
    Bulk::new("memory", &columns, "")
});
static PATIENTS: LazyLock<Bulk> = LazyLock::new(|| {
    let columns = [
        ("org_id", ColumnType::Uuid),
        ("patient_id", ColumnType::Uuid),
        ("created_at", ColumnType::Int),
        ("updated_at", ColumnType::Int),
    ];
    Bulk::new("patient_profile", &columns, "")
});
static WHOLE: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new("UPDATE memory SET confidence = confidence * 0.999, updated_at = updated_at + 1 WHERE org_id = $1")
});

// A server ends what takes half a minute; this one statement may, over ten million rows.
static PATIENTLY: LazyLock<Sql> = LazyLock::new(|| Sql::new("SELECT set_config('statement_timeout', '0', true)"));

/// How much is stored, and how much of it is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JobsSize {
    pub(crate) memories: u64,
    pub(crate) due: u64,
}

/// Why it could not be measured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JobsBenchError {
    #[error(transparent)]
    Job(#[from] JobError),
    #[error(transparent)]
    Database(#[from] DbError),
    #[error(transparent)]
    Keys(#[from] KeyError),
    #[error(transparent)]
    NotStored(#[from] NotStored),
    #[error("job run failed")]
    Unwell,
}

/// The figures, in milliseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct JobsMeasurement {
    pub(crate) bench: &'static str,
    pub(crate) store: &'static str,
    /// `release` or `debug`.
    pub(crate) build: &'static str,
    pub(crate) memories: u64,
    pub(crate) due: u64,
    /// All jobs of a usual run.
    pub(crate) run_ms: f64,
    /// Rows that the run looked at and changed.
    pub(crate) examined: u64,
    pub(crate) changed: u64,
    /// The same run again.
    pub(crate) again_ms: f64,
    /// What each job took of it.
    pub(crate) again_by_job: BTreeMap<&'static str, f64>,
    pub(crate) again_changed: u64,
    /// A run after the rates of decay were changed: what was asked is asked anew, and no memory is rewritten.
    pub(crate) anew_ms: f64,
    pub(crate) anew_changed: u64,
    /// One statement that writes every row: what a run would cost that stored confidences as they fade.
    pub(crate) whole_update_ms: f64,
    /// `anew_ms` over `whole_update_ms`.
    pub(crate) anew_over_update: f64,
    /// Bytes on disk after thirty usual runs over those before them.
    pub(crate) growth: f64,
    /// Rows that those runs changed.
    pub(crate) growth_changed: u64,
    /// Bytes on disk after the run of the changed rates, over those before it.
    pub(crate) anew_growth: f64,
    /// Most memory of the process during the jobs; filling the store is left out, keys and lists are not.
    pub(crate) peak_bytes: u64,
    /// Small batches of documents while nothing else is done, from bytes to commit.
    pub(crate) ingest_alone: BatchLatency,
    /// The same while a run asks about every memory that falls under a much faster rate.
    pub(crate) ingest_during_run: BatchLatency,
    /// How many it asked about.
    pub(crate) expired_during_run: u64,
}

/// Fills the store of the pipeline and measures. `on_progress` is called with the number of memories.
///
/// # Errors
/// When the store refuses something, or a run does not end well.
pub(crate) async fn measure(
    pipeline: &Arc<Pipeline>,
    policies: Policies,
    size: JobsSize,
    on_progress: &(dyn Fn(u64) + Sync),
) -> Result<JobsMeasurement, JobsBenchError> {
    let store = pipeline.store();
    let org = OrgId(derive("bench.org", &[b"jobs"]));
    fill(store, org, size, on_progress).await?;
    let mut scheduler = JobScheduler::over(store, policies, Arc::new(()), CancellationToken::new());
    // The first run learns that all rows are in line with the policy.
    run(&mut scheduler, org, 1).await?;
    forget_peak();
    let before = store.db().bytes().await?;
    let usual = run(&mut scheduler, org, 2).await?;
    let again = run(&mut scheduler, org, 2).await?;
    let mut growth_changed = 0;
    for day in 3..3 + USUAL_RUNS {
        growth_changed += run(&mut scheduler, org, i64::try_from(day).unwrap_or(i64::MAX)).await?.changed;
    }
    let after = store.db().bytes().await?;
    scheduler.policies.decay.thresholds.belief.rate *= 0.9;
    let anew = run(&mut scheduler, org, 40).await?;
    let peak = peak_bytes().unwrap_or(0);
    let after_anew = store.db().bytes().await?;
    let mut tx = store.db().begin(Access::Organization(org)).await?;
    if store.db().engine() == "postgres" {
        tx.fetch_all(&PATIENTLY, Vec::new()).await?;
    }
    let started = Instant::now();
    tx.execute(&WHOLE, vec![org.0.into()]).await?;
    tx.commit().await?;
    let whole = started.elapsed();
    // The first batches find nothing warm.
    concurrent_latency::alone(pipeline, org, 0, BATCHES_ALONE / 4).await?;
    let ingest_alone = concurrent_latency::alone(pipeline, org, BATCHES_ALONE, BATCHES_ALONE).await?;
    scheduler.policies.decay.thresholds.belief.rate *= FASTER;
    let others = BackgroundLoad::start(Arc::clone(pipeline), org, 2 * BATCHES_ALONE);
    let concurrent = run(&mut scheduler, org, 41).await;
    let ingest_during_run = others.stop().await?;
    let expired_during_run = concurrent?.changed;
    Ok(JobsMeasurement {
        bench: "jobs",
        store: store.db().engine(),
        build: if cfg!(debug_assertions) { "debug" } else { "release" },
        memories: size.memories,
        due: size.due,
        run_ms: ms(usual.took),
        examined: usual.examined,
        changed: usual.changed,
        again_ms: ms(again.took),
        again_by_job: again.by_job,
        again_changed: again.changed,
        anew_ms: ms(anew.took),
        anew_changed: anew.changed,
        whole_update_ms: ms(whole),
        anew_over_update: anew.took.as_secs_f64() / whole.as_secs_f64().max(1e-9),
        growth: ratio(after, before),
        growth_changed,
        anew_growth: ratio(after_anew, after),
        peak_bytes: peak,
        ingest_alone,
        ingest_during_run,
        expired_during_run,
    })
}

fn ratio(one: u64, other: u64) -> f64 {
    one as f64 / (other as f64).max(1.0)
}

fn ms(took: Duration) -> f64 {
    took.as_secs_f64() * 1e3
}

#[derive(Debug, Default)]
struct TimedRun {
    took: Duration,
    /// Milliseconds.
    by_job: BTreeMap<&'static str, f64>,
    examined: u64,
    changed: u64,
}

/// All jobs of the run that many days after the beginning, asked for by a person, so that it may be repeated.
async fn run(scheduler: &mut JobScheduler, org: OrgId, days: i64) -> Result<TimedRun, JobsBenchError> {
    let now = from_micros(BEGIN) + TimeDelta::days(days);
    scheduler.driver.clock = Arc::new(ManualClock::at(now));
    let organization = PlannedOrganization { org, zone: chrono_tz::Tz::UTC, since: DateTime::UNIX_EPOCH };
    let mut done = TimedRun::default();
    let started = Instant::now();
    for job in JobName::ALL.iter().copied() {
        let Some(due) = run_of(job, scheduler.policies.get(job), &organization, now.date_naive()) else { continue };
        let offered = Instant::now();
        let report = scheduler.offer(due, Trigger::Manual).await?;
        done.by_job.insert(job.code(), ms(offered.elapsed()));
        if report.outcome != JobOutcome::Done {
            return Err(JobsBenchError::Unwell);
        }
        done.examined += report.examined;
        done.changed += report.changed;
    }
    done.took = started.elapsed();
    Ok(done)
}

async fn fill(
    store: &Store,
    org: OrgId,
    size: JobsSize,
    on_progress: &(dyn Fn(u64) + Sync),
) -> Result<(), JobsBenchError> {
    static ORGANIZATION: LazyLock<Sql> = LazyLock::new(|| {
        Sql::new("INSERT INTO organization (org_id, time_zone, created_at, updated_at) VALUES ($1, 'UTC', $2, $2)")
    });
    let begin = from_micros(BEGIN);
    let mut tx = store.db().begin(Access::Organization(org)).await?;
    tx.execute(&ORGANIZATION, vec![org.0.into(), begin.into()]).await?;
    tx.commit().await?;
    let mut done = 0;
    while done < size.memories {
        let end = (done + CHUNK).min(size.memories);
        let patients: Vec<PatientId> = (done..end).filter(|n| n % MEMORIES_OF_A_PATIENT == 0).map(patient).collect();
        let scopes: Vec<Scope> = patients.iter().filter_map(|patient| Scope::new(org, *patient).ok()).collect();
        // Who has nothing due needs no key: the jobs never ask for it.
        if done < size.due * 3 {
            store.keys().ensure(&scopes).await?;
        }
        let mut tx = store.db().begin(Access::Organization(org)).await?;
        let row = |patient: &PatientId| vec![org.0.into(), patient.0.into(), begin.into(), begin.into()];
        tx.bulk(&PATIENTS, patients.iter().map(row).collect()).await?;
        tx.bulk(&MEMORIES, (done..end).map(|n| memory(org, n, size.due)).collect()).await?;
        tx.commit().await?;
        done = end;
        on_progress(done);
    }
    Ok(())
}

fn patient(n: u64) -> PatientId {
    PatientId(derive("bench.patient", &[&(n / MEMORIES_OF_A_PATIENT).to_be_bytes()]))
}

/// The first `due` expire in the second run, half as many after them fall below their threshold in it, the `due` after
/// twice as many expire in one of the thirty runs that follow; nothing ever happens to the others.
fn memory(org: OrgId, n: u64, due: u64) -> Vec<Arg> {
    let begin = from_micros(BEGIN);
    let later = (2 * due..3 * due).contains(&n);
    let (expires, falls) = (n < due, (due..due + due / 2).contains(&n));
    let age = match (expires || later, falls) {
        (true, _) => TimeDelta::days(6),
        (_, true) => TimeDelta::days(UNTIL_UNCERTAIN - 1),
        _ => TimeDelta::days(i64::try_from(n % 600).unwrap_or(0)),
    };
    let wait = if later { 1 + i64::try_from(n % USUAL_RUNS).unwrap_or(0) } else { 0 };
    let said: DateTime<Utc> = begin - age;
    let class = match (expires, later) {
        (true, _) => "time_bound_state",
        (_, true) => "preference",
        _ => "pattern",
    };
    let kind = if expires || later { Kind::Note } else { Kind::Belief };
    let hash = vec![0u8; 32];
    vec![
        org.0.into(),
        patient(n).0.into(),
        derive("bench.memory", &[&n.to_be_bytes()]).into(),
        hash.clone().into(),
        hash.into(),
        kind.code().into(),
        class.into(),
        "low".into(),
        "active".into(),
        false.into(),
        false.into(),
        vec![0u8; 200].into(),
        "external".into(),
        "explicit".into(),
        false.into(),
        3i64.into(),
        "patient".into(),
        false.into(),
        "patient".into(),
        0.9.into(),
        0.9.into(),
        "given".into(),
        0.9.into(),
        false.into(),
        said.into(),
        said.into(),
        (expires || later).then(|| said + TimeDelta::days(7 + wait)).into(),
        said.into(),
        Arg::Ints(vec![7; 12]),
        "safe_harbor".into(),
        1i64.into(),
        said.into(),
        decay_index::level(kind, 0.9, false).into(),
        begin.into(),
        begin.into(),
    ]
}

//! A year of job runs in eight time zones, over patients with new statements each month, with replicas that are killed
//! in the middle of their work and a concurrent CronJob. Every run of every job ends exactly once, none is missing, and
//! each job had its effect on the patients' memories, once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use anamnesis_core::clock::{Clock, ManualClock, SeededEntropy};
use anamnesis_core::finding::EntityType;
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::{FoundKeys, KeyError, KeyStore, KeyStoreStamp, Keyring, PlatformKey};
use anamnesis_jobs::JobName;
use anamnesis_jobs::driver::{JobDriver, JobOutcome, JobReport};
use anamnesis_jobs::ledger::Trigger;
use anamnesis_jobs::metrics::JobObserver;
use anamnesis_jobs::planner::RunKey;
use anamnesis_jobs::policy::Policies;
use anamnesis_jobs::scheduler::JobScheduler;
use anamnesis_pipeline::{Disposition, Pipeline};
use anamnesis_sql::{Access, Database, Location, Sql};
use anamnesis_store::Store;
use anamnesis_store::read::{MemoryFilter, ReadInstant};
use aws_lc_rs::digest::{SHA256, digest};
use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use serde_json::json;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::support::{Clinic, embedder, event, feed};

/// Half of them change their clocks; one by half an hour, one at midnight, one not at full hours from UTC.
const ZONES: [&str; 8] = [
    "America/Santiago",
    "Australia/Lord_Howe",
    "America/Bogota",
    "Europe/Madrid",
    "America/New_York",
    "Asia/Kathmandu",
    "UTC",
    "Pacific/Apia",
];
const DAYS: i64 = 366;
/// Of a hundred runs so many are killed after they were claimed.
const KILLED: u64 = 10;

/// The same numbers for the same seed.
struct Dice(AtomicU64);

impl Dice {
    fn below(&self, limit: u64) -> u64 {
        let turn = self.0.fetch_add(1, Ordering::SeqCst);
        let hash = digest(&SHA256, &turn.to_be_bytes());
        u64::from_be_bytes(hash.as_ref()[..8].try_into().unwrap()) % limit
    }
}

/// Kills the process at a run that it has just claimed, before its work, and at batches of a run that changed something.
struct JobKiller {
    dice: Arc<Dice>,
    dead: Notify,
    kills: AtomicU64,
    /// Kills between two batches of one run.
    halfway: AtomicU64,
    /// Rows that the runs of each job changed.
    changed: Mutex<BTreeMap<JobName, u64>>,
}

impl JobKiller {
    fn strikes(&self) -> bool {
        let strikes = self.dice.below(100) < KILLED;
        if strikes {
            self.kills.fetch_add(1, Ordering::SeqCst);
            self.dead.notify_one();
        }
        strikes
    }
}

impl JobObserver for JobKiller {
    fn began(&self, _: JobName) {
        self.strikes();
    }
    fn batch(&self, run: &RunKey, _: u64, changed: u64) {
        if changed > 0 {
            let mut all = self.changed.lock().unwrap();
            let most = all.entry(run.job).or_default();
            *most = changed.max(*most);
            drop(all);
            self.halfway.fetch_add(u64::from(self.strikes()), Ordering::SeqCst);
        }
    }
    fn ended(&self, _: &JobReport, _: TimeDelta) {}
    fn ticked(&self, _: DateTime<Utc>, _: &[(JobName, DateTime<Utc>)]) {}
}

/// In-memory keys that outlive the processes that use them. A look-up continues when its process is killed, because a
/// connection that is dropped in its middle loses its in-memory data.
struct LastingKeys(Arc<Keyring>);

#[async_trait::async_trait]
impl KeyStore for LastingKeys {
    fn platform(&self) -> &PlatformKey {
        self.0.platform()
    }
    fn place(&self) -> String {
        self.0.place()
    }
    fn stamp(&self) -> KeyStoreStamp {
        self.0.stamp()
    }
    fn check_value(&self) -> [u8; 32] {
        self.0.check_value()
    }

    async fn find(&self, scopes: &[Scope]) -> Result<FoundKeys, KeyError> {
        let (keys, scopes) = (Arc::clone(&self.0), scopes.to_vec());
        tokio::spawn(async move { keys.find(&scopes).await }).await.unwrap()
    }

    async fn ensure(&self, scopes: &[Scope]) -> Result<FoundKeys, KeyError> {
        let (keys, scopes) = (Arc::clone(&self.0), scopes.to_vec());
        tokio::spawn(async move { keys.ensure(&scopes).await }).await.unwrap()
    }

    async fn destroy(&self, scope: Scope) -> Result<(), KeyError> {
        self.0.destroy(scope).await
    }
}

struct YearOfRuns {
    database: Database,
    keys: Arc<LastingKeys>,
    clock: Arc<ManualClock>,
    killer: Arc<JobKiller>,
    /// Read once: thousands of processes start.
    policies: Policies,
    processes: AtomicU64,
}

impl YearOfRuns {
    /// A process that has just started.
    fn process(&self) -> JobScheduler {
        let driver = JobDriver {
            database: self.database.clone(),
            keys: self.keys.clone(),
            clock: self.clock.clone(),
            entropy: Arc::new(SeededEntropy::new(7)),
            owner: format!("process {}", self.processes.fetch_add(1, Ordering::SeqCst)),
            observer: self.killer.clone(),
            shutdown: CancellationToken::new(),
            models: Some(embedder().into()),
            traces: Default::default(),
        };
        JobScheduler::new(driver, self.policies.clone())
    }

    /// Offers the due runs of all jobs or of one, until the process is killed; false when it was.
    async fn work(&self, scheduler: &JobScheduler, job: Option<JobName>, done: &mut Vec<RunKey>) -> bool {
        for due in scheduler.due().await.unwrap() {
            if job.is_some_and(|job| job != due.key.job) {
                continue;
            }
            tokio::select! {
                biased;
                () = self.killer.dead.notified() => return false,
                report = scheduler.offer(due, Trigger::Scheduled) => match report.unwrap().outcome {
                    JobOutcome::Done => done.push(due.key),
                    JobOutcome::AlreadyDone | JobOutcome::LeasedElsewhere { .. } => {}
                    other => panic!("{other:?}"),
                },
            }
        }
        true
    }
}

/// The statements of one patient of each organisation in month `month`: one that ends, one that lasts, one that is
/// corrected a month later, and an appointment.
fn said(org: usize, month: usize, now: DateTime<Utc>) -> Vec<Vec<u8>> {
    let at = now - TimeDelta::hours(3);
    let symptom = ["cefalea", "insomnio", "mareo", "náuseas"][month % 4];
    let dose = 25 * (1 + month % 3);
    let when = (now + TimeDelta::days(10)).format("%d/%m/%Y");
    let text = format!(
        "Refiere {symptom} desde ayer. Toma sertralina {dose} mg al día. Prefiere que le hablen por la mañana. \
         Tiene cita con psiquiatría el {when}."
    );
    let id = 1 + (org * 100 + month) as u128;
    let note = json!({"organization_id": org_id(org).0, "patient_id": patient(org).0, "document_id": Uuid::from_u128(id),
        "revision": 1, "document_type": "chat_message", "occurred_at": at, "text": text});
    vec![event(&format!("m-{id}"), "anamnesis.document.submitted.v1", &note).to_string().into_bytes()]
}

fn org_id(n: usize) -> OrgId {
    OrgId(Uuid::from_u128(n as u128 + 1))
}

fn patient(org: usize) -> PatientId {
    PatientId(Uuid::from_u128(0x1000 + org as u128))
}

impl YearOfRuns {
    /// Ingests the statements of all patients.
    async fn hear(&self, pipeline: &Pipeline, month: usize) {
        for org in 0..ZONES.len() {
            let done = feed(pipeline, &said(org, month, self.clock.now()), 4).await;
            assert!(done.iter().all(|one| *one == Disposition::Stored), "{done:?}");
        }
    }

    /// One person requests that a memory be forgotten.
    async fn forget(&self, pipeline: &Pipeline) {
        let scope = Scope::new(org_id(0), patient(0)).unwrap();
        let symptoms = MemoryFilter { entities: vec![EntityType::Symptom], ..MemoryFilter::default() };
        let one = pipeline.store().read().memories(scope, &symptoms, ReadInstant::Now).await.unwrap().remove(0);
        let data = json!({"organization_id": org_id(0).0, "patient_id": patient(0).0, "command": "forget",
            "memory_ids": [one.id], "actor": {"id": Uuid::from_u128(9), "role": "patient"}, "issued_at": self.clock.now()});
        let forget = event("forget", "anamnesis.memory.command.v1", &data).to_string().into_bytes();
        assert_eq!(feed(pipeline, &[forget], 1).await, [Disposition::Stored]);
    }

    async fn numbers(&self, org: usize, sql: &'static str) -> i64 {
        let mut tx = self.database.read(Access::Organization(org_id(org))).await.unwrap();
        tx.fetch_all(&Sql::new(sql), Vec::new()).await.unwrap()[0].i64(0).unwrap()
    }

    /// Each job had its effect, and none twice.
    async fn the_jobs_did_their_work(&self) {
        for org in 0..ZONES.len() {
            let twice = "SELECT count(*) - count(DISTINCT hex(memory_id) || action || at) FROM memory_event";
            let asked = "SELECT count(*) FROM outbox WHERE event_type LIKE '%reconfirmation%'";
            let asked_twice = "SELECT count(*) - count(DISTINCT id) FROM outbox";
            let held = "SELECT count(*) FROM memory";
            // 2027-01-01: instants of a file are microseconds.
            let past = "SELECT count(*) FROM memory WHERE class = 'time_bound_state' AND state = 'active' \
                        AND expires_at < 1798761600000000";
            let ended = "SELECT count(*) FROM memory WHERE class = 'time_bound_state' AND state <> 'active'";
            assert!(self.numbers(org, held).await > 12, "{org}: the patients' year was heard");
            assert_eq!(self.numbers(org, twice).await, 0, "{org}: a job changed a memory twice");
            assert_eq!(self.numbers(org, asked_twice).await, 0, "{org}");
            assert!(self.numbers(org, asked).await > 0, "{org}: nobody was asked whether a symptom lasts");
            assert_eq!(self.numbers(org, past).await, 0, "{org}: a state outlived its end");
            assert!(self.numbers(org, ended).await > 0, "{org}: no state has ended");
        }
        let forgotten = "SELECT count(*) FROM memory WHERE state = 'inactive' AND content_sealed IS NULL";
        assert_eq!(self.numbers(0, forgotten).await, 1, "what was forgotten was purged, once");
        let changed = self.killer.changed.lock().unwrap();
        for job in [JobName::Reconfirmation, JobName::Expiry, JobName::Purge, JobName::Summaries] {
            assert!(changed.get(&job).is_some_and(|rows| *rows > 0), "{job:?} had nothing to do: {changed:?}");
        }
        assert!(self.killer.halfway.load(Ordering::SeqCst) > 0, "no process was killed in the middle of its work");
    }
}

#[tokio::test]
async fn a_year_in_eight_time_zones_with_kills_and_replicas_does_every_run_exactly_once() {
    let start: DateTime<Utc> = "2026-01-01T00:00:00Z".parse().unwrap();
    let clock = Arc::new(ManualClock::at(start));
    let database = Database::open(&Location::Memory).await.unwrap();
    let keys = Keyring::in_memory(clock.clone(), Arc::new(SeededEntropy::new(1))).await.unwrap();
    let register =
        Sql::new("INSERT INTO organization (org_id, time_zone, created_at, updated_at) VALUES ($1, $2, $3, $3)");
    for (n, zone) in ZONES.iter().enumerate() {
        let org = org_id(n);
        let mut tx = database.begin(Access::Organization(org)).await.unwrap();
        tx.execute(&register, vec![org.0.into(), (*zone).into(), start.into()]).await.unwrap();
        tx.commit().await.unwrap();
    }
    let dice = Arc::new(Dice(AtomicU64::new(42)));
    let killer = Arc::new(JobKiller {
        dice: dice.clone(),
        dead: Notify::new(),
        kills: AtomicU64::new(0),
        halfway: AtomicU64::new(0),
        changed: Mutex::default(),
    });
    let keys = Arc::new(LastingKeys(Arc::new(keys)));
    // A run of a job begins only under the key store that the store is bound to.
    let store = Store::new(database.clone(), keys.clone(), clock.clone(), Arc::new(SeededEntropy::new(8)));
    store.key_binding().bind_keys().await.unwrap();
    let clinic = Clinic::new().await;
    let pipeline = clinic.pipeline_over(store, embedder().into());
    let policies = Policies::embedded().unwrap();
    let year = YearOfRuns { database, keys, clock, killer, policies, processes: AtomicU64::new(0) };
    let mut replicas = [year.process(), year.process(), year.process()];
    let mut done = Vec::new();
    let end = start + TimeDelta::days(DAYS);
    let mut month = 0;
    while year.clock.now() < end {
        if year.clock.now() >= start + TimeDelta::days(5 + 30 * month as i64) {
            year.hear(&pipeline, month).await;
            if month == 3 {
                year.forget(&pipeline).await;
            }
            month += 1;
        }
        // Once, everything is down for nine days.
        let outage = year.clock.now() > start + TimeDelta::days(200) && year.clock.now() < start + TimeDelta::days(201);
        year.clock.advance(if outage { TimeDelta::days(9) } else { TimeDelta::minutes(373) });
        let at = usize::try_from(dice.below(3)).unwrap();
        // A replica that dies is restarted immediately, as by Kubernetes; its runs wait for their lease to end.
        while !year.work(&replicas[at], None, &mut done).await {
            replicas[at] = year.process();
        }
        if dice.below(10) < 2 {
            let job = JobName::ALL[usize::try_from(dice.below(JobName::ALL.len() as u64)).unwrap()];
            year.work(&year.process(), Some(job), &mut done).await;
        }
    }
    // The surviving replicas take over the remaining runs.
    for _ in 0..40 {
        year.clock.advance(TimeDelta::minutes(10));
        let _ = year.work(&replicas[0], None, &mut done).await;
    }

    let mut dates_of_runs: BTreeMap<(JobName, OrgId), Vec<NaiveDate>> = BTreeMap::new();
    for key in &done {
        dates_of_runs.entry((key.job, key.org)).or_default().push(key.as_of);
    }
    assert_eq!(dates_of_runs.len(), JobName::ALL.len() * ZONES.len());
    for (of, dates) in &dates_of_runs {
        let once: BTreeSet<NaiveDate> = dates.iter().copied().collect();
        assert_eq!(once.len(), dates.len(), "{of:?}: a night ended twice");
        let (first, last) = (*once.first().unwrap(), *once.last().unwrap());
        assert_eq!((last - first).num_days() + 1, once.len() as i64, "{of:?}: a night is missing");
        assert!(once.len() as i64 >= DAYS, "{of:?}: {}", once.len());
    }
    assert_eq!(month, 13, "something was said each month");
    year.the_jobs_did_their_work().await;
    let kills = year.killer.kills.load(Ordering::SeqCst);
    assert!(kills as usize > done.len() / 20, "{kills} kills in {} runs", done.len());
}

//! A store with memories around every boundary of time, its keys, its clock and its job runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use anamnesis_core::clock::{Clock, ManualClock, SeededEntropy};
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::{KeyStore, Keyring};
use anamnesis_jobs::JobName;
use anamnesis_jobs::driver::{JobDriver, JobOutcome, JobReport};
use anamnesis_jobs::ledger::Trigger;
use anamnesis_jobs::metrics::JobObserver;
use anamnesis_jobs::planner::{DueRun, run_of};
use anamnesis_jobs::policy::Policies;
use anamnesis_jobs::scheduler::JobScheduler;
use anamnesis_sql::{Access, Arg, Database, Location, Sql, Transaction};
use chrono::{DateTime, TimeDelta, Utc};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::server::copy_embedded_store;

pub(crate) const ORG: OrgId = OrgId(Uuid::from_u128(0xA));
/// 03:10 in Bogotá, when expiry is due.
pub(crate) const NIGHT: &str = "2026-03-10T08:10:00Z";

pub(crate) fn utc(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

pub(crate) fn patient(n: u128) -> PatientId {
    PatientId(Uuid::from_u128(0x100 + n))
}

/// Inserts a row that says only what matters here: columns that may not be NULL and are not named get a value of their
/// type, so that these tests need not follow every column that others add.
pub(crate) async fn insert(tx: &mut Transaction, table: &str, said: &[(&str, Arg)]) {
    let needed = leaked(format!(
        "SELECT name, type FROM pragma_table_info('{table}') WHERE \"notnull\" = 1 AND dflt_value IS NULL"
    ));
    let mut columns: Vec<String> = said.iter().map(|(name, _)| (*name).to_owned()).collect();
    let mut args: Vec<Arg> = said.iter().map(|(_, arg)| arg.clone()).collect();
    for row in tx.fetch_all(&needed, Vec::new()).await.unwrap() {
        let (name, kind) = (row.text(0).unwrap(), row.text(1).unwrap());
        if columns.contains(&name) {
            continue;
        }
        columns.push(name);
        args.push(match kind.as_str() {
            "BLOB" => vec![0u8; 32].into(),
            "TEXT" => "x".into(),
            _ => 1i64.into(),
        });
    }
    let places: Vec<String> = (1..=columns.len()).map(|n| format!("${n}")).collect();
    let sql = leaked(format!("INSERT INTO {table} ({}) VALUES ({})", columns.join(", "), places.join(", ")));
    tx.execute(&sql, args).await.unwrap();
}

pub(crate) fn leaked(text: String) -> Sql {
    Sql::new(Box::leak(text.into_boxed_str()))
}

/// A store, its keys and its clock.
pub(crate) struct JobFixture {
    pub(crate) database: Database,
    pub(crate) keys: Arc<Keyring>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) directory: tempfile::TempDir,
}

impl JobFixture {
    pub(crate) async fn new() -> Self {
        let clock = Arc::new(ManualClock::at(utc(NIGHT)));
        let keys = Keyring::in_memory(clock.clone(), Arc::new(SeededEntropy::new(1))).await.unwrap();
        Self::with(tempfile::tempdir().unwrap(), clock, keys).await
    }

    /// With the key store in a file, where another process finds it.
    pub(crate) async fn on_disk() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::at(utc(NIGHT)));
        let path = directory.path().join("keys");
        let keys = Keyring::local(&path, None, clock.clone(), Arc::new(SeededEntropy::new(1))).await.unwrap();
        Self::with(directory, clock, keys).await
    }

    pub(crate) async fn with(directory: tempfile::TempDir, clock: Arc<ManualClock>, keys: Keyring) -> Self {
        let path = directory.path().join("store.db");
        copy_embedded_store(&path).await;
        let database = Database::open(&Location::File(path)).await.unwrap();
        let fixture = Self { database, keys: Arc::new(keys), clock, directory };
        let mut tx = fixture.begin().await;
        let since: Arg = utc("2026-01-01T00:00:00Z").into();
        let said = [("org_id", ORG.0.into()), ("time_zone", "America/Bogota".into()), ("created_at", since)];
        insert(&mut tx, "organization", &said).await;
        anamnesis_store::organizations::cover_policy(&mut tx, ORG, fixture.keys.platform()).await.unwrap();
        tx.commit().await.unwrap();
        fixture
    }

    pub(crate) async fn begin(&self) -> Transaction {
        self.database.begin(Access::Organization(ORG)).await.unwrap()
    }

    pub(crate) fn scheduler(&self, owner: &str) -> SchedulerBuilder<'_> {
        SchedulerBuilder {
            fixture: self,
            owner: owner.to_owned(),
            batch: 2,
            observer: Arc::new(()),
            keys: self.keys.clone(),
        }
    }

    pub(crate) fn due(&self, job: JobName, date: &str) -> DueRun {
        let policies = Policies::embedded().unwrap();
        let organization = anamnesis_jobs::planner::PlannedOrganization {
            org: ORG,
            zone: chrono_tz::America::Bogota,
            since: utc("2026-01-01T00:00:00Z"),
        };
        run_of(job, policies.get(job), &organization, date.parse().unwrap()).unwrap()
    }

    /// One patient's memories around every boundary, relative to `NIGHT`.
    pub(crate) async fn seed(&self, patients: u128) {
        let scopes: Vec<Scope> = (0..patients).map(|n| Scope::new(ORG, patient(n)).unwrap()).collect();
        self.keys.ensure(&scopes).await.unwrap();
        let mut tx = self.begin().await;
        let run_at = utc(NIGHT);
        for n in 0..patients {
            let scope = [("org_id", Arg::from(ORG.0)), ("patient_id", patient(n).0.into())];
            let known = [scope.to_vec(), vec![("created_at", utc("2026-01-01T00:00:00Z").into())]].concat();
            insert(&mut tx, "patient_profile", &known).await;
            for (id, (class, confirmed, expires)) in (n * 100 + 0x1_0000..).zip(memories(run_at)) {
                let id = Uuid::from_u128(id);
                insert(&mut tx, "memory", &[scope.to_vec(), memory(id, class, confirmed, expires)].concat()).await;
                let mut row = [scope.to_vec(), vec![("memory_id", id.into()), ("status", "active".into())]].concat();
                if class == "time_bound_state" {
                    row.extend([("last_confirmed_at", confirmed.into()), ("expires_at", expires.into())]);
                    insert(&mut tx, "symptom_states", &row).await;
                } else if class == "health_signal" {
                    row.push(("synced_at", confirmed.into()));
                    insert(&mut tx, "health_signals", &row).await;
                }
            }
            self.seed_spent(&mut tx, &scope, n).await;
        }
        tx.commit().await.unwrap();
    }

    /// A forgotten memory, a published event and a message, all of long ago.
    pub(crate) async fn seed_spent(&self, tx: &mut Transaction, scope: &[(&'static str, Arg)], n: u128) {
        let ago = |days| utc(NIGHT) - TimeDelta::days(days);
        let mut forgotten = memory(Uuid::from_u128(n * 100 + 0x1_0050), "event", ago(31), None);
        forgotten.retain(|(name, _)| *name != "state");
        forgotten.extend([("state", "inactive".into()), ("content_sealed", vec![1u8].into())]);
        insert(tx, "memory", &[scope.to_vec(), forgotten].concat()).await;
        let published = [("id", Uuid::from_u128(n + 1).into()), ("published_at", ago(100).into())];
        insert(tx, "outbox", &[scope.to_vec(), published.to_vec()].concat()).await;
        let hash = vec![u8::try_from(n).unwrap(); 32];
        let came = [("message_hash", hash.into()), ("disposition", "stored".into()), ("created_at", ago(100).into())];
        insert(tx, "inbox", &[scope[..1].to_vec(), came.to_vec()].concat()).await;
    }

    /// Runs it, at its own instant if that is still to come.
    pub(crate) async fn run(&self, scheduler: &JobScheduler, due: DueRun) -> JobReport {
        if self.clock.now() < due.cutoff {
            self.clock.set(due.cutoff);
        }
        run(scheduler, due).await
    }

    /// Every job after expiry.
    pub(crate) async fn run_remaining_jobs(&self, scheduler: &JobScheduler) {
        for job in JobName::ALL.iter().skip_while(|job| **job != JobName::Expiry).skip(1) {
            self.run(scheduler, self.due(*job, "2026-03-10")).await;
        }
    }

    pub(crate) async fn rows(&self, sql: &'static str) -> Vec<String> {
        let mut tx = self.database.read(Access::Organization(ORG)).await.unwrap();
        let rows = tx.fetch_all(&Sql::new(sql), Vec::new()).await.unwrap();
        rows.iter().map(|row| row.text(0).unwrap()).collect()
    }

    /// Everything that a job run may change, without the instants of the writes.
    pub(crate) async fn digest(&self) -> Vec<String> {
        let mut all = self
            .rows(
                "SELECT hex(patient_id) || hex(id) || ' ' || class || ' ' || state || ' ' || state_at || ' ' || \
                 coalesce(valid_to, '-') || ' ' || coalesce(reconfirm_due_at, '-') || ' ' || cycle || ' ' || \
                 coalesce(decay_bucket, '-') || ' ' || coalesce(review_due_at, '-') FROM memory ORDER BY 1",
            )
            .await;
        all.extend(self.rows("SELECT hex(memory_id) || status FROM symptom_states UNION ALL SELECT hex(memory_id) || status FROM health_signals ORDER BY 1").await);
        all.extend(
            self.rows(
                "SELECT hex(id) || hex(memory_id) || action || at || derived || source FROM memory_event ORDER BY 1",
            )
            .await,
        );
        all.extend(self.rows("SELECT hex(id) || hex(patient_id) || event_type FROM outbox ORDER BY 1").await);
        all.extend(self.rows("SELECT hex(id) FROM memory WHERE content_sealed IS NOT NULL ORDER BY 1").await);
        all.extend(self.rows("SELECT hex(message_hash) FROM inbox ORDER BY 1").await);
        all
    }

    pub(crate) async fn states(&self) -> BTreeMap<String, usize> {
        let mut states = BTreeMap::new();
        for row in self.rows("SELECT class || ' ' || state FROM memory").await {
            *states.entry(row).or_default() += 1;
        }
        states
    }

    /// `anamnesis ARGUMENTS --output json`, at an instant: exit code and lines.
    pub(crate) fn verb(&self, now: &str, arguments: &[&str]) -> (i32, Vec<serde_json::Value>) {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_anamnesis"))
            .args(arguments)
            .args(["--output", "json"])
            .env("ANAMNESIS__STORE__PATH", self.directory.path().join("store.db"))
            .env("ANAMNESIS__STORE__KEYS", self.directory.path().join("keys"))
            .env("ANAMNESIS__PIPELINE__NOW", now)
            .current_dir(self.directory.path())
            .output()
            .unwrap();
        let lines = String::from_utf8(output.stdout).unwrap();
        let values = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        (output.status.code().unwrap(), values)
    }

    pub(crate) async fn ledger(&self) -> Vec<String> {
        self.rows("SELECT job || ' ' || as_of || ' ' || state || ' ' || status FROM job_run ORDER BY 1").await
    }
}

pub(crate) fn memory(
    id: Uuid,
    class: &'static str,
    confirmed: DateTime<Utc>,
    expires: Option<DateTime<Utc>>,
) -> Vec<(&'static str, Arg)> {
    let text = |name, value: &str| (name, Arg::from(value));
    let fades = class == "pattern";
    vec![
        ("id", id.into()),
        text("kind", if fades { "belief" } else { "note" }),
        ("confidence", if fades { 0.9 } else { 1.0 }.into()),
        ("is_protected", (!fades).into()),
        ("decay_bucket", fades.then_some(900i64).into()),
        text("class", class),
        text("sensitivity", "low"),
        text("state", "active"),
        text("source_type", "external"),
        text("epistemic", "explicit"),
        text("experiencer", "patient"),
        text("confidence_basis", "default"),
        ("evidence_sealed", vec![0u8].into()),
        ("recorded_at", confirmed.into()),
        ("state_at", confirmed.into()),
        ("valid_from", confirmed.into()),
        ("last_confirmed_at", confirmed.into()),
        ("expires_at", expires.into()),
        ("reconfirm_due_at", Arg::Null),
    ]
}

/// Class, last confirmation (and recording), end of life.
pub(crate) type Seed = (&'static str, DateTime<Utc>, Option<DateTime<Utc>>);

pub(crate) fn memories(run_at: DateTime<Utc>) -> Vec<Seed> {
    let (hour, minute, second) = (TimeDelta::hours(1), TimeDelta::minutes(1), TimeDelta::seconds(1));
    let week = TimeDelta::days(7);
    let state = |confirmed: DateTime<Utc>| ("time_bound_state", confirmed, Some(confirmed + week));
    let inference = |recorded: DateTime<Utc>| ("inference", recorded, Some(recorded + hour * 24));
    vec![
        // Exactly seven days, the boundary included; and one second less.
        state(run_at - week),
        state(run_at - week + second),
        // Exactly 48 hours, and one second less.
        state(run_at - hour * 48),
        state(run_at - hour * 48 + second),
        // An earlier end of this memory.
        ("time_bound_state", run_at - hour * 3, Some(run_at - hour)),
        inference(run_at - hour * 24),
        inference(run_at - hour * 24 + second),
        ("health_signal", run_at - week, None),
        ("health_signal", run_at - week + second, None),
        ("preference", run_at - week, Some(run_at)),
        // Beliefs of 0.9 fall to the threshold after 1,200 days: at the decay run, and one second later.
        ("pattern", run_at + minute * 40 - TimeDelta::days(1200), None),
        ("pattern", run_at + minute * 40 - TimeDelta::days(1200) + second, None),
        // Nothing ever happens to these.
        ("long_lived_fact", run_at - week * 50, None),
        ("event", run_at - week * 50, None),
    ]
}

pub(crate) struct SchedulerBuilder<'a> {
    fixture: &'a JobFixture,
    owner: String,
    batch: u32,
    observer: Arc<dyn JobObserver>,
    keys: Arc<dyn KeyStore>,
}

impl SchedulerBuilder<'_> {
    pub(crate) fn watched_by(mut self, observer: Arc<dyn JobObserver>) -> Self {
        self.observer = observer;
        self
    }

    pub(crate) fn with_keys(mut self, keys: Arc<dyn KeyStore>) -> Self {
        self.keys = keys;
        self
    }

    pub(crate) fn build(self) -> JobScheduler {
        let mut policies = Policies::embedded().unwrap();
        for job in JobName::ALL {
            let run = policies.get_mut(*job);
            run.batch_size = self.batch;
            run.pause = std::time::Duration::ZERO;
        }
        let driver = JobDriver {
            database: self.fixture.database.clone(),
            keys: self.keys,
            clock: self.fixture.clock.clone(),
            entropy: Arc::new(SeededEntropy::new(7)),
            owner: self.owner,
            observer: self.observer,
            shutdown: CancellationToken::new(),
            models: None,
            traces: Default::default(),
        };
        JobScheduler::new(driver, policies)
    }
}

pub(crate) fn count(report: &JobReport, counter: &str) -> u64 {
    report.status[counter].as_u64().unwrap()
}

pub(crate) async fn run(scheduler: &JobScheduler, due: DueRun) -> JobReport {
    scheduler.offer(due, Trigger::Scheduled).await.unwrap()
}

/// The state after an undisturbed run.
pub(crate) async fn undisturbed(patients: u128) -> Vec<String> {
    let fixture = JobFixture::new().await;
    fixture.seed(patients).await;
    let scheduler = fixture.scheduler("calm").build();
    for job in JobName::ALL {
        let due = fixture.due(*job, "2026-03-10");
        fixture.clock.set(due.cutoff);
        assert_eq!(run(&scheduler, due).await.outcome, JobOutcome::Done);
    }
    fixture.digest().await
}

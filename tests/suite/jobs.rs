//! Nightly jobs against a real store: the same end whatever is killed, repeated, late or raced.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anamnesis::clock::{Clock, ManualClock, SeededEntropy, micros};
use anamnesis::crypto::{KeyError, KeyStore, LocalKeyStore, PatientKeys, PlatformKey};
use anamnesis::domain::confidence::ConfidenceBasis;
use anamnesis::domain::document::DocumentType;
use anamnesis::domain::finding::{EntityType, Epistemic, Experiencer, Polarity, Temporality};
use anamnesis::domain::fold::Assertion;
use anamnesis::domain::ids::{FindingId, OrgId, PatientId};
use anamnesis::domain::memory::{Class, Kind, SetBy};
use anamnesis::domain::provenance::{SourceType, Trust};
use anamnesis::domain::scope::Scope;
use anamnesis::jobs::JobName;
use anamnesis::jobs::driver::{Driver, Outcome, Report};
use anamnesis::jobs::ledger::{Asked, State};
use anamnesis::jobs::night::Night;
use anamnesis::jobs::observe::Observer;
use anamnesis::jobs::planner::{Due, RunKey, run_of};
use anamnesis::jobs::policy::Policies;
use anamnesis::store::Store;
use anamnesis::store::engine::{Access, Arg, Database, Location, Sql, Transaction};
use anamnesis::store::outbox;
use anamnesis::store::records::{FindingWords, InboxEntry, NewFinding, OrgBatch};
use chrono::{DateTime, TimeDelta, Utc};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

const ORG: OrgId = OrgId(Uuid::from_u128(0xA));
/// 03:10 in Bogotá, when expiry is due.
const NIGHT: &str = "2026-03-10T08:10:00Z";

fn utc(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn patient(n: u128) -> PatientId {
    PatientId(Uuid::from_u128(0x100 + n))
}

/// Inserts a row that says only what matters here: columns that may not be NULL and are not named get a value of their
/// type, so that these tests need not follow every column that others add.
async fn insert(tx: &mut Transaction, table: &str, said: &[(&str, Arg)]) {
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

fn leaked(text: String) -> Sql {
    Sql::new(Box::leak(text.into_boxed_str()))
}

/// A store, its keys and its clock.
struct World {
    database: Database,
    keys: Arc<LocalKeyStore>,
    clock: Arc<ManualClock>,
    directory: tempfile::TempDir,
}

impl World {
    async fn new() -> Self {
        let clock = Arc::new(ManualClock::at(utc(NIGHT)));
        let keys = LocalKeyStore::in_memory(clock.clone(), Arc::new(SeededEntropy::new(1))).await.unwrap();
        Self::with(tempfile::tempdir().unwrap(), clock, keys).await
    }

    /// With the key store in a file, where another process finds it.
    async fn on_disk() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::at(utc(NIGHT)));
        let path = directory.path().join("keys");
        let keys = LocalKeyStore::open(&path, None, clock.clone(), Arc::new(SeededEntropy::new(1))).await.unwrap();
        Self::with(directory, clock, keys).await
    }

    async fn with(directory: tempfile::TempDir, clock: Arc<ManualClock>, keys: LocalKeyStore) -> Self {
        let database = Database::open(&Location::File(directory.path().join("store.db"))).await.unwrap();
        let world = Self { database, keys: Arc::new(keys), clock, directory };
        let mut tx = world.begin().await;
        let since: Arg = utc("2026-01-01T00:00:00Z").into();
        let said = [("org_id", ORG.0.into()), ("time_zone", "America/Bogota".into()), ("created_at", since)];
        insert(&mut tx, "organization", &said).await;
        tx.commit().await.unwrap();
        world
    }

    async fn begin(&self) -> Transaction {
        self.database.begin(Access::Organization(ORG)).await.unwrap()
    }

    fn night(&self, owner: &str) -> NightMaker<'_> {
        NightMaker { world: self, owner: owner.to_owned(), batch: 2, observer: Arc::new(()), keys: self.keys.clone() }
    }

    fn due(&self, job: JobName, date: &str) -> Due {
        let policies = Policies::embedded().unwrap();
        let organization = anamnesis::jobs::planner::Organization {
            org: ORG,
            zone: chrono_tz::America::Bogota,
            since: utc("2026-01-01T00:00:00Z"),
        };
        run_of(job, policies.of(job), &organization, date.parse().unwrap()).unwrap()
    }

    /// One patient's memories around every boundary, as seen from `NIGHT`.
    async fn seed(&self, patients: u128) {
        let scopes: Vec<Scope> = (0..patients).map(|n| Scope::new(ORG, patient(n)).unwrap()).collect();
        self.keys.ensure(&scopes).await.unwrap();
        let mut tx = self.begin().await;
        let night = utc(NIGHT);
        for n in 0..patients {
            let scope = [("org_id", Arg::from(ORG.0)), ("patient_id", patient(n).0.into())];
            insert(&mut tx, "patient_profile", &scope).await;
            for (id, (class, confirmed, expires)) in (n * 100 + 0x1_0000..).zip(memories(night)) {
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

    /// A memory that was forgotten, an event that was published and a message that came in, all long ago.
    async fn seed_spent(&self, tx: &mut Transaction, scope: &[(&'static str, Arg)], n: u128) {
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
    async fn run(&self, night: &Night, due: Due) -> Report {
        if self.clock.now() < due.cutoff {
            self.clock.set(due.cutoff);
        }
        run(night, due).await
    }

    /// Every job after expiry.
    async fn rest_of_the_night(&self, night: &Night) {
        for job in JobName::ALL.iter().skip_while(|job| **job != JobName::Expiry).skip(1) {
            self.run(night, self.due(*job, "2026-03-10")).await;
        }
    }

    async fn rows(&self, sql: &'static str) -> Vec<String> {
        let mut tx = self.database.read(Access::Organization(ORG)).await.unwrap();
        let rows = tx.fetch_all(&Sql::new(sql), Vec::new()).await.unwrap();
        rows.iter().map(|row| row.text(0).unwrap()).collect()
    }

    /// Everything that a night may change, without the instants at which somebody happened to write it.
    async fn digest(&self) -> Vec<String> {
        let mut all = self
            .rows(
                "SELECT hex(patient_id) || hex(id) || ' ' || class || ' ' || state || ' ' || state_at || ' ' || \
                 coalesce(valid_to, '-') || ' ' || coalesce(reconfirm_due_at, '-') || ' ' || cycle || ' ' || \
                 coalesce(uncertain_at, '-') || ' ' || coalesce(review_due_at, '-') FROM memory ORDER BY 1",
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

    async fn states(&self) -> BTreeMap<String, usize> {
        let mut states = BTreeMap::new();
        for row in self.rows("SELECT class || ' ' || state FROM memory").await {
            *states.entry(row).or_default() += 1;
        }
        states
    }

    /// `anamnesis ARGUMENTS --output json`, at an instant: exit code and lines.
    fn verb(&self, now: &str, arguments: &[&str]) -> (i32, Vec<serde_json::Value>) {
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

    async fn ledger(&self) -> Vec<String> {
        self.rows("SELECT job || ' ' || as_of || ' ' || state || ' ' || status FROM job_run ORDER BY 1").await
    }
}

fn memory(
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
type Seed = (&'static str, DateTime<Utc>, Option<DateTime<Utc>>);

fn memories(night: DateTime<Utc>) -> Vec<Seed> {
    let (hour, minute, second) = (TimeDelta::hours(1), TimeDelta::minutes(1), TimeDelta::seconds(1));
    let week = TimeDelta::days(7);
    let state = |confirmed: DateTime<Utc>| ("time_bound_state", confirmed, Some(confirmed + week));
    let inference = |recorded: DateTime<Utc>| ("inference", recorded, Some(recorded + hour * 24));
    vec![
        // Exactly seven days, the boundary included; and one second less.
        state(night - week),
        state(night - week + second),
        // Exactly 48 hours, and one second less.
        state(night - hour * 48),
        state(night - hour * 48 + second),
        // A shorter end of its own.
        ("time_bound_state", night - hour * 3, Some(night - hour)),
        inference(night - hour * 24),
        inference(night - hour * 24 + second),
        ("health_signal", night - week, None),
        ("health_signal", night - week + second, None),
        ("preference", night - week, Some(night)),
        // Beliefs of 0.9 fall to the threshold after 1,200 days: at the run of decay, and one second later.
        ("pattern", night + minute * 40 - TimeDelta::days(1200), None),
        ("pattern", night + minute * 40 - TimeDelta::days(1200) + second, None),
        // Nothing ever happens to these.
        ("long_lived_fact", night - week * 50, None),
        ("event", night - week * 50, None),
    ]
}

struct NightMaker<'a> {
    world: &'a World,
    owner: String,
    batch: u32,
    observer: Arc<dyn Observer>,
    keys: Arc<dyn KeyStore>,
}

impl NightMaker<'_> {
    fn watched_by(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = observer;
        self
    }

    fn with_keys(mut self, keys: Arc<dyn KeyStore>) -> Self {
        self.keys = keys;
        self
    }

    fn build(self) -> Night {
        let mut policies = Policies::embedded().unwrap();
        for run in [
            &mut policies.expiry.run,
            &mut policies.reconfirmation.run,
            &mut policies.decay.run,
            &mut policies.purge.run,
            &mut policies.upkeep.run,
        ] {
            run.batch_size = self.batch;
            run.pause = std::time::Duration::ZERO;
        }
        let driver = Driver {
            database: self.world.database.clone(),
            keys: self.keys,
            clock: self.world.clock.clone(),
            entropy: Arc::new(SeededEntropy::new(7)),
            owner: self.owner,
            observer: self.observer,
            shutdown: CancellationToken::new(),
        };
        Night::new(driver, policies)
    }
}

fn count(report: &Report, counter: &str) -> u64 {
    report.status[counter].as_u64().unwrap()
}

async fn run(night: &Night, due: Due) -> Report {
    night.offer(due, Asked::BySchedule).await.unwrap()
}

/// The state in which a night that nothing disturbed leaves the world.
async fn undisturbed(patients: u128) -> Vec<String> {
    let world = World::new().await;
    world.seed(patients).await;
    let night = world.night("calm").build();
    for job in JobName::ALL {
        let due = world.due(*job, "2026-03-10");
        world.clock.set(due.cutoff);
        assert_eq!(run(&night, due).await.outcome, Outcome::Done);
    }
    world.digest().await
}

#[tokio::test]
async fn every_time_driven_row_of_the_state_table_moves_at_its_boundary_and_no_other() {
    let world = World::new().await;
    world.seed(3).await;
    let report = run(&world.night("a").build(), world.due(JobName::Expiry, "2026-03-10")).await;
    assert_eq!(report.outcome, Outcome::Done);
    assert_eq!(count(&report, "resolved_unconfirmed"), 6);
    assert_eq!(count(&report, "expired"), 6);
    assert_eq!(count(&report, "stale"), 3);
    let expected: &[(&str, usize)] = &[
        ("event active", 3),
        ("event inactive", 3),
        ("health_signal active", 3),
        ("health_signal stale", 3),
        ("inference active", 3),
        ("inference expired", 3),
        ("long_lived_fact active", 3),
        ("pattern active", 6),
        ("preference expired", 3),
        ("time_bound_state active", 9),
        ("time_bound_state resolved_unconfirmed", 6),
    ];
    let states = world.states().await;
    assert_eq!(states, expected.iter().map(|(state, n)| ((*state).to_owned(), *n)).collect());
    // The state holds since its boundary, not since the job ran; log, clinical rows and events agree.
    assert_eq!(world.rows("SELECT 'x' FROM memory WHERE state <> 'active' AND state_at = valid_to").await.len(), 15);
    assert_eq!(world.rows("SELECT 'x' FROM memory_event e JOIN memory m ON m.id = e.memory_id AND m.patient_id = e.patient_id WHERE e.at = m.state_at AND e.action = m.state").await.len(), 15);
    assert_eq!(world.rows("SELECT 'x' FROM outbox WHERE event_type = 'anamnesis.memory.changed.v1'").await.len(), 15);
    assert_eq!(world.rows("SELECT 'x' FROM symptom_states s JOIN memory m ON m.id = s.memory_id AND m.patient_id = s.patient_id WHERE m.state <> s.status").await.len(), 0);
    assert_eq!(world.rows("SELECT 'x' FROM health_signals s JOIN memory m ON m.id = s.memory_id AND m.patient_id = s.patient_id WHERE m.state <> s.status").await.len(), 0);
}

#[tokio::test]
async fn a_second_run_changes_nothing_whoever_asks_for_it() {
    let world = World::new().await;
    world.seed(3).await;
    let night = world.night("a").build();
    for job in JobName::ALL {
        let due = world.due(*job, "2026-03-10");
        world.clock.set(due.cutoff);
        let changed = run(&night, due).await.changed;
        // Nobody of this world told anything that could recur.
        assert_eq!(changed > 0, *job != JobName::Consolidation);
        let digest = world.digest().await;
        assert_eq!(run(&night, due).await.outcome, Outcome::Settled);
        let again = night.offer(due, Asked::ByPerson).await.unwrap();
        assert_eq!((again.outcome, again.changed), (Outcome::Done, 0));
        assert_eq!(world.digest().await, digest);
    }
    let kept = world.ledger().await.iter().any(|run| run.contains("\"resolved_unconfirmed\":6"));
    assert!(kept, "the night's totals survive a repetition");
}

#[tokio::test]
async fn a_question_is_asked_once_per_cycle() {
    let world = World::new().await;
    world.seed(2).await;
    let night = world.night("a").build();
    let due = world.due(JobName::Reconfirmation, "2026-03-10");
    world.clock.set(due.cutoff);
    // Per patient: the two of 48 hours (the run is twenty minutes after the boundary) and the two of seven days, of
    // which one ended before the night and one is still open at the cutoff of the expiry run only.
    let first = run(&night, due).await;
    assert_eq!(count(&first, "asked"), 4);
    for date in ["2026-03-11", "2026-03-12"] {
        let due = world.due(JobName::Reconfirmation, date);
        world.clock.set(due.cutoff);
        assert_eq!(count(&run(&night, due).await, "asked"), 0, "{date}");
    }
    let asked = "SELECT 'x' FROM outbox WHERE event_type = 'anamnesis.reconfirmation.due.v1'";
    assert_eq!(world.rows(asked).await.len(), 4);
    assert_eq!(
        world.rows("SELECT 'x' FROM memory WHERE reconfirm_due_at = last_confirmed_at + 172800000000").await.len(),
        4
    );

    // A confirmation begins another cycle, and two days later another question.
    let mut tx = world.begin().await;
    let confirmed = utc("2026-03-12T12:00:00Z");
    let confirm = Sql::new(
        "UPDATE memory SET cycle = cycle + 1, last_confirmed_at = $1, expires_at = $1 + 604800000000, reconfirm_due_at = NULL WHERE reconfirm_due_at IS NOT NULL",
    );
    tx.execute(&confirm, vec![confirmed.into()]).await.unwrap();
    tx.commit().await.unwrap();
    let due = world.due(JobName::Reconfirmation, "2026-03-15");
    world.clock.set(due.cutoff);
    assert_eq!(count(&run(&night, due).await, "asked"), 4);
    assert_eq!(world.rows(asked).await.len(), 8);
}

#[tokio::test]
async fn events_hold_ids_and_codes_and_open_under_the_patients_key_only() {
    let world = World::new().await;
    world.seed(1).await;
    run(&world.night("a").build(), world.due(JobName::Expiry, "2026-03-10")).await;
    let keys = world.keys.find(&[Scope::new(ORG, patient(0)).unwrap()]).await.unwrap();
    let keys = keys.values().next().unwrap();
    let mut tx = world.begin().await;
    let rows = tx
        .fetch_all(&Sql::new("SELECT id, body_sealed FROM outbox WHERE published_at IS NULL"), Vec::new())
        .await
        .unwrap();
    for row in rows {
        let (id, sealed) = (row.uuid(0).unwrap(), row.blob(1).unwrap());
        let body: serde_json::Value =
            serde_json::from_slice(&keys.open(outbox::body_cell(id), &sealed).unwrap()).unwrap();
        let fields: Vec<&str> = body.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(fields, ["change", "class", "kind", "memory_id", "organization_id", "patient_id", "state"]);
        assert_eq!(body["patient_id"], patient(0).0.to_string());
    }
}

#[tokio::test]
async fn a_preview_tells_what_a_run_will_do_and_writes_nothing() {
    let world = World::new().await;
    world.seed(3).await;
    let night = world.night("a").build();
    let before = world.digest().await;
    let due = world.due(JobName::Expiry, "2026-03-10");
    let preview = night.preview(due).await.unwrap();
    assert_eq!(world.digest().await, before);
    assert!(world.ledger().await.is_empty());
    let report = run(&night, due).await;
    assert_eq!(preview.outcome, Outcome::Preview);
    assert_eq!(preview.status, report.status);
}

#[tokio::test]
async fn a_late_run_leaves_what_a_punctual_one_would_have_left() {
    let punctual = undisturbed(4).await;
    let world = World::new().await;
    world.seed(4).await;
    world.clock.set(utc("2026-03-19T21:00:00Z"));
    let night = world.night("late").build();
    for job in JobName::ALL {
        let report = night.offer(world.due(*job, "2026-03-10"), Asked::ByPerson).await.unwrap();
        assert_eq!(report.outcome, Outcome::Done);
    }
    assert_eq!(world.digest().await, punctual);
}

#[tokio::test]
async fn nights_that_were_missed_are_made_up_one_by_one_and_end_like_nights_that_were_not() {
    let (punctual, late) = (World::new().await, World::new().await);
    punctual.seed(2).await;
    late.seed(2).await;
    let mut now = utc("2026-03-08T00:00:00Z");
    let night = punctual.night("punctual").build();
    while now <= utc("2026-03-18T00:00:00Z") {
        punctual.clock.set(now);
        night.round().await.unwrap();
        now += TimeDelta::minutes(97);
    }
    late.clock.set(utc("2026-03-17T23:59:00Z"));
    let reports = late.night("late").build().round().await.unwrap();
    assert!(reports.is_sorted_by_key(|report| report.cutoff));
    assert!(reports.len() >= 20, "ten nights of two jobs");
    assert_eq!(late.digest().await, punctual.digest().await);
    assert!(late.night("again").build().round().await.unwrap().is_empty(), "all settled, known from the ledger");
}

/// Tells when a number of batches is committed.
#[derive(Default)]
struct AfterBatches {
    left: AtomicU64,
    reached: Notify,
}

impl Observer for AfterBatches {
    fn began(&self, _: JobName) {}
    fn batch(&self, _: &RunKey, _: u64, _: u64) {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.reached.notify_one();
        }
    }
    fn ended(&self, _: &Report, _: TimeDelta) {}
    fn ticked(&self, _: DateTime<Utc>, _: &[(JobName, DateTime<Utc>)]) {}
}

#[tokio::test]
async fn a_kill_between_any_two_batches_ends_like_an_undisturbed_night() {
    let calm = undisturbed(4).await;
    for job in JobName::ALL.iter().copied() {
        let batches = match job {
            // It computes all 60 rows anew, two at a time, and then asks about four.
            JobName::Decay => 28..=33,
            JobName::Consolidation => 1..=1,
            JobName::Purge => 1..=2,
            JobName::Upkeep => 1..=4,
            _ => 1..=12,
        };
        for batches in batches {
            let world = World::new().await;
            world.seed(4).await;
            for before in JobName::ALL.iter().copied().take_while(|before| *before != job) {
                world.run(&world.night("before").build(), world.due(before, "2026-03-10")).await;
            }
            let watch = Arc::new(AfterBatches { left: AtomicU64::new(batches), ..AfterBatches::default() });
            let killed = world.night("killed").watched_by(watch.clone()).build();
            let due = world.due(job, "2026-03-10");
            world.clock.set(due.cutoff);
            let survived = tokio::select! {
                biased;
                () = watch.reached.notified() => None,
                report = run(&killed, due) => Some(report),
            };
            let heir = world.night("heir").build();
            if survived.is_none() {
                let held = run(&heir, due).await;
                assert_eq!(held.outcome, Outcome::Held { until: due.cutoff + TimeDelta::seconds(120) });
                world.clock.advance(TimeDelta::seconds(120));
                assert_eq!(run(&heir, due).await.outcome, Outcome::Done);
            }
            for after in JobName::ALL.iter().copied().skip_while(|after| *after != job).skip(1) {
                world.run(&heir, world.due(after, "2026-03-10")).await;
            }
            assert_eq!(world.digest().await, calm, "{job} killed after {batches} batches");
        }
    }
}

/// Keys that hang for ever at one look-up, in the middle of a batch's transaction.
struct HangingKeys {
    inner: Arc<LocalKeyStore>,
    left: AtomicU64,
    reached: Notify,
}

#[async_trait::async_trait]
impl KeyStore for HangingKeys {
    fn platform(&self) -> &PlatformKey {
        self.inner.platform()
    }

    async fn find(&self, scopes: &[Scope]) -> Result<std::collections::HashMap<Scope, Arc<PatientKeys>>, KeyError> {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.reached.notify_one();
            std::future::pending::<()>().await;
        }
        self.inner.find(scopes).await
    }

    async fn ensure(&self, scopes: &[Scope]) -> Result<std::collections::HashMap<Scope, Arc<PatientKeys>>, KeyError> {
        self.inner.ensure(scopes).await
    }

    async fn destroy(&self, scope: Scope) -> Result<(), KeyError> {
        self.inner.destroy(scope).await
    }
}

#[tokio::test]
async fn a_kill_inside_a_batch_undoes_that_batch_and_the_heir_goes_on_from_the_one_before() {
    let calm = undisturbed(4).await;
    for at in 1..=6 {
        let world = World::new().await;
        world.seed(4).await;
        let keys =
            Arc::new(HangingKeys { inner: world.keys.clone(), left: AtomicU64::new(at), reached: Notify::new() });
        let killed = world.night("killed").with_keys(keys.clone()).build();
        let due = world.due(JobName::Expiry, "2026-03-10");
        world.clock.set(due.cutoff);
        tokio::select! {
            biased;
            () = keys.reached.notified() => {}
            report = run(&killed, due) => panic!("was to hang: {report:?}"),
        }
        world.clock.advance(TimeDelta::seconds(120));
        let heir = world.night("heir").build();
        assert_eq!(run(&heir, due).await.outcome, Outcome::Done);
        world.rest_of_the_night(&heir).await;
        assert_eq!(world.digest().await, calm, "killed inside batch {at}");
    }
}

#[tokio::test]
async fn of_two_that_race_one_runs_and_the_other_is_told_that_it_is_held() {
    let world = World::new().await;
    world.seed(4).await;
    let due = world.due(JobName::Expiry, "2026-03-10");
    let (a, b) = (world.night("a").build(), world.night("b").build());
    let (a, b) = tokio::join!(run(&a, due), run(&b, due));
    let mut outcomes = [a.outcome, b.outcome];
    outcomes.sort_by_key(|outcome| *outcome != Outcome::Done);
    assert_eq!(outcomes[0], Outcome::Done);
    assert!(matches!(outcomes[1], Outcome::Held { .. } | Outcome::Settled), "{outcomes:?}");
    assert_eq!(a.changed + b.changed, 20);
}

/// Lets the lease run out and another owner finish the run while the first still believes in it.
struct Overtake {
    world: Arc<World>,
    batches: AtomicU64,
}

impl Observer for Overtake {
    fn began(&self, _: JobName) {}
    fn batch(&self, _: &RunKey, _: u64, _: u64) {
        if self.batches.fetch_add(1, Ordering::SeqCst) == 0 {
            self.world.clock.advance(TimeDelta::seconds(121));
            let world = self.world.clone();
            std::thread::scope(|scope| {
                let thief = scope.spawn(move || {
                    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                    runtime.block_on(async {
                        let due = world.due(JobName::Expiry, "2026-03-10");
                        assert_eq!(run(&world.night("thief").build(), due).await.outcome, Outcome::Done);
                    });
                });
                thief.join().unwrap();
            });
        }
    }
    fn ended(&self, _: &Report, _: TimeDelta) {}
    fn ticked(&self, _: DateTime<Utc>, _: &[(JobName, DateTime<Utc>)]) {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_that_slept_past_its_lease_commits_nothing_more() {
    let calm = undisturbed(4).await;
    let world = Arc::new(World::new().await);
    world.seed(4).await;
    let observer = Arc::new(Overtake { world: world.clone(), batches: AtomicU64::new(0) });
    let due = world.due(JobName::Expiry, "2026-03-10");
    let sleeper = run(&world.night("sleeper").watched_by(observer).build(), due).await;
    assert!(matches!(sleeper.outcome, Outcome::Held { .. }), "{sleeper:?}");
    assert_eq!(sleeper.batches, 1);
    world.rest_of_the_night(&world.night("next").build()).await;
    assert_eq!(world.digest().await, calm);
    assert!(world.rows("SELECT owner FROM job_run WHERE job = 'expiry'").await == ["thief"]);
}

#[tokio::test]
async fn a_drain_stops_between_two_batches_and_the_next_process_goes_on_at_once() {
    let calm = undisturbed(4).await;
    let world = World::new().await;
    world.seed(4).await;
    struct Drain(CancellationToken);
    impl Observer for Drain {
        fn began(&self, _: JobName) {}
        fn batch(&self, _: &RunKey, _: u64, _: u64) {
            self.0.cancel();
        }
        fn ended(&self, _: &Report, _: TimeDelta) {}
        fn ticked(&self, _: DateTime<Utc>, _: &[(JobName, DateTime<Utc>)]) {}
    }
    let token = CancellationToken::new();
    let mut night = world.night("draining").watched_by(Arc::new(Drain(token.clone()))).build();
    night.driver.shutdown = token;
    let due = world.due(JobName::Expiry, "2026-03-10");
    let report = run(&night, due).await;
    assert_eq!((report.outcome, report.batches), (Outcome::Partial, 1));
    let next = world.night("next").build();
    assert_eq!(run(&next, due).await.outcome, Outcome::Done);
    world.rest_of_the_night(&next).await;
    assert_eq!(world.digest().await, calm);
}

#[tokio::test]
async fn a_failure_is_noted_with_a_code_rests_and_is_made_good() {
    struct NoKeys(Arc<LocalKeyStore>);
    #[async_trait::async_trait]
    impl KeyStore for NoKeys {
        fn platform(&self) -> &PlatformKey {
            self.0.platform()
        }
        async fn find(&self, _: &[Scope]) -> Result<std::collections::HashMap<Scope, Arc<PatientKeys>>, KeyError> {
            Err(KeyError::Transient)
        }
        async fn ensure(&self, _: &[Scope]) -> Result<std::collections::HashMap<Scope, Arc<PatientKeys>>, KeyError> {
            Err(KeyError::Transient)
        }
        async fn destroy(&self, _: Scope) -> Result<(), KeyError> {
            Err(KeyError::Transient)
        }
    }
    let world = World::new().await;
    world.seed(2).await;
    let before = world.digest().await;
    let due = world.due(JobName::Expiry, "2026-03-10");
    let unlucky = world.night("a").with_keys(Arc::new(NoKeys(world.keys.clone()))).build();
    assert_eq!(run(&unlucky, due).await.outcome, Outcome::Failed { error: "keys_unavailable" });
    assert_eq!(world.digest().await, before, "the batch was undone as a whole");
    let night = world.night("b").build();
    let rests = run(&night, due).await.outcome;
    assert_eq!(rests, Outcome::Resting { until: world.clock.now() + TimeDelta::seconds(60) });
    world.clock.advance(TimeDelta::seconds(60));
    assert_eq!(run(&night, due).await.outcome, Outcome::Done);
    let runs = night.history(&Default::default(), 10).await.unwrap();
    assert_eq!((runs[0].state, runs[0].error.as_deref()), (State::Done, None));
}

#[tokio::test]
async fn another_organisations_rows_stay_as_they_are() {
    let world = World::new().await;
    world.seed(1).await;
    let mut tx = world.begin().await;
    let copy = [
        "INSERT INTO organization SELECT x'0000000000000000000000000000000B', time_zone, redaction_policy, consent_required, created_at, updated_at FROM organization",
        "CREATE TEMP TABLE twin AS SELECT * FROM patient_profile",
        "UPDATE twin SET org_id = x'0000000000000000000000000000000B'",
        "INSERT INTO patient_profile SELECT * FROM twin",
        "CREATE TEMP TABLE twins AS SELECT * FROM memory",
        "UPDATE twins SET org_id = x'0000000000000000000000000000000B'",
        "INSERT INTO memory SELECT * FROM twins",
    ];
    for statement in copy {
        tx.execute(&Sql::new(statement), Vec::new()).await.unwrap();
    }
    tx.commit().await.unwrap();
    run(&world.night("a").build(), world.due(JobName::Expiry, "2026-03-10")).await;
    let moved = "SELECT hex(org_id) FROM memory WHERE state NOT IN ('active', 'inactive') GROUP BY org_id";
    assert_eq!(world.rows(moved).await, [hex::encode_upper(ORG.0.as_bytes())]);
    assert!(micros(world.clock.now()) > 0);
}

#[tokio::test]
async fn a_memory_that_fell_below_its_threshold_is_asked_about_once_and_no_confidence_is_rewritten() {
    let world = World::new().await;
    world.seed(2).await;
    let night = world.night("a").build();
    let stored = "SELECT hex(id) || confidence FROM memory ORDER BY 1";
    let before = world.rows(stored).await;
    let first = world.run(&night, world.due(JobName::Decay, "2026-03-10")).await;
    assert_eq!((count(&first, "belief"), count(&first, "rescheduled"), count(&first, "examined")), (2, 4, 32));
    assert_eq!(
        world.rows("SELECT 'x' FROM memory WHERE review_due_at = recorded_at + 1200 * 86400000000").await.len(),
        2
    );
    let asked = "SELECT 'x' FROM outbox WHERE event_type = 'anamnesis.reconfirmation.due.v1'";
    assert_eq!(world.rows(asked).await.len(), 2);
    // The other two fell one second after the first night; from now on only what fell is looked at.
    let second = world.run(&night, world.due(JobName::Decay, "2026-03-11")).await;
    assert_eq!((count(&second, "belief"), count(&second, "examined")), (2, 2));
    let third = world.run(&night, world.due(JobName::Decay, "2026-03-12")).await;
    assert_eq!((third.changed, third.examined), (0, 0));
    assert_eq!(world.rows(asked).await.len(), 4);
    assert_eq!(world.rows(stored).await, before);
}

#[tokio::test]
async fn another_rate_is_applied_to_every_memory_once_and_takes_back_what_it_would_not_have_asked() {
    let world = World::new().await;
    world.seed(2).await;
    let due = |date| world.due(JobName::Decay, date);
    world.run(&world.night("a").build(), due("2026-03-10")).await;
    let mut slower = world.night("slower").build();
    slower.policies.decay.thresholds.belief.rate = 0.005;
    let report = world.run(&slower, due("2026-03-11")).await;
    assert_eq!((count(&report, "rescheduled"), count(&report, "belief")), (4, 0));
    assert!(world.rows("SELECT 'x' FROM memory WHERE review_due_at IS NOT NULL").await.is_empty());
    assert_eq!(world.run(&slower, due("2026-03-12")).await.examined, 0, "once");
}

/// One symptom that a patient told of at an instant, as the pipeline hands it to the store.
fn told(n: u8, at: DateTime<Utc>) -> OrgBatch {
    let scope = Scope::new(ORG, patient(7)).unwrap();
    let assertion = Assertion {
        id: FindingId(Uuid::from_u128(n.into())),
        source: Uuid::from_u128(0x50 + u128::from(n)),
        live: true,
        attribute: [3; 32],
        entity: EntityType::Symptom,
        kind: Kind::Note,
        class: Class::TimeBoundState,
        polarity: Polarity::Affirmed,
        experiencer: Experiencer::Patient,
        details: Default::default(),
        ending: false,
        past: false,
        blanket: false,
        set_by: SetBy::Patient,
        document_type: Some(DocumentType::ChatMessage),
        source_type: SourceType::External,
        epistemic: Epistemic::Explicit,
        trust: Trust::T1,
        is_proxy: false,
        extraction_confidence: 0.9,
        initial_confidence: 1.0,
        basis: ConfidenceBasis::Default,
        asserted_at: at,
        valid_from: at,
        expires_at: None,
        recorded_at: at,
        tombstone: None,
    };
    let finding = NewFinding {
        scope,
        group: [4; 32],
        assertion,
        revision: 1,
        uncertain: false,
        temporality: Temporality::Recent,
        words: FindingWords { concept: "headache".into(), mention: "headache".into(), ..FindingWords::default() },
        evidence: None,
        extractor_version: "1".into(),
    };
    let entry = InboxEntry { message: [n; 32], body: [n; 32], scope, message_type: "document" };
    OrgBatch { inbox: vec![entry], findings: vec![finding], ..OrgBatch::default() }
}

impl World {
    /// Stores it at an instant, which folds the memory as of then.
    async fn store(&self, now: DateTime<Utc>, batch: OrgBatch) {
        self.clock.set(now);
        let keys = self.keys.ensure(&[batch.inbox[0].scope]).await.unwrap();
        let entropy = Arc::new(SeededEntropy::new(3));
        let store = Store::new(self.database.clone(), self.keys.clone(), self.clock.clone(), entropy);
        store.commit(ORG, batch, &keys).await.unwrap();
    }

    async fn projection(&self) -> Vec<String> {
        let mut all = self
            .rows("SELECT hex(id) || state || state_at || coalesce(valid_to, '-') || cycle FROM memory ORDER BY 1")
            .await;
        all.extend(self.rows("SELECT hex(memory_id) || status FROM symptom_states ORDER BY 1").await);
        all.extend(self.rows("SELECT hex(memory_id) || action || at FROM memory_event ORDER BY 1").await);
        all
    }
}

#[tokio::test]
async fn what_a_night_does_is_what_folding_the_log_at_that_time_finds() {
    let said = utc("2026-03-01T12:00:00Z");
    let (nightly, late) = (World::new().await, World::new().await);
    nightly.store(said + TimeDelta::minutes(1), told(1, said)).await;
    assert_eq!(nightly.states().await.into_keys().collect::<Vec<_>>(), ["time_bound_state active"]);
    let due = nightly.due(JobName::Expiry, "2026-03-09");
    assert_eq!(nightly.run(&nightly.night("a").build(), due).await.changed, 1);
    late.store(due.cutoff, told(1, said)).await;
    assert_eq!(late.states().await.into_keys().collect::<Vec<_>>(), ["time_bound_state resolved_unconfirmed"]);
    assert_eq!(nightly.projection().await, late.projection().await);

    // Told again, another interval begins; the old one stays, and nothing says that it was confirmed.
    let before = nightly.rows("SELECT hex(id) FROM outbox").await.len();
    for world in [&nightly, &late] {
        world.store(due.cutoff + TimeDelta::hours(5), told(2, due.cutoff + TimeDelta::hours(4))).await;
    }
    assert_eq!(nightly.projection().await, late.projection().await);
    assert_eq!(nightly.states().await.len(), 2);
    assert_eq!(nightly.rows("SELECT hex(id) FROM outbox").await.len(), before + 1);
}

#[tokio::test]
async fn the_command_line_previews_runs_repeats_and_tells() {
    let world = World::on_disk().await;
    world.seed(2).await;
    let before = world.digest().await;
    let noon = "2026-03-10T17:00:00Z";

    let (code, lines) = world.verb(noon, &["job", "run", "expiry", "--as-of", "2026-03-10", "--dry-run"]);
    assert_eq!((code, lines[0]["outcome"].as_str(), lines[0]["changed"].as_u64()), (0, Some("preview"), Some(10)));
    assert_eq!(world.digest().await, before);

    let (code, lines) = world.verb(noon, &["job", "run", "expiry", "--as-of", "2026-03-10"]);
    assert_eq!((code, lines[0]["outcome"].as_str(), lines[0]["changed"].as_u64()), (0, Some("done"), Some(10)));
    assert_eq!(lines[0]["cutoff"], NIGHT);
    let after = world.digest().await;
    let (code, lines) = world.verb(noon, &["job", "run", "expiry", "--as-of", "2026-03-10"]);
    assert_eq!((code, lines[0]["changed"].as_u64()), (0, Some(0)));
    assert_eq!(world.digest().await, after);

    let (code, lines) = world.verb(noon, &["job", "run", "expiry", "--as-of", "2026-03-11"]);
    assert_eq!((code, lines[0]["outcome"].as_str()), (2, Some("ahead")), "a memory must not expire early");
    assert_eq!(world.digest().await, after);
    let (code, lines) = world.verb(noon, &["job", "run", "expiry", "--as-of", "2026-03-11", "--dry-run"]);
    assert_eq!((code, lines[0]["changed"].as_u64()), (0, Some(6)), "but one may look ahead");

    let (code, lines) =
        world.verb(noon, &["job", "run", "reconfirmation", "--from", "2026-03-08", "--to", "2026-03-10"]);
    assert_eq!((code, lines.len()), (0, 3));

    let (_, lines) = world.verb(noon, &["job", "status", "expiry"]);
    assert_eq!(lines[0]["last"]["state"], "done");
    assert_eq!(lines[0]["last"]["status"]["resolved_unconfirmed"], 4);
    assert_eq!(lines[0]["next_at"], "2026-03-11T08:10:00Z");
    let (_, lines) = world.verb(noon, &["job", "history", "--from", "2026-03-09"]);
    let nights: Vec<String> = lines.iter().map(|line| format!("{} {}", line["as_of"], line["job"])).collect();
    assert_eq!(nights.len(), 3, "{nights:?}");
    let (_, lines) = world.verb(noon, &["job", "list"]);
    assert_eq!(lines.len(), JobName::ALL.len());
}

#[tokio::test]
async fn a_simulation_tells_what_the_coming_nights_will_do_and_the_store_stays_as_it_is() {
    let world = World::on_disk().await;
    world.seed(2).await;
    let before = world.digest().await;
    let (code, lines) = world.verb("2026-03-09T17:00:00Z", &["job", "simulate", "--to", "2026-03-12"]);
    assert_eq!(code, 0);
    let nights = lines[0]["nights"].as_array().unwrap();
    let first = nights.iter().find(|night| night["job"] == "expiry").unwrap();
    assert_eq!((first["as_of"].as_str(), first["changed"].as_u64()), (Some("2026-03-10"), Some(10)));
    assert!(nights.iter().any(|night| night["job"] == "decay" && night["as_of"] == "2026-03-11"));
    assert_eq!(world.digest().await, before);
    assert!(world.ledger().await.is_empty());
    assert_eq!(world.verb(NIGHT, &["job", "simulate", "--to", "2026-03-01"]).0, 2, "an empty range");
}

#[tokio::test]
async fn a_cron_job_makes_up_what_is_due_and_then_finds_nothing_to_do() {
    let world = World::on_disk().await;
    world.seed(1).await;
    let (code, lines) = world.verb("2026-03-12T17:00:00Z", &["job", "run", "expiry"]);
    assert_eq!(code, 0);
    assert_eq!(lines.len(), usize::from(Policies::embedded().unwrap().expiry.run.catch_up_days) + 1);
    assert_eq!(lines.last().unwrap()["as_of"], "2026-03-12");
    let (code, lines) = world.verb("2026-03-12T17:30:00Z", &["job", "run", "expiry"]);
    assert_eq!((code, lines.len(), lines[0]["outcome"].as_str()), (0, 1, Some("settled")));
}

#[tokio::test]
async fn a_night_that_another_owner_holds_is_exit_code_4_and_an_unknown_organisation_is_2() {
    let world = World::on_disk().await;
    world.seed(1).await;
    let watch = Arc::new(AfterBatches { left: AtomicU64::new(1), ..AfterBatches::default() });
    let holder = world.night("holder").watched_by(watch.clone()).build();
    tokio::select! {
        biased;
        () = watch.reached.notified() => {}
        report = run(&holder, world.due(JobName::Expiry, "2026-03-10")) => panic!("was to be dropped: {report:?}"),
    }
    let (code, lines) = world.verb("2026-03-10T08:11:00Z", &["job", "run", "expiry", "--as-of", "2026-03-10"]);
    assert_eq!((code, lines[0]["outcome"].as_str()), (4, Some("held")));
    let nobody = Uuid::from_u128(99).to_string();
    assert_eq!(world.verb(NIGHT, &["job", "run", "expiry", "--org", &nobody]).0, 2);
}

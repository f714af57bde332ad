//! A year of nights in eight time zones, with replicas that are killed in the middle of their work and a CronJob beside
//! them: every run of every job ends exactly once and none is missing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anamnesis::clock::{Clock, ManualClock, SeededEntropy};
use anamnesis::crypto::Keyring;
use anamnesis::domain::ids::OrgId;
use anamnesis::jobs::JobName;
use anamnesis::jobs::driver::{Driver, Outcome, Report};
use anamnesis::jobs::ledger::Asked;
use anamnesis::jobs::night::Night;
use anamnesis::jobs::observe::Observer;
use anamnesis::jobs::planner::RunKey;
use anamnesis::jobs::policy::Policies;
use anamnesis::store::Store;
use anamnesis::store::engine::{Access, Database, Location, Sql};
use aws_lc_rs::digest::{SHA256, digest};
use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

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

/// Kills the process at a run that it has just claimed, before its work.
struct Killer {
    dice: Arc<Dice>,
    dead: Notify,
    kills: AtomicU64,
}

impl Observer for Killer {
    fn began(&self, _: JobName) {
        if self.dice.below(100) < KILLED {
            self.kills.fetch_add(1, Ordering::SeqCst);
            self.dead.notify_one();
        }
    }
    fn batch(&self, _: &RunKey, _: u64, _: u64) {}
    fn ended(&self, _: &Report, _: TimeDelta) {}
    fn ticked(&self, _: DateTime<Utc>, _: &[(JobName, DateTime<Utc>)]) {}
}

struct Year {
    database: Database,
    keys: Arc<Keyring>,
    clock: Arc<ManualClock>,
    killer: Arc<Killer>,
    processes: AtomicU64,
}

impl Year {
    /// A process that has just started.
    fn process(&self) -> Night {
        let driver = Driver {
            database: self.database.clone(),
            keys: self.keys.clone(),
            clock: self.clock.clone(),
            entropy: Arc::new(SeededEntropy::new(7)),
            owner: format!("process {}", self.processes.fetch_add(1, Ordering::SeqCst)),
            observer: self.killer.clone(),
            shutdown: CancellationToken::new(),
            models: None,
        };
        Night::new(driver, Policies::embedded().unwrap())
    }

    /// Offers what is due, of all jobs or of one, until the process is killed; false when it was.
    async fn work(&self, night: &Night, job: Option<JobName>, done: &mut Vec<RunKey>) -> bool {
        for due in night.due().await.unwrap() {
            if job.is_some_and(|job| job != due.key.job) {
                continue;
            }
            tokio::select! {
                biased;
                () = self.killer.dead.notified() => return false,
                report = night.offer(due, Asked::BySchedule) => match report.unwrap().outcome {
                    Outcome::Done => done.push(due.key),
                    Outcome::Settled | Outcome::Held { .. } => {}
                    other => panic!("{other:?}"),
                },
            }
        }
        true
    }
}

#[tokio::test]
async fn a_year_in_eight_time_zones_with_kills_and_replicas_runs_every_night_exactly_once() {
    let start: DateTime<Utc> = "2026-01-01T00:00:00Z".parse().unwrap();
    let clock = Arc::new(ManualClock::at(start));
    let database = Database::open(&Location::Memory).await.unwrap();
    // In a file: a process that is killed takes its connection along, and with it what is in memory alone.
    let folder = tempfile::tempdir().unwrap();
    let entropy = Arc::new(SeededEntropy::new(1));
    let keys = Keyring::local(&folder.path().join("keys"), None, clock.clone(), entropy).await.unwrap();
    let register =
        Sql::new("INSERT INTO organization (org_id, time_zone, created_at, updated_at) VALUES ($1, $2, $3, $3)");
    for (n, zone) in ZONES.iter().enumerate() {
        let org = OrgId(Uuid::from_u128(n as u128 + 1));
        let mut tx = database.begin(Access::Organization(org)).await.unwrap();
        tx.execute(&register, vec![org.0.into(), (*zone).into(), start.into()]).await.unwrap();
        tx.commit().await.unwrap();
    }
    let dice = Arc::new(Dice(AtomicU64::new(42)));
    let killer = Arc::new(Killer { dice: dice.clone(), dead: Notify::new(), kills: AtomicU64::new(0) });
    let keys = Arc::new(keys);
    // A run of a job begins only under the key store that the store is bound to.
    let store = Store::new(database.clone(), keys.clone(), clock.clone(), Arc::new(SeededEntropy::new(8)));
    store.bind_keys().await.unwrap();
    let year = Year { database, keys, clock, killer, processes: AtomicU64::new(0) };
    let mut replicas = [year.process(), year.process(), year.process()];
    let mut done = Vec::new();
    let end = start + TimeDelta::days(DAYS);
    while year.clock.now() < end {
        // Once, everything is down for nine days.
        let outage = year.clock.now() > start + TimeDelta::days(200) && year.clock.now() < start + TimeDelta::days(201);
        year.clock.advance(if outage { TimeDelta::days(9) } else { TimeDelta::minutes(187) });
        let at = usize::try_from(dice.below(3)).unwrap();
        // A replica that dies is started again at once, as Kubernetes does; what it held waits for its lease to end.
        while !year.work(&replicas[at], None, &mut done).await {
            replicas[at] = year.process();
        }
        if dice.below(10) < 2 {
            let job = JobName::ALL[usize::try_from(dice.below(JobName::ALL.len() as u64)).unwrap()];
            year.work(&year.process(), Some(job), &mut done).await;
        }
    }
    // Whoever is left takes up what the dead left behind.
    for _ in 0..40 {
        year.clock.advance(TimeDelta::minutes(10));
        let _ = year.work(&replicas[0], None, &mut done).await;
    }

    let mut nights: BTreeMap<(JobName, OrgId), Vec<NaiveDate>> = BTreeMap::new();
    for key in &done {
        nights.entry((key.job, key.org)).or_default().push(key.as_of);
    }
    assert_eq!(nights.len(), JobName::ALL.len() * ZONES.len());
    for (of, dates) in &nights {
        let once: BTreeSet<NaiveDate> = dates.iter().copied().collect();
        assert_eq!(once.len(), dates.len(), "{of:?}: a night ended twice");
        let (first, last) = (*once.first().unwrap(), *once.last().unwrap());
        assert_eq!((last - first).num_days() + 1, once.len() as i64, "{of:?}: a night is missing");
        assert!(once.len() as i64 >= DAYS, "{of:?}: {}", once.len());
    }
    let kills = year.killer.kills.load(Ordering::SeqCst);
    assert!(kills as usize > done.len() / 20, "{kills} kills in {} runs", done.len());
}

//! After kills, races, drains or failures, the result is the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anamnesis_core::clock::Clock as _;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::{FoundKeys, KeyError, KeyStore, KeyStoreStamp, Keyring, PlatformKey};
use anamnesis_jobs::JobName;
use anamnesis_jobs::driver::{JobOutcome, JobReport};
use anamnesis_jobs::ledger::RunState;
use anamnesis_jobs::metrics::JobObserver;
use anamnesis_jobs::planner::RunKey;
use chrono::{DateTime, TimeDelta, Utc};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::app::{JobFixture, run, undisturbed};

/// Notifies when a number of batches is committed.
#[derive(Default)]
pub(crate) struct AfterBatches {
    pub(crate) left: AtomicU64,
    pub(crate) reached: Notify,
}

impl JobObserver for AfterBatches {
    fn began(&self, _: JobName) {}
    fn batch(&self, _: &RunKey, _: u64, _: u64) {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.reached.notify_one();
        }
    }
    fn ended(&self, _: &JobReport, _: TimeDelta) {}
    fn ticked(&self, _: DateTime<Utc>, _: &[(JobName, DateTime<Utc>)]) {}
}

#[tokio::test]
async fn a_kill_between_any_two_batches_ends_like_an_undisturbed_run() {
    let calm = undisturbed(4).await;
    for job in JobName::ALL.iter().copied() {
        let batches = match job {
            // It computes all 60 rows again, two at a time, and then raises four review requests.
            JobName::Decay => 28..=33,
            // Of every patient something was forgotten.
            JobName::Summaries => 1..=3,
            JobName::Consolidation
            | JobName::Retention
            | JobName::EmbedBatch
            | JobName::CohortPatterns
            | JobName::Redaction
            | JobName::Reembedding => 1..=1,
            JobName::Reconciliation => 1..=3,
            JobName::ConfidenceAnalytics => 1..=3,
            JobName::Purge => 1..=2,
            JobName::Upkeep => 1..=4,
            _ => 1..=12,
        };
        for batches in batches {
            let fixture = JobFixture::new().await;
            fixture.seed(4).await;
            for before in JobName::ALL.iter().copied().take_while(|before| *before != job) {
                fixture.run(&fixture.scheduler("before").build(), fixture.due(before, "2026-03-10")).await;
            }
            let watch = Arc::new(AfterBatches { left: AtomicU64::new(batches), ..AfterBatches::default() });
            let killed = fixture.scheduler("killed").watched_by(watch.clone()).build();
            let due = fixture.due(job, "2026-03-10");
            fixture.clock.set(due.cutoff);
            let survived = tokio::select! {
                biased;
                () = watch.reached.notified() => None,
                report = run(&killed, due) => Some(report),
            };
            let heir = fixture.scheduler("heir").build();
            if survived.is_none() {
                let held = run(&heir, due).await;
                let lease = heir.policies.get(job).lease;
                assert_eq!(held.outcome, JobOutcome::LeasedElsewhere { until: due.cutoff + lease });
                fixture.clock.advance(lease);
                assert_eq!(run(&heir, due).await.outcome, JobOutcome::Done);
            }
            for after in JobName::ALL.iter().copied().skip_while(|after| *after != job).skip(1) {
                fixture.run(&heir, fixture.due(after, "2026-03-10")).await;
            }
            assert_eq!(fixture.digest().await, calm, "{job} killed after {batches} batches");
        }
    }
}

/// Keys that hang for ever at one look-up, in the middle of a batch's transaction.
struct HangingKeys {
    inner: Arc<Keyring>,
    left: AtomicU64,
    reached: Notify,
}

#[async_trait::async_trait]
impl KeyStore for HangingKeys {
    fn platform(&self) -> &PlatformKey {
        self.inner.platform()
    }
    fn place(&self) -> String {
        self.inner.place()
    }
    fn stamp(&self) -> KeyStoreStamp {
        self.inner.stamp()
    }
    fn check_value(&self) -> [u8; 32] {
        self.inner.check_value()
    }

    async fn find(&self, scopes: &[Scope]) -> Result<FoundKeys, KeyError> {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.reached.notify_one();
            std::future::pending::<()>().await;
        }
        self.inner.find(scopes).await
    }

    async fn ensure(&self, scopes: &[Scope]) -> Result<FoundKeys, KeyError> {
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
        let fixture = JobFixture::new().await;
        fixture.seed(4).await;
        let keys =
            Arc::new(HangingKeys { inner: fixture.keys.clone(), left: AtomicU64::new(at), reached: Notify::new() });
        let killed = fixture.scheduler("killed").with_keys(keys.clone()).build();
        let due = fixture.due(JobName::Expiry, "2026-03-10");
        fixture.clock.set(due.cutoff);
        tokio::select! {
            biased;
            () = keys.reached.notified() => {}
            report = run(&killed, due) => panic!("was to hang: {report:?}"),
        }
        fixture.clock.advance(TimeDelta::seconds(120));
        let heir = fixture.scheduler("heir").build();
        assert_eq!(run(&heir, due).await.outcome, JobOutcome::Done);
        fixture.run_remaining_jobs(&heir).await;
        assert_eq!(fixture.digest().await, calm, "killed inside batch {at}");
    }
}

#[tokio::test]
async fn of_two_that_race_one_runs_and_the_other_learns_that_it_is_leased() {
    let fixture = JobFixture::new().await;
    fixture.seed(4).await;
    let due = fixture.due(JobName::Expiry, "2026-03-10");
    let (a, b) = (fixture.scheduler("a").build(), fixture.scheduler("b").build());
    let (a, b) = tokio::join!(run(&a, due), run(&b, due));
    let mut outcomes = [a.outcome, b.outcome];
    outcomes.sort_by_key(|outcome| *outcome != JobOutcome::Done);
    assert_eq!(outcomes[0], JobOutcome::Done);
    assert!(matches!(outcomes[1], JobOutcome::LeasedElsewhere { .. } | JobOutcome::AlreadyDone), "{outcomes:?}");
    assert_eq!(a.changed + b.changed, 20);
}

/// Lets the lease expire and another owner finish the run while the first still believes that it holds it.
struct Overtake {
    fixture: Arc<JobFixture>,
    batches: AtomicU64,
}

impl JobObserver for Overtake {
    fn began(&self, _: JobName) {}
    fn batch(&self, _: &RunKey, _: u64, _: u64) {
        if self.batches.fetch_add(1, Ordering::SeqCst) == 0 {
            self.fixture.clock.advance(TimeDelta::seconds(121));
            let fixture = self.fixture.clone();
            std::thread::scope(|scope| {
                let thief = scope.spawn(move || {
                    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                    runtime.block_on(async {
                        let due = fixture.due(JobName::Expiry, "2026-03-10");
                        assert_eq!(run(&fixture.scheduler("thief").build(), due).await.outcome, JobOutcome::Done);
                    });
                });
                thief.join().unwrap();
            });
        }
    }
    fn ended(&self, _: &JobReport, _: TimeDelta) {}
    fn ticked(&self, _: DateTime<Utc>, _: &[(JobName, DateTime<Utc>)]) {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_that_slept_past_its_lease_commits_nothing_more() {
    let calm = undisturbed(4).await;
    let fixture = Arc::new(JobFixture::new().await);
    fixture.seed(4).await;
    let observer = Arc::new(Overtake { fixture: fixture.clone(), batches: AtomicU64::new(0) });
    let due = fixture.due(JobName::Expiry, "2026-03-10");
    let sleeper = run(&fixture.scheduler("sleeper").watched_by(observer).build(), due).await;
    assert!(matches!(sleeper.outcome, JobOutcome::LeasedElsewhere { .. }), "{sleeper:?}");
    assert_eq!(sleeper.batches, 1);
    fixture.run_remaining_jobs(&fixture.scheduler("next").build()).await;
    assert_eq!(fixture.digest().await, calm);
    assert!(fixture.rows("SELECT owner FROM job_run WHERE job = 'expiry'").await == ["thief"]);
}

#[tokio::test]
async fn a_drain_stops_between_two_batches_and_the_next_process_goes_on_at_once() {
    let calm = undisturbed(4).await;
    let fixture = JobFixture::new().await;
    fixture.seed(4).await;
    struct Drain(CancellationToken);
    impl JobObserver for Drain {
        fn began(&self, _: JobName) {}
        fn batch(&self, _: &RunKey, _: u64, _: u64) {
            self.0.cancel();
        }
        fn ended(&self, _: &JobReport, _: TimeDelta) {}
        fn ticked(&self, _: DateTime<Utc>, _: &[(JobName, DateTime<Utc>)]) {}
    }
    let token = CancellationToken::new();
    let mut scheduler = fixture.scheduler("draining").watched_by(Arc::new(Drain(token.clone()))).build();
    scheduler.driver.shutdown = token;
    let due = fixture.due(JobName::Expiry, "2026-03-10");
    let report = run(&scheduler, due).await;
    assert_eq!((report.outcome, report.batches), (JobOutcome::Partial, 1));
    let next = fixture.scheduler("next").build();
    assert_eq!(run(&next, due).await.outcome, JobOutcome::Done);
    fixture.run_remaining_jobs(&next).await;
    assert_eq!(fixture.digest().await, calm);
}

#[tokio::test]
async fn a_failure_is_noted_with_a_code_rests_and_is_made_good() {
    struct NoKeys(Arc<Keyring>);
    #[async_trait::async_trait]
    impl KeyStore for NoKeys {
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
        async fn find(&self, _: &[Scope]) -> Result<FoundKeys, KeyError> {
            Err(KeyError::Transient)
        }
        async fn ensure(&self, _: &[Scope]) -> Result<FoundKeys, KeyError> {
            Err(KeyError::Transient)
        }
        async fn destroy(&self, _: Scope) -> Result<(), KeyError> {
            Err(KeyError::Transient)
        }
    }
    let fixture = JobFixture::new().await;
    fixture.seed(2).await;
    let before = fixture.digest().await;
    let due = fixture.due(JobName::Expiry, "2026-03-10");
    let unlucky = fixture.scheduler("a").with_keys(Arc::new(NoKeys(fixture.keys.clone()))).build();
    assert_eq!(run(&unlucky, due).await.outcome, JobOutcome::Failed { error: "keys_unavailable" });
    assert_eq!(fixture.digest().await, before, "the batch was undone as a whole");
    let scheduler = fixture.scheduler("b").build();
    let rests = run(&scheduler, due).await.outcome;
    assert_eq!(rests, JobOutcome::BackingOff { until: fixture.clock.now() + TimeDelta::seconds(60) });
    fixture.clock.advance(TimeDelta::seconds(60));
    assert_eq!(run(&scheduler, due).await.outcome, JobOutcome::Done);
    let runs = scheduler.history(&Default::default(), 10).await.unwrap();
    assert_eq!((runs[0].state, runs[0].error.as_deref()), (RunState::Done, None));
}

//! A new generation of vectors next to the old one, on each engine, on a server as the role of the jobs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anamnesis_embedding::{EmbedError, Embedder, ModelProfile, Models, Purpose};
use anamnesis_jobs::JobName;
use anamnesis_jobs::driver::{JobOutcome, JobReport};
use anamnesis_jobs::ledger::Trigger;
use anamnesis_jobs::planner::{DueRun, RunKey};
use anamnesis_jobs::scheduler::JobScheduler;
use anamnesis_observability::metrics::{Identity, Metrics};
use anamnesis_pipeline::Pipeline;
use anamnesis_redaction::{RedactionPolicy, Redactor};
use anamnesis_search::{Recall, SearchRequest};
use anamnesis_sql::{Access, Sql};
use anamnesis_store::read::{DocumentFilter, ReadInstant};
use anamnesis_store::vectors::compare::ComparisonRequest;
use anamnesis_store::vectors::generation;
use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;
use tokio::sync::Notify;

use super::fixture::StoreFixture;
use crate::support::{
    ORG, Program, TestEngine, bodies, count, document, embedder, feed, model, on_every_engine, scope,
};

on_every_engine!(
    a_new_generation_is_made_next_to_the_old_one_and_swapped_in_when_it_is_whole,
    documents_that_come_while_it_is_made_have_vectors_of_both,
    a_swap_waits_for_a_document_whose_commit_is_under_way,
    a_gate_that_does_not_open_leaves_the_old_generation_active_and_says_why,
    a_kill_between_two_batches_repeats_one_batch_at_most_and_ends_alike,
    a_build_that_is_no_longer_configured_is_removed,
    a_process_without_the_model_of_the_active_generation_searches_by_words_and_leaves_vectors_to_the_job,
);

const OLD: &str = "SELECT count(*) FROM embedding WHERE generation = 1";
pub(super) const NEW: &str = "SELECT count(*) FROM embedding WHERE generation = 2";
pub(super) const PASSAGES: &str = "SELECT count(*) FROM passage";

pub(super) fn both(next: Arc<dyn Embedder>) -> Models {
    Models::new(embedder(), Some(next))
}

pub(super) fn notes(from: u128, n: u128) -> Vec<Value> {
    let note =
        |id| document(id, 1, "2026-06-20T10:00:00Z", &format!("Refiere cefalea por {id} noche. Duerme {id} horas."));
    (from..from + n).map(note).collect()
}

pub(super) async fn fixture(engine: TestEngine, documents: u128) -> StoreFixture {
    let fixture = StoreFixture::on(engine).await;
    fixture.ingest(&notes(1, documents)).await;
    fixture
}

pub(super) fn with(fixture: StoreFixture, next: Arc<dyn Embedder>) -> StoreFixture {
    let mut fixture = fixture;
    fixture.scheduler = fixture.scheduler.with_models(both(next));
    fixture.scheduler.policies.get_mut(JobName::Reembedding).batch_size = 4;
    fixture.scheduler.policies.get_mut(JobName::Reembedding).pause = std::time::Duration::ZERO;
    fixture.scheduler.policies.reembedding.thresholds.recheck_days = 0;
    fixture
}

pub(super) async fn tomorrow(fixture: &StoreFixture) -> DueRun {
    fixture.clinic.time.advance(TimeDelta::days(1));
    fixture.scheduler.due().await.unwrap().into_iter().rfind(|due| due.key.job == JobName::Reembedding).unwrap()
}

pub(super) async fn run_job(fixture: &StoreFixture) -> JobReport {
    let report = fixture.scheduler.offer(tomorrow(fixture).await, Trigger::Manual).await.unwrap();
    assert_eq!(report.outcome.code(), "done", "{report:?}");
    report
}

/// Passages, and how many of them have a vector of a generation, as a search sees them.
async fn seen(pipeline: &Pipeline, generation: i64) -> (usize, usize) {
    let query = vec![0.25f32; 16];
    let mut snapshot = pipeline.store().read().snapshot(scope()).await.unwrap();
    let (_, found) = snapshot
        .candidates(generation, Some(&query), None, &DocumentFilter::default(), ReadInstant::Now)
        .await
        .unwrap();
    drop(snapshot);
    (found.len(), found.iter().filter(|passage| passage.similarity.is_some()).count())
}

async fn a_new_generation_is_made_next_to_the_old_one_and_swapped_in_when_it_is_whole(engine: TestEngine) {
    let fixture = with(fixture(engine, 13).await, model(2, ""));
    let passages = count(fixture.store(), PASSAGES).await;
    assert_eq!(count(fixture.store(), OLD).await, passages);

    let due = tomorrow(&fixture).await;
    let preview = fixture.scheduler.preview(due).await.unwrap();
    assert_eq!(
        (preview.status["embedded"].as_i64(), preview.status["verdict"].as_str()),
        (Some(passages), Some("building"))
    );
    assert_eq!(count(fixture.store(), NEW).await, 0, "a preview writes nothing");

    let report = fixture.scheduler.offer(due, Trigger::Manual).await.unwrap();
    assert_eq!(report.status["verdict"], "swapped", "{report:?}");
    assert_eq!((report.status["embedded"].as_i64(), report.status["overlap"].as_f64()), (Some(passages), Some(1.0)));
    assert_eq!(report.status["compared"].as_i64(), Some(passages));
    assert_eq!((count(fixture.store(), OLD).await, count(fixture.store(), NEW).await), (passages, passages));
    let all = passages as usize;
    assert_eq!(seen(&fixture.pipeline, 2).await, (all, all));
    assert_eq!(seen(&fixture.pipeline, 1).await, (all, 0), "nothing is compared with what is not active");
    let asked = ComparisonRequest { generations: [1, 2], sample: 500, nearest: 5 };
    let compared = fixture.store().vectors().compare_generations(scope().org(), asked).await.unwrap();
    assert_eq!((compared.in_both, compared.answers.len()), (all as u64, all));
    assert_eq!((compared.mean_overlap(), compared.mean_rank_agreement()), (Some(1.0), Some(1.0)));

    let again = fixture.scheduler.offer(due, Trigger::Manual).await.unwrap();
    assert_eq!((again.outcome.code(), again.changed), ("done", 0), "twice is once");
    assert_eq!(run_job(&fixture).await.changed, 0, "the old ones are kept for a while");
    fixture.clinic.time.advance(TimeDelta::days(7));
    let removed = run_job(&fixture).await.status;
    assert_eq!(removed["removed"].as_i64(), Some(passages), "{removed}");
    assert_eq!((count(fixture.store(), OLD).await, count(fixture.store(), NEW).await), (0, passages));
    assert_eq!(run_job(&fixture).await.examined, 0, "nothing is left");
}

/// A model of the second generation; during its calls, others continue to store documents.
struct BusyModel {
    model: Arc<dyn Embedder>,
    others: Pipeline,
    /// Documents that still come, and how many came.
    left: AtomicU64,
    came: AtomicU64,
}

#[async_trait]
impl Embedder for BusyModel {
    fn profile(&self) -> &ModelProfile {
        self.model.profile()
    }

    async fn embed(&self, purpose: Purpose, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        if self.left.load(Ordering::SeqCst) > 0 {
            self.left.fetch_sub(1, Ordering::SeqCst);
            let n = u128::from(self.came.fetch_add(1, Ordering::SeqCst));
            let bodies = notes(1_000 + n, 1).iter().map(|note| note.to_string().into_bytes()).collect::<Vec<_>>();
            let done = feed(&self.others, &bodies, 1).await;
            assert!(done.iter().all(|disposition| disposition.code() == "stored"), "{done:?}");
        }
        self.model.embed(purpose, texts).await
    }
}

async fn documents_that_come_while_it_is_made_have_vectors_of_both(engine: TestEngine) {
    let fixture = fixture(engine, 13).await;
    let others = fixture.clinic.pipeline_over(fixture.store().clone(), both(model(2, "")));
    let (left, came) = (AtomicU64::new(7), AtomicU64::new(0));
    let busy = Arc::new(BusyModel { model: model(2, ""), others, left, came });
    let fixture = with(fixture, busy.clone());
    let before = count(fixture.store(), PASSAGES).await;
    let report = run_job(&fixture).await;
    assert_eq!(report.status["verdict"], "swapped", "{report:?}");
    assert_eq!(busy.came.load(Ordering::SeqCst), 7);
    let passages = count(fixture.store(), PASSAGES).await;
    assert!(passages > before);
    assert_eq!((count(fixture.store(), OLD).await, count(fixture.store(), NEW).await), (passages, passages));
    let marked = "SELECT count(*) FROM passage WHERE embedding_pending = 1 OR missing_next_generation = 1";
    assert_eq!(count(fixture.store(), marked).await, 0);

    // Passages after the swap only have a vector of the new generation.
    let after = notes(2_000, 1);
    feed(&busy.others, &[after[0].to_string().into_bytes()], 1).await;
    let more = count(fixture.store(), PASSAGES).await;
    assert_eq!((count(fixture.store(), OLD).await, count(fixture.store(), NEW).await), (passages, more));
}

/// The statements of a writer's transaction, stopped between its passage and its commit.
static LATE: &str = "INSERT INTO passage (org_id, patient_id, id, document_id, revision, ordinal, start_offset, end_offset, \
     terms, embedding_pending, missing_next_generation, created_at, updated_at) \
     SELECT org_id, patient_id, $1, document_id, revision, 99, start_offset, end_offset, terms, 0, 1, created_at, \
     updated_at FROM passage ORDER BY id LIMIT 1";

async fn a_swap_waits_for_a_document_whose_commit_is_under_way(engine: TestEngine) {
    let fixture = with(fixture(engine, 13).await, model(2, ""));
    // All but the last of it is made.
    let watch = Arc::new(AfterBatch(AtomicU64::new(5), Notify::new()));
    let mut fixture = fixture;
    let calm = std::mem::replace(&mut fixture.scheduler.driver.observer, watch.clone());
    let due = tomorrow(&fixture).await;
    tokio::select! {
        biased;
        () = watch.1.notified() => {}
        report = fixture.scheduler.offer(due, Trigger::Scheduled) => panic!("was to be killed: {report:?}"),
    }
    fixture.scheduler.driver.observer = calm;
    fixture.clinic.time.advance(TimeDelta::hours(1));

    let mut tx = fixture.store().db().begin(Access::Organization(scope().org())).await.unwrap();
    assert_eq!(generation::hold(&mut tx, scope().org()).await.unwrap().building, Some(2));
    let late = uuid::Uuid::from_u128(0xfee1_0000_0000_4000_8000_0000_0000_0001);
    assert_eq!(tx.execute(&Sql::new(LATE), vec![late.into()]).await.unwrap(), 1);
    let scheduler = tokio::spawn(async move {
        let report = fixture.scheduler.offer(due, Trigger::Scheduled).await.unwrap();
        (fixture, report)
    });
    // Long enough for a swap that does not wait.
    tokio::time::sleep(std::time::Duration::from_millis(700)).await;
    tx.commit().await.unwrap();
    let (fixture, report) = scheduler.await.unwrap();
    assert_eq!(report.status["verdict"], "swapped", "{report:?}");
    assert_eq!(count(fixture.store(), NEW).await, count(fixture.store(), PASSAGES).await);
    assert_eq!(count(fixture.store(), "SELECT count(*) FROM passage WHERE ordinal = 99").await, 1);
}

/// A model that does something to one text.
struct RefusingModel {
    model: Arc<dyn Embedder>,
    refuses: bool,
}

#[async_trait]
impl Embedder for RefusingModel {
    fn profile(&self) -> &ModelProfile {
        self.model.profile()
    }

    async fn embed(&self, purpose: Purpose, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let is_odd = |text: &&str| text.contains("por 7 noche");
        if self.refuses && texts.iter().any(is_odd) {
            return Err(EmbedError::Rejected);
        }
        let mut vectors = self.model.embed(purpose, texts).await?;
        for (vector, _) in vectors.iter_mut().zip(texts).filter(|(_, text)| is_odd(text)) {
            vector.fill(0.0);
        }
        Ok(vectors)
    }
}

async fn a_gate_that_does_not_open_leaves_the_old_generation_active_and_says_why(engine: TestEngine) {
    let fixture = fixture(engine, 13).await;
    let passages = count(fixture.store(), PASSAGES).await as usize;
    let refuses = Arc::new(RefusingModel { model: model(2, ""), refuses: true });
    let fixture = with(fixture, refuses);
    let report = run_job(&fixture).await;
    assert_eq!((&report.status["verdict"], &report.status["missing"]), (&"missing_vectors".into(), &1.into()));
    assert_eq!((&report.status["refused"], &report.status["failed"]), (&1.into(), &1.into()));
    assert_eq!(seen(&fixture.pipeline, 1).await, (passages, passages));

    let zeros = Arc::new(RefusingModel { model: model(2, ""), refuses: false });
    let fixture = with(fixture, zeros);
    let report = run_job(&fixture).await;
    assert_eq!((&report.status["verdict"], &report.status["unsound"]), (&"unsound_vectors".into(), &1.into()));
    assert_eq!(count(fixture.store(), NEW).await, passages as i64 - 1, "it is made again");
    assert_eq!(seen(&fixture.pipeline, 1).await, (passages, passages));

    // Half of it is there, made by another model under the same number: nothing is mixed.
    let fixture = with(fixture, model(2, " other"));
    let due = tomorrow(&fixture).await;
    let refused = fixture.scheduler.offer(due, Trigger::Manual).await.unwrap();
    assert_eq!(refused.outcome, JobOutcome::Failed { error: "model_changed" });
    let fixture = with(fixture, model(3, " other"));
    let report = run_job(&fixture).await;
    assert_eq!(report.status["verdict"], "too_unlike", "{report:?}");
    assert!(report.status["overlap"].as_f64().unwrap() < 0.9);
    let asked = ComparisonRequest { generations: [1, 3], sample: 500, nearest: 5 };
    let compared = fixture.store().vectors().compare_generations(scope().org(), asked).await.unwrap();
    assert_eq!(compared.mean_overlap(), report.status["overlap"].as_f64(), "the verb says what the gate saw");
    assert!(compared.mean_rank_agreement().unwrap() < 0.9);
    assert_eq!(seen(&fixture.pipeline, 1).await, (passages, passages));

    // A lower threshold of the policy lets it pass, and the unfinished generation is removed with the old ones.
    let mut fixture = fixture;
    fixture.scheduler.policies.reembedding.thresholds.min_overlap = 0.0;
    assert_eq!(run_job(&fixture).await.status["verdict"], "swapped");
    assert_eq!(seen(&fixture.pipeline, 3).await, (passages, passages));
    fixture.clinic.time.advance(TimeDelta::days(7));
    run_job(&fixture).await;
    assert_eq!(count(fixture.store(), "SELECT count(*) FROM embedding WHERE generation <> 3").await, 0);
}

/// Notifies when a number of batches is committed.
struct AfterBatch(AtomicU64, Notify);

impl anamnesis_jobs::metrics::JobObserver for AfterBatch {
    fn began(&self, _: JobName) {}
    fn batch(&self, _: &RunKey, _: u64, _: u64) {
        if self.0.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.1.notify_one();
        }
    }
    fn ended(&self, _: &JobReport, _: TimeDelta) {}
    fn ticked(&self, _: DateTime<Utc>, _: &[(JobName, DateTime<Utc>)]) {}
}

async fn a_kill_between_two_batches_repeats_one_batch_at_most_and_ends_alike(engine: TestEngine) {
    let most = if engine == TestEngine::File { 9 } else { 3 };
    for batches in 1..=most {
        let mut fixture = with(fixture(engine, 13).await, model(2, ""));
        let watch = Arc::new(AfterBatch(AtomicU64::new(batches), Notify::new()));
        let calm = std::mem::replace(&mut fixture.scheduler.driver.observer, watch.clone());
        let due = tomorrow(&fixture).await;
        tokio::select! {
            biased;
            () = watch.1.notified() => {}
            report = fixture.scheduler.offer(due, Trigger::Scheduled) => panic!("was to be killed: {report:?}"),
        }
        let made = count(fixture.store(), NEW).await;
        fixture.scheduler.driver.observer = calm;
        fixture.clinic.time.advance(TimeDelta::hours(1));
        let heir = fixture.scheduler.offer(due, Trigger::Scheduled).await.unwrap();
        assert_eq!(heir.outcome.code(), "done", "{heir:?}");
        let passages = count(fixture.store(), PASSAGES).await;
        assert_eq!(count(fixture.store(), NEW).await, passages);
        assert!(made + heir.status["embedded"].as_i64().unwrap() <= passages, "what was made is not made again");
        assert_eq!(seen(&fixture.pipeline, 2).await, (passages as usize, passages as usize));
    }
}

async fn a_build_that_is_no_longer_configured_is_removed(engine: TestEngine) {
    let mut fixture = with(fixture(engine, 13).await, model(2, ""));
    fixture.scheduler.policies.reembedding.thresholds.max_per_run = 5;
    let report = run_job(&fixture).await;
    assert_eq!(report.status["verdict"], "building", "{report:?}");
    assert!(count(fixture.store(), NEW).await >= 5);
    fixture.scheduler = fixture.scheduler.with_models(embedder().into());
    assert_eq!(run_job(&fixture).await.status["verdict"], "abandoned");
    assert_eq!(count(fixture.store(), NEW).await, 0);
    let passages = count(fixture.store(), PASSAGES).await as usize;
    assert_eq!(seen(&fixture.pipeline, 1).await, (passages, passages));
}

async fn a_process_without_the_model_of_the_active_generation_searches_by_words_and_leaves_vectors_to_the_job(
    engine: TestEngine,
) {
    let fixture = with(fixture(engine, 13).await, model(2, ""));
    let recall = |models: Models| {
        let redactor = Arc::new(Redactor::builtin(RedactionPolicy::default()));
        Recall::new(fixture.store().clone(), models, redactor, Arc::new(Metrics::new(&Identity::default()).unwrap()))
    };
    let question = SearchRequest { query: "cefalea".into(), min_score: Some(-1.0), ..SearchRequest::default() };
    let (both_models, one) = (recall(both(model(2, ""))), recall(embedder().into()));
    for recall in [&both_models, &one] {
        assert!(recall.search(scope(), &question).await.unwrap().by_meaning);
    }
    assert_eq!(run_job(&fixture).await.status["verdict"], "swapped");
    for _ in 0..2 {
        let found = both_models.search(scope(), &question).await.unwrap();
        assert!(found.by_meaning && found.hits.iter().all(|hit| hit.similarity.is_some()), "the swap is noticed");
    }
    let found = one.search(scope(), &question).await.unwrap();
    assert!(!found.by_meaning && !found.hits.is_empty() && found.hits.iter().all(|hit| hit.similarity.is_none()));

    // The fixture's own pipeline only knows the first model.
    fixture.ingest(&notes(500, 1)).await;
    let waiting = count(fixture.store(), "SELECT count(*) FROM passage WHERE embedding_pending = 1").await;
    assert!(waiting > 0 && count(fixture.store(), OLD).await < count(fixture.store(), PASSAGES).await);
    fixture.clinic.time.advance(TimeDelta::days(1));
    let due =
        fixture.scheduler.due().await.unwrap().into_iter().rfind(|due| due.key.job == JobName::EmbedBatch).unwrap();
    let report = JobScheduler::offer(&fixture.scheduler, due, Trigger::Manual).await.unwrap();
    assert_eq!(report.changed as i64, waiting);
    assert_eq!(count(fixture.store(), NEW).await, count(fixture.store(), PASSAGES).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_is_configured_to_follow_is_swapped_in_and_the_verb_shows_both() {
    let program = Program::on(TestEngine::File).await;
    program.ingest(&bodies(&notes(1, 13)), &[]);
    // The same server and model under another generation.
    let next: Vec<(String, String)> = program
        .environment()
        .into_iter()
        .filter_map(|(key, value)| {
            let rest = key.strip_prefix("ANAMNESIS__EMBEDDING__")?;
            let value = if rest == "PROFILE__GENERATION" { "2".to_owned() } else { value };
            Some((format!("ANAMNESIS__EMBEDDING__NEXT__{rest}"), value))
        })
        .collect();
    let next: Vec<(&str, &str)> = next.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    let asked = |more: &[(&str, &str)], arguments: &[&str]| {
        let output = program.command(more).args(arguments).args(["--output", "json"]).output().unwrap();
        let lines = String::from_utf8(output.stdout).unwrap();
        let reported: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        (output.status.code(), reported)
    };
    let (code, reported) = asked(&[], &["vectors", "status"]);
    assert_eq!((code, &reported[0]["active"], &reported[0]["building"]), (Some(0), &1.into(), &Value::Null));
    let org = ORG.to_string();
    assert_eq!(asked(&[], &["vectors", "compare", "--org", &org]).0, Some(2), "nothing is being made");

    let (code, reported) = asked(&next, &["job", "run", "reembedding"]);
    assert_eq!((code, &reported[0]["status"]["verdict"]), (Some(0), &"swapped".into()), "{reported:?}");
    let (_, reported) = asked(&next, &["vectors", "status"]);
    assert_eq!((&reported[0]["active"], &reported[0]["others_are_kept"]), (&2.into(), &true.into()));
    let (code, reported) = asked(&[], &["vectors", "compare", "--org", &org, "--generations", "1", "2"]);
    assert_eq!(
        (code, reported[0]["overlap"].as_f64(), reported[0]["rank_agreement"].as_f64()),
        (Some(0), Some(1.0), Some(1.0))
    );
    let text = reported[0].to_string();
    assert!(!text.contains("cefalea") && !text.contains("Duerme"), "ids and numbers alone");
}

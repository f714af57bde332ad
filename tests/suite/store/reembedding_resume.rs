//! The note of a re-embedding run for the next one, on each engine: the cost of a run depends on new passages, not on
//! stored ones.

use anamnesis_jobs::ledger::Trigger;
use chrono::TimeDelta;

use super::fixture::StoreFixture;
use super::reembedding::{NEW, PASSAGES, both, fixture, notes, run_job, tomorrow, with};
use crate::support::{TestEngine, count, feed, model, on_every_engine};

on_every_engine!(
    a_gate_that_stays_shut_costs_what_came_until_something_that_it_depends_on_changes,
    a_build_of_several_runs_continues_where_the_last_one_stopped,
);

async fn a_gate_that_stays_shut_costs_what_came_until_something_that_it_depends_on_changes(engine: TestEngine) {
    let mut fixture = with(fixture(engine, 40).await, model(2, " other"));
    fixture.scheduler.policies.reembedding.thresholds.recheck_days = 30;
    let passages = count(fixture.store(), PASSAGES).await;
    let first = run_job(&fixture).await;
    assert_eq!(first.status["verdict"], "too_unlike", "{first:?}");
    assert!(first.examined as i64 >= 2 * passages, "all are walked and looked at");
    let shut = async |fixture: &StoreFixture, examined: u64| {
        let report = run_job(fixture).await;
        assert_eq!((report.examined, &report.status["verdict"]), (examined, &"too_unlike".into()), "{report:?}");
        assert_eq!((&report.status["failed"], &report.status["compared"]), (&1.into(), &0.into()));
        report
    };
    assert_eq!(shut(&fixture, 0).await.changed, 0, "nothing came");

    // Little came: it is embedded, and the answer holds.
    fixture.clinic.time.advance(TimeDelta::hours(1));
    let busy = fixture.clinic.pipeline_over(fixture.store().clone(), both(model(2, " other")));
    let bodies: Vec<Vec<u8>> = notes(300, 1).iter().map(|note| note.to_string().into_bytes()).collect();
    feed(&busy, &bodies, 1).await;
    let came = count(fixture.store(), PASSAGES).await - passages;
    assert!(came > 0 && (came as f64) < 0.1 * passages as f64);
    let due = tomorrow(&fixture).await;
    let preview = fixture.scheduler.preview(due).await.unwrap();
    assert_eq!((&preview.status["embedded"], &preview.status["verdict"]), (&came.into(), &"too_unlike".into()));
    let report = fixture.scheduler.offer(due, Trigger::Manual).await.unwrap();
    assert_eq!((report.examined as i64, report.changed as i64), (came, came));
    assert_eq!(count(fixture.store(), NEW).await, passages + came, "the generation stays whole");
    shut(&fixture, 0).await;

    // Enough came, the last little counted: all is asked again.
    let bodies: Vec<Vec<u8>> = notes(400, 4).iter().map(|note| note.to_string().into_bytes()).collect();
    feed(&busy, &bodies, 4).await;
    let report = run_job(&fixture).await;
    assert!(report.status["compared"].as_i64().unwrap() > 0, "{report:?}");
    shut(&fixture, 0).await;

    // So it is after a while, and as soon as a gate is set otherwise.
    fixture.clinic.time.advance(TimeDelta::days(30));
    assert!(run_job(&fixture).await.status["compared"].as_i64().unwrap() > 0);
    shut(&fixture, 0).await;
    fixture.scheduler.policies.reembedding.thresholds.min_overlap = 0.0;
    assert_eq!(run_job(&fixture).await.status["verdict"], "swapped");
    let stored = "SELECT count(*) FROM organization WHERE reembedding_state IS NOT NULL";
    assert_eq!(count(fixture.store(), stored).await, 0);
    assert_eq!(count(fixture.store(), NEW).await, count(fixture.store(), PASSAGES).await);
}

async fn a_build_of_several_runs_continues_where_the_last_one_stopped(engine: TestEngine) {
    let mut fixture = with(fixture(engine, 40).await, model(2, ""));
    fixture.scheduler.policies.reembedding.thresholds.max_per_run = 16;
    let passages = count(fixture.store(), PASSAGES).await;
    let mut walked = 0;
    loop {
        let report = run_job(&fixture).await;
        if report.status["verdict"] == "swapped" {
            break;
        }
        assert_eq!(report.status["verdict"], "building", "{report:?}");
        assert_eq!(report.examined, report.status["embedded"].as_u64().unwrap(), "none is walked twice");
        walked += report.examined as i64;
    }
    assert!(walked >= 16 && walked <= passages);
    assert_eq!(count(fixture.store(), NEW).await, passages);
}

//! What a night of re-embedding leaves for the next one, on each engine: nights cost what came, not what is stored.

use anamnesis_jobs::ledger::Asked;
use chrono::TimeDelta;

use super::reembedding::{NEW, PASSAGES, both, night, notes, tomorrow, ward, with};
use super::ward::Ward;
use crate::support::{Engine, count, feed, model, on_every_engine};

on_every_engine!(
    a_gate_that_stays_shut_costs_what_came_until_something_that_it_depends_on_changes,
    a_build_of_several_nights_goes_on_where_the_last_one_stopped,
);

async fn a_gate_that_stays_shut_costs_what_came_until_something_that_it_depends_on_changes(engine: Engine) {
    let mut ward = with(ward(engine, 40).await, model(2, " other"));
    ward.night.policies.reembedding.thresholds.ask_again_days = 30;
    let passages = count(ward.store(), PASSAGES).await;
    let first = night(&ward).await;
    assert_eq!(first.status["verdict"], "too_unlike", "{first:?}");
    assert!(first.examined as i64 >= 2 * passages, "all are walked and looked at");
    let shut = async |ward: &Ward, examined: u64| {
        let report = night(ward).await;
        assert_eq!((report.examined, &report.status["verdict"]), (examined, &"too_unlike".into()), "{report:?}");
        assert_eq!((&report.status["failed"], &report.status["compared"]), (&1.into(), &0.into()));
        report
    };
    assert_eq!(shut(&ward, 0).await.changed, 0, "nothing came");

    // Little came: it is embedded, and the answer holds.
    ward.clinic.time.advance(TimeDelta::hours(1));
    let busy = ward.clinic.pipeline_over(ward.store().clone(), both(model(2, " other")));
    let bodies: Vec<Vec<u8>> = notes(300, 1).iter().map(|note| note.to_string().into_bytes()).collect();
    feed(&busy, &bodies, 1).await;
    let came = count(ward.store(), PASSAGES).await - passages;
    assert!(came > 0 && (came as f64) < 0.1 * passages as f64);
    let due = tomorrow(&ward).await;
    let preview = ward.night.preview(due).await.unwrap();
    assert_eq!((&preview.status["embedded"], &preview.status["verdict"]), (&came.into(), &"too_unlike".into()));
    let report = ward.night.offer(due, Asked::ByPerson).await.unwrap();
    assert_eq!((report.examined as i64, report.changed as i64), (came, came));
    assert_eq!(count(ward.store(), NEW).await, passages + came, "the generation stays whole");
    shut(&ward, 0).await;

    // Enough came, the last little counted: all is asked again.
    let bodies: Vec<Vec<u8>> = notes(400, 4).iter().map(|note| note.to_string().into_bytes()).collect();
    feed(&busy, &bodies, 4).await;
    let report = night(&ward).await;
    assert!(report.status["compared"].as_i64().unwrap() > 0, "{report:?}");
    shut(&ward, 0).await;

    // So it is after a while, and as soon as a gate is set otherwise.
    ward.clinic.time.advance(TimeDelta::days(30));
    assert!(night(&ward).await.status["compared"].as_i64().unwrap() > 0);
    shut(&ward, 0).await;
    ward.night.policies.reembedding.thresholds.least_overlap = 0.0;
    assert_eq!(night(&ward).await.status["verdict"], "swapped");
    assert_eq!(count(ward.store(), "SELECT count(*) FROM organization WHERE building_left IS NOT NULL").await, 0);
    assert_eq!(count(ward.store(), NEW).await, count(ward.store(), PASSAGES).await);
}

async fn a_build_of_several_nights_goes_on_where_the_last_one_stopped(engine: Engine) {
    let mut ward = with(ward(engine, 40).await, model(2, ""));
    ward.night.policies.reembedding.thresholds.most_a_night = 16;
    let passages = count(ward.store(), PASSAGES).await;
    let mut walked = 0;
    loop {
        let report = night(&ward).await;
        if report.status["verdict"] == "swapped" {
            break;
        }
        assert_eq!(report.status["verdict"], "building", "{report:?}");
        assert_eq!(report.examined, report.status["embedded"].as_u64().unwrap(), "none is walked twice");
        walked += report.examined as i64;
    }
    assert!(walked >= 16 && walked <= passages);
    assert_eq!(count(ward.store(), NEW).await, passages);
}

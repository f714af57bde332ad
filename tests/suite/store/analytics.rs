//! Confidence analytics and cohort patterns on each engine, on a server as the role of the jobs.

use anamnesis_core::confidence_trend::Alert;
use anamnesis_jobs::JobName;
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use uuid::Uuid;

use super::fixture::StoreFixture;
use crate::support::{NOW, ORG, PATIENT, TestEngine, count, document, event, on_every_engine, scope};

on_every_engine!(
    a_fall_below_the_patients_baseline_is_announced_once_with_its_correlates,
    the_days_on_a_medicine_go_along_with_how_sure_the_patient_was,
    a_month_has_only_what_ten_patients_share_and_is_announced_once,
);

/// A statement of a day before [`NOW`], and how the patient was then.
fn said(days_ago: i64, confidence: f64) -> Value {
    let now: DateTime<Utc> = NOW.parse().unwrap();
    let at = (now - TimeDelta::days(days_ago) - TimeDelta::hours(2)).to_rfc3339();
    let mut said = document(1000 + u128::try_from(days_ago).unwrap(), 1, &at, "Refiere cefalea.");
    said["provenance"] = json!({"confidence": confidence});
    said
}

fn slept(days_ago: i64, hours: f64) -> Value {
    let now: DateTime<Utc> = NOW.parse().unwrap();
    let at = (now - TimeDelta::days(days_ago) - TimeDelta::hours(3)).to_rfc3339();
    json!({"organization_id": ORG, "patient_id": PATIENT, "metric": "sleep_hours", "unit": "h", "value": hours,
        "device": "watch", "synced_at": at})
}

async fn a_fall_below_the_patients_baseline_is_announced_once_with_its_correlates(engine: TestEngine) {
    let fixture = StoreFixture::on(engine).await;
    let sure = |day: i64| if day < 6 { 0.4 } else { 0.8 + 0.01 * (day % 3) as f64 };
    let mut reported: Vec<Value> = (1..25).map(|day| said(day, sure(day))).collect();
    reported.extend((1..25).map(|day| slept(day, 10.0 * sure(day))));
    fixture.ingest(&reported).await;
    let report = fixture.after(1, JobName::ConfidenceAnalytics).await;
    assert_eq!((report.status["trends_updated"].as_u64(), report.status["alerts"].as_u64()), (Some(1), Some(1)));
    let (_, alerted_at, course) = fixture.pipeline.store().read().confidence_course(scope()).await.unwrap().unwrap();
    assert_eq!(course.alert, Some(Alert::BelowBaseline));
    assert!(course.baseline.unwrap().mean > 0.79 && course.recent.unwrap().mean < 0.5, "{course:?}");
    let sleep = course.correlations.values().next().expect("a device's readings go along");
    assert!(sleep.r > 0.95 && sleep.low <= sleep.r && sleep.n == 24, "{sleep:?}");
    let alerts = "SELECT count(*) FROM outbox WHERE event_type = 'anamnesis.confidence.alert.v1'";
    assert_eq!(count(fixture.pipeline.store(), alerts).await, 1);

    // The next run finds the same low value: no alert is repeated, and its start stays.
    let again = fixture.after(1, JobName::ConfidenceAnalytics).await;
    assert_eq!(again.status["alerts"].as_u64(), Some(0));
    assert_eq!(count(fixture.pipeline.store(), alerts).await, 1);
    let (_, since, _) = fixture.pipeline.store().read().confidence_course(scope()).await.unwrap().unwrap();
    assert_eq!(since, alerted_at);
}

async fn the_days_on_a_medicine_go_along_with_how_sure_the_patient_was(engine: TestEngine) {
    let fixture = StoreFixture::on(engine).await;
    let mut reported: Vec<Value> =
        (1..25).map(|day| said(day, if day < 12 { 0.5 } else { 0.8 + 0.01 * (day % 3) as f64 })).collect();
    let now: DateTime<Utc> = NOW.parse().unwrap();
    let at = (now - TimeDelta::days(12)).to_rfc3339();
    reported.push(document(1, 1, &at, "Toma clonazepam 2 mg al día."));
    // Older than all of these days: it is no evidence.
    reported.push(document(2, 1, "2026-01-10T10:00:00Z", "Toma litio 400 mg al día."));
    fixture.ingest(&reported).await;
    fixture.after(1, JobName::ConfidenceAnalytics).await;
    let (_, _, course) = fixture.pipeline.store().read().confidence_course(scope()).await.unwrap().unwrap();
    let along: Vec<_> = course.correlations.iter().collect();
    let [(name, days)] = along.as_slice() else { panic!("{along:?}") };
    assert!(name.starts_with("days on clonazepam"), "{name}");
    assert!(days.r < -0.9 && days.low <= days.r && days.r <= days.high && days.n >= 24, "{days:?}");
}

async fn a_month_has_only_what_ten_patients_share_and_is_announced_once(engine: TestEngine) {
    let fixture = StoreFixture::on(engine).await;
    let of = |patient: u128, text: &str| {
        let mut reported = document(patient, 1, "2026-06-20T10:00:00Z", text);
        reported["patient_id"] = json!(Uuid::from_u128(0x500 + patient));
        reported
    };
    let mut reported: Vec<Value> = (1..=17).map(|patient| of(patient, "Refiere cefalea.")).collect();
    reported.extend((30..=35).map(|patient| of(patient, "Toma litio 400 mg al día.")));
    fixture.ingest(&reported).await;
    assert_eq!(fixture.after(1, JobName::CohortPatterns).await.changed, 0, "June is not settled");
    assert!(fixture.after(8, JobName::CohortPatterns).await.changed > 0);
    let patterns = fixture.pipeline.store().read().cohort_patterns(scope().org()).await.unwrap();
    assert!(patterns.iter().all(|one| one.patients >= 10 && one.patients % 5 == 0 && one.month == "2026-06"));
    assert!(!patterns.iter().any(|one| one.value == "medication"), "six patients are nobody's business: {patterns:?}");

    // One patient more: the month was announced, and stays as announced.
    fixture.ingest(&[of(18, "Refiere cefalea.")]).await;
    assert_eq!(fixture.after(1, JobName::CohortPatterns).await.changed, 0);
    assert_eq!(fixture.pipeline.store().read().cohort_patterns(scope().org()).await.unwrap(), patterns);
    let signal = event("s", "anamnesis.health_signal.recorded.v1", &slept(1, 7.0));
    fixture.ingest(&[signal]).await;
}

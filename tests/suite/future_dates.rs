//! Messages that are dated beyond tomorrow wait in quarantine until that day.

use serde_json::{Value, json};
use uuid::Uuid;

use super::support::{
    NOW, ORG, PATIENT, Program, TestEngine, bodies, count, counts, document, event, on_every_program,
};

on_every_program!(messages_dated_beyond_tomorrow_are_quarantined_and_taken_when_their_day_has_come);

/// One message of every type with a date: now plus so many hours, written in another zone.
fn dated(hours: i64, offset: i32, id: u128) -> Vec<Value> {
    let zone = chrono::FixedOffset::east_opt(offset * 3600).unwrap();
    let at = NOW.parse::<chrono::DateTime<chrono::Utc>>().unwrap() + chrono::TimeDelta::hours(hours);
    let at = at.with_timezone(&zone).to_rfc3339();
    let of = json!({"organization_id": ORG, "patient_id": PATIENT});
    let with = |more: Value| {
        let mut all = of.as_object().unwrap().clone();
        all.extend(more.as_object().unwrap().clone());
        Value::Object(all)
    };
    let actor = Uuid::from_u128(9);
    vec![
        document(id, 1, &at, "Toma sertralina 50 mg al día."),
        with(json!({"actor": actor, "recorded_at": at, "allergies": [{"substance": "penicilina"}]})),
        with(
            json!({"metric": "sleep_hours", "unit": "h", "value": 6.5 + offset as f64, "synced_at": at, "device": "watch"}),
        ),
        event(
            &format!("command-{id}"),
            "anamnesis.memory.command.v1",
            &with(json!({"actor": {"id": actor, "role": "clinician"}, "command": "ephemeral_on", "issued_at": at})),
        ),
    ]
}

async fn messages_dated_beyond_tomorrow_are_quarantined_and_taken_when_their_day_has_come(engine: TestEngine) {
    let program = Program::on(engine).await;
    let mut late = dated(25, 14, 1);
    late.extend(dated(25, -12, 2));
    let reported = counts(&program.ingest(&bodies(&late), &[]));
    assert_eq!(reported["reasons"], json!({"not_yet": 8}), "{reported}");
    // Nothing of it acts: a document of today is stored although a command of tomorrow would forbid it.
    let today = counts(&program.ingest(&bodies(&dated(23, 14, 3)[..1]), &[]));
    assert_eq!(today["stored"], json!(1), "{today}");
    let retry = |now: &str| {
        let now = [("ANAMNESIS__PIPELINE__NOW", now)];
        let output = program.command(&now).args(["quarantine", "retry", "--output", "json"]).output().unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    assert_eq!(retry(NOW)["stored"], json!(0));
    let store = program.store().await;
    assert_eq!(count(&store, "SELECT count(*) FROM quarantine WHERE state = 'open' AND reason = 'not_yet'").await, 8);
    store.close().await;
    let done = retry("2026-07-02T13:00:00Z");
    assert_eq!((&done["stored"], &done["set_aside_again"]), (&json!(8), &json!(0)), "{done}");
}

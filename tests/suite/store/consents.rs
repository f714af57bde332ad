//! Jobs check consent: a patient who denies it is not counted, and one who denies memory gets no new derived data.

use anamnesis_jobs::JobName;
use serde_json::{Value, json};
use uuid::Uuid;

use super::fixture::StoreFixture;
use crate::support::{ORG, PATIENT, TestEngine, count, document, on_every_engine, scope};

on_every_engine!(
    a_month_counts_only_those_who_permit_research,
    of_a_patient_who_denies_no_summary_is_made_until_a_new_permit,
);

fn consent(patient: Uuid, scope: &str, provision: &str, from: &str) -> Value {
    json!({"organization_id": ORG, "patient_id": patient, "scope": scope, "provision": provision, "from": from,
        "stated_at": from, "recorded_by": Uuid::from_u128(9)})
}

async fn a_month_counts_only_those_who_permit_research(engine: TestEngine) {
    for (scopes, reported) in [(&[][..], true), (&["research", "memory", "research"], false), (&["recall"], true)] {
        let fixture = StoreFixture::on(engine).await;
        let patient = |n: u128| Uuid::from_u128(0x500 + n);
        let of = |n: u128| {
            let mut said = document(n, 1, "2026-06-20T10:00:00Z", "Refiere cefalea.");
            said["patient_id"] = json!(patient(n));
            said
        };
        fixture.ingest(&(1..=12).map(of).collect::<Vec<_>>()).await;
        let denied = (1u128..).zip(scopes.iter());
        let denied: Vec<Value> =
            denied.map(|(n, scope)| consent(patient(n), scope, "deny", "2026-06-25T00:00:00Z")).collect();
        fixture.ingest(&denied).await;
        fixture.after(9, JobName::CohortPatterns).await;
        let patterns = fixture.store().read().cohort_patterns(scope().org()).await.unwrap();
        assert_eq!(patterns.iter().any(|one| one.value == "symptom"), reported, "{scopes:?}: {patterns:?}");
    }
}

async fn of_a_patient_who_denies_no_summary_is_made_until_a_new_permit(engine: TestEngine) {
    let fixture = StoreFixture::on(engine).await;
    let note = |id, text: &str| document(id, 1, "2026-06-30T10:00:00Z", text);
    let said = note(1, "Toma sertralina 50 mg al día. Refiere cefalea. Refiere insomnio. Es alérgica a la penicilina.");
    fixture.ingest(&[said]).await;
    fixture.ingest(&[consent(PATIENT, "memory", "deny", "2026-07-01T00:00:00Z")]).await;
    fixture.after(1, JobName::Summaries).await;
    let summaries = "SELECT count(*) FROM summary";
    assert_eq!(count(fixture.store(), summaries).await, 0);
    fixture.ingest(&[consent(PATIENT, "memory", "permit", "2026-07-01T00:00:01Z")]).await;
    fixture.ingest(&[note(2, "Toma litio 400 mg al día. Refiere náuseas. Refiere mareo.")]).await;
    fixture.after(1, JobName::Summaries).await;
    assert!(count(fixture.store(), summaries).await > 0);
}

//! Retention on each engine, on a server as the role of the jobs: the source is removed after its term, the findings
//! stay.

use anamnesis_core::finding::EntityType;
use anamnesis_core::ids::{DocumentId, OrgId};
use anamnesis_core::memory::State;
use anamnesis_core::retention::PrivacyTier;
use anamnesis_jobs::JobName;
use anamnesis_jobs::driver::JobReport;
use anamnesis_sql::{Access, Sql};
use anamnesis_store::organizations::{OrganizationChange, OrganizationUpdate};
use anamnesis_store::read::{Memory, MemoryFilter, ReadInstant};
use chrono::{DateTime, Utc};
use serde_json::json;
use uuid::Uuid;

use super::fixture::StoreFixture;
use crate::support::{ORG, PATIENT, TestEngine, count, document, event, on_every_engine, scope};

on_every_engine!(
    of_a_summary_only_patient_the_text_and_every_quote_go_and_what_was_understood_stays,
    a_dropped_source_leaves_its_quotes_and_an_archived_one_can_be_read_by_name,
    a_legal_hold_keeps_sources_and_forgotten_words_until_it_is_lifted,
    a_date_that_was_changed_outside_the_program_removes_no_source,
    the_patients_tier_comes_before_the_organisations_and_another_one_is_heeded_at_once,
);

const TEXT: &str = "Toma sertralina 50 mg al día. Refiere cefalea. Es alérgica a la penicilina.";

fn dropping(country: Option<&str>) -> OrganizationChange {
    let country = country.map(str::to_owned);
    OrganizationChange { privacy_tier: Some(PrivacyTier::DropSource), country, ..OrganizationChange::default() }
}

/// A clinic with one document.
async fn with_document(engine: TestEngine) -> StoreFixture {
    let fixture = StoreFixture::on(engine).await;
    fixture.ingest(&[document(1, 1, "2026-06-20T10:00:00Z", TEXT)]).await;
    fixture
}

impl StoreFixture {
    async fn tier(&self, tier: &str, at: &str) {
        let said = json!({"organization_id": ORG, "patient_id": PATIENT, "actor": Uuid::from_u128(9),
            "recorded_at": at, "privacy_tier": tier});
        self.ingest(&[event(&format!("tier {at}"), "anamnesis.profile.updated.v1", &said)]).await;
    }

    async fn memories(&self) -> Vec<Memory> {
        let filter = MemoryFilter {
            entities: vec![EntityType::Medication, EntityType::Symptom, EntityType::Allergy],
            ..MemoryFilter::default()
        };
        self.store().read().memories(scope(), &filter, ReadInstant::Now).await.unwrap()
    }

    async fn text(&self) -> String {
        let held = self.store().read().revisions(scope(), &[DocumentId(Uuid::from_u128(1))]).await.unwrap();
        held[0].content.text.clone()
    }
}

fn status_count(report: &JobReport, counter: &str) -> u64 {
    report.status[counter].as_u64().unwrap()
}

async fn of_a_summary_only_patient_the_text_and_every_quote_go_and_what_was_understood_stays(engine: TestEngine) {
    let fixture = with_document(engine).await;
    fixture.tier("Summary only", "2026-06-21T10:00:00Z").await;
    let before = fixture.memories().await;
    let said: Vec<_> = before.iter().map(|m| (m.entity, m.evidence.as_ref().map(|quote| &quote.text))).collect();
    assert!(before.len() >= 3 && said.iter().all(|(_, quote)| quote.is_some()), "{said:?}");
    assert_eq!(status_count(&fixture.after(29, JobName::Retention).await, "summary_only"), 0, "one day too early");
    assert_eq!(fixture.text().await, TEXT);
    assert_eq!(status_count(&fixture.after(2, JobName::Retention).await, "summary_only"), 1);
    assert_eq!(fixture.text().await, "");
    assert_eq!(count(fixture.store(), "SELECT count(*) FROM passage").await, 0);
    assert_eq!(count(fixture.store(), "SELECT count(*) FROM embedding").await, 0);
    assert_eq!(count(fixture.store(), "SELECT count(*) FROM action_audit WHERE action = 'summary_only'").await, 1);
    let after = fixture.memories().await;
    assert!(after.iter().all(|m| m.evidence.is_none()));
    let words = |all: &[Memory]| all.iter().map(|m| (m.id, m.words.clone(), m.trust)).collect::<Vec<_>>();
    assert_eq!(words(&after), words(&before), "what was understood stays");
    assert!(after.iter().zip(&before).all(|(a, b)| a.terms.len() <= b.terms.len() && !a.terms.is_empty()));
    assert!(after.iter().zip(&before).any(|(a, b)| a.terms.len() < b.terms.len()), "the quote's words are not found");
    assert_eq!(fixture.after(1, JobName::Retention).await.changed, 0, "once");

    // A later statement is projected with the remaining rows.
    fixture.ingest(&[document(2, 1, "2026-08-01T10:00:00Z", "Toma sertralina 100 mg al día.")]).await;
    let all =
        MemoryFilter { entities: vec![EntityType::Medication], states: State::ALL.to_vec(), ..MemoryFilter::default() };
    let doses = fixture.store().read().memories(scope(), &all, ReadInstant::Now).await.unwrap();
    let states: Vec<State> = doses.iter().map(|m| m.status.state).collect();
    assert_eq!(states, [State::Active, State::Superseded]);
    assert_eq!(doses[0].supersedes, Some(doses[1].id));
}

async fn a_dropped_source_leaves_its_quotes_and_an_archived_one_can_be_read_by_name(engine: TestEngine) {
    let fixture = with_document(engine).await;
    fixture.tier("drop_source", "2026-06-21T10:00:00Z").await;
    assert_eq!(status_count(&fixture.after(2, JobName::Retention).await, "source_dropped"), 1);
    assert_eq!(fixture.text().await, "");
    assert!(fixture.memories().await.iter().all(|m| m.evidence.is_some()), "quotes are evidence and stay");
    assert!(fixture.store().erasure().archived(scope()).await.unwrap().is_empty());

    let fixture = with_document(engine).await;
    fixture.tier("cold archive", "2026-06-21T10:00:00Z").await;
    assert_eq!(status_count(&fixture.after(366, JobName::Retention).await, "archived"), 1);
    assert_eq!(
        (fixture.text().await, count(fixture.store(), "SELECT count(*) FROM passage").await),
        (String::new(), 0)
    );
    let archived = fixture.store().erasure().archived(scope()).await.unwrap();
    assert_eq!(archived[0].content.text, TEXT);
}

async fn a_date_that_was_changed_outside_the_program_removes_no_source(engine: TestEngine) {
    for changed in [
        "UPDATE documents SET recorded_at = 0, retention_evaluated = 0",
        "UPDATE documents SET recorded_at = 0, retention_evaluated = 0, mac = NULL",
        "UPDATE organization SET privacy_tier = 'drop_source', mac = NULL",
    ] {
        let fixture = with_document(engine).await;
        // From here on a row without a hash is no older version's.
        assert_eq!(status_count(&fixture.after(1, JobName::Reconciliation).await, "forged_rows"), 0);
        let mut tx = fixture.store().db().begin(Access::Organization(OrgId(ORG))).await.unwrap();
        tx.execute(&Sql::new(changed), Vec::new()).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(status_count(&fixture.after(3, JobName::Retention).await, "forged"), 1, "{changed}");
        assert_eq!(
            status_count(&fixture.after(1, JobName::Retention).await, "forged"),
            1,
            "{changed}: until it is put right"
        );
        assert_eq!(fixture.text().await, TEXT);
        assert!(status_count(&fixture.after(1, JobName::Reconciliation).await, "forged_rows") > 0, "{changed}");
    }
}

async fn a_legal_hold_keeps_sources_and_forgotten_words_until_it_is_lifted(engine: TestEngine) {
    let fixture = with_document(engine).await;
    fixture.tier("drop_source", "2026-06-21T10:00:00Z").await;
    let (by, case) = (Uuid::from_u128(7), Some("case 12/26"));
    let hold = fixture.store().erasure().set_hold(scope(), None, case, by).await.unwrap().unwrap();
    let forgotten = fixture.memories().await[0].id;
    let forget = json!({"organization_id": ORG, "patient_id": PATIENT, "command": "forget", "memory_ids": [forgotten],
        "actor": {"id": PATIENT, "role": "patient"}, "issued_at": "2026-06-26T10:00:00Z"});
    fixture.ingest(&[event("f", "anamnesis.memory.command.v1", &forget)]).await;
    let report = fixture.after(40, JobName::Retention).await;
    assert_eq!((status_count(&report, "source_dropped"), status_count(&report, "held")), (0, 1));
    assert_eq!(fixture.after(1, JobName::Retention).await.changed, 0);
    // It is stored as it arrived; readers do not see forgotten words.
    let (held, hidden) = (fixture.text().await, |c: &char| *c == '_');
    assert_eq!(held.len(), TEXT.len());
    assert!(held.chars().any(|c| hidden(&c)) && held.contains("penicilina"), "{held}");
    let purged = async || {
        let runs = fixture.scheduler.round().await.unwrap();
        runs.iter().filter(|run| run.job == JobName::Purge).map(|run| run.changed).sum::<u64>()
    };
    assert_eq!(purged().await, 0);
    let holds = fixture.store().erasure().holds(scope()).await.unwrap();
    assert_eq!((holds[0].reference.as_deref(), holds[0].lifted_at), (case, None));

    assert!(fixture.store().erasure().lift_hold(scope(), hold, by).await.unwrap());
    assert!(!fixture.store().erasure().lift_hold(scope(), hold, by).await.unwrap(), "once");
    assert_eq!(status_count(&fixture.after(1, JobName::Retention).await, "source_dropped"), 1);
    assert_eq!(purged().await, 1);
    assert_eq!(
        count(fixture.store(), "SELECT count(*) FROM action_audit WHERE action LIKE 'hold%' AND outcome = 'done'")
            .await,
        2
    );
    let now: DateTime<Utc> = anamnesis_core::clock::Clock::now(fixture.clinic.time.as_ref());
    assert!(fixture.store().erasure().holds(scope()).await.unwrap()[0].lifted_at.unwrap() < now);
}

async fn the_patients_tier_comes_before_the_organisations_and_another_one_is_heeded_at_once(engine: TestEngine) {
    let fixture = with_document(engine).await;
    fixture.tier("standard", "2026-06-21T10:00:00Z").await;
    let org = scope().org();
    assert_eq!(
        fixture.store().organization().set_organization(org, &dropping(Some("ES"))).await.unwrap(),
        OrganizationUpdate::Applied
    );
    let report = fixture.after(60, JobName::Retention).await;
    assert_eq!(
        (status_count(&report, "due_dates_set"), fixture.text().await.as_str()),
        (1, TEXT),
        "the patient wants it kept"
    );
    assert_eq!(fixture.after(1, JobName::Retention).await.examined, 0, "nothing is due: nothing is looked at");
    fixture.tier("drop_source", "2026-06-22T10:00:00Z").await;
    assert_eq!(status_count(&fixture.after(1, JobName::Retention).await, "source_dropped"), 1);

    // Where the patient said nothing, the organisation's word holds.
    let other = with_document(engine).await;
    other.store().organization().set_organization(org, &dropping(None)).await.unwrap();
    assert_eq!(status_count(&other.after(2, JobName::Retention).await, "source_dropped"), 1);
}

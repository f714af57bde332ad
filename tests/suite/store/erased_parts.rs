//! The erasure of a document or a memory removes everything with its words: summaries, answers, imported records,
//! preferences. On each engine.

use std::sync::Arc;

use anamnesis_config::redaction::RedactionConfig;
use anamnesis_core::ids::{DocumentId, MemoryId, OrgId};
use anamnesis_core::memory::State;
use anamnesis_jobs::JobName;
use anamnesis_jobs::policy::Policies;
use anamnesis_jobs::scheduler::JobScheduler;
use anamnesis_pipeline::erasure::{ErasureOutcome, erase};
use anamnesis_pipeline::{ImportOutcome, Importer, Redactors};
use anamnesis_sql::{Access, Sql};
use anamnesis_store::Store;
use anamnesis_store::erasure::{ErasureReceipt, ErasureRequest, ErasureSubject};
use anamnesis_store::read::{MemoryFilter, ReadInstant, TimeWindow};
use chrono::TimeDelta;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::fixture::StoreFixture;
use crate::support::{ORG, PATIENT, TestEngine, count, document, event, on_every_engine, rows, scope};

on_every_engine!(
    a_summary_is_removed_with_its_memory_and_rewritten_without_it,
    an_account_goes_with_a_document_and_is_written_anew_of_the_others,
    an_account_itself_is_not_erased_since_it_would_be_written_again,
    answers_imported_records_and_preferences_go_with_what_they_repeat,
    a_text_in_the_archive_is_redacted_again_too,
);

const TEXT: &str = "Diagnosticada de endometriosis. Refiere vértigo. Toma sertralina 50 mg al día.";
const OTHER: &str = "Refiere cefalea. Toma omeprazol 20 mg al día.";

fn note(id: u128, day: u32, text: &str) -> Value {
    document(id, 1, &format!("2026-06-{day:02}T10:00:00Z"), text)
}

/// Notes of one week, and the accounts of them.
async fn summarized(engine: TestEngine) -> StoreFixture {
    let fixture = StoreFixture::on(engine).await;
    fixture.ingest(&[note(1, 15, TEXT), note(2, 16, OTHER)]).await;
    fixture.after(1, JobName::Summaries).await;
    fixture
}

/// Every word that is held of the patient, in memories, texts, preferences and imported records.
async fn words(store: &Store) -> String {
    let all = MemoryFilter { states: State::ALL.to_vec(), ..MemoryFilter::default() };
    let memories = store.read().memories(scope(), &all, ReadInstant::Now).await.unwrap();
    let memories: Vec<_> = memories.into_iter().map(|one| (one.words, one.evidence.map(|quote| quote.text))).collect();
    let texts = store.read().documents(scope(), TimeWindow::default(), usize::MAX, ReadInstant::Now).await.unwrap();
    let texts: Vec<String> = texts.into_iter().map(|one| one.content.text).collect();
    let preferences = store.read().preferences(scope(), ReadInstant::Now).await.unwrap();
    let records: Vec<_> =
        store.intake().legacy_records(scope()).await.unwrap().into_iter().map(|(_, record)| record).collect();
    json!([memories, texts, preferences, records]).to_string().to_lowercase()
}

async fn erased(store: &Store, subject: ErasureSubject) -> ErasureReceipt {
    let request = ErasureRequest {
        scope: scope(),
        id: Uuid::from_u128(0xe1),
        subject,
        requested_by: Uuid::from_u128(7),
        requested_at: "2026-07-02T12:00:00Z".parse().unwrap(),
    };
    match erase(store, &request).await.unwrap() {
        ErasureOutcome::Erased(receipt) => receipt,
        other => panic!("{other:?}"),
    }
}

async fn memory_of(store: &Store, concept: &str) -> MemoryId {
    let held = store.read().memories(scope(), &MemoryFilter::default(), ReadInstant::Now).await.unwrap();
    let is = |concept: &str, words: &anamnesis_store::records::FindingWords| {
        words.concept.contains(concept) && words.account.is_none()
    };
    held.iter().find(|one| one.words.as_ref().is_some_and(|words| is(concept, words))).unwrap().id
}

async fn accounts(store: &Store) -> i64 {
    count(store, "SELECT count(*) FROM summary").await
}

async fn a_summary_is_removed_with_its_memory_and_rewritten_without_it(engine: TestEngine) {
    let fixture = summarized(engine).await;
    let store = fixture.store();
    let before = accounts(store).await;
    assert!(before >= 3, "of two documents and their week: {before}");
    assert!(words(store).await.matches("endometriosis").count() > 3, "accounts repeat it");
    let receipt = erased(store, ErasureSubject::Memory(memory_of(store, "endometriosis").await)).await;
    let held = words(store).await;
    assert!(!held.contains("endometriosis"), "{held}");
    assert!(held.contains("sertralina") && held.contains("omeprazol"), "{held}");
    let waiting = "SELECT count(*) FROM passage WHERE embedding_pending = 1";
    let stale =
        "SELECT count(*) FROM embedding AS e JOIN passage AS p ON p.id = e.passage_id WHERE p.embedding_pending = 1";
    assert!(count(store, waiting).await > 0, "the passage has other words now");
    assert_eq!(count(store, stale).await, 0, "and its vector was of those that went");
    assert!(receipt.counts["summary"] >= 2 && receipt.counts["memory"] >= 1, "{receipt:?}");
    assert!(accounts(store).await < before);
    // The job writes them again: of the document, and of its week.
    fixture.after(1, JobName::Summaries).await;
    assert_eq!(accounts(store).await, before);
    let held = words(store).await;
    assert!(!held.contains("endometriosis") && held.contains("omeprazol"), "{held}");
}

async fn an_account_goes_with_a_document_and_is_written_anew_of_the_others(engine: TestEngine) {
    let fixture = summarized(engine).await;
    fixture.ingest(&[note(3, 17, "Refiere insomnio. Toma hierro 80 mg al día.")]).await;
    fixture.after(1, JobName::Summaries).await;
    let store = fixture.store();
    // Delivered or not: an event that names it is a row about it.
    let mut tx = store.db().begin(Access::Organization(OrgId(ORG))).await.unwrap();
    tx.execute(&Sql::new("UPDATE outbox SET published_at = created_at"), Vec::new()).await.unwrap();
    tx.commit().await.unwrap();
    let delivered = count(store, "SELECT count(*) FROM outbox WHERE published_at IS NOT NULL").await;
    let receipt = erased(store, ErasureSubject::Document(DocumentId(Uuid::from_u128(1)))).await;
    assert!(count(store, "SELECT count(*) FROM outbox WHERE published_at IS NOT NULL").await < delivered);
    for table in ["documents", "extracted_findings", "passage", "embedding", "memory", "summary"] {
        assert!(receipt.counts[table] > 0, "{table}: {receipt:?}");
    }
    let held = words(store).await;
    assert!(!held.contains("endometriosis") && !held.contains("vértigo"), "{held}");
    let week = "SELECT count(*) FROM summary WHERE period = 'week'";
    assert_eq!(count(store, week).await, 0);
    fixture.after(1, JobName::Summaries).await;
    assert_eq!(count(store, week).await, 1, "of the two that are left");
    assert!(!words(store).await.contains("endometriosis"));
}

async fn an_account_itself_is_not_erased_since_it_would_be_written_again(engine: TestEngine) {
    let fixture = summarized(engine).await;
    let store = fixture.store();
    let id = rows(store, "SELECT id FROM summary WHERE period = 'week'").await[0].uuid(0).unwrap();
    let request = ErasureRequest {
        scope: scope(),
        id: Uuid::from_u128(0xe1),
        subject: ErasureSubject::Document(DocumentId(id)),
        requested_by: Uuid::from_u128(7),
        requested_at: "2026-07-02T12:00:00Z".parse().unwrap(),
    };
    assert_eq!(erase(store, &request).await.unwrap(), ErasureOutcome::Derived);
    assert!(store.erasure().erasures(scope()).await.unwrap().is_empty(), "no receipt of what was not erased");
}

async fn answers_imported_records_and_preferences_go_with_what_they_repeat(engine: TestEngine) {
    let fixture = summarized(engine).await;
    let store = fixture.store();
    let asked = json!({"organization_id": ORG, "patient_id": PATIENT, "command": "export",
        "actor": {"id": PATIENT, "role": "patient"}, "issued_at": "2026-07-01T12:00:00Z"});
    let profile = json!({"organization_id": ORG, "patient_id": PATIENT, "actor": PATIENT, "recorded_at": "2026-06-20T10:00:00Z",
        "preferences": {"tema": "endometriosis", "hora": "por la tarde"}});
    fixture
        .ingest(&[
            event("r-1", "anamnesis.memory.command.v1", &asked),
            event("p-1", "anamnesis.profile.updated.v1", &profile),
        ])
        .await;
    let record = |id: &str, text: &str| {
        json!({"base_memory": {"memory_id": id, "memory": text, "topics": ["salud"],
            "last_updated": "2025-11-06T10:00:00"}, "confidence": 0.9, "is_proxy": false, "proxy_agent": null})
    };
    let importer = Importer { by: PATIENT, undated: "2026-06-01T10:00:00Z".parse().unwrap() };
    let records = [record("m1", "Diagnosticada de endometriosis."), record("m2", "Le gusta el mar.")];
    assert_eq!(
        fixture.pipeline.import(scope(), &records, importer).await.unwrap(),
        [ImportOutcome::Stored, ImportOutcome::Stored]
    );
    assert_eq!(count(store, "SELECT count(*) FROM rights_answer").await, 1);
    let receipt = erased(store, ErasureSubject::Memory(memory_of(store, "endometriosis").await)).await;
    let held = words(store).await;
    assert!(!held.contains("diagnosticada de endometriosis"), "{held}");
    assert!(held.contains("le gusta el mar") && held.contains("por la tarde"), "{held}");
    assert_eq!(count(store, "SELECT count(*) FROM rights_answer").await, 0, "an answer is a copy of all");
    assert_eq!((receipt.counts["legacy_record"], receipt.counts["rights_answer"]), (1, 1), "{receipt:?}");
}

async fn a_text_in_the_archive_is_redacted_again_too(engine: TestEngine) {
    let fixture = StoreFixture::on(engine).await;
    let text = "Su hermana la acompaña desde Francia. Toma sertralina 50 mg al día.";
    fixture.ingest(&[note(1, 15, text)]).await;
    let tier = json!({"organization_id": ORG, "patient_id": PATIENT, "actor": PATIENT,
        "recorded_at": "2026-06-21T10:00:00Z", "privacy_tier": "cold archive"});
    fixture.ingest(&[event("tier", "anamnesis.profile.updated.v1", &tier)]).await;
    fixture.after(370, JobName::Retention).await;
    let archived = async || fixture.store().erasure().archived(scope()).await.unwrap().remove(0).content.text;
    assert!(archived().await.contains("hermana"));
    let config: RedactionConfig =
        toml::from_str(&format!("[[organizations]]\norganization = \"{ORG}\"\npolicy = \"strict\"")).unwrap();
    let scheduler =
        JobScheduler::over(fixture.store(), Policies::embedded().unwrap(), Arc::new(()), CancellationToken::new());
    let scheduler = scheduler.redacting(Redactors::load(&config).unwrap());
    fixture.clinic.time.advance(TimeDelta::days(1));
    scheduler.round().await.unwrap();
    let text = archived().await;
    assert!(!text.contains("hermana") && text.contains("sertralina"), "{text}");
}

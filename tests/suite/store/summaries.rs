//! Summaries on each engine, on a server as the role of the jobs: made only from facts, found like any other text,
//! once.

use anamnesis_core::memory::{Class, Kind, PermittedUse};
use anamnesis_core::provenance::{SourceType, Trust};
use anamnesis_core::summary::SummaryPeriod;
use anamnesis_jobs::JobName;
use anamnesis_jobs::driver::JobReport;
use anamnesis_search as recall;
use anamnesis_store::read::{DocumentFilter, LineageDirection, Memory, MemoryFilter, ReadInstant};
use serde_json::{Value, json};

use super::fixture::StoreFixture;
use crate::support::{ORG, PATIENT, TestEngine, count, document, event, on_every_engine, scope};

on_every_engine!(
    documents_become_episodes_conversations_weeks_and_quarters_that_name_their_captures,
    an_account_grows_with_what_comes_in_and_forgets_what_is_forgotten,
    what_lasts_half_a_year_becomes_a_value,
);

impl StoreFixture {
    async fn formed(&self) -> Vec<Memory> {
        let filter = MemoryFilter { classes: vec![Class::Pattern], ..MemoryFilter::default() };
        self.store().read().memories(scope(), &filter, ReadInstant::Now).await.unwrap()
    }

    async fn summary(&self, stretch: SummaryPeriod) -> Option<Memory> {
        let of =
            |m: &Memory| m.words.as_ref().and_then(|w| w.account.as_ref()).is_some_and(|a| a.period == Some(stretch));
        self.formed().await.into_iter().find(of)
    }
}

fn status_counts(report: &JobReport) -> [u64; 5] {
    ["episodes", "sessions", "weeks", "quarters", "withdrawn"].map(|name| report.status[name].as_u64().unwrap())
}

fn chat(id: u128, at: &str, text: &str) -> Value {
    let mut chat = document(id, 1, at, text);
    chat["document_type"] = json!("chat_message");
    chat["session_key"] = json!("session-1");
    chat
}

fn text(memory: &Memory) -> String {
    memory.words.as_ref().unwrap().account.as_ref().unwrap().text.clone()
}

/// Two documents of one week of the last quarter, and a conversation.
fn history() -> Vec<Value> {
    vec![
        document(1, 1, "2026-06-15T10:00:00Z", "Refiere insomnio y cefalea. Toma sertralina 50 mg al día."),
        document(2, 1, "2026-06-17T10:00:00Z", "Refiere insomnio. Niega fiebre."),
        chat(3, "2026-06-30T20:00:00Z", "Tengo mucha ansiedad."),
        chat(4, "2026-06-30T20:05:00Z", "Tengo náuseas."),
    ]
}

async fn documents_become_episodes_conversations_weeks_and_quarters_that_name_their_captures(engine: TestEngine) {
    let fixture = StoreFixture::on(engine).await;
    fixture.ingest(&history()).await;
    let report = fixture.after(1, JobName::Summaries).await;
    let [episodes, sessions, weeks, quarters, withdrawn] = status_counts(&report);
    assert_eq!((episodes, sessions, quarters, withdrawn), (2, 1, 1, 0), "{report:?}");
    assert_eq!(weeks, 1, "the second week is not over");

    let episode = fixture.summary(SummaryPeriod::Document).await.unwrap();
    assert_eq!(
        (episode.kind, episode.source_type, episode.trust),
        (Kind::Episode, SourceType::Consolidation, Trust::T4)
    );
    assert_eq!(episode.status.use_, PermittedUse::Hypothesis);
    let quote = episode.evidence.as_ref().unwrap();
    assert!(
        ["Refiere insomnio y cefalea.", "Refiere insomnio.", "Niega fiebre."]
            .iter()
            .any(|said| quote.text.contains(said)),
        "{quote:?}"
    );

    let week = fixture.summary(SummaryPeriod::Week).await.unwrap();
    let words = text(&week);
    assert!(words.starts_with("Resumen de la semana.") && words.contains("insomnio (2 veces)"), "{words}");
    assert!(words.contains("Niega: fiebre") && words.contains("sertralina"), "{words}");
    let lineage = recall::trace(fixture.store(), scope(), week.id, LineageDirection::Up).await.unwrap().unwrap();
    let captures = lineage.children.iter().filter(|raw| raw.kind == "raw" && raw.children[0].kind == "document");
    assert_eq!(captures.count(), 2, "it names what it was made from");

    // Found like any other text, and never as more than a hypothesis.
    let mut snapshot = fixture.store().read().snapshot(scope()).await.unwrap();
    let passages = snapshot.candidates(1, None, None, &DocumentFilter::default(), ReadInstant::Now).await.unwrap().1;
    drop(snapshot);
    let own = passages.iter().filter(|passage| Some(passage.document) == week.document_id).count();
    assert!(own > 0, "it is indexed");
    let held = fixture.store().read().revisions(scope(), &[week.document_id.unwrap()]).await.unwrap();
    assert_eq!((held[0].content.text.as_str(), held[0].document_type.code()), (words.as_str(), "analysis"));

    // No new documents: no patient is read, and no summary is written again.
    assert_eq!(status_counts(&fixture.after(1, JobName::Summaries).await), [0; 5]);
    // The second week is over.
    assert_eq!(status_counts(&fixture.after(5, JobName::Summaries).await)[2], 1);
}

async fn an_account_grows_with_what_comes_in_and_forgets_what_is_forgotten(engine: TestEngine) {
    let fixture = StoreFixture::on(engine).await;
    fixture.ingest(&history()).await;
    fixture.after(1, JobName::Summaries).await;
    let before = fixture.summary(SummaryPeriod::Week).await.unwrap();
    fixture.ingest(&[document(5, 1, "2026-06-18T10:00:00Z", "Toma litio 400 mg al día. Refiere temblor.")]).await;
    assert_eq!(status_counts(&fixture.after(1, JobName::Summaries).await), [1, 0, 1, 1, 0]);
    let after = fixture.summary(SummaryPeriod::Week).await.unwrap();
    assert_eq!(after.id, before.id, "the same memory says more");
    assert!(text(&after).contains("litio 400 mg"), "{}", text(&after));

    let all = fixture.store().read().memories(scope(), &MemoryFilter::default(), ReadInstant::Now).await.unwrap();
    let lithium = all.iter().find(|m| m.words.as_ref().is_some_and(|w| w.mention.contains("litio"))).unwrap();
    let now = anamnesis_core::clock::Clock::now(fixture.clinic.time.as_ref());
    let forget = json!({"organization_id": ORG, "patient_id": PATIENT, "command": "forget", "memory_ids": [lithium.id],
        "actor": {"id": PATIENT, "role": "patient"}, "issued_at": now});
    fixture.ingest(&[event("f", "anamnesis.memory.command.v1", &forget)]).await;
    let report = fixture.after(1, JobName::Summaries).await;
    assert_eq!(status_counts(&report)[2], 1, "{report:?}");
    assert!(
        !text(&fixture.summary(SummaryPeriod::Week).await.unwrap()).contains("litio"),
        "what was forgotten is told no more"
    );
    let held = fixture.store().read().revisions(scope(), &[after.document_id.unwrap()]).await.unwrap();
    assert!(held.iter().all(|revision| !revision.content.text.contains("litio")), "in no revision");
    let links = count(fixture.store(), "SELECT count(*) FROM summary").await;
    assert_eq!(links, i64::try_from(fixture.formed().await.iter().filter(|m| m.kind != Kind::Belief).count()).unwrap());
}

async fn what_lasts_half_a_year_becomes_a_value(engine: TestEngine) {
    let fixture = StoreFixture::on(engine).await;
    let more = ["Camina.", "Lee.", "Descansa.", "Trabaja.", "Cocina."];
    let said = |n: usize| format!("Prefiere las sesiones por la tarde. {}", more[n - 1]);
    let dates = ["2025-12-01", "2026-02-01", "2026-03-01", "2026-04-01", "2026-06-20"];
    let reported: Vec<Value> =
        dates.iter().zip(1..).map(|(date, n)| document(n as u128, 1, &format!("{date}T10:00:00Z"), &said(n))).collect();
    fixture.ingest(&reported[..4]).await;
    let report = fixture.after(1, JobName::Consolidation).await;
    assert_eq!((report.changed, report.status["preferences"].as_u64()), (4, Some(4)), "four months are no value");
    fixture.ingest(&reported[4..]).await;
    let report = fixture.after(1, JobName::Consolidation).await;
    assert_eq!((report.status["values"].as_u64(), report.status["beliefs"].as_u64()), (Some(1), Some(0)), "{report:?}");
    let value = fixture.formed().await.into_iter().find(|m| m.kind == Kind::Value).unwrap();
    assert_eq!(value.status.use_, PermittedUse::Hypothesis);
    assert!(value.confidence <= 0.8);
    let id = value.id.0;
    let captures = fixture.store().read().links(scope(), &[id], LineageDirection::Up).await.unwrap();
    assert_eq!(captures.iter().filter(|edge| edge.relation == "derived_from").count(), 5);
}

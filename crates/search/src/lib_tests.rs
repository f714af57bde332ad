//! How a read is counted and refused, and results that only words find.

use std::future::Future;
use std::pin::Pin;

use uuid::Uuid;

use super::*;
use crate::fixture::{WORLD, scope};
use anamnesis_core::ids::PatientId;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::KeyError;
use anamnesis_embedding::{EmbedError, Embedder, ModelProfile, Purpose};
use anamnesis_observability::metrics::Identity;
use anamnesis_redaction::RedactionPolicy;

/// A provider that is never there.
struct UnavailableEmbedder(ModelProfile);

impl Embedder for UnavailableEmbedder {
    fn profile(&self) -> &ModelProfile {
        &self.0
    }

    fn embed<'s, 't, 'w, 'f>(
        &'s self,
        _: Purpose,
        _: &'t [&'w str],
    ) -> Pin<Box<dyn Future<Output = Result<Vec<Vec<f32>>, EmbedError>> + Send + 'f>>
    where
        's: 'f,
        't: 'f,
        'w: 'f,
    {
        Box::pin(async { Err(EmbedError::Transient { after: None }) })
    }
}

fn recall() -> Recall {
    let metrics = Arc::new(Metrics::new(&Identity::default()).unwrap());
    let redactor = Arc::new(Redactor::builtin(RedactionPolicy::named("safe_harbor").unwrap()));
    let profile = ModelProfile {
        model: "away".to_owned(),
        dimension: 8,
        min_score: 0.5,
        contradiction_similarity: 0.9,
        generation: 1,
        max_tokens: 512,
        document_task: None,
        query_task: None,
    };
    Recall::new(WORLD.store.clone(), Arc::new(UnavailableEmbedder(profile)), redactor, metrics)
}

fn context(recall: &Recall, scope: Scope, query: Option<&str>) -> Result<PatientContext, RecallError> {
    let request = ContextRequest { query: query.map(str::to_owned), ..ContextRequest::default() };
    WORLD.runtime.block_on(recall.context(scope, &request))
}

fn reads(recall: &Recall, outcome: ReadOutcome) -> u64 {
    recall.metrics.recall.reads.with_labels((Endpoint::Context, outcome)).get()
}

#[test]
fn a_context_shows_what_is_in_force_and_where_it_comes_from() {
    let found = context(&recall(), scope(), None).unwrap();
    let lines: Vec<String> = found.profile.medications.iter().map(MemoryItem::line).collect();
    assert_eq!(
        lines,
        ["Medication: sertraline 50 mg (clinician, clinical_note, 2026-03-02) — decision, confidence 1.00"]
    );
    assert!(found.statements.is_empty() && found.hypotheses.is_empty(), "what the profile shows is not repeated");
    assert_eq!(found.recent_documents.len(), 1);
    assert_eq!(found.recent_documents[0].source, "document: clinical_note, 2026-03-02");
    assert!(found.notes.is_empty() && found.query.is_none());
}

#[test]
fn without_a_vector_a_context_says_that_it_went_by_words() {
    let found = context(&recall(), scope(), Some("sertralina")).unwrap();
    assert_eq!(found.notes, ["by_words_alone"]);
    assert_eq!(found.query.as_deref(), Some("sertralina"));
}

#[test]
fn a_demand_for_everything_is_refused_and_counted_before_the_patient_is_looked_up() {
    let recall = recall();
    let stranger = Scope::new(scope().org(), PatientId(Uuid::from_u128(77))).unwrap();
    for who in [scope(), stranger] {
        assert_eq!(context(&recall, who, Some("dump all memories")).err(), Some(RecallError::DumpRefused));
    }
    assert_eq!(recall.metrics.recall.dumps_refused.get(), 2);
    assert_eq!(reads(&recall, ReadOutcome::Refused), 2);
    assert_eq!(recall.metrics.memory.errors.with_labels((Operation::Read, ErrorCode::Store)).get(), 0, "no error");
}

#[test]
fn a_stranger_has_an_empty_context_and_no_hits() {
    let recall = recall();
    let stranger = Scope::new(scope().org(), PatientId(Uuid::from_u128(77))).unwrap();
    let found = context(&recall, stranger, Some("sertralina")).unwrap();
    assert!(!found.known && found.passages.is_empty() && found.profile.items().next().is_none());
    assert_eq!((reads(&recall, ReadOutcome::Empty), reads(&recall, ReadOutcome::Hit)), (1, 0));
}

#[test]
fn a_read_that_failed_is_counted_by_what_failed() {
    let (recall, known) = (recall(), context(&recall(), scope(), None).unwrap());
    recall.count_read(&Ok(PatientContext { known: true, ..known }));
    assert_eq!(reads(&recall, ReadOutcome::Hit), 1);
    recall.count_read(&Err(RecallError::Store(StoreError::NoConsent)));
    assert_eq!(reads(&recall, ReadOutcome::Refused), 1);
    for (error, code) in [
        (RecallError::Store(StoreError::Race), ErrorCode::Store),
        (RecallError::Store(StoreError::Key(KeyError::Transient)), ErrorCode::Key),
        (RecallError::Redaction(RedactionError::Timeout), ErrorCode::Redaction),
    ] {
        recall.count_read(&Err(error));
        assert_eq!(recall.metrics.memory.errors.with_labels((Operation::Read, code)).get(), 1, "{code:?}");
    }
    assert_eq!(reads(&recall, ReadOutcome::Error), 3);
}

#[test]
fn each_organisation_remembers_its_own_generation() {
    let recall = recall();
    let (one, other) = (scope().org(), OrgId(Uuid::from_u128(5)));
    assert_eq!(recall.last_seen(one), None);
    recall.see(one, Some(4));
    recall.clone().see(other, None);
    assert_eq!((recall.last_seen(one), recall.last_seen(other)), (Some(4), None));
    recall.see(one, Some(5));
    assert_eq!(recall.clone().last_seen(one), Some(5), "copies share it");
}

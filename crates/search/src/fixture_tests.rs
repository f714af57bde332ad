//! One patient with one document and one memory, read from an in-memory store. The unit tests change copies of them.

use std::sync::{Arc, LazyLock};

use chrono::{DateTime, Utc};
use uuid::Uuid;

use anamnesis_core::clock::{Clock, Entropy, ManualClock, SeededEntropy};
use anamnesis_core::confidence::ConfidenceBasis;
use anamnesis_core::document::DocumentType;
use anamnesis_core::finding::{EntityType, Epistemic, Experiencer, Polarity, Temporality};
use anamnesis_core::ids::{DocumentId, MemoryId, OrgId, PatientId};
use anamnesis_core::memory::{Class, Kind, SetBy};
use anamnesis_core::projection::{Assertion, Details};
use anamnesis_core::provenance::{SourceType, Trust};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::{Keyring, PatientKeys};
use anamnesis_sql::{Database, Location};
use anamnesis_store::Store;
use anamnesis_store::read::{ClinicalRow, Memory, MemoryFilter, ReadInstant, StoredDocument};
use anamnesis_store::records::{
    DocumentContent, Evidence, FindingWords, InboxEntry, MessageAct, NewDocument, NewFinding, OrgBatch, finding_id,
};
use anamnesis_text::{Language, Span};

pub(crate) const TEXT: &str = "Toma sertralina 50 mg cada mañana. Duerme mejor.";
pub(crate) const DOCUMENT: DocumentId = DocumentId(Uuid::from_u128(3));

/// All that is read once.
pub(crate) struct SearchFixture {
    pub(crate) runtime: tokio::runtime::Runtime,
    pub(crate) store: Store,
    memory: Memory,
    pub(crate) raw: Memory,
    pub(crate) document: StoredDocument,
}

pub(crate) static WORLD: LazyLock<SearchFixture> = LazyLock::new(|| {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (store, all, mut documents) = runtime.block_on(async {
        let store = store().await;
        let keys = store.key_binding().ensure_keys(&[scope()]).await.unwrap().known;
        store.intake().register(scope().org()).await.unwrap();
        let message_type = "anamnesis.document.submitted.v1";
        let batch = OrgBatch {
            inbox: vec![InboxEntry {
                message: [1; 32],
                body: [1; 32],
                scope: scope(),
                message_type,
                done: MessageAct::default(),
            }],
            documents: vec![note()],
            findings: vec![finding()],
            ..OrgBatch::default()
        };
        store.intake().commit(scope().org(), &batch, &keys).await.unwrap();
        let all = store.read().memories(scope(), &MemoryFilter::default(), ReadInstant::Now).await.unwrap();
        let documents = store.read().revisions(scope(), &[DOCUMENT]).await.unwrap();
        (store, all, documents)
    });
    let (mut raw, mut rest): (Vec<Memory>, Vec<Memory>) = all.into_iter().partition(|m| m.kind == Kind::Raw);
    SearchFixture { runtime, store, memory: rest.remove(0), raw: raw.remove(0), document: documents.remove(0) }
});

pub(crate) fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

pub(crate) fn scope() -> Scope {
    Scope::new(OrgId(Uuid::from_u128(1)), PatientId(Uuid::from_u128(2))).unwrap()
}

pub(crate) fn keys() -> PatientKeys {
    PatientKeys::derive(scope(), &[7; 32])
}

async fn store() -> Store {
    let clock: Arc<dyn Clock> = Arc::new(ManualClock::at(at("2026-03-02T12:00:00Z")));
    let entropy: Arc<dyn Entropy> = Arc::new(SeededEntropy::new(1));
    let keys = Keyring::in_memory(Arc::clone(&clock), Arc::clone(&entropy)).await.unwrap();
    Store::new(Database::open(&Location::Memory).await.unwrap(), Arc::new(keys), clock, entropy)
}

fn note() -> NewDocument {
    NewDocument {
        scope: scope(),
        id: DOCUMENT,
        revision: 1,
        document_type: DocumentType::ClinicalNote,
        occurred_at: at("2026-03-02T10:00:00Z"),
        language: Language::Spanish,
        therapist_id: None,
        signed_by: None,
        ends_at: None,
        trust: Trust::T1,
        sentiment: None,
        risk_level: None,
        body_hash: [1; 32],
        content: DocumentContent::from_text(TEXT),
        redaction_policy: "safe_harbor/1".to_owned(),
        extractor_version: "rules".to_owned(),
        passages: Vec::new(),
        risks: Vec::new(),
    }
}

fn finding() -> NewFinding {
    let said = at("2026-03-02T10:00:00Z");
    let quote = "Toma sertralina 50 mg cada mañana.";
    let span = Span::new(0, quote.len());
    let dose = Some("50 mg".to_owned());
    let words = FindingWords { concept: "sertraline".into(), mention: "sertralina".into(), dose, ..Default::default() };
    let assertion = Assertion {
        id: finding_id(scope(), DOCUMENT.0, 1, b"medication"),
        source: DOCUMENT.0,
        text: None,
        live: true,
        attribute: [2; 32],
        entity: EntityType::Medication,
        kind: Kind::Note,
        class: Class::from_finding(EntityType::Medication),
        polarity: Polarity::Affirmed,
        experiencer: Experiencer::Patient,
        details: Details::default(),
        ending: false,
        past: false,
        blanket: false,
        never: false,
        set_by: SetBy::Clinician,
        document_type: Some(DocumentType::ClinicalNote),
        source_type: SourceType::DirectExperience,
        epistemic: Epistemic::Explicit,
        trust: Trust::T1,
        is_proxy: false,
        extraction_confidence: 0.95,
        initial_confidence: 1.0,
        basis: ConfidenceBasis::Default,
        asserted_at: said,
        valid_from: said,
        expires_at: None,
        ends_at: None,
        recorded_at: said,
        tombstone: None,
    };
    NewFinding {
        scope: scope(),
        group: [2; 32],
        assertion,
        revision: 1,
        uncertain: false,
        temporality: Temporality::Recent,
        words,
        evidence: Some(Evidence { quote: quote.to_owned(), span }),
        extractor_version: "rules".to_owned(),
    }
}

/// An active "Toma sertralina 50 mg" of a clinician in a note, with these changes.
pub(crate) fn memory(change: impl FnOnce(&mut Memory)) -> Memory {
    let mut memory = WORLD.memory.clone();
    change(&mut memory);
    memory
}

/// The same about something else.
pub(crate) fn about(entity: EntityType, concept: &str, change: impl FnOnce(&mut Memory)) -> Memory {
    memory(|m| {
        m.entity = Some(entity);
        m.words = Some(FindingWords { concept: concept.to_owned(), mention: concept.to_owned(), ..Default::default() });
        change(m);
    })
}

/// A row of the clinical store.
pub(crate) fn row(entity: EntityType, concept: &str, change: impl FnOnce(&mut Memory)) -> ClinicalRow {
    ClinicalRow { entity, memory: about(entity, concept, change), status: "active", at: None }
}

pub(crate) fn id(n: u128) -> MemoryId {
    MemoryId(Uuid::from_u128(n))
}

//! Stored data can be read: within their scope, at an instant, with their source.

use std::sync::Arc;

use anamnesis_config::embedding::ModelProfile;
use anamnesis_core::clock::{Clock, ManualClock, SeededEntropy};
use anamnesis_core::confidence::ConfidenceBasis;
use anamnesis_core::document::DocumentType;
use anamnesis_core::fact::FactParts;
use anamnesis_core::finding::{EntityType, Epistemic, Experiencer, Polarity, Temporality};
use anamnesis_core::ids::{DocumentId, MemoryId, OrgId, PassageId, PatientId, derive};
use anamnesis_core::memory::{Class, Kind, PermittedUse, SetBy, State};
use anamnesis_core::projection::{Assertion, Details};
use anamnesis_core::provenance::{SourceType, Trust};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::Keyring;
use anamnesis_embedding::{EmbedError, Embedder, Purpose};
use anamnesis_observability::metrics::{Identity, Metrics};
use anamnesis_redaction::{RedactionPolicy, Redactor};
use anamnesis_search::{ContextRequest, Recall, RecallError, SearchRequest, trace};
use anamnesis_sql::Database;
use anamnesis_store::read::{LineageDirection, MemoryFilter, ReadInstant, TimeWindow};
use anamnesis_store::records::{
    DocumentContent, Evidence, FindingWords, InboxEntry, MessageAct, NewDocument, NewFinding, NewPassage, OrgBatch,
    finding_id,
};
use anamnesis_store::{Store, StoreError};
use anamnesis_text::{Language, Span, Speaker, stems};
use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use uuid::Uuid;

use super::support::{StorePlace, TestEngine, on_every_engine};

const SAID: &str = "2026-03-02T10:00:00Z";

fn utc(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn scope(org: u128, patient: u128) -> Scope {
    Scope::new(OrgId(Uuid::from_u128(org)), PatientId(Uuid::from_u128(patient))).unwrap()
}

/// Three directions: sleep, medicine, everything else. Records its inputs.
struct DirectionModel {
    profile: ModelProfile,
    asked: std::sync::Mutex<Vec<String>>,
    fails: bool,
}

fn direction(text: &str) -> Vec<f32> {
    let text = text.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let at = if has(&["duerm", "sueño", "sleep"]) {
        0
    } else if has(&["sertralina", "medic", "pastilla", "drug"]) {
        1
    } else {
        2
    };
    (0..3).map(|n| if n == at { 1.0 } else { 0.0 }).collect()
}

#[async_trait]
impl Embedder for DirectionModel {
    fn profile(&self) -> &ModelProfile {
        &self.profile
    }

    async fn embed(&self, _purpose: Purpose, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.asked.lock().unwrap().extend(texts.iter().map(|t| (*t).to_owned()));
        if self.fails { Err(EmbedError::Misconfigured) } else { Ok(texts.iter().map(|t| direction(t)).collect()) }
    }
}

fn compass(fails: bool) -> Arc<DirectionModel> {
    let profile = ModelProfile {
        model: "compass".into(),
        dimension: 3,
        min_score: 0.7,
        contradiction_similarity: 0.6,
        generation: 1,
        max_tokens: 512,
        document_task: None,
        query_task: None,
    };
    Arc::new(DirectionModel { profile, asked: Default::default(), fails })
}

on_every_engine!(
    rows_of_another_patient_or_organisation_never_appear,
    an_erased_patient_is_distinguished_from_an_unknown_one,
    an_unconfirmed_symptom_is_history_on_read_though_no_job_ran,
    lineage_leads_from_a_memory_to_its_document_and_back,
    a_search_finds_by_meaning_and_by_word_within_its_window,
    without_a_vector_the_words_still_find_and_the_answer_says_so,
    a_query_is_redacted_before_its_first_use_and_a_dump_is_refused,
    a_statement_of_absence_is_never_shown_with_an_active_fact,
);

struct RecallFixture {
    store: Store,
    clock: Arc<ManualClock>,
    /// Held as long as the store is used.
    _place: StorePlace,
}

impl RecallFixture {
    async fn on(engine: TestEngine) -> Self {
        let clock = Arc::new(ManualClock::at(utc(SAID) + TimeDelta::hours(1)));
        let entropy = Arc::new(SeededEntropy::new(7));
        let keys = Keyring::in_memory(clock.clone(), entropy.clone()).await.unwrap();
        let place = StorePlace::on(engine).await;
        let database = Database::open(&place.location()).await.unwrap();
        Self { store: Store::new(database, Arc::new(keys), clock.clone(), entropy), clock, _place: place }
    }

    fn recall(&self, embedder: Arc<DirectionModel>) -> Recall {
        let redactor = Arc::new(Redactor::builtin(RedactionPolicy::default()));
        let metrics = Arc::new(Metrics::new(&Identity::default()).unwrap());
        Recall::new(self.store.clone(), embedder, redactor, metrics)
    }

    /// One session with a medicine and a symptom, said by the patient.
    async fn ingest(&self, whose: Scope, document: u128, at: DateTime<Utc>, medicine: &str) {
        self.ingest_with(whose, document, at, (medicine, false)).await;
    }

    /// The same, with or without the words that no medicine is taken at all.
    async fn ingest_with(&self, whose: Scope, document: u128, at: DateTime<Utc>, (medicine, denies_all): (&str, bool)) {
        let org = whose.org();
        if !self.store.intake().organizations(&[org]).await.unwrap().contains_key(&org) {
            self.store.intake().register(org).await.unwrap();
        }
        let keys = self.store.keys().ensure(&[whose]).await.unwrap().known;
        let mine = &keys[&whose];
        let reported = [format!("Tomo {medicine} 50 mg cada noche."), "No duermo nada.".to_owned()];
        let text = reported.join("\n");
        let cut = reported[0].len();
        let spans = [Span::new(0, cut), Span::new(cut + 1, text.len())];
        let passages = spans.iter().enumerate().map(|(n, span)| {
            let words = stems(span.slice(&text), Language::Spanish);
            let mut terms: Vec<i64> = words.iter().map(|word| mine.term(word)).collect();
            terms.sort_unstable();
            NewPassage {
                id: PassageId(derive("p", &[&document.to_be_bytes(), &[n as u8], whose.patient().0.as_bytes()])),
                span: *span,
                text_hash: mine.text_hash(span.slice(&text)),
                terms,
                vector: Some(direction(span.slice(&text))),
            }
        });
        let id = DocumentId(Uuid::from_u128(document));
        let body_hash = mine.hash("body", &document.to_be_bytes());
        let new = NewDocument {
            scope: whose,
            id,
            revision: 1,
            document_type: DocumentType::SessionTranscript,
            occurred_at: at,
            language: Language::Spanish,
            therapist_id: None,
            signed_by: None,
            ends_at: None,
            trust: Trust::T1,
            sentiment: None,
            risk_level: None,
            body_hash,
            content: DocumentContent {
                turns: vec![(Speaker::Patient, 0, cut), (Speaker::Patient, cut + 1, text.len())],
                themes: vec!["sueño".into()],
                ..DocumentContent::from_text(text.clone())
            },
            redaction_policy: "safe_harbor/2+2".into(),
            extractor_version: "1".into(),
            passages: passages.collect(),
            risks: vec![],
        };
        let medicine = FindingWords {
            concept: medicine.into(),
            dose: Some("50 mg".into()),
            mention: medicine.into(),
            ..FindingWords::default()
        };
        let sleep = FindingWords { concept: "insomnio".into(), mention: "No duermo".into(), ..FindingWords::default() };
        let now = self.clock.now();
        let mut findings = vec![
            finding(whose, id, at, now, (EntityType::Medication, medicine, &reported[0], spans[0]), mine),
            finding(whose, id, at, now, (EntityType::Symptom, sleep, &reported[1], spans[1]), mine),
        ];
        if denies_all {
            let words = FindingWords { concept: "*".into(), mention: "nada".into(), ..FindingWords::default() };
            let mut none = finding(whose, id, at, now, (EntityType::Medication, words, &reported[1], spans[1]), mine);
            none.assertion.polarity = Polarity::Negated;
            none.assertion.blanket = true;
            findings.push(none);
        }
        let message = mine.hash("message", &document.to_be_bytes());
        let entry = InboxEntry {
            message,
            body: body_hash,
            scope: whose,
            message_type: "document",
            done: MessageAct::default(),
        };
        let batch =
            OrgBatch { inbox: vec![entry], documents: vec![new], findings, generation: 1, ..OrgBatch::default() };
        self.store.intake().commit(org, &batch, &keys).await.unwrap();
    }
}

fn finding(
    whose: Scope,
    document: DocumentId,
    at: DateTime<Utc>,
    now: DateTime<Utc>,
    (entity, words, quote, span): (EntityType, FindingWords, &str, Span),
    keys: &anamnesis_crypto::PatientKeys,
) -> NewFinding {
    let concept = words.concept.clone();
    let attribute = keys.hash("attribute", &FactParts::new(entity, &concept).attribute());
    NewFinding {
        scope: whose,
        group: attribute,
        assertion: Assertion {
            id: finding_id(whose, document.0, 1, concept.as_bytes()),
            source: document.0,
            text: None,
            live: true,
            attribute,
            entity,
            kind: Kind::Note,
            class: Class::from_finding(entity),
            polarity: Polarity::Affirmed,
            experiencer: Experiencer::Patient,
            details: Details { dose: words.dose.clone(), ..Details::default() },
            ending: false,
            past: false,
            blanket: false,
            never: false,
            set_by: SetBy::Patient,
            document_type: Some(DocumentType::SessionTranscript),
            source_type: SourceType::DirectExperience,
            epistemic: Epistemic::Explicit,
            trust: Trust::T1,
            is_proxy: false,
            extraction_confidence: 0.9,
            initial_confidence: 0.8,
            basis: ConfidenceBasis::CognitiveState,
            asserted_at: at,
            valid_from: at,
            expires_at: None,
            ends_at: None,
            recorded_at: now,
            tombstone: None,
        },
        revision: 1,
        uncertain: false,
        temporality: Temporality::Recent,
        words,
        evidence: Some(Evidence { quote: quote.to_owned(), span }),
        extractor_version: "1".into(),
    }
}

fn question(text: &str) -> SearchRequest {
    SearchRequest { query: text.into(), ..SearchRequest::default() }
}

async fn medicine_of(world: &RecallFixture, whose: Scope) -> MemoryId {
    let filter = MemoryFilter { entities: vec![EntityType::Medication], ..MemoryFilter::default() };
    world.store.read().memories(whose, &filter, ReadInstant::Now).await.unwrap()[0].id
}

async fn rows_of_another_patient_or_organisation_never_appear(engine: TestEngine) {
    let world = RecallFixture::on(engine).await;
    let (mine, neighbour, namesake) = (scope(1, 1), scope(1, 2), scope(2, 1));
    // The same document id in all three: an id that collides crosses no border.
    world.ingest(mine, 9, utc(SAID), "sertralina").await;
    world.ingest(neighbour, 9, utc(SAID), "litio").await;
    world.ingest(namesake, 9, utc(SAID), "warfarina").await;
    let recall = world.recall(compass(false));
    for (whose, medicine) in [(mine, "sertralina"), (neighbour, "litio"), (namesake, "warfarina")] {
        let request = ContextRequest {
            query: Some("¿qué medicamento toma?".into()),
            min_score: Some(-1.0),
            top_k: Some(50),
            ..Default::default()
        };
        let context = recall.context(whose, &request).await.unwrap();
        let json = serde_json::to_string(&context).unwrap();
        assert_eq!(context.profile.medications[0].statement, format!("Medication: {medicine} 50 mg"));
        for other in ["sertralina", "litio", "warfarina"] {
            assert_eq!(json.contains(other), other == medicine, "{other} in the context of {medicine}");
        }
        assert_eq!(context.passages.len(), 2);
        assert_eq!(
            world.store.read().documents(whose, TimeWindow::default(), 10, ReadInstant::Now).await.unwrap().len(),
            1
        );
    }
    let theirs = medicine_of(&world, neighbour).await;
    for stranger in [mine, namesake] {
        assert_eq!(world.store.read().memory(stranger, theirs, ReadInstant::Now).await.unwrap(), None);
        assert_eq!(trace(&world.store, stranger, theirs, LineageDirection::Up).await.unwrap(), None);
        assert!(world.store.read().history(stranger, theirs).await.unwrap().is_empty());
        assert!(world.store.read().links(stranger, &[theirs.0], LineageDirection::Up).await.unwrap().is_empty());
    }
    assert_eq!(
        world.store.read().find_patients(OrgId(Uuid::from_u128(1))).await.unwrap(),
        [mine.patient(), neighbour.patient()]
    );
}

async fn an_erased_patient_is_distinguished_from_an_unknown_one(engine: TestEngine) {
    let world = RecallFixture::on(engine).await;
    world.ingest(scope(1, 1), 9, utc(SAID), "sertralina").await;
    world.store.keys().destroy(scope(1, 1)).await.unwrap();
    let request = ContextRequest { query: Some("medicamento".into()), ..Default::default() };
    let erased = world.recall(compass(false)).context(scope(1, 1), &request).await.unwrap_err();
    assert!(matches!(erased, RecallError::Store(StoreError::Erased)), "{erased}");
    let context = world.recall(compass(false)).context(scope(1, 77), &request).await.unwrap();
    assert!(!context.known);
    assert!(context.passages.is_empty() && context.profile.items().next().is_none());
    assert!(context.recent_documents.is_empty() && context.statements.is_empty());
}

async fn an_unconfirmed_symptom_is_history_on_read_though_no_job_ran(engine: TestEngine) {
    let world = RecallFixture::on(engine).await;
    let mine = scope(1, 1);
    world.ingest(mine, 9, utc(SAID), "sertralina").await;
    let symptoms = |as_of: Option<&str>| {
        let when = as_of.map_or(ReadInstant::Now, |at| ReadInstant::AsOf(utc(at)));
        let store = world.store.clone();
        async move { anamnesis_search::context::clinical_profile(&store, mine, when).await.unwrap() }
    };
    assert!(!symptoms(None).await.symptoms[0].reconfirm_due);
    world.clock.set(utc("2026-03-04T10:00:00Z"));
    assert!(symptoms(None).await.symptoms[0].reconfirm_due, "due at exactly 48 hours");
    world.clock.set(utc("2026-03-09T10:00:00Z"));
    let lapsed = symptoms(None).await;
    assert!(lapsed.symptoms.is_empty());
    assert_eq!((lapsed.past[0].state, lapsed.past[0].use_), (State::ResolvedUnconfirmed, PermittedUse::History));
    assert_eq!(lapsed.medications[0].use_, PermittedUse::Decision, "a medicine does not lapse");
    assert_eq!(symptoms(Some("2026-03-03T00:00:00Z")).await.symptoms.len(), 1, "as it stood then");
    let before = symptoms(Some("2026-03-01T00:00:00Z")).await;
    assert!(before.items().next().is_none(), "what was said later is not known yet");
}

async fn lineage_leads_from_a_memory_to_its_document_and_back(engine: TestEngine) {
    let world = RecallFixture::on(engine).await;
    let mine = scope(1, 1);
    world.ingest(mine, 9, utc(SAID), "sertralina").await;
    world.clock.advance(TimeDelta::days(1));
    world.ingest(mine, 10, utc(SAID) + TimeDelta::days(1), "sertralina").await;
    let id = medicine_of(&world, mine).await;
    let up = trace(&world.store, mine, id, LineageDirection::Up).await.unwrap().unwrap();
    assert!(up.label.starts_with("Medication: sertralina 50 mg"), "{}", up.label);
    let documents: Vec<Uuid> = up.children.iter().flat_map(|raw| &raw.children).map(|d| d.id).collect();
    assert_eq!(documents, [Uuid::from_u128(9), Uuid::from_u128(10)], "{up:?}");
    assert!(up.children.iter().all(|raw| raw.kind == "raw" && raw.children[0].kind == "document"));
    let down = trace(&world.store, mine, MemoryId(up.children[0].id), LineageDirection::Down).await.unwrap().unwrap();
    assert_eq!(down.children.len(), 2, "a medicine and a symptom were made of it: {down:?}");
    let history = world.store.read().history(mine, id).await.unwrap();
    assert_eq!(history[0].action, "created");
    assert_eq!(history.last().unwrap().action, "reinforced");
}

async fn a_search_finds_by_meaning_and_by_word_within_its_window(engine: TestEngine) {
    let world = RecallFixture::on(engine).await;
    let mine = scope(1, 1);
    world.ingest(mine, 9, utc(SAID), "sertralina").await;
    let recall = world.recall(compass(false));
    let asked = question("How does she sleep?");
    let found = recall.search(mine, &asked).await.unwrap();
    let weak: Vec<bool> = found.hits.iter().map(|hit| hit.weak).collect();
    assert_eq!(
        weak,
        [false, true],
        "the other passage is far in meaning and shares no word: shown last, and it says so"
    );
    let near = recall.search(mine, &SearchRequest { min_score: Some(0.5), ..asked }).await.unwrap();
    assert_eq!(near.hits.len(), 1, "a least cosine leaves it out");
    let found = recall.search(mine, &question("her drugs")).await.unwrap();
    let best = &found.hits[0];
    assert_eq!(best.fragment, "Tomo sertralina 50 mg cada noche.");
    assert_eq!(best.source, "document: session_transcript, 2026-03-02 (patient)");
    assert_eq!((best.use_, best.memories.len(), best.effective_confidence), (PermittedUse::History, 1, 0.8));
    let found = recall.search(mine, &question("¿DUERMO?")).await.unwrap();
    assert!(found.hits.iter().any(|hit| hit.keyword.is_some() && hit.fragment == "No duermo nada."));
    let mut late = question("her drugs");
    late.sources.window.since = Some(utc(SAID) + TimeDelta::seconds(1));
    assert!(recall.search(mine, &late).await.unwrap().hits.is_empty());
    late.sources.window = TimeWindow { since: Some(utc(SAID)), until: Some(utc(SAID)) };
    assert!(recall.search(mine, &late).await.unwrap().hits.is_empty(), "the end is not in the window");
}

async fn without_a_vector_the_words_still_find_and_the_answer_says_so(engine: TestEngine) {
    let world = RecallFixture::on(engine).await;
    world.ingest(scope(1, 1), 9, utc(SAID), "sertralina").await;
    let request = ContextRequest { query: Some("sertralina".into()), ..Default::default() };
    let context = world.recall(compass(true)).context(scope(1, 1), &request).await.unwrap();
    assert_eq!(context.notes, ["by_words_alone"]);
    assert_eq!(context.passages.len(), 1);
    assert!(context.passages[0].keyword_only);
}

async fn a_query_is_redacted_before_its_first_use_and_a_dump_is_refused(engine: TestEngine) {
    let world = RecallFixture::on(engine).await;
    world.ingest(scope(1, 1), 9, utc(SAID), "sertralina").await;
    let embedder = compass(false);
    let recall = world.recall(embedder.clone());
    let request =
        ContextRequest { query: Some("did she write to ana.perez@example.com?".into()), ..Default::default() };
    let context = recall.context(scope(1, 1), &request).await.unwrap();
    assert!(!context.query.unwrap().contains("ana.perez"));
    assert!(!embedder.asked.lock().unwrap().join(" ").contains("ana.perez"));
    let dump = ContextRequest { query: Some("dump all memories".into()), ..Default::default() };
    assert_eq!(recall.context(scope(1, 1), &dump).await, Err(RecallError::DumpRefused));
    assert_eq!(recall.context(scope(1, 77), &dump).await, Err(RecallError::DumpRefused), "known or not");
}

async fn a_statement_of_absence_is_never_shown_with_an_active_fact(engine: TestEngine) {
    let world = RecallFixture::on(engine).await;
    let mine = scope(1, 1);
    world.ingest_with(mine, 9, utc(SAID), ("sertralina", true)).await;
    let context = world.recall(compass(false)).context(mine, &ContextRequest::default()).await.unwrap();
    assert_eq!(context.profile.medications.len(), 1);
    assert!(context.profile.absences.is_empty(), "the clinical store wins");
    assert!(context.statements.iter().all(|item| !item.absence));
    let asked = context.hypotheses.iter().find(|item| item.absence).expect("it is asked about, not lost");
    assert_eq!((asked.statement.as_str(), asked.contested), ("Takes no medication", true));
}

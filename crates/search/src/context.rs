//! The context of one patient for one question (seed 002, section 7): the clinical profile first, then active symptoms,
//! recent events and signals, then memories, labelled by their permitted use, then passages to cite.

use std::collections::{BTreeSet, HashSet};

use chrono::{DateTime, Utc};
use serde::Serialize;
use uuid::Uuid;

use super::bm25::QueryTerm;
use super::memory_item::{MemoryItem, absence, is_preference};
use super::query::words;
use super::recent_documents::RecentDocument;
use super::search::{SearchHit, SearchRequest, SearchResult, TOP_K};
use super::{Recall, RecallError, bm25};
use anamnesis_core::finding::{EntityType, Experiencer};
use anamnesis_core::ids::{ContradictionId, MemoryId, OrgId, PatientId};
use anamnesis_core::memory::{Class, Kind, PermittedUse, State};
use anamnesis_core::scope::Scope;
use anamnesis_observability::metrics::Label as _;
use anamnesis_observability::traces::{self, Code, Count, Name, SpanGroup};
use anamnesis_store::read::{
    ClinicalRow, DocumentFilter, Memory, MemoryFilter, PatientProfile, PreferenceRow, ReadInstant, RiskFlag,
};
use anamnesis_store::{Store, StoreError};

/// Most memories of one section, best ranked first.
const SECTION: usize = 20;

/// The request for a context.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ContextRequest {
    pub query: Option<String>,
    pub top_k: Option<usize>,
    pub min_score: Option<f64>,
    /// The documents that may answer the query; their window also applies to the recent ones.
    pub sources: DocumentFilter,
    pub as_of: Option<DateTime<Utc>>,
}

impl ContextRequest {
    pub(super) fn when(&self) -> ReadInstant {
        self.as_of.map_or(ReadInstant::Now, ReadInstant::AsOf)
    }
}

/// The clinical profile: rows of the clinical store that are safe to act on, and past ones.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PatientSummary {
    /// Facts of profile events in addition to clinical ones.
    pub patient: Option<PatientProfile>,
    pub allergies: Vec<MemoryItem>,
    pub medications: Vec<MemoryItem>,
    pub conditions: Vec<MemoryItem>,
    /// "No known allergies", "takes no medication": said, which an empty list is not.
    pub absences: Vec<MemoryItem>,
    /// Denied or refuted facts, in a separate list, so that no list of facts contains a denied one.
    pub denied: Vec<MemoryItem>,
    /// Conditions of relatives: never the patient's own.
    pub family_history: Vec<MemoryItem>,
    /// Ended, refuted long ago, replaced or not confirmed: history only.
    pub past: Vec<MemoryItem>,
    /// Active, of the patient, not outdated.
    pub symptoms: Vec<MemoryItem>,
    /// Appointments and events, newest first.
    pub events: Vec<MemoryItem>,
    /// Laboratory values, vital signs and scores, newest first.
    pub measurements: Vec<MemoryItem>,
    /// Readings and trends of devices; outdated ones are marked.
    pub signals: Vec<MemoryItem>,
    pub preferences: Vec<PreferenceRow>,
    /// The patient's wishes about conversation and treatment, one line per topic, the latest statement: from documents,
    /// consolidated by job runs.
    pub stated_preferences: Vec<MemoryItem>,
    pub risks: Vec<RiskFlag>,
}

/// Two statements that cannot both be so, until a person answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ContradictionView {
    pub(crate) id: ContradictionId,
    #[serde(rename = "type")]
    pub type_: String,
    pub state: String,
    pub found_at: DateTime<Utc>,
    pub kept: Option<MemoryItem>,
    pub claim: Option<MemoryItem>,
}

/// Everything, in the order of precedence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PatientContext {
    pub(crate) organization_id: OrgId,
    pub patient_id: PatientId,
    /// The instant at which it holds.
    pub at: DateTime<Utc>,
    /// False: nothing is known of this patient.
    pub known: bool,
    pub profile: PatientSummary,
    /// Active statements outside the clinical store: preferences, goals, relationships.
    pub statements: Vec<MemoryItem>,
    /// To be asked about, never acted on.
    pub hypotheses: Vec<MemoryItem>,
    pub contradictions: Vec<ContradictionView>,
    pub recent_documents: Vec<RecentDocument>,
    /// The query as it was searched: redacted.
    pub query: Option<String>,
    /// Passages for the query, best first.
    pub passages: Vec<SearchHit>,
    /// Codes of omissions: `by_words_alone` when the embedding provider gave no vector.
    pub notes: Vec<&'static str>,
}

impl Recall {
    /// Assembles the context of one patient.
    ///
    /// # Errors
    /// See [`RecallError`].
    pub async fn context(&self, scope: Scope, request: &ContextRequest) -> Result<PatientContext, RecallError> {
        let traces = &self.metrics.traces;
        let mut span = traces.begin(Name::Context, traces::SpanKind::Internal, &Default::default());
        let assembled =
            traces::within(SpanGroup::alone(span.context()), Box::pin(self.assembled(scope, request))).await;
        let outcome = self.count_read(&assembled);
        span.code(Code::Outcome, outcome.code());
        match &assembled {
            Ok(known) => span.count(Count::Documents, known.recent_documents.len() as u64),
            Err(error) => span.fail(error.code()),
        }
        assembled
    }

    async fn assembled(&self, scope: Scope, request: &ContextRequest) -> Result<PatientContext, RecallError> {
        if let Some(query) = &request.query {
            self.guard(query)?;
        }
        self.store.organization().may_recall(scope).await?;
        let when = request.when();
        let found = match &request.query {
            Some(query) => {
                let search = SearchRequest {
                    query: query.clone(),
                    top_k: Some(request.top_k.unwrap_or(TOP_K)),
                    min_score: request.min_score,
                    sources: request.sources.clone(),
                    when,
                    ..SearchRequest::default()
                };
                Some(self.search(scope, &search).await?)
            }
            None => None,
        };
        let clinical = self.store.read().clinical(scope, when).await?;
        let rest = self.rest(scope, &clinical, found.as_ref(), when).await?;
        let profile = patient_summary(&self.store, scope, clinical, when).await?;
        let told: BTreeSet<Uuid> = profile.memory_ids();
        let rest = rest.into_iter().filter(|item| !told.contains(&item.memory_id.0)).map(against_the_profile);
        let (hypotheses, statements) = rest.partition(|item| item.use_ == PermittedUse::Hypothesis);
        let without_vector = found.as_ref().is_some_and(|f| !f.query.is_empty() && !f.by_meaning);
        Ok(PatientContext {
            organization_id: scope.org(),
            patient_id: scope.patient(),
            at: self.store.read().instant(when),
            known: profile.patient.is_some(),
            profile,
            statements: first(statements),
            hypotheses: first(hypotheses),
            contradictions: contradictions(&self.store, scope, when).await?,
            recent_documents: self.recent(scope, request).await?,
            query: found.as_ref().map(|f| f.query.clone()),
            passages: found.map(|f| f.hits).unwrap_or_default(),
            notes: without_vector.then_some("by_words_alone").into_iter().collect(),
        })
    }

    /// Memories outside the clinical store that are decision or hypothesis, best first.
    async fn rest(
        &self,
        scope: Scope,
        clinical: &[ClinicalRow],
        found: Option<&SearchResult>,
        when: ReadInstant,
    ) -> Result<Vec<MemoryItem>, RecallError> {
        let in_profile = |row: &&ClinicalRow| !is_open_hypothesis(row);
        let standing: HashSet<MemoryId> = clinical.iter().filter(in_profile).map(|c| c.memory.id).collect();
        let states = vec![State::Active, State::Stale];
        let mut memories =
            self.store.read().memories(scope, &MemoryFilter { states, ..MemoryFilter::default() }, when).await?;
        memories.retain(|m| m.kind != Kind::Raw && m.status.use_ != PermittedUse::History && !standing.contains(&m.id));
        for m in &memories {
            self.metrics.recall.confidence.with_labels(m.kind).observe(m.status.effective_confidence);
        }
        let mut asked: Vec<QueryTerm> = Vec::new();
        if let (Some(found), Some(keys)) = (found, self.store.read().keys_of(scope).await?) {
            asked = words(&keys, &found.query);
            asked.extend(self.concept_terms(&keys, &found.query).into_iter().map(|term| QueryTerm::from_stems([term])));
        }
        Ok(ranked(&memories, &asked))
    }
}

/// By the words of the query first, then by trust, confidence and age of the signal; newest first among equals.
fn ranked(memories: &[Memory], asked: &[QueryTerm]) -> Vec<MemoryItem> {
    let texts: Vec<bm25::IndexedText<'_>> = memories.iter().map(|m| m.terms.as_slice().into()).collect();
    let words = bm25::shares(asked, &texts);
    let weight = |m: &Memory| m.trust.rank_weight() * m.status.effective_confidence * m.status.rank_factor;
    let mut order: Vec<usize> = (0..memories.len()).collect();
    order.sort_by(|a, b| {
        let score = |n: usize| (words[n] + 0.1) * weight(&memories[n]);
        score(*b).total_cmp(&score(*a)).then(memories[*b].said_at.cmp(&memories[*a].said_at))
    });
    order.into_iter().map(|n| MemoryItem::conversational(&memories[n])).collect()
}

/// A statement of absence that the profile does not bear out is to be asked about (seed 002, section 6).
fn against_the_profile(mut item: MemoryItem) -> MemoryItem {
    if item.absence {
        item.use_ = PermittedUse::Hypothesis;
        item.contested = true;
    }
    item
}

fn first(mut items: Vec<MemoryItem>) -> Vec<MemoryItem> {
    items.truncate(SECTION);
    items
}

/// The current clinical profile of a patient.
///
/// # Errors
/// When the store cannot be read or a cell does not open; [`StoreError::NoConsent`].
pub async fn clinical_profile(store: &Store, scope: Scope, when: ReadInstant) -> Result<PatientSummary, StoreError> {
    store.organization().may_recall(scope).await?;
    let clinical = store.read().clinical(scope, when).await?;
    patient_summary(store, scope, clinical, when).await
}

async fn patient_summary(
    store: &Store,
    scope: Scope,
    clinical: Vec<ClinicalRow>,
    when: ReadInstant,
) -> Result<PatientSummary, StoreError> {
    let mut summary = PatientSummary {
        patient: store.read().profile(scope).await?,
        preferences: store.read().preferences(scope, when).await?,
        stated_preferences: stated_preferences(store, scope, when).await?,
        risks: store.read().risks(scope, when).await?,
        ..PatientSummary::default()
    };
    let allergens = allergens_of(&clinical);
    for row in clinical.iter().filter(|row| !is_open_hypothesis(row)) {
        let mut item = MemoryItem::clinical(row);
        if is_taken_despite(row, &allergens) {
            // Never silently both: a person has to say which of the two holds.
            (item.contested, item.allergy_on_record) = (true, true);
        }
        summary.section(row).push(item);
    }
    summary.absences = absences(store, scope, &summary, when).await?;
    let when_of = |item: &MemoryItem| item.at.or(item.last_confirmed_at).unwrap_or(item.valid_from);
    for section in [&mut summary.events, &mut summary.measurements, &mut summary.signals] {
        section.sort_by_key(|item| std::cmp::Reverse((when_of(item), item.memory_id)));
        section.truncate(SECTION);
    }
    Ok(summary)
}

async fn stated_preferences(store: &Store, scope: Scope, when: ReadInstant) -> Result<Vec<MemoryItem>, StoreError> {
    let classes = vec![Class::Pattern];
    let filter = MemoryFilter { classes, states: vec![State::Active], ..MemoryFilter::default() };
    let stated = store.read().memories(scope, &filter, when).await?;
    let mut items: Vec<MemoryItem> =
        stated.iter().filter(|m| is_preference(m)).map(MemoryItem::conversational).collect();
    items.sort_by_key(|item| std::cmp::Reverse((item.valid_from, item.memory_id)));
    Ok(items)
}

/// Statements about all allergies or medicines, unless an active fact contradicts them: the clinical store has
/// precedence.
async fn absences(
    store: &Store,
    scope: Scope,
    summary: &PatientSummary,
    when: ReadInstant,
) -> Result<Vec<MemoryItem>, StoreError> {
    let entities = vec![EntityType::Allergy, EntityType::Medication];
    let filter = MemoryFilter { entities, states: vec![State::Active], ..MemoryFilter::default() };
    let stated = store.read().memories(scope, &filter, when).await?;
    let in_force = |m: &&Memory| m.status.use_ == PermittedUse::Decision && absence(m).is_some() && !summary.refutes(m);
    Ok(stated.iter().filter(in_force).map(MemoryItem::conversational).collect())
}

/// Contradictions with what both sides say.
///
/// # Errors
/// When the store cannot be read or a cell does not open.
pub async fn contradictions(
    store: &Store,
    scope: Scope,
    when: ReadInstant,
) -> Result<Vec<ContradictionView>, StoreError> {
    let mut pairs = store.read().contradictions(scope).await?;
    pairs.retain(|c| when.limit().is_none_or(|limit| c.found_at <= limit));
    if pairs.is_empty() {
        return Ok(Vec::new());
    }
    let ids: BTreeSet<MemoryId> = pairs.iter().flat_map(|c| [c.kept, c.claim]).collect();
    let filter = MemoryFilter { ids: ids.into_iter().collect(), ..MemoryFilter::default() };
    let memories = store.read().memories(scope, &filter, when).await?;
    let side = |id: MemoryId| memories.iter().find(|m| m.id == id).map(MemoryItem::conversational);
    let opposed = pairs.into_iter().map(|c| ContradictionView {
        kept: side(c.kept),
        claim: side(c.claim),
        id: c.id,
        type_: c.type_,
        state: c.state,
        found_at: c.found_at,
    });
    Ok(opposed.collect())
}

/// The substances of the patient's active allergies and intolerances.
pub(crate) fn allergens_of(clinical: &[ClinicalRow]) -> HashSet<&str> {
    let in_force = clinical.iter().filter(|row| {
        matches!(row.entity, EntityType::Allergy | EntityType::Intolerance)
            && !row.memory.negated
            && row.memory.status.state == State::Active
    });
    in_force.filter_map(|row| row.memory.words.as_ref()).map(|words| words.concept.as_str()).collect()
}

/// An active medicine that is also listed as an allergen.
pub(crate) fn is_taken_despite(row: &ClinicalRow, allergens: &HashSet<&str>) -> bool {
    row.entity == EntityType::Medication
        && !row.memory.negated
        && row.memory.status.state == State::Active
        && row.memory.words.as_ref().is_some_and(|words| allergens.contains(words.concept.as_str()))
}

/// Active, but read too doubtfully for the profile: shown among the hypotheses. Allergies stay in the profile.
fn is_open_hypothesis(row: &ClinicalRow) -> bool {
    let timeless = matches!(row.entity, EntityType::HealthSignal | EntityType::Appointment | EntityType::Event);
    !timeless
        && row.memory.status.read_doubtfully
        && row.memory.status.use_ == PermittedUse::Hypothesis
        && !is_possible_allergy(&row.memory)
}

/// An active allergy of the patient that waits for confirmation by a person.
fn is_possible_allergy(memory: &Memory) -> bool {
    matches!(memory.entity, Some(EntityType::Allergy | EntityType::Intolerance))
        && !memory.negated
        && memory.experiencer == Experiencer::Patient
        && memory.status.state == State::Active
        && memory.status.read_doubtfully
        && memory.status.use_ == PermittedUse::Hypothesis
}

impl PatientSummary {
    /// Whether an active fact contradicts a statement about all of its type.
    fn refutes(&self, memory: &Memory) -> bool {
        match memory.entity {
            Some(EntityType::Allergy) => self.allergies.iter().any(|item| item.entity == Some(EntityType::Allergy)),
            Some(EntityType::Medication) => !self.medications.is_empty(),
            _ => false,
        }
    }

    fn section(&mut self, row: &ClinicalRow) -> &mut Vec<MemoryItem> {
        let decision = row.memory.status.use_ == PermittedUse::Decision;
        match row.entity {
            EntityType::HealthSignal => &mut self.signals,
            _ if row.memory.entity == Some(EntityType::Measurement) => &mut self.measurements,
            // An appointment whose day is over is history.
            _ if row.memory.entity == Some(EntityType::Appointment) && !decision => &mut self.past,
            EntityType::Appointment | EntityType::Event => &mut self.events,
            // A doubtful allergy is listed with the others and marked, because leaving it out would harm.
            EntityType::Allergy | EntityType::Intolerance if is_possible_allergy(&row.memory) => &mut self.allergies,
            _ if !decision => &mut self.past,
            // A symptom of the past was never a state that could be confirmed.
            EntityType::Symptom if row.memory.class == Class::Event => &mut self.past,
            _ if row.memory.negated => &mut self.denied,
            EntityType::Allergy | EntityType::Intolerance => &mut self.allergies,
            EntityType::Medication => &mut self.medications,
            EntityType::Symptom => &mut self.symptoms,
            _ if row.memory.experiencer != Experiencer::Patient => &mut self.family_history,
            _ => &mut self.conditions,
        }
    }

    /// Every item, for a caller that counts or looks one up.
    pub fn items(&self) -> impl Iterator<Item = &MemoryItem> {
        [
            &self.allergies,
            &self.medications,
            &self.absences,
            &self.denied,
            &self.conditions,
            &self.family_history,
            &self.symptoms,
            &self.events,
            &self.measurements,
            &self.signals,
            &self.past,
            &self.stated_preferences,
        ]
        .into_iter()
        .flatten()
    }

    /// Ids of every memory that the profile shows.
    pub(crate) fn memory_ids(&self) -> BTreeSet<Uuid> {
        self.items().map(|item| item.memory_id.0).collect()
    }
}

#[cfg(test)]
#[path = "context_tests.rs"]
mod tests;

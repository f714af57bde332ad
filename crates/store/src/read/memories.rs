//! Memories at an instant: the lazy pass of seed 002, section 8 (changes by time, even if no job ran), and the
//! effective confidence of seed 001, section 6.

use chrono::{DateTime, Utc};
use serde::Serialize;
use uuid::Uuid;

use super::{ReadInstant, code, number, opt_code};
use crate::encrypted_columns::{open_record, open_text};
use crate::records::{FilePlace, FindingWords};
use crate::statements::read::memories::{self as sql, of_patient as col};
use crate::write::findings::trust_number;
use crate::write::memories::rows::memory_cell;
use crate::{MemoryReader, Store, StoreError};
use anamnesis_core::confidence::{self, ConfidenceBasis, DecayPolicy};
use anamnesis_core::document::DocumentType;
use anamnesis_core::finding::{EntityType, Epistemic, Experiencer};
use anamnesis_core::ids::{DocumentId, MemoryId};
use anamnesis_core::lifecycle::{self, LifecyclePolicy, LifecycleTimes};
use anamnesis_core::memory::{Class, Kind, PermittedUse, Sensitivity, SetBy, State};
use anamnesis_core::projection::KeyHash;
use anamnesis_core::provenance::{SourceType, Trust};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::PatientKeys;
use anamnesis_sql::{Arg, Row, Transaction};

/// A filter of memories. An empty list matches all; without `states`, forgotten and quarantined ones are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryFilter {
    pub kinds: Vec<Kind>,
    pub classes: Vec<Class>,
    pub entities: Vec<EntityType>,
    /// States at the instant, not stored ones.
    pub states: Vec<State>,
    pub ids: Vec<MemoryId>,
    pub source_types: Vec<SourceType>,
    pub trusts: Vec<Trust>,
    /// Most rows, counted after all other conditions.
    pub limit: Option<usize>,
}

impl MemoryFilter {
    /// These memories in any state.
    pub fn ids(ids: Vec<MemoryId>) -> Self {
        Self { ids, states: State::ALL.to_vec(), ..Self::default() }
    }

    fn args(&self) -> Vec<Arg> {
        let texts = |codes: Vec<&'static str>| {
            [Arg::I64(i64::from(!codes.is_empty())), Arg::Texts(codes.into_iter().map(str::to_owned).collect())]
        };
        let mut args = Vec::with_capacity(13);
        args.extend(texts(self.kinds.iter().map(|k| k.code()).collect()));
        args.extend(texts(self.classes.iter().map(|c| c.code()).collect()));
        args.extend(texts(self.entities.iter().map(|e| e.code()).collect()));
        args.push(Arg::I64(i64::from(!self.ids.is_empty())));
        args.push(Arg::Uuids(self.ids.iter().map(|id| id.0).collect()));
        args.push(Arg::I64(i64::from(self.states.iter().any(|state| !state.is_visible()))));
        args.extend(texts(self.source_types.iter().map(|source| source.code()).collect()));
        args.push(Arg::I64(i64::from(!self.trusts.is_empty())));
        args.push(Arg::Ints(self.trusts.iter().copied().map(trust_number).collect()));
        args
    }
}

/// A literal quote and its place in the redacted document, in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EvidenceQuote {
    pub text: String,
    pub start: usize,
    pub end: usize,
}

/// The state of a memory at the instant of the read.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MemoryStatus {
    pub state: State,
    /// Since when.
    pub since: Option<DateTime<Utc>>,
    #[serde(rename = "use")]
    pub use_: PermittedUse,
    /// Confidence after decay, 0.0–1.0.
    pub effective_confidence: f64,
    /// To be verified by a person before it is relied upon (seed 001, section 8; seed 004).
    pub low_confidence: bool,
    /// Read from its document with less confidence than decisions ask for, and not verified since.
    pub read_doubtfully: bool,
    /// A confirmation is due (seed 002, section 4).
    pub reconfirm_due: bool,
    /// Factor on a rank: an outdated signal counts less.
    pub rank_factor: f64,
}

/// A memory with its words in the clear.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Memory {
    pub id: MemoryId,
    pub kind: Kind,
    pub class: Class,
    pub entity: Option<EntityType>,
    pub(crate) sensitivity: Sensitivity,
    #[serde(rename = "standing")]
    pub status: MemoryStatus,
    pub contested: bool,
    pub ungrounded: bool,
    /// `None` for raw captures, whose words are the document's.
    pub words: Option<FindingWords>,
    pub evidence: Option<EvidenceQuote>,
    /// The position of the evidence in an uploaded file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<FilePlace>,
    pub document_id: Option<DocumentId>,
    pub revision: Option<u32>,
    pub document_type: Option<DocumentType>,
    pub source_type: SourceType,
    pub epistemic: Epistemic,
    pub source_entity: Option<String>,
    pub is_proxy: bool,
    pub trust: Trust,
    pub set_by: SetBy,
    pub negated: bool,
    pub experiencer: Experiencer,
    pub extraction_confidence: f64,
    pub initial_confidence: f64,
    pub confidence_basis: ConfidenceBasis,
    /// As stored, before decay.
    pub confidence: f64,
    pub times_reinforced: i64,
    pub verification_count: i64,
    pub last_verified: Option<DateTime<Utc>>,
    pub is_protected: bool,
    pub cycle: i64,
    /// When it was said: the time of its document or event.
    pub said_at: DateTime<Utc>,
    pub valid_from: DateTime<Utc>,
    pub valid_to: Option<DateTime<Utc>>,
    pub last_confirmed_at: Option<DateTime<Utc>>,
    pub reconfirm_due_at: Option<DateTime<Utc>>,
    pub expires_at: Option<DateTime<Utc>>,
    /// When all that its documents say ends, by their producer's word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends_at: Option<DateTime<Utc>>,
    /// The clinician who vouches for the model's document that states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signed_by: Option<Uuid>,
    pub supersedes: Option<MemoryId>,
    pub superseded_by: Option<MemoryId>,
    pub recorded_at: DateTime<Utc>,
    /// Keyed search terms.
    #[serde(skip)]
    pub terms: Vec<i64>,
}

impl MemoryReader<'_> {
    /// Memories of a patient, newest first. Empty when the patient has no key.
    ///
    /// # Errors
    /// When the store cannot be read or a cell does not open.
    pub async fn memories(
        self,
        scope: Scope,
        filter: &MemoryFilter,
        when: ReadInstant,
    ) -> Result<Vec<Memory>, StoreError> {
        let Some(keys) = self.keys_of(scope).await? else { return Ok(Vec::new()) };
        let at = self.instant(when);
        let mut found = Vec::new();
        for row in self.rows(&sql::OF_PATIENT, scope, filter.args()).await? {
            let memory = read(&row, at, self.store())?;
            if filter.states.is_empty() || filter.states.contains(&memory.status.state) {
                found.push((memory, row));
            }
        }
        newest_first(found, when, filter.limit).map(|(memory, row)| open(memory, &row, &keys)).collect()
    }

    /// Attribute and unit of folding of a memory: where another value of the same belongs.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn place_of(self, scope: Scope, id: MemoryId) -> Result<Option<(KeyHash, KeyHash)>, StoreError> {
        let rows = self.rows(&sql::HASHES, scope, vec![id.0.into()]).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        Ok(Some((row.bytes(sql::hashes::ATTRIBUTE_HASH)?, row.bytes(sql::hashes::GROUP_HASH)?)))
    }

    /// One memory in any state; `None` if this patient has none with this id.
    ///
    /// # Errors
    /// As [`MemoryReader::memories`].
    pub async fn memory(self, scope: Scope, id: MemoryId, when: ReadInstant) -> Result<Option<Memory>, StoreError> {
        Ok(self.memories(scope, &MemoryFilter::ids(vec![id]), when).await?.pop())
    }
}

/// Memories with evidence in these documents, in the form of [`MemoryReader::memories`], newest first.
pub(super) async fn of_documents(
    store: &Store,
    tx: &mut Transaction,
    scope: Scope,
    keys: &PatientKeys,
    documents: Vec<Uuid>,
    when: ReadInstant,
) -> Result<Vec<Memory>, StoreError> {
    let at = store.read().instant(when);
    let args = vec![scope.org().0.into(), scope.patient().0.into(), Arg::Uuids(documents)];
    let mut found = Vec::new();
    for row in tx.fetch_all(&sql::OF_DOCUMENTS, args).await? {
        found.push((read(&row, at, store)?, row));
    }
    newest_first(found, when, None).map(|(memory, row)| open(memory, &row, keys)).collect()
}

/// Without later statements; at most `limit`.
fn newest_first(
    mut found: Vec<(Memory, Row)>,
    when: ReadInstant,
    limit: Option<usize>,
) -> impl Iterator<Item = (Memory, Row)> {
    found.retain(|(m, _)| when.limit().is_none_or(|limit| m.said_at <= limit));
    found.sort_by_key(|(m, _)| (std::cmp::Reverse(m.said_at), m.id));
    found.into_iter().take(limit.unwrap_or(usize::MAX))
}

/// All unsealed columns of a row of either statement.
fn read(row: &Row, at: DateTime<Utc>, store: &Store) -> Result<Memory, StoreError> {
    let trust = usize::try_from(row.i64(col::TRUST)? - 1).ok().and_then(|n| Trust::ALL.get(n));
    let recorded_at = row.time(col::RECORDED_AT)?;
    let valid_from = row.time(col::VALID_FROM)?;
    let said_at = row.opt_time(col::FIRST_EVENT_AT)?.or(row.opt_time(col::OCCURRED_AT)?).unwrap_or(valid_from);
    let mut memory = Memory {
        id: MemoryId(row.uuid(col::ID)?),
        kind: code(row, col::KIND, Kind::from_code)?,
        class: code(row, col::CLASS, Class::from_code)?,
        entity: opt_code(row, col::ENTITY_TYPE, EntityType::from_code)?,
        sensitivity: code(row, col::SENSITIVITY, Sensitivity::from_code)?,
        status: MemoryStatus {
            state: code(row, col::STATE, State::from_code)?,
            since: row.opt_time(col::STATE_AT)?,
            use_: PermittedUse::History,
            effective_confidence: 0.0,
            low_confidence: true,
            read_doubtfully: false,
            reconfirm_due: false,
            rank_factor: 1.0,
        },
        contested: row.bool(col::CONTESTED)?,
        ungrounded: row.bool(col::UNGROUNDED)?,
        words: None,
        evidence: None,
        file: None,
        document_id: row.opt_uuid(col::DOCUMENT_ID)?.map(DocumentId),
        revision: row.opt_i64(col::REVISION)?.and_then(|n| u32::try_from(n).ok()),
        document_type: opt_code(row, col::DOCUMENT_TYPE, DocumentType::from_code)?,
        source_type: code(row, col::SOURCE_TYPE, SourceType::from_code)?,
        epistemic: code(row, col::EPISTEMIC, Epistemic::from_code)?,
        source_entity: None,
        is_proxy: row.bool(col::IS_PROXY)?,
        trust: *trust.ok_or(StoreError::Shape)?,
        set_by: code(row, col::SET_BY, SetBy::from_code)?,
        negated: row.bool(col::NEGATED)?,
        experiencer: code(row, col::EXPERIENCER, Experiencer::from_code)?,
        extraction_confidence: row.f64(col::EXTRACTION_CONFIDENCE)?,
        initial_confidence: row.f64(col::INITIAL_CONFIDENCE)?,
        confidence_basis: code(row, col::CONFIDENCE_BASIS, ConfidenceBasis::from_code)?,
        confidence: row.f64(col::CONFIDENCE)?,
        times_reinforced: row.i64(col::TIMES_REINFORCED)?,
        verification_count: row.i64(col::VERIFICATION_COUNT)?,
        last_verified: row.opt_time(col::LAST_VERIFIED)?,
        is_protected: row.bool(col::IS_PROTECTED)?,
        cycle: row.i64(col::CYCLE)?,
        said_at,
        valid_from,
        valid_to: row.opt_time(col::VALID_TO)?,
        last_confirmed_at: row.opt_time(col::LAST_CONFIRMED_AT)?,
        reconfirm_due_at: row.opt_time(col::RECONFIRM_DUE_AT)?,
        expires_at: row.opt_time(col::EXPIRES_AT)?,
        ends_at: row.opt_time(col::ENDS_AT)?,
        signed_by: row.opt_uuid(col::SIGNED_BY)?,
        supersedes: row.opt_uuid(col::SUPERSEDES)?.map(MemoryId),
        superseded_by: row.opt_uuid(col::SUPERSEDED_BY)?.map(MemoryId),
        recorded_at,
        terms: row.ints(col::TERMS)?,
    };
    memory.status = status_at(&memory, at, store.policy(), store.decay());
    Ok(memory)
}

/// The effect of time on the stored row.
fn status_at(m: &Memory, at: DateTime<Utc>, policy: &LifecyclePolicy, decay: &DecayPolicy) -> MemoryStatus {
    let stored = &m.status;
    // A memory that ended after the instant was active at it; a hidden one stays hidden.
    let later = stored.since.is_some_and(|since| since > at);
    let state = if later && stored.state.is_visible() { State::Active } else { stored.state };
    let life = LifecycleTimes {
        class: m.class,
        state,
        state_since: stored.since.filter(|_| !later),
        // An inference ages from when its words were said, as in the fold.
        recorded_at: m.recorded_at.min(m.said_at),
        last_confirmed_at: m.last_confirmed_at,
        synced_at: m.last_confirmed_at,
        expires_at: m.expires_at,
        ends_at: m.ends_at,
    };
    let moment = lifecycle::status_at(&life, at, policy);
    let basis = lifecycle::UseConditions {
        kind: m.kind,
        trust: m.trust,
        // A contested claim is a hypothesis until a person answers, as one without sources is.
        ungrounded: m.ungrounded || m.contested,
        verified: m.verification_count > 0,
        read_doubtfully: m.extraction_confidence < policy.min_extraction_confidence,
    };
    let verified = m.last_verified.filter(|verified| *verified <= at);
    let days = confidence::age_days(m.recorded_at, verified, at) as f64;
    let protected = confidence::is_protected(m.is_protected, m.class);
    let effective = confidence::effective(decay, m.kind, m.confidence, days, protected);
    MemoryStatus {
        state: moment.state,
        since: moment.since,
        use_: lifecycle::use_of(m.class, moment.state, &basis),
        effective_confidence: effective,
        low_confidence: confidence::uncertain(effective, m.confidence, decay.uncertain_below),
        read_doubtfully: basis.read_doubtfully && !basis.verified,
        reconfirm_due: moment.reconfirm_due,
        rank_factor: moment.rank_factor(),
    }
}

/// Opens the sealed cells of a row.
fn open(mut memory: Memory, row: &Row, keys: &PatientKeys) -> Result<Memory, StoreError> {
    let id: Uuid = memory.id.0;
    if let Some(sealed) = row.opt_blob(col::CONTENT_SEALED)? {
        memory.words = Some(open_record(keys, memory_cell(id, "content"), &sealed)?);
    }
    // Empty where it was purged.
    if let Some(sealed) = row.opt_blob(col::EVIDENCE_SEALED)?.filter(|sealed| !sealed.is_empty()) {
        let text = open_text(keys, memory_cell(id, "evidence"), &sealed)?;
        let (start, end) = (number(row, col::EVIDENCE_START)? as usize, number(row, col::EVIDENCE_END)? as usize);
        memory.evidence = Some(EvidenceQuote { text, start, end });
    }
    if let Some(sealed) = row.opt_blob(col::FILE_SEALED)? {
        memory.file = Some(open_record(keys, memory_cell(id, "file"), &sealed)?);
    }
    if let Some(sealed) = row.opt_blob(col::SOURCE_ENTITY_SEALED)? {
        memory.source_entity = Some(open_text(keys, memory_cell(id, "source_entity"), &sealed)?);
    }
    Ok(memory)
}

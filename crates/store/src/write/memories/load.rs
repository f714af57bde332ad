//! Reading the groups that a batch touches.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use uuid::Uuid;

use super::super::findings::finding_cell;
use super::super::{BatchWriter, GroupKey};
use super::{ExistingMemory, FindingText, LoadedGroup};
use crate::StoreError;
use crate::encrypted_columns::{open_record, open_text};
use crate::records::{Evidence, FindingWords};
use crate::statements::write::memories::load as sql;
use crate::statements::write::memories::load::findings as of;
use anamnesis_core::confidence::ConfidenceBasis;
use anamnesis_core::document::DocumentType;
use anamnesis_core::finding::{EntityType, Epistemic, Experiencer, Polarity, Temporality};
use anamnesis_core::ids::{FindingId, MemoryEventId, MemoryId};
use anamnesis_core::memory::{Class, Kind, SetBy};
use anamnesis_core::projection::{Assertion, Details, KeyHash, MemoryAction, PersonAct, speaks_for_themselves};
use anamnesis_core::provenance::{SourceType, Trust};
use anamnesis_core::quantity::canonical_dose;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::PatientKeys;
use anamnesis_sql::{Arg, Row, Sql};
use anamnesis_text::{Span, fold};

impl BatchWriter<'_> {
    /// Everything of these groups.
    pub(in crate::write) async fn load(
        &mut self,
        touched: &BTreeSet<GroupKey>,
    ) -> Result<BTreeMap<GroupKey, LoadedGroup>, StoreError> {
        let mut groups: BTreeMap<GroupKey, LoadedGroup> =
            touched.iter().map(|g| (*g, LoadedGroup::default())).collect();
        self.load_findings(&sql::FINDINGS, keyed(touched), &mut groups).await?;
        self.load_existing(&mut groups).await?;
        Ok(groups)
    }

    /// For a group with a checkpoint the later findings, for any other all of them.
    pub(super) async fn load_on(
        &mut self,
        touched: &BTreeSet<GroupKey>,
    ) -> Result<BTreeMap<GroupKey, LoadedGroup>, StoreError> {
        let mut groups: BTreeMap<GroupKey, LoadedGroup> =
            touched.iter().map(|g| (*g, LoadedGroup::default())).collect();
        let checkpoints = self.checkpoints(touched).await?;
        let (resumed, whole): (BTreeSet<GroupKey>, BTreeSet<GroupKey>) =
            touched.iter().partition(|group| checkpoints.contains_key(*group));
        for (group, checkpoint) in checkpoints {
            groups.entry(group).or_default().checkpoint = Some(checkpoint);
        }
        if !resumed.is_empty() {
            self.load_findings(&sql::LATER_FINDINGS, keyed(&resumed), &mut groups).await?;
        }
        if !whole.is_empty() {
            self.load_findings(&sql::FINDINGS, keyed(&whole), &mut groups).await?;
        }
        self.load_existing(&mut groups).await?;
        Ok(groups)
    }

    /// The findings of these ids that are not loaded yet: a memory of a resumed group has its words from before.
    pub(super) async fn load_named(
        &mut self,
        groups: &mut BTreeMap<GroupKey, LoadedGroup>,
        wanted: &BTreeSet<(Uuid, FindingId)>,
    ) -> Result<(), StoreError> {
        if wanted.is_empty() {
            return Ok(());
        }
        let pairs = wanted.iter().map(|(patient, id)| (*patient, id.0.as_bytes().to_vec())).collect();
        self.load_findings(&sql::NAMED_FINDINGS, Arg::Pairs(pairs), groups).await
    }

    async fn load_findings(
        &mut self,
        sql: &Sql,
        wanted: Arg,
        groups: &mut BTreeMap<GroupKey, LoadedGroup>,
    ) -> Result<(), StoreError> {
        let scopes: HashMap<Uuid, Scope> = groups.keys().map(|(s, _)| (s.patient().0, *s)).collect();
        let courses = self.cognitive_courses(scopes.keys().copied().collect()).await?;
        for row in self.tx.fetch_all(sql, vec![self.target.org.0.into(), wanted]).await? {
            let key = (row.uuid(of::PATIENT_ID)?, row.bytes(of::GROUP_HASH)?);
            let Some(group) = find(groups, &scopes, key) else { continue };
            let keys = self.keys.get(&group.0).ok_or(StoreError::Race)?;
            let (mut assertion, text) = finding(&row, keys)?;
            if let Some(course) = courses.get(&group.0.patient().0) {
                assertion.weigh(course);
            }
            group.1.texts.insert(assertion.id, text);
            group.1.log.assertions.push(assertion);
        }
        Ok(())
    }

    async fn load_existing(&mut self, groups: &mut BTreeMap<GroupKey, LoadedGroup>) -> Result<(), StoreError> {
        let scopes: HashMap<Uuid, Scope> = groups.keys().map(|(s, _)| (s.patient().0, *s)).collect();
        let wanted = keyed(groups.keys());
        for row in self.tx.fetch_all(&sql::EXISTING, vec![self.target.org.0.into(), wanted]).await? {
            let key = (row.uuid(sql::existing::PATIENT_ID)?, row.bytes(sql::existing::GROUP_HASH)?);
            let Some(group) = find(groups, &scopes, key) else { continue };
            let lines = row.opt_i64(sql::existing::LINES)?.and_then(|lines| u32::try_from(lines).ok());
            let existing = ExistingMemory {
                state: row.text(sql::existing::STATE)?,
                fold_hash: row.opt_blob(sql::existing::FOLD_HASH)?,
                lines,
            };
            group.1.existing.insert(MemoryId(row.uuid(sql::existing::ID)?), existing);
        }
        Ok(())
    }

    /// The acts on these memories, by patient. An act may be older than its memory: the command came first.
    pub(super) async fn acts_on(
        &mut self,
        memories: &BTreeSet<(Uuid, MemoryId)>,
    ) -> Result<HashMap<MemoryId, Vec<PersonAct>>, StoreError> {
        let mut found: HashMap<MemoryId, Vec<PersonAct>> = HashMap::new();
        let pairs = Arg::Pairs(memories.iter().map(|(patient, id)| (*patient, id.0.as_bytes().to_vec())).collect());
        for row in self.tx.fetch_all(&sql::ACTS, vec![self.target.org.0.into(), pairs]).await? {
            let act = act(&row)?;
            found.entry(act.memory).or_default().push(act);
        }
        Ok(found)
    }
}

/// Groups as an argument of a look-up: patient and hash.
pub(super) fn keyed<'g>(groups: impl IntoIterator<Item = &'g GroupKey>) -> Arg {
    Arg::Pairs(groups.into_iter().map(|(s, g)| (s.patient().0, g.to_vec())).collect())
}

type FoundGroup<'g> = Option<(Scope, &'g mut LoadedGroup)>;

fn find<'g>(
    groups: &'g mut BTreeMap<GroupKey, LoadedGroup>,
    scopes: &HashMap<Uuid, Scope>,
    (patient, hash): (Uuid, KeyHash),
) -> FoundGroup<'g> {
    let scope = scopes.get(&patient)?;
    groups.get_mut(&(*scope, hash)).map(|loaded| (*scope, loaded))
}

fn act(row: &Row) -> Result<PersonAct, StoreError> {
    Ok(PersonAct {
        id: MemoryEventId(row.uuid(sql::acts::ID)?),
        memory: MemoryId(row.uuid(sql::acts::MEMORY_ID)?),
        at: row.time(sql::acts::AT)?,
        deed: code(row, sql::acts::ACTION, MemoryAction::from_code)?,
        // The row contains the role; only a clinician's has a weight.
        by: SetBy::from_code(&row.text(sql::acts::SOURCE)?).unwrap_or(SetBy::Unknown),
        evidence: row.opt_uuid(sql::acts::EVIDENCE_ID)?,
    })
}

/// All statements that answer findings answer them in the same columns.
fn finding(row: &Row, keys: &PatientKeys) -> Result<(Assertion, FindingText), StoreError> {
    let id = row.uuid(of::ID)?;
    let words: FindingWords = open_record(keys, finding_cell(id, "payload"), &row.blob(of::PAYLOAD_SEALED)?)?;
    let document_type =
        row.opt_text(of::DOCUMENT_TYPE)?.map(|c| DocumentType::from_code(&c).ok_or(StoreError::Shape)).transpose()?;
    let entity = code(row, of::ENTITY_TYPE, EntityType::from_code)?;
    let temporality = code(row, of::TEMPORALITY, Temporality::from_code)?;
    let mut assertion = Assertion {
        id: FindingId(id),
        source: row.uuid(of::SOURCE_ID)?,
        text: row.opt_blob(of::TEXT_HASH)?.map(|hash| hash.try_into().map_err(|_| StoreError::Shape)).transpose()?,
        live: row.bool(of::LIVE)?,
        attribute: row.bytes(of::ATTRIBUTE_HASH)?,
        entity,
        kind: code(row, of::KIND, Kind::from_code)?,
        class: code(row, of::CLASS, Class::from_code)?,
        set_by: code(row, of::SET_BY, SetBy::from_code)?,
        document_type,
        source_type: code(row, of::SOURCE_TYPE, SourceType::from_code)?,
        epistemic: code(row, of::EPISTEMIC, Epistemic::from_code)?,
        trust: *Trust::ALL
            .get(usize::try_from(row.i64(of::TRUST)? - 1).unwrap_or(usize::MAX))
            .ok_or(StoreError::Shape)?,
        ending: row.bool(of::ENDING)?,
        past: entity == EntityType::Condition && temporality == Temporality::Historical,
        blanket: row.bool(of::BLANKET)?,
        never: words.never,
        polarity: Polarity::from_negated(row.bool(of::NEGATED)?),
        experiencer: code(row, of::EXPERIENCER, Experiencer::from_code)?,
        extraction_confidence: row.f64(of::EXTRACTION_CONFIDENCE)?,
        initial_confidence: row.f64(of::INITIAL_CONFIDENCE)?,
        basis: code(row, of::CONFIDENCE_BASIS, ConfidenceBasis::from_code)?,
        is_proxy: row.bool(of::IS_PROXY)?,
        asserted_at: row.time(of::ASSERTED_AT)?,
        valid_from: row.time(of::VALID_FROM)?,
        expires_at: row.opt_time(of::EXPIRES_AT)?,
        ends_at: row.opt_time(of::ENDS_AT)?,
        recorded_at: row.time(of::RECORDED_AT)?,
        tombstone: row.opt_uuid(of::TOMBSTONE_OF)?.map(MemoryId),
        details: details(&words),
    };
    as_judged_now(&mut assertion);
    let evidence = match row.opt_blob(of::EVIDENCE_SEALED)?.filter(|sealed| !sealed.is_empty()) {
        Some(sealed) => Some(Evidence {
            quote: open_text(keys, finding_cell(id, "evidence"), &sealed)?,
            span: Span::new(offset(row, of::EVIDENCE_START)?, offset(row, of::EVIDENCE_END)?),
        }),
        None => None,
    };
    let revision = u32::try_from(row.i64(of::REVISION)?).map_err(|_| StoreError::Shape)?;
    Ok((assertion, FindingText { words, evidence, revision, from_document: document_type.is_some() }))
}

/// Adapts findings that were stored before model output expired, and before only the patient's own words were weighted.
fn as_judged_now(a: &mut Assertion) {
    // An account that a job forms is a document of the same type, and lives under decay.
    let by_model = a.set_by == SetBy::Agent && a.source_type != SourceType::Consolidation;
    if a.document_type == Some(DocumentType::Analysis) && by_model {
        a.class = Class::Inference;
    }
    let own = speaks_for_themselves(a.source_type, a.set_by, a.document_type);
    if a.basis == ConfidenceBasis::CognitiveState && !own {
        (a.basis, a.initial_confidence) = (ConfidenceBasis::Default, 1.0);
    }
}

fn code<T>(row: &Row, place: usize, from: impl Fn(&str) -> Option<T>) -> Result<T, StoreError> {
    from(&row.text(place)?).ok_or(StoreError::Shape)
}

fn offset(row: &Row, place: usize) -> Result<usize, StoreError> {
    usize::try_from(row.i64(place)?).map_err(|_| StoreError::Shape)
}

/// Details in canonical form: equal for equal facts in any spelling.
pub(crate) fn details(words: &FindingWords) -> Details {
    let canonical =
        |text: &Option<String>| text.as_deref().map(|t| fold(t).split_whitespace().collect::<Vec<_>>().join(" "));
    Details {
        dose: words.dose.as_deref().map(canonical_dose),
        frequency: canonical(&words.frequency),
        route: canonical(&words.route),
        severity: canonical(&words.severity),
        date: canonical(&words.date),
        value: canonical(&words.value),
    }
}

//! Reading the groups that a batch touches.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

use uuid::Uuid;

use super::super::findings::finding_cell;
use super::super::{Group, Writer};
use super::{Existing, Loaded, Told};
use crate::StoreError;
use crate::records::{Evidence, FindingWords};
use crate::seal::{open_record, open_text};
use anamnesis_core::confidence::ConfidenceBasis;
use anamnesis_core::document::DocumentType;
use anamnesis_core::finding::{EntityType, Epistemic, Experiencer, Polarity, Temporality};
use anamnesis_core::fold::{Act, Assertion, Deed, Details, KeyHash, speaks_for_themselves};
use anamnesis_core::ids::{FindingId, MemoryEventId, MemoryId};
use anamnesis_core::memory::{Class, Kind, SetBy};
use anamnesis_core::provenance::{SourceType, Trust};
use anamnesis_core::quantity::canonical_dose;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::PatientKeys;
use anamnesis_sql::{Arg, Row, Sql};
use anamnesis_text::{Span, fold};

/// A finding, in the order in which [`finding`] reads it.
macro_rules! finding_columns {
    () => {
        "SELECT f.patient_id, f.group_hash, f.id, f.source_id, f.revision, f.live, f.attribute_hash, f.entity_type, f.kind, \
         f.class, f.set_by, f.document_type, f.source_type, f.epistemic, f.trust, f.ending, f.blanket, f.negated, \
         f.experiencer, f.extraction_confidence, f.initial_confidence, f.confidence_basis, f.is_proxy, f.asserted_at, \
         f.valid_from, f.expires_at, f.recorded_at, f.payload_sealed, f.evidence_sealed, f.evidence_start, f.evidence_end, \
         f.temporality, f.tombstone_of, f.ends_at, f.text_hash "
    };
}

static FINDINGS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::for_each(
        concat!(finding_columns!(), "FROM extracted_findings AS f WHERE f.org_id = $1"),
        &["f.patient_id", "f.group_hash"],
        "{keyed $2}",
    )
});
// What is no later than a checkpoint is in it, or the checkpoint is gone.
static LATER: LazyLock<Sql> = LazyLock::new(|| {
    Sql::for_each(
        concat!(
            finding_columns!(),
            "FROM fold_checkpoint AS c JOIN extracted_findings AS f ON f.org_id = c.org_id AND f.patient_id = c.patient_id \
             AND f.group_hash = c.group_hash AND f.asserted_at > c.last_at WHERE c.org_id = $1"
        ),
        &["c.patient_id", "c.group_hash"],
        "{keyed $2}",
    )
});
static NAMED: LazyLock<Sql> = LazyLock::new(|| {
    Sql::for_each(
        concat!(finding_columns!(), "FROM extracted_findings AS f WHERE f.org_id = $1"),
        &["f.patient_id", "f.id"],
        "{pairs $2}",
    )
});
static EXISTING: LazyLock<Sql> = LazyLock::new(|| {
    Sql::for_each(
        "SELECT patient_id, group_hash, id, state, fold_hash, lines FROM memory WHERE org_id = $1",
        &["patient_id", "group_hash"],
        "{keyed $2}",
    )
});
static ACTS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::for_each(
        "SELECT patient_id, id, memory_id, at, action, source, evidence_id FROM memory_event WHERE org_id = $1 AND derived = 0",
        &["patient_id", "memory_id"],
        "{pairs $2}",
    )
});

impl Writer<'_> {
    /// Everything of these groups.
    pub(in crate::write) async fn load(
        &mut self,
        touched: &BTreeSet<Group>,
    ) -> Result<BTreeMap<Group, Loaded>, StoreError> {
        let mut groups: BTreeMap<Group, Loaded> = touched.iter().map(|g| (*g, Loaded::default())).collect();
        self.load_findings(&FINDINGS, keyed(touched), &mut groups).await?;
        self.load_existing(&mut groups).await?;
        Ok(groups)
    }

    /// Of a group with a checkpoint what came after it, of any other everything.
    pub(super) async fn load_on(&mut self, touched: &BTreeSet<Group>) -> Result<BTreeMap<Group, Loaded>, StoreError> {
        let mut groups: BTreeMap<Group, Loaded> = touched.iter().map(|g| (*g, Loaded::default())).collect();
        let checkpoints = self.checkpoints(touched).await?;
        let (resumed, whole): (BTreeSet<Group>, BTreeSet<Group>) =
            touched.iter().partition(|group| checkpoints.contains_key(*group));
        for (group, checkpoint) in checkpoints {
            groups.entry(group).or_default().checkpoint = Some(checkpoint);
        }
        if !resumed.is_empty() {
            self.load_findings(&LATER, keyed(&resumed), &mut groups).await?;
        }
        if !whole.is_empty() {
            self.load_findings(&FINDINGS, keyed(&whole), &mut groups).await?;
        }
        self.load_existing(&mut groups).await?;
        Ok(groups)
    }

    /// The findings of these ids that are not loaded yet: a memory of a resumed group has its words from before.
    pub(super) async fn load_named(
        &mut self,
        groups: &mut BTreeMap<Group, Loaded>,
        wanted: &BTreeSet<(Uuid, FindingId)>,
    ) -> Result<(), StoreError> {
        if wanted.is_empty() {
            return Ok(());
        }
        let pairs = wanted.iter().map(|(patient, id)| (*patient, id.0.as_bytes().to_vec())).collect();
        self.load_findings(&NAMED, Arg::Pairs(pairs), groups).await
    }

    async fn load_findings(
        &mut self,
        sql: &Sql,
        wanted: Arg,
        groups: &mut BTreeMap<Group, Loaded>,
    ) -> Result<(), StoreError> {
        let scopes: HashMap<Uuid, Scope> = groups.keys().map(|(s, _)| (s.patient().0, *s)).collect();
        let courses = self.cognitive_courses(scopes.keys().copied().collect()).await?;
        for row in self.tx.fetch_all(sql, vec![self.target.org.0.into(), wanted]).await? {
            let Some(group) = find(groups, &scopes, &row)? else { continue };
            let keys = self.keys.get(&group.0).ok_or(StoreError::Race)?;
            let (mut assertion, told) = finding(&row, keys)?;
            if let Some(course) = courses.get(&group.0.patient().0) {
                assertion.weigh(course);
            }
            group.1.told.insert(assertion.id, told);
            group.1.log.assertions.push(assertion);
        }
        Ok(())
    }

    async fn load_existing(&mut self, groups: &mut BTreeMap<Group, Loaded>) -> Result<(), StoreError> {
        let scopes: HashMap<Uuid, Scope> = groups.keys().map(|(s, _)| (s.patient().0, *s)).collect();
        let wanted = keyed(groups.keys());
        for row in self.tx.fetch_all(&EXISTING, vec![self.target.org.0.into(), wanted]).await? {
            let Some(group) = find(groups, &scopes, &row)? else { continue };
            let lines = row.opt_i64(5)?.and_then(|lines| u32::try_from(lines).ok());
            let existing = Existing { state: row.text(3)?, fold_hash: row.opt_blob(4)?, lines };
            group.1.existing.insert(MemoryId(row.uuid(2)?), existing);
        }
        Ok(())
    }

    /// The acts on these memories, by patient. An act may be older than its memory: the command came first.
    pub(super) async fn acts_on(
        &mut self,
        memories: &BTreeSet<(Uuid, MemoryId)>,
    ) -> Result<HashMap<MemoryId, Vec<Act>>, StoreError> {
        let mut found: HashMap<MemoryId, Vec<Act>> = HashMap::new();
        let pairs = Arg::Pairs(memories.iter().map(|(patient, id)| (*patient, id.0.as_bytes().to_vec())).collect());
        for row in self.tx.fetch_all(&ACTS, vec![self.target.org.0.into(), pairs]).await? {
            let act = act(&row)?;
            found.entry(act.memory).or_default().push(act);
        }
        Ok(found)
    }
}

/// Groups as an argument of a look-up: patient and hash.
pub(super) fn keyed<'g>(groups: impl IntoIterator<Item = &'g Group>) -> Arg {
    Arg::Pairs(groups.into_iter().map(|(s, g)| (s.patient().0, g.to_vec())).collect())
}

type Found<'g> = Option<(Scope, &'g mut Loaded)>;

fn find<'g>(
    groups: &'g mut BTreeMap<Group, Loaded>,
    scopes: &HashMap<Uuid, Scope>,
    row: &Row,
) -> Result<Found<'g>, StoreError> {
    let hash: KeyHash = row.bytes(1)?;
    let Some(scope) = scopes.get(&row.uuid(0)?) else { return Ok(None) };
    Ok(groups.get_mut(&(*scope, hash)).map(|loaded| (*scope, loaded)))
}

fn act(row: &Row) -> Result<Act, StoreError> {
    Ok(Act {
        id: MemoryEventId(row.uuid(1)?),
        memory: MemoryId(row.uuid(2)?),
        at: row.time(3)?,
        deed: code(row, 4, Deed::from_code)?,
        // The row says the role; only a clinician's carries weight of its own.
        by: SetBy::from_code(&row.text(5)?).unwrap_or(SetBy::Unknown),
        evidence: row.opt_uuid(6)?,
    })
}

fn finding(row: &Row, keys: &PatientKeys) -> Result<(Assertion, Told), StoreError> {
    let id = row.uuid(2)?;
    let words: FindingWords = open_record(keys, finding_cell(id, "payload"), &row.blob(27)?)?;
    let document_type = row.opt_text(11)?.map(|c| DocumentType::from_code(&c).ok_or(StoreError::Shape)).transpose()?;
    let entity = code(row, 7, EntityType::from_code)?;
    let temporality = code(row, 31, Temporality::from_code)?;
    let mut assertion = Assertion {
        id: FindingId(id),
        source: row.uuid(3)?,
        text: row.opt_blob(34)?.map(|hash| hash.try_into().map_err(|_| StoreError::Shape)).transpose()?,
        live: row.bool(5)?,
        attribute: row.bytes(6)?,
        entity,
        kind: code(row, 8, Kind::from_code)?,
        class: code(row, 9, Class::from_code)?,
        set_by: code(row, 10, SetBy::from_code)?,
        document_type,
        source_type: code(row, 12, SourceType::from_code)?,
        epistemic: code(row, 13, Epistemic::from_code)?,
        trust: *Trust::ALL.get(usize::try_from(row.i64(14)? - 1).unwrap_or(usize::MAX)).ok_or(StoreError::Shape)?,
        ending: row.bool(15)?,
        past: entity == EntityType::Condition && temporality == Temporality::Historical,
        blanket: row.bool(16)?,
        never: words.never,
        polarity: Polarity::of(row.bool(17)?),
        experiencer: code(row, 18, Experiencer::from_code)?,
        extraction_confidence: row.f64(19)?,
        initial_confidence: row.f64(20)?,
        basis: code(row, 21, ConfidenceBasis::from_code)?,
        is_proxy: row.bool(22)?,
        asserted_at: row.time(23)?,
        valid_from: row.time(24)?,
        expires_at: row.opt_time(25)?,
        ends_at: row.opt_time(33)?,
        recorded_at: row.time(26)?,
        tombstone: row.opt_uuid(32)?.map(MemoryId),
        details: details(&words),
    };
    as_judged_now(&mut assertion);
    let evidence = match row.opt_blob(28)?.filter(|sealed| !sealed.is_empty()) {
        Some(sealed) => Some(Evidence {
            quote: open_text(keys, finding_cell(id, "evidence"), &sealed)?,
            span: Span::new(offset(row, 29)?, offset(row, 30)?),
        }),
        None => None,
    };
    let revision = u32::try_from(row.i64(4)?).map_err(|_| StoreError::Shape)?;
    Ok((assertion, Told { words, evidence, revision, from_document: document_type.is_some() }))
}

/// What was stored before model output had an end, and before only the patient's own words were weighed.
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

fn code<T>(row: &Row, index: usize, from: impl Fn(&str) -> Option<T>) -> Result<T, StoreError> {
    from(&row.text(index)?).ok_or(StoreError::Shape)
}

fn offset(row: &Row, index: usize) -> Result<usize, StoreError> {
    usize::try_from(row.i64(index)?).map_err(|_| StoreError::Shape)
}

/// Details in canonical form: equal for equal facts whatever the spelling.
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

pub(crate) fn statements() -> Vec<&'static Sql> {
    vec![&FINDINGS, &LATER, &NAMED, &EXISTING, &ACTS]
}

//! Documents, their passages and vectors. A new revision becomes visible and the old one retires in one transaction.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

use half::f16;
use half::slice::HalfFloatSliceExt as _;
use uuid::Uuid;

use super::BatchWriter;
use super::outbox::found_by;
use crate::StoreError;
use crate::covered::{self, CoveredTable};
use crate::encrypted_columns::{Sealer, document_row};
use crate::records::{NewDocument, NewRisk, detected_by};
use crate::statements::write::documents as sql;
use crate::vectors::generation;
use anamnesis_core::event::{DocumentIndexed, RiskFlagged};
use anamnesis_core::failpoints;
use anamnesis_core::ids::{DocumentId, PatientId, derive};
use anamnesis_crypto::ColumnRef;
use anamnesis_sql::{Arg, Column};
use anamnesis_text::Language;

pub(super) use crate::statements::write::documents::PASSAGE;

/// The covered columns of a document: its identity, its times, the columns that decide when its source is removed, and
/// its patient.
const COVERED_COLUMNS: [&str; 9] = [
    "document_id",
    "revision",
    "document_type",
    "occurred_at",
    "therapist_id",
    "signed_by",
    "ends_at",
    "session_hash",
    "recorded_at",
];
/// Columns that were added later: the number of risks that were read in a document, and the columns for finding it.
const COVERED_LATER: [&str; 5] = ["risks", "risk_level", "sentiment", "language", "body_hash"];
pub(super) static DOCUMENTS: covered::LazyCoveredTable = LazyLock::new(|| covered(&sql::document::COLUMNS));

/// How a document is covered that is inserted with these columns.
pub(super) fn covered(inserted: &[Column]) -> CoveredTable {
    CoveredTable::with_later("documents", (&COVERED_COLUMNS, &COVERED_LATER), inserted, "").since(2)
}

pub(super) static COVERED: covered::LazyCoveredTable = LazyLock::new(|| {
    let columns = [
        "id",
        "document_id",
        "revision",
        "class",
        "denied",
        "experiencer",
        "heard_by",
        "probability",
        "level",
        "temporality",
        "at",
    ];
    CoveredTable::new("risk_flag", &columns, &sql::risk::COLUMNS, "")
});

/// A vector as the store keeps it: 16-bit floats, little endian.
pub(crate) fn vector_bytes(vector: &[f32]) -> Vec<u8> {
    let mut halves = vec![f16::ZERO; vector.len()];
    halves.convert_from_f32_slice(vector);
    let mut bytes = vec![0; 2 * halves.len()];
    for (pair, half) in bytes.as_chunks_mut::<2>().0.iter_mut().zip(halves) {
        *pair = half.to_le_bytes();
    }
    bytes
}

/// The cell of a document's content.
pub(crate) fn content_cell(document: Uuid, revision: u32) -> ColumnRef {
    ColumnRef { table: "documents", row: document_row(document, revision), column: "content" }
}

type RevisedDocument = (PatientId, DocumentId);

impl BatchWriter<'_> {
    pub(super) async fn documents(&mut self, documents: &[NewDocument], generation: i64) -> Result<(), StoreError> {
        if documents.is_empty() {
            return Ok(());
        }
        // Before any passage: a swap of generations waits for this commit and finds its passages.
        let generations = generation::hold(self.tx, self.target.org).await?;
        let made = BatchVectors {
            counts: generations.active.is_none_or(|active| active == generation),
            is_building: generations.building.is_some() && !failpoints::is("vectors_unmarked"),
        };
        let newest = self.newest_revisions(documents).await?;
        let current =
            |d: &NewDocument| newest.get(&(d.scope.patient(), d.id)).is_none_or(|newest| d.revision >= *newest);
        self.retire(documents.iter().filter(|d| d.revision > 1 && current(d))).await?;
        let mut rows = DocumentRows::default();
        for document in documents {
            self.add(document, current(document), made, &mut rows)?;
        }
        self.done.documents += rows.documents.len();
        self.done.vectors += rows.embeddings.len();
        let (org_id, now) = (Arg::from(self.target.org.0), Arg::from(self.target.now));
        let shared = sql::document::Shared { org_id: org_id.clone(), created_at: now.clone(), updated_at: now.clone() };
        self.tx.bulk_sharing(&sql::DOCUMENT, shared.into(), rows.documents).await?;
        let shared = sql::passage::Shared { org_id: org_id.clone(), created_at: now.clone(), updated_at: now.clone() };
        self.tx.bulk_sharing(&PASSAGE, shared.into(), rows.passages).await?;
        let generation = generation.into();
        let shared = sql::embedding::Shared { org_id, created_at: now.clone(), updated_at: now, generation };
        self.tx.bulk_sharing(&sql::EMBEDDING, shared.into(), rows.embeddings).await?;
        self.tx.bulk(&sql::RISK, rows.risks).await?;
        Ok(())
    }

    /// The newest revision of each document, stored or in this batch.
    async fn newest_revisions(
        &mut self,
        documents: &[NewDocument],
    ) -> Result<HashMap<RevisedDocument, u32>, StoreError> {
        let pairs = pairs(documents.iter());
        let mut newest: HashMap<RevisedDocument, u32> = HashMap::new();
        for row in self.tx.fetch_all(&sql::REVISIONS, vec![self.target.org.0.into(), pairs]).await? {
            let patient = PatientId(row.uuid(sql::revisions::PATIENT_ID)?);
            let document = DocumentId(row.uuid(sql::revisions::DOCUMENT_ID)?);
            let revision = u32::try_from(row.i64(sql::revisions::REVISION)?).unwrap_or(u32::MAX);
            let newest = newest.entry((patient, document)).or_insert(revision);
            *newest = (*newest).max(revision);
        }
        for d in documents {
            let entry = newest.entry((d.scope.patient(), d.id)).or_insert(d.revision);
            *entry = (*entry).max(d.revision);
        }
        Ok(newest)
    }

    /// Statements of older revisions no longer count; their groups are projected again.
    async fn retire(&mut self, replaced: impl Iterator<Item = &NewDocument>) -> Result<(), StoreError> {
        let replaced: Vec<&NewDocument> = replaced.collect();
        if replaced.is_empty() {
            return Ok(());
        }
        let org = Arg::from(self.target.org.0);
        let now = Arg::from(self.target.now);
        let pairs = pairs(replaced.iter().copied());
        self.tx.execute(&sql::RETIRE, vec![org.clone(), pairs.clone(), now.clone()]).await?;
        self.tx.execute(&sql::DELETE_PASSAGES, vec![org.clone(), pairs.clone()]).await?;
        self.tx.execute(&sql::MARK_FINDINGS_REPLACED, vec![org.clone(), pairs.clone(), now]).await?;
        let scopes: BTreeMap<Uuid, _> = replaced.iter().map(|d| (d.scope.patient().0, d.scope)).collect();
        for row in self.tx.fetch_all(&sql::GROUPS_OF_DOCUMENTS, vec![org, pairs]).await? {
            if let Some(scope) = scopes.get(&row.uuid(sql::groups_of_documents::PATIENT_ID)?) {
                self.touched.insert((*scope, row.bytes(sql::groups_of_documents::GROUP_HASH)?));
            }
        }
        Ok(())
    }

    fn add(
        &mut self,
        d: &NewDocument,
        current: bool,
        made: BatchVectors,
        rows: &mut DocumentRows,
    ) -> Result<(), StoreError> {
        let keys = self.keys_of(d.scope)?;
        let sealer = Sealer { keys, entropy: self.entropy };
        let patient = Arg::from(d.scope.patient().0);
        let now = Arg::from(self.target.now);
        // As many as their rows: one of a class at a place.
        let risks: BTreeSet<_> = d.risks.iter().map(|risk| (risk.class, risk.span.start)).collect();
        let session = d.content.session_key.as_ref().map(|k| keys.hash("session", k.as_bytes()).to_vec());
        let row = sql::document::Row {
            patient_id: patient.clone(),
            document_id: d.id.0.into(),
            revision: d.revision.into(),
            document_type: d.document_type.code().into(),
            occurred_at: d.occurred_at.into(),
            language: language_code(d.language).into(),
            therapist_id: d.therapist_id.into(),
            signed_by: d.signed_by.into(),
            ends_at: d.ends_at.into(),
            session_hash: session.into(),
            sentiment: d.sentiment.into(),
            risk_level: d.risk_level.into(),
            body_hash: d.body_hash.into(),
            content_sealed: sealer.record(content_cell(d.id.0, d.revision), &d.content)?,
            redaction_policy: d.redaction_policy.clone().into(),
            extractor_version: d.extractor_version.clone().into(),
            current: current.into(),
            retired_at: if current { Arg::Null } else { now.clone() },
            recorded_at: now.clone(),
            risks: (risks.len() as i64).into(),
            mac: Arg::Null,
        };
        rows.documents.push(DOCUMENTS.seal_row(keys, row));
        for risk in &d.risks {
            rows.risks.push(risk_row(d, risk, sealer, &now)?);
        }
        if current {
            add_passages(d, &patient, made, rows);
        }
        self.announce(d, current);
        Ok(())
    }

    fn announce(&mut self, d: &NewDocument, current: bool) {
        let revision = d.revision.to_be_bytes();
        let (document_id, document_type) = (d.id, d.document_type);
        let data = DocumentIndexed { document_id, revision: d.revision, document_type, current };
        self.events.push(d.scope, &[d.id.0.as_bytes(), &revision], &data);
        // Only a danger that needs attention soon raises an alarm; others wait until the profile is read.
        for risk in d.risks.iter().filter(|r| !r.denied && r.level.calls()) {
            let data = RiskFlagged {
                document_id: Some(d.id),
                revision: Some(d.revision),
                class: risk.class,
                experiencer: risk.experiencer,
                level: risk.level,
                by: found_by(risk.learned),
                confidence: risk.learned,
                ephemeral: None,
            };
            let start = (risk.span.start as u64).to_be_bytes();
            let key: [&[u8]; 4] = [d.id.0.as_bytes(), &revision, risk.class.as_bytes(), &start];
            self.events.push(d.scope, &key, &data);
        }
    }
}

/// The vectors of a batch, compared with the generations of its organisation at the commit.
#[derive(Clone, Copy)]
struct BatchVectors {
    /// Of the active generation. Others were made before a swap: their passages wait for vectors of the new one.
    counts: bool,
    /// Another generation is being made, which lacks these passages.
    is_building: bool,
}

#[derive(Default)]
struct DocumentRows {
    documents: Vec<Vec<Arg>>,
    passages: Vec<Vec<Arg>>,
    embeddings: Vec<Vec<Arg>>,
    risks: Vec<Vec<Arg>>,
}

fn add_passages(d: &NewDocument, patient: &Arg, made: BatchVectors, rows: &mut DocumentRows) {
    for (ordinal, passage) in d.passages.iter().enumerate() {
        let vector = passage.vector.as_ref().filter(|_| made.counts);
        let row = sql::passage::Row {
            patient_id: patient.clone(),
            id: passage.id.0.into(),
            document_id: d.id.0.into(),
            revision: d.revision.into(),
            ordinal: (ordinal as i64).into(),
            start_offset: (passage.span.start as i64).into(),
            end_offset: (passage.span.end as i64).into(),
            text_hash: passage.text_hash.into(),
            terms: Arg::Ints(passage.terms.clone()),
            embedding_pending: vector.is_none().into(),
            missing_next_generation: (made.is_building && vector.is_some()).into(),
        };
        rows.passages.push(row.into());
        if let Some(vector) = vector {
            let row = sql::embedding::Row {
                patient_id: patient.clone(),
                passage_id: passage.id.0.into(),
                dimension: (vector.len() as i64).into(),
                vector: vector_bytes(vector).into(),
            };
            rows.embeddings.push(row.into());
        }
    }
}

fn risk_row(d: &NewDocument, risk: &NewRisk, sealer: Sealer<'_>, now: &Arg) -> Result<Vec<Arg>, StoreError> {
    let start = (risk.span.start as u64).to_be_bytes();
    let id = derive(
        "risk",
        &[
            d.scope.org().0.as_bytes(),
            d.scope.patient().0.as_bytes(),
            d.id.0.as_bytes(),
            &d.revision.to_be_bytes(),
            risk.class.as_bytes(),
            &start,
        ],
    );
    let cell = |column| ColumnRef { table: "risk_flag", row: id, column };
    let row = sql::risk::Row {
        org_id: d.scope.org().0.into(),
        patient_id: d.scope.patient().0.into(),
        id: id.into(),
        document_id: d.id.0.into(),
        revision: d.revision.into(),
        class: risk.class.into(),
        denied: risk.denied.into(),
        experiencer: risk.experiencer.code().into(),
        heard_by: detected_by(risk.learned).into(),
        probability: risk.learned.into(),
        level: risk.level.code().into(),
        temporality: risk.temporality.code().into(),
        detail_sealed: sealer.optional_record(cell("detail"), risk.detail.non_empty())?,
        evidence_sealed: sealer.text(cell("evidence"), &risk.quote),
        evidence_start: (risk.span.start as i64).into(),
        evidence_end: (risk.span.end as i64).into(),
        file_sealed: sealer.optional_record(cell("file"), risk.file.as_ref())?,
        at: d.occurred_at.into(),
        created_at: now.clone(),
        updated_at: now.clone(),
        mac: Arg::Null,
    };
    Ok(COVERED.seal_row(sealer.keys, row))
}

fn pairs<'d>(documents: impl Iterator<Item = &'d NewDocument>) -> Arg {
    Arg::Pairs(documents.map(|d| (d.scope.patient().0, d.id.0.as_bytes().to_vec())).collect())
}

pub(super) fn language_code(language: Language) -> &'static str {
    match language {
        Language::Spanish => "es",
        Language::English => "en",
        Language::Unknown => "und",
    }
}

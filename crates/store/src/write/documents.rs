//! Documents, their passages and vectors. A new revision becomes visible and the old one retires in one transaction.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

use half::f16;
use half::slice::HalfFloatSliceExt as _;
use uuid::Uuid;

use super::Writer;
use super::outbox::found_by;
use crate::covered::{self, Covered};
use crate::records::{NewDocument, NewRisk, heard_by};
use crate::seal::{Sealer, document_row};
use crate::{StoreError, generations};
use anamnesis_core::event::{DocumentIndexed, RiskFlagged};
use anamnesis_core::failpoints;
use anamnesis_core::ids::{DocumentId, PatientId, derive};
use anamnesis_crypto::Cell;
use anamnesis_sql::{Arg, Bulk, Column, ColumnType, Sql};
use anamnesis_text::Language;

static CURRENT: LazyLock<Sql> = LazyLock::new(|| {
    Sql::for_each(
        "SELECT patient_id, document_id, revision FROM documents WHERE org_id = $1",
        &["patient_id", "document_id"],
        "{pairs $2}",
    )
});
static RETIRE: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "UPDATE documents SET current = 0, retired_at = $3, updated_at = $3 WHERE org_id = $1 AND current = 1 AND (patient_id, document_id) IN {pairs $2}",
    )
});
static FORGET_PASSAGES: LazyLock<Sql> =
    LazyLock::new(|| Sql::new("DELETE FROM passage WHERE org_id = $1 AND (patient_id, document_id) IN {pairs $2}"));
static UNSAY: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "UPDATE extracted_findings SET live = 0, updated_at = $3 WHERE org_id = $1 AND live = 1 AND (patient_id, source_id) IN {pairs $2}",
    )
});
static UNSAID: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT DISTINCT patient_id, group_hash FROM extracted_findings WHERE org_id = $1 AND (patient_id, source_id) IN {pairs $2}",
    )
});
/// What the rows of a batch share.
const SHARED: [Column; 3] =
    [("org_id", ColumnType::Uuid), ("created_at", ColumnType::Int), ("updated_at", ColumnType::Int)];

const DOCUMENT_COLUMNS: [Column; 21] = [
    ("patient_id", ColumnType::Uuid),
    ("document_id", ColumnType::Uuid),
    ("revision", ColumnType::Int),
    ("document_type", ColumnType::Text),
    ("occurred_at", ColumnType::Int),
    ("language", ColumnType::Text),
    ("therapist_id", ColumnType::Uuid),
    ("signed_by", ColumnType::Uuid),
    ("ends_at", ColumnType::Int),
    ("session_hash", ColumnType::Bytes),
    ("sentiment", ColumnType::Text),
    ("risk_level", ColumnType::Text),
    ("body_hash", ColumnType::Bytes),
    ("content_sealed", ColumnType::Bytes),
    ("redaction_policy", ColumnType::Text),
    ("extractor_version", ColumnType::Text),
    ("current", ColumnType::Bool),
    ("retired_at", ColumnType::Int),
    ("recorded_at", ColumnType::Int),
    ("risks", ColumnType::Int),
    ("mac", ColumnType::Bytes),
];
static DOCUMENT: LazyLock<Bulk> = LazyLock::new(|| Bulk::sharing("documents", &SHARED, &DOCUMENT_COLUMNS, ""));
/// What of a document is covered: what it is, when it was and when it came, by which its source goes, and whose.
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
/// Since it is counted how many risks were read in a document: that, and by what it is found.
const COVERED_LATER: [&str; 5] = ["risks", "risk_level", "sentiment", "language", "body_hash"];
pub(super) static DOCUMENTS: covered::Lazy = LazyLock::new(|| covered(&DOCUMENT_COLUMNS));

/// How a document is covered that is inserted with these columns.
pub(super) fn covered(inserted: &[Column]) -> Covered {
    Covered::with_later("documents", (&COVERED_COLUMNS, &COVERED_LATER), inserted, "").since(2)
}

pub(super) static PASSAGE: LazyLock<Bulk> = LazyLock::new(|| {
    let columns = [
        ("patient_id", ColumnType::Uuid),
        ("id", ColumnType::Uuid),
        ("document_id", ColumnType::Uuid),
        ("revision", ColumnType::Int),
        ("ordinal", ColumnType::Int),
        ("start_offset", ColumnType::Int),
        ("end_offset", ColumnType::Int),
        ("text_hash", ColumnType::Bytes),
        ("terms", ColumnType::Ints),
        ("waits", ColumnType::Bool),
        ("behind", ColumnType::Bool),
    ];
    Bulk::sharing("passage", &SHARED, &columns, "")
});
static EMBEDDING: LazyLock<Bulk> = LazyLock::new(|| {
    let columns = [
        ("patient_id", ColumnType::Uuid),
        ("passage_id", ColumnType::Uuid),
        ("dimension", ColumnType::Int),
        ("vector", ColumnType::Vector),
    ];
    let shared = [SHARED.as_slice(), &[("generation", ColumnType::Int)]].concat();
    Bulk::sharing("embedding", &shared, &columns, "")
});
const RISK_COLUMNS: [Column; 21] = [
    ("org_id", ColumnType::Uuid),
    ("patient_id", ColumnType::Uuid),
    ("id", ColumnType::Uuid),
    ("document_id", ColumnType::Uuid),
    ("revision", ColumnType::Int),
    ("class", ColumnType::Text),
    ("denied", ColumnType::Bool),
    ("experiencer", ColumnType::Text),
    ("heard_by", ColumnType::Text),
    ("probability", ColumnType::Float),
    ("level", ColumnType::Text),
    ("temporality", ColumnType::Text),
    ("detail_sealed", ColumnType::Bytes),
    ("evidence_sealed", ColumnType::Bytes),
    ("evidence_start", ColumnType::Int),
    ("evidence_end", ColumnType::Int),
    ("file_sealed", ColumnType::Bytes),
    ("at", ColumnType::Int),
    ("created_at", ColumnType::Int),
    ("updated_at", ColumnType::Int),
    ("mac", ColumnType::Bytes),
];
static RISK: LazyLock<Bulk> =
    LazyLock::new(|| Bulk::new("risk_flag", &RISK_COLUMNS, "ON CONFLICT (org_id, patient_id, id) DO NOTHING"));

pub(super) static COVERED: covered::Lazy = LazyLock::new(|| {
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
    Covered::new("risk_flag", &columns, &RISK_COLUMNS, "")
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
pub(crate) fn content_cell(document: Uuid, revision: u32) -> Cell {
    Cell { table: "documents", row: document_row(document, revision), column: "content" }
}

type Key = (PatientId, DocumentId);

impl Writer<'_> {
    pub(super) async fn documents(&mut self, documents: &[NewDocument], generation: i64) -> Result<(), StoreError> {
        if documents.is_empty() {
            return Ok(());
        }
        // Before any passage: whoever swaps generations waits for this commit and finds its passages.
        let generations = generations::hold(self.tx, self.target.org).await?;
        let made = Made {
            counts: generations.active.is_none_or(|active| active == generation),
            behind: generations.building.is_some() && !failpoints::is("vectors_unmarked"),
        };
        let newest = self.newest_revisions(documents).await?;
        let current =
            |d: &NewDocument| newest.get(&(d.scope.patient(), d.id)).is_none_or(|newest| d.revision >= *newest);
        self.retire(documents.iter().filter(|d| d.revision > 1 && current(d))).await?;
        let mut rows = Rows::default();
        for document in documents {
            self.add(document, current(document), made, &mut rows)?;
        }
        self.done.documents += rows.documents.len();
        self.done.vectors += rows.embeddings.len();
        let (org, now) = (Arg::from(self.target.org.0), Arg::from(self.target.now));
        let shared = vec![org, now.clone(), now.clone()];
        let with = |more: Arg| [shared.as_slice(), &[more]].concat();
        self.tx.bulk_sharing(&DOCUMENT, shared.clone(), rows.documents).await?;
        self.tx.bulk_sharing(&PASSAGE, shared.clone(), rows.passages).await?;
        self.tx.bulk_sharing(&EMBEDDING, with(generation.into()), rows.embeddings).await?;
        self.tx.bulk(&RISK, rows.risks).await?;
        Ok(())
    }

    /// The newest revision of each document, stored or in this batch.
    async fn newest_revisions(&mut self, documents: &[NewDocument]) -> Result<HashMap<Key, u32>, StoreError> {
        let pairs = pairs(documents.iter());
        let mut newest: HashMap<Key, u32> = HashMap::new();
        for row in self.tx.fetch_all(&CURRENT, vec![self.target.org.0.into(), pairs]).await? {
            let revision = u32::try_from(row.i64(2)?).unwrap_or(u32::MAX);
            let newest = newest.entry((PatientId(row.uuid(0)?), DocumentId(row.uuid(1)?))).or_insert(revision);
            *newest = (*newest).max(revision);
        }
        for d in documents {
            let entry = newest.entry((d.scope.patient(), d.id)).or_insert(d.revision);
            *entry = (*entry).max(d.revision);
        }
        Ok(newest)
    }

    /// What older revisions said counts no more; their groups are folded again.
    async fn retire(&mut self, replaced: impl Iterator<Item = &NewDocument>) -> Result<(), StoreError> {
        let replaced: Vec<&NewDocument> = replaced.collect();
        if replaced.is_empty() {
            return Ok(());
        }
        let org = Arg::from(self.target.org.0);
        let now = Arg::from(self.target.now);
        let pairs = pairs(replaced.iter().copied());
        self.tx.execute(&RETIRE, vec![org.clone(), pairs.clone(), now.clone()]).await?;
        self.tx.execute(&FORGET_PASSAGES, vec![org.clone(), pairs.clone()]).await?;
        self.tx.execute(&UNSAY, vec![org.clone(), pairs.clone(), now]).await?;
        let scopes: BTreeMap<Uuid, _> = replaced.iter().map(|d| (d.scope.patient().0, d.scope)).collect();
        for row in self.tx.fetch_all(&UNSAID, vec![org, pairs]).await? {
            if let Some(scope) = scopes.get(&row.uuid(0)?) {
                self.touched.insert((*scope, row.bytes(1)?));
            }
        }
        Ok(())
    }

    fn add(&mut self, d: &NewDocument, current: bool, made: Made, rows: &mut Rows) -> Result<(), StoreError> {
        let keys = self.keys_of(d.scope)?;
        let sealer = Sealer { keys, entropy: self.entropy };
        let patient = Arg::from(d.scope.patient().0);
        let now = Arg::from(self.target.now);
        // As many as their rows: one of a class at a place.
        let risks: BTreeSet<_> = d.risks.iter().map(|risk| (risk.class, risk.span.start)).collect();
        let session = d.content.session_key.as_ref().map(|k| keys.hash("session", k.as_bytes()).to_vec());
        let row = vec![
            patient.clone(),
            d.id.0.into(),
            d.revision.into(),
            d.document_type.code().into(),
            d.occurred_at.into(),
            language_code(d.language).into(),
            d.therapist_id.into(),
            d.signed_by.into(),
            d.ends_at.into(),
            session.into(),
            d.sentiment.into(),
            d.risk_level.into(),
            d.body_hash.into(),
            sealer.record(content_cell(d.id.0, d.revision), &d.content)?,
            d.redaction_policy.clone().into(),
            d.extractor_version.clone().into(),
            current.into(),
            if current { Arg::Null } else { now.clone() },
            now.clone(),
            (risks.len() as i64).into(),
        ];
        rows.documents.push(DOCUMENTS.seal(keys, row));
        for risk in &d.risks {
            rows.risks.push(risk_row(d, risk, sealer, &now)?);
        }
        if current {
            for (ordinal, passage) in d.passages.iter().enumerate() {
                let vector = passage.vector.as_ref().filter(|_| made.counts);
                rows.passages.push(vec![
                    patient.clone(),
                    passage.id.0.into(),
                    d.id.0.into(),
                    d.revision.into(),
                    (ordinal as i64).into(),
                    (passage.span.start as i64).into(),
                    (passage.span.end as i64).into(),
                    passage.text_hash.into(),
                    Arg::Ints(passage.terms.clone()),
                    vector.is_none().into(),
                    (made.behind && vector.is_some()).into(),
                ]);
                if let Some(vector) = vector {
                    rows.embeddings.push(vec![
                        patient.clone(),
                        passage.id.0.into(),
                        (vector.len() as i64).into(),
                        vector_bytes(vector).into(),
                    ]);
                }
            }
        }
        self.announce(d, current);
        Ok(())
    }

    fn announce(&mut self, d: &NewDocument, current: bool) {
        let revision = d.revision.to_be_bytes();
        let (document_id, document_type) = (d.id, d.document_type);
        let data = DocumentIndexed { document_id, revision: d.revision, document_type, current };
        self.events.push(d.scope, &[d.id.0.as_bytes(), &revision], &data);
        // Only a danger that somebody must look at soon calls; the rest waits for whoever reads the profile.
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

/// The vectors of a batch beside the generations of its organisation as they stand at the commit.
#[derive(Clone, Copy)]
struct Made {
    /// Of the active generation. Others were made before a swap: their passages wait for vectors of the new one.
    counts: bool,
    /// Another generation is being made, which lacks these passages.
    behind: bool,
}

#[derive(Default)]
struct Rows {
    documents: Vec<Vec<Arg>>,
    passages: Vec<Vec<Arg>>,
    embeddings: Vec<Vec<Arg>>,
    risks: Vec<Vec<Arg>>,
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
    let cell = |column| Cell { table: "risk_flag", row: id, column };
    let row = vec![
        d.scope.org().0.into(),
        d.scope.patient().0.into(),
        id.into(),
        d.id.0.into(),
        d.revision.into(),
        risk.class.into(),
        risk.denied.into(),
        risk.experiencer.code().into(),
        heard_by(risk.learned).into(),
        risk.learned.into(),
        risk.level.code().into(),
        risk.temporality.code().into(),
        sealer.optional_record(cell("detail"), risk.detail.told())?,
        sealer.text(cell("evidence"), &risk.quote),
        (risk.span.start as i64).into(),
        (risk.span.end as i64).into(),
        sealer.optional_record(cell("file"), risk.file.as_ref())?,
        d.occurred_at.into(),
        now.clone(),
        now.clone(),
    ];
    Ok(COVERED.seal(sealer.keys, row))
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

pub(crate) fn statements() -> Vec<&'static Sql> {
    vec![
        &CURRENT,
        &RETIRE,
        &FORGET_PASSAGES,
        &UNSAY,
        &UNSAID,
        DOCUMENT.sql(),
        PASSAGE.sql(),
        EMBEDDING.sql(),
        RISK.sql(),
    ]
}

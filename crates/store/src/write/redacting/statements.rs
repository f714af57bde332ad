//! The statements of a second redaction.

use std::sync::LazyLock;

use anamnesis_sql::{Bulk, ColumnType, Sql};

const KEY: [(&str, ColumnType); 3] =
    [("org_id", ColumnType::Uuid), ("patient_id", ColumnType::Uuid), ("id", ColumnType::Uuid)];

pub(crate) static STAMP: LazyLock<Bulk> = LazyLock::new(|| {
    let own = [("revision", ColumnType::Int), ("policy", ColumnType::Text), ("now", ColumnType::Int)];
    Bulk::over(
        "UPDATE documents SET redaction_policy = r.policy, updated_at = r.now FROM {rows} AS r \
         WHERE documents.org_id = r.org_id AND documents.patient_id = r.patient_id AND documents.document_id = r.id \
         AND documents.revision = r.revision",
        &[&KEY[..], &own].concat(),
    )
});
pub(crate) static STAMP_RAWS: LazyLock<Bulk> = LazyLock::new(|| {
    let own = [("policy", ColumnType::Text), ("now", ColumnType::Int)];
    Bulk::over(
        "UPDATE memory SET redaction_policy = r.policy, updated_at = r.now FROM {rows} AS r \
         WHERE memory.org_id = r.org_id AND memory.patient_id = r.patient_id AND memory.id = r.id AND memory.kind = 'raw'",
        &[&KEY[..], &own].concat(),
    )
});
pub(crate) static REWRITE: LazyLock<Bulk> = LazyLock::new(|| {
    let own = [("revision", ColumnType::Int), ("content", ColumnType::Bytes)];
    Bulk::over(
        "UPDATE documents SET content_sealed = r.content FROM {rows} AS r \
         WHERE documents.org_id = r.org_id AND documents.patient_id = r.patient_id AND documents.document_id = r.id \
         AND documents.revision = r.revision",
        &[&KEY[..], &own].concat(),
    )
});
pub(crate) static REWRITE_ARCHIVED: LazyLock<Bulk> = LazyLock::new(|| {
    let own = [("revision", ColumnType::Int), ("content", ColumnType::Bytes)];
    Bulk::over(
        "UPDATE document_archive SET content_sealed = r.content FROM {rows} AS r \
         WHERE document_archive.org_id = r.org_id AND document_archive.patient_id = r.patient_id \
         AND document_archive.document_id = r.id AND document_archive.revision = r.revision",
        &[&KEY[..], &own].concat(),
    )
});
pub(crate) static PASSAGES: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT patient_id, document_id, revision, id, start_offset, end_offset, terms FROM passage \
         WHERE org_id = $1 AND (patient_id, document_id) IN {pairs $2}",
    )
});
pub(crate) static MOVE_PASSAGES: LazyLock<Bulk> = LazyLock::new(|| {
    let own = [
        ("first", ColumnType::Int),
        ("behind", ColumnType::Int),
        ("hash", ColumnType::Bytes),
        ("terms", ColumnType::Ints),
        ("now", ColumnType::Int),
    ];
    Bulk::over(
        "UPDATE passage SET start_offset = r.first, end_offset = r.behind, text_hash = r.hash, terms = r.terms, \
         updated_at = r.now FROM {rows} AS r \
         WHERE passage.org_id = r.org_id AND passage.patient_id = r.patient_id AND passage.id = r.id",
        &[&KEY[..], &own].concat(),
    )
});
// A vector tells of the words it was made of.
pub(crate) static FORGET_VECTORS: LazyLock<Sql> =
    LazyLock::new(|| Sql::new("DELETE FROM embedding WHERE org_id = $1 AND (patient_id, passage_id) IN {pairs $2}"));
// The words of today get vectors of their own in the night's batch, of every generation that is in use.
pub(crate) static WAIT: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "UPDATE passage SET waits = 1, behind = 0, updated_at = $3 WHERE org_id = $1 AND (patient_id, id) IN {pairs $2}",
    )
});
pub(crate) static RISKS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT patient_id, document_id, revision, id, evidence_start, evidence_end FROM risk_flag \
         WHERE org_id = $1 AND (patient_id, document_id) IN {pairs $2}",
    )
});
pub(crate) static MOVE_RISKS: LazyLock<Bulk> = LazyLock::new(|| {
    let own = [
        ("quote", ColumnType::Bytes),
        ("first", ColumnType::Int),
        ("behind", ColumnType::Int),
        ("now", ColumnType::Int),
    ];
    Bulk::over(
        "UPDATE risk_flag SET evidence_sealed = r.quote, evidence_start = r.first, evidence_end = r.behind, \
         updated_at = r.now FROM {rows} AS r \
         WHERE risk_flag.org_id = r.org_id AND risk_flag.patient_id = r.patient_id AND risk_flag.id = r.id",
        &[&KEY[..], &own].concat(),
    )
});
// Those of the documents, and those that consolidation formed of them: their source is no document.
pub(crate) static FINDINGS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT patient_id, source_id, revision, id, group_hash, payload_sealed, evidence_sealed, evidence_start, \
         evidence_end FROM extracted_findings WHERE org_id = $1 AND patient_id IN {uuids $2} \
         AND ((patient_id, source_id) IN {pairs $3} OR document_type IS NULL)",
    )
});
pub(crate) static REWORD: LazyLock<Bulk> = LazyLock::new(|| {
    let own = [
        ("payload", ColumnType::Bytes),
        ("quote", ColumnType::Bytes),
        ("first", ColumnType::Int),
        ("behind", ColumnType::Int),
        ("now", ColumnType::Int),
    ];
    Bulk::over(
        "UPDATE extracted_findings SET payload_sealed = r.payload, \
         evidence_sealed = CASE WHEN r.first IS NULL THEN extracted_findings.evidence_sealed ELSE r.quote END, \
         evidence_start = coalesce(r.first, evidence_start), evidence_end = coalesce(r.behind, evidence_end), \
         updated_at = r.now FROM {rows} AS r \
         WHERE extracted_findings.org_id = r.org_id AND extracted_findings.patient_id = r.patient_id \
         AND extracted_findings.id = r.id AND extracted_findings.tombstone_of IS NULL",
        &[&KEY[..], &own].concat(),
    )
});
// An event's words are written once (model.md, "A memory"), and a memory keeps its words while the finding that tells them
// is the same. These must not be kept: they go first, and the fold tells them anew. What is purged stays purged.
pub(crate) static UNTELL: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "UPDATE memory SET content_sealed = NULL, finding_id = NULL, fold_hash = NULL WHERE org_id = $1 \
         AND (patient_id, group_hash) IN {keyed $2} AND content_sealed IS NOT NULL AND kind <> 'raw'",
    )
});

pub(super) fn statements() -> Vec<&'static Sql> {
    vec![
        STAMP.sql(),
        STAMP_RAWS.sql(),
        REWRITE.sql(),
        REWRITE_ARCHIVED.sql(),
        &PASSAGES,
        MOVE_PASSAGES.sql(),
        &FORGET_VECTORS,
        &WAIT,
        &RISKS,
        MOVE_RISKS.sql(),
        &FINDINGS,
        REWORD.sql(),
        &UNTELL,
    ]
}

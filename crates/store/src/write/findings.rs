//! The log: findings and acts.

use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::Writer;
use crate::StoreError;
use crate::covered::{self, Covered};
use crate::history::{self, Line};
use crate::records::{NewAct, NewFinding};
use crate::seal::Sealer;
use anamnesis_core::ids::MemoryId;
use anamnesis_crypto::Cell;
use anamnesis_sql::{Arg, Bulk, Column, ColumnType, Sql};

const FINDING_COLUMNS: [Column; 40] = [
    ("org_id", ColumnType::Uuid),
    ("patient_id", ColumnType::Uuid),
    ("id", ColumnType::Uuid),
    ("source_id", ColumnType::Uuid),
    ("revision", ColumnType::Int),
    ("live", ColumnType::Bool),
    ("group_hash", ColumnType::Bytes),
    ("attribute_hash", ColumnType::Bytes),
    ("entity_type", ColumnType::Text),
    ("kind", ColumnType::Text),
    ("class", ColumnType::Text),
    ("set_by", ColumnType::Text),
    ("document_type", ColumnType::Text),
    ("source_type", ColumnType::Text),
    ("epistemic", ColumnType::Text),
    ("trust", ColumnType::Int),
    ("ending", ColumnType::Bool),
    ("blanket", ColumnType::Bool),
    ("negated", ColumnType::Bool),
    ("uncertain", ColumnType::Bool),
    ("temporality", ColumnType::Text),
    ("experiencer", ColumnType::Text),
    ("extraction_confidence", ColumnType::Float),
    ("initial_confidence", ColumnType::Float),
    ("confidence_basis", ColumnType::Text),
    ("is_proxy", ColumnType::Bool),
    ("asserted_at", ColumnType::Int),
    ("valid_from", ColumnType::Int),
    ("expires_at", ColumnType::Int),
    ("payload_sealed", ColumnType::Bytes),
    ("evidence_sealed", ColumnType::Bytes),
    ("evidence_start", ColumnType::Int),
    ("evidence_end", ColumnType::Int),
    ("extractor_version", ColumnType::Text),
    ("ends_at", ColumnType::Int),
    ("text_hash", ColumnType::Bytes),
    ("recorded_at", ColumnType::Int),
    ("created_at", ColumnType::Int),
    ("updated_at", ColumnType::Int),
    ("mac", ColumnType::Bytes),
];
static FINDING: LazyLock<Bulk> = LazyLock::new(|| {
    Bulk::new("extracted_findings", &FINDING_COLUMNS, "ON CONFLICT (org_id, patient_id, id) DO NOTHING")
});
// `live` and what a purge takes change with time; everything else was said once.
pub(super) static COVERED: covered::Lazy = LazyLock::new(|| {
    let columns = [
        "id",
        "source_id",
        "revision",
        "attribute_hash",
        "group_hash",
        "text_hash",
        "recorded_at",
        "entity_type",
        "kind",
        "class",
        "set_by",
        "document_type",
        "source_type",
        "epistemic",
        "trust",
        "ending",
        "blanket",
        "negated",
        "uncertain",
        "temporality",
        "experiencer",
        "extraction_confidence",
        "initial_confidence",
        "confidence_basis",
        "is_proxy",
        "asserted_at",
        "valid_from",
        "expires_at",
        "ends_at",
    ];
    Covered::new("extracted_findings", &columns, &FINDING_COLUMNS, "")
});
pub(super) static ACTS: covered::Lazy = LazyLock::new(|| {
    let columns = ["id", "memory_id", "derived", "at", "action", "source", "evidence_id"];
    Covered::new("memory_event", &columns, &history::COLUMNS, "AND derived = 0")
});
// A finding of a revision that is not the current one says nothing.
static SILENCE: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "UPDATE extracted_findings SET live = 0 WHERE org_id = $1 AND live = 1 AND (patient_id, source_id) IN {pairs $2} \
         AND EXISTS (SELECT 1 FROM documents AS d WHERE d.org_id = extracted_findings.org_id \
           AND d.patient_id = extracted_findings.patient_id AND d.document_id = extracted_findings.source_id \
           AND d.revision = extracted_findings.revision AND d.current = 0)",
    )
});
static GROUP_OF: LazyLock<Sql> = LazyLock::new(|| {
    Sql::for_each(
        "SELECT patient_id, id, group_hash FROM memory WHERE org_id = $1",
        &["patient_id", "id"],
        "{pairs $2}",
    )
});

/// Cells of a finding.
pub(crate) fn finding_cell(id: Uuid, column: &'static str) -> Cell {
    Cell { table: "extracted_findings", row: id, column }
}

impl Writer<'_> {
    pub(super) async fn findings(&mut self, findings: &[NewFinding]) -> Result<(), StoreError> {
        if findings.is_empty() {
            return Ok(());
        }
        let mut rows = Vec::with_capacity(findings.len());
        let mut sources: Vec<(Uuid, Vec<u8>)> = Vec::new();
        for finding in findings {
            rows.push(self.finding_row(finding)?);
            let (group, at) = ((finding.scope, finding.group), finding.assertion.asserted_at);
            self.touched.insert(group);
            self.earliest.entry(group).and_modify(|earliest| *earliest = at.min(*earliest)).or_insert(at);
            sources.push((finding.scope.patient().0, finding.assertion.source.as_bytes().to_vec()));
        }
        sources.sort();
        sources.dedup();
        self.done.findings += rows.len();
        self.tx.bulk(&FINDING, rows).await?;
        self.tx.execute(&SILENCE, vec![self.target.org.0.into(), Arg::Pairs(sources)]).await?;
        Ok(())
    }

    fn finding_row(&self, f: &NewFinding) -> Result<Vec<Arg>, StoreError> {
        let a = &f.assertion;
        let keys = self.keys_of(f.scope)?;
        let sealer = Sealer { keys, entropy: self.entropy };
        let now = Arg::from(self.target.now);
        let evidence = f.evidence.as_ref();
        let row = vec![
            f.scope.org().0.into(),
            f.scope.patient().0.into(),
            a.id.0.into(),
            a.source.into(),
            f.revision.into(),
            a.live.into(),
            f.group.into(),
            a.attribute.into(),
            a.entity.code().into(),
            a.kind.code().into(),
            a.class.code().into(),
            a.set_by.code().into(),
            a.document_type.map(|d| d.code()).into(),
            a.source_type.code().into(),
            a.epistemic.code().into(),
            trust_number(a.trust).into(),
            a.ending.into(),
            a.blanket.into(),
            (a.polarity == anamnesis_core::finding::Polarity::Negated).into(),
            f.uncertain.into(),
            f.temporality.code().into(),
            a.experiencer.code().into(),
            a.extraction_confidence.into(),
            a.initial_confidence.into(),
            a.basis.code().into(),
            a.is_proxy.into(),
            a.asserted_at.into(),
            a.valid_from.into(),
            a.expires_at.into(),
            sealer.record(finding_cell(a.id.0, "payload"), &f.words)?,
            quoted(&sealer, a.id.0, evidence.map(|e| e.quote.as_str())),
            evidence.map(|e| e.span.start as i64).into(),
            evidence.map(|e| e.span.end as i64).into(),
            f.extractor_version.clone().into(),
            a.ends_at.into(),
            a.text.into(),
            a.recorded_at.into(),
            now.clone(),
            now,
        ];
        Ok(COVERED.seal(keys, row))
    }

    /// Acts of people; the groups of their memories are folded again.
    pub(super) async fn acts(&mut self, acts: &[NewAct]) -> Result<(), StoreError> {
        if acts.is_empty() {
            return Ok(());
        }
        let pairs: Vec<_> = acts.iter().map(|a| (a.scope.patient().0, a.act.memory.0.as_bytes().to_vec())).collect();
        let found = self.tx.fetch_all(&GROUP_OF, vec![self.target.org.0.into(), Arg::Pairs(pairs)]).await?;
        for row in found {
            let (patient, id) = (row.uuid(0)?, MemoryId(row.uuid(1)?));
            let scope = acts.iter().find(|a| a.act.memory == id && a.scope.patient().0 == patient).map(|a| a.scope);
            self.touched.extend(scope.map(|scope| row.bytes(2).map(|group| (scope, group))).transpose()?);
        }
        let row = |a: &NewAct| Ok(ACTS.seal(self.keys_of(a.scope)?, act_row(a, self.target.now)));
        let rows = acts.iter().map(row).collect::<Result<_, StoreError>>()?;
        self.tx.bulk(&history::INSERT_ACTS, rows).await?;
        Ok(())
    }
}

/// A quote that is gone is empty: what must have evidence shows that it had (`jobs::formed`).
fn quoted(sealer: &Sealer<'_>, id: Uuid, quote: Option<&str>) -> Arg {
    match quote {
        Some("") => Arg::Blob(Vec::new()),
        quote => sealer.optional(finding_cell(id, "evidence"), quote),
    }
}

fn act_row(a: &NewAct, now: DateTime<Utc>) -> Vec<Arg> {
    let line = Line {
        org: a.scope.org().0,
        patient: a.scope.patient().0,
        id: a.act.id.0,
        memory: a.act.memory.0,
        derived: false,
        at: a.act.at,
        action: a.act.deed.code(),
        source: a.by,
        old_confidence: None,
        new_confidence: None,
        cause: a.act.evidence,
    };
    line.row(now)
}

/// T1–T5 as 1–5: jobs and rankings compare them.
pub(crate) fn trust_number(trust: anamnesis_core::provenance::Trust) -> i64 {
    trust as i64 + 1
}

pub(crate) fn statements() -> Vec<&'static Sql> {
    vec![FINDING.sql(), &SILENCE, &GROUP_OF]
}

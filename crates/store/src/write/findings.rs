//! The log: findings and acts.

use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::BatchWriter;
use crate::StoreError;
use crate::covered::{self, CoveredTable};
use crate::encrypted_columns::Sealer;
use crate::memory_history::{self, HistoryLine};
use crate::records::{NewFinding, NewMemoryAct};
use crate::statements::write::findings as sql;
use anamnesis_core::ids::MemoryId;
use anamnesis_crypto::ColumnRef;
use anamnesis_sql::Arg;

// `live` and the purged columns change with time; all others are immutable.
pub(super) static COVERED: covered::LazyCoveredTable = LazyLock::new(|| {
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
    CoveredTable::new("extracted_findings", &columns, &sql::finding::COLUMNS, "")
});
pub(super) static ACTS: covered::LazyCoveredTable = LazyLock::new(|| {
    let columns = ["id", "memory_id", "derived", "at", "action", "source", "evidence_id"];
    CoveredTable::new("memory_event", &columns, &memory_history::COLUMNS, "AND derived = 0")
});

/// Cells of a finding.
pub(crate) fn finding_cell(id: Uuid, column: &'static str) -> ColumnRef {
    ColumnRef { table: "extracted_findings", row: id, column }
}

impl BatchWriter<'_> {
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
        self.tx.bulk(&sql::FINDING, rows).await?;
        self.tx.execute(&sql::MARK_REPLACED, vec![self.target.org.0.into(), Arg::Pairs(sources)]).await?;
        Ok(())
    }

    fn finding_row(&self, f: &NewFinding) -> Result<Vec<Arg>, StoreError> {
        let a = &f.assertion;
        let keys = self.keys_of(f.scope)?;
        let sealer = Sealer { keys, entropy: self.entropy };
        let now = Arg::from(self.target.now);
        let evidence = f.evidence.as_ref();
        let row = sql::finding::Row {
            org_id: f.scope.org().0.into(),
            patient_id: f.scope.patient().0.into(),
            id: a.id.0.into(),
            source_id: a.source.into(),
            revision: f.revision.into(),
            live: a.live.into(),
            group_hash: f.group.into(),
            attribute_hash: a.attribute.into(),
            entity_type: a.entity.code().into(),
            kind: a.kind.code().into(),
            class: a.class.code().into(),
            set_by: a.set_by.code().into(),
            document_type: a.document_type.map(|d| d.code()).into(),
            source_type: a.source_type.code().into(),
            epistemic: a.epistemic.code().into(),
            trust: trust_number(a.trust).into(),
            ending: a.ending.into(),
            blanket: a.blanket.into(),
            negated: (a.polarity == anamnesis_core::finding::Polarity::Negated).into(),
            uncertain: f.uncertain.into(),
            temporality: f.temporality.code().into(),
            experiencer: a.experiencer.code().into(),
            extraction_confidence: a.extraction_confidence.into(),
            initial_confidence: a.initial_confidence.into(),
            confidence_basis: a.basis.code().into(),
            is_proxy: a.is_proxy.into(),
            asserted_at: a.asserted_at.into(),
            valid_from: a.valid_from.into(),
            expires_at: a.expires_at.into(),
            payload_sealed: sealer.record(finding_cell(a.id.0, "payload"), &f.words)?,
            evidence_sealed: quoted(&sealer, a.id.0, evidence.map(|e| e.quote.as_str())),
            evidence_start: evidence.map(|e| e.span.start as i64).into(),
            evidence_end: evidence.map(|e| e.span.end as i64).into(),
            extractor_version: f.extractor_version.clone().into(),
            ends_at: a.ends_at.into(),
            text_hash: a.text.into(),
            recorded_at: a.recorded_at.into(),
            created_at: now.clone(),
            updated_at: now,
            mac: Arg::Null,
        };
        Ok(COVERED.seal_row(keys, row))
    }

    /// Acts of people; the groups of their memories are folded again.
    pub(super) async fn acts(&mut self, acts: &[NewMemoryAct]) -> Result<(), StoreError> {
        if acts.is_empty() {
            return Ok(());
        }
        let pairs: Vec<_> = acts.iter().map(|a| (a.scope.patient().0, a.act.memory.0.as_bytes().to_vec())).collect();
        let args = vec![self.target.org.0.into(), Arg::Pairs(pairs)];
        for row in self.tx.fetch_all(&sql::GROUPS_OF_MEMORIES, args).await? {
            let patient = row.uuid(sql::groups_of_memories::PATIENT_ID)?;
            let id = MemoryId(row.uuid(sql::groups_of_memories::ID)?);
            let group = row.bytes(sql::groups_of_memories::GROUP_HASH)?;
            let own = acts.iter().find(|a| a.act.memory == id && a.scope.patient().0 == patient);
            self.touched.extend(own.map(|a| (a.scope, group)));
        }
        let row = |a: &NewMemoryAct| Ok(ACTS.seal(self.keys_of(a.scope)?, act_row(a, self.target.now)));
        let rows = acts.iter().map(row).collect::<Result<_, StoreError>>()?;
        self.tx.bulk(&memory_history::INSERT_ACTS, rows).await?;
        Ok(())
    }
}

/// A removed quote is empty, which shows that the finding had evidence (`jobs::derived_finding`).
fn quoted(sealer: &Sealer<'_>, id: Uuid, quote: Option<&str>) -> Arg {
    match quote {
        Some("") => Arg::Blob(Vec::new()),
        quote => sealer.optional(finding_cell(id, "evidence"), quote),
    }
}

fn act_row(a: &NewMemoryAct, now: DateTime<Utc>) -> Vec<Arg> {
    let line = HistoryLine {
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

//! Rows of memories, their links, history and contradictions.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::super::BatchWriter;
use super::super::findings::trust_number;
use super::derived::derived;
use super::{ChangedMemory, raw_id};
use crate::StoreError;
use crate::decay_index;
use crate::encrypted_columns::Sealer;
use crate::memory_history::HistoryLine;
use crate::records::{FindingWords, NewDocument};
use crate::statements::write::memories::rows as sql;
use anamnesis_core::confidence;
use anamnesis_core::finding::Epistemic;
use anamnesis_core::ids::derive;
use anamnesis_core::memory::Class;
use anamnesis_core::projection::MemoryAction;
use anamnesis_crypto::ColumnRef;
use anamnesis_sql::Arg;
use anamnesis_text::{Language, stems};

/// The shape of a memory row's sealed content.
const SCHEMA_VERSION: i64 = 1;

/// Cells of a memory.
pub(crate) fn memory_cell(id: Uuid, column: &'static str) -> ColumnRef {
    ColumnRef { table: "memory", row: id, column }
}

impl BatchWriter<'_> {
    pub(super) async fn write_memories(&mut self, changed: &[ChangedMemory<'_>]) -> Result<(), StoreError> {
        let mut memories = Vec::with_capacity(changed.len());
        let (mut links, mut lines) = (Vec::new(), Vec::new());
        let now = Arg::from(self.target.now);
        for change in changed {
            memories.push(self.memory_row(change)?);
            links.extend(link_rows(change, &now));
            lines.extend(history_rows(change, self.target.now));
        }
        self.tx.bulk(&sql::WRITE, memories).await?;
        self.tx.bulk(&sql::INSERT_LINKS, links).await?;
        self.tx.bulk(&crate::statements::memory_history::INSERT, lines).await?;
        Ok(())
    }

    fn memory_row(&self, c: &ChangedMemory<'_>) -> Result<Vec<Arg>, StoreError> {
        let keys = self.keys_of(c.scope)?;
        let sealer = Sealer { keys, entropy: self.entropy };
        let (f, a) = (&c.folded, c.opening());
        let id = f.id.0;
        let text = c.text_of(f.told_by).ok_or(StoreError::Shape)?;
        let opened = c.text_of(f.opened_by).ok_or(StoreError::Shape)?;
        let evidence = opened.evidence.as_ref();
        let recorded = Arg::from(a.recorded_at);
        let protected = confidence::is_protected(f.is_protected, a.class);
        let terms = terms_of(&text.words, evidence.map(|e| e.quote.as_str()));
        let mut terms: Vec<i64> = terms.iter().map(|stem| keys.term(stem)).collect();
        terms.push(keys.concept_term(&text.words.concept));
        terms.sort_unstable();
        // Purged memories are written without words. The file is that of the evidence, which may belong to another
        // finding.
        let is_purged = a.tombstone.is_some() || c.assertion(f.told_by).tombstone.is_some();
        let words = FindingWords { file: None, ..text.words.clone() };
        let content = match is_purged {
            true => Arg::Null,
            false => sealer.record(memory_cell(id, "content"), &words)?,
        };
        let row = sql::write::Row {
            org_id: c.scope.org().0.into(),
            patient_id: c.scope.patient().0.into(),
            id: id.into(),
            group_hash: c.group.1.into(),
            content_sealed: content,
            finding_id: f.told_by.0.into(),
            document_id: opened.from_document.then_some(a.source).into(),
            revision: opened.from_document.then_some(opened.revision).into(),
            evidence_sealed: quoted(&sealer, id, evidence.map(|e| e.quote.as_str()), a.epistemic),
            evidence_start: evidence.map(|e| e.span.start as i64).into(),
            evidence_end: evidence.map(|e| e.span.end as i64).into(),
            file_sealed: sealer.optional_record(memory_cell(id, "file"), opened.words.file.as_ref())?,
            source_entity_sealed: sealer
                .optional(memory_cell(id, "source_entity"), opened.words.source_entity.as_deref()),
            terms: Arg::Ints(terms),
            redaction_policy: "".into(),
            fold_hash: c.hash.into(),
            schema_version: SCHEMA_VERSION.into(),
            recorded_at: recorded.clone(),
            updated_at: self.target.now.into(),
            decay_bucket: decay_index::level(a.kind, f.confidence, protected).into(),
            lines: c.lines().into(),
            created_at: recorded,
            ..derived(f, a)
        };
        Ok(row.into())
    }
}

/// An inferred memory shows that it had evidence, even if the quote was removed (`retention`, `maintenance`).
fn quoted(sealer: &Sealer<'_>, id: Uuid, quote: Option<&str>, epistemic: Epistemic) -> Arg {
    match quote {
        None if epistemic == Epistemic::Inferred => Arg::Blob(Vec::new()),
        quote => sealer.optional(memory_cell(id, "evidence"), quote),
    }
}

/// The search terms of a memory: its concept, its mention and the sentence that contains it.
pub(in crate::write) fn terms_of(words: &FindingWords, quote: Option<&str>) -> Vec<String> {
    let mut text = format!("{} {}", words.concept, words.mention);
    for part in [&words.dose, &words.frequency, &words.value, &words.reaction, &words.person].into_iter().flatten() {
        text.push(' ');
        text.push_str(part);
    }
    if let Some(quote) = quote {
        text.push('\n');
        text.push_str(quote);
    }
    stems(&text, Language::Unknown)
}

fn link(c: &ChangedMemory<'_>, relation: &str, from: (&str, Uuid), to: (&str, Uuid), now: &Arg) -> Vec<Arg> {
    let (org, patient) = (c.scope.org().0, c.scope.patient().0);
    let row = sql::insert_links::Row {
        org_id: org.into(),
        patient_id: patient.into(),
        relation: relation.into(),
        from_kind: from.0.into(),
        from_id: from.1.into(),
        to_kind: to.0.into(),
        to_id: to.1.into(),
        created_at: now.clone(),
        updated_at: now.clone(),
    };
    row.into()
}

/// The opening source is lineage (`derived_from`), the others are evidence (`source_episode`); a successor derives from
/// what it supersedes (seed 001, sections 4 and 5).
fn link_rows(c: &ChangedMemory<'_>, now: &Arg) -> Vec<Vec<Arg>> {
    let me = (c.opening().kind.code(), c.folded.id.0);
    let mut rows = Vec::new();
    // Those from before a checkpoint have their links.
    let before = c.folded.earlier.sources as usize;
    for (n, source) in c.folded.sources.iter().enumerate().map(|(n, source)| (before + n, source)) {
        let assertion = c.assertion(*source);
        // A consolidated memory comes from captures, the newest of which mentions it again.
        let formed = c.text_of(*source).map(|text| text.words.formed_from.as_slice()).unwrap_or_default();
        if let Some((newest, _)) = formed.split_last() {
            let parents = if n == 0 { formed } else { std::slice::from_ref(newest) };
            let relation = if n == 0 { "derived_from" } else { "source_episode" };
            for parent in parents {
                rows.push(link(c, relation, me, ("raw", *parent), now));
                if n == 0 {
                    rows.push(link(c, "processed_into", ("raw", *parent), me, now));
                }
            }
            continue;
        }
        // A manual memory names its sources in both directions, once.
        let made_from = c.text_of(*source).map(|text| text.words.derived_from.as_slice()).unwrap_or_default();
        for (kind, id) in made_from.iter().filter_map(|parent| parent.split_once(':')).filter(|_| n == 0) {
            let Some(id) = id.parse().ok().filter(|id: &Uuid| *id != c.folded.id.0) else { continue };
            rows.push(link(c, "derived_from", me, (kind, id), now));
            rows.push(link(c, "processed_into", (kind, id), me, now));
        }
        let parent = match c.text_of(*source).filter(|t| t.from_document) {
            Some(text) => ("raw", raw_id(c.scope, assertion.source, text.revision)),
            None => ("event", assertion.source),
        };
        let relation = if n == 0 { "derived_from" } else { "source_episode" };
        rows.push(link(c, relation, me, parent, now));
        if n == 0 && parent.0 == "raw" {
            rows.push(link(c, "processed_into", parent, me, now));
        }
    }
    rows.extend(c.folded.supersedes.map(|old| link(c, "derived_from", me, (me.0, old.0), now)));
    // A memory that a person named in support is evidence; only a finding names its sources. Opposing memories get
    // another relation.
    for (deed, relation) in [(MemoryAction::Reinforced, "source_episode"), (MemoryAction::Weakened, "relates_to")] {
        let named = c.loaded.log.acts.iter().filter(|act| act.memory == c.folded.id && act.deed == deed);
        // A requested act that was not carried out is no evidence.
        let done =
            |id: &Uuid| c.folded.history.iter().any(|line| line.action == deed.code() && line.cause == Some(*id));
        let named: BTreeSet<Uuid> = named.filter_map(|act| act.evidence).filter(done).collect();
        let named = named.into_iter().filter(|id| *id != c.folded.id.0);
        rows.extend(named.map(|id| link(c, relation, me, ("memory", id), now)));
    }
    rows
}

impl ChangedMemory<'_> {
    /// How many lines its history has.
    fn lines(&self) -> u32 {
        self.folded.earlier.lines + u32::try_from(self.folded.history.len()).unwrap_or(u32::MAX)
    }

    /// The id of a line of its history, by its place.
    pub(super) fn line_id(&self, n: u32) -> Uuid {
        let (org, patient) = (self.scope.org().0, self.scope.patient().0);
        let parts: [&[u8]; 4] =
            [org.as_bytes(), patient.as_bytes(), self.folded.id.0.as_bytes(), &u64::from(n).to_be_bytes()];
        derive("change", &parts)
    }
}

/// The lines of its history that are not in the store: all, or those since a checkpoint.
fn history_rows(c: &ChangedMemory<'_>, now: DateTime<Utc>) -> Vec<Vec<Arg>> {
    let row = |(n, change): (u32, &anamnesis_core::projection::HistoryChange)| {
        let line = HistoryLine {
            org: c.scope.org().0,
            patient: c.scope.patient().0,
            id: c.line_id(n),
            memory: c.folded.id.0,
            derived: true,
            at: change.at,
            action: change.action,
            source: "fold",
            old_confidence: change.old,
            new_confidence: change.new,
            cause: change.cause,
        };
        line.row(now)
    };
    (c.folded.earlier.lines..).zip(&c.folded.history).map(row).collect()
}

/// The shared columns of all raw captures of a batch: no words, because the document has them; never used for
/// decisions.
pub(super) fn raw_shared(org: Uuid, now: Arg) -> Vec<Arg> {
    let shared = sql::insert_raws::Shared {
        org_id: org.into(),
        kind: "raw".into(),
        class: Class::Event.code().into(),
        sensitivity: "medium".into(),
        state: "active".into(),
        contested: false.into(),
        ungrounded: false.into(),
        source_type: "observation".into(),
        epistemic: "observed".into(),
        is_proxy: false.into(),
        set_by: "unknown".into(),
        negated: false.into(),
        experiencer: "patient".into(),
        extraction_confidence: 1.0.into(),
        initial_confidence: 1.0.into(),
        confidence_basis: "default".into(),
        confidence: 1.0.into(),
        times_reinforced: 0i64.into(),
        verification_count: 0i64.into(),
        is_protected: false.into(),
        cycle: 0i64.into(),
        terms: Arg::Blob(Vec::new()),
        schema_version: SCHEMA_VERSION.into(),
        recorded_at: now.clone(),
        created_at: now.clone(),
        updated_at: now,
    };
    shared.into()
}

/// The raw capture of a document, with its individual columns.
pub(super) fn raw_row(d: &NewDocument) -> Vec<Arg> {
    let id = raw_id(d.scope, d.id.0, d.revision);
    let row = sql::insert_raws::Row {
        patient_id: d.scope.patient().0.into(),
        id: id.into(),
        group_hash: d.body_hash.into(),
        attribute_hash: d.body_hash.into(),
        document_id: d.id.0.into(),
        revision: d.revision.into(),
        valid_from: d.occurred_at.into(),
        state_at: d.occurred_at.into(),
        redaction_policy: d.redaction_policy.clone().into(),
        trust: trust_number(d.trust).into(),
        expires_at: d.ends_at.into(),
        ends_at: d.ends_at.into(),
    };
    row.into()
}

//! Rows of memories, their links, history and contradictions.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::super::Writer;
use super::super::findings::trust_number;
use super::derived::{DERIVED, derived};
use super::{Changed, raw_id};
use crate::StoreError;
use crate::fading;
use crate::history::{self, Line};
use crate::records::{FindingWords, NewDocument};
use crate::seal::Sealer;
use anamnesis_core::confidence;
use anamnesis_core::finding::Epistemic;
use anamnesis_core::fold::Deed;
use anamnesis_core::ids::derive;
use anamnesis_core::memory::Class;
use anamnesis_crypto::Cell;
use anamnesis_sql::{Arg, Bulk, Column, ColumnType, Sql};
use anamnesis_text::{Language, stems};

/// The shape of a memory row's sealed content.
const SCHEMA_VERSION: i64 = 1;

const KEY: [Column; 4] = [
    ("org_id", ColumnType::Uuid),
    ("patient_id", ColumnType::Uuid),
    ("id", ColumnType::Uuid),
    ("group_hash", ColumnType::Bytes),
];
const WRITTEN: [Column; 17] = [
    ("content_sealed", ColumnType::Bytes),
    ("finding_id", ColumnType::Uuid),
    ("document_id", ColumnType::Uuid),
    ("revision", ColumnType::Int),
    ("evidence_sealed", ColumnType::Bytes),
    ("evidence_start", ColumnType::Int),
    ("evidence_end", ColumnType::Int),
    ("file_sealed", ColumnType::Bytes),
    ("source_entity_sealed", ColumnType::Bytes),
    ("terms", ColumnType::Ints),
    ("redaction_policy", ColumnType::Text),
    ("fold_hash", ColumnType::Bytes),
    ("schema_version", ColumnType::Int),
    ("recorded_at", ColumnType::Int),
    ("updated_at", ColumnType::Int),
    ("fade_level", ColumnType::Int),
    ("lines", ColumnType::Int),
];

// A message that comes late may open a memory that others opened before: all of its provenance is the opening's then.
// `created_at` equals `recorded_at`; a memory that is folded again keeps both, and keeps its sealed words while the
// finding that tells them is the same (an event's content is never updated). A confirmation opens a new cycle.
static MEMORY: LazyLock<Bulk> = LazyLock::new(|| {
    let columns = [&KEY[..], &DERIVED, &WRITTEN, &[("created_at", ColumnType::Int)]].concat();
    Bulk::new(
        "memory",
        &columns,
        "ON CONFLICT (org_id, patient_id, id) DO UPDATE SET attribute_hash = excluded.attribute_hash, kind = excluded.kind, \
         class = excluded.class, entity_type = excluded.entity_type, sensitivity = excluded.sensitivity, \
         negated = excluded.negated, experiencer = excluded.experiencer, state = excluded.state, contested = excluded.contested, \
         ungrounded = excluded.ungrounded, \
         content_sealed = CASE WHEN memory.finding_id IS NOT DISTINCT FROM excluded.finding_id THEN memory.content_sealed ELSE excluded.content_sealed END, \
         finding_id = excluded.finding_id, document_id = excluded.document_id, revision = excluded.revision, \
         evidence_sealed = excluded.evidence_sealed, evidence_start = excluded.evidence_start, evidence_end = excluded.evidence_end, \
         file_sealed = excluded.file_sealed, \
         source_type = excluded.source_type, epistemic = excluded.epistemic, source_entity_sealed = excluded.source_entity_sealed, \
         is_proxy = excluded.is_proxy, trust = excluded.trust, set_by = excluded.set_by, \
         extraction_confidence = excluded.extraction_confidence, initial_confidence = excluded.initial_confidence, \
         confidence_basis = excluded.confidence_basis, confidence = excluded.confidence, \
         times_reinforced = excluded.times_reinforced, verification_count = excluded.verification_count, \
         last_verified = excluded.last_verified, is_protected = excluded.is_protected, \
         reconfirm_due_at = CASE WHEN memory.cycle = excluded.cycle THEN memory.reconfirm_due_at ELSE NULL END, \
         review_due_at = CASE WHEN memory.kind = excluded.kind AND memory.confidence = excluded.confidence \
           AND memory.fade_level IS NOT DISTINCT FROM excluded.fade_level \
           AND memory.last_verified IS NOT DISTINCT FROM excluded.last_verified THEN memory.review_due_at ELSE NULL END, \
         fade_level = excluded.fade_level, cycle = excluded.cycle, valid_from = excluded.valid_from, valid_to = excluded.valid_to, \
         last_confirmed_at = excluded.last_confirmed_at, expires_at = excluded.expires_at, state_at = excluded.state_at, \
         supersedes = excluded.supersedes, superseded_by = excluded.superseded_by, terms = excluded.terms, \
         redaction_policy = excluded.redaction_policy, fold_hash = excluded.fold_hash, ends_at = excluded.ends_at, lines = excluded.lines, \
         recorded_at = CASE WHEN excluded.class = 'inference' THEN excluded.recorded_at ELSE memory.recorded_at END, \
         updated_at = excluded.updated_at",
    )
});
pub(super) static RAW: LazyLock<Bulk> = LazyLock::new(|| {
    let columns = [
        ("patient_id", ColumnType::Uuid),
        ("id", ColumnType::Uuid),
        ("group_hash", ColumnType::Bytes),
        ("attribute_hash", ColumnType::Bytes),
        ("document_id", ColumnType::Uuid),
        ("revision", ColumnType::Int),
        ("valid_from", ColumnType::Int),
        ("state_at", ColumnType::Int),
        ("redaction_policy", ColumnType::Text),
        ("trust", ColumnType::Int),
        ("expires_at", ColumnType::Int),
        ("ends_at", ColumnType::Int),
    ];
    let kind = |name| {
        DERIVED
            .iter()
            .chain(&WRITTEN)
            .chain(&KEY)
            .find(|(known, _)| *known == name)
            .map_or(ColumnType::Int, |(_, kind)| *kind)
    };
    let shared: Vec<Column> =
        raw_shared(Uuid::nil(), Arg::Null).into_iter().map(|(name, _)| (name, kind(name))).collect();
    Bulk::sharing("memory", &shared, &columns, "ON CONFLICT (org_id, patient_id, id) DO NOTHING")
});
static LINK: LazyLock<Bulk> = LazyLock::new(|| {
    let columns = [
        ("org_id", ColumnType::Uuid),
        ("patient_id", ColumnType::Uuid),
        ("relation", ColumnType::Text),
        ("from_kind", ColumnType::Text),
        ("from_id", ColumnType::Uuid),
        ("to_kind", ColumnType::Text),
        ("to_id", ColumnType::Uuid),
        ("created_at", ColumnType::Int),
        ("updated_at", ColumnType::Int),
    ];
    Bulk::new("memory_link", &columns, "ON CONFLICT (org_id, patient_id, relation, from_id, to_id) DO NOTHING")
});
/// Cells of a memory.
pub(crate) fn memory_cell(id: Uuid, column: &'static str) -> Cell {
    Cell { table: "memory", row: id, column }
}

impl Writer<'_> {
    pub(super) async fn write_memories(&mut self, changed: &[Changed<'_>]) -> Result<(), StoreError> {
        let mut memories = Vec::with_capacity(changed.len());
        let (mut links, mut lines) = (Vec::new(), Vec::new());
        let now = Arg::from(self.target.now);
        for change in changed {
            memories.push(self.memory_row(change)?);
            links.extend(link_rows(change, &now));
            lines.extend(history_rows(change, self.target.now));
        }
        self.tx.bulk(&MEMORY, memories).await?;
        self.tx.bulk(&LINK, links).await?;
        self.tx.bulk(&history::INSERT, lines).await?;
        Ok(())
    }

    fn memory_row(&self, c: &Changed<'_>) -> Result<Vec<Arg>, StoreError> {
        let keys = self.keys_of(c.scope)?;
        let sealer = Sealer { keys, entropy: self.entropy };
        let (f, a) = (&c.folded, c.opening());
        let id = f.id.0;
        let told = c.told(f.told_by).ok_or(StoreError::Shape)?;
        let opened = c.told(f.opened_by).ok_or(StoreError::Shape)?;
        let evidence = opened.evidence.as_ref();
        let recorded = Arg::from(a.recorded_at);
        let protected = confidence::is_protected(f.is_protected, a.class);
        let terms = terms_of(&told.words, evidence.map(|e| e.quote.as_str()));
        let mut terms: Vec<i64> = terms.iter().map(|stem| keys.term(stem)).collect();
        terms.push(keys.concept_term(&told.words.concept));
        terms.sort_unstable();
        // What was purged is written again without words. The file is that of the evidence, which may be another finding's.
        let is_purged = a.tombstone.is_some() || c.assertion(f.told_by).tombstone.is_some();
        let words = FindingWords { file: None, ..told.words.clone() };
        let content = match is_purged {
            true => Arg::Null,
            false => sealer.record(memory_cell(id, "content"), &words)?,
        };
        let key = vec![c.scope.org().0.into(), c.scope.patient().0.into(), id.into(), c.group.1.into()];
        let written = vec![
            content,
            f.told_by.0.into(),
            opened.from_document.then_some(a.source).into(),
            opened.from_document.then_some(opened.revision).into(),
            quoted(&sealer, id, evidence.map(|e| e.quote.as_str()), a.epistemic),
            evidence.map(|e| e.span.start as i64).into(),
            evidence.map(|e| e.span.end as i64).into(),
            sealer.optional_record(memory_cell(id, "file"), opened.words.file.as_ref())?,
            sealer.optional(memory_cell(id, "source_entity"), opened.words.source_entity.as_deref()),
            Arg::Ints(terms),
            "".into(),
            c.hash.into(),
            SCHEMA_VERSION.into(),
            recorded.clone(),
            self.target.now.into(),
            fading::level(a.kind, f.confidence, protected).into(),
            c.lines().into(),
            recorded,
        ];
        Ok([key, derived(f, a), written].concat())
    }
}

/// What was inferred shows that it had evidence, though the quote itself may be gone (`retention`, `nightly`).
fn quoted(sealer: &Sealer<'_>, id: Uuid, quote: Option<&str>, epistemic: Epistemic) -> Arg {
    match quote {
        None if epistemic == Epistemic::Inferred => Arg::Blob(Vec::new()),
        quote => sealer.optional(memory_cell(id, "evidence"), quote),
    }
}

/// What a memory is found by: its concept, its mention and the sentence that carries it.
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

fn link(c: &Changed<'_>, relation: &str, from: (&str, Uuid), to: (&str, Uuid), now: &Arg) -> Vec<Arg> {
    let (org, patient) = (c.scope.org().0, c.scope.patient().0);
    vec![
        org.into(),
        patient.into(),
        relation.into(),
        from.0.into(),
        from.1.into(),
        to.0.into(),
        to.1.into(),
        now.clone(),
        now.clone(),
    ]
}

/// The opening source is lineage (`derived_from`), the others are evidence (`source_episode`); a successor derives from
/// what it supersedes (seed 001, sections 4 and 5).
fn link_rows(c: &Changed<'_>, now: &Arg) -> Vec<Vec<Arg>> {
    let me = (c.opening().kind.code(), c.folded.id.0);
    let mut rows = Vec::new();
    // Those from before a checkpoint have their links.
    let before = c.folded.earlier.sources as usize;
    for (n, source) in c.folded.sources.iter().enumerate().map(|(n, source)| (before + n, source)) {
        let assertion = c.assertion(*source);
        // What consolidation formed comes from captures, the newest of which tells of it again.
        let formed = c.told(*source).map(|told| told.words.formed_from.as_slice()).unwrap_or_default();
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
        // What was made by hand names what it was made from, both ways, once.
        let made_from = c.told(*source).map(|told| told.words.derived_from.as_slice()).unwrap_or_default();
        for (kind, id) in made_from.iter().filter_map(|parent| parent.split_once(':')).filter(|_| n == 0) {
            let Some(id) = id.parse().ok().filter(|id: &Uuid| *id != c.folded.id.0) else { continue };
            rows.push(link(c, "derived_from", me, (kind, id), now));
            rows.push(link(c, "processed_into", (kind, id), me, now));
        }
        let parent = match c.told(*source).filter(|t| t.from_document) {
            Some(told) => ("raw", raw_id(c.scope, assertion.source, told.revision)),
            None => ("event", assertion.source),
        };
        let relation = if n == 0 { "derived_from" } else { "source_episode" };
        rows.push(link(c, relation, me, parent, now));
        if n == 0 && parent.0 == "raw" {
            rows.push(link(c, "processed_into", parent, me, now));
        }
    }
    rows.extend(c.folded.supersedes.map(|old| link(c, "derived_from", me, (me.0, old.0), now)));
    // A memory that a person named in support is evidence; only a finding says what it was made from. What speaks against it
    // stands in relation to it.
    for (deed, relation) in [(Deed::Reinforced, "source_episode"), (Deed::Weakened, "relates_to")] {
        let named = c.loaded.log.acts.iter().filter(|act| act.memory == c.folded.id && act.deed == deed);
        // What was asked for and not done is no evidence.
        let done =
            |id: &Uuid| c.folded.history.iter().any(|line| line.action == deed.code() && line.cause == Some(*id));
        let named: BTreeSet<Uuid> = named.filter_map(|act| act.evidence).filter(done).collect();
        let named = named.into_iter().filter(|id| *id != c.folded.id.0);
        rows.extend(named.map(|id| link(c, relation, me, ("memory", id), now)));
    }
    rows
}

impl Changed<'_> {
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
fn history_rows(c: &Changed<'_>, now: DateTime<Utc>) -> Vec<Vec<Arg>> {
    let row = |(n, change): (u32, &anamnesis_core::fold::Change)| {
        let line = Line {
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

/// What all raw captures of a batch have, by column: no words of their own, the document holds them; never used for
/// decisions.
pub(super) fn raw_shared(org: Uuid, now: Arg) -> Vec<(&'static str, Arg)> {
    vec![
        ("org_id", org.into()),
        ("kind", "raw".into()),
        ("class", Class::Event.code().into()),
        ("sensitivity", "medium".into()),
        ("state", "active".into()),
        ("contested", false.into()),
        ("ungrounded", false.into()),
        ("source_type", "observation".into()),
        ("epistemic", "observed".into()),
        ("is_proxy", false.into()),
        ("set_by", "unknown".into()),
        ("negated", false.into()),
        ("experiencer", "patient".into()),
        ("extraction_confidence", 1.0.into()),
        ("initial_confidence", 1.0.into()),
        ("confidence_basis", "default".into()),
        ("confidence", 1.0.into()),
        ("times_reinforced", 0i64.into()),
        ("verification_count", 0i64.into()),
        ("is_protected", false.into()),
        ("cycle", 0i64.into()),
        ("terms", Arg::Blob(Vec::new())),
        ("schema_version", SCHEMA_VERSION.into()),
        ("recorded_at", now.clone()),
        ("created_at", now.clone()),
        ("updated_at", now),
    ]
}

/// The raw capture of a document, beside what all of them share.
pub(super) fn raw_row(d: &NewDocument) -> Vec<Arg> {
    let id = raw_id(d.scope, d.id.0, d.revision);
    vec![
        d.scope.patient().0.into(),
        id.into(),
        d.body_hash.into(),
        d.body_hash.into(),
        d.id.0.into(),
        d.revision.into(),
        d.occurred_at.into(),
        d.occurred_at.into(),
        d.redaction_policy.clone().into(),
        trust_number(d.trust).into(),
        d.ends_at.into(),
        d.ends_at.into(),
    ]
}

pub(crate) fn statements() -> Vec<&'static Sql> {
    vec![MEMORY.sql(), RAW.sql(), LINK.sql()]
}

//! Accounts: written anew in place when what they tell changed, so that nothing older of them is left. An account of several
//! documents is a document of its own (an analysis: a hypothesis in every search), so that it is found like any other text.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::Group;
use super::documents::{self, PASSAGE, content_cell, language_code};
use super::nightly::Shift;
use crate::StoreError;
use crate::covered;
use crate::records::{DocumentContent, NewFinding};
use crate::seal::Sealer;
use anamnesis_core::account::{Account, Stretch, Tongue};
use anamnesis_core::ids::derive;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::PatientKeys;
use anamnesis_sql::{Arg, Bulk, Column, ColumnType, Sql, Transaction};
use anamnesis_text::{Document, Language, passages, stems};

/// Words of a passage of an account.
const PASSAGE_WORDS: usize = anamnesis_text::passages::DEFAULT_MAX_WORDS;
/// What wrote it.
pub const AUTHOR: &str = "summaries";

static FORGET_FINDINGS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new("DELETE FROM extracted_findings WHERE org_id = $1 AND (patient_id, source_id) IN {pairs $2}")
});
static FORGET_PASSAGES: LazyLock<Sql> =
    LazyLock::new(|| Sql::new("DELETE FROM passage WHERE org_id = $1 AND (patient_id, document_id) IN {pairs $2}"));
static FORGET_SUMMARY: LazyLock<Sql> =
    LazyLock::new(|| Sql::new("DELETE FROM summary WHERE org_id = $1 AND (patient_id, id) IN {pairs $2}"));
const DOCUMENT_COLUMNS: [Column; 21] = [
    ("org_id", ColumnType::Uuid),
    ("patient_id", ColumnType::Uuid),
    ("document_id", ColumnType::Uuid),
    ("revision", ColumnType::Int),
    ("document_type", ColumnType::Text),
    ("occurred_at", ColumnType::Int),
    ("language", ColumnType::Text),
    ("body_hash", ColumnType::Bytes),
    ("content_sealed", ColumnType::Bytes),
    ("redaction_policy", ColumnType::Text),
    ("extractor_version", ColumnType::Text),
    ("current", ColumnType::Bool),
    ("recorded_at", ColumnType::Int),
    ("retired_at", ColumnType::Int),
    ("created_at", ColumnType::Int),
    ("updated_at", ColumnType::Int),
    ("therapist_id", ColumnType::Uuid),
    ("signed_by", ColumnType::Uuid),
    ("ends_at", ColumnType::Int),
    ("session_hash", ColumnType::Bytes),
    ("mac", ColumnType::Bytes),
];
static DOCUMENT: LazyLock<Bulk> = LazyLock::new(|| {
    Bulk::new(
        "documents",
        &DOCUMENT_COLUMNS,
        "ON CONFLICT (org_id, patient_id, document_id, revision) DO UPDATE SET occurred_at = excluded.occurred_at, \
         content_sealed = excluded.content_sealed, \
         body_hash = excluded.body_hash, language = excluded.language, current = excluded.current, \
         retired_at = excluded.retired_at, recorded_at = excluded.recorded_at, reckoned = 0, fate = NULL, fate_at = NULL, updated_at = excluded.updated_at, \
         mac = excluded.mac",
    )
});
static COVERED: covered::Lazy = LazyLock::new(|| documents::covered(&DOCUMENT_COLUMNS));
static SUMMARY: LazyLock<Bulk> = LazyLock::new(|| {
    let columns = [
        ("org_id", ColumnType::Uuid),
        ("patient_id", ColumnType::Uuid),
        ("id", ColumnType::Uuid),
        ("stretch", ColumnType::Text),
        ("from_at", ColumnType::Int),
        ("until_at", ColumnType::Int),
        ("facts", ColumnType::Int),
        ("input_id", ColumnType::Uuid),
        ("made_at", ColumnType::Int),
        ("created_at", ColumnType::Int),
        ("updated_at", ColumnType::Int),
    ];
    Bulk::new(
        "summary",
        &columns,
        "ON CONFLICT (org_id, patient_id, id) DO UPDATE SET facts = excluded.facts, input_id = excluded.input_id, \
         made_at = excluded.made_at, updated_at = excluded.updated_at",
    )
});

pub(crate) fn statements() -> Vec<&'static Sql> {
    vec![&FORGET_FINDINGS, &FORGET_PASSAGES, &FORGET_SUMMARY, DOCUMENT.sql(), SUMMARY.sql()]
}

/// What a stretch is made into.
#[derive(Debug, Clone, PartialEq)]
pub struct Condensed {
    pub scope: Scope,
    /// Of the account, and of its document where it has one.
    pub id: Uuid,
    pub stretch: Stretch,
    /// The first and the last of what it tells.
    pub span: (DateTime<Utc>, DateTime<Utc>),
    pub input: Uuid,
    /// Distinct facts.
    pub facts: u32,
    pub tongue: Tongue,
    /// `None`: there is nothing left to tell, and the account goes.
    pub told: Option<(Account, NewFinding)>,
    /// The unit of folding.
    pub group: [u8; 32],
}

impl Shift<'_> {
    /// Writes accounts, by a constant number of statements.
    ///
    /// # Errors
    /// When the store refuses the rows or a cell does not open.
    pub async fn condense(&self, tx: &mut Transaction, accounts: Vec<Condensed>) -> Result<(), StoreError> {
        let mut writer = self.writer(tx);
        writer.hold(accounts.iter().map(|one| one.scope.patient().0).collect::<BTreeSet<_>>()).await?;
        let pairs = |all: &[&Condensed]| {
            Arg::Pairs(all.iter().map(|one| (one.scope.patient().0, one.id.as_bytes().to_vec())).collect())
        };
        let all: Vec<&Condensed> = accounts.iter().collect();
        let gone: Vec<&Condensed> = accounts.iter().filter(|one| one.told.is_none()).collect();
        let org = Arg::from(self.org.0);
        writer.tx.execute(&FORGET_FINDINGS, vec![org.clone(), pairs(&all)]).await?;
        writer.tx.execute(&FORGET_PASSAGES, vec![org.clone(), pairs(&all)]).await?;
        writer.tx.execute(&FORGET_SUMMARY, vec![org, pairs(&gone)]).await?;
        let (mut documents, mut parts, mut summaries) = (Vec::new(), Vec::new(), Vec::new());
        for one in &accounts {
            let keys = self.keys.get(&one.scope).ok_or(StoreError::Race)?;
            if one.stretch.has_text() {
                documents.push(self.document_row(one, keys)?);
                parts.extend(self.passage_rows(one, keys));
            }
            summaries.extend(one.told.as_ref().map(|_| self.summary_row(one)));
        }
        writer.tx.bulk(&DOCUMENT, documents).await?;
        writer.tx.bulk_sharing(&PASSAGE, vec![self.org.0.into(), self.now.into(), self.now.into()], parts).await?;
        writer.tx.bulk(&SUMMARY, summaries).await?;
        // An account that goes takes its memory along: its group is folded without it.
        let groups: Vec<Group> = accounts.iter().map(|one| (one.scope, one.group)).collect();
        writer.touched.extend(groups);
        let findings: Vec<_> = accounts.into_iter().filter_map(|one| one.told.map(|(_, finding)| finding)).collect();
        writer.findings(&findings).await?;
        writer.fold().await?;
        writer.flush_events().await
    }

    fn document_row(&self, one: &Condensed, keys: &PatientKeys) -> Result<Vec<Arg>, StoreError> {
        let account = one.told.as_ref().map(|(account, _)| account);
        let content = DocumentContent::of(account.map(|account| account.text.clone()).unwrap_or_default());
        let sealer = Sealer { keys, entropy: self.entropy };
        let hash = keys.hash("account", content.text.as_bytes());
        let retired = if account.is_some() { Arg::Null } else { self.now.into() };
        let row = vec![
            self.org.0.into(),
            one.scope.patient().0.into(),
            one.id.into(),
            1i64.into(),
            "analysis".into(),
            one.span.1.into(),
            language_code(language(one.tongue)).into(),
            hash.into(),
            sealer.record(content_cell(one.id, 1), &content)?,
            "".into(),
            AUTHOR.into(),
            account.is_some().into(),
            self.now.into(),
            retired,
            self.now.into(),
            self.now.into(),
            Arg::Null,
            Arg::Null,
            Arg::Null,
            Arg::Null,
        ];
        Ok(COVERED.seal(keys, row))
    }

    /// Without vectors: those are made by the batch of the night (`embed_batch`).
    fn passage_rows(&self, one: &Condensed, keys: &PatientKeys) -> Vec<Vec<Arg>> {
        let Some((account, _)) = &one.told else { return Vec::new() };
        let document = Document::plain(&account.text, language(one.tongue));
        let (org, patient) = (self.org.0, one.scope.patient().0);
        let row = |(n, span): (usize, anamnesis_text::Span)| {
            let ordinal = (n as u64).to_be_bytes();
            let id = derive("passage", &[org.as_bytes(), patient.as_bytes(), one.id.as_bytes(), &ordinal]);
            let words = span.of(&account.text);
            let mut terms: Vec<i64> = stems(words, document.language).iter().map(|stem| keys.term(stem)).collect();
            let named = account.tags.iter().filter_map(|tag| tag.split_once(':'));
            terms.extend(named.filter(|(_, name)| words.contains(name)).map(|(_, name)| keys.concept_term(name)));
            terms.sort_unstable();
            vec![
                patient.into(),
                id.into(),
                one.id.into(),
                1i64.into(),
                (n as i64).into(),
                (span.start as i64).into(),
                (span.end as i64).into(),
                keys.text_hash(words).into(),
                Arg::Ints(terms),
                true.into(),
                false.into(),
            ]
        };
        passages(&document, PASSAGE_WORDS).into_iter().map(|passage| passage.span).enumerate().map(row).collect()
    }

    fn summary_row(&self, one: &Condensed) -> Vec<Arg> {
        vec![
            self.org.0.into(),
            one.scope.patient().0.into(),
            one.id.into(),
            one.stretch.code().into(),
            one.span.0.into(),
            one.span.1.into(),
            one.facts.into(),
            one.input.into(),
            self.now.into(),
            self.now.into(),
            self.now.into(),
        ]
    }
}

fn language(tongue: Tongue) -> Language {
    match tongue {
        Tongue::Spanish => Language::Spanish,
        Tongue::English => Language::English,
    }
}

//! Summaries. They are rewritten in place when their inputs change, so that no older version remains. A summary of
//! several documents is a document itself (an analysis: a hypothesis in every search), so that it is found like any
//! other text.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::GroupKey;
use super::documents::{self, content_cell, language_code};
use super::maintenance::MaintenanceWriter;
use crate::StoreError;
use crate::covered;
use crate::encrypted_columns::Sealer;
use crate::records::{DocumentContent, NewFinding};
use crate::statements::write::documents::{PASSAGE, passage};
use crate::statements::write::summaries as sql;
use anamnesis_core::ids::derive;
use anamnesis_core::scope::Scope;
use anamnesis_core::summary::{Summary, SummaryLanguage, SummaryPeriod};
use anamnesis_crypto::PatientKeys;
use anamnesis_sql::{Arg, Transaction};
use anamnesis_text::{Document, Language, passages, stems};

/// Words of a passage of a summary.
const PASSAGE_WORDS: usize = anamnesis_text::passages::DEFAULT_MAX_WORDS;
/// The author of the summaries.
pub const AUTHOR: &str = "summaries";

static COVERED: covered::LazyCoveredTable = LazyLock::new(|| documents::covered(&sql::write_documents::COLUMNS));

/// The result of summarising a period.
#[derive(Debug, Clone, PartialEq)]
pub struct NewSummary {
    pub scope: Scope,
    /// Of the summary, and of its document where it has one.
    pub id: Uuid,
    pub period: SummaryPeriod,
    /// The first and the last instant that it covers.
    pub span: (DateTime<Utc>, DateTime<Utc>),
    pub input: Uuid,
    /// Distinct facts.
    pub facts: u32,
    pub language: SummaryLanguage,
    /// `None`: nothing is left to summarise, and the summary is removed.
    pub rendered: Option<(Summary, NewFinding)>,
    /// The unit of folding.
    pub group: [u8; 32],
}

impl MaintenanceWriter<'_> {
    /// Writes summaries, by a constant number of statements.
    ///
    /// # Errors
    /// When the store refuses the rows or a cell does not open.
    pub async fn condense(&self, tx: &mut Transaction, accounts: Vec<NewSummary>) -> Result<(), StoreError> {
        let mut writer = self.writer(tx);
        writer.hold(accounts.iter().map(|one| one.scope.patient().0).collect::<BTreeSet<_>>()).await?;
        let pairs = |all: &[&NewSummary]| {
            Arg::Pairs(all.iter().map(|one| (one.scope.patient().0, one.id.as_bytes().to_vec())).collect())
        };
        let all: Vec<&NewSummary> = accounts.iter().collect();
        let gone: Vec<&NewSummary> = accounts.iter().filter(|one| one.rendered.is_none()).collect();
        let org = Arg::from(self.org.0);
        writer.tx.execute(&sql::DELETE_FINDINGS, vec![org.clone(), pairs(&all)]).await?;
        writer.tx.execute(&sql::DELETE_PASSAGES, vec![org.clone(), pairs(&all)]).await?;
        writer.tx.execute(&sql::DELETE, vec![org, pairs(&gone)]).await?;
        let (mut documents, mut parts, mut summaries) = (Vec::new(), Vec::new(), Vec::new());
        for one in &accounts {
            let keys = self.keys.get(&one.scope).ok_or(StoreError::Race)?;
            if one.period.has_text() {
                documents.push(self.document_row(one, keys)?);
                parts.extend(self.passage_rows(one, keys));
            }
            summaries.extend(one.rendered.as_ref().map(|_| self.summary_row(one)));
        }
        writer.tx.bulk(&sql::WRITE_DOCUMENTS, documents).await?;
        let now = Arg::from(self.now);
        let shared = passage::Shared { org_id: self.org.0.into(), created_at: now.clone(), updated_at: now };
        writer.tx.bulk_sharing(&PASSAGE, shared.into(), parts).await?;
        writer.tx.bulk(&sql::WRITE, summaries).await?;
        // A removed summary removes its memory: its group is projected without it.
        let groups: Vec<GroupKey> = accounts.iter().map(|one| (one.scope, one.group)).collect();
        writer.touched.extend(groups);
        let findings: Vec<_> =
            accounts.into_iter().filter_map(|one| one.rendered.map(|(_, finding)| finding)).collect();
        writer.findings(&findings).await?;
        writer.fold().await?;
        writer.flush_events().await
    }

    fn document_row(&self, one: &NewSummary, keys: &PatientKeys) -> Result<Vec<Arg>, StoreError> {
        let account = one.rendered.as_ref().map(|(account, _)| account);
        let content = DocumentContent::from_text(account.map(|account| account.text.clone()).unwrap_or_default());
        let sealer = Sealer { keys, entropy: self.entropy };
        let hash = keys.hash("account", content.text.as_bytes());
        let retired = if account.is_some() { Arg::Null } else { self.now.into() };
        let row = sql::write_documents::Row {
            org_id: self.org.0.into(),
            patient_id: one.scope.patient().0.into(),
            document_id: one.id.into(),
            revision: 1i64.into(),
            document_type: "analysis".into(),
            occurred_at: one.span.1.into(),
            language: language_code(language(one.language)).into(),
            body_hash: hash.into(),
            content_sealed: sealer.record(content_cell(one.id, 1), &content)?,
            redaction_policy: "".into(),
            extractor_version: AUTHOR.into(),
            current: account.is_some().into(),
            recorded_at: self.now.into(),
            retired_at: retired,
            created_at: self.now.into(),
            updated_at: self.now.into(),
            therapist_id: Arg::Null,
            signed_by: Arg::Null,
            ends_at: Arg::Null,
            session_hash: Arg::Null,
            mac: Arg::Null,
        };
        Ok(COVERED.seal_row(keys, row))
    }

    /// Without vectors: those are made by the job `embed_batch`.
    fn passage_rows(&self, one: &NewSummary, keys: &PatientKeys) -> Vec<Vec<Arg>> {
        let Some((account, _)) = &one.rendered else { return Vec::new() };
        let document = Document::plain(&account.text, language(one.language));
        let (org, patient) = (self.org.0, one.scope.patient().0);
        let row = |(n, span): (usize, anamnesis_text::Span)| {
            let ordinal = (n as u64).to_be_bytes();
            let id = derive("passage", &[org.as_bytes(), patient.as_bytes(), one.id.as_bytes(), &ordinal]);
            let words = span.slice(&account.text);
            let mut terms: Vec<i64> = stems(words, document.language).iter().map(|stem| keys.term(stem)).collect();
            let named = account.tags.iter().filter_map(|tag| tag.split_once(':'));
            terms.extend(named.filter(|(_, name)| words.contains(name)).map(|(_, name)| keys.concept_term(name)));
            terms.sort_unstable();
            let row = passage::Row {
                patient_id: patient.into(),
                id: id.into(),
                document_id: one.id.into(),
                revision: 1i64.into(),
                ordinal: (n as i64).into(),
                start_offset: (span.start as i64).into(),
                end_offset: (span.end as i64).into(),
                text_hash: keys.text_hash(words).into(),
                terms: Arg::Ints(terms),
                embedding_pending: true.into(),
                missing_next_generation: false.into(),
            };
            row.into()
        };
        passages(&document, PASSAGE_WORDS).into_iter().map(|passage| passage.span).enumerate().map(row).collect()
    }

    fn summary_row(&self, one: &NewSummary) -> Vec<Arg> {
        let row = sql::write::Row {
            org_id: self.org.0.into(),
            patient_id: one.scope.patient().0.into(),
            id: one.id.into(),
            period: one.period.code().into(),
            from_at: one.span.0.into(),
            until_at: one.span.1.into(),
            facts: one.facts.into(),
            input_id: one.input.into(),
            made_at: self.now.into(),
            created_at: self.now.into(),
            updated_at: self.now.into(),
        };
        row.into()
    }
}

fn language(language: SummaryLanguage) -> Language {
    match language {
        SummaryLanguage::Spanish => Language::Spanish,
        SummaryLanguage::English => Language::English,
    }
}

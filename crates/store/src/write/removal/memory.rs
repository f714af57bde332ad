//! A memory is erased: all that was said of it, its words in the documents that said it, and what quotes them.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use super::{BatchWriter, Removal};
use crate::StoreError;
use crate::encrypted_columns::{Sealer, open_record};
use crate::records::{DocumentContent, FindingWords};
use crate::statements::write::removal as of_patient;
use crate::statements::write::removal::memory as sql;
use crate::write::documents::content_cell;
use crate::write::findings::finding_cell;
use crate::write::memories::raw_id;
use crate::write::memories::rows::memory_cell;
use crate::write::redaction_changes::{ReRedactedDocument, TextChange};
use crate::write::retention::archive_cell;
use anamnesis_core::scope::Scope;
use anamnesis_sql::Arg;
use anamnesis_text::{Language, Span};

/// Replaces the words of an erased memory in the text. Longer spans are filled up, so that all other positions of the
/// document stay the same.
const ERASED: &str = "[ERASED]";

/// Where words are to go, by document and revision.
type RemovedSpans = BTreeMap<(Uuid, u32), Vec<Span>>;

impl BatchWriter<'_> {
    /// Removes a memory and every statement of it. A capture takes its document with it. Returns rows by table.
    ///
    /// # Errors
    /// When the store cannot be read or written, or a cell does not open.
    pub(in crate::write) async fn remove_memory(
        &mut self,
        scope: Scope,
        memory: Uuid,
    ) -> Result<BTreeMap<&'static str, u64>, StoreError> {
        let of = |id: Uuid| vec![Arg::from(scope.org().0), scope.patient().0.into(), id.into()];
        let Some(row) = self.tx.fetch_optional(&sql::GROUP_OF, of(memory)).await? else { return Ok(BTreeMap::new()) };
        let is_raw = row.text(sql::group_of::KIND)? == "raw";
        if let (true, Some(document)) = (is_raw, row.opt_uuid(sql::group_of::DOCUMENT_ID)?) {
            let [documents, findings] = self.remove_document(scope, document).await?;
            return Ok(BTreeMap::from([("documents", documents), ("extracted_findings", findings)]));
        }
        self.touched.insert((scope, row.bytes(sql::group_of::GROUP_HASH)?));
        let (mut findings, mut places): (Vec<Uuid>, RemovedSpans) = Default::default();
        let mut sources = BTreeSet::new();
        for row in self.tx.fetch_all(&sql::FINDINGS_OF, of(memory)).await? {
            findings.push(row.uuid(sql::findings_of::ID)?);
            let source = row.uuid(sql::findings_of::SOURCE_ID)?;
            let revision = u32::try_from(row.i64(sql::findings_of::REVISION)?).map_err(|_| StoreError::Shape)?;
            sources.insert(raw_id(scope, source, revision));
            let place = |at| row.opt_i64(at).map(|place| place.and_then(|place| usize::try_from(place).ok()));
            let (start, end) = (place(sql::findings_of::EVIDENCE_START)?, place(sql::findings_of::EVIDENCE_END)?);
            if let (Some(start), Some(end)) = (start, end) {
                places.entry((source, revision)).or_default().push(Span::new(start, end.max(start)));
            }
        }
        let before = self.memories_of(scope).await?;
        let words = self.words_of(scope, memory).await?;
        let formed = self.formed_of(scope, &words, &sources).await?;
        findings.extend(formed.findings.iter().copied());
        let count = findings.len() as u64;
        self.delete(&of_patient::DELETE_FINDINGS, scope, findings).await?;
        self.remove_accounts(scope, &formed.accounts).await?;
        let (mut reviewed, mut said) = (Vec::new(), Vec::new());
        if places.is_empty() {
            // A statement of a profile event has no quote.
            said.extend([Some(words.concept), Some(words.mention), words.value].into_iter().flatten());
        }
        for ((document, revision), spans) in places {
            reviewed.extend(self.without_words(scope, document, revision, spans, &mut said).await?);
        }
        self.change_documents(&reviewed).await?;
        self.remove_copies(scope, &said).await?;
        self.fold().await?;
        let after = self.memories_of(scope).await?;
        let vanished: BTreeSet<Uuid> = before.keys().filter(|id| !after.contains_key(id)).copied().collect();
        self.delete(&of_patient::DELETE_HISTORY, scope, vanished.iter().copied()).await?;
        self.delete(&of_patient::DELETE_LINKS, scope, vanished.iter().copied()).await?;
        self.take_back_events(scope, &Removal::default(), &vanished).await?;
        Ok(BTreeMap::from([
            ("memory", vanished.len() as u64),
            ("extracted_findings", count),
            ("documents.content_sealed", reviewed.len() as u64),
        ]))
    }

    /// Nothing, where they were purged.
    async fn words_of(&mut self, scope: Scope, memory: Uuid) -> Result<FindingWords, StoreError> {
        let args = vec![scope.org().0.into(), scope.patient().0.into(), memory.into()];
        let content = self.tx.fetch_optional(&sql::WORDS_OF, args).await?;
        let sealed = content.map_or(Ok(None), |row| row.opt_blob(sql::words_of::CONTENT_SEALED))?;
        let Some(sealed) = sealed else { return Ok(FindingWords::default()) };
        open_record(self.keys_of(scope)?, memory_cell(memory, "content"), &sealed)
    }

    /// Derived data of the captures that state a memory: summaries, which are rewritten without it, and derived
    /// findings of the same concept.
    async fn formed_of(
        &mut self,
        scope: Scope,
        words: &FindingWords,
        sources: &BTreeSet<Uuid>,
    ) -> Result<Removal, StoreError> {
        let concept = anamnesis_text::fold(&words.concept);
        let accounts = self.accounts_of(scope).await?;
        let mut formed = Removal::default();
        for row in self.patient_rows(&of_patient::FINDINGS, scope).await? {
            let (id, source) = (row.uuid(of_patient::findings::ID)?, row.uuid(of_patient::findings::SOURCE_ID)?);
            if row.text(of_patient::findings::CLASS)? != "pattern" {
                continue;
            }
            let payload = row.blob(of_patient::findings::PAYLOAD_SEALED)?;
            let words: FindingWords = open_record(self.keys_of(scope)?, finding_cell(id, "payload"), &payload)?;
            let is_account = accounts.contains(&source);
            let tells = is_account || anamnesis_text::fold(&words.concept) == concept;
            if tells && words.formed_from.iter().any(|raw| sources.contains(raw)) {
                formed.findings.insert(id);
                formed.accounts.extend(is_account.then_some(source));
                self.touched.insert((scope, row.bytes(of_patient::findings::GROUP_HASH)?));
            }
        }
        Ok(formed)
    }

    /// A revision without the words at these places; `None` where it has no such words any more.
    async fn without_words(
        &mut self,
        scope: Scope,
        document: Uuid,
        revision: u32,
        spans: Vec<Span>,
        said: &mut Vec<String>,
    ) -> Result<Option<ReRedactedDocument>, StoreError> {
        let args = vec![scope.org().0.into(), scope.patient().0.into(), document.into(), revision.into()];
        if let Some(row) = self.tx.fetch_optional(&of_patient::ARCHIVED_CONTENT_OF_REVISION, args.clone()).await? {
            let keys = self.keys_of(scope)?;
            let cell = archive_cell(document, revision);
            let sealed = row.blob(of_patient::archived_content_of_revision::CONTENT_SEALED)?;
            let content: DocumentContent = open_record(keys, cell, &sealed)?;
            if let Some((content, _)) = blanked(&content, &spans) {
                let sealed =
                    Sealer { keys, entropy: self.entropy }.record(archive_cell(document, revision), &content)?;
                let args = [args.clone(), vec![sealed, self.target.now.into()]].concat();
                self.tx.execute(&sql::REWRITE_ARCHIVED, args).await?;
            }
        }
        let Some(row) = self.tx.fetch_optional(&of_patient::CONTENT_OF_REVISION, args).await? else { return Ok(None) };
        let sealed = row.blob(of_patient::content_of_revision::CONTENT_SEALED)?;
        let before: DocumentContent = open_record(self.keys_of(scope)?, content_cell(document, revision), &sealed)?;
        let language = match row.text(of_patient::content_of_revision::LANGUAGE)?.as_str() {
            "es" => Language::Spanish,
            "en" => Language::English,
            _ => Language::Unknown,
        };
        Ok(blanked(&before, &spans).map(|(content, spans)| {
            said.extend(spans.iter().map(|span| span.slice(&before.text).to_owned()));
            let moves = spans.into_iter().map(|span| (span, span)).collect();
            let change = TextChange { before: before.text, content, language, moves };
            ReRedactedDocument {
                scope,
                document,
                revision,
                version: String::new(),
                archived: false,
                change: Some(change),
            }
        }))
    }
}

/// The content without the words at these places, and the places in order without overlaps; `None` where there are none.
fn blanked(content: &DocumentContent, spans: &[Span]) -> Option<(DocumentContent, Vec<Span>)> {
    let mut sorted: Vec<Span> = spans
        .iter()
        .copied()
        .filter(|span| content.text.get(span.start..span.end).is_some_and(|at| !at.is_empty()))
        .collect();
    sorted.sort_by_key(|span| (span.start, span.end));
    let mut merged: Vec<Span> = Vec::new();
    for span in sorted {
        match merged.last_mut() {
            Some(last) if span.start <= last.end => *last = Span::new(last.start, last.end.max(span.end)),
            _ => merged.push(span),
        }
    }
    if merged.is_empty() {
        return None;
    }
    let mut text = content.text.clone();
    for span in &merged {
        text.replace_range(span.start..span.end, &filler(span.end - span.start));
    }
    let is_left = |at: &Span| merged.iter().all(|span| at.end <= span.start || span.end <= at.start);
    let redactions = content.redactions.iter().filter(|taken| is_left(&taken.redacted)).cloned().collect();
    Some((DocumentContent { text, redactions, ..content.clone() }, merged))
}

/// So many bytes that say that something was erased.
fn filler(bytes: usize) -> String {
    if bytes < ERASED.len() { "-".repeat(bytes) } else { format!("{ERASED}{}", "-".repeat(bytes - ERASED.len())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_go_and_every_other_place_stays_where_it_is() {
        let content = DocumentContent::from_text("Toma sertralina. Niño sano. Duerme.");
        let niño = content.text.find("Niño").unwrap();
        let spans = [Span::new(0, 16), Span::new(5, 16), Span::new(niño, niño + 5)];
        let (after, places) = blanked(&content, &spans).unwrap();
        assert_eq!(after.text, "[ERASED]-------- ----- sano. Duerme.");
        assert_eq!(after.text.len(), content.text.len());
        assert_eq!(places, [Span::new(0, 16), Span::new(niño, niño + 5)]);
    }

    #[test]
    fn places_that_are_not_in_the_text_change_nothing() {
        let content = DocumentContent::from_text("Niño");
        assert_eq!(blanked(&content, &[Span::new(0, 3), Span::new(2, 90), Span::new(1, 1)]), None);
    }
}

//! Removal of stored data with everything that was derived from it, as if it had never been stored. It serves late
//! commands of ephemeral mode and the erasure of documents. A risk that was not announced yet is announced without
//! content. Data under a legal hold stay.

mod events;
mod memory;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use chrono::{DateTime, Utc};
use serde_json::Value;
use uuid::Uuid;

use super::BatchWriter;
use super::documents::content_cell;
use super::findings::finding_cell;
use super::memories::raw_id;
use super::profile::preference_cell;
use super::retention::archive_cell;
use crate::StoreError;
use crate::encrypted_columns::{open_record, open_text};
use crate::legacy::record_cell;
use crate::records::{DocumentContent, FindingWords};
use crate::statements::write::documents::{PASSAGE, passage};
use crate::statements::write::removal as sql;
use crate::statements::write::removal::findings as of;
use anamnesis_core::failpoints;
use anamnesis_core::ids::derive;
use anamnesis_core::legacy::LegacyRecord;
use anamnesis_core::profile::EphemeralHistory;
use anamnesis_core::scope::Scope;
use anamnesis_sql::{Arg, Row, Sql};
use anamnesis_text::passages::DEFAULT_MAX_WORDS;
use anamnesis_text::{Document, Language, Turn, passages, stems};

/// Bytes of words below which they are found in other words by chance.
const LEAST: usize = 4;

/// The subject of a removal.
#[derive(Clone, Copy)]
enum RemovalScope<'a> {
    /// Statements of such a time.
    Within(&'a (dyn Fn(DateTime<Utc>) -> bool + Sync)),
    Document(Uuid),
}

impl RemovalScope<'_> {
    fn within(self, at: DateTime<Utc>) -> bool {
        matches!(self, Self::Within(within) if within(at))
    }

    fn takes(self, document: Uuid, at: DateTime<Utc>) -> bool {
        match self {
            Self::Within(within) => within(at),
            Self::Document(id) => id == document,
        }
    }
}

/// The rows of one patient that are removed.
#[derive(Debug, Default)]
struct Removal {
    documents: BTreeSet<(Uuid, u32)>,
    /// Of those documents.
    bodies: BTreeSet<[u8; 32]>,
    /// Profile events and readings of devices, by the id that findings have of their message.
    messages: BTreeSet<Uuid>,
    findings: BTreeSet<Uuid>,
    accounts: BTreeSet<Uuid>,
    /// Revisions that are current again, since the newer ones go.
    revived: BTreeMap<Uuid, u32>,
}

impl Removal {
    fn is_empty(&self) -> bool {
        self.documents.is_empty() && self.messages.is_empty()
    }
}

impl BatchWriter<'_> {
    /// Removes what these patients said during ephemeral mode.
    pub(super) async fn remove_ephemeral(
        &mut self,
        courses: &HashMap<Uuid, EphemeralHistory>,
        scopes: &BTreeSet<Scope>,
    ) -> Result<(), StoreError> {
        for scope in scopes {
            let Some(course) = courses.get(&scope.patient().0).filter(|course| course.ever(true)) else { continue };
            let within = |at: DateTime<Utc>| course.at(at).unwrap_or(false);
            let held = self.patient_rows(&sql::HOLDS, *scope).await?;
            let held = held.iter().map(|row| row.opt_uuid(sql::holds::DOCUMENT_ID));
            let held = held.collect::<Result<BTreeSet<_>, _>>()?;
            if held.contains(&None) {
                continue;
            }
            self.remove_imported(*scope, &within).await?;
            let gone = self.said_within(*scope, RemovalScope::Within(&within), &held).await?;
            if !gone.is_empty() {
                self.remove(*scope, gone).await?;
            }
        }
        Ok(())
    }

    /// Removes all revisions of a document; returns how many there were, and how many findings went with them.
    ///
    /// # Errors
    /// When the store cannot be read or written, or a cell does not open.
    pub(super) async fn remove_document(&mut self, scope: Scope, document: Uuid) -> Result<[u64; 2], StoreError> {
        let gone = self.said_within(scope, RemovalScope::Document(document), &BTreeSet::new()).await?;
        let counts = [gone.documents.len() as u64, gone.findings.len() as u64];
        if !gone.is_empty() {
            let mut said = Vec::new();
            for (id, revision) in &gone.documents {
                let args = vec![scope.org().0.into(), scope.patient().0.into(), (*id).into(), (*revision).into()];
                let stored = sql::content_of_revision::CONTENT_SEALED;
                let archived = sql::archived_content_of_revision::CONTENT_SEALED;
                for (statement, place, cell) in [
                    (&sql::CONTENT_OF_REVISION, stored, content_cell(*id, *revision)),
                    (&sql::ARCHIVED_CONTENT_OF_REVISION, archived, archive_cell(*id, *revision)),
                ] {
                    let Some(row) = self.tx.fetch_optional(statement, args.clone()).await? else { continue };
                    let content: DocumentContent = open_record(self.keys_of(scope)?, cell, &row.blob(place)?)?;
                    said.push(content.text);
                }
            }
            self.remove(scope, gone).await?;
            self.remove_copies(scope, &said).await?;
        }
        Ok(counts)
    }

    async fn patient_rows(&mut self, sql: &Sql, scope: Scope) -> Result<Vec<Row>, StoreError> {
        Ok(self.tx.fetch_all(sql, vec![scope.org().0.into(), scope.patient().0.into()]).await?)
    }

    /// Accounts that jobs wrote, by the id of their documents.
    async fn accounts_of(&mut self, scope: Scope) -> Result<BTreeSet<Uuid>, StoreError> {
        let rows = self.patient_rows(&sql::ACCOUNTS, scope).await?;
        Ok(rows.iter().map(|row| row.uuid(sql::accounts::ID)).collect::<Result<_, _>>()?)
    }

    async fn delete(&mut self, sql: &Sql, scope: Scope, ids: impl IntoIterator<Item = Uuid>) -> Result<(), StoreError> {
        let ids: Vec<Uuid> = ids.into_iter().collect();
        if !ids.is_empty() {
            self.tx.execute(sql, vec![scope.org().0.into(), scope.patient().0.into(), Arg::Uuids(ids)]).await?;
        }
        Ok(())
    }

    /// Takes accounts that jobs wrote, with their text and passages.
    async fn remove_accounts(&mut self, scope: Scope, accounts: &BTreeSet<Uuid>) -> Result<(), StoreError> {
        if failpoints::is("erase_keeps_accounts") {
            return Ok(());
        }
        self.delete(&sql::DELETE_ACCOUNTS, scope, accounts.iter().copied()).await?;
        for id in accounts {
            let args = vec![scope.org().0.into(), scope.patient().0.into(), (*id).into(), 1.into()];
            self.tx.execute(&sql::DELETE_PASSAGES, args.clone()).await?;
            self.tx.execute(&sql::DELETE_DOCUMENT, args).await?;
        }
        Ok(())
    }

    /// Copies of statements that are no findings: imported records and preferences with the same words, and every
    /// answer about rights, which copies all of them.
    async fn remove_copies(&mut self, scope: Scope, said: &[String]) -> Result<(), StoreError> {
        self.tx.execute(&sql::DELETE_RIGHTS_ANSWERS, vec![scope.org().0.into(), scope.patient().0.into()]).await?;
        let said: Vec<String> = said.iter().map(|words| anamnesis_text::fold(words.trim())).collect();
        let says = |text: &str| {
            let text = anamnesis_text::fold(text.trim());
            let is_there = |words: &String| {
                words.len() >= LEAST && text.len() >= LEAST && (text.contains(words) || words.contains(&text))
            };
            said.iter().any(is_there)
        };
        let mut records = Vec::new();
        for row in self.patient_rows(&sql::IMPORTED_RECORDS, scope).await? {
            let id = row.uuid(sql::imported_records::ID)?;
            let sealed = row.blob(sql::imported_records::RECORD_SEALED)?;
            let record: Value = open_record(self.keys_of(scope)?, record_cell(id), &sealed)?;
            let legacy = anamnesis_core::legacy::read(&record);
            let speaks =
                |legacy: &LegacyRecord| says(&legacy.text) || legacy.entries.iter().any(|(_, value)| says(value));
            records.extend(legacy.as_ref().is_some_and(speaks).then_some(id));
        }
        self.delete(&sql::DELETE_IMPORTED_RECORDS, scope, records).await?;
        let mut preferences = Vec::new();
        for row in self.patient_rows(&sql::PREFERENCES, scope).await? {
            let key: [u8; 32] = row.bytes(sql::preferences::KEY_HASH)?;
            let cell = preference_cell(&key, "value");
            if says(&open_text(self.keys_of(scope)?, cell, &row.blob(sql::preferences::VALUE_SEALED)?)?) {
                preferences.push(key.to_vec());
            }
        }
        if !preferences.is_empty() {
            let args = vec![scope.org().0.into(), scope.patient().0.into(), Arg::Blobs(preferences)];
            self.tx.execute(&sql::DELETE_PREFERENCES, args).await?;
        }
        Ok(())
    }

    /// Imported records keep their own words.
    async fn remove_imported(
        &mut self,
        scope: Scope,
        within: &impl Fn(DateTime<Utc>) -> bool,
    ) -> Result<(), StoreError> {
        let mut gone = Vec::new();
        for row in self.patient_rows(&sql::IMPORTED_RECORDS, scope).await? {
            let id = row.uuid(sql::imported_records::ID)?;
            let sealed = row.blob(sql::imported_records::RECORD_SEALED)?;
            let record: Value = open_record(self.keys_of(scope)?, record_cell(id), &sealed)?;
            let at = anamnesis_core::legacy::read(&record).and_then(|legacy| legacy.at);
            gone.extend(at.is_some_and(within).then_some(id));
        }
        self.delete(&sql::DELETE_IMPORTED_RECORDS, scope, gone).await
    }

    /// Documents, profile events and device readings of that time, with their findings and everything derived from
    /// them.
    async fn said_within(
        &mut self,
        scope: Scope,
        which: RemovalScope<'_>,
        held: &BTreeSet<Option<Uuid>>,
    ) -> Result<Removal, StoreError> {
        let mut gone = Removal::default();
        let accounts = self.accounts_of(scope).await?;
        let mut kept: BTreeMap<Uuid, u32> = BTreeMap::new();
        let mut retired: BTreeSet<Uuid> = BTreeSet::new();
        for row in self.patient_rows(&sql::DOCUMENTS, scope).await? {
            let id = row.uuid(sql::documents::DOCUMENT_ID)?;
            let revision = u32::try_from(row.i64(sql::documents::REVISION)?).map_err(|_| StoreError::Shape)?;
            if accounts.contains(&id) || held.contains(&Some(id)) {
                continue;
            }
            if which.takes(id, row.time(sql::documents::OCCURRED_AT)?) {
                gone.documents.insert((id, revision));
                gone.bodies.insert(row.bytes(sql::documents::BODY_HASH)?);
                retired.extend(row.bool(sql::documents::CURRENT)?.then_some(id));
            } else {
                kept.insert(id, revision);
            }
        }
        gone.revived = kept.into_iter().filter(|(id, _)| retired.contains(id)).collect();
        for row in self.patient_rows(&sql::PROFILE_STATEMENTS, scope).await? {
            let id = row.uuid(sql::profile_statements::ID)?;
            gone.messages.extend(which.within(row.time(sql::profile_statements::STATED_AT)?).then_some(id));
        }
        let raws: BTreeSet<Uuid> = gone.documents.iter().map(|(id, revision)| raw_id(scope, *id, *revision)).collect();
        for row in self.patient_rows(&sql::FINDINGS, scope).await? {
            let (id, source) = (row.uuid(of::ID)?, row.uuid(of::SOURCE_ID)?);
            let revision = u32::try_from(row.i64(of::REVISION)?).map_err(|_| StoreError::Shape)?;
            let is_reading = row.text(of::SET_BY)? == "device"
                && row.opt_text(of::DOCUMENT_TYPE)?.is_none()
                && which.within(row.time(of::ASSERTED_AT)?);
            let formed = row.text(of::CLASS)? == "pattern"
                && self.is_formed_of(scope, id, &row.blob(of::PAYLOAD_SEALED)?, &raws)?;
            if is_reading {
                gone.messages.insert(source);
            }
            if is_reading || formed || gone.documents.contains(&(source, revision)) || gone.messages.contains(&source) {
                gone.findings.insert(id);
                gone.accounts.extend((formed && accounts.contains(&source)).then_some(source));
                self.touched.insert((scope, row.bytes(of::GROUP_HASH)?));
            }
        }
        Ok(gone)
    }

    fn is_formed_of(&self, scope: Scope, id: Uuid, sealed: &[u8], raws: &BTreeSet<Uuid>) -> Result<bool, StoreError> {
        let words: FindingWords = open_record(self.keys_of(scope)?, finding_cell(id, "payload"), sealed)?;
        Ok(words.formed_from.iter().any(|raw| raws.contains(raw)))
    }

    async fn remove(&mut self, scope: Scope, gone: Removal) -> Result<(), StoreError> {
        let before = self.memories_of(scope).await?;
        self.remove_messages(scope, &gone, &before).await?;
        self.delete(&sql::DELETE_FINDINGS, scope, gone.findings.iter().copied()).await?;
        self.remove_accounts(scope, &gone.accounts).await?;
        for (id, revision) in gone.documents.iter().copied() {
            let args = vec![scope.org().0.into(), scope.patient().0.into(), id.into(), revision.into()];
            self.tx.execute(&sql::DELETE_PASSAGES, args.clone()).await?;
            self.tx.execute(&sql::DELETE_DOCUMENT, args).await?;
        }
        let raws = gone.documents.iter().map(|(id, revision)| raw_id(scope, *id, *revision));
        self.delete(&sql::DELETE_MEMORIES, scope, raws).await?;
        for (id, revision) in &gone.revived {
            self.revive(scope, *id, *revision).await?;
        }
        // A trend over all statements is computed again when it is needed.
        let of = vec![scope.org().0.into(), scope.patient().0.into()];
        self.tx.execute(&sql::DELETE_CONFIDENCE_COURSE, of).await?;
        self.remove_statements(scope, &gone.messages).await?;
        self.fold().await?;
        let after = self.memories_of(scope).await?;
        let vanished: BTreeSet<Uuid> = before.keys().filter(|id| !after.contains_key(id)).copied().collect();
        self.delete(&sql::DELETE_HISTORY, scope, vanished.iter().copied()).await?;
        self.delete(&sql::DELETE_LINKS, scope, vanished.iter().chain(&gone.messages).copied()).await?;
        self.take_back_events(scope, &gone, &vanished).await
    }

    /// Memories with their groups.
    async fn memories_of(&mut self, scope: Scope) -> Result<BTreeMap<Uuid, [u8; 32]>, StoreError> {
        let rows = self.patient_rows(&sql::MEMORIES, scope).await?;
        rows.iter().map(|row| Ok((row.uuid(sql::memories::ID)?, row.bytes(sql::memories::GROUP_HASH)?))).collect()
    }

    /// Columns of the messages themselves, and the further effects of a correction.
    async fn remove_messages(
        &mut self,
        scope: Scope,
        gone: &Removal,
        memories: &BTreeMap<Uuid, [u8; 32]>,
    ) -> Result<(), StoreError> {
        let (mut messages, mut spoken): (Vec<Vec<u8>>, Vec<[u8; 32]>) = Default::default();
        for row in self.patient_rows(&sql::INBOX, scope).await? {
            let message: [u8; 32] = row.bytes(sql::inbox::MESSAGE_HASH)?;
            let words = derive("spoken", &[&message]);
            if gone.documents.contains(&(words, 1)) {
                spoken.push(message);
            }
            let own = gone.messages.contains(&derive("message", &[&message]));
            if own || gone.bodies.contains(&row.bytes(sql::inbox::BODY_HASH)?) {
                messages.push(message.to_vec());
            }
        }
        if !messages.is_empty() {
            let args = vec![scope.org().0.into(), scope.patient().0.into(), Arg::Blobs(messages)];
            self.tx.execute(&sql::DELETE_INBOX, args).await?;
        }
        let mut acts = Vec::new();
        for row in self.patient_rows(&sql::ACTS, scope).await? {
            let (id, memory) = (row.uuid(sql::acts::ID)?, row.uuid(sql::acts::MEMORY_ID)?);
            if spoken.iter().any(|message| derive("act", &[message, memory.as_bytes()]) == id) {
                acts.push(id);
                self.touched.extend(memories.get(&memory).map(|group| (scope, *group)));
            }
        }
        self.delete(&sql::DELETE_ACTS, scope, acts).await
    }

    /// Statements of profile events: the patient's row is projected from the remaining ones.
    async fn remove_statements(&mut self, scope: Scope, messages: &BTreeSet<Uuid>) -> Result<(), StoreError> {
        if messages.is_empty() {
            return Ok(());
        }
        self.delete(&sql::DELETE_PROFILE_STATEMENTS, scope, messages.iter().copied()).await?;
        self.delete(&sql::DELETE_STATED_PREFERENCES, scope, messages.iter().copied()).await?;
        self.stated_again(scope).await
    }

    /// Makes an older revision the current one again. Its vectors are made by the next batch of the jobs.
    async fn revive(&mut self, scope: Scope, id: Uuid, revision: u32) -> Result<(), StoreError> {
        let (org, patient, now) = (Arg::from(scope.org().0), Arg::from(scope.patient().0), Arg::from(self.target.now));
        let of = vec![org.clone(), patient.clone(), id.into(), revision.into()];
        let with = [of.as_slice(), std::slice::from_ref(&now)].concat();
        self.tx.execute(&sql::REVIVE_DOCUMENT, with.clone()).await?;
        self.tx.execute(&sql::REVIVE_FINDINGS, with).await?;
        for row in self.tx.fetch_all(&sql::GROUPS_OF_DOCUMENT, vec![org.clone(), patient, id.into()]).await? {
            self.touched.insert((scope, row.bytes(sql::groups_of_document::GROUP_HASH)?));
        }
        let Some(row) = self.tx.fetch_optional(&sql::CONTENT_OF_REVISION, of).await? else { return Ok(()) };
        let sealed = row.blob(sql::content_of_revision::CONTENT_SEALED)?;
        let content: DocumentContent = open_record(self.keys_of(scope)?, content_cell(id, revision), &sealed)?;
        let language = match row.text(sql::content_of_revision::LANGUAGE)?.as_str() {
            "es" => Language::Spanish,
            "en" => Language::English,
            _ => Language::Unknown,
        };
        let rows = self.passages_of(scope, id, revision, &content, language)?;
        let shared = passage::Shared { org_id: org, created_at: now.clone(), updated_at: now };
        self.tx.bulk_sharing(&PASSAGE, shared.into(), rows).await?;
        Ok(())
    }

    fn passages_of(
        &self,
        scope: Scope,
        id: Uuid,
        revision: u32,
        content: &DocumentContent,
        language: Language,
    ) -> Result<Vec<Vec<Arg>>, StoreError> {
        let keys = self.keys_of(scope)?;
        let turn = |(speaker, start, end): &(_, usize, usize)| Turn {
            speaker: *speaker,
            span: anamnesis_text::Span::new(*start, *end),
            at_ms: None,
        };
        let turns = content.turns.iter().map(turn).collect();
        let document = Document { text: content.text.clone(), language, turns };
        let row = |(n, span): (usize, anamnesis_text::Span)| {
            let (org, patient) = (scope.org().0, scope.patient().0);
            let (revised, ordinal) = (revision.to_be_bytes(), (n as u64).to_be_bytes());
            let own = derive("passage", &[org.as_bytes(), patient.as_bytes(), id.as_bytes(), &revised, &ordinal]);
            let mut terms: Vec<i64> =
                stems(span.slice(&document.text), language).iter().map(|stem| keys.term(stem)).collect();
            terms.sort_unstable();
            let row = passage::Row {
                patient_id: patient.into(),
                id: own.into(),
                document_id: id.into(),
                revision: revision.into(),
                ordinal: (n as i64).into(),
                start_offset: (span.start as i64).into(),
                end_offset: (span.end as i64).into(),
                text_hash: keys.text_hash(span.slice(&document.text)).into(),
                terms: Arg::Ints(terms),
                embedding_pending: true.into(),
                missing_next_generation: false.into(),
            };
            row.into()
        };
        let spans = passages(&document, DEFAULT_MAX_WORDS).into_iter().map(|passage| passage.span);
        Ok(spans.enumerate().map(row).collect())
    }
}

//! What was stored and must go with all that was made of it, as if it had not been stored: what a patient said while nothing
//! was to be kept, where the command came late, and documents that are erased. A risk that was not announced yet is announced
//! without content. What a legal hold keeps stays.

mod events;
mod memory;
mod statements;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use chrono::{DateTime, Utc};
use serde_json::Value;
use uuid::Uuid;

use super::Writer;
use super::documents::{PASSAGE, content_cell};
use super::findings::finding_cell;
use super::memories::raw_id;
use super::profile::preference_cell;
use super::retention::archive_cell;
use crate::StoreError;
use crate::legacy::record_cell;
use crate::records::{DocumentContent, FindingWords};
use crate::seal::{open_record, open_text};
use anamnesis_core::failpoints;
use anamnesis_core::ids::derive;
use anamnesis_core::legacy::Legacy;
use anamnesis_core::profile::EphemeralCourse;
use anamnesis_core::scope::Scope;
use anamnesis_sql::{Arg, Row, Sql};
use anamnesis_text::passages::DEFAULT_MAX_WORDS;
use anamnesis_text::{Document, Language, Turn, passages, stems};
pub(super) use statements::statements;
use statements::{
    ACCOUNTS, ACTS, DELETE_ACCOUNTS, DELETE_ACTS, DELETE_ANSWERS, DELETE_COURSE, DELETE_DOCUMENT, DELETE_FINDINGS,
    DELETE_HISTORY, DELETE_INBOX, DELETE_LINKS, DELETE_MEMORIES, DELETE_PASSAGES, DELETE_PREFERENCE,
    DELETE_PREFERENCES, DELETE_STATEMENTS, DOCUMENTS, FINDINGS, GROUPS_OF, HELD, IMPORTED, INBOX, MEMORIES, OLDER,
    PREFERENCES, REVIVE_DOCUMENT, REVIVE_FINDINGS, STATED,
};

/// Bytes of words below which they are found in other words by chance.
const LEAST: usize = 4;

/// What is to go.
#[derive(Clone, Copy)]
enum Which<'a> {
    /// What was said at such a time.
    Within(&'a (dyn Fn(DateTime<Utc>) -> bool + Sync)),
    Document(Uuid),
}

impl Which<'_> {
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

/// What goes of one patient.
#[derive(Debug, Default)]
struct Gone {
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

impl Gone {
    fn is_empty(&self) -> bool {
        self.documents.is_empty() && self.messages.is_empty()
    }
}

impl Writer<'_> {
    /// Removes what these patients said while nothing was to be kept.
    pub(super) async fn remove_ephemeral(
        &mut self,
        courses: &HashMap<Uuid, EphemeralCourse>,
        scopes: &BTreeSet<Scope>,
    ) -> Result<(), StoreError> {
        for scope in scopes {
            let Some(course) = courses.get(&scope.patient().0).filter(|course| course.ever(true)) else { continue };
            let within = |at: DateTime<Utc>| course.at(at).unwrap_or(false);
            let held = self.of(&HELD, *scope).await?;
            let held = held.iter().map(|row| row.opt_uuid(0)).collect::<Result<BTreeSet<_>, _>>()?;
            if held.contains(&None) {
                continue;
            }
            self.remove_imported(*scope, &within).await?;
            let gone = self.said_within(*scope, Which::Within(&within), &held).await?;
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
        let gone = self.said_within(scope, Which::Document(document), &BTreeSet::new()).await?;
        let counts = [gone.documents.len() as u64, gone.findings.len() as u64];
        if !gone.is_empty() {
            let mut said = Vec::new();
            for (id, revision) in &gone.documents {
                let args = vec![scope.org().0.into(), scope.patient().0.into(), (*id).into(), (*revision).into()];
                for (sql, cell) in
                    [(&OLDER, content_cell(*id, *revision)), (&statements::ARCHIVED, archive_cell(*id, *revision))]
                {
                    let Some(row) = self.tx.fetch_optional(sql, args.clone()).await? else { continue };
                    let content: DocumentContent = open_record(self.keys_of(scope)?, cell, &row.blob(0)?)?;
                    said.push(content.text);
                }
            }
            self.remove(scope, gone).await?;
            self.remove_copies(scope, &said).await?;
        }
        Ok(counts)
    }

    async fn of(&mut self, sql: &Sql, scope: Scope) -> Result<Vec<Row>, StoreError> {
        Ok(self.tx.fetch_all(sql, vec![scope.org().0.into(), scope.patient().0.into()]).await?)
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
        self.delete(&DELETE_ACCOUNTS, scope, accounts.iter().copied()).await?;
        for id in accounts {
            let args = vec![scope.org().0.into(), scope.patient().0.into(), (*id).into(), 1.into()];
            self.tx.execute(&DELETE_PASSAGES, args.clone()).await?;
            self.tx.execute(&DELETE_DOCUMENT, args).await?;
        }
        Ok(())
    }

    /// Copies of what was said that are no findings: imported records and preferences that say it, and every answer about
    /// rights, which is a copy of all.
    async fn remove_copies(&mut self, scope: Scope, said: &[String]) -> Result<(), StoreError> {
        self.tx.execute(&DELETE_ANSWERS, vec![scope.org().0.into(), scope.patient().0.into()]).await?;
        let said: Vec<String> = said.iter().map(|words| anamnesis_text::fold(words.trim())).collect();
        let says = |text: &str| {
            let text = anamnesis_text::fold(text.trim());
            let is_there = |words: &String| {
                words.len() >= LEAST && text.len() >= LEAST && (text.contains(words) || words.contains(&text))
            };
            said.iter().any(is_there)
        };
        let mut records = Vec::new();
        for row in self.of(&IMPORTED, scope).await? {
            let id = row.uuid(0)?;
            let record: Value = open_record(self.keys_of(scope)?, record_cell(id), &row.blob(1)?)?;
            let legacy = anamnesis_core::legacy::read(&record);
            let speaks = |legacy: &Legacy| says(&legacy.text) || legacy.entries.iter().any(|(_, value)| says(value));
            records.extend(legacy.as_ref().is_some_and(speaks).then_some(id));
        }
        self.delete(&statements::DELETE_IMPORTED, scope, records).await?;
        let mut preferences = Vec::new();
        for row in self.of(&PREFERENCES, scope).await? {
            let key: [u8; 32] = row.bytes(0)?;
            let cell = preference_cell(&key, "value");
            if says(&open_text(self.keys_of(scope)?, cell, &row.blob(1)?)?) {
                preferences.push(key.to_vec());
            }
        }
        if !preferences.is_empty() {
            let args = vec![scope.org().0.into(), scope.patient().0.into(), Arg::Blobs(preferences)];
            self.tx.execute(&DELETE_PREFERENCE, args).await?;
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
        for row in self.of(&IMPORTED, scope).await? {
            let id = row.uuid(0)?;
            let record: Value = open_record(self.keys_of(scope)?, record_cell(id), &row.blob(1)?)?;
            let at = anamnesis_core::legacy::read(&record).and_then(|legacy| legacy.at);
            gone.extend(at.is_some_and(within).then_some(id));
        }
        self.delete(&statements::DELETE_IMPORTED, scope, gone).await
    }

    /// Documents, profile events and readings from inside, with their findings and what was formed of them.
    async fn said_within(
        &mut self,
        scope: Scope,
        which: Which<'_>,
        held: &BTreeSet<Option<Uuid>>,
    ) -> Result<Gone, StoreError> {
        let mut gone = Gone::default();
        let accounts = self.of(&ACCOUNTS, scope).await?;
        let accounts = accounts.iter().map(|row| row.uuid(0)).collect::<Result<BTreeSet<Uuid>, _>>()?;
        let mut kept: BTreeMap<Uuid, u32> = BTreeMap::new();
        let mut retired: BTreeSet<Uuid> = BTreeSet::new();
        for row in self.of(&DOCUMENTS, scope).await? {
            let (id, revision) = (row.uuid(0)?, u32::try_from(row.i64(1)?).map_err(|_| StoreError::Shape)?);
            if accounts.contains(&id) || held.contains(&Some(id)) {
                continue;
            }
            if which.takes(id, row.time(2)?) {
                gone.documents.insert((id, revision));
                gone.bodies.insert(row.bytes(3)?);
                retired.extend(row.bool(4)?.then_some(id));
            } else {
                kept.insert(id, revision);
            }
        }
        gone.revived = kept.into_iter().filter(|(id, _)| retired.contains(id)).collect();
        for row in self.of(&STATED, scope).await? {
            let id = row.uuid(0)?;
            gone.messages.extend(which.within(row.time(1)?).then_some(id));
        }
        let raws: BTreeSet<Uuid> = gone.documents.iter().map(|(id, revision)| raw_id(scope, *id, *revision)).collect();
        for row in self.of(&FINDINGS, scope).await? {
            let (id, source) = (row.uuid(0)?, row.uuid(1)?);
            let revision = u32::try_from(row.i64(2)?).map_err(|_| StoreError::Shape)?;
            let is_reading = row.text(5)? == "device" && row.opt_text(7)?.is_none() && which.within(row.time(6)?);
            let formed = row.text(4)? == "pattern" && self.is_formed_of(scope, id, &row.blob(8)?, &raws)?;
            if is_reading {
                gone.messages.insert(source);
            }
            if is_reading || formed || gone.documents.contains(&(source, revision)) || gone.messages.contains(&source) {
                gone.findings.insert(id);
                gone.accounts.extend((formed && accounts.contains(&source)).then_some(source));
                self.touched.insert((scope, row.bytes(3)?));
            }
        }
        Ok(gone)
    }

    fn is_formed_of(&self, scope: Scope, id: Uuid, sealed: &[u8], raws: &BTreeSet<Uuid>) -> Result<bool, StoreError> {
        let words: FindingWords = open_record(self.keys_of(scope)?, finding_cell(id, "payload"), sealed)?;
        Ok(words.formed_from.iter().any(|raw| raws.contains(raw)))
    }

    async fn remove(&mut self, scope: Scope, gone: Gone) -> Result<(), StoreError> {
        let before = self.memories_of(scope).await?;
        self.remove_messages(scope, &gone, &before).await?;
        self.delete(&DELETE_FINDINGS, scope, gone.findings.iter().copied()).await?;
        self.remove_accounts(scope, &gone.accounts).await?;
        for (id, revision) in gone.documents.iter().copied() {
            let args = vec![scope.org().0.into(), scope.patient().0.into(), id.into(), revision.into()];
            self.tx.execute(&DELETE_PASSAGES, args.clone()).await?;
            self.tx.execute(&DELETE_DOCUMENT, args).await?;
        }
        let raws = gone.documents.iter().map(|(id, revision)| raw_id(scope, *id, *revision));
        self.delete(&DELETE_MEMORIES, scope, raws).await?;
        for (id, revision) in &gone.revived {
            self.revive(scope, *id, *revision).await?;
        }
        // A trend that was computed over all is computed anew when it is needed.
        self.tx.execute(&DELETE_COURSE, vec![scope.org().0.into(), scope.patient().0.into()]).await?;
        self.remove_statements(scope, &gone.messages).await?;
        self.fold().await?;
        let after = self.memories_of(scope).await?;
        let vanished: BTreeSet<Uuid> = before.keys().filter(|id| !after.contains_key(id)).copied().collect();
        self.delete(&DELETE_HISTORY, scope, vanished.iter().copied()).await?;
        self.delete(&DELETE_LINKS, scope, vanished.iter().chain(&gone.messages).copied()).await?;
        self.take_back_events(scope, &gone, &vanished).await
    }

    /// Memories with their groups.
    async fn memories_of(&mut self, scope: Scope) -> Result<BTreeMap<Uuid, [u8; 32]>, StoreError> {
        let rows = self.of(&MEMORIES, scope).await?;
        rows.iter().map(|row| Ok((row.uuid(0)?, row.bytes(1)?))).collect()
    }

    /// What is known of the messages themselves, and what a correction did in addition to what it said.
    async fn remove_messages(
        &mut self,
        scope: Scope,
        gone: &Gone,
        memories: &BTreeMap<Uuid, [u8; 32]>,
    ) -> Result<(), StoreError> {
        let (mut messages, mut spoken): (Vec<Vec<u8>>, Vec<[u8; 32]>) = Default::default();
        for row in self.of(&INBOX, scope).await? {
            let message: [u8; 32] = row.bytes(0)?;
            let words = derive("spoken", &[&message]);
            if gone.documents.contains(&(words, 1)) {
                spoken.push(message);
            }
            let own = gone.messages.contains(&derive("message", &[&message]));
            if own || gone.bodies.contains(&row.bytes(1)?) {
                messages.push(message.to_vec());
            }
        }
        if !messages.is_empty() {
            let args = vec![scope.org().0.into(), scope.patient().0.into(), Arg::Blobs(messages)];
            self.tx.execute(&DELETE_INBOX, args).await?;
        }
        let mut acts = Vec::new();
        for row in self.of(&ACTS, scope).await? {
            let (id, memory) = (row.uuid(0)?, row.uuid(1)?);
            if spoken.iter().any(|message| derive("act", &[message, memory.as_bytes()]) == id) {
                acts.push(id);
                self.touched.extend(memories.get(&memory).map(|group| (scope, *group)));
            }
        }
        self.delete(&DELETE_ACTS, scope, acts).await
    }

    /// What profile events set: the patient's row is what is left of them.
    async fn remove_statements(&mut self, scope: Scope, messages: &BTreeSet<Uuid>) -> Result<(), StoreError> {
        if messages.is_empty() {
            return Ok(());
        }
        self.delete(&DELETE_STATEMENTS, scope, messages.iter().copied()).await?;
        self.delete(&DELETE_PREFERENCES, scope, messages.iter().copied()).await?;
        self.stated_again(scope).await
    }

    /// Makes an older revision the current one again. Its vectors are made by the next batch of the jobs.
    async fn revive(&mut self, scope: Scope, id: Uuid, revision: u32) -> Result<(), StoreError> {
        let (org, patient, now) = (Arg::from(scope.org().0), Arg::from(scope.patient().0), Arg::from(self.target.now));
        let of = vec![org.clone(), patient.clone(), id.into(), revision.into()];
        let with = [of.as_slice(), std::slice::from_ref(&now)].concat();
        self.tx.execute(&REVIVE_DOCUMENT, with.clone()).await?;
        self.tx.execute(&REVIVE_FINDINGS, with).await?;
        for row in self.tx.fetch_all(&GROUPS_OF, vec![org.clone(), patient, id.into()]).await? {
            self.touched.insert((scope, row.bytes(0)?));
        }
        let Some(row) = self.tx.fetch_optional(&OLDER, of).await? else { return Ok(()) };
        let content: DocumentContent = open_record(self.keys_of(scope)?, content_cell(id, revision), &row.blob(0)?)?;
        let language = match row.text(1)?.as_str() {
            "es" => Language::Spanish,
            "en" => Language::English,
            _ => Language::Unknown,
        };
        let rows = self.passages_of(scope, id, revision, &content, language)?;
        self.tx.bulk_sharing(&PASSAGE, vec![org, now.clone(), now], rows).await?;
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
            let passage = derive("passage", &[org.as_bytes(), patient.as_bytes(), id.as_bytes(), &revised, &ordinal]);
            let mut terms: Vec<i64> =
                stems(span.of(&document.text), language).iter().map(|stem| keys.term(stem)).collect();
            terms.sort_unstable();
            vec![
                patient.into(),
                passage.into(),
                id.into(),
                revision.into(),
                (n as i64).into(),
                (span.start as i64).into(),
                (span.end as i64).into(),
                keys.text_hash(span.of(&document.text)).into(),
                Arg::Ints(terms),
                true.into(),
                false.into(),
            ]
        };
        let spans = passages(&document, DEFAULT_MAX_WORDS).into_iter().map(|passage| passage.span);
        Ok(spans.enumerate().map(row).collect())
    }
}

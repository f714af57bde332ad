//! Import of records of older systems. The statements of a record are processed like any message, and the record itself
//! is stored redacted. A repeated import changes nothing.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Disposition, Pipeline, RawMessage};
use anamnesis_core::document::DocumentType;
use anamnesis_core::finding::EntityType;
use anamnesis_core::ids::MemoryId;
use anamnesis_core::legacy::{LegacyFormat, LegacyRecord, is_typed, parents_first, read, take_the_worst_of_parents};
use anamnesis_core::memory::{Kind, State};
use anamnesis_core::provenance::Trust;
use anamnesis_core::scope::Scope;
use anamnesis_messages::contract::{ActorRole, Command, CommandActor, MemoryCommand, Provenance};
use anamnesis_redaction::{KnownPeople, SurrogateKey};
use anamnesis_store::StoreError;
use anamnesis_store::legacy::{KeptRecord, record_id};
use anamnesis_store::read::{Memory, MemoryFilter, ReadInstant};
use anamnesis_text::{Document, Language, fold};

/// The outcome of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportOutcome {
    Stored,
    /// It is there already, and says the same.
    Unchanged,
    /// Of no known format, or it says nothing.
    Unread,
    /// The pipeline did not take it.
    Refused(Disposition),
}

/// The importer and the options.
#[derive(Debug, Clone, Copy)]
pub struct Importer {
    pub by: Uuid,
    /// The time of undated records, which must be the same for every import of the same file.
    pub undated: DateTime<Utc>,
}

/// A record on its way.
struct ImportRecord<'a> {
    ordinal: usize,
    record: &'a Value,
    legacy: LegacyRecord,
    importer: Importer,
    /// Another record was made from it.
    is_parent: bool,
}

impl ImportRecord<'_> {
    /// Whether a memory has the record's own words. Other findings of the same words have another entity or kind.
    fn is_itself(&self, memory: &Memory) -> bool {
        let by_hand =
            matches!(memory.entity, Some(EntityType::Preference | EntityType::Goal | EntityType::Relationship));
        memory.kind == self.legacy.kind && by_hand
    }
}

impl ImportRecord<'_> {
    fn keep(&self, memory: Option<&Memory>, made: &mut HashMap<String, ImportedMemory>) {
        if let (Some(memory), Some(id)) = (memory, &self.legacy.id) {
            made.insert(id.clone(), ImportedMemory { id: memory.id, trust: memory.trust });
        }
    }
}

/// Whether a memory that was imported says these words, redacted.
fn says(memory: &Memory, words: Option<&str>) -> bool {
    let imported = memory.document_type == Some(DocumentType::UploadedDocument);
    let same = |said: &str| memory.words.as_ref().is_some_and(|held| fold(held.concept.trim()) == fold(said.trim()));
    imported && words.is_some_and(same)
}

/// The memory that was made from a record.
struct ImportedMemory {
    id: MemoryId,
    trust: Trust,
}

impl Pipeline {
    /// Imports records of one patient: sources of other records first, otherwise in order.
    ///
    /// # Errors
    /// When the store cannot be reached.
    pub async fn import(
        &self,
        scope: Scope,
        records: &[Value],
        importer: Importer,
    ) -> Result<Vec<ImportOutcome>, StoreError> {
        let mut done = vec![ImportOutcome::Unread; records.len()];
        let mut all: Vec<Option<LegacyRecord>> = records.iter().map(read).collect();
        take_the_worst_of_parents(&mut all);
        let mut made: HashMap<String, ImportedMemory> = HashMap::new();
        let named: HashSet<String> = all.iter().flatten().flat_map(|one| one.parents.iter().cloned()).collect();
        for ordinal in parents_first(&all) {
            if let Some(legacy) = all[ordinal].take() {
                let is_parent = legacy.id.as_ref().is_some_and(|id| named.contains(id));
                let one = ImportRecord { ordinal, record: &records[ordinal], legacy, importer, is_parent };
                done[ordinal] = self.import_one(scope, one, &mut made).await?;
            }
        }
        Ok(done)
    }

    async fn import_one(
        &self,
        scope: Scope,
        one: ImportRecord<'_>,
        made: &mut HashMap<String, ImportedMemory>,
    ) -> Result<ImportOutcome, StoreError> {
        let (record, legacy, importer) = (one.record, &one.legacy, one.importer);
        let own = legacy.id.clone().unwrap_or_else(|| record.to_string());
        let id = record_id(scope, legacy.format, &own);
        // Keys are made with the first message: before it nothing of the patient is there to be unchanged.
        let (mut is_unchanged, mut is_changed) = (false, false);
        if let Some(keys) = self.store.read().keys_of(scope).await?
            && let Some(known) = self.store.intake().legacy_hashes(scope).await?.get(&id)
        {
            is_unchanged = *known == keys.hash("legacy", record.to_string().as_bytes());
            is_changed = !is_unchanged;
        }
        // Searched only if something follows from it, because each search reads the whole record of the patient.
        let follows = one.is_parent || legacy.is_protected || !legacy.is_active;
        if is_unchanged {
            if one.is_parent {
                let (all, words) = (self.all(scope).await?, self.redacted(scope, &legacy.text).await?);
                one.keep(all.iter().find(|memory| one.is_itself(memory) && says(memory, words.as_deref())), made);
            }
            return Ok(ImportOutcome::Unchanged);
        }
        let before = if follows { self.all(scope).await? } else { Vec::new() };
        // Of a parent that is no better than an inference the new one would be one too, and end after a day.
        let parents = legacy.parents.iter().filter_map(|parent| made.get(parent));
        let parents: Vec<MemoryId> =
            parents.filter(|parent| parent.trust < Trust::T4).map(|parent| parent.id).collect();
        let body = message(scope, legacy, importer, id, parents).to_string().into_bytes();
        match self.run(vec![RawMessage::from_body(body)]).await.first().copied() {
            Some(Disposition::Stored | Disposition::Duplicate) => {}
            other => return Ok(ImportOutcome::Refused(other.unwrap_or(Disposition::Retry))),
        }
        if follows {
            let known: HashSet<MemoryId> = before.iter().map(|memory| memory.id).collect();
            let all = self.all(scope).await?;
            let new: Vec<&Memory> = all.iter().filter(|memory| !known.contains(&memory.id)).collect();
            // A record that says what another one says, or a run that was stopped before, leaves nothing new.
            let itself = new.iter().copied().find(|memory| one.is_itself(memory));
            let words = self.redacted(scope, &legacy.text).await?;
            let itself = itself.or_else(|| all.iter().find(|m| one.is_itself(m) && says(m, words.as_deref())));
            one.keep(itself, made);
            // Forgets what this record created: now, or with its document if it was imported as active before. Equal
            // statements of other sources stay.
            let earlier = itself.filter(|_| is_changed).and_then(|memory| memory.document_id);
            let of_record = |memory: &&Memory| earlier.is_some() && memory.document_id == earlier;
            let own: Vec<&Memory> = new.iter().copied().chain(all.iter().filter(of_record)).collect();
            let own = own.iter().filter(|memory| memory.kind != Kind::Raw).map(|memory| memory.id).collect();
            if let Err(disposition) = self.carry_out(scope, &one, own, itself).await {
                return Ok(ImportOutcome::Refused(disposition));
            }
        }
        let keys = self.store.read().keys_of(scope).await?.ok_or(StoreError::Race)?;
        let hash = keys.hash("legacy", record.to_string().as_bytes());
        let Some(clean) = self.clean_record(scope, record, keys.surrogate()).await? else {
            return Ok(ImportOutcome::Refused(Disposition::Quarantined(
                anamnesis_core::reason::Reason::RedactionFailed,
            )));
        };
        let kept = KeptRecord { id, format: legacy.format, ordinal: one.ordinal, hash, record: &clean };
        self.store.intake().keep_legacy(scope, kept).await?;
        Ok(ImportOutcome::Stored)
    }

    /// Applies the record's state to its memory, in addition to its words.
    async fn carry_out(
        &self,
        scope: Scope,
        one: &ImportRecord<'_>,
        mut ids: Vec<MemoryId>,
        itself: Option<&Memory>,
    ) -> Result<(), Disposition> {
        let at = one.legacy.at.unwrap_or(one.importer.undated);
        ids.sort_unstable();
        ids.dedup();
        let what = match (one.legacy.is_active, itself) {
            // A memory that was forgotten there stays forgotten here, and can be recovered for the same term.
            (false, _) => Command::Forget,
            (true, Some(memory)) if one.legacy.is_protected => {
                ids = vec![memory.id];
                Command::Protect
            }
            _ => return Ok(()),
        };
        if ids.is_empty() {
            return Ok(());
        }
        let act = MemoryCommand {
            memory_ids: Some(ids),
            issued_at: Some(at.max(self.store.clock().now())),
            ..command(scope, what, one.importer.by, at)
        };
        let body = serde_json::to_vec(&act).map_err(|_| Disposition::Retry)?;
        match self.run(vec![RawMessage::from_body(body)]).await.first().copied() {
            Some(Disposition::Stored | Disposition::Duplicate) => Ok(()),
            other => Err(other.unwrap_or(Disposition::Retry)),
        }
    }

    /// The words as a memory has them; `None` where they cannot be redacted.
    async fn redacted(&self, scope: Scope, text: &str) -> Result<Option<String>, StoreError> {
        let Some(keys) = self.store.read().keys_of(scope).await? else { return Ok(None) };
        let clean = self.clean_record(scope, &Value::from(text), keys.surrogate()).await?;
        Ok(clean.and_then(|clean| clean.as_str().map(str::to_owned)))
    }

    async fn all(&self, scope: Scope) -> Result<Vec<Memory>, StoreError> {
        let filter = MemoryFilter { states: State::ALL.to_vec(), ..Default::default() };
        self.store.read().memories(scope, &filter, ReadInstant::Now).await
    }

    /// The record with every word redacted; ids, instants and codes stay. `None` when something could not be redacted.
    async fn clean_record(
        &self,
        scope: Scope,
        record: &Value,
        surrogate: &[u8; 32],
    ) -> Result<Option<Value>, StoreError> {
        let rows = self.store.organization().organization_rows().await?;
        let own = rows.iter().find(|row| row.org == scope.org());
        let policy = own.map_or("safe_harbor", |row| row.redaction_policy.as_str());
        let Some(redactor) = self.redactor(scope.org(), policy) else { return Ok(None) };
        let clean = |text: &str| -> Option<String> {
            if is_typed(text) {
                return Some(text.to_owned());
            }
            let document = Document::plain(text, Language::Unknown);
            let redacted = redactor
                .redact_with_services(&document, &KnownPeople::default(), &SurrogateKey::new(*surrogate))
                .ok()?;
            (redactor.count_residual_pii(redacted.document(), &KnownPeople::default()) == 0)
                .then(|| redacted.document().text.clone())
        };
        Ok(cleaned(record, &clean))
    }
}

fn cleaned(value: &Value, clean: &impl Fn(&str) -> Option<String>) -> Option<Value> {
    Some(match value {
        Value::String(text) => Value::String(clean(text)?),
        Value::Array(items) => Value::Array(items.iter().map(|item| cleaned(item, clean)).collect::<Option<Vec<_>>>()?),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| Some((key.clone(), cleaned(value, clean)?)));
            Value::Object(fields.collect::<Option<_>>()?)
        }
        other => other.clone(),
    })
}

fn command(scope: Scope, command: Command, by: Uuid, at: DateTime<Utc>) -> MemoryCommand {
    MemoryCommand {
        organization_id: scope.org(),
        patient_id: scope.patient(),
        actor: CommandActor { id: by, role: ActorRole::System },
        command,
        memory_ids: None,
        document_ids: None,
        topic: None,
        preview: None,
        reason: None,
        text: None,
        kind: None,
        derived_from: None,
        provenance: None,
        issued_at: Some(at),
    }
}

/// The statements of a record, as a message of the contract.
fn message(scope: Scope, legacy: &LegacyRecord, importer: Importer, id: Uuid, parents: Vec<MemoryId>) -> Value {
    let Importer { by, undated } = importer;
    let at = legacy.at.unwrap_or(undated);
    if legacy.format == LegacyFormat::Profile {
        let preferences: serde_json::Map<String, Value> =
            legacy.entries.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
        return json!({"organization_id": scope.org(), "patient_id": scope.patient(), "actor": by, "recorded_at": at,
            "preferences": preferences});
    }
    let provenance = Provenance {
        source: legacy.source.clone().map(Into::into),
        source_type: Some(legacy.source_type),
        is_proxy: Some(legacy.is_proxy),
        proxy_agent: legacy.proxy_agent.clone().map(Into::into),
        confidence: legacy.confidence,
        cognitive_state: None,
        signed_by: None,
        expires_at: None,
    };
    let add = MemoryCommand {
        text: Some(legacy.text.clone().into()),
        kind: Some(legacy.kind),
        provenance: Some(provenance),
        derived_from: (!parents.is_empty()).then_some(parents),
        // Distinguishes two records with the same words.
        reason: Some(id.to_string().into()),
        ..command(scope, Command::Add, by, at)
    };
    serde_json::to_value(&add).unwrap_or_default()
}

#[cfg(test)]
#[path = "legacy_import_tests.rs"]
mod tests;

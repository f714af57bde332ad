//! Records of older systems: what each says goes the way of every message, and the record itself is kept redacted. Imported
//! twice, it changes nothing.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Disposition, Pipeline, Raw};
use anamnesis_core::legacy::{Legacy, LegacyFormat, is_typed, read, take_the_worst_of_parents};
use anamnesis_core::scope::Scope;
use anamnesis_messages::contract::{Actor, ActorRole, Command, MemoryCommand, Provenance};
use anamnesis_redaction::{People, SurrogateKey};
use anamnesis_store::StoreError;
use anamnesis_store::legacy::{KeptRecord, record_id};
use anamnesis_text::{Document, Language};

/// What became of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Imported {
    Stored,
    /// It is there already, and says the same.
    Unchanged,
    /// Of no known format, or it says nothing.
    Unread,
    /// The pipeline did not take it.
    Refused(Disposition),
}

/// Who imports, and how.
#[derive(Debug, Clone, Copy)]
pub struct Importer {
    pub by: Uuid,
    /// The instant of what has none, which must be the same whenever the same file is imported.
    pub undated: DateTime<Utc>,
}

impl Pipeline {
    /// Takes in records of one patient, in order.
    ///
    /// # Errors
    /// When the store cannot be reached.
    pub async fn import(
        &self,
        scope: Scope,
        records: &[Value],
        importer: Importer,
    ) -> Result<Vec<Imported>, StoreError> {
        let mut done = Vec::with_capacity(records.len());
        let mut all: Vec<Option<Legacy>> = records.iter().map(read).collect();
        take_the_worst_of_parents(&mut all);
        for (ordinal, (record, legacy)) in records.iter().zip(all).enumerate() {
            done.push(match legacy {
                Some(legacy) => self.import_one(scope, ordinal, record, legacy, importer).await?,
                None => Imported::Unread,
            });
        }
        Ok(done)
    }

    async fn import_one(
        &self,
        scope: Scope,
        ordinal: usize,
        record: &Value,
        legacy: Legacy,
        importer: Importer,
    ) -> Result<Imported, StoreError> {
        let own = legacy.id.clone().unwrap_or_else(|| record.to_string());
        let id = record_id(scope, legacy.format, &own);
        // Keys are made with the first message: before it nothing of the patient is there to be unchanged.
        if let Some(keys) = self.store.keys_of(scope).await?
            && let Some(known) = self.store.legacy_hashes(scope).await?.get(&id)
            && *known == keys.hash("legacy", record.to_string().as_bytes())
        {
            return Ok(Imported::Unchanged);
        }
        let before = if legacy.is_active { Vec::new() } else { self.made_by_hand(scope).await? };
        let body = message(scope, &legacy, importer, id).to_string().into_bytes();
        match self.run(vec![Raw::of(body)]).await.first().copied() {
            Some(Disposition::Stored | Disposition::Duplicate) => {}
            other => return Ok(Imported::Refused(other.unwrap_or(Disposition::Retry))),
        }
        if !legacy.is_active {
            self.forget_again(scope, before, importer.by, legacy.at.unwrap_or(importer.undated)).await?;
        }
        let keys = self.store.keys_of(scope).await?.ok_or(StoreError::Race)?;
        let hash = keys.hash("legacy", record.to_string().as_bytes());
        let Some(clean) = self.clean_record(scope, record, keys.surrogate()).await? else {
            return Ok(Imported::Refused(Disposition::Quarantined(anamnesis_core::reason::Reason::RedactionFailed)));
        };
        let kept = KeptRecord { id, format: legacy.format, ordinal, hash, record: &clean };
        self.store.keep_legacy(scope, kept).await?;
        Ok(Imported::Stored)
    }

    async fn made_by_hand(&self, scope: Scope) -> Result<Vec<anamnesis_core::ids::MemoryId>, StoreError> {
        use anamnesis_core::memory::State;
        let filter = anamnesis_store::read::Filter { states: State::ALL.to_vec(), ..Default::default() };
        let all = self.store.memories(scope, &filter, anamnesis_store::read::When::Now).await?;
        Ok(all.into_iter().map(|memory| memory.id).collect())
    }

    /// What was forgotten there stays forgotten here, and can be recovered as long.
    async fn forget_again(
        &self,
        scope: Scope,
        before: Vec<anamnesis_core::ids::MemoryId>,
        by: Uuid,
        at: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let mut new = self.made_by_hand(scope).await?;
        new.retain(|id| !before.contains(id));
        let forget = MemoryCommand {
            memory_ids: Some(new),
            // After what it forgets, which was said at this instant.
            issued_at: Some(at.max(self.store.clock().now())),
            ..command(scope, Command::Forget, by, at)
        };
        let body = serde_json::to_vec(&forget).map_err(|_| StoreError::Shape)?;
        self.run(vec![Raw::of(body)]).await;
        Ok(())
    }

    /// The record with every word redacted; ids, instants and codes stay. `None` when something could not be redacted.
    async fn clean_record(
        &self,
        scope: Scope,
        record: &Value,
        surrogate: &[u8; 32],
    ) -> Result<Option<Value>, StoreError> {
        let rows = self.store.organization_rows().await?;
        let own = rows.iter().find(|row| row.org == scope.org());
        let policy = own.map_or("safe_harbor", |row| row.redaction_policy.as_str());
        let Some(redactor) = self.redactor(scope.org(), policy) else { return Ok(None) };
        let clean = |text: &str| -> Option<String> {
            if is_typed(text) {
                return Some(text.to_owned());
            }
            let document = Document::plain(text, Language::Unknown);
            let redacted =
                redactor.redact_asking(&document, &People::default(), &SurrogateKey::new(*surrogate)).ok()?;
            (redactor.left_over(redacted.document(), &People::default()) == 0).then(|| redacted.document().text.clone())
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
        actor: Actor { id: by, role: ActorRole::System },
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

/// What a record says, as a message of the contract.
fn message(scope: Scope, legacy: &Legacy, importer: Importer, id: Uuid) -> Value {
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
        // Tells two records that say the same from each other.
        reason: Some(id.to_string().into()),
        ..command(scope, Command::Add, by, at)
    };
    serde_json::to_value(&add).unwrap_or_default()
}

#[cfg(test)]
#[path = "legacy_tests.rs"]
mod tests;

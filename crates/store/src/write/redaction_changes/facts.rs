//! A later redaction of a patient's facts that are in no document: statements of profiles and devices, preferences, and
//! imported records. Only their own words are stored, and each is redacted separately.

use std::collections::BTreeSet;

use serde_json::Value;
use uuid::Uuid;

use crate::PageRequest;
use crate::encrypted_columns::{Sealer, open_record, open_text};
use crate::legacy::record_cell;
use crate::records::FindingWords;
use crate::statements::write::redaction_changes::facts as sql;
use crate::statements::write::redaction_changes::{FORGET_WORDS, REWORD_FINDINGS, reword_findings};
use crate::write::GroupKey;
use crate::write::findings::finding_cell;
use crate::write::maintenance::MaintenanceWriter;
use crate::write::profile::preference_cell;
use crate::{Keys, StoreError};
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_core::legacy::is_typed;
use anamnesis_core::projection::KeyHash;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::PatientKeys;
use anamnesis_sql::{Arg, DbError, Transaction};

/// A finding of no document.
#[derive(Debug, Clone, PartialEq)]
struct UndocumentedFinding {
    id: Uuid,
    group: KeyHash,
    words: FindingWords,
    /// The text, and the position where it begins.
    said: Option<(String, i64)>,
}

/// A patient's facts that are in no document.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PatientFacts {
    /// With the instant of each: one that was stated since is another.
    preferences: Vec<(KeyHash, String, i64)>,
    records: Vec<(Uuid, Value)>,
    facts: Vec<UndocumentedFinding>,
}

/// Patients whose facts another version redacted, or none that is on record, after `after`.
///
/// # Errors
/// Of the database.
pub async fn facts_due(
    tx: &mut Transaction,
    org: OrgId,
    version: &str,
    PageRequest { after, limit }: PageRequest<Uuid>,
) -> Result<Vec<PatientId>, DbError> {
    let args = vec![org.0.into(), version.into(), after.into(), limit.into()];
    tx.fetch_all(&sql::DUE, args).await?.iter().map(|row| Ok(PatientId(row.uuid(sql::due::PATIENT_ID)?))).collect()
}

/// The facts of one patient, opened.
///
/// # Errors
/// Of the database, or when a cell does not open.
pub async fn facts_of(tx: &mut Transaction, keys: &PatientKeys) -> Result<PatientFacts, StoreError> {
    let scope = keys.scope();
    let of = || vec![Arg::from(scope.org().0), scope.patient().0.into()];
    let mut all = PatientFacts::default();
    for row in tx.fetch_all(&sql::PREFERENCES, of()).await? {
        let hash: KeyHash = row.bytes(sql::preferences::KEY_HASH)?;
        let sealed = row.blob(sql::preferences::VALUE_SEALED)?;
        let value = open_text(keys, preference_cell(&hash, "value"), &sealed)?;
        all.preferences.push((hash, value, row.i64(sql::preferences::STATED_AT)?));
    }
    for row in tx.fetch_all(&sql::RECORDS, of()).await? {
        let id = row.uuid(sql::records::ID)?;
        all.records.push((id, open_record(keys, record_cell(id), &row.blob(sql::records::RECORD_SEALED)?)?));
    }
    for row in tx.fetch_all(&sql::FACTS, of()).await? {
        let id = row.uuid(sql::facts::ID)?;
        let payload = row.blob(sql::facts::PAYLOAD_SEALED)?;
        let words: FindingWords = open_record(keys, finding_cell(id, "payload"), &payload)?;
        // Findings that a job derived from documents are reworded with those.
        if !words.formed_from.is_empty() {
            continue;
        }
        let quote = row.opt_blob(sql::facts::EVIDENCE_SEALED)?.filter(|sealed| !sealed.is_empty());
        let said = match (quote, row.opt_i64(sql::facts::EVIDENCE_START)?) {
            (Some(sealed), Some(start)) => Some((open_text(keys, finding_cell(id, "evidence"), &sealed)?, start)),
            _ => None,
        };
        all.facts.push(UndocumentedFinding { id, group: row.bytes(sql::facts::GROUP_HASH)?, words, said });
    }
    Ok(all)
}

impl PatientFacts {
    /// Only the facts that a redactor changes, with the new text.
    ///
    /// # Errors
    /// Of the redactor: then nothing of the patient is changed.
    pub fn changed<E>(self, clean: &dyn Fn(&str) -> Result<String, E>) -> Result<Self, E> {
        let mut changed = Self::default();
        for (hash, value, at) in self.preferences {
            let cleaned = clean(&value)?;
            if cleaned != value {
                changed.preferences.push((hash, cleaned, at));
            }
        }
        for (id, record) in self.records {
            let cleaned = clean_value(&record, clean)?;
            if cleaned != record {
                changed.records.push((id, cleaned));
            }
        }
        for fact in self.facts {
            let words = clean_words(&fact.words, clean)?;
            let said = match &fact.said {
                Some((text, start)) => Some((clean(text)?, *start)),
                None => None,
            };
            if words != fact.words || said != fact.said {
                changed.facts.push(UndocumentedFinding { words, said, ..fact });
            }
        }
        Ok(changed)
    }

    pub fn is_empty(&self) -> bool {
        self.preferences.is_empty() && self.records.is_empty() && self.facts.is_empty()
    }
}

fn clean_value<E>(value: &Value, clean: &dyn Fn(&str) -> Result<String, E>) -> Result<Value, E> {
    Ok(match value {
        Value::String(text) if !is_typed(text) => Value::String(clean(text)?),
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| clean_value(item, clean)).collect::<Result<_, E>>()?)
        }
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| Ok((key.clone(), clean_value(value, clean)?)));
            Value::Object(fields.collect::<Result<_, E>>()?)
        }
        other => other.clone(),
    })
}

/// Typed values are no text (model.md, "Decisions" 7).
fn clean_words<E>(words: &FindingWords, clean: &dyn Fn(&str) -> Result<String, E>) -> Result<FindingWords, E> {
    let maybe = |text: &Option<String>| text.as_deref().map(clean).transpose();
    Ok(FindingWords {
        concept: clean(&words.concept)?,
        person: maybe(&words.person)?,
        dose: maybe(&words.dose)?,
        frequency: maybe(&words.frequency)?,
        route: maybe(&words.route)?,
        severity: maybe(&words.severity)?,
        value: maybe(&words.value)?,
        reaction: maybe(&words.reaction)?,
        mention: clean(&words.mention)?,
        source_entity: maybe(&words.source_entity)?,
        ..words.clone()
    })
}

impl MaintenanceWriter<'_> {
    /// Writes the redacted facts, and marks these patients as done. Their memories are projected again, and clinical
    /// rows follow.
    ///
    /// # Errors
    /// When the store refuses the rows or a cell does not open.
    pub async fn redact_facts(
        &self,
        tx: &mut Transaction,
        version: &str,
        reviewed: &[(Scope, PatientFacts)],
    ) -> Result<(), StoreError> {
        if reviewed.is_empty() {
            return Ok(());
        }
        let mut writer = self.writer(tx);
        let patients: BTreeSet<Uuid> = reviewed.iter().map(|(scope, _)| scope.patient().0).collect();
        writer.hold(patients.clone()).await?;
        let (org, now) = (Arg::from(self.org.0), Arg::from(self.now));
        let mut groups: BTreeSet<GroupKey> = BTreeSet::new();
        let mut rows: Vec<Vec<Arg>> = Vec::new();
        for (scope, facts) in reviewed {
            let keys = keys_of(self.keys, *scope)?;
            let sealer = Sealer { keys, entropy: self.entropy };
            let of = || vec![org.clone(), scope.patient().0.into()];
            for (hash, value, at) in &facts.preferences {
                let sealed = sealer.text(preference_cell(hash, "value"), value);
                writer
                    .tx
                    .execute(
                        &sql::REWRITE_PREFERENCE,
                        [of(), vec![(*hash).into(), sealed, now.clone(), (*at).into()]].concat(),
                    )
                    .await?;
            }
            for (id, record) in &facts.records {
                let sealed = sealer.record(record_cell(*id), record)?;
                writer
                    .tx
                    .execute(&sql::REWRITE_RECORD, [of(), vec![(*id).into(), sealed, now.clone()]].concat())
                    .await?;
            }
            for fact in &facts.facts {
                let payload = sealer.record(finding_cell(fact.id, "payload"), &fact.words)?;
                let [quote, first, behind] = match &fact.said {
                    Some((text, start)) => {
                        let end = start + text.len() as i64;
                        [sealer.text(finding_cell(fact.id, "evidence"), text), (*start).into(), end.into()]
                    }
                    None => [Arg::from(Vec::<u8>::new()), Arg::Null, Arg::Null],
                };
                let row = reword_findings::Row {
                    org_id: org.clone(),
                    patient_id: scope.patient().0.into(),
                    id: fact.id.into(),
                    payload,
                    quote,
                    first,
                    behind,
                    now: now.clone(),
                };
                rows.push(row.into());
                groups.insert((*scope, fact.group));
            }
        }
        writer.tx.bulk(&REWORD_FINDINGS, rows).await?;
        let keyed = groups.iter().map(|(scope, group)| (scope.patient().0, group.to_vec())).collect();
        writer.tx.execute(&FORGET_WORDS, vec![org.clone(), Arg::Pairs(keyed)]).await?;
        let stamp = vec![org, Arg::Uuids(patients.into_iter().collect()), version.into(), now];
        writer.tx.execute(&sql::STAMP, stamp).await?;
        writer.touched.extend(groups);
        // No person said anything new: the fold writes the same memories in other words, and no event announces it.
        writer.fold().await
    }
}

fn keys_of(keys: &Keys, scope: Scope) -> Result<&PatientKeys, StoreError> {
    keys.get(&scope).map(|keys| &**keys).ok_or(StoreError::Race)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_redactor_changes_is_left_and_typed_values_stay() {
        let words = |mention: &str| FindingWords {
            concept: "asma".to_owned(),
            mention: mention.to_owned(),
            ..FindingWords::default()
        };
        let fact = |id, mention| UndocumentedFinding {
            id: Uuid::from_u128(id),
            group: [1; 32],
            words: words(mention),
            said: None,
        };
        let record = serde_json::json!({"note": "ver a Yeray", "at": "2026-05-10T07:00:00Z", "count": 3});
        let facts = PatientFacts {
            preferences: vec![([2; 32], "llamar a Yeray".to_owned(), 1), ([3; 32], "de tú".to_owned(), 1)],
            records: vec![(Uuid::from_u128(9), record)],
            facts: vec![fact(1, "asma"), fact(2, "asma, según Yeray")],
        };
        let clean = |text: &str| -> Result<String, ()> { Ok(text.replace("Yeray", "[PERSON]")) };
        let changed = facts.changed(&clean).unwrap();
        assert_eq!(changed.preferences, [([2; 32], "llamar a [PERSON]".to_owned(), 1)]);
        assert_eq!(
            changed.records[0].1,
            serde_json::json!({"note": "ver a [PERSON]", "at": "2026-05-10T07:00:00Z", "count": 3})
        );
        assert_eq!(changed.facts, [fact(2, "asma, según [PERSON]")]);
        assert!(PatientFacts::default().changed(&clean).unwrap().is_empty());
    }
}

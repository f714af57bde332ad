//! Checks before work begins: whether the organisation is known, the message was seen before, and the patient may be
//! remembered.

use std::collections::{BTreeMap, HashMap};
use std::sync::{MutexGuard, PoisonError};

use uuid::Uuid;

use super::consents::{self, CheckedConsents, RecordedConsent};
use super::erasure::{self, ErasedIds};
use super::write::profile;
use super::{IntakeStore, StoreError, organizations};
use crate::statements::admission as sql;
use crate::statements::write::profile::modes_of as modes;
use anamnesis_core::consent::Withdrawal;
use anamnesis_core::document::DocumentType;
use anamnesis_core::ids::{DocumentId, OrgId, PatientId};
use anamnesis_core::profile::EphemeralHistory;
use anamnesis_core::projection::KeyHash;
use anamnesis_core::vector::CacheKey;
use anamnesis_sql::{Access, Arg, Row, Transaction};

/// An organisation's rules that bind the pipeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrganizationRules {
    pub redaction_policy: String,
    pub consent_required: bool,
    pub withdrawal: Withdrawal,
    /// The generation of vectors that it is searched by; `None`: the configured one.
    pub generation: Option<i64>,
}

/// The known state of one organisation's messages before work begins.
#[derive(Debug, Clone, Default)]
pub struct AdmissionState {
    /// `None` for an organisation that is not registered.
    pub rules: Option<OrganizationRules>,
    /// Body hash by message hash.
    pub seen: HashMap<KeyHash, KeyHash>,
    /// Body hash by revision.
    pub revisions: HashMap<(PatientId, DocumentId, u32), KeyHash>,
    /// Types of the revisions of a document; one that this version does not know is left out.
    pub types: HashMap<(PatientId, DocumentId), Vec<DocumentType>>,
    /// Ephemeral periods, by patient.
    pub ephemeral: HashMap<PatientId, EphemeralHistory>,
    /// Consents, by patient.
    pub(crate) consents: HashMap<PatientId, Vec<RecordedConsent>>,
    /// Erased ids of these patients.
    pub erased: ErasedIds,
    /// The rows that the three above were read from.
    pub looked: CheckedConsents,
}

/// Messages on which work began.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AttemptBatch {
    /// The row that says so of all of them; `None` where each has its own.
    pub batch: Option<Uuid>,
    /// In order.
    pub(crate) messages: Vec<KeyHash>,
}

/// The keys of the look-up.
#[derive(Debug, Clone, Default)]
pub struct AdmissionQuery {
    pub messages: Vec<KeyHash>,
    pub documents: Vec<(PatientId, DocumentId)>,
    pub patients: Vec<PatientId>,
}

fn organization(row: &Row) -> Result<OrganizationRules, StoreError> {
    Ok(OrganizationRules {
        redaction_policy: row.text(sql::organizations::REDACTION_POLICY)?,
        consent_required: row.bool(sql::organizations::CONSENT_REQUIRED)?,
        withdrawal: Withdrawal::from_code(&row.text(sql::organizations::WITHDRAWAL)?).unwrap_or_default(),
        generation: row.opt_i64(sql::organizations::VECTOR_GENERATION)?,
    })
}

impl IntakeStore<'_> {
    /// The organisations that are registered.
    pub async fn organizations(self, orgs: &[OrgId]) -> Result<HashMap<OrgId, OrganizationRules>, StoreError> {
        let mut tx = self.db.read(Access::Platform).await?;
        let rows = tx.fetch_all(&sql::ORGANIZATIONS, vec![Arg::Uuids(orgs.iter().map(|o| o.0).collect())]).await?;
        rows.iter().map(|row| Ok((OrgId(row.uuid(sql::organizations::ORG_ID)?), organization(row)?))).collect()
    }

    /// Registers an organisation with the default policy.
    pub async fn register(self, org: OrgId) -> Result<(), StoreError> {
        let mut tx = self.db.begin(Access::Platform).await?;
        if tx.execute(&sql::REGISTER, vec![org.0.into(), self.clock.now().into()]).await? > 0 {
            organizations::cover_policy(&mut tx, org, self.keys.platform()).await?;
        }
        Ok(tx.commit().await?)
    }

    /// Six look-ups in one transaction, for any number of messages.
    pub async fn known(self, org: OrgId, wanted: &AdmissionQuery) -> Result<AdmissionState, StoreError> {
        let mut tx = self.db.read(Access::Organization(org)).await?;
        let rules = tx.fetch_optional(&sql::ORGANIZATIONS, vec![Arg::Uuids(vec![org.0])]).await?;
        let mut known =
            AdmissionState { rules: rules.as_ref().map(organization).transpose()?, ..AdmissionState::default() };
        let messages = Arg::Blobs(wanted.messages.iter().map(|m| m.to_vec()).collect());
        for row in tx.fetch_all(&sql::SEEN, vec![org.0.into(), messages]).await? {
            known.seen.insert(row.bytes(sql::seen::MESSAGE_HASH)?, row.bytes(sql::seen::BODY_HASH)?);
        }
        let pairs = wanted.documents.iter().map(|(p, d)| (p.0, d.0.as_bytes().to_vec())).collect();
        for row in tx.fetch_all(&sql::REVISIONS, vec![org.0.into(), Arg::Pairs(pairs)]).await? {
            let patient = PatientId(row.uuid(sql::revisions::PATIENT_ID)?);
            let document = DocumentId(row.uuid(sql::revisions::DOCUMENT_ID)?);
            let revision = u32::try_from(row.i64(sql::revisions::REVISION)?).unwrap_or(u32::MAX);
            known.revisions.insert((patient, document, revision), row.bytes(sql::revisions::BODY_HASH)?);
            let kind = DocumentType::from_code(&row.text(sql::revisions::DOCUMENT_TYPE)?);
            known.types.entry((patient, document)).or_default().extend(kind);
        }
        let patients = || Arg::Uuids(wanted.patients.iter().map(|p| p.0).collect());
        let mut courses = HashMap::new();
        for row in tx.fetch_all(profile::modes(), vec![org.0.into(), patients()]).await? {
            let patient = PatientId(row.uuid(modes::PATIENT_ID)?);
            known.looked.entry(patient).or_default().insert(row.uuid(modes::ID)?);
            profile::add_mode(&mut courses, &row)?;
        }
        known.ephemeral = courses.into_iter().map(|(patient, course)| (PatientId(patient), course)).collect();
        known.erased =
            erasure::erased(&mut tx, org, (self.keys.platform(), self.clock.now()), patients(), &mut known.looked)
                .await?;
        known.consents = consents::rows_of(&mut tx, org, patients()).await?;
        for (patient, rows) in &known.consents {
            known.looked.entry(*patient).or_default().extend(rows.iter().map(|row| row.id));
        }
        Ok(known)
    }

    /// Vectors of equal texts among the passages of the same patient: one look-up per organisation.
    pub async fn cached_vectors(
        self,
        keys: impl Iterator<Item = CacheKey>,
    ) -> Result<HashMap<CacheKey, Vec<f32>>, StoreError> {
        let mut wanted: BTreeMap<(OrgId, i64), Vec<CacheKey>> = BTreeMap::new();
        for key in keys {
            wanted.entry((key.scope.org(), key.generation)).or_default().push(key);
        }
        let mut known = HashMap::new();
        for ((org, generation), keys) in wanted {
            let places: HashMap<(Uuid, [u8; 16]), CacheKey> =
                keys.iter().map(|k| ((k.scope.patient().0, k.text), *k)).collect();
            let pairs = Arg::Pairs(keys.iter().map(|k| (k.scope.patient().0, k.text.to_vec())).collect());
            let mut tx = self.db.read(Access::Organization(org)).await?;
            for row in tx.fetch_all(&sql::CACHED, vec![org.0.into(), pairs, generation.into()]).await? {
                if let Some(key) = places.get(&(row.uuid(sql::cached::PATIENT_ID)?, row.bytes(sql::cached::TEXT_HASH)?))
                {
                    known.insert(*key, vector_of(&row.blob(sql::cached::VECTOR)?));
                }
            }
        }
        Ok(known)
    }

    /// Records the start of work on these messages, so that a message that kills the worker is known. One row covers
    /// the batch, unless attempts of some message are counted already. Then deletes rows that could not be deleted
    /// before. No work begins without the right key store, because an admitted batch may have waited for another
    /// organisation's part or for a provider.
    ///
    /// # Errors
    /// Of the database; [`StoreError::Key`] when the right key store is not at its place.
    pub async fn begin_attempts(self, messages: &[KeyHash]) -> Result<AttemptBatch, StoreError> {
        // In one order everywhere, as in the inbox.
        let mut messages = messages.to_vec();
        messages.sort_unstable();
        let mut id = [0; 16];
        self.entropy.fill(&mut id);
        let id = Uuid::from_bytes(id);
        let mut left = std::mem::take(&mut *self.unended());
        let begun = self.begin(id, messages, &left).await;
        if begun.is_err() {
            // It may have reached the database all the same.
            left.push(id);
            self.unended().append(&mut left);
        }
        begun
    }

    async fn begin(self, id: Uuid, messages: Vec<KeyHash>, left: &[Uuid]) -> Result<AttemptBatch, StoreError> {
        let now = Arg::from(self.clock.now());
        let mut tx = self.key_binding().begin_with_keys().await?;
        for id in left {
            tx.execute(&sql::END, vec![(*id).into()]).await?;
        }
        let mut begun = AttemptBatch { batch: None, messages };
        if begun.messages.len() > 1 && tx.fetch_optional(&sql::ANY, Vec::new()).await?.is_none() {
            begun.batch = Some(id);
            tx.execute(&sql::BEGIN, vec![id.into(), begun.messages.as_flattened().into(), now]).await?;
        } else {
            count_attempts(&mut tx, &begun.messages, now).await?;
        }
        tx.commit().await?;
        Ok(begun)
    }

    /// Writes a row, deletes it and commits: whether the store takes writes at this moment, which a standby or a full disk
    /// does not.
    ///
    /// # Errors
    /// Of the database.
    pub async fn probe_write(self) -> Result<(), StoreError> {
        let mut id = [0; 16];
        self.entropy.fill(&mut id);
        let id = Uuid::from_bytes(id);
        let mut tx = self.db.begin(Access::Platform).await?;
        // A batch of two messages that do not exist, which no one sees: the transaction deletes it.
        let messages: &[u8] = &[0; 64];
        tx.execute(&sql::BEGIN, vec![id.into(), messages.into(), self.clock.now().into()]).await?;
        tx.execute(&sql::END, vec![id.into()]).await?;
        Ok(tx.commit().await?)
    }

    fn unended(&self) -> MutexGuard<'_, Vec<Uuid>> {
        self.unended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How often work on these messages began and never ended: with the process that did it.
    ///
    /// # Errors
    /// Of the database.
    pub async fn attempts(self, messages: &[KeyHash]) -> Result<HashMap<KeyHash, i64>, StoreError> {
        let mut tx = self.db.begin(Access::Platform).await?;
        self.break_up(&mut tx).await?;
        let rows = tx.fetch_all(&sql::BEGUN, vec![Arg::Blobs(messages.iter().map(|m| m.to_vec()).collect())]).await?;
        tx.commit().await?;
        rows.iter().map(|row| Ok((row.bytes(sql::begun::MESSAGE_HASH)?, row.i64(sql::begun::ATTEMPTS)?))).collect()
    }

    /// Whether work on any message began so often and never ended.
    ///
    /// # Errors
    /// Of the database.
    pub async fn was_any_begun(self, times: i64) -> Result<bool, StoreError> {
        let mut tx = self.db.begin(Access::Platform).await?;
        self.break_up(&mut tx).await?;
        let any = tx.fetch_optional(&sql::ANY_BEGUN, vec![times.into()]).await?.is_some();
        tx.commit().await?;
        Ok(any)
    }

    /// Splits each started batch into an attempt of each of its messages. If a batch is still in progress, its worker
    /// finds the row missing and deletes the attempts of its messages.
    async fn break_up(self, tx: &mut Transaction) -> Result<(), StoreError> {
        let mut counts: BTreeMap<KeyHash, u32> = BTreeMap::new();
        for row in tx.fetch_all(&sql::OPEN, Vec::new()).await? {
            // Only the process that deletes the row counts it, so that two concurrent processes do not count twice.
            if tx.execute(&sql::END, vec![row.uuid(sql::open::ID)?.into()]).await? == 1 {
                let packed = row.blob(sql::open::MESSAGES)?;
                packed.as_chunks().0.iter().for_each(|message| *counts.entry(*message).or_default() += 1);
            }
        }
        // Over all batches in one order, as everywhere: two that count the same messages wait for each other, never in a circle.
        while !counts.is_empty() {
            let messages: Vec<KeyHash> = counts.keys().copied().collect();
            count_attempts(tx, &messages, self.clock.now().into()).await?;
            counts.retain(|_, left| {
                *left -= 1;
                *left > 0
            });
        }
        Ok(())
    }

    /// Counts the messages of a batch one by one from here on: they are about to end one by one.
    ///
    /// # Errors
    /// Of the database.
    pub async fn split_attempt_batch(self, begun: &AttemptBatch) -> Result<(), StoreError> {
        let Some(batch) = begun.batch else { return Ok(()) };
        let mut tx = self.db.begin(Access::Platform).await?;
        if tx.execute(&sql::END, vec![batch.into()]).await? == 1 {
            count_attempts(&mut tx, &begun.messages, self.clock.now().into()).await?;
        }
        Ok(tx.commit().await?)
    }

    /// Work on these messages ended, well or in quarantine, and so did their batch, if they were begun as one. An end of a
    /// batch that cannot be written now is written with the next beginning of this process.
    ///
    /// # Errors
    /// Of the database.
    pub async fn end_attempts(self, batch: Option<Uuid>, messages: &[KeyHash]) -> Result<(), StoreError> {
        let ended = self.end(batch, messages).await;
        if ended.is_err() {
            self.unended().extend(batch);
        }
        ended
    }

    async fn end(self, batch: Option<Uuid>, messages: &[KeyHash]) -> Result<(), StoreError> {
        if messages.is_empty() && batch.is_none() {
            return Ok(());
        }
        let mut tx = self.db.begin(Access::Platform).await?;
        if let Some(batch) = batch {
            tx.execute(&sql::END, vec![batch.into()]).await?;
        }
        tx.execute(&sql::DONE, vec![Arg::Blobs(messages.iter().map(|m| m.to_vec()).collect())]).await?;
        Ok(tx.commit().await?)
    }
}

/// One more attempt of each of these messages, in their order.
pub(super) async fn count_attempts(tx: &mut Transaction, messages: &[KeyHash], now: Arg) -> Result<(), StoreError> {
    let shared = sql::count_attempts::Shared { attempts: 1i64.into(), created_at: now.clone(), updated_at: now };
    let rows = messages.iter().map(|m| sql::count_attempts::Row { message_hash: (*m).into() }.into()).collect();
    tx.bulk_sharing(&sql::COUNT_ATTEMPTS, shared.into(), rows).await?;
    Ok(())
}

/// A stored vector: 16-bit floats, little endian.
pub(crate) fn vector_of(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(2).map(|pair| half::f16::from_le_bytes([pair[0], pair[1]]).to_f32()).collect()
}

//! The store and its key store know each other: the store remembers which key store it was written with and how new that
//! was, and refuses any other, since another one would make new keys for patients whose rows it cannot read.

use std::collections::HashSet;
use std::sync::atomic::Ordering;

use uuid::Uuid;

use super::encrypted_columns::open_record;
use super::write::documents::content_cell;
use super::{KeyStoreBinding, StoreError};
use crate::statements::binding as sql;
use anamnesis_core::clock::micros;
use anamnesis_core::failpoints;
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::{FoundKeys, KeyError, KeyLookup, KeyStore, KeyStoreStamp};
use anamnesis_sql::{Access, Arg, Database, DbError, Transaction};

/// Patients per request to the key store when a store is bound.
const PAGE: i64 = 1_000;

/// The store's record of its key store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyBinding {
    pub(crate) key_store: Uuid,
    pub(crate) check: [u8; 32],
    /// The newest generation that the store has seen.
    pub generation: u64,
}

impl KeyBinding {
    /// The binding of a store; `None` for one that is not bound yet.
    ///
    /// # Errors
    /// Of the database.
    pub async fn read(db: &Database) -> Result<Option<Self>, DbError> {
        Self::within(&mut db.read(Access::Platform).await?).await
    }

    async fn within(tx: &mut Transaction) -> Result<Option<Self>, DbError> {
        let Some(row) = tx.fetch_optional(&sql::BINDING, Vec::new()).await? else { return Ok(None) };
        Ok(Some(Self {
            key_store: row.uuid(sql::binding::KEY_STORE_ID)?,
            check: row.bytes(sql::binding::CHECK_VALUE)?,
            generation: row.i64(sql::binding::GENERATION)?.cast_unsigned(),
        }))
    }

    /// Whether this is the key store that the store was written with, and as new as the store.
    ///
    /// # Errors
    /// [`KeyError::Foreign`], [`KeyError::RolledBack`].
    pub(crate) fn check(&self, keys: &dyn KeyStore) -> Result<(), KeyError> {
        let KeyStoreStamp { id, generation } = keys.stamp();
        if id != self.key_store || keys.check_value() != self.check {
            return Err(KeyError::Foreign { place: keys.place() });
        }
        if generation < self.generation {
            return Err(KeyError::RolledBack { place: keys.place(), has: generation, seen: self.generation });
        }
        Ok(())
    }
}

/// Whether a store holds anything that was sealed.
///
/// # Errors
/// Of the database.
pub async fn is_used(db: &Database) -> Result<bool, DbError> {
    let mut tx = db.read(Access::Platform).await?;
    if tx.fetch_optional(&sql::ANY_QUARANTINED, Vec::new()).await?.is_some() {
        return Ok(true);
    }
    let orgs = tx.fetch_all(&sql::ORGANIZATIONS, Vec::new()).await?;
    drop(tx);
    for row in orgs {
        let org = OrgId(row.uuid(sql::organizations::ORG_ID)?);
        let mut tx = db.read(Access::Organization(org)).await?;
        if tx.fetch_optional(&sql::ANY_PATIENT, vec![org.0.into()]).await?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Seeded bugs that take any key store.
fn ignores_binding() -> bool {
    failpoints::is("keys_reminted") || failpoints::is("master_swapped")
}

impl KeyStoreBinding<'_> {
    /// Compares the key store with the binding. An unbound store is bound: an empty one immediately; one with patients
    /// (written by a version without bindings) after the key store has proved that it opens it.
    ///
    /// # Errors
    /// [`KeyError`] for another key store, an older one, or one that does not open the store.
    pub async fn bind_keys(self) -> Result<(), StoreError> {
        self.bind(true).await
    }

    /// As [`KeyStoreBinding::bind_keys`], where binding an empty store is a person's decision.
    ///
    /// # Errors
    /// As there, and [`KeyError::Unbound`] for an empty store that is bound to none.
    pub async fn require_keys(self) -> Result<(), StoreError> {
        self.bind(false).await
    }

    async fn bind(self, new: bool) -> Result<(), StoreError> {
        if let Some(binding) = KeyBinding::read(&self.db).await? {
            return if ignores_binding() { Ok(()) } else { Ok(binding.check(self.keys.as_ref())?) };
        }
        if is_used(&self.db).await? {
            self.prove_keys().await?;
        } else if !new {
            return Err(KeyError::Unbound { place: self.keys.place() }.into());
        }
        let KeyStoreStamp { id, generation } = self.keys.stamp();
        let mut tx = self.db.begin(Access::Platform).await?;
        let check = Arg::Blob(self.keys.check_value().to_vec());
        let args = vec![id.into(), check, generation.cast_signed().into(), self.clock.now().into()];
        tx.execute(&sql::BIND, args).await?;
        // Another process may have bound it first, to another key store.
        let binding = KeyBinding::within(&mut tx).await?;
        tx.commit().await?;
        match binding {
            Some(binding) => Ok(binding.check(self.keys.as_ref())?),
            None => Err(StoreError::Race),
        }
    }

    /// Proves that the key store opens the store's contents: every patient has a key, and sealed cells open.
    async fn prove_keys(self) -> Result<(), StoreError> {
        let foreign = || KeyError::Foreign { place: self.keys.place() };
        let mut tx = self.db.read(Access::Platform).await?;
        if let Some(row) = tx.fetch_optional(&sql::ANY_QUARANTINED, Vec::new()).await? {
            let (id, body) = (row.uuid(sql::any_quarantined::ID)?, row.blob(sql::any_quarantined::BODY_SEALED)?);
            self.keys.platform().open(id, &body).map_err(|_| foreign())?;
        }
        drop(tx);
        self.every_patient_has_a_key().await?;
        for org in self.stats().every_organization().await? {
            let mut tx = self.db.read(Access::Organization(org)).await?;
            if let Some(row) = tx.fetch_optional(&sql::DOCUMENT, vec![org.0.into()]).await? {
                let patient = scope(org, row.uuid(sql::document::PATIENT_ID)?)?;
                let KeyLookup::Known(keys) = self.keys.find(&[patient]).await?.lookup(patient) else { continue };
                let revision = u32::try_from(row.i64(sql::document::REVISION)?).map_err(|_| StoreError::Shape)?;
                let cell = content_cell(row.uuid(sql::document::DOCUMENT_ID)?, revision);
                let content = row.blob(sql::document::CONTENT_SEALED)?;
                open_record::<serde_json::Value>(&keys, cell, &content).map_err(|_| foreign())?;
            }
        }
        Ok(())
    }

    /// Checks every patient of the store against the key store, page by page.
    ///
    /// # Errors
    /// [`KeyError::Lost`] for a patient whom only the store knows; of the key store; of the database.
    pub async fn every_patient_has_a_key(self) -> Result<(), StoreError> {
        for org in self.stats().every_organization().await? {
            let mut tx = self.db.read(Access::Organization(org)).await?;
            let mut after = Uuid::nil();
            loop {
                let rows = tx.fetch_all(&sql::PATIENTS, vec![org.0.into(), after.into(), PAGE.into()]).await?;
                let Some(last) = rows.last() else { break };
                after = last.uuid(sql::patients::PATIENT_ID)?;
                let scopes: Result<Vec<Scope>, StoreError> =
                    rows.iter().map(|row| scope(org, row.uuid(sql::patients::PATIENT_ID)?)).collect();
                self.keys.known(&scopes?).await?;
            }
        }
        Ok(())
    }

    /// Whether the right key store answers at this moment: at its place, not replaced, not rolled back.
    ///
    /// # Errors
    /// [`KeyError`] when it does not; of the database.
    pub async fn check_keys(self) -> Result<(), StoreError> {
        self.keys.find(&[]).await?;
        match KeyBinding::read(&self.db).await? {
            Some(binding) => Ok(binding.check(self.keys.as_ref())?),
            None => Ok(()),
        }
    }

    /// A platform transaction that has verified the key store: the key store can open whatever it writes.
    ///
    /// # Errors
    /// As [`KeyStoreBinding::check_keys`].
    pub(super) async fn begin_with_keys(self) -> Result<Transaction, StoreError> {
        self.keys.find(&[]).await?;
        let mut tx = self.db.begin(Access::Platform).await?;
        if let Some(binding) = KeyBinding::within(&mut tx).await?
            && !ignores_binding()
        {
            binding.check(self.keys.as_ref())?;
        }
        Ok(tx)
    }

    /// Those of these patients that the store knows.
    pub(super) async fn knows(self, scopes: &[Scope]) -> Result<HashSet<Scope>, StoreError> {
        let mut known = HashSet::new();
        let mut orgs: Vec<OrgId> = scopes.iter().map(Scope::org).collect();
        orgs.sort_unstable();
        orgs.dedup();
        for org in orgs {
            let own = scopes.iter().filter(|scope| scope.org() == org).map(|scope| scope.patient().0);
            let mut tx = self.db.read(Access::Organization(org)).await?;
            for row in tx.fetch_all(&sql::KNOWN, vec![org.0.into(), Arg::Uuids(own.collect())]).await? {
                known.insert(scope(org, row.uuid(sql::known::PATIENT_ID)?)?);
            }
        }
        Ok(known)
    }

    /// Whether anything is known of a patient.
    ///
    /// # Errors
    /// [`StoreError::Erased`]; [`KeyError`] when the keys of a patient whom the store knows are not available.
    pub async fn is_known(self, scope: Scope) -> Result<bool, StoreError> {
        Ok(self.read().keys_of(scope).await?.is_some() && !self.knows(&[scope]).await?.is_empty())
    }

    /// The keys of these patients. Patients who are new to both the store and the key store get one, by one durable
    /// commit.
    ///
    /// # Errors
    /// [`KeyError::Lost`] if the store knows a patient whom the key store does not know: a new key would make the
    /// stored data unreadable for good.
    pub async fn ensure_keys(self, scopes: &[Scope]) -> Result<FoundKeys, StoreError> {
        let found = self.keys.find(scopes).await?;
        let unknown = found.unknown(scopes);
        if unknown.is_empty() {
            return Ok(found);
        }
        if !failpoints::is("keys_reminted") {
            self.check_keys().await?;
            let known: Vec<Scope> = self.knows(&unknown).await?.into_iter().collect();
            // Another worker may have made and stored them in between.
            self.keys.known(&known).await?;
        }
        Ok(self.keys.ensure(scopes).await?)
    }

    /// Keys of a patient; `None` for one who was erased, or of whom neither the store nor the key store knows anything.
    ///
    /// # Errors
    /// [`KeyError::Lost`] when only the store knows the patient; of the key store.
    pub async fn lookup(self, scope: Scope) -> Result<KeyLookup, StoreError> {
        let lookup = self.keys.find(&[scope]).await?.lookup(scope);
        if matches!(lookup, KeyLookup::Unknown)
            && !failpoints::is("absent_is_erased")
            && !self.knows(&[scope]).await?.is_empty()
        {
            return Err(KeyError::Lost { place: self.keys.place() }.into());
        }
        Ok(lookup)
    }

    /// Notes within a transaction how new the key store is whose keys its rows use. Nothing is written where the store
    /// knows already.
    pub(super) async fn note_generation(self, tx: &mut Transaction) -> Result<u64, StoreError> {
        let generation = self.keys.stamp().generation;
        if self.noted.load(Ordering::SeqCst) < generation {
            let now = micros(self.clock.now());
            tx.execute(&sql::SEEN, vec![generation.cast_signed().into(), now.into()]).await?;
        }
        Ok(generation)
    }

    /// Notes that a worker serves this store. Once: the first time counts.
    ///
    /// # Errors
    /// Of the database.
    pub async fn note_served(self) -> Result<(), StoreError> {
        if self.was_served().await? {
            return Ok(());
        }
        let mut tx = self.db.begin(Access::Platform).await?;
        tx.execute(&sql::SERVED, vec![micros(self.clock.now()).into()]).await?;
        Ok(tx.commit().await?)
    }

    /// Whether a worker ever served this store.
    ///
    /// # Errors
    /// Of the database.
    pub async fn was_served(self) -> Result<bool, StoreError> {
        let mut tx = self.db.read(Access::Platform).await?;
        Ok(tx.fetch_optional(&sql::WAS_SERVED, Vec::new()).await?.is_some())
    }

    /// Records the version of the key store in a separate transaction, after a rotation or an erasure.
    ///
    /// # Errors
    /// Of the database.
    pub async fn note_keys(self) -> Result<(), StoreError> {
        let mut tx = self.db.begin(Access::Platform).await?;
        let generation = self.note_generation(&mut tx).await?;
        tx.commit().await?;
        self.noted.fetch_max(generation, Ordering::SeqCst);
        Ok(())
    }
}

fn scope(org: OrgId, patient: Uuid) -> Result<Scope, StoreError> {
    Scope::new(org, PatientId(patient)).map_err(|_| StoreError::Shape)
}

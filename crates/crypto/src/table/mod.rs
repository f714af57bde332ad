//! Where wrapped keys lie: one table of a file or of a database that is not the store's.

mod postgres;
mod sqlite;

use std::collections::HashMap;

use async_trait::async_trait;
use uuid::Uuid;

use super::KeyError;
use anamnesis_core::scope::Scope;
pub use postgres::{KeyDatabase, PostgresTable};
pub use sqlite::SqliteTable;

/// The format of key stores that this version writes.
pub const FORMAT: u32 = 1;

/// What a key store says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyStoreHeader {
    /// Made once, at `keys init`; the context that the root key binds.
    pub id: Uuid,
    pub format: u32,
    /// [`super::RootKey::name`] of the key that wrapped the store key.
    pub root: String,
    /// The store key under the root key.
    pub wrapped: Vec<u8>,
    /// HMAC of a constant and the id under the store key.
    pub check: [u8; 32],
    /// Grows by one with every committed change.
    pub generation: u64,
}

/// What is at a table's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableState {
    /// No file or no table.
    Absent,
    /// A place without any content.
    Empty,
    /// Keys from before headers: wrapped by the local root itself.
    Legacy,
    Ready(KeyStoreHeader),
}

/// Which key store answered, and how new it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyStoreStamp {
    pub id: Uuid,
    pub generation: u64,
}

impl KeyStoreStamp {
    /// Why a place that holds `found` takes no change from a process that has seen this.
    fn refusing(self, found: KeyStoreStamp, place: String) -> KeyError {
        if found.id != self.id {
            return KeyError::Foreign { place };
        }
        KeyError::RolledBack { place, has: found.generation, seen: self.generation }
    }
}

/// One wrapped data key of a patient.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataKey {
    /// 1 for the first; each rotation of the patient's data key adds one.
    pub version: u32,
    /// Version of the key-encryption key that wraps it.
    pub kek: u32,
    pub wrapped: Vec<u8>,
}

/// What the table holds of one patient.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyEntry {
    /// Oldest first, at least one.
    Keys(Vec<DataKey>),
    /// The patient was erased.
    Destroyed,
}

/// How much a table holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KeyCounts {
    /// Patients with keys.
    pub patients: u64,
    /// Patients whose keys were destroyed.
    pub erased: u64,
    /// Data keys that are wrapped by an older key-encryption key than the newest.
    pub outdated: u64,
}

/// Wrapped keys by patient. Each change is one durable transaction that raises the generation by one. It fails with
/// [`KeyError::Foreign`] when the place holds another key store than the one that was seen, and with
/// [`KeyError::RolledBack`] when it holds an older copy of it: what would be written there would go when the right one
/// comes back.
#[async_trait]
pub trait KeyTable: Send + Sync {
    /// Path or database, for messages. No secret.
    fn place(&self) -> String;

    /// Looks at the place. Checks that the table is whole.
    ///
    /// # Errors
    /// [`KeyError::Damaged`] for what cannot be read, [`KeyError::Transient`] where a server does not answer.
    async fn state(&self) -> Result<TableState, KeyError>;

    /// Writes the header into an absent or empty place, or, with `legacy`, into one that holds keys from before headers.
    ///
    /// # Errors
    /// [`KeyError::Exists`] where there is a header.
    async fn create(&self, header: &KeyStoreHeader, legacy: bool) -> Result<(), KeyError>;

    /// Some wrapped keys from before headers, with their patients: what shows whether a root key is the right one. None in
    /// a place that was never without a header.
    async fn legacy_samples(&self) -> Result<Vec<(Scope, Vec<u8>)>, KeyError> {
        Ok(Vec::new())
    }

    /// Entries of those patients that have any.
    async fn find(&self, scopes: &[Scope]) -> Result<(KeyStoreStamp, HashMap<Scope, KeyEntry>), KeyError>;

    /// Adds keys, all or none, by one commit. A key that is there already (patient and version) stays as it is.
    async fn insert(&self, seen: KeyStoreStamp, keys: &[(Scope, DataKey)], at: i64) -> Result<KeyStoreStamp, KeyError>;

    /// Forgets all keys of a patient for good and remembers that there were some.
    async fn destroy(&self, seen: KeyStoreStamp, scope: Scope, at: i64) -> Result<KeyStoreStamp, KeyError>;

    /// Wrapped key-encryption keys of versions from 2, by version.
    async fn kek_versions(&self) -> Result<Vec<(u32, Vec<u8>)>, KeyError>;

    /// Adds a key-encryption key. Another process's key of the same version stays.
    async fn add_kek(
        &self,
        seen: KeyStoreStamp,
        version: u32,
        wrapped: &[u8],
        at: i64,
    ) -> Result<KeyStoreStamp, KeyError>;

    /// The store key under another root key.
    async fn set_root(&self, seen: KeyStoreStamp, root: &str, wrapped: &[u8]) -> Result<KeyStoreStamp, KeyError>;

    /// Patients after `after`, in order of (organisation, patient), at most `limit`.
    async fn page(&self, after: Option<Scope>, limit: u32) -> Result<Vec<(Scope, KeyEntry)>, KeyError>;

    /// Replaces data keys (patient and version) by the same keys under another key-encryption key. Skips what was
    /// destroyed meanwhile.
    async fn rewrap(&self, seen: KeyStoreStamp, keys: &[(Scope, DataKey)]) -> Result<KeyStoreStamp, KeyError>;

    /// How much there is, `newest` being the newest version of key-encryption keys.
    async fn counts(&self, newest: u32) -> Result<KeyCounts, KeyError>;
}

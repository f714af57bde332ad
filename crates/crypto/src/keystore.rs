//! What the rest of the program asks of keys, and the three answers: known, erased, unknown.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use async_trait::async_trait;

use super::{KeyError, KeyStoreStamp, PatientKeys, PlatformKey};
use anamnesis_core::failpoints;
use anamnesis_core::scope::Scope;

/// What a key store answers about patients. Who is in neither collection is unknown to it; for a patient whom the store
/// knows that means that this is not the right key store, never that nothing is known.
#[derive(Debug, Clone, Default)]
pub struct FoundKeys {
    pub known: HashMap<Scope, Arc<PatientKeys>>,
    /// Their keys were destroyed: there will never be one again.
    pub erased: HashSet<Scope>,
}

/// What a key store answers about one patient.
#[derive(Debug, Clone)]
pub enum KeyLookup {
    Known(Arc<PatientKeys>),
    Erased,
    Unknown,
}

impl FoundKeys {
    pub fn lookup(&self, scope: Scope) -> KeyLookup {
        match self.known.get(&scope) {
            Some(keys) => KeyLookup::Known(Arc::clone(keys)),
            None if self.erased.contains(&scope) => KeyLookup::Erased,
            None => KeyLookup::Unknown,
        }
    }

    /// Those of these patients that are unknown.
    pub fn unknown(&self, scopes: &[Scope]) -> Vec<Scope> {
        let mut unknown: Vec<Scope> =
            scopes.iter().copied().filter(|s| matches!(self.lookup(*s), KeyLookup::Unknown)).collect();
        unknown.sort_unstable();
        unknown.dedup();
        unknown
    }
}

/// Keys of patients and of the platform.
#[async_trait]
pub trait KeyStore: Send + Sync {
    fn platform(&self) -> &PlatformKey;

    /// Path or database, for messages.
    fn place(&self) -> String;

    /// Which key store this is, and the newest generation that this process saw of it.
    fn stamp(&self) -> KeyStoreStamp;

    /// HMAC of a constant under the store key: two key stores with the same value hold the same store key.
    fn check_value(&self) -> [u8; 32];

    /// What is known of these patients. Looks at the place itself: a key store that was replaced, removed or rolled back
    /// since it was opened is an error.
    ///
    /// # Errors
    /// [`KeyError`]: no answer was given, neither "erased" nor "unknown".
    async fn find(&self, scopes: &[Scope]) -> Result<FoundKeys, KeyError>;

    /// Keys of patients whom the store knows; the erased are absent.
    ///
    /// # Errors
    /// [`KeyError::Lost`] for one that is unknown here: this is not the key store that the store was written with. Else as
    /// [`KeyStore::find`].
    async fn known(&self, scopes: &[Scope]) -> Result<HashMap<Scope, Arc<PatientKeys>>, KeyError> {
        let found = self.find(scopes).await?;
        if !found.unknown(scopes).is_empty() && !failpoints::is("absent_is_erased") {
            return Err(KeyError::Lost { place: self.place() });
        }
        Ok(found.known)
    }

    /// As [`KeyStore::find`], with keys made for the unknown, all by one durable commit. Only for patients whom the store
    /// does not know either: ask `store::KeyStoreBinding::ensure_keys`.
    ///
    /// # Errors
    /// As [`KeyStore::find`]; no key was made then, or all were.
    async fn ensure(&self, scopes: &[Scope]) -> Result<FoundKeys, KeyError>;

    /// Destroys a patient's key for good. Whatever is sealed under it is unreadable from now on, wherever it lies.
    ///
    /// # Errors
    /// As [`KeyStore::find`].
    async fn destroy(&self, scope: Scope) -> Result<(), KeyError>;
}

//! A key store over a root key and a table: the hierarchy. The root key wraps the store key; the store key wraps, or is,
//! the key-encryption keys; these wrap the data keys of patients.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use aws_lc_rs::aead::LessSafeKey;
use aws_lc_rs::hmac;
use uuid::Uuid;
use zeroize::Zeroizing;

use super::cipher::{aead, derive, open_key, random_key, seal};
use super::table::{DataKey, FORMAT, KeyEntry, KeyStoreHeader, KeyStoreStamp, KeyTable, SqliteTable, TableState};
use super::{FoundKeys, KeyError, KeyStore, LocalRoot, OpenError, PatientKeys, PlatformKey, RootKey};
use anamnesis_core::clock::{Clock, Entropy, micros};
use anamnesis_core::failpoints;
use anamnesis_core::scope::Scope;

/// An open key store.
pub struct Keyring {
    pub(super) table: Arc<dyn KeyTable>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) entropy: Arc<dyn Entropy>,
    pub(super) id: Uuid,
    pub(super) store_key: Zeroizing<[u8; 32]>,
    check: [u8; 32],
    platform: PlatformKey,
    /// By version; shared, since a rotation in another process may add one at any time.
    keks: RwLock<BTreeMap<u32, Arc<LessSafeKey>>>,
    /// The newest generation that was seen.
    generation: AtomicU64,
    /// Kept as long as the key store is open, since it may renew the token that a later start needs.
    root: Option<Arc<dyn RootKey>>,
}

impl std::fmt::Debug for Keyring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keyring")
            .field("id", &self.id)
            .field("root", &self.root.as_ref().map(|root| root.name()))
            .finish_non_exhaustive()
    }
}

/// The value by which a store recognises its key store.
fn check_value(store_key: &[u8; 32], id: Uuid) -> [u8; 32] {
    let key = hmac::Key::new(hmac::HMAC_SHA256, derive(store_key, "check").as_ref());
    let mut value = [0u8; 32];
    value.copy_from_slice(hmac::sign(&key, id.as_bytes()).as_ref());
    value
}

/// The associated data of a wrapped data key. The first version's is that of key stores from before rotations.
fn data_key_aad(scope: Scope, version: u32) -> Vec<u8> {
    let mut aad = Vec::with_capacity(36);
    aad.extend_from_slice(scope.org().0.as_bytes());
    aad.extend_from_slice(scope.patient().0.as_bytes());
    if version > 1 {
        aad.extend_from_slice(&version.to_be_bytes());
    }
    aad
}

impl Keyring {
    /// Makes a key store with a fresh store key in an absent or empty place.
    ///
    /// # Errors
    /// [`KeyError::Exists`] where there is one; of the root key and the table.
    pub async fn create(
        root: &dyn RootKey,
        table: Arc<dyn KeyTable>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Result<Self, KeyError> {
        let store_key = random_key(entropy.as_ref());
        Self::write(root, table, store_key, false, clock, entropy).await
    }

    /// Gives a key store from before headers its header. Its store key is the local root, as before, so that whatever was
    /// written still opens.
    ///
    /// # Errors
    /// [`KeyError::Uninitialised`] with a root key that is no local one; of the root key and the table.
    pub async fn upgrade(
        root: &dyn RootKey,
        table: Arc<dyn KeyTable>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Result<Self, KeyError> {
        let place = table.place();
        let store_key = root.legacy_store_key().ok_or_else(|| KeyError::Uninitialised { place: place.clone() })?;
        // A header by the wrong root key would shut the right one out for good: the keys that are there must open first.
        let wrapping = aead(&derive(&store_key, "platform.wrap"));
        for (scope, wrapped) in table.legacy_samples().await? {
            open_key(&wrapping, &data_key_aad(scope, 1), &wrapped)
                .map_err(|_| KeyError::WrongMaster { place: place.clone() })?;
        }
        Self::write(root, table, store_key, true, clock, entropy).await
    }

    async fn write(
        root: &dyn RootKey,
        table: Arc<dyn KeyTable>,
        store_key: Zeroizing<[u8; 32]>,
        legacy: bool,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Result<Self, KeyError> {
        let mut id = [0u8; 16];
        entropy.fill(&mut id);
        let id = uuid::Builder::from_random_bytes(id).into_uuid();
        let header = KeyStoreHeader {
            id,
            format: FORMAT,
            root: root.name(),
            wrapped: root.wrap(id.as_bytes(), &store_key).await?,
            check: check_value(&store_key, id),
            generation: 1,
        };
        table.create(&header, legacy).await?;
        Self::opened(header, store_key, table, clock, entropy).await
    }

    /// Opens a key store. Nothing is made.
    ///
    /// # Errors
    /// [`KeyError::Missing`] and [`KeyError::Uninitialised`] where there is none (or one from before headers),
    /// [`KeyError::Damaged`], [`KeyError::WrongMaster`]; [`KeyError::Transient`] where a service does not answer.
    pub async fn open(
        root: &dyn RootKey,
        table: Arc<dyn KeyTable>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Result<Self, KeyError> {
        let place = table.place();
        let header = match table.state().await? {
            TableState::Ready(header) => header,
            TableState::Absent => return Err(KeyError::Missing { place }),
            TableState::Empty => return Err(KeyError::Damaged { place }),
            TableState::Legacy => return Err(KeyError::Uninitialised { place }),
        };
        let mut header = header;
        let store_key = match root.unwrap(header.id.as_bytes(), &header.wrapped).await {
            Err(KeyError::WrongMaster { .. }) if failpoints::is("master_swapped") => {
                let swapped = root.legacy_store_key().ok_or(KeyError::Missing { place })?;
                header.check = check_value(&swapped, header.id);
                swapped
            }
            opened => opened?,
        };
        Self::opened(header, store_key, table, clock, entropy).await
    }

    async fn opened(
        header: KeyStoreHeader,
        store_key: Zeroizing<[u8; 32]>,
        table: Arc<dyn KeyTable>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Result<Self, KeyError> {
        if header.format != FORMAT || header.check != check_value(&store_key, header.id) {
            return Err(KeyError::Damaged { place: table.place() });
        }
        let keyring = Self {
            table,
            clock,
            entropy,
            id: header.id,
            check: header.check,
            platform: PlatformKey::derive(&store_key),
            keks: RwLock::new(BTreeMap::from([(1, Arc::new(aead(&derive(&store_key, "platform.wrap"))))])),
            store_key,
            generation: AtomicU64::new(header.generation),
            root: None,
        };
        keyring.load_keks().await?;
        Ok(keyring)
    }

    /// Keeps its root key, which may renew its own credentials.
    pub fn holding(mut self, root: Arc<dyn RootKey>) -> Self {
        self.root = Some(root);
        self
    }

    /// The embedded key store of tests and tools: opened, or made where there is none.
    ///
    /// # Errors
    /// As [`Keyring::open`] and [`Keyring::create`].
    pub async fn local(
        path: &Path,
        root: Option<[u8; 32]>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Result<Self, KeyError> {
        let file = super::files::suffixed(path, ".master");
        let root = match root {
            Some(root) => LocalRoot::new("given", Zeroizing::new(root), Arc::clone(&entropy)),
            None if file.exists() => LocalRoot::read(&file, Arc::clone(&entropy))?,
            None => LocalRoot::create(&file, Arc::clone(&entropy))?,
        };
        let table: Arc<dyn KeyTable> = Arc::new(SqliteTable::at(path));
        match table.state().await? {
            TableState::Absent | TableState::Empty => Self::create(&root, table, clock, entropy).await,
            TableState::Legacy => Self::upgrade(&root, table, clock, entropy).await,
            TableState::Ready(_) => Self::open(&root, table, clock, entropy).await,
        }
    }

    /// A key store that vanishes with the process.
    ///
    /// # Errors
    /// When SQLite cannot open one in memory.
    pub async fn in_memory(clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Result<Self, KeyError> {
        let root = LocalRoot::new("memory", random_key(entropy.as_ref()), Arc::clone(&entropy));
        Self::create(&root, Arc::new(SqliteTable::in_memory()), clock, entropy).await
    }

    /// Reads key-encryption keys that were added since.
    async fn load_keks(&self) -> Result<(), KeyError> {
        let wrapping = aead(&derive(&self.store_key, "kek.wrap"));
        for (version, wrapped) in self.table.kek_versions().await? {
            let key = open_key(&wrapping, &self.kek_aad(version), &wrapped).map_err(|_| self.damaged())?;
            self.keks.write().unwrap_or_else(PoisonError::into_inner).insert(version, Arc::new(aead(&key)));
        }
        Ok(())
    }

    fn kek_aad(&self, version: u32) -> Vec<u8> {
        [self.id.as_bytes().as_slice(), &version.to_be_bytes()].concat()
    }

    pub(super) fn damaged(&self) -> KeyError {
        KeyError::Damaged { place: self.table.place() }
    }

    fn kek(&self, version: u32) -> Option<Arc<LessSafeKey>> {
        self.keks.read().unwrap_or_else(PoisonError::into_inner).get(&version).cloned()
    }

    /// Name of the root key that the header names.
    ///
    /// # Errors
    /// Of the table.
    pub async fn root_name(&self) -> Result<String, KeyError> {
        match self.table.state().await? {
            TableState::Ready(header) => Ok(header.root),
            _ => Err(self.damaged()),
        }
    }

    /// The newest version of key-encryption keys.
    pub fn newest_kek(&self) -> u32 {
        self.keks.read().unwrap_or_else(PoisonError::into_inner).keys().next_back().copied().unwrap_or(1)
    }

    /// Makes the next key-encryption key, or takes the one that another process made at the same moment.
    pub(super) async fn add_kek(&self) -> Result<u32, KeyError> {
        self.load_keks().await?;
        let version = self.newest_kek() + 1;
        let key = random_key(self.entropy.as_ref());
        let wrapping = aead(&derive(&self.store_key, "kek.wrap"));
        let wrapped = seal(&wrapping, &self.kek_aad(version), key.as_ref(), self.entropy.as_ref());
        let stamp = self.table.add_kek(self.seen(), version, &wrapped, micros(self.clock.now())).await?;
        self.saw(stamp)?;
        self.load_keks().await?;
        Ok(version)
    }

    /// Which key store it is, and the newest generation that was seen of it.
    pub(super) fn seen(&self) -> KeyStoreStamp {
        KeyStoreStamp { id: self.id, generation: self.generation.load(Ordering::SeqCst) }
    }

    /// Takes note of how new the table is; it never grows older.
    pub(super) fn saw(&self, stamp: KeyStoreStamp) -> Result<(), KeyError> {
        let place = || self.table.place();
        if stamp.id != self.id {
            return Err(KeyError::Foreign { place: place() });
        }
        let seen = self.generation.fetch_max(stamp.generation, Ordering::SeqCst);
        if stamp.generation < seen {
            return Err(KeyError::RolledBack { place: place(), has: stamp.generation, seen });
        }
        Ok(())
    }

    pub(super) fn wrap(&self, scope: Scope, version: u32, key: &[u8; 32]) -> DataKey {
        let kek = self.newest_kek();
        // The newest version is one of the map's own.
        let wrapped = self.kek(kek).map_or_else(Vec::new, |wrapping| {
            seal(&wrapping, &data_key_aad(scope, version), key, self.entropy.as_ref())
        });
        DataKey { version, kek, wrapped }
    }

    pub(super) fn unwrap(&self, scope: Scope, key: &DataKey) -> Result<Zeroizing<[u8; 32]>, OpenError> {
        let kek = self.kek(key.kek).ok_or(OpenError)?;
        open_key(&kek, &data_key_aad(scope, key.version), &key.wrapped)
    }

    /// Entries of one consistent read of the table, of which every key-encryption key is known here.
    async fn find_entries(&self, scopes: &[Scope]) -> Result<HashMap<Scope, KeyEntry>, KeyError> {
        let (stamp, entries) = self.table.find(scopes).await?;
        self.saw(stamp)?;
        let unknown = |key: &DataKey| self.kek(key.kek).is_none();
        let rotated = entries.values().any(|entry| matches!(entry, KeyEntry::Keys(keys) if keys.iter().any(unknown)));
        if rotated {
            self.load_keks().await?;
        }
        Ok(entries)
    }

    /// Wraps new keys by the newest key-encryption key where another process made one while they were inserted: its
    /// rotation may have passed their place.
    async fn renew(&self, fresh: &[Scope], entries: &HashMap<Scope, KeyEntry>) -> Result<(), KeyError> {
        self.load_keks().await?;
        let newest = self.newest_kek();
        let mut outdated = Vec::new();
        for (scope, entry) in fresh.iter().filter_map(|scope| Some((*scope, entries.get(scope)?))) {
            let KeyEntry::Keys(keys) = entry else { continue };
            for key in keys.iter().filter(|key| key.kek < newest) {
                let plain = self.unwrap(scope, key).map_err(|_| self.damaged())?;
                outdated.push((scope, self.wrap(scope, key.version, &plain)));
            }
        }
        self.apply(&outdated).await.map(drop)
    }

    fn answer(&self, entries: HashMap<Scope, KeyEntry>) -> Result<FoundKeys, KeyError> {
        let mut found = FoundKeys::default();
        for (scope, entry) in entries {
            let KeyEntry::Keys(keys) = entry else {
                found.erased.insert(scope);
                continue;
            };
            let opened: Result<Vec<_>, OpenError> = keys.iter().map(|key| self.unwrap(scope, key)).collect();
            let opened = opened.map_err(|_| self.damaged())?;
            let (first, later) = opened.split_first().ok_or_else(|| self.damaged())?;
            found.known.insert(scope, Arc::new(PatientKeys::rotated(scope, first, later)));
        }
        Ok(found)
    }
}

#[async_trait]
impl KeyStore for Keyring {
    fn platform(&self) -> &PlatformKey {
        &self.platform
    }

    fn place(&self) -> String {
        self.table.place()
    }

    fn stamp(&self) -> KeyStoreStamp {
        self.seen()
    }

    fn check_value(&self) -> [u8; 32] {
        self.check
    }

    async fn find(&self, scopes: &[Scope]) -> Result<FoundKeys, KeyError> {
        self.answer(self.find_entries(scopes).await?)
    }

    async fn ensure(&self, scopes: &[Scope]) -> Result<FoundKeys, KeyError> {
        let found = self.find(scopes).await?;
        let unknown = found.unknown(scopes);
        if unknown.is_empty() {
            return Ok(found);
        }
        // Under the newest key-encryption key: another process may have rotated it since this one last looked.
        self.load_keks().await?;
        let fresh = |scope: &Scope| (*scope, self.wrap(*scope, 1, &random_key(self.entropy.as_ref())));
        let keys: Vec<(Scope, DataKey)> = unknown.iter().map(fresh).collect();
        // Another process may have been first with one of them: then its key stays and ours is forgotten.
        self.saw(self.table.insert(self.seen(), &keys, micros(self.clock.now())).await?)?;
        let entries = self.find_entries(scopes).await?;
        self.renew(&unknown, &entries).await?;
        self.answer(entries)
    }

    async fn destroy(&self, scope: Scope) -> Result<(), KeyError> {
        self.saw(self.table.destroy(self.seen(), scope, micros(self.clock.now())).await?)
    }
}

#[cfg(test)]
#[path = "keyring_tests.rs"]
mod tests;

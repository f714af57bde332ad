//! Escrow: all keys of a key store under a key made from two escrow keys, for the day on which the root key is lost. One
//! escrow key alone opens nothing, so that two people hold one each.

use std::collections::BTreeMap;
use std::sync::Arc;

use aws_lc_rs::hmac;
use serde::{Deserialize, Serialize};
use uuid::Uuid;
use zeroize::{Zeroize as _, Zeroizing};

use super::cipher::{aead, derive, open, seal};
use super::table::{DataKey, FORMAT, KeyEntry, KeyStoreHeader, KeyStoreStamp, KeyTable};
use super::{KeyError, KeyStore as _, Keyring, RootKey};
use anamnesis_core::clock::{Clock, Entropy, micros};
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_core::scope::Scope;

/// The first bytes of an escrow file, and the associated data of the rest.
const MAGIC: &[u8] = b"anamnesis escrow 1\n";
const PAGE: u32 = 500;

/// An opened escrow. Holds the store key in clear: it is wiped when dropped.
pub struct Escrow {
    id: Uuid,
    generation: u64,
    check: [u8; 32],
    store_key: Zeroizing<[u8; 32]>,
    keks: BTreeMap<u32, Vec<u8>>,
    patients: Vec<(Scope, KeyEntry)>,
}

impl std::fmt::Debug for Escrow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Escrow").field("id", &self.id).finish_non_exhaustive()
    }
}

#[derive(Serialize, Deserialize)]
struct EscrowFile {
    id: Uuid,
    generation: u64,
    check: String,
    store_key: String,
    keks: BTreeMap<u32, String>,
    /// Organisation, patient, (version, key-encryption key, wrapped); none for the erased.
    patients: Vec<(Uuid, Uuid, Vec<(u32, u32, String)>)>,
}

impl Drop for EscrowFile {
    fn drop(&mut self) {
        self.store_key.zeroize();
    }
}

/// The key that both escrow keys make together.
fn joint(first: &[u8; 32], second: &[u8; 32]) -> Zeroizing<[u8; 32]> {
    let mut secret = Zeroizing::new([0u8; 32]);
    secret.copy_from_slice(hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, first), second).as_ref());
    derive(&secret, "escrow")
}

impl Keyring {
    /// All keys under both escrow keys.
    ///
    /// # Errors
    /// Of the table.
    pub async fn escrow(&self, first: &[u8; 32], second: &[u8; 32]) -> Result<Vec<u8>, KeyError> {
        let mut patients = Vec::new();
        let mut after = None;
        loop {
            let page = self.table.page(after, PAGE).await?;
            let Some((last, _)) = page.last() else { break };
            after = Some(*last);
            patients.extend(page.into_iter().map(|(scope, entry)| {
                let keys = match entry {
                    KeyEntry::Keys(keys) => keys,
                    KeyEntry::Destroyed => Vec::new(),
                };
                let keys = keys.into_iter().map(|key| (key.version, key.kek, hex::encode(key.wrapped))).collect();
                (scope.org().0, scope.patient().0, keys)
            }));
        }
        let keks = self.table.kek_versions().await?.into_iter().map(|(version, key)| (version, hex::encode(key)));
        let written = EscrowFile {
            id: self.id,
            generation: self.stamp().generation,
            check: hex::encode(self.check_value()),
            store_key: hex::encode(self.store_key.as_ref()),
            keks: keks.collect(),
            patients,
        };
        let plain = Zeroizing::new(serde_json::to_vec(&written).map_err(|_| self.damaged())?);
        let sealed = seal(&aead(&joint(first, second)), MAGIC, &plain, self.entropy.as_ref());
        Ok([MAGIC, sealed.as_slice()].concat())
    }
}

impl Escrow {
    /// Opens an escrow file with both escrow keys, in the order in which it was made. `place` is its path.
    ///
    /// # Errors
    /// [`KeyError::Damaged`] for a file that is none, [`KeyError::WrongMaster`] when the keys do not open it.
    pub fn open(place: &str, bytes: &[u8], first: &[u8; 32], second: &[u8; 32]) -> Result<Self, KeyError> {
        let damaged = || KeyError::Damaged { place: place.to_owned() };
        let sealed = bytes.strip_prefix(MAGIC).ok_or_else(damaged)?;
        let plain = open(&aead(&joint(first, second)), MAGIC, sealed);
        let plain = Zeroizing::new(plain.map_err(|_| KeyError::WrongMaster { place: place.to_owned() })?);
        let written: EscrowFile = serde_json::from_slice(&plain).map_err(|_| damaged())?;
        let bytes = |text: &str| hex::decode(text).map_err(|_| damaged());
        let mut store_key = Zeroizing::new([0u8; 32]);
        hex::decode_to_slice(&written.store_key, store_key.as_mut()).map_err(|_| damaged())?;
        let mut patients = Vec::with_capacity(written.patients.len());
        for (org, patient, keys) in &written.patients {
            let scope = Scope::new(OrgId(*org), PatientId(*patient)).map_err(|_| damaged())?;
            let keys: Result<Vec<DataKey>, KeyError> = keys
                .iter()
                .map(|(version, kek, wrapped)| Ok(DataKey { version: *version, kek: *kek, wrapped: bytes(wrapped)? }))
                .collect();
            let keys = keys?;
            patients.push((scope, if keys.is_empty() { KeyEntry::Destroyed } else { KeyEntry::Keys(keys) }));
        }
        let keks = written.keks.iter().map(|(version, key)| Ok((*version, bytes(key)?)));
        Ok(Self {
            id: written.id,
            generation: written.generation,
            check: bytes(&written.check)?.try_into().map_err(|_| damaged())?,
            store_key,
            keks: keks.collect::<Result<_, KeyError>>()?,
            patients,
        })
    }

    /// The key store that it is of.
    pub fn id(&self) -> Uuid {
        self.id
    }

    /// How many patients it holds, the erased included.
    pub fn patients(&self) -> usize {
        self.patients.len()
    }

    /// Writes the key store into an absent or empty place, under a root key of any kind, and opens every key.
    ///
    /// # Errors
    /// [`KeyError::Exists`] where there is one; of the root key and the table; [`KeyError::Damaged`] for a key that does not
    /// open.
    pub async fn restore(
        &self,
        root: &dyn RootKey,
        table: Arc<dyn KeyTable>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Result<Keyring, KeyError> {
        let at = micros(clock.now());
        let wrapped = root.wrap(self.id.as_bytes(), &self.store_key).await?;
        let (check, generation) = (self.check, self.generation);
        let header = KeyStoreHeader { id: self.id, format: FORMAT, root: root.name(), wrapped, check, generation };
        table.create(&header, false).await?;
        let made = KeyStoreStamp { id: self.id, generation };
        for (version, kek) in &self.keks {
            table.add_kek(made, *version, kek, at).await?;
        }
        for page in self.patients.chunks(PAGE as usize) {
            let mut keys = Vec::new();
            for (scope, entry) in page {
                match entry {
                    KeyEntry::Keys(own) => keys.extend(own.iter().map(|key| (*scope, key.clone()))),
                    KeyEntry::Destroyed => drop(table.destroy(made, *scope, at).await?),
                }
            }
            table.insert(made, &keys, at).await?;
        }
        let keyring = Keyring::open(root, table, clock, entropy).await?;
        keyring.verify().await?;
        Ok(keyring)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ColumnRef, KeyLookup, LocalRoot, SqliteTable};
    use anamnesis_core::clock::{SeededEntropy, SystemClock};

    fn scope(patient: u128) -> Scope {
        Scope::new(OrgId(Uuid::from_u128(1)), PatientId(Uuid::from_u128(patient))).unwrap()
    }

    #[tokio::test]
    async fn an_escrow_needs_both_keys_and_brings_back_everything_without_the_root() {
        let (clock, entropy) = (Arc::new(SystemClock), Arc::new(SeededEntropy::new(1)));
        let store = Keyring::in_memory(clock.clone(), entropy.clone()).await.unwrap();
        store.ensure(&[scope(1), scope(2)]).await.unwrap();
        store.rotate_master(&mut |_| ()).await.unwrap();
        store.rotate_data(Some(scope(1)), &mut |_| ()).await.unwrap();
        store.destroy(scope(2)).await.unwrap();
        let cell = ColumnRef { table: "memory", row: Uuid::nil(), column: "content" };
        let sealed = store.find(&[scope(1)]).await.unwrap().known[&scope(1)].seal(cell, b"text", entropy.as_ref());
        let escrow = store.escrow(&[1; 32], &[2; 32]).await.unwrap();
        for (first, second) in [([1; 32], [1; 32]), ([2; 32], [2; 32]), ([2; 32], [1; 32]), ([0; 32], [2; 32])] {
            let refused = Escrow::open("file", &escrow, &first, &second).unwrap_err();
            assert!(matches!(refused, KeyError::WrongMaster { .. }));
        }
        let cut = Escrow::open("file", &escrow[..escrow.len() - 1], &[1; 32], &[2; 32]);
        assert!(cut.is_err() && Escrow::open("file", b"else", &[1; 32], &[2; 32]).is_err());
        let opened = Escrow::open("file", &escrow, &[1; 32], &[2; 32]).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let root = LocalRoot::new("new", Zeroizing::new([9; 32]), entropy.clone());
        let table = Arc::new(SqliteTable::at(&dir.path().join("keys")));
        let restored = opened.restore(&root, table, clock, entropy).await.unwrap();
        assert_eq!((restored.stamp().id, restored.check_value()), (store.stamp().id, store.check_value()));
        assert!(restored.stamp().generation >= store.stamp().generation, "as new as the store has seen");
        let found = restored.find(&[scope(1), scope(2)]).await.unwrap();
        assert_eq!(found.known[&scope(1)].open(cell, &sealed).unwrap(), b"text");
        assert!(matches!(found.lookup(scope(2)), KeyLookup::Erased), "who was erased stays erased");
    }
}

//! Rotation: another root key, a new key-encryption key, new data keys. Each step is one bounded, durable change of the
//! table, while workers run; an interrupted rotation goes on where it ended.

use zeroize::Zeroizing;

use super::cipher::random_key;
use super::table::{DataKey, KeyCounts, KeyEntry};
use super::{KeyError, Keyring, RootKey};
use anamnesis_core::clock::micros;
use anamnesis_core::scope::Scope;

/// Patients of one change of the table.
const PAGE: u32 = 500;

impl Keyring {
    /// Wraps the store key by another root key. No patient's key changes.
    ///
    /// # Errors
    /// Of the new root key and the table.
    pub async fn rewrap(&self, root: &dyn RootKey) -> Result<(), KeyError> {
        let wrapped = root.wrap(self.id.as_bytes(), &self.store_key).await?;
        let opened = root.unwrap(self.id.as_bytes(), &wrapped).await?;
        if *opened != *self.store_key {
            return Err(KeyError::WrongMaster { place: root.name() });
        }
        self.saw(self.table.set_root(self.seen(), &root.name(), &wrapped).await?)
    }

    /// Wraps all data keys by a new key-encryption key; goes on with one that was begun. `progress` is called with the
    /// number of patients after each change. Returns the version and the number of patients whose keys were wrapped anew.
    ///
    /// # Errors
    /// Of the table. What was wrapped anew stays so.
    pub async fn rotate_master(&self, progress: &mut (dyn FnMut(u64) + Send)) -> Result<(u32, u64), KeyError> {
        let begun = self.newest_kek() > 1 && self.counts().await?.outdated > 0;
        let version = if begun { self.newest_kek() } else { self.add_kek().await? };
        let (mut after, mut done) = (None, 0);
        loop {
            let page = self.table.page(after, PAGE).await?;
            let Some((last, _)) = page.last() else { return Ok((version, done)) };
            after = Some(*last);
            let mut changed = Vec::new();
            for (scope, entry) in &page {
                let KeyEntry::Keys(keys) = entry else { continue };
                for key in keys.iter().filter(|key| key.kek < version) {
                    let plain = self.unwrap(*scope, key).map_err(|_| self.damaged())?;
                    changed.push((*scope, self.wrap(*scope, key.version, &plain)));
                }
            }
            done += self.apply(&changed).await?;
            progress(done);
        }
    }

    /// Gives patients a new data key for what is sealed from now on: `only` one, or all that have no key of the newest
    /// round yet. Old ciphertexts open under the old keys, which stay. Returns how many patients got one.
    ///
    /// # Errors
    /// Of the table. Keys that were made stay.
    pub async fn rotate_data(
        &self,
        only: Option<Scope>,
        progress: &mut (dyn FnMut(u64) + Send),
    ) -> Result<u64, KeyError> {
        if let Some(scope) = only {
            let entry = self.table.find(&[scope]).await?.1.remove(&scope);
            let Some(KeyEntry::Keys(keys)) = entry else { return Ok(0) };
            return self.add(vec![self.next(scope, &keys)]).await;
        }
        let round = self.round().await?;
        let (mut after, mut done) = (None, 0);
        loop {
            let page = self.table.page(after, PAGE).await?;
            let Some((last, _)) = page.last() else { return Ok(done) };
            after = Some(*last);
            let due = page.iter().filter_map(|(scope, entry)| match entry {
                KeyEntry::Keys(keys) if newest(keys) < round => Some((*scope, self.fresh(*scope, round))),
                _ => None,
            });
            done += self.add(due.collect()).await?;
            progress(done);
        }
    }

    /// The round of data keys to bring all patients to: one that is unfinished, else the next.
    async fn round(&self) -> Result<u32, KeyError> {
        let (mut lowest, mut highest, mut after) = (u32::MAX, 1, None);
        loop {
            let page = self.table.page(after, PAGE).await?;
            let Some((last, _)) = page.last() else { break };
            after = Some(*last);
            for (_, entry) in &page {
                if let KeyEntry::Keys(keys) = entry {
                    lowest = lowest.min(newest(keys));
                    highest = highest.max(newest(keys));
                }
            }
        }
        Ok(if lowest < highest { highest } else { highest + 1 })
    }

    fn next(&self, scope: Scope, keys: &[DataKey]) -> (Scope, DataKey) {
        (scope, self.fresh(scope, newest(keys) + 1))
    }

    fn fresh(&self, scope: Scope, version: u32) -> DataKey {
        let key: Zeroizing<[u8; 32]> = random_key(self.entropy.as_ref());
        self.wrap(scope, version, &key)
    }

    async fn add(&self, keys: Vec<(Scope, DataKey)>) -> Result<u64, KeyError> {
        if !keys.is_empty() {
            self.saw(self.table.insert(self.seen(), &keys, micros(self.clock.now())).await?)?;
        }
        Ok(keys.len() as u64)
    }

    /// Writes keys that were wrapped anew; how many patients they are of.
    pub(super) async fn apply(&self, keys: &[(Scope, DataKey)]) -> Result<u64, KeyError> {
        if keys.is_empty() {
            return Ok(0);
        }
        self.saw(self.table.rewrap(self.seen(), keys).await?)?;
        let mut scopes: Vec<Scope> = keys.iter().map(|(scope, _)| *scope).collect();
        scopes.dedup();
        Ok(scopes.len() as u64)
    }

    /// How much the key store holds.
    ///
    /// # Errors
    /// Of the table.
    pub async fn counts(&self) -> Result<KeyCounts, KeyError> {
        self.table.counts(self.newest_kek()).await
    }

    /// Opens every key of every patient: damage that no other check sees. Returns how many patients have keys.
    ///
    /// # Errors
    /// [`KeyError::Damaged`] at the first key that does not open; of the table.
    pub async fn verify(&self) -> Result<u64, KeyError> {
        let (mut after, mut patients) = (None, 0);
        loop {
            let page = self.table.page(after, PAGE).await?;
            let Some((last, _)) = page.last() else { return Ok(patients) };
            after = Some(*last);
            for (scope, entry) in &page {
                let KeyEntry::Keys(keys) = entry else { continue };
                patients += 1;
                for key in keys {
                    self.unwrap(*scope, key).map_err(|_| self.damaged())?;
                }
            }
        }
    }
}

fn newest(keys: &[DataKey]) -> u32 {
    keys.iter().map(|key| key.version).max().unwrap_or(1)
}

#[cfg(test)]
#[path = "rotation_tests.rs"]
mod tests;

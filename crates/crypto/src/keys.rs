//! The keys of one patient, derived from one random data key, and what is done with them.

use aws_lc_rs::aead::LessSafeKey;
use aws_lc_rs::hmac;
use uuid::Uuid;
use zeroize::Zeroizing;

use super::cipher::{aead, derive, open, seal};
use anamnesis_core::clock::Entropy;
use anamnesis_core::scope::Scope;

/// The place of a ciphertext: bound into it, so that it opens nowhere else.
#[derive(Debug, Clone, Copy)]
pub struct ColumnRef {
    pub table: &'static str,
    pub row: Uuid,
    pub column: &'static str,
}

/// The ciphertext is not ours, not of this cell, or damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a ciphertext cannot be decrypted with the key of its patient")]
pub struct OpenError;

/// The working keys of one patient. Cheap to derive, never stored, wiped when dropped.
pub struct PatientKeys {
    scope: Scope,
    /// Newest first: new ciphertexts use the first, old ones open under theirs.
    seal: Vec<LessSafeKey>,
    blind: hmac::Key,
    surrogate: Zeroizing<[u8; 32]>,
}

impl std::fmt::Debug for PatientKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PatientKeys").finish_non_exhaustive()
    }
}

impl PatientKeys {
    /// `data_key` is the patient's random data key.
    pub fn derive(scope: Scope, data_key: &[u8; 32]) -> Self {
        Self::rotated(scope, data_key, &[])
    }

    /// As [`PatientKeys::derive`], with the data keys of later rotations, oldest first. The newest seals; hashes, search
    /// terms and pseudonyms keep deriving from the first, since ids and equality must not change.
    pub(crate) fn rotated(scope: Scope, data_key: &[u8; 32], later: &[Zeroizing<[u8; 32]>]) -> Self {
        let newest_first = later.iter().rev().map(|key| &**key).chain(std::iter::once(data_key));
        Self {
            scope,
            seal: newest_first.map(|key| aead(&derive(key, "seal"))).collect(),
            blind: hmac::Key::new(hmac::HMAC_SHA256, derive(data_key, "blind").as_ref()),
            surrogate: derive(data_key, "surrogate"),
        }
    }

    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// The key of the patient's surrogates in redacted text.
    pub fn surrogate(&self) -> &[u8; 32] {
        &self.surrogate
    }

    /// Ciphertext of `plain` for one cell of the store.
    pub fn seal(&self, cell: ColumnRef, plain: &[u8], entropy: &dyn Entropy) -> Vec<u8> {
        seal(&self.seal[0], &self.aad(cell), plain, entropy)
    }

    /// # Errors
    /// When the ciphertext was not sealed for this patient and cell.
    pub fn open(&self, cell: ColumnRef, sealed: &[u8]) -> Result<Vec<u8>, OpenError> {
        let aad = self.aad(cell);
        self.seal.iter().find_map(|key| open(key, &aad, sealed).ok()).ok_or(OpenError)
    }

    /// A keyed hash for equality, separated by what is hashed.
    pub fn hash(&self, what: &str, value: &[u8]) -> [u8; 32] {
        let mut context = hmac::Context::with_key(&self.blind);
        context.update(&(what.len() as u64).to_be_bytes());
        context.update(what.as_bytes());
        context.update(value);
        let mut out = [0u8; 32];
        out.copy_from_slice(context.sign().as_ref());
        out
    }

    /// A search term as the store keeps it: 8 bytes of the keyed hash of the stem.
    pub fn term(&self, stem: &str) -> i64 {
        let hash = self.hash("term", stem.as_bytes());
        let mut first = [0u8; 8];
        first.copy_from_slice(&hash[..8]);
        i64::from_be_bytes(first)
    }

    /// By what a text that is embedded is found again among the patient's own: 16 bytes of its keyed hash.
    pub fn text_hash(&self, text: &str) -> [u8; 16] {
        first_half(self.hash("embedding", text.as_bytes()))
    }

    /// A concept as the store keeps it among the search terms: what texts of two languages have in common. No stem
    /// reads like one.
    pub fn concept_term(&self, concept: &str) -> i64 {
        self.term(&format!("\u{0}concept {concept}"))
    }

    /// The associated data of a cell: organisation, patient, table, row, column.
    fn aad(&self, cell: ColumnRef) -> Vec<u8> {
        let mut aad = Vec::with_capacity(96);
        aad.extend_from_slice(self.scope.org().0.as_bytes());
        aad.extend_from_slice(self.scope.patient().0.as_bytes());
        aad.extend_from_slice(cell.row.as_bytes());
        aad.extend_from_slice(cell.table.as_bytes());
        aad.push(0);
        aad.extend_from_slice(cell.column.as_bytes());
        aad
    }
}

/// The 16 bytes of a keyed hash that are stored where a whole one would only take room: 128 bits are as many as no one
/// guesses.
pub fn first_half(hash: [u8; 32]) -> [u8; 16] {
    let mut first = [0; 16];
    first.copy_from_slice(&hash[..16]);
    first
}

/// The key of what belongs to no patient: message hashes, quarantined bodies.
pub struct PlatformKey {
    seal: LessSafeKey,
    blind: hmac::Key,
}

impl std::fmt::Debug for PlatformKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PlatformKey").finish_non_exhaustive()
    }
}

impl PlatformKey {
    /// Derived from the store key of a key store.
    pub(crate) fn derive(store_key: &[u8; 32]) -> Self {
        Self {
            seal: aead(&derive(store_key, "platform.seal")),
            blind: hmac::Key::new(hmac::HMAC_SHA256, derive(store_key, "platform.blind").as_ref()),
        }
    }

    /// Ciphertext of a body that no patient's key can hold.
    pub fn seal(&self, row: Uuid, plain: &[u8], entropy: &dyn Entropy) -> Vec<u8> {
        seal(&self.seal, row.as_bytes(), plain, entropy)
    }

    /// # Errors
    /// When the ciphertext was not sealed for this row.
    pub fn open(&self, row: Uuid, sealed: &[u8]) -> Result<Vec<u8>, OpenError> {
        open(&self.seal, row.as_bytes(), sealed)
    }

    /// The name of an organisation in the log and in traces: it tells no one which one it is, and is the same in every
    /// line.
    pub fn pseudonym(&self, organization: &[u8]) -> String {
        hex::encode(&self.hash("log", &[organization])[..4])
    }

    /// Keyed hash of length-prefixed parts: message keys and body fingerprints.
    pub fn hash(&self, what: &str, parts: &[&[u8]]) -> [u8; 32] {
        let mut context = hmac::Context::with_key(&self.blind);
        for part in std::iter::once(what.as_bytes()).chain(parts.iter().copied()) {
            context.update(&(part.len() as u64).to_be_bytes());
            context.update(part);
        }
        let mut out = [0u8; 32];
        out.copy_from_slice(context.sign().as_ref());
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anamnesis_core::clock::SeededEntropy;
    use anamnesis_core::ids::{OrgId, PatientId};

    fn keys(org: u128, patient: u128, data_key: u8) -> PatientKeys {
        let scope = Scope::new(OrgId(Uuid::from_u128(org)), PatientId(Uuid::from_u128(patient))).unwrap();
        PatientKeys::derive(scope, &[data_key; 32])
    }

    fn cell(row: u128, column: &'static str) -> ColumnRef {
        ColumnRef { table: "memory", row: Uuid::from_u128(row), column }
    }

    #[test]
    fn a_ciphertext_opens_in_its_own_cell_and_nowhere_else() {
        let entropy = SeededEntropy::new(1);
        let mine = keys(1, 1, 9);
        let sealed = mine.seal(cell(1, "content"), b"alergia", &entropy);
        assert_eq!(mine.open(cell(1, "content"), &sealed).unwrap(), b"alergia");
        assert!(mine.open(cell(2, "content"), &sealed).is_err());
        assert!(mine.open(cell(1, "evidence"), &sealed).is_err());
        assert!(keys(1, 2, 9).open(cell(1, "content"), &sealed).is_err(), "another patient, the same data key");
        assert!(keys(2, 1, 9).open(cell(1, "content"), &sealed).is_err(), "another organisation");
        assert!(keys(1, 1, 8).open(cell(1, "content"), &sealed).is_err(), "another data key");
        assert!(mine.open(cell(1, "content"), &sealed[..10]).is_err(), "cut short");
    }

    #[test]
    fn after_a_rotation_old_ciphertexts_open_and_new_ones_need_the_new_key() {
        let entropy = SeededEntropy::new(1);
        let before = keys(1, 1, 9);
        let old = before.seal(cell(1, "c"), b"alergia", &entropy);
        let later = [Zeroizing::new([10; 32]), Zeroizing::new([11; 32])];
        let after = PatientKeys::rotated(before.scope(), &[9; 32], &later);
        let new = after.seal(cell(1, "c"), b"asma", &entropy);
        assert_eq!(after.open(cell(1, "c"), &old).unwrap(), b"alergia");
        assert_eq!(after.open(cell(1, "c"), &new).unwrap(), b"asma");
        assert!(before.open(cell(1, "c"), &new).is_err(), "the first key alone opens nothing new");
        assert!(keys(1, 1, 11).open(cell(1, "c"), &new).is_ok(), "the newest key sealed it");
        assert_eq!(before.term("trabaj"), after.term("trabaj"), "search terms do not change");
        assert_eq!(before.hash("a", b"b"), after.hash("a", b"b"));
        assert_eq!(before.surrogate(), after.surrogate());
    }

    #[test]
    fn equal_texts_give_different_ciphertexts_and_equal_terms() {
        let entropy = SeededEntropy::new(1);
        let mine = keys(1, 1, 9);
        assert_ne!(mine.seal(cell(1, "c"), b"x", &entropy), mine.seal(cell(1, "c"), b"x", &entropy));
        assert_eq!(mine.term("trabaj"), mine.term("trabaj"));
        assert_ne!(mine.term("trabaj"), keys(1, 2, 8).term("trabaj"), "terms are unlinkable across patients");
    }
}

//! The keys of one patient, derived from one random data key, and what is done with them.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Salt};
use aws_lc_rs::hmac;
use uuid::Uuid;
use zeroize::{Zeroize, Zeroizing};

use crate::clock::Entropy;
use crate::domain::scope::Scope;

/// The place of a ciphertext: bound into it, so that it opens nowhere else.
#[derive(Debug, Clone, Copy)]
pub struct Cell {
    pub table: &'static str,
    pub row: Uuid,
    pub column: &'static str,
}

/// The ciphertext is not ours, not of this cell, or damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a ciphertext does not open under its patient's key")]
pub struct OpenError;

struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

/// 32 bytes for one purpose out of one secret.
fn derive(secret: &[u8; 32], purpose: &str) -> Zeroizing<[u8; 32]> {
    let mut out = Zeroizing::new([0u8; 32]);
    Salt::new(HKDF_SHA256, b"anamnesis.v1")
        .extract(secret)
        .expand(&[purpose.as_bytes()], Length(32))
        .and_then(|okm| okm.fill(out.as_mut()))
        .expect("HKDF gives 32 bytes from any secret");
    out
}

fn aead(key: &[u8; 32]) -> LessSafeKey {
    LessSafeKey::new(UnboundKey::new(&AES_256_GCM, key).expect("a key of 32 bytes fits AES-256"))
}

/// Seals with AES-256-GCM under a fresh random nonce: `nonce ‖ ciphertext ‖ tag`.
fn seal(key: &LessSafeKey, aad: &[u8], plain: &[u8], entropy: &dyn Entropy) -> Vec<u8> {
    let mut nonce = [0u8; NONCE_LEN];
    entropy.fill(&mut nonce);
    let mut out = Vec::with_capacity(NONCE_LEN + plain.len() + key.algorithm().tag_len());
    out.extend_from_slice(&nonce);
    out.extend_from_slice(plain);
    let nonce = Nonce::assume_unique_for_key(nonce);
    let tag = key
        .seal_in_place_separate_tag(nonce, Aad::from(aad), &mut out[NONCE_LEN..])
        .expect("AES-GCM seals any text below 64 GiB");
    out.extend_from_slice(tag.as_ref());
    out
}

fn open(key: &LessSafeKey, aad: &[u8], sealed: &[u8]) -> Result<Vec<u8>, OpenError> {
    let (nonce, body) = sealed.split_at_checked(NONCE_LEN).ok_or(OpenError)?;
    let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| OpenError)?;
    let mut body = body.to_vec();
    let length = key.open_in_place(nonce, Aad::from(aad), &mut body).map_err(|_| OpenError)?.len();
    body.truncate(length);
    Ok(body)
}

/// The working keys of one patient. Cheap to derive, never stored, wiped when dropped.
pub struct PatientKeys {
    scope: Scope,
    seal: LessSafeKey,
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
        Self {
            scope,
            seal: aead(&derive(data_key, "seal")),
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
    pub fn seal(&self, cell: Cell, plain: &[u8], entropy: &dyn Entropy) -> Vec<u8> {
        seal(&self.seal, &self.aad(cell), plain, entropy)
    }

    /// # Errors
    /// When the ciphertext was not sealed for this patient and cell.
    pub fn open(&self, cell: Cell, sealed: &[u8]) -> Result<Vec<u8>, OpenError> {
        open(&self.seal, &self.aad(cell), sealed)
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

    /// A concept as the store keeps it among the search terms: what texts of two languages have in common. No stem
    /// reads like one.
    pub fn concept_term(&self, concept: &str) -> i64 {
        self.term(&format!("\u{0}concept {concept}"))
    }

    /// The associated data of a cell: organisation, patient, table, row, column.
    fn aad(&self, cell: Cell) -> Vec<u8> {
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

/// The key of what belongs to no patient: message hashes, quarantined bodies, wrapped data keys.
pub struct PlatformKey {
    seal: LessSafeKey,
    wrap: LessSafeKey,
    blind: hmac::Key,
}

impl std::fmt::Debug for PlatformKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PlatformKey").finish_non_exhaustive()
    }
}

impl PlatformKey {
    /// `master` is wiped here.
    pub fn derive(mut master: [u8; 32]) -> Self {
        let key = Self {
            seal: aead(&derive(&master, "platform.seal")),
            wrap: aead(&derive(&master, "platform.wrap")),
            blind: hmac::Key::new(hmac::HMAC_SHA256, derive(&master, "platform.blind").as_ref()),
        };
        master.zeroize();
        key
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

    pub(super) fn wrap(&self, scope: Scope, data_key: &[u8; 32], entropy: &dyn Entropy) -> Vec<u8> {
        seal(&self.wrap, &scope_aad(scope), data_key, entropy)
    }

    pub(super) fn unwrap(&self, scope: Scope, wrapped: &[u8]) -> Result<Zeroizing<[u8; 32]>, OpenError> {
        let plain = Zeroizing::new(open(&self.wrap, &scope_aad(scope), wrapped)?);
        let bytes: [u8; 32] = plain.as_slice().try_into().map_err(|_| OpenError)?;
        Ok(Zeroizing::new(bytes))
    }
}

fn scope_aad(scope: Scope) -> [u8; 32] {
    let mut aad = [0u8; 32];
    aad[..16].copy_from_slice(scope.org().0.as_bytes());
    aad[16..].copy_from_slice(scope.patient().0.as_bytes());
    aad
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SeededEntropy;
    use crate::domain::ids::{OrgId, PatientId};

    fn keys(org: u128, patient: u128, data_key: u8) -> PatientKeys {
        let scope = Scope::new(OrgId(Uuid::from_u128(org)), PatientId(Uuid::from_u128(patient))).unwrap();
        PatientKeys::derive(scope, &[data_key; 32])
    }

    fn cell(row: u128, column: &'static str) -> Cell {
        Cell { table: "memory", row: Uuid::from_u128(row), column }
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
    fn equal_texts_give_different_ciphertexts_and_equal_terms() {
        let entropy = SeededEntropy::new(1);
        let mine = keys(1, 1, 9);
        assert_ne!(mine.seal(cell(1, "c"), b"x", &entropy), mine.seal(cell(1, "c"), b"x", &entropy));
        assert_eq!(mine.term("trabaj"), mine.term("trabaj"));
        assert_ne!(mine.term("trabaj"), keys(1, 2, 8).term("trabaj"), "terms are unlinkable across patients");
    }
}

//! The primitives: HKDF-SHA-256 to derive, AES-256-GCM to seal, HMAC-SHA-256 to check.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Salt};
use zeroize::Zeroizing;

use super::OpenError;
use anamnesis_core::clock::Entropy;

struct OutputLength(usize);

impl KeyType for OutputLength {
    fn len(&self) -> usize {
        self.0
    }
}

/// HKDF-SHA-256: 32 bytes for one purpose out of one secret.
pub(super) fn derive(secret: &[u8; 32], purpose: &str) -> Zeroizing<[u8; 32]> {
    let mut out = Zeroizing::new([0u8; 32]);
    Salt::new(HKDF_SHA256, b"anamnesis.v1")
        .extract(secret)
        .expand(&[purpose.as_bytes()], OutputLength(32))
        .and_then(|okm| okm.fill(out.as_mut()))
        .expect("HKDF gives 32 bytes from any secret");
    out
}

/// AES-256-GCM under `key`.
pub(super) fn aead(key: &[u8; 32]) -> LessSafeKey {
    LessSafeKey::new(UnboundKey::new(&AES_256_GCM, key).expect("a key of 32 bytes fits AES-256"))
}

/// Seals with AES-256-GCM under a fresh random nonce: `nonce ‖ ciphertext ‖ tag`.
pub(super) fn seal(key: &LessSafeKey, aad: &[u8], plain: &[u8], entropy: &dyn Entropy) -> Vec<u8> {
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

/// Opens what [`seal`] made, with the same associated data.
pub(super) fn open(key: &LessSafeKey, aad: &[u8], sealed: &[u8]) -> Result<Vec<u8>, OpenError> {
    let (nonce, body) = sealed.split_at_checked(NONCE_LEN).ok_or(OpenError)?;
    let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| OpenError)?;
    let mut body = body.to_vec();
    let length = key.open_in_place(nonce, Aad::from(aad), &mut body).map_err(|_| OpenError)?.len();
    body.truncate(length);
    Ok(body)
}

/// Opens a sealed key: 32 bytes, wiped when dropped.
pub(super) fn open_key(key: &LessSafeKey, aad: &[u8], sealed: &[u8]) -> Result<Zeroizing<[u8; 32]>, OpenError> {
    let plain = Zeroizing::new(open(key, aad, sealed)?);
    let mut bytes = Zeroizing::new([0u8; 32]);
    if plain.len() != bytes.len() {
        return Err(OpenError);
    }
    bytes.copy_from_slice(&plain);
    Ok(bytes)
}

/// 32 fresh random bytes, wiped when dropped.
pub(super) fn random_key(entropy: &dyn Entropy) -> Zeroizing<[u8; 32]> {
    let mut key = Zeroizing::new([0u8; 32]);
    entropy.fill(key.as_mut());
    key
}

#[cfg(test)]
#[path = "cipher_tests.rs"]
mod tests;

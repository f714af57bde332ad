//! Surrogates: tags that say that two values are the same and nothing else. `[PERSON_7F3A]` is HMAC-SHA256 over label
//! and normalised value under a key of the patient: stable in all documents of one patient, unlinkable across patients.

use aws_lc_rs::hmac;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// 32 secret bytes that belong to one patient. Wiped on drop, never shown.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct SurrogateKey([u8; 32]);

impl SurrogateKey {
    pub fn new(secret: [u8; 32]) -> Self {
        Self(secret)
    }
}

impl std::fmt::Debug for SurrogateKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SurrogateKey(..)")
    }
}

/// A key made ready for the many values of one document.
pub(crate) struct Fingerprinter(hmac::Key);

impl Fingerprinter {
    pub(crate) fn new(key: &SurrogateKey) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, &key.0))
    }

    /// First eight bytes of the keyed hash of a value: equal values are recognisable, no value is.
    pub(crate) fn fingerprint(&self, label: &str, value: &str) -> u64 {
        let mut context = hmac::Context::with_key(&self.0);
        for part in [b"anamnesis.surrogate.v1".as_slice(), label.as_bytes(), value.as_bytes()] {
            context.update(&(part.len() as u64).to_be_bytes());
            context.update(part);
        }
        let tag = context.sign();
        let mut first = [0u8; 8];
        first.copy_from_slice(&tag.as_ref()[..8]);
        u64::from_be_bytes(first)
    }
}

/// `[LABEL_7F3A]`.
pub(crate) fn stable_tag(label: &str, fingerprint: u64) -> String {
    format!("[{label}_{:04X}]", fingerprint >> 48)
}

/// `[LABEL]`.
pub(crate) fn plain_tag(label: &str) -> String {
    format!("[{label}]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_is_one_tag_for_a_patient_and_another_for_the_next() {
        let (one, two) =
            (Fingerprinter::new(&SurrogateKey::new([1; 32])), Fingerprinter::new(&SurrogateKey::new([2; 32])));
        assert_eq!(one.fingerprint("PERSON", "ana"), one.fingerprint("PERSON", "ana"));
        assert_ne!(one.fingerprint("PERSON", "ana"), two.fingerprint("PERSON", "ana"));
        assert_ne!(one.fingerprint("PERSON", "ana"), one.fingerprint("LOCATION", "ana"));
    }

    #[test]
    fn a_key_is_never_shown() {
        assert_eq!(format!("{:?}", SurrogateKey::new([7; 32])), "SurrogateKey(..)");
    }

    #[test]
    fn a_tag_shows_four_digits_of_its_value_and_a_plain_one_none() {
        assert_eq!(stable_tag("PERSON", 0x00AB_FFFF_FFFF_FFFF), "[PERSON_00AB]");
        assert_eq!(plain_tag("PERSON"), "[PERSON]");
    }

    #[test]
    fn parts_of_a_value_are_separated() {
        let fingerprinter = Fingerprinter::new(&SurrogateKey::new([1; 32]));
        assert_ne!(fingerprinter.fingerprint("AB", "C"), fingerprinter.fingerprint("A", "BC"));
        assert_ne!(fingerprinter.fingerprint("A", ""), fingerprinter.fingerprint("", "A"));
    }
}

//! The primitives: what is derived, the form of what is sealed, and that nothing changed opens.

use super::*;
use anamnesis_core::clock::SeededEntropy;

#[test]
fn keys_are_derived_as_rfc_5869_says_and_differ_by_secret_and_purpose() {
    // HMAC by HMAC as RFC 5869 describes it, with the salt of this program and one block of output.
    let expected = |secret: &[u8], purpose: &str| {
        use aws_lc_rs::hmac::{HMAC_SHA256, Key, sign};
        let extracted = sign(&Key::new(HMAC_SHA256, b"anamnesis.v1"), secret);
        let block = [purpose.as_bytes(), &[1]].concat();
        sign(&Key::new(HMAC_SHA256, extracted.as_ref()), &block).as_ref().to_vec()
    };
    for (secret, purpose) in [([0u8; 32], "seal"), ([7; 32], "seal"), ([7; 32], "blind"), ([7; 32], "")] {
        assert_eq!(derive(&secret, purpose).to_vec(), expected(&secret, purpose), "{purpose}");
    }
    assert_ne!(derive(&[7; 32], "seal"), derive(&[7; 32], "blind"));
    assert_ne!(derive(&[7; 32], "seal"), derive(&[8; 32], "seal"));
}

#[test]
fn what_is_sealed_is_a_nonce_the_ciphertext_and_a_tag() {
    let entropy = SeededEntropy::new(1);
    let key = aead(&[1; 32]);
    for length in [0usize, 1, 32, 1_000] {
        let plain = vec![5u8; length];
        let sealed = seal(&key, b"cell", &plain, &entropy);
        assert_eq!(sealed.len(), 12 + length + 16);
        assert_eq!(open(&key, b"cell", &sealed).unwrap(), plain);
        assert!(length < 32 || !sealed.windows(length).any(|part| part == plain), "nothing in clear");
    }
    let (one, two) = (seal(&key, b"", b"x", &entropy), seal(&key, b"", b"x", &entropy));
    assert_ne!(one[..12], two[..12], "a nonce is never used twice");
    let mut nonce = [0u8; 12];
    SeededEntropy::new(9).fill(&mut nonce);
    assert_eq!(seal(&key, b"", b"x", &SeededEntropy::new(9))[..12], nonce, "the nonce is what entropy gave");
}

#[test]
fn a_ciphertext_with_any_bit_flipped_any_byte_missing_or_one_too_many_does_not_open() {
    let key = aead(&[1; 32]);
    let sealed = seal(&key, b"cell", b"alergia", &SeededEntropy::new(1));
    for place in 0..sealed.len() {
        for bit in 0..8 {
            let mut changed = sealed.clone();
            changed[place] ^= 1 << bit;
            assert_eq!(open(&key, b"cell", &changed), Err(OpenError), "bit {bit} of byte {place}");
        }
        assert_eq!(open(&key, b"cell", &sealed[..place]), Err(OpenError), "cut to {place}");
    }
    assert_eq!(open(&key, b"cell", &[sealed.as_slice(), &[0]].concat()), Err(OpenError), "one byte more");
    for other in [b"cel".as_slice(), b"cell\0", b"Cell", b""] {
        assert_eq!(open(&key, other, &sealed), Err(OpenError), "sealed for another place");
    }
    assert_eq!(open(&aead(&[2; 32]), b"cell", &sealed), Err(OpenError), "another key");
}

#[test]
fn a_sealed_key_is_of_32_bytes_or_none() {
    let (key, entropy) = (aead(&[1; 32]), SeededEntropy::new(1));
    let of = |length: usize| open_key(&key, b"id", &seal(&key, b"id", &vec![7; length], &entropy));
    assert_eq!(*of(32).unwrap(), [7; 32]);
    for length in [0, 16, 31, 33, 64] {
        assert_eq!(of(length).unwrap_err(), OpenError, "{length}");
    }
    assert_eq!(open_key(&key, b"other", &seal(&key, b"id", &[7; 32], &entropy)).unwrap_err(), OpenError);
}

#[test]
fn random_keys_are_what_entropy_gives_and_no_two_are_the_same() {
    let entropy = SeededEntropy::new(1);
    let (one, two) = (random_key(&entropy), random_key(&entropy));
    assert_ne!(one, two);
    assert_ne!(*one, [0; 32]);
    assert_eq!(one, random_key(&SeededEntropy::new(1)));
}

//! Reversible tokens, for holders of a key that is stored separately from the store. AES-256-GCM with a nonce made from
//! key, label and value (HMAC-SHA-256), so that equal values get equal tokens and no nonce serves two values.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use zeroize::{Zeroize, ZeroizeOnDrop};

const NONCE: usize = 12;

/// 64 secret bytes: the first half seals, the second makes nonces. Wiped on drop, never shown.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct TokenKey([u8; 64]);

impl TokenKey {
    pub fn new(secret: [u8; 64]) -> Self {
        Self(secret)
    }

    /// 128 hexadecimal digits, as in a key file; `None` for anything else.
    pub fn from_hex(text: &str) -> Option<Self> {
        let mut secret = [0u8; 64];
        hex::decode_to_slice(text.trim(), &mut secret).ok()?;
        Some(Self(secret))
    }

    /// `[PERSON~…]`; `None` if the cipher fails, which happens for no value of a text.
    pub(crate) fn seal(&self, label: &str, value: &str) -> Option<String> {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.0[32..]);
        let mut context = hmac::Context::with_key(&key);
        // Lengths separate the parts: ("PERSON", "Ana") and ("PERSONA", "na") get different tokens.
        for part in [label.as_bytes(), value.as_bytes()] {
            context.update(&(part.len() as u64).to_be_bytes());
            context.update(part);
        }
        let tag = context.sign();
        let mut nonce = [0u8; NONCE];
        nonce.copy_from_slice(&tag.as_ref()[..NONCE]);
        let mut sealed = value.as_bytes().to_vec();
        // The label is authenticated, so a token with another label does not open.
        let aad = Aad::from(label.as_bytes());
        self.cipher()?.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut sealed).ok()?;
        let bytes: Vec<u8> = nonce.into_iter().chain(sealed).collect();
        Some(format!("[{label}~{}]", URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// The value of a token `[PERSON~…]`; `None` if this key did not seal it.
    pub(crate) fn open(&self, token: &str) -> Option<String> {
        let (label, sealed) = token.strip_prefix('[')?.strip_suffix(']')?.split_once('~')?;
        let bytes = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let (nonce, sealed) = bytes.split_at_checked(NONCE)?;
        let mut sealed = sealed.to_vec();
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let plain = self.cipher()?.open_in_place(nonce, Aad::from(label.as_bytes()), &mut sealed).ok()?;
        String::from_utf8(plain.to_vec()).ok()
    }

    /// A text with its tokens opened; those of another key stay.
    pub fn detokenize(&self, text: &str) -> String {
        let (mut open, mut rest) = (String::with_capacity(text.len()), text);
        while let Some(at) = rest.find('[') {
            // Brackets that are no token of this key stay, such as "[PERSON_7F3A]".
            let end = rest[at..].find(']').map(|end| at + end + 1);
            let value = end.and_then(|end| self.open(&rest[at..end]).map(|value| (value, end)));
            open.push_str(&rest[..at]);
            match value {
                Some((value, end)) => {
                    open.push_str(&value);
                    rest = &rest[end..];
                }
                None => {
                    open.push('[');
                    rest = &rest[at + 1..];
                }
            }
        }
        open.push_str(rest);
        open
    }

    fn cipher(&self) -> Option<LessSafeKey> {
        UnboundKey::new(&AES_256_GCM, &self.0[..32]).ok().map(LessSafeKey::new)
    }
}

impl std::fmt::Debug for TokenKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TokenKey(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_key_that_sealed_opens() {
        let (one, two) = (TokenKey::new([1; 64]), TokenKey::new([2; 64]));
        let token = one.seal("PERSON", "Ana Ñíguez").unwrap();
        assert_eq!(one.seal("PERSON", "Ana Ñíguez").unwrap(), token);
        assert_eq!(one.open(&token).unwrap(), "Ana Ñíguez");
        assert_eq!(two.open(&token), None);
        assert_eq!(one.open(&token.replace("PERSON", "PHONE")), None, "the label is bound to the value");
        assert_eq!(one.detokenize(&format!("vino {token}, [PERSON_7F3A] [")), "vino Ana Ñíguez, [PERSON_7F3A] [");
        assert_eq!(format!("{one:?}"), "TokenKey(..)");
    }

    #[test]
    fn a_key_is_read_from_a_file_of_hexadecimal_digits_alone() {
        let digits = "0a".repeat(64);
        let key = TokenKey::from_hex(&format!(" {digits}\n")).unwrap();
        assert_eq!(key.seal("PERSON", "Ana"), TokenKey::new([0x0A; 64]).seal("PERSON", "Ana"));
        for text in ["", "0a", &"0g".repeat(64), &"0a".repeat(63), &"0a".repeat(65)] {
            assert!(TokenKey::from_hex(text).is_none(), "{text}");
        }
    }

    #[test]
    fn values_labels_and_both_halves_of_a_key_make_tokens_apart() {
        let key = TokenKey::new([1; 64]);
        let mut other = [1; 64];
        other[63] = 2;
        let tokens: std::collections::HashSet<String> =
            [("PERSON", "Ana"), ("PERSON", "Ano"), ("PHONE", "Ana"), ("PERSONA", "na"), ("PERSON", "")]
                .iter()
                .filter_map(|(label, value)| key.seal(label, value))
                .chain(TokenKey::new(other).seal("PERSON", "Ana"))
                .collect();
        assert_eq!(tokens.len(), 6);
        assert_eq!(
            TokenKey::new(other).open(&key.seal("PERSON", "Ana").unwrap()).unwrap(),
            "Ana",
            "the nonce is in the token"
        );
    }

    #[test]
    fn what_is_no_token_stays_as_it_is() {
        let key = TokenKey::new([1; 64]);
        let token = key.seal("PERSON", "Ana").unwrap();
        let cut = &token[..token.len() - 2];
        for text in ["", "[", "[]", "[PERSON~]", "[PERSON~AAAA]", "[PERSON]", "a [b [c]", &format!("{cut}]"), cut] {
            assert_eq!(key.detokenize(text), text);
        }
        assert_eq!(key.detokenize(&format!("[{token}{token}")), "[AnaAna");
    }
}

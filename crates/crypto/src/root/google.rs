//! Google Cloud KMS over its REST API: encrypt and decrypt with additional authenticated data, each part under CRC32C in
//! both directions, as Google asks of its callers.

mod credentials;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use crc::{CRC_32_ISCSI, Crc};
use serde::Deserialize;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::http::{KeyServiceClient, ServiceReply};
use super::token::TokenCache;
use super::{RootKey, Variables, key_of};
use crate::KeyError;
use anamnesis_config::keys::{GoogleConfig, KeyLimits};
use anamnesis_core::clock::{Clock, Entropy};
use anamnesis_transport::Client;

const CRC32C: Crc<u32> = Crc::<u32>::new(&CRC_32_ISCSI);

/// A symmetric key of Cloud KMS.
pub(crate) struct GoogleRoot {
    service: KeyServiceClient,
    tokens: TokenCache,
    key: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EncryptReply {
    ciphertext: String,
    ciphertext_crc32c: String,
    #[serde(default)]
    verified_plaintext_crc32c: bool,
    #[serde(default)]
    verified_additional_authenticated_data_crc32c: bool,
}

#[derive(Deserialize, zeroize::Zeroize, zeroize::ZeroizeOnDrop)]
#[serde(rename_all = "camelCase")]
struct DecryptReply {
    plaintext: String,
    plaintext_crc32c: String,
}

impl std::fmt::Debug for GoogleRoot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GoogleRoot").field("key", &self.key).finish_non_exhaustive()
    }
}

impl GoogleRoot {
    /// Connects to nothing yet.
    ///
    /// # Errors
    /// [`KeyError::File`] or [`KeyError::Denied`] for credentials or an address that cannot be used.
    pub(crate) fn new(
        config: &GoogleConfig,
        limits: KeyLimits,
        variables: &Variables<'_>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Result<Self, KeyError> {
        let place = format!("google:{}", config.key);
        let endpoint = super::address(&place, &config.endpoint)?;
        let source = credentials::source(&place, config, limits, variables, &clock, &entropy)?;
        let service = KeyServiceClient::new(&place, endpoint, Path::new(""), limits, entropy)?;
        Ok(Self { service, tokens: TokenCache::new(source, clock), key: config.key.clone() })
    }

    async fn call(&self, act: &str, body: &Value) -> Result<ServiceReply, KeyError> {
        let resource = format!("v1/{}:{act}", self.key);
        let url = self.service.endpoint().join(&resource.split('/').collect::<Vec<_>>());
        let body = Zeroizing::new(body.to_string());
        let make = |client: &Client, token: &str| {
            let request = client.post(&url).header("content-type", "application/json");
            // By this header Google finds the key's location.
            let request = request.header("x-goog-request-params", format!("name={}", self.key));
            request.bearer_auth(token).body(body.as_bytes().to_vec())
        };
        let reply = self.tokens.send(&self.service, make).await?;
        if reply.is_success() { Ok(reply) } else { Err(self.refusal(&reply, act)) }
    }

    fn refusal(&self, reply: &ServiceReply, act: &str) -> KeyError {
        match reply.status {
            401 => self.service.denied("the credentials are not accepted"),
            403 => self
                .service
                .denied("the service account lacks cloudkms.cryptoKeyVersions.useToEncrypt or useToDecrypt on the key"),
            404 => self.service.denied("there is no such key"),
            400 if reply.says(&["failed_precondition"]) => {
                self.service.denied("the key version is disabled or destroyed")
            }
            400 if act == "decrypt" => KeyError::WrongMaster { place: self.service.place().to_owned() },
            status => self.service.denied(&format!("it answers {status}")),
        }
    }
}

#[async_trait]
impl RootKey for GoogleRoot {
    fn name(&self) -> String {
        self.service.place().to_owned()
    }

    async fn wrap(&self, context: &[u8], plain: &[u8; 32]) -> Result<Vec<u8>, KeyError> {
        let text = Zeroizing::new(STANDARD.encode(plain));
        let body = json!({
            "plaintext": text.as_str(),
            "plaintextCrc32c": sum(plain),
            "additionalAuthenticatedData": STANDARD.encode(context),
            "additionalAuthenticatedDataCrc32c": sum(context),
        });
        let answer: EncryptReply = self.call("encrypt", &body).await?.json()?;
        // Google wrapped something else than was sent, or its answer changed on its way: try again.
        let heard = answer.verified_plaintext_crc32c && answer.verified_additional_authenticated_data_crc32c;
        let wrapped = checked(&answer.ciphertext, &answer.ciphertext_crc32c)?;
        if heard { Ok(wrapped.to_vec()) } else { Err(KeyError::Transient) }
    }

    async fn unwrap(&self, context: &[u8], wrapped: &[u8]) -> Result<Zeroizing<[u8; 32]>, KeyError> {
        let body = json!({
            "ciphertext": STANDARD.encode(wrapped),
            "ciphertextCrc32c": sum(wrapped),
            "additionalAuthenticatedData": STANDARD.encode(context),
            "additionalAuthenticatedDataCrc32c": sum(context),
        });
        let answer: DecryptReply = self.call("decrypt", &body).await?.json()?;
        key_of(&checked(&answer.plaintext, &answer.plaintext_crc32c)?).ok_or(KeyError::Transient)
    }
}

/// CRC32C as Google's JSON has 64-bit integers: in decimal digits, as text.
fn sum(bytes: &[u8]) -> String {
    CRC32C.checksum(bytes).to_string()
}

fn checked(text: &str, crc32c: &str) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    let bytes = STANDARD.decode(text).map(Zeroizing::new).map_err(|_| KeyError::Transient)?;
    if sum(&bytes) == crc32c { Ok(bytes) } else { Err(KeyError::Transient) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_castagnolis_in_decimal_and_a_changed_byte_is_noticed() {
        assert_eq!(sum(b"123456789"), 0xe306_9283_u32.to_string());
        assert_eq!(sum(b""), "0");
        let text = STANDARD.encode(b"123456789");
        assert_eq!(checked(&text, "3808858755").unwrap().as_slice(), b"123456789");
        assert_eq!(checked(&STANDARD.encode(b"123456780"), "3808858755").unwrap_err(), KeyError::Transient);
        assert_eq!(checked("?", "0").unwrap_err(), KeyError::Transient);
    }
}

//! HashiCorp Vault and OpenBao: the Transit engine encrypts and decrypts with associated data; the key never leaves it.

mod login;

use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::AbortHandle;
use zeroize::Zeroizing;

use super::http::{KeyServiceClient, ServiceReply};
use super::token::TokenCache;
use super::{RootKey, key_of};
use crate::KeyError;
use anamnesis_config::keys::{KeyLimits, VaultAuth, VaultConfig};
use anamnesis_core::clock::{Clock, Entropy};
use anamnesis_transport::Client;

/// A key of a Transit engine.
pub struct VaultRoot {
    inner: Arc<TransitKey>,
    /// Renews a token that was given with a term. Ends with this value.
    renewal: Option<AbortHandle>,
}

struct TransitKey {
    service: KeyServiceClient,
    tokens: TokenCache,
    config: VaultConfig,
}

#[derive(Deserialize)]
pub(crate) struct TransitReply {
    data: TransitData,
}

#[derive(Deserialize, zeroize::Zeroize, zeroize::ZeroizeOnDrop)]
struct TransitData {
    #[serde(default)]
    ciphertext: String,
    #[serde(default)]
    plaintext: String,
}

impl std::fmt::Debug for VaultRoot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VaultRoot").finish_non_exhaustive()
    }
}

impl Drop for VaultRoot {
    fn drop(&mut self) {
        if let Some(task) = self.renewal.take() {
            task.abort();
        }
    }
}

impl VaultRoot {
    /// Connects to nothing yet.
    ///
    /// # Errors
    /// [`KeyError::Denied`] for an address that is none, [`KeyError::File`] for a CA file that cannot be used.
    pub fn new(
        config: &VaultConfig,
        limits: KeyLimits,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Result<Self, KeyError> {
        let place = format!("vault:{}/{}", config.mount, config.key);
        let endpoint = super::address(&place, &config.url)?;
        let service = |entropy| KeyServiceClient::new(&place, endpoint.clone(), &config.ca_file, limits, entropy);
        let source = login::source(service(Arc::clone(&entropy))?, config, Arc::clone(&clock));
        let inner =
            TransitKey { service: service(entropy)?, tokens: TokenCache::new(source, clock), config: config.clone() };
        Ok(Self { inner: Arc::new(inner), renewal: None })
    }

    /// The same, and renews the token of `token_file` at half of its term, as long as this value lives. A token of a
    /// login is not renewed: the next use logs in again.
    pub(crate) fn renewing(mut self) -> Self {
        if self.inner.config.auth == VaultAuth::TokenFile {
            let inner = Arc::clone(&self.inner);
            self.renewal = Some(tokio::spawn(async move { login::renew_for_ever(&inner).await }).abort_handle());
        }
        self
    }
}

impl TransitKey {
    /// Posts to `v1/PATH` and gives the answer, refusals included.
    async fn post(&self, path: &str, body: &Value) -> Result<ServiceReply, KeyError> {
        let url = under(&self.service, path);
        let body = Zeroizing::new(body.to_string());
        let make = |client: &Client, token: &str| {
            let request = client.post(&url).body(body.as_bytes().to_vec());
            headers(request, &self.config).header("x-vault-token", sensitive(token))
        };
        self.tokens.send(&self.service, make).await
    }

    async fn transit(&self, act: &str, context: &[u8], field: &str, value: &str) -> Result<TransitData, KeyError> {
        let context = STANDARD.encode(context);
        let mut body = json!({"associated_data": context});
        body[field] = json!(value);
        if self.config.derived {
            body["context"] = json!(context);
        }
        let reply = self.post(&format!("{}/{act}/{}", self.config.mount, self.config.key), &body).await?;
        if reply.is_success() { Ok(reply.json::<TransitReply>()?.data) } else { Err(self.refusal(&reply, act)) }
    }

    fn refusal(&self, reply: &ServiceReply, act: &str) -> KeyError {
        match reply.status {
            401 | 403 => self.service.denied("the token is invalid, or its policy does not permit encrypt and decrypt"),
            404 => self.service.denied("there is no Transit engine or key of this name"),
            400 if reply.says(&["key not found"]) => self.service.denied("there is no key of this name"),
            400 if reply.says(&["too old"]) => {
                self.service.denied("the key version is below the key's min_decryption_version")
            }
            400 if act == "decrypt" => KeyError::WrongMaster { place: self.service.place().to_owned() },
            status => self.service.denied(&format!("it answers {status}")),
        }
    }
}

#[async_trait]
impl RootKey for VaultRoot {
    fn name(&self) -> String {
        self.inner.service.place().to_owned()
    }

    async fn wrap(&self, context: &[u8], plain: &[u8; 32]) -> Result<Vec<u8>, KeyError> {
        let plain = Zeroizing::new(STANDARD.encode(plain));
        let data = self.inner.transit("encrypt", context, "plaintext", &plain).await?;
        if data.ciphertext.starts_with("vault:") {
            Ok(data.ciphertext.clone().into_bytes())
        } else {
            Err(KeyError::Transient)
        }
    }

    async fn unwrap(&self, context: &[u8], wrapped: &[u8]) -> Result<Zeroizing<[u8; 32]>, KeyError> {
        let wrong = || KeyError::WrongMaster { place: self.name() };
        let ciphertext =
            std::str::from_utf8(wrapped).ok().filter(|text| text.starts_with("vault:")).ok_or_else(wrong)?;
        let data = self.inner.transit("decrypt", context, "ciphertext", ciphertext).await?;
        let plain = STANDARD.decode(&data.plaintext).map(Zeroizing::new).map_err(|_| KeyError::Transient)?;
        key_of(&plain).ok_or(KeyError::Transient)
    }
}

/// `PATH` of Vault's API.
fn under(service: &KeyServiceClient, path: &str) -> reqwest::Url {
    service.endpoint().join(&std::iter::once("v1").chain(path.split('/')).collect::<Vec<_>>())
}

fn headers(request: reqwest::RequestBuilder, config: &VaultConfig) -> reqwest::RequestBuilder {
    let request = request.header("content-type", "application/json").header("x-vault-request", "true");
    if config.namespace.is_empty() { request } else { request.header("x-vault-namespace", &config.namespace) }
}

/// A header that no library prints. A token that cannot be one is sent as none, and refused.
fn sensitive(token: &str) -> reqwest::header::HeaderValue {
    let mut value =
        reqwest::header::HeaderValue::from_str(token).unwrap_or_else(|_| reqwest::header::HeaderValue::from_static(""));
    value.set_sensitive(true);
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use anamnesis_core::clock::{SeededEntropy, SystemClock};

    fn root() -> VaultRoot {
        let config =
            VaultConfig { url: "http://127.0.0.1:1".to_owned(), key: "clinic".to_owned(), ..Default::default() };
        let (clock, entropy) = (Arc::new(SystemClock), Arc::new(SeededEntropy::new(1)));
        VaultRoot::new(&config, KeyLimits::default(), clock, entropy).unwrap()
    }

    #[test]
    fn each_refusal_says_what_to_change_and_only_an_unreadable_ciphertext_is_the_wrong_key() {
        let root = root();
        let refused = |status: u16, body: &str, act: &str| {
            let reply =
                ServiceReply { status, headers: Default::default(), body: Zeroizing::new(body.as_bytes().to_vec()) };
            root.inner.refusal(&reply, act)
        };
        let wrong = KeyError::WrongMaster { place: "vault:transit/clinic".to_owned() };
        assert_eq!(refused(400, "message authentication failed", "decrypt"), wrong);
        for (status, body, act, says) in [
            (401, "", "decrypt", "the token is invalid"),
            (403, "", "encrypt", "the token is invalid"),
            (404, "", "decrypt", "no Transit engine"),
            (400, "encryption key NOT FOUND", "decrypt", "no key of this name"),
            (400, "ciphertext version is too old", "decrypt", "min_decryption_version"),
            (400, "SECRET", "encrypt", "it answers 400"),
            (418, "SECRET", "decrypt", "it answers 418"),
        ] {
            let error = refused(status, body, act);
            assert!(
                matches!(&error, KeyError::Denied { reason, .. } if reason.contains(says)),
                "{status} {body}: {error}"
            );
            assert!(!error.to_string().contains("SECRET"), "what the service says is in no error");
        }
    }

    #[tokio::test]
    async fn what_vault_did_not_make_is_not_sent_to_it() {
        let root = root();
        assert_eq!(root.name(), "vault:transit/clinic");
        let wrong = Err(KeyError::WrongMaster { place: root.name() });
        for wrapped in [b"".as_slice(), b"local", b"Vault:v1:x", b"\xff\xfe"] {
            assert_eq!(root.unwrap(b"id", wrapped).await.map(|_| ()), wrong);
        }
    }

    #[test]
    fn addresses_are_below_the_api_and_tokens_are_never_printed() {
        let root = root();
        assert_eq!(under(&root.inner.service, "auth/token/lookup-self").path(), "/v1/auth/token/lookup-self");
        assert!(sensitive("s.abc").is_sensitive() && !format!("{:?}", sensitive("s.abc")).contains("abc"));
        assert_eq!(sensitive("no\nheader").as_bytes(), b"", "sent as none");
    }
}

//! Azure Key Vault and Managed HSM: `wrapkey` and `unwrapkey`. The service has no associated data, so the context's hash
//! is wrapped together with the key and compared when it is opened. The version that wrapped is kept with the result.

mod identity;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::http::{KeyServiceClient, ServiceReply};
use super::token::TokenCache;
use super::{RootKey, Variables, key_of};
use crate::KeyError;
use anamnesis_config::keys::{AzureConfig, KeyLimits};
use anamnesis_core::clock::{Clock, Entropy};
use anamnesis_transport::Client;

const API: &str = "7.4";

/// A key of a vault or of a Managed HSM.
pub(crate) struct AzureRoot {
    service: KeyServiceClient,
    tokens: TokenCache,
    key: String,
    algorithm: String,
}

/// What is kept: the version that wrapped, and what it made.
#[derive(Serialize, Deserialize)]
struct AzureWrapped {
    version: String,
    value: String,
}

#[derive(Deserialize, zeroize::Zeroize, zeroize::ZeroizeOnDrop)]
pub(crate) struct AzureReply {
    kid: String,
    value: String,
}

impl std::fmt::Debug for AzureRoot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AzureRoot").field("key", &self.key).finish_non_exhaustive()
    }
}

impl AzureRoot {
    /// Connects to nothing yet.
    ///
    /// # Errors
    /// [`KeyError::Denied`] for an identity or an address that cannot be used.
    pub(crate) fn new(
        config: &AzureConfig,
        limits: KeyLimits,
        variables: &Variables<'_>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Result<Self, KeyError> {
        let endpoint = super::address("azure", &config.vault_url)?;
        let place = format!("azure:{}/keys/{}", endpoint.url().host_str().unwrap_or_default(), config.key);
        let mut known = config.clone();
        if known.resource.is_empty() {
            known.resource = identity::resource(endpoint.url());
        }
        let source = identity::source(&place, &known, limits, variables, &clock, &entropy)?;
        let service = KeyServiceClient::new(&place, endpoint, Path::new(""), limits, entropy)?;
        let tokens = TokenCache::new(source, clock);
        Ok(Self { service, tokens, key: config.key.clone(), algorithm: config.algorithm.clone() })
    }

    async fn call(&self, version: Option<&str>, act: &str, value: &[u8]) -> Result<AzureReply, KeyError> {
        let path: Vec<&str> = ["keys", &self.key].into_iter().chain(version).chain([act]).collect();
        let mut url = self.service.endpoint().join(&path);
        url.set_query(Some(&format!("api-version={API}")));
        let value = Zeroizing::new(URL_SAFE_NO_PAD.encode(value));
        let body: Value = json!({"alg": self.algorithm, "value": value.as_str()});
        let body = Zeroizing::new(body.to_string());
        let make = |client: &Client, token: &str| {
            let request = client.post(&url).bearer_auth(token);
            request.header("content-type", "application/json").body(body.as_bytes().to_vec())
        };
        let reply = self.tokens.send(&self.service, make).await?;
        if reply.is_success() { reply.json() } else { Err(self.refusal(&reply, act)) }
    }

    fn refusal(&self, reply: &ServiceReply, act: &str) -> KeyError {
        match reply.status {
            401 => self.service.denied("the identity's token is not accepted"),
            403 if reply.says(&["keydisabled", "disabled"]) => self.service.denied("the key is disabled"),
            403 => self.service.denied("the identity lacks keys/wrapKey/action or keys/unwrapKey/action on the key"),
            404 => self.service.denied("there is no such key or key version"),
            400 if act == "unwrapkey" => KeyError::WrongMaster { place: self.service.place().to_owned() },
            status => self.service.denied(&format!("it answers {status}")),
        }
    }
}

#[async_trait]
impl RootKey for AzureRoot {
    fn name(&self) -> String {
        self.service.place().to_owned()
    }

    async fn wrap(&self, context: &[u8], plain: &[u8; 32]) -> Result<Vec<u8>, KeyError> {
        let mut both = Zeroizing::new(plain.to_vec());
        both.extend_from_slice(digest(&SHA256, context).as_ref());
        let answer = self.call(None, "wrapkey", &both).await?;
        let version = answer.kid.rsplit('/').next().filter(|version| is_version(version)).ok_or(KeyError::Transient)?;
        URL_SAFE_NO_PAD.decode(&answer.value).map_err(|_| KeyError::Transient)?;
        let wrapped = AzureWrapped { version: version.to_owned(), value: answer.value.clone() };
        serde_json::to_vec(&wrapped).map_err(|_| KeyError::Transient)
    }

    async fn unwrap(&self, context: &[u8], wrapped: &[u8]) -> Result<Zeroizing<[u8; 32]>, KeyError> {
        let wrong = || KeyError::WrongMaster { place: self.name() };
        let wrapped: AzureWrapped = serde_json::from_slice(wrapped).map_err(|_| wrong())?;
        let value = URL_SAFE_NO_PAD.decode(&wrapped.value).map_err(|_| wrong())?;
        // It becomes part of an address.
        let version = Some(wrapped.version.as_str()).filter(|version| is_version(version)).ok_or_else(wrong)?;
        let answer = self.call(Some(version), "unwrapkey", &value).await?;
        let both = URL_SAFE_NO_PAD.decode(&answer.value).map(Zeroizing::new).map_err(|_| KeyError::Transient)?;
        let (plain, hash) = both.split_at_checked(32).ok_or_else(wrong)?;
        verify_slices_are_equal(hash, digest(&SHA256, context).as_ref()).map_err(|_| wrong())?;
        key_of(plain).ok_or(KeyError::Transient)
    }
}

fn is_version(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

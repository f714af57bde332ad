//! Vault's tokens: from a file that an agent keeps fresh, or by login with the token of the pod's service account.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::TimeDelta;
use serde::Deserialize;
use serde_json::json;
use zeroize::Zeroizing;

use super::{TransitKey, headers, under};
use crate::KeyError;
use crate::root::http::KeyServiceClient;
use crate::root::token::{BearerToken, TokenSource, from_file};
use anamnesis_config::keys::{VaultAuth, VaultConfig};
use anamnesis_core::clock::Clock;
use anamnesis_transport::Client;

/// A pause after a renewal that failed, and the shortest between two.
const SHORTEST: Duration = Duration::from_secs(5);
/// The longest: a token without a term may get one by another's hand.
const LONGEST: Duration = Duration::from_secs(3_600);

/// The configured source.
pub(super) fn source(service: KeyServiceClient, config: &VaultConfig, clock: Arc<dyn Clock>) -> Box<dyn TokenSource> {
    match config.auth {
        VaultAuth::TokenFile => Box::new(VaultTokenFile(config.token_file.clone())),
        VaultAuth::Kubernetes => Box::new(Kubernetes { service, config: config.clone(), clock }),
    }
}

struct VaultTokenFile(PathBuf);

#[async_trait]
impl TokenSource for VaultTokenFile {
    async fn fetch(&self) -> Result<BearerToken, KeyError> {
        Ok(BearerToken::once(from_file(&self.0).await?.as_str()))
    }
}

struct Kubernetes {
    service: KeyServiceClient,
    config: VaultConfig,
    clock: Arc<dyn Clock>,
}

#[derive(Deserialize)]
struct LoginReply {
    auth: LoginAuth,
}

#[derive(Deserialize, zeroize::Zeroize, zeroize::ZeroizeOnDrop)]
struct LoginAuth {
    client_token: String,
    /// Seconds.
    lease_duration: i64,
}

#[async_trait]
impl TokenSource for Kubernetes {
    async fn fetch(&self) -> Result<BearerToken, KeyError> {
        let settings = &self.config.kubernetes;
        // Read again at each login: the kubelet replaces it long before its end.
        let jwt = from_file(&settings.token_file).await?;
        let body = Zeroizing::new(json!({"role": settings.role, "jwt": jwt.as_str()}).to_string());
        let url = under(&self.service, &format!("auth/{}/login", settings.mount));
        let make = |client: &Client| headers(client.post(&url).body(body.as_bytes().to_vec()), &self.config);
        let reply = self.service.send(make).await?;
        if !reply.is_success() {
            return Err(self.service.denied("the Kubernetes login is refused: see role, service account and audience"));
        }
        let auth = reply.json::<LoginReply>()?.auth;
        let life = TimeDelta::try_seconds(auth.lease_duration).unwrap_or_default();
        Ok(BearerToken::lasting(auth.client_token.as_str(), self.clock.now(), life))
    }
}

#[derive(Deserialize)]
struct TokenLookup {
    data: TokenTerm,
}

#[derive(Deserialize)]
struct TokenRenewal {
    auth: TokenLease,
}

#[derive(Deserialize)]
struct TokenLease {
    lease_duration: u64,
}

/// What a token says about itself. Seconds; 0: it never ends.
#[derive(Deserialize)]
struct TokenTerm {
    ttl: u64,
    #[serde(default)]
    creation_ttl: u64,
    #[serde(default)]
    renewable: bool,
}

/// Renews the token of the file at half of its term. What fails is tried again: until the end of its term the token
/// works all the same, and an agent may replace the file.
pub(super) async fn renew_for_ever(inner: &TransitKey) {
    loop {
        let pause = renew(inner).await.unwrap_or(SHORTEST);
        tokio::time::sleep(pause.clamp(SHORTEST, LONGEST)).await;
    }
}

/// Renews where less than half of the term is left, and says when to look again.
async fn renew(inner: &TransitKey) -> Result<Duration, KeyError> {
    let url = under(&inner.service, "auth/token/lookup-self");
    let make = |client: &Client, token: &str| {
        headers(client.get(&url), &inner.config).header("x-vault-token", super::sensitive(token))
    };
    let reply = inner.tokens.send(&inner.service, make).await?;
    if !reply.is_success() {
        return Ok(LONGEST);
    }
    let term = reply.json::<TokenLookup>()?.data;
    let half = term.creation_ttl / 2;
    if !term.renewable || term.ttl == 0 {
        return Ok(LONGEST);
    }
    if term.ttl > half {
        return Ok(Duration::from_secs(term.ttl - half));
    }
    let reply = inner.post("auth/token/renew-self", &json!({})).await?;
    let lease = if reply.is_success() { reply.json::<TokenRenewal>()?.auth.lease_duration } else { 0 };
    Ok(Duration::from_secs(lease / 2))
}

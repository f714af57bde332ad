//! Azure's access tokens: of a managed identity (machine or App Service), or for the token of a Kubernetes service account.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use chrono::TimeDelta;
use reqwest::Url;
use serde::{Deserialize, Deserializer};
use zeroize::Zeroizing;

use crate::KeyError;
use crate::root::http::{KeyServiceClient, denied, form};
use crate::root::token::{BearerToken, TokenSource, from_file};
use crate::root::{Variables, address, set_or};
use anamnesis_config::keys::{AzureConfig, AzureIdentity, KeyLimits};
use anamnesis_core::clock::{Clock, Entropy};
use anamnesis_transport::{Client, Endpoint};

const METADATA: &str = "http://169.254.169.254/metadata/identity/oauth2/token";
const LOGIN: &str = "https://login.microsoftonline.com";

/// The configured source.
///
/// # Errors
/// [`KeyError::Denied`] for a setting that is missing or an address that is none.
pub(super) fn source(
    place: &str,
    config: &AzureConfig,
    limits: KeyLimits,
    variables: &Variables<'_>,
    clock: &Arc<dyn Clock>,
    entropy: &Arc<dyn Entropy>,
) -> Result<Box<dyn TokenSource>, KeyError> {
    let resource = &config.resource;
    let client_id = set_or(&config.client_id, variables, "AZURE_CLIENT_ID", "");
    let clock = Arc::clone(clock);
    match config.identity {
        AzureIdentity::Managed => {
            let endpoint = set_or(&config.identity_endpoint, variables, "IDENTITY_ENDPOINT", METADATA);
            let secret = variables("IDENTITY_HEADER").filter(|_| endpoint != METADATA).map(Zeroizing::new);
            let endpoint = Endpoint::metadata(&endpoint)
                .map_err(|_| denied(place, "the identity endpoint must be link-local or on loopback"))?;
            let mut url = endpoint.url().clone();
            let version = if secret.is_some() { "2019-08-01" } else { "2018-02-01" };
            url.query_pairs_mut().append_pair("api-version", version).append_pair("resource", resource);
            if !client_id.is_empty() {
                url.query_pairs_mut().append_pair("client_id", &client_id);
            }
            let service = KeyServiceClient::new(place, endpoint, Path::new(""), limits, Arc::clone(entropy))?;
            Ok(Box::new(ManagedIdentity { service, url, secret, clock }))
        }
        AzureIdentity::Workload => {
            let tenant = set_or(&config.tenant_id, variables, "AZURE_TENANT_ID", "");
            let named = config.token_file.to_string_lossy();
            let file = set_or(&named, variables, "AZURE_FEDERATED_TOKEN_FILE", "");
            let plain = tenant.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte));
            if tenant.is_empty() || !plain || client_id.is_empty() || file.is_empty() {
                return Err(denied(place, "workload identity needs tenant_id, client_id and token_file"));
            }
            let authority = set_or(&config.authority, variables, "AZURE_AUTHORITY_HOST", LOGIN);
            let endpoint = address(place, &authority)?;
            let url = endpoint.join(&[&tenant, "oauth2", "v2.0", "token"]);
            let service = KeyServiceClient::new(place, endpoint, Path::new(""), limits, Arc::clone(entropy))?;
            let scope = format!("{resource}/.default");
            Ok(Box::new(WorkloadIdentity { service, url, client_id, scope, file: file.into(), clock }))
        }
    }
}

/// For which resource a vault's tokens are: the cloud's own, after the vault's name.
pub(super) fn resource(vault: &Url) -> String {
    match vault.host_str().and_then(|host| host.split_once('.')) {
        Some((_, rest)) if rest.starts_with("vault.") || rest.starts_with("managedhsm.") => format!("https://{rest}"),
        _ => "https://vault.azure.net".to_owned(),
    }
}

#[derive(Deserialize, zeroize::Zeroize, zeroize::ZeroizeOnDrop)]
struct AzureToken {
    access_token: String,
    /// Seconds; a number or its digits.
    #[serde(default, deserialize_with = "number")]
    expires_in: Option<i64>,
    /// Seconds since the epoch; what App Service says instead.
    #[serde(default, deserialize_with = "number")]
    expires_on: Option<i64>,
}

fn number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    let value = serde_json::Value::deserialize(from)?;
    Ok(value.as_i64().or_else(|| value.as_str()?.parse().ok()))
}

impl AzureToken {
    fn bearer(&self, clock: &dyn Clock) -> BearerToken {
        let now = clock.now();
        let left = self.expires_in.or_else(|| Some(self.expires_on?.saturating_sub(now.timestamp()))).unwrap_or(0);
        BearerToken::lasting(self.access_token.as_str(), now, TimeDelta::try_seconds(left).unwrap_or_default())
    }
}

struct ManagedIdentity {
    service: KeyServiceClient,
    url: Url,
    /// App Service's own header.
    secret: Option<Zeroizing<String>>,
    clock: Arc<dyn Clock>,
}

#[async_trait]
impl TokenSource for ManagedIdentity {
    async fn fetch(&self) -> Result<BearerToken, KeyError> {
        let make = |client: &Client| match &self.secret {
            Some(secret) => client.get(&self.url).header("x-identity-header", secret.as_str()),
            None => client.get(&self.url).header("metadata", "true"),
        };
        let reply = self.service.send(make).await?;
        match reply.status {
            200..=299 => Ok(reply.json::<AzureToken>()?.bearer(self.clock.as_ref())),
            // The metadata service answers so while it updates itself.
            404 | 410 => Err(KeyError::Transient),
            _ => Err(self.service.denied("the machine has no such managed identity")),
        }
    }
}

struct WorkloadIdentity {
    service: KeyServiceClient,
    url: Url,
    client_id: String,
    scope: String,
    file: PathBuf,
    clock: Arc<dyn Clock>,
}

#[async_trait]
impl TokenSource for WorkloadIdentity {
    async fn fetch(&self) -> Result<BearerToken, KeyError> {
        // Read again at each login: the kubelet replaces it before its end.
        let assertion = from_file(&self.file).await?;
        let body = Zeroizing::new(form(&[
            ("client_id", &self.client_id),
            ("scope", &self.scope),
            ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
            ("client_assertion", &assertion),
            ("grant_type", "client_credentials"),
        ]));
        let make = |client: &Client| {
            let request = client.post(&self.url);
            request.header("content-type", "application/x-www-form-urlencoded").body(body.as_bytes().to_vec())
        };
        let reply = self.service.send(make).await?;
        if !reply.is_success() {
            return Err(self
                .service
                .denied("Entra ID refuses the service account's token: see the federated credential"));
        }
        Ok(reply.json::<AzureToken>()?.bearer(self.clock.as_ref()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_asked_for_the_clouds_own_resource() {
        for (vault, expected) in [
            ("https://clinic.vault.azure.net", "https://vault.azure.net"),
            ("https://clinic.vault.usgovcloudapi.net", "https://vault.usgovcloudapi.net"),
            ("https://clinic.managedhsm.azure.net", "https://managedhsm.azure.net"),
            ("http://127.0.0.1:4000", "https://vault.azure.net"),
        ] {
            assert_eq!(resource(&Url::parse(vault).unwrap()), expected);
        }
    }
}

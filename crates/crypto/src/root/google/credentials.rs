//! Google's access tokens: from the metadata server, or by workload identity federation from a file of type
//! `external_account` whose subject token lies in a file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use serde::Deserialize;
use serde_json::json;
use zeroize::Zeroizing;

use crate::KeyError;
use crate::root::http::{KeyServiceClient, denied, form};
use crate::root::token::{BearerToken, TokenSource, from_file};
use crate::root::{Variables, address, set_or};
use anamnesis_config::keys::{GoogleConfig, GoogleCredentials, KeyLimits};
use anamnesis_core::clock::{Clock, Entropy};
use anamnesis_transport::{Client, Endpoint};

const PLATFORM: &str = "https://www.googleapis.com/auth/cloud-platform";
const KMS: &str = "https://www.googleapis.com/auth/cloudkms";

/// The configured source.
///
/// # Errors
/// [`KeyError::File`] for a credentials file that cannot be read, [`KeyError::Denied`] for one of another kind.
pub(super) fn source(
    place: &str,
    config: &GoogleConfig,
    limits: KeyLimits,
    variables: &Variables<'_>,
    clock: &Arc<dyn Clock>,
    entropy: &Arc<dyn Entropy>,
) -> Result<Box<dyn TokenSource>, KeyError> {
    match config.credentials {
        GoogleCredentials::Metadata => {
            let host = set_or(&config.metadata_host, variables, "GCE_METADATA_HOST", "metadata.google.internal");
            let url = format!("http://{host}/computeMetadata/v1/instance/service-accounts/default/token");
            let endpoint = Endpoint::metadata(&url)
                .map_err(|_| denied(place, "keys.google.metadata_host must be link-local or on loopback"))?;
            let service = KeyServiceClient::new(place, endpoint, Path::new(""), limits, Arc::clone(entropy))?;
            Ok(Box::new(MetadataSource { service, clock: Arc::clone(clock) }))
        }
        GoogleCredentials::WorkloadIdentity => {
            let named = config.credentials_file.to_string_lossy();
            let path = set_or(&named, variables, "GOOGLE_APPLICATION_CREDENTIALS", "");
            let account = ExternalAccount::read(place, Path::new(&path))?;
            let service = |url: &str| {
                KeyServiceClient::new(place, address(place, url)?, Path::new(""), limits, Arc::clone(entropy))
            };
            let tokens = service(&account.token_url)?;
            let accounts = account.service_account_impersonation_url.as_deref().map(service).transpose()?;
            Ok(Box::new(Federation { tokens, accounts, account, clock: Arc::clone(clock) }))
        }
    }
}

#[derive(Deserialize, zeroize::Zeroize, zeroize::ZeroizeOnDrop)]
struct GoogleToken {
    access_token: String,
    /// Seconds.
    expires_in: i64,
}

impl GoogleToken {
    fn bearer(&self, now: DateTime<Utc>) -> BearerToken {
        let life = TimeDelta::try_seconds(self.expires_in).unwrap_or_default();
        BearerToken::lasting(self.access_token.as_str(), now, life)
    }
}

struct MetadataSource {
    service: KeyServiceClient,
    clock: Arc<dyn Clock>,
}

#[async_trait]
impl TokenSource for MetadataSource {
    async fn fetch(&self) -> Result<BearerToken, KeyError> {
        let reply = self
            .service
            .send(|client| client.get(self.service.endpoint().url()).header("metadata-flavor", "Google"))
            .await?;
        if !reply.is_success() {
            return Err(self.service.denied("the metadata server gives no token: has the machine a service account?"));
        }
        // Something else that listens there: its token must not be sent to Google.
        if reply.headers.get("metadata-flavor").is_none_or(|flavor| flavor != "Google") {
            return Err(self.service.denied("what answers is not Google's metadata server"));
        }
        Ok(reply.json::<GoogleToken>()?.bearer(self.clock.now()))
    }
}

/// A credentials file of type `external_account`.
#[derive(Deserialize)]
struct ExternalAccount {
    #[serde(rename = "type")]
    kind: String,
    audience: String,
    subject_token_type: String,
    token_url: String,
    #[serde(default)]
    service_account_impersonation_url: Option<String>,
    credential_source: CredentialSource,
}

#[derive(Deserialize)]
struct CredentialSource {
    #[serde(default)]
    file: Option<PathBuf>,
    #[serde(default)]
    format: TokenFormat,
}

#[derive(Default, Deserialize)]
struct TokenFormat {
    #[serde(default)]
    subject_token_field_name: Option<String>,
}

impl ExternalAccount {
    fn read(place: &str, path: &Path) -> Result<Self, KeyError> {
        let text = std::fs::read(path).map(Zeroizing::new);
        let text = text.map_err(|_| KeyError::File { place: path.display().to_string() })?;
        let account: Self = serde_json::from_slice(&text)
            .map_err(|_| denied(place, "the credentials file is not of type external_account"))?;
        if account.kind != "external_account" || account.credential_source.file.is_none() {
            return Err(denied(
                place,
                "the credentials file is not of type external_account with a credential_source.file",
            ));
        }
        Ok(account)
    }

    /// Read again at each use: the platform replaces it before its end.
    async fn subject_token(&self) -> Result<Zeroizing<String>, KeyError> {
        let path = self.credential_source.file.as_deref().unwrap_or(Path::new(""));
        let text = from_file(path).await?;
        let Some(field) = &self.credential_source.format.subject_token_field_name else { return Ok(text) };
        let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        let token = value[field].as_str().map(|token| Zeroizing::new(token.to_owned()));
        token.ok_or_else(|| KeyError::File { place: path.display().to_string() })
    }
}

struct Federation {
    tokens: KeyServiceClient,
    /// Where the federated identity acts as a service account.
    accounts: Option<KeyServiceClient>,
    account: ExternalAccount,
    clock: Arc<dyn Clock>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Impersonated {
    access_token: String,
    expire_time: DateTime<Utc>,
}

#[async_trait]
impl TokenSource for Federation {
    async fn fetch(&self) -> Result<BearerToken, KeyError> {
        let subject = self.account.subject_token().await?;
        let body = Zeroizing::new(form(&[
            ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
            ("audience", &self.account.audience),
            ("scope", PLATFORM),
            ("requested_token_type", "urn:ietf:params:oauth:token-type:access_token"),
            ("subject_token", &subject),
            ("subject_token_type", &self.account.subject_token_type),
        ]));
        let reply = self
            .tokens
            .send(|client| {
                let request = client.post(self.tokens.endpoint().url());
                request.header("content-type", "application/x-www-form-urlencoded").body(body.as_bytes().to_vec())
            })
            .await?;
        if !reply.is_success() {
            return Err(self.tokens.denied("Google's token service refuses the subject token"));
        }
        let access: GoogleToken = reply.json()?;
        match &self.accounts {
            None => Ok(access.bearer(self.clock.now())),
            Some(accounts) => self.impersonated(accounts, &access).await,
        }
    }
}

impl Federation {
    async fn impersonated(&self, accounts: &KeyServiceClient, access: &GoogleToken) -> Result<BearerToken, KeyError> {
        let body = json!({"scope": [KMS], "lifetime": "3600s"}).to_string();
        let make = |client: &Client| {
            let request = client.post(accounts.endpoint().url()).bearer_auth(&access.access_token);
            request.header("content-type", "application/json").body(body.clone())
        };
        let reply = accounts.send(make).await?;
        if !reply.is_success() {
            return Err(accounts.denied("the federated identity may not impersonate the service account"));
        }
        let token: Impersonated = reply.json()?;
        let now = self.clock.now();
        Ok(BearerToken::lasting(token.access_token, now, token.expire_time - now))
    }
}

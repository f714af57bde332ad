//! `[keys.vault]`, `[keys.aws]`, `[keys.google]`, `[keys.azure]`: one key service each. Secrets come from files or from
//! the platform's identity, never from these settings.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{InvalidSetting, address, name, rule};

/// Vault or OpenBao, Transit engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct VaultConfig {
    /// Address without `/v1`.
    pub url: String,
    /// Mount of the Transit engine.
    pub mount: String,
    /// Name of the key in it: `aes256-gcm96` or another AEAD type.
    pub key: String,
    /// Vault Enterprise and OpenBao; empty: none.
    pub namespace: String,
    /// Whether the key was made with `derived=true`: then the context is sent as the derivation context too.
    pub derived: bool,
    pub auth: VaultAuth,
    /// `token_file`: read again at each use.
    pub token_file: PathBuf,
    pub kubernetes: KubernetesConfig,
    /// Certificates (PEM) trusted in addition to the machine's.
    pub ca_file: PathBuf,
}

/// How the program proves to Vault who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VaultAuth {
    #[default]
    TokenFile,
    Kubernetes,
}

/// Login with the token of the pod's service account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct KubernetesConfig {
    /// Mount of the auth method.
    pub mount: String,
    pub role: String,
    /// Read again at each login.
    pub token_file: PathBuf,
}

impl Default for VaultConfig {
    fn default() -> Self {
        Self {
            url: String::new(),
            mount: "transit".to_owned(),
            key: String::new(),
            namespace: String::new(),
            derived: false,
            auth: VaultAuth::TokenFile,
            token_file: PathBuf::new(),
            kubernetes: KubernetesConfig::default(),
            ca_file: PathBuf::new(),
        }
    }
}

impl Default for KubernetesConfig {
    fn default() -> Self {
        let token = "/var/run/secrets/kubernetes.io/serviceaccount/token";
        Self { mount: "kubernetes".to_owned(), role: String::new(), token_file: token.into() }
    }
}

impl VaultConfig {
    pub(super) fn validate(&self) -> Result<(), InvalidSetting> {
        address("keys.vault.url", &self.url)?;
        name("keys.vault.mount", &self.mount)?;
        name("keys.vault.key", &self.key)?;
        rule(self.namespace.is_empty() || name("", &self.namespace).is_ok(), "keys.vault.namespace", "must be a path")?;
        match self.auth {
            VaultAuth::TokenFile => given("keys.vault.token_file", &self.token_file),
            VaultAuth::Kubernetes => {
                name("keys.vault.kubernetes.mount", &self.kubernetes.mount)?;
                name("keys.vault.kubernetes.role", &self.kubernetes.role)?;
                given("keys.vault.kubernetes.token_file", &self.kubernetes.token_file)
            }
        }
    }
}

/// AWS Key Management Service. Credentials: the standard chain of AWS's libraries.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AwsConfig {
    /// Id, ARN, `alias/NAME` or ARN of an alias.
    pub key: String,
    /// Empty: as AWS's libraries find it (environment, instance metadata).
    pub region: String,
    /// Another endpoint, such as a VPC endpoint. Empty: the region's.
    pub endpoint: String,
}

impl AwsConfig {
    pub(super) fn validate(&self) -> Result<(), InvalidSetting> {
        let fits = |c: char| c.is_ascii_alphanumeric() || "-_/:".contains(c);
        rule(
            !self.key.is_empty() && self.key.chars().all(fits),
            "keys.aws.key",
            "must be a key's id, ARN, alias/NAME or alias ARN",
        )?;
        if self.endpoint.is_empty() { Ok(()) } else { address("keys.aws.endpoint", &self.endpoint).map(drop) }
    }
}

/// Google Cloud Key Management Service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GoogleConfig {
    /// `projects/P/locations/L/keyRings/R/cryptoKeys/K`.
    pub key: String,
    pub endpoint: String,
    pub credentials: GoogleCredentials,
    /// `workload_identity`: the file of type `external_account`. Empty: `GOOGLE_APPLICATION_CREDENTIALS`.
    pub credentials_file: PathBuf,
    /// `metadata`: host and port of the metadata server. Empty: `GCE_METADATA_HOST`, else Google's own.
    pub metadata_host: String,
}

/// Who the program is to Google.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GoogleCredentials {
    /// The service account of the machine or pod, from the metadata server.
    #[default]
    Metadata,
    /// Workload identity federation.
    WorkloadIdentity,
}

impl Default for GoogleConfig {
    fn default() -> Self {
        Self {
            key: String::new(),
            endpoint: "https://cloudkms.googleapis.com".to_owned(),
            credentials: GoogleCredentials::Metadata,
            credentials_file: PathBuf::new(),
            metadata_host: String::new(),
        }
    }
}

impl GoogleConfig {
    pub(super) fn validate(&self) -> Result<(), InvalidSetting> {
        const KEY: &str = "keys.google.key";
        name(KEY, &self.key)?;
        let parts: Vec<&str> = self.key.split('/').collect();
        let form = matches!(parts[..], ["projects", _, "locations", _, "keyRings", _, "cryptoKeys", _]);
        rule(form, KEY, "must be projects/P/locations/L/keyRings/R/cryptoKeys/K")?;
        address("keys.google.endpoint", &self.endpoint).map(drop)
    }
}

/// Azure Key Vault or Managed HSM.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AzureConfig {
    /// `https://NAME.vault.azure.net` or `https://NAME.managedhsm.azure.net`.
    pub vault_url: String,
    /// Name of the key.
    pub key: String,
    /// `RSA-OAEP-256`, or `A256KW` for a symmetric key of a Managed HSM.
    pub algorithm: String,
    pub identity: AzureIdentity,
    /// Of a user-assigned identity. Empty: `AZURE_CLIENT_ID`, else the system's identity.
    pub client_id: String,
    /// `workload`: empty: `AZURE_TENANT_ID`.
    pub tenant_id: String,
    /// `workload`: empty: `AZURE_FEDERATED_TOKEN_FILE`.
    pub token_file: PathBuf,
    /// `workload`: empty: `AZURE_AUTHORITY_HOST`, else `https://login.microsoftonline.com`.
    pub authority: String,
    /// `managed`: empty: `IDENTITY_ENDPOINT` (App Service), else the instance metadata service.
    pub identity_endpoint: String,
    /// For which resource tokens are asked. Empty: from the vault's host.
    pub resource: String,
}

/// Who the program is to Azure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AzureIdentity {
    /// Managed identity of a machine or App Service.
    #[default]
    Managed,
    /// Workload identity of a Kubernetes service account.
    Workload,
}

impl Default for AzureConfig {
    fn default() -> Self {
        Self {
            vault_url: String::new(),
            key: String::new(),
            algorithm: "RSA-OAEP-256".to_owned(),
            identity: AzureIdentity::Managed,
            client_id: String::new(),
            tenant_id: String::new(),
            token_file: PathBuf::new(),
            authority: String::new(),
            identity_endpoint: String::new(),
            resource: String::new(),
        }
    }
}

impl AzureConfig {
    pub(super) fn validate(&self) -> Result<(), InvalidSetting> {
        let url = address("keys.azure.vault_url", &self.vault_url)?;
        rule(url.url().path() == "/", "keys.azure.vault_url", "must be a vault's address without a path")?;
        let plain = !self.key.is_empty() && self.key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        rule(plain, "keys.azure.key", "must be a name of letters, digits and `-`")?;
        let known = ["RSA-OAEP-256", "A256KW"].contains(&self.algorithm.as_str());
        rule(known, "keys.azure.algorithm", "must be RSA-OAEP-256 or A256KW")?;
        if self.authority.is_empty() { Ok(()) } else { address("keys.azure.authority", &self.authority).map(drop) }
    }
}

fn given(key: &'static str, path: &Path) -> Result<(), InvalidSetting> {
    rule(!path.as_os_str().is_empty(), key, "is required")
}

//! `[keys.vault]`, `[keys.aws]`, `[keys.google]`, `[keys.azure]`: one key service each. Secrets come from files or from
//! the platform's identity, never from these settings.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{InvalidSetting, Rules, address, name, rule};

/// Vault or OpenBao, Transit engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VaultConfig {
    /// Address of Vault or OpenBao, without `/v1`.
    pub url: String,
    /// Mount of the Transit engine.
    pub mount: String,
    /// Name of the key in the engine, of an AEAD type such as `aes256-gcm96`.
    pub key: String,
    /// Namespace of Vault Enterprise and OpenBao; empty: none.
    pub namespace: String,
    /// Whether the key was made with `derived=true`.
    pub derived: bool,
    /// How the program authenticates to Vault.
    pub auth: VaultAuth,
    /// File of the token, read again at each use.
    pub token_file: PathBuf,
    pub kubernetes: KubernetesConfig,
    /// Certificates (PEM) that are trusted with the machine's own; empty: none.
    pub ca_file: PathBuf,
}

/// How the program proves to Vault who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VaultAuth {
    #[default]
    TokenFile,
    Kubernetes,
}

/// Login with the token of the pod's service account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct KubernetesConfig {
    /// Mount of the auth method.
    pub mount: String,
    /// Role of the auth method.
    pub role: String,
    /// File of the service account's token, read again at each login.
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
    pub(super) fn check(&self, rules: &mut Rules) {
        rules.note(address("keys.vault.url", &self.url).map(drop));
        rules.note(name("keys.vault.mount", &self.mount));
        rules.note(name("keys.vault.key", &self.key));
        let named = self.namespace.is_empty() || name("", &self.namespace).is_ok();
        rules.rule(named, "keys.vault.namespace", "must be a path");
        match self.auth {
            VaultAuth::TokenFile => rules.note(given("keys.vault.token_file", &self.token_file)),
            VaultAuth::Kubernetes => {
                rules.note(name("keys.vault.kubernetes.mount", &self.kubernetes.mount));
                rules.note(name("keys.vault.kubernetes.role", &self.kubernetes.role));
                rules.note(given("keys.vault.kubernetes.token_file", &self.kubernetes.token_file));
            }
        }
    }
}

/// AWS Key Management Service. Credentials: the standard chain of AWS's libraries.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AwsConfig {
    /// Id, ARN, `alias/NAME` or ARN of an alias; needs a program that was built with the feature kms-aws.
    pub key: String,
    /// Region; empty: that of the ARN, else as AWS's libraries find it.
    pub region: String,
    /// Another endpoint than the region's, such as a VPC endpoint's; empty: the region's.
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GoogleConfig {
    /// Resource name of the key, `projects/P/locations/L/keyRings/R/cryptoKeys/K`.
    pub key: String,
    /// Address of the key service.
    pub endpoint: String,
    /// How the program authenticates to Google.
    pub credentials: GoogleCredentials,
    /// File of type `external_account`; empty: `GOOGLE_APPLICATION_CREDENTIALS`.
    pub credentials_file: PathBuf,
    /// Host of the metadata server; empty: `GCE_METADATA_HOST`, else Google's.
    pub metadata_host: String,
}

/// Who the program is to Google.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AzureConfig {
    /// Address of the vault, `https://NAME.vault.azure.net` or `https://NAME.managedhsm.azure.net`.
    pub vault_url: String,
    /// Name of the key.
    pub key: String,
    /// `RSA-OAEP-256`, or `A256KW` for a symmetric key of a Managed HSM.
    pub algorithm: String,
    /// How the program authenticates to Azure.
    pub identity: AzureIdentity,
    /// Client of a user-assigned identity; empty: `AZURE_CLIENT_ID`, else the system's identity.
    pub client_id: String,
    /// Tenant of a workload identity; empty: `AZURE_TENANT_ID`.
    pub tenant_id: String,
    /// File of the token of a workload identity; empty: `AZURE_FEDERATED_TOKEN_FILE`.
    pub token_file: PathBuf,
    /// Authority of a workload identity; empty: `AZURE_AUTHORITY_HOST`.
    pub authority: String,
    /// Endpoint of a managed identity; empty: `IDENTITY_ENDPOINT`, else the instance metadata service.
    pub identity_endpoint: String,
    /// Resource for which tokens are asked; empty: from the vault's host.
    pub resource: String,
}

/// Who the program is to Azure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
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
    pub(super) fn check(&self, rules: &mut Rules) {
        match address("keys.azure.vault_url", &self.vault_url) {
            Ok(url) => {
                let whole = url.url().path() == "/";
                rules.rule(whole, "keys.azure.vault_url", "must be a vault's address without a path");
            }
            Err(broken) => rules.note(Err(broken)),
        }
        let plain = !self.key.is_empty() && self.key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        rules.rule(plain, "keys.azure.key", "must be a name of letters, digits and `-`");
        let known = ["RSA-OAEP-256", "A256KW"].contains(&self.algorithm.as_str());
        rules.rule(known, "keys.azure.algorithm", "must be RSA-OAEP-256 or A256KW");
        if !self.authority.is_empty() {
            rules.note(address("keys.azure.authority", &self.authority).map(drop));
        }
    }
}

fn given(key: &'static str, path: &Path) -> Result<(), InvalidSetting> {
    rule(!path.as_os_str().is_empty(), key, "is required")
}

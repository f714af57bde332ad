//! Root keys: what wraps the store key. Only opening a key store asks one; no patient's key does.

#[cfg(feature = "kms-aws")]
mod aws;
#[cfg(feature = "kms-azure")]
mod azure;
#[cfg_attr(not(feature = "kms-vault"), allow(dead_code))]
mod from_config;
#[cfg(feature = "kms-google")]
mod google;
#[cfg_attr(not(feature = "kms-vault"), allow(dead_code))]
mod http;
mod local;
#[cfg_attr(not(feature = "kms-vault"), allow(dead_code))]
mod token;
#[cfg(feature = "kms-vault")]
mod vault;

use async_trait::async_trait;
use zeroize::Zeroizing;

use super::KeyError;
#[cfg(feature = "kms-aws")]
pub(crate) use aws::AwsRoot;
#[cfg(feature = "kms-azure")]
pub(crate) use azure::AzureRoot;
pub use from_config::service_root;
#[allow(unused_imports, reason = "each is of use to some features")]
use from_config::{address, key_of, set_or};
#[cfg(feature = "kms-google")]
pub(crate) use google::GoogleRoot;
pub use local::{LocalRoot, parse_root};
#[cfg(feature = "kms-vault")]
pub use vault::VaultRoot;

/// How variables of the environment are looked up: those that the platforms set for their identities.
pub(crate) type Variables<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// A key that never leaves its place, or a local one of 32 bytes.
#[async_trait]
pub trait RootKey: Send + Sync {
    /// Kind and place, such as `local:/etc/anamnesis/root` or `vault:transit/anamnesis`: kept in the header and shown. No
    /// secret.
    fn name(&self) -> String;

    /// Wraps 32 bytes. `context` (the key store's id) is bound into the result as associated data.
    ///
    /// # Errors
    /// [`KeyError::Transient`] where the service does not answer, [`KeyError::Denied`] where it refuses us.
    async fn wrap(&self, context: &[u8], plain: &[u8; 32]) -> Result<Vec<u8>, KeyError>;

    /// Opens what [`RootKey::wrap`] made with the same context.
    ///
    /// # Errors
    /// [`KeyError::WrongMaster`] where it was wrapped by another key or for another context; else as for `wrap`.
    async fn unwrap(&self, context: &[u8], wrapped: &[u8]) -> Result<Zeroizing<[u8; 32]>, KeyError>;

    /// The store key of a key store from before headers: it was the local root itself. `None` for services.
    fn legacy_store_key(&self) -> Option<Zeroizing<[u8; 32]>> {
        None
    }
}

#[cfg(test)]
#[path = "service_tests.rs"]
mod tests;

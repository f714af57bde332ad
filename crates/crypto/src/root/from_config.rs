//! From configuration to a root key of a service.

use std::sync::Arc;

use zeroize::Zeroizing;

use super::http::denied;
use super::{RootKey, Variables};
use crate::KeyError;
use anamnesis_config::keys::{KeysConfig, RootKind};
use anamnesis_core::clock::{Clock, Entropy};
use anamnesis_transport::Endpoint;

/// The configured root key of a service; `None` where the root is a local one. Nothing is sent yet.
///
/// # Errors
/// [`KeyError::Denied`] or [`KeyError::File`] with what to change.
pub fn service_root(
    config: &KeysConfig,
    variables: &Variables<'_>,
    clock: &Arc<dyn Clock>,
    entropy: &Arc<dyn Entropy>,
) -> Result<Option<Arc<dyn RootKey>>, KeyError> {
    let limits = config.limits;
    let (clock, entropy) = (Arc::clone(clock), Arc::clone(entropy));
    config.validate().map_err(|setting| denied(setting.key, setting.rule))?;
    match config.root {
        RootKind::Local => Ok(None),
        #[cfg(feature = "kms-vault")]
        RootKind::Vault => {
            let root = super::VaultRoot::new(&config.vault, limits, clock, entropy)?;
            Ok(Some(Arc::new(root.renewing())))
        }
        #[cfg(feature = "kms-aws")]
        RootKind::Aws => Ok(Some(Arc::new(super::AwsRoot::new(&config.aws, limits)))),
        #[cfg(feature = "kms-google")]
        RootKind::Google => {
            Ok(Some(Arc::new(super::GoogleRoot::new(&config.google, limits, variables, clock, entropy)?)))
        }
        #[cfg(feature = "kms-azure")]
        RootKind::Azure => Ok(Some(Arc::new(super::AzureRoot::new(&config.azure, limits, variables, clock, entropy)?))),
        #[allow(unreachable_patterns, reason = "a build with every feature has none left")]
        kind => {
            let _ = (limits, variables, clock, entropy);
            let name = format!("{kind:?}").to_ascii_lowercase();
            Err(denied("keys.root", &format!("this program was built without the feature kms-{name}")))
        }
    }
}

/// An address of a service: https, or http on loopback.
///
/// # Errors
/// [`KeyError::Denied`] for anything else.
pub(super) fn address(place: &str, text: &str) -> Result<Endpoint, KeyError> {
    let endpoint = Endpoint::parse(text).and_then(Endpoint::bare);
    endpoint.map_err(|error| denied(place, &format!("an address {error}")))
}

/// A setting, else a variable of the environment, else the default.
pub(super) fn set_or(setting: &str, variables: &Variables<'_>, variable: &str, default: &str) -> String {
    match setting {
        "" => variables(variable).filter(|value| !value.is_empty()).unwrap_or_else(|| default.to_owned()),
        setting => setting.to_owned(),
    }
}

/// Exactly 32 bytes, wiped when dropped.
pub(super) fn key_of(bytes: &[u8]) -> Option<Zeroizing<[u8; 32]>> {
    let mut key = Zeroizing::new([0u8; 32]);
    if bytes.len() != key.len() {
        return None;
    }
    key.copy_from_slice(bytes);
    Some(key)
}

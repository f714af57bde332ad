//! `[store]`: where memory lives and where its keys live.

use std::path::PathBuf;

use secrecy::SecretString;
use serde::{Deserialize, Serialize};

/// Serialised without its secret.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoreConfig {
    /// The embedded store's file.
    pub path: PathBuf,
    /// The key store's file: keep it out of the store's backups.
    pub keys: PathBuf,
    /// Master key as 64 hexadecimal digits; empty: the file beside the key store, made at first start.
    #[serde(skip_serializing)]
    pub master_key: SecretString,
}

impl PartialEq for StoreConfig {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path && self.keys == other.keys
    }
}

//! Root keys: what wraps the store key. Only opening a key store asks one; no patient's key does.

mod local;

use async_trait::async_trait;
use zeroize::Zeroizing;

use super::KeyError;
pub use local::{LocalRoot, parse_root};

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

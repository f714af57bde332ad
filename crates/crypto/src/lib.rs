//! Encryption at rest: content is ciphertext under a per-patient data key, equality and search terms are keyed hashes
//! under the same key, and erasing a patient ends with destroying it. `docs/keys.md` shows the hierarchy.

mod cipher;
pub mod copies;
mod error;
mod escrow;
mod files;
mod keyring;
mod keys;
mod keystore;
mod root;
mod rotation;
mod table;

pub use error::KeyError;
pub use escrow::Escrow;
pub use files::private_file;
pub use keyring::Keyring;
pub use keys::{ColumnRef, OpenError, PatientKeys, PlatformKey, first_half};
pub use keystore::{FoundKeys, KeyLookup, KeyStore};
pub use root::*;
pub use table::{
    DataKey, FORMAT, KeyDatabase, KeyEntry, KeyStoreHeader, KeyStoreStamp, KeyTable, PostgresTable, SqliteTable,
    TableState,
};

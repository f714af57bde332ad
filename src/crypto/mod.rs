//! Encryption at rest (model.md, "At rest"): content is ciphertext under a per-patient data key, equality and search
//! terms are keyed hashes under the same key, and erasing a patient ends with destroying it.

mod keys;
mod keystore;

pub use keys::{Cell, OpenError, PatientKeys, PlatformKey};
pub use keystore::{KeyError, KeyStore, LocalKeyStore, parse_master};

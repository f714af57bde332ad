//! Permissions of producers, and the inputs of redaction from a message.

pub(crate) mod grant;
pub(crate) mod identities;
pub(crate) mod producer_policy;
pub mod spool;
pub mod spool_folder;

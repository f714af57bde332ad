//! Who may say what, and what a message hands to redaction.

pub(crate) mod grant;
pub(crate) mod identities;
pub(crate) mod producer_policy;
pub mod spool;
pub mod spool_folder;

//! Who may say what, and what a message hands to redaction.

pub(crate) mod binding;
pub(crate) mod grant;
pub(crate) mod identities;
pub mod spool;
pub mod spool_folder;

//! Additional recognisers on other hosts: what they find is taken out together with what the built-in ones find, never
//! instead of it. Whatever goes wrong is an error, and an error stops the document: nothing is stored that a service the
//! operator asked for has not seen. An error about the service is a retry; only an error about this very document, shown
//! by the service taking another text at that moment, is permanent.

pub(crate) mod error;
mod google;
mod presidio;
mod service;
mod services;

pub use error::RemoteError;
pub use google::Google;
pub use presidio::Presidio;
pub(crate) use service::READER;
pub use service::{ExternalFinding, Remote};
pub use services::Services;

#[cfg(test)]
mod tests;

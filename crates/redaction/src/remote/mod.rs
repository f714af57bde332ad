//! Additional recognisers on other hosts. Their findings are added to those of the built-in ones and never replace
//! them. Any failure is an error and stops the document, because no text is stored that a configured service has not
//! seen. An error of the service is retried. Only an error of this very document is permanent; the service proves it by
//! accepting another text at that moment.

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

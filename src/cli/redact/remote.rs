//! Additional services of the command line: a Presidio analyzer, Google Sensitive Data Protection.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::super::CliError;
use anamnesis_redaction::remote::{Google, Presidio, Remote, RemoteError, Services};
use anamnesis_transport::ApiToken;

/// The environment variable with Google's bearer token: a secret is no argument.
const TOKEN: &str = "ANAMNESIS_DLP_TOKEN";

#[derive(Debug, clap::Args)]
pub(crate) struct RemoteArgs {
    /// Also redact the findings of a Presidio analyzer at this URL (https except on loopback). If the analyzer fails, the line
    /// fails.
    #[arg(long, value_name = "URL")]
    presidio: Option<String>,
    /// Also redact the findings of Google Sensitive Data Protection: projects/P/locations/L, with a bearer token in
    /// ANAMNESIS_DLP_TOKEN. If the service fails, the line fails.
    #[arg(long, value_name = "PARENT")]
    google: Option<String>,
    /// Another URL of Google's service.
    #[arg(long, value_name = "URL", default_value = "https://dlp.googleapis.com", hide_default_value = true)]
    google_url: String,
    /// Certificate authority (PEM) of these services, in addition to those of the machine.
    #[arg(long, value_name = "FILE")]
    remote_ca: Option<PathBuf>,
    /// Time limit of a service for one text, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 5_000)]
    remote_timeout_ms: u64,
}

impl RemoteArgs {
    /// The services asked for.
    ///
    /// # Errors
    /// When Google's token is missing or a client cannot be made.
    pub(crate) fn services(&self) -> Result<Services, CliError> {
        let timeout = Duration::from_millis(self.remote_timeout_ms);
        let authority = self.remote_ca.clone().unwrap_or_default();
        let wrong = |option: &str, error: RemoteError| CliError::usage(format!("{option}: {error}"));
        let mut services: Vec<Arc<dyn Remote>> = Vec::new();
        if let Some(url) = &self.presidio {
            services
                .push(Arc::new(Presidio::new(url, timeout, &authority).map_err(|error| wrong("--presidio", error))?));
        }
        if let Some(parent) = &self.google {
            let token = std::env::var(TOKEN).map_err(|_| CliError::usage(format!("{TOKEN} is not set")))?;
            let google = Google::new(&self.google_url, parent, ApiToken::Fixed(token.into()), timeout, &authority);
            services.push(Arc::new(google.map_err(|error| wrong("--google-url", error))?));
        }
        Services::new(services).map_err(|error| wrong("services", error))
    }
}

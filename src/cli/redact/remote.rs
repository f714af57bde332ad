//! Additional services of the command line: a Presidio analyzer, Google Sensitive Data Protection.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::super::CliError;
use anamnesis_redaction::remote::{Google, Presidio, Remote, RemoteError, Services};
use anamnesis_transport::Token;

/// The environment variable with Google's bearer token: a secret is no argument.
const TOKEN: &str = "ANAMNESIS_DLP_TOKEN";

#[derive(Debug, clap::Args)]
pub(crate) struct RemoteArgs {
    /// Take out what a Presidio analyzer at this address (https beyond loopback) finds as well. When it fails, the line
    /// fails.
    #[arg(long, value_name = "URL")]
    presidio: Option<String>,
    /// Take out what Google Sensitive Data Protection finds as well: projects/P/locations/L, with a bearer token in
    /// ANAMNESIS_DLP_TOKEN. When it fails, the line fails.
    #[arg(long, value_name = "PARENT")]
    google: Option<String>,
    /// Another address of Google's service.
    #[arg(long, value_name = "URL", default_value = "https://dlp.googleapis.com", hide_default_value = true)]
    google_url: String,
    /// Certificates (PEM) of an authority that the services' addresses are trusted by, besides the machine's.
    #[arg(long, value_name = "FILE")]
    remote_ca: Option<PathBuf>,
    /// How long a service may take for one text, in milliseconds.
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
            let google = Google::new(&self.google_url, parent, Token::Fixed(token.into()), timeout, &authority);
            services.push(Arc::new(google.map_err(|error| wrong("--google-url", error))?));
        }
        Services::new(services).map_err(|error| wrong("services", error))
    }
}

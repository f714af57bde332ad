//! HTTP to a key service: the client that all share ([`anamnesis_transport`]), and retries with pauses that double. What a
//! service says never enters an error: answers become codes.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable as _};
use reqwest::RequestBuilder;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde::de::DeserializeOwned;
use zeroize::Zeroizing;

use crate::KeyError;
use anamnesis_config::keys::KeyLimits;
use anamnesis_core::clock::Entropy;
use anamnesis_transport::{ApiToken, Client, Endpoint, Options, SendError};

/// An answer of a key service is a few kilobytes; more is not one.
const LARGEST_ANSWER: usize = 256 * 1024;

/// Connections to one host of a key service.
pub(super) struct KeyServiceClient {
    client: Client,
    place: String,
    limits: KeyLimits,
    entropy: Arc<dyn Entropy>,
}

/// An answer that sending again would not change.
pub(super) struct ServiceReply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Zeroizing<Vec<u8>>,
}

/// Why there is no such answer.
enum RequestFailure {
    /// No answer, or one that asks to come again.
    Again { after: Option<Duration> },
    /// The request cannot be made: a token that is no header, an address of another host.
    Never,
}

impl KeyServiceClient {
    /// `place` names the service in errors. `ca_file` may be empty.
    ///
    /// # Errors
    /// [`KeyError::File`] for a CA file that cannot be used; [`KeyError::Denied`] where no client can be made.
    pub(crate) fn new(
        place: &str,
        endpoint: Endpoint,
        ca_file: &Path,
        limits: KeyLimits,
        entropy: Arc<dyn Entropy>,
    ) -> Result<Self, KeyError> {
        let unusable = || KeyError::File { place: ca_file.display().to_string() };
        let given = !ca_file.as_os_str().is_empty();
        let authority = given.then(|| std::fs::read(ca_file)).transpose().map_err(|_| unusable())?;
        let mut options = Options::within(Duration::from_millis(limits.total_ms));
        options.connect = Duration::from_millis(limits.connect_ms);
        options.authority = authority.as_deref();
        let client = Client::new(endpoint, &options).map_err(|_| match given {
            true => unusable(),
            false => denied(place, "the HTTP client cannot be made"),
        })?;
        Ok(Self { client, place: place.to_owned(), limits, entropy })
    }

    pub(crate) fn denied(&self, reason: &str) -> KeyError {
        denied(&self.place, reason)
    }

    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    pub(crate) fn endpoint(&self) -> &Endpoint {
        self.client.endpoint()
    }

    /// Sends what `make` makes until there is an answer other than "come again", at most `limits.attempts` times.
    ///
    /// # Errors
    /// [`KeyError::Transient`] when attempts are spent.
    pub(crate) async fn send(&self, make: impl Fn(&Client) -> RequestBuilder) -> Result<ServiceReply, KeyError> {
        let longest = Duration::from_millis(self.limits.max_backoff_ms);
        let mut seed = [0u8; 8];
        self.entropy.fill(&mut seed);
        let backoff = ExponentialBuilder::new()
            .with_min_delay(Duration::from_millis(self.limits.initial_backoff_ms))
            .with_max_delay(longest)
            .with_max_times(self.limits.attempts.saturating_sub(1))
            .with_jitter()
            .with_jitter_seed(u64::from_le_bytes(seed));
        (|| self.once(make(&self.client)))
            .retry(backoff)
            // A longer wish is served better by the caller's own retry than by a waiting request.
            .when(
                |error| matches!(error, RequestFailure::Again { after } if after.is_none_or(|after| after <= longest)),
            )
            .adjust(|error, planned| match error {
                RequestFailure::Again { after: Some(after) } => planned.map(|planned| planned.max(*after)),
                _ => planned,
            })
            .await
            .map_err(|error| match error {
                RequestFailure::Again { .. } => KeyError::Transient,
                RequestFailure::Never => self.denied("the request cannot be built: check address and token"),
            })
    }

    async fn once(&self, request: RequestBuilder) -> Result<ServiceReply, RequestFailure> {
        let reply = self.client.send(request, &ApiToken::None, LARGEST_ANSWER).await.map_err(|error| match error {
            SendError::Request | SendError::Elsewhere => RequestFailure::Never,
            SendError::Timeout | SendError::Unreachable | SendError::TooLarge => RequestFailure::Again { after: None },
        })?;
        let status = reply.status.as_u16();
        // 412, 472 and 473: a Vault standby that has not caught up, or only stands by.
        if matches!(status, 408 | 412 | 425 | 429 | 472 | 473 | 500..=599) {
            let wish = reply.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
            return Err(RequestFailure::Again { after: wish.map(Duration::from_secs) });
        }
        Ok(ServiceReply { status, headers: reply.headers, body: Zeroizing::new(reply.body) })
    }
}

impl ServiceReply {
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The body as JSON.
    ///
    /// # Errors
    /// [`KeyError::Transient`] for anything else: something in between answered, not the service.
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, KeyError> {
        serde_json::from_slice(&self.body).map_err(|_| KeyError::Transient)
    }

    /// Whether the body says one of these, in lower case. For telling errors of one status from each other.
    pub(crate) fn says(&self, phrases: &[&str]) -> bool {
        let text = Zeroizing::new(String::from_utf8_lossy(&self.body).to_ascii_lowercase());
        phrases.iter().any(|phrase| text.contains(phrase))
    }
}

/// The service at `place` refuses us.
pub(super) fn denied(place: &str, reason: &str) -> KeyError {
    KeyError::Denied { place: place.to_owned(), reason: reason.to_owned() }
}

/// Pairs as `application/x-www-form-urlencoded`.
pub(super) fn form(pairs: &[(&str, &str)]) -> String {
    let mut url = reqwest::Url::parse("http://form/").expect("a constant is an address");
    url.query_pairs_mut().extend_pairs(pairs);
    url.query().unwrap_or_default().to_owned()
}

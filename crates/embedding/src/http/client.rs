//! The client of all embedding providers: `transport::Client` with what the providers say in its terms.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::{RequestBuilder, StatusCode, Url};
use secrecy::SecretString;

use crate::EmbedError;
use anamnesis_config::embedding_limits::TimeoutSettings;
use anamnesis_core::clock::Clock;
use anamnesis_transport::{self as transport, ApiToken, ClientError, Endpoint, Options, SendError};

/// A provider's wish beyond this is not believed.
const LONGEST_WISH: Duration = Duration::from_secs(86_400);

/// Connections to one provider.
pub(crate) struct ProviderClient {
    http: transport::Client,
    token: ApiToken,
    clock: Arc<dyn Clock>,
}

/// What came back.
pub(crate) struct HttpReply {
    pub(crate) status: StatusCode,
    /// From `Retry-After`, seconds or date.
    pub(crate) after: Option<Duration>,
    /// Whole for a success, else its beginning.
    pub(crate) body: Vec<u8>,
}

impl ProviderClient {
    /// # Errors
    /// See [`ClientError`].
    pub(crate) fn new(
        endpoint: Endpoint,
        timeouts: &TimeoutSettings,
        proxy: Option<&SecretString>,
        authority: Option<&[u8]>,
        token: ApiToken,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, ClientError> {
        let options = Options {
            connect: Duration::from_millis(timeouts.connect_ms),
            read: Duration::from_millis(timeouts.read_ms),
            total: Duration::from_millis(timeouts.total_ms),
            idle: Duration::from_millis(timeouts.idle_ms),
            authority,
            proxy,
        };
        Ok(Self { http: transport::Client::new(endpoint, &options)?, token, clock })
    }

    /// Posts JSON, with a `traceparent` where one is given; reads at most `cap` bytes of a success.
    ///
    /// # Errors
    /// [`EmbedError::Transient`] when the connection or its time limits fail, [`EmbedError::BadAnswer`] for an answer larger
    /// than `cap`, [`EmbedError::Misconfigured`] when the request cannot even be built or has no token.
    pub(crate) async fn post(
        &self,
        url: &Url,
        body: Vec<u8>,
        traceparent: Option<&str>,
        cap: usize,
    ) -> Result<HttpReply, EmbedError> {
        let mut request = self.http.post(url).header(CONTENT_TYPE, "application/json").body(body);
        if let Some(traceparent) = traceparent {
            request = request.header("traceparent", traceparent);
        }
        self.exchange(request, cap).await
    }

    /// As [`ProviderClient::post`], without a body.
    ///
    /// # Errors
    /// As [`ProviderClient::post`].
    pub(crate) async fn get(&self, url: &Url, cap: usize) -> Result<HttpReply, EmbedError> {
        self.exchange(self.http.get(url), cap).await
    }

    async fn exchange(&self, request: RequestBuilder, cap: usize) -> Result<HttpReply, EmbedError> {
        let reply = self.http.send(request, &self.token, cap).await.map_err(unsent)?;
        let after = retry_after(&reply.headers, self.clock.now());
        Ok(HttpReply { status: reply.status, after, body: reply.body })
    }
}

fn unsent(error: SendError) -> EmbedError {
    match error {
        SendError::Request | SendError::Elsewhere => EmbedError::Misconfigured,
        SendError::TooLarge => EmbedError::BadAnswer,
        SendError::Timeout | SendError::Unreachable => EmbedError::Transient { after: None },
    }
}

/// `Retry-After` as seconds or as an HTTP date; a date in the past is "now".
fn retry_after(headers: &HeaderMap, now: DateTime<Utc>) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let wish = match value.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => (DateTime::parse_from_rfc2822(value).ok()?.to_utc() - now).to_std().unwrap_or_default(),
    };
    Some(wish.min(LONGEST_WISH))
}

#[cfg(test)]
mod tests {
    use chrono::TimeZone;
    use reqwest::header::HeaderValue;

    use super::*;

    fn wish(value: &str) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, HeaderValue::from_str(value).unwrap());
        retry_after(&headers, Utc.with_ymd_and_hms(2015, 10, 21, 7, 27, 30).unwrap())
    }

    #[test]
    fn retry_after_is_read_as_seconds_and_as_a_date() {
        assert_eq!(wish("7"), Some(Duration::from_secs(7)));
        assert_eq!(wish("Wed, 21 Oct 2015 07:28:00 GMT"), Some(Duration::from_secs(30)));
        assert_eq!(wish("Wed, 21 Oct 2015 07:00:00 GMT"), Some(Duration::ZERO));
        assert_eq!(wish("99999999999999"), Some(LONGEST_WISH));
        assert_eq!(wish("soon"), None);
        assert_eq!(wish("-1"), None);
        assert_eq!(retry_after(&HeaderMap::new(), DateTime::UNIX_EPOCH), None);
    }
}

//! The HTTP client of all providers: reqwest without its defaults (traps.md, "HTTP, JSON, logs, metrics").

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Certificate, Proxy, Response, StatusCode, Url, redirect};
use secrecy::{ExposeSecret, SecretString};

use crate::clock::Clock;
use crate::config::embedding::is_loopback;
use crate::config::embedding_limits::TimeoutSettings;
use crate::embed::EmbedError;

/// Of an error's body no more is read: enough for its code.
const ERROR_BODY: usize = 16 * 1024;
/// A provider's wish beyond this is not believed.
const LONGEST_WISH: Duration = Duration::from_secs(86_400);

/// Connections to one provider.
pub struct Client {
    http: reqwest::Client,
    clock: Arc<dyn Clock>,
}

/// What came back.
pub struct Reply {
    pub status: StatusCode,
    /// From `Retry-After`, seconds or date.
    pub after: Option<Duration>,
    /// Whole for a success, else its beginning.
    pub body: Vec<u8>,
}

/// The client could not be made: a bad proxy or certificate, or no TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    #[error("embedding.proxy is not a proxy's address")]
    Proxy,
    #[error("embedding.ca_file holds no certificate that can be read")]
    Certificate,
    #[error("the HTTP client cannot be made")]
    Client,
}

impl Client {
    /// `url` decides whether plain http is possible at all: only when it is on loopback.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub fn new(
        url: &Url,
        timeouts: &TimeoutSettings,
        proxy: Option<&SecretString>,
        authority: Option<&[u8]>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, ClientError> {
        let mut builder = reqwest::Client::builder()
            .no_proxy()
            .redirect(redirect::Policy::none())
            .retry(reqwest::retry::never())
            .https_only(!is_loopback(url))
            .referer(false)
            .connect_timeout(Duration::from_millis(timeouts.connect_ms))
            .read_timeout(Duration::from_millis(timeouts.read_ms))
            .timeout(Duration::from_millis(timeouts.total_ms))
            .pool_idle_timeout(Duration::from_millis(timeouts.idle_ms))
            .user_agent(concat!("anamnesis/", env!("CARGO_PKG_VERSION")));
        // Nothing will be encrypted: reading the system's certificates would take a third of a start.
        if url.scheme() == "http" && proxy.is_none() {
            builder = builder.tls_certs_only(std::iter::empty());
        }
        if let Some(proxy) = proxy {
            builder = builder.proxy(Proxy::all(proxy.expose_secret()).map_err(|_| ClientError::Proxy)?);
        }
        if let Some(pem) = authority {
            let certificates = Certificate::from_pem_bundle(pem).map_err(|_| ClientError::Certificate)?;
            if certificates.is_empty() {
                return Err(ClientError::Certificate);
            }
            builder = builder.tls_certs_merge(certificates);
        }
        Ok(Self { http: builder.build().map_err(|_| ClientError::Client)?, clock })
    }

    /// Posts JSON; reads at most `cap` bytes of a success.
    ///
    /// # Errors
    /// [`EmbedError::Transient`] when the connection or its time limits fail, [`EmbedError::BadAnswer`] for an answer larger
    /// than `cap`, [`EmbedError::Misconfigured`] when the request cannot even be built.
    pub async fn post(
        &self,
        url: &Url,
        key: Option<HeaderValue>,
        body: Vec<u8>,
        cap: usize,
    ) -> Result<Reply, EmbedError> {
        let request = self.http.post(url.clone()).header(CONTENT_TYPE, "application/json").body(body);
        self.exchange(request, key, cap).await
    }

    /// As [`Client::post`], without a body.
    ///
    /// # Errors
    /// As [`Client::post`].
    pub async fn get(&self, url: &Url, key: Option<HeaderValue>, cap: usize) -> Result<Reply, EmbedError> {
        self.exchange(self.http.get(url.clone()), key, cap).await
    }

    async fn exchange(
        &self,
        request: reqwest::RequestBuilder,
        key: Option<HeaderValue>,
        cap: usize,
    ) -> Result<Reply, EmbedError> {
        let request = match key {
            Some(key) => request.header(AUTHORIZATION, key),
            None => request,
        };
        let response = request.send().await.map_err(|error| unsent(&error))?;
        let status = response.status();
        let after = retry_after(response.headers(), self.clock.now());
        let body = match status.is_success() {
            true => whole(response, cap).await?,
            false => beginning(response).await,
        };
        Ok(Reply { status, after, body })
    }
}

/// The library's error names the address and may hold more: only its class goes on.
fn unsent(error: &reqwest::Error) -> EmbedError {
    if error.is_builder() { EmbedError::Misconfigured } else { EmbedError::Transient { after: None } }
}

async fn whole(mut response: Response, cap: usize) -> Result<Vec<u8>, EmbedError> {
    let announced = response.content_length().map_or(0, |n| usize::try_from(n).unwrap_or(usize::MAX));
    if announced > cap {
        return Err(EmbedError::BadAnswer);
    }
    let mut body = Vec::with_capacity(announced);
    while let Some(chunk) = response.chunk().await.map_err(|error| unsent(&error))? {
        if body.len() + chunk.len() > cap {
            return Err(EmbedError::BadAnswer);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// As much of an error's body as comes without trouble.
async fn beginning(mut response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        let room = ERROR_BODY - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if body.len() == ERROR_BODY {
            break;
        }
    }
    body
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

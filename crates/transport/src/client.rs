//! The one constructor of HTTP clients: reqwest without its defaults. Clippy refuses any other in this crate.

use std::path::Path;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::{Certificate, Proxy, Request, RequestBuilder, Response, StatusCode, Url, redirect};
use secrecy::{ExposeSecret, SecretString};

use super::address::Endpoint;
use super::token::ApiToken;
use anamnesis_core::failpoints;

/// Of an error's body no more is read: enough for its code.
const ERROR_BODY: usize = 16 * 1024;
const CONNECT: Duration = Duration::from_secs(3);
/// Shorter than what load balancers keep.
const IDLE: Duration = Duration::from_secs(15);

/// Time limits of a client, and whom it trusts besides the machine's own authorities.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// For a connection with its handshake.
    pub connect: Duration,
    /// Longest silence.
    pub read: Duration,
    /// For a whole request and its answer.
    pub total: Duration,
    /// How long an unused connection is kept.
    pub idle: Duration,
    /// Certificates (PEM) of further authorities.
    pub authority: Option<&'a [u8]>,
    /// A forward proxy that is configured by name. The environment's are never used.
    pub proxy: Option<&'a SecretString>,
}

impl Options<'_> {
    /// Limits for an answer that must be whole after `total`.
    pub fn within(total: Duration) -> Self {
        Self { connect: CONNECT.min(total), read: total, total, idle: IDLE, authority: None, proxy: None }
    }
}

/// The client could not be made. Reads after the name of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    #[error("the proxy's address cannot be used")]
    Proxy,
    #[error("the CA file has no readable certificate")]
    Authority,
    #[error("no HTTP client can be created")]
    Client,
}

/// Why there is no answer. Holds nothing of the address, the request or the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The request cannot be built, or there is no token where one was configured.
    #[error("the request cannot be built")]
    Request,
    /// The request is for another host than the client's.
    #[error("the request is for a host that is not configured")]
    Elsewhere,
    #[error("no response in time")]
    Timeout,
    #[error("the host cannot be reached")]
    Unreachable,
    #[error("the response is too large")]
    TooLarge,
}

/// An answer.
#[derive(Debug)]
pub struct HttpResponse {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// Whole for a success, else its first 16 KiB.
    pub body: Vec<u8>,
}

/// Connections to one host.
pub struct Client {
    http: reqwest::Client,
    endpoint: Endpoint,
}

impl Client {
    /// A client for the host of `endpoint` and no other.
    ///
    /// # Errors
    /// See [`ClientError`].
    #[expect(clippy::disallowed_methods, reason = "the one place where clients are made")]
    pub fn new(endpoint: Endpoint, options: &Options<'_>) -> Result<Self, ClientError> {
        let mut builder = reqwest::Client::builder();
        if !failpoints::is("env_proxy") {
            builder = builder.no_proxy();
        }
        builder = builder
            .redirect(redirect::Policy::none())
            .retry(reqwest::retry::never())
            .https_only(endpoint.is_encrypted())
            .referer(false)
            .connect_timeout(options.connect)
            .read_timeout(options.read)
            .timeout(options.total)
            .pool_idle_timeout(options.idle)
            .user_agent(concat!("anamnesis/", env!("CARGO_PKG_VERSION")));
        // Nothing will be encrypted: reading the system's certificates would take a third of a start.
        if !endpoint.is_encrypted() && options.proxy.is_none() {
            builder = builder.tls_certs_only(std::iter::empty());
        }
        if let Some(proxy) = options.proxy {
            builder = builder.proxy(Proxy::all(proxy.expose_secret()).map_err(|_| ClientError::Proxy)?);
        }
        if let Some(pem) = options.authority {
            let certificates = Certificate::from_pem_bundle(pem).map_err(|_| ClientError::Authority)?;
            if certificates.is_empty() {
                return Err(ClientError::Authority);
            }
            builder = builder.tls_certs_merge(certificates);
        }
        Ok(Self { http: builder.build().map_err(|_| ClientError::Client)?, endpoint })
    }

    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// A request to be sent by [`Client::send`].
    pub fn get(&self, url: &Url) -> RequestBuilder {
        self.http.get(url.clone())
    }

    /// As [`Client::get`], with a body to come.
    pub fn post(&self, url: &Url) -> RequestBuilder {
        self.http.post(url.clone())
    }

    /// Sends a request under a token and reads its answer: at most `largest` bytes of a success. Where the token is
    /// refused (401), its source is read again and, if that has another one by now, the request is sent once more.
    ///
    /// # Errors
    /// See [`SendError`]; an answer that is no success is no error here.
    pub async fn send(
        &self,
        request: RequestBuilder,
        token: &ApiToken,
        largest: usize,
    ) -> Result<HttpResponse, SendError> {
        let request = request.build().map_err(|_| SendError::Request)?;
        if request.url().origin() != self.endpoint.url().origin() {
            return Err(SendError::Elsewhere);
        }
        let key = token.header().await.map_err(|_| SendError::Request)?;
        let again = request.try_clone();
        let reply = self.exchange(request, key.as_ref(), largest).await?;
        if reply.status != StatusCode::UNAUTHORIZED {
            return Ok(reply);
        }
        token.refused();
        match (again, token.header().await) {
            (Some(again), Ok(Some(newer))) if key.as_ref() != Some(&newer) => {
                self.exchange(again, Some(&newer), largest).await
            }
            _ => Ok(reply),
        }
    }

    async fn exchange(
        &self,
        mut request: Request,
        key: Option<&HeaderValue>,
        largest: usize,
    ) -> Result<HttpResponse, SendError> {
        if let Some(key) = key {
            request.headers_mut().insert(AUTHORIZATION, key.clone());
        }
        let mut response = self.http.execute(request).await.map_err(|error| unsent(&error))?;
        let (status, headers) = (response.status(), std::mem::take(response.headers_mut()));
        let body = match status.is_success() {
            true => whole(response, &headers, largest).await?,
            false => beginning(response).await,
        };
        Ok(HttpResponse { status, headers, body })
    }
}

/// The library's error names the address and may hold more: only its class goes on.
fn unsent(error: &reqwest::Error) -> SendError {
    if error.is_timeout() {
        SendError::Timeout
    } else if error.is_builder() {
        SendError::Request
    } else {
        SendError::Unreachable
    }
}

async fn whole(mut response: Response, headers: &HeaderMap, largest: usize) -> Result<Vec<u8>, SendError> {
    let announced =
        headers.get(reqwest::header::CONTENT_LENGTH).and_then(|n| n.to_str().ok()?.parse().ok()).unwrap_or(0);
    if announced > largest {
        return Err(SendError::TooLarge);
    }
    let mut body = Vec::with_capacity(announced);
    while let Some(chunk) = response.chunk().await.map_err(|error| unsent(&error))? {
        if body.len() + chunk.len() > largest {
            return Err(SendError::TooLarge);
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

/// The certificates of a configured file; `None` where none is configured.
///
/// # Errors
/// [`ClientError::Authority`] when the file cannot be read.
pub fn authority(path: &Path) -> Result<Option<Vec<u8>>, ClientError> {
    if path.as_os_str().is_empty() {
        return Ok(None);
    }
    std::fs::read(path).map(Some).map_err(|_| ClientError::Authority)
}

#[cfg(test)]
mod tests {
    use wiremock::matchers::{header, path};
    use wiremock::{Mock, MockServer, ResponseTemplate};

    use super::*;

    const WAIT: Duration = Duration::from_millis(500);

    async fn answering(template: ResponseTemplate) -> (MockServer, Client) {
        let server = MockServer::start().await;
        Mock::given(path("/")).respond_with(template).mount(&server).await;
        let client = Client::new(Endpoint::parse(&server.uri()).unwrap(), &Options::within(WAIT)).unwrap();
        (server, client)
    }

    async fn asked(client: &Client, token: &ApiToken) -> Result<HttpResponse, SendError> {
        client.send(client.get(client.endpoint().url()), token, 100).await
    }

    #[tokio::test]
    async fn an_answer_larger_than_its_limit_or_later_than_its_time_is_none() {
        let (_server, client) = answering(ResponseTemplate::new(200).set_body_string("x".repeat(101))).await;
        assert_eq!(asked(&client, &ApiToken::None).await.unwrap_err(), SendError::TooLarge);
        let (_server, client) = answering(ResponseTemplate::new(200).set_delay(WAIT * 4)).await;
        assert_eq!(asked(&client, &ApiToken::None).await.unwrap_err(), SendError::Timeout);
        let (_server, client) = answering(ResponseTemplate::new(500).set_body_string("y".repeat(70_000))).await;
        assert_eq!(asked(&client, &ApiToken::None).await.unwrap().body.len(), ERROR_BODY);
    }

    #[tokio::test]
    async fn nothing_is_sent_to_another_host_and_no_redirect_is_followed() {
        let (other, _) = answering(ResponseTemplate::new(200)).await;
        let redirect = ResponseTemplate::new(307).insert_header("location", other.uri().as_str());
        let (_server, client) = answering(redirect).await;
        assert_eq!(asked(&client, &ApiToken::None).await.unwrap().status, StatusCode::TEMPORARY_REDIRECT);
        let elsewhere: Url = other.uri().parse().unwrap();
        let sent = client.send(client.post(&elsewhere), &ApiToken::None, 100).await;
        assert_eq!(sent.unwrap_err(), SendError::Elsewhere);
        assert_eq!(other.received_requests().await.unwrap().len(), 0);
    }

    #[tokio::test]
    async fn a_refused_token_is_read_again_and_the_request_is_sent_once_more() {
        let server = MockServer::start().await;
        let good = Mock::given(header("authorization", "Bearer two"));
        good.respond_with(ResponseTemplate::new(200)).mount(&server).await;
        Mock::given(path("/")).respond_with(ResponseTemplate::new(401)).mount(&server).await;
        let client = Client::new(Endpoint::parse(&server.uri()).unwrap(), &Options::within(WAIT)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        std::fs::write(&file, "one").unwrap();
        let token = ApiToken::file(file.clone());
        assert_eq!(asked(&client, &token).await.unwrap().status, StatusCode::UNAUTHORIZED);
        assert_eq!(server.received_requests().await.unwrap().len(), 1, "the same token is not tried twice");
        let written = std::fs::metadata(&file).unwrap().modified().unwrap();
        std::fs::write(&file, "two").unwrap();
        std::fs::File::options().write(true).open(&file).unwrap().set_modified(written).unwrap();
        assert_eq!(asked(&client, &token).await.unwrap().status, StatusCode::OK);
    }
}

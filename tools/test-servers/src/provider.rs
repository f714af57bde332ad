//! An embedding server inside the process, for benches and tests: OpenAI's and Vertex's shapes, vectors that depend on
//! the text alone, latency and faults on demand. It answers before a real one would have read the request, so that a
//! bench measures the pipeline and not a model.

mod fault;
mod vector;
mod wire;

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::Response;
use axum::serve::ListenerExt as _;
use axum::{Router, serve};
use futures::{FutureExt as _, StreamExt as _, stream};
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

pub use self::fault::{FaultRates, ProviderFault};
pub use self::vector::vector_of;
use self::wire::EmbeddingCall;
use anamnesis_core::clock::{Entropy, SeededEntropy};

/// What the server does with `encoding_format: base64`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Base64 {
    #[default]
    Obeyed,
    /// Numbers come back (older TEI, Ollama).
    Ignored,
    /// 400 (strict servers that do not know the field).
    Refused,
}

/// How the server behaves.
#[derive(Debug, Clone)]
pub struct FakeOptions {
    pub dimension: usize,
    /// Before each answer.
    pub latency: Duration,
    pub base64: Base64,
    /// Shares of the requests that go wrong, drawn from `seed`.
    pub faults: FaultRates,
    pub seed: u64,
    /// How long a slow body stops in its middle.
    pub stall: Duration,
    /// More texts than this in a request: 413. Told at `/info` as TEI does when `tells_limits`.
    pub max_texts: usize,
    pub tells_limits: bool,
    /// A request with a text that contains this: 400.
    pub refuses: Option<String>,
    /// A text that contains this gets a vector with NaN (`null`).
    pub chokes_on: Option<String>,
    /// Texts longer than this many bytes are cut, as Vertex's `truncated` says.
    pub cuts_over: usize,
}

impl Default for FakeOptions {
    fn default() -> Self {
        Self {
            dimension: 768,
            latency: Duration::ZERO,
            base64: Base64::Obeyed,
            faults: FaultRates::default(),
            seed: 1,
            stall: Duration::from_secs(60),
            max_texts: 2048,
            tells_limits: false,
            refuses: None,
            chokes_on: None,
            cuts_over: usize::MAX,
        }
    }
}

/// The environment that lets a program take this server's model, whose vectors have `dimension` numbers. The URL is the
/// caller's: a line that breaks may stand between.
#[must_use]
pub fn model_environment(dimension: usize) -> Vec<(String, String)> {
    [
        ("PROVIDER", "openai".to_owned()),
        ("PROFILE__MODEL", "fake".to_owned()),
        ("PROFILE__DIMENSION", dimension.to_string()),
        ("PROFILE__MIN_SCORE", "0.5".to_owned()),
        ("PROFILE__CONTRADICTION_SIMILARITY", "0.9".to_owned()),
        ("PROFILE__GENERATION", "1".to_owned()),
        ("PROFILE__MAX_TOKENS", "512".to_owned()),
    ]
    .map(|(key, value)| (format!("ANAMNESIS__EMBEDDING__{key}"), value))
    .to_vec()
}

/// What the server has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RequestCounts {
    pub requests: u64,
    /// Texts that were answered with a vector.
    pub(crate) texts: u64,
}

/// A running server; stops when dropped.
pub struct FakeProvider {
    address: SocketAddr,
    shared: Arc<ProviderState>,
    task: AbortHandle,
}

struct ProviderState {
    options: FakeOptions,
    entropy: SeededEntropy,
    requests: AtomicU64,
    texts: AtomicU64,
    script: Mutex<VecDeque<Option<ProviderFault>>>,
    traceparents: Mutex<Vec<Option<String>>>,
}

impl FakeProvider {
    /// Listens on a free port of loopback, on the current runtime.
    ///
    /// # Errors
    /// When no port can be had.
    pub async fn start(options: FakeOptions) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(ProviderState {
            entropy: SeededEntropy::new(options.seed),
            options,
            requests: AtomicU64::new(0),
            texts: AtomicU64::new(0),
            script: Mutex::default(),
            traceparents: Mutex::default(),
        });
        let router =
            Router::new().fallback(answer).layer(DefaultBodyLimit::max(64 << 20)).with_state(Arc::clone(&shared));
        let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        let task = tokio::spawn(serve(listener, router).into_future().map(drop)).abort_handle();
        Ok(Self { address, shared, task })
    }

    /// `embedding.url` for the provider `openai`.
    pub fn openai_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// `embedding.url` for the provider `vertex`.
    pub fn vertex_url(&self) -> String {
        format!("http://{}/v1/projects/p/locations/l", self.address)
    }

    pub fn counts(&self) -> RequestCounts {
        RequestCounts {
            requests: self.shared.requests.load(Ordering::Relaxed),
            texts: self.shared.texts.load(Ordering::Relaxed),
        }
    }

    /// The `traceparent` of each request, in order; `None` of one that had none.
    pub fn traceparents(&self) -> Vec<Option<String>> {
        self.shared.traceparents.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }

    /// What happens to the next requests, one each; after them the rates hold again.
    pub fn script(&self, faults: impl IntoIterator<Item = Option<ProviderFault>>) {
        self.shared.lock_script().extend(faults);
    }
}

impl Drop for FakeProvider {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl ProviderState {
    fn lock_script(&self) -> MutexGuard<'_, VecDeque<Option<ProviderFault>>> {
        self.script.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn next_fault(&self) -> Option<ProviderFault> {
        if let Some(scripted) = self.lock_script().pop_front() {
            return scripted;
        }
        if self.options.faults.is_empty() {
            return None;
        }
        let mut bytes = [0u8; 8];
        self.entropy.fill(&mut bytes);
        self.options.faults.pick(u64::from_le_bytes(bytes))
    }
}

async fn answer(State(shared): State<Arc<ProviderState>>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let options = &shared.options;
    let traceparent = headers.get("traceparent").and_then(|value| value.to_str().ok()).map(str::to_owned);
    shared.traceparents.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(traceparent);
    if uri.path() == "/info" {
        return match options.tells_limits {
            true => json(StatusCode::OK, wire::info(options.max_texts)),
            false => status(StatusCode::NOT_FOUND),
        };
    }
    shared.requests.fetch_add(1, Ordering::Relaxed);
    if !options.latency.is_zero() {
        tokio::time::sleep(options.latency).await;
    }
    let fault = shared.next_fault();
    if let Some(refusal) = fault.and_then(ProviderFault::refusal) {
        return refused(fault, refusal);
    }
    let Ok(asked) = EmbeddingCall::read(uri.path(), &body, options) else {
        return json(
            StatusCode::BAD_REQUEST,
            br#"{"error":{"message":"invalid","type":"invalid_request_error"}}"#.to_vec(),
        );
    };
    if asked.texts.len() > options.max_texts {
        return json(StatusCode::PAYLOAD_TOO_LARGE, br#"{"error":"batch size","error_type":"Validation"}"#.to_vec());
    }
    if options.refuses.as_ref().is_some_and(|word| asked.texts.iter().any(|text| text.contains(word))) {
        return json(
            StatusCode::BAD_REQUEST,
            br#"{"error":{"message":"refused","type":"invalid_request_error"}}"#.to_vec(),
        );
    }
    shared.texts.fetch_add(asked.texts.len() as u64, Ordering::Relaxed);
    delivered(asked.write(options, fault), fault, options.stall)
}

/// The body as it should be, or ending badly.
fn delivered(body: Vec<u8>, fault: Option<ProviderFault>, stall: Duration) -> Response {
    let half = body.len() / 2;
    let split = |mut body: Vec<u8>| {
        let rest = body.split_off(half);
        (Bytes::from(body), Bytes::from(rest))
    };
    match fault {
        Some(ProviderFault::SlowBody) => {
            let (first, second) = split(body);
            let late = async move {
                tokio::time::sleep(stall).await;
                Ok::<_, Infallible>(second)
            };
            streamed(Body::from_stream(stream::iter([Ok(first)]).chain(stream::once(late))))
        }
        Some(ProviderFault::Reset) => {
            let (first, _) = split(body);
            streamed(Body::from_stream(stream::iter([Ok(first), Err(io::Error::from(io::ErrorKind::ConnectionReset))])))
        }
        Some(ProviderFault::Oversize) => {
            let space = Bytes::from_static(&[b' '; 65_536]);
            streamed(Body::from_stream(stream::iter(std::iter::repeat_n(space, 4_096)).map(Ok::<_, Infallible>)))
        }
        Some(ProviderFault::NotJson) => json(StatusCode::OK, b"<html>Bad gateway</html>".to_vec()),
        _ => json(StatusCode::OK, body),
    }
}

fn refused(fault: Option<ProviderFault>, refusal: StatusCode) -> Response {
    let mut response = json(refusal, br#"{"error":{"message":"fault","type":"server_error"}}"#.to_vec());
    if let Some(ProviderFault::TooManyRequests { retry_after: Some(seconds) }) = fault {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    response
}

fn status(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

fn json(code: StatusCode, body: Vec<u8>) -> Response {
    let mut response = status(code);
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
    *response.body_mut() = Body::from(body);
    response
}

fn streamed(body: Body) -> Response {
    let mut response = json(StatusCode::OK, Vec::new());
    *response.body_mut() = body;
    response
}

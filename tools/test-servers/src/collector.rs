//! A collector of OpenTelemetry inside the process: takes OTLP over HTTP, keeps what came byte by byte, and can be slow, refuse
//! or take a part.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::{Router, serve};
use futures::FutureExt as _;
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
pub use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode as SpanStatus;
use prost::Message as _;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

/// What the collector does with requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CollectorMode {
    #[default]
    Takes,
    /// Answers after so long.
    Slow(Duration),
    /// Answers with this status, and keeps nothing.
    Refuses(u16),
    /// Says that it rejected so many spans of each request.
    Rejects(i64),
}

/// A span as it came.
#[derive(Debug, Clone, PartialEq)]
pub struct ReceivedSpan {
    pub trace: String,
    pub id: String,
    /// Empty: it has none.
    pub parent: String,
    pub name: String,
    pub kind: SpanKind,
    /// Attributes as text.
    pub attributes: BTreeMap<String, String>,
    /// Of the spans it is linked to: trace and id.
    pub links: Vec<(String, String)>,
    /// The message of an error; `None` where the status is none.
    pub error: Option<String>,
    /// Nanoseconds since 1970.
    pub began: u64,
    pub ended: u64,
}

impl ReceivedSpan {
    /// An attribute, or nothing.
    pub fn get(&self, key: &str) -> &str {
        self.attributes.get(key).map_or("", String::as_str)
    }
}

/// A running collector; stops when dropped.
pub struct Collector {
    address: SocketAddr,
    shared: Arc<CollectorState>,
    task: AbortHandle,
}

#[derive(Default)]
struct CollectorState {
    mood: Mutex<CollectorMode>,
    requests: Mutex<Vec<Vec<u8>>>,
    headers: Mutex<Vec<HeaderMap>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Collector {
    /// Listens on a free port of loopback, on the current runtime.
    ///
    /// # Errors
    /// When no port can be had.
    pub async fn start() -> io::Result<Self> {
        Self::at(0).await
    }

    /// The same on a given port.
    ///
    /// # Errors
    /// When the port cannot be had.
    pub async fn at(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(CollectorState::default());
        let router = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        let task = tokio::spawn(serve(listener, router).into_future().map(drop)).abort_handle();
        Ok(Self { address, shared, task })
    }

    /// `traces.endpoint`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What it does from now on.
    pub fn set(&self, mood: CollectorMode) {
        *lock(&self.shared.mood) = mood;
    }

    /// The bodies of the requests, as they came.
    pub fn bodies(&self) -> Vec<Vec<u8>> {
        lock(&self.shared.requests).clone()
    }

    /// The values of a header, of each request.
    pub fn header(&self, name: &str) -> Vec<String> {
        let all = lock(&self.shared.headers);
        all.iter().filter_map(|headers| headers.get(name)?.to_str().ok().map(str::to_owned)).collect()
    }

    /// Every span that came, in order.
    pub fn spans(&self) -> Vec<ReceivedSpan> {
        let requests = self.requests().into_iter().flat_map(|request| request.resource_spans);
        let scopes = requests.flat_map(|resource| resource.scope_spans);
        scopes.flat_map(|scope| scope.spans).map(seen).collect()
    }

    /// The attributes of the process, of each request.
    pub fn resources(&self) -> Vec<BTreeMap<String, String>> {
        let requests = self.requests().into_iter().flat_map(|request| request.resource_spans);
        requests.filter_map(|spans| spans.resource).map(|resource| texts(resource.attributes)).collect()
    }

    fn requests(&self) -> Vec<ExportTraceServiceRequest> {
        self.bodies().iter().filter_map(|body| ExportTraceServiceRequest::decode(body.as_slice()).ok()).collect()
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(
    State(shared): State<Arc<CollectorState>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, Vec<u8>) {
    let mood = *lock(&shared.mood);
    let mut answer = ExportTraceServiceResponse::default();
    match mood {
        _ if uri.path() != "/v1/traces" => return (StatusCode::NOT_FOUND, Vec::new()),
        CollectorMode::Refuses(status) => {
            return (StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), Vec::new());
        }
        CollectorMode::Slow(wait) => tokio::time::sleep(wait).await,
        CollectorMode::Rejects(rejected_spans) => {
            answer.partial_success = Some(ExportTracePartialSuccess { rejected_spans, error_message: String::new() });
        }
        CollectorMode::Takes => {}
    }
    if ExportTraceServiceRequest::decode(body.as_ref()).is_err() {
        return (StatusCode::BAD_REQUEST, Vec::new());
    }
    lock(&shared.requests).push(body.to_vec());
    lock(&shared.headers).push(headers);
    (StatusCode::OK, answer.encode_to_vec())
}

fn seen(span: opentelemetry_proto::tonic::trace::v1::Span) -> ReceivedSpan {
    let status = span.status.unwrap_or_default();
    ReceivedSpan {
        trace: hexadecimal(&span.trace_id),
        id: hexadecimal(&span.span_id),
        parent: hexadecimal(&span.parent_span_id),
        kind: SpanKind::try_from(span.kind).unwrap_or_default(),
        attributes: texts(span.attributes),
        links: span.links.iter().map(|link| (hexadecimal(&link.trace_id), hexadecimal(&link.span_id))).collect(),
        error: (status.code == SpanStatus::Error as i32).then_some(status.message),
        name: span.name,
        began: span.start_time_unix_nano,
        ended: span.end_time_unix_nano,
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn texts(attributes: Vec<KeyValue>) -> BTreeMap<String, String> {
    attributes.into_iter().map(|KeyValue { key, value, .. }| (key, text(value))).collect()
}

fn text(value: Option<AnyValue>) -> String {
    match value.and_then(|value| value.value) {
        Some(Value::StringValue(text)) => text,
        Some(Value::IntValue(number)) => number.to_string(),
        Some(other) => format!("{other:?}"),
        None => String::new(),
    }
}

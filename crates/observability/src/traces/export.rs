//! Sends finished spans to the collector: from a bounded queue, in batches, by the program's own HTTP client. What the collector
//! does not take now is tried again while the queue fills up; what it refuses for good is dropped. An outage is logged once.

use std::time::Duration;

use opentelemetry::Context;
use opentelemetry_proto::tonic::collector::trace::v1::{ExportTraceServiceRequest, ExportTraceServiceResponse};
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{Span, SpanData, SpanProcessor};
use prost::Message as _;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{StatusCode, Url};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::watch;

use super::TracesError;
use crate::metrics::Counters;
use crate::metrics::labels::SpanOutcome;
use anamnesis_config::traces::TracesConfig;
use anamnesis_transport::{ApiToken, Client, Options, SendError, authority};

/// Spans of one request.
const BATCH: usize = 512;
/// Of an answer no more is read.
const LARGEST: usize = 64 * 1024;
/// Pauses between two attempts while the collector is away: doubling.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Where spans go when they end. Never waits.
#[derive(Debug)]
pub(super) struct SpanQueue {
    spans: Sender<SpanData>,
    ended: Counters<SpanOutcome>,
}

impl SpanQueue {
    /// A queue with room for so many, and its other end.
    pub(super) fn bounded(room: usize, ended: Counters<SpanOutcome>) -> (Self, Receiver<SpanData>) {
        let (spans, receiver) = channel(room);
        (Self { spans, ended }, receiver)
    }
}

impl SpanProcessor for SpanQueue {
    fn on_start(&self, _: &mut Span, _: &Context) {}

    fn on_end(&self, span: SpanData) {
        if self.spans.try_send(span).is_err() {
            self.ended.with_labels(SpanOutcome::Dropped).inc();
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        Ok(())
    }
}

/// How the collector took a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExportOutcome {
    /// All but so many spans.
    But(u64),
    /// For good: it would refuse them again.
    Refused(&'static str),
    /// It cannot be reached, or takes nothing for now.
    Away(&'static str),
}

/// The other end of the queue.
pub(super) struct Exporter {
    client: Client,
    url: Url,
    headers: HeaderMap,
    resource: ResourceAttributesWithSchema,
    interval: Duration,
    ended: Counters<SpanOutcome>,
    /// The outage that the log knows of.
    away: bool,
}

impl Exporter {
    /// # Errors
    /// When address, headers or certificates cannot be used.
    pub(super) fn new(
        config: &TracesConfig,
        resource: &Resource,
        ended: Counters<SpanOutcome>,
    ) -> Result<Self, TracesError> {
        let endpoint = config.address()?;
        let url = endpoint.join(&["v1", "traces"]);
        let trusted = authority(&config.ca_file)?;
        let options = Options { authority: trusted.as_deref(), ..Options::within(config.timeout()) };
        let client = Client::new(endpoint, &options)?;
        let mut headers = HeaderMap::new();
        for (name, value) in config.header_lines()? {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| TracesError::Header)?;
            let mut value = HeaderValue::from_str(value).map_err(|_| TracesError::Header)?;
            value.set_sensitive(true);
            headers.append(name, value);
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-protobuf"));
        let interval = config.interval();
        Ok(Self { client, url, headers, resource: resource.into(), interval, ended, away: false })
    }

    /// Sends until the queue is empty and closed.
    pub(super) async fn run(mut self, mut spans: Receiver<SpanData>, mut closed: watch::Receiver<bool>) {
        while let Some(batch) = self.gathered(&mut spans, &mut closed).await {
            let number = batch.len() as u64;
            let resource_spans = group_spans_by_resource_and_scope(batch, &self.resource);
            let body = ExportTraceServiceRequest { resource_spans }.encode_to_vec();
            self.deliver(number, body, &mut closed).await;
        }
    }

    /// The next batch: a span and those that end soon after it. `None` at the end.
    async fn gathered(
        &self,
        spans: &mut Receiver<SpanData>,
        closed: &mut watch::Receiver<bool>,
    ) -> Option<Vec<SpanData>> {
        let first = tokio::select! {
            biased;
            span = spans.recv() => span?,
            () = over(closed) => {
                spans.close();
                spans.recv().await?
            }
        };
        let mut batch = vec![first];
        let company = tokio::time::sleep(self.interval);
        tokio::pin!(company);
        while batch.len() < BATCH {
            let next = tokio::select! {
                biased;
                next = spans.recv() => next,
                () = &mut company => None,
                () = over(closed) => None,
            };
            let Some(next) = next else { break };
            batch.push(next);
        }
        Some(batch)
    }

    /// Offers a batch until it is taken or refused; once the process ends, only once more.
    async fn deliver(&mut self, number: u64, body: Vec<u8>, closed: &mut watch::Receiver<bool>) {
        let mut pause = FIRST_PAUSE;
        loop {
            let outcome = match self.send(body.clone()).await {
                ExportOutcome::But(refused) => {
                    self.came_back();
                    let refused = refused.min(number);
                    self.ended.with_labels(SpanOutcome::Refused).inc_by(refused);
                    self.ended.with_labels(SpanOutcome::Exported).inc_by(number - refused);
                    return;
                }
                ExportOutcome::Refused(why) => {
                    self.went(why);
                    SpanOutcome::Refused
                }
                ExportOutcome::Away(why) => {
                    self.went(why);
                    if !*closed.borrow() {
                        tokio::select! {
                            () = tokio::time::sleep(pause) => {}
                            () = over(closed) => {}
                        }
                        pause = (pause * 2).min(LONGEST_PAUSE);
                        continue;
                    }
                    SpanOutcome::Dropped
                }
            };
            self.ended.with_labels(outcome).inc_by(number);
            return;
        }
    }

    async fn send(&self, body: Vec<u8>) -> ExportOutcome {
        let request = self.client.post(&self.url).headers(self.headers.clone()).body(body);
        match self.client.send(request, &ApiToken::None, LARGEST).await {
            Ok(reply) => judged(reply.status, &reply.body),
            Err(SendError::Timeout) => ExportOutcome::Away("timeout"),
            Err(SendError::Unreachable) => ExportOutcome::Away("unreachable"),
            // It has them; what it says of them is not to be read.
            Err(SendError::TooLarge) => ExportOutcome::But(0),
            Err(SendError::Request | SendError::Elsewhere) => ExportOutcome::Refused("request"),
        }
    }

    /// Whether the collector takes spans.
    ///
    /// # Errors
    /// [`TracesError::Away`] with the reason.
    pub(super) async fn probe(&self) -> Result<(), TracesError> {
        match self.send(Vec::new()).await {
            ExportOutcome::But(_) => Ok(()),
            ExportOutcome::Refused(why) | ExportOutcome::Away(why) => Err(TracesError::Away(why)),
        }
    }

    /// Said once for each outage.
    fn went(&mut self, why: &'static str) {
        if !std::mem::replace(&mut self.away, true) {
            tracing::warn!(
                code = "traces_unavailable",
                why,
                "the collector does not accept spans; they are queued, and dropped when the queue is full"
            );
        }
    }

    fn came_back(&mut self) {
        if std::mem::replace(&mut self.away, false) {
            tracing::info!(code = "traces_recovered", "the collector accepts spans again");
        }
    }
}

/// Statuses after which the specification of OTLP asks to try again.
fn judged(status: StatusCode, body: &[u8]) -> ExportOutcome {
    match status {
        status if status.is_success() => {
            let answer = ExportTraceServiceResponse::decode(body).unwrap_or_default();
            let rejected = answer.partial_success.map_or(0, |partial| partial.rejected_spans);
            ExportOutcome::But(u64::try_from(rejected).unwrap_or(0))
        }
        StatusCode::TOO_MANY_REQUESTS
        | StatusCode::BAD_GATEWAY
        | StatusCode::SERVICE_UNAVAILABLE
        | StatusCode::GATEWAY_TIMEOUT => ExportOutcome::Away("overloaded"),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => ExportOutcome::Refused("denied"),
        StatusCode::NOT_FOUND => ExportOutcome::Refused("not_found"),
        _ => ExportOutcome::Refused("refused"),
    }
}

/// Waits until the process ends.
async fn over(closed: &mut watch::Receiver<bool>) {
    // A sender that is gone is an end, too.
    let _ = closed.wait_for(|closed| *closed).await;
}

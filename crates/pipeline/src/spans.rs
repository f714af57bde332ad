//! Trace spans of the pipeline: one for each message from arrival to outcome, one for each of its stages, and one for
//! each transaction. Codes and counts; an organisation as the keyed hash of the log; ids of messages only at debug.

use std::time::Instant;

use futures::future::BoxFuture;

use super::message::{BatchMessage, RawMessage};
use super::metrics::store_code;
use super::{Disposition, Pipeline, PipelineError};
use anamnesis_core::ids::OrgId;
use anamnesis_messages::{Envelope, Rejection};
use anamnesis_observability::metrics::Label as _;
use anamnesis_observability::metrics::labels::{MessageType, Queue, Stage};
use anamnesis_observability::traces::{
    self, Code, Count, Name, Named, SpanKind, StageSpans, TraceContext, TraceInstant, TraceSpan, Traces, current,
};
use anamnesis_store::records::OrgBatch;
use anamnesis_store::{Keys, StoreError};

/// Admission is no stage of the metrics, and takes time all the same.
pub(super) const ADMIT: &str = "admit";

impl Pipeline {
    pub(super) fn traces(&self) -> &Traces {
        &self.metrics.traces
    }

    /// The span of a message that has been decoded since `began`, within the trace that it names.
    pub(super) fn begin_span(
        &self,
        (queue, kind): (Queue, MessageType),
        raw: &RawMessage,
        decoded: Result<&Envelope, &Rejection>,
        began: TraceInstant,
    ) -> TraceSpan {
        let own = decoded.ok().and_then(|envelope| envelope.traceparent.as_deref());
        let beside = || raw.attributes.as_ref().and_then(|attributes| attributes.traceparent.as_deref());
        let parent = TraceContext::remote(own.or_else(beside));
        let mut span = self.traces().begin_at(Name::Process(queue.code()), SpanKind::Consumer, &parent, began);
        if span.is_recorded() {
            span.code(Code::MessagingOperation, "process");
            span.code(Code::MessagingOperationType, "process");
            span.code(Code::Queue, queue.code());
            span.code(Code::Type, kind.code());
            if matches!(queue, Queue::Realtime | Queue::Bulk | Queue::Poison) {
                span.code(Code::MessagingSystem, "rabbitmq");
                span.name(Named::Destination, &format!("{}.ingest.{}", self.prefix, queue.code()));
            }
            let name = Name::Stage(Stage::Decode.code());
            let mut decode = self.traces().begin_at(name, SpanKind::Internal, &span.context(), began);
            if let Err(refusal) = decoded {
                decode.fail(refusal.reason.code());
            }
        }
        span
    }

    /// Ends the spans of a batch. `open` is the disposition of messages without an outcome.
    pub(super) fn end_spans(&self, batch: &mut [BatchMessage], open: Disposition) {
        let messages = batch.len() as u64;
        for message in batch {
            let mut span = std::mem::take(&mut message.span);
            if !span.is_recorded() {
                continue;
            }
            let disposition = message.disposition(open);
            span.count(Count::BatchMessages, messages);
            span.code(Code::Outcome, disposition.code());
            if let Some(org) = message.organization {
                span.name(Named::Organization, &self.pseudonym(org));
            }
            if tracing::enabled!(tracing::Level::DEBUG) {
                span.name(Named::MessageId, &self.id_of(message));
            }
            if let Some(code) = disposition.error() {
                span.fail(code);
            }
        }
    }

    /// Runs a stage for several messages, with a span in the trace of each; requests to services belong to it.
    pub(super) async fn staged<T>(
        &self,
        stage: &'static str,
        messages: &[TraceContext],
        // On the heap: moved from call to call, the state of a stage would be on the stack several times.
        work: BoxFuture<'_, Result<T, PipelineError>>,
    ) -> Result<T, PipelineError> {
        let mut spans = StageSpans::begin(self.traces(), Name::Stage(stage), messages.iter());
        let done = traces::within(spans.group(), work).await;
        match &done {
            Ok(_) => {}
            Err(PipelineError::Store(error)) => spans.fail(store_code(error).code()),
            Err(PipelineError::Embed(error)) => spans.fail(error.code()),
        }
        done
    }

    /// One transaction, counted and in the traces of its messages.
    pub(super) async fn commit(&self, org: OrgId, batch: &OrgBatch, keys: &Keys) -> Result<(), StoreError> {
        let started = Instant::now();
        let system = self.store.db().system();
        // A file is written by this process; a server is another.
        let kind = if system == "sqlite" { SpanKind::Internal } else { SpanKind::Client };
        let mut span = self.traces().operation(Name::Transaction, kind, &current());
        span.code(Code::DbSystem, system);
        span.code(Code::DbOperation, "transaction");
        match self.store.intake().commit(org, batch, keys).await {
            Ok(committed) => {
                span.count(Count::Documents, committed.documents as u64);
                span.count(Count::Findings, committed.findings as u64);
                span.count(Count::Vectors, committed.vectors as u64);
                span.count(Count::Events, committed.events as u64);
                self.count_committed(&committed, started);
                Ok(())
            }
            Err(error) => {
                span.fail(store_code(&error).code());
                self.count_rollback(&error);
                Err(error)
            }
        }
    }
}

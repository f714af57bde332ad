//! Metrics of the pipeline: kinds, durations and codes, never values.

use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};

use super::{Disposition, Pipeline, PipelineError, disposition};
use anamnesis_core::memory::State;
use anamnesis_core::reason::Reason;
use anamnesis_embedding::EmbedError;
use anamnesis_extraction::RiskClass;
use anamnesis_messages::Envelope;
use anamnesis_observability::metrics::labels::{
    CacheResult, Conflict, ContradictionType, ErrorClass, ErrorCode, MessageType, Operation, Queue, Risk, Stage,
    Transaction, WriteOutcome,
};
use anamnesis_observability::metrics::{Label as _, Transition};
use anamnesis_sql::DbError;
use anamnesis_store::StoreError;
use anamnesis_store::records::{CommitCounts, MemoryChange};

impl Pipeline {
    pub(super) fn observe(&self, stage: Stage, started: Instant) {
        self.metrics.stages.seconds.with_labels(stage).observe(started.elapsed().as_secs_f64());
    }

    /// As [`Self::observe`], for a stage whose parts were timed one by one.
    pub(super) fn observe_time(&self, stage: Stage, time: Duration) {
        self.metrics.stages.seconds.with_labels(stage).observe(time.as_secs_f64());
    }

    /// Fields that the contract does not know.
    pub(super) fn count_unknown(&self, envelope: &Envelope) {
        self.metrics.ingest.unknown_fields.inc_by(envelope.unknown_fields.len() as u64);
    }

    /// Messages with what became of them, at the end of a batch.
    pub(super) fn count_dispositions(&self, queue: Queue, done: impl Iterator<Item = (MessageType, Disposition)>) {
        for (kind, one) in done {
            disposition::count(&self.metrics, queue, kind, one);
            match one {
                Disposition::Duplicate => self.metrics.store.conflicts.with_labels(Conflict::Duplicate).inc(),
                Disposition::Quarantined(reason) => {
                    if let Some(stage) = stage_of(reason) {
                        self.metrics.stages.errors.with_labels((stage, ErrorClass::Permanent)).inc();
                    }
                    if reason == Reason::IdReused {
                        self.metrics.store.conflicts.with_labels(Conflict::Revision).inc();
                    }
                }
                Disposition::Stored | Disposition::Ephemeral | Disposition::Retry | Disposition::Waits => {}
            }
        }
    }

    /// Seconds from the event's `time`, which its producer set, until the message was stored. The date of a document says
    /// nothing about the queue, so that an event without `time` is not observed.
    pub(super) fn count_lag(&self, queue: Queue, done: impl Iterator<Item = (Option<DateTime<Utc>>, Disposition)>) {
        let now = self.store.clock().now();
        for (sent, _) in done.filter(|(_, done)| *done == Disposition::Stored) {
            if let Some(sent) = sent {
                self.metrics.ingest.lag.with_labels(queue).observe((now - sent).as_seconds_f64().max(0.0));
            }
        }
    }

    pub(super) fn count_cache(&self, hits: usize, texts: usize) {
        self.metrics.embedding.cache.with_labels(CacheResult::Hit).inc_by(hits as u64);
        self.metrics.embedding.cache.with_labels(CacheResult::Miss).inc_by(texts.saturating_sub(hits) as u64);
    }

    pub(super) fn count_committed(&self, committed: &CommitCounts, started: Instant) {
        let (documents, findings, events) = (committed.documents, committed.findings, committed.events);
        tracing::debug!(documents, findings, events, "committed");
        self.metrics.store.transactions.with_labels(Transaction::Committed).inc();
        self.metrics.store.seconds.observe(started.elapsed().as_secs_f64());
        self.metrics.store.vectors.inc_by(committed.vectors as u64);
        for change in &committed.memories {
            self.metrics.memory.writes.with_labels((change.kind, outcome(change))).inc();
            if let Some(transition) = transition(change) {
                self.metrics.memory.transitions.with_labels(transition).inc();
            }
        }
        for code in &committed.contradictions {
            let kind = ContradictionType::from_code(code).unwrap_or(ContradictionType::Clinical);
            self.metrics.memory.contradictions.with_labels(kind).inc();
        }
    }

    /// A batch that could not be worked.
    pub(super) fn count_failure(&self, error: &PipelineError) {
        let (stage, code, transient) = match error {
            PipelineError::Store(error) => (Stage::Store, store_code(error), error.is_transient()),
            PipelineError::Embed(_) => (Stage::Embed, ErrorCode::Embedding, true),
        };
        let class = if transient { ErrorClass::Retryable } else { ErrorClass::Permanent };
        self.metrics.stages.errors.with_labels((stage, class)).inc();
        self.metrics.memory.errors.with_labels((Operation::Write, code)).inc();
    }

    /// A transaction that was rolled back.
    pub(super) fn count_rollback(&self, error: &StoreError) {
        self.metrics.store.transactions.with_labels(Transaction::RolledBack).inc();
        match error {
            StoreError::Race => self.metrics.store.conflicts.with_labels(Conflict::Serialization).inc(),
            StoreError::Db(DbError::Transient("busy")) => {
                self.metrics.store.conflicts.with_labels(Conflict::Busy).inc()
            }
            _ => {}
        }
    }

    /// A danger that a text states and does not deny.
    pub(super) fn count_risk(&self, class: RiskClass) {
        self.metrics.memory.risks.with_labels(risk_label(class)).inc();
    }
}

pub(super) fn store_code(error: &StoreError) -> ErrorCode {
    match error {
        StoreError::Key(_) | StoreError::Open(_) => ErrorCode::Key,
        StoreError::Db(_) | StoreError::Race => ErrorCode::Store,
        StoreError::Shape | StoreError::Ungrounded | StoreError::Erased | StoreError::NoConsent => ErrorCode::Invalid,
    }
}

/// The stage that quarantined a message.
fn stage_of(reason: Reason) -> Option<Stage> {
    match reason {
        Reason::Malformed | Reason::SchemaUnknown | Reason::TooLarge | Reason::NulOrControl => Some(Stage::Decode),
        Reason::RedactionFailed | Reason::UnsupportedLanguage => Some(Stage::Redact),
        Reason::EmbeddingDimension | Reason::EmbeddingNotFinite | Reason::TransientExhausted => Some(Stage::Embed),
        Reason::CrashSuspect | Reason::ConstraintViolation => Some(Stage::Store),
        Reason::UnknownOrganization
        | Reason::OrganizationMismatch
        | Reason::NotPermitted
        | Reason::IdReused
        | Reason::ErasedSubject
        | Reason::LegalHold
        | Reason::NoConsent
        | Reason::NotYet => None,
    }
}

fn outcome(change: &MemoryChange) -> WriteOutcome {
    match (change.from, change.to) {
        (None, _) if change.contested => WriteOutcome::Contradicted,
        (None, _) => WriteOutcome::Created,
        (Some(from), to) if from == to => WriteOutcome::Reconfirmed,
        (Some(_), State::Active) => WriteOutcome::Reconfirmed,
        (Some(_), State::Superseded) => WriteOutcome::Superseded,
        (Some(_), _) => WriteOutcome::Ended,
    }
}

/// The row of the state table for a change. A late message that only changes the explanation is no transition.
fn transition(change: &MemoryChange) -> Option<Transition> {
    match (change.from?, change.to) {
        (State::Active, State::Superseded) => Some(Transition::Superseded),
        (State::Active, State::Resolved) => Some(Transition::Ended),
        (State::Active, State::Inactive) => Some(Transition::Forgotten),
        (State::Active, State::ResolvedUnconfirmed) => Some(Transition::ResolvedUnconfirmed),
        (State::Active, State::Expired) => Some(Transition::Expired),
        (State::Active, State::Quarantined) => Some(Transition::Quarantined),
        (State::Stale, State::Active) => Some(Transition::Refreshed),
        (State::ResolvedUnconfirmed, State::Active) => Some(Transition::Reactivated),
        (State::Inactive, State::Active) => Some(Transition::Recovered),
        _ => None,
    }
}

/// The metric's word for a class of risk.
fn risk_label(class: RiskClass) -> Risk {
    match class {
        RiskClass::PassiveIdeation => Risk::PassiveIdeation,
        RiskClass::ActiveIdeation => Risk::ActiveIdeation,
        RiskClass::PlanOrMeans => Risk::PlanOrMeans,
        RiskClass::AttemptHistory => Risk::AttemptHistory,
        RiskClass::SelfHarm => Risk::SelfHarm,
        RiskClass::HarmToOthers => Risk::HarmToOthers,
        RiskClass::Abuse => Risk::Abuse,
    }
}

/// Why the provider's answer to one text is final.
pub(super) fn reason_of(error: &EmbedError) -> Option<Reason> {
    match error {
        EmbedError::Dimension => Some(Reason::EmbeddingDimension),
        EmbedError::NotFinite => Some(Reason::EmbeddingNotFinite),
        EmbedError::Rejected => Some(Reason::TransientExhausted),
        _ => None,
    }
}

#[cfg(test)]
#[path = "metrics_tests.rs"]
mod tests;

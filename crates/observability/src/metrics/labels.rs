//! The closed labels that more than one area uses, and those of modules that have no enum of their own for them.

use super::label::{Label, label, label_of};
use anamnesis_core::memory::{Kind, State};
use anamnesis_core::reason::Reason;

label_of!(Reason as "reason");
label_of!(Kind as "kind");
label_of!(State as "state");

label!(
    /// Classes of risk lines, as extraction knows them.
    Risk as "class" {
        PassiveIdeation = "passive_ideation", ActiveIdeation = "active_ideation", PlanOrMeans = "plan_or_means",
        AttemptHistory = "attempt_history", SelfHarm = "self_harm", HarmToOthers = "harm_to_others", Abuse = "abuse",
    }
);

label!(
    /// The intake of a message.
    Queue as "queue" { File = "file", Spool = "spool", Realtime = "realtime", Bulk = "bulk", Poison = "poison" }
);
label!(
    /// The types of contract.md; what is none of them is `unknown`.
    MessageType as "type" {
        Document = "document_submitted", HealthSignal = "health_signal_recorded", Profile = "profile_updated",
        Consent = "consent_recorded", Command = "memory_command", Unknown = "unknown",
    }
);
label!(
    /// Outcome of a message.
    Disposition as "outcome" {
        Stored = "stored", Duplicate = "duplicate", Ephemeral = "ephemeral", Retried = "retried",
        Quarantined = "quarantined",
    }
);
label!(
    /// Processing stages of a message.
    Stage as "stage" {
        Decode = "decode", Redact = "redact", Extract = "extract", Embed = "embed", Store = "store",
    }
);
label!(
    /// Whether trying again may help.
    ErrorClass as "class" { Retryable = "retryable", Permanent = "permanent" }
);
label!(
    /// Outcome of an operation.
    Outcome as "outcome" { Ok = "ok", Error = "error" }
);
label!(
    /// Outcome of an attempt to deliver an event.
    Delivery as "outcome" { Ok = "ok", Refused = "refused", Error = "error" }
);
label!(
    /// Outcome of redaction for a document.
    RedactionOutcome as "outcome" { Clean = "clean", Redacted = "redacted", Failed = "failed",
        Unsupported = "unsupported_language" }
);
label!(
    /// Labels of contract.md (`redact`); every national identifier counts as one kind.
    InfoType as "info_type" {
        Person = "PERSON", Location = "LOCATION", Address = "ADDRESS", PostalCode = "POSTAL_CODE",
        Organization = "ORGANIZATION", Date = "DATE", Age = "AGE", Sex = "SEX", Family = "FAMILY",
        Profession = "PROFESSION", Phone = "PHONE", Email = "EMAIL", Url = "URL", Handle = "HANDLE",
        IpAddress = "IP_ADDRESS", DeviceId = "DEVICE_ID", VehicleId = "VEHICLE_ID", Geo = "GEO", Card = "CARD",
        BankAccount = "BANK_ACCOUNT", MedicalRecord = "MEDICAL_RECORD", InsuranceId = "INSURANCE_ID",
        License = "LICENSE", Passport = "PASSPORT", NationalId = "NATIONAL_ID",
    }
);

label!(
    /// Why an additional redaction service gave no usable answer.
    ServiceFailure as "failure" {
        Timeout = "timeout", Unreachable = "unreachable", Denied = "denied", Refused = "refused",
        Overloaded = "overloaded", InvalidResponse = "invalid_response",
    }
);

impl InfoType {
    /// The kind that a redaction's label counts as. National identifiers (`ES_DNI`, `US_SSN` …) are one kind, so that
    /// a new country adds no series.
    pub fn from_label(label: &str) -> Self {
        Self::from_code(label).unwrap_or(Self::NationalId)
    }
}

label!(
    /// Outcome of a request to a language model about a document, as extraction reports it.
    ModelOutcome as "outcome" {
        Ok = "ok", TooLong = "too_long", Budget = "budget", Timeout = "timeout", Unreachable = "unreachable",
        Denied = "denied", Overloaded = "overloaded", Refused = "refused", InvalidResponse = "invalid_response",
    }
);

label!(
    /// Result of a request to an embedding provider.
    EmbeddingOutcome as "outcome" {
        Ok = "ok", Transient = "transient", RateLimited = "rate_limited", CircuitOpen = "circuit_open",
        PayloadTooLarge = "payload_too_large", Rejected = "rejected", Misconfigured = "misconfigured",
        InvalidResponse = "invalid_response",
    }
);
label!(
    /// What a text was embedded for.
    EmbeddingPurpose as "purpose" { Document = "document", Query = "query" }
);

label!(
    /// Whether the patient's cache had the vector.
    CacheResult as "result" { Hit = "hit", Miss = "miss" }
);
label!(
    /// Outcome of a transaction of the store.
    Transaction as "outcome" { Committed = "committed", RolledBack = "rolled_back" }
);
label!(
    /// Why a write conflicted with existing rows or other writers.
    Conflict as "kind" { Duplicate = "duplicate", Revision = "revision", Busy = "busy", Serialization = "serialization" }
);
label!(
    /// Purpose of a disk that the process writes to.
    Disk as "disk" { Store = "store", Keys = "keys", Spool = "spool", AuditHead = "audit_head" }
);
label!(
    /// A connection of the pool.
    Connection as "state" { Idle = "idle", Used = "used" }
);
label!(
    /// Events of contract.md, "Events out".
    EventType as "type" {
        DocumentIndexed = "document_indexed", MemoryChanged = "memory_changed",
        ReconfirmationDue = "reconfirmation_due", ContradictionFound = "contradiction_found",
        RiskFlagged = "risk_flagged", MessageQuarantined = "message_quarantined",
        ErasureCompleted = "erasure_completed", RightsAnswered = "rights_answered", AuditSealed = "audit_sealed", ConfidenceAlert = "confidence_alert",
    }
);
label!(
    /// The verb that read memory.
    Endpoint as "endpoint" { Context = "context", Profile = "profile", List = "list", Show = "show", Trace = "trace" }
);
label!(
    /// Outcome of a read.
    ReadOutcome as "outcome" { Hit = "hit", Empty = "empty", Refused = "refused", Error = "error" }
);
label!(
    /// Outcome of a write.
    WriteOutcome as "outcome" {
        Created = "created", Reconfirmed = "reconfirmed", Superseded = "superseded", Contradicted = "contradicted",
        Ended = "ended", Refused = "refused",
    }
);
label!(
    /// An operation on memory that failed.
    Operation as "operation" { Read = "read", Write = "write", Job = "job" }
);
label!(
    /// Kinds of failure of an operation on memory.
    ErrorCode as "code" {
        Scope = "scope", Store = "store", Key = "key", Embedding = "embedding", Redaction = "redaction",
        Invalid = "invalid",
    }
);
label!(
    /// Seed 001, §5: types of contradiction; `clinical` is lower trust against a clinical row.
    ContradictionType as "type" {
        DirectNegation = "direct_negation", ComparativeOpposition = "comparative_opposition",
        PreferenceConflict = "preference_conflict", Clinical = "clinical",
    }
);
label!(
    /// A job; the file stem in `jobs/`. A test holds it equal to the registry of jobs. Not `job`: that label is
    /// the scraper's own
    JobName as "job_name" {
        Summaries = "summaries", Consolidation = "consolidation", Retention = "retention", Expiry = "expiry",
        Reconfirmation = "reconfirmation", Decay = "decay", Purge = "purge", Upkeep = "upkeep", Redaction = "redaction",
        EmbedBatch = "embed_batch", ConfidenceAnalytics = "confidence_analytics", CohortPatterns = "cohort_patterns",
        Reembedding = "reembedding", Reconciliation = "reconciliation",
    }
);
label!(
    /// Outcome of a job run; `held` means that another process has the lease.
    RunOutcome as "outcome" { Succeeded = "succeeded", Partial = "partial", Failed = "failed", Held = "held" }
);
label!(
    /// What a job did to a row.
    Action as "action" { Examined = "examined", Changed = "changed", Skipped = "skipped", Failed = "failed" }
);
label!(
    /// A part of a search: its retrievers, and the assembly of the result.
    Retriever as "retriever" { Vector = "vector", Text = "text", Assembly = "assembly" }
);
label!(
    /// A measure of how good retrieval was at the last evaluation.
    Measure as "measure" { HitAt1 = "hit_at_1", HitAt5 = "hit_at_5", HitAt10 = "hit_at_10" }
);
label!(
    /// Outcome of a span.
    SpanOutcome as "outcome" { Exported = "exported", Dropped = "dropped", Refused = "refused" }
);

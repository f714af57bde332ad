//! `[pipeline]`: how documents are batched, split and judged.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use anamnesis_core::document::DocumentType;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PipelineConfig {
    /// Messages that share one transaction and one round of embedding calls.
    #[schemars(range(min = 1, max = 4096))]
    pub batch_documents: usize,
    /// Size of the message bodies of one batch; a batch closes at the limit that comes first.
    pub batch_bytes: usize,
    /// Threads for redaction and extraction; 0 takes one per core.
    pub threads: usize,
    /// Longest redaction of one document, in processor time; beyond it nothing is stored.
    pub redaction_timeout_ms: u64,
    /// Outcome of a document of which a part is neither Spanish nor English.
    #[serde(default)]
    pub unsupported_language: UnsupportedLanguage,
    /// Length of a passage; longer text is split along turns and sentences.
    pub passage_words: usize,
    /// Types of documents whose vectors are left to the job `embed_batch`; until then they are found by keyword search only.
    #[serde(default)]
    pub deferred_embedding_types: Vec<DocumentType>,
    /// A fixed present (RFC 3339) instead of the machine's clock, for demonstrations and tests; empty: the clock.
    #[serde(default, deserialize_with = "empty_is_none")]
    #[schemars(with = "String", extend("format" = "instant"))]
    pub now: Option<DateTime<Utc>>,
}

/// What becomes of a document that redaction and extraction have no rules for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnsupportedLanguage {
    /// Quarantined with the reason `unsupported_language`.
    #[default]
    Refuse,
    /// Stored encrypted under the patient's key. Never embedded, searched or sent to a service; nothing is extracted.
    StoreSealed,
}

fn empty_is_none<'de, D: serde::Deserializer<'de>>(input: D) -> Result<Option<DateTime<Utc>>, D::Error> {
    let text = String::deserialize(input)?;
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| serde::de::Error::custom("not an instant"))
}

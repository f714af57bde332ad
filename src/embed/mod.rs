//! From text to vector: one seam, several providers. Whoever implements it returns unit-length vectors of the
//! profile's dimension, in the order of the texts, or an error; never fewer, never NaN.

use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

/// What the vector is for: some models embed questions and documents differently (wire.md, RETRIEVAL_QUERY).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    Document,
    Query,
}

/// What is true of a model, as configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelProfile {
    /// The model's name at its provider.
    pub model: String,
    /// Length of a vector.
    pub dimension: usize,
    /// Similarity at or above which a vector hit counts (cosine, −1.0–1.0).
    pub min_score: f64,
    /// Cosine at or above which two statements are held to speak of the same thing (contradiction check).
    pub contradiction_similarity: f64,
    /// Vectors of different generations are never compared.
    pub generation: i64,
    /// Longest input in the model's tokens; longer passages are split before.
    pub max_tokens: usize,
    /// Task type sent for documents and for queries, where the provider knows them.
    #[serde(default)]
    pub document_task: Option<String>,
    #[serde(default)]
    pub query_task: Option<String>,
}

/// Why there is no vector. Carries no text; each is retryable or permanent by decision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    /// Connection, time-out, 408, 429, 5xx. Try again, not before `after` when the provider said so.
    #[error("the embedding provider is not available for now")]
    Transient { after: Option<Duration> },
    /// The circuit is open: nothing was sent.
    #[error("the embedding provider is rested until it recovers")]
    CircuitOpen { after: Duration },
    /// 400, 422: this input will never pass.
    #[error("the embedding provider refuses this input")]
    Rejected,
    /// 401, 403, 404: nobody's input will pass until somebody acts.
    #[error("the embedding provider refuses us: check key, model and address")]
    Misconfigured,
    #[error("the embedding has another dimension than its profile")]
    Dimension,
    #[error("the embedding holds a number that is not finite")]
    NotFinite,
    /// Wrong count, not JSON, too large, truncated input.
    #[error("the embedding provider's answer is not of its contract")]
    BadAnswer,
}

#[async_trait]
pub trait Embedder: Send + Sync {
    fn profile(&self) -> &ModelProfile;

    /// One unit-length vector per text, in order.
    ///
    /// # Errors
    /// See [`EmbedError`]; nothing partial is returned.
    async fn embed(&self, purpose: Purpose, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;
}

#![doc = include_str!("../README.md")]
//!
//! # Inside
//!
//! From text to vector: one seam, several providers. Whoever implements it returns unit-length vectors of the
//! profile's dimension, in the order of the texts, or an error; never fewer, never NaN.

mod batching;
mod bisect;
mod breaker;
mod build;
pub mod builtin;
pub mod cache;
mod http;
mod instrumented;
mod limits;
mod models;
mod observer;
mod retry;
mod sleep;

use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

pub use self::bisect::embed_each;
pub use self::build::{BuildError, build, build_models};
pub use self::models::{ModelGenerations, Models};
pub use self::observer::{EmbedObserver, EmbedRequest, InFlightRequest, NoopObserver, RequestOutcome};
pub use anamnesis_config::embedding::ModelProfile;

/// What the vector is for: some models embed questions and documents differently (docs/providers.md, RETRIEVAL_QUERY).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    Document,
    Query,
}

/// Why there is no vector. Carries no text; each is retryable or permanent by decision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    /// Connection, time-out, 408, 429, 5xx. Try again, not before `after` when the provider said so.
    #[error("the embedding provider is currently unavailable")]
    Transient { after: Option<Duration> },
    /// The circuit is open: nothing was sent.
    #[error("the circuit breaker of the embedding provider is open")]
    CircuitOpen { after: Duration },
    /// 400, 422, a blank text, or one that the provider cut: this input will never pass.
    #[error("the embedding provider refuses this input")]
    Rejected,
    /// 401, 403, 404: no input passes until an operator acts.
    #[error("the embedding provider refuses the request: check key, model and address")]
    Misconfigured,
    /// The model is not the profile's. About every text, so nothing is halved for it.
    #[error("the dimension of the embedding differs from its profile")]
    Dimension,
    /// NaN, infinity, null, or a zero vector, which has no direction to normalise.
    #[error("the embedding holds a number that is not finite")]
    NotFinite,
    /// Wrong count or order, not JSON, too large: an error of the server, not of the text. Retried before it is reported.
    #[error("the response of the embedding provider violates its API contract")]
    BadAnswer,
}

impl EmbedError {
    /// The word for it in metrics and spans.
    pub fn code(&self) -> &'static str {
        RequestOutcome::from_error(self).code()
    }

    /// Does it speak of the texts (then a smaller batch may do better) rather than of the provider?
    pub fn is_about_input(&self) -> bool {
        matches!(self, Self::Rejected | Self::NotFinite)
    }

    /// Can the same texts succeed later, without anybody's doing?
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Transient { .. } | Self::CircuitOpen { .. } | Self::BadAnswer)
    }
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

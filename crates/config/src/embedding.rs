//! `[embedding]`: which provider turns text into vectors, at which address, within which limits.

use std::path::PathBuf;

use secrecy::SecretString;
use serde::{Deserialize, Deserializer, Serialize};

use super::embedding_limits::{BatchSettings, BreakerSettings, LimitSettings, RetrySettings, TimeoutSettings};
use anamnesis_transport::{AddressError, Endpoint};

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

/// Who embeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// The encoder inside the binary: no server, no key.
    #[default]
    Builtin,
    /// Any server with OpenAI's `POST /v1/embeddings`: TEI, Ollama, vLLM, LiteLLM.
    #[serde(rename = "openai")]
    OpenAi,
    /// Vertex AI text models, `:predict`.
    Vertex,
}

impl Provider {
    /// The name in configuration and in metric labels.
    pub fn name(self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::OpenAi => "openai",
            Self::Vertex => "vertex",
        }
    }
}

/// How vectors travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    /// Ask for base64 (a quarter of the bytes) and fall back to numbers when the server ignores or refuses it.
    #[default]
    Auto,
    /// Never ask.
    Float,
}

/// The whole section. Secrets are never serialised and never in `Debug`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EmbeddingSettings {
    pub provider: Provider,
    /// `openai`: what `/embeddings` is appended to, such as `http://127.0.0.1:8080/v1`. `vertex`: up to the location,
    /// such as `https://europe-west1-aiplatform.googleapis.com/v1/projects/P/locations/europe-west1`.
    /// https is demanded outside loopback.
    #[serde(deserialize_with = "empty_is_none")]
    pub url: Option<String>,
    /// Required for `openai` and `vertex`; the built-in encoder brings its own.
    pub profile: Option<ModelProfile>,
    /// `builtin`: the model's file, for programs built without it. None: the model inside the program.
    #[serde(deserialize_with = "empty_is_none")]
    pub model_file: Option<PathBuf>,
    /// Send the profile's dimension as `dimensions` / `outputDimensionality` (models that can shorten their vectors).
    pub send_dimensions: bool,
    pub encoding: Encoding,
    /// Put before each document (models of the E5 family want `passage: `). `openai` only.
    pub document_prefix: String,
    /// Put before each query (`query: `). `openai` only.
    pub query_prefix: String,
    /// Bearer token. Better in the environment or in `api_key_file` than in a file that is read by others.
    #[serde(skip_serializing, deserialize_with = "empty_is_none")]
    pub api_key: Option<SecretString>,
    /// A file that holds the bearer token; read again whenever it changes (projected secrets, short-lived tokens).
    #[serde(deserialize_with = "empty_is_none")]
    pub api_key_file: Option<PathBuf>,
    /// Certificates (PEM) of an own authority, trusted beside the machine's.
    #[serde(deserialize_with = "empty_is_none")]
    pub ca_file: Option<PathBuf>,
    /// `http://host:port` of a forward proxy. Proxies of the machine's environment are never used.
    #[serde(skip_serializing, deserialize_with = "empty_is_none")]
    pub proxy: Option<SecretString>,
    /// A file that holds `proxy`. Empty: none.
    pub proxy_file: PathBuf,
    /// Do not ask the server's `/info` (TEI) for its batch limits.
    pub ignore_server_limits: bool,
    /// What a million tokens cost, for `embedding_cost_total`. 0: not counted.
    pub price_per_million_tokens: f64,
    pub batch: BatchSettings,
    pub limits: LimitSettings,
    pub timeouts: TimeoutSettings,
    pub retry: RetrySettings,
    pub breaker: BreakerSettings,
    /// The model that is to follow this one: its vectors are made beside these and searched once they are all there.
    pub next: Option<Box<EmbeddingSettings>>,
}

/// The generation of the built-in encoder, where no profile names another.
pub const BUILTIN_GENERATION: i64 = 1;

/// An empty value is none: an environment cannot unset what a file sets.
fn empty_is_none<'de, D: Deserializer<'de>, T: From<String>>(input: D) -> Result<Option<T>, D::Error> {
    let text = String::deserialize(input)?;
    Ok(if text.is_empty() { None } else { Some(T::from(text)) })
}

/// Equal in all that is shown; secrets are not compared.
impl PartialEq for EmbeddingSettings {
    fn eq(&self, other: &Self) -> bool {
        serde_json::to_value(self).ok() == serde_json::to_value(other).ok()
    }
}

/// A setting that cannot be. Names the key and the rule, never the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {rule}")]
pub struct InvalidSetting {
    pub key: &'static str,
    pub rule: &'static str,
}

/// Fails with the key and the rule unless `holds`.
pub(super) fn rule(holds: bool, key: &'static str, rule: &'static str) -> Result<(), InvalidSetting> {
    if holds { Ok(()) } else { Err(InvalidSetting { key, rule }) }
}

impl EmbeddingSettings {
    /// # Errors
    /// The first setting that cannot be.
    pub fn validate(&self) -> Result<(), InvalidSetting> {
        if let Some(profile) = &self.profile {
            profile.validate()?;
        }
        rule(
            self.price_per_million_tokens.is_finite() && self.price_per_million_tokens >= 0.0,
            "embedding.price_per_million_tokens",
            "must be 0 or more",
        )?;
        self.batch.validate()?;
        self.limits.validate()?;
        self.timeouts.validate()?;
        self.retry.validate()?;
        self.breaker.validate()?;
        rule(
            self.api_key.is_none() || self.api_key_file.is_none(),
            "embedding.api_key_file",
            "give api_key or api_key_file, not both",
        )?;
        self.validate_next()?;
        if self.provider == Provider::Builtin {
            return Ok(());
        }
        rule(self.profile.is_some(), "embedding.profile", "is required for this provider")?;
        self.endpoint().map(|_| ())
    }

    /// Generations only grow: a process with yesterday's configuration never makes yesterday's vectors again.
    fn validate_next(&self) -> Result<(), InvalidSetting> {
        let Some(next) = &self.next else { return Ok(()) };
        next.validate()?;
        rule(next.next.is_none(), "embedding.next.next", "one model follows at a time")?;
        let own = self.profile.as_ref().map_or(BUILTIN_GENERATION, |profile| profile.generation);
        let later = next.profile.as_ref().is_some_and(|profile| profile.generation > own);
        rule(later, "embedding.next.profile.generation", "is required and must be greater than embedding's own")
    }

    /// The address, checked: https outside loopback, no credentials, no query.
    ///
    /// # Errors
    /// When it is missing or breaks one of these rules.
    pub fn endpoint(&self) -> Result<Endpoint, InvalidSetting> {
        const KEY: &str = "embedding.url";
        let invalid = |error: AddressError| InvalidSetting { key: KEY, rule: error.rule() };
        let text = self.url.as_deref().ok_or(InvalidSetting { key: KEY, rule: "is required for this provider" })?;
        Endpoint::parse(text).and_then(Endpoint::bare).map_err(invalid)
    }
}

impl ModelProfile {
    /// # Errors
    /// The first value out of its range.
    pub(crate) fn validate(&self) -> Result<(), InvalidSetting> {
        rule(!self.model.trim().is_empty(), "embedding.profile.model", "must not be empty")?;
        rule((1..=16_384).contains(&self.dimension), "embedding.profile.dimension", "must be 1–16384")?;
        rule((-1.0..=1.0).contains(&self.min_score), "embedding.profile.min_score", "must be −1.0–1.0")?;
        rule(
            (-1.0..=1.0).contains(&self.contradiction_similarity),
            "embedding.profile.contradiction_similarity",
            "must be −1.0–1.0",
        )?;
        rule(self.max_tokens > 0, "embedding.profile.max_tokens", "must be positive")
    }
}

#[cfg(test)]
#[path = "embedding_tests.rs"]
mod tests;

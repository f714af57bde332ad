//! `[embedding]`: which provider turns text into vectors, at which address, within which limits.

use std::path::PathBuf;

use schemars::JsonSchema;
use secrecy::SecretString;
use serde::{Deserialize, Deserializer, Serialize};

use super::embedding_limits::{BatchSettings, BreakerSettings, LimitSettings, RetrySettings, TimeoutSettings};
use super::rules::Rules;
use anamnesis_transport::{AddressError, Endpoint};

/// What is true of a model, as configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelProfile {
    /// Name of the model at its provider.
    pub model: String,
    /// Length of a vector.
    #[schemars(range(min = 1, max = 16384))]
    pub dimension: usize,
    /// Cosine from which a hit of the vector search counts.
    #[schemars(range(min = -1.0, max = 1.0))]
    pub min_score: f64,
    /// Cosine from which two statements are held to be about the same thing.
    #[schemars(range(min = -1.0, max = 1.0))]
    pub contradiction_similarity: f64,
    /// Number of the generation of vectors; vectors of different generations are never compared.
    pub generation: i64,
    /// Longest input in the model's tokens; longer passages are split before.
    #[schemars(range(min = 1))]
    pub max_tokens: usize,
    /// Task type that is sent for documents, where the provider knows one.
    #[serde(default)]
    pub document_task: Option<String>,
    /// Task type that is sent for questions, where the provider knows one.
    #[serde(default)]
    pub query_task: Option<String>,
}

/// Who embeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
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

    /// The name in OpenTelemetry's conventions for models.
    pub fn gen_ai(self) -> &'static str {
        match self {
            Self::Builtin => "anamnesis",
            Self::OpenAi => "openai",
            Self::Vertex => "gcp.vertex_ai",
        }
    }
}

/// How vectors travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    /// Ask for base64 (a quarter of the bytes) and fall back to numbers when the server ignores or refuses it.
    #[default]
    Auto,
    /// Never ask.
    Float,
}

/// The whole section. Secrets are never serialised and never in `Debug`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EmbeddingSettings {
    /// Who embeds.
    pub provider: Provider,
    /// Address to which `/embeddings` (openai) or the model (vertex) is appended, https beyond loopback.
    #[serde(deserialize_with = "empty_is_none")]
    #[schemars(with = "Option<String>")]
    pub url: Option<String>,
    /// Properties of the model; required for openai and vertex.
    pub profile: Option<ModelProfile>,
    /// File of the built-in model, for programs that were built without it; empty: the model in the program.
    #[serde(deserialize_with = "empty_is_none")]
    #[schemars(with = "Option<String>")]
    pub model_file: Option<PathBuf>,
    /// Whether the dimension is sent, for models that can shorten their vectors.
    pub send_dimensions: bool,
    /// Encoding of vectors on their way.
    pub encoding: Encoding,
    /// Text before each document, such as `passage: `; openai only.
    pub document_prefix: String,
    /// Text before each question, such as `query: `; openai only.
    pub query_prefix: String,
    /// Bearer token; empty: none.
    #[serde(skip_serializing, deserialize_with = "empty_is_none")]
    #[schemars(with = "Option<String>")]
    pub api_key: Option<SecretString>,
    /// File of the bearer token, read again when it changes or is refused.
    #[serde(deserialize_with = "empty_is_none")]
    #[schemars(with = "Option<String>")]
    pub api_key_file: Option<PathBuf>,
    /// Certificates (PEM) that are trusted with the machine's own; empty: none.
    #[serde(deserialize_with = "empty_is_none")]
    #[schemars(with = "Option<String>")]
    pub ca_file: Option<PathBuf>,
    /// Forward proxy, `http://host:port`; proxies of the environment are never used.
    #[serde(skip_serializing, deserialize_with = "empty_is_none")]
    #[schemars(with = "Option<String>")]
    pub proxy: Option<SecretString>,
    /// File that holds `embedding.proxy`; empty: none.
    pub proxy_file: PathBuf,
    /// Whether the server's `/info` (TEI) is not asked for its batch limits.
    pub ignore_server_limits: bool,
    /// Price of a million tokens in US dollars, for the metric of cost; 0: not counted.
    #[schemars(range(min = 0.0))]
    pub price_per_million_tokens: f64,
    pub batch: BatchSettings,
    pub limits: LimitSettings,
    pub timeouts: TimeoutSettings,
    pub retry: RetrySettings,
    pub breaker: BreakerSettings,
    /// The next model, as a whole section with a greater generation.
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
        Rules::first(|rules| self.check(rules))
    }

    /// Every rule of the section.
    pub(crate) fn check(&self, rules: &mut Rules) {
        if let Some(profile) = &self.profile {
            profile.check(rules);
        }
        rules.rule(
            self.price_per_million_tokens.is_finite() && self.price_per_million_tokens >= 0.0,
            "embedding.price_per_million_tokens",
            "must be 0 or more",
        );
        self.batch.check(rules);
        self.limits.check(rules);
        self.timeouts.check(rules);
        self.retry.check(rules);
        self.breaker.check(rules);
        rules.rule(
            self.api_key.is_none() || self.api_key_file.is_none(),
            "embedding.api_key_file",
            "give api_key or api_key_file, not both",
        );
        self.check_next(rules);
        if self.provider != Provider::Builtin {
            rules.rule(self.profile.is_some(), "embedding.profile", "is required for this provider");
            rules.note(self.endpoint().map(drop));
        }
    }

    /// Generations only grow: a process with yesterday's configuration never makes yesterday's vectors again.
    fn check_next(&self, rules: &mut Rules) {
        let Some(next) = &self.next else { return };
        if next.next.is_some() {
            return rules.rule(false, "embedding.next.next", "one model follows at a time");
        }
        rules.within("embedding.", "embedding.next.", |rules| next.check(rules));
        let own = self.profile.as_ref().map_or(BUILTIN_GENERATION, |profile| profile.generation);
        let later = next.profile.as_ref().is_some_and(|profile| profile.generation > own);
        rules.rule(later, "embedding.next.profile.generation", "is required and must be greater than embedding's own");
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
    /// Every range of the section.
    fn check(&self, rules: &mut Rules) {
        rules.rule(!self.model.trim().is_empty(), "embedding.profile.model", "must not be empty");
        rules.rule((1..=16_384).contains(&self.dimension), "embedding.profile.dimension", "must be 1–16384");
        rules.rule((-1.0..=1.0).contains(&self.min_score), "embedding.profile.min_score", "must be −1.0–1.0");
        rules.rule(
            (-1.0..=1.0).contains(&self.contradiction_similarity),
            "embedding.profile.contradiction_similarity",
            "must be −1.0–1.0",
        );
        rules.rule(self.max_tokens > 0, "embedding.profile.max_tokens", "must be positive");
    }
}

#[cfg(test)]
#[path = "embedding_tests.rs"]
mod tests;

//! Vertex AI text models, `:predict` (docs/providers.md, "Vertex text models"). They cut long texts silently unless `autoTruncate` is false.

use reqwest::Url;
use serde::{Deserialize, Serialize};

use super::wire_format::{ParsedResponse, WireFormat, numbers, parsed};
use crate::{EmbedError, Purpose};
use anamnesis_config::embedding::{EmbeddingSettings, ModelProfile, Provider};

/// The wire shape.
pub(crate) struct Vertex {
    url: Url,
    document_task: String,
    query_task: String,
    dimensions: Option<usize>,
}

#[derive(Serialize)]
struct VertexRequest<'r> {
    instances: Vec<VertexInstance<'r>>,
    parameters: VertexParameters,
}

#[derive(Serialize)]
struct VertexInstance<'r> {
    task_type: &'r str,
    content: &'r str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct VertexParameters {
    auto_truncate: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_dimensionality: Option<usize>,
}

#[derive(Deserialize)]
struct VertexReply {
    predictions: Vec<VertexPrediction>,
}

#[derive(Deserialize)]
struct VertexPrediction {
    embeddings: Embeddings,
}

#[derive(Deserialize)]
struct Embeddings {
    values: Vec<Option<f64>>,
    #[serde(default)]
    statistics: Statistics,
}

/// The reference spells `tokenCount`, the samples `token_count`; some versions send it as 6.0.
#[derive(Deserialize, Default)]
struct Statistics {
    #[serde(default)]
    truncated: bool,
    #[serde(default)]
    token_count: Option<f64>,
    #[serde(default, rename = "tokenCount")]
    token_count_camel: Option<f64>,
}

impl Statistics {
    fn tokens(&self) -> Option<u64> {
        self.token_count.or(self.token_count_camel).map(|count| count.max(0.0) as u64)
    }
}

impl Vertex {
    /// `base` ends with the location.
    pub(crate) fn new(base: &Url, profile: &ModelProfile, settings: &EmbeddingSettings) -> Self {
        let mut url = base.clone();
        let model = &profile.model;
        url.set_path(&format!("{}/publishers/google/models/{model}:predict", base.path().trim_end_matches('/')));
        let task = |own: &Option<String>, usual: &str| own.clone().unwrap_or_else(|| usual.to_owned());
        Self {
            url,
            document_task: task(&profile.document_task, "RETRIEVAL_DOCUMENT"),
            query_task: task(&profile.query_task, "RETRIEVAL_QUERY"),
            dimensions: settings.send_dimensions.then_some(profile.dimension),
        }
    }
}

impl WireFormat for Vertex {
    fn provider(&self) -> Provider {
        Provider::Vertex
    }

    fn url(&self) -> &Url {
        &self.url
    }

    fn body(&self, purpose: Purpose, texts: &[&str], _plain: bool) -> Vec<u8> {
        let task_type = match purpose {
            Purpose::Document => self.document_task.as_str(),
            Purpose::Query => self.query_task.as_str(),
        };
        let request = VertexRequest {
            instances: texts.iter().map(|content| VertexInstance { task_type, content }).collect(),
            parameters: VertexParameters { auto_truncate: false, output_dimensionality: self.dimensions },
        };
        serde_json::to_vec(&request).expect("strings and numbers are always JSON")
    }

    fn answer(&self, body: &[u8]) -> Result<ParsedResponse, EmbedError> {
        let predictions = parsed::<VertexReply>(body)?.predictions;
        let truncated = predictions.iter().filter(|p| p.embeddings.statistics.truncated).count();
        let tokens = predictions.iter().map(|p| p.embeddings.statistics.tokens()).sum();
        let vectors = predictions.into_iter().map(|p| numbers(p.embeddings.values)).collect();
        Ok(ParsedResponse { vectors, tokens, truncated })
    }
}

#[cfg(test)]
#[path = "vertex_tests.rs"]
mod tests;

use crate::config::embedding::{EmbeddingSettings, Provider};
use crate::embed::ModelProfile;

/// Settings of a small model at `url`.
pub fn settings(url: &str) -> EmbeddingSettings {
    EmbeddingSettings {
        provider: Provider::OpenAi,
        url: Some(url.to_owned()),
        profile: Some(ModelProfile {
            model: "test-model".into(),
            dimension: 8,
            min_score: 0.7,
            contradiction_similarity: 0.6,
            generation: 1,
            max_tokens: 512,
            document_task: None,
            query_task: None,
        }),
        ..EmbeddingSettings::default()
    }
}

//! A Presidio analyzer server: `POST /analyze` with text, language and threshold; offsets in Unicode code points.

use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::json;

use super::error::RemoteError;
use super::service::{ExternalFinding, Remote, answer, client, label_of};
use anamnesis_text::{CodePoints, Language};
use anamnesis_transport::{ApiToken, Client};

/// Most bytes of an answer.
const LARGEST: usize = 16 << 20;
/// Score from which a finding counts.
const THRESHOLD: f64 = 0.5;

/// The analyzer at an address.
pub struct Presidio {
    client: Client,
    url: reqwest::Url,
}

#[derive(Deserialize)]
struct PresidioEntity {
    start: usize,
    end: usize,
    entity_type: String,
    score: f64,
}

impl Presidio {
    /// `base` such as `https://presidio.clinic.example`; `ca_file` is empty or holds further authorities (PEM).
    ///
    /// # Errors
    /// When the address is not allowed or no client can be made.
    pub fn new(base: &str, timeout: Duration, ca_file: &Path) -> Result<Self, RemoteError> {
        let client = client(base, timeout, ca_file)?;
        let url = client.endpoint().join(&["analyze"]);
        Ok(Self { client, url })
    }
}

#[async_trait]
impl Remote for Presidio {
    async fn find(&self, text: &str, language: Language) -> Result<Vec<ExternalFinding>, RemoteError> {
        let language = if language.or_detect(text) == Language::Spanish { "es" } else { "en" };
        let body = json!({"text": text, "language": language, "score_threshold": THRESHOLD});
        let found: Vec<PresidioEntity> =
            answer(&self.client, self.client.post(&self.url).json(&body), &ApiToken::None, LARGEST).await?;
        let places = CodePoints::new(text);
        let finding = |one: PresidioEntity| {
            let span = places.span_to_bytes(one.start, one.end).ok_or(RemoteError::InvalidResponse)?;
            Ok(ExternalFinding::from_service(span, label_of(&one.entity_type), one.score.clamp(0.0, 1.0)))
        };
        found.into_iter().map(finding).collect()
    }
}

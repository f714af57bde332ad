//! A language model in addition to the rules, if one is configured. It is called between extraction and embedding, for
//! several documents at once, never for data that may not be stored. The batch continues whatever it returns.

use std::time::Duration;

use futures::{StreamExt, stream};

use super::Pipeline;
use super::analyze::AnalyzedMessage;
use anamnesis_config::extraction::LlmConfig;
use anamnesis_extraction::llm::{LlmExtractor, LlmOptionDefect, LlmOptions, LlmReport, SummaryParaphraser};
use anamnesis_extraction::{ExtractionInput, Extractor};
use anamnesis_observability::metrics::Label as _;
use anamnesis_observability::metrics::labels::ModelOutcome;

/// The model that a configuration names, with how many questions may be under way; `None` where it names none.
///
/// # Errors
/// The first key that cannot be used.
pub(super) fn reader(
    config: &LlmConfig,
    clock: std::sync::Arc<dyn anamnesis_core::clock::Clock>,
) -> Result<Option<(LlmExtractor, usize)>, LlmOptionDefect> {
    if config.url.is_empty() {
        return Ok(None);
    }
    let defect = |key, rule| Err(LlmOptionDefect { key, rule });
    if config.model.is_empty() {
        return defect("model", "is required where an address is given");
    }
    if config.api_key.is_some() && !config.api_key_file.as_os_str().is_empty() {
        return defect("api_key_file", "give api_key or api_key_file, not both");
    }
    if !(1..=600_000).contains(&config.timeout_ms) {
        return defect("timeout_ms", "must lie between 1 and 600000");
    }
    if !(1..=64).contains(&config.concurrency) {
        return defect("concurrency", "must lie between 1 and 64");
    }
    let options = LlmOptions {
        url: config.url.clone(),
        model: config.model.clone(),
        key: config.api_key.clone(),
        key_file: Some(config.api_key_file.clone()).filter(|path| !path.as_os_str().is_empty()),
        ca_file: config.ca_file.clone(),
        timeout: Duration::from_millis(config.timeout_ms),
        max_input_chars: config.max_input_chars,
        max_output_tokens: config.max_output_tokens,
        tokens_per_hour: config.tokens_per_hour,
    };
    Ok(Some((LlmExtractor::new(options, clock)?, config.concurrency)))
}

/// The model that writes the summaries of jobs, where the configuration enables it.
///
/// # Errors
/// The first key that cannot be used.
pub fn writer(
    config: &LlmConfig,
    clock: std::sync::Arc<dyn anamnesis_core::clock::Clock>,
) -> Result<Option<SummaryParaphraser>, LlmOptionDefect> {
    if !config.rephrase_summaries {
        return Ok(None);
    }
    let writer = |(model, _)| SummaryParaphraser { model: std::sync::Arc::new(model), rules: Extractor::shared() };
    Ok(reader(config, clock)?.map(writer))
}

impl Pipeline {
    /// Calls the model for every document of the batch.
    pub(super) async fn ask_model(&self, read: &mut [AnalyzedMessage]) {
        let Some((model, concurrency)) = self.model.as_ref().filter(|_| self.extracts) else { return };
        let asked =
            read.iter_mut().filter(|read| !read.admitted.ephemeral && read.unread.is_none()).filter_map(|read| {
                let message = read.admitted.document()?;
                let (redacted, extraction) = read.text.as_deref_mut()?;
                let rules = self.extractors.get(read.admitted.scope.org());
                Some(async move {
                    let input = ExtractionInput {
                        document: redacted.document(),
                        document_type: Some(message.read_as()),
                        targets: &[],
                        values: redacted.values(),
                        dates: &[],
                        today: None,
                    };
                    model.read(&rules, &input, extraction).await
                })
            });
        let asked: Vec<_> = asked.collect();
        let mut seen = stream::iter(asked).buffer_unordered(*concurrency);
        while let Some(seen) = seen.next().await {
            self.count_model(&seen);
        }
    }

    fn count_model(&self, seen: &LlmReport) {
        let metrics = &self.metrics.extraction;
        if let Some(outcome) = ModelOutcome::from_code(seen.outcome.code()) {
            metrics.model_documents.with_labels(outcome).inc();
        }
        metrics.model_added.inc_by(seen.added as u64);
        metrics.model_dropped.inc_by(seen.dropped as u64);
        metrics.model_overruled.inc_by(seen.overruled as u64);
        metrics.prompt_injections.inc_by(seen.orders as u64);
    }
}

#[cfg(test)]
#[path = "llm_tests.rs"]
mod tests;

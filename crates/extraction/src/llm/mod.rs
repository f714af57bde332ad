//! Extraction by a language model, where configuration names one: any server with OpenAI's chat API and JSON schemas.
//!
//! What it finds is added to the findings of the rules and replaces none. Every finding is bound to words in the redacted
//! text; polarity, time and person are the rules' reading of that place; numbers must be in the quote;
//! sentences that give orders to the model are counted and nothing is taken from them. It is an inference whatever it
//! says of itself, and a medicine or an allergy from it stays in doubt. When the server fails, is late or the budget is
//! spent, the document has the findings of the rules.

mod budget;
mod client;
mod grounding;
mod paraphrase;
mod prompt_injection;
mod wire;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;

use self::budget::TokenBudget;
use self::client::LlmClient;
use super::{Extraction, ExtractionInput, Extractor};
use anamnesis_core::clock::Clock;
use anamnesis_core::coded_enum::codes;

codes!(
    /// How asking a model about one document ended.
    LlmOutcome {
        Ok = "ok", TooLong = "too_long", Budget = "budget", Timeout = "timeout", Unreachable = "unreachable",
        Denied = "denied", Overloaded = "overloaded", Refused = "refused", InvalidResponse = "invalid_response",
    }
);

/// Which model is asked, and how much of it.
#[derive(Debug, Clone)]
pub struct LlmOptions {
    /// The address before `/chat/completions`, such as `http://127.0.0.1:11434/v1`. https outside loopback.
    pub url: String,
    /// The model's name at its server.
    pub model: String,
    pub key: Option<SecretString>,
    /// A file with the bearer token, read again whenever it changes and whenever the server refuses it.
    pub key_file: Option<PathBuf>,
    /// Certificates (PEM) of a further authority; empty: none.
    pub ca_file: PathBuf,
    /// For one whole answer.
    pub timeout: Duration,
    /// Longer documents are left to the rules.
    pub max_input_chars: usize,
    /// Tokens of one answer.
    pub max_output_tokens: u32,
    /// Tokens of questions and answers in an hour; 0: without limit.
    pub tokens_per_hour: u64,
}

/// The options cannot be used. Names the key, never the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("extraction.llm.{key}: {rule}")]
pub struct LlmOptionDefect {
    pub key: &'static str,
    pub rule: &'static str,
}

/// The result of asking the model about a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LlmReport {
    pub outcome: LlmOutcome,
    /// Findings added to those of the rules.
    pub added: usize,
    /// Findings that were not taken: not in the text, known to the rules, only asked about, from an order.
    pub dropped: usize,
    /// Findings whose polarity or numbers the rules read otherwise.
    pub overruled: usize,
    /// Sentences of the text that give orders to a model.
    pub orders: usize,
}

/// A language model that extracts next to the rules.
pub struct LlmExtractor {
    client: LlmClient,
    options: LlmOptions,
    budget: TokenBudget,
}

/// A language model that rewrites job summaries, and the rules that check its text.
#[derive(Clone)]
pub struct SummaryParaphraser {
    pub model: Arc<LlmExtractor>,
    pub rules: Arc<Extractor>,
}

impl LlmExtractor {
    /// # Errors
    /// When the address or another option cannot be used.
    pub fn new(options: LlmOptions, clock: Arc<dyn Clock>) -> Result<Self, LlmOptionDefect> {
        let client = LlmClient::new(&options)?;
        let budget = TokenBudget::new(options.tokens_per_hour, clock);
        Ok(Self { client, options, budget })
    }

    /// The model's name, for the version that is stored with its findings.
    pub fn name(&self) -> &str {
        &self.options.model
    }

    /// Asks the model about a document and adds to `found` what holds against the text and the rules.
    pub async fn read(&self, rules: &Extractor, input: &ExtractionInput<'_>, found: &mut Extraction) -> LlmReport {
        let orders = prompt_injection::sentences_of(input.document);
        let mut seen = LlmReport { outcome: LlmOutcome::Ok, added: 0, dropped: 0, overruled: 0, orders: orders.len() };
        // A failed model changes nothing: the document has the findings of the rules.
        match self.ask(input).await {
            Ok(answer) => grounding::add(&answer, rules, input, &orders, found, &mut seen),
            Err(outcome) => seen.outcome = outcome,
        }
        seen
    }

    async fn ask(&self, input: &ExtractionInput<'_>) -> Result<wire::LlmAnswer, LlmOutcome> {
        if input.document.text.chars().count() > self.options.max_input_chars {
            return Err(LlmOutcome::TooLong);
        }
        self.put(wire::request(&self.options, input.document), wire::answer).await
    }

    /// Puts a question, within the budget.
    async fn put<T>(
        &self,
        request: Vec<u8>,
        read: impl FnOnce(&[u8]) -> Result<(T, Option<u64>), LlmOutcome>,
    ) -> Result<T, LlmOutcome> {
        let reserved = wire::estimated_tokens(&request, self.options.max_output_tokens);
        // Reserved before the call: calls in parallel cannot exceed the limit together.
        self.budget.take(reserved)?;
        let reply = self.client.post(request).await?;
        let (answer, used) = read(&reply)?;
        self.budget.record_usage(reserved, used);
        Ok(answer)
    }
}

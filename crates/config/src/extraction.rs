//! `[extraction]`: the rules need no setting. A deployment can add lexicons, and a language model that is used only if its
//! address is set.

use std::path::PathBuf;

use schemars::JsonSchema;
use secrecy::SecretString;
use serde::{Deserialize, Deserializer, Serialize};

use super::embedding::InvalidSetting;
use super::rules::Rules;
use anamnesis_core::ids::OrgId;
use anamnesis_transport::{AddressError, Endpoint};

/// How documents are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReadingProfile {
    /// By rules alone: some thousand documents a second on one core.
    Fast,
    /// By rules and the learned reader: of a hundred facts it remembers eight more, at some tenths of a second of processor for
    /// a document of 2 kB. A program that was built without its reader reads by rules.
    Careful,
}

/// The whole section.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExtractionConfig {
    /// Findings that were read with less confidence are not remembered, except allergies that a rule found.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub min_confidence: f64,
    /// How documents are read.
    pub profile: ReadingProfile,
    /// File of the learned reader of the profile `careful`; empty: the one in the program.
    pub reader_file: PathBuf,
    /// Lexicon files of all organisations, in addition to the built-in lists.
    pub lexicons: Vec<PathBuf>,
    /// Lexicons that organisations have apart from the others.
    pub organizations: Vec<OrganizationExtraction>,
    pub llm: LlmConfig,
}

impl ExtractionConfig {
    /// The least confidence, and the model's address: https beyond this machine.
    pub(crate) fn check(&self, rules: &mut Rules) {
        rules.rule((0.0..=1.0).contains(&self.min_confidence), "extraction.min_confidence", "must be 0.0–1.0");
        if !self.llm.url.is_empty() {
            let waits = (1..=600_000).contains(&self.llm.timeout_ms);
            rules.rule(waits, "extraction.llm.timeout_ms", "must be 1–600000");
            rules.rule((1..=64).contains(&self.llm.concurrency), "extraction.llm.concurrency", "must be 1–64");
            let invalid = |error: AddressError| InvalidSetting { key: "extraction.llm.url", rule: error.rule() };
            rules.note(Endpoint::parse(&self.llm.url).and_then(Endpoint::bare).map(drop).map_err(invalid));
        }
    }
}

impl Default for ExtractionConfig {
    fn default() -> Self {
        Self {
            min_confidence: 0.5,
            profile: ReadingProfile::Careful,
            reader_file: PathBuf::new(),
            lexicons: Vec::new(),
            organizations: Vec::new(),
            llm: LlmConfig::default(),
        }
    }
}

/// Settings of one organisation, in addition to the lexicons of the deployment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OrganizationExtraction {
    /// Id of the organisation.
    pub organization: OrgId,
    /// Lexicon files of this organisation.
    #[serde(default)]
    pub lexicons: Vec<PathBuf>,
}

/// A language model with OpenAI's chat API. Empty address: none is used. Secrets are never serialised and never in `Debug`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LlmConfig {
    /// Address to which `/chat/completions` is appended, https beyond loopback; empty: no language model is used.
    pub url: String,
    /// Name of the model at its server.
    pub model: String,
    /// Bearer token; empty: none.
    #[serde(skip_serializing, deserialize_with = "empty_is_none")]
    #[schemars(with = "Option<String>")]
    pub api_key: Option<SecretString>,
    /// File of the bearer token, read again when it changes or is refused.
    pub api_key_file: PathBuf,
    /// Certificates (PEM) that are trusted with the machine's own; empty: none.
    pub ca_file: PathBuf,
    /// Longest response.
    #[schemars(range(min = 1, max = 600000))]
    pub timeout_ms: u64,
    /// Longest document that is sent to the model; longer ones are read by the rules alone.
    pub max_input_chars: usize,
    /// Maximum tokens of one response.
    pub max_output_tokens: u32,
    /// Tokens of requests and responses in an hour; 0: no limit.
    pub tokens_per_hour: u64,
    /// Concurrent requests.
    #[schemars(range(min = 1, max = 64))]
    pub concurrency: usize,
    /// Whether the model also rephrases the summaries of the jobs as connected sentences.
    pub rephrase_summaries: bool,
}

impl Default for LlmConfig {
    fn default() -> Self {
        Self {
            url: String::new(),
            model: String::new(),
            api_key: None,
            api_key_file: PathBuf::new(),
            ca_file: PathBuf::new(),
            timeout_ms: 20_000,
            max_input_chars: 40_000,
            max_output_tokens: 4_000,
            tokens_per_hour: 1_000_000,
            concurrency: 4,
            rephrase_summaries: false,
        }
    }
}

/// Equal in all that is shown; secrets are not compared.
impl PartialEq for LlmConfig {
    fn eq(&self, other: &Self) -> bool {
        serde_json::to_value(self).ok() == serde_json::to_value(other).ok()
    }
}

/// An empty value is none: an environment cannot unset what a file sets.
fn empty_is_none<'de, D: Deserializer<'de>>(input: D) -> Result<Option<SecretString>, D::Error> {
    let text = String::deserialize(input)?;
    Ok((!text.is_empty()).then(|| SecretString::from(text)))
}

//! `[extraction]`: the rules need no setting; lexicons of a deployment's own join the built-in ones, and a language model
//! beside the rules is asked only where one is named.

use std::path::PathBuf;

use secrecy::SecretString;
use serde::{Deserialize, Deserializer, Serialize};

use super::embedding::InvalidSetting;
use anamnesis_core::ids::OrgId;
use anamnesis_transport::{AddressError, Endpoint};

/// How documents are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReadingProfile {
    /// By rules alone: some thousand documents a second on one core.
    Fast,
    /// By rules and the learned reader: more is remembered, at some tenths of a second of processor for a document.
    Careful,
}

/// The whole section.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExtractionConfig {
    /// Findings read with less confidence are not remembered, 0.0–1.0. Allergies that a rule found always are.
    pub min_confidence: f64,
    pub profile: ReadingProfile,
    /// File of the reader that the profile `careful` reads with; empty: the one in the program.
    pub reader_file: PathBuf,
    /// Lexicon files for all organisations, beside the built-in lists.
    pub lexicons: Vec<PathBuf>,
    pub organizations: Vec<OrganizationExtraction>,
    pub model: ModelConfig,
}

impl ExtractionConfig {
    /// The least confidence, and the model's address.
    ///
    /// # Errors
    /// When one is out of range, or the address is not https beyond this machine.
    pub(crate) fn validate(&self) -> Result<(), InvalidSetting> {
        if !(0.0..=1.0).contains(&self.min_confidence) {
            return Err(InvalidSetting { key: "extraction.min_confidence", rule: "must be 0.0–1.0" });
        }
        if self.model.url.is_empty() {
            return Ok(());
        }
        let invalid = |error: AddressError| InvalidSetting { key: "extraction.model.url", rule: error.rule() };
        Endpoint::parse(&self.model.url).and_then(Endpoint::bare).map(drop).map_err(invalid)
    }
}

impl Default for ExtractionConfig {
    fn default() -> Self {
        Self {
            min_confidence: 0.45,
            profile: ReadingProfile::Fast,
            reader_file: PathBuf::new(),
            lexicons: Vec::new(),
            organizations: Vec::new(),
            model: ModelConfig::default(),
        }
    }
}

/// What one organisation has of its own, beside the lexicons of the deployment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrganizationExtraction {
    pub organization: OrgId,
    #[serde(default)]
    pub lexicons: Vec<PathBuf>,
}

/// A model behind OpenAI's chat API. An empty address: none is asked. Secrets are never serialised and never in `Debug`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelConfig {
    /// What `/chat/completions` is appended to; https outside loopback.
    pub url: String,
    /// The model's name at its server.
    pub model: String,
    /// Bearer token, or a file that holds it.
    #[serde(skip_serializing, deserialize_with = "empty_is_none")]
    pub api_key: Option<SecretString>,
    pub api_key_file: PathBuf,
    /// Certificates (PEM) of an own authority, trusted with the machine's.
    pub ca_file: PathBuf,
    /// For one whole answer, in milliseconds, 1–600000.
    pub timeout_ms: u64,
    /// Longer documents are left to the rules, in characters.
    pub most_characters: usize,
    /// Tokens of one answer.
    pub most_tokens: u32,
    /// Tokens of questions and answers in an hour; 0: without limit.
    pub tokens_per_hour: u64,
    /// Questions under way at once, 1–64.
    pub concurrency: usize,
    /// It also puts the nights' accounts of conversations, weeks and quarters into connected sentences.
    pub words_accounts: bool,
}

impl Default for ModelConfig {
    fn default() -> Self {
        Self {
            url: String::new(),
            model: String::new(),
            api_key: None,
            api_key_file: PathBuf::new(),
            ca_file: PathBuf::new(),
            timeout_ms: 20_000,
            most_characters: 40_000,
            most_tokens: 4_000,
            tokens_per_hour: 1_000_000,
            concurrency: 4,
            words_accounts: false,
        }
    }
}

/// Equal in all that is shown; secrets are not compared.
impl PartialEq for ModelConfig {
    fn eq(&self, other: &Self) -> bool {
        serde_json::to_value(self).ok() == serde_json::to_value(other).ok()
    }
}

/// An empty value is none: an environment cannot unset what a file sets.
fn empty_is_none<'de, D: Deserializer<'de>>(input: D) -> Result<Option<SecretString>, D::Error> {
    let text = String::deserialize(input)?;
    Ok((!text.is_empty()).then(|| SecretString::from(text)))
}

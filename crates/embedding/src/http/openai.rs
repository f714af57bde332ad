//! OpenAI's `POST /v1/embeddings` as TEI, Ollama, vLLM and LiteLLM speak it (docs/providers.md, "OpenAI-compatible").

use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};

use base64::Engine;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use reqwest::Url;
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::wire_format::{ParsedResponse, WireFormat, parsed};
use crate::{EmbedError, Purpose};
use anamnesis_config::embedding::{EmbeddingSettings, Encoding, ModelProfile, Provider};

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The wire shape, with what was learnt of the server.
pub(crate) struct OpenAi {
    url: Url,
    model: String,
    dimensions: Option<usize>,
    prefixes: [String; 2],
    encoding: AtomicU8,
}

/// States of `encoding`: base64 is asked for until the server shows what it makes of it.
const UNTRIED: u8 = 0;
const BASE64_KNOWN: u8 = 1;
const PLAIN: u8 = 2;

#[derive(Serialize)]
struct OpenAiRequest<'r> {
    input: Vec<Cow<'r, str>>,
    model: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding_format: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
}

#[derive(Deserialize)]
struct OpenAiReply {
    data: Vec<OpenAiItem>,
    #[serde(default)]
    usage: Option<OpenAiUsage>,
}

#[derive(Deserialize)]
struct OpenAiItem {
    index: usize,
    embedding: Numbers,
}

#[derive(Deserialize)]
struct OpenAiUsage {
    #[serde(default)]
    total_tokens: Option<u64>,
    #[serde(default)]
    prompt_tokens: Option<u64>,
}

impl OpenAi {
    pub(crate) fn new(base: &Url, profile: &ModelProfile, settings: &EmbeddingSettings) -> Self {
        let mut url = base.clone();
        url.set_path(&format!("{}/embeddings", base.path().trim_end_matches('/')));
        Self {
            url,
            model: profile.model.clone(),
            dimensions: settings.send_dimensions.then_some(profile.dimension),
            prefixes: [settings.document_prefix.clone(), settings.query_prefix.clone()],
            encoding: AtomicU8::new(if settings.encoding == Encoding::Float { PLAIN } else { UNTRIED }),
        }
    }

    fn prefix(&self, purpose: Purpose) -> &str {
        match purpose {
            Purpose::Document => &self.prefixes[0],
            Purpose::Query => &self.prefixes[1],
        }
    }
}

impl WireFormat for OpenAi {
    fn provider(&self) -> Provider {
        Provider::OpenAi
    }

    fn url(&self) -> &Url {
        &self.url
    }

    fn body(&self, purpose: Purpose, texts: &[&str], plain: bool) -> Vec<u8> {
        let prefix = self.prefix(purpose);
        let plain = plain || self.encoding.load(Ordering::Relaxed) == PLAIN;
        let request = OpenAiRequest {
            input: texts.iter().map(|text| prefixed(prefix, text)).collect(),
            model: &self.model,
            encoding_format: (!plain).then_some("base64"),
            dimensions: self.dimensions,
        };
        serde_json::to_vec(&request).expect("strings and numbers are always JSON")
    }

    fn answer(&self, body: &[u8]) -> Result<ParsedResponse, EmbedError> {
        let reply: OpenAiReply = parsed(body)?;
        if let Some(first) = reply.data.first() {
            let learnt = if first.embedding.packed { BASE64_KNOWN } else { PLAIN };
            self.encoding.store(learnt, Ordering::Relaxed);
        }
        let tokens = reply.usage.and_then(|usage| usage.total_tokens.or(usage.prompt_tokens));
        Ok(ParsedResponse { vectors: in_order(reply.data)?, tokens, truncated: 0 })
    }

    fn may_try_plain(&self) -> bool {
        self.encoding.load(Ordering::Relaxed) == UNTRIED
    }

    fn stay_plain(&self) {
        self.encoding.store(PLAIN, Ordering::Relaxed);
    }

    /// TEI serves `/info` at its root, next to `/v1`.
    fn info_url(&self) -> Option<Url> {
        let root = self.url.path().strip_suffix("/v1/embeddings")?;
        let mut url = self.url.clone();
        url.set_path(&format!("{root}/info"));
        Some(url)
    }
}

fn prefixed<'t>(prefix: &str, text: &'t str) -> Cow<'t, str> {
    if prefix.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(format!("{prefix}{text}")) }
}

/// Puts vectors at their `index`; with an index repeated, missing or out of range, the vectors cannot be assigned.
fn in_order(items: Vec<OpenAiItem>) -> Result<Vec<Vec<f32>>, EmbedError> {
    let mut vectors: Vec<Option<Vec<f32>>> = vec![None; items.len()];
    for item in items {
        let slot = vectors.get_mut(item.index).ok_or(EmbedError::BadAnswer)?;
        if slot.replace(item.embedding.values).is_some() {
            return Err(EmbedError::BadAnswer);
        }
    }
    vectors.into_iter().collect::<Option<_>>().ok_or(EmbedError::BadAnswer)
}

/// A vector as an array of numbers or as base64 of little-endian `f32`.
struct Numbers {
    values: Vec<f32>,
    packed: bool,
}

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumbersVisitor)
    }
}

struct NumbersVisitor;

impl<'de> Visitor<'de> for NumbersVisitor {
    type Value = Numbers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a vector")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Numbers, E> {
        let bytes = BASE64.decode(text).map_err(|_| E::custom("not base64"))?;
        let (chunks, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(E::custom("not whole numbers of four bytes"));
        }
        Ok(Numbers { values: chunks.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect(), packed: true })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Numbers, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = sequence.next_element::<Option<f64>>()? {
            values.push(value.map_or(f32::NAN, |value| value as f32)); // NaN is written as null
        }
        Ok(Numbers { values, packed: false })
    }
}

#[cfg(test)]
#[path = "openai_tests.rs"]
mod tests;

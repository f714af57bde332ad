//! A query made ready: guarded, redacted under the patient's keys, turned into keyed terms, and a vector of it by the
//! model of the generation that is searched. The text as it
//! was typed goes no further than this file.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Recall, RecallError};
use anamnesis_crypto::PatientKeys;
use anamnesis_embedding::{Embedder, Purpose};
use anamnesis_extraction::ExtractionInput;
use anamnesis_redaction::{People, SurrogateKey};
use anamnesis_text::{Document, Language, Span, stems};

/// What the two legs search by.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Prepared {
    /// As it may be shown, logged or sent.
    pub(crate) redacted: String,
    pub(crate) terms: BTreeSet<i64>,
    /// Of the concepts that the query names.
    pub(crate) concepts: BTreeSet<i64>,
}

impl Recall {
    /// # Errors
    /// When the query cannot be redacted.
    pub(super) fn prepare(&self, keys: &PatientKeys, query: &str) -> Result<Prepared, RecallError> {
        let document = Document::plain(query, Language::Unknown);
        let redacted =
            self.redactor.redact_asking(&document, &People::default(), &SurrogateKey::new(*keys.surrogate()))?;
        let text = redacted.document().text.trim().to_owned();
        if text.is_empty() {
            return Ok(Prepared::default());
        }
        let terms = word_terms(keys, &text);
        let concepts = self.concept_terms(keys, &text);
        Ok(Prepared { redacted: text, terms, concepts })
    }

    /// The redacted query as the model of a generation sees it. `None` when there is no such model at hand or its provider
    /// gave no vector: the search goes by words alone and says so.
    pub(super) async fn vector(&self, redacted: &str, model: Option<&Arc<dyn Embedder>>) -> Option<Vec<f32>> {
        if redacted.is_empty() {
            return None;
        }
        let Some(model) = model else {
            tracing::warn!(
                code = "generation_without_model",
                "no model at hand made the vectors: searching by words alone"
            );
            return None;
        };
        match model.embed(Purpose::Query, &[redacted]).await {
            Ok(mut vectors) => vectors.pop(),
            Err(error) => {
                tracing::warn!(error = %error, "the query was not embedded: searching by words alone");
                None
            }
        }
    }

    /// The concepts that a short text names, as search terms.
    pub(super) fn concept_terms(&self, keys: &PatientKeys, text: &str) -> BTreeSet<i64> {
        let document = Document::plain(text, Language::Unknown);
        let found = self.extractor.extract(&ExtractionInput::of(&document));
        let whole = Span::new(0, document.text.len());
        found.concepts(whole).into_iter().map(|name| keys.concept_term(name)).collect()
    }
}

/// A question is too short to tell its language by: it is stemmed by the rules of both.
pub(super) fn word_terms(keys: &PatientKeys, text: &str) -> BTreeSet<i64> {
    let both = [Language::Spanish, Language::English];
    both.iter().flat_map(|language| stems(text, *language)).map(|stem| keys.term(&stem)).collect()
}

#[cfg(test)]
#[path = "query_tests.rs"]
mod tests;

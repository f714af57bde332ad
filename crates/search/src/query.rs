//! Query preparation: checked, redacted under the patient's keys, turned into keyed terms and into a vector by the
//! model of the generation that is searched. The raw text of the query does not leave this file.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::bm25::{QueryTerm, TermAlternative};
use super::thesaurus::{self, QueryWord};
use super::{Recall, RecallError};
use anamnesis_crypto::PatientKeys;
use anamnesis_embedding::{Embedder, Purpose};
use anamnesis_extraction::ExtractionInput;
use anamnesis_redaction::{KnownPeople, SurrogateKey};
use anamnesis_text::{Document, Language, Span};

/// The inputs of the two retrievers.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct PreparedQuery {
    /// As it may be shown, logged or sent.
    pub(crate) redacted: String,
    pub(crate) words: Vec<QueryTerm>,
    /// Of the concepts that the query names.
    pub(crate) concepts: Vec<QueryTerm>,
}

impl Recall {
    /// # Errors
    /// When the query cannot be redacted.
    pub(super) fn prepare(&self, keys: &PatientKeys, query: &str) -> Result<PreparedQuery, RecallError> {
        let document = Document::plain(beginning(query), Language::Unknown);
        let redacted = self.redactor.redact_with_services(
            &document,
            &KnownPeople::default(),
            &SurrogateKey::new(*keys.surrogate()),
        )?;
        let text = redacted.document().text.trim().to_owned();
        if text.is_empty() {
            return Ok(PreparedQuery::default());
        }
        let words = words(keys, &text);
        let concepts = self.concept_terms(keys, &text).into_iter().map(|term| QueryTerm::from_stems([term])).collect();
        Ok(PreparedQuery { redacted: text, words, concepts })
    }

    /// The redacted query as a vector of a generation's model. `None` if the model is not available or its provider
    /// gave no vector: the search then uses only words and reports it.
    pub(super) async fn vector(&self, redacted: &str, model: Option<&Arc<dyn Embedder>>) -> Option<Vec<f32>> {
        if redacted.is_empty() {
            return None;
        }
        let Some(model) = model else {
            tracing::warn!(
                code = "generation_without_model",
                "the model of the active vectors is not configured: keyword search only"
            );
            return None;
        };
        match model.embed(Purpose::Query, &[redacted]).await {
            Ok(mut vectors) => vectors.pop(),
            Err(error) => {
                tracing::warn!(code = "query_not_embedded", error = %error, "the query could not be embedded: keyword search only");
                None
            }
        }
    }

    /// The concepts that a short text names, as search terms.
    pub(super) fn concept_terms(&self, keys: &PatientKeys, text: &str) -> BTreeSet<i64> {
        let document = Document::plain(text, Language::Unknown);
        let found = self.extractor.extract(&ExtractionInput::new(&document));
        let whole = Span::new(0, document.text.len());
        found.concepts(whole).into_iter().map(|name| keys.concept_term(name)).collect()
    }
}

/// Longest question in bytes: a page of text. The rest is not part of the search.
const LONGEST: usize = 4_096;

/// Cut between words: a torn name is no name to redaction.
fn beginning(query: &str) -> &str {
    if query.len() <= LONGEST {
        return query;
    }
    let page = query.get(..query.floor_char_boundary(LONGEST)).unwrap_or_default();
    page.rfind(char::is_whitespace).map_or("", |end| &page[..end])
}

/// Weight of a synonym.
const SYNONYM: f64 = 0.6;

/// The words of a query, each with its stems in both languages and its synonyms. A question is too short to detect its
/// language.
pub(super) fn words(keys: &PatientKeys, text: &str) -> Vec<QueryTerm> {
    let keyed = |stems: &[String], weight| {
        let terms: Vec<i64> = stems.iter().map(|stem| keys.term(stem)).collect();
        TermAlternative { terms, weight }
    };
    let word = |QueryWord { own, others }: QueryWord| {
        let share = 1.0 / own.len().max(1) as f64;
        let own = own.iter().flatten().map(|stem| keyed(std::slice::from_ref(stem), share));
        QueryTerm(own.chain(others.iter().map(|stems| keyed(stems, SYNONYM))).collect())
    };
    thesaurus::builtin().read(text).into_iter().map(word).collect()
}

#[cfg(test)]
#[path = "query_tests.rs"]
mod tests;

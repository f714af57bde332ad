//! Embedding: the passages of the whole batch by one round of calls, texts that the patient has already keep their vectors.

use std::collections::HashMap;
use std::time::Instant;

use super::analyze::AnalyzedMessage;
use super::metrics::reason_of;
use super::search_terms::TermCache;
use super::{BatchContext, MessageOutcome, Pipeline, PipelineError};
use anamnesis_core::ids::{PassageId, derive};
use anamnesis_core::reason::Reason;
use anamnesis_embedding::cache::{CacheKey, UniqueTexts, embed_cached};
use anamnesis_observability::metrics::labels::Stage;
use anamnesis_store::Keys;
use anamnesis_store::records::NewPassage;
use anamnesis_text::passages;

/// A message with the vectors of its passages.
pub(crate) struct EmbeddedMessage {
    pub(crate) analyzed: AnalyzedMessage,
    pub(crate) passages: Vec<NewPassage>,
    /// Of its vectors.
    pub(crate) generation: i64,
}

impl Pipeline {
    /// Embeds with the model of the organisation's active generation. If this process lacks that model, passages are left to
    /// the `embed_batch` job of one that has it; until then they are found by keyword only.
    ///
    /// # Errors
    /// When the provider fails for all texts: the batch is offered again.
    pub(super) async fn embed_all(
        &self,
        analyzed: Vec<AnalyzedMessage>,
        BatchContext { keys, generation: active, .. }: &BatchContext,
        done: &mut Vec<MessageOutcome>,
    ) -> Result<Vec<EmbeddedMessage>, PipelineError> {
        let started = Instant::now();
        let generation = self.models.generations().active(*active);
        let mut terms = TermCache::default();
        let cut = |analyzed| self.cut(analyzed, keys, generation, &mut terms);
        let mut work: Vec<EmbeddedMessage> = analyzed.into_iter().map(cut).collect();
        drop(terms);
        let Some(model) = self.models.active(*active) else {
            tracing::warn!(
                code = "generation_without_model",
                "the model of the active vectors is not configured: passages are left to the job embed_batch"
            );
            return Ok(work);
        };
        let mut owners = Vec::new();
        let mut texts: Vec<(CacheKey, &str)> = Vec::new();
        for (n, entry) in work.iter().enumerate() {
            let Some((redacted, _)) = entry.analyzed.text.as_deref() else { continue };
            if self.is_deferred(&entry.analyzed) {
                continue;
            }
            for (p, passage) in entry.passages.iter().enumerate() {
                let text = passage.span.slice(&redacted.document().text);
                texts.push((
                    CacheKey { scope: entry.analyzed.admitted.scope, generation, text: passage.text_hash },
                    text,
                ));
                owners.push((n, p));
            }
        }
        let batch = UniqueTexts::new(texts);
        let known: HashMap<CacheKey, Vec<f32>> = self.store.intake().cached_vectors(batch.keys().copied()).await?;
        let embedded = embed_cached(model.as_ref(), &batch, &known).await;
        drop(batch);
        self.count_cache(embedded.hits, embedded.vectors.len());
        let mut refused: Vec<(usize, Reason)> = Vec::new();
        for ((n, p), vector) in owners.into_iter().zip(embedded.vectors) {
            match vector {
                Ok(vector) => work[n].passages[p].vector = Some(vector),
                Err(error) => match reason_of(&error) {
                    Some(reason) => refused.push((work[n].analyzed.admitted.place, reason)),
                    None => return Err(error.into()),
                },
            }
        }
        refused.sort();
        refused.dedup_by_key(|(place, _)| *place);
        work.retain(|entry| refused.iter().all(|(place, _)| *place != entry.analyzed.admitted.place));
        done.extend(refused.into_iter().map(|(place, reason)| MessageOutcome::quarantined(place, reason, None)));
        self.observe(Stage::Embed, started);
        Ok(work)
    }

    fn is_deferred(&self, analyzed: &AnalyzedMessage) -> bool {
        let document = analyzed.admitted.document();
        document.is_some_and(|document| self.config.deferred_embedding_types.contains(&document.document_type))
    }

    /// Splits a document into passages with their keyed terms; none in ephemeral mode.
    fn cut(&self, analyzed: AnalyzedMessage, keys: &Keys, generation: i64, known: &mut TermCache) -> EmbeddedMessage {
        let mut out = Vec::new();
        if !analyzed.admitted.ephemeral
            && let (Some((redacted, extraction)), Some(message)) =
                (analyzed.text.as_deref(), analyzed.admitted.document())
            && let Some(patient) = keys.get(&analyzed.admitted.scope)
        {
            let document = redacted.document();
            let (org, who) = (analyzed.admitted.scope.org().0, analyzed.admitted.scope.patient().0);
            for (n, passage) in passages(document, self.config.passage_words).into_iter().enumerate() {
                let id = message.document_id.0;
                let (revision, ordinal) = (message.revision.to_be_bytes(), (n as u64).to_be_bytes());
                let id = derive("passage", &[org.as_bytes(), who.as_bytes(), id.as_bytes(), &revision, &ordinal]);
                let text = passage.span.slice(&document.text);
                let mut terms = known.hash_terms(text, document.language, analyzed.admitted.scope, patient);
                terms.extend(extraction.concepts(passage.span).into_iter().map(|name| patient.concept_term(name)));
                terms.sort_unstable();
                let text_hash = patient.text_hash(text);
                out.push(NewPassage { id: PassageId(id), span: passage.span, text_hash, terms, vector: None });
            }
        }
        EmbeddedMessage { analyzed, passages: out, generation }
    }
}

//! Embedding: the passages of the whole batch by one round of calls, texts that the patient has already keep their vectors.

use std::collections::HashMap;
use std::time::Instant;

use super::counting::reason_of;
use super::read::Read;
use super::terms::Terms;
use super::{Outcome, Pipeline, PipelineError, Shared};
use anamnesis_core::ids::{PassageId, derive};
use anamnesis_core::reason::Reason;
use anamnesis_embedding::cache::{Batch, CacheKey, embed_cached};
use anamnesis_observability::metrics::labels::Stage;
use anamnesis_store::Keys;
use anamnesis_store::records::NewPassage;
use anamnesis_text::passages;

/// A message with the vectors of its passages.
pub(crate) struct Embedded {
    pub(crate) read: Read,
    pub(crate) passages: Vec<NewPassage>,
    /// Of its vectors.
    pub(crate) generation: i64,
}

impl Pipeline {
    /// By the model of the organisation's active generation. Where no model at hand made that, all is left to the night of a
    /// process that has it: found by words until then, and never compared with vectors of another model.
    ///
    /// # Errors
    /// When the provider fails for everybody: the batch is offered again.
    pub(super) async fn embed_all(
        &self,
        read: Vec<Read>,
        Shared { keys, generation: active, .. }: &Shared,
        done: &mut Vec<Outcome>,
    ) -> Result<Vec<Embedded>, PipelineError> {
        let started = Instant::now();
        let generation = self.models.offered().active(*active);
        let mut terms = Terms::default();
        let cut = |read| self.cut(read, keys, generation, &mut terms);
        let mut work: Vec<Embedded> = read.into_iter().map(cut).collect();
        drop(terms);
        let Some(model) = self.models.active(*active) else {
            tracing::warn!(code = "generation_without_model", "no model at hand made the vectors: left to the night");
            return Ok(work);
        };
        let mut owners = Vec::new();
        let mut texts: Vec<(CacheKey, &str)> = Vec::new();
        for (n, entry) in work.iter().enumerate() {
            let Some((redacted, _)) = entry.read.text.as_deref() else { continue };
            if self.is_left_to_the_night(&entry.read) {
                continue;
            }
            for (p, passage) in entry.passages.iter().enumerate() {
                let text = passage.span.of(&redacted.document().text);
                texts.push((CacheKey { scope: entry.read.admitted.scope, generation, text: passage.text_hash }, text));
                owners.push((n, p));
            }
        }
        let batch = Batch::new(texts);
        let known: HashMap<CacheKey, Vec<f32>> = self.store.cached_vectors(batch.keys().copied()).await?;
        let embedded = embed_cached(model.as_ref(), &batch, &known).await;
        drop(batch);
        self.count_cache(embedded.hits, embedded.vectors.len());
        let mut refused: Vec<(usize, Reason)> = Vec::new();
        for ((n, p), vector) in owners.into_iter().zip(embedded.vectors) {
            match vector {
                Ok(vector) => work[n].passages[p].vector = Some(vector),
                Err(error) => match reason_of(&error) {
                    Some(reason) => refused.push((work[n].read.admitted.place, reason)),
                    None => return Err(error.into()),
                },
            }
        }
        refused.sort();
        refused.dedup_by_key(|(place, _)| *place);
        work.retain(|entry| refused.iter().all(|(place, _)| *place != entry.read.admitted.place));
        done.extend(refused.into_iter().map(|(place, reason)| Outcome::quarantined(place, reason, None)));
        self.observe(Stage::Embed, started);
        Ok(work)
    }

    fn is_left_to_the_night(&self, read: &Read) -> bool {
        let document = read.admitted.document();
        document.is_some_and(|document| self.config.embed_at_night.contains(&document.document_type))
    }

    /// Cuts a document into passages with their keyed terms; none for a patient of whom nothing is kept.
    fn cut(&self, read: Read, keys: &Keys, generation: i64, known: &mut Terms) -> Embedded {
        let mut out = Vec::new();
        if !read.admitted.ephemeral
            && let (Some((redacted, extraction)), Some(message)) = (read.text.as_deref(), read.admitted.document())
            && let Some(patient) = keys.get(&read.admitted.scope)
        {
            let document = redacted.document();
            let (org, who) = (read.admitted.scope.org().0, read.admitted.scope.patient().0);
            for (n, passage) in passages(document, self.config.passage_words).into_iter().enumerate() {
                let id = message.document_id.0;
                let (revision, ordinal) = (message.revision.to_be_bytes(), (n as u64).to_be_bytes());
                let id = derive("passage", &[org.as_bytes(), who.as_bytes(), id.as_bytes(), &revision, &ordinal]);
                let text = passage.span.of(&document.text);
                let mut terms = known.of(text, document.language, read.admitted.scope, patient);
                terms.extend(extraction.concepts(passage.span).into_iter().map(|name| patient.concept_term(name)));
                terms.sort_unstable();
                let text_hash = patient.text_hash(text);
                out.push(NewPassage { id: PassageId(id), span: passage.span, text_hash, terms, vector: None });
            }
        }
        Embedded { read, passages: out, generation }
    }
}

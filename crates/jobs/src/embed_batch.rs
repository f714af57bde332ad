//! Batch embedding: pending passages get their vectors (seed 003, "Mitigaciones": nightly batch). The calls are made
//! between two transactions, never within one; real-time documents do not wait for it.

use async_trait::async_trait;
use serde::Deserialize;
use uuid::Uuid;

use super::driver::{Job, JobContext, JobDependencies, JobError, JobPage, JobWindow};
use super::keyset_pages::next_after;
use super::ledger::RunCursor;
use super::permits::Permits;
use super::policy::Thresholds;
use super::registry::JobName;
use super::status::status;
use anamnesis_core::ids::OrgId;
use anamnesis_core::scope::Scope;
use anamnesis_embedding::{Embedder, Purpose, embed_each};
use anamnesis_sql::Transaction;
use anamnesis_store::consents::MemoryUse;
use anamnesis_store::pending_embeddings::{self, EmbeddedPassage, PendingPassage};
use anamnesis_store::vectors::generation;

/// The job.
pub(crate) struct EmbedBatch {
    pub(crate) policy: EmbedBatchThresholds,
    permits: Permits,
}

/// Thresholds of `jobs/embed_batch.toml`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmbedBatchThresholds {
    pub(crate) max_text_bytes: u32,
}

impl Thresholds for EmbedBatchThresholds {
    fn check(&self) -> Result<(), &'static str> {
        if (256..=1_048_576).contains(&self.max_text_bytes) { Ok(()) } else { Err("max_text_bytes is 256 to 1048576") }
    }
}

status!(
    /// Result of a batch embedding run.
    EmbedBatchStatus {
        /// Passages that waited.
        examined,
        /// Passages that have a vector now. In a preview: that would be sent.
        embedded,
    }
    changed: embedded
);

/// A passage and its outcome.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EmbeddedChange {
    waiting: PendingPassage,
    generation: i64,
    vector: Option<Vec<f32>>,
    /// The provider rejects it, or its patient was erased: only words can find it.
    refused: bool,
}

/// The active generation of the window's organisation, if an available model makes it.
async fn generation(tx: &mut Transaction, window: &JobWindow) -> Result<Option<i64>, JobError> {
    let Some(generations) = window.generations else { return Ok(None) };
    let active = generations.active(generation::read(tx, window.org).await?.active);
    Ok(Some(active).filter(|active| generations.has(*active)))
}

/// Vectors of passages by one model, in their order; `None` for passages that are too long or that the provider
/// rejects, and for erased patients.
///
/// # Errors
/// When the provider fails for all passages, or a document does not open.
pub(super) async fn vectors_of<'w>(
    context: &JobContext<'_>,
    org: OrgId,
    model: &dyn Embedder,
    longest: u32,
    passages: impl Iterator<Item = &'w PendingPassage> + Clone + Send,
) -> Result<Vec<Option<Vec<f32>>>, JobError> {
    let keys = context.keys_by_scope(org, passages.clone().map(|waiting| waiting.patient)).await?;
    let mut texts: Vec<String> = Vec::new();
    let mut places = Vec::new();
    let mut made = Vec::new();
    for (place, waiting) in passages.enumerate() {
        let own = Scope::new(org, waiting.patient).ok().and_then(|scope| keys.get(&scope));
        let text = own.map(|keys| waiting.text(keys)).transpose()?;
        if let Some(text) = text.filter(|text| text.len() <= longest as usize) {
            texts.push(text);
            places.push(place);
        }
        made.push(None);
    }
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for (place, vector) in places.into_iter().zip(embed_each(model, Purpose::Document, &texts).await) {
        match vector {
            Ok(vector) => made[place] = Some(vector),
            Err(error) if error.is_about_input() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(made)
}

#[async_trait]
impl Job for EmbedBatch {
    const NAME: JobName = JobName::EmbedBatch;
    type Change = EmbeddedChange;
    type Status = EmbedBatchStatus;

    fn from_dependencies(dependencies: &JobDependencies<'_>) -> Self {
        Self {
            policy: dependencies.policies.embed_batch.thresholds.clone(),
            permits: Permits::from_dependencies(dependencies),
        }
    }

    fn prepares(&self) -> bool {
        true
    }

    async fn plan(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        from: Option<&RunCursor>,
    ) -> Result<JobPage<EmbeddedChange>, JobError> {
        let Some(generation) = generation(tx, window).await? else { return Ok(JobPage::end()) };
        let after = RunCursor::after(from, (Uuid::nil(), Uuid::nil()))?;
        let rows = pending_embeddings::pending(tx, window.org, window.after(after)).await?;
        let next = next_after(&rows, window, |row| (row.patient.0, row.passage));
        let examined = rows.len() as u64;
        let permits =
            self.permits.permitting(tx, window.org, MemoryUse::Work, rows.iter().map(|row| row.patient)).await?;
        let rows = rows.into_iter().filter(|row| permits.contains(&row.patient));
        let changes = rows.map(|waiting| EmbeddedChange { waiting, generation, vector: None, refused: false });
        Ok(JobPage { changes: changes.collect(), examined, next })
    }

    async fn prepare(
        &self,
        context: &JobContext<'_>,
        window: &JobWindow,
        changes: &mut [EmbeddedChange],
    ) -> Result<(), JobError> {
        let Some(model) = context.models.zip(changes.first()).and_then(|(models, first)| models.get(first.generation))
        else {
            return Ok(());
        };
        let (longest, passages) = (self.policy.max_text_bytes, changes.iter().map(|change| &change.waiting));
        let made = vectors_of(context, window.org, model.as_ref(), longest, passages).await?;
        for (change, vector) in changes.iter_mut().zip(made) {
            change.refused = vector.is_none();
            change.vector = vector;
        }
        Ok(())
    }

    async fn apply(
        &self,
        tx: &mut Transaction,
        context: &JobContext<'_>,
        window: &JobWindow,
        changes: &[EmbeddedChange],
    ) -> Result<(), JobError> {
        let made = changes.iter().filter_map(|change| Some((&change.waiting, change.vector.as_deref()?)));
        let made: Vec<EmbeddedPassage<'_>> = made.collect();
        let generations = generation::hold(tx, window.org).await?;
        let Some(generation) = changes.first().map(|change| change.generation) else { return Ok(()) };
        // The generation was swapped during the call: they stay pending, for vectors of the other model.
        if generations.active.is_some_and(|active| active != generation) {
            return Ok(());
        }
        pending_embeddings::keep(tx, window.org, generation, &made, context.now).await?;
        let missing_next = generations.building.is_some();
        Ok(pending_embeddings::clear_pending(tx, window.org, &made, missing_next, context.now).await?)
    }

    fn tally(&self, page: &JobPage<EmbeddedChange>) -> EmbedBatchStatus {
        let embedded = page.changes.iter().filter(|change| !change.refused).count() as u64;
        EmbedBatchStatus { examined: page.examined, embedded }
    }
}

//! Batch embedding: passages that wait for the night get their vectors (seed 003, "Mitigaciones": nightly batch). The calls
//! are made between two transactions, never within one; real-time documents do not wait for it.

use async_trait::async_trait;
use serde::Deserialize;
use uuid::Uuid;

use super::driver::{Desk, Job, JobError, Means, Page, Window};
use super::lanes::next_after;
use super::ledger::Cursor;
use super::policy::Thresholds;
use super::registry::JobName;
use super::status::status;
use crate::domain::scope::Scope;
use crate::embed::{Purpose, embed_each};
use crate::store::engine::Transaction;
use crate::store::waiting::{self, Waiting};

/// The job.
#[derive(Debug, Clone)]
pub struct EmbedBatch {
    pub policy: EmbedBatchThresholds,
}

/// Thresholds of `jobs/embed_batch.toml`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmbedBatchThresholds {
    pub longest_bytes: u32,
}

impl Thresholds for EmbedBatchThresholds {
    fn check(&self) -> Result<(), &'static str> {
        if (256..=1_048_576).contains(&self.longest_bytes) { Ok(()) } else { Err("longest_bytes is 256 to 1048576") }
    }
}

status!(
    /// What a night of batch embedding did.
    EmbedBatchStatus {
        /// Passages that waited.
        examined,
        /// Passages that have a vector now. In a preview: that would be sent.
        embedded,
    }
    changed: embedded
);

/// A passage and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    waiting: Waiting,
    vector: Option<Vec<f32>>,
    /// The provider refuses it, or its patient was erased: found by its words alone.
    refused: bool,
}

#[async_trait]
impl Job for EmbedBatch {
    const NAME: JobName = JobName::EmbedBatch;
    const PREPARES: bool = true;
    type Change = Change;
    type Status = EmbedBatchStatus;

    fn of(Means { policies, .. }: &Means<'_>) -> Self {
        Self { policy: policies.embed_batch.thresholds.clone() }
    }

    async fn plan(
        &self,
        tx: &mut Transaction,
        window: &Window,
        from: Option<&Cursor>,
    ) -> Result<Page<Change>, JobError> {
        if window.generation.is_none() {
            return Ok(Page::end());
        }
        let after = Cursor::after(from, (Uuid::nil(), Uuid::nil()))?;
        let rows = waiting::waiting(tx, window.org, (after, window.limit)).await?;
        let next = next_after(&rows, window, |row| (row.patient.0, row.passage));
        let examined = rows.len() as u64;
        let changes = rows.into_iter().map(|waiting| Change { waiting, vector: None, refused: false });
        Ok(Page { changes: changes.collect(), examined, next })
    }

    async fn prepare(&self, desk: &Desk<'_>, window: &Window, changes: &mut [Change]) -> Result<(), JobError> {
        let Some(embedder) = desk.embedder else { return Ok(()) };
        let keys = desk.keys_by_scope(window.org, changes.iter().map(|change| change.waiting.patient)).await?;
        let mut texts: Vec<String> = Vec::new();
        let mut places = Vec::new();
        for (place, change) in changes.iter_mut().enumerate() {
            let own = Scope::new(window.org, change.waiting.patient).ok().and_then(|scope| keys.get(&scope));
            let text = own.map(|keys| change.waiting.text(keys)).transpose()?;
            match text.filter(|text| text.len() <= self.policy.longest_bytes as usize) {
                Some(text) => {
                    texts.push(text);
                    places.push(place);
                }
                None => change.refused = true,
            }
        }
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        for (place, vector) in places.into_iter().zip(embed_each(embedder, Purpose::Document, &texts).await) {
            match vector {
                Ok(vector) => changes[place].vector = Some(vector),
                Err(error) if error.is_about_input() => changes[place].refused = true,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    async fn apply(
        &self,
        tx: &mut Transaction,
        desk: &Desk<'_>,
        window: &Window,
        changes: &[Change],
    ) -> Result<(), JobError> {
        let Some(generation) = window.generation else { return Ok(()) };
        let made = changes.iter().filter_map(|change| Some((&change.waiting, change.vector.as_deref()?)));
        let made: Vec<(&Waiting, &[f32])> = made.collect();
        Ok(waiting::keep(tx, window.org, generation, &made, desk.now).await?)
    }

    fn tally(&self, page: &Page<Change>) -> EmbedBatchStatus {
        let embedded = page.changes.iter().filter(|change| !change.refused).count() as u64;
        EmbedBatchStatus { examined: page.examined, embedded }
    }
}

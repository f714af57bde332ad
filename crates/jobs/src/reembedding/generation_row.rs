//! The writes of re-embedding: vectors, and the organisation's row.

use std::sync::OnceLock;

use super::{ReembeddingChange, ReembeddingVerdict};
use crate::driver::{JobContext, JobError, JobWindow};
use anamnesis_sql::Transaction;
use anamnesis_store::pending_embeddings::{self, EmbeddedPassage, PendingPassage};
use anamnesis_store::vectors::generation::Generations;

pub(super) fn passage(change: &ReembeddingChange) -> Option<(&PendingPassage, Option<&[f32]>)> {
    match change {
        ReembeddingChange::Embed { passage, vector, .. } => Some((passage, vector.as_deref())),
        _ => None,
    }
}

/// Stores vectors. A passage that the model rejects leaves the backlog too, so that the gates count it as missing.
/// After the gates have decided, at the swap, it prevents the swap.
pub(crate) async fn keep(
    tx: &mut Transaction,
    context: &JobContext<'_>,
    window: &JobWindow,
    generation: i64,
    changes: &[ReembeddingChange],
) -> Result<(), JobError> {
    let all = || changes.iter().filter_map(passage);
    let made: Vec<EmbeddedPassage<'_>> = all().filter_map(|(passage, vector)| Some((passage, vector?))).collect();
    pending_embeddings::keep(tx, window.org, generation, &made, context.now).await?;
    let is_late = matches!(changes.last(), Some(ReembeddingChange::Swap { .. }));
    let level = all().filter(|(_, vector)| vector.is_some() || !is_late).map(|(passage, _)| passage);
    Ok(pending_embeddings::clear_backlog(tx, window.org, level).await?)
}

/// The row with the wanted generation begun.
pub(super) fn begun(row: &Generations, context: &JobContext<'_>) -> Result<Generations, JobError> {
    let Some(models) = context.models else { return Ok(row.clone()) };
    let (generations, configured) = (models.generations(), models.configured().profile());
    let wanted = models.get(generations.wanted()).map(|model| model.profile().model.clone());
    if row.building == Some(generations.wanted()) && row.building_model != wanted {
        return Err(JobError::ModelChanged);
    }
    let active = generations.active(row.active);
    let model = row.model.clone().or_else(|| (active == configured.generation).then(|| configured.model.clone()));
    // Half of an earlier one may be there.
    let left = row.left || row.building.is_some_and(|building| building != generations.wanted());
    let building = Some(generations.wanted());
    // The note belongs to the generation that was being built then.
    let note = row.note.clone().filter(|_| row.building == building);
    Ok(Generations { active: Some(active), model, building, building_model: wanted, left, note, ..row.clone() })
}

/// The row after the swap; `None` where it cannot be yet.
pub(super) fn swapped(
    row: Generations,
    wanted: i64,
    context: &JobContext<'_>,
    is_behind: bool,
    last: bool,
    ended: &OnceLock<ReembeddingVerdict>,
) -> Option<Generations> {
    if row.building != Some(wanted) {
        return None;
    }
    if is_behind {
        // The last passages may be rejected: the next run reads all passages and counts them.
        return last.then(|| {
            let _ = ended.set(ReembeddingVerdict::StillBehind);
            Generations { note: None, ..row }
        });
    }
    let _ = ended.set(ReembeddingVerdict::Swapped);
    Some(Generations {
        active: Some(wanted),
        model: row.building_model,
        building: None,
        building_model: None,
        swapped_at: Some(context.now),
        left: true,
        note: None,
    })
}

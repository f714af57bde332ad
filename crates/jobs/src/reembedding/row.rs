//! What is written: vectors, and the organisation's row.

use std::sync::OnceLock;

use super::{Change, Verdict};
use crate::driver::{Desk, JobError, Window};
use anamnesis_sql::Transaction;
use anamnesis_store::generations::Generations;
use anamnesis_store::waiting::{self, Vectored, Waiting};

pub(super) fn passage(change: &Change) -> Option<(&Waiting, Option<&[f32]>)> {
    match change {
        Change::Embed { passage, vector, .. } => Some((passage, vector.as_deref())),
        _ => None,
    }
}

/// Keeps what was embedded. A passage that the model refuses is behind no longer, either, so that the gates count it among
/// those that are missing; at the swap, when they have judged, it keeps the generation from being swapped in.
pub(crate) async fn keep(
    tx: &mut Transaction,
    desk: &Desk<'_>,
    window: &Window,
    generation: i64,
    changes: &[Change],
) -> Result<(), JobError> {
    let all = || changes.iter().filter_map(passage);
    let made: Vec<Vectored<'_>> = all().filter_map(|(passage, vector)| Some((passage, vector?))).collect();
    waiting::keep(tx, window.org, generation, &made, desk.now).await?;
    let is_late = matches!(changes.last(), Some(Change::Swap { .. }));
    let level = all().filter(|(_, vector)| vector.is_some() || !is_late).map(|(passage, _)| passage);
    Ok(waiting::behind_no_longer(tx, window.org, level).await?)
}

/// The row with the wanted generation begun.
pub(super) fn begun(row: &Generations, desk: &Desk<'_>) -> Result<Generations, JobError> {
    let Some(models) = desk.models else { return Ok(row.clone()) };
    let (offered, configured) = (models.offered(), models.configured().profile());
    let wanted = models.of(offered.wanted()).map(|model| model.profile().model.clone());
    if row.building == Some(offered.wanted()) && row.building_model != wanted {
        return Err(JobError::ModelChanged);
    }
    let active = offered.active(row.active);
    let model = row.model.clone().or_else(|| (active == configured.generation).then(|| configured.model.clone()));
    // Half of an earlier one may be there.
    let left = row.left || row.building.is_some_and(|building| building != offered.wanted());
    let building = Some(offered.wanted());
    // What was left is of the generation that was being made then.
    let note = row.note.clone().filter(|_| row.building == building);
    Ok(Generations { active: Some(active), model, building, building_model: wanted, left, note, ..row.clone() })
}

/// The row after the swap; `None` where it cannot be yet.
pub(super) fn swapped(
    row: Generations,
    wanted: i64,
    desk: &Desk<'_>,
    is_behind: bool,
    last: bool,
    ended: &OnceLock<Verdict>,
) -> Option<Generations> {
    if row.building != Some(wanted) {
        return None;
    }
    if is_behind {
        // What came last may be refused: the next night walks over all of it and counts that.
        return last.then(|| {
            let _ = ended.set(Verdict::StillBehind);
            Generations { note: None, ..row }
        });
    }
    let _ = ended.set(Verdict::Swapped);
    Some(Generations {
        active: Some(wanted),
        model: row.building_model,
        building: None,
        building_model: None,
        swapped_at: Some(desk.now),
        left: true,
        note: None,
    })
}

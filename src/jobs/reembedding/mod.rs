//! Re-embedding by generation (model.md, "Nightly work"; seed 002, §12): the vectors of another model are made beside the
//! active ones, passed through gates and swapped in by one update. Readers see one generation, before and after.
//!
//! What was stored before the generation began is found by one walk over all passages; what comes after that is marked as
//! behind by whoever stores it, and embedded last. Whoever stores a passage holds the organisation's row until the commit,
//! and the swap takes that row: when it finds nothing behind, nothing is.

mod check;
mod status;

use std::sync::OnceLock;

use async_trait::async_trait;
use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::driver::{Desk, Job, JobError, Means, Page, Window};
use super::embed_batch::vectors_of;
use super::ledger::Cursor;
use super::policy::Thresholds;
use super::registry::JobName;
use crate::embed::Models;
use crate::store::building::{self, Kept, Key, Shelf};
use crate::store::engine::Transaction;
use crate::store::generations::{self, Generations};
use crate::store::waiting::{self, Vectored, Waiting};
use check::Found;
pub use status::{ReembeddingStatus, Verdict};

/// Passages that one page walks at most.
const WALK: u32 = 1_000;
/// How often what came meanwhile is embedded before the swap is left to another night.
const TRIES: u32 = 20;
const START: Key = (Uuid::nil(), Uuid::nil());

/// The job.
#[derive(Debug, Clone)]
pub struct Reembedding {
    pub policy: ReembeddingThresholds,
}

/// Thresholds of `jobs/reembedding.toml`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReembeddingThresholds {
    pub longest_bytes: u32,
    pub most_a_night: u64,
    pub most_missing: u64,
    pub questions: u32,
    pub nearest: u32,
    pub least_overlap: f64,
    pub keep_days: u32,
}

impl Thresholds for ReembeddingThresholds {
    fn check(&self) -> Result<(), &'static str> {
        let within = |ok: bool, message| if ok { Ok(()) } else { Err(message) };
        within((256..=1_048_576).contains(&self.longest_bytes), "longest_bytes is 256 to 1048576")?;
        within(self.most_a_night > 0, "most_a_night is 1 or more")?;
        within((1..=100_000).contains(&self.questions), "questions is 1 to 100000")?;
        within((1..=100).contains(&self.nearest), "nearest is 1 to 100")?;
        within((0.0..=1.0).contains(&self.least_overlap), "least_overlap is 0.0 to 1.0")?;
        within(self.keep_days <= 366, "keep_days is at most 366")
    }
}

/// Where the work is.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum At {
    /// Passages after this one have no vector of the new generation yet; so many were made tonight.
    Build {
        after: Key,
        made: u64,
    },
    /// All have been walked: what is there is looked at and compared.
    Check {
        after: Key,
        found: Found,
    },
    Swap {
        found: Found,
        tries: u32,
    },
    Clear {
        cache: bool,
        after: Kept,
    },
}

/// A piece of the work.
#[derive(Debug)]
pub enum Change {
    /// The generation is begun, or gone on with.
    Begin,
    Abandon,
    Embed {
        passage: Box<Waiting>,
        vector: Option<Vec<f32>>,
        refused: bool,
    },
    /// A vector of the new generation that cannot be compared.
    Unsound(Kept),
    /// How the comparison ended, and what the gates say; `None`: pass.
    Judged {
        found: Found,
        verdict: Option<Verdict>,
    },
    /// One row. Not yet while something is behind.
    Swap {
        last: bool,
        ended: OnceLock<Verdict>,
    },
    Remove(Shelf, Kept),
    /// Nothing of other generations is left.
    Cleared,
    Told(Verdict),
}

/// The generations of an organisation beside those of the models at hand.
struct Standing {
    row: Generations,
    active: i64,
    wanted: i64,
}

async fn standing(tx: &mut Transaction, window: &Window) -> Result<Option<Standing>, JobError> {
    let Some(offered) = window.offered else { return Ok(None) };
    let row = generations::read(tx, window.org).await?;
    let (active, wanted) = (offered.active(row.active), offered.wanted());
    Ok(Some(Standing { row, active, wanted }))
}

fn page(changes: Vec<Change>, examined: usize, next: Option<&At>) -> Page<Change> {
    Page { changes, examined: examined as u64, next: next.map(Cursor::write) }
}

impl Reembedding {
    /// What there is to do at all. Generations only grow, so that a process with yesterday's configuration undoes nothing.
    fn first(&self, window: &Window, standing: &Standing) -> Page<Change> {
        let clear = At::Clear { cache: false, after: Kept::START };
        if standing.wanted > standing.active {
            return page(vec![Change::Begin], 0, Some(&At::Build { after: START, made: 0 }));
        }
        if standing.row.building.is_some() {
            return page(vec![Change::Abandon], 0, Some(&clear));
        }
        let kept_until = standing.row.swapped_at.map(|at| at + TimeDelta::days(i64::from(self.policy.keep_days)));
        if standing.row.left && kept_until.is_none_or(|until| until <= window.cutoff) {
            return page(Vec::new(), 0, Some(&clear));
        }
        Page::end()
    }

    async fn build(
        &self,
        tx: &mut Transaction,
        window: &Window,
        standing: &Standing,
        (after, made): (Key, u64),
    ) -> Result<Page<Change>, JobError> {
        let steps = building::walk(tx, window.org, (after, WALK)).await?;
        let have = building::vectors(tx, window.org, standing.wanted, &steps).await?;
        let (mut wanted, mut last, mut examined, walked) = (Vec::new(), None, 0, steps.len());
        for step in steps {
            if wanted.len() >= window.limit as usize {
                break;
            }
            last = Some(step.key);
            examined += 1;
            // What waits has no vector at all: the night's batch makes one of the active generation first.
            if !step.waits && !have.contains_key(&step.key) {
                wanted.push(step);
            }
        }
        let is_over = walked < WALK as usize && examined == walked;
        let passages = building::with_documents(tx, window.org, wanted).await?;
        let made = made + passages.len() as u64;
        let embed = |passage| Change::Embed { passage: Box::new(passage), vector: None, refused: false };
        let mut changes: Vec<Change> = passages.into_iter().map(embed).collect();
        let next = match last {
            _ if made >= self.policy.most_a_night => None,
            // A preview wrote nothing, so that nothing can be compared.
            _ if is_over && window.preview && made > 0 => None,
            _ if is_over => Some(At::Check { after: START, found: self.found(tx, window).await? }),
            Some(after) => Some(At::Build { after, made }),
            None => None,
        };
        if next.is_none() {
            changes.push(Change::Told(Verdict::Building));
        }
        Ok(page(changes, examined, next.as_ref()))
    }

    /// What came meanwhile is embedded, and the generation swapped in when nothing is behind any more.
    async fn swap(
        &self,
        tx: &mut Transaction,
        window: &Window,
        (found, tries): (Found, u32),
    ) -> Result<Page<Change>, JobError> {
        if window.preview {
            return Ok(page(vec![Change::Told(Verdict::Ready)], 0, None));
        }
        let behind = waiting::behind(tx, window.org, window.limit).await?;
        let examined = behind.len();
        let embed = |passage| Change::Embed { passage: Box::new(passage), vector: None, refused: false };
        let mut changes: Vec<Change> = behind.into_iter().map(embed).collect();
        let last = tries + 1 >= TRIES;
        changes.push(Change::Swap { last, ended: OnceLock::new() });
        let next = (!last).then_some(At::Swap { found, tries: tries + 1 });
        Ok(page(changes, examined, next.as_ref()))
    }

    async fn clear(
        &self,
        tx: &mut Transaction,
        window: &Window,
        standing: &Standing,
        (cache, after): (bool, Kept),
    ) -> Result<Page<Change>, JobError> {
        let shelf = if cache { Shelf::Cache } else { Shelf::Passages };
        let kept = building::kept(tx, window.org, shelf, (&after, WALK)).await?;
        let examined = kept.len();
        let next = match kept.last().filter(|_| examined == WALK as usize) {
            Some(last) => Some(At::Clear { cache, after: last.clone() }),
            None if cache => None,
            None => Some(At::Clear { cache: true, after: Kept::START }),
        };
        let unused = |kept: &Kept| !standing.row.uses(standing.active, kept.generation);
        let mut changes: Vec<Change> =
            kept.into_iter().filter(unused).map(|kept| Change::Remove(shelf, kept)).collect();
        if next.is_none() {
            changes.push(Change::Cleared);
        }
        Ok(page(changes, examined, next.as_ref()))
    }
}

#[async_trait]
impl Job for Reembedding {
    const NAME: JobName = JobName::Reembedding;
    const PREPARES: bool = true;
    type Change = Change;
    type Status = ReembeddingStatus;

    fn of(Means { policies, .. }: &Means<'_>) -> Self {
        Self { policy: policies.reembedding.thresholds.clone() }
    }

    async fn plan(
        &self,
        tx: &mut Transaction,
        window: &Window,
        from: Option<&Cursor>,
    ) -> Result<Page<Change>, JobError> {
        let Some(standing) = standing(tx, window).await? else { return Ok(Page::end()) };
        let at = from.map(Cursor::read::<At>).transpose()?;
        let is_settled = standing.active >= standing.wanted;
        match at {
            None => Ok(self.first(window, &standing)),
            // Swapped; or another process was configured otherwise meanwhile.
            Some(At::Build { .. } | At::Check { .. } | At::Swap { .. }) if is_settled => {
                Ok(self.first(window, &standing))
            }
            Some(At::Build { after, made }) => self.build(tx, window, &standing, (after, made)).await,
            Some(At::Check { after, found }) => self.check(tx, window, &standing, (after, found)).await,
            Some(At::Swap { found, tries }) => self.swap(tx, window, (found, tries)).await,
            Some(At::Clear { cache, after }) => self.clear(tx, window, &standing, (cache, after)).await,
        }
    }

    async fn prepare(&self, desk: &Desk<'_>, window: &Window, changes: &mut [Change]) -> Result<(), JobError> {
        let Some(model) = desk.models.map(Models::wanted) else { return Ok(()) };
        let passages: Vec<&Waiting> = changes.iter().filter_map(passage).map(|(passage, _)| passage).collect();
        let how = (model.as_ref(), self.policy.longest_bytes);
        let made = vectors_of((desk, window.org), how, passages.into_iter()).await?;
        let mut made = made.into_iter();
        for change in changes {
            if let Change::Embed { vector, refused, .. } = change {
                *vector = made.next().flatten();
                *refused = vector.is_none();
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
        let Some(models) = desk.models else { return Ok(()) };
        // First the organisation's row, then its passages: in the order of whoever stores documents.
        let sets =
            matches!(changes.last(), Some(Change::Begin | Change::Abandon | Change::Cleared | Change::Swap { .. }));
        let row = match sets {
            true => generations::take(tx, window.org).await?,
            false => generations::hold(tx, window.org).await?,
        };
        let (wanted, active) = (models.offered().wanted(), models.offered().active(row.active));
        if row.building == Some(wanted) {
            keep(tx, desk, window, wanted, changes).await?;
        }
        for shelf in [Shelf::Passages, Shelf::Cache] {
            let gone = changes.iter().filter_map(|change| match change {
                // Begun by another run since it was found unused, it stays.
                Change::Remove(of, kept) if *of == shelf && !row.uses(active, kept.generation) => Some(kept),
                Change::Unsound(kept) if shelf == Shelf::Passages && row.building == Some(wanted) => Some(kept),
                _ => None,
            });
            building::forget(tx, window.org, shelf, gone).await?;
        }
        let to = match changes.last() {
            Some(Change::Begin) => Some(begun(&row, desk)?),
            Some(Change::Abandon) => Some(Generations { building: None, building_model: None, left: true, ..row }),
            Some(Change::Cleared) => Some(Generations { left: false, ..row }),
            Some(Change::Swap { last, ended }) => {
                let is_behind = building::is_any_behind(tx, window.org).await?;
                swapped(row, (wanted, desk), (is_behind, *last), ended)
            }
            _ => None,
        };
        if let Some(to) = to {
            generations::set(tx, window.org, &to, desk.now).await?;
        }
        Ok(())
    }

    fn tally(&self, page: &Page<Change>) -> ReembeddingStatus {
        let mut status = ReembeddingStatus { examined: page.examined, ..ReembeddingStatus::default() };
        for change in &page.changes {
            let verdict = match change {
                Change::Embed { refused, .. } => {
                    *if *refused { &mut status.refused } else { &mut status.embedded } += 1;
                    None
                }
                Change::Unsound(_) => {
                    status.unsound += 1;
                    None
                }
                Change::Remove(..) => {
                    status.removed += 1;
                    None
                }
                Change::Judged { found, verdict } => {
                    (status.missing, status.compared) = (found.missing, found.compared);
                    status.overlap = found.overlap();
                    *verdict
                }
                Change::Swap { ended, .. } => ended.get().copied(),
                Change::Abandon => Some(Verdict::Abandoned),
                Change::Told(verdict) => Some(*verdict),
                Change::Begin | Change::Cleared => None,
            };
            status.verdict = verdict.or(status.verdict);
        }
        status.swapped = u64::from(status.verdict == Some(Verdict::Swapped));
        status.failed = u64::from(status.verdict.is_some_and(Verdict::is_refusal));
        status
    }
}

fn passage(change: &Change) -> Option<(&Waiting, Option<&[f32]>)> {
    match change {
        Change::Embed { passage, vector, .. } => Some((passage, vector.as_deref())),
        _ => None,
    }
}

/// Keeps what was embedded. A passage that the model refuses is behind no longer, either, so that the gates count it among
/// those that are missing; at the swap, when they have judged, it keeps the generation from being swapped in.
async fn keep(
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
fn begun(row: &Generations, desk: &Desk<'_>) -> Result<Generations, JobError> {
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
    Ok(Generations { active: Some(active), model, building, building_model: wanted, left, ..row.clone() })
}

/// The row after the swap; `None` where it cannot be yet.
fn swapped(
    row: Generations,
    (wanted, desk): (i64, &Desk<'_>),
    (is_behind, last): (bool, bool),
    ended: &OnceLock<Verdict>,
) -> Option<Generations> {
    if row.building != Some(wanted) {
        return None;
    }
    if is_behind {
        if last {
            let _ = ended.set(Verdict::StillBehind);
        }
        return None;
    }
    let _ = ended.set(Verdict::Swapped);
    Some(Generations {
        active: Some(wanted),
        model: row.building_model,
        building: None,
        building_model: None,
        swapped_at: Some(desk.now),
        left: true,
    })
}

//! Re-embedding by generation (model.md, "Job runs"; seed 002, §12): the vectors of another model are built next to the
//! active ones, checked by gates and swapped in by one update. Readers see one generation, before and after.
//!
//! Passages from before the generation began are found by one pass over all of them. The process that stores a later
//! passage marks it as missing, and it is embedded last. A process that stores a passage locks the organisation's row
//! until the commit, and so does the swap: if it finds no passage missing, none is. A run records in that row how far
//! it came and the result of the gates (`resume`), so that the next run does only the remaining work.

mod gates;
mod generation_row;
mod resume;
mod status;

use std::sync::OnceLock;

use async_trait::async_trait;
use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::driver::{Job, JobContext, JobDependencies, JobError, JobPage, JobWindow};
use super::embed_batch::vectors_of;
use super::ledger::RunCursor;
use super::permits::Permits;
use super::policy::Thresholds;
use super::registry::JobName;
use anamnesis_embedding::Models;
use anamnesis_sql::Transaction;
use anamnesis_store::PageRequest;
use anamnesis_store::consents::MemoryUse;
use anamnesis_store::pending_embeddings::{self, PendingPassage};
use anamnesis_store::reconciliation;
use anamnesis_store::vectors::generation::{self, Generations};
use anamnesis_store::vectors::rebuild::{self, PassageKey, StoredVectorKey};
use gates::GateFindings;
use generation_row::{begun, keep, passage, swapped};
use resume::{GateResult, ResumePoint, ResumeState};
pub(crate) use status::{ReembeddingStatus, ReembeddingVerdict};

/// Passages that one page walks at most.
const WALK: u32 = 1_000;
/// How often new passages are embedded before the swap is left to another run.
const TRIES: u32 = 20;
const START: PassageKey = (Uuid::nil(), Uuid::nil());

/// The job.
pub(crate) struct Reembedding {
    pub(crate) policy: ReembeddingThresholds,
    permits: Permits,
}

/// Thresholds of `jobs/reembedding.toml`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReembeddingThresholds {
    pub(crate) max_text_bytes: u32,
    pub max_per_run: u64,
    pub(crate) max_missing: u64,
    pub(crate) sample_size: u32,
    pub(crate) k: u32,
    pub min_overlap: f64,
    pub(crate) recheck_growth: f64,
    pub recheck_days: u32,
    pub(crate) keep_days: u32,
}

impl Thresholds for ReembeddingThresholds {
    fn check(&self) -> Result<(), &'static str> {
        let within = |ok: bool, message| if ok { Ok(()) } else { Err(message) };
        within((256..=1_048_576).contains(&self.max_text_bytes), "max_text_bytes is 256 to 1048576")?;
        within(self.max_per_run > 0, "max_per_run is 1 or more")?;
        within((1..=100_000).contains(&self.sample_size), "sample_size is 1 to 100000")?;
        within((1..=100).contains(&self.k), "k is 1 to 100")?;
        within((0.0..=1.0).contains(&self.min_overlap), "min_overlap is 0.0 to 1.0")?;
        within((0.0..=1.0).contains(&self.recheck_growth), "recheck_growth is 0.0 to 1.0")?;
        within(self.recheck_days <= 366, "recheck_days is at most 366")?;
        within(self.keep_days <= 366, "keep_days is at most 366")
    }
}

/// Where the work is.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum ReembeddingCursor {
    /// Passages after this one have no vector of the new generation yet; so many were made tonight.
    Build {
        after: PassageKey,
        made: u64,
    },
    /// All passages are done: vectors are checked and compared.
    Check {
        after: PassageKey,
        found: GateFindings,
    },
    /// The gates passed before: newer passages are embedded.
    Catch {
        judged: GateResult,
        made: u64,
    },
    Swap {
        found: GateFindings,
        tries: u32,
    },
    Clear {
        after: StoredVectorKey,
    },
}

/// A piece of the work.
#[derive(Debug)]
pub(crate) enum ReembeddingChange {
    /// The generation is started or continued.
    Begin,
    Abandon,
    Embed {
        passage: Box<PendingPassage>,
        vector: Option<Vec<f32>>,
        refused: bool,
    },
    /// The patient denies memory: it waits, for a permit, and nothing of it is sent to the model.
    MarkPending(PassageKey),
    /// A vector of the new generation that cannot be compared.
    RemoveUnsound(StoredVectorKey),
    /// The result of the comparison and of the gates; `None`: passed.
    GatesChecked {
        found: GateFindings,
        verdict: Option<ReembeddingVerdict>,
    },
    /// One row. Not yet while passages are missing.
    Swap {
        last: bool,
        ended: OnceLock<ReembeddingVerdict>,
    },
    Remove(StoredVectorKey),
    /// Nothing of other generations is left.
    ClearDone,
    /// For the next run.
    SaveResumeState(ResumeState),
    Report(ReembeddingVerdict),
}

impl ReembeddingChange {
    /// It changes the organisation's row: one of a page at most.
    fn sets(&self) -> bool {
        matches!(self, Self::Begin | Self::Abandon | Self::ClearDone | Self::SaveResumeState(_) | Self::Swap { .. })
    }

    fn waits(&self) -> Option<PassageKey> {
        match self {
            Self::MarkPending(key) => Some(*key),
            _ => None,
        }
    }
}

/// The generations of an organisation and those of the available models.
struct GenerationPlan {
    row: Generations,
    active: i64,
    wanted: i64,
}

async fn generation_plan(tx: &mut Transaction, window: &JobWindow) -> Result<Option<GenerationPlan>, JobError> {
    let Some(generations) = window.generations else { return Ok(None) };
    let row = generation::read(tx, window.org).await?;
    let (active, wanted) = (generations.active(row.active), generations.wanted());
    Ok(Some(GenerationPlan { row, active, wanted }))
}

fn page(
    changes: Vec<ReembeddingChange>,
    examined: usize,
    next: Option<&ReembeddingCursor>,
) -> JobPage<ReembeddingChange> {
    JobPage { changes, examined: examined as u64, next: next.map(RunCursor::write) }
}

impl Reembedding {
    /// The first step. Generations only grow, so that a process with an old configuration undoes nothing.
    async fn first(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        plan: &GenerationPlan,
    ) -> Result<JobPage<ReembeddingChange>, JobError> {
        let clear = ReembeddingCursor::Clear { after: StoredVectorKey::START };
        if plan.wanted > plan.active {
            let at = match self.left(plan) {
                Some(ResumePoint::Walked { after }) => ReembeddingCursor::Build { after, made: 0 },
                Some(ResumePoint::Judged(judged)) if !self.should_recheck(tx, window, &judged).await? => {
                    ReembeddingCursor::Catch { judged, made: 0 }
                }
                _ => ReembeddingCursor::Build { after: START, made: 0 },
            };
            return Ok(page(vec![ReembeddingChange::Begin], 0, Some(&at)));
        }
        if plan.row.building.is_some() {
            return Ok(page(vec![ReembeddingChange::Abandon], 0, Some(&clear)));
        }
        let kept_until = plan.row.swapped_at.map(|at| at + TimeDelta::days(i64::from(self.policy.keep_days)));
        if plan.row.left && kept_until.is_none_or(|until| until <= window.cutoff) {
            return Ok(page(Vec::new(), 0, Some(&clear)));
        }
        Ok(JobPage::end())
    }

    async fn build(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        plan: &GenerationPlan,
        after: PassageKey,
        made: u64,
    ) -> Result<JobPage<ReembeddingChange>, JobError> {
        let steps = rebuild::walk(tx, window.org, PageRequest { after, limit: WALK }).await?;
        let have = rebuild::vectors(tx, window.org, plan.wanted, &steps).await?;
        let (mut wanted, mut last, mut examined, walked) = (Vec::new(), None, 0, steps.len());
        for step in steps {
            if wanted.len() >= window.limit as usize {
                break;
            }
            last = Some(step.key);
            examined += 1;
            // A pending passage has no vector at all: the embedding batch first makes one of the active generation.
            if !step.embedding_pending && !have.contains_key(&step.key) {
                wanted.push(step);
            }
        }
        let is_over = walked < WALK as usize && examined == walked;
        let passages = rebuild::with_documents(tx, window.org, wanted).await?;
        let made = made + passages.len() as u64;
        let mut changes = self.embeds(tx, window, passages).await?;
        let next = match last {
            _ if made >= self.policy.max_per_run => None,
            // A preview wrote nothing, so that nothing can be compared.
            _ if is_over && window.preview && made > 0 => None,
            _ if is_over => Some(ReembeddingCursor::Check { after: START, found: self.found(tx, window).await? }),
            Some(after) => Some(ReembeddingCursor::Build { after, made }),
            None => None,
        };
        if next.is_none() {
            let place = ResumePoint::Walked { after: last.unwrap_or(after) };
            changes.extend([self.leaves(plan, place), ReembeddingChange::Report(ReembeddingVerdict::Building)]);
        }
        Ok(page(changes, examined, next.as_ref()))
    }

    /// Passages to be embedded, but for those of patients who deny it.
    async fn embeds(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        passages: Vec<PendingPassage>,
    ) -> Result<Vec<ReembeddingChange>, JobError> {
        let permits =
            self.permits.permitting(tx, window.org, MemoryUse::Work, passages.iter().map(|one| one.patient)).await?;
        let change = |passage: PendingPassage| match permits.contains(&passage.patient) {
            true => ReembeddingChange::Embed { passage: Box::new(passage), vector: None, refused: false },
            false => ReembeddingChange::MarkPending((passage.patient.0, passage.passage)),
        };
        Ok(passages.into_iter().map(change).collect())
    }

    /// Embeds newer passages, and swaps the generation in when no passage is missing any more.
    async fn swap(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        found: GateFindings,
        tries: u32,
    ) -> Result<JobPage<ReembeddingChange>, JobError> {
        if window.preview {
            return Ok(page(vec![ReembeddingChange::Report(ReembeddingVerdict::Ready)], 0, None));
        }
        let behind = pending_embeddings::backlog(tx, window.org, window.limit).await?;
        let examined = behind.len();
        let mut changes = self.embeds(tx, window, behind).await?;
        let last = tries + 1 >= TRIES;
        changes.push(ReembeddingChange::Swap { last, ended: OnceLock::new() });
        let next = (!last).then_some(ReembeddingCursor::Swap { found, tries: tries + 1 });
        Ok(page(changes, examined, next.as_ref()))
    }

    async fn clear(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        plan: &GenerationPlan,
        after: StoredVectorKey,
    ) -> Result<JobPage<ReembeddingChange>, JobError> {
        let kept = rebuild::kept(tx, window.org, PageRequest { after: &after, limit: WALK }).await?;
        let examined = kept.len();
        let last = kept.last().filter(|_| examined == WALK as usize);
        let next = last.map(|last| ReembeddingCursor::Clear { after: last.clone() });
        let unused = |kept: &StoredVectorKey| !plan.row.uses(plan.active, kept.generation);
        let mut changes: Vec<ReembeddingChange> =
            kept.into_iter().filter(unused).map(ReembeddingChange::Remove).collect();
        if next.is_none() {
            changes.push(ReembeddingChange::ClearDone);
        }
        Ok(page(changes, examined, next.as_ref()))
    }
}

#[async_trait]
impl Job for Reembedding {
    const NAME: JobName = JobName::Reembedding;
    type Change = ReembeddingChange;
    type Status = ReembeddingStatus;

    fn from_dependencies(dependencies: &JobDependencies<'_>) -> Self {
        Self {
            policy: dependencies.policies.reembedding.thresholds.clone(),
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
    ) -> Result<JobPage<ReembeddingChange>, JobError> {
        let Some(plan) = generation_plan(tx, window).await? else { return Ok(JobPage::end()) };
        let at = from.map(RunCursor::read::<ReembeddingCursor>).transpose()?;
        let is_settled = plan.active >= plan.wanted;
        match at {
            None => self.first(tx, window, &plan).await,
            // Swapped; or another process was configured otherwise meanwhile.
            Some(
                ReembeddingCursor::Build { .. }
                | ReembeddingCursor::Check { .. }
                | ReembeddingCursor::Catch { .. }
                | ReembeddingCursor::Swap { .. },
            ) if is_settled => self.first(tx, window, &plan).await,
            Some(ReembeddingCursor::Build { after, made }) => self.build(tx, window, &plan, after, made).await,
            Some(ReembeddingCursor::Check { after, found }) => self.check(tx, window, &plan, after, found).await,
            Some(ReembeddingCursor::Catch { judged, made }) => self.catch_up(tx, window, &plan, judged, made).await,
            Some(ReembeddingCursor::Swap { found, tries }) => self.swap(tx, window, found, tries).await,
            Some(ReembeddingCursor::Clear { after }) => self.clear(tx, window, &plan, after).await,
        }
    }

    async fn prepare(
        &self,
        context: &JobContext<'_>,
        window: &JobWindow,
        changes: &mut [ReembeddingChange],
    ) -> Result<(), JobError> {
        let Some(model) = context.models.map(Models::wanted) else { return Ok(()) };
        let passages: Vec<&PendingPassage> = changes.iter().filter_map(passage).map(|(passage, _)| passage).collect();
        let longest = self.policy.max_text_bytes;
        let made = vectors_of(context, window.org, model.as_ref(), longest, passages.into_iter()).await?;
        let mut made = made.into_iter();
        for change in changes {
            if let ReembeddingChange::Embed { vector, refused, .. } = change {
                *vector = made.next().flatten();
                *refused = vector.is_none();
            }
        }
        Ok(())
    }

    async fn apply(
        &self,
        tx: &mut Transaction,
        context: &JobContext<'_>,
        window: &JobWindow,
        changes: &[ReembeddingChange],
    ) -> Result<(), JobError> {
        let Some(models) = context.models else { return Ok(()) };
        // First the organisation's row, then its passages: in the same order as the processes that store documents.
        let sets = changes.iter().any(ReembeddingChange::sets);
        let row = match sets {
            true => generation::take(tx, window.org).await?,
            false => generation::hold(tx, window.org).await?,
        };
        let (wanted, active) = (models.generations().wanted(), models.generations().active(row.active));
        if row.building == Some(wanted) {
            keep(tx, context, window, wanted, changes).await?;
        }
        let gone = changes.iter().filter_map(|change| match change {
            // Begun by another run since it was found unused, it stays.
            ReembeddingChange::Remove(kept) if !row.uses(active, kept.generation) => Some(kept),
            ReembeddingChange::RemoveUnsound(kept) if row.building == Some(wanted) => Some(kept),
            _ => None,
        });
        rebuild::forget(tx, window.org, gone).await?;
        let waits: Vec<PassageKey> = changes.iter().filter_map(ReembeddingChange::waits).collect();
        reconciliation::mark_pending(tx, window.org, &waits, context.now).await?;
        let to = match changes.iter().find(|change| change.sets()) {
            Some(ReembeddingChange::Begin) => Some(begun(&row, context)?),
            Some(ReembeddingChange::Abandon) => {
                Some(Generations { building: None, building_model: None, note: None, left: true, ..row })
            }
            Some(ReembeddingChange::ClearDone) => Some(Generations { left: false, ..row }),
            Some(ReembeddingChange::SaveResumeState(left)) if row.building == Some(wanted) => {
                Some(Generations { note: Some(left.to_json()), ..row })
            }
            Some(ReembeddingChange::Swap { last, ended }) => {
                let is_behind = rebuild::has_backlog(tx, window.org).await?;
                swapped(row, wanted, context, is_behind, *last, ended)
            }
            _ => None,
        };
        if let Some(to) = to {
            generation::set(tx, window.org, &to, context.now).await?;
        }
        Ok(())
    }

    fn tally(&self, page: &JobPage<ReembeddingChange>) -> ReembeddingStatus {
        let mut status = ReembeddingStatus { examined: page.examined, ..ReembeddingStatus::default() };
        for change in &page.changes {
            let verdict = match change {
                ReembeddingChange::Embed { refused, .. } => {
                    *if *refused { &mut status.refused } else { &mut status.embedded } += 1;
                    None
                }
                ReembeddingChange::RemoveUnsound(_) => {
                    status.unsound += 1;
                    None
                }
                ReembeddingChange::Remove(..) => {
                    status.removed += 1;
                    None
                }
                ReembeddingChange::GatesChecked { found, verdict } => {
                    (status.missing, status.compared) = (found.missing, found.compared);
                    status.overlap = found.overlap();
                    *verdict
                }
                ReembeddingChange::Swap { ended, .. } => ended.get().copied(),
                ReembeddingChange::Abandon => Some(ReembeddingVerdict::Abandoned),
                ReembeddingChange::Report(verdict) => Some(*verdict),
                ReembeddingChange::Begin
                | ReembeddingChange::ClearDone
                | ReembeddingChange::SaveResumeState(_)
                | ReembeddingChange::MarkPending(_) => None,
            };
            status.verdict = verdict.or(status.verdict);
        }
        status.swapped = u64::from(status.verdict == Some(ReembeddingVerdict::Swapped));
        status.failed = u64::from(status.verdict.is_some_and(ReembeddingVerdict::is_refusal));
        status
    }
}

//! Re-embedding by generation (model.md, "Nightly work"; seed 002, §12): the vectors of another model are made beside the
//! active ones, passed through gates and swapped in by one update. Readers see one generation, before and after.
//!
//! What was stored before the generation began is found by one walk over all passages; what comes after that is marked as
//! behind by whoever stores it, and embedded last. Whoever stores a passage holds the organisation's row until the commit,
//! and the swap takes that row: when it finds nothing behind, nothing is. A night says in that row how far it came and what the
//! gates said (`left`), so that the next one does what is due and does not look at all that is stored again.

mod check;
mod left;
mod row;
mod status;

use std::sync::OnceLock;

use async_trait::async_trait;
use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::driver::{Desk, Job, JobError, Means, Page, Window};
use super::embed_batch::vectors_of;
use super::ledger::Cursor;
use super::permits::Permits;
use super::policy::Thresholds;
use super::registry::JobName;
use anamnesis_embedding::Models;
use anamnesis_sql::Transaction;
use anamnesis_store::Next;
use anamnesis_store::building::{self, Kept, Key};
use anamnesis_store::consents::Use;
use anamnesis_store::generations::{self, Generations};
use anamnesis_store::reconciling;
use anamnesis_store::waiting::{self, Waiting};
use check::Found;
use left::{Judged, Left, Place};
use row::{begun, keep, passage, swapped};
pub(crate) use status::{ReembeddingStatus, Verdict};

/// Passages that one page walks at most.
const WALK: u32 = 1_000;
/// How often what came meanwhile is embedded before the swap is left to another night.
const TRIES: u32 = 20;
const START: Key = (Uuid::nil(), Uuid::nil());

/// The job.
pub(crate) struct Reembedding {
    pub(crate) policy: ReembeddingThresholds,
    permits: Permits,
}

/// Thresholds of `jobs/reembedding.toml`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReembeddingThresholds {
    pub(crate) longest_bytes: u32,
    pub most_a_night: u64,
    pub(crate) most_missing: u64,
    pub(crate) questions: u32,
    pub(crate) nearest: u32,
    pub least_overlap: f64,
    pub(crate) ask_again_share: f64,
    pub ask_again_days: u32,
    pub(crate) keep_days: u32,
}

impl Thresholds for ReembeddingThresholds {
    fn check(&self) -> Result<(), &'static str> {
        let within = |ok: bool, message| if ok { Ok(()) } else { Err(message) };
        within((256..=1_048_576).contains(&self.longest_bytes), "longest_bytes is 256 to 1048576")?;
        within(self.most_a_night > 0, "most_a_night is 1 or more")?;
        within((1..=100_000).contains(&self.questions), "questions is 1 to 100000")?;
        within((1..=100).contains(&self.nearest), "nearest is 1 to 100")?;
        within((0.0..=1.0).contains(&self.least_overlap), "least_overlap is 0.0 to 1.0")?;
        within((0.0..=1.0).contains(&self.ask_again_share), "ask_again_share is 0.0 to 1.0")?;
        within(self.ask_again_days <= 366, "ask_again_days is at most 366")?;
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
    /// The gates were asked before: what came since is embedded.
    Catch {
        judged: Judged,
        made: u64,
    },
    Swap {
        found: Found,
        tries: u32,
    },
    Clear {
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
    /// The patient denies memory: it waits, for a permit, and nothing of it is sent to the model.
    Waits(Key),
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
    Remove(Kept),
    /// Nothing of other generations is left.
    Cleared,
    /// For the next night.
    Left(Left),
    Told(Verdict),
}

impl Change {
    /// It changes the organisation's row: one of a page at most.
    fn sets(&self) -> bool {
        matches!(self, Self::Begin | Self::Abandon | Self::Cleared | Self::Left(_) | Self::Swap { .. })
    }

    fn waits(&self) -> Option<Key> {
        match self {
            Self::Waits(key) => Some(*key),
            _ => None,
        }
    }
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
    async fn first(
        &self,
        tx: &mut Transaction,
        window: &Window,
        standing: &Standing,
    ) -> Result<Page<Change>, JobError> {
        let clear = At::Clear { after: Kept::START };
        if standing.wanted > standing.active {
            let at = match self.left(standing) {
                Some(Place::Walked { after }) => At::Build { after, made: 0 },
                Some(Place::Judged(judged)) if !self.asks_again(tx, window, &judged).await? => {
                    At::Catch { judged, made: 0 }
                }
                _ => At::Build { after: START, made: 0 },
            };
            return Ok(page(vec![Change::Begin], 0, Some(&at)));
        }
        if standing.row.building.is_some() {
            return Ok(page(vec![Change::Abandon], 0, Some(&clear)));
        }
        let kept_until = standing.row.swapped_at.map(|at| at + TimeDelta::days(i64::from(self.policy.keep_days)));
        if standing.row.left && kept_until.is_none_or(|until| until <= window.cutoff) {
            return Ok(page(Vec::new(), 0, Some(&clear)));
        }
        Ok(Page::end())
    }

    async fn build(
        &self,
        tx: &mut Transaction,
        window: &Window,
        standing: &Standing,
        after: Key,
        made: u64,
    ) -> Result<Page<Change>, JobError> {
        let steps = building::walk(tx, window.org, Next { after, limit: WALK }).await?;
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
        let mut changes = self.embeds(tx, window, passages).await?;
        let next = match last {
            _ if made >= self.policy.most_a_night => None,
            // A preview wrote nothing, so that nothing can be compared.
            _ if is_over && window.preview && made > 0 => None,
            _ if is_over => Some(At::Check { after: START, found: self.found(tx, window).await? }),
            Some(after) => Some(At::Build { after, made }),
            None => None,
        };
        if next.is_none() {
            let place = Place::Walked { after: last.unwrap_or(after) };
            changes.extend([self.leaves(standing, place), Change::Told(Verdict::Building)]);
        }
        Ok(page(changes, examined, next.as_ref()))
    }

    /// Passages to be embedded, but for those of patients who deny it.
    async fn embeds(
        &self,
        tx: &mut Transaction,
        window: &Window,
        passages: Vec<Waiting>,
    ) -> Result<Vec<Change>, JobError> {
        let permits =
            self.permits.permitting(tx, window.org, Use::Work, passages.iter().map(|one| one.patient)).await?;
        let change = |passage: Waiting| match permits.contains(&passage.patient) {
            true => Change::Embed { passage: Box::new(passage), vector: None, refused: false },
            false => Change::Waits((passage.patient.0, passage.passage)),
        };
        Ok(passages.into_iter().map(change).collect())
    }

    /// What came meanwhile is embedded, and the generation swapped in when nothing is behind any more.
    async fn swap(
        &self,
        tx: &mut Transaction,
        window: &Window,
        found: Found,
        tries: u32,
    ) -> Result<Page<Change>, JobError> {
        if window.preview {
            return Ok(page(vec![Change::Told(Verdict::Ready)], 0, None));
        }
        let behind = waiting::behind(tx, window.org, window.limit).await?;
        let examined = behind.len();
        let mut changes = self.embeds(tx, window, behind).await?;
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
        after: Kept,
    ) -> Result<Page<Change>, JobError> {
        let kept = building::kept(tx, window.org, Next { after: &after, limit: WALK }).await?;
        let examined = kept.len();
        let last = kept.last().filter(|_| examined == WALK as usize);
        let next = last.map(|last| At::Clear { after: last.clone() });
        let unused = |kept: &Kept| !standing.row.uses(standing.active, kept.generation);
        let mut changes: Vec<Change> = kept.into_iter().filter(unused).map(Change::Remove).collect();
        if next.is_none() {
            changes.push(Change::Cleared);
        }
        Ok(page(changes, examined, next.as_ref()))
    }
}

#[async_trait]
impl Job for Reembedding {
    const NAME: JobName = JobName::Reembedding;
    type Change = Change;
    type Status = ReembeddingStatus;

    fn of(means: &Means<'_>) -> Self {
        Self { policy: means.policies.reembedding.thresholds.clone(), permits: Permits::of(means) }
    }

    fn prepares(&self) -> bool {
        true
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
            None => self.first(tx, window, &standing).await,
            // Swapped; or another process was configured otherwise meanwhile.
            Some(At::Build { .. } | At::Check { .. } | At::Catch { .. } | At::Swap { .. }) if is_settled => {
                self.first(tx, window, &standing).await
            }
            Some(At::Build { after, made }) => self.build(tx, window, &standing, after, made).await,
            Some(At::Check { after, found }) => self.check(tx, window, &standing, after, found).await,
            Some(At::Catch { judged, made }) => self.catch_up(tx, window, &standing, judged, made).await,
            Some(At::Swap { found, tries }) => self.swap(tx, window, found, tries).await,
            Some(At::Clear { after }) => self.clear(tx, window, &standing, after).await,
        }
    }

    async fn prepare(&self, desk: &Desk<'_>, window: &Window, changes: &mut [Change]) -> Result<(), JobError> {
        let Some(model) = desk.models.map(Models::wanted) else { return Ok(()) };
        let passages: Vec<&Waiting> = changes.iter().filter_map(passage).map(|(passage, _)| passage).collect();
        let longest = self.policy.longest_bytes;
        let made = vectors_of(desk, window.org, model.as_ref(), longest, passages.into_iter()).await?;
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
        let sets = changes.iter().any(Change::sets);
        let row = match sets {
            true => generations::take(tx, window.org).await?,
            false => generations::hold(tx, window.org).await?,
        };
        let (wanted, active) = (models.offered().wanted(), models.offered().active(row.active));
        if row.building == Some(wanted) {
            keep(tx, desk, window, wanted, changes).await?;
        }
        let gone = changes.iter().filter_map(|change| match change {
            // Begun by another run since it was found unused, it stays.
            Change::Remove(kept) if !row.uses(active, kept.generation) => Some(kept),
            Change::Unsound(kept) if row.building == Some(wanted) => Some(kept),
            _ => None,
        });
        building::forget(tx, window.org, gone).await?;
        let waits: Vec<Key> = changes.iter().filter_map(Change::waits).collect();
        reconciling::wait(tx, window.org, &waits, desk.now).await?;
        let to = match changes.iter().find(|change| change.sets()) {
            Some(Change::Begin) => Some(begun(&row, desk)?),
            Some(Change::Abandon) => {
                Some(Generations { building: None, building_model: None, note: None, left: true, ..row })
            }
            Some(Change::Cleared) => Some(Generations { left: false, ..row }),
            Some(Change::Left(left)) if row.building == Some(wanted) => {
                Some(Generations { note: Some(left.to_json()), ..row })
            }
            Some(Change::Swap { last, ended }) => {
                let is_behind = building::is_any_behind(tx, window.org).await?;
                swapped(row, wanted, desk, is_behind, *last, ended)
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
                Change::Begin | Change::Cleared | Change::Left(_) | Change::Waits(_) => None,
            };
            status.verdict = verdict.or(status.verdict);
        }
        status.swapped = u64::from(status.verdict == Some(Verdict::Swapped));
        status.failed = u64::from(status.verdict.is_some_and(Verdict::is_refusal));
        status
    }
}

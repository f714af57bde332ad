//! The gates before a swap: every passage has a vector, every vector can be compared, and both generations find much the
//! same. The comparison is a walk, so that it holds nobody up; what comes meanwhile is embedded at the swap.

use serde::{Deserialize, Serialize};

use super::{At, Change, Reembedding, Standing, Verdict, page};
use crate::driver::{JobError, Page, Window};
use anamnesis_sql::Transaction;
use anamnesis_store::Next;
use anamnesis_store::building::{self, Kept, Key};

/// What the walk found so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// Every so manieth passage is a question.
    every: u64,
    /// Passages that there were when the walk began.
    #[serde(default)]
    pub(crate) passages: u64,
    pub(crate) missing: u64,
    pub(crate) unsound: u64,
    pub(crate) compared: u64,
    shares: f64,
}

impl Found {
    /// Average share of the nearest that both generations name; `None` where no question told anything.
    pub(crate) fn overlap(&self) -> Option<f64> {
        (self.compared > 0).then(|| self.shares / self.compared as f64)
    }
}

/// Passages that one page looks at, vectors included.
const LOOKED_AT: u32 = 500;

impl Reembedding {
    /// Before the walk: how many passages there are to choose questions from.
    pub(super) async fn found(&self, tx: &mut Transaction, window: &Window) -> Result<Found, JobError> {
        let passages = building::count(tx, window.org).await?;
        let every = (passages / u64::from(self.policy.questions)).max(1);
        Ok(Found { every, passages, ..Found::default() })
    }

    pub(super) async fn check(
        &self,
        tx: &mut Transaction,
        window: &Window,
        standing: &Standing,
        after: Key,
        mut found: Found,
    ) -> Result<Page<Change>, JobError> {
        let steps = building::walk(tx, window.org, Next { after, limit: LOOKED_AT }).await?;
        let new = building::vectors(tx, window.org, standing.wanted, &steps).await?;
        let old = building::vectors(tx, window.org, standing.active, &steps).await?;
        let dimension = window.offered.map_or(0, |offered| offered.dimension);
        let (mut changes, mut last, mut asked) = (Vec::new(), None, 0);
        for step in &steps {
            if asked >= window.limit {
                break;
            }
            last = Some(step.key);
            let Some(vector) = new.get(&step.key) else {
                found.missing += u64::from(!step.waits && !step.behind);
                continue;
            };
            if !building::is_sound(vector, dimension) {
                found.unsound += 1;
                let (patient, passage) = step.key;
                changes.push(Change::Unsound(Kept { patient, generation: standing.wanted, passage }));
                continue;
            }
            if let Some(before) = old.get(&step.key).filter(|_| step.is_sampled(found.every)) {
                asked += 1;
                let both = [(standing.active, before.as_slice()), (standing.wanted, vector.as_slice())];
                let nearest = self.policy.nearest as usize;
                let likeness = building::likeness(tx, window.org, step.key, nearest, both).await?;
                found.compared += u64::from(likeness.is_some());
                found.shares += likeness.map_or(0.0, |likeness| likeness.overlap);
            }
        }
        let is_over = last == steps.last().map(|step| step.key) && steps.len() < LOOKED_AT as usize;
        let next = match last {
            Some(after) if !is_over => Some(At::Check { after, found }),
            _ => {
                let verdict = self.verdict(&found);
                changes.push(Change::Judged { found, verdict });
                changes.extend(verdict.map(|verdict| self.judged(standing, &found, verdict, window.cutoff)));
                verdict.is_none().then_some(At::Swap { found, tries: 0 })
            }
        };
        Ok(page(changes, steps.len(), next.as_ref()))
    }

    /// The first gate that does not open.
    fn verdict(&self, found: &Found) -> Option<Verdict> {
        if found.unsound > 0 {
            return Some(Verdict::UnsoundVectors);
        }
        if found.missing > self.policy.most_missing {
            return Some(Verdict::MissingVectors);
        }
        found.overlap().is_some_and(|overlap| overlap < self.policy.least_overlap).then_some(Verdict::TooUnlike)
    }
}

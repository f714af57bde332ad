//! The gates before a swap: every passage has a vector, every vector can be compared, and both generations find mostly
//! the same. The comparison runs page by page, so that it delays nothing; passages that arrive meanwhile are embedded
//! at the swap.

use serde::{Deserialize, Serialize};

use super::{GenerationPlan, Reembedding, ReembeddingChange, ReembeddingCursor, ReembeddingVerdict, page};
use crate::driver::{JobError, JobPage, JobWindow};
use anamnesis_sql::Transaction;
use anamnesis_store::PageRequest;
use anamnesis_store::vectors::rebuild::{self, PassageKey, StoredVectorKey};

/// The results of the comparison so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct GateFindings {
    /// One in this many passages is a question.
    every: u64,
    /// Passages that there were when the walk began.
    #[serde(default)]
    pub(crate) passages: u64,
    pub(crate) missing: u64,
    pub(crate) unsound: u64,
    pub(crate) compared: u64,
    shares: f64,
}

impl GateFindings {
    /// Average share of nearest neighbours that both generations have; `None` if no sample was comparable.
    pub(crate) fn overlap(&self) -> Option<f64> {
        (self.compared > 0).then(|| self.shares / self.compared as f64)
    }
}

/// Passages of one page, vectors included.
const LOOKED_AT: u32 = 500;

impl Reembedding {
    /// Before the walk: how many passages there are to choose questions from.
    pub(super) async fn found(&self, tx: &mut Transaction, window: &JobWindow) -> Result<GateFindings, JobError> {
        let passages = rebuild::count(tx, window.org).await?;
        let every = (passages / u64::from(self.policy.sample_size)).max(1);
        Ok(GateFindings { every, passages, ..GateFindings::default() })
    }

    pub(super) async fn check(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        plan: &GenerationPlan,
        after: PassageKey,
        mut found: GateFindings,
    ) -> Result<JobPage<ReembeddingChange>, JobError> {
        let steps = rebuild::walk(tx, window.org, PageRequest { after, limit: LOOKED_AT }).await?;
        let new = rebuild::vectors(tx, window.org, plan.wanted, &steps).await?;
        let old = rebuild::vectors(tx, window.org, plan.active, &steps).await?;
        let dimension = window.generations.map_or(0, |generations| generations.dimension);
        let (mut changes, mut last, mut asked) = (Vec::new(), None, 0);
        for step in &steps {
            if asked >= window.limit {
                break;
            }
            last = Some(step.key);
            let Some(vector) = new.get(&step.key) else {
                found.missing += u64::from(!step.embedding_pending && !step.missing_next_generation);
                continue;
            };
            if !rebuild::is_sound(vector, dimension) {
                found.unsound += 1;
                let (patient, passage) = step.key;
                changes.push(ReembeddingChange::RemoveUnsound(StoredVectorKey {
                    patient,
                    generation: plan.wanted,
                    passage,
                }));
                continue;
            }
            if let Some(before) = old.get(&step.key).filter(|_| step.is_sampled(found.every)) {
                asked += 1;
                let both = [(plan.active, before.as_slice()), (plan.wanted, vector.as_slice())];
                let nearest = self.policy.k as usize;
                let likeness = rebuild::neighbor_agreement(tx, window.org, step.key, nearest, both).await?;
                found.compared += u64::from(likeness.is_some());
                found.shares += likeness.map_or(0.0, |likeness| likeness.overlap);
            }
        }
        let is_over = last == steps.last().map(|step| step.key) && steps.len() < LOOKED_AT as usize;
        let next = match last {
            Some(after) if !is_over => Some(ReembeddingCursor::Check { after, found }),
            _ => {
                let verdict = self.verdict(&found);
                changes.push(ReembeddingChange::GatesChecked { found, verdict });
                changes.extend(verdict.map(|verdict| self.judged(plan, &found, verdict, window.cutoff)));
                verdict.is_none().then_some(ReembeddingCursor::Swap { found, tries: 0 })
            }
        };
        Ok(page(changes, steps.len(), next.as_ref()))
    }

    /// The first gate that does not open.
    fn verdict(&self, found: &GateFindings) -> Option<ReembeddingVerdict> {
        if found.unsound > 0 {
            return Some(ReembeddingVerdict::UnsoundVectors);
        }
        if found.missing > self.policy.max_missing {
            return Some(ReembeddingVerdict::MissingVectors);
        }
        found
            .overlap()
            .is_some_and(|overlap| overlap < self.policy.min_overlap)
            .then_some(ReembeddingVerdict::TooUnlike)
    }
}

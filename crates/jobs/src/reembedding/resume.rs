//! The note of a run for the next one about the generation in progress: how far it came, or which gate failed. A run
//! with few new passages only embeds those. All passages are compared again after a change of settings or models, after
//! enough new passages, or after a long time.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::gates::GateFindings;
use super::{GenerationPlan, Reembedding, ReembeddingChange, ReembeddingCursor, ReembeddingVerdict, page};
use crate::driver::{JobError, JobPage, JobWindow};
use anamnesis_core::ids::derive;
use anamnesis_sql::Transaction;
use anamnesis_store::pending_embeddings;
use anamnesis_store::vectors::rebuild::{self, PassageKey};

/// Stored in the organisation's row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ResumeState {
    /// Under which settings and generations.
    settings: Uuid,
    place: ResumePoint,
}

/// Where the next run continues.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum ResumePoint {
    /// Passages up to this one are done; later ones are marked as missing.
    Walked { after: PassageKey },
    /// All were walked, and the gates were asked.
    Judged(GateResult),
}

/// The settings of a comparison and its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct GateResult {
    pub(crate) found: GateFindings,
    /// The gate that stayed shut.
    pub(crate) verdict: ReembeddingVerdict,
    pub(crate) at: DateTime<Utc>,
    /// Passages that were embedded since then.
    pub(crate) since: u64,
    /// It removed vectors that could not be compared, fewer than last time: they are made and compared again
    /// immediately.
    pub(crate) soon: bool,
}

impl ResumeState {
    pub(super) fn to_json(&self) -> String {
        serde_json::to_string(self).expect("ids and numbers are JSON")
    }
}

impl Reembedding {
    /// Names all that a verdict depends on besides the passages.
    fn settings(&self, plan: &GenerationPlan) -> Uuid {
        let policy = &self.policy;
        let numbers = [
            plan.active.to_be_bytes(),
            plan.wanted.to_be_bytes(),
            u64::from(policy.max_text_bytes).to_be_bytes(),
            policy.max_missing.to_be_bytes(),
            u64::from(policy.sample_size).to_be_bytes(),
            u64::from(policy.k).to_be_bytes(),
            policy.min_overlap.to_be_bytes(),
        ];
        derive("reembedding.settings", &[&numbers.concat()])
    }

    /// The note of the last run, if it applies to these settings.
    pub(super) fn left(&self, plan: &GenerationPlan) -> Option<ResumePoint> {
        if plan.row.building != Some(plan.wanted) {
            return None;
        }
        let left: ResumeState = serde_json::from_str(plan.row.note.as_deref()?).ok()?;
        (left.settings == self.settings(plan)).then_some(left.place)
    }

    pub(super) fn leaves(&self, plan: &GenerationPlan, place: ResumePoint) -> ReembeddingChange {
        ReembeddingChange::SaveResumeState(ResumeState { settings: self.settings(plan), place })
    }

    /// The result of the gates at the end of a comparison.
    pub(super) fn judged(
        &self,
        plan: &GenerationPlan,
        found: &GateFindings,
        verdict: ReembeddingVerdict,
        at: DateTime<Utc>,
    ) -> ReembeddingChange {
        let before = match self.left(plan) {
            Some(ResumePoint::Judged(judged)) => Some(judged.found.unsound),
            _ => None,
        };
        let fewer = before.is_none_or(|before| before == 0 || found.unsound < before);
        let soon = verdict == ReembeddingVerdict::UnsoundVectors && fewer;
        self.leaves(plan, ResumePoint::Judged(GateResult { found: *found, verdict, at, since: 0, soon }))
    }

    /// Whether all passages are to be walked and asked again.
    pub(super) async fn should_recheck(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        judged: &GateResult,
    ) -> Result<bool, JobError> {
        if judged.soon || window.cutoff >= judged.at + TimeDelta::days(i64::from(self.policy.recheck_days)) {
            return Ok(true);
        }
        let came = judged.since + rebuild::count_backlog(tx, window.org).await?;
        Ok(came > 0 && came as f64 >= self.policy.recheck_growth * judged.found.passages as f64)
    }

    /// Passages since the comparison are embedded; then its result stays valid.
    pub(super) async fn catch_up(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        plan: &GenerationPlan,
        judged: GateResult,
        made: u64,
    ) -> Result<JobPage<ReembeddingChange>, JobError> {
        let behind = pending_embeddings::backlog(tx, window.org, window.limit).await?;
        let came = behind.len();
        let mut changes = self.embeds(tx, window, behind).await?;
        let made = made + came as u64;
        let is_enough = made >= self.policy.max_per_run;
        let judged = GateResult { since: judged.since + came as u64, ..judged };
        // A preview wrote nothing: it would see the same passages for ever.
        if came > 0 && !is_enough && !window.preview {
            return Ok(page(changes, came, Some(&ReembeddingCursor::Catch { judged, made })));
        }
        let reported = if is_enough { ReembeddingVerdict::Building } else { judged.verdict };
        if made > 0 {
            changes.push(self.leaves(plan, ResumePoint::Judged(judged)));
        }
        changes.push(ReembeddingChange::Report(reported));
        Ok(page(changes, came, None))
    }
}

#[cfg(test)]
#[path = "resume_tests.rs"]
mod tests;

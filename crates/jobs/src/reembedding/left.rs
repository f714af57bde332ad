//! What a night leaves for the next one about the generation that is being made: how far the walk came, or which gate stayed
//! shut. A night in which little came does that little; all is walked and asked again when the settings or the models changed,
//! when enough came, or when it is long ago.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::check::Found;
use super::{At, Change, Reembedding, Standing, Verdict, page};
use crate::driver::{JobError, Page, Window};
use anamnesis_core::ids::derive;
use anamnesis_sql::Transaction;
use anamnesis_store::building::{self, Key};
use anamnesis_store::waiting;

/// Kept in the organisation's row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Left {
    /// Under which settings and generations.
    settings: Uuid,
    place: Place,
}

/// Where the next night goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Place {
    /// Passages up to this one have been walked; what came since is marked as behind.
    Walked { after: Key },
    /// All were walked, and the gates were asked.
    Judged(Judged),
}

/// What was asked, and what was said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Judged {
    pub(crate) found: Found,
    /// The gate that stayed shut.
    pub(crate) verdict: Verdict,
    pub(crate) at: DateTime<Utc>,
    /// Passages that were embedded since then.
    pub(crate) since: u64,
    /// It removed vectors that could not be compared, fewer than the last time: they are made and asked again at once.
    pub(crate) soon: bool,
}

impl Left {
    pub(super) fn to_json(&self) -> String {
        serde_json::to_string(self).expect("ids and numbers are JSON")
    }
}

impl Reembedding {
    /// Names all that a verdict depends on beside the passages.
    fn settings(&self, standing: &Standing) -> Uuid {
        let policy = &self.policy;
        let numbers = [
            standing.active.to_be_bytes(),
            standing.wanted.to_be_bytes(),
            u64::from(policy.longest_bytes).to_be_bytes(),
            policy.most_missing.to_be_bytes(),
            u64::from(policy.questions).to_be_bytes(),
            u64::from(policy.nearest).to_be_bytes(),
            policy.least_overlap.to_be_bytes(),
        ];
        derive("reembedding.settings", &[&numbers.concat()])
    }

    /// What the last night left, as far as it holds for these settings.
    pub(super) fn left(&self, standing: &Standing) -> Option<Place> {
        if standing.row.building != Some(standing.wanted) {
            return None;
        }
        let left: Left = serde_json::from_str(standing.row.note.as_deref()?).ok()?;
        (left.settings == self.settings(standing)).then_some(left.place)
    }

    pub(super) fn leaves(&self, standing: &Standing, place: Place) -> Change {
        Change::Left(Left { settings: self.settings(standing), place })
    }

    /// What the gates said at the end of a walk.
    pub(super) fn judged(&self, standing: &Standing, found: &Found, verdict: Verdict, at: DateTime<Utc>) -> Change {
        let before = match self.left(standing) {
            Some(Place::Judged(judged)) => Some(judged.found.unsound),
            _ => None,
        };
        let fewer = before.is_none_or(|before| before == 0 || found.unsound < before);
        let soon = verdict == Verdict::UnsoundVectors && fewer;
        self.leaves(standing, Place::Judged(Judged { found: *found, verdict, at, since: 0, soon }))
    }

    /// Whether all passages are to be walked and asked again.
    pub(super) async fn asks_again(
        &self,
        tx: &mut Transaction,
        window: &Window,
        judged: &Judged,
    ) -> Result<bool, JobError> {
        if judged.soon || window.cutoff >= judged.at + TimeDelta::days(i64::from(self.policy.ask_again_days)) {
            return Ok(true);
        }
        let came = judged.since + building::count_behind(tx, window.org).await?;
        Ok(came > 0 && came as f64 >= self.policy.ask_again_share * judged.found.passages as f64)
    }

    /// What came since the gates were asked is embedded; then what they said holds on.
    pub(super) async fn catch_up(
        &self,
        tx: &mut Transaction,
        window: &Window,
        standing: &Standing,
        judged: Judged,
        made: u64,
    ) -> Result<Page<Change>, JobError> {
        let behind = waiting::behind(tx, window.org, window.limit).await?;
        let came = behind.len();
        let mut changes = self.embeds(tx, window, behind).await?;
        let made = made + came as u64;
        let is_enough = made >= self.policy.most_a_night;
        let judged = Judged { since: judged.since + came as u64, ..judged };
        // A preview wrote nothing: it would see the same passages for ever.
        if came > 0 && !is_enough && !window.preview {
            return Ok(page(changes, came, Some(&At::Catch { judged, made })));
        }
        let told = if is_enough { Verdict::Building } else { judged.verdict };
        if made > 0 {
            changes.push(self.leaves(standing, Place::Judged(judged)));
        }
        changes.push(Change::Told(told));
        Ok(page(changes, came, None))
    }
}

#[cfg(test)]
#[path = "left_tests.rs"]
mod tests;

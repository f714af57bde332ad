//! The effect of time on a memory: one pure function, called lazily on read and on write, and by the jobs (seed 002,
//! sections 4 and 8; model.md, "States"). Boundaries are inclusive: at exactly 48 hours a confirmation is due, at
//! exactly 7 days a state is unconfirmed.

use chrono::{DateTime, Duration, Utc};
use serde::{Deserialize, Serialize};

use super::memory::{Class, Kind, PermittedUse, State};
use super::provenance::Trust;

/// The intervals. Policy: `jobs/*.toml` may shorten or lengthen them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LifecyclePolicy {
    /// A time-bound state is to be reconfirmed this long after its last confirmation.
    pub reconfirm_hours: u32,
    /// … and is unconfirmed after this long.
    pub unconfirmed_days: u32,
    /// An inference lives at most this long; a shorter `expires_at` is honoured, a longer one is not.
    pub inference_hours: u32,
    /// A health signal is outdated this long after its last synchronisation.
    pub stale_days: u32,
    /// Days for which an expired inference stays stored for audit.
    pub expired_kept_days: u32,
    /// A forgotten memory can be recovered for this long.
    pub recoverable_days: u32,
    /// A statement that was read with less confidence than this (0.0–1.0) is a hypothesis until a person verifies it.
    pub min_extraction_confidence: f64,
}

impl Default for LifecyclePolicy {
    fn default() -> Self {
        Self {
            reconfirm_hours: 48,
            unconfirmed_days: 7,
            inference_hours: 24,
            stale_days: 7,
            expired_kept_days: 90,
            recoverable_days: 30,
            min_extraction_confidence: 0.6,
        }
    }
}

impl LifecyclePolicy {
    /// The `expires_at` to store for a memory that names none, or names one beyond what its class may have: `since` is
    /// the last confirmation of a time-bound state, the recording of an inference. `None` where the class never expires.
    pub fn expires_at(
        &self,
        class: Class,
        since: DateTime<Utc>,
        asked: Option<DateTime<Utc>>,
    ) -> Option<DateTime<Utc>> {
        let limit = match class {
            Class::TimeBoundState => plus(since, days(self.unconfirmed_days)),
            Class::Inference => plus(since, hours(self.inference_hours)),
            // The last day of a medicine, the day of an appointment. Other facts and events ask for none.
            Class::LongLivedFact | Class::Event => return asked,
            Class::HealthSignal | Class::Preference | Class::Pattern => return asked,
        };
        earliest(limit, asked)
    }
}

/// The times of a row. `Default` has none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LifecycleTimes {
    pub class: Class,
    /// As stored.
    pub state: State,
    /// Since when `state` holds, where that is known; counts for expired and forgotten rows.
    pub state_since: Option<DateTime<Utc>>,
    pub recorded_at: DateTime<Utc>,
    pub last_confirmed_at: Option<DateTime<Utc>>,
    /// Last synchronisation of a health signal.
    pub synced_at: Option<DateTime<Utc>>,
    pub expires_at: Option<DateTime<Utc>>,
    /// When all that its documents say ends, by their producer's word; at or after `expires_at`.
    pub ends_at: Option<DateTime<Utc>>,
}

/// The other facts that decide about use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UseConditions {
    pub kind: Kind,
    pub trust: Trust,
    /// All its sources are gone.
    pub ungrounded: bool,
    /// A person verified it.
    pub verified: bool,
    /// It was read from its document with less confidence than the policy asks of decisions.
    pub read_doubtfully: bool,
}

impl UseConditions {}

/// The state of a memory at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LifecycleStatus {
    pub state: State,
    /// When that state began; `None` when the row does not say.
    pub since: Option<DateTime<Utc>>,
    /// A confirmation is due now.
    pub reconfirm_due: bool,
    /// When it is or was due in this cycle; only for active time-bound states.
    pub reconfirm_due_at: Option<DateTime<Utc>>,
    /// When the row's content may be purged; only for expired and forgotten rows.
    pub(crate) purge_at: Option<DateTime<Utc>>,
    /// The next instant at which time alone changes something: a job may sleep until then.
    pub(crate) next_change_at: Option<DateTime<Utc>>,
}

impl LifecycleStatus {
    /// Factor on the rank of a search hit: an outdated signal counts 0.3 (model.md, "States").
    pub fn rank_factor(&self) -> f64 {
        if self.state == State::Stale { 0.3 } else { 1.0 }
    }
}

/// The state of a memory at `now`. Evaluating late, twice or in steps gives the same answer, with the instant at which
/// the change happened rather than the instant at which a person looked.
pub fn status_at(life: &LifecycleTimes, now: DateTime<Utc>, policy: &LifecyclePolicy) -> LifecycleStatus {
    let own = of_class(life, now, policy);
    let goes_on = |state| matches!(state, State::Active | State::Stale);
    let Some(end) = life.ends_at.filter(|_| goes_on(life.state)) else { return own };
    if !goes_on(own.state) && own.since.is_some_and(|since| since < end) {
        return own;
    }
    if now >= end {
        return until(life, Some(end), now, policy);
    }
    LifecycleStatus { next_change_at: earliest(own.next_change_at, Some(end)), ..own }
}

/// The effect of its class alone.
fn of_class(life: &LifecycleTimes, now: DateTime<Utc>, policy: &LifecyclePolicy) -> LifecycleStatus {
    match (life.class, life.state) {
        (Class::TimeBoundState, State::Active) => time_bound(life, now, policy),
        (Class::HealthSignal, State::Active | State::Stale) => signal(life, now, policy),
        (Class::LongLivedFact | Class::Event, State::Active) => appointed(life, now, policy),
        // A model's statement about the past ends like one about the present.
        (Class::Inference, State::Active | State::Resolved) => {
            let limit = plus(life.recorded_at, hours(policy.inference_hours));
            until(life, earliest(limit, life.expires_at), now, policy)
        }
        (_, State::Active) => until(life, life.expires_at, now, policy),
        _ => at_rest(life, policy),
    }
}

/// The permitted use of a memory: `decision` (T1–T3, active), `hypothesis` (T4/T5, ungrounded, outdated, read with low
/// confidence, or formed by consolidation and not yet verified), `history` (the rest). Raw captures are never used for
/// decisions.
pub fn use_of(class: Class, state: State, conditions: &UseConditions) -> PermittedUse {
    match state {
        State::Stale => PermittedUse::Hypothesis,
        State::Active if conditions.kind == Kind::Raw => PermittedUse::History,
        State::Active => {
            let inferred = match class {
                Class::Inference => true,
                Class::Pattern => !conditions.verified,
                _ => false,
            };
            let doubtful = conditions.read_doubtfully && !conditions.verified;
            if inferred || doubtful || conditions.ungrounded || conditions.trust >= Trust::T4 {
                PermittedUse::Hypothesis
            } else {
                PermittedUse::Decision
            }
        }
        _ => PermittedUse::History,
    }
}

fn time_bound(life: &LifecycleTimes, now: DateTime<Utc>, policy: &LifecyclePolicy) -> LifecycleStatus {
    let confirmed = life.last_confirmed_at.unwrap_or(life.recorded_at);
    let due_at = plus(confirmed, hours(policy.reconfirm_hours));
    let ends_at = earliest(plus(confirmed, days(policy.unconfirmed_days)), life.expires_at);
    if let Some(end) = ends_at.filter(|end| now >= *end) {
        return LifecycleStatus { state: State::ResolvedUnconfirmed, since: Some(end), ..at_rest(life, policy) };
    }
    let reconfirm_due = due_at.is_some_and(|due| now >= due);
    let next_change_at = if reconfirm_due { ends_at } else { earliest(due_at, ends_at) };
    LifecycleStatus { reconfirm_due, reconfirm_due_at: due_at, next_change_at, ..at_rest(life, policy) }
}

fn signal(life: &LifecycleTimes, now: DateTime<Utc>, policy: &LifecyclePolicy) -> LifecycleStatus {
    let synced = life.synced_at.unwrap_or(life.recorded_at);
    let stale_at = plus(synced, days(policy.stale_days));
    match stale_at.filter(|at| now >= *at) {
        Some(at) => LifecycleStatus { state: State::Stale, since: Some(at), ..at_rest(life, policy) },
        None => {
            // A refresh makes an outdated signal active again, from the refresh on.
            let since = if life.state == State::Stale { Some(synced) } else { life.state_since };
            LifecycleStatus { state: State::Active, since, next_change_at: stale_at, ..at_rest(life, policy) }
        }
    }
}

/// An appointment, or a medicine taken until a day, is history once the day is over: no statement says whether it took
/// place.
fn appointed(life: &LifecycleTimes, now: DateTime<Utc>, policy: &LifecyclePolicy) -> LifecycleStatus {
    match life.expires_at.filter(|end| now >= *end) {
        Some(end) => LifecycleStatus { state: State::ResolvedUnconfirmed, since: Some(end), ..at_rest(life, policy) },
        None => LifecycleStatus { next_change_at: life.expires_at, ..at_rest(life, policy) },
    }
}

/// Active until `end`, expired from then on.
fn until(
    life: &LifecycleTimes,
    end: Option<DateTime<Utc>>,
    now: DateTime<Utc>,
    policy: &LifecyclePolicy,
) -> LifecycleStatus {
    match end.filter(|end| now >= *end) {
        Some(end) => {
            let purge_at = plus(end, days(policy.expired_kept_days));
            let rest = at_rest(life, policy);
            LifecycleStatus { state: State::Expired, since: Some(end), purge_at, next_change_at: purge_at, ..rest }
        }
        None => LifecycleStatus { next_change_at: end, ..at_rest(life, policy) },
    }
}

/// Time no longer changes the state; expired and forgotten memories are purged later.
fn at_rest(life: &LifecycleTimes, policy: &LifecyclePolicy) -> LifecycleStatus {
    let purge_at = life.state_since.and_then(|since| match life.state {
        State::Expired => plus(since, days(policy.expired_kept_days)),
        State::Inactive => plus(since, days(policy.recoverable_days)),
        _ => None,
    });
    LifecycleStatus {
        state: life.state,
        since: life.state_since,
        reconfirm_due: false,
        reconfirm_due_at: None,
        purge_at,
        next_change_at: purge_at,
    }
}

fn hours(hours: u32) -> Duration {
    Duration::hours(i64::from(hours))
}

fn days(days: u32) -> Duration {
    Duration::days(i64::from(days))
}

/// `None` when the instant lies beyond the calendar, which is to say never.
fn plus(at: DateTime<Utc>, by: Duration) -> Option<DateTime<Utc>> {
    at.checked_add_signed(by)
}

fn earliest(a: Option<DateTime<Utc>>, b: Option<DateTime<Utc>>) -> Option<DateTime<Utc>> {
    a.into_iter().chain(b).min()
}

#[cfg(test)]
#[path = "lifecycle_tests.rs"]
mod tests;

//! The due runs: a pure function of the instant, the policies, the organisations and the finished runs of the ledger. A
//! run belongs to one local date of one organisation, so that no change of clocks can double or hide it. A missed run
//! is offered until it is finished or too old.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use chrono_tz::Tz;

use super::JobName;
use super::policy::{Policies, RunPolicy};
use anamnesis_core::ids::OrgId;

/// An organisation, as far as planning needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedOrganization {
    pub org: OrgId,
    pub zone: Tz,
    /// Runs before it existed are not owed.
    pub since: DateTime<Utc>,
}

/// The name of a run in the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunKey {
    pub job: JobName,
    pub org: OrgId,
    /// Local date of the organisation.
    pub as_of: NaiveDate,
}

/// A run that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueRun {
    pub key: RunKey,
    /// A run covers rows that were due up to this instant (inclusive), whenever it runs, so that a late run equals a
    /// punctual one.
    pub cutoff: DateTime<Utc>,
}

/// The run of one date, whether or not the schedule fires on it (a person may ask for any date). `None` for a date
/// that the zone skipped.
pub fn run_of(
    job: JobName,
    policy: &RunPolicy,
    organization: &PlannedOrganization,
    as_of: NaiveDate,
) -> Option<DueRun> {
    let zone = policy.time_zone.zone(organization.zone);
    let cutoff = policy.schedule.instant(as_of, zone)?;
    Some(DueRun { key: RunKey { job, org: organization.org, as_of }, cutoff })
}

/// The latest run whose time has come, settled or not.
pub fn latest(
    job: JobName,
    policy: &RunPolicy,
    organization: &PlannedOrganization,
    now: DateTime<Utc>,
) -> Option<DueRun> {
    let today = now.with_timezone(&policy.time_zone.zone(organization.zone)).date_naive();
    // A schedule fires at least once in any eight years (29 February), or never.
    (0..8 * 366)
        .map(|days| today - TimeDelta::days(days))
        .filter(|date| policy.schedule.fires_on(*date))
        .filter_map(|date| run_of(job, policy, organization, date))
        .find(|due| due.cutoff <= now)
}

/// The first run whose time is still to come.
pub fn next(
    job: JobName,
    policy: &RunPolicy,
    organization: &PlannedOrganization,
    now: DateTime<Utc>,
) -> Option<DueRun> {
    let today = now.with_timezone(&policy.time_zone.zone(organization.zone)).date_naive();
    today
        .iter_days()
        .take(8 * 366)
        .filter(|date| policy.schedule.fires_on(*date))
        .filter_map(|date| run_of(job, policy, organization, date))
        .find(|due| due.cutoff > now)
}

/// The runs of one job and organisation that are due at `now` and not settled, oldest first.
pub(crate) fn due_runs(
    job: JobName,
    policy: &RunPolicy,
    organization: &PlannedOrganization,
    now: DateTime<Utc>,
    settled: &dyn Fn(&RunKey) -> bool,
) -> Vec<DueRun> {
    let today = now.with_timezone(&policy.time_zone.zone(organization.zone)).date_naive();
    (0..=i64::from(policy.catch_up_days))
        .rev()
        .map(|days| today - TimeDelta::days(days))
        .filter(|as_of| !settled(&RunKey { job, org: organization.org, as_of: *as_of }))
        .filter(|as_of| policy.schedule.fires_on(*as_of))
        .filter_map(|as_of| run_of(job, policy, organization, as_of))
        .filter(|due| due.cutoff <= now && due.cutoff >= organization.since)
        .collect()
}

/// Everything that is due at `now`, in the order of its instants, so that a series of missed runs is made up in the
/// order in which it would have happened.
pub(crate) fn plan(
    policies: &Policies,
    organizations: &[PlannedOrganization],
    now: DateTime<Utc>,
    settled: &dyn Fn(&RunKey) -> bool,
) -> Vec<DueRun> {
    let mut due: Vec<DueRun> = Vec::new();
    for job in JobName::ALL.iter().copied() {
        let policy = policies.get(job);
        for organization in organizations {
            due.extend(due_runs(job, policy, organization, now, settled));
        }
    }
    due.sort_by_key(|due| (due.cutoff, due.key.job, due.key.org, due.key.as_of));
    due
}

/// The earliest date that [`plan`] can offer: the ledger is queried from here on, and older runs can be dropped.
pub fn horizon(policies: &Policies, now: DateTime<Utc>) -> NaiveDate {
    let days = JobName::ALL.iter().map(|job| policies.get(*job).catch_up_days).max().unwrap_or(0);
    // One day more: no zone is further than that from UTC.
    now.date_naive() - TimeDelta::days(i64::from(days) + 1)
}

#[cfg(test)]
#[path = "planner_tests.rs"]
mod tests;

//! The state of work on the store: jobs, quarantine, outbox; and the times in it.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use tokio_util::sync::CancellationToken;

use super::Doctor;
use anamnesis_core::ids::OrgId;
use anamnesis_jobs::JobName;
use anamnesis_jobs::ledger::{JobRun, RunState, rows};
use anamnesis_jobs::planner;
use anamnesis_jobs::policy::Policies;
use anamnesis_jobs::scheduler::JobScheduler;
use anamnesis_store::outbox_admin::OutboxFilter;
use anamnesis_store::{Store, StoreError};

/// A run is overdue so long after its time; the alerts wait as long.
const OVERDUE: TimeDelta = TimeDelta::hours(26);
/// A run that began so long ago and has not ended is stuck.
const STUCK: TimeDelta = TimeDelta::hours(6);
/// An event is delivered within seconds; one that waits so long is stuck.
const WAITING: TimeDelta = TimeDelta::minutes(15);
/// Refused events are of interest for so long.
const REFUSED: TimeDelta = TimeDelta::days(7);
/// Clocks of several machines differ by less.
const APART: TimeDelta = TimeDelta::minutes(5);
/// Quarantined messages that are read.
const MOST: i64 = 100_000;

pub(super) async fn check(doctor: &mut Doctor) {
    let Some(store) = doctor.store.clone() else {
        for check in ["jobs", "quarantine", "outbox", "time"] {
            doctor.skip(check, "the store or its keys cannot be used");
        }
        return;
    };
    let looked = async {
        zones(doctor, &store).await?;
        quarantine(doctor, &store).await?;
        outbox(doctor, &store).await?;
        clock(doctor, &store).await?;
        jobs(doctor, &store).await
    };
    if looked.await.is_err() {
        doctor.found("store_rights", "the store cannot be read: the role may lack a right to select");
    }
    for check in ["jobs", "quarantine", "outbox", "time"] {
        doctor.done(check);
    }
}

async fn zones(doctor: &mut Doctor, store: &Store) -> Result<(), StoreError> {
    for row in store.organization().organization_rows().await? {
        if row.time_zone.parse::<chrono_tz::Tz>().is_err() {
            doctor.found("time_zone", format!("organisation {}", row.org.0));
        }
    }
    Ok(())
}

async fn quarantine(doctor: &mut Doctor, store: &Store) -> Result<(), StoreError> {
    let now = doctor.now();
    let open = store.quarantined().messages("open", "", MOST).await?;
    let days = i64::from(doctor.limits.quarantine_days);
    let old: Vec<DateTime<Utc>> =
        open.iter().map(|one| one.created_at).filter(|at| *at <= now - TimeDelta::days(days)).collect();
    if let Some(oldest) = old.first() {
        doctor.found("quarantine_old", format!("{} messages, the oldest of {}", old.len(), oldest.date_naive()));
    }
    let fresh: Vec<_> = open.iter().filter(|one| one.created_at > now - TimeDelta::days(1)).collect();
    if fresh.len() >= doctor.limits.quarantine_growth.max(1) {
        let mut reasons: Vec<&str> = fresh.iter().map(|one| one.reason.as_str()).collect();
        reasons.sort_unstable();
        reasons.dedup();
        doctor.found("quarantine_growing", format!("{} messages within a day: {}", fresh.len(), reasons.join(", ")));
    }
    Ok(())
}

/// Without a destination nothing is ever delivered, and nothing is wrong.
async fn outbox(doctor: &mut Doctor, store: &Store) -> Result<(), StoreError> {
    let broker = &doctor.settings.broker;
    if !broker.is_set() && broker.webhooks.is_empty() {
        doctor.skip("outbox", "events have no destination: neither broker.url nor broker.webhooks is set");
        return Ok(());
    }
    let now = doctor.now();
    for org in store.stats().every_organization().await? {
        let (waiting, oldest) = store.outbox().pending_events(org).await?;
        if let Some(oldest) = oldest.filter(|at| *at < now - WAITING) {
            doctor.found("outbox_stuck", format!("organisation {}: {waiting} events, the oldest of {oldest}", org.0));
        }
        let refused = refused(store, org, now).await?;
        if refused > 0 {
            doctor.found("event_refused", format!("organisation {}: {refused} events", org.0));
        }
    }
    Ok(())
}

async fn refused(store: &Store, org: OrgId, now: DateTime<Utc>) -> Result<usize, StoreError> {
    let which = OutboxFilter { state: "refused", event_type: "", since: now - REFUSED, until: now, most: MOST };
    Ok(store.outbox().events(org, &which).await?.len())
}

/// Entries that were written after this moment, by the clock of this machine.
async fn clock(doctor: &mut Doctor, store: &Store) -> Result<(), StoreError> {
    let now = doctor.now();
    for org in store.stats().every_organization().await? {
        let which =
            OutboxFilter { state: "all", event_type: "", since: now + APART, until: DateTime::<Utc>::MAX_UTC, most: 1 };
        if let Some(event) = store.outbox().events(org, &which).await?.first() {
            doctor.found(
                "clock_back",
                format!("organisation {}: an event of {}, and it is {now}", org.0, event.created_at),
            );
        }
    }
    Ok(())
}

async fn jobs(doctor: &mut Doctor, store: &Store) -> Result<(), StoreError> {
    // A policy that cannot be used has its own finding.
    let Ok(policies) = Policies::load(doctor.settings.jobs.directory()) else { return Ok(()) };
    let now = doctor.now();
    let scheduler = JobScheduler::over(store, policies, Arc::new(()), CancellationToken::new());
    let filter =
        rows::RunFilter { from: Some(planner::horizon(&scheduler.policies, now)), ..rows::RunFilter::default() };
    let (Ok(runs), Ok(due)) = (scheduler.history(&filter, u32::MAX).await, scheduler.due().await) else {
        return Err(StoreError::Shape);
    };
    let newest = |job: JobName, org: OrgId| runs.iter().find(|run| run.key.job == job && run.key.org == org);
    let mut overdue: Vec<(JobName, OrgId)> =
        due.iter().filter(|due| due.cutoff < now - OVERDUE).map(|due| (due.key.job, due.key.org)).collect();
    overdue.sort_unstable();
    overdue.dedup();
    for (job, org) in &overdue {
        match newest(*job, *org) {
            None => doctor.found("job_never_ran", format!("{job} in organisation {}", org.0)),
            // Failed or stuck runs are reported below.
            Some(run) if run.state == RunState::Failed || is_stuck(run, now) => {}
            Some(run) => {
                doctor.found("job_overdue", format!("{job} in organisation {}: last for {}", org.0, run.key.as_of))
            }
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    for run in runs.iter().filter(|run| seen.insert((run.key.job, run.key.org))) {
        let place = format!("{} in organisation {}, for {}", run.key.job, run.key.org.0, run.key.as_of);
        if run.state == RunState::Failed {
            doctor.found("job_failed", format!("{place}: {}", run.error.as_deref().unwrap_or("no code")));
        } else if is_stuck(run, now) {
            doctor.found("job_stuck", place);
        }
    }
    Ok(())
}

fn is_stuck(run: &JobRun, now: DateTime<Utc>) -> bool {
    run.state == RunState::Running && run.started_at.is_some_and(|at| at < now - STUCK)
}

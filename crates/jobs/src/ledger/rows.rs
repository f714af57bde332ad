//! Rows of `job_run`. A decision is written only if the row's fence is unchanged since the decision.

use chrono::{DateTime, NaiveDate, Utc};

use super::{JobRun, RunCursor, RunState};
use crate::JobName;
use crate::planner::RunKey;
use crate::statements::ledger as sql;
use anamnesis_core::ids::OrgId;
use anamnesis_crypto::PlatformKey;
use anamnesis_sql::{Arg, DbError, Row, Transaction};
use anamnesis_store::audit_trail::runs;

/// The row of a run, if it was ever leased.
///
/// # Errors
/// Of the database.
pub(crate) async fn find(
    tx: &mut Transaction,
    key: &RunKey,
    platform: &PlatformKey,
) -> Result<Option<JobRun>, DbError> {
    tx.fetch_optional(&sql::FIND, key_args(key)).await?.as_ref().map(|row| run(row, platform)).transpose()
}

/// A filter of runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFilter {
    pub job: Option<JobName>,
    pub org: Option<OrgId>,
    /// Inclusive.
    pub from: Option<NaiveDate>,
    /// Inclusive.
    pub to: Option<NaiveDate>,
}

/// Runs, newest first, at most `limit`.
///
/// # Errors
/// Of the database.
pub(crate) async fn recent(
    tx: &mut Transaction,
    filter: &RunFilter,
    limit: u32,
    platform: &PlatformKey,
) -> Result<Vec<JobRun>, DbError> {
    let text = |date: Option<NaiveDate>, open: &str| date.map_or_else(|| open.to_owned(), |date| date.to_string());
    let args = vec![
        text(filter.from, "0000-01-01").into(),
        text(filter.to, "9999-12-31").into(),
        filter.job.map(JobName::code).into(),
        filter.org.map(|org| org.0).into(),
        limit.into(),
    ];
    let rows = tx.fetch_all(&sql::RECENT, args).await?;
    // A job of a newer version is none of ours.
    let known = rows.iter().filter(|row| row.text(sql::recent::JOB).is_ok_and(|job| job.parse::<JobName>().is_ok()));
    known.map(|row| run(row, platform)).collect()
}

/// When a run of each job last ended well.
///
/// # Errors
/// Of the database.
pub(crate) async fn last_done(tx: &mut Transaction) -> Result<Vec<(JobName, DateTime<Utc>)>, DbError> {
    let mut last = Vec::new();
    for row in tx.fetch_all(&sql::LAST_DONE, Vec::new()).await? {
        if let (Ok(job), Some(at)) =
            (row.text(sql::last_done::JOB)?.parse(), row.opt_time(sql::last_done::LAST_FINISHED_AT)?)
        {
            last.push((job, at));
        }
    }
    Ok(last)
}

/// Writes a granted claim; false when another process was faster.
///
/// # Errors
/// Of the database.
pub(crate) async fn hold(tx: &mut Transaction, run: &JobRun, key: &PlatformKey) -> Result<bool, DbError> {
    let run = &JobRun { finished_at: None, ..run.clone() };
    let mut args = columns(run);
    args.pop();
    args.push(mac(key, run));
    Ok(tx.execute(&sql::HOLD, args).await? == 1)
}

/// Writes a checkpoint or an ending of the holder; false when the run was taken over, and then nothing of this
/// transaction may be committed.
///
/// # Errors
/// Of the database.
pub(crate) async fn write(
    tx: &mut Transaction,
    run: &JobRun,
    key: &PlatformKey,
    now: DateTime<Utc>,
) -> Result<bool, DbError> {
    let mut args = key_args(&run.key);
    args.extend([
        run.fence.into(),
        run.state.code().into(),
        run.attempts.into(),
        run.wake_at.into(),
        run.cursor.as_ref().map(|cursor| cursor.0.clone()).into(),
        run.status.clone().into(),
        run.error.clone().into(),
        run.finished_at.into(),
        now.into(),
        mac(key, run),
    ]);
    Ok(tx.execute(&sql::WRITE, args).await? == 1)
}

/// The values of a row, in the order of the statement `hold`.
fn columns(run: &JobRun) -> Vec<Arg> {
    let mut args = key_args(&run.key);
    args.extend([
        run.cutoff.into(),
        run.state.code().into(),
        run.owner.clone().unwrap_or_default().into(),
        run.fence.into(),
        run.attempts.into(),
        run.wake_at.into(),
        run.cursor.as_ref().map(|cursor| cursor.0.clone()).into(),
        run.status.clone().into(),
        run.error.clone().into(),
        run.started_at.into(),
        run.finished_at.into(),
    ]);
    args
}

fn mac(key: &PlatformKey, run: &JobRun) -> Arg {
    runs::mac(key, &columns(run)).to_vec().into()
}

fn key_args(key: &RunKey) -> Vec<Arg> {
    vec![key.org.0.into(), key.job.code().into(), key.as_of.to_string().into()]
}

fn run(row: &Row, platform: &PlatformKey) -> Result<JobRun, DbError> {
    let decode = |index| DbError::Decode { index };
    let key = RunKey {
        org: OrgId(row.uuid(sql::find::ORG_ID)?),
        job: row.text(sql::find::JOB)?.parse().map_err(|_| decode(sql::find::JOB))?,
        as_of: row.text(sql::find::AS_OF)?.parse().map_err(|_| decode(sql::find::AS_OF))?,
    };
    let mut run = JobRun {
        key,
        cutoff: row.time(sql::find::CUTOFF_AT)?,
        state: RunState::from_code(&row.text(sql::find::STATE)?).ok_or(decode(sql::find::STATE))?,
        owner: Some(row.text(sql::find::OWNER)?),
        fence: row.i64(sql::find::FENCE)?,
        attempts: u32::try_from(row.i64(sql::find::ATTEMPTS)?).map_err(|_| decode(sql::find::ATTEMPTS))?,
        wake_at: row.opt_time(sql::find::WAKE_AT)?,
        cursor: row.opt_text(sql::find::CURSOR)?.map(RunCursor),
        status: row.opt_text(sql::find::STATUS)?,
        error: row.opt_text(sql::find::ERROR)?,
        started_at: row.opt_time(sql::find::STARTED_AT)?,
        finished_at: row.opt_time(sql::find::FINISHED_AT)?,
        is_own: None,
    };
    run.is_own = row.opt_blob(sql::find::MAC)?.map(|found| Arg::Blob(found) == mac(platform, &run));
    Ok(run)
}

//! Rows of `job_run`: what a rule decided is written only if the row's fence is still the one it was decided upon.

use std::sync::LazyLock;

use chrono::{DateTime, NaiveDate, Utc};

use super::{Cursor, Run, State};
use crate::JobName;
use crate::planner::RunKey;
use anamnesis_core::ids::OrgId;
use anamnesis_crypto::PlatformKey;
use anamnesis_sql::{Arg, DbError, Row, Sql, Transaction};
use anamnesis_store::auditing::runs;

macro_rules! columns {
    () => {
        "org_id, job, as_of, cutoff_at, state, owner, fence, attempts, wake_at, cursor, status, error, started_at, finished_at, mac"
    };
}

static FIND: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(concat!("SELECT ", columns!(), " FROM job_run WHERE org_id = $1 AND job = $2 AND as_of = $3"))
});
static RECENT: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(concat!(
        "SELECT ",
        columns!(),
        " FROM job_run WHERE as_of >= $1 AND as_of <= $2 AND (job = $3 OR $3 IS NULL) AND (org_id = $4 OR $4 IS NULL) \
         ORDER BY as_of DESC, cutoff_at DESC, job, org_id LIMIT $5"
    ))
});
static LAST_DONE: LazyLock<Sql> =
    LazyLock::new(|| Sql::new("SELECT job, max(finished_at) FROM job_run WHERE state = 'done' GROUP BY job"));
static HOLD: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "INSERT INTO job_run (org_id, job, as_of, cutoff_at, state, owner, fence, attempts, wake_at, cursor, status, \
         error, started_at, finished_at, mac, created_at, updated_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, NULL, $14, $13, $13) \
         ON CONFLICT (org_id, job, as_of) DO UPDATE SET cutoff_at = excluded.cutoff_at, state = excluded.state, \
         owner = excluded.owner, fence = excluded.fence, attempts = excluded.attempts, wake_at = excluded.wake_at, \
         cursor = excluded.cursor, started_at = excluded.started_at, finished_at = NULL, \
         status = excluded.status, error = excluded.error, mac = excluded.mac, updated_at = excluded.updated_at \
         WHERE job_run.fence = excluded.fence - 1",
    )
});
static WRITE: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "UPDATE job_run SET state = $5, attempts = $6, wake_at = $7, cursor = $8, status = $9, error = $10, \
         finished_at = $11, updated_at = $12, mac = $13 \
         WHERE org_id = $1 AND job = $2 AND as_of = $3 AND fence = $4 AND state = 'running'",
    )
});

/// The row of a run, if anybody ever held it.
///
/// # Errors
/// Of the database.
pub(crate) async fn find(tx: &mut Transaction, key: &RunKey, platform: &PlatformKey) -> Result<Option<Run>, DbError> {
    tx.fetch_optional(&FIND, key_args(key)).await?.as_ref().map(|row| run(row, platform)).transpose()
}

/// Which runs are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
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
    filter: &Filter,
    limit: u32,
    platform: &PlatformKey,
) -> Result<Vec<Run>, DbError> {
    let text = |date: Option<NaiveDate>, open: &str| date.map_or_else(|| open.to_owned(), |date| date.to_string());
    let args = vec![
        text(filter.from, "0000-01-01").into(),
        text(filter.to, "9999-12-31").into(),
        filter.job.map(JobName::code).into(),
        filter.org.map(|org| org.0).into(),
        limit.into(),
    ];
    let rows = tx.fetch_all(&RECENT, args).await?;
    // A job of a newer version is none of ours.
    let known = rows.iter().filter(|row| row.text(1).is_ok_and(|job| job.parse::<JobName>().is_ok()));
    known.map(|row| run(row, platform)).collect()
}

/// When a run of each job last ended well.
///
/// # Errors
/// Of the database.
pub(crate) async fn last_done(tx: &mut Transaction) -> Result<Vec<(JobName, DateTime<Utc>)>, DbError> {
    let mut last = Vec::new();
    for row in tx.fetch_all(&LAST_DONE, Vec::new()).await? {
        if let (Ok(job), Some(at)) = (row.text(0)?.parse(), row.opt_time(1)?) {
            last.push((job, at));
        }
    }
    Ok(last)
}

/// Writes a granted claim; false when somebody else was faster.
///
/// # Errors
/// Of the database.
pub async fn hold(tx: &mut Transaction, run: &Run, key: &PlatformKey) -> Result<bool, DbError> {
    let run = &Run { finished_at: None, ..run.clone() };
    let mut args = columns(run);
    args.pop();
    args.push(mac(key, run));
    Ok(tx.execute(&HOLD, args).await? == 1)
}

/// Writes a checkpoint or an ending of the holder; false when the run was taken over, and then nothing of this
/// transaction may be committed.
///
/// # Errors
/// Of the database.
pub async fn write(tx: &mut Transaction, run: &Run, key: &PlatformKey, now: DateTime<Utc>) -> Result<bool, DbError> {
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
    Ok(tx.execute(&WRITE, args).await? == 1)
}

/// The values of a row, in the order of `columns!`.
fn columns(run: &Run) -> Vec<Arg> {
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

fn mac(key: &PlatformKey, run: &Run) -> Arg {
    runs::mac(key, &columns(run)).to_vec().into()
}

fn key_args(key: &RunKey) -> Vec<Arg> {
    vec![key.org.0.into(), key.job.code().into(), key.as_of.to_string().into()]
}

fn run(row: &Row, platform: &PlatformKey) -> Result<Run, DbError> {
    let decode = |index| DbError::Decode { index };
    let key = RunKey {
        org: OrgId(row.uuid(0)?),
        job: row.text(1)?.parse().map_err(|_| decode(1))?,
        as_of: row.text(2)?.parse().map_err(|_| decode(2))?,
    };
    let mut run = Run {
        key,
        cutoff: row.time(3)?,
        state: State::from_code(&row.text(4)?).ok_or(decode(4))?,
        owner: Some(row.text(5)?),
        fence: row.i64(6)?,
        attempts: u32::try_from(row.i64(7)?).map_err(|_| decode(7))?,
        wake_at: row.opt_time(8)?,
        cursor: row.opt_text(9)?.map(Cursor),
        status: row.opt_text(10)?,
        error: row.opt_text(11)?,
        started_at: row.opt_time(12)?,
        finished_at: row.opt_time(13)?,
        is_own: None,
    };
    run.is_own = row.opt_blob(14)?.map(|found| Arg::Blob(found) == mac(platform, &run));
    Ok(run)
}

/// For the test that prepares every statement on every engine.
pub fn statements() -> Vec<&'static Sql> {
    vec![&FIND, &RECENT, &LAST_DONE, &HOLD, &WRITE]
}

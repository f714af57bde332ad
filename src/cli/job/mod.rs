//! `job list|run|status|history|simulate`: the jobs as a person, a script or a CronJob sees them.

mod list;
mod run;
mod show;
mod simulate;

use std::sync::Arc;

use chrono::NaiveDate;
use clap::Subcommand;
use uuid::Uuid;

use super::app::App;
use super::{CliError, Context, Exit};
use crate::shutdown::Shutdown;
use anamnesis_config::{self as config, Settings};
use anamnesis_core::ids::OrgId;
use anamnesis_jobs::JobName;
use anamnesis_jobs::driver::JobError;
use anamnesis_jobs::metrics::JobObserver;
use anamnesis_jobs::planner::PlannedOrganization;
use anamnesis_jobs::policy::Policies;
use anamnesis_jobs::scheduler::JobScheduler;
use anamnesis_observability::metrics::Metrics;
use anamnesis_pipeline::{self as pipeline, Redactors};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: JobSubcommand,
}

#[derive(Debug, Subcommand)]
enum JobSubcommand {
    /// List all jobs with their policies
    List,
    /// Run a job: all due runs, one date, or a range of dates
    Run(run::Args),
    /// Show the status of each job in each organisation
    Status(show::StatusArgs),
    /// List past runs, newest first
    History(show::HistoryArgs),
    /// Simulate coming runs on a temporary copy of the store
    Simulate(simulate::Args),
}

/// # Errors
/// When the configuration, a policy or the store cannot be read.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    match args.what {
        JobSubcommand::List => list::run(context),
        JobSubcommand::Run(args) => context.block_on(run::run(args, context)),
        JobSubcommand::Status(args) => context.block_on(show::status(args, context)),
        JobSubcommand::History(args) => context.block_on(show::history(args, context)),
        JobSubcommand::Simulate(args) => context.block_on(simulate::run(args, context)),
    }
}

/// Which runs are meant.
#[derive(Debug, Clone, Default, clap::Args)]
struct RunSelectionArgs {
    /// Only this organisation.
    #[arg(long, value_name = "UUID")]
    org: Option<Uuid>,
    /// First local date of a range.
    #[arg(long, value_name = "DATE")]
    from: Option<NaiveDate>,
    /// Last local date of a range [default: the latest run].
    #[arg(long, value_name = "DATE", requires = "from")]
    to: Option<NaiveDate>,
}

fn settings(context: &Context) -> Result<Settings, CliError> {
    config::load(context.config.as_deref()).map_err(|error| CliError::usage(error.to_string()))
}

fn policies(settings: &Settings) -> Result<Policies, CliError> {
    Policies::load(settings.jobs.directory()).map_err(|error| CliError::usage(error.to_string()))
}

/// Opens the store for jobs. A signal lets the current run end between two batches. The configured models are loaded if
/// a job needs them; `observer` is made from the process's metrics.
async fn open(
    context: &Context,
    models: bool,
    observer: impl FnOnce(&Arc<Metrics>) -> Arc<dyn JobObserver>,
) -> Result<JobScheduler, CliError> {
    let app = App::open(context).await?;
    let observer = observer(&app.metrics);
    let models = models.then(|| app.models()).transpose()?;
    let store = app.jobs_store().await?;
    let traces = app.metrics.traces.clone();
    let settings = app.settings;
    let policies = policies(&settings)?;
    let redactors = Redactors::load(&settings.redaction).map_err(|error| CliError::usage(error.to_string()))?;
    let clock = store.clock().clone();
    let writer =
        pipeline::writer(&settings.extraction.llm, clock).map_err(|error| CliError::usage(error.to_string()))?;
    let scheduler = JobScheduler::over(&store, policies, observer, Shutdown::on_signals()?.draining());
    let scheduler = scheduler.redacting(redactors).with_writer(writer).with_traces(traces);
    Ok(match models {
        Some(models) => scheduler.with_models(models),
        None => scheduler,
    })
}

/// The organisations that are meant.
async fn organizations(scheduler: &JobScheduler, wanted: Option<Uuid>) -> Result<Vec<PlannedOrganization>, CliError> {
    let mut organizations = scheduler.organizations().await.map_err(job_failure)?;
    if let Some(wanted) = wanted {
        organizations.retain(|organization| organization.org == OrgId(wanted));
        if organizations.is_empty() {
            return Err(CliError::usage("the store knows no such organisation"));
        }
    }
    Ok(organizations)
}

fn job_failure(error: JobError) -> CliError {
    CliError::failed(error.to_string())
}

/// The parts of a status that are not zero, for a table.
fn counters(status: &serde_json::Value) -> String {
    let fields = status.as_object().into_iter().flatten();
    let nonzero = fields.filter(|(_, count)| count.as_u64() != Some(0)).map(|(name, count)| format!("{name} {count}"));
    nonzero.collect::<Vec<_>>().join(", ")
}

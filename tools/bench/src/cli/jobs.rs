//! `anamnesis-bench jobs`: the cost of a job run over many memories.

use crate::settings_of;
use std::sync::Arc;

use serde::Serialize;

use super::stores::{StoreArgs, Stores};
use crate::concurrent_latency::BatchLatency;
use crate::jobs::{self, JobsMeasurement, JobsSize};
use anamnesis::cli::app::App;
use anamnesis::cli::output::{self, OutputFormat};
use anamnesis::cli::{CliError, Context, Exit};
use anamnesis_config::Settings;
use anamnesis_jobs::policy::Policies;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    store: StoreArgs,
    /// Memories that are stored.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    memories: u64,
    /// Memories that expire in the measured job run; half as many fall below their threshold.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    expiring: u64,
    /// Also measures a second store with this number of memories, and compares the costs of the job runs.
    #[arg(long, value_name = "N")]
    larger_store: Option<u64>,
}

/// # Errors
/// When the store cannot be made or a job run fails.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    if args.memories < args.expiring.saturating_mul(3) {
        return Err(CliError::usage("--memories is at least three times --expiring"));
    }
    if args.larger_store.is_some_and(|larger| larger <= args.memories) {
        return Err(CliError::usage("--larger-store is more than --memories"));
    }
    let measured = context.block_on(measured(&args, context))?;
    let is_table = context.format_or(OutputFormat::Table) == OutputFormat::Table;
    for one in &measured {
        if is_table {
            table(one)?;
        }
        output::json(one)?;
    }
    if let [few, many] = measured.as_slice() {
        let grown = JobsGrowth::between(few, many);
        if is_table {
            grown.table()?;
        }
        output::json(&grown)?;
    }
    let right = |m: &JobsMeasurement| m.again_changed == 0 && m.changed >= args.expiring;
    Ok(if measured.iter().all(right) { Exit::Done } else { Exit::Failed })
}

async fn measured(args: &Args, context: &Context) -> Result<Vec<JobsMeasurement>, CliError> {
    let mut settings = settings_of(context)?;
    let sizes: Vec<u64> = [Some(args.memories), args.larger_store].into_iter().flatten().collect();
    let stores = Stores::make(&args.store, &settings, sizes.len()).await?;
    let mut measured = Vec::new();
    for (n, memories) in sizes.into_iter().enumerate() {
        stores.configure(n, &mut settings);
        measured.push(measure_jobs(JobsSize { memories, due: args.expiring }, settings.clone()).await);
    }
    stores.remove().await;
    measured.into_iter().collect()
}

async fn measure_jobs(size: JobsSize, settings: Settings) -> Result<JobsMeasurement, CliError> {
    let policies = Policies::load(settings.jobs.directory()).map_err(|error| CliError::usage(error.to_string()))?;
    let app = App::made(settings).await?;
    let pipeline = Arc::new(app.pipeline()?);
    let progress = output::progress_count(Some(size.memories));
    let on_progress = |done| progress.set_position(done);
    let measured = jobs::measure(&pipeline, policies, size, &on_progress).await;
    progress.finish_and_clear();
    app.store.close().await;
    measured.map_err(|error| CliError::failed(error.to_string()))
}

/// The larger store over the smaller one.
#[derive(Debug, Serialize)]
struct JobsGrowth {
    bench: &'static str,
    store: &'static str,
    memories: [u64; 2],
    run: f64,
    again: f64,
    anew: f64,
    peak: f64,
}

impl JobsGrowth {
    fn between(few: &JobsMeasurement, many: &JobsMeasurement) -> Self {
        let over = |few: f64, many: f64| many / few.max(1e-9);
        Self {
            bench: "jobs_grown",
            store: many.store,
            memories: [few.memories, many.memories],
            run: over(few.run_ms, many.run_ms),
            again: over(few.again_ms, many.again_ms),
            anew: over(few.anew_ms, many.anew_ms),
            peak: over(few.peak_bytes as f64, many.peak_bytes as f64),
        }
    }

    fn table(&self) -> Result<(), CliError> {
        let [few, many] = self.memories;
        let rows = [
            ("Job run", self.run),
            ("Same job run again", self.again),
            ("Job run after a change of the decay rate", self.anew),
            ("Peak memory", self.peak),
        ];
        let name = format!("{many} over {few} memories");
        output::table(&[name.as_str(), "Ratio"], rows.map(|(name, value)| [name.to_owned(), format!("{value:.2}")]))
    }
}

fn table(m: &JobsMeasurement) -> Result<(), CliError> {
    let ms = |figure: f64| format!("{figure:.1}");
    let latency = |l: &BatchLatency| format!("{:.1} / {:.1} ({} batches)", l.p50_ms, l.p95_ms, l.batches);
    let rows = [
        ("Store", m.store.to_owned()),
        ("Memories", m.memories.to_string()),
        ("Due to expire", m.due.to_string()),
        ("Job run, ms", ms(m.run_ms)),
        ("Rows examined, changed", format!("{}, {}", m.examined, m.changed)),
        ("Same job run again, ms", ms(m.again_ms)),
        ("Rows changed by the repetition", m.again_changed.to_string()),
        ("Job run after a change of the decay rate, ms", ms(m.anew_ms)),
        ("One update of every row, ms", ms(m.whole_update_ms)),
        ("Ratio of job run to update", format!("{:.2}", m.anew_over_update)),
        ("Size on disk after thirty job runs, ratio", format!("{:.3}", m.growth)),
        ("Rows changed by the thirty job runs", m.growth_changed.to_string()),
        ("Size on disk after the change of the rate, ratio", format!("{:.3}", m.anew_growth)),
        ("Peak memory during job runs, MB", format!("{:.1}", m.peak_bytes as f64 / 1e6)),
        ("Batch of documents alone, p50 / p95, ms", latency(&m.ingest_alone)),
        ("Batch during a job run with many questions", latency(&m.ingest_during_run)),
        ("Memories that the job run asked about", m.expired_during_run.to_string()),
    ];
    output::table(&["Measure", "Value"], rows.map(|(name, value)| [name.to_owned(), value]))?;
    if m.build == "debug" {
        output::note("This is a development build: for figures that mean something, build with --release.");
    }
    Ok(())
}

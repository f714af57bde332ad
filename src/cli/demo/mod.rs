//! `demo`: the main job on shipped sample patients, without a server and without a key, then thirty simulated runs.

mod report;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use chrono::{DateTime, Duration, NaiveDate, Utc};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::app::App;
use super::keyring::KeyStoreSetup;
use super::output::{self, OutputFormat};
use super::{CliError, Context, Exit, worker};
use anamnesis_config::Settings;
use anamnesis_core::clock::ManualClock;
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_core::scope::Scope;
use anamnesis_messages::{Decoder, Limits};
use anamnesis_pipeline::{Disposition, DispositionCounts, Pipeline, RawMessage};
use anamnesis_search::Recall;

/// Shipped with the program: four fictional patients, in Spanish and English.
const SAMPLES: [(&str, &str); 4] = [
    ("Lucía", include_str!("../../../samples/lucia.ndjson")),
    ("Daniel", include_str!("../../../samples/daniel.ndjson")),
    ("Mateo", include_str!("../../../samples/mateo.ndjson")),
    ("Rosa", include_str!("../../../samples/rosa.ndjson")),
];
const DAILY_RUNS: i64 = 30;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Folder for the store of the demonstration [default: a new temporary folder].
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
}

/// A sample and when it happened.
type SampleMessage = (DateTime<Utc>, Vec<u8>);

/// One simulated job run that changed something.
#[derive(Debug, serde::Serialize)]
pub(super) struct DemoJobRun {
    date: NaiveDate,
    job: &'static str,
    examined: u64,
    changed: u64,
}

/// # Errors
/// When the temporary store cannot be made.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    let format = context.format_or(OutputFormat::Table);
    context.block_on(async {
        let started = Instant::now();
        let folder = folder(args.keep)?;
        let settings = App::scratch_settings(context, &folder)?;
        let messages = messages(&settings)?;
        let last = messages.iter().map(|(at, _)| *at).max().ok_or_else(|| CliError::failed("the samples are empty"))?;
        let clock = Arc::new(ManualClock::at(messages[0].0));
        let app = App::at(settings, Arc::clone(&clock) as _, KeyStoreSetup::Create).await?;
        let pipeline = app.pipeline()?;
        let tally = feed(&pipeline, &clock, messages).await;
        clock.set(last);
        let job_runs = simulate_jobs(&app, &clock).await?;
        let recall = recall(&app, &pipeline)?;
        let people = people()?;
        let demo_report = report::DemoReport {
            recall: &recall,
            people: &people,
            tally: &tally,
            job_runs: &job_runs,
            folder: &folder,
        };
        match format {
            OutputFormat::Json => output::json(&demo_report.json().await?)?,
            OutputFormat::Table => demo_report.print().await?,
        }
        output::note(&format!("Finished in {:.1} s. Nothing left this machine.", started.elapsed().as_secs_f64()));
        app.store.close().await;
        Ok(if tally.count("stored") == tally.total() { Exit::Done } else { Exit::Partial })
    })
}

fn folder(keep: Option<PathBuf>) -> Result<PathBuf, CliError> {
    let folder = keep.unwrap_or_else(|| std::env::temp_dir().join(format!("anamnesis-demo-{}", std::process::id())));
    if folder.join("store.db").exists() {
        return Err(CliError::usage("--keep: this folder already holds a store; name a new one"));
    }
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// All samples in the order in which they happened.
fn messages(settings: &Settings) -> Result<Vec<SampleMessage>, CliError> {
    let decoder = Decoder::new(Limits::with_body(settings.intake.max_body_bytes));
    let mut messages = Vec::new();
    for line in SAMPLES.iter().flat_map(|(_, lines)| lines.lines()).filter(|line| !line.trim().is_empty()) {
        let envelope = decoder.decode(line.as_bytes()).map_err(|refusal| CliError::failed(refusal.to_string()))?;
        let at = envelope.message.happened_at().ok_or_else(|| CliError::failed("a sample has no time"))?;
        messages.push((at, line.as_bytes().to_vec()));
    }
    messages.sort();
    Ok(messages)
}

/// Day by day, with the clock standing where the day ends.
async fn feed(pipeline: &Pipeline, clock: &ManualClock, messages: Vec<SampleMessage>) -> DispositionCounts {
    let progress = output::progress_count(Some(messages.len() as u64));
    let mut tally = DispositionCounts::default();
    for day in messages.chunk_by(|a, b| a.0.date_naive() == b.0.date_naive()) {
        if let Some((at, _)) = day.last() {
            clock.set(*at);
        }
        let bodies = day.iter().map(|(_, body)| RawMessage::from_body(body.clone())).collect();
        for disposition in pipeline.run(bodies).await {
            tally.add(disposition);
            progress.inc(1);
        }
    }
    progress.finish_and_clear();
    tally
}

/// Thirty daily runs of every job, one day after the other, as the ticker of a worker would start them.
async fn simulate_jobs(app: &App, clock: &ManualClock) -> Result<Vec<DemoJobRun>, CliError> {
    let scheduler = worker::scheduler(app, CancellationToken::new()).await?;
    let progress = output::progress_count(Some(DAILY_RUNS as u64));
    let mut runs: Vec<DemoJobRun> = Vec::new();
    for _ in 0..DAILY_RUNS {
        clock.advance(Duration::days(1));
        let reports = scheduler.round().await.map_err(|error| CliError::failed(error.to_string()))?;
        for report in reports.iter().filter(|r| r.changed > 0) {
            let same = |n: &&mut DemoJobRun| n.date == report.as_of && n.job == report.job.code();
            if let Some(run) = runs.iter_mut().find(same) {
                run.examined += report.examined;
                run.changed += report.changed;
                continue;
            }
            runs.push(DemoJobRun {
                date: report.as_of,
                job: report.job.code(),
                examined: report.examined,
                changed: report.changed,
            });
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(runs)
}

fn recall(app: &App, pipeline: &Pipeline) -> Result<Recall, CliError> {
    let people = people()?;
    let org =
        people.first().map(|(_, scope)| scope.org()).ok_or_else(|| CliError::failed("the samples name no patient"))?;
    let redactor = pipeline.redactor(org, "safe_harbor");
    let redactor = redactor.ok_or_else(|| CliError::failed("the default policy is missing"))?;
    let recall = Recall::new(app.store.clone(), app.models()?, Arc::clone(redactor), Arc::clone(&app.metrics));
    Ok(recall.with_extractor(pipeline.extractor_of(org)))
}

/// Name and scope of each sample patient. The names are ours: the store does not know them.
fn people() -> Result<Vec<(&'static str, Scope)>, CliError> {
    SAMPLES
        .iter()
        .map(|(name, lines)| {
            let first: serde_json::Value =
                lines.lines().next().and_then(|l| serde_json::from_str(l).ok()).unwrap_or(json!({}));
            let id = |key: &str| first[key].as_str().and_then(|t| t.parse::<Uuid>().ok()).unwrap_or_default();
            let scope = Scope::new(OrgId(id("organization_id")), PatientId(id("patient_id")));
            scope.map(|scope| (*name, scope)).map_err(|error| CliError::failed(error.to_string()))
        })
        .collect()
}

/// Counts by disposition, for programs.
pub(super) fn counts(tally: &DispositionCounts) -> serde_json::Value {
    let of: serde_json::Map<String, serde_json::Value> =
        tally.iter().map(|(d, n): (Disposition, u64)| (d.code().to_owned(), json!(n))).collect();
    json!(of)
}

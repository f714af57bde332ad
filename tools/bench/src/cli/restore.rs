//! `anamnesis-bench restore`: what a clinic loses and how long it waits when store and keys are gone (RPO and RTO),
//! measured by the verbs themselves: a backup during work, a loss, a restore elsewhere, the first answer, and what
//! producers send again.

use crate::settings_of;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;

use super::ingest::{PipelineProfile, embed_with};
use super::messages::environment;
use super::stores::{StoreArgs, Stores};
use crate::corpus;
use anamnesis::cli::app::App;
use anamnesis::cli::output::{self, OutputFormat};
use anamnesis::cli::{CliError, Context, Exit};
use anamnesis_config::{IntakeConfig, Settings};
use anamnesis_core::clock::{Clock as _, SystemClock};
use anamnesis_core::ids::OrgId;
use anamnesis_pipeline::{Disposition, Pipeline, RawMessage};
use anamnesis_sql::{Access, Sql};
use anamnesis_test_servers::provider::{FakeOptions, FakeProvider};

/// How long work is measured without a concurrent backup.
const ALONE: Duration = Duration::from_secs(2);

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    store: StoreArgs,
    /// Documents in the store before the backup.
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(1..))]
    documents: u64,
    /// Milliseconds from the end of the backup to the loss.
    #[arg(long, value_name = "MS", default_value_t = 3_000)]
    loss_after_ms: u64,
    /// What the pipeline does with a document.
    #[arg(long, value_enum, default_value_t = PipelineProfile::Patterns)]
    profile: PipelineProfile,
    /// Messages that share one transaction.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=4096))]
    batch: u16,
}

/// What was found, of one loss.
#[derive(Debug, Serialize)]
struct RestoreMeasurement {
    bench: &'static str,
    build: &'static str,
    store: &'static str,
    profile: &'static str,
    /// In the store when the backup began.
    documents: u64,
    backup_bytes: u64,
    backup_seconds: f64,
    /// A batch from the pipeline's door to its commit, without and with a concurrent backup.
    batch_ms_alone: LatencyPercentiles,
    batch_ms_during_backup: LatencyPercentiles,
    restore_seconds: f64,
    first_answer_seconds: f64,
    /// From the beginning of the restore to the first answer about a patient.
    rto_seconds: f64,
    /// Committed before the backup's instant and not restored: must be 0.
    missing_before_instant: u64,
    /// Committed before the loss and not restored.
    lost: u64,
    /// From the last commit that was restored to the loss.
    rpo_seconds: f64,
    /// From the backup's instant to the loss: what the objective is made of, since nothing before it is lost.
    since_instant_seconds: f64,
    /// Of the lost, stored when their producers send everything again.
    stored_again: u64,
}

#[derive(Debug, Clone, Copy, Default, Serialize)]
struct LatencyPercentiles {
    p50: f64,
    p99: f64,
    max: f64,
}

impl LatencyPercentiles {
    fn from_times(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        let at = |share: f64| times.get(((times.len() as f64 * share) as usize).min(times.len().saturating_sub(1)));
        let at = |share| at(share).copied().unwrap_or_default();
        Self { p50: at(0.5), p99: at(0.99), max: at(1.0) }
    }
}

/// A batch that was committed: up to which document, when, and in how many milliseconds.
#[derive(Debug, Clone, Copy)]
struct CommittedBatch {
    up_to: u64,
    at: DateTime<Utc>,
    took: f64,
}

/// # Errors
/// When the configuration is wrong, or stores or verbs cannot be used.
pub(crate) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let measured = context.block_on(measured(args, context))?;
    if context.format_or(OutputFormat::Table) == OutputFormat::Table {
        table(&measured)?;
    }
    output::json(&measured)?;
    let whole = measured.missing_before_instant == 0 && measured.stored_again == measured.lost;
    Ok(if whole { Exit::Done } else { Exit::Failed })
}

async fn measured(args: &Args, context: &Context) -> Result<RestoreMeasurement, CliError> {
    let mut settings = settings_of(context)?;
    settings.intake = IntakeConfig { max_body_bytes: settings.intake.max_body_bytes, ..IntakeConfig::default() };
    // The store that is lost, and the empty place that it is restored into.
    let stores = Stores::make(&args.store, &settings, 2).await?;
    let measured = drill(args, settings, &stores).await;
    stores.remove().await;
    measured
}

async fn drill(args: &Args, mut settings: Settings, stores: &Stores) -> Result<RestoreMeasurement, CliError> {
    let provider = FakeProvider::start(FakeOptions::default()).await?;
    embed_with(&mut settings, &provider, FakeOptions::default().dimension);
    args.profile.configure(&mut settings);
    // The root key is in no backup: it is what is left of the place that is lost.
    settings.store.master_key_file = stores.folder().join("root");
    let mut elsewhere = settings.clone();
    stores.configure(0, &mut settings);
    stores.configure(1, &mut elsewhere);
    let backup = stores.folder().join("backup");
    let verbs = ProgramVerbs { owner: stores.administrators_url(1), root: settings.store.master_key_file.clone() };

    let app = App::with(settings.clone()).await?;
    let pipeline = args.profile.pipeline(&app)?;
    let load = RestoreLoad { pipeline: &pipeline, batch: u64::from(args.batch) };
    load.until(0, args.documents).await?;
    let alone = load.during(args.documents, tokio::time::sleep(ALONE)).await?;
    let before = alone.last().map_or(args.documents, |last| last.up_to);
    let began = Instant::now();
    let verb = ["backup".to_owned(), backup.display().to_string()];
    let mut made = None;
    let during = load.during(before, async { made = Some(verbs.run(&settings, &verb).await) }).await?;
    let backup_seconds = began.elapsed().as_secs_f64();
    let manifest = made.ok_or_else(|| CliError::failed("the backup did not run"))??["manifest"].clone();
    let from = during.last().map_or(before, |last| last.up_to);
    let after = load.during(from, tokio::time::sleep(Duration::from_millis(args.loss_after_ms))).await?;
    let loss = SystemClock.now();
    app.store.close().await;
    drop(pipeline);
    lose(&settings)?;

    let began = Instant::now();
    verbs.run(&elsewhere, &["restore".to_owned(), backup.display().to_string()]).await?;
    let restore_seconds = began.elapsed().as_secs_f64();
    let body: Value = serde_json::from_slice(&corpus::document(0)).map_err(|_| CliError::failed("a document"))?;
    let id = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
    let asked = ["context", "--org", &id("organization_id"), "--patient", &id("patient_id")].map(str::to_owned);
    let answered = verbs.run(&elsewhere, &asked).await?;
    let rto_seconds = began.elapsed().as_secs_f64();
    if answered["known"] != true {
        return Err(CliError::failed("the restored store does not know its first patient"));
    }

    let app = App::with(elsewhere).await?;
    let pipeline = args.profile.pipeline(&app)?;
    let restored = documents(&app, &id("organization_id")).await?;
    let instant = manifest["instant"].as_str().and_then(|text| text.parse::<DateTime<Utc>>().ok());
    let instant = instant.ok_or_else(|| CliError::failed("the manifest has no instant"))?;
    let commits: Vec<CommittedBatch> = alone.iter().chain(&during).chain(&after).copied().collect();
    let total = commits.last().map_or(args.documents, |last| last.up_to);
    let promised = commits.iter().filter(|one| one.at <= instant).map(|one| one.up_to).max().unwrap_or(args.documents);
    let kept = commits.iter().filter(|one| one.up_to <= restored).map(|one| one.at).max().unwrap_or(instant);
    let again = RestoreLoad { pipeline: &pipeline, batch: u64::from(args.batch) };
    again.until(0, total).await?;
    let stored_again = documents(&app, &id("organization_id")).await?.saturating_sub(restored);
    app.store.close().await;
    let seconds = |from: DateTime<Utc>| (loss - from).as_seconds_f64();
    Ok(RestoreMeasurement {
        bench: "restore",
        build: if cfg!(debug_assertions) { "debug" } else { "release" },
        store: if args.store.is_server() { "postgres" } else { "sqlite" },
        profile: args.profile.name(),
        documents: before,
        backup_bytes: bytes(&backup),
        backup_seconds,
        batch_ms_alone: LatencyPercentiles::from_times(alone.iter().map(|one| one.took).collect()),
        batch_ms_during_backup: LatencyPercentiles::from_times(during.iter().map(|one| one.took).collect()),
        restore_seconds,
        first_answer_seconds: rto_seconds - restore_seconds,
        rto_seconds,
        missing_before_instant: promised.saturating_sub(restored),
        lost: total.saturating_sub(restored),
        rpo_seconds: seconds(kept),
        since_instant_seconds: seconds(instant),
        stored_again,
    })
}

/// Documents in the order of their numbers, each batch committed before the next one begins.
struct RestoreLoad<'a> {
    pipeline: &'a Pipeline,
    batch: u64,
}

impl RestoreLoad<'_> {
    async fn until(&self, from: u64, to: u64) -> Result<(), CliError> {
        let mut next = from;
        while next < to {
            next = self.one(next, to).await?.up_to;
        }
        Ok(())
    }

    /// As many batches as fit into something else, and one at least.
    async fn during(&self, from: u64, verb: impl Future<Output = ()>) -> Result<Vec<CommittedBatch>, CliError> {
        let ended = AtomicBool::new(false);
        let work = async {
            let mut done = Vec::new();
            let mut next = from;
            while !ended.load(Ordering::SeqCst) || done.is_empty() {
                let one = self.one(next, u64::MAX).await?;
                next = one.up_to;
                done.push(one);
            }
            Ok::<_, CliError>(done)
        };
        let verb = async {
            verb.await;
            ended.store(true, Ordering::SeqCst);
        };
        tokio::join!(work, verb).0
    }

    async fn one(&self, from: u64, to: u64) -> Result<CommittedBatch, CliError> {
        let up_to = from.saturating_add(self.batch).min(to);
        let raws: Vec<RawMessage> =
            (from..up_to).map(|number| RawMessage::from_body(corpus::document(number))).collect();
        let began = Instant::now();
        let done = self.pipeline.run(raws).await;
        let took = began.elapsed().as_secs_f64() * 1_000.0;
        if done.iter().any(|one| matches!(one, Disposition::Retry | Disposition::Quarantined(_))) {
            return Err(CliError::failed("a document of the drill was not stored"));
        }
        Ok(CommittedBatch { up_to, at: SystemClock.now(), took })
    }
}

/// Verbs of this program, each in a process of its own as a person runs it.
struct ProgramVerbs {
    /// Who may change the schema of the place to restore into.
    owner: Option<String>,
    root: PathBuf,
}

impl ProgramVerbs {
    async fn run(&self, settings: &Settings, verb: &[String]) -> Result<Value, CliError> {
        let mut command = tokio::process::Command::new(crate::process::program()?);
        command
            .args(verb)
            .args(["--output", "json"])
            .envs(environment(settings))
            .env("ANAMNESIS__STORE__MASTER_KEY_FILE", &self.root)
            .env("ANAMNESIS__STORE__MIGRATE_URL", self.owner.as_deref().unwrap_or_default())
            .stdin(Stdio::null())
            .stderr(Stdio::inherit());
        let output = command.output().await?;
        if !output.status.success() {
            return Err(CliError::failed(format!("`anamnesis {}` failed", verb.first().map_or("", String::as_str))));
        }
        serde_json::from_slice(&output.stdout).map_err(|_| CliError::failed("a command did not answer in JSON"))
    }
}

/// Takes the place away: files of the store, and keys. A server's database is simply not asked again.
fn lose(settings: &Settings) -> Result<(), CliError> {
    for path in [&settings.store.path, &settings.store.keys] {
        for ending in ["", "-wal", "-shm"] {
            let mut name = path.as_os_str().to_owned();
            name.push(ending);
            match std::fs::remove_file(PathBuf::from(name)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
                _ => {}
            }
        }
    }
    Ok(())
}

async fn documents(app: &App, org: &str) -> Result<u64, CliError> {
    let failed = |error: anamnesis_sql::DbError| CliError::failed(error.to_string());
    let org = OrgId(org.parse().map_err(|_| CliError::failed("an organisation's id"))?);
    let mut tx = app.store.db().read(Access::Organization(org)).await.map_err(failed)?;
    let sql = Sql::new("SELECT count(*) FROM documents WHERE org_id = $1");
    let rows = tx.fetch_all(&sql, vec![org.0.into()]).await.map_err(failed)?;
    let count = rows.first().map(|row| row.i64(0)).transpose().map_err(failed)?;
    Ok(count.unwrap_or_default().unsigned_abs())
}

fn bytes(folder: &Path) -> u64 {
    let sizes = folder.read_dir().into_iter().flatten().flatten().filter_map(|entry| entry.metadata().ok());
    sizes.map(|about| about.len()).sum()
}

fn table(measured: &RestoreMeasurement) -> Result<(), CliError> {
    let times = |times: LatencyPercentiles| format!("{:.1}, {:.1}, {:.1}", times.p50, times.p99, times.max);
    let rows = [
        ("Store, profile", format!("{}, {}", measured.store, measured.profile)),
        ("Documents before the backup", measured.documents.to_string()),
        (
            "Backup, seconds; MiB",
            format!("{:.2}; {:.1}", measured.backup_seconds, measured.backup_bytes as f64 / 1_048_576.0),
        ),
        ("Batch without a backup, ms: p50, p99, max", times(measured.batch_ms_alone)),
        ("Batch during the backup, ms: p50, p99, max", times(measured.batch_ms_during_backup)),
        ("Restore, seconds", format!("{:.2}", measured.restore_seconds)),
        ("First answer after the restore, seconds", format!("{:.2}", measured.first_answer_seconds)),
        ("RTO: restore and first answer, seconds", format!("{:.2}", measured.rto_seconds)),
        ("Committed before the backup and missing", measured.missing_before_instant.to_string()),
        ("Committed after the backup and lost", measured.lost.to_string()),
        ("RPO: from the last restored commit to the loss, seconds", format!("{:.2}", measured.rpo_seconds)),
        ("From the backup to the loss, seconds", format!("{:.2}", measured.since_instant_seconds)),
        ("Recovered when producers send again", measured.stored_again.to_string()),
    ];
    output::table(&["Measure", "Value"], rows.map(|(name, value)| [name.to_owned(), value]))?;
    if measured.build == "debug" {
        output::note("This is a development build: for figures that mean something, build with --release.");
    }
    Ok(())
}

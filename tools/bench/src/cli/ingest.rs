//! `anamnesis-bench ingest`: how fast documents become memory on this machine, in a temporary folder, with nothing to install.

use crate::settings_of;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;

use super::stores::{StoreArgs, Stores};
use crate::ingest::{self, DocumentSource, IngestLoad, IngestMeasurement};
use anamnesis::cli::app::App;
use anamnesis::cli::output::{self, OutputFormat};
use anamnesis::cli::{CliError, Context, Exit};
use anamnesis_config::embedding::{EmbeddingSettings, Encoding, ModelProfile, Provider};
use anamnesis_config::{IntakeConfig, Settings};
use anamnesis_pipeline::Pipeline;
use anamnesis_sql::Location;
use anamnesis_test_servers::provider::{FakeOptions, FakeProvider, FaultRates};

/// Documents of a run when neither `--documents` nor `--data` says otherwise: the whole pipeline, and patterns alone, which are
/// ten times as fast.
const DOCUMENTS: u64 = 500;
const DOCUMENTS_OF_PATTERNS: u64 = 24_576;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    store: StoreArgs,
    /// How many documents [default: 500, with patterns alone 24576; with --data: all].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    documents: Option<u64>,
    /// Milliseconds that the fake embedding server waits before each answer.
    #[arg(long, value_name = "MS", default_value_t = 0)]
    latency_ms: u64,
    /// What goes wrong at the fake embedding server, as NAME=SHARE of its requests: 429:1=0.05,500=0.01,reset=0.01.
    #[arg(long, value_name = "SPEC", default_value = "", hide_default_value = true)]
    faults: FaultRates,
    /// How the fake embedding server sends vectors.
    #[arg(long, value_enum, default_value_t = VectorEncoding::Base64)]
    encoding: VectorEncoding,
    /// Who embeds.
    #[arg(long, value_enum, default_value_t = EmbeddingSource::Fake)]
    provider: EmbeddingSource,
    /// NDJSON messages of your own instead of invented documents: a file or a folder.
    #[arg(long, value_name = "PATH")]
    data: Option<PathBuf>,
    /// Messages that share one transaction [default: pipeline.batch_documents, with patterns alone 1024].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    batch: Option<u16>,
    /// Batches in work at once [default: broker.bulk_concurrency, with patterns alone 4]. The bare upserts take as many connections.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    slots: Option<u16>,
    /// What the pipeline does with a document.
    #[arg(long, value_enum, default_value_t = PipelineProfile::Whole)]
    profile: PipelineProfile,
    /// Rounds of pipeline and bare upserts by turns, each in new stores; medians are reported.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=25))]
    rounds: u8,
}

/// How much of the pipeline is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum PipelineProfile {
    /// All of it: learned redaction, extraction, passages as configured.
    Whole,
    /// Patterns and the people of the message only, nothing extracted, one passage and vector for a document: what
    /// memory libraries do, and still encrypted, with keyed terms, raw memory, inbox and outbox.
    Patterns,
}

/// Words of a passage when a document is one: more than any of the bench's.
const ONE_PASSAGE: usize = 4_096;
/// How a worker off a bulk queue is best set where a document costs little.
const BULK: IngestLoad = IngestLoad { batch: 1_024, slots: 4 };

impl PipelineProfile {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Patterns => "patterns",
        }
    }

    /// Documents of a run that says nothing of them.
    fn documents(self) -> u64 {
        match self {
            Self::Whole => DOCUMENTS,
            Self::Patterns => DOCUMENTS_OF_PATTERNS,
        }
    }

    /// What is in work at once, where a run says nothing of it.
    fn load(self, settings: &Settings) -> IngestLoad {
        match self {
            Self::Whole => {
                IngestLoad { batch: settings.pipeline.batch_documents, slots: settings.broker.bulk_concurrency }
            }
            Self::Patterns => BULK,
        }
    }

    pub(crate) fn configure(self, settings: &mut Settings) {
        if self == Self::Patterns {
            settings.pipeline.passage_words = ONE_PASSAGE;
        }
    }

    pub(crate) fn pipeline(self, app: &App) -> Result<Arc<Pipeline>, CliError> {
        let pipeline = app.pipeline()?;
        Ok(Arc::new(match self {
            Self::Whole => pipeline,
            Self::Patterns => pipeline.with_patterns_only().map_err(|error| CliError::failed(error.to_string()))?,
        }))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum VectorEncoding {
    /// Numbers in JSON.
    Float,
    /// Base64 of 32-bit floats.
    Base64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EmbeddingSource {
    /// A server inside this process, OpenAI's shape, that answers at once.
    Fake,
    /// The encoder inside the program.
    Builtin,
}

/// # Errors
/// When arguments contradict each other, the configuration is wrong, or messages or stores cannot be read.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    if args.provider == EmbeddingSource::Builtin && (args.latency_ms > 0 || !args.faults.is_empty()) {
        return Err(CliError::usage("--latency-ms and --faults belong to the fake embedding server, not to builtin"));
    }
    let measured = context.block_on(measured(&args, context))?;
    if context.format_or(OutputFormat::Table) == OutputFormat::Table {
        tables(&measured)?;
    }
    output::json(&measured)?;
    Ok(if measured.not_stored == 0 { Exit::Done } else { Exit::Partial })
}

async fn measured(args: &Args, context: &Context) -> Result<IngestMeasurement, CliError> {
    let settings = settings_of(context)?;
    let mut rounds = Vec::new();
    for _ in 0..args.rounds {
        let mut settings = settings.clone();
        let stores = Stores::make(&args.store, &settings, 2).await?;
        stores.configure(0, &mut settings);
        let measured = through(args, settings, &stores.location(1)).await;
        stores.remove().await;
        rounds.push(measured?);
    }
    IngestMeasurement::from_rounds(rounds).ok_or_else(|| CliError::usage("--rounds is at least 1"))
}

async fn through(args: &Args, mut settings: Settings, empty: &Location) -> Result<IngestMeasurement, CliError> {
    let server = embedder(&mut settings, args).await?;
    let usual = args.profile.load(&settings);
    let load = IngestLoad {
        batch: args.batch.map_or(usual.batch, usize::from),
        slots: args.slots.map_or(usual.slots, usize::from),
    };
    let source = match &args.data {
        None => DocumentSource::Generated(args.documents.unwrap_or(args.profile.documents())),
        Some(path) => {
            let max_body_bytes = settings.intake.max_body_bytes;
            DocumentSource::Data { path: path.clone(), limit: args.documents, max_body_bytes }
        }
    };
    args.profile.configure(&mut settings);
    let app = App::made(settings).await?;
    let pipeline = args.profile.pipeline(&app)?;
    let progress = output::progress_count(source.len_hint());
    let on_progress = |done| progress.set_position(done);
    let measured = ingest::measure(&pipeline, &source, load, empty, &on_progress).await;
    progress.finish_and_clear();
    app.store.close().await;
    drop(server);
    let measured = measured.map_err(|error| CliError::failed(error.to_string()))?;
    Ok(IngestMeasurement { profile: args.profile.name(), ..measured })
}

/// Turns the configuration to the chosen embedder. The server runs as long as it is held.
async fn embedder(settings: &mut Settings, args: &Args) -> Result<Option<FakeProvider>, CliError> {
    settings.intake = IntakeConfig { max_body_bytes: settings.intake.max_body_bytes, ..IntakeConfig::default() };
    if args.provider == EmbeddingSource::Builtin {
        settings.embedding.provider = Provider::Builtin;
        return Ok(None);
    }
    let options = FakeOptions {
        latency: Duration::from_millis(args.latency_ms),
        faults: args.faults.clone(),
        ..FakeOptions::default()
    };
    let dimension = options.dimension;
    let server = FakeProvider::start(options).await?;
    embed_with(settings, &server, dimension);
    settings.embedding.encoding = if args.encoding == VectorEncoding::Float { Encoding::Float } else { Encoding::Auto };
    Ok(Some(server))
}

/// Turns a configuration to the fake embedding server.
pub(super) fn embed_with(settings: &mut Settings, server: &FakeProvider, dimension: usize) {
    settings.embedding = EmbeddingSettings {
        provider: Provider::OpenAi,
        url: Some(server.openai_url()),
        profile: Some(ModelProfile {
            model: "bench".to_owned(),
            dimension,
            min_score: 0.7,
            contradiction_similarity: 0.6,
            generation: 1,
            max_tokens: 2048,
            document_task: None,
            query_task: None,
        }),
        ..EmbeddingSettings::default()
    };
}

fn curve(points: &[f64]) -> String {
    points.iter().map(|mb| format!("{mb:.0}")).collect::<Vec<_>>().join(" ")
}

fn tables(measured: &IngestMeasurement) -> Result<(), CliError> {
    let figure_text =
        |figure: Option<f64>| figure.map_or_else(|| "unknown".to_owned(), |figure| format!("{figure:.1}"));
    let rows = [
        ("Store", measured.store.to_owned()),
        ("Profile", measured.profile.to_owned()),
        ("Messages of a batch, batches at once", format!("{}, {}", measured.batch, measured.slots)),
        ("Messages", measured.documents.to_string()),
        ("Stored", measured.stored.to_string()),
        ("Bytes of a message", format!("{:.0}", measured.body_bytes_per_document)),
        ("Documents per second", format!("{:.1}", measured.documents_per_second)),
        ("Bare upserts of the same rows, documents per second", format!("{:.1}", measured.bare_documents_per_second)),
        ("Ratio to bare upserts", format!("{:.3}", measured.ratio_to_bare_upserts)),
        ("Redelivery, documents per second", format!("{:.1}", measured.redelivered_documents_per_second)),
        ("Redelivery over fresh", format!("{:.2}", measured.redelivery_ratio)),
        ("Processor ms per document", figure_text(measured.cpu_ms_per_document)),
        ("Peak memory, MiB", figure_text(measured.peak_mb)),
        ("Memory after each tenth, MiB", curve(&measured.resident_mb)),
        ("Bytes of store per document", format!("{:.0}", measured.store_bytes_per_document)),
        ("Bytes of the server's log per document", figure_text(measured.log_bytes_per_document)),
        ("Bytes of the server's log per redelivery", figure_text(measured.log_bytes_per_redelivery)),
    ];
    output::table(&["Measure", "Value"], rows.map(|(name, value)| [name.to_owned(), value]))?;
    if !measured.rounds.is_empty() {
        let rounds = measured.rounds.iter().map(|round| {
            let rates = [round.documents_per_second, round.bare_documents_per_second].map(|rate| format!("{rate:.1}"));
            let [own, bare] = rates;
            [own, bare, format!("{:.3}", round.ratio_to_bare_upserts)]
        });
        output::table(&["Round: documents per second", "Bare upserts", "Ratio"], rounds)?;
    }
    let stages = measured.stages.iter().map(|(stage, time)| {
        let each = time.seconds * 1_000.0 / measured.documents as f64;
        [(*stage).to_owned(), format!("{each:.2}"), format!("{:.1} %", time.share * 100.0)]
    });
    output::table(&["Stage", "ms per document", "Share"], stages)?;
    let rows = measured.rows.iter().map(|(table, rows)| [(*table).to_owned(), rows.to_string()]);
    output::table(&["Bare upserts into", "Rows"], rows)?;
    if measured.build == "debug" {
        output::note("This is a development build: for figures that mean something, build with --release.");
    }
    Ok(())
}

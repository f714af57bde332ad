//! `anamnesis-bench messages`: throughput and cost of the production worker with a real broker.

use crate::settings_of;
use std::time::Duration;

use secrecy::ExposeSecret as _;

use super::ingest::embed_with;
use super::stores::{StoreArgs, Stores};
use crate::messages::{self, MessageMeasurement, MessagePlan};
use anamnesis::cli::app::App;
use anamnesis::cli::output::{self, OutputFormat};
use anamnesis::cli::{CliError, Context, Exit, context as reading};
use anamnesis_config::extraction::ReadingProfile;
use anamnesis_config::{self as config, Settings};
use anamnesis_core::clock::{Clock as _, SystemClock, SystemEntropy, ordered_id};
use anamnesis_core::ids::{OrgId, derive};
use anamnesis_rabbitmq::Queue;
use anamnesis_rabbitmq::consumer::{QueueLimits, prefetch};
use anamnesis_test_servers::provider::{FakeOptions, FakeProvider};

/// Stores: the measured one, the one for the bare upserts, the one of the slow embedding server.
const STORES: usize = 3;
/// While a queue is filled, a confirm may take long.
const ANSWER_MS: u64 = 60_000;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    store: StoreArgs,
    /// A RabbitMQ, amqp://user:password@host:port/vhost; exchanges and queues are made there under a separate prefix
    /// and removed again.
    #[arg(long, value_name = "URL", env = "ANAMNESIS_BENCH_AMQP_URL", hide_env_values = true)]
    amqp_url: String,
    /// How many documents.
    #[arg(long, value_name = "N", default_value_t = 4_000, value_parser = clap::value_parser!(u64).range(1..))]
    documents: u64,
    /// Also look at the worker's memory before so many waiting messages.
    #[arg(long, value_name = "N")]
    backlog: Vec<u64>,
    /// Milliseconds that the slow embedding server waits before each answer.
    #[arg(long, value_name = "MS", default_value_t = 30)]
    latency_ms: u64,
}

/// # Errors
/// When the configuration is wrong, or broker, stores or workers cannot be used.
pub(crate) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let measured = context.block_on(measured(args, context))?;
    if context.format_or(OutputFormat::Table) == OutputFormat::Table {
        tables(&measured)?;
    }
    output::json(&measured)?;
    Ok(if measured.stored == measured.documents { Exit::Done } else { Exit::Partial })
}

async fn measured(args: &Args, context: &Context) -> Result<MessageMeasurement, CliError> {
    let mut settings = settings_of(context)?;
    settings.broker.url = args.amqp_url.clone().into();
    settings.broker.prefix = format!("bench-{}", ordered_id(SystemClock.now(), &SystemEntropy).simple());
    let stores = Stores::make(&args.store, &settings, STORES).await?;
    let measured = through(args, settings, &stores).await;
    stores.remove().await;
    measured
}

async fn through(args: &Args, mut settings: Settings, stores: &Stores) -> Result<MessageMeasurement, CliError> {
    let latency = Duration::from_millis(args.latency_ms);
    let quick = FakeProvider::start(FakeOptions::default()).await?;
    let slow = FakeProvider::start(FakeOptions { latency, ..FakeOptions::default() }).await?;
    let dimension = FakeOptions::default().dimension;
    stores.configure(2, &mut settings);
    embed_with(&mut settings, &slow, dimension);
    let slow_environment = environment(&settings);
    stores.configure(0, &mut settings);
    embed_with(&mut settings, &quick, dimension);
    let limits = QueueLimits::from_settings(&settings, Queue::Bulk);
    let plan = MessagePlan {
        documents: args.documents,
        backlogs: args.backlog.clone(),
        batch: limits.batch,
        prefetch: prefetch(&settings, &limits),
        slots: limits.slots,
        latency,
        program: crate::process::program()?,
        folder: stores.folder().to_owned(),
        quick: environment(&settings),
        slow: slow_environment,
        store: stores.location(0),
        empty: stores.location(1),
        broker: config::BrokerConfig { rpc_timeout_ms: ANSWER_MS, ..settings.broker.clone() },
    };
    let app = App::made(settings).await?;
    let org = OrgId(derive("organization", &[b"bench chat".as_slice()]));
    let recall = reading::recall(&app, org).await?;
    let on_progress = |what: &str| output::note(&format!("{what} …"));
    let measured = messages::measure(&plan, Some(&recall), &on_progress).await;
    app.store.close().await;
    measured.map_err(|error| CliError::failed(error.to_string()))
}

/// What turns a worker's process to these settings; whatever else the environment says is its own.
pub(super) fn environment(settings: &Settings) -> Vec<(String, String)> {
    let profile = settings.embedding.profile.as_ref();
    let text_or_empty = |figure: Option<String>| figure.unwrap_or_default();
    [
        ("STORE__URL", settings.store.url.expose_secret().to_owned()),
        ("STORE__PATH", settings.store.path.display().to_string()),
        ("STORE__KEYS", settings.store.keys.display().to_string()),
        ("STORE__MASTER_KEY", String::new()),
        ("BROKER__URL", settings.broker.url.expose_secret().to_owned()),
        ("BROKER__PREFIX", settings.broker.prefix.clone()),
        // The benchmark is the only producer of its own queues.
        ("INTAKE__UNBOUND_PRODUCERS", "allow".to_owned()),
        ("EMBEDDING__PROVIDER", settings.embedding.provider.name().to_owned()),
        ("EMBEDDING__URL", settings.embedding.url.clone().unwrap_or_default()),
        ("EMBEDDING__PROFILE__MODEL", text_or_empty(profile.map(|profile| profile.model.clone()))),
        ("EMBEDDING__PROFILE__DIMENSION", text_or_empty(profile.map(|profile| profile.dimension.to_string()))),
        ("EMBEDDING__PROFILE__MIN_SCORE", text_or_empty(profile.map(|profile| profile.min_score.to_string()))),
        (
            "EMBEDDING__PROFILE__CONTRADICTION_SIMILARITY",
            text_or_empty(profile.map(|profile| profile.contradiction_similarity.to_string())),
        ),
        ("EMBEDDING__PROFILE__GENERATION", text_or_empty(profile.map(|profile| profile.generation.to_string()))),
        ("EMBEDDING__PROFILE__MAX_TOKENS", text_or_empty(profile.map(|profile| profile.max_tokens.to_string()))),
        (
            "EXTRACTION__PROFILE",
            if settings.extraction.profile == ReadingProfile::Fast { "fast" } else { "careful" }.to_owned(),
        ),
        ("WORKER__SPOOL", String::new()),
        ("JOBS__SCHEDULER", "false".to_owned()),
    ]
    .map(|(key, value)| (format!("ANAMNESIS__{key}"), value))
    .to_vec()
}

fn tables(measured: &MessageMeasurement) -> Result<(), CliError> {
    let figure_text =
        |figure: Option<f64>| figure.map_or_else(|| "unknown".to_owned(), |figure| format!("{figure:.1}"));
    let mut rows = vec![
        ("Store".to_owned(), measured.store.to_owned()),
        ("Messages".to_owned(), measured.documents.to_string()),
        ("Batch size; prefetch count".to_owned(), format!("{}; {}", measured.batch, measured.prefetch)),
        ("Documents per second".to_owned(), format!("{:.1}", measured.documents_per_second)),
        ("Bare consumer, messages per second".to_owned(), format!("{:.0}", measured.bare_consumer_per_second)),
        ("Ratio to the bare consumer".to_owned(), format!("{:.4}", measured.ratio_to_bare_consumer)),
        (
            "Bare upserts of the same rows, documents per second".to_owned(),
            format!("{:.1}", measured.bare_upserts_per_second),
        ),
        ("Ratio to the bare upserts".to_owned(), format!("{:.3}", measured.ratio_to_bare_upserts)),
        ("Redelivery, messages per second".to_owned(), format!("{:.1}", measured.redelivered_per_second)),
        ("Ratio of redelivery to first delivery".to_owned(), format!("{:.2}", measured.redelivery_ratio)),
        (
            format!("Documents per second at {} ms of embedding", measured.latency_ms),
            format!("{:.1}", measured.documents_per_second_at_latency),
        ),
        ("Share of the throughput at that latency".to_owned(), format!("{:.2}", measured.share_kept_at_latency)),
        ("CPU ms per document, worker".to_owned(), figure_text(measured.cpu_ms_per_document)),
        ("From start to consuming, ms".to_owned(), format!("{:.0}", measured.start_to_consuming_ms)),
        ("Memory idle, MiB".to_owned(), figure_text(measured.idle_mb)),
        ("Peak memory under load, MiB".to_owned(), figure_text(measured.loaded_mb)),
    ];
    for backlog in &measured.backlogs {
        rows.push((
            format!("Peak memory with {} messages waiting, MiB", backlog.messages),
            figure_text(backlog.peak_mb),
        ));
    }
    if let Some(chat) = &measured.chat {
        let what = format!("Chat searchable during bulk load ({} left): p50, max, s", chat.bulk_left);
        rows.push((what, format!("{:.2}, {:.2}", chat.p50_seconds, chat.max_seconds)));
    }
    output::table(&["Measure", "Value"], rows.into_iter().map(|(name, value)| [name, value]))?;
    let stages = measured.stages.iter().map(|(stage, time)| {
        let each = time.seconds * 1_000.0 / measured.documents as f64;
        [(*stage).to_owned(), format!("{each:.2}"), format!("{:.1} %", time.share * 100.0)]
    });
    output::table(&["Stage", "ms per document", "Share"], stages)?;
    if measured.build == "debug" {
        output::note("This is a development build: for figures that mean something, build with --release.");
    }
    Ok(())
}

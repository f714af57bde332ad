//! `anamnesis-bench growth`: one more document, for a patient of whom much is known.

use super::stores::{StoreArgs, Stores};
use crate::growth::{self, GrowthMeasurement};
use crate::settings_of;
use anamnesis::cli::app::App;
use anamnesis::cli::output::{self, OutputFormat};
use anamnesis::cli::{CliError, Context, Exit};
use anamnesis_config::Settings;
use anamnesis_test_servers::provider::{FakeOptions, FakeProvider};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    store: StoreArgs,
    /// Memories of the full record; several are measured one after the other, each in a new store.
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [100, 1_000, 4_000])]
    memories: Vec<u64>,
}

/// # Errors
/// When the store cannot be made or a document is not stored.
pub(crate) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let measured = context.block_on(measured(args, context))?;
    if context.format_or(OutputFormat::Table) == OutputFormat::Table {
        let head = ["Memories", "Documents", "Findings", "Into few, ms", "Into all, ms", "Ratio"];
        output::table(&head, measured.iter().map(row))?;
    }
    for one in &measured {
        output::json(one)?;
    }
    Ok(Exit::Done)
}

async fn measured(args: &Args, context: &Context) -> Result<Vec<GrowthMeasurement>, CliError> {
    let mut settings = settings_of(context)?;
    let options = FakeOptions::default();
    let dimension = options.dimension;
    let server = FakeProvider::start(options).await?;
    super::ingest::embed_with(&mut settings, &server, dimension);
    let stores = Stores::make(&args.store, &settings, args.memories.len()).await?;
    let mut measured = Vec::new();
    for (n, memories) in args.memories.iter().enumerate() {
        stores.configure(n, &mut settings);
        measured.push(grown(*memories, settings.clone()).await);
    }
    stores.remove().await;
    drop(server);
    measured.into_iter().collect()
}

async fn grown(memories: u64, settings: Settings) -> Result<GrowthMeasurement, CliError> {
    let app = App::made(settings).await?;
    let pipeline = app.pipeline()?;
    let progress = output::progress_count(Some(memories));
    let report = |done| progress.set_position(done);
    let measured = growth::measure(&pipeline, memories, &report).await;
    progress.finish_and_clear();
    app.store.close().await;
    measured.map_err(|error| CliError::failed(error.to_string()))
}

fn row(m: &GrowthMeasurement) -> [String; 6] {
    [
        m.memories.to_string(),
        m.documents.to_string(),
        m.findings.to_string(),
        format!("{:.1}", m.empty_ms),
        format!("{:.1}", m.full_ms),
        format!("{:.2}", m.ratio),
    ]
}

//! `anamnesis-bench storage`: where the bytes of a document lie, table by table; with `--rows`, what fillfactor, vacuum and
//! indexes cost on a server.

use crate::settings_of;
use serde_json::json;

use super::stores::{StoreArgs, Stores};
use crate::disk_usage::{self, DiskUsage, TableUsage};
use crate::ingest::IngestLoad;
use anamnesis::cli::app::App;
use anamnesis::cli::output::{self, OutputFormat};
use anamnesis::cli::{CliError, Context, Exit};
use anamnesis_config::Settings;
use anamnesis_sql::LayoutResult;
use anamnesis_test_servers::provider::{FakeOptions, FakeProvider};

/// Columns and indexes of a table that are printed; JSON has all of them.
const SHOWN: usize = 6;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    store: StoreArgs,
    /// Documents that are stored and accounted for.
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u64).range(1..))]
    documents: u64,
    /// Instead: memories of a variant of a server's tables; of vectors a tenth.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1_000..))]
    rows: Option<u32>,
}

/// # Errors
/// When the store cannot be made, or refuses.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    let Some(rows) = args.rows else { return account(&args, context) };
    if !args.store.is_server() {
        return Err(CliError::usage("how rows lie is a question to a server: --store postgres"));
    }
    let tried = context.block_on(tried(&args, rows, context))?;
    if context.format_or(OutputFormat::Table) == OutputFormat::Table {
        let head =
            ["What", "Variant", "Rows/s", "B/row", "Night, s", "HOT", "Growth", "Search, ms", "Recall", "Iterative"];
        output::table(&head, tried.iter().map(row))?;
    }
    output::json(&json!({"bench": "storage", "rows": rows, "variants": tried}))?;
    Ok(Exit::Done)
}

fn account(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let accounts = context.block_on(accounted(args, context))?;
    if context.format_or(OutputFormat::Table) == OutputFormat::Table {
        let head = ["Table", "Rows", "Bytes", "Rows' bytes", "Columns", "Indexes"];
        output::table(&head, accounts.tables.iter().map(line))?;
    }
    output::json(&accounts)?;
    Ok(Exit::Done)
}

async fn accounted(args: &Args, context: &Context) -> Result<DiskUsage, CliError> {
    let mut settings = settings_of(context)?;
    let options = FakeOptions::default();
    let dimension = options.dimension;
    let server = FakeProvider::start(options).await?;
    super::ingest::embed_with(&mut settings, &server, dimension);
    let stores = Stores::make(&args.store, &settings, 1).await?;
    stores.configure(0, &mut settings);
    let accounts = filled(args.documents, settings).await;
    stores.remove().await;
    drop(server);
    accounts
}

async fn filled(documents: u64, settings: Settings) -> Result<DiskUsage, CliError> {
    let load = IngestLoad { batch: settings.pipeline.batch_documents, slots: settings.broker.bulk_concurrency };
    let app = App::made(settings).await?;
    let pipeline = std::sync::Arc::new(app.pipeline()?);
    let progress = output::progress_count(Some(documents));
    let report = |done| progress.set_position(done);
    let accounts = disk_usage::measure(&pipeline, documents, load, &report).await;
    progress.finish_and_clear();
    app.store.close().await;
    accounts.map_err(|error| CliError::failed(error.to_string()))
}

fn line(table: &TableUsage) -> [String; 6] {
    let parts = |parts: &[disk_usage::UsagePart]| {
        let shown = parts.iter().filter(|part| part.bytes >= 0.5).take(SHOWN);
        shown.map(|part| format!("{} {:.0}", part.name, part.bytes)).collect::<Vec<_>>().join(", ")
    };
    [
        table.table.clone(),
        format!("{:.1}", table.rows),
        format!("{:.0}", table.total()),
        format!("{:.0}", table.bytes),
        parts(&table.columns),
        parts(&table.indexes),
    ]
}

async fn tried(args: &Args, rows: u32, context: &Context) -> Result<Vec<LayoutResult>, CliError> {
    let settings = settings_of(context)?;
    let stores = Stores::make(&args.store, &settings, 1).await?;
    let tried = match stores.database(0) {
        Some(database) => database.layout_results(rows).await,
        None => Ok(Vec::new()),
    };
    stores.remove().await;
    tried.map_err(|error| CliError::failed(error.to_string()))
}

fn row(tried: &LayoutResult) -> [String; 10] {
    let maybe =
        |figure: Option<f64>, digits: usize| figure.map(|figure| format!("{figure:.digits$}")).unwrap_or_default();
    let share = |figure: Option<f64>| figure.map(|figure| format!("{:.0} %", figure * 100.0)).unwrap_or_default();
    [
        tried.what.to_owned(),
        tried.variant.to_owned(),
        format!("{:.0}", tried.insert_rows_per_second),
        format!("{:.0}", tried.bytes_per_row),
        maybe(tried.run_seconds, 3),
        share(tried.hot),
        maybe(tried.growth, 2),
        maybe(tried.search_ms, 2),
        share(tried.recall),
        share(tried.iterative_recall),
    ]
}

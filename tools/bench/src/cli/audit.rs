//! `anamnesis-bench audit`: a read that waits for its entry in the audit trail.

use super::stores::{StoreArgs, Stores};
use crate::audit::{self, AuditMeasurement};
use crate::settings_of;
use anamnesis::cli::app::App;
use anamnesis::cli::output::{self, OutputFormat};
use anamnesis::cli::{CliError, Context, Exit};
use anamnesis_test_servers::provider::{FakeOptions, FakeProvider};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    store: StoreArgs,
    /// Documents of the patient who is read.
    #[arg(long, value_name = "N", default_value_t = 64)]
    documents: u64,
    /// Reads with an entry, and as many without.
    #[arg(long, value_name = "N", default_value_t = 500)]
    reads: usize,
}

/// # Errors
/// When the store cannot be made or read.
pub(crate) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let measured = context.block_on(measured(args, context))?;
    if context.format_or(OutputFormat::Table) == OutputFormat::Table {
        let head = ["Reads", "Read, ms", "Waits, ms", "Ratio", "Entries checked/s"];
        let figures = [measured.read_ms, measured.waits_ms, measured.ratio].map(|figure| format!("{figure:.2}"));
        let [read, waits, ratio] = figures;
        output::table(
            &head,
            [[measured.reads.to_string(), read, waits, ratio, format!("{:.0}", measured.checked_per_s)]],
        )?;
    }
    output::json(&measured)?;
    Ok(Exit::Done)
}

async fn measured(args: &Args, context: &Context) -> Result<AuditMeasurement, CliError> {
    let mut settings = settings_of(context)?;
    let options = FakeOptions::default();
    let dimension = options.dimension;
    let server = FakeProvider::start(options).await?;
    super::ingest::embed_with(&mut settings, &server, dimension);
    let stores = Stores::make(&args.store, &settings, 1).await?;
    stores.configure(0, &mut settings);
    let app = App::made(settings).await?;
    let measured = audit::measure(&app.pipeline()?, args.documents, args.reads).await;
    app.store.close().await;
    stores.remove().await;
    measured.map_err(|error| CliError::failed(error.to_string()))
}

//! `anamnesis-bench recall`: exact search among a patient's own passages, alone and next to everyone else's.

use super::stores::{StoreArgs, Stores};
use crate::recall::{self, RecallMeasurement, RecallSize};
use crate::settings_of;
use anamnesis::cli::app::App;
use anamnesis::cli::output::{self, OutputFormat};
use anamnesis::cli::{CliError, Context, Exit};
use anamnesis_config::Settings;
use anamnesis_sql::{Location, TempDatabase};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    store: StoreArgs,
    /// Passages of the patient who is searched.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    patient_passages: u64,
    /// Passages of all other patients.
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    other_passages: u64,
    /// Dimension of the vectors.
    #[arg(long, value_name = "N", default_value_t = 768, value_parser = clap::value_parser!(u16).range(2..=4000))]
    dimension: u16,
    /// Number of searches, before and after the other passages are added.
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..))]
    queries: u32,
    /// Build an approximate index after the other passages are added, and use it in the second searches.
    #[arg(long)]
    approximate: bool,
}

/// # Errors
/// When the store cannot be made or read.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    let measured = context.block_on(measured(&args, context))?;
    if context.format_or(OutputFormat::Table) == OutputFormat::Table {
        table(&measured)?;
    }
    output::json(&measured)?;
    let right = (measured.exact >= 1.0 || measured.approximate) && measured.narrow_recall >= 1.0;
    Ok(if right { Exit::Done } else { Exit::Failed })
}

async fn measured(args: &Args, context: &Context) -> Result<RecallMeasurement, CliError> {
    let mut settings = settings_of(context)?;
    let stores = Stores::make(&args.store, &settings, 1).await?;
    stores.configure(0, &mut settings);
    if args.approximate {
        settings.store.postgres.ann_min_passages = 1;
    }
    let owner = stores.database(0).filter(|_| args.approximate).map(TempDatabase::owner);
    let measured = searched(args, settings, owner.as_ref()).await;
    stores.remove().await;
    measured
}

async fn searched(args: &Args, settings: Settings, owner: Option<&Location>) -> Result<RecallMeasurement, CliError> {
    let app = App::made(settings).await?;
    let size = RecallSize {
        own: args.patient_passages,
        foreign: args.other_passages,
        dimension: args.dimension.into(),
        queries: args.queries,
    };
    let progress = output::progress_count(Some(size.foreign));
    let on_progress = |done| progress.set_position(done);
    let measured = recall::measure(&app.store, &app.metrics, size, owner, &on_progress).await;
    progress.finish_and_clear();
    app.store.close().await;
    measured.map_err(|error| CliError::failed(error.to_string()))
}

fn table(measured: &RecallMeasurement) -> Result<(), CliError> {
    let ms = |figure: f64| format!("{figure:.2}");
    let rows = [
        ("Store", measured.store.to_owned()),
        ("Passages of the patient", measured.own.to_string()),
        ("Passages of other patients", measured.foreign.to_string()),
        ("Five nearest, alone: p50, ms", ms(measured.alone_p50_ms)),
        ("Five nearest, alone: p95, ms", ms(measured.alone_p95_ms)),
        ("Five nearest, with other patients: p50, ms", ms(measured.with_others_p50_ms)),
        ("Five nearest, with other patients: p95, ms", ms(measured.with_others_p95_ms)),
        ("Ratio with other patients to alone", ms(measured.change)),
        ("Searches with the exact nearest passages", format!("{:.1} %", measured.exact * 100.0)),
        ("Recall with other patients", format!("{:.1} %", measured.with_others_recall * 100.0)),
        ("Recall of a patient with three passages", format!("{:.0} of 3", measured.narrow_recall * 3.0)),
    ];
    output::table(&["Measure", "Value"], rows.map(|(name, value)| [name.to_owned(), value]))?;
    if measured.build == "debug" {
        output::note("This is a development build: for figures that mean something, build with --release.");
    }
    Ok(())
}

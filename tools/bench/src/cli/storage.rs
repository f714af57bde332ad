//! `anamnesis-bench storage`: what fillfactor, vacuum and indexes cost on a server, side by side.

use serde_json::json;

use super::stores::{StoreArgs, Stores};
use anamnesis::cli::output::{self, Format};
use anamnesis::cli::{Context, Exit, Failure};
use anamnesis_config as config;
use anamnesis_sql::Tried;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    store: StoreArgs,
    /// Memories of a variant; of vectors a tenth.
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1_000..))]
    rows: u32,
}

/// # Errors
/// When the store is no server, or the server refuses.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    if !args.store.is_server() {
        return Err(Failure::usage("how rows lie is a question to a server: --store postgres"));
    }
    let tried = context.block_on(tried(&args, context))?;
    if context.format_or(Format::Table) == Format::Table {
        let head =
            ["What", "Variant", "Rows/s", "B/row", "Night, s", "HOT", "Growth", "Search, ms", "Recall", "Iterative"];
        output::table(&head, tried.iter().map(row))?;
    }
    output::json(&json!({"bench": "storage", "rows": args.rows, "variants": tried}))?;
    Ok(Exit::Done)
}

async fn tried(args: &Args, context: &Context) -> Result<Vec<Tried>, Failure> {
    let settings = config::load(context.config.as_deref()).map_err(|error| Failure::usage(error.to_string()))?;
    let stores = Stores::make(&args.store, &settings, 1).await?;
    let tried = match stores.database(0) {
        Some(database) => database.tried(args.rows).await,
        None => Ok(Vec::new()),
    };
    stores.remove().await;
    tried.map_err(|error| Failure::failed(error.to_string()))
}

fn row(tried: &Tried) -> [String; 10] {
    let maybe =
        |figure: Option<f64>, digits: usize| figure.map(|figure| format!("{figure:.digits$}")).unwrap_or_default();
    let share = |figure: Option<f64>| figure.map(|figure| format!("{:.0} %", figure * 100.0)).unwrap_or_default();
    [
        tried.what.to_owned(),
        tried.variant.to_owned(),
        format!("{:.0}", tried.insert_rows_per_second),
        format!("{:.0}", tried.bytes_per_row),
        maybe(tried.night_seconds, 3),
        share(tried.hot),
        maybe(tried.growth, 2),
        maybe(tried.search_ms, 2),
        share(tried.recall),
        share(tried.iterative_recall),
    ]
}

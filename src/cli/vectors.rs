//! `vectors status|compare`: which generation of vectors is searched, and how far two of them agree.

use clap::Subcommand;
use serde_json::json;

use super::app::App;
use super::output::{self, OutputFormat};
use super::{CliError, Context, Exit};
use anamnesis_core::ids::OrgId;
use anamnesis_store::vectors::compare::{ComparisonRequest, GenerationComparison};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: VectorsSubcommand,
}

#[derive(Debug, Subcommand)]
enum VectorsSubcommand {
    /// Show the active generation of each organisation, and the one that is being built
    Status,
    /// Compare the nearest neighbours of sampled passages in two generations; shows ids and numbers, never a text
    Compare(CompareArgs),
}

#[derive(Debug, clap::Args)]
struct CompareArgs {
    /// Id of the organisation.
    #[arg(long, value_name = "UUID")]
    org: OrgId,
    /// The two generations [default: the active one and the one that is being built].
    #[arg(long, value_name = "N", num_args = 2)]
    generations: Vec<i64>,
    /// Approximate number of sampled passages.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    sample: u64,
    /// Number of nearest neighbours to compare.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    top_k: u32,
    /// Show each sampled passage in the table, not only the means.
    #[arg(long)]
    each: bool,
}

/// # Errors
/// When the configuration is wrong, the store cannot be read, or there is nothing to compare.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    context.block_on(async {
        let app = App::open(context).await?;
        match args.what {
            VectorsSubcommand::Status => status(&app, context).await,
            VectorsSubcommand::Compare(asked) => compare(&app, &asked, context).await,
        }
    })
}

fn configured(app: &App) -> i64 {
    let profile = app.settings.embedding.profile.as_ref();
    profile.map_or(anamnesis_config::embedding::BUILTIN_GENERATION, |profile| profile.generation)
}

async fn status(app: &App, context: &Context) -> Result<Exit, CliError> {
    let mut rows = Vec::new();
    for row in app.store.organization().organization_rows().await? {
        let found = app.store.vectors().generations(row.org).await?;
        let active = found.active.unwrap_or(configured(app));
        rows.push(
            json!({"organization_id": row.org, "active": active, "model": found.model, "building": found.building,
            "building_model": found.building_model, "swapped_at": found.swapped_at, "others_are_kept": found.left}),
        );
    }
    if context.format_or(OutputFormat::Table) == OutputFormat::Json {
        rows.iter().try_for_each(output::json)?;
        return Ok(Exit::Done);
    }
    let columns = ["organization_id", "active", "model", "building", "swapped_at"];
    let cell_text = |value: &serde_json::Value| match value {
        serde_json::Value::Null => "–".to_owned(),
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let rows = rows.iter().map(|row| columns.map(|column| cell_text(&row[column])));
    output::table(&["organisation", "active", "model", "being made", "since"], rows)?;
    Ok(Exit::Done)
}

async fn compare(app: &App, asked: &CompareArgs, context: &Context) -> Result<Exit, CliError> {
    let generations = match asked.generations.as_slice() {
        [one, other] => [*one, *other],
        _ => {
            let found = app.store.vectors().generations(asked.org).await?;
            let Some(building) = found.building else {
                return Err(CliError::usage("no generation is being made: name two with --generations"));
            };
            [found.active.unwrap_or(configured(app)), building]
        }
    };
    let question = ComparisonRequest { generations, sample: asked.sample, nearest: asked.top_k as usize };
    let found = app.store.vectors().compare_generations(asked.org, question).await?;
    match context.format_or(OutputFormat::Table) {
        OutputFormat::Json => output::json(&json!({"organization_id": asked.org, "generations": generations,
            "top_k": asked.top_k, "overlap": found.mean_overlap(), "rank_agreement": found.mean_rank_agreement(),
            "comparison": found}))?,
        OutputFormat::Table => table(&found, asked)?,
    }
    Ok(if found.answers.is_empty() { Exit::Failed } else { Exit::Done })
}

fn table(found: &GenerationComparison, asked: &CompareArgs) -> Result<(), CliError> {
    if asked.each {
        let rows = found.answers.iter().map(|answer| {
            let (patient, passage) = (answer.patient_id.to_string(), answer.passage_id.0.to_string());
            [patient, passage, format!("{:.2}", answer.overlap), format!("{:.3}", answer.rank_agreement)]
        });
        output::table(&["patient", "passage", "overlap", "rank agreement"], rows)?;
    }
    let mean = |value: Option<f64>| value.map_or_else(|| "nothing to compare".to_owned(), |mean| format!("{mean:.3}"));
    let rows = [
        ["passages".to_owned(), found.passages.to_string()],
        ["with a vector of both".to_owned(), found.in_both.to_string()],
        ["questions".to_owned(), found.answers.len().to_string()],
        ["questions without comparable results".to_owned(), found.told_nothing.to_string()],
        [format!("overlap of the nearest {}", asked.top_k), mean(found.mean_overlap())],
        ["rank agreement (Spearman)".to_owned(), mean(found.mean_rank_agreement())],
    ];
    output::table(&["", "both generations"], rows)
}

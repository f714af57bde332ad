//! `report confidence|cohort`: results of the jobs.

use clap::Subcommand;
use serde_json::json;

use super::app::App;
use super::output::{self, OutputFormat};
use super::patient::{NOBODY, PatientArgs, PatientResponse};
use super::{CliError, Context, Exit, PatientAnswer, erase};
use anamnesis_core::confidence_trend::{ConfidenceTrend, GroupMean};
use anamnesis_core::ids::OrgId;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: ReportSubcommand,
}

#[derive(Debug, Subcommand)]
enum ReportSubcommand {
    /// Show how confident a patient's statements are: current, usual, trend, variation, and correlations (never causes)
    Confidence {
        #[command(flatten)]
        of: PatientArgs,
    },
    /// List erasure receipts, oldest first. Store them apart from backups, for `restore --receipts`
    Erasures {
        /// Only receipts of this organisation.
        #[arg(long, value_name = "UUID")]
        org: Option<OrgId>,
    },
    /// Show monthly k-anonymous counts of an organisation's patients; rare values are suppressed
    Cohort {
        /// Id of the organisation.
        #[arg(long, value_name = "UUID")]
        org: OrgId,
    },
}

/// # Errors
/// When the configuration is wrong or the store cannot be read.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    context.block_on(async {
        let app = App::open(context).await?;
        match args.what {
            ReportSubcommand::Confidence { of } => confidence(&app, &of, context).await,
            ReportSubcommand::Erasures { org } => erasures(&app, org, context).await,
            ReportSubcommand::Cohort { org } => cohort(&app, org, context).await,
        }
    })
}

async fn erasures(app: &App, org: Option<OrgId>, context: &Context) -> Result<Exit, CliError> {
    let mut receipts = erase::receipts(app).await?;
    receipts.retain(|receipt| org.is_none_or(|org| receipt.organization_id == org));
    match context.format_or(OutputFormat::Table) {
        OutputFormat::Json => receipts.iter().try_for_each(output::json)?,
        OutputFormat::Table => {
            let rows = receipts.iter().map(|one| {
                let done = one.done_at.map_or_else(|| "in work".to_owned(), |at| at.to_rfc3339());
                let what = one.request.subject.code().to_owned();
                [one.organization_id.to_string(), one.patient_id.to_string(), what, done]
            });
            output::table(&["organisation", "patient", "what", "done"], rows)?;
        }
    }
    Ok(Exit::Done)
}

async fn confidence(app: &App, of: &PatientArgs, context: &Context) -> Result<Exit, CliError> {
    let format = context.format_or(OutputFormat::Table);
    let found = app.store.read().confidence_course(of.scope()?).await?;
    let Some((as_of, alerted_at, course)) = found else {
        let answer = PatientAnswer::known(app.store.key_binding().is_known(of.scope()?).await?);
        match (format, answer) {
            (OutputFormat::Json, _) => output::json(&json!({"answer": answer, "course": null}))?,
            (OutputFormat::Table, PatientAnswer::Unknown) => output::line(NOBODY)?,
            (OutputFormat::Table, _) => output::line(
                "Nothing was computed for this patient yet: no statement's reliability is known, or no job has run.",
            )?,
        }
        return Ok(Exit::Done);
    };
    match format {
        OutputFormat::Json => {
            let course = json!({"as_of": as_of, "alerted_at": alerted_at, "course": course});
            output::json(&PatientResponse { answer: PatientAnswer::Known, read: &course })?;
        }
        OutputFormat::Table => {
            let alerted = alerted_at.map(|at| format!("since {}", at.date_naive())).unwrap_or_else(|| "no".to_owned());
            let mut rows = vec![["as of".to_owned(), as_of.to_rfc3339()], ["alerted".to_owned(), alerted]];
            rows.extend(figures(&course));
            output::table(&["", "confidence"], rows)?;
        }
    }
    Ok(Exit::Done)
}

fn figures(course: &ConfidenceTrend) -> Vec<[String; 2]> {
    let figure = |figure: &GroupMean| format!("{:.2} (n {})", figure.mean, figure.n);
    let mut rows = vec![["statements".to_owned(), course.statements.to_string()]];
    rows.extend(course.recent.map(|now| ["now".to_owned(), figure(&now)]));
    rows.extend(course.baseline.map(|usual| ["usual".to_owned(), figure(&usual)]));
    rows.extend(course.trend.map(|trend| ["per thirty days".to_owned(), format!("{trend:+.2}")]));
    rows.extend(course.alert.map(|alert| ["alert".to_owned(), alert.code().to_owned()]));
    for (what, groups) in [
        ("time", &course.by_time),
        ("situation", &course.by_situation),
        ("topic", &course.by_topic),
        ("kind", &course.by_kind),
    ] {
        rows.extend(groups.iter().map(|(name, one)| [format!("{what}: {name}"), figure(one)]));
    }
    let along = course.correlations.iter().map(|(name, one)| {
        let interval = format!("r {:+.2} ({:+.2} to {:+.2}, n {}), no cause", one.r, one.low, one.high, one.n);
        [format!("along with {name}"), interval]
    });
    rows.extend(along);
    rows
}

async fn cohort(app: &App, org: OrgId, context: &Context) -> Result<Exit, CliError> {
    let patterns = app.store.read().cohort_patterns(org).await?;
    match context.format_or(OutputFormat::Table) {
        OutputFormat::Json => output::json(&patterns)?,
        OutputFormat::Table if patterns.is_empty() => output::line("No month has enough patients.")?,
        OutputFormat::Table => {
            let rows = patterns
                .into_iter()
                .map(|one| [one.month, one.dimension, one.value, format!("at least {}", one.patients)]);
            output::table(&["month", "dimension", "value", "patients"], rows)?;
        }
    }
    Ok(Exit::Done)
}

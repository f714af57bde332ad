//! `report confidence|cohort`: what the nights reckoned.

use clap::Subcommand;
use serde_json::json;

use super::output::{self, Format};
use super::patient::{Answered, NOBODY, Of};
use super::world::World;
use super::{Answer, Context, Exit, Failure, erase};
use anamnesis_core::course::{Course, Figure};
use anamnesis_core::ids::OrgId;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// How sure a patient's statements were: now, usual, trend, variation, and what goes along with it (never as a cause)
    Confidence {
        #[command(flatten)]
        of: Of,
    },
    /// Receipts of erasures, oldest first: keep them where backups are not, for `restore --receipts`
    Erasures {
        /// Only of this organisation.
        #[arg(long, value_name = "UUID")]
        org: Option<OrgId>,
    },
    /// What an organisation's patients have in common, month by month; rare values are left out
    Cohort {
        /// The organisation.
        #[arg(long, value_name = "UUID")]
        org: OrgId,
    },
}

/// # Errors
/// When the configuration is wrong or the store cannot be read.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    context.block_on(async {
        let world = World::open(context).await?;
        match args.what {
            What::Confidence { of } => confidence(&world, &of, context).await,
            What::Erasures { org } => erasures(&world, org, context).await,
            What::Cohort { org } => cohort(&world, org, context).await,
        }
    })
}

async fn erasures(world: &World, org: Option<OrgId>, context: &Context) -> Result<Exit, Failure> {
    let mut receipts = erase::receipts(world).await?;
    receipts.retain(|receipt| org.is_none_or(|org| receipt.organization_id == org));
    match context.format_or(Format::Table) {
        Format::Json => receipts.iter().try_for_each(output::json)?,
        Format::Table => {
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

async fn confidence(world: &World, of: &Of, context: &Context) -> Result<Exit, Failure> {
    let format = context.format_or(Format::Table);
    let found = world.store.confidence_course(of.scope()?).await?;
    let Some((as_of, alerted_at, course)) = found else {
        let answer = Answer::known(world.store.is_known(of.scope()?).await?);
        match (format, answer) {
            (Format::Json, _) => output::json(&json!({"answer": answer, "course": null}))?,
            (Format::Table, Answer::Unknown) => output::line(NOBODY)?,
            (Format::Table, _) => output::line(
                "Nothing was computed for this patient yet: no statement's reliability is known, or no job has run.",
            )?,
        }
        return Ok(Exit::Done);
    };
    match format {
        Format::Json => {
            let course = json!({"as_of": as_of, "alerted_at": alerted_at, "course": course});
            output::json(&Answered { answer: Answer::Known, read: &course })?;
        }
        Format::Table => {
            let told = alerted_at.map(|at| format!("since {}", at.date_naive())).unwrap_or_else(|| "no".to_owned());
            let mut rows = vec![["as of".to_owned(), as_of.to_rfc3339()], ["told".to_owned(), told]];
            rows.extend(figures(&course));
            output::table(&["", "confidence"], rows)?;
        }
    }
    Ok(Exit::Done)
}

fn figures(course: &Course) -> Vec<[String; 2]> {
    let figure = |figure: &Figure| format!("{:.2} (n {})", figure.mean, figure.n);
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

async fn cohort(world: &World, org: OrgId, context: &Context) -> Result<Exit, Failure> {
    let patterns = world.store.cohort_patterns(org).await?;
    match context.format_or(Format::Table) {
        Format::Json => output::json(&patterns)?,
        Format::Table if patterns.is_empty() => output::line("No month has enough patients.")?,
        Format::Table => {
            let rows = patterns
                .into_iter()
                .map(|one| [one.month, one.dimension, one.value, format!("at least {}", one.patients)]);
            output::table(&["month", "dimension", "value", "patients"], rows)?;
        }
    }
    Ok(Exit::Done)
}

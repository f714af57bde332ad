//! `answer list|show`: answers to requests that a person made by a message (`privacy_report`, `export`). Every read is
//! audited.

use clap::Subcommand;
use serde_json::{Value, json};
use uuid::Uuid;

use super::app::App;
use super::language::{LanguageArgs, RightsLanguage};
use super::output::{self, OutputFormat};
use super::patient::{PatientArgs, note_unknown};
use super::{CliError, Context, Exit};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    anamnesis answer list --org $ORG --patient $PATIENT\n  \
    anamnesis answer show --org $ORG --patient $PATIENT --id $ANSWER --by $PATIENT --language es")]
pub struct Args {
    #[command(subcommand)]
    what: AnswerSubcommand,
}

#[derive(Debug, Subcommand)]
enum AnswerSubcommand {
    /// List stored answers, without their content
    List {
        #[command(flatten)]
        of: PatientArgs,
    },
    /// Show the text of one answer; with --output json all of its fields
    Show {
        #[command(flatten)]
        of: PatientArgs,
        /// Id of the answer, from the event `rights.answered.v1`.
        #[arg(long, value_name = "UUID")]
        id: Uuid,
        /// Id of the person who reads it, for the audit trail.
        #[arg(long, value_name = "UUID")]
        by: Uuid,
        #[command(flatten)]
        spoken: LanguageArgs,
    },
}

/// # Errors
/// When the configuration is wrong, the store cannot be read, or there is no such answer.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    context.block_on(async {
        let app = App::open(context).await?;
        match args.what {
            AnswerSubcommand::List { of } => list(&app, &of, context).await,
            AnswerSubcommand::Show { of, id, by, spoken } => show(&app, (&of, id, by), spoken.language, context).await,
        }
    })
}

async fn list(app: &App, of: &PatientArgs, context: &Context) -> Result<Exit, CliError> {
    let answers = app.store.intake().answers(of.scope()?).await?;
    match context.format_or(OutputFormat::Table) {
        OutputFormat::Json => output::json(&answers)?,
        OutputFormat::Table => {
            let rows = answers.iter().map(|one| {
                let kind = one.kind.code().to_owned();
                [one.id.to_string(), kind, one.asked_by.to_string(), one.answered_at.to_rfc3339()]
            });
            output::table(&["answer", "asked for", "by", "answered"], rows)?;
        }
    }
    note_unknown(app, of.scope()?, answers.is_empty()).await?;
    Ok(Exit::Done)
}

async fn show(
    app: &App,
    (of, id, by): (&PatientArgs, Uuid, Uuid),
    language: RightsLanguage,
    context: &Context,
) -> Result<Exit, CliError> {
    let Some((answer, body)) = app.store.intake().open_answer(of.scope()?, id, by).await? else {
        return Err(CliError::failed("this patient has no such answer; answers have a term (jobs/upkeep.toml)"));
    };
    if context.format_or(OutputFormat::Table) == OutputFormat::Json {
        output::json(&json!({"answer": answer, "content": body}))?;
        return Ok(Exit::Done);
    }
    for line in body["text"][language.to_string()].as_array().into_iter().flatten().filter_map(Value::as_str) {
        output::line(line)?;
    }
    for record in body["records"].as_array().into_iter().flatten() {
        output::json(record)?;
    }
    Ok(Exit::Done)
}

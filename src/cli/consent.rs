//! `consent show|record`: a patient's consents. A record is the contract's message in the same pipeline, so that a
//! terminal, a queue and a file do the same.

use chrono::{DateTime, Utc};
use clap::Subcommand;
use serde_json::{Value, json};
use uuid::Uuid;

use super::app::App;
use super::language::{LanguageArgs, RightsLanguage};
use super::memory::ended;
use super::output::{self, OutputFormat};
use super::patient::{PatientArgs, PatientResponse, TimePoint, known, note_unknown};
use super::{CliError, Context, Exit, PatientAnswer};
use anamnesis_core::consent::{ConsentScope, Provision};
use anamnesis_core::scope::Scope;
use anamnesis_messages::contract::ConsentRecorded;
use anamnesis_pipeline::RawMessage;
use anamnesis_pipeline::rights::words;
use anamnesis_store::consents::ConsentRow;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: ConsentSubcommand,
}

#[derive(Debug, Subcommand)]
enum ConsentSubcommand {
    /// Show all consents of a patient, and the one in force for each scope
    Show {
        #[command(flatten)]
        of: PatientArgs,
        #[command(flatten)]
        spoken: LanguageArgs,
    },
    /// Record a permission or its withdrawal
    Record(RecordArgs),
}

#[derive(Debug, clap::Args)]
struct RecordArgs {
    #[command(flatten)]
    of: PatientArgs,
    /// memory, recall or research. Any other scope is recorded and has no effect.
    #[arg(long, value_name = "SCOPE", default_value = "memory")]
    scope: String,
    /// permit or deny.
    #[arg(long, value_name = "WHAT", value_parser = |text: &str| known(text, Provision::ALL, Provision::code))]
    provision: Provision,
    /// Valid from this date or instant [default: now].
    #[arg(long, value_name = "DATE")]
    from: Option<TimePoint>,
    /// Valid until this date (inclusive) or instant (exclusive) [default: no end].
    #[arg(long, value_name = "DATE")]
    until: Option<TimePoint>,
    /// The reason. Stored redacted and encrypted.
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Id of the person who records it.
    #[arg(long, value_name = "UUID")]
    by: Uuid,
    #[command(flatten)]
    spoken: LanguageArgs,
}

/// # Errors
/// When the configuration is wrong, the store cannot be opened, or the consent is refused.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    context.block_on(async {
        let app = App::open(context).await?;
        match args.what {
            ConsentSubcommand::Show { of, spoken } => {
                let scope = of.scope()?;
                show(&app, scope, spoken.language, context).await?;
                Ok(Exit::Done)
            }
            ConsentSubcommand::Record(record) => write_down(&app, record, context).await,
        }
    })
}

/// The provision in force for each scope, and all records.
#[derive(serde::Serialize)]
struct ConsentView {
    in_force: Value,
    consents: Vec<ConsentRow>,
}

async fn show(app: &App, scope: Scope, language: RightsLanguage, context: &Context) -> Result<(), CliError> {
    let rows = app.store.organization().consent_rows(scope).await?;
    let now = app.store.clock().now();
    let consents = app.store.organization().consents(scope).await?;
    let in_force: Vec<(ConsentScope, Option<Provision>)> =
        ConsentScope::ALL.iter().map(|scope| (*scope, consents.in_force(*scope, now))).collect();
    match context.format_or(OutputFormat::Table) {
        OutputFormat::Json => {
            let in_force = in_force.iter().map(|(scope, provision)| (scope.code().to_owned(), json!(provision)));
            let shown = ConsentView { in_force: Value::Object(in_force.collect()), consents: rows };
            let answer = PatientAnswer::known(app.store.key_binding().is_known(scope).await?);
            output::json(&PatientResponse { answer, read: &shown })?;
        }
        OutputFormat::Table => {
            note_unknown(app, scope, rows.is_empty()).await?;
            for (scope, provision) in &in_force {
                output::line(&words::consent(*scope, *provision, language))?;
            }
            let now = in_force.iter().map(|(scope, provision)| {
                [scope.to_string(), provision.map_or_else(|| "nothing recorded".to_owned(), |p| p.to_string())]
            });
            output::table(&["scope", "in force now"], now)?;
            output::table(&["id", "scope", "provision", "from", "until", "decides", "reason"], rows.iter().map(cells))?;
        }
    }
    Ok(())
}

fn cells(row: &ConsentRow) -> [String; 7] {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let at = |at: DateTime<Utc>| at.to_rfc3339();
    let decides = if row.decides { "yes" } else { "" };
    let until = row.until.map(at).unwrap_or_default();
    let provision = row.provision.to_string();
    [row.id.to_string(), text(&row.scope), provision, at(row.from), until, decides.to_owned(), text(&row.reason)]
}

async fn write_down(app: &App, record: RecordArgs, context: &Context) -> Result<Exit, CliError> {
    let (scope, now) = (record.of.scope()?, app.store.clock().now());
    let said = ConsentRecorded {
        organization_id: scope.org(),
        patient_id: scope.patient(),
        scope: record.scope.trim().into(),
        provision: record.provision,
        from: record.from.map_or(now, TimePoint::start),
        until: record.until.map(TimePoint::end),
        stated_at: record.from.map(|_| now),
        recorded_by: record.by,
        reason: record.reason.map(Into::into),
    };
    let body = serde_json::to_vec(&said).map_err(|_| CliError::failed("the consent cannot be written as JSON"))?;
    let done = app.pipeline()?.run(vec![RawMessage::from_body(body)]).await;
    let disposition = done.first().copied().ok_or_else(|| CliError::failed("the consent was not taken"))?;
    let exit = ended(disposition)?;
    match ConsentScope::read(&said.scope) {
        None => output::note("note: this scope is none of memory, recall and research; it opens and closes nothing"),
        Some(meant) => {
            let in_force = app.store.organization().consents(scope).await?.in_force(meant, now);
            let begun = said.from <= now && said.until.is_none_or(|until| now < until);
            if begun && in_force != Some(said.provision) {
                output::note(
                    "note: this does not decide; another consent of this scope does, see below (docs/consent.md)",
                );
            }
        }
    }
    show(app, scope, record.spoken.language, context).await?;
    Ok(exit)
}

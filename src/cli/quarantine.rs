//! `quarantine list|show|retry|drop`: quarantined messages, and the possible acts on them. Every read of a content,
//! every retry and every drop is recorded with its actor.

use clap::Subcommand;
use serde_json::{Value, json};
use uuid::Uuid;

use super::app::App;
use super::output::{self, OutputFormat};
use super::{CliError, Context, Exit, audited};
use anamnesis_core::ids::OrgId;
use anamnesis_pipeline::{Disposition, RawMessage};
use anamnesis_store::StoreError;
use anamnesis_store::quarantine::{ContentView, QuarantineAction, QuarantinedMessage};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: QuarantineSubcommand,
}

#[derive(Debug, Subcommand)]
enum QuarantineSubcommand {
    /// List quarantined messages: ids and codes, no content
    List {
        /// open, retried, dropped or all.
        #[arg(long, default_value = "open")]
        state: String,
        /// Only messages with this reason code.
        #[arg(long, default_value = "")]
        reason: String,
        /// Maximum number of messages.
        #[arg(long, default_value_t = 100)]
        limit: u32,
    },
    /// Show one message; with --content also its redacted text
    Show {
        id: Uuid,
        /// Print the message with its texts redacted by the current recognisers.
        #[arg(long)]
        content: bool,
        /// Print the original message without redaction; the audit trail records it.
        #[arg(long)]
        raw: bool,
        #[command(flatten)]
        by: QuarantineActorArgs,
    },
    /// Process messages again: all open ones, or the given ones
    Retry {
        ids: Vec<Uuid>,
        /// Without ids: only messages with this reason code.
        #[arg(long, default_value = "")]
        reason: String,
        #[command(flatten)]
        by: QuarantineActorArgs,
    },
    /// Delete the content of messages permanently
    Drop {
        #[arg(required = true)]
        ids: Vec<Uuid>,
        #[command(flatten)]
        by: QuarantineActorArgs,
    },
}

#[derive(Debug, clap::Args)]
struct QuarantineActorArgs {
    /// Who acts, for the audit trail [default: the operating system's user].
    #[arg(long, env = "ANAMNESIS_ACTOR", default_value_t = audited::user(), value_name = "NAME")]
    actor: String,
}

/// # Errors
/// When the store cannot be opened, or an id is not there.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    let format = context.format_or(OutputFormat::Table);
    context.block_on(async {
        let app = App::open(context).await?;
        app.store.quarantined().drop_without_consent().await.map_err(failed)?;
        match args.what {
            QuarantineSubcommand::List { state, reason, limit } => list(&app, &state, &reason, limit, format).await,
            QuarantineSubcommand::Show { id, content, raw, by } => {
                let view = match (raw, content) {
                    (true, _) => ContentView::Raw,
                    (false, true) => ContentView::Redacted,
                    (false, false) => ContentView::Nothing,
                };
                show(&app, id, view, &by.actor, context).await
            }
            QuarantineSubcommand::Retry { ids, reason, by } => retry(&app, ids, &reason, &by.actor, format).await,
            QuarantineSubcommand::Drop { ids, by } => discard(&app, &ids, &by.actor, format).await,
        }
    })
}

fn failed(error: StoreError) -> CliError {
    CliError::failed(error.to_string())
}

async fn list(app: &App, state: &str, reason: &str, limit: u32, format: OutputFormat) -> Result<Exit, CliError> {
    let state = match state {
        "all" => "",
        "open" | "retried" | "dropped" => state,
        _ => return Err(CliError::usage("--state: open, retried, dropped or all")),
    };
    let found = app.store.quarantined().messages(state, reason, i64::from(limit)).await.map_err(failed)?;
    if format == OutputFormat::Json {
        for one in &found {
            output::json(one)?;
        }
    } else {
        let rows = found.iter().map(|one: &QuarantinedMessage| {
            let org = one.organization_id.map(|org| org.to_string()).unwrap_or_default();
            let field = one.field.clone().unwrap_or_default();
            [one.id.to_string(), one.state.clone(), one.reason.clone(), field, org, one.created_at.to_rfc3339()]
        });
        output::table(&["Id", "State", "Reason", "Field", "Organisation", "Since"], rows)?;
    }
    Ok(Exit::Done)
}

async fn show(app: &App, id: Uuid, view: ContentView, actor: &str, context: &Context) -> Result<Exit, CliError> {
    // Before it is opened, and the trail says that it was.
    let sealed_for = app.store.quarantined().message(id).await.map_err(failed)?.and_then(|message| message.sealed_for);
    if let Some(scope) = sealed_for.filter(|_| view != ContentView::Nothing) {
        context.read.permits(app, scope).await?;
    }
    let shown = app.store.quarantined().open_message(id, actor, QuarantineAction::Shown(view)).await.map_err(failed)?;
    let Some((message, held, trace)) = shown else { return Err(CliError::failed("no such message in quarantine")) };
    let mut answer = json!({"message": message, "bytes": held.as_ref().map(|held| held.body.len()), "history": trace});
    let Value::Object(fields) = &mut answer else { return Err(CliError::failed("the answer is no object")) };
    match held {
        None => drop(fields.insert("content".to_owned(), json!(why_not_kept(&message)))),
        Some(_) if view == ContentView::Nothing => {}
        Some(held) => {
            let body = match view {
                ContentView::Raw => json!(String::from_utf8_lossy(&held.body)),
                _ => redacted(app, &message, &held.body).await?,
            };
            fields.insert("body".to_owned(), body);
            fields.insert("redacted".to_owned(), json!(view != ContentView::Raw));
            let kept = held.attributes.as_deref().and_then(|json| serde_json::from_slice::<Value>(json).ok());
            let mut kept = kept.unwrap_or(Value::Null);
            let origin = kept.get_mut("origin").map(Value::take);
            // Older versions stored only the attributes.
            let attributes = if origin.is_some() { kept.get_mut("attributes").map(Value::take) } else { Some(kept) };
            fields.insert("attributes".to_owned(), attributes.unwrap_or_default());
            fields.insert("origin".to_owned(), origin.unwrap_or_default());
        }
    }
    output::json(&answer)?;
    Ok(Exit::Done)
}

/// The body by the redactor of its organisation. A body that cannot be redacted is not shown.
async fn redacted(app: &App, message: &QuarantinedMessage, body: &[u8]) -> Result<Value, CliError> {
    let org = message.organization_id.map(OrgId);
    let shown = app.pipeline()?.redacted_view(org, message.id, body).await.map_err(failed)?;
    shown.ok_or_else(|| CliError::failed("the message cannot be redacted; --raw shows it as it came, on the record"))
}

async fn retry(app: &App, ids: Vec<Uuid>, reason: &str, actor: &str, format: OutputFormat) -> Result<Exit, CliError> {
    let ids = if ids.is_empty() {
        let open = app.store.quarantined().messages("open", reason, i64::from(u32::MAX)).await.map_err(failed)?;
        open.into_iter().map(|one| one.id).collect()
    } else {
        ids
    };
    let pipeline = app.pipeline()?;
    let (mut stored, mut again, mut missing, mut unkept) = (0u64, 0u64, 0u64, 0u64);
    for id in ids {
        let opened =
            app.store.quarantined().open_message(id, actor, QuarantineAction::Retried).await.map_err(failed)?;
        let content = match opened {
            Some((_, Some(content), _)) => content,
            Some((message, None, _)) if message.state != "dropped" => {
                unkept += 1;
                continue;
            }
            _ => {
                missing += 1;
                continue;
            }
        };
        let Some(raw) = RawMessage::kept(content.body, content.attributes.as_deref()) else {
            missing += 1;
            continue;
        };
        // Marked before the work, because another rejection opens it again.
        app.store.quarantined().mark_retried(id).await.map_err(failed)?;
        match pipeline.run(vec![raw]).await.first() {
            Some(Disposition::Stored | Disposition::Duplicate | Disposition::Ephemeral) => stored += 1,
            _ => again += 1,
        }
    }
    if unkept > 0 {
        output::note(
            "note: content of patients without consent or in ephemeral mode is not stored; the producer can send it again",
        );
    }
    let counts = [("stored", stored), ("set aside again", again), ("without content", missing), ("never kept", unkept)];
    report(&counts, format)
}

/// Why there is no content.
fn why_not_kept(message: &QuarantinedMessage) -> &'static str {
    match (message.state.as_str(), message.reason.as_str()) {
        ("dropped", _) if message.expired_at.is_some() => "dropped: its term ended",
        ("dropped", _) => "dropped",
        (_, "no_consent") => "never stored: the consent of the patient does not permit it",
        _ => "never stored: no content of this patient may be stored",
    }
}

async fn discard(app: &App, ids: &[Uuid], actor: &str, format: OutputFormat) -> Result<Exit, CliError> {
    let (mut dropped, mut missing) = (0u64, 0u64);
    for id in ids {
        match app.store.quarantined().drop_message(*id, actor).await.map_err(failed)? {
            true => dropped += 1,
            false => missing += 1,
        }
    }
    app.store.db().checkpoint().await.map_err(|error| CliError::failed(error.to_string()))?;
    report(&[("dropped", dropped), ("not there", missing)], format)
}

/// The first count is that of the requested act.
fn report(counts: &[(&str, u64)], format: OutputFormat) -> Result<Exit, CliError> {
    if format == OutputFormat::Json {
        let counts: serde_json::Map<String, Value> =
            counts.iter().map(|(what, n)| (what.replace(' ', "_"), json!(n))).collect();
        output::json(&counts)?;
    } else {
        output::table(&["Messages", "Number"], counts.iter().map(|(what, n)| [(*what).to_owned(), n.to_string()]))?;
    }
    let other: u64 = counts[1..].iter().map(|(_, n)| n).sum();
    Ok(match (counts[0].1, other) {
        (_, 0) => Exit::Done,
        (0, _) => Exit::Failed,
        _ => Exit::Partial,
    })
}

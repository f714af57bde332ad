//! `memory show`, `memory trace` and `memory history`.

use serde::Serialize;

use super::{OneMemoryArgs, tree, unknown};
use crate::cli::app::App;
use crate::cli::output::{self, OutputFormat};
use crate::cli::patient::{PatientArgs, when};
use crate::cli::{CliError, Context, Exit, render};
use anamnesis_core::ids::MemoryId;
use anamnesis_search::{self as recall, MemoryItem};
use anamnesis_store::read::{LineageDirection, Memory};

#[derive(Debug, clap::Args)]
pub(crate) struct TraceArgs {
    /// Id of the memory.
    #[arg(value_name = "ID")]
    id: MemoryId,
    #[command(flatten)]
    of: PatientArgs,
    /// Show what was derived from the memory, instead of its sources.
    #[arg(long)]
    down: bool,
}

/// A memory as a program sees it: how it reads, and all its fields.
#[derive(Serialize)]
struct MemoryView<'m> {
    statement: &'m str,
    source: &'m recall::ItemSource,
    memory: &'m Memory,
}

pub(crate) async fn show(args: OneMemoryArgs, context: &Context) -> Result<Exit, CliError> {
    let scope = args.of.scope()?;
    let app = App::open(context).await?;
    let memory = app.store.read().memory(scope, args.id, when(args.as_of)).await?;
    context.read.finds(memory.is_none());
    let memory = memory.ok_or_else(unknown)?;
    let item = MemoryItem::conversational(&memory);
    match context.format_or(OutputFormat::Table) {
        OutputFormat::Json => {
            output::json(&MemoryView { statement: &item.statement, source: &item.source, memory: &memory })?;
        }
        OutputFormat::Table => output::table(&["", &item.line()], fields(&memory, &item))?,
    }
    Ok(Exit::Done)
}

fn fields(m: &Memory, item: &MemoryItem) -> Vec<[String; 2]> {
    let row = |name: &str, value: String| [name.to_owned(), value];
    let stored = format!("{:.2} stored, {:.2} now ({})", m.confidence, item.confidence, m.confidence_basis);
    let mut rows = vec![
        row("id", m.id.to_string()),
        row("kind, class", format!("{}, {}", m.kind, m.class)),
        row("state", m.status.state.to_string()),
        row("use", m.status.use_.to_string()),
        row("confidence", stored),
        row("read rightly", format!("{:.2}", m.extraction_confidence)),
        row("source type", format!("{}, {}, {}", m.source_type, m.epistemic, m.trust)),
        row("reinforced, verified", format!("{}, {}", m.times_reinforced, m.verification_count)),
        row("valid from", m.valid_from.to_rfc3339()),
    ];
    let times = [
        ("valid to", m.valid_to),
        ("last confirmed", m.last_confirmed_at),
        ("reconfirm due", m.reconfirm_due_at),
        ("expires", m.expires_at),
        ("its documents end", m.ends_at),
        ("recorded", Some(m.recorded_at)),
    ];
    rows.extend(times.into_iter().filter_map(|(name, at)| Some(row(name, at?.to_rfc3339()))));
    rows.extend(m.supersedes.map(|id| row("supersedes", id.to_string())));
    rows.extend(m.superseded_by.map(|id| row("superseded by", id.to_string())));
    rows.extend(m.document_id.map(|id| row("document", format!("{id}, revision {}", m.revision.unwrap_or(0)))));
    rows.extend(m.signed_by.map(|clinician| row("signed by", clinician.to_string())));
    rows.extend(m.file.as_ref().map(|file| row("file", file.to_string())));
    rows.extend(item.fragment.clone().map(|quote| row("evidence", quote)));
    let notes = render::row(item)[4].clone();
    rows.extend((!notes.is_empty()).then(|| row("notes", notes)));
    rows
}

pub(crate) async fn trace(args: TraceArgs, context: &Context) -> Result<Exit, CliError> {
    let scope = args.of.scope()?;
    let app = App::open(context).await?;
    let direction = if args.down { LineageDirection::Down } else { LineageDirection::Up };
    let node = recall::trace(&app.store, scope, args.id, direction).await?;
    context.read.finds(node.is_none());
    let node = node.ok_or_else(unknown)?;
    match context.format_or(OutputFormat::Table) {
        OutputFormat::Json => output::json(&node)?,
        OutputFormat::Table => output::line(&tree::drawn(&node))?,
    }
    Ok(Exit::Done)
}

pub(crate) async fn history(args: OneMemoryArgs, context: &Context) -> Result<Exit, CliError> {
    let scope = args.of.scope()?;
    let app = App::open(context).await?;
    let when = when(args.as_of);
    app.store.read().memory(scope, args.id, when).await?.ok_or_else(unknown)?;
    let mut entries = app.store.read().history(scope, args.id).await?;
    entries.retain(|entry| when.limit().is_none_or(|limit| entry.at <= limit));
    match context.format_or(OutputFormat::Table) {
        OutputFormat::Json => output::json(&entries)?,
        OutputFormat::Table => {
            let number = |value: Option<f64>| value.map(|v| format!("{v:.2}")).unwrap_or_default();
            let rows = entries.iter().map(|e| {
                let evidence = e.evidence_id.map(|id| id.to_string()).unwrap_or_default();
                let at = e.at.format("%Y-%m-%d %H:%M").to_string();
                [at, e.action.clone(), e.source.clone(), number(e.old_confidence), number(e.new_confidence), evidence]
            });
            output::table(&["at (UTC)", "what", "by", "before", "after", "evidence"], rows)?;
        }
    }
    Ok(Exit::Done)
}

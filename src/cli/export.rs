//! `export`: all that is held of a patient as NDJSON, or the imported records of older systems as they came.

use serde_json::json;

use super::patient::Of;
use super::world::World;
use super::{Answer, Context, Exit, Failure, output};
use anamnesis_core::memory::State;
use anamnesis_store::read::{Filter, When, Window};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    of: Of,
    /// Only the imported records of older systems, as they came.
    #[arg(long)]
    legacy: bool,
}

/// # Errors
/// When the configuration is wrong or the store cannot be read.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    context.block_on(async {
        let world = World::open(context).await?;
        let (store, scope) = (&world.store, args.of.scope()?);
        let records = store.legacy_records(scope).await?;
        if !args.legacy {
            output::json(&json!({"type": "answer", "answer": Answer::known(store.is_known(scope).await?)}))?;
        }
        if args.legacy {
            for (_, record) in &records {
                output::json(record)?;
            }
            return Ok(Exit::Done);
        }
        if let Some(profile) = store.profile(scope).await? {
            let preferences = store.preferences(scope, When::Now).await?;
            output::json(&json!({"type": "profile", "profile": profile, "preferences": preferences}))?;
        }
        for document in store.documents(scope, Window::default(), usize::MAX, When::Now).await? {
            output::json(&json!({"type": "document", "document_id": document.id, "revision": document.revision,
                "document_type": document.document_type, "occurred_at": document.occurred_at,
                "text": document.content.text, "unread": document.content.unread, "themes": document.content.themes, "file": document.content.file}))?;
        }
        for one in store.archived(scope).await? {
            output::json(&json!({"type": "archived", "document": one, "text": one.content.text}))?;
        }
        // What was forgotten is recoverable for a while, and is handed to nobody meanwhile.
        let kept = State::ALL.iter().copied().filter(|state| *state != State::Inactive);
        let all = Filter { states: kept.collect(), ..Filter::default() };
        for memory in store.memories(scope, &all, When::Now).await? {
            output::json(&json!({"type": "memory", "memory": memory}))?;
        }
        for (format, record) in &records {
            output::json(&json!({"type": "legacy", "format": format, "record": record}))?;
        }
        Ok(Exit::Done)
    })
}

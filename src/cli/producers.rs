//! Whether the endpoints of this configuration are bound to producers: verbs refuse unbound input.

use secrecy::ExposeSecret as _;

use super::CliError;
use super::app::App;
use anamnesis_config::intake::{IntakeConfig, UnboundProducers};
use anamnesis_messages::MessageOrigin;

/// Files that a person names on the command line. For a local store they come from the holder of store and keys, who
/// could write both without this program. A local store is embedded, has no bindings, and was never served by a worker.
/// Otherwise others send to it as well, and files act under `intake.files.source` as on a server.
///
/// # Errors
/// When the store cannot be read, or the files are not the holder's and have no binding.
pub(crate) async fn of_files_by_hand(app: &App) -> Result<MessageOrigin, CliError> {
    let settings = &app.settings;
    let embedded = settings.store.url.expose_secret().is_empty();
    let local = embedded && settings.intake.producers.is_empty() && !app.store.key_binding().was_served().await?;
    match local {
        true => Ok(MessageOrigin::Operator),
        false if settings.intake.lets_files_in() => Ok(MessageOrigin::Files),
        false => Err(CliError::usage(format!("nothing was read: {FILES_UNBOUND}"))),
    }
}

/// Why files are only accepted by a local store, with the remedy.
pub(crate) const FILES_UNBOUND: &str = "files act as intake.files.source, which no [[intake.producers]] binds. Bind it to say \
     which organisations, types, document types and roles they may bring (docs/producers/README.md), or set \
     intake.unbound_producers = \"allow\" where everyone who has a file can claim any source";

/// A worker of the broker needs bound producers, or the explicit setting that none is bound.
///
/// # Errors
/// With the remedy.
pub(crate) fn must_be_bound(intake: &IntakeConfig) -> Result<(), CliError> {
    match open_bindings(intake).first() {
        Some(problem) if intake.unbound_producers == UnboundProducers::Refuse => Err(CliError::usage(format!(
            "{problem}. Bind each producer in [[intake.producers]] with broker_user or key_file (docs/producers/README.md), \
             or set intake.unbound_producers = \"allow\" where every user who may publish can claim any source"
        ))),
        Some(problem) => {
            tracing::warn!(code = "producers_open", "{problem}: every user who may publish can claim any source");
            Ok(())
        }
        None => Ok(()),
    }
}

/// The unbound ways in at the broker, in words.
pub(crate) fn open_bindings(intake: &IntakeConfig) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    let only_files =
        intake.producers.iter().all(|producer| producer.source == intake.files.source && !producer.is_proven());
    if only_files {
        open.push("no producer of the broker is bound".to_owned());
    }
    let unproven = intake.unproven().into_iter();
    open.extend(unproven.map(|source| format!("the producer {source} has neither broker_user nor key_file")));
    open
}

//! `migrate [run|wait|status|approximate|roles]`: the schema of a store on a server. Workers only look whether it is the one they know.

use std::time::Duration;

use clap::Subcommand;
use secrecy::ExposeSecret as _;
use serde_json::json;

use super::output::Format;
use super::{Context, Exit, Failure, output};
use crate::config::{self, StoreConfig};
use crate::store::engine::{self, DbError, Location, ROLES, SchemaState};

const POLL: Duration = Duration::from_secs(1);

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, Clone, Copy, Subcommand)]
enum What {
    /// Apply what is missing (the default); needs a member of anamnesis_owner
    Run,
    /// Wait until somebody else has applied it, for init containers
    Wait {
        /// Seconds after which waiting is given up, with exit code 1.
        #[arg(long, value_name = "SECONDS", default_value_t = 600)]
        timeout: u32,
    },
    /// Say whether the schema is the one that this program knows; exit code 1 if not
    Status,
    /// Make an approximate index over vectors, for `store.postgres.approximate_from`; others go on working
    Approximate {
        /// Numbers of a vector: that of the embedding model.
        #[arg(long, value_name = "N")]
        dimension: u16,
        /// Drop it instead.
        #[arg(long)]
        drop: bool,
    },
    /// Print the SQL that an administrator runs once in each database
    Roles,
}

/// # Errors
/// When the configuration is wrong, the server cannot be reached or its schema is a newer program's.
pub fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    let settings = config::load(context.config.as_deref()).map_err(|error| Failure::usage(error.to_string()))?;
    let format = context.format_or(Format::Table);
    match args.what.unwrap_or(What::Run) {
        What::Run => context.block_on(apply(&settings.store, format)),
        What::Wait { timeout } => context.block_on(wait(&settings.store, Duration::from_secs(timeout.into()))),
        What::Status => context.block_on(status(&settings.store, format)),
        What::Approximate { dimension, drop } => {
            let location = owner(&settings.store)?;
            context
                .block_on(async { engine::approximate(&location, dimension.into(), !drop).await.map_err(failure) })?;
            Ok(Exit::Done)
        }
        What::Roles => {
            output::line(ROLES.trim_end())?;
            Ok(Exit::Done)
        }
    }
}

/// As whoever may change the schema.
fn owner(config: &StoreConfig) -> Result<Location, Failure> {
    let mut config = config.clone();
    if !config.migrate_url.expose_secret().is_empty() {
        config.url = config.migrate_url.clone();
    }
    Location::of(&config).map_err(failure)
}

async fn apply(config: &StoreConfig, format: Format) -> Result<Exit, Failure> {
    let applied = engine::migrate(&owner(config)?).await.map_err(failure)?;
    match format {
        Format::Json => output::json(&json!({"applied": applied, "state": "current"}))?,
        Format::Table if applied.is_empty() => output::line("The schema is up to date.")?,
        Format::Table => output::line(&format!("Applied: {}.", list(&applied)))?,
    }
    Ok(Exit::Done)
}

/// Waits for the schema, and for the server too: both are started by others.
async fn wait(config: &StoreConfig, patience: Duration) -> Result<Exit, Failure> {
    let location = Location::of(config).map_err(failure)?;
    let current = async {
        loop {
            match engine::schema_state(&location).await {
                Ok(SchemaState::Current) => return Ok(Exit::Done),
                Ok(SchemaState::Behind(_)) => {}
                Ok(SchemaState::Newer(version)) => return Err(failure(DbError::Newer(version))),
                Ok(SchemaState::Changed(version)) => return Err(failure(DbError::Changed(version))),
                Err(error) if error.is_transient() => {}
                Err(error) => return Err(failure(error)),
            }
            tokio::time::sleep(POLL).await;
        }
    };
    let late = |_| Failure::failed("the schema is still not the one that this program knows");
    tokio::time::timeout(patience, current).await.map_err(late)?
}

async fn status(config: &StoreConfig, format: Format) -> Result<Exit, Failure> {
    let state = engine::schema_state(&Location::of(config).map_err(failure)?).await.map_err(failure)?;
    let (code, text, missing) = match &state {
        SchemaState::Current => ("current", "The schema is the one that this program knows.".to_owned(), vec![]),
        SchemaState::Behind(missing) => {
            ("behind", format!("To be applied by `anamnesis migrate`: {}.", list(missing)), missing.clone())
        }
        SchemaState::Newer(version) => ("newer", DbError::Newer(*version).to_string(), vec![*version]),
        SchemaState::Changed(version) => ("changed", DbError::Changed(*version).to_string(), vec![*version]),
    };
    match format {
        Format::Json => output::json(&json!({"state": code, "migrations": missing}))?,
        Format::Table => output::line(&text)?,
    }
    Ok(if state == SchemaState::Current { Exit::Done } else { Exit::Failed })
}

fn list(versions: &[i64]) -> String {
    versions.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
}

fn failure(error: DbError) -> Failure {
    match error {
        DbError::Url | DbError::Tls | DbError::Unprepared | DbError::NotDurable(_) => {
            Failure::usage(format!("store.url: {error}"))
        }
        error => Failure::failed(format!("store.url: {error}")),
    }
}

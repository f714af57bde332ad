//! `migrate [run|wait|status|approximate|roles]`: the schema of a store on a server. Workers only look whether it is the one they know.

use std::path::PathBuf;
use std::time::Duration;

use clap::Subcommand;
use secrecy::ExposeSecret as _;
use serde_json::json;

use super::output::OutputFormat;
use super::{CliError, Context, Exit, backup, output};
use anamnesis_config::{self as config, Settings, StoreConfig};
use anamnesis_sql::{self as engine, DbError, Location, ROLES, SchemaState};

const POLL: Duration = Duration::from_secs(1);

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    what: Option<MigrateSubcommand>,
    #[command(flatten)]
    before: BackupConditionArgs,
}

/// What keeps the way back open. One of them is needed where a store with data is behind.
#[derive(Debug, Clone, Default, clap::Args)]
#[group(multiple = false)]
struct BackupConditionArgs {
    /// Copy store and keys into this new folder first, as `anamnesis backup` does.
    #[arg(long, value_name = "FOLDER")]
    backup: Option<PathBuf>,
    /// Confirm that a backup of the store exists.
    #[arg(long)]
    backup_done: bool,
}

#[derive(Debug, Clone, Subcommand)]
enum MigrateSubcommand {
    /// Apply missing migrations (the default); needs a member of anamnesis_owner
    Run(BackupConditionArgs),
    /// Wait until another process has applied the migrations, for init containers
    Wait {
        /// Time limit in seconds; then exit code 1.
        #[arg(long, value_name = "SECONDS", default_value_t = 600)]
        timeout: u32,
    },
    /// Check that the schema is that of this program; exit code 1 if not
    Status,
    /// Create an approximate vector index, for `store.postgres.ann_min_passages`; does not block other processes
    Approximate {
        /// Dimension of the vectors of the embedding model.
        #[arg(long, value_name = "N")]
        dimension: u16,
        /// Drop the index instead.
        #[arg(long)]
        drop: bool,
    },
    /// Print the SQL that an administrator runs once in each database
    Roles,
}

/// # Errors
/// When the configuration is wrong, the server cannot be reached or its schema is a newer program's.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    let settings = config::load(context.config.as_deref()).map_err(|error| CliError::usage(error.to_string()))?;
    let format = context.format_or(OutputFormat::Table);
    match args.what.unwrap_or(MigrateSubcommand::Run(args.before)) {
        MigrateSubcommand::Run(before) => context.block_on(apply(&settings, &before, format)),
        MigrateSubcommand::Wait { timeout } => {
            context.block_on(wait(&settings.store, Duration::from_secs(timeout.into())))
        }
        MigrateSubcommand::Status => context.block_on(status(&settings.store, format)),
        MigrateSubcommand::Approximate { dimension, drop } => {
            let location = owner(&settings.store)?;
            context
                .block_on(async { engine::approximate(&location, dimension.into(), !drop).await.map_err(failure) })?;
            Ok(Exit::Done)
        }
        MigrateSubcommand::Roles => {
            output::line(ROLES.trim_end())?;
            Ok(Exit::Done)
        }
    }
}

/// With the role that may change the schema.
fn owner(config: &StoreConfig) -> Result<Location, CliError> {
    let mut config = config.clone();
    if !config.migrate_url.expose_secret().is_empty() {
        config.url = config.migrate_url.clone();
    }
    Location::from_config(&config).map_err(failure)
}

async fn apply(settings: &Settings, before: &BackupConditionArgs, format: OutputFormat) -> Result<Exit, CliError> {
    let owner = owner(&settings.store)?;
    let copied = kept(settings, &owner, before).await?;
    let applied = engine::migrate(&owner).await.map_err(failure)?;
    match format {
        OutputFormat::Json => output::json(&json!({"applied": applied, "state": "current", "backup": copied}))?,
        OutputFormat::Table if applied.is_empty() => output::line("The schema is up to date.")?,
        OutputFormat::Table => output::line(&format!("Applied: {}.", list(&applied)))?,
    }
    Ok(Exit::Done)
}

/// The copy that was made, where one was asked for and there is something to apply. Nothing is migrated without a way back.
async fn kept(
    settings: &Settings,
    owner: &Location,
    before: &BackupConditionArgs,
) -> Result<Option<PathBuf>, CliError> {
    let missing = match owner {
        Location::Postgres(_) => engine::schema_state(owner).await.map_err(failure)?,
        // An embedded store is copied next to itself before it is migrated.
        Location::File(_) | Location::Memory => return Ok(None),
    };
    let SchemaState::Behind(missing) = missing else { return Ok(None) };
    if !engine::holds_rows(owner).await.map_err(failure)? {
        return Ok(None);
    }
    match before {
        BackupConditionArgs { backup: Some(folder), .. } => {
            backup::made(settings, folder, backup::BackupPartArgs::BOTH).await?;
            Ok(Some(folder.clone()))
        }
        BackupConditionArgs { backup_done: true, .. } => Ok(None),
        BackupConditionArgs { .. } => Err(CliError::usage(format!(
            "{} would be applied to a store with data, and there is no way back without a copy: give --backup FOLDER to \
             make one now, or --backup-done when there is one",
            list(&missing)
        ))),
    }
}

/// Waits for the schema, and for the server too: both are started by others.
async fn wait(config: &StoreConfig, patience: Duration) -> Result<Exit, CliError> {
    let location = Location::from_config(config).map_err(failure)?;
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
    let late = |_| CliError::failed("the schema is still not the one that this program knows");
    tokio::time::timeout(patience, current).await.map_err(late)?
}

async fn status(config: &StoreConfig, format: OutputFormat) -> Result<Exit, CliError> {
    let state = engine::schema_state(&Location::from_config(config).map_err(failure)?).await.map_err(failure)?;
    let (code, text, missing) = match &state {
        SchemaState::Current => ("current", "The schema is the one that this program knows.".to_owned(), vec![]),
        SchemaState::Behind(missing) => {
            ("behind", format!("To be applied by `anamnesis migrate`: {}.", list(missing)), missing.clone())
        }
        SchemaState::Newer(version) => ("newer", DbError::Newer(*version).to_string(), vec![*version]),
        SchemaState::Changed(version) => ("changed", DbError::Changed(*version).to_string(), vec![*version]),
    };
    match format {
        OutputFormat::Json => output::json(&json!({"state": code, "migrations": missing}))?,
        OutputFormat::Table => output::line(&text)?,
    }
    Ok(if state == SchemaState::Current { Exit::Done } else { Exit::Failed })
}

fn list(versions: &[i64]) -> String {
    versions.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
}

fn failure(error: DbError) -> CliError {
    match error {
        DbError::Url | DbError::Tls | DbError::Unprepared | DbError::NotDurable(_) => {
            CliError::usage(format!("store.url: {error}"))
        }
        error => CliError::failed(format!("store.url: {error}")),
    }
}

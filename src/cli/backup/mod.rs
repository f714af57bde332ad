//! `backup PATH`: copies store and keys into a folder, while others read and write; `backup verify PATH`: checks that
//! such a folder is complete and consistent. `restore` is in a separate file.
//!
//! The store is copied first and the keys after it. Keys are durable before the rows that need them, so that the later
//! copy of keys contains every key that the earlier snapshot of the store needs. In the other order, a patient who
//! arrived in between would have rows and no key. The root key is not copied: without it the folder is unreadable.

mod files;
mod keys;
mod pair;
pub(crate) mod restore;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Subcommand;
use serde_json::json;

use super::output::OutputFormat;
use super::{CliError, Context, Exit, output};
use anamnesis_config::{self as config, Settings};
use anamnesis_core::clock::{Clock as _, SystemClock};
use anamnesis_sql::copies;
use anamnesis_sql::{DbError, Location};
pub(crate) use files::Manifest;
use files::{KEYS, KeysMark};
use keys::KeysLocation;

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    what: Option<BackupSubcommand>,
    /// Folder to create; it must not exist. An unfinished copy has the suffix `.partial`.
    path: Option<PathBuf>,
    #[command(flatten)]
    part: BackupPartArgs,
}

#[derive(Debug, Subcommand)]
enum BackupSubcommand {
    /// Verify that a backup is complete and consistent, and that the configured root key opens it
    Verify {
        path: PathBuf,
        /// Decrypt a document of every Nth patient.
        #[arg(long, value_name = "N", default_value_t = 100)]
        every: usize,
    },
}

/// Which of the two.
#[derive(Debug, Clone, Copy, clap::Args)]
#[group(multiple = false)]
pub(crate) struct BackupPartArgs {
    /// Only the store, without its keys.
    #[arg(long)]
    store_only: bool,
    /// Only the keys, without the store.
    #[arg(long)]
    keys_only: bool,
}

impl BackupPartArgs {
    /// Store and keys.
    pub(crate) const BOTH: Self = Self { store_only: false, keys_only: false };

    fn store(self) -> bool {
        !self.keys_only
    }

    fn keys(self) -> bool {
        !self.store_only
    }
}

/// # Errors
/// When the store or the keys are not there or cannot be copied, or a backup is not whole.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    let settings = config::load(context.config.as_deref()).map_err(|error| CliError::usage(error.to_string()))?;
    let format = context.format_or(OutputFormat::Table);
    match (args.what, args.path) {
        (Some(BackupSubcommand::Verify { path, every }), _) => {
            context.block_on(verify(&settings, &path, every, format))
        }
        (None, Some(path)) => context.block_on(async {
            let done = make(&settings, &path, args.part, format).await?;
            context.read.note(&settings).await;
            Ok(done)
        }),
        (None, None) => Err(CliError::usage("a folder for the backup is missing")),
    }
}

/// Makes a backup and returns its contents.
///
/// # Errors
/// When the folder exists, or there is nothing to copy, or it cannot be copied.
pub(crate) async fn made(settings: &Settings, path: &Path, part: BackupPartArgs) -> Result<Manifest, CliError> {
    if path.exists() {
        return Err(CliError::usage(format!("{} is there already: name a new folder", path.display())));
    }
    let location = Location::from_config(&settings.store).map_err(|error| database(&error))?;
    if part.store()
        && let Location::File(store) = &location
        && !store.is_file()
    {
        return Err(CliError::usage(format!("store.path: there is no store at {}", store.display())));
    }
    let keys = KeysLocation::from_settings(settings)?;
    if part.keys() && !keys.exists().await? {
        return Err(CliError::usage(format!("{}: no key store found at {}", keys.setting(), keys.name())));
    }
    let partial = files::partial(path);
    if partial.exists() {
        std::fs::remove_dir_all(&partial)?;
    }
    files::private_folder(&partial)?;
    // The instant before the snapshot, so that everything committed until then is in it.
    let instant = SystemClock.now();
    let store = if part.store() { Some(copies::copy_out(&location, &partial).await.map_err(copy)?) } else { None };
    let keys_mark =
        if part.keys() { Some(KeysMark::from_summary(&keys.copy_to(&partial.join(KEYS)).await?)) } else { None };
    let manifest = Manifest::build(&partial, instant, store, keys_mark)?;
    manifest.write(&partial)?;
    std::fs::rename(&partial, path)?;
    files::sync_parent(path)?;
    Ok(manifest)
}

async fn make(settings: &Settings, path: &Path, part: BackupPartArgs, format: OutputFormat) -> Result<Exit, CliError> {
    let began = Instant::now();
    let manifest = made(settings, path, part).await?;
    let took = began.elapsed();
    match format {
        OutputFormat::Json => {
            output::json(&json!({"path": path, "seconds": took.as_secs_f64(), "manifest": manifest}))?
        }
        OutputFormat::Table => {
            output::line(&format!(
                "{}: {} files, {} bytes, {} patients, {:.1} s.",
                path.display(),
                manifest.files.len(),
                manifest.bytes(),
                manifest.patients(),
                took.as_secs_f64()
            ))?;
            output::line("The root key is not in it. Keep that apart: without it nothing of this can be read.")?;
        }
    }
    Ok(Exit::Done)
}

async fn verify(settings: &Settings, path: &Path, every: usize, format: OutputFormat) -> Result<Exit, CliError> {
    let manifest = Manifest::read(path)?;
    let checked = pair::check(settings, path, &manifest, every).await?;
    match format {
        OutputFormat::Json => {
            output::json(&json!({"path": path, "whole": true, "patients": checked.patients, "erased": checked.erased,
            "opened": checked.opened, "manifest": manifest}))?;
        }
        OutputFormat::Table => output::line(&format!(
            "{}: whole; {} patients, of whom {} were erased; {} documents opened.",
            path.display(),
            checked.patients,
            checked.erased,
            checked.opened
        ))?,
    }
    Ok(Exit::Done)
}

fn copy(error: copies::CopyError) -> CliError {
    match error {
        copies::CopyError::Database(error) => database(&error),
        copies::CopyError::InUse => CliError::new(Exit::Held, error.to_string()),
        error => CliError::failed(error.to_string()),
    }
}

fn database(error: &DbError) -> CliError {
    CliError::failed(format!("the store: {error}"))
}

fn key_file(path: &Path) -> CliError {
    key_place(&format!("{}: the key store cannot be read or copied, or is damaged", path.display()))
}

fn key_place(text: &str) -> CliError {
    CliError::failed(text.to_owned())
}

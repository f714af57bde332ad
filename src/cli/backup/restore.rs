//! `restore PATH`: a verified backup in place of an empty store, or with `--replace` of what is there. Nothing is changed
//! before all of the backup was read, compared and opened. What the present key store knows to be erased stays erased.

use std::path::{Path, PathBuf};
use std::time::Instant;

use secrecy::ExposeSecret as _;
use serde_json::json;

use super::files::{KEYS, Manifest, copied, suffixed, sync_parent};
use super::{Part, copy, database, key_file, pair};
use crate::cli::output::Format;
use crate::cli::{Context, Exit, Failure, output};
use crate::config::{self, Settings};
use crate::crypto::copies as key_copies;
use crate::store::engine::Location;
use crate::store::engine::copies::{self, STORE_FILE};

/// A document of every so many patients is opened before anything is put in place.
const EVERY: usize = 100;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Folder that `backup` made.
    path: PathBuf,
    #[command(flatten)]
    part: Part,
    /// Put it in place of a store or of keys that are there. Files that are replaced stay next to it, with the ending
    /// `.replaced`; rows of a server's database are gone.
    #[arg(long)]
    replace: bool,
}

/// # Errors
/// When the backup is not whole, the two do not belong together, or something is there and `--replace` was not given.
pub fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    let settings = config::load(context.config.as_deref()).map_err(|error| Failure::usage(error.to_string()))?;
    context.block_on(restore(&settings, &args, context.format_or(Format::Table)))
}

async fn restore(settings: &Settings, args: &Args, format: Format) -> Result<Exit, Failure> {
    let began = Instant::now();
    let manifest = Manifest::read(&args.path)?;
    let location = Location::of(&settings.store).map_err(|error| database(&error))?;
    let store = manifest.store.as_ref().filter(|_| args.part.store());
    let keys = manifest.keys.as_ref().filter(|_| args.part.keys());
    if (args.part.store_only && store.is_none()) || (args.part.keys_only && keys.is_none()) {
        return Err(Failure::usage("the backup does not hold that part"));
    }
    let engine = if matches!(location, Location::Postgres(_)) { "postgres" } else { "sqlite" };
    if let Some(snapshot) = store
        && snapshot.engine != engine
    {
        return Err(Failure::usage(format!("the backup is of {} and store.url of {engine}", snapshot.engine)));
    }
    let present = &settings.store.keys;
    if keys.is_some() && present.exists() && !args.replace {
        let there = present.display();
        return Err(Failure::failed(format!(
            "{there} is there already: give --replace to put the backup in its place"
        )));
    }
    if let (Some(_), Location::File(path)) = (store, &location)
        && copies::holds_anything(path).await.map_err(copy)?
        && !args.replace
    {
        return Err(copy(copies::CopyError::NotEmpty));
    }
    // The new key file is made next to its place, so that the last step is a rename.
    let staged = suffixed(present, ".restoring");
    let erased = if keys.is_some() { stage_keys(args, present, &staged).await? } else { 0 };
    let beside = if keys.is_some() { &staged } else { present };
    let checked = check(settings, args, &manifest, &location, beside).await;
    if checked.is_err() && keys.is_some() {
        std::fs::remove_file(&staged)?;
    }
    let checked = checked?;
    if let Some(snapshot) = store {
        match &location {
            Location::File(path) => put(&args.path.join(STORE_FILE), path)?,
            _ => {
                let placed = copies::copy_in(&owner(settings)?, snapshot, &args.path, args.replace).await;
                if placed.is_err() && keys.is_some() {
                    std::fs::remove_file(&staged)?;
                }
                placed.map_err(copy)?;
            }
        }
    }
    if keys.is_some() {
        set_aside(present)?;
        std::fs::rename(&staged, present)?;
        sync_parent(present)?;
    }
    let took = began.elapsed().as_secs_f64();
    match format {
        Format::Json => output::json(&json!({"path": args.path, "seconds": took, "instant": manifest.instant,
            "patients": checked.patients, "erased": checked.erased, "opened": checked.opened, "kept_erased": erased}))?,
        Format::Table => output::line(&format!(
            "Restored the state of {}: {} patients, {} of them erased ({erased} since the backup), {took:.1} s.",
            manifest.instant, checked.patients, checked.erased
        ))?,
    }
    Ok(Exit::Done)
}

/// The keys of the backup, without those that the present key store destroyed since; how many these are.
async fn stage_keys(args: &Args, present: &Path, staged: &Path) -> Result<u64, Failure> {
    let whole = args.path.join(KEYS);
    key_copies::known(&whole).await.map_err(|_| key_file(&whole))?;
    if staged.exists() {
        std::fs::remove_file(staged)?;
    }
    if let Some(folder) = staged.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        super::files::private_folder(folder)?;
    }
    copied(&whole, staged)?;
    if !present.exists() {
        return Ok(0);
    }
    match key_copies::known(present).await {
        Ok(known) => key_copies::inherit(staged, &known).await.map_err(|_| key_file(staged)),
        // Its erasures cannot be read any more: said, because they may be needed from another copy of the keys.
        Err(_) => {
            output::note(&format!("{} is damaged: erasures since the backup are not known", present.display()));
            Ok(0)
        }
    }
}

/// Store and keys as they will be next to each other.
async fn check(
    settings: &Settings,
    args: &Args,
    manifest: &Manifest,
    location: &Location,
    keys: &Path,
) -> Result<pair::Checked, Failure> {
    let patients = match manifest.store.as_ref().filter(|_| args.part.store()) {
        Some(snapshot) => copies::look(snapshot, &args.path, EVERY).await.map_err(copy)?,
        None => match location {
            // Keys alone, before any store.
            Location::File(path) if !path.exists() => copies::Patients::default(),
            location => copies::patients(location, EVERY).await.map_err(copy)?,
        },
    };
    if !keys.exists() {
        return Err(Failure::failed(format!(
            "store.keys: there is no key store at {}: restore the keys first (--keys-only)",
            keys.display()
        )));
    }
    let known = key_copies::known(keys).await.map_err(|_| key_file(keys))?;
    pair::together(settings, &patients, &known, keys).await
}

/// Puts a store's file in place. What was there is kept under another name, together with its write-ahead log, which
/// must never meet the new file.
fn put(from: &Path, to: &Path) -> Result<(), Failure> {
    let staged = suffixed(to, ".restoring");
    if staged.exists() {
        std::fs::remove_file(&staged)?;
    }
    if let Some(folder) = to.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        super::files::private_folder(folder)?;
    }
    copied(from, &staged)?;
    set_aside(to)?;
    std::fs::rename(&staged, to)?;
    sync_parent(to)?;
    Ok(())
}

fn set_aside(path: &Path) -> Result<(), Failure> {
    for ending in ["-wal", "-shm", "-journal", ""] {
        let there = suffixed(path, ending);
        if there.exists() {
            std::fs::rename(&there, suffixed(&suffixed(path, ".replaced"), ending))?;
        }
    }
    Ok(())
}

/// As whoever may change the schema.
fn owner(settings: &Settings) -> Result<Location, Failure> {
    let mut store = settings.store.clone();
    if !store.migrate_url.expose_secret().is_empty() {
        store.url = store.migrate_url.clone();
    }
    Location::of(&store).map_err(|error| database(&error))
}

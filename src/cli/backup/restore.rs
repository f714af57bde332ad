//! `restore PATH`: a verified backup in place of an empty store, or with `--replace` of an existing one. Nothing is
//! changed before the whole backup was read, compared and opened. Subjects that the present key store knows as erased
//! stay erased.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

use chrono::{DateTime, Utc};
use secrecy::ExposeSecret as _;
use serde_json::json;
use uuid::Uuid;

use super::files::{KEYS, Manifest, copied, set_aside, suffixed, sync_parent};
use super::keys::{KeysFile, KeysLocation};
use super::{BackupPartArgs, copy, database, key_file, pair};
use crate::cli::app::App;
use crate::cli::erase::AppliedErasures;
use crate::cli::output::OutputFormat;
use crate::cli::{CliError, Context, Exit, erase, output};
use anamnesis_config::{self as config, Settings};
use anamnesis_core::clock::{Clock as _, SystemClock};
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::copies as key_copies;
use anamnesis_sql::Location;
use anamnesis_sql::copies::{self, STORE_FILE};
use anamnesis_store::erasure::{ErasureRequest, ErasureSubject};

/// A document of every so many patients is opened before the restore changes anything.
const EVERY: usize = 100;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Folder created by `backup`.
    path: PathBuf,
    #[command(flatten)]
    part: BackupPartArgs,
    /// Replace an existing store or key store. Replaced files are renamed with the suffix `.replaced`; rows of a database
    /// server are deleted.
    #[arg(long)]
    replace: bool,
    /// Repeat the erasures of these receipts (output of `anamnesis report erasures --output json`). If the replaced store is
    /// lost or damaged, only the receipts show what was erased after the backup.
    #[arg(long, value_name = "FILE")]
    receipts: Option<PathBuf>,
}

/// # Errors
/// When the backup is not whole, the two do not belong together, or something is there and `--replace` was not given.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    let settings = config::load(context.config.as_deref()).map_err(|error| CliError::usage(error.to_string()))?;
    let receipts = args.receipts.as_deref().map(read_receipts).transpose()?.unwrap_or_default();
    context.block_on(async {
        let done = restore(&settings, &args, receipts, context.format_or(OutputFormat::Table)).await?;
        context.read.note(&settings).await;
        Ok(done)
    })
}

async fn restore(
    settings: &Settings,
    args: &Args,
    mut receipts: Vec<ErasureRequest>,
    format: OutputFormat,
) -> Result<Exit, CliError> {
    let began = Instant::now();
    let manifest = Manifest::read(&args.path)?;
    let location = Location::from_config(&settings.store).map_err(|error| database(&error))?;
    let store = manifest.store.as_ref().filter(|_| args.part.store());
    let keys = manifest.keys.as_ref().filter(|_| args.part.keys());
    if (args.part.store_only && store.is_none()) || (args.part.keys_only && keys.is_none()) {
        return Err(CliError::usage("the backup does not hold that part"));
    }
    let engine = if matches!(location, Location::Postgres(_)) { "postgres" } else { "sqlite" };
    if let Some(snapshot) = store
        && snapshot.engine != engine
    {
        return Err(CliError::usage(format!("the backup is of {} and store.url of {engine}", snapshot.engine)));
    }
    let present = KeysLocation::from_settings(settings)?;
    let there = keys.is_some() && present.exists().await?;
    if there && !args.replace {
        return Err(keys_are_there(&present));
    }
    if let (Some(_), Location::File(path)) = (store, &location)
        && copies::holds_anything(path).await.map_err(copy)?
        && !args.replace
    {
        return Err(copy(copies::CopyError::NotEmpty));
    }
    // The new keys are made next to their place, so that the last step is one rename or one commit.
    let staged = if keys.is_some() { Some(present.stage()?) } else { None };
    let discard = || staged.as_ref().map_or(Ok(()), KeysFile::remove);
    let erased = match &staged {
        Some(staged) => stage_keys(args, &present, staged, there).await?,
        None => 0,
    };
    let checked = check(settings, args, &manifest, &location, &present, staged.as_ref()).await;
    if checked.is_err() {
        discard()?;
    }
    let checked = checked?;
    let replaced = match &location {
        Location::File(path) => path.exists(),
        _ => true,
    };
    let gathered = match store {
        Some(_) => gather(settings, args.replace && replaced, replaced, &mut receipts).await,
        None => ReplacedStore { are_known: true, ..ReplacedStore::default() },
    };
    if let Some(snapshot) = store {
        match &location {
            Location::File(path) => put(&args.path.join(STORE_FILE), path)?,
            _ => {
                let placed = copies::copy_in(&owner(settings)?, snapshot, &args.path, args.replace).await;
                if placed.is_err() {
                    discard()?;
                }
                placed.map_err(copy)?;
            }
        }
    }
    // After the store: if this step fails, newer existing keys still open the restored store.
    if let Some(staged) = &staged {
        present.put(staged).await?;
    }
    let applied = if store.is_some() {
        erase_again(settings, &receipts, gathered.decisions.as_ref()).await
    } else {
        Some(AppliedErasures::default())
    };
    let took = began.elapsed().as_secs_f64();
    match format {
        OutputFormat::Json => output::json(&json!({"path": args.path, "seconds": took, "instant": manifest.instant,
            "patients": checked.patients, "erased": checked.erased, "opened": checked.opened, "kept_erased": erased,
            "erased_again": applied.map(|applied| applied.erased), "held": applied.map(|applied| applied.held),
            "decisions_lost": applied.and_then(|applied| applied.decisions_lost), "receipts_known": gathered.are_known,
            "receipts_forged": gathered.forged}))?,
        OutputFormat::Table => output::line(&format!(
            "Restored the state of {}: {} patients, {} of them erased ({erased} since the backup), {took:.1} s.",
            manifest.instant, checked.patients, checked.erased
        ))?,
    }
    Ok(exit(&gathered, applied))
}

fn keys_are_there(present: &KeysLocation) -> CliError {
    CliError::failed(format!("{} is there already: use --replace to overwrite it with the backup", present.name()))
}

/// Whether anything is left for a person: an erasure under a legal hold, a lost decision, or an unknown.
fn exit(gathered: &ReplacedStore, applied: Option<AppliedErasures>) -> Exit {
    let is_open = applied.is_none_or(|applied| applied.held > 0 || applied.decisions_lost.is_some_and(|lost| lost > 0));
    // The decisions in an unreadable store are unknown.
    let is_compared = applied.is_some_and(|applied| applied.decisions_lost.is_some());
    let is_unknown = !gathered.are_known
        || (gathered.was_asked && gathered.decisions.is_none())
        || (gathered.decisions.as_ref().is_some_and(|decided| !decided.is_empty()) && !is_compared);
    if is_open || is_unknown || gathered.forged > 0 { Exit::Partial } else { Exit::Done }
}

/// The contents of the replaced store that matter.
#[derive(Default)]
struct ReplacedStore {
    /// It was there, and was asked.
    was_asked: bool,
    /// False if the erasures since the backup are unknown: their data would return silently.
    are_known: bool,
    /// Receipts that this program did not write.
    forged: usize,
    /// The decisions of people there; `None` if they are unknown.
    decisions: Option<BTreeSet<Uuid>>,
}

/// Adds the receipts of the store that is replaced.
async fn gather(
    settings: &Settings,
    readable: bool,
    replaced: bool,
    receipts: &mut Vec<ErasureRequest>,
) -> ReplacedStore {
    if !replaced && receipts.is_empty() {
        output::note("what was erased since the backup is known from --receipts alone");
    }
    if !readable {
        return ReplacedStore { are_known: true, ..ReplacedStore::default() };
    }
    let was_asked = true;
    match newer_receipts(settings).await {
        Some((newer, forged, decided)) => {
            receipts.extend(newer);
            ReplacedStore { was_asked, are_known: true, forged, decisions: Some(decided) }
        }
        None => ReplacedStore { was_asked, are_known: !receipts.is_empty(), ..ReplacedStore::default() },
    }
}

/// A receipt as `report erasures` or an event `erasure.completed` has it.
#[derive(serde::Deserialize)]
struct ReceiptLine {
    organization_id: Uuid,
    patient_id: Uuid,
    erasure_id: Uuid,
    what: String,
    subject_id: Option<Uuid>,
    requested_by: Option<Uuid>,
    requested_at: Option<DateTime<Utc>>,
}

impl ReceiptLine {
    fn request(self) -> Option<ErasureRequest> {
        Some(ErasureRequest {
            scope: Scope::new(OrgId(self.organization_id), PatientId(self.patient_id)).ok()?,
            id: self.erasure_id,
            subject: ErasureSubject::read(&self.what, self.subject_id)?,
            requested_by: self.requested_by.unwrap_or_default(),
            requested_at: self.requested_at.unwrap_or_else(|| SystemClock.now()),
        })
    }
}

fn read_receipts(path: &Path) -> Result<Vec<ErasureRequest>, CliError> {
    let text = std::fs::read_to_string(path)
        .map_err(|_| CliError::usage(format!("--receipts: {} cannot be read", path.display())))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let requests = lines.map(|(at, line)| {
        let request = serde_json::from_str::<ReceiptLine>(line).ok().and_then(ReceiptLine::request);
        request.ok_or_else(|| {
            CliError::usage(format!(
                "--receipts: line {} is no receipt: organization_id, patient_id, erasure_id, what (patient, document, memory) \
                 and subject_id as JSON",
                at + 1
            ))
        })
    });
    requests.collect()
}

/// Erasures of the replaced store. A store that cannot be opened is reported, because its receipts may be needed.
async fn newer_receipts(settings: &Settings) -> Option<(Vec<ErasureRequest>, usize, BTreeSet<Uuid>)> {
    let receipts = match App::with(settings.clone()).await {
        Ok(app) => {
            let receipts = erase::receipts(&app).await.ok();
            let decisions = app.store.erasure().decisions().await.ok();
            app.store.close().await;
            receipts.zip(decisions)
        }
        Err(_) => None,
    };
    if receipts.is_none() {
        output::note(
            "the store that is replaced cannot be read: what was erased since the backup is known from --receipts alone",
        );
    }
    let (receipts, decisions) = receipts?;
    let all = receipts.len();
    let genuine: Vec<ErasureRequest> =
        receipts.into_iter().filter(|one| one.is_genuine).map(|one| one.request).collect();
    let forged = all - genuine.len();
    if forged > 0 {
        output::note(&format!(
            "{forged} receipts of the store that is replaced were not written by this program and are left out: look at them \
             with `report erasures` in what was put aside"
        ));
    }
    Some((genuine, forged, decisions))
}

/// Repeats the erasures since the backup before the restored store is used.
async fn erase_again(
    settings: &Settings,
    receipts: &[ErasureRequest],
    decisions: Option<&BTreeSet<Uuid>>,
) -> Option<AppliedErasures> {
    let applied = match App::with(settings.clone()).await {
        Ok(app) => {
            let applied = erase::apply(&app, receipts).await.ok();
            // A store that was restored is no local trial any more.
            let marked = app.store.key_binding().note_served().await.ok();
            let kept = app.store.erasure().decisions().await.ok();
            app.store.close().await;
            let decisions_lost =
                decisions.zip(kept).map(|(decisions, kept)| decisions.difference(&kept).count() as u64);
            applied.zip(marked).map(|(applied, ())| AppliedErasures { decisions_lost, ..applied })
        }
        Err(_) => None,
    };
    if let Some(lost) = applied.and_then(|applied| applied.decisions_lost).filter(|lost| *lost > 0) {
        output::note(&format!(
            "{lost} legal holds, consents and switches of ephemeral mode were set or lifted since the backup, which does not know it: do it \
             again before anybody is served (`hold`, `consent`, `ephemeral`)"
        ));
    }
    if applied.is_some_and(|applied| applied.held > 0) {
        output::note(
            "a legal hold of the backup keeps what was erased since: a worker erases it when the hold is lifted",
        );
    }
    // A store of an older version, which its own program opens: nothing was erased since that would be lost.
    if receipts.is_empty() {
        return applied.or(Some(AppliedErasures::default()));
    }
    if applied.is_none() {
        output::note("erasures since the backup are not applied yet: a worker completes them, or restore again");
    }
    applied
}

/// The keys of the backup, without those that the present key store destroyed since; how many these are.
async fn stage_keys(args: &Args, present: &KeysLocation, staged: &KeysFile, there: bool) -> Result<u64, CliError> {
    let whole = args.path.join(KEYS);
    key_copies::known(&whole).await.map_err(|_| key_file(&whole))?;
    staged.fill(&whole)?;
    if !there {
        return Ok(0);
    }
    let known = match present.current_file().await {
        Ok(file) => key_copies::known(&file.path).await.map_err(|_| ()),
        Err(_) => Err(()),
    };
    match known {
        Ok(known) => key_copies::inherit(&staged.path, &known).await.map_err(|_| key_file(&staged.path)),
        // Its erasures cannot be read any more: said, because they may be needed from another copy of the keys.
        Err(()) => {
            output::note(&format!("{} is damaged: erasures since the backup are not known", present.name()));
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
    present: &KeysLocation,
    staged: Option<&KeysFile>,
) -> Result<pair::PairCheck, CliError> {
    let patients = match manifest.store.as_ref().filter(|_| args.part.store()) {
        Some(snapshot) => copies::verify(snapshot, &args.path, EVERY).await.map_err(copy)?,
        None => match location {
            // A key store without a store.
            Location::File(path) if !path.exists() => copies::Patients::default(),
            location => copies::patients(location, EVERY).await.map_err(copy)?,
        },
    };
    let looked;
    let keys = match staged {
        Some(staged) => &staged.path,
        None if !present.exists().await? => {
            return Err(CliError::failed(format!(
                "{}: no key store found at {}: restore the keys first (--keys-only)",
                present.setting(),
                present.name()
            )));
        }
        None => {
            looked = present.current_file().await?;
            &looked.path
        }
    };
    let known = key_copies::known(keys).await.map_err(|_| key_file(keys))?;
    pair::together(settings, &patients, &known, keys).await
}

/// Puts a store's file in place. The old one is renamed.
fn put(from: &Path, to: &Path) -> Result<(), CliError> {
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

/// With the role that may change the schema.
fn owner(settings: &Settings) -> Result<Location, CliError> {
    let mut store = settings.store.clone();
    if !store.migrate_url.expose_secret().is_empty() {
        store.url = store.migrate_url.clone();
    }
    Location::from_config(&store).map_err(|error| database(&error))
}

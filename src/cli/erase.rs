//! `erase`: a patient, a document or a memory goes for good, from every table, the quarantine, the archive of original files
//! and, for a patient, the key store. A receipt of ids and counts stays.

use std::path::Path;

use chrono::{DateTime, Utc};
use secrecy::ExposeSecret as _;
use serde::Serialize;
use uuid::Uuid;

use super::language::Spoken;
use super::output::{self, Format};
use super::patient::Of;
use super::world::World;
use super::{Context, Exit, Failure, leftovers, spool};
use anamnesis_core::failpoints::crash_at;
use anamnesis_core::ids::{DocumentId, MemoryId, derive};
use anamnesis_core::scope::Scope;
use anamnesis_pipeline::erasing::{self, Ended, ErasureError};
use anamnesis_pipeline::intake::spool_folder::UNREADABLE;
use anamnesis_pipeline::rights::words;
use anamnesis_store::StoreError;
use anamnesis_store::erasing::{Receipt, Request, Subject};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    anamnesis erase --org $ORG --patient $PATIENT --by $OFFICER\n  \
    anamnesis erase --org $ORG --patient $PATIENT --document $DOCUMENT --by $OFFICER\n  \
    anamnesis erase --org $ORG --patient $PATIENT --receipts")]
pub struct Args {
    #[command(flatten)]
    of: Of,
    /// Only this document, all its revisions, with all that was made of it.
    #[arg(long, value_name = "UUID", conflicts_with = "memory")]
    document: Option<Uuid>,
    /// Only this memory, its words in every document included.
    #[arg(long, value_name = "UUID")]
    memory: Option<Uuid>,
    /// Who asks for it: an id that the receipt and the audit trail keep.
    #[arg(long, value_name = "UUID", required_unless_present = "receipts")]
    by: Option<Uuid>,
    /// Erase nothing: show what was erased of this patient.
    #[arg(long, conflicts_with_all = ["document", "memory", "by"])]
    receipts: bool,
    #[command(flatten)]
    spoken: Spoken,
}

/// # Errors
/// When the configuration is wrong, a legal hold keeps it, or store, keys or archive cannot be written.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    context.block_on(async {
        let world = World::open(context).await?;
        erase(&world, &args, context).await
    })
}

async fn erase(world: &World, args: &Args, context: &Context) -> Result<Exit, Failure> {
    let scope = args.of.scope()?;
    let Some(by) = args.by else {
        return show(&world.store.erasures(scope).await?, context);
    };
    let subject = match (args.document, args.memory) {
        (Some(id), _) => Subject::Document(DocumentId(id)),
        (None, Some(id)) => Subject::Memory(MemoryId(id)),
        (None, None) => Subject::Patient,
    };
    let ended = erasing::erase(&world.store, &request(world, scope, subject, by)).await?;
    let (outcome, receipt) = match ended {
        Ended::Held => {
            output::note(args.spoken.language.of(words::HELD_BY_LAW));
            return Err(Failure::failed(
                "legal_hold: a legal hold keeps it, and nothing was erased; see `anamnesis hold list`",
            ));
        }
        Ended::Derived => {
            return Err(Failure::failed(
                "derived_document: jobs write this account from documents, and would write it again: erase a document or a \
                 memory that it rests on; nothing was erased",
            ));
        }
        Ended::Unknown => return Err(Failure::failed("the organisation is not known, and nothing was erased")),
        Ended::Before(receipt) => ("erased_before", receipt),
        Ended::Erased(receipt) => ("erased", receipt),
    };
    sweep(world, &receipt.request, &receipt.said_in, Copies::Gone)?;
    // On a server the archive of a worker may lie on another machine: that worker ends it.
    if world.settings.store.url.expose_secret().is_empty() || spool::archive_folder(&world.settings).exists() {
        world.store.end_erasure_of_files(&receipt.request).await?;
    }
    let is_same = |one: &Receipt| one.request.id == receipt.request.id;
    let receipt = world.store.erasures(scope).await?.into_iter().find(is_same).unwrap_or(receipt);
    match context.format_or(Format::Table) {
        Format::Json => output::json(&Shown { outcome, receipt: &receipt })?,
        Format::Table => {
            output::line(&format!("{outcome}: {} of patient {}", receipt.request.subject.code(), receipt.patient_id))?;
            output::table(
                &["What", "Gone"],
                receipt.counts.iter().map(|(what, gone)| [what.clone(), gone.to_string()]),
            )?;
            output::line(args.spoken.language.of(match receipt.request.subject {
                Subject::Patient => words::GONE_PATIENT,
                Subject::Document(_) => words::GONE_DOCUMENT,
                Subject::Memory(_) => words::GONE_MEMORY,
            }))?;
        }
    }
    Ok(Exit::Done)
}

#[derive(Serialize)]
struct Shown<'a> {
    outcome: &'static str,
    #[serde(flatten)]
    receipt: &'a Receipt,
}

fn show(receipts: &[Receipt], context: &Context) -> Result<Exit, Failure> {
    match context.format_or(Format::Table) {
        Format::Json => output::json(&receipts)?,
        Format::Table if receipts.is_empty() => output::line("Nothing was erased of this patient.")?,
        Format::Table => {
            let rows = receipts.iter().map(|one| {
                let done = one.done_at.map_or_else(|| "in work".to_owned(), |at| at.to_rfc3339());
                let what = one.request.subject.code().to_owned();
                [one.request.id.to_string(), what, one.request.requested_by.to_string(), done]
            });
            output::table(&["Receipt", "What", "By", "Done"], rows)?;
        }
    }
    Ok(Exit::Done)
}

/// Asked for twice, it is the same request; but what is learned again after it was erased, as a memory may be, is another.
fn request(world: &World, scope: Scope, subject: Subject, requested_by: Uuid) -> Request {
    let now = world.store.clock().now();
    let again = matches!(subject, Subject::Memory(_)).then(|| now.timestamp_micros());
    let named = serde_json::json!([subject, again]).to_string();
    let (org, patient) = (scope.org().0, scope.patient().0);
    let id = derive("erasure.asked", &[org.as_bytes(), patient.as_bytes(), named.as_bytes()]);
    Request { scope, id, subject, requested_by, requested_at: now }
}

/// Why an erasure is not complete yet.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Incomplete {
    #[error(transparent)]
    Erasure(#[from] ErasureError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the archive of the spool cannot be rewritten")]
    Archive(#[from] std::io::Error),
}

impl From<ErasureError> for Failure {
    fn from(error: ErasureError) -> Self {
        match error {
            ErasureError::Store(error) => error.into(),
            left @ ErasureError::Left(_) => Self::failed(left.to_string()),
        }
    }
}

impl From<Incomplete> for Failure {
    fn from(error: Incomplete) -> Self {
        match error {
            Incomplete::Erasure(error) => error.into(),
            Incomplete::Store(error) => error.into(),
            Incomplete::Archive(_) => Self::failed(error.to_string()),
        }
    }
}

/// What becomes of the copies that a migration or a restore left next to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Copies {
    Gone,
    Kept,
}

/// Takes what is erased out of the sealed originals of the spool, with copies of simulations and files of the spool that
/// nobody could read. Of a memory, the originals of the documents in which it was said go.
fn sweep(world: &World, request: &Request, said_in: &[Uuid], copies: Copies) -> std::io::Result<u64> {
    let names = |line: &[u8]| erasing::names(line, None, request, said_in);
    leftovers::erase(&world.settings, &names);
    if copies == Copies::Gone {
        leftovers::erase_copies(&world.settings, request.subject == Subject::Patient);
    }
    let folder = spool::archive_folder(&world.settings);
    spool::erase_lines(&folder, world.store.keys().platform(), world.entropy.as_ref(), &names)
}

/// Takes out of this machine's archive what was erased since `since`, by whomever: another worker's erasure does not reach it.
///
/// # Errors
/// When the store or the archive cannot be read or written.
pub(crate) async fn sweep_all(world: &World, since: DateTime<Utc>) -> Result<(), Incomplete> {
    let is_empty = |folder: &Path| std::fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
    let settings = &world.settings;
    if is_empty(&spool::archive_folder(settings)) && is_empty(&settings.worker.spool.join(UNREADABLE)) {
        return Ok(());
    }
    for receipt in
        receipts(world).await?.iter().filter(|one| one.is_genuine && one.done_at.is_some_and(|at| at >= since))
    {
        sweep(world, &receipt.request, &receipt.said_in, Copies::Kept)?;
    }
    Ok(())
}

/// Completes erasures of all organisations; returns how many.
///
/// # Errors
/// When store, keys or archive cannot be read or written: of the last erasure that failed. The others are complete all the same.
pub(crate) async fn complete(world: &World) -> Result<u64, Incomplete> {
    let (mut completed, mut failed) = (0, None);
    for organization in world.store.organization_rows().await? {
        for receipt in world.store.open_erasures(organization.org).await? {
            // Reconciliation counts it and a person looks: what it asks for was asked for by nobody.
            if !receipt.is_genuine {
                tracing::error!(code = "erasure_forged", erasure = %receipt.request.id, "an erasure was not written by this program");
                continue;
            }
            match complete_one(world, &receipt).await {
                Ok(is_complete) => completed += u64::from(is_complete),
                // The others do not wait for this one.
                Err(error) => {
                    tracing::error!(code = "erasure_incomplete", erasure = %receipt.request.id, "an erasure could not be completed");
                    failed = Some(error);
                }
            }
        }
    }
    failed.map_or(Ok(completed), Err)
}

/// Returns whether it is complete: a legal hold keeps what it may.
async fn complete_one(world: &World, receipt: &Receipt) -> Result<bool, Incomplete> {
    if receipt.done_at.is_none() {
        match erasing::erase(&world.store, &receipt.request).await {
            Ok(Ended::Held) => return Ok(false),
            Ok(_) => {}
            // Its patient is being erased, and all with it: it is complete when that is.
            Err(ErasureError::Store(StoreError::Erased)) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
    }
    sweep(world, &receipt.request, &receipt.said_in, Copies::Gone)?;
    world.store.end_erasure_of_files(&receipt.request).await?;
    Ok(true)
}

/// What a store says was erased, whatever of it is complete.
///
/// # Errors
/// Of the store.
pub(crate) async fn receipts(world: &World) -> Result<Vec<Receipt>, StoreError> {
    let mut all = Vec::new();
    for organization in world.store.organization_rows().await? {
        all.extend(world.store.all_erasures(organization.org).await?);
    }
    Ok(all)
}

/// What became of erasures that a restored store did not know.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Applied {
    pub(crate) erased: u64,
    /// Kept by a legal hold that the restored store still has: a worker erases them when it is lifted.
    pub(crate) held: u64,
    /// Holds that were set or lifted, consents and switches of ephemeral mode that the replaced store had and the backup does not
    /// know; `None` where it could not be asked.
    pub(crate) decisions_lost: Option<u64>,
}

/// Erases what the receipts of another store name, where this one does not know of it. Each is written down here first, so that
/// a worker completes what this process does not.
///
/// # Errors
/// As [`complete`].
pub(crate) async fn apply(world: &World, receipts: &[Request]) -> Result<Applied, Incomplete> {
    let mut missing = Vec::new();
    for request in receipts {
        let known = world.store.erasures(request.scope).await?;
        if !known.iter().any(|one| one.request.id == request.id && one.done_at.is_some()) {
            missing.push(*request);
        }
    }
    world.store.note_erasures(&missing).await?;
    crash_at("receipts_noted");
    let mut applied = Applied::default();
    for request in &missing {
        match erasing::erase(&world.store, request).await {
            Ok(Ended::Held) => applied.held += 1,
            // What restore put aside is the way back.
            Ok(_) => {
                let receipts = world.store.erasures(request.scope).await?;
                let said_in = receipts.into_iter().find(|one| one.request.id == request.id).map(|one| one.said_in);
                sweep(world, request, &said_in.unwrap_or_default(), Copies::Kept)?;
                applied.erased += 1;
            }
            // Its patient was erased since, and all with it.
            Err(ErasureError::Store(StoreError::Erased)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    applied.erased += again_after_restore(world).await?;
    Ok(applied)
}

/// Erases once more the patients whose keys were destroyed and of whom a restored backup brought rows back; returns how many.
///
/// # Errors
/// As [`complete`].
pub(crate) async fn again_after_restore(world: &World) -> Result<u64, Incomplete> {
    let mut erased = 0;
    for scope in world.store.erased_with_rows().await? {
        let request = request(world, scope, Subject::Patient, Uuid::nil());
        erasing::erase(&world.store, &request).await?;
        erased += 1;
    }
    Ok(erased)
}

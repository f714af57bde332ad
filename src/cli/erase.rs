//! `erase`: removes a patient, a document or a memory for good, from every table, the quarantine, the archive of
//! original files and, for a patient, the key store. A receipt of ids and counts stays.

use std::path::Path;

use chrono::{DateTime, Utc};
use secrecy::ExposeSecret as _;
use serde::Serialize;
use uuid::Uuid;

use super::app::App;
use super::language::LanguageArgs;
use super::output::{self, OutputFormat};
use super::patient::PatientArgs;
use super::{CliError, Context, Exit, leftovers, spool};
use anamnesis_core::failpoints::crash_at;
use anamnesis_core::ids::{DocumentId, MemoryId, derive};
use anamnesis_core::scope::Scope;
use anamnesis_pipeline::erasure::{self, ErasureError, ErasureOutcome};
use anamnesis_pipeline::intake::spool_folder::UNREADABLE;
use anamnesis_pipeline::rights::words;
use anamnesis_store::StoreError;
use anamnesis_store::erasure::{ErasureReceipt, ErasureRequest, ErasureSubject};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    anamnesis erase --org $ORG --patient $PATIENT --by $OFFICER\n  \
    anamnesis erase --org $ORG --patient $PATIENT --document $DOCUMENT --by $OFFICER\n  \
    anamnesis erase --org $ORG --patient $PATIENT --receipts")]
pub struct Args {
    #[command(flatten)]
    of: PatientArgs,
    /// Only this document: all revisions and everything derived from it.
    #[arg(long, value_name = "UUID", conflicts_with = "memory")]
    document: Option<Uuid>,
    /// Only this memory, including its words in all documents.
    #[arg(long, value_name = "UUID")]
    memory: Option<Uuid>,
    /// Id of the person who requests it, for the receipt and the audit trail.
    #[arg(long, value_name = "UUID", required_unless_present = "receipts")]
    by: Option<Uuid>,
    /// Erase nothing: show the receipts of this patient's erasures.
    #[arg(long, conflicts_with_all = ["document", "memory", "by"])]
    receipts: bool,
    #[command(flatten)]
    spoken: LanguageArgs,
}

/// # Errors
/// When the configuration is wrong, a legal hold keeps it, or store, keys or archive cannot be written.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    context.block_on(async {
        let app = App::open(context).await?;
        erase(&app, &args, context).await
    })
}

async fn erase(app: &App, args: &Args, context: &Context) -> Result<Exit, CliError> {
    let scope = args.of.scope()?;
    let Some(by) = args.by else {
        return show(&app.store.erasure().erasures(scope).await?, context);
    };
    let subject = match (args.document, args.memory) {
        (Some(id), _) => ErasureSubject::Document(DocumentId(id)),
        (None, Some(id)) => ErasureSubject::Memory(MemoryId(id)),
        (None, None) => ErasureSubject::Patient,
    };
    let ended = erasure::erase(&app.store, &request(app, scope, subject, by)).await?;
    let (outcome, receipt) = match ended {
        ErasureOutcome::Held => {
            output::note(args.spoken.language.select(words::HELD_BY_LAW));
            return Err(CliError::failed(
                "legal_hold: a legal hold keeps it, and nothing was erased; see `anamnesis hold list`",
            ));
        }
        ErasureOutcome::Derived => {
            return Err(CliError::failed(
                "derived_document: jobs write this account from documents, and would write it again: erase a document or a \
                 memory that it rests on; nothing was erased",
            ));
        }
        ErasureOutcome::Unknown => {
            return Err(CliError::failed("the organisation is not known, and nothing was erased"));
        }
        ErasureOutcome::Before(receipt) => ("erased_before", receipt),
        ErasureOutcome::Erased(receipt) => ("erased", receipt),
    };
    sweep(app, &receipt.request, &receipt.said_in, StoreCopies::Gone)?;
    // On a server the archive of a worker may lie on another machine: that worker ends it.
    if app.settings.store.url.expose_secret().is_empty() || spool::archive_folder(&app.settings).exists() {
        app.store.erasure().end_erasure_of_files(&receipt.request).await?;
    }
    let is_same = |one: &ErasureReceipt| one.request.id == receipt.request.id;
    let receipt = app.store.erasure().erasures(scope).await?.into_iter().find(is_same).unwrap_or(receipt);
    match context.format_or(OutputFormat::Table) {
        OutputFormat::Json => output::json(&ErasureView { outcome, receipt: &receipt })?,
        OutputFormat::Table => {
            output::line(&format!("{outcome}: {} of patient {}", receipt.request.subject.code(), receipt.patient_id))?;
            output::table(
                &["What", "Gone"],
                receipt.counts.iter().map(|(what, gone)| [what.clone(), gone.to_string()]),
            )?;
            output::line(args.spoken.language.select(match receipt.request.subject {
                ErasureSubject::Patient => words::GONE_PATIENT,
                ErasureSubject::Document(_) => words::GONE_DOCUMENT,
                ErasureSubject::Memory(_) => words::GONE_MEMORY,
            }))?;
        }
    }
    Ok(Exit::Done)
}

#[derive(Serialize)]
struct ErasureView<'a> {
    outcome: &'static str,
    #[serde(flatten)]
    receipt: &'a ErasureReceipt,
}

fn show(receipts: &[ErasureReceipt], context: &Context) -> Result<Exit, CliError> {
    match context.format_or(OutputFormat::Table) {
        OutputFormat::Json => output::json(&receipts)?,
        OutputFormat::Table if receipts.is_empty() => output::line("Nothing was erased of this patient.")?,
        OutputFormat::Table => {
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

/// A repetition is the same request. A subject that was learned again after its erasure, as a memory may be, needs
/// another one.
fn request(app: &App, scope: Scope, subject: ErasureSubject, requested_by: Uuid) -> ErasureRequest {
    let now = app.store.clock().now();
    let again = matches!(subject, ErasureSubject::Memory(_)).then(|| now.timestamp_micros());
    let named = serde_json::json!([subject, again]).to_string();
    let (org, patient) = (scope.org().0, scope.patient().0);
    let id = derive("erasure.asked", &[org.as_bytes(), patient.as_bytes(), named.as_bytes()]);
    ErasureRequest { scope, id, subject, requested_by, requested_at: now }
}

/// Why an erasure is not complete yet.
#[derive(Debug, thiserror::Error)]
pub(crate) enum IncompleteErasure {
    #[error(transparent)]
    Erasure(#[from] ErasureError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the archive of the spool cannot be rewritten")]
    Archive(#[from] std::io::Error),
}

impl From<ErasureError> for CliError {
    fn from(error: ErasureError) -> Self {
        match error {
            ErasureError::Store(error) => error.into(),
            left @ ErasureError::Left(_) => Self::failed(left.to_string()),
        }
    }
}

impl From<IncompleteErasure> for CliError {
    fn from(error: IncompleteErasure) -> Self {
        match error {
            IncompleteErasure::Erasure(error) => error.into(),
            IncompleteErasure::Store(error) => error.into(),
            IncompleteErasure::Archive(_) => Self::failed(error.to_string()),
        }
    }
}

/// What happens to the copies that a migration or a restore left next to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StoreCopies {
    Gone,
    Kept,
}

/// Removes the erased subject from the sealed originals of the spool, and copies of simulations and unreadable spool
/// files. For a memory, removes the originals of the documents that state it.
fn sweep(app: &App, request: &ErasureRequest, said_in: &[Uuid], copies: StoreCopies) -> std::io::Result<u64> {
    let names = |line: &[u8]| erasure::names(line, None, request, said_in);
    leftovers::erase(&app.settings, &names);
    if copies == StoreCopies::Gone {
        leftovers::erase_copies(&app.settings, request.subject == ErasureSubject::Patient);
    }
    let folder = spool::archive_folder(&app.settings);
    spool::erase_lines(&folder, app.store.keys().platform(), app.entropy.as_ref(), &names)
}

/// Removes everything erased since `since` from this machine's archive, because an erasure on another worker does not
/// reach it.
///
/// # Errors
/// When the store or the archive cannot be read or written.
pub(crate) async fn sweep_all(app: &App, since: DateTime<Utc>) -> Result<(), IncompleteErasure> {
    let is_empty = |folder: &Path| std::fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
    let settings = &app.settings;
    if is_empty(&spool::archive_folder(settings)) && is_empty(&settings.worker.spool.join(UNREADABLE)) {
        return Ok(());
    }
    for receipt in receipts(app).await?.iter().filter(|one| one.is_genuine && one.done_at.is_some_and(|at| at >= since))
    {
        sweep(app, &receipt.request, &receipt.said_in, StoreCopies::Kept)?;
    }
    Ok(())
}

/// Completes erasures of all organisations; returns how many.
///
/// # Errors
/// When store, keys or archive cannot be read or written: of the last erasure that failed. The others are complete all the same.
pub(crate) async fn complete(app: &App) -> Result<u64, IncompleteErasure> {
    let (mut completed, mut failed) = (0, None);
    for organization in app.store.organization().organization_rows().await? {
        for receipt in app.store.erasure().open_erasures(organization.org).await? {
            // Reconciliation counts it and a person decides: this program never made that request.
            if !receipt.is_genuine {
                tracing::error!(code = "erasure_forged", erasure = %receipt.request.id, "an erasure was not written by this program");
                continue;
            }
            match complete_one(app, &receipt).await {
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

/// Returns whether it is complete; a legal hold may prevent parts.
async fn complete_one(app: &App, receipt: &ErasureReceipt) -> Result<bool, IncompleteErasure> {
    if receipt.done_at.is_none() {
        match erasure::erase(&app.store, &receipt.request).await {
            Ok(ErasureOutcome::Held) => return Ok(false),
            Ok(_) => {}
            // Its patient is being erased, and all with it: it is complete when that is.
            Err(ErasureError::Store(StoreError::Erased)) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
    }
    sweep(app, &receipt.request, &receipt.said_in, StoreCopies::Gone)?;
    app.store.erasure().end_erasure_of_files(&receipt.request).await?;
    Ok(true)
}

/// The erasures of a store, complete or not.
///
/// # Errors
/// Of the store.
pub(crate) async fn receipts(app: &App) -> Result<Vec<ErasureReceipt>, StoreError> {
    let mut all = Vec::new();
    for organization in app.store.organization().organization_rows().await? {
        all.extend(app.store.erasure().all_erasures(organization.org).await?);
    }
    Ok(all)
}

/// The outcome of erasures that a restored store did not know.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct AppliedErasures {
    pub(crate) erased: u64,
    /// Prevented by a legal hold that the restored store still has: a worker erases them when it is released.
    pub(crate) held: u64,
    /// Holds that were set or lifted, consents and switches of ephemeral mode that the replaced store had and the backup does not
    /// know; `None` where it could not be asked.
    pub(crate) decisions_lost: Option<u64>,
}

/// Carries out erasures of another store that this one does not know. Each is recorded here first, so that a worker
/// completes what this process does not.
///
/// # Errors
/// As [`complete`].
pub(crate) async fn apply(app: &App, receipts: &[ErasureRequest]) -> Result<AppliedErasures, IncompleteErasure> {
    let mut missing = Vec::new();
    for request in receipts {
        let known = app.store.erasure().erasures(request.scope).await?;
        if !known.iter().any(|one| one.request.id == request.id && one.done_at.is_some()) {
            missing.push(*request);
        }
    }
    app.store.erasure().note_erasures(&missing).await?;
    crash_at("receipts_noted");
    let mut applied = AppliedErasures::default();
    for request in &missing {
        match erasure::erase(&app.store, request).await {
            Ok(ErasureOutcome::Held) => applied.held += 1,
            // Files that restore renamed are the way back.
            Ok(_) => {
                let receipts = app.store.erasure().erasures(request.scope).await?;
                let said_in = receipts.into_iter().find(|one| one.request.id == request.id).map(|one| one.said_in);
                sweep(app, request, &said_in.unwrap_or_default(), StoreCopies::Kept)?;
                applied.erased += 1;
            }
            // Its patient was erased since, and all with it.
            Err(ErasureError::Store(StoreError::Erased)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    applied.erased += again_after_restore(app).await?;
    Ok(applied)
}

/// Erases again the patients whose keys were destroyed and whose rows a restored backup brought back; returns how many.
///
/// # Errors
/// As [`complete`].
pub(crate) async fn again_after_restore(app: &App) -> Result<u64, IncompleteErasure> {
    let mut erased = 0;
    for scope in app.store.erasure().erased_with_rows().await? {
        let request = request(app, scope, ErasureSubject::Patient, Uuid::nil());
        erasure::erase(&app.store, &request).await?;
        erased += 1;
    }
    Ok(erased)
}

//! Erasure from end to end, for a verb, a message, or a worker that finds a started one. Quarantine comes first,
//! because a retry would bring its messages back; then the rows, and a check whether any is left.

use anamnesis_core::ids::{OrgId, PatientId, derive};
use anamnesis_core::scope::Scope;
use anamnesis_messages::contract::{Command, MemoryCommand};
use anamnesis_store::erasure::{ErasureProgress, ErasureReceipt, ErasureRequest, ErasureSubject};
use anamnesis_store::{Store, StoreError};
use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::RawMessage;
use super::unkept_content::{mentions, values};

/// How often rows that another process was still writing are searched.
const SWEEPS: usize = 3;

/// How an erasure ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErasureOutcome {
    /// No patient of this organisation is known.
    Unknown,
    /// A legal hold keeps it.
    Held,
    /// An account that a job wrote from documents, and would write again.
    Derived,
    /// It was erased before.
    Before(ErasureReceipt),
    Erased(ErasureReceipt),
}

/// Why an erasure is not complete. It continues where it stopped, at the next request or in a worker.
#[derive(Debug, thiserror::Error)]
pub enum ErasureError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Another process still writes rows of the patient.
    #[error("rows of the patient remain in {0}")]
    Left(&'static str),
}

/// Starts or continues an erasure.
///
/// # Errors
/// Of the store or the key store; [`ErasureError::Left`] when rows are found after it.
pub async fn erase(store: &Store, request: &ErasureRequest) -> Result<ErasureOutcome, ErasureError> {
    let is_patient = request.subject == ErasureSubject::Patient;
    match store.erasure().open_erasure(request).await? {
        ErasureProgress::Unknown => {
            // Messages of an unregistered organisation may be in quarantine.
            erase_quarantined(store, request).await?;
            return Ok(ErasureOutcome::Unknown);
        }
        ErasureProgress::Held => return Ok(ErasureOutcome::Held),
        ErasureProgress::Derived => return Ok(ErasureOutcome::Derived),
        // An older backup restored rows.
        ErasureProgress::Done(receipt)
            if is_patient && !store.erasure().rows_of_patient(request.scope).await?.is_empty() =>
        {
            tracing::warn!(code = "erased_rows_returned", erasure = %receipt.request.id, "rows of an erased patient have returned");
        }
        ErasureProgress::Done(receipt) => return Ok(ErasureOutcome::Before(receipt)),
        ErasureProgress::Going => {}
    }
    let (scope, quarantined) = (request.scope, erase_quarantined(store, request).await?);
    let receipt = store.erasure().erase_rows(request, quarantined).await?;
    let mut left = store.erasure().rows_of_part(scope, request.subject).await?;
    for _ in 0..SWEEPS {
        if left.is_empty() {
            return Ok(ErasureOutcome::Erased(receipt));
        }
        store.erasure().erase_rows(request, 0).await?;
        left = store.erasure().rows_of_part(scope, request.subject).await?;
    }
    match left.keys().next() {
        Some(table) => Err(ErasureError::Left(table)),
        None => Ok(ErasureOutcome::Erased(receipt)),
    }
}

/// Drops the content of quarantined messages that mention the erased subject; returns how many.
async fn erase_quarantined(store: &Store, request: &ErasureRequest) -> Result<u64, StoreError> {
    let receipts = match request.subject {
        ErasureSubject::Memory(_) => store.erasure().erasures(request.scope).await?,
        ErasureSubject::Patient | ErasureSubject::Document(_) => Vec::new(),
    };
    let said_in = receipts.iter().find(|one| one.request.id == request.id).map(|one| &*one.said_in);
    let said_in = said_in.unwrap_or_default();
    store.erasure().erase_quarantined(request, |body, with| names(body, with, request, said_in)).await
}

/// Whether a stored message or an original mentions the erased subject: the patient, the document, or a document that
/// states the memory.
pub fn names(body: &[u8], attributes: Option<&[u8]>, request: &ErasureRequest, said_in: &[Uuid]) -> bool {
    let of = |document| speaks_of(body, attributes, request.scope, document);
    match request.subject {
        ErasureSubject::Patient => of(None),
        ErasureSubject::Document(document) => of(Some(document.0)),
        ErasureSubject::Memory(_) => said_in.iter().any(|document| of(Some(*document))),
    }
}

/// Whether a stored message is about a patient, or one document of the patient. A broken message is, if it names the
/// patient anywhere.
pub(crate) fn speaks_of(body: &[u8], attributes: Option<&[u8]>, scope: Scope, document: Option<Uuid>) -> bool {
    let raw = RawMessage::kept(body.to_vec(), attributes).unwrap_or_else(|| RawMessage::from_body(body.to_vec()));
    let (org, patient) = (scope.org(), scope.patient());
    let named = mentions(&raw).iter().any(|(of, who, _): &(OrgId, PatientId, _)| *of == org && *who == patient);
    let spelt = || {
        let name = patient.0.hyphenated().to_string();
        body.windows(name.len()).any(|window| window.eq_ignore_ascii_case(name.as_bytes()))
    };
    let whole = named || spelt();
    match document {
        None => whole,
        Some(id) => {
            let is = |value: &[u8]| Uuid::try_parse_ascii(value.trim_ascii()).is_ok_and(|found| found == id);
            whole && values(body, "document_id").any(is)
        }
    }
}

/// The subjects of an `erase` command; without ids, the whole patient. The same command is the same request.
pub(super) fn requests(
    command: &MemoryCommand,
    scope: Scope,
    message: &[u8; 32],
    at: DateTime<Utc>,
) -> Vec<ErasureRequest> {
    let request = |subject: ErasureSubject, id: &[u8]| ErasureRequest {
        scope,
        id: derive("erasure", &[message, subject.code().as_bytes(), id]),
        subject,
        requested_by: command.actor.id,
        requested_at: at,
    };
    let memories = command.memory_ids.iter().flatten().map(|id| request(ErasureSubject::Memory(*id), id.0.as_bytes()));
    let documents =
        command.document_ids.iter().flatten().map(|id| request(ErasureSubject::Document(*id), id.0.as_bytes()));
    let mut all: Vec<ErasureRequest> = memories.chain(documents).collect();
    if all.is_empty() {
        all.push(request(ErasureSubject::Patient, &[]));
    }
    all
}

/// Whether a command requests an erasure and not a preview.
pub(super) fn is_erasure(command: &MemoryCommand) -> bool {
    command.command == Command::Erase && command.preview != Some(true)
}

#[cfg(test)]
#[path = "erasure_tests.rs"]
mod tests;

//! Whether a store and a key store belong together: the keys know every patient of the store, alive or erased, and
//! sealed cells open.

use std::path::Path;
use std::sync::Arc;

use super::files::{KEYS, Manifest};
use super::{copy, key_file};
use crate::cli::{CliError, keyring};
use anamnesis_config::Settings;
use anamnesis_core::clock::{Clock, Entropy, SystemClock, SystemEntropy};
use anamnesis_core::failpoints;
use anamnesis_crypto::copies::{self as key_copies, KeyFileSummary};
use anamnesis_crypto::{ColumnRef, KeyError, KeyStore as _, KeyTable as _, Keyring, SqliteTable, TableState};
use anamnesis_sql::copies::{self, Patients};
use anamnesis_store::document_row;

/// The results of the check.
#[derive(Debug, Default)]
pub(crate) struct PairCheck {
    pub(crate) patients: usize,
    pub(crate) erased: usize,
    /// Documents that were opened.
    pub(crate) opened: usize,
}

/// Checks all contents of a backup.
///
/// # Errors
/// Names the damaged file, or why the two do not belong together.
pub(crate) async fn check(
    settings: &Settings,
    folder: &Path,
    manifest: &Manifest,
    every: usize,
) -> Result<PairCheck, CliError> {
    let patients = match &manifest.store {
        Some(snapshot) => Some(copies::verify(snapshot, folder, every).await.map_err(copy)?),
        None => None,
    };
    let known = match &manifest.keys {
        Some(_) => Some(key_copies::known(&folder.join(KEYS)).await.map_err(|_| key_file(&folder.join(KEYS)))?),
        None => None,
    };
    match (patients, known) {
        (Some(patients), Some(known)) => together(settings, &patients, &known, &folder.join(KEYS)).await,
        (Some(patients), None) => Ok(PairCheck { patients: patients.all.len(), ..PairCheck::default() }),
        (None, Some(known)) => {
            Ok(PairCheck { patients: known.patients.len(), erased: known.erased(), ..PairCheck::default() })
        }
        (None, None) => Err(CliError::failed("the backup holds neither a store nor keys")),
    }
}

/// # Errors
/// When the keys are older than the store or those of another store, or do not open its cells.
pub(crate) async fn together(
    settings: &Settings,
    patients: &Patients,
    known: &KeyFileSummary,
    keys: &Path,
) -> Result<PairCheck, CliError> {
    let erased = |scope| matches!(known.patients.get(scope), Some(Some(_)));
    let mut checked = PairCheck { patients: patients.all.len(), ..PairCheck::default() };
    checked.erased = patients.all.iter().filter(|scope| erased(scope)).count();
    if failpoints::is("restore_foreign_keys") {
        return Ok(checked);
    }
    let missing = patients.all.iter().filter(|scope| !known.patients.contains_key(scope)).count();
    if missing > 0 {
        return Err(CliError::failed(format!(
            "the keys are older than the store, or another store's: {missing} of {} patients have no key in them; \
             use keys that were copied with this store or later",
            patients.all.len()
        )));
    }
    if let (Some((bound, seen)), Some((id, generation))) = (patients.binding, known.stamp) {
        if bound != id {
            return Err(foreign());
        }
        if generation < seen {
            return Err(CliError::failed(format!(
                "the keys are older than the store: they are at generation {generation}, the store has seen {seen}; \
                 use keys that were copied with this store or later"
            )));
        }
    }
    let (_folder, opened) = open(settings, keys).await?;
    for sample in &patients.samples {
        if erased(&sample.scope) {
            continue;
        }
        let found = opened.find(&[sample.scope]).await.map_err(|error| keyring::failure(&error.into()))?;
        let cell =
            ColumnRef { table: "documents", row: document_row(sample.document, sample.revision), column: "content" };
        let opens = found.known.get(&sample.scope).is_some_and(|keys| keys.open(cell, &sample.sealed).is_ok());
        if !opens {
            return Err(foreign());
        }
        checked.opened += 1;
    }
    Ok(checked)
}

fn foreign() -> CliError {
    CliError::failed(
        "the keys are another store's: they do not open what is in this one; use keys that were copied with this store or \
         later",
    )
}

/// Opens a copy of a key file, so that nothing of the backup is changed. The folder of the copy is deleted when it is
/// dropped.
async fn open(settings: &Settings, keys: &Path) -> Result<(tempfile::TempDir, Keyring), CliError> {
    let (clock, entropy): (Arc<dyn Clock>, Arc<dyn Entropy>) = (Arc::new(SystemClock), Arc::new(SystemEntropy));
    let folder = tempfile::tempdir()?;
    let path = folder.path().join(KEYS);
    super::files::copied(keys, &path)?;
    let failed = |error: KeyError| keyring::failure(&error.into());
    // The root key stays where it is: it is in no backup.
    let root = keyring::root(settings, &entropy).map_err(failed)?;
    let table = Arc::new(SqliteTable::at(&path));
    let opened = match table.state().await.map_err(failed)? {
        TableState::Legacy => Keyring::upgrade(root.as_ref(), table, clock, entropy).await,
        _ => Keyring::open(root.as_ref(), table, clock, entropy).await,
    };
    Ok((folder, opened.map_err(failed)?))
}

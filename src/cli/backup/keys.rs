//! Where the keys of a store are, for backups: a file, or a table in a database. A copy is a key file either way.

use std::path::{Path, PathBuf};

use secrecy::ExposeSecret as _;
use tempfile::TempDir;

use super::files::{copied, private_folder, set_aside, sync_parent};
use super::{KEYS, key_file, key_place};
use crate::cli::{CliError, keyring};
use anamnesis_config::Settings;
use anamnesis_crypto::copies::{self, KeyFileSummary};
use anamnesis_crypto::{KeyError, KeyTable as _, PostgresTable, TableState};

/// The configured place of keys.
#[expect(clippy::large_enum_variant, reason = "one of them exists in a process")]
pub(crate) enum KeysLocation {
    File(PathBuf),
    Database(PostgresTable),
}

/// A key file to read: the configured one, or a copy that is deleted when this is dropped.
pub(crate) struct KeysFile {
    pub(crate) path: PathBuf,
    _copy: Option<TempDir>,
}

impl KeysLocation {
    /// Nothing is opened yet.
    ///
    /// # Errors
    /// For a database that is no place for keys.
    pub(crate) fn from_settings(settings: &Settings) -> Result<Self, CliError> {
        match settings.store.keys_url.expose_secret() {
            "" => Ok(Self::File(settings.store.keys.clone())),
            _ => Ok(Self::Database(keyring::database(settings).map_err(refused)?)),
        }
    }

    /// Path or database, for messages.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Database(table) => table.place(),
        }
    }

    /// The setting that names it.
    pub(crate) fn setting(&self) -> &'static str {
        match self {
            Self::File(_) => "store.keys",
            Self::Database(_) => "store.keys_url",
        }
    }

    /// Whether there is anything, damaged or not.
    ///
    /// # Errors
    /// When a database does not answer.
    pub(crate) async fn exists(&self) -> Result<bool, CliError> {
        match self {
            Self::File(path) => Ok(path.exists()),
            Self::Database(table) => match table.state().await {
                Ok(state) => Ok(!matches!(state, TableState::Absent | TableState::Empty)),
                Err(KeyError::Damaged { .. }) => Ok(true),
                Err(error) => Err(refused(error)),
            },
        }
    }

    /// Copies the keys into a file that is not there yet, while others use them.
    ///
    /// # Errors
    /// Where there are none, or they cannot be read.
    pub(crate) async fn copy_to(&self, to: &Path) -> Result<KeyFileSummary, CliError> {
        match self {
            Self::File(path) => copies::copy(path, to).await.map_err(|_| key_file(path))?,
            Self::Database(table) => table.copy_out(to).await.map_err(refused)?,
        }
        copies::known(to).await.map_err(|_| key_file(to))
    }

    /// The current keys, as a file to read.
    ///
    /// # Errors
    /// When a database cannot be read.
    pub(crate) async fn current_file(&self) -> Result<KeysFile, CliError> {
        match self {
            Self::File(path) => Ok(KeysFile { path: path.clone(), _copy: None }),
            Self::Database(table) => {
                let folder = tempfile::tempdir()?;
                let path = folder.path().join(KEYS);
                table.copy_out(&path).await.map_err(refused)?;
                Ok(KeysFile { path, _copy: Some(folder) })
            }
        }
    }

    /// A place for the keys that are to be put here: on the same file system, so that the last step is a rename.
    ///
    /// # Errors
    /// When it cannot be made.
    pub(crate) fn stage(&self) -> Result<KeysFile, CliError> {
        match self {
            Self::File(present) => {
                let path = super::files::suffixed(present, ".restoring");
                if path.exists() {
                    std::fs::remove_file(&path)?;
                }
                if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                    private_folder(folder)?;
                }
                Ok(KeysFile { path, _copy: None })
            }
            Self::Database(_) => {
                let folder = tempfile::tempdir()?;
                Ok(KeysFile { path: folder.path().join(KEYS), _copy: Some(folder) })
            }
        }
    }

    /// Puts staged keys in place of existing ones.
    ///
    /// # Errors
    /// When they cannot be written: the existing keys are unchanged.
    pub(crate) async fn put(&self, staged: &KeysFile) -> Result<(), CliError> {
        match self {
            Self::File(present) => {
                set_aside(present)?;
                std::fs::rename(&staged.path, present)?;
                Ok(sync_parent(present)?)
            }
            Self::Database(table) => table.copy_in(&staged.path, true).await.map_err(|error| {
                let again = "the store is restored and its keys are not: repeat with --keys-only --replace";
                key_place(&format!("{}: {again} ({error})", self.name()))
            }),
        }
    }
}

impl KeysFile {
    /// Copies a backup's keys here.
    ///
    /// # Errors
    /// When they cannot be copied.
    pub(crate) fn fill(&self, from: &Path) -> Result<(), CliError> {
        Ok(copied(from, &self.path)?)
    }

    /// Removes a file that was staged for nothing.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub(crate) fn remove(&self) -> Result<(), CliError> {
        Ok(std::fs::remove_file(&self.path)?)
    }
}

fn refused(error: KeyError) -> CliError {
    keyring::failure(&error.into())
}

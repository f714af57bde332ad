//! The folder of a backup: its files, and the manifest that describes them.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use aws_lc_rs::digest::{Context, SHA256};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::cli::CliError;
use anamnesis_crypto::copies::KeyFileSummary;
use anamnesis_sql::copies::{Snapshot, newest_schema};

pub(crate) const MANIFEST: &str = "manifest.json";
pub(crate) const KEYS: &str = "keys";
/// The format of folders that this version writes.
const FORMAT: u32 = 1;
const BUFFER: usize = 1 << 20;

/// The description of a backup.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) format: u32,
    /// Version of the program that made it.
    pub(crate) version: String,
    /// Before the snapshot, so that everything committed until then is in it.
    pub(crate) instant: DateTime<Utc>,
    /// Absent with `--keys-only`.
    pub(crate) store: Option<Snapshot>,
    /// Absent with `--store-only`.
    pub(crate) keys: Option<KeysMark>,
    pub(crate) files: BTreeMap<String, FileMark>,
}

/// The properties of the copied key file.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct KeysMark {
    pub(crate) id: Option<Uuid>,
    pub(crate) generation: Option<u64>,
    pub(crate) patients: usize,
    pub(crate) erased: usize,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileMark {
    pub(crate) bytes: u64,
    pub(crate) sha256: String,
}

impl KeysMark {
    pub(crate) fn from_summary(known: &KeyFileSummary) -> Self {
        let erased = known.erased();
        let (id, generation) = known.stamp.unzip();
        Self { id, generation, patients: known.patients.len() - erased, erased }
    }
}

impl FileMark {
    fn read(path: &Path) -> std::io::Result<Self> {
        let mut file = File::open(path)?;
        let (mut context, mut bytes, mut buffer) = (Context::new(&SHA256), 0u64, vec![0u8; BUFFER]);
        loop {
            let length = file.read(&mut buffer)?;
            if length == 0 {
                return Ok(Self { bytes, sha256: hex::encode(context.finish()) });
            }
            bytes += length as u64;
            context.update(&buffer[..length]);
        }
    }
}

impl Manifest {
    /// Describes the files that are in the folder.
    ///
    /// # Errors
    /// When one cannot be read.
    pub(crate) fn build(
        folder: &Path,
        instant: DateTime<Utc>,
        store: Option<Snapshot>,
        keys: Option<KeysMark>,
    ) -> Result<Self, CliError> {
        let names = store.iter().flat_map(Snapshot::files).chain(keys.iter().map(|_| KEYS.to_owned()));
        let files = names.map(|name| Ok((name.clone(), FileMark::read(&folder.join(&name))?)));
        let files = files.collect::<std::io::Result<_>>()?;
        Ok(Self { format: FORMAT, version: env!("CARGO_PKG_VERSION").to_owned(), instant, store, keys, files })
    }

    /// # Errors
    /// When it cannot be written.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), CliError> {
        let text = serde_json::to_vec_pretty(self).map_err(|_| CliError::failed("the manifest cannot be written"))?;
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(folder.join(MANIFEST))?;
        file.write_all(&text)?;
        file.sync_all()?;
        File::open(folder)?.sync_all()?;
        Ok(())
    }

    /// Reads it and compares every file.
    ///
    /// # Errors
    /// Names the file that is missing, torn or changed; a newer format or schema.
    pub(crate) fn read(folder: &Path) -> Result<Self, CliError> {
        let none = || CliError::usage(format!("{} is no backup: it has no {MANIFEST}", folder.display()));
        let text = std::fs::read(folder.join(MANIFEST)).map_err(|_| none())?;
        let manifest: Self = serde_json::from_slice(&text)
            .map_err(|_| CliError::failed(format!("{MANIFEST} is damaged, or of another version")))?;
        if manifest.format > FORMAT {
            return Err(CliError::failed("the backup was made by a newer version of this program: use that one"));
        }
        if let Some(store) = &manifest.store
            && store.schema > newest_schema()
        {
            return Err(CliError::failed(format!(
                "the backup has migration {}, which this version does not know: use version {} or a newer one",
                store.schema, manifest.version
            )));
        }
        let named =
            manifest.store.iter().flat_map(Snapshot::files).chain(manifest.keys.iter().map(|_| KEYS.to_owned()));
        for name in named {
            let found = FileMark::read(&folder.join(&name)).ok();
            if found.is_none() || found.as_ref() != manifest.files.get(&name) {
                return Err(CliError::failed(format!(
                    "{name} of the backup is missing, torn or changed: its checksum is not the manifest's; use another backup"
                )));
            }
        }
        Ok(manifest)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.files.values().map(|file| file.bytes).sum()
    }

    pub(crate) fn patients(&self) -> u64 {
        let rows = |store: &Snapshot| store.tables.get("patient_profile").map_or(0, |table| table.rows);
        self.store.as_ref().map_or_else(|| self.keys.as_ref().map_or(0, |keys| keys.patients as u64), rows)
    }
}

/// Where a backup is while it is not finished.
pub(crate) fn partial(path: &Path) -> PathBuf {
    suffixed(path, ".partial")
}

pub(crate) fn suffixed(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// # Errors
/// When it cannot be made.
pub(crate) fn private_folder(path: &Path) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Makes a rename durable.
///
/// # Errors
/// When the folder cannot be synced.
pub(crate) fn sync_parent(path: &Path) -> std::io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(parent)?.sync_all()
}

/// Copies a file for its owner only, durably, to a name that is not there.
///
/// # Errors
/// When it cannot.
pub(crate) fn copied(from: &Path, to: &Path) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
    std::io::copy(&mut File::open(from)?, &mut file)?;
    file.sync_all()
}

/// Renames the file at a path together with its write-ahead log, which must never meet a new file.
///
/// # Errors
/// When it cannot be renamed.
pub(crate) fn set_aside(path: &Path) -> std::io::Result<()> {
    for ending in ["-wal", "-shm", "-journal", ""] {
        let there = suffixed(path, ending);
        if there.exists() {
            std::fs::rename(&there, suffixed(&suffixed(path, ".replaced"), ending))?;
        }
    }
    Ok(())
}

//! The watched folder, shared by independent workers. A file is claimed by one rename to a unique name. Everything after
//! that uses the claimed file by folder handle, so that neither a new file of the same name nor a link can replace it.
//!
//! ```text
//! spool/NAME                                   waiting
//! spool/.claimed/WORKER/ID.ATTEMPTS.NAME       in progress; WORKER holds a lock on .lock while it lives
//! spool/.unreadable/ID.NAME                    given up: it could not be read at any attempt
//! ```

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, mkdirat, openat, renameat_with, unlinkat};
use uuid::Uuid;

use super::spool::has_extension;

/// Folder of all claims, below the spool.
const CLAIMED: &str = ".claimed";
/// Folder below the spool for files that could not be read.
pub const UNREADABLE: &str = ".unreadable";
const LOCK: &str = ".lock";
/// Bytes of a file's own name that its claim keeps; the rest of a name's 255 bytes is for id and attempts.
const NAME_BYTES: usize = 200;

/// A file that this worker holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Stays the same when another worker takes the file over.
    pub id: Uuid,
    /// How often it was worked and came back unfinished.
    pub attempts: u32,
    /// Its name as the producer gave it, shortened where it is very long.
    pub name: String,
}

impl Claim {
    fn file_name(&self) -> String {
        format!("{}.{}.{}", self.id.simple(), self.attempts, self.name)
    }

    fn parse(file_name: &str) -> Option<Self> {
        let mut parts = file_name.splitn(3, '.');
        let id = Uuid::try_parse(parts.next()?).ok()?;
        let attempts = parts.next()?.parse().ok()?;
        Some(Self { id, attempts, name: parts.next()?.to_owned() })
    }
}

/// The contents of the folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// Files to be claimed, by name.
    pub waiting: Vec<OsString>,
    /// Entries that no worker takes: other types of files, links, folders. They stay.
    pub unknown: Vec<OsString>,
}

/// One worker's hold on the folder.
#[derive(Debug)]
pub struct SpoolFolder {
    path: PathBuf,
    spool: OwnedFd,
    own: OwnedFd,
    own_path: PathBuf,
    /// Held until the process ends, however it ends.
    _lock: File,
}

impl SpoolFolder {
    /// Opens the folder, made where it is not there, and a claim folder of this worker.
    ///
    /// # Errors
    /// When the folder is a link, is not a folder, or cannot be written to.
    pub fn open(path: &Path, worker: Uuid) -> io::Result<Self> {
        let private = |path: &Path| match fs::DirBuilder::new().mode(0o700).recursive(true).create(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        };
        private(path)?;
        let spool = folder(rustix::fs::CWD, path)?;
        let claimed = path.join(CLAIMED);
        private(&claimed)?;
        folder(&spool, Path::new(CLAIMED))?;
        // The lock is held before the folder has a name that other workers read.
        let hidden = claimed.join(format!(".new-{}", worker.simple()));
        private(&hidden)?;
        let lock = File::options().write(true).create_new(true).open(hidden.join(LOCK))?;
        lock.lock()?;
        let own_path = claimed.join(worker.simple().to_string());
        fs::rename(&hidden, &own_path)?;
        let own = folder(rustix::fs::CWD, &own_path)?;
        Ok(Self { path: path.to_owned(), spool, own, own_path, _lock: lock })
    }

    /// Waiting files, and files that no worker takes. Names that begin with a dot are still being written.
    ///
    /// # Errors
    /// When the folder cannot be listed.
    pub fn listing(&self) -> io::Result<Listing> {
        let mut listing = Listing::default();
        for entry in self.path.read_dir()? {
            let entry = entry?;
            let name = entry.file_name();
            if name.as_bytes().starts_with(b".") {
                continue;
            }
            let takes = entry.file_type().is_ok_and(|kind| kind.is_file()) && has_extension(Path::new(&name));
            if takes { listing.waiting.push(name) } else { listing.unknown.push(name) }
        }
        listing.waiting.sort();
        Ok(listing)
    }

    /// Claims a waiting file; `None` where another worker was faster.
    ///
    /// # Errors
    /// When the file cannot be renamed: the folder is not ours to write to.
    pub fn claim(&self, name: &OsStr, id: Uuid) -> io::Result<Option<Claim>> {
        let claim = Claim { id, attempts: 0, name: shortened(&name.to_string_lossy()) };
        match renameat_with(&self.spool, name, &self.own, claim.file_name(), RenameFlags::NOREPLACE) {
            Ok(()) => Ok(Some(claim)),
            Err(rustix::io::Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Files that this worker holds, oldest claim first.
    ///
    /// # Errors
    /// When its claim folder cannot be listed.
    pub fn held(&self) -> io::Result<Vec<Claim>> {
        let mut held: Vec<Claim> = Vec::new();
        for entry in self.own_path.read_dir()? {
            held.extend(Claim::parse(&entry?.file_name().to_string_lossy()));
        }
        held.sort_by_key(|claim| claim.id);
        Ok(held)
    }

    /// How many files workers hold, living or dead.
    ///
    /// # Errors
    /// When the folder of claims cannot be listed.
    pub fn claimed(&self) -> io::Result<usize> {
        let mut claimed = 0;
        for entry in self.path.join(CLAIMED).read_dir()? {
            // A folder may disappear while it is listed.
            let Ok(files) = entry?.path().read_dir() else { continue };
            claimed +=
                files.flatten().filter(|file| Claim::parse(&file.file_name().to_string_lossy()).is_some()).count();
        }
        Ok(claimed)
    }

    /// Takes over the files of workers that no longer live: whose lock is free. Says how many.
    ///
    /// # Errors
    /// When the folder of claims cannot be listed.
    pub fn take_over(&self) -> io::Result<usize> {
        let mut taken = 0;
        for entry in self.path.join(CLAIMED).read_dir()? {
            let path = entry?.path();
            let hidden = path.file_name().is_none_or(|name| name.as_bytes().starts_with(b"."));
            if hidden || path == self.own_path {
                continue;
            }
            taken += self.inherit(&path).unwrap_or(0);
        }
        Ok(taken)
    }

    /// The files of one worker, where it is dead.
    fn inherit(&self, path: &Path) -> io::Result<usize> {
        let theirs = folder(rustix::fs::CWD, path)?;
        let lock = openat(&theirs, LOCK, OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
        let lock = File::from(lock);
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(0),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let mut taken = 0;
        for entry in path.read_dir()? {
            let name = entry?.file_name();
            if Claim::parse(&name.to_string_lossy()).is_some() {
                renameat_with(&theirs, &name, &self.own, &name, RenameFlags::NOREPLACE)?;
                taken += 1;
            }
        }
        unlinkat(&theirs, LOCK, AtFlags::empty())?;
        fs::remove_dir(path)?;
        Ok(taken)
    }

    /// The claimed file, for reading, from here on readable by its owner only.
    ///
    /// # Errors
    /// When it is a link or no file, or cannot be read.
    pub fn read(&self, claim: &Claim) -> io::Result<File> {
        let file = regular(&self.own, Path::new(&claim.file_name()))?;
        // Another user's file cannot be changed; its folder is closed to others all the same.
        let _ = file.set_permissions(fs::Permissions::from_mode(0o600));
        Ok(file)
    }

    /// Counts one more attempt in the file's name, so that a count outlives the process.
    ///
    /// # Errors
    /// When the file cannot be renamed.
    pub fn count_attempt(&self, claim: &Claim) -> io::Result<Claim> {
        let next = Claim { attempts: claim.attempts.saturating_add(1), ..claim.clone() };
        renameat_with(&self.own, claim.file_name(), &self.own, next.file_name(), RenameFlags::NOREPLACE)?;
        Ok(next)
    }

    /// Where a file that cannot be read is put, as seen from the spool.
    pub fn unreadable_name(claim: &Claim) -> String {
        format!("{UNREADABLE}/{}.{}", claim.id.simple(), claim.name)
    }

    /// Moves an unreadable file away, unchanged, for a person to inspect.
    ///
    /// # Errors
    /// When it cannot be renamed.
    pub fn quarantine_unreadable(&self, claim: &Claim) -> io::Result<()> {
        match mkdirat(&self.spool, UNREADABLE, Mode::RWXU) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let unreadable = folder(&self.spool, Path::new(UNREADABLE))?;
        let name = format!("{}.{}", claim.id.simple(), claim.name);
        Ok(renameat_with(&self.own, claim.file_name(), &unreadable, name, RenameFlags::NOREPLACE)?)
    }

    /// Removes a file whose every message is stored or quarantined.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove(&self, claim: &Claim) -> io::Result<()> {
        Ok(unlinkat(&self.own, claim.file_name(), AtFlags::empty())?)
    }
}

/// A folder's handle; refuses a link in its place.
pub(super) fn folder(at: impl std::os::fd::AsFd, path: &Path) -> io::Result<OwnedFd> {
    Ok(openat(at, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?)
}

/// A regular file, opened without following a link or waiting for a pipe.
pub(super) fn regular(at: impl std::os::fd::AsFd, path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(at, path, flags, Mode::empty())?);
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

/// The end of a name, with its extension.
fn shortened(name: &str) -> String {
    let from = name.char_indices().map(|(at, _)| at).find(|at| name.len() - at <= NAME_BYTES).unwrap_or(0);
    name[from..].to_owned()
}

//! The disks that the program writes to, and the space on them.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::statvfs;
use secrecy::ExposeSecret as _;

use anamnesis_config::Settings;
use anamnesis_observability::metrics::labels;

/// A disk that a setting refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MonitoredDisk {
    /// The setting.
    pub(crate) key: &'static str,
    pub(crate) of: labels::Disk,
    /// Bytes that a user without privileges may still write.
    pub(crate) free: u64,
    /// All bytes.
    pub(crate) size: u64,
}

/// Each disk once, by the first setting that refers to it. Disks that cannot be inspected are left out.
pub(crate) fn inspect(settings: &Settings) -> Vec<MonitoredDisk> {
    let mut named: Vec<(&'static str, labels::Disk, PathBuf)> = Vec::new();
    if settings.store.url.expose_secret().is_empty() {
        named.push(("store.path", labels::Disk::Store, settings.store.path.clone()));
    }
    if settings.store.keys_url.expose_secret().is_empty() {
        named.push(("store.keys", labels::Disk::Keys, settings.store.keys.clone()));
    }
    named.push(("worker.spool", labels::Disk::Spool, settings.worker.spool.clone()));
    named.push(("audit.head_file", labels::Disk::AuditHead, settings.audit.head_file.clone()));
    let mut seen = BTreeSet::new();
    let mut disks = Vec::new();
    for (key, of, path) in named.into_iter().filter(|(_, _, path)| !path.as_os_str().is_empty()) {
        let found = path.ancestors().find_map(|at| {
            let at = if at.as_os_str().is_empty() { Path::new(".") } else { at };
            Some((at.to_owned(), std::fs::metadata(at).ok()?))
        });
        let Some((there, about)) = found else { continue };
        let Ok(disk) = statvfs(&there) else { continue };
        if seen.insert(about.dev()) {
            let (free, size) =
                (disk.f_bavail.saturating_mul(disk.f_frsize), disk.f_blocks.saturating_mul(disk.f_frsize));
            disks.push(MonitoredDisk { key, of, free, size });
        }
    }
    disks
}

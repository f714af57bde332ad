//! Files that only their owner reads.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::KeyError;

/// Writes a new file that only its owner reads, synced.
///
/// # Errors
/// [`KeyError::Exists`] where there is a file already; [`KeyError::File`].
pub fn private_file(path: &Path, bytes: &[u8]) -> Result<(), KeyError> {
    let place = path.display().to_string();
    let mut file = private_options().create_new(true).open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => KeyError::Exists { place: place.clone() },
        _ => KeyError::File { place: place.clone() },
    })?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(|_| KeyError::File { place })
}

/// `path` with `suffix` after its whole name.
pub(crate) fn suffixed(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Options to write a file of mode 0600.
pub(crate) fn private_options() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Which file a path names at this moment (device, inode); `None` where there is none.
pub(crate) fn identity(path: &Path) -> Option<(u64, u64)> {
    let metadata = fs::metadata(path).ok()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        Some((metadata.dev(), metadata.ino()))
    }
    #[cfg(not(unix))]
    {
        drop(metadata);
        Some((0, 0))
    }
}

//! A root key of this machine: 32 bytes from a file that only its owner reads, or from the environment.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use zeroize::Zeroizing;

use super::RootKey;
use crate::KeyError;
use crate::cipher::{aead, derive, open_key, random_key, seal};
use crate::files::{private_options, suffixed};
use anamnesis_core::clock::Entropy;

/// Wraps with AES-256-GCM under a key derived from the root.
pub struct LocalRoot {
    place: String,
    root: Zeroizing<[u8; 32]>,
    entropy: Arc<dyn Entropy>,
}

impl std::fmt::Debug for LocalRoot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LocalRoot").field("place", &self.place).finish_non_exhaustive()
    }
}

impl LocalRoot {
    /// `place` names where the bytes came from.
    pub fn new(place: impl Into<String>, root: Zeroizing<[u8; 32]>, entropy: Arc<dyn Entropy>) -> Self {
        Self { place: place.into(), root, entropy }
    }

    /// Reads the root from its file: 64 hexadecimal digits.
    ///
    /// # Errors
    /// [`KeyError::NoMaster`] without a file, [`KeyError::Exposed`] when others may read it, [`KeyError::BadMaster`].
    pub fn read(path: &Path, entropy: Arc<dyn Entropy>) -> Result<Self, KeyError> {
        let place = path.display().to_string();
        let metadata = fs::metadata(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => KeyError::NoMaster { place: place.clone() },
            _ => KeyError::File { place: place.clone() },
        })?;
        #[cfg(unix)]
        if is_exposed(&metadata) {
            return Err(KeyError::Exposed { place });
        }
        let text = Zeroizing::new(fs::read_to_string(path).map_err(|_| KeyError::File { place: place.clone() })?);
        let root = parse_root(&text).ok_or_else(|| KeyError::BadMaster { place: place.clone() })?;
        Ok(Self { place, root, entropy })
    }

    /// The bytes themselves: what an escrow key is used as.
    pub fn secret(&self) -> Zeroizing<[u8; 32]> {
        self.root.clone()
    }

    /// Makes the root's file with fresh random bytes, for its owner only: written to a temporary name, synced, then
    /// linked into place. Where another process was first, its file is read.
    ///
    /// # Errors
    /// As [`LocalRoot::read`], and when the file cannot be made.
    pub fn create(path: &Path, entropy: Arc<dyn Entropy>) -> Result<Self, KeyError> {
        let failed = |_| KeyError::File { place: path.display().to_string() };
        let mut suffix = [0u8; 8];
        entropy.fill(&mut suffix);
        let temporary = suffixed(path, &format!(".{}", hex::encode(suffix)));
        let text = Zeroizing::new(hex::encode(random_key(entropy.as_ref()).as_ref()));
        let mut file = private_options().create_new(true).open(&temporary).map_err(failed)?;
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
        let linked = fs::hard_link(&temporary, path);
        fs::remove_file(&temporary).map_err(failed)?;
        match linked {
            Err(error) if !path.exists() => Err(failed(error)),
            _ => Self::read(path, entropy),
        }
    }
}

/// Readable by others. A file of root's may be its group's too: a pod's secrets are mounted like that.
#[cfg(unix)]
fn is_exposed(about: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    about.mode() & if about.uid() == 0 { 0o037 } else { 0o077 } != 0
}

#[async_trait]
impl RootKey for LocalRoot {
    fn name(&self) -> String {
        format!("local:{}", self.place)
    }

    async fn wrap(&self, context: &[u8], plain: &[u8; 32]) -> Result<Vec<u8>, KeyError> {
        Ok(seal(&aead(&derive(&self.root, "root.wrap")), context, plain, self.entropy.as_ref()))
    }

    async fn unwrap(&self, context: &[u8], wrapped: &[u8]) -> Result<Zeroizing<[u8; 32]>, KeyError> {
        open_key(&aead(&derive(&self.root, "root.wrap")), context, wrapped)
            .map_err(|_| KeyError::WrongMaster { place: self.place.clone() })
    }

    fn legacy_store_key(&self) -> Option<Zeroizing<[u8; 32]>> {
        Some(self.root.clone())
    }
}

/// A root key as 64 hexadecimal digits; `None` for anything else.
pub fn parse_root(text: &str) -> Option<Zeroizing<[u8; 32]>> {
    let mut root = Zeroizing::new([0u8; 32]);
    hex::decode_to_slice(text.trim(), root.as_mut()).ok()?;
    Some(root)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anamnesis_core::clock::SeededEntropy;

    fn entropy() -> Arc<dyn Entropy> {
        Arc::new(SeededEntropy::new(1))
    }

    #[tokio::test]
    async fn what_a_root_wraps_opens_under_it_and_its_context_alone() {
        let root = LocalRoot::new("a", Zeroizing::new([1; 32]), entropy());
        let wrapped = root.wrap(b"id", &[7; 32]).await.unwrap();
        assert_eq!(*root.unwrap(b"id", &wrapped).await.unwrap(), [7; 32]);
        assert!(!wrapped.windows(32).any(|part| part == [7; 32]), "nothing in clear");
        let wrong = Err(KeyError::WrongMaster { place: "a".to_owned() });
        assert_eq!(root.unwrap(b"other", &wrapped).await.map(|_| ()), wrong, "another key store");
        let other = LocalRoot::new("a", Zeroizing::new([2; 32]), entropy());
        assert_eq!(other.unwrap(b"id", &wrapped).await.map(|_| ()), wrong, "another root");
        assert_eq!(root.unwrap(b"id", &wrapped[..20]).await.map(|_| ()), wrong, "cut short");
    }

    #[cfg(unix)]
    #[test]
    fn a_root_file_belongs_to_its_owner_and_is_made_once() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("root");
        let place = path.display().to_string();
        assert_eq!(LocalRoot::read(&path, entropy()).unwrap_err(), KeyError::NoMaster { place: place.clone() });
        let made = LocalRoot::create(&path, entropy()).unwrap();
        let again = LocalRoot::create(&path, Arc::new(SeededEntropy::new(2))).unwrap();
        assert_eq!(made.root, again.root, "who comes second reads the first one's");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file is left");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(LocalRoot::read(&path, entropy()).unwrap_err(), KeyError::Exposed { place: place.clone() });
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        for bad in ["", "abc", &"g".repeat(64), &"0".repeat(62)] {
            fs::write(&path, bad).unwrap();
            assert_eq!(LocalRoot::read(&path, entropy()).unwrap_err(), KeyError::BadMaster { place: place.clone() });
        }
    }
}

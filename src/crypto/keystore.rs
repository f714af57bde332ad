//! Where data keys live: never in the store's database nor in its backups. The embedded key store is a file of its own
//! beside the store (mode 0600, made at first start), each data key wrapped under a master key from a second file or
//! from a secret; production puts an adapter over a KMS or a separate database behind the same trait.

use std::collections::HashMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use sqlx::Row as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous};
use uuid::Uuid;
use zeroize::Zeroizing;

use super::{PatientKeys, PlatformKey};
use crate::clock::{Clock, Entropy, micros};
use crate::domain::ids::{OrgId, PatientId};
use crate::domain::scope::Scope;

/// Why there is no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The key store cannot be reached: try again.
    #[error("the key store is not available for now")]
    Transient,
    /// The patient was erased: there will never be a key again.
    #[error("the patient was erased and the key destroyed")]
    Destroyed,
    /// The master key does not open this key store.
    #[error("the master key does not open this key store: is it the one the store was made with?")]
    WrongMaster,
    #[error("the key file is readable by others: set its mode to 0600")]
    Exposed,
    #[error("the master key must be 64 hexadecimal digits")]
    BadMaster,
    #[error("the key file cannot be made or read")]
    File,
}

/// Keys of patients and of the platform.
#[async_trait]
pub trait KeyStore: Send + Sync {
    fn platform(&self) -> &PlatformKey;

    /// Keys of the patients that have any; those without are absent.
    async fn find(&self, scopes: &[Scope]) -> Result<HashMap<Scope, Arc<PatientKeys>>, KeyError>;

    /// Keys of all these patients, made where there were none. Erased patients are absent from the answer.
    async fn ensure(&self, scopes: &[Scope]) -> Result<HashMap<Scope, Arc<PatientKeys>>, KeyError>;

    /// Destroys a patient's key for good. Whatever is sealed under it is unreadable from now on, wherever it lies.
    async fn destroy(&self, scope: Scope) -> Result<(), KeyError>;
}

/// The embedded key store.
pub struct LocalKeyStore {
    pool: SqlitePool,
    platform: PlatformKey,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl std::fmt::Debug for LocalKeyStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LocalKeyStore").finish_non_exhaustive()
    }
}

const SCHEMA: &str = "CREATE TABLE IF NOT EXISTS data_key (org_id BLOB NOT NULL, patient_id BLOB NOT NULL, wrapped BLOB, \
     created_at INTEGER NOT NULL, destroyed_at INTEGER, PRIMARY KEY (org_id, patient_id), \
     CHECK ((wrapped IS NULL) = (destroyed_at IS NOT NULL))) STRICT";
// Rows of the primary key: the number of other patients costs nothing.
const FIND: &str = "SELECT org_id, patient_id, wrapped FROM data_key WHERE (org_id, patient_id) IN \
     (SELECT unhex(value->>0), unhex(value->>1) FROM json_each($1))";
const MAKE: &str =
    "INSERT INTO data_key (org_id, patient_id, wrapped, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING";
const DESTROY: &str = "INSERT INTO data_key (org_id, patient_id, wrapped, created_at, destroyed_at) VALUES ($1, $2, NULL, $3, $3) \
     ON CONFLICT (org_id, patient_id) DO UPDATE SET wrapped = NULL, destroyed_at = coalesce(destroyed_at, excluded.destroyed_at)";

impl LocalKeyStore {
    /// Opens or makes the key store at `path`. Without `master`, the master key is read from `path` + `.master`, made
    /// at first start.
    ///
    /// # Errors
    /// [`KeyError::Exposed`] when others may read the master key's file.
    pub async fn open(
        path: &Path,
        master: Option<[u8; 32]>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Result<Self, KeyError> {
        let master = match master {
            Some(master) => master,
            None => master_file(&with_suffix(path, ".master"), entropy.as_ref())?,
        };
        private_file(path)?;
        let options = SqliteConnectOptions::new().filename(path);
        Self::connect(options, master, clock, entropy).await
    }

    /// A key store that vanishes with the process.
    pub async fn in_memory(clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Result<Self, KeyError> {
        let mut master = [0u8; 32];
        entropy.fill(&mut master);
        Self::connect(SqliteConnectOptions::new().in_memory(true), master, clock, entropy).await
    }

    async fn connect(
        options: SqliteConnectOptions,
        master: [u8; 32],
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Result<Self, KeyError> {
        // No write-ahead log and no lasting journal: a destroyed key must not survive in a second file.
        let options = options
            .journal_mode(SqliteJournalMode::Delete)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(std::time::Duration::from_secs(30))
            .pragma("secure_delete", "ON");
        let pool = SqlitePoolOptions::new()
            .max_connections(1)
            .idle_timeout(None)
            .max_lifetime(None)
            .connect_with(options)
            .await
            .map_err(|_| KeyError::Transient)?;
        sqlx::query(SCHEMA).execute(&pool).await.map_err(|_| KeyError::Transient)?;
        Ok(Self { pool, platform: PlatformKey::derive(master), clock, entropy })
    }

    /// Wrapped keys by scope; `None` marks an erased patient.
    async fn read(&self, scopes: &[Scope]) -> Result<HashMap<Scope, Option<Vec<u8>>>, KeyError> {
        let pair = |s: &Scope| [s.org().0.simple().to_string(), s.patient().0.simple().to_string()];
        let list = serde_json::json!(scopes.iter().map(pair).collect::<Vec<_>>()).to_string();
        let rows = sqlx::query(FIND).bind(list).fetch_all(&self.pool).await.map_err(|_| KeyError::Transient)?;
        let mut found = HashMap::with_capacity(rows.len());
        for row in rows {
            let id = |at: usize| row.try_get::<Vec<u8>, _>(at).ok().and_then(|b| Uuid::from_slice(&b).ok());
            let (Some(org), Some(patient)) = (id(0), id(1)) else { return Err(KeyError::File) };
            let scope = Scope::new(OrgId(org), PatientId(patient)).map_err(|_| KeyError::File)?;
            found.insert(scope, row.try_get::<Option<Vec<u8>>, _>(2).map_err(|_| KeyError::File)?);
        }
        Ok(found)
    }

    fn derive(&self, scope: Scope, wrapped: &[u8]) -> Result<Arc<PatientKeys>, KeyError> {
        let data_key = self.platform.unwrap(scope, wrapped).map_err(|_| KeyError::WrongMaster)?;
        Ok(Arc::new(PatientKeys::derive(scope, &data_key)))
    }

    /// Keys of those who were not erased.
    fn opened(&self, found: HashMap<Scope, Option<Vec<u8>>>) -> Result<HashMap<Scope, Arc<PatientKeys>>, KeyError> {
        let there = found.into_iter().filter_map(|(scope, wrapped)| Some((scope, wrapped?)));
        there.map(|(scope, wrapped)| Ok((scope, self.derive(scope, &wrapped)?))).collect()
    }
}

#[async_trait]
impl KeyStore for LocalKeyStore {
    fn platform(&self) -> &PlatformKey {
        &self.platform
    }

    async fn find(&self, scopes: &[Scope]) -> Result<HashMap<Scope, Arc<PatientKeys>>, KeyError> {
        self.opened(self.read(scopes).await?)
    }

    async fn ensure(&self, scopes: &[Scope]) -> Result<HashMap<Scope, Arc<PatientKeys>>, KeyError> {
        let known = self.read(scopes).await?;
        let missing: Vec<Scope> = scopes.iter().copied().filter(|s| !known.contains_key(s)).collect();
        let known = if missing.is_empty() {
            known
        } else {
            let mut tx = self.pool.begin_with("BEGIN IMMEDIATE").await.map_err(|_| KeyError::Transient)?;
            for scope in missing {
                let mut data_key = Zeroizing::new([0u8; 32]);
                self.entropy.fill(data_key.as_mut());
                // Another process may have been first: then its key stays and ours is forgotten.
                sqlx::query(MAKE)
                    .bind(scope.org().0.as_bytes().to_vec())
                    .bind(scope.patient().0.as_bytes().to_vec())
                    .bind(self.platform.wrap(scope, &data_key, self.entropy.as_ref()))
                    .bind(micros(self.clock.now()))
                    .execute(&mut *tx)
                    .await
                    .map_err(|_| KeyError::Transient)?;
            }
            tx.commit().await.map_err(|_| KeyError::Transient)?;
            self.read(scopes).await?
        };
        self.opened(known)
    }

    async fn destroy(&self, scope: Scope) -> Result<(), KeyError> {
        sqlx::query(DESTROY)
            .bind(scope.org().0.as_bytes().to_vec())
            .bind(scope.patient().0.as_bytes().to_vec())
            .bind(micros(self.clock.now()))
            .execute(&self.pool)
            .await
            .map_err(|_| KeyError::Transient)?;
        Ok(())
    }
}

/// A master key as 64 hexadecimal digits.
///
/// # Errors
/// [`KeyError::BadMaster`] for anything else.
pub fn parse_master(text: &str) -> Result<[u8; 32], KeyError> {
    let bytes = Zeroizing::new(hex::decode(text.trim()).map_err(|_| KeyError::BadMaster)?);
    bytes.as_slice().try_into().map_err(|_| KeyError::BadMaster)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn private_options() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes the file for its owner only, before SQLite would make it for everybody.
fn private_file(path: &Path) -> Result<(), KeyError> {
    private_options().create(true).truncate(false).open(path).map(drop).map_err(|_| KeyError::File)
}

/// Reads the master key, or makes one: written to a temporary name, synced, then linked into place, so that of two
/// first starts at once one wins and both read the same key.
fn master_file(path: &Path, entropy: &dyn Entropy) -> Result<[u8; 32], KeyError> {
    if !path.exists() {
        let mut suffix = [0u8; 8];
        entropy.fill(&mut suffix);
        let temporary = with_suffix(path, &format!(".{}", hex::encode(suffix)));
        let mut master = Zeroizing::new([0u8; 32]);
        entropy.fill(master.as_mut());
        let text = Zeroizing::new(hex::encode(master.as_ref()));
        let mut file = private_options().create_new(true).open(&temporary).map_err(|_| KeyError::File)?;
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(|_| KeyError::File)?;
        let linked = fs::hard_link(&temporary, path);
        fs::remove_file(&temporary).map_err(|_| KeyError::File)?;
        if linked.is_err() && !path.exists() {
            return Err(KeyError::File);
        }
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(path).map_err(|_| KeyError::File)?.permissions().mode();
        if mode & 0o077 != 0 {
            return Err(KeyError::Exposed);
        }
    }
    parse_master(&Zeroizing::new(fs::read_to_string(path).map_err(|_| KeyError::File)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{SeededEntropy, SystemClock};
    use crate::crypto::Cell;

    fn scope(patient: u128) -> Scope {
        Scope::new(OrgId(Uuid::from_u128(1)), PatientId(Uuid::from_u128(patient))).unwrap()
    }

    async fn open(path: &Path, seed: u64) -> Result<LocalKeyStore, KeyError> {
        LocalKeyStore::open(path, None, Arc::new(SystemClock), Arc::new(SeededEntropy::new(seed))).await
    }

    const CELL: Cell = Cell { table: "memory", row: Uuid::from_u128(5), column: "content" };

    #[tokio::test]
    async fn a_key_survives_a_restart_and_is_not_in_the_clear_in_any_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("keys");
        let first = open(&path, 1).await.unwrap();
        let keys = first.ensure(&[scope(1), scope(2)]).await.unwrap();
        let sealed = keys[&scope(1)].seal(CELL, b"text", &SeededEntropy::new(3));
        let second = open(&path, 2).await.unwrap();
        let again = second.ensure(&[scope(1)]).await.unwrap();
        assert_eq!(again[&scope(1)].open(CELL, &sealed).unwrap(), b"text");
        assert!(second.find(&[scope(9)]).await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn a_destroyed_key_never_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        let store = open(&dir.path().join("keys"), 1).await.unwrap();
        store.ensure(&[scope(1)]).await.unwrap();
        store.destroy(scope(1)).await.unwrap();
        assert!(store.ensure(&[scope(1)]).await.unwrap().is_empty());
        assert!(store.find(&[scope(1)]).await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn another_master_key_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("keys");
        open(&path, 1).await.unwrap().ensure(&[scope(1)]).await.unwrap();
        let other = LocalKeyStore::open(&path, Some([7; 32]), Arc::new(SystemClock), Arc::new(SeededEntropy::new(1)));
        let error = other.await.unwrap().find(&[scope(1)]).await.unwrap_err();
        assert_eq!(error, KeyError::WrongMaster);
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn key_files_belong_to_their_owner_and_an_exposed_one_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("keys");
        open(&path, 1).await.unwrap();
        let master = with_suffix(&path, ".master");
        for file in [&path, &master] {
            assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
        }
        fs::set_permissions(&master, fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(open(&path, 1).await.unwrap_err(), KeyError::Exposed);
    }
}

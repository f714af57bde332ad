//! The schema of an embedded store: who may change it, and when. Every program with the file open holds a shared lock
//! on a file next to it. A migration of a store with data needs the exclusive lock, after a copy. So a newer program
//! never changes the schema under a running older one.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlx::migrate::{MigrateError, Migrator};
use sqlx::pool::PoolConnection;
use sqlx::sqlite::SqlitePool;
use sqlx::{Connection as _, Sqlite};

use super::sqlite::{PAUSE, TRIES, error};
use super::{DbError, SchemaState};
use anamnesis_core::failpoints;

static MIGRATIONS: Migrator = sqlx::migrate!("../../migrations/sqlite");
/// Attempts at the exclusive lock: ten seconds. Programs that start at the same time finish within that.
const TRIES_ALONE: u32 = 200;

/// The shared lock of a program that has the store open; given back when it is dropped.
#[derive(Debug, Clone)]
pub(super) struct SchemaLock(#[allow(dead_code)] Arc<File>);

/// The file of the lock, next to the store.
fn lock_file(store: &Path) -> PathBuf {
    with_suffix(store, ".lock")
}

/// The copy that is made before a migration, next to the store; the next migration replaces it.
fn copy_file(store: &Path) -> PathBuf {
    with_suffix(store, ".before-migration")
}

fn with_suffix(store: &Path, suffix: &str) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// A file that only its owner may read.
fn private(path: &Path) -> Result<File, DbError> {
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(path)
        .map_err(|_| DbError::Transient("disk"))
}

async fn obtain(file: &File, tries: u32, ask: impl Fn(&File) -> Result<(), TryLockError>) -> Result<bool, DbError> {
    for _ in 0..tries {
        match ask(file) {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => tokio::time::sleep(PAUSE).await,
            Err(TryLockError::Error(_)) => return Err(DbError::Transient("disk")),
        }
    }
    Ok(false)
}

/// Shares the schema with other programs of this version.
///
/// # Errors
/// [`DbError::Transient`] during a migration, or if no file can be written next to the store.
pub(super) async fn share(store: &Path) -> Result<SchemaLock, DbError> {
    let file = private(&lock_file(store))?;
    if !obtain(&file, TRIES, File::try_lock_shared).await? {
        return Err(DbError::Transient("migration"));
    }
    Ok(SchemaLock(Arc::new(file)))
}

/// Brings the schema up to date. The first process creates a new file, under its write lock, while no program uses it.
/// A file with data is migrated by one program with the exclusive lock, after a copy. One that is up to date is only
/// checked.
///
/// # Errors
/// [`DbError::InUse`] while another program has an older schema open.
pub(crate) async fn migrate(
    writer: &SqlitePool,
    store: Option<&Path>,
    lock: Option<&SchemaLock>,
) -> Result<(), DbError> {
    let migrations = migrations();
    let mut connection = writer.acquire().await.map_err(|e| error(&e))?;
    let known = migrations.iter().count();
    let applied = applied(&mut connection).await;
    if applied >= known || failpoints::is("migrate_unlocked") {
        return migrations.run_direct(None, &mut *connection, false).await.map_err(|e| refused(&e));
    }
    let (Some(store), Some(SchemaLock(file))) = (store, lock) else { return run(&migrations, &mut connection).await };
    if applied == 0 {
        return run(&migrations, &mut connection).await;
    }
    file.unlock().map_err(|_| DbError::Transient("disk"))?;
    let alone = obtain(file, TRIES_ALONE, File::try_lock).await? || failpoints::is("migrate_under_others");
    if alone {
        copy(&mut connection, store).await?;
        run(&migrations, &mut connection).await?;
    }
    if !obtain(file, TRIES, File::try_lock_shared).await? {
        return Err(DbError::Transient("migration"));
    }
    // Another process of this version may have been faster.
    if self::applied(&mut connection).await < known { Err(DbError::InUse) } else { Ok(()) }
}

/// All of it is one transaction under the file's write lock, since the library takes none on SQLite.
async fn run(migrations: &Migrator, connection: &mut PoolConnection<Sqlite>) -> Result<(), DbError> {
    let mut tx = connection.begin_with("BEGIN IMMEDIATE").await.map_err(|e| error(&e))?;
    migrations.run_direct(None, &mut *tx, false).await.map_err(|e| refused(&e))?;
    tx.commit().await.map_err(|e| error(&e))
}

async fn applied(connection: &mut PoolConnection<Sqlite>) -> usize {
    let counted = sqlx::query_scalar("SELECT count(*) FROM _sqlx_migrations").fetch_one(&mut **connection).await;
    usize::try_from(counted.unwrap_or(0i64)).unwrap_or(0)
}

/// A consistent copy, whole or not there at all, which only its owner may read.
async fn copy(connection: &mut PoolConnection<Sqlite>, store: &Path) -> Result<(), DbError> {
    let (kept, draft) = (copy_file(store), with_suffix(store, ".before-migration.draft"));
    let disk = |_| DbError::Transient("disk");
    let _ = std::fs::remove_file(&draft);
    drop(private(&draft)?);
    let copied = sqlx::query("VACUUM INTO ?").bind(draft.to_string_lossy().into_owned());
    copied.execute(&mut **connection).await.map_err(|e| error(&e))?;
    File::open(&draft).and_then(|file| file.sync_all()).map_err(disk)?;
    std::fs::rename(&draft, &kept).map_err(disk)
}

/// The migrations of this program. In builds with debug assertions `ANAMNESIS_SCHEMA` makes an older program of it.
fn migrations() -> Migrator {
    let mut known = Migrator { migrations: MIGRATIONS.migrations.clone(), ..Migrator::DEFAULT };
    if let Some(last) = failpoints::schema() {
        known.migrations = known.iter().filter(|one| one.version <= last).cloned().collect::<Vec<_>>().into();
    }
    known
}

/// How a file with these migrations (version, success, checksum) compares with this program.
pub(super) fn compared(applied: &[(i64, bool, Vec<u8>)]) -> SchemaState {
    let known = migrations();
    for (version, success, checksum) in applied {
        match known.iter().find(|one| one.version == *version) {
            None => return SchemaState::Newer(*version),
            Some(one) if *one.checksum != **checksum || !success => return SchemaState::Changed(*version),
            Some(_) => {}
        }
    }
    let missing = known.iter().map(|one| one.version).filter(|v| !applied.iter().any(|(a, ..)| a == v));
    match missing.collect::<Vec<_>>() {
        missing if missing.is_empty() => SchemaState::Current,
        missing => SchemaState::Behind(missing),
    }
}

/// Newest migration that this program knows.
pub(super) fn newest() -> i64 {
    MIGRATIONS.iter().map(|migration| migration.version).max().unwrap_or(0)
}

fn refused(why: &MigrateError) -> DbError {
    match why {
        MigrateError::VersionMissing(version) => DbError::Newer(*version),
        MigrateError::VersionMismatch(version) | MigrateError::Dirty(version) => DbError::Changed(*version),
        MigrateError::Execute(inner) | MigrateError::ExecuteMigration(inner, _) => error(inner),
        _ => DbError::Schema,
    }
}

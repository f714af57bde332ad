//! The schema of the server: who may change it, and what a worker requires.
//!
//! Migrations run in one dedicated command and connection (`anamnesis migrate`). The lock is polled and never waited
//! for: a waiting session holds a snapshot, and `CREATE INDEX CONCURRENTLY` waits for every snapshot, which would be a
//! deadlock.

use std::sync::LazyLock;
use std::time::Duration;

use sqlx::migrate::Migrator;
use sqlx::postgres::PgConnection;
use sqlx::{Connection as _, Executor as _, Row as _};

use super::super::options::PostgresOptions;
use super::super::{DbError, SchemaState};
use super::ann_index::change;
use super::durability;
use super::migration_steps;
use super::rows::error;

/// Our own lock, because sqlx's would wait.
static MIGRATIONS: LazyLock<Migrator> = LazyLock::new(|| {
    let mut migrations = sqlx::migrate!("../../migrations/postgres");
    migrations.set_locking(false);
    migrations
});
static GRANTS: &str = include_str!("../../../../migrations/postgres/grants.sql");

/// "anamnesi" in ASCII.
const LOCK: i64 = 0x616e_616d_6e65_7369;
const POLL: Duration = Duration::from_millis(100);
/// Migrations of a large store take long, and other migrating programs wait for the lock meanwhile.
const PATIENCE: Duration = Duration::from_secs(1_800);

/// The result of a migration run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Applied(pub Vec<i64>);

/// A connection outside the pool. It sets no startup parameters, because a pooler refuses unknown ones.
pub(crate) async fn connect(options: &PostgresOptions) -> Result<PgConnection, DbError> {
    tokio::time::timeout(options.acquire_timeout, PgConnection::connect_with(&options.connect))
        .await
        .map_err(|_| DbError::Transient("connection"))?
        .map_err(|e| error(&e))
}

/// One whose names are those of the schema, for the session of an owner.
async fn connect_within(options: &PostgresOptions) -> Result<PgConnection, DbError> {
    let mut connection = connect(options).await?;
    connection.execute("SET search_path = anamnesis, public").await.map_err(|e| error(&e))?;
    Ok(connection)
}

/// Brings the schema up to date, as the owner.
///
/// # Errors
/// [`DbError::Unprepared`] before `roles.sql` has run, [`DbError::Newer`] for a schema of a newer program.
pub(crate) async fn migrate(options: &PostgresOptions) -> Result<Applied, DbError> {
    migrate_to(options, None).await
}

/// The same up to a migration, in a database without tables only: others are left as they are.
///
/// # Errors
/// As [`migrate`].
pub(crate) async fn migrate_to(options: &PostgresOptions, target: Option<i64>) -> Result<Applied, DbError> {
    migrate_by(options, &MIGRATIONS, target).await
}

/// The same with other migrations than this program's, for tests of how they are applied.
///
/// # Errors
/// As [`migrate`].
pub(crate) async fn migrate_by(
    options: &PostgresOptions,
    migrations: &Migrator,
    target: Option<i64>,
) -> Result<Applied, DbError> {
    let mut connection = connect_within(options).await?;
    durability::check(&mut connection, options).await?;
    if one(&mut connection, "SELECT to_regnamespace('anamnesis') IS NULL OR to_regrole('anamnesis_owner') IS NULL")
        .await?
    {
        return Err(DbError::Unprepared);
    }
    // Tables belong to the role, not to the person who migrates.
    connection.execute("SET ROLE anamnesis_owner").await.map_err(|e| error(&e))?;
    let lock = async {
        while !locked(&mut connection).await? {
            tokio::time::sleep(POLL).await;
        }
        Ok::<(), DbError>(())
    };
    tokio::time::timeout(PATIENCE, lock).await.map_err(|_| DbError::Transient("lock"))??;
    let before = versions(&mut connection).await?;
    // Steps are applied one by one, and one that is there already is not compared by them.
    let is_other = |version: i64, checksum: &[u8]| {
        migrations.iter().any(|known| known.version == version && *known.checksum != *checksum)
    };
    if let Some((version, ..)) = before.iter().find(|(version, _, checksum)| is_other(*version, checksum)) {
        return Err(DbError::Changed(*version));
    }
    if target.is_some() && !before.is_empty() {
        connection.close().await.map_err(|e| error(&e))?;
        return Ok(Applied(Vec::new()));
    }
    migration_steps::apply(&mut connection, migrations, target).await?;
    let wanted = |version: &i64| target.is_none_or(|target| *version <= target);
    let applied: Vec<i64> =
        migrations.iter().map(|m| m.version).filter(|v| wanted(v) && !before.iter().any(|(b, ..)| b == v)).collect();
    // Privileges name tables of all migrations.
    let all = |m: &Migrator| MIGRATIONS.iter().all(|own| m.version_exists(own.version));
    if target.is_none() && all(migrations) {
        sqlx::raw_sql(GRANTS).execute(&mut connection).await.map_err(|e| error(&e))?;
    }
    connection.close().await.map_err(|e| error(&e))?;
    Ok(Applied(applied))
}

/// Whether a schema has anything in it that a migration could ruin.
///
/// # Errors
/// When the server cannot be asked.
pub(crate) async fn holds_rows(options: &PostgresOptions) -> Result<bool, DbError> {
    let mut connection = connect(options).await?;
    if one(&mut connection, "SELECT to_regclass('anamnesis.organization') IS NULL").await? {
        return Ok(false);
    }
    connection.execute("SET ROLE anamnesis_owner").await.map_err(|e| error(&e))?;
    connection.execute(sqlx::raw_sql("BEGIN READ ONLY")).await.map_err(|e| error(&e))?;
    let platform = "SELECT set_config('anamnesis.access', 'platform', true)";
    connection.execute(platform).await.map_err(|e| error(&e))?;
    let any = "SELECT EXISTS (SELECT 1 FROM anamnesis.organization) OR EXISTS (SELECT 1 FROM anamnesis.quarantine)";
    let any = one(&mut connection, any).await?;
    connection.close().await.map_err(|e| error(&e))?;
    Ok(any)
}

/// The newest migration that was applied; 0 where there is no schema.
///
/// # Errors
/// When the server cannot be asked.
pub(crate) async fn newest_applied(connection: &mut PgConnection) -> Result<i64, DbError> {
    Ok(versions(connection).await?.last().map_or(0, |(version, ..)| *version))
}

/// Makes or drops the approximate index, as the owner.
///
/// # Errors
/// See [`change`].
pub(crate) async fn approximate(options: &PostgresOptions, dimension: usize, make: bool) -> Result<(), DbError> {
    let mut connection = connect_within(options).await?;
    connection.execute("SET ROLE anamnesis_owner").await.map_err(|e| error(&e))?;
    change(&mut connection, dimension, make).await?;
    connection.close().await.map_err(|e| error(&e))
}

async fn locked(connection: &mut PgConnection) -> Result<bool, DbError> {
    sqlx::query_scalar("SELECT pg_try_advisory_lock($1)").bind(LOCK).fetch_one(connection).await.map_err(|e| error(&e))
}

async fn one(connection: &mut PgConnection, sql: &'static str) -> Result<bool, DbError> {
    sqlx::query_scalar(sql).persistent(false).fetch_one(connection).await.map_err(|e| error(&e))
}

/// How the server's schema compares with this program.
pub(crate) async fn state(options: &PostgresOptions) -> Result<SchemaState, DbError> {
    let mut connection = connect(options).await?;
    let state = compared(&versions(&mut connection).await?);
    connection.close().await.map_err(|e| error(&e))?;
    Ok(state)
}

type Version = (i64, bool, Vec<u8>);

/// Empty where there is no schema yet.
async fn versions(connection: &mut PgConnection) -> Result<Vec<Version>, DbError> {
    if one(connection, "SELECT to_regclass('anamnesis._sqlx_migrations') IS NULL").await? {
        return Ok(Vec::new());
    }
    let sql = "SELECT version, success, checksum FROM anamnesis._sqlx_migrations ORDER BY version";
    let rows = match sqlx::query(sql).persistent(false).fetch_all(connection).await.map_err(|e| error(&e)) {
        // A running migration has not granted the privileges yet.
        Err(DbError::Denied) => return Ok(Vec::new()),
        rows => rows?,
    };
    rows.iter()
        .map(|row| Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?)))
        .collect::<Result<_, sqlx::Error>>()
        .map_err(|e| error(&e))
}

fn compared(applied: &[Version]) -> SchemaState {
    for (version, success, checksum) in applied {
        match MIGRATIONS.iter().find(|m| m.version == *version) {
            None => return SchemaState::Newer(*version),
            Some(known) if *known.checksum != **checksum || !success => return SchemaState::Changed(*version),
            Some(_) => {}
        }
    }
    let missing = MIGRATIONS.iter().map(|m| m.version).filter(|v| !applied.iter().any(|(a, ..)| a == v));
    match missing.collect::<Vec<_>>() {
        missing if missing.is_empty() => SchemaState::Current,
        missing => SchemaState::Behind(missing),
    }
}

/// Requirements before a worker reads a row: a role that row-level security binds, and a known schema.
pub(crate) async fn check(connection: &mut PgConnection) -> Result<(), DbError> {
    // One transaction, so that a pooler answers from one connection.
    connection.execute(sqlx::raw_sql("BEGIN")).await.map_err(|e| error(&e))?;
    let found = fit(connection).await;
    connection.execute(sqlx::raw_sql("ROLLBACK")).await.map_err(|e| error(&e))?;
    found
}

async fn fit(connection: &mut PgConnection) -> Result<(), DbError> {
    let sql = "SELECT r.rolsuper, r.rolbypassrls, EXISTS (SELECT 1 FROM pg_class AS c \
         JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = 'anamnesis' \
         AND pg_has_role(r.oid, c.relowner, 'MEMBER')) FROM pg_roles AS r WHERE r.rolname = current_user";
    let row = sqlx::query(sql).persistent(false).fetch_one(&mut *connection).await.map_err(|e| error(&e))?;
    for (at, why) in [(0, "a superuser"), (1, "a role that bypasses row-level security"), (2, "the schema's owner")] {
        if row.try_get(at).map_err(|e| error(&e))? {
            return Err(DbError::Role(why));
        }
    }
    match compared(&versions(connection).await?) {
        SchemaState::Current => Ok(()),
        SchemaState::Behind(_) => Err(DbError::Schema),
        SchemaState::Newer(version) => Err(DbError::Newer(version)),
        SchemaState::Changed(version) => Err(DbError::Changed(version)),
    }
}

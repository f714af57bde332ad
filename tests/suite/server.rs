//! A PostgreSQL of the tests (`scripts/postgres.sh`), with a database for each test that needs one.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use anamnesis_config as config;
use anamnesis_config::store::PostgresConfig;
use anamnesis_sql::{self as engine, Location, PostgresOptions, ROLES};
use aws_lc_rs::digest::{SHA256, digest};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _};
use uuid::Uuid;

/// Roles that log in: members of the roles of `roles.sql`, as a clinic would make them.
const LOGINS: &[(&str, &str)] = &[
    ("test_owner", "anamnesis_owner"),
    ("test_app", "anamnesis_app"),
    ("test_jobs", "anamnesis_jobs"),
    ("test_audit", "anamnesis_audit"),
    ("test_read", "anamnesis_read"),
];

/// The built-in migrations, which name the template of databases.
pub(crate) static MIGRATIONS: sqlx::migrate::Migrator = sqlx::migrate!("migrations/postgres");
static GRANTS: &str = include_str!("../../migrations/postgres/grants.sql");

/// The administrator's URL. Without a server a test fails: a proof that is left out is no proof.
static ADMIN: LazyLock<String> = LazyLock::new(|| {
    if let Ok(url) = std::env::var("ANAMNESIS_TEST_POSTGRES_URL") {
        return url;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/postgres.sh");
    let reported = Command::new(script).arg("url").output().expect("scripts/postgres.sh runs");
    let url = String::from_utf8_lossy(&reported.stdout).trim().to_owned();
    assert!(
        reported.status.success() && !url.is_empty(),
        "no PostgreSQL to test with: run `scripts/postgres.sh start` (as `make test` does), or set \
         ANAMNESIS_TEST_POSTGRES_URL to an administrator's URL of a server with pgvector"
    );
    url
});

/// A database of one test. It is dropped with this value.
pub(crate) struct TestDatabase {
    name: String,
}

impl TestDatabase {
    /// With the current schema.
    pub(crate) async fn new() -> Self {
        let template = template().await;
        let name = format!("test_{}", unique());
        administer(&format!("CREATE DATABASE {name} TEMPLATE {template}")).await;
        Self { name }
    }

    /// With roles and an empty schema, before any migration.
    pub(crate) async fn unmigrated() -> Self {
        let server = Self { name: format!("test_{}", unique()) };
        let mut lock = locked().await;
        prepare(&mut lock, &server.name).await;
        server
    }

    /// The URL of a role, of [`LOGINS`] or the administrator's (`None`).
    pub(crate) fn url(&self, role: Option<&str>) -> String {
        let (user, rest) = ADMIN.trim_start_matches("postgres://").split_once('@').expect("the URL names a user");
        let host = rest.split('/').next().unwrap_or(rest);
        format!("postgres://{}@{host}/{}", role.unwrap_or(user), self.name)
    }

    /// Where a role finds the store.
    pub(crate) fn location(&self, role: &str) -> Location {
        Location::Postgres(Box::new(PostgresOptions::new(&self.url(Some(role)), &trial()).unwrap()))
    }

    /// An unrestricted connection, to read what the program must not see.
    pub(crate) async fn administrator(&self) -> PgConnection {
        let url = self.url(None);
        let options: PgConnectOptions = url.parse().unwrap();
        PgConnection::connect_with(&options.options([("search_path", "anamnesis,public")])).await.unwrap()
    }
}

impl TestDatabase {
    /// Changes the database (`ALTER DATABASE … change`), for all connections: those that are open are ended.
    pub(crate) async fn alter(&self, change: &str) {
        administer(&format!("ALTER DATABASE {} {change}", self.name)).await;
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname =";
        administer(&format!("{end} '{}'", self.name)).await;
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        let sql = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(administer(&sql));
        });
        let _ = dropping.join();
    }
}

/// The default settings for a server whose data may be lost: that of `scripts/postgres.sh` runs without fsync.
pub(crate) fn trial() -> PostgresConfig {
    PostgresConfig { allow_not_durable: true, ..config::load(None).unwrap().store.postgres }
}

fn unique() -> String {
    // The only place of the tests that must never repeat itself: databases outlive a run that was killed.
    let mut bytes = [0u8; 16];
    aws_lc_rs::rand::fill(&mut bytes).unwrap();
    Uuid::from_bytes(bytes).simple().to_string()
}

async fn administer(sql: &str) {
    let mut connection = PgConnection::connect(&ADMIN).await.unwrap();
    connection.execute(AssertSqlSafe(sql.to_owned())).await.unwrap();
    connection.close().await.unwrap();
}

/// Roles belong to the whole server: one test at a time may make them.
async fn locked() -> PgConnection {
    let mut connection = PgConnection::connect(&ADMIN).await.unwrap();
    connection.execute("SELECT pg_advisory_lock(4711)").await.unwrap();
    connection
}

async fn prepare(lock: &mut PgConnection, name: &str) {
    lock.execute(AssertSqlSafe(format!("CREATE DATABASE {name}"))).await.unwrap();
    let server = TestDatabase { name: name.to_owned() };
    let mut connection = server.administrator().await;
    roles(&mut connection).await;
    connection.close().await.unwrap();
    std::mem::forget(server);
}

/// Roles and the current schema in the database of an administrator's URL, on a server of a test's own.
pub(crate) async fn prepare_at(administrator: &str) {
    let mut connection = PgConnection::connect(administrator).await.unwrap();
    roles(&mut connection).await;
    connection.close().await.unwrap();
    let (user, _) = administrator.trim_start_matches("postgres://").split_once('@').expect("the URL names a user");
    let owner = PostgresOptions::new(&administrator.replacen(user, "test_owner", 1), &trial()).unwrap();
    engine::migrate(&Location::Postgres(Box::new(owner))).await.unwrap();
}

async fn roles(connection: &mut PgConnection) {
    sqlx::raw_sql(ROLES).execute(&mut *connection).await.unwrap();
    for (login, role) in LOGINS {
        let sql = format!(
            "DO $$ BEGIN IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '{login}') THEN \
             CREATE ROLE {login} LOGIN IN ROLE {role}; END IF; END $$"
        );
        connection.execute(AssertSqlSafe(sql)).await.unwrap();
    }
}

/// Places an embedded store with the current schema, as its first start leaves it. Migrating a new file takes half a second
/// of each test; one migrated file for each set of migrations is copied instead.
pub(crate) async fn copy_embedded_store(path: &Path) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations/sqlite");
    let mut files: Vec<PathBuf> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.extend(["sqlite.rs", "sqlite_schema.rs"].map(|name| folder.join("../../crates/sql/src").join(name)));
    let text: Vec<u8> = files.iter().flat_map(|file| std::fs::read(file).unwrap()).collect();
    let name = format!("embedded_{}.db", &hex::encode(digest(&SHA256, &text))[..16]);
    let template = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if !template.exists() {
        let draft = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let file = draft.path().join("draft.db");
        engine::Database::open(&Location::File(file.clone())).await.unwrap().close().await;
        assert!(!file.with_extension("db-wal").exists(), "what was written is in the file");
        std::fs::rename(file, &template).unwrap();
    }
    std::fs::copy(&template, path).unwrap();
}

/// A migrated database that others are copied from; one for each set of migrations.
async fn template() -> String {
    let mut text = [ROLES, GRANTS].concat().into_bytes();
    text.extend(MIGRATIONS.iter().flat_map(|one| [&one.version.to_be_bytes()[..], &one.checksum].concat()));
    let name = format!("template_{}", &hex::encode(digest(&SHA256, &text))[..16]);
    let mut lock = locked().await;
    let known: bool = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)")
        .bind(&name)
        .fetch_one(&mut lock)
        .await
        .unwrap();
    if !known {
        let draft = TestDatabase { name: format!("draft_{}", unique()) };
        prepare(&mut lock, &draft.name).await;
        engine::migrate(&draft.location("test_owner")).await.unwrap();
        lock.execute(AssertSqlSafe(format!("ALTER DATABASE {} RENAME TO {name}", draft.name))).await.unwrap();
        std::mem::forget(draft);
    }
    name
}

//! The key store of the campaign, a file or a table, and what happens to it: it goes away, its keys are rotated, another
//! one's is put in its place, or its own copy of an hour ago.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anamnesis_config as config;
use anamnesis_core::clock::{Clock, Entropy};
use anamnesis_crypto::{KeyDatabase, Keyring, LocalRoot, PostgresTable, copies};
use clap::ValueEnum;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _};

use crate::Outcome;
use crate::workers::program;

/// Where keys lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeysKind {
    File,
    /// In a PostgreSQL database of their own.
    Table,
}

/// What happens to a key store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum KeyFault {
    /// It is not there, torn, or its server refuses.
    Killed,
    /// New keys while workers run; sometimes the rotation itself is killed.
    Rotated,
    /// Another store's is in its place.
    Swapped,
    /// A copy from before keys that are in use is in its place.
    Restored,
}

impl KeyFault {
    pub(crate) const ALL: [Self; 4] = [Self::Killed, Self::Rotated, Self::Swapped, Self::Restored];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Killed => "killed",
            Self::Rotated => "rotated",
            Self::Swapped => "swapped",
            Self::Restored => "restored",
        }
    }
}

const DATABASE: &str = "campaign_keys";
const LOGIN: &str = "campaign_keys";
/// The schema of the key table, and where the right one, another one's and an old copy wait.
const SCHEMA: &str = "anamnesis_keys";
const RIGHT: &str = "keys_right";
const FOREIGN: &str = "keys_foreign";
const OLD: &str = "keys_old";

pub(crate) struct KeyPlace {
    kind: KeysKind,
    folder: PathBuf,
}

impl KeyPlace {
    pub(crate) fn new(kind: KeysKind, folder: &Path) -> Self {
        Self { kind, folder: folder.to_owned() }
    }

    fn own(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The settings that name it; `server` is where its database is reached.
    pub(crate) fn settings(&self, server: Option<String>) -> Vec<(String, String)> {
        let mut all = vec![("ANAMNESIS__STORE__KEYS".to_owned(), self.own("keys").display().to_string())];
        if let (KeysKind::Table, Some(server)) = (self.kind, server) {
            all.push(("ANAMNESIS__STORE__KEYS_URL".to_owned(), format!("postgres://{LOGIN}@{server}/{DATABASE}")));
        }
        all
    }

    /// Database and role of the table, as an administrator makes them.
    pub(crate) async fn prepare(&self, admin: &str) -> Outcome<()> {
        if self.kind == KeysKind::File {
            return Ok(());
        }
        let mut connection = PgConnection::connect_with(&admin.parse::<PgConnectOptions>()?).await?;
        for sql in [
            format!("CREATE ROLE {LOGIN} LOGIN"),
            format!("CREATE DATABASE {DATABASE}"),
            format!("GRANT CONNECT, CREATE ON DATABASE {DATABASE} TO {LOGIN}"),
        ] {
            connection.execute(AssertSqlSafe(sql)).await?;
        }
        Ok(connection.close().await?)
    }

    /// The foreign key store, then the own one by `keys init`.
    /// `own` makes them: the version whose schema the store has.
    pub(crate) async fn initialise(
        &self,
        own: &Path,
        environment: &[(String, String)],
        admin: Option<&str>,
    ) -> Outcome<()> {
        let mut foreign = environment.to_vec();
        foreign.push(("ANAMNESIS__STORE__URL".to_owned(), String::new()));
        foreign.push(("ANAMNESIS__STORE__PATH".to_owned(), self.own("foreign.db").display().to_string()));
        if self.kind == KeysKind::File {
            foreign.push(("ANAMNESIS__STORE__KEYS".to_owned(), self.own("foreign.keys").display().to_string()));
        }
        verb(&["keys", "init"], &foreign)?;
        if self.kind == KeysKind::Table {
            self.sql(admin, &[format!("ALTER SCHEMA {SCHEMA} RENAME TO {FOREIGN}")]).await?;
        }
        verb_of(own, &["keys", "init"], environment)
    }

    /// Copies it, as it is at this moment.
    pub(crate) async fn copy(&self, admin: Option<&str>) -> Outcome<()> {
        if self.kind == KeysKind::File {
            let old = self.own("keys.old");
            let _ = std::fs::remove_file(&old);
            return Ok(copies::copy(&self.own("keys"), &old).await?);
        }
        let mut all =
            vec![format!("DROP SCHEMA IF EXISTS {OLD} CASCADE"), format!("CREATE SCHEMA {OLD} AUTHORIZATION {LOGIN}")];
        for table in ["key_store", "data_key", "kek"] {
            all.push(format!("CREATE TABLE {OLD}.{table} (LIKE {SCHEMA}.{table} INCLUDING ALL)"));
            all.push(format!("ALTER TABLE {OLD}.{table} OWNER TO {LOGIN}"));
            all.push(format!("INSERT INTO {OLD}.{table} SELECT * FROM {SCHEMA}.{table}"));
        }
        self.sql(admin, &all).await
    }

    /// Takes the right one away; `draw` chooses how.
    pub(crate) async fn take_away(&self, fault: KeyFault, draw: u64, admin: Option<&str>) -> Outcome<()> {
        match self.kind {
            KeysKind::File => self.take_file(fault, draw),
            KeysKind::Table => self.take_table(fault, draw, admin).await,
        }
    }

    fn take_file(&self, fault: KeyFault, draw: u64) -> Outcome<()> {
        let (keys, right) = (self.own("keys"), self.own("keys.right"));
        std::fs::rename(&keys, &right)?;
        let bytes = match (fault, draw % 3) {
            (KeyFault::Swapped, _) => std::fs::read(self.own("foreign.keys"))?,
            (KeyFault::Restored, _) => std::fs::read(self.own("keys.old"))?,
            (_, 0) => return Ok(()),
            (_, 1) => Vec::new(),
            _ => {
                let whole = std::fs::read(&right)?;
                whole[..whole.len() / 3].to_vec()
            }
        };
        let hidden = self.own("keys.new");
        std::fs::write(&hidden, bytes)?;
        Ok(std::fs::rename(hidden, keys)?)
    }

    /// Nobody is connected while schemas change places, as nobody would be while a database is restored.
    async fn take_table(&self, fault: KeyFault, draw: u64, admin: Option<&str>) -> Outcome<()> {
        self.shut(admin).await?;
        let away = format!("ALTER SCHEMA {SCHEMA} RENAME TO {RIGHT}");
        let moved = match (fault, draw % 2) {
            (KeyFault::Swapped, _) => vec![away, format!("ALTER SCHEMA {FOREIGN} RENAME TO {SCHEMA}")],
            (KeyFault::Restored, _) => vec![away, format!("ALTER SCHEMA {OLD} RENAME TO {SCHEMA}")],
            (_, 0) => vec![away],
            // Its server refuses.
            _ => return Ok(()),
        };
        self.sql(admin, &moved).await?;
        self.sql(admin, &[format!("ALTER ROLE {LOGIN} LOGIN")]).await
    }

    /// Puts the right one back.
    pub(crate) async fn bring_back(&self, fault: KeyFault, draw: u64, admin: Option<&str>) -> Outcome<()> {
        if self.kind == KeysKind::File {
            return Ok(std::fs::rename(self.own("keys.right"), self.own("keys"))?);
        }
        self.shut(admin).await?;
        let back = format!("ALTER SCHEMA {RIGHT} RENAME TO {SCHEMA}");
        let moved = match (fault, draw % 2) {
            (KeyFault::Swapped, _) => vec![format!("ALTER SCHEMA {SCHEMA} RENAME TO {FOREIGN}"), back],
            (KeyFault::Restored, _) => vec![format!("ALTER SCHEMA {SCHEMA} RENAME TO {OLD}"), back],
            (_, 0) => vec![back],
            _ => Vec::new(),
        };
        self.sql(admin, &moved).await?;
        self.sql(admin, &[format!("ALTER ROLE {LOGIN} LOGIN")]).await
    }

    async fn shut(&self, admin: Option<&str>) -> Outcome<()> {
        self.sql(admin, &[format!("ALTER ROLE {LOGIN} NOLOGIN")]).await?;
        let end = format!(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = '{LOGIN}' AND datname = '{DATABASE}'"
        );
        self.sql(admin, &[end]).await
    }

    /// Statements of an administrator in the keys' database, in one transaction.
    async fn sql(&self, admin: Option<&str>, statements: &[String]) -> Outcome<()> {
        let admin = admin.ok_or("a key table needs a server")?;
        let options = admin.parse::<PgConnectOptions>()?.database(DATABASE);
        let mut connection = PgConnection::connect_with(&options).await?;
        let mut tx = connection.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ").await?;
        for statement in statements {
            tx.execute(AssertSqlSafe(statement.clone())).await?;
        }
        tx.commit().await?;
        Ok(connection.close().await?)
    }

    /// Opens it; `server` is where its database is reached.
    pub(crate) async fn open(
        &self,
        server: Option<String>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Outcome<Keyring> {
        let path = self.own("keys");
        let (KeysKind::Table, Some(server)) = (self.kind, server) else {
            return Ok(Keyring::local(&path, None, clock, entropy).await?);
        };
        let root = LocalRoot::read(&self.own("keys.master"), Arc::clone(&entropy))?;
        let limits = config::load(None)?.store.postgres;
        let database = KeyDatabase::new(&format!("postgres://{LOGIN}@{server}/{DATABASE}"), &[], &limits)?;
        Ok(Keyring::open(&root, Arc::new(PostgresTable::new(database)), clock, entropy).await?)
    }
}

/// Runs a verb of the program to its end.
pub(crate) fn verb(arguments: &[&str], environment: &[(String, String)]) -> Outcome<()> {
    verb_of(&program()?, arguments, environment)
}

fn verb_of(program: &Path, arguments: &[&str], environment: &[(String, String)]) -> Outcome<()> {
    let mut command = Command::new(program);
    let ended = command.args(arguments).envs(environment.iter().cloned()).stdin(Stdio::null()).output()?;
    if ended.status.success() {
        return Ok(());
    }
    Err(format!("anamnesis {}: {}", arguments.join(" "), String::from_utf8_lossy(&ended.stderr)).into())
}

/// Rotates keys while workers run; with `killed` the rotation is killed after so long, to go on with the next one.
pub(crate) fn rotate(which: &str, environment: &[(String, String)], killed: Option<Duration>) -> Outcome<()> {
    let Some(after) = killed else { return verb(&["keys", "rotate", which], environment) };
    let mut command = Command::new(program()?);
    command.args(["keys", "rotate", which]).envs(environment.iter().cloned()).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    std::thread::sleep(after);
    let _ = child.kill();
    child.wait()?;
    Ok(())
}

//! Empty stores for a measurement: files in a temporary folder, or databases made on a server and dropped again.

use std::path::Path;

use clap::ValueEnum;

use anamnesis::cli::CliError;
use anamnesis_config::Settings;
use anamnesis_core::clock::{Clock as _, SystemClock, SystemEntropy, ordered_id};
use anamnesis_sql::{DbError, Location, TempDatabase};

#[derive(Debug, clap::Args)]
pub(super) struct StoreArgs {
    /// Which store is measured.
    #[arg(long, value_enum, default_value_t = StoreEngine::Sqlite)]
    store: StoreEngine,
    /// An administrator's URL of a PostgreSQL with pgvector; databases and a role are made there and dropped again.
    #[arg(long, value_name = "URL", env = "ANAMNESIS_BENCH_POSTGRES_URL", hide_env_values = true)]
    postgres_url: Option<String>,
}

impl StoreArgs {
    pub(crate) fn is_server(&self) -> bool {
        self.store == StoreEngine::Postgres
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StoreEngine {
    /// A file.
    Sqlite,
    /// A server, named by --postgres-url.
    Postgres,
}

/// Files vanish with this value, databases by [`Stores::remove`].
pub(super) struct Stores {
    folder: tempfile::TempDir,
    databases: Vec<TempDatabase>,
}

impl Stores {
    pub(crate) async fn make(args: &StoreArgs, settings: &Settings, count: usize) -> Result<Self, CliError> {
        let folder = tempfile::Builder::new().prefix("anamnesis-bench").tempdir()?;
        let mut stores = Self { folder, databases: Vec::new() };
        if args.store == StoreEngine::Sqlite {
            return Ok(stores);
        }
        let url = args.postgres_url.as_deref();
        let url = url.ok_or_else(|| CliError::usage("--store postgres needs --postgres-url (an administrator's)"))?;
        for _ in 0..count {
            let id = ordered_id(SystemClock.now(), &SystemEntropy);
            match TempDatabase::make(url, id, &settings.store.postgres).await {
                Ok(scratch) => stores.databases.push(scratch),
                Err(error) => {
                    stores.remove().await;
                    return Err(failure(error));
                }
            }
        }
        Ok(stores)
    }

    /// Where store `n` lies.
    pub(crate) fn location(&self, n: usize) -> Location {
        match self.databases.get(n) {
            Some(database) => database.location(),
            None => Location::File(self.folder.path().join(format!("store{n}.db"))),
        }
    }

    /// Of a server's database; `None` for a file.
    pub(crate) fn administrators_url(&self, n: usize) -> Option<String> {
        self.databases.get(n).map(TempDatabase::administrators_url)
    }

    /// A server's database; `None` for a file.
    pub(crate) fn database(&self, n: usize) -> Option<&TempDatabase> {
        self.databases.get(n)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Turns a configuration to store `n` and to keys of its own.
    pub(crate) fn configure(&self, n: usize, settings: &mut Settings) {
        settings.store.url = self.databases.get(n).map(TempDatabase::url).unwrap_or_default().into();
        settings.store.path = self.folder.path().join(format!("store{n}.db"));
        settings.store.keys = self.folder.path().join(format!("keys{n}"));
        settings.store.master_key = String::new().into();
    }

    /// What could not be dropped stays, named `anamnesis_scratch_…`.
    pub(crate) async fn remove(self) {
        for database in &self.databases {
            if let Err(error) = database.remove().await {
                tracing::warn!(%error, "a database of the measurement could not be dropped");
            }
        }
    }
}

fn failure(error: DbError) -> CliError {
    CliError::failed(format!("--postgres-url: {error}"))
}

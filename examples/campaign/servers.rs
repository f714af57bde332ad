//! A PostgreSQL, a RabbitMQ and an embedding server of the campaign's own, each behind a line that can break.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use anamnesis_config::store::PostgresConfig;
use anamnesis_config::{self as config, BrokerConfig};
use anamnesis_core::clock::{Clock, ManualClock, SeededEntropy, SystemClock, SystemEntropy};
use anamnesis_core::projection::KeyHash;
use anamnesis_crypto::Keyring;
use anamnesis_rabbitmq::consumer::encode_message;
use anamnesis_rabbitmq::{ConnectionRole, MessagePublisher as _, Names, OutboundMessage, Publisher, topology};
use anamnesis_sql::{self as engine, Access, Database, Location, PostgresOptions, ROLES, Sql};
use anamnesis_store::Store;
use anamnesis_test_servers::fault_proxy::{FaultProfile, FaultProxy};
use anamnesis_test_servers::provider::{FakeOptions, FakeProvider, model_environment};
use secrecy::ExposeSecret as _;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _};

use crate::keystore::{KeyPlace, KeysKind};
use crate::workers::{Workers, program};
use crate::{Outcome, StoreKind};

/// The instant at which memory lives: equal in both runs, so that their digests can be.
pub(crate) const NOW: &str = "2026-07-01T12:00:00Z";
const PREFIX: &str = "campaign";
const DIMENSION: usize = 16;
/// Longer than some ticks of the private broker's queues (`scripts/rabbitmq.sh`: 500 ms each).
// Longer than a worker needs to seal and announce for the first time.
const SETTLED: Duration = Duration::from_secs(7);

pub(crate) struct Servers {
    folder: Option<tempfile::TempDir>,
    path: PathBuf,
    pub(crate) provider: FakeProvider,
    /// Between the workers and the broker, and between them and the database.
    pub(crate) broker: FaultProxy,
    pub(crate) database: Option<FaultProxy>,
    pub(crate) config: BrokerConfig,
    pub(crate) keys: KeyPlace,
}

fn script(name: &str, folder: &Path, arguments: &[&str]) -> Outcome<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts").join(name);
    let mut command = Command::new(path);
    command
        .args(arguments)
        .env("ANAMNESIS_POSTGRES_DIR", folder.join("pg"))
        .env("ANAMNESIS_RABBITMQ_DIR", folder.join("mq"));
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("scripts/{name} {arguments:?} failed").into());
    }
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// `host:port` of a URL on loopback.
fn place(url: &str) -> Outcome<SocketAddr> {
    let rest = url.split('@').nth(1).ok_or("a URL without a user")?;
    Ok(rest.split('/').next().unwrap_or(rest).parse()?)
}

impl Servers {
    /// `schema`: the program that makes the schema and the queues, where it is not this version.
    pub(crate) async fn start(
        (kind, keys): (StoreKind, KeysKind),
        faults: f64,
        seed: u64,
        schema: Option<&Path>,
    ) -> Outcome<Self> {
        let folder = tempfile::Builder::new().prefix("anamnesis-campaign-").tempdir()?;
        let path = folder.path().to_owned();
        // The database server runs as another user.
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        let url = script("rabbitmq.sh", &path, &["private"])?;
        // Minutes of waiting prove nothing that seconds do not: the tiers are shortened, by policy.
        let short = ["ctl", "set_policy", "short", "\\.retry\\.", "{\"message-ttl\": 2000}", "--apply-to", "queues"];
        script("rabbitmq.sh", &path, &short)?;
        let broker = FaultProxy::start(place(&url)?).await?;
        let config = BrokerConfig { url: url.into(), prefix: PREFIX.to_owned(), ..BrokerConfig::default() };
        match schema {
            // The broker of an upgrade was set up by the version before.
            Some(older) => set_up_broker(older, &config)?,
            None => {
                topology::apply(&config).await?;
            }
        }
        let keys = KeyPlace::new(keys, &path);
        let database = match kind {
            StoreKind::Sqlite => None,
            StoreKind::Postgres => {
                let admin = script("postgres.sh", &path, &["start"])?;
                prepare(&admin, schema).await?;
                keys.prepare(&admin).await?;
                Some(FaultProxy::start(place(&admin)?).await?)
            }
        };
        let each = faults / 4.0;
        let spec = format!("500={each},429={each},reset={each},html={each}");
        let faults = spec.parse().map_err(|_| "the share of faults is not between 0 and 1")?;
        let options = FakeOptions { dimension: DIMENSION, faults, seed, ..FakeOptions::default() };
        let provider = FakeProvider::start(options).await?;
        let servers = Self { folder: Some(folder), path, provider, broker, database, config, keys };
        let own = schema.map_or_else(program, |older| Ok(older.to_owned()))?;
        servers.keys.initialise(&own, &servers.environment(), servers.admin()?.as_deref()).await?;
        Ok(servers)
    }

    /// An administrator's URL of the database server, which moves when it is started again.
    pub(crate) fn admin(&self) -> Outcome<Option<String>> {
        self.database.is_some().then(|| script("postgres.sh", &self.path, &["url"])).transpose()
    }

    /// Where the database server is reached by lines that break.
    fn server(&self) -> Option<String> {
        self.database.as_ref().map(|relay| relay.address().to_string())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The environment of a worker: everything by lines that break. Keys that were renamed have their old names, which the
    /// program of the version before needs too.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let url = match &self.database {
            Some(relay) => format!("postgres://campaign_app@{}/anamnesis", relay.address()),
            None => String::new(),
        };
        let mut all = self.calm_environment("store");
        all.extend([
            ("ANAMNESIS__STORE__URL".to_owned(), url),
            ("ANAMNESIS__STORE__POSTGRES__ALLOW_NOT_DURABLE".to_owned(), "true".to_owned()),
            ("ANAMNESIS__EMBEDDING__URL".to_owned(), self.provider.openai_url()),
            ("ANAMNESIS__BROKER__URL".to_owned(), format!("amqp://guest:guest@{}/%2f", self.broker.address())),
            ("ANAMNESIS__BROKER__PREFIX".to_owned(), PREFIX.to_owned()),
            // The campaign is about what is lost and doubled, and its producers are the campaign.
            ("ANAMNESIS__INTAKE__UNBOUND_PRODUCERS".to_owned(), "allow".to_owned()),
            ("ANAMNESIS__BROKER__RELAY_MS".to_owned(), "100".to_owned()),
            ("ANAMNESIS__BROKER__HEARTBEAT_SECONDS".to_owned(), "2".to_owned()),
            ("ANAMNESIS__PIPELINE__BATCH_DOCUMENTS".to_owned(), "8".to_owned()),
            ("ANAMNESIS__EMBEDDING__RETRY__FIRST_PAUSE_MS".to_owned(), "20".to_owned()),
            ("ANAMNESIS__EMBEDDING__RETRY__LONGEST_PAUSE_MS".to_owned(), "200".to_owned()),
            ("ANAMNESIS__WORKER__SPOOL".to_owned(), String::new()),
            ("ANAMNESIS__JOBS__TICK".to_owned(), "false".to_owned()),
            // Before it is quiet: a head that is announced when a worker ends waits for the next worker.
            ("ANAMNESIS__AUDIT__SEAL_SECONDS".to_owned(), "5".to_owned()),
            ("ANAMNESIS_DIE_OF".to_owned(), crate::messages::DEADLY.to_owned()),
        ]);
        all
    }

    /// The environment of the run that nothing disturbs: the same keys and clock, a store of its own.
    pub(crate) fn calm_environment(&self, store: &str) -> Vec<(String, String)> {
        let own = |name: &str| self.path.join(name).display().to_string();
        // What is read matters to no fault, and many messages must be read: the quick profile, in both runs.
        let profile = ("EXTRACTION__PROFILE", "fast".to_owned());
        [("STORE__PATH", own(&format!("{store}.db"))), ("PIPELINE__NOW", NOW.to_owned()), profile]
            .map(|(key, value)| (format!("ANAMNESIS__{key}"), value))
            .into_iter()
            .chain(self.keys.settings(self.server()))
            .chain(model_environment(DIMENSION))
            .collect()
    }

    /// An embedding server that never fails, with the same vectors.
    pub(crate) async fn calm_provider() -> Outcome<FakeProvider> {
        Ok(FakeProvider::start(FakeOptions { dimension: DIMENSION, ..FakeOptions::default() }).await?)
    }

    /// Opens a store: the calm one, or the one that was raged at.
    pub(crate) async fn store(&self, calm: bool) -> Outcome<Store> {
        let clock: Arc<dyn Clock> = Arc::new(ManualClock::at(NOW.parse()?));
        let entropy = Arc::new(SeededEntropy::new(3));
        let keys = self.keys.open(self.server(), Arc::clone(&clock), entropy.clone()).await?;
        self.over(calm, keys).await
    }

    /// The store as it is, whatever became of its keys.
    async fn without_keys(&self) -> Outcome<Store> {
        let clock: Arc<dyn Clock> = Arc::new(ManualClock::at(NOW.parse()?));
        let keys = Keyring::in_memory(clock, Arc::new(SeededEntropy::new(4))).await?;
        self.over(false, keys).await
    }

    /// Messages of which the store holds the effects.
    pub(crate) async fn stored(&self) -> Outcome<BTreeSet<KeyHash>> {
        static STORED: LazyLock<Sql> = LazyLock::new(|| Sql::new("SELECT message_hash FROM inbox WHERE org_id = $1"));
        if let Some(admin) = self.admin()? {
            return stored_on(&admin).await;
        }
        let store = self.without_keys().await?;
        let mut stored = BTreeSet::new();
        for org in store.stats().every_organization().await? {
            let mut tx = store.db().read(Access::Organization(org)).await?;
            for row in tx.fetch_all(&STORED, vec![org.0.into()]).await? {
                stored.insert(row.bytes(0)?);
            }
        }
        store.close().await;
        Ok(stored)
    }

    /// Messages on which work has begun and, as far as the store knows, not ended.
    pub(crate) async fn begun(&self) -> Outcome<BTreeSet<KeyHash>> {
        static ALONE: LazyLock<Sql> = LazyLock::new(|| Sql::new("SELECT message_hash FROM attempt"));
        static BATCHES: LazyLock<Sql> = LazyLock::new(|| Sql::new("SELECT messages FROM attempt_batch"));
        let store = self.without_keys().await?;
        let mut begun = BTreeSet::new();
        let mut tx = store.db().read(Access::Platform).await?;
        for sql in [&ALONE, &BATCHES] {
            for row in tx.fetch_all(sql, Vec::new()).await? {
                begun.extend(row.blob(0)?.chunks_exact(32).filter_map(|hash| KeyHash::try_from(hash).ok()));
            }
        }
        drop(tx);
        store.close().await;
        Ok(begun)
    }

    async fn over(&self, calm: bool, keys: Keyring) -> Outcome<Store> {
        let clock: Arc<dyn Clock> = Arc::new(ManualClock::at(NOW.parse()?));
        let entropy = Arc::new(SeededEntropy::new(3));
        let location = match &self.database {
            Some(relay) if !calm => at(&format!("postgres://campaign_app@{}/anamnesis", relay.address()))?,
            _ => Location::File(self.path.join(if calm { "calm.db" } else { "store.db" })),
        };
        Ok(Store::new(Database::open(&location).await?, Arc::new(keys), clock, entropy))
    }

    /// Sends messages straight to the broker, until each is confirmed.
    pub(crate) async fn publish(&self, messages: &[Vec<u8>]) -> Outcome<()> {
        let exchange = Names::new(PREFIX).ingest();
        let publisher = Publisher::new(&self.config, ConnectionRole::Publish, Arc::new(SystemEntropy));
        for window in messages.chunks(500) {
            let mut letters: Vec<OutboundMessage> =
                window.iter().map(|m| encode_message(&exchange, m.clone(), true, SystemClock.now())).collect();
            while !letters.is_empty() {
                let sent = publisher.publish(&letters).await;
                letters =
                    letters.into_iter().zip(sent).filter(|(_, sent)| sent.is_err()).map(|(letter, _)| letter).collect();
                if !letters.is_empty() {
                    tokio::time::sleep(Duration::from_millis(300)).await;
                }
            }
        }
        publisher.close().await;
        Ok(())
    }

    /// Kills the broker's node and starts it again; its messages stay.
    pub(crate) fn restart_broker(&self) -> Outcome<()> {
        script("rabbitmq.sh", &self.path, &["restart"]).map(drop)
    }

    /// Ends the database server as a crash would, and starts it again.
    pub(crate) fn crash_database(&self) -> Outcome<()> {
        let Some(relay) = &self.database else { return Ok(()) };
        let pid = std::fs::read_to_string(self.path.join("pg/data/postmaster.pid"))?;
        let pid = pid.lines().next().unwrap_or_default().to_owned();
        Command::new("kill").args(["-QUIT", &pid]).status()?;
        let patience = Instant::now() + Duration::from_secs(30);
        while Path::new("/proc").join(&pid).exists() {
            if Instant::now() > patience {
                return Err("the database server does not end".into());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        relay.retarget(place(&script("postgres.sh", &self.path, &["start"])?)?);
        Ok(())
    }

    /// Clear weather on every line.
    pub(crate) fn clear(&self) {
        self.broker.set(FaultProfile::Clear);
        if let Some(relay) = &self.database {
            relay.set(FaultProfile::Clear);
        }
    }

    /// Messages in the intake and its tiers, unacknowledged ones included, as of each queue's last tick: a quorum queue
    /// writes its counts down then and at no other time.
    pub(crate) fn waiting(&self) -> Outcome<u64> {
        let reported =
            script("rabbitmq.sh", &self.path, &["ctl", "-q", "list_queues", "--no-table-headers", "name", "messages"])?;
        let counts = reported.lines().filter_map(|line| {
            let (name, count) = line.split_once('\t')?;
            let ours = name.contains(".ingest.") || name.contains(".retry.");
            ours.then(|| count.trim().parse::<u64>().ok()).flatten()
        });
        Ok(counts.sum())
    }

    /// Waits until nothing has waited for as long as counts may be old; whether that came to be.
    pub(crate) async fn quiet(&self, workers: &mut Workers, patience: Duration) -> Outcome<bool> {
        let over = Instant::now() + patience;
        let mut since = None;
        while Instant::now() < over {
            let ended = workers.self_ended;
            workers.revive(self)?;
            let still = ended == workers.self_ended && self.waiting()? == 0 && self.outbox().await.unwrap_or(1) == 0;
            since = if still { since.or_else(|| Some(Instant::now())) } else { None };
            if since.is_some_and(|since| since.elapsed() > SETTLED) {
                return Ok(true);
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        eprintln!("still waiting: {} messages, {:?} events", self.waiting()?, self.outbox().await.ok());
        Ok(false)
    }

    /// Events that were not published yet, and notices.
    async fn outbox(&self) -> Outcome<i64> {
        let store = self.store(false).await?;
        let mut waiting = store.outbox().unnoticed(chrono::DateTime::<chrono::Utc>::MAX_UTC, 10).await?.len() as i64;
        for org in store.stats().every_organization().await? {
            waiting += store.outbox().pending_events(org).await?.0;
        }
        store.close().await;
        Ok(waiting)
    }

    /// Leaves everything as it is.
    pub(crate) fn keep(mut self) -> PathBuf {
        self.folder.take().map_or_else(|| self.path.clone(), tempfile::TempDir::keep)
    }

    pub(crate) fn stop(self) {
        let _ = script("rabbitmq.sh", &self.path, &["stop"]);
        let _ = script("postgres.sh", &self.path, &["stop"]);
    }
}

/// The same of a server, whose schema need not be the one that this version knows.
async fn stored_on(admin: &str) -> Outcome<BTreeSet<KeyHash>> {
    let mut connection = PgConnection::connect(admin).await?;
    let rows: Vec<Vec<u8>> =
        sqlx::query_scalar("SELECT message_hash FROM anamnesis.inbox").fetch_all(&mut connection).await?;
    connection.close().await?;
    rows.iter().map(|hash| KeyHash::try_from(hash.as_slice()).map_err(Into::into)).collect()
}

fn at(url: &str) -> Outcome<Location> {
    let config = PostgresConfig { allow_not_durable: true, ..config::load(None)?.store.postgres };
    Ok(Location::Postgres(Box::new(PostgresOptions::new(url, &config)?)))
}

/// Declares exchanges and queues by the program of another version.
fn set_up_broker(program: &Path, config: &BrokerConfig) -> Outcome<()> {
    let mut command = Command::new(program);
    command.args(["topology", "apply"]).env("ANAMNESIS__BROKER__URL", config.url.expose_secret());
    let done = command.env("ANAMNESIS__BROKER__PREFIX", &config.prefix).stdout(Stdio::null()).status()?;
    if done.success() { Ok(()) } else { Err("the program of the version before cannot make its queues".into()) }
}

/// Roles, logins and schema, as an administrator and the owner make them.
async fn prepare(admin: &str, schema: Option<&Path>) -> Outcome<()> {
    let options: PgConnectOptions = admin.parse()?;
    let mut connection = PgConnection::connect_with(&options).await?;
    sqlx::raw_sql(ROLES).execute(&mut connection).await?;
    for (login, role) in [("campaign_owner", "anamnesis_owner"), ("campaign_app", "anamnesis_app")] {
        let sql = format!("CREATE ROLE {login} LOGIN IN ROLE {role}");
        connection.execute(AssertSqlSafe(sql)).await?;
    }
    connection.close().await?;
    let host = admin.split('@').nth(1).unwrap_or_default();
    let owner = format!("postgres://campaign_owner@{host}");
    match schema {
        None => engine::migrate(&at(&owner)?).await.map(drop)?,
        Some(program) => {
            let mut command = Command::new(program);
            command.arg("migrate").env("ANAMNESIS__STORE__URL", owner);
            command.env("ANAMNESIS__STORE__POSTGRES__ALLOW_NOT_DURABLE", "true");
            if !command.stdin(Stdio::null()).stdout(Stdio::null()).status()?.success() {
                return Err("the program of the version before cannot make its schema".into());
            }
        }
    }
    Ok(())
}

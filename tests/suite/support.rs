//! Common parts of the ingest tests: a pipeline over a temporary store, the sample messages, the program as a process.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use anamnesis_config::{self as config, Settings};
use anamnesis_core::clock::{Clock, ManualClock, SeededEntropy};
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::{KeyStore, Keyring};
use anamnesis_embedding::{EmbedError, Embedder, ModelProfile, Models, Purpose};
use anamnesis_observability::metrics::{Identity, Metrics};
use anamnesis_pipeline::{Disposition, Pipeline, RawMessage};
use anamnesis_sql::{Access, Database, Location, Row, Sql};
use anamnesis_store::Store;
use anamnesis_test_servers::fault_proxy::FaultProxy;
use anamnesis_test_servers::provider::{FakeOptions, FakeProvider, model_environment, vector_of};
use async_trait::async_trait;
use serde_json::{Value, json};
use uuid::Uuid;

use super::server::{TestDatabase, copy_embedded_store};

/// The instant at which all proofs happen: after every sample.
pub(crate) const NOW: &str = "2026-07-01T12:00:00Z";
pub(crate) const ORG: Uuid = Uuid::from_u128(0x0aaa_0000_0000_4000_8000_0000_0000_0001);
pub(crate) const PATIENT: Uuid = Uuid::from_u128(0x0aaa_0000_0000_4000_8000_0000_0000_0002);
const DIMENSION: usize = 16;

pub(crate) fn scope() -> Scope {
    Scope::new(OrgId(ORG), PatientId(PATIENT)).unwrap()
}

/// A document of [`PATIENT`] with this text.
pub(crate) fn document(id: u128, revision: u32, at: &str, text: &str) -> Value {
    json!({"organization_id": ORG, "patient_id": PATIENT, "document_id": Uuid::from_u128(id), "revision": revision,
        "document_type": "clinical_note", "occurred_at": at, "text": text})
}

/// A message in its envelope, so that its id is ours.
pub(crate) fn event(id: &str, kind: &str, data: &Value) -> Value {
    json!({"specversion": "1.0", "id": id, "source": "urn:test", "type": kind, "data": data})
}

/// Vectors that depend only on the text, without any cost; another salt is another model.
pub(crate) struct TextVectors(ModelProfile, &'static str);

#[async_trait]
impl Embedder for TextVectors {
    fn profile(&self) -> &ModelProfile {
        &self.0
    }

    async fn embed(&self, _: Purpose, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|text| vector_of(&format!("{}{text}", self.1), DIMENSION)).collect())
    }
}

pub(crate) fn embedder() -> Arc<dyn Embedder> {
    model(1, "")
}

/// A model of another generation; with an empty salt its vectors are those of [`embedder`].
pub(crate) fn model(generation: i64, salt: &'static str) -> Arc<dyn Embedder> {
    let profile = ModelProfile {
        model: format!("text{salt}"),
        dimension: DIMENSION,
        min_score: 0.5,
        contradiction_similarity: 0.9,
        generation,
        max_tokens: 512,
        document_task: None,
        query_task: None,
    };
    Arc::new(TextVectors(profile, salt))
}

/// The engines on which a test is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TestEngine {
    File,
    Postgres,
}

impl TestEngine {
    pub(crate) const ALL: [TestEngine; 2] = [TestEngine::File, TestEngine::Postgres];
}

/// The same test on each engine, as a separate test function.
macro_rules! on_every_engine {
    ($($proof:ident),+ $(,)?) => {
        mod on_a_file {
            $(#[tokio::test(flavor = "multi_thread")] async fn $proof() { super::$proof(crate::support::TestEngine::File).await; })+
        }
        mod on_postgres {
            $(#[tokio::test(flavor = "multi_thread")] async fn $proof() { super::$proof(crate::support::TestEngine::Postgres).await; })+
        }
    };
}
pub(crate) use on_every_engine;

/// The same for a proof that runs the program as a process.
macro_rules! on_every_program {
    ($($proof:ident),+ $(,)?) => {
        mod as_a_process_on_a_file {
            $(#[tokio::test(flavor = "multi_thread")] async fn $proof() { super::$proof(crate::support::TestEngine::File).await; })+
        }
        mod as_a_process_on_postgres {
            $(#[tokio::test(flavor = "multi_thread")] async fn $proof() { super::$proof(crate::support::TestEngine::Postgres).await; })+
        }
    };
}
pub(crate) use on_every_program;

/// Where a store of a test lives, for as long as it is held.
pub(crate) enum StorePlace {
    File(tempfile::TempDir),
    Postgres(TestDatabase),
}

impl StorePlace {
    pub(crate) async fn on(engine: TestEngine) -> Self {
        match engine {
            TestEngine::File => {
                let folder = tempfile::tempdir().unwrap();
                copy_embedded_store(&folder.path().join("store.db")).await;
                Self::File(folder)
            }
            TestEngine::Postgres => Self::Postgres(TestDatabase::new().await),
        }
    }

    pub(crate) fn location(&self) -> Location {
        match self {
            Self::File(folder) => Location::File(folder.path().join("store.db")),
            Self::Postgres(server) => server.location("test_app"),
        }
    }
}

/// The defaults without the learned reader: `careful.rs` tests it, and the other tests need not load it.
fn settings() -> Settings {
    let mut settings = config::load(None).unwrap();
    settings.extraction.profile = config::extraction::ReadingProfile::Fast;
    settings
}

/// Stores that can be compared: they share keys and clock.
pub(crate) struct Clinic {
    pub(crate) keys: Arc<dyn KeyStore>,
    /// The time of all its stores.
    pub(crate) time: Arc<ManualClock>,
    clock: Arc<dyn Clock>,
    settings: Settings,
    engine: TestEngine,
    places: std::sync::Mutex<Vec<StorePlace>>,
}

impl Clinic {
    pub(crate) async fn new() -> Self {
        Self::on(TestEngine::File).await
    }

    pub(crate) async fn on(engine: TestEngine) -> Self {
        let time = Arc::new(ManualClock::at(NOW.parse().unwrap()));
        let clock: Arc<dyn Clock> = Arc::clone(&time) as _;
        let keys = Keyring::in_memory(Arc::clone(&clock), Arc::new(SeededEntropy::new(1))).await.unwrap();
        let places = std::sync::Mutex::default();
        Self { keys: Arc::new(keys), time, clock, settings: settings(), engine, places }
    }

    /// Under other settings.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self
    }

    /// A pipeline over a new, empty store.
    pub(crate) async fn pipeline(&self) -> Pipeline {
        self.pipeline_on(self.engine).await
    }

    /// The same on another engine.
    pub(crate) async fn pipeline_on(&self, engine: TestEngine) -> Pipeline {
        let place = StorePlace::on(engine).await;
        let pipeline = self.pipeline_at(&place.location()).await;
        self.places.lock().unwrap().push(place);
        pipeline
    }

    /// Over a store that may hold something already.
    pub(crate) async fn pipeline_at(&self, location: &Location) -> Pipeline {
        let db = Database::open(location).await.unwrap();
        let entropy = Arc::new(SeededEntropy::new(2));
        let store = Store::new(db, Arc::clone(&self.keys), Arc::clone(&self.clock), entropy);
        self.pipeline_over(store, embedder().into())
    }

    /// Over an open store, with other models.
    pub(crate) fn pipeline_over(&self, store: Store, models: Models) -> Pipeline {
        let metrics = Arc::new(Metrics::new(&Identity::default()).unwrap());
        Pipeline::new(store, models, &self.settings, metrics).unwrap()
    }
}

/// Sends messages through, so many in a batch; what became of each.
pub(crate) async fn feed(pipeline: &Pipeline, messages: &[Vec<u8>], batch: usize) -> Vec<Disposition> {
    let mut done = Vec::new();
    for chunk in messages.chunks(batch) {
        let raws = chunk.iter().map(|body| RawMessage::from_body(body.clone()));
        done.extend(pipeline.run(raws.collect()).await);
    }
    done
}

/// A port that was free a moment ago.
pub(crate) fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

pub(crate) fn bodies(messages: &[Value]) -> Vec<Vec<u8>> {
    messages.iter().map(|message| message.to_string().into_bytes()).collect()
}

/// Every line of `samples/`, in the order of files and lines.
pub(crate) fn samples() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
    let mut files: Vec<PathBuf> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "ndjson"));
    files.sort();
    let texts = files.iter().map(|path| std::fs::read_to_string(path).unwrap());
    texts.flat_map(|text| text.lines().map(|line| line.as_bytes().to_vec()).collect::<Vec<_>>()).collect()
}

/// Rows of any statement, of [`ORG`] or of the tables that belong to no tenant.
pub(crate) async fn rows(store: &Store, sql: &'static str) -> Vec<Row> {
    let platform = sql.contains("FROM attempt") || sql.contains("FROM quarantine") || sql.contains("FROM key_binding");
    let access = if platform { Access::Platform } else { Access::Organization(OrgId(ORG)) };
    let mut tx = store.db().read(access).await.unwrap();
    tx.fetch_all(&Sql::new(sql), Vec::new()).await.unwrap()
}

pub(crate) async fn count(store: &Store, sql: &'static str) -> i64 {
    rows(store, sql).await[0].i64(0).unwrap()
}

/// The program, with a temporary store and keys and an embedding server without cost.
pub(crate) struct Program {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) server: Option<TestDatabase>,
    provider: FakeProvider,
}

impl Program {
    pub(crate) async fn on(engine: TestEngine) -> Self {
        Self::with_provider(engine, Self::provider_options()).await
    }

    /// A relay before its PostgreSQL server, and the address of the store through it.
    pub(crate) async fn store_behind_fault_proxy(&self) -> (FaultProxy, String) {
        let url = self.server.as_ref().unwrap().url(Some("test_app"));
        let (user, place) = url.split_once('@').unwrap();
        let (host, database) = place.split_once('/').unwrap();
        let relay = FaultProxy::start(host.parse().unwrap()).await.unwrap();
        let through = format!("{user}@{}/{database}", relay.address());
        (relay, through)
    }

    /// The behaviour of its embedding server, unless a test changes it.
    pub(crate) fn provider_options() -> FakeOptions {
        FakeOptions { dimension: DIMENSION, ..FakeOptions::default() }
    }

    pub(crate) async fn with_provider(engine: TestEngine, options: FakeOptions) -> Self {
        let program = Self::without_keys(engine, options).await;
        program.initialise().await;
        program
    }

    /// As it is before `keys init`, which a store on a server waits for.
    pub(crate) async fn without_keys(engine: TestEngine, options: FakeOptions) -> Self {
        let provider = FakeProvider::start(options).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let server = match engine {
            TestEngine::Postgres => Some(TestDatabase::new().await),
            TestEngine::File => {
                copy_embedded_store(&folder.path().join("store.db")).await;
                None
            }
        };
        Self { folder, server, provider }
    }

    /// The `traceparent` of each request to its embedding server.
    #[cfg(feature = "otel")]
    pub(crate) fn traceparents(&self) -> Vec<Option<String>> {
        self.provider.traceparents()
    }

    /// The effect of `keys init` without a process; a file does it at its first start.
    async fn initialise(&self) {
        if self.server.is_some() {
            let store = self.store().await;
            store.key_binding().bind_keys().await.unwrap();
            store.close().await;
        }
    }

    /// On the same engine and with the keys of another, so that what both store can be compared.
    pub(crate) async fn with_keys_of(other: &Program) -> Self {
        let engine = if other.server.is_some() { TestEngine::Postgres } else { TestEngine::File };
        let new = Self::without_keys(engine, Self::provider_options()).await;
        for name in ["keys", "keys.master"] {
            std::fs::copy(other.folder.path().join(name), new.folder.path().join(name)).unwrap();
        }
        new.initialise().await;
        new
    }

    /// Where its store lives.
    pub(crate) fn location(&self) -> Location {
        match &self.server {
            Some(server) => server.location("test_app"),
            None => Location::File(self.folder.path().join("store.db")),
        }
    }

    /// Where its store, keys and provider are.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let own = |name: &str| self.folder.path().join(name).display().to_string();
        [
            ("STORE__PATH", own("store.db")),
            ("STORE__URL", self.server.as_ref().map(|s| s.url(Some("test_app"))).unwrap_or_default()),
            ("STORE__POSTGRES__ALLOW_NOT_DURABLE", "true".to_owned()),
            ("STORE__KEYS", own("keys")),
            ("PIPELINE__NOW", NOW.to_owned()),
            // Only tests of bindings publish as a bound producer; the others allow unbound ones.
            ("INTAKE__UNBOUND_PRODUCERS", "allow".to_owned()),
            ("EXTRACTION__PROFILE", "fast".to_owned()),
            ("EMBEDDING__URL", self.provider.openai_url()),
        ]
        .map(|(key, value)| (format!("ANAMNESIS__{key}"), value))
        .into_iter()
        .chain(model_environment(DIMENSION))
        .collect()
    }

    /// Writes lines to a file and ingests it.
    pub(crate) fn ingest(&self, lines: &[Vec<u8>], more: &[(&str, &str)]) -> Output {
        let file = self.folder.path().join("messages.ndjson");
        let mut text = lines.join(&b'\n');
        text.push(b'\n');
        std::fs::write(&file, text).unwrap();
        self.command(more).args(["ingest", "--output", "json"]).arg(&file).output().unwrap()
    }

    /// The program over this store, still without a verb.
    pub(crate) fn command(&self, more: &[(&str, &str)]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_anamnesis"));
        command.envs(self.environment()).current_dir(self.folder.path());
        for (key, value) in more {
            command.env(key, value);
        }
        command
    }

    /// The store as another process finds it.
    pub(crate) async fn store(&self) -> Store {
        let clock: Arc<dyn Clock> = Arc::new(ManualClock::at(NOW.parse().unwrap()));
        let entropy = Arc::new(SeededEntropy::new(3));
        let path = self.folder.path().join("keys");
        let keys = Keyring::local(&path, None, Arc::clone(&clock), entropy.clone()).await.unwrap();
        let db = Database::open(&self.location()).await.unwrap();
        Store::new(db, Arc::new(keys), clock, entropy)
    }
}

/// The counts that `ingest --output json` prints.
pub(crate) fn counts(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("no counts; standard error: {}", String::from_utf8_lossy(&output.stderr)))
}

/// Status and body of a page, as a probe or a scraper gets it.
#[expect(clippy::disallowed_methods, reason = "the proof is the other side of the program")]
pub(crate) async fn get(url: &str) -> Option<(u16, String)> {
    let answer = reqwest::get(url).await.ok()?;
    Some((answer.status().as_u16(), answer.text().await.ok()?))
}

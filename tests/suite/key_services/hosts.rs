//! The program over a key table in PostgreSQL and a root key in a key service: two hosts, and an outage of either.

use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};
use uuid::Uuid;

use super::fake::{FakeKeyService, ServiceFault};
use super::tables::database;
use super::vault::{Vault, by_environment};
use crate::server::TestDatabase;
use crate::support::{ORG, PATIENT, Program, TestEngine, bodies, counts, document, free_port, get, on_every_program};

on_every_program!(
    keys_in_a_database_and_a_root_in_a_service_serve_every_host,
    an_unreachable_service_stops_a_start_and_makes_nothing,
    a_worker_waits_for_its_key_table_and_goes_on,
);

const PATIENCE: Duration = Duration::from_secs(60);

/// A key service, a key table, and the settings of the program for both.
struct KeyServiceHost {
    fake: FakeKeyService,
    server: TestDatabase,
    _folder: tempfile::TempDir,
    environment: Vec<(String, String)>,
}

impl KeyServiceHost {
    async fn new() -> Self {
        let (fake, folder) = (FakeKeyService::start(Vault::with_a_fixed_token()).await, tempfile::tempdir().unwrap());
        let token = folder.path().join("token");
        std::fs::write(&token, "token-1").unwrap();
        let (server, url) = database().await;
        let mut environment = by_environment(&fake, &token);
        environment.push(("ANAMNESIS__STORE__KEYS_URL".to_owned(), url));
        for (name, value) in [("ATTEMPTS", "2"), ("INITIAL_BACKOFF_MS", "10"), ("TOTAL_MS", "500")] {
            environment.push((format!("ANAMNESIS__KEYS__LIMITS__{name}"), value.to_owned()));
        }
        environment.push(("ANAMNESIS__STORE__POSTGRES__ACQUIRE_TIMEOUT_MS".to_owned(), "500".to_owned()));
        Self { fake, server, _folder: folder, environment }
    }

    fn more(&self) -> Vec<(&str, &str)> {
        self.environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    /// Makes the key table unreachable, or reachable again.
    async fn is_reachable(&self, yes: bool) {
        let url = self.server.url(None);
        let (head, name) = url.rsplit_once('/').unwrap();
        let mut admin = PgConnection::connect(&format!("{head}/postgres")).await.unwrap();
        let sql = format!(
            "ALTER DATABASE {name} ALLOW_CONNECTIONS {yes}; \
             SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}' AND NOT {yes}"
        );
        for one in sql.split(';') {
            admin.execute(AssertSqlSafe(one.to_owned())).await.unwrap();
        }
    }
}

fn ingest(program: &Program, id: u128, patient: u128, place: &KeyServiceHost) -> Output {
    let mut note = document(id, 1, "2026-05-02T10:00:00Z", "Toma sertralina 50 mg al día. Alergia a penicilina.");
    note["patient_id"] = serde_json::json!(Uuid::from_u128(PATIENT.as_u128() + patient));
    program.ingest(&bodies(&[note]), &place.more())
}

fn stored(output: &Output) -> bool {
    output.status.code() == Some(0) && counts(output)["stored"] == 1
}

fn known(program: &Program, patient: u128, place: &KeyServiceHost) -> Output {
    let (org, patient) = (ORG.to_string(), Uuid::from_u128(PATIENT.as_u128() + patient).to_string());
    let verb = ["context", "--output", "json", "--org", org.as_str(), "--patient", patient.as_str()];
    program.command(&place.more()).args(verb).output().unwrap()
}

/// A store whose keys `keys init` has made: no host creates them itself.
async fn initialised(engine: TestEngine) -> (Program, KeyServiceHost) {
    let place = KeyServiceHost::new().await;
    let program = Program::without_keys(engine, Program::provider_options()).await;
    let early = ingest(&program, 1, 0, &place);
    let reported = String::from_utf8_lossy(&early.stderr).into_owned();
    assert_eq!(early.status.code(), Some(2), "{reported}");
    assert!(reported.contains("keys init"), "{reported}");
    let made = program.command(&place.more()).args(["keys", "init"]).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    (program, place)
}

async fn keys_in_a_database_and_a_root_in_a_service_serve_every_host(engine: TestEngine) {
    let (program, place) = initialised(engine).await;
    let first = ingest(&program, 1, 0, &place);
    assert!(stored(&first), "{}", String::from_utf8_lossy(&first.stderr));
    assert!(!program.folder.path().join("keys").exists(), "no key store on this host");
    assert!(!program.folder.path().join("keys.master").exists(), "no root key on this host");
    // A host that has nothing but its configuration.
    for patient in 1..4 {
        assert!(stored(&ingest(&program, 10 + patient, patient, &place)), "patient {patient}");
    }
    for patient in 0..4 {
        let text = String::from_utf8_lossy(&known(&program, patient, &place).stdout).into_owned();
        assert!(text.contains("penicil"), "patient {patient}: {text}");
    }
    // Without the key table a host is refused, and makes no key store itself.
    let alone = program.ingest(&bodies(&[document(99, 1, "2026-05-02T10:00:00Z", "Toma litio.")]), &[]);
    assert_eq!(alone.status.code(), Some(2), "{}", String::from_utf8_lossy(&alone.stderr));
    assert!(!program.folder.path().join("keys").exists());
}

async fn an_unreachable_service_stops_a_start_and_makes_nothing(engine: TestEngine) {
    let (program, place) = initialised(engine).await;
    assert!(stored(&ingest(&program, 1, 0, &place)));
    for (fault, code) in [
        (ServiceFault::Status(503, u32::MAX), 1),
        (ServiceFault::Slow, 1),
        (ServiceFault::Garbage, 1),
        (ServiceFault::Forbidden, 2),
    ] {
        place.fake.fails(fault);
        let output = ingest(&program, 2, 1, &place);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{fault:?}: {text}");
        assert!(!text.contains("canary"), "{text}");
        assert!(fault != ServiceFault::Forbidden || text.contains("does not permit"), "{text}");
    }
    place.fake.fails(ServiceFault::None);
    assert!(stored(&ingest(&program, 2, 1, &place)), "back again: stored, not known as a repetition");
    place.is_reachable(false).await;
    assert_ne!(ingest(&program, 3, 2, &place).status.code(), Some(0));
    place.is_reachable(true).await;
    assert!(stored(&ingest(&program, 3, 2, &place)));
}

struct KeyServiceWorker {
    child: Child,
    port: u16,
}

impl Drop for KeyServiceWorker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl KeyServiceWorker {
    async fn is_ready(&self) -> bool {
        get(&format!("http://127.0.0.1:{}/readyz", self.port)).await.is_some_and(|(status, _)| status == 200)
    }
}

async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let begun = Instant::now();
    while !holds().await {
        assert!(begun.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn a_worker_waits_for_its_key_table_and_goes_on(engine: TestEngine) {
    let (program, place) = initialised(engine).await;
    let spool = program.folder.path().join("spool");
    std::fs::create_dir_all(&spool).unwrap();
    let port = free_port();
    let child = program
        .command(&place.more())
        .arg("worker")
        .env("ANAMNESIS__HTTP__BIND", format!("127.0.0.1:{port}"))
        .env("ANAMNESIS__WORKER__SPOOL", &spool)
        .env("ANAMNESIS__WORKER__POLL_MS", "20")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let worker = KeyServiceWorker { child, port };
    until("the worker is ready", async || worker.is_ready().await).await;
    place.is_reachable(false).await;
    until("the worker is not ready", async || !worker.is_ready().await).await;
    let notes = bodies(&[document(1, 1, "2026-05-02T10:00:00Z", "Toma sertralina 50 mg al día.")]);
    std::fs::write(spool.join(".n"), notes.join(&b'\n')).unwrap();
    std::fs::rename(spool.join(".n"), spool.join("notes.ndjson")).unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(spool.join("notes.ndjson").exists(), "it waits");
    place.is_reachable(true).await;
    let kept =
        async || String::from_utf8_lossy(&known(&program, 0, &place).stdout).to_lowercase().contains("sertralin");
    until("the file is stored", kept).await;
    assert!(!spool.join("notes.ndjson").exists(), "the file is done");
    until("the worker is ready again", async || worker.is_ready().await).await;
    let text = String::from_utf8_lossy(&known(&program, 0, &place).stdout).into_owned();
    assert!(text.to_lowercase().contains("sertralin"), "nothing was lost: {text}");
}

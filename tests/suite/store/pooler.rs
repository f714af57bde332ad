//! Between the program and its server: a pooler in each of its modes, a certificate, a server that crashes.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use anamnesis_config::store::{PostgresConfig, Tls};
use anamnesis_sql::{Access, Database, DbError, Location, PostgresOptions, Sql};
use anamnesis_test_servers::fault_proxy::FaultProxy;
use sqlx::postgres::PgConnectOptions;

use crate::server::TestDatabase;
use crate::support::{Clinic, bodies, document, feed, free_port};

fn script(name: &str) -> Command {
    Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts").join(name))
}

/// A folder that another user can reach: neither pooler nor server runs as root.
pub(crate) fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// A PgBouncer before a test's server. It ends with this value.
pub(crate) struct Pooler {
    child: Child,
    port: u16,
    database: String,
    folder: tempfile::TempDir,
}

impl Pooler {
    /// In a mode of `pool_mode`, with more lines of configuration.
    pub(crate) async fn before(server: &TestDatabase, mode: &str, folder: tempfile::TempDir, more: &str) -> Self {
        let behind: PgConnectOptions = server.url(None).parse().unwrap();
        let (host, port, own) = (behind.get_host(), behind.get_port(), free_port());
        let users = folder.path().join("users");
        std::fs::write(&users, "\"test_app\" \"\"\n").unwrap();
        let text = format!(
            "[databases]\n* = host={host} port={port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {own}\n\
             unix_socket_dir =\nauth_type = trust\nauth_file = {}\npool_mode = {mode}\ndefault_pool_size = 8\n{more}",
            users.display()
        );
        let file = folder.path().join("pgbouncer.ini");
        std::fs::write(&file, text).unwrap();
        for entry in folder.path().read_dir().unwrap() {
            let path = entry.unwrap().path();
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644)).unwrap();
        }
        let child = script("pgbouncer.sh").arg("run").arg(&file).spawn().unwrap();
        let database = behind.get_database().unwrap().to_owned();
        let mut pooler = Self { child, port: own, database, folder };
        let patience = Instant::now() + Duration::from_secs(300);
        while tokio::net::TcpStream::connect(("127.0.0.1", own)).await.is_err() {
            assert_eq!(pooler.child.try_wait().unwrap(), None, "PgBouncer ended");
            assert!(Instant::now() < patience, "PgBouncer does not start");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        pooler
    }

    /// The address of the store through it.
    pub(crate) fn url(&self, host: &str) -> String {
        format!("postgres://test_app@{host}:{}/{}", self.port, self.database)
    }

    fn location(&self, host: &str, config: &PostgresConfig) -> Location {
        Location::Postgres(Box::new(PostgresOptions::new(&self.url(host), config).unwrap()))
    }

    async fn open(&self, config: &PostgresConfig) -> Result<(), DbError> {
        Database::open(&self.location("127.0.0.1", config)).await.map(drop)
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn settings(prepared_statements: bool) -> PostgresConfig {
    PostgresConfig { prepared_statements, ..crate::server::trial() }
}

/// The same messages through it and into memory end in the same store.
async fn the_same_work_is_done(through: &Location) {
    let clinic = Clinic::new().await;
    let (pipeline, plain) = (clinic.pipeline_at(through).await, clinic.pipeline().await);
    let texts = ["Toma litio 400 mg al día.", "Ya no toma litio.", "Alergia a la penicilina.", "Duerme mal."];
    let messages: Vec<_> =
        (1..).zip(texts).map(|(n, text)| document(n, 1, &format!("2026-05-{n:02}T10:00:00Z"), text)).collect();
    for pipeline in [&pipeline, &plain] {
        feed(pipeline, &bodies(&messages), 2).await;
    }
    assert_eq!(pipeline.store().read().digest(None).await.unwrap(), plain.store().read().digest(None).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pooler_of_sessions_is_as_good_as_the_server() {
    let server = TestDatabase::new().await;
    let pooler = Pooler::before(&server, "session", folder(), "").await;
    for prepared in [true, false] {
        pooler.open(&settings(prepared)).await.unwrap();
    }
    the_same_work_is_done(&pooler.location("127.0.0.1", &settings(true))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pooler_of_transactions_that_forgets_statements_is_noticed_at_the_start_and_works_without_them() {
    let server = TestDatabase::new().await;
    // From 1.21 on it could track them. It is configured not to, because older versions cannot.
    let version = Command::new("pgbouncer").arg("--version").output();
    let knows = version.is_ok_and(|reported| {
        let text = String::from_utf8_lossy(&reported.stdout).into_owned();
        let minor = text.split_whitespace().nth(1).and_then(|v| v.split('.').nth(1)?.parse::<u32>().ok());
        minor.is_some_and(|minor| minor >= 21)
    });
    let more = if knows { "max_prepared_statements = 0\n" } else { "" };
    let pooler = Pooler::before(&server, "transaction", folder(), more).await;
    assert_eq!(pooler.open(&settings(true)).await.unwrap_err(), DbError::Pooler);
    pooler.open(&settings(false)).await.unwrap();
    the_same_work_is_done(&pooler.location("127.0.0.1", &settings(false))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pooler_of_statements_is_refused_at_the_start() {
    let server = TestDatabase::new().await;
    let pooler = Pooler::before(&server, "statement", folder(), "").await;
    for prepared in [true, false] {
        assert_eq!(pooler.open(&settings(prepared)).await.unwrap_err(), DbError::Pooler, "prepared: {prepared}");
    }
}

fn certificates(folder: &Path, host: &str) -> PathBuf {
    assert!(script("certificates.sh").arg(folder).arg(host).status().unwrap().success());
    folder.join("ca.pem")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_proves_its_name_by_a_certificate_of_an_authority_that_is_trusted() {
    let server = TestDatabase::new().await;
    let (own, strange) = (folder(), folder());
    let ca = certificates(own.path(), "localhost");
    let stranger = certificates(strange.path(), "localhost");
    let at = |name: &str| own.path().join(name).display().to_string();
    let more = format!(
        "client_tls_sslmode = require\nclient_tls_key_file = {}\nclient_tls_cert_file = {}\n",
        at("server.key"),
        at("server.pem")
    );
    let pooler = Pooler::before(&server, "session", own, &more).await;
    let trusting =
        |ca_file: &Path| PostgresConfig { tls: Tls::VerifyFull, ca_file: ca_file.to_owned(), ..settings(true) };
    the_same_work_is_done(&pooler.location("localhost", &trusting(&ca))).await;
    for (what, host, config) in [
        ("another host's certificate", "127.0.0.1", trusting(&ca)),
        ("another authority", "localhost", trusting(&stranger)),
        ("an authority that nobody named", "localhost", trusting(Path::new(""))),
    ] {
        let refused = Database::open(&pooler.location(host, &config)).await.unwrap_err();
        assert_eq!(refused, DbError::Tls, "{what}");
    }
    assert!(pooler.folder.path().join("server.pem").exists());
}

/// A server of one test, that may be killed. It ends with this value.
struct KillableServer {
    folder: tempfile::TempDir,
}

impl KillableServer {
    fn start(&self) -> (String, SocketAddr) {
        let reported = self.script("start");
        let options: PgConnectOptions = reported.parse().unwrap();
        let place = format!("{}:{}", options.get_host(), options.get_port()).parse().unwrap();
        (reported, place)
    }

    fn script(&self, verb: &str) -> String {
        let folder = self.folder.path().join("pg");
        let output = script("postgres.sh").arg(verb).env("ANAMNESIS_POSTGRES_DIR", folder).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// As a crash would end it.
    fn crash(&self) {
        let file = std::fs::read_to_string(self.folder.path().join("pg/data/postmaster.pid")).unwrap();
        let pid = file.lines().next().unwrap().to_owned();
        assert!(Command::new("kill").args(["-QUIT", &pid]).status().unwrap().success());
        while Path::new("/proc").join(&pid).exists() {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for KillableServer {
    fn drop(&mut self) {
        let folder = self.folder.path().join("pg");
        let _ = script("postgres.sh").arg("stop").env("ANAMNESIS_POSTGRES_DIR", folder).output();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn five_seconds_after_a_crashed_server_is_back_work_goes_on() {
    let mortal = KillableServer { folder: folder() };
    let (administrator, place) = mortal.start();
    // It restarts at another port: the proxy in between stays.
    let line = FaultProxy::start(place).await.unwrap();
    crate::server::prepare_at(&administrator).await;
    let url = format!("postgres://test_app@{}/anamnesis", line.address());
    let at = Location::Postgres(Box::new(PostgresOptions::new(&url, &settings(true)).unwrap()));
    let db = Database::open(&at).await.unwrap();
    let works = async |db: &Database| {
        let mut tx = db.read(Access::Platform).await?;
        tx.fetch_all(&Sql::new("SELECT count(*) FROM organization"), Vec::new()).await
    };
    // Several connections, of which each must notice.
    let many: Vec<_> = futures::future::join_all((0..4).map(|_| db.begin(Access::Platform))).await;
    drop(many);
    for round in 0..2 {
        mortal.crash();
        assert!(works(&db).await.is_err_and(|error| error.is_transient()), "round {round}");
        line.retarget(mortal.start().1);
        let back = async {
            while let Err(error) = works(&db).await {
                assert!(error.is_transient(), "{error:?}");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(5), back).await.expect("it works again");
    }
}

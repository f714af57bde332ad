//! Faults of an embedded store, its keys, its files and the work on it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{DoctorCase, finds, finds_nothing, run};
use crate::support::{Program, TestEngine, bodies, counts, document, free_port};

/// A store that was filled today.
struct HealthyStore {
    program: Program,
}

const DAY: i64 = 86_400_000_000;

impl HealthyStore {
    async fn new() -> Self {
        let program = Program::on(TestEngine::File).await;
        let first = document(1, 1, "2026-05-02T10:00:00Z", "Toma sertralina 50 mg al día.");
        let mut second = document(2, 1, "2026-05-02T10:00:00Z", "Toma sertralina 50 mg al día.");
        let now = [("ANAMNESIS__PIPELINE__NOW", "")];
        let tally = program.ingest(&bodies(&[first]), &now);
        assert_eq!(counts(&tally)["stored"], 1);
        fs::copy(program.folder.path().join("keys"), program.folder.path().join("keys.older")).unwrap();
        second["patient_id"] = uuid::Uuid::from_u128(7).to_string().into();
        let tally = program.ingest(&[b"no message".to_vec(), second.to_string().into_bytes()], &now);
        assert_eq!(counts(&tally)["stored"], 1);
        fs::remove_file(program.folder.path().join("messages.ndjson")).unwrap();
        fs::create_dir(program.folder.path().join("spool")).unwrap();
        Self { program }
    }

    /// A copy for one fault.
    fn copy(&self) -> DoctorFolder {
        let folder = tempfile::tempdir().unwrap();
        for entry in fs::read_dir(self.program.folder.path()).unwrap() {
            let path = entry.unwrap().path();
            let to = folder.path().join(path.file_name().unwrap());
            if path.is_dir() {
                fs::create_dir(to).unwrap();
            } else {
                fs::copy(path, to).unwrap();
            }
        }
        let own = |name: &str| folder.path().join(name).display().to_string();
        let mut environment = self.program.environment();
        environment.extend([
            ("ANAMNESIS__STORE__PATH".to_owned(), own("store.db")),
            ("ANAMNESIS__STORE__KEYS".to_owned(), own("keys")),
            ("ANAMNESIS__WORKER__SPOOL".to_owned(), own("spool")),
            ("ANAMNESIS__PIPELINE__NOW".to_owned(), String::new()),
        ]);
        DoctorFolder { folder, environment }
    }
}

struct DoctorFolder {
    folder: tempfile::TempDir,
    environment: Vec<(String, String)>,
}

impl DoctorFolder {
    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(&self, name: &str, text: &str) -> String {
        fs::write(self.at(name), text).unwrap();
        self.at(name).display().to_string()
    }

    fn mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.at(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    async fn store(&self) -> SqliteConnection {
        SqliteConnection::connect_with(&SqliteConnectOptions::new().filename(self.at("store.db"))).await.unwrap()
    }

    async fn sql(&self, statements: &[&str]) {
        let mut store = self.store().await;
        for statement in statements {
            store.execute(AssertSqlSafe((*statement).to_owned())).await.unwrap();
        }
        // The log next to the file would be read, and is a file more.
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)").await.unwrap();
        store.close().await.unwrap();
    }

    fn verb(&self, arguments: &[&str], more: &[(&str, &str)]) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_anamnesis"));
        command.args(arguments).envs(self.environment.iter().cloned()).envs(more.iter().copied());
        let output = command.current_dir(self.folder.path()).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn run(&self, change: &DoctorCase) -> std::process::Output {
        run(self.folder.path(), &self.environment, change)
    }
}

fn toml(place: &DoctorFolder, text: &str) -> DoctorCase {
    let path = place.file("clinic.toml", text);
    DoctorCase { variables: vec![("ANAMNESIS_CONFIG".to_owned(), path)], ..DoctorCase::none() }
}

/// A fault, by its code.
type DoctorFault = (&'static str, fn(&DoctorFolder) -> DoctorCase);

fn each(healthy: &HealthyStore, faults: &[DoctorFault]) {
    for (code, inject) in faults {
        let place = healthy.copy();
        let change = inject(&place);
        let output = place.run(&change);
        finds(&output, code);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_healthy_embedded_store_has_no_finding_and_doctor_leaves_it_as_it_was() {
    let healthy = HealthyStore::new().await;
    let place = healthy.copy();
    finds_nothing(&place.run(&DoctorCase::none()));
    // Nor does it make a store where there is none.
    let empty = tempfile::tempdir().unwrap();
    let none = [("STORE__PATH", "new/store.db"), ("STORE__KEYS", "new/keys"), ("WORKER__SPOOL", "")];
    finds_nothing(&run(
        empty.path(),
        &healthy.program.environment(),
        &DoctorCase::with(&[none.as_slice(), &[("PIPELINE__NOW", "")]].concat()),
    ));
    assert_eq!(fs::read_dir(empty.path()).unwrap().count(), 0);
    let mut table = Command::new(env!("CARGO_BIN_EXE_anamnesis"));
    table.args(["doctor", "--all", "--disk-free", "0", "--disk-full", "0"]).envs(place.environment.iter().cloned());
    let output = table.output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("0 faults, 0 warnings"), "{output:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_fault_of_the_configuration_has_its_code() {
    let healthy = HealthyStore::new().await;
    each(
        &healthy,
        &[
            ("config_file", |_| DoctorCase {
                variables: vec![("ANAMNESIS_CONFIG".into(), "no-such.toml".into())],
                ..DoctorCase::none()
            }),
            ("config_syntax", |place| toml(place, "[store\n")),
            ("config_key", |_| DoctorCase::with(&[("WORKER__POLL", "5")])),
            ("config_value", |_| DoctorCase::with(&[("LOG__FORMAT", super::SECRET)])),
            ("config_range", |_| DoctorCase::with(&[("HTTP__TIMEOUT_SECONDS", "90")])),
            ("config_rule", |_| DoctorCase::with(&[("BROKER__CERTIFICATE_FILE", "own.pem")])),
            ("config_renamed", |place| toml(place, "[broker]\nrelay_ms = 300\n")),
            ("config_renamed", |place| {
                fs::create_dir(place.at("jobs")).unwrap();
                let policy = include_str!("../../../jobs/expiry.toml").replace("batch_delay_ms", "pause_ms");
                place.file("jobs/expiry.toml", &policy);
                DoctorCase::with(&[("JOBS__DIRECTORY", &place.at("jobs").display().to_string())])
            }),
            ("config_rule", |_| DoctorCase::with(&[("BROKER__RELAY_MS", "30"), ("BROKER__OUTBOX_POLL_MS", "40")])),
            ("config_secret", |place| {
                place.file("secret", super::SECRET);
                place.mode("secret", 0o644);
                toml(place, "[store]\nkeys_url_file = 'secret'\n")
            }),
            ("job_policy", |place| {
                fs::create_dir(place.at("jobs")).unwrap();
                place.file("jobs/expiry.toml", "schedule = 5\n");
                DoctorCase::with(&[("JOBS__DIRECTORY", &place.at("jobs").display().to_string())])
            }),
            ("clock_fixed", |_| {
                use anamnesis_core::clock::{Clock as _, SystemClock};
                DoctorCase::with(&[("PIPELINE__NOW", &SystemClock.now().to_rfc3339())])
            }),
        ],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn each_fault_of_the_key_store_has_its_code() {
    let healthy = HealthyStore::new().await;
    let other = HealthyStore::new().await;
    let foreign = |name: &str| fs::read(other.program.folder.path().join(name)).unwrap();
    let place = healthy.copy();
    fs::write(place.at("keys"), foreign("keys")).unwrap();
    fs::write(place.at("keys.master"), foreign("keys.master")).unwrap();
    finds(&place.run(&DoctorCase::none()), "keys_foreign");
    each(
        &healthy,
        &[
            ("keys_missing", |place| {
                fs::remove_file(place.at("keys")).unwrap();
                DoctorCase::none()
            }),
            ("keys_damaged", |place| {
                fs::write(place.at("keys"), "").unwrap();
                DoctorCase::none()
            }),
            ("keys_damaged", |place| {
                let whole = fs::read(place.at("keys")).unwrap();
                fs::write(place.at("keys"), &whole[..whole.len() / 2]).unwrap();
                DoctorCase::none()
            }),
            ("keys_rolled_back", |place| {
                fs::rename(place.at("keys.older"), place.at("keys")).unwrap();
                place.mode("keys", 0o600);
                DoctorCase::none()
            }),
            ("keys_exposed", |place| {
                place.mode("keys", 0o644);
                DoctorCase::none()
            }),
            ("root_key_missing", |place| {
                fs::remove_file(place.at("keys.master")).unwrap();
                DoctorCase::none()
            }),
            ("root_key_exposed", |place| {
                place.mode("keys.master", 0o644);
                DoctorCase::none()
            }),
            ("root_key_malformed", |place| {
                place.file("keys.master", "zz");
                DoctorCase::none()
            }),
            ("root_key_wrong", |_| DoctorCase::with(&[("STORE__MASTER_KEY", &"00".repeat(32))])),
            ("keys_file", |place| {
                fs::create_dir(place.at("folder")).unwrap();
                DoctorCase::with(&[("STORE__KEYS", &place.at("folder").display().to_string())])
            }),
            ("root_key_denied", |_| DoctorCase::with(&[("KEYS__ROOT", "aws"), ("KEYS__AWS__KEY", "alias/store")])),
        ],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_service_that_does_not_answer_has_its_code() {
    let healthy = HealthyStore::new().await;
    let place = healthy.copy();
    let options = SqliteConnectOptions::new().filename(place.at("keys"));
    let mut keys = SqliteConnection::connect_with(&options).await.unwrap();
    keys.execute("UPDATE key_store SET root = 'vault:transit/store', wrapped = CAST('vault:v1:AAAA' AS BLOB)")
        .await
        .unwrap();
    keys.close().await.unwrap();
    let (url, token) = (format!("http://127.0.0.1:{}", free_port()), place.file("token", super::SECRET));
    place.mode("token", 0o600);
    let vault = [
        ("KEYS__ROOT", "vault"),
        ("KEYS__VAULT__URL", &url),
        ("KEYS__VAULT__KEY", "store"),
        ("KEYS__VAULT__TOKEN_FILE", &token),
        ("KEYS__LIMITS__ATTEMPTS", "1"),
    ];
    let output = place.run(&DoctorCase::with(&vault));
    finds(&output, "keys_unanswered");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_fault_of_the_stores_file_has_its_code() {
    let healthy = HealthyStore::new().await;
    each(
        &healthy,
        &[
            ("store_folder", |place| {
                let below = place.file("plain", "");
                DoctorCase::with(&[("STORE__PATH", &format!("{below}/store.db"))])
            }),
            ("store_not_writable", |place| {
                let everything = [place.folder.path().to_owned()];
                let below = fs::read_dir(place.folder.path()).unwrap().map(|entry| entry.unwrap().path());
                for path in everything.into_iter().chain(below) {
                    let _ = std::os::unix::fs::chown(&path, Some(65_534), None);
                }
                place.mode("store.db", 0o400);
                let is_root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
                DoctorCase { as_another: is_root, ..DoctorCase::none() }
            }),
            ("store_damaged", |place| {
                place.file("store.db", &"no store".repeat(1_000));
                DoctorCase::none()
            }),
            ("disk_low", |_| DoctorCase::asking(&["--disk-free", "100"])),
            ("disk_full", |_| DoctorCase::asking(&["--disk-full", "1000000000"])),
        ],
    );
    let last = "WHERE version = (SELECT max(version) FROM _sqlx_migrations)";
    for (code, change) in [
        ("schema_behind", format!("DELETE FROM _sqlx_migrations {last}")),
        ("schema_newer", format!("UPDATE _sqlx_migrations SET version = 9999 {last}")),
        ("schema_changed", format!("UPDATE _sqlx_migrations SET checksum = x'00' {last}")),
    ] {
        let place = healthy.copy();
        place.sql(&[&change]).await;
        finds(&place.run(&DoctorCase::none()), code);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_fault_of_the_embedding_provider_has_its_code() {
    let healthy = HealthyStore::new().await;
    each(
        &healthy,
        &[
            ("embedding_unreachable", |_| {
                DoctorCase::with(&[("EMBEDDING__URL", &format!("http://127.0.0.1:{}/v1", free_port()))])
            }),
            ("embedding_dimension", |_| DoctorCase::with(&[("EMBEDDING__PROFILE__DIMENSION", "8")])),
            ("embedding_setting", |_| DoctorCase::with(&[("EMBEDDING__PROVIDER", "builtin")])),
            ("model_file", |place| {
                let file = place.file("model", "no model");
                DoctorCase::with(&[("EMBEDDING__PROVIDER", "builtin"), ("EMBEDDING__MODEL_FILE", &file)])
            }),
        ],
    );
    for (code, answer) in [
        ("embedding_refused", ResponseTemplate::new(401)),
        ("embedding_answer", ResponseTemplate::new(200).set_body_string("{}")),
    ] {
        let provider = MockServer::start().await;
        Mock::given(any()).respond_with(answer).mount(&provider).await;
        let place = healthy.copy();
        finds(
            &place.run(&DoctorCase::with(&[
                ("EMBEDDING__URL", &format!("{}/v1", provider.uri())),
                ("EMBEDDING__API_KEY", super::SECRET),
            ])),
            code,
        );
    }
    let place = healthy.copy();
    place.sql(&["UPDATE organization SET vector_generation = 7, vector_model = 'another'"]).await;
    finds(&place.run(&DoctorCase::none()), "generation_without_model");
    // Its last number is another one than in the file of the release.
    let place = healthy.copy();
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let changed = |name: &str| {
        let mut model = fs::read(models.join(name)).unwrap();
        *model.last_mut().unwrap() ^= 1;
        fs::write(place.at("model"), model).unwrap();
        place.at("model").display().to_string()
    };
    let reader = changed("reader.safetensors");
    finds(
        &place.run(&DoctorCase::with(&[("EXTRACTION__PROFILE", "careful"), ("EXTRACTION__READER_FILE", &reader)])),
        "model_other",
    );
    let encoder = changed("use-multilingual-3-pruned.safetensors");
    finds(
        &place.run(&DoctorCase::with(&[("EMBEDDING__PROVIDER", "builtin"), ("EMBEDDING__MODEL_FILE", &encoder)])),
        "model_file",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn each_fault_of_traces_has_its_code() {
    let healthy = HealthyStore::new().await;
    let away = format!("http://127.0.0.1:{}", free_port());
    let place = healthy.copy();
    let found =
        |more: &[(&str, &str)]| place.run(&DoctorCase::with(&[&[("TRACES__ENDPOINT", away.as_str())], more].concat()));
    if !anamnesis_observability::traces::BUILT {
        return finds(&found(&[]), "config_unbuilt");
    }
    finds(&found(&[]), "traces_unavailable");
    finds(&found(&[("TRACES__CA_FILE", "absent.pem")]), "traces_unusable");
    // It takes an empty request for one.
    let collector = MockServer::start().await;
    Mock::given(any()).respond_with(ResponseTemplate::new(200)).mount(&collector).await;
    finds_nothing(&place.run(&DoctorCase::with(&[("TRACES__ENDPOINT", &collector.uri())])));
    let asked = collector.received_requests().await.unwrap();
    assert_eq!((asked.len(), asked[0].url.path(), asked[0].body.len()), (1, "/v1/traces", 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_fault_of_a_file_that_settings_name_has_its_code() {
    let healthy = HealthyStore::new().await;
    each(
        &healthy,
        &[
            ("lexicon", |place| {
                let file = place.file("drugs.tsv", "no lexicon\n");
                DoctorCase::with(&[("EXTRACTION__LEXICONS", &format!("[{file:?}]"))])
            }),
            ("redaction_rules", |place| {
                let org = "[[redaction.organizations]]\norganization = \"5f3b1c52-6d0e-4c43-9a55-0a4f6c1d2e3f\"\n";
                toml(place, &format!("{org}custom = \"no-such.toml\"\n"))
            }),
            ("spool_missing", |place| DoctorCase::with(&[("WORKER__SPOOL", &place.at("none").display().to_string())])),
            ("spool_unbound", |_| DoctorCase::with(&[("INTAKE__UNBOUND_PRODUCERS", "refuse")])),
            ("spool_not_writable", |place| DoctorCase::with(&[("WORKER__SPOOL", &place.file("plain", ""))])),
            ("spool_elsewhere", |place| {
                std::os::unix::fs::symlink(place.folder.path(), place.at("spool/.claimed")).unwrap();
                DoctorCase::none()
            }),
            ("certificate_unreadable", |_| DoctorCase::with(&[("BROKER__CA_FILE", "no-such.pem")])),
            ("certificate_expired", |_| {
                let expired = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/certificates/short.pem");
                DoctorCase::with(&[("BROKER__CA_FILE", expired)])
            }),
            ("certificate_expiring", |place| {
                let file = place.at("soon.pem").display().to_string();
                let made = Command::new("openssl")
                    .args([
                        "req",
                        "-x509",
                        "-newkey",
                        "ec",
                        "-pkeyopt",
                        "ec_paramgen_curve:prime256v1",
                        "-nodes",
                        "-days",
                        "5",
                    ])
                    .args(["-subj", "/CN=soon.example", "-keyout", "/dev/null", "-out", &file])
                    .output();
                assert!(made.unwrap().status.success());
                DoctorCase::with(&[("EMBEDDING__CA_FILE", &file)])
            }),
        ],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn each_fault_of_what_was_done_over_time_has_its_code() {
    let healthy = HealthyStore::new().await;
    let webhook = format!("[{{url=\"http://127.0.0.1:{}/hook\", secret=\"{}\"}}]", free_port(), super::SECRET);
    let callbacks = [("BROKER__WEBHOOKS", webhook.as_str())];
    let ago = |column: &str, days: i64| format!("{column} = {column} - {}", days * DAY);
    let cases = [
        ("time_zone", vec!["UPDATE organization SET time_zone = 'Mars/Olympus'".to_owned()], DoctorCase::none()),
        ("clock_back", vec![format!("UPDATE outbox SET {}", ago("created_at", -2))], DoctorCase::none()),
        ("quarantine_old", vec![format!("UPDATE quarantine SET {}", ago("created_at", 10))], DoctorCase::none()),
        ("quarantine_growing", vec![], DoctorCase::asking(&["--quarantine-growth", "1"])),
        ("outbox_stuck", vec![format!("UPDATE outbox SET {}", ago("created_at", 1))], DoctorCase::with(&callbacks)),
        (
            "event_refused",
            vec!["UPDATE outbox SET published_at = created_at, ended = 'refused'".to_owned()],
            DoctorCase::with(&callbacks),
        ),
        ("job_never_ran", vec![format!("UPDATE organization SET {}", ago("created_at", 5))], DoctorCase::none()),
    ];
    for (code, statements, change) in cases {
        let place = healthy.copy();
        place.sql(&statements.iter().map(String::as_str).collect::<Vec<_>>()).await;
        finds(&place.run(&change), code);
    }
    let place = healthy.copy();
    place.verb(&["job", "run", "expiry"], &[]);
    finds_nothing(&place.run(&DoctorCase::none()));
    let began = format!(
        "UPDATE job_run SET state = 'running', finished_at = NULL, wake_at = started_at, {}",
        ago("started_at", 1)
    );
    place.sql(&[&began]).await;
    finds(&place.run(&DoctorCase::none()), "job_stuck");
    place.sql(&["UPDATE job_run SET state = 'failed', error = 'store'"]).await;
    finds(&place.run(&DoctorCase::none()), "job_failed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_ran_once_and_then_no_more_is_overdue() {
    use anamnesis_core::clock::{Clock as _, SystemClock};
    let healthy = HealthyStore::new().await;
    let place = healthy.copy();
    place.sql(&[&format!("UPDATE organization SET created_at = created_at - {}", 5 * DAY)]).await;
    let day = (SystemClock.now() - chrono::TimeDelta::days(4)).date_naive().to_string();
    for job in anamnesis_jobs::JobName::ALL {
        place.verb(&["job", "run", job.code(), "--as-of", &day], &[]);
    }
    finds(&place.run(&DoctorCase::none()), "job_overdue");
}

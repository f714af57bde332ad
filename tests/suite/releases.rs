//! Data of earlier releases (tests/data/releases): their stores open, migrate and answer as before; their messages are
//! accepted; their events have today's schemas. And a newer schema stops an older program.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anamnesis_core::event::EventKind;
use anamnesis_messages::{Decoder, Envelope};
use anamnesis_rabbitmq::consumer::InboundMessage;
use anamnesis_sql as engine;
use lapin::BasicProperties;
use lapin::types::{AMQPValue, FieldTable};
use serde_json::Value;
use sqlx::{Connection as _, SqliteConnection};

use crate::server::TestDatabase;

/// The instant at which the fixtures were written and are read.
const NOW: &str = "2026-07-01T12:00:00Z";

/// Where answers about an old store differ from those of the release that wrote it: release, path without patients and
/// places of lists, and the line of CHANGELOG.md that says so.
const CHANGED: &[(&str, &str, &str)] = &[
    ("0.1.0", "context.profile.allergies.statement", OWN_WORD),
    ("0.1.0", "context.profile.measurements.statement", OWN_WORD),
    ("0.1.0", "memories.statement", OWN_WORD),
    ("0.1.0", "profile.allergies.statement", OWN_WORD),
    ("0.1.0", "profile.measurements.statement", OWN_WORD),
    ("0.2.0", "context.profile.allergies.statement", OWN_WORD),
    ("0.2.0", "context.profile.measurements.statement", OWN_WORD),
    ("0.2.0", "memories.statement", OWN_WORD),
    ("0.2.0", "profile.allergies.statement", OWN_WORD),
    ("0.2.0", "profile.measurements.statement", OWN_WORD),
];
const OWN_WORD: &str = "Memories of medicines and allergies also show the document's own word in brackets";

fn releases() -> Vec<(String, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/releases");
    let folders = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let mut found: Vec<_> =
        folders.map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), path)).collect();
    found.sort();
    assert!(!found.is_empty(), "there is no release to compare with");
    found
}

fn unpacked(path: &Path) -> Vec<u8> {
    let done = Command::new("gzip").arg("-dc").arg(path).output().expect("gzip runs");
    assert!(done.status.success(), "{}", path.display());
    done.stdout
}

/// A copy of the store of a release with its keys; on a server, where one is given.
struct ReleasedStore {
    folder: tempfile::TempDir,
    url: String,
}

impl ReleasedStore {
    fn unpack(release: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("store.db"), unpacked(&release.join("store.db.gz"))).unwrap();
        for name in ["keys", "keys.master"] {
            let copy = folder.path().join(name);
            std::fs::copy(release.join(name), &copy).unwrap();
            std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o600)).unwrap();
        }
        Self { folder, url: String::new() }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let own = |name: &str| self.folder.path().join(name).display().to_string();
        let mut command = Command::new(env!("CARGO_BIN_EXE_anamnesis"));
        command.args(arguments).current_dir(self.folder.path());
        for (key, value) in [
            ("STORE__PATH", own("store.db")),
            ("STORE__KEYS", own("keys")),
            ("STORE__URL", self.url.clone()),
            ("STORE__POSTGRES__ALLOW_NOT_DURABLE", "true".to_owned()),
            ("PIPELINE__NOW", NOW.to_owned()),
            ("INTAKE__UNBOUND_PRODUCERS", "allow".to_owned()),
        ] {
            command.env(format!("ANAMNESIS__{key}"), value);
        }
        command.output().unwrap()
    }

    fn answer(&self, arguments: &[&str]) -> Value {
        let done = self.run(arguments);
        serde_json::from_slice(&done.stdout)
            .unwrap_or_else(|_| panic!("{arguments:?}: {}", String::from_utf8_lossy(&done.stderr)))
    }

    /// The paths at which the answers of the release and of this program differ.
    fn differing(&self, release: &Path) -> Vec<String> {
        let expected: Value =
            serde_json::from_slice(&std::fs::read(release.join("answers.json")).unwrap()).expect("JSON");
        let mut found = Vec::new();
        for (patient, answers) in expected.as_object().unwrap() {
            // The organisation is part of the patient's memories.
            let org = organization(release, patient);
            let whom = ["--org", &org, "--patient", patient, "--output", "json"];
            let query = ["--query", "sleep and medication"];
            for (name, verb) in
                [("profile", &["profile"][..]), ("memories", &["memory", "list"]), ("context", &["context"])]
            {
                let more: &[&str] = if name == "context" { &query } else { &[] };
                let now = self.answer(&[verb, &whom, more].concat());
                compare(&answers[name], &now, name, &mut found);
            }
        }
        found.sort();
        found.dedup();
        found
    }
}

/// The organisation of a patient, as the messages of the release name it.
fn organization(release: &Path, patient: &str) -> String {
    let messages = std::fs::read_to_string(release.join("messages.ndjson")).unwrap();
    let of_patient =
        |line: &str| serde_json::from_str::<Value>(line).ok().filter(|m| m["data"]["patient_id"] == patient);
    let message = messages.lines().find_map(of_patient).expect("the patient has messages");
    message["data"]["organization_id"].as_str().unwrap().to_owned()
}

/// Paths at which two answers differ. Engines and processors differ in the last digits of a similarity.
fn compare(old: &Value, new: &Value, path: &str, found: &mut Vec<String>) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            let keys: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            for key in keys {
                let of = |map: &serde_json::Map<String, Value>| map.get(key).cloned().unwrap_or_default();
                compare(&of(old), &of(new), &format!("{path}.{key}"), found);
            }
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            old.iter().zip(new).for_each(|(old, new)| compare(old, new, path, found));
        }
        (Value::Number(old), Value::Number(new)) => {
            if (old.as_f64().unwrap() - new.as_f64().unwrap()).abs() > 1e-6 {
                found.push(path.to_owned());
            }
        }
        _ if old == new => {}
        _ => found.push(path.to_owned()),
    }
}

fn named(release: &str) -> Vec<String> {
    CHANGED.iter().filter(|(of, ..)| *of == release).map(|(_, path, _)| (*path).to_owned()).collect()
}

#[test]
fn the_file_of_each_release_opens_migrates_and_answers_as_before() {
    for (name, release) in releases() {
        let old = ReleasedStore::unpack(&release);
        assert_eq!(old.differing(&release), named(&name), "{name}");
        let quarantine = old.answer(&["quarantine", "list", "--output", "json"]);
        assert_eq!(quarantine.as_array().map_or(1, Vec::len), 1, "{name}: {quarantine}");
        let trail = old.run(&["audit", "verify", "--output", "json"]);
        assert!(matches!(trail.status.code(), Some(0 | 3)), "{name}: {}", String::from_utf8_lossy(&trail.stdout));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_database_of_each_release_migrates_and_answers_as_before() {
    for (name, release) in releases() {
        let server = TestDatabase::unmigrated().await;
        let dump = String::from_utf8(unpacked(&release.join("postgres.sql.gz"))).unwrap();
        // The effect of restoring the dump, statement by statement.
        let mut connection = server.administrator().await;
        sqlx::raw_sql("DROP SCHEMA anamnesis CASCADE").execute(&mut connection).await.unwrap();
        sqlx::raw_sql(sqlx::AssertSqlSafe(dump)).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        engine::migrate(&server.location("test_owner")).await.unwrap();
        let old = ReleasedStore { url: server.url(Some("test_app")), ..ReleasedStore::unpack(&release) };
        assert_eq!(old.differing(&release), named(&name), "{name}");
    }
}

/// A message as the fixture describes it: properties and body.
fn delivered(fixture: &Value) -> Result<Envelope, String> {
    let properties = &fixture["properties"];
    let mut headers = FieldTable::default();
    for (name, value) in properties["headers"].as_object().into_iter().flatten() {
        headers.insert(name.as_str().into(), AMQPValue::LongString(value.as_str().unwrap().into()));
    }
    let mut sent = BasicProperties::default().with_content_type(properties["content_type"].as_str().unwrap().into());
    if let Some(id) = properties["message_id"].as_str() {
        sent = sent.with_message_id(id.into()).with_headers(headers);
    }
    let message = InboundMessage::new(1, false, "bulk.x", sent, fixture["body"].to_string().into_bytes(), 1 << 20);
    if let Some(refusal) = message.refused {
        return Err(refusal.to_string());
    }
    let decoder = Decoder::default();
    let decoded = match message.attributes {
        Some(attributes) => decoder.decode_with(attributes, &message.body),
        None => decoder.decode(&message.body),
    };
    decoded.map_err(|refusal| refusal.to_string())
}

#[test]
fn each_message_of_each_release_is_accepted_in_every_form() {
    for (name, release) in releases() {
        let mut accepted = 0;
        for entry in std::fs::read_dir(release.join("messages")).unwrap() {
            let path = entry.unwrap().path();
            let fixture: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).expect("JSON");
            let file = path.file_name().unwrap().to_str().unwrap().to_owned();
            let envelope = delivered(&fixture).unwrap_or_else(|refusal| panic!("{name}, {file}: {refusal}"));
            assert!(file.starts_with(envelope.kind().name()), "{name}, {file}: {}", envelope.kind().name());
            assert_eq!(envelope.unknown_fields, Vec::<String>::new(), "{name}, {file}");
            accepted += 1;
        }
        assert!(accepted >= 15, "{name}: five types in three forms, and {accepted} were found");
    }
}

#[test]
fn each_event_of_each_release_keeps_the_schema_of_today() {
    for (name, release) in releases() {
        let events = std::fs::read_to_string(release.join("events.ndjson")).unwrap();
        let mut kinds = std::collections::BTreeSet::new();
        for line in events.lines() {
            let event: Value = serde_json::from_str(line).expect("JSON");
            let kind = event["type"].as_str().unwrap().to_owned();
            let known = EventKind::ALL.iter().find(|known| known.name == kind).unwrap_or_else(|| panic!("{kind}"));
            let schema = jsonschema::validator_for(&known.schema().to_value()).expect("a schema");
            let wrong: Vec<String> = schema.iter_errors(&event["data"]).map(|error| error.to_string()).collect();
            assert!(wrong.is_empty(), "{name}, {kind}: {wrong:?}");
            kinds.insert(kind);
        }
        assert!(kinds.len() >= 5, "{name}: {kinds:?}");
    }
}

/// The number of a migration that no program knows.
const LATER: i64 = 9_999;

#[tokio::test(flavor = "multi_thread")]
async fn a_newer_schema_stops_an_older_program() {
    let (_, release) = releases().pop().unwrap();
    let old = ReleasedStore::unpack(&release);
    assert!(old.run(&["quarantine", "list"]).status.success());
    let address = format!("sqlite://{}", old.folder.path().join("store.db").display());
    let mut connection = SqliteConnection::connect(&address).await.unwrap();
    sqlx::query("INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) VALUES ($1, 'later', 1, x'00', 0)")
        .bind(LATER)
        .execute(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
    for verb in [&["quarantine", "list"][..], &["worker"], &["ingest", "messages.ndjson"]] {
        let done = old.run(verb);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(1), "{verb:?}: {said}");
        assert!(said.contains(&format!("(migration {LATER})")) && said.contains("newer version"), "{verb:?}: {said}");
    }
    let found = old.run(&["doctor", "--output", "json"]);
    assert!(String::from_utf8_lossy(&found.stdout).contains("\"schema_newer\""));
}

//! A canary in every free text of every message: a patient's words and identity are only stored sealed.

use std::path::{Path, PathBuf};

use aho_corasick::AhoCorasick;
use anamnesis_core::ids::DocumentId;
use anamnesis_crypto::ColumnRef;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde_json::{Value, json};
use uuid::Uuid;

use super::server::TestDatabase;
use super::support::{
    self, Clinic, ORG, PATIENT, Program, TestEngine, bodies, event, feed, on_every_engine, on_every_program,
};

/// Makes canaries, and remembers them. Letters only, so that no rule of redaction takes them for an identifier.
#[derive(Default)]
struct CanaryFactory(Vec<String>);

impl CanaryFactory {
    fn put(&mut self) -> String {
        let n = self.0.len();
        let letter = |n: usize| char::from(b'a' + u8::try_from(n % 26).unwrap());
        let bird = format!("zqcanario{}{}wxkq", letter(n / 26), letter(n));
        self.0.push(bird.clone());
        bird
    }
}

const AT: &str = "2026-05-04T10:00:00Z";

fn documents(cage: &mut CanaryFactory) -> Vec<Value> {
    let named = cage.0.len();
    let mut name = cage.put();
    name[..1].make_ascii_uppercase();
    cage.0[named].clone_from(&name);
    let text = format!("Vino {name} y habló de {}. Toma sertralina 50 mg al día.", cage.put());
    let hint = json!([{"role": "patient", "names": [name], "phones": [cage.put()], "emails": [cage.put()],
        "ids": [cage.put()], "addresses": [cage.put()]}]);
    let provenance = json!({"source": cage.put(), "proxy_agent": cage.put()});
    let file = json!({"name": cage.put(), "media_type": cage.put(), "sha256": "0".repeat(64), "uri": cage.put()});
    let metadata = json!({"sentiment": cage.put(), "risk_level": cage.put(), "themes": [cage.put()]});
    let base = json!({"organization_id": ORG, "patient_id": PATIENT, "occurred_at": AT});
    let mut whole = base.clone();
    let own = json!({"document_id": Uuid::from_u128(1), "document_type": "clinical_note", "text": text,
        "known_identities": hint, "metadata": metadata, "provenance": provenance, "file": file,
        "session_key": cage.put(), cage.put(): cage.put()});
    merge(&mut whole, own);
    let mut turns = base;
    let said = |speaker: &str, text: String| json!({"speaker": speaker, "text": text});
    let own = json!({"document_id": Uuid::from_u128(2), "document_type": "session_transcript",
        "turns": [said("patient", format!("tengo {} y quiero morirme", cage.put())), said("clinician", cage.put())]});
    merge(&mut turns, own);
    vec![whole, turns]
}

fn others(cage: &mut CanaryFactory) -> Vec<Value> {
    let own = [
        json!({"actor": Uuid::from_u128(9), "recorded_at": AT, "region": cage.put(), "privacy_tier": cage.put(),
            "conditions": [{"name": cage.put(), "code": cage.put()}],
            "allergies": [{"substance": cage.put(), "reaction": cage.put()}],
            "medications": [{"name": cage.put(), "dose": cage.put(), "route": cage.put(), "frequency": cage.put()}],
            "emergency_contacts": [{"reference": cage.put()}], "preferences": {cage.put(): cage.put()}}),
        json!({"metric": cage.put(), "unit": cage.put(), "value": 7.5, "trend": cage.put(), "device": cage.put(),
            "synced_at": AT}),
        json!({"scope": cage.put(), "provision": "permit", "from": AT, "recorded_by": Uuid::from_u128(9)}),
        json!({"actor": {"id": Uuid::from_u128(9), "role": "patient"}, "command": "verify", "issued_at": AT,
            "memory_ids": [Uuid::from_u128(5)], "topic": cage.put(), "reason": cage.put(), "text": cage.put()}),
        json!({"actor": {"id": Uuid::from_u128(9), "role": "patient"}, "command": "forget", "issued_at": AT,
            "topic": cage.put(), "reason": cage.put()}),
    ];
    let scope = json!({"organization_id": ORG, "patient_id": PATIENT});
    own.into_iter()
        .map(|own| {
            let mut all = scope.clone();
            merge(&mut all, own);
            all
        })
        .collect()
}

fn merge(into: &mut Value, more: Value) {
    let Value::Object(more) = more else { unreachable!("messages are objects") };
    into.as_object_mut().unwrap().extend(more);
}

/// Messages that break the contract, each in another way, each with its canary where it breaks.
fn broken(cage: &mut CanaryFactory) -> Vec<Vec<u8>> {
    let mut wrong = json!({"organization_id": ORG, "patient_id": PATIENT, "document_id": Uuid::from_u128(3),
        "document_type": cage.put(), "occurred_at": AT, "text": cage.put()});
    let mut all = vec![wrong.to_string().into_bytes()];
    wrong["document_type"] = json!("chat_message");
    wrong["occurred_at"] = json!(cage.put());
    all.push(wrong.to_string().into_bytes());
    wrong["patient_id"] = json!(cage.put());
    all.push(wrong.to_string().into_bytes());
    all.push(event("x", &cage.put(), &json!({"text": cage.put()})).to_string().into_bytes());
    all.push(format!("{{\"text\": \"{}", cage.put()).into_bytes());
    let bird = cage.put();
    all.push(format!("{{\"{bird}\": 1, \"{bird}\": 2, \"text\": 1}}").into_bytes());
    all.push([cage.put().as_bytes(), b"\xff"].concat());
    all
}

fn everything() -> (Vec<Vec<u8>>, Vec<String>) {
    let mut cage = CanaryFactory::default();
    let mut good = documents(&mut cage);
    good.extend(others(&mut cage));
    let mut lines = bodies(&good);
    let kind = "anamnesis.document.submitted.v1";
    let mut enveloped = support::document(4, 1, AT, &cage.put());
    enveloped["title"] = json!(cage.put());
    lines.push(event(&cage.put(), kind, &enveloped).to_string().into_bytes());
    lines.extend(broken(&mut cage));
    (lines, cage.0)
}

/// The canaries in these bytes: as UTF-8, UTF-16, hexadecimal or base64, in either case of letters.
pub(crate) fn found<'c>(cage: &'c [String], bytes: &[u8]) -> Vec<&'c str> {
    let (mut letters, mut base64) = (Vec::new(), Vec::new());
    for (bird, name) in cage.iter().enumerate() {
        let wide: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let wide_other: Vec<u8> = name.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let hexes = [hex::encode(name), hex::encode(name.to_lowercase())].map(String::into_bytes);
        letters.extend([name.clone().into_bytes(), wide, wide_other].into_iter().chain(hexes).map(|form| (bird, form)));
        // The middle of each of the three alignments of base64 to the bytes.
        base64.extend((0..3).map(|skip| {
            let part = &name.as_bytes()[skip..];
            (bird, STANDARD_NO_PAD.encode(&part[..part.len() / 3 * 3]).into_bytes())
        }));
    }
    let flown = |forms: &[(usize, Vec<u8>)], either_case: bool| -> Vec<usize> {
        let forest = AhoCorasick::builder().ascii_case_insensitive(either_case).build(forms.iter().map(|f| &f.1));
        forest.unwrap().find_overlapping_iter(bytes).map(|hit| forms[hit.pattern().as_usize()].0).collect()
    };
    let mut birds = [flown(&letters, true), flown(&base64, false)].concat();
    birds.sort_unstable();
    birds.dedup();
    birds.into_iter().map(|bird| cage[bird].as_str()).collect()
}

fn inside(hay: &[u8], needle: &[u8]) -> bool {
    hay.windows(needle.len()).any(|window| window == needle)
}

#[test]
fn a_canary_is_found_in_every_form_that_it_may_take() {
    let cage = vec!["Zqcanarioabwxkq".to_owned()];
    let wide: Vec<u8> = cage[0].encode_utf16().flat_map(u16::to_le_bytes).collect();
    let forms = [
        cage[0].to_uppercase().into_bytes(),
        wide,
        hex::encode_upper(&cage[0]).into_bytes(),
        STANDARD_NO_PAD.encode(format!("{} and more", cage[0])).into_bytes(),
        STANDARD_NO_PAD.encode(format!("a{} and more", cage[0])).into_bytes(),
        STANDARD_NO_PAD.encode(format!("ab{} and more", cage[0])).into_bytes(),
    ];
    for form in forms {
        let hay = [b"before ", form.as_slice(), b" after"].concat();
        assert_eq!(found(&cage, &hay), ["Zqcanarioabwxkq"], "{}", String::from_utf8_lossy(&hay));
    }
    assert!(found(&cage, b"zqcanarioacwxkq").is_empty());
}

on_every_program!(no_canary_is_in_a_log_nor_in_plain_in_any_file_of_the_store);
on_every_engine!(no_canary_is_in_a_metric_an_event_or_a_reason);

async fn no_canary_is_in_a_log_nor_in_plain_in_any_file_of_the_store(engine: TestEngine) {
    let (lines, cage) = everything();
    let program = Program::on(engine).await;
    let output = program.ingest(&lines, &[("ANAMNESIS__LOG__FILTER", "trace")]);
    let reported = support::counts(&output);
    assert_eq!(reported["retry"], json!(0), "{reported}");
    assert!(reported["stored"].as_i64() >= Some(7) && reported["quarantined"].as_i64() >= Some(7), "{reported}");
    assert!(inside(&output.stderr, b"anamnesis"), "the program logs at this level");
    assert_eq!(found(&cage, &output.stderr), Vec::<&str>::new(), "the log");
    assert_eq!(found(&cage, &output.stdout), Vec::<&str>::new(), "the answer");
    // Our own input is no file of the program's.
    std::fs::remove_file(program.folder.path().join("messages.ndjson")).unwrap();
    let searched = search_files(program.folder.path(), &cage);
    let store = program.store().await;
    // With the store open, its write-ahead log is there to be searched too.
    assert!(searched.max(search_files(program.folder.path(), &cage)) >= if program.server.is_some() { 2 } else { 3 });
    if let Some(server) = &program.server {
        search_server(server, &cage).await;
    }
    assert!(store.read().digest(None).await.unwrap().rows("outbox") > 0);
}

/// The files of the database, the server's write-ahead log and its log: the server may read them to its administrator.
/// Every file of the database, its log of changes and the server's own folder that was written lately.
pub(crate) async fn search_server(server: &TestDatabase, cage: &[String]) {
    let mut connection = server.administrator().await;
    sqlx::raw_sql("CHECKPOINT").execute(&mut connection).await.unwrap();
    let base = "SELECT 'base/' || oid || '/' FROM pg_database WHERE datname = current_database()";
    let base: String = sqlx::query_scalar(base).fetch_one(&mut connection).await.unwrap();
    let mut searched = 0;
    for folder in [base.as_str(), "pg_wal/", "./"] {
        let files = "SELECT $1 || name FROM pg_ls_dir($1) AS name WHERE NOT (pg_stat_file($1 || name, true)).isdir \
                     AND (pg_stat_file($1 || name, true)).modification > now() - interval '10 minutes'";
        let files: Vec<String> = sqlx::query_scalar(files).bind(folder).fetch_all(&mut connection).await.unwrap();
        for file in files {
            let read = "SELECT pg_read_binary_file($1, 0, 67108864, true)";
            let bytes: Option<Vec<u8>> = sqlx::query_scalar(read).bind(&file).fetch_one(&mut connection).await.unwrap();
            let Some(bytes) = bytes else { continue };
            searched += bytes.len();
            assert_eq!(found(cage, &bytes), Vec::<&str>::new(), "{file}");
        }
    }
    assert!(searched > 1 << 20, "{searched} bytes of the server were searched");
}

/// Every file of a folder, at every depth and under any name, with its canaries.
fn flown(folder: &Path, cage: &[String]) -> Vec<(PathBuf, Vec<String>)> {
    let mut all = Vec::new();
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(flown(&path, cage));
        } else {
            let birds = found(cage, &std::fs::read(&path).unwrap()).into_iter().map(str::to_owned).collect();
            all.push((path, birds));
        }
    }
    all
}

/// How many files were searched. The ingested file is the tester's own and must be removed before.
pub(crate) fn search_files(folder: &Path, cage: &[String]) -> usize {
    let all = flown(folder, cage);
    for (file, birds) in &all {
        assert_eq!(birds, &Vec::<String>::new(), "{}", file.display());
    }
    all.len()
}

#[test]
fn a_canary_is_found_in_every_file_at_every_depth() {
    let folder = tempfile::tempdir().unwrap();
    let cage = vec!["Zqcanarioabwxkq".to_owned()];
    let wide: Vec<u8> = cage[0].encode_utf16().flat_map(u16::to_be_bytes).collect();
    let deep = folder.path().join("spool/done/2026");
    std::fs::create_dir_all(&deep).unwrap();
    let files = [
        (folder.path().join("plain"), cage[0].clone().into_bytes()),
        (folder.path().join(".hidden.ndjson"), hex::encode(&cage[0]).into_bytes()),
        (deep.join("notes.ndjson"), STANDARD_NO_PAD.encode(&cage[0]).into_bytes()),
        (deep.join("store.db-wal"), wide),
    ];
    for (path, bytes) in &files {
        std::fs::write(path, [b"x", bytes.as_slice(), b"y"].concat()).unwrap();
    }
    let mut all = flown(folder.path(), &cage);
    all.sort();
    assert_eq!(all.len(), files.len());
    assert!(all.iter().all(|(_, birds)| *birds == cage), "{all:?}");
}

async fn no_canary_is_in_a_metric_an_event_or_a_reason(engine: TestEngine) {
    let (lines, cage) = everything();
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    feed(&pipeline, &lines, 5).await;
    let metrics = pipeline.metrics().render().unwrap();
    assert!(metrics.contains("quarantined"));
    assert_eq!(found(&cage, metrics.as_bytes()), Vec::<&str>::new(), "metrics");
    let store = pipeline.store();
    let reasons = support::rows(store, "SELECT reason || ' ' || coalesce(field, '') FROM quarantine").await;
    assert!(reasons.len() >= 7);
    for row in reasons {
        assert_eq!(found(&cage, row.text(0).unwrap().as_bytes()), Vec::<&str>::new(), "a reason");
    }
    let keys = store.read().keys_of(support::scope()).await.unwrap().unwrap();
    let events = support::rows(store, "SELECT id, event_type, body_sealed FROM outbox").await;
    assert!(events.len() > 3);
    for row in events {
        let cell = ColumnRef { table: "outbox", row: row.uuid(0).unwrap(), column: "body" };
        let body = keys.open(cell, &row.blob(2).unwrap()).unwrap();
        assert_eq!(found(&cage, &body), Vec::<&str>::new(), "{}", row.text(1).unwrap());
    }
    // People whom the producer named are not even in the stored text.
    let ids = [1, 2].map(|n| DocumentId(Uuid::from_u128(n)));
    let kept = store.read().revisions(support::scope(), &ids).await.unwrap();
    let text = serde_json::to_string(&kept.iter().map(|d| &d.content.text).collect::<Vec<_>>()).unwrap();
    let names = &cage[..1];
    assert!(text.contains("sertralina"));
    assert_eq!(found(names, text.as_bytes()), Vec::<&str>::new(), "the redacted text");
    // And the canaries did get in: the test searches for something.
    assert!(!found(&cage, text.as_bytes()).is_empty());
}

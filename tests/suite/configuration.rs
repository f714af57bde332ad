//! `config check|show|reference` through the program: all problems together, each with its line, and never a secret.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

const SECRET: &str = "hunter2hunter2";

struct ConfigFolder(tempfile::TempDir);

impl ConfigFolder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, text: &str) -> PathBuf {
        let path = self.0.path().join("clinic.toml");
        std::fs::write(&path, text).unwrap();
        path
    }

    fn config(&self, arguments: &[&str], file: Option<&Path>, variables: &[(&str, &str)]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_anamnesis"));
        command.arg("config").args(arguments).current_dir(self.0.path()).envs(variables.iter().copied());
        if let Some(file) = file {
            command.arg("--config").arg(file);
        }
        command.output().unwrap()
    }
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("no JSON: {}", said(output)))
}

/// Line, key, and the allowed or nearest values.
fn problems(output: &Output) -> Vec<(u64, String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let all = json(output)["problems"].as_array().unwrap().clone();
    all.iter()
        .map(|one| {
            let hint = if one["nearest"].is_null() { text(&one["allowed"]) } else { text(&one["nearest"]) };
            (one["origin"]["line"].as_u64().unwrap_or(0), text(&one["key"]), hint)
        })
        .collect()
}

#[test]
fn every_problem_of_a_file_is_named_at_once_with_its_line_and_what_is_allowed() {
    let place = ConfigFolder::new();
    let file = place.file(&format!(
        "[store]\npaht = \"x.db\"\nmaster_key = 7\n\n[store.postgres]\ntls = \"ful\"\n\n[broker]\nurl = \"amqp://u:{SECRET}@rabbit.example\"\n\
         outbox_poll_ms = \"{SECRET}\"\ncertificate_file = \"a.pem\"\n\n[pipeline]\nbatch_documents = 0\n\n[spool]\nprefix = \"{SECRET}\"\n\n\
         [embedding]\nprovider = \"openai\"\napi_key = \"{SECRET}\"\n"
    ));
    let output = place.config(&["check", "--output", "json"], Some(&file), &[("ANAMNESIS__STORE__KEY", SECRET)]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    let mut found = problems(&output);
    found.sort();
    let expected = [
        (0, "embedding.profile", ""),
        (0, "embedding.url", ""),
        (0, "store.key", "store.keys"),
        (2, "store.paht", "store.path"),
        (3, "store.master_key", "text"),
        (6, "store.postgres.tls", "auto"),
        (9, "broker.url", ""),
        (10, "broker.outbox_poll_ms", "a whole number, 20–60000"),
        (11, "broker.certificate_file", ""),
        (14, "pipeline.batch_documents", ""),
        (17, "spool.prefix", "broker.prefix"),
    ];
    let mut expected = expected.map(|(line, key, hint)| (line, key.to_owned(), hint.to_owned())).to_vec();
    // Of a misspelt word the words that there are say more than the nearest one.
    expected.retain(|(_, key, _)| key != "store.postgres.tls");
    found.retain(|(_, key, _)| key != "store.postgres.tls");
    assert_eq!(found, expected);
    let text = place.config(&["check"], Some(&file), &[]);
    let said = said(&text);
    assert!(
        said.contains(
            "clinic.toml:6: error: store.postgres.tls: is none of the known words; allowed: auto, verify_full, off"
        ),
        "{said}"
    );
    assert!(!said.contains(SECRET) && !format!("{:?}", json(&output)).contains(SECRET), "{said}");
}

#[test]
fn a_file_that_is_no_toml_is_named_by_line_and_column_in_check_and_at_every_start() {
    let place = ConfigFolder::new();
    let file = place.file(&format!(
        "[store]\npath = \"a.db\"\n[broker]\nurl = {SECRET}\nprefix = \"clinic\"\noutbox_poll_ms = = 5\n"
    ));
    let output = place.config(&["check", "--output", "json"], Some(&file), &[]);
    assert_eq!(output.status.code(), Some(2));
    let lines: Vec<u64> = problems(&output).iter().map(|(line, ..)| *line).collect();
    assert!(lines.contains(&4) && lines.contains(&6), "{}", said(&output));
    assert!(!said(&output).contains(SECRET), "{}", said(&output));
    let mut start = Command::new(env!("CARGO_BIN_EXE_anamnesis"));
    let started = start.args(["job", "list", "--config"]).arg(&file).output().unwrap();
    assert_eq!(started.status.code(), Some(2));
    assert!(said(&started).contains("clinic.toml:4:") && !said(&started).contains(SECRET), "{}", said(&started));
    let missing = place.config(&["check"], Some(Path::new("no-such.toml")), &[]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(said(&missing).contains("there is no such file"), "{}", said(&missing));
}

#[test]
fn a_secret_in_a_file_that_others_may_read_is_named_by_key_with_the_others() {
    let place = ConfigFolder::new();
    std::fs::write(place.0.path().join("url"), SECRET).unwrap();
    let file = place.file("[store]\nurl_file = \"url\"\nkeys_url_file = \"absent\"\n");
    let output = place.config(&["check", "--output", "json"], Some(&file), &[]);
    let keys: Vec<String> = problems(&output).into_iter().map(|(line, key, _)| format!("{line} {key}")).collect();
    assert_eq!(keys, ["2 store.url_file", "3 store.keys_url_file"]);
    assert!(!said(&output).contains(SECRET));
}

#[test]
fn what_counts_is_shown_with_its_origin_and_secrets_as_given_or_not() {
    let place = ConfigFolder::new();
    let file = place.file(&format!(
        "[store]\npath = \"a.db\"\nmaster_key = \"{SECRET}\"\n[worker]\npoll_ms = 20\n[[broker.webhooks]]\n\
         url = \"https://clinic.example/{SECRET}\"\nsecret = \"{SECRET}\"\n"
    ));
    let variables =
        [("ANAMNESIS__WORKER__POLL_MS", "30"), ("ANAMNESIS__BROKER__URL", "amqp://u:hunter2hunter2@127.0.0.1")];
    let output = place.config(&["show", "--output", "json"], Some(&file), &variables);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let all = json(&output);
    let of = |key: &str| {
        all.as_array().unwrap().iter().find(|one| one["key"] == key).unwrap_or_else(|| panic!("{key}")).clone()
    };
    assert_eq!((&of("store.path")["value"], &of("store.path")["origin"]["line"]), (&"a.db".into(), &2.into()));
    assert_eq!(of("worker.poll_ms")["value"], 30);
    assert_eq!(of("worker.poll_ms")["origin"]["variable"], "ANAMNESIS__WORKER__POLL_MS");
    assert_eq!(of("worker.store_stats_interval_seconds")["origin"]["kind"], "default");
    assert_eq!((&of("store.master_key")["value"], &of("store.master_key")["given"]), (&Value::Null, &true.into()));
    assert_eq!(of("broker.url")["given"], true);
    assert_eq!(of("store.url")["given"], false);
    assert_eq!(of("broker.webhooks[0].url")["value"], "https://clinic.example/…");
    assert!(!said(&output).contains(SECRET), "{}", said(&output));
    let changed = place.config(&["show", "--changed"], Some(&file), &variables);
    let text = said(&changed);
    assert!(
        text.contains("clinic.toml:2") && !text.contains("store_stats_interval_seconds") && !text.contains(SECRET),
        "{text}"
    );
    let broken = place.config(&["show"], Some(&place.file("[store]\npaht = 1\n")), &[]);
    assert_eq!(broken.status.code(), Some(2));
}

#[test]
fn the_reference_has_every_key_with_type_unit_default_and_meaning() {
    let place = ConfigFolder::new();
    let output = place.config(&["reference", "--output", "json"], None, &[]);
    let all = json(&output);
    let of = |key: &str| {
        all.as_array().unwrap().iter().find(|one| one["key"] == key).unwrap_or_else(|| panic!("{key}")).clone()
    };
    let linger = of("broker.linger_ms");
    assert_eq!((linger["unit"].as_str(), linger["default"].as_i64()), (Some("milliseconds"), Some(5)));
    assert_eq!(linger["type"], "a whole number, 0–1000");
    assert_eq!(linger["variable"], "ANAMNESIS__BROKER__LINGER_MS");
    assert_eq!(of("store.postgres.tls")["type"], "auto, verify_full, off");
    assert_eq!((&of("store.url")["secret"], &of("intake.producers[].types")["required"]), (&true.into(), &true.into()));
    let text = said(&place.config(&["reference", "store.postgres"], None, &[]));
    assert!(text.contains("store.postgres.max_connections = 8") && !text.contains("broker."), "{text}");
    assert_eq!(place.config(&["reference", "nothing"], None, &[]).status.code(), Some(2));
}

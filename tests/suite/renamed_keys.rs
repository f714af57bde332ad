//! Old names of keys through the program: in files, variables and job policies they work, warn, and never stand next to the
//! new name.

use std::path::Path;
use std::process::{Command, Output};

use anamnesis_config::reference::reference;
use anamnesis_config::renamed::rows;
use anamnesis_core::renamed::RenamedKey;
use serde_json::Value;

/// A value that no report and no log may repeat.
const VALUE: u64 = 31_417;

fn run(folder: &Path, arguments: &[&str], variables: &[(String, String)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_anamnesis"));
    command.args(arguments).current_dir(folder).envs(variables.iter().cloned()).output().unwrap()
}

/// The same with a configuration file.
fn with_file(folder: &Path, text: &str, arguments: &[&str], variables: &[(String, String)]) -> Output {
    std::fs::write(folder.join("clinic.toml"), text).unwrap();
    run(folder, &[arguments, &["--config", "clinic.toml"]].concat(), variables)
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("no JSON: {}", said(output)))
}

fn variable(key: &str, value: &str) -> (String, String) {
    (format!("ANAMNESIS__{}", key.replace('.', "__").to_uppercase()), value.to_owned())
}

/// Key and value of `config show`, without the origins.
fn shown(output: &Output) -> Vec<(String, Value)> {
    assert_eq!(output.status.code(), Some(0), "{}", said(output));
    let all = json(output);
    let pair = |one: &Value| (one["key"].as_str().unwrap().to_owned(), one["value"].clone());
    all.as_array().unwrap().iter().map(pair).collect()
}

/// A value that is not the default.
fn other(row: &RenamedKey) -> String {
    let key = row.new.replace(".next.", ".");
    let default = reference().into_iter().find(|known| known.key == key).map(|known| known.default);
    match default {
        Some(Value::Bool(default)) => (!default).to_string(),
        Some(Value::Array(_)) => "[\"clinical_note\"]".to_owned(),
        Some(default) => (default.as_i64().unwrap_or_else(|| panic!("{key}: {default}")) + 1).to_string(),
        None => "{ model = \"m\" }".to_owned(),
    }
}

#[test]
fn every_old_key_gives_the_settings_of_the_new_one_in_file_and_variable() {
    let folder = tempfile::tempdir().unwrap();
    let show = ["config", "show", "--output", "json"];
    let defaults = shown(&with_file(folder.path(), "", &show, &[]));
    assert!(rows().len() > 20, "{}", rows().len());
    for row in rows() {
        let value = other(row);
        let new = shown(&with_file(folder.path(), &format!("{} = {value}\n", row.new), &show, &[]));
        assert_ne!(new, defaults, "{}", row.new);
        let old = shown(&with_file(folder.path(), &format!("{} = {value}\n", row.old), &show, &[]));
        assert_eq!(old, new, "{}", row.old);
        let given = shown(&with_file(folder.path(), "", &show, &[variable(row.old, &value)]));
        assert_eq!(given, new, "{}", row.old);
    }
}

#[test]
fn an_old_key_in_a_file_works_and_is_a_warning_with_its_line_and_the_new_name() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("[broker]\nrelay_ms = {VALUE}\n");
    let check = with_file(folder.path(), &text, &["config", "check", "--output", "json"], &[]);
    assert_eq!(check.status.code(), Some(0), "{}", said(&check));
    let problems = json(&check)["problems"].clone();
    assert_eq!(problems.as_array().unwrap().len(), 1, "{problems}");
    let found = &problems[0];
    assert_eq!((found["kind"].as_str(), found["severity"].as_str()), (Some("renamed"), Some("warning")));
    assert_eq!((found["key"].as_str(), found["origin"]["line"].as_u64()), (Some("broker.relay_ms"), Some(2)));
    assert_eq!(found["nearest"], "broker.outbox_poll_ms");
    let sentence = said(&with_file(folder.path(), &text, &["config", "check"], &[]));
    assert!(sentence.contains("clinic.toml:2: warning: broker.relay_ms: was renamed in "), "{sentence}");
    assert!(sentence.contains("new name: broker.outbox_poll_ms") && !sentence.contains("31417"), "{sentence}");
    let show = with_file(folder.path(), &text, &["config", "show", "--changed"], &[]);
    let line = said(&show).lines().find(|line| line.contains("31417")).map(str::to_owned).unwrap_or_default();
    assert!(
        line.trim_start().starts_with("broker.outbox_poll_ms") && line.contains("clinic.toml:2"),
        "{}",
        said(&show)
    );
    let start = with_file(folder.path(), &text, &["job", "list"], &[]);
    let log = String::from_utf8_lossy(&start.stderr);
    assert_eq!(start.status.code(), Some(0), "{log}");
    assert_eq!(log.matches("config_key_renamed").count(), 1, "{log}");
    assert!(log.contains("broker.relay_ms") && log.contains("broker.outbox_poll_ms"), "{log}");
    assert!(log.contains("clinic.toml:2") && !log.contains("31417"), "{log}");
}

#[test]
fn an_old_key_in_a_variable_works_warns_and_overrides_the_new_one_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[broker]\noutbox_poll_ms = 40\n[extraction.llm]\nmodel = \"a\"\n";
    let given = [
        variable("broker.relay_ms", &VALUE.to_string()),
        variable("extraction.model.model", "b"),
        variable("extraction.model.api_key", "hunter2hunter2"),
    ];
    let show = with_file(folder.path(), text, &["config", "show", "--output", "json"], &given);
    let all = json(&show);
    let of = |key: &str| all.as_array().unwrap().iter().find(|one| one["key"] == key).unwrap().clone();
    assert_eq!(of("broker.outbox_poll_ms")["value"], VALUE);
    assert_eq!(of("broker.outbox_poll_ms")["origin"]["variable"], given[0].0);
    assert_eq!(
        (&of("extraction.llm.model")["value"], &of("extraction.llm.api_key")["given"]),
        (&"b".into(), &true.into())
    );
    let check = with_file(folder.path(), text, &["config", "check"], &given);
    let found = said(&check);
    assert_eq!(check.status.code(), Some(0), "{found}");
    for (variable, _) in &given {
        assert_eq!(found.matches(&format!("{variable}: warning: ")).count(), 1, "{found}");
    }
    assert!(found.contains("new name: extraction.llm.api_key") && !found.contains("hunter2"), "{found}");
    let start = with_file(folder.path(), text, &["job", "list"], &given);
    let log = String::from_utf8_lossy(&start.stderr);
    assert_eq!(log.matches("config_key_renamed").count(), given.len(), "{log}");
    assert!(!log.contains("31417") && !log.contains("hunter2"), "{log}");
}

#[test]
fn a_key_under_both_names_in_one_place_is_an_error_with_file_line_and_key() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("[broker]\noutbox_poll_ms = 40\nrelay_ms = {VALUE}\n");
    let check = with_file(folder.path(), &text, &["config", "check"], &[]);
    assert_eq!(check.status.code(), Some(2), "{}", said(&check));
    let expected = "clinic.toml:3: error: broker.outbox_poll_ms: is set under its old name too; remove the old one";
    assert!(said(&check).contains(expected), "{}", said(&check));
    let start = with_file(folder.path(), &text, &["job", "list"], &[]);
    assert_eq!(start.status.code(), Some(2), "{}", said(&start));
    assert!(said(&start).contains("`broker.outbox_poll_ms` (clinic.toml:3)"), "{}", said(&start));
    assert!(!said(&start).contains("31417"), "{}", said(&start));
    let given = [variable("broker.relay_ms", "30"), variable("broker.outbox_poll_ms", "40")];
    let start = run(folder.path(), &["job", "list"], &given);
    assert_eq!(start.status.code(), Some(2), "{}", said(&start));
    assert!(said(&start).contains("ANAMNESIS__BROKER__RELAY_MS"), "{}", said(&start));
}

#[test]
fn an_old_key_of_a_job_policy_works_and_warns_and_is_refused_next_to_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("policies")).unwrap();
    let policy = include_str!("../../jobs/reembedding.toml");
    let policy = policy.replace("\nk = 5\n", "\nnearest = 7\n").replace("batch_delay_ms", "pause_ms");
    let write = |text: &str| std::fs::write(folder.path().join("policies/reembedding.toml"), text).unwrap();
    write(&policy);
    let text = "jobs.directory = \"policies\"\n";
    let start = with_file(folder.path(), text, &["job", "list"], &[]);
    let log = String::from_utf8_lossy(&start.stderr);
    assert_eq!(start.status.code(), Some(0), "{log}");
    assert_eq!(log.matches("config_key_renamed").count(), 2, "{log}");
    assert!(log.contains("reembedding.thresholds.nearest") && log.contains("reembedding.thresholds.k"), "{log}");
    let check = with_file(folder.path(), text, &["config", "check"], &[]);
    assert_eq!(check.status.code(), Some(0), "{}", said(&check));
    let line = policy.lines().position(|line| line == "nearest = 7").unwrap() + 1;
    let expected =
        format!("policies/reembedding.toml:{line}: warning: reembedding.thresholds.nearest: was renamed in ");
    assert!(said(&check).contains(&expected), "{}", said(&check));
    write(&policy.replace("\nnearest = 7\n", "\nnearest = 7\nk = 5\n"));
    let start = with_file(folder.path(), text, &["job", "list"], &[]);
    assert_eq!(start.status.code(), Some(2), "{}", said(&start));
    assert!(said(&start).contains(&format!("line {line}: thresholds.k is set under its old name")), "{}", said(&start));
}

//! `init` writes a configuration that every command accepts, without commented-out settings that do not exist.

use std::process::{Command, Output};

use regex::Regex;
use serde_json::Value;

fn run(folder: &tempfile::TempDir, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_anamnesis")).args(arguments).current_dir(folder.path()).output().unwrap()
}

fn problems(folder: &tempfile::TempDir, file: &str) -> Value {
    let output = run(folder, &["config", "check", "--config", file, "--output", "json"]);
    serde_json::from_slice::<Value>(&output.stdout).unwrap()["problems"].clone()
}

#[test]
fn a_starting_configuration_is_written_once_and_has_no_problem() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(&folder, &["init", "--output", "json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(said["file"], "anamnesis.toml");
    for command in said["next"].as_array().unwrap() {
        let words: Vec<&str> = command.as_str().unwrap().split(' ').skip(1).collect();
        if words[0] != "worker" {
            assert_eq!(run(&folder, &words).status.code(), Some(0), "{command}");
        }
    }
    let path = folder.path().join("anamnesis.toml");
    let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&path).unwrap());
    assert_eq!(mode & 0o777, 0o600);
    std::fs::write(&path, "mine").unwrap();
    let again = run(&folder, &["init"]);
    assert_eq!(again.status.code(), Some(2));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine", "nothing is overwritten");
    std::os::unix::fs::symlink("nowhere.toml", folder.path().join("link.toml")).unwrap();
    assert_eq!(run(&folder, &["init", "link.toml"]).status.code(), Some(2));
    assert!(!folder.path().join("nowhere.toml").exists());
}

#[test]
fn every_setting_that_is_commented_out_exists() {
    let folder = tempfile::tempdir().unwrap();
    assert!(run(&folder, &["init"]).status.success());
    let text = std::fs::read_to_string(folder.path().join("anamnesis.toml")).unwrap();
    let commented = Regex::new(r"(?m)^#([a-z\[])").unwrap();
    assert!(commented.find_iter(&text).count() > 15);
    std::fs::write(folder.path().join("open.toml"), commented.replace_all(&text, "$1").as_ref()).unwrap();
    let found = problems(&folder, "open.toml");
    // The secrets are on no machine; nothing else is wrong.
    let others = found.as_array().unwrap().iter().filter(|one| one["kind"] != "secret").count();
    assert_eq!(others, 0, "{found}");
}

#[test]
fn files_of_an_organisation_are_taken_where_it_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let org = "0aaa0000-0000-4000-8000-000000000001";
    assert!(run(&folder, &["init", "clinic.toml", "--organization", org]).status.success());
    assert_eq!(problems(&folder, "clinic.toml"), serde_json::json!([]));
    let shown = run(&folder, &["config", "show", "--config", "clinic.toml", "--output", "json"]);
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    let bound = shown.as_array().unwrap().iter().find(|one| one["key"] == "intake.producers[0].organizations").unwrap();
    assert_eq!(bound["value"], serde_json::json!([org]));
    std::fs::create_dir(folder.path().join("spool")).unwrap();
    // A full disk of the test machine is no fault of these files.
    let any_disk = ["--disk-free", "0", "--disk-full", "0"];
    let doctor = run(&folder, &[&["doctor", "--config", "clinic.toml", "--output", "json"][..], &any_disk].concat());
    let report: Value = serde_json::from_slice(&doctor.stdout).unwrap();
    let found: Vec<&Value> =
        report["findings"].as_array().unwrap().iter().filter(|one| !one["code"].is_null()).collect();
    assert_eq!(found, Vec::<&Value>::new());
}

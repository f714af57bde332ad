//! `doctor` through the program. Each injected fault yields its code and no other, with cause and remedy; a healthy
//! set-up yields none; and doctor changes nothing that it reads.

mod broker;
mod file;
mod server;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use aws_lc_rs::digest::{SHA256, digest};
use serde_json::Value;

/// Words that no finding may repeat: a secret of the settings, and a document's text.
pub(crate) const SECRET: &str = "hunter2hunter2hunter2";
pub(crate) const SAID: &str = "sertralina";

/// Differences from a healthy set-up: variables, and arguments of `doctor`.
#[derive(Debug, Default)]
pub(crate) struct DoctorCase {
    variables: Vec<(String, String)>,
    arguments: Vec<&'static str>,
    /// The program runs as a user who owns nothing but its folder.
    as_another: bool,
}

impl DoctorCase {
    pub(crate) fn none() -> Self {
        Self::default()
    }

    pub(crate) fn with(variables: &[(&str, &str)]) -> Self {
        let variables = variables.iter().map(|(key, value)| (format!("ANAMNESIS__{key}"), (*value).to_owned()));
        Self { variables: variables.collect(), ..Self::default() }
    }

    pub(crate) fn asking(arguments: &[&'static str]) -> Self {
        Self { arguments: arguments.to_vec(), ..Self::default() }
    }
}

/// Runs doctor in a folder, whose contents stay the same.
pub(crate) fn run(folder: &Path, environment: &[(String, String)], change: &DoctorCase) -> Output {
    let before = contents(folder);
    let mut command = Command::new(env!("CARGO_BIN_EXE_anamnesis"));
    command.args(["doctor", "--output", "json"]).args(&change.arguments).current_dir(folder);
    // How full the disk of the test machine is, is no finding: only the cases of the disk ask about it.
    for limit in ["--disk-free", "--disk-full"].iter().filter(|limit| !change.arguments.contains(limit)) {
        command.args([limit, "0"]);
    }
    command.envs(environment.iter().cloned()).envs(change.variables.iter().cloned());
    if change.as_another {
        use std::os::unix::process::CommandExt as _;
        command.uid(65_534);
    }
    let output = command.output().unwrap();
    assert_eq!(contents(folder), before, "doctor changes nothing");
    output
}

/// Every file below a folder, with the hash of its bytes. SQLite's index in shared memory is none: each reader of a store that
/// is in use writes its mark there.
fn contents(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let about = std::fs::symlink_metadata(&path).unwrap();
            if about.is_dir() {
                folders.push(path);
            } else if about.is_file() && !path.to_string_lossy().ends_with("-shm") {
                let bytes = std::fs::read(&path).unwrap();
                found.push((path, hex::encode(digest(&SHA256, &bytes))));
            }
        }
    }
    found.sort();
    found
}

/// The reported codes, each with a cause and a remedy, and the matching exit code.
pub(crate) fn codes(output: &Output) -> BTreeSet<String> {
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("no report: {text}"));
    let findings = report["findings"].as_array().unwrap();
    let found: Vec<&Value> = findings.iter().filter(|finding| !finding["code"].is_null()).collect();
    for finding in &found {
        let filled = |field: &str| finding[field].as_str().is_some_and(|text| !text.trim().is_empty());
        assert!(filled("cause") && filled("remedy"), "{finding}");
    }
    let faults = found.iter().any(|finding| finding["state"] == "fault");
    assert_eq!((output.status.code(), report["healthy"].as_bool()), (Some(i32::from(faults)), Some(!faults)), "{text}");
    assert!(!text.contains(SECRET) && !text.to_lowercase().contains(SAID), "{text}");
    found.iter().map(|finding| finding["code"].as_str().unwrap().to_owned()).collect()
}

/// Fails unless exactly this was found.
pub(crate) fn finds(output: &Output, code: &str) {
    let expected: BTreeSet<String> = [code.to_owned()].into();
    assert_eq!(codes(output), expected, "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn every_code_is_injected_by_a_test_of_this_folder() {
    let tests = [include_str!("file.rs"), include_str!("server.rs"), include_str!("broker.rs")].concat();
    let page = include_str!("../../../docs/doctor.md");
    let codes: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    assert!(codes.len() > 80, "{}", codes.len());
    let injected = |code: &str| tests.contains(&format!("\"{code}\""));
    let missing: Vec<&&str> = codes.iter().filter(|code| !injected(code)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

pub(crate) fn finds_nothing(output: &Output) {
    assert_eq!(codes(output), BTreeSet::new(), "{}", String::from_utf8_lossy(&output.stdout));
}

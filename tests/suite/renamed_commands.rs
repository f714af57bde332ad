//! Former names of commands and options work for one version: the same standard output, and a warning on standard error.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const GOLD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/extraction/negation_fresh.jsonl");

fn run(folder: &Path, line: &str, input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_anamnesis"));
    command.args(line.split(' ')).current_dir(folder).env_remove("ANAMNESIS_CONFIG");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

/// Runs both lines. Only the first one has a warning, which has these words.
fn same(folder: &Path, former: &str, current: &str, input: &str, warnings: &[&str]) -> String {
    let (old, new) = (run(folder, former, input), run(folder, current, input));
    assert!(old.status.success() && new.status.success(), "{old:?}\n{new:?}");
    assert_eq!(old.stdout, new.stdout, "{former}");
    let said: Vec<String> = String::from_utf8(old.stderr).unwrap().lines().map(str::to_owned).collect();
    let expected: Vec<String> =
        warnings.iter().map(|words| format!("warning: {words}; the old name works until 0.4")).collect();
    assert_eq!(said, expected, "{former}");
    assert!(new.stderr.is_empty(), "{current}: {}", String::from_utf8_lossy(&new.stderr));
    String::from_utf8(new.stdout).unwrap()
}

#[test]
fn redact_reveal_is_redact_detokenize() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("key"), "7".repeat(128)).unwrap();
    let policy = "name = \"tokens\"\nversion = 1\n[operators]\nPERSON = \"token\"\n";
    std::fs::write(folder.path().join("policy.toml"), policy).unwrap();
    let document = "{\"id\":\"1\",\"text\":\"Soy Ana Pérez y duermo mal.\",\"language\":\"es\"}\n";
    let redacted = run(folder.path(), "redact --policy policy.toml --token-key key", document);
    assert!(redacted.status.success(), "{redacted:?}");
    let answer: Value = serde_json::from_slice(&redacted.stdout).unwrap();
    let text = answer["text"].as_str().unwrap();
    assert!(text.contains('~') && !text.contains("Ana"), "{text}");
    let (former, current) = ("redact reveal --token-key key", "redact detokenize --token-key key");
    let opened = same(folder.path(), former, current, text, &["reveal is now detokenize"]);
    assert!(opened.contains("Ana Pérez"), "{opened}");
}

#[test]
fn extract_alarms_is_extract_false_positives() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("texts"), "{\"lang\":\"es\",\"text\":\"Duerme mal desde enero.\"}\n").unwrap();
    let (former, current) = ("extract alarms texts --output json", "extract false-positives texts --output json");
    let answer = same(folder.path(), former, current, "", &["alarms is now false-positives"]);
    assert_eq!(serde_json::from_str::<Value>(&answer).unwrap()["documents"], 1);
}

#[test]
fn half_and_found_are_split_and_predictions() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("theirs"), "{\"id\":\"negation-fresh-es-001\",\"negated\":true}\n").unwrap();
    let former = format!("--output json extract eval {GOLD} --half=tuning --found theirs");
    let current = format!("--output json extract eval {GOLD} --split=tuning --predictions theirs");
    let warnings = ["--half is now --split", "--found is now --predictions"];
    let answer = same(folder.path(), &former, &current, "", &warnings);
    assert!(answer.contains("\"found_by\":\"theirs\""), "{answer}");
    let gold = "{\"id\":\"1\",\"text\":\"Soy Ana.\",\"language\":\"es\",\"spans\":[{\"start\":4,\"end\":7,\"label\":\"PERSON\"}]}\n";
    std::fs::write(folder.path().join("gold"), gold).unwrap();
    std::fs::write(folder.path().join("spans"), "{\"id\":\"1\",\"spans\":[]}\n").unwrap();
    let (former, current) = ("redact eval gold --found spans", "redact eval gold --predictions spans");
    same(folder.path(), former, current, "", &["--found is now --predictions"]);
}

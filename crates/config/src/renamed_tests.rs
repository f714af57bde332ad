//! Old names in files: alone, with new ones, in sections and in lists.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::*;
use crate::check::{BuildFeatures, check};
use crate::load;
use crate::reference::reference;

fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.toml");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

fn found(text: &str) -> Vec<(Severity, String, usize, Option<String>)> {
    let (_folder, path) = file(text);
    let line = |problem: &Problem| match problem.origin {
        Some(ValueSource::File { line, .. }) => line,
        _ => 0,
    };
    let problems = check(Some(&path), BuildFeatures { traces: true }).into_iter();
    problems.map(|problem| (problem.severity, problem.key.clone(), line(&problem), problem.nearest)).collect()
}

#[test]
fn every_row_names_a_known_key_by_its_new_name_only() {
    let known: BTreeSet<String> = reference().into_iter().map(|key| key.key).collect();
    let is_known = |key: &str| known.iter().any(|one| one == key || one.starts_with(&format!("{key}.")));
    for row in rows() {
        // `embedding.next` has the keys of `embedding`.
        assert!(is_known(&row.new.replace(".next.", ".")), "{}", row.new);
        assert!(!is_known(row.old), "{}", row.old);
        let (section, _) = row.old.rsplit_once('.').unwrap();
        assert_eq!(current(section), row.section(), "{}", row.old);
        assert_eq!(current(row.old), row.new);
    }
}

#[test]
fn a_renamed_section_and_a_renamed_key_in_it_work_alone_and_together() {
    for (section, key, warnings) in [
        ("model", "most_characters", 2),
        ("model", "max_input_chars", 1),
        ("llm", "most_characters", 1),
        ("llm", "max_input_chars", 0),
    ] {
        let text = format!("[extraction.{section}]\nmodel = \"m\"\napi_key = \"k\"\n{key} = 7\n");
        let (_folder, path) = file(&text);
        let llm = load(Some(&path)).unwrap().extraction.llm;
        assert_eq!((llm.model.as_str(), llm.max_input_chars, llm.api_key.is_some()), ("m", 7, true), "{text}");
        let found = found(&text);
        assert_eq!(found.len(), warnings, "{found:?}");
        assert!(found.iter().all(|(severity, ..)| *severity == Severity::Warning), "{found:?}");
    }
}

#[test]
fn an_old_section_is_merged_with_the_new_one_and_a_key_in_both_is_an_error_with_its_line() {
    let text = "[extraction.llm]\nmodel = \"m\"\n[extraction.model]\nmost_tokens = 9\n";
    let (_folder, path) = file(text);
    let llm = load(Some(&path)).unwrap().extraction.llm;
    assert_eq!((llm.model.as_str(), llm.max_output_tokens), ("m", 9));
    for (text, key, line) in [
        ("[broker]\nrelay_ms = 30\noutbox_poll_ms = 40\n", "broker.outbox_poll_ms", 2),
        ("[extraction.llm]\nmodel = \"m\"\n[extraction.model]\nmodel = \"m\"\n", "extraction.llm.model", 4),
        (
            "[extraction.llm]\nmax_output_tokens = 8\n[extraction.model]\nmost_tokens = 9\n",
            "extraction.llm.max_output_tokens",
            4,
        ),
    ] {
        let errors = found(text).into_iter().filter(|(severity, ..)| *severity == Severity::Error);
        assert_eq!(errors.collect::<Vec<_>>(), [(Severity::Error, key.to_owned(), line, None)], "{text}");
        let (_folder, path) = file(text);
        let refused = load(Some(&path)).unwrap_err().to_string();
        assert!(refused.contains(key) && refused.contains(&format!("a.toml:{line})")), "{refused}");
    }
}

#[test]
fn a_value_under_an_old_name_is_checked_and_reported_at_its_line() {
    let found = found("[broker]\nprefix = \"a\"\nrelay_ms = \"soon\"\n");
    let keys: Vec<_> = found.iter().map(|(severity, key, line, _)| (*severity, key.as_str(), *line)).collect();
    let expected = [(Severity::Warning, "broker.relay_ms", 3), (Severity::Error, "broker.outbox_poll_ms", 3)];
    assert_eq!(keys, expected);
    assert_eq!(found[0].3.as_deref(), Some("broker.outbox_poll_ms"));
}

#[test]
fn a_list_stands_for_its_elements() {
    let item = |key: &str| Value::from(Dict::from([(key.to_owned(), Value::from(1))]));
    let mut layer = Dict::from([("hooks".to_owned(), Value::from(vec![item("old"), item("other")]))]);
    let mut seen = 0;
    each_section(&mut layer, &["hooks"], &mut |section| {
        seen += usize::from(section.remove("old").is_some());
    });
    assert_eq!(seen, 1);
}

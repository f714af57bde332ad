use std::path::PathBuf;

use super::*;
use crate::load;
use crate::reference::reference;

fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.toml");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

/// By a program that has everything.
fn check(file: Option<&Path>) -> Vec<Problem> {
    super::check(file, BuildFeatures { traces: true })
}

/// A document that gives one key this value.
fn with(key: &str, value: &str) -> String {
    format!("{key} = {value}\n")
}

#[test]
fn the_defaults_as_a_file_have_no_problem() {
    let (_folder, path) = file(crate::REFERENCE);
    assert_eq!(check(Some(&path)), []);
    assert_eq!(check(None), []);
}

#[test]
fn a_value_of_another_type_is_found_in_every_key_and_no_start_takes_it() {
    let keys = reference();
    assert!(keys.len() > 150, "{}", keys.len());
    for key in keys.iter().filter(|key| !key.key.contains("[]")) {
        let wrong = if key.allowed.starts_with("a list") { "5" } else { "[[1]]" };
        let (_folder, path) = file(&with(&key.key, wrong));
        let found = check(Some(&path));
        assert!(
            found.iter().any(|one| one.key.starts_with(&key.key) && one.severity == Severity::Error),
            "{}: {found:?}",
            key.key
        );
        let at = Some(ValueSource::File { file: path.clone(), line: 1 });
        assert!(found.iter().any(|one| one.origin == at && one.allowed.is_some()), "{}: {found:?}", key.key);
        assert!(load(Some(&path)).is_err(), "{}", key.key);
    }
}

#[test]
fn every_key_has_a_meaning_and_a_default_that_its_type_allows() {
    for key in reference() {
        assert!(key.about.ends_with('.') && key.about.split(' ').count() > 1, "{}: {:?}", key.key, key.about);
    }
    // Every default that there is, written down as a file, is taken.
    for key in reference().iter().filter(|key| !key.key.contains("[]") && !key.default.is_null()) {
        let (_folder, path) = file(&with(&key.key, &key.default.to_string()));
        assert_eq!(check(Some(&path)), [], "{}", key.key);
    }
}

#[test]
fn a_number_beyond_its_range_is_a_warning_where_it_is_held_to_it_and_an_error_where_a_start_refuses_it() {
    let (_folder, path) = file("[http]\ntimeout_seconds = 90\n[store.postgres]\nmax_connections = 70000\n");
    let found = check(Some(&path));
    let said: Vec<_> = found.iter().map(|one| (one.key.as_str(), one.severity, one.allowed.as_deref())).collect();
    assert_eq!(
        said,
        [
            ("http.timeout_seconds", Severity::Warning, Some("a whole number, 1–60")),
            ("store.postgres.max_connections", Severity::Error, Some("a whole number, 1–1000")),
        ]
    );
}

#[test]
fn a_rule_is_named_at_the_element_of_its_list_also_where_another_element_cannot_be_read() {
    let producer = |source: &str, roles: &str| {
        format!(
            "[[intake.producers]]\nsource = {source}\norganizations = \"any\"\ntypes = [\"anamnesis.memory.command.v1\"]\n{roles}\n"
        )
    };
    let text = [producer("5", ""), producer("\"urn:a\"", "roles = [\"patient\"]"), producer("\"urn:b\"", "")].concat();
    let (_folder, path) = file(&text);
    let found = check(Some(&path));
    let said: Vec<_> = found.iter().map(|one| (one.key.as_str(), line(one))).collect();
    assert_eq!(said, [("intake.producers[0].source", Some(2)), ("intake.producers[2].roles", Some(11))]);
}

#[test]
fn traces_that_the_program_cannot_send_are_a_warning_with_their_line() {
    let (_folder, path) = file("[traces]\nratio = 0.5\nendpoint = \"http://127.0.0.1:4318\"\n");
    assert_eq!(check(Some(&path)), []);
    let found = super::check(Some(&path), BuildFeatures { traces: false });
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].severity, found[0].key.as_str()), (Severity::Warning, "traces.endpoint"));
    assert_eq!(found[0].origin, Some(ValueSource::File { file: path, line: 3 }));
    assert!(super::check(None, BuildFeatures { traces: false }).is_empty(), "nothing is configured");
}

use std::collections::{BTreeMap, HashSet};

use super::deprecated::RENAMED_FAMILIES;
use super::labels::{InfoType, Queue, Stage};
use super::*;
use anamnesis_core::reason::Reason;

fn metrics() -> Metrics {
    Metrics::new(&Identity::default()).unwrap()
}

/// Series as scraped, with their values.
fn scraped(metrics: &Metrics) -> BTreeMap<String, f64> {
    let text = metrics.render().unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| line.rsplit_once(' ').unwrap())
        .map(|(name, value)| (name.to_owned(), value.parse().unwrap()))
        .collect()
}

#[test]
fn every_declared_series_is_scraped_before_anything_happened() {
    let metrics = metrics();
    let renamed = |name: &str| RENAMED_FAMILIES.iter().filter(|renamed| renamed.new == name).count();
    let exported = |entry: &FamilyEntry| entry.series * (1 + renamed(&entry.name));
    let declared: usize = metrics.catalogue().iter().map(exported).sum();
    assert_eq!(scraped(&metrics).len(), declared);
}

#[test]
fn every_series_but_those_of_the_process_starts_at_zero() {
    let process = |name: &str| name.starts_with("process_") || name.starts_with("anamnesis_build_info");
    for (name, value) in scraped(&metrics()) {
        assert!(value == 0.0 || process(&name), "{name} starts at {value}");
    }
}

#[test]
fn one_process_costs_fewer_than_two_thousand_series() {
    // With the copies under old names.
    let exported = scraped(&metrics()).len();
    assert!(exported < 2_000, "{exported} series");
}

#[test]
fn no_label_could_tell_an_organisation_a_patient_or_a_message() {
    let forbidden = ["org", "organization", "organisation", "patient", "tenant", "user", "id", "message", "document"];
    for entry in metrics().catalogue() {
        for (label, _) in &entry.labels {
            assert!(label.split('_').all(|word| !forbidden.contains(&word)), "{} has {label}", entry.name);
        }
    }
}

#[test]
fn names_follow_the_conventions_of_prometheus() {
    for entry in metrics().catalogue() {
        let name = &entry.name;
        assert!(name.starts_with("anamnesis_") || name.starts_with("process_"), "{name}");
        assert_eq!(entry.kind == "counter", name.ends_with("_total"), "{name} is a {}", entry.kind);
        assert!(!name.ends_with("_ms") && !name.ends_with("_count") && !name.ends_with("_sum"), "{name}");
        assert!(!entry.help.is_empty() && !entry.help.ends_with('.'), "{name} is without help or ends with a stop");
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'), "{name}");
    }
}

#[test]
fn the_catalogue_names_each_metric_once() {
    let metrics = metrics();
    let names: HashSet<&str> = metrics.catalogue().iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names.len(), metrics.catalogue().len());
}

#[test]
fn a_count_lands_on_the_series_of_its_labels_and_on_no_other() {
    let metrics = metrics();
    metrics.ingest.quarantined.with_labels(Reason::TooLarge).inc();
    metrics.ingest.redelivered.with_labels(Queue::Bulk).inc_by(3);
    metrics.stages.seconds.with_labels(Stage::Redact).observe(0.003);
    let seen = scraped(&metrics);
    assert_eq!(seen[r#"anamnesis_messages_quarantined_total{reason="too_large"}"#], 1.0);
    assert_eq!(seen[r#"anamnesis_messages_quarantined_total{reason="malformed"}"#], 0.0);
    assert_eq!(seen[r#"anamnesis_messages_redelivered_total{queue="bulk"}"#], 3.0);
    assert_eq!(seen[r#"anamnesis_stage_duration_seconds_count{stage="redact"}"#], 1.0);
}

#[test]
fn two_registries_in_one_process_share_nothing() {
    let (one, other) = (metrics(), metrics());
    one.memory.reconfirmations_due.set(7);
    assert_eq!(scraped(&other)["anamnesis_reconfirmations_due"], 0.0);
}

#[test]
fn configuration_fixes_provider_and_model_of_every_embedding_series() {
    let identity = Identity { provider: "openai".into(), model: "some-model".into(), ..Identity::default() };
    let metrics = Metrics::new(&identity).unwrap();
    metrics.embedding.tokens.inc_by(5);
    let seen = scraped(&metrics);
    assert_eq!(seen[r#"anamnesis_embedding_tokens_total{model="some-model",provider="openai"}"#], 5.0);
}

#[test]
fn every_national_identifier_counts_as_one_kind() {
    assert_eq!(InfoType::from_label("ES_DNI"), InfoType::NationalId);
    assert_eq!(InfoType::from_label("US_SSN"), InfoType::NationalId);
    assert_eq!(InfoType::from_label("PHONE"), InfoType::Phone);
}

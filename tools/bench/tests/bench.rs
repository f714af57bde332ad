//! `anamnesis-bench` end to end: what it counts and what it prints. Times are not looked at.

#![allow(clippy::unwrap_used, clippy::expect_used)] // a test may

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn bench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_anamnesis-bench"))
        .arg("ingest")
        .args(arguments)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .env_remove("ANAMNESIS_CONFIG")
        .output()
        .unwrap()
}

fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn count(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_else(|| panic!("{key} is no count in {value}"))
}

/// The broker that answers, started where none is named.
fn broker() -> String {
    std::env::var("ANAMNESIS_TEST_AMQP_URL").unwrap_or_else(|_| {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/rabbitmq.sh");
        let output = Command::new(script).arg("start").output().unwrap();
        assert!(output.status.success(), "no broker: scripts/rabbitmq.sh start failed");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    })
}

#[test]
fn twenty_documents_are_stored_once_and_compared_with_their_own_rows() {
    let text = printed(&bench(&["--documents", "20", "--batch", "8", "--output", "json"]));
    assert_eq!(text.lines().count(), 1, "only the line of JSON");
    let found: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(found["bench"], "ingest");
    for key in ["documents", "stored", "redelivered_duplicates"] {
        assert_eq!(count(&found, key), 20, "{key}");
    }
    assert_eq!(count(&found, "not_stored"), 0);
    let rows = &found["rows"];
    assert_eq!(count(rows, "documents"), 20);
    assert!(count(rows, "passage") >= 20);
    assert_eq!(count(rows, "embedding"), count(rows, "passage"), "every passage has its vector");
    for table in ["extracted_findings", "memory", "memory_link"] {
        assert!(count(rows, table) > 0, "{table}");
    }
    for key in ["documents_per_second", "ratio_to_bare_upserts", "redelivery_ratio", "store_bytes_per_document"] {
        assert!(found[key].as_f64().is_some_and(|figure| figure > 0.0), "{key}");
    }
    let stages: Vec<&String> = found["stages"].as_object().unwrap().keys().collect();
    assert_eq!(stages, ["decode", "embed", "extract", "redact", "store"]);
    let shares = found["stages"].as_object().unwrap().values().map(|stage| stage["share"].as_f64().unwrap());
    assert!((shares.sum::<f64>() - 1.0).abs() < 1e-6);
}

#[test]
fn the_profile_of_patterns_stores_one_passage_for_a_document_and_extracts_nothing() {
    let text = printed(&bench(&["--documents", "20", "--batch", "4", "--profile", "patterns", "--output", "json"]));
    let found: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((count(&found, "stored"), count(&found, "redelivered_duplicates")), (20, 20));
    assert_eq!(found["profile"], "patterns");
    for table in ["documents", "passage", "embedding", "memory", "inbox", "outbox"] {
        assert_eq!(count(&found["rows"], table), 20, "{table}");
    }
    assert_eq!(count(&found["rows"], "extracted_findings"), 0);
}

#[test]
fn of_several_rounds_each_is_told_and_the_median_is_the_figure() {
    let text = printed(&bench(&["--documents", "6", "--profile", "patterns", "--rounds", "3", "--output", "json"]));
    let found: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((count(&found, "stored"), count(&found, "not_stored")), (6, 0));
    let ratios_found =
        found["rounds"].as_array().unwrap().iter().map(|round| round["ratio_to_bare_upserts"].as_f64().unwrap());
    let mut ratios: Vec<f64> = ratios_found.collect();
    ratios.sort_unstable_by(f64::total_cmp);
    assert_eq!((ratios.len(), found["ratio_to_bare_upserts"].as_f64()), (3, Some(ratios[1])));
}

#[test]
fn for_a_person_tables_come_first_and_the_line_of_json_last() {
    let text = printed(&bench(&["--documents", "4", "--encoding", "float", "--latency-ms", "1"]));
    assert!(text.contains("Ratio to bare upserts") && text.contains("redact") && text.contains("memory_link"));
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(count(&last, "stored"), 4);
}

#[test]
fn faults_of_the_embedding_server_lose_nothing() {
    let text =
        printed(&bench(&["--documents", "8", "--batch", "2", "--faults", "500=0.3,count=0.1", "--output", "json"]));
    let found: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((count(&found, "stored"), count(&found["rows"], "documents")), (8, 8));
}

#[test]
fn messages_through_a_broker_are_measured_next_to_the_bare_client_and_the_bare_store() {
    let output = Command::new(env!("CARGO_BIN_EXE_anamnesis-bench"))
        .args(["messages", "--documents", "8", "--latency-ms", "2", "--output", "json"])
        .args(["--amqp-url", &broker()])
        .env_remove("ANAMNESIS_CONFIG")
        .output()
        .unwrap();
    let found: Value = serde_json::from_str(&printed(&output)).unwrap();
    assert_eq!((count(&found, "documents"), count(&found, "stored")), (8, 8));
    assert_eq!(count(&found["chat"], "messages"), 8);
    for key in [
        "documents_per_second",
        "bare_consumer_per_second",
        "bare_upserts_per_second",
        "redelivered_per_second",
        "share_kept_at_latency",
        "start_to_consuming_ms",
        "idle_mb",
        "loaded_mb",
    ] {
        assert!(found[key].as_f64().is_some_and(|figure| figure > 0.0), "{key}");
    }
    let shares = found["stages"].as_object().unwrap().values().map(|stage| stage["share"].as_f64().unwrap());
    assert!((shares.sum::<f64>() - 1.0).abs() < 1e-6);
}

#[test]
fn messages_of_ones_own_are_taken_from_a_folder() {
    let text = printed(&bench(&["--data", "samples", "--documents", "6", "--output", "json"]));
    let found: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((count(&found, "documents"), count(&found, "stored")), (6, 6));
}

#[test]
fn what_the_chosen_embedder_cannot_do_is_a_usage_error() {
    for arguments in [["--provider", "builtin", "--latency-ms", "5"], ["--faults", "gremlins=1", "--documents", "1"]] {
        assert_eq!(bench(&arguments).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn a_run_looks_at_what_is_due_its_repetition_changes_nothing_and_another_policy_rewrites_no_memory() {
    let output = Command::new(env!("CARGO_BIN_EXE_anamnesis-bench"))
        .args(["jobs", "--memories", "600", "--expiring", "20", "--output", "json"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .env_remove("ANAMNESIS_CONFIG")
        .output()
        .unwrap();
    let found: Value = serde_json::from_str(&printed(&output)).unwrap();
    assert_eq!((count(&found, "memories"), count(&found, "due")), (600, 20));
    // Twenty that expire and ten that fell, and no other row; reconciliation looks at the six patients.
    assert_eq!((count(&found, "examined"), count(&found, "changed")), (36, 30));
    assert_eq!(count(&found, "again_changed"), 0);
    // As many expire one after the other in the thirty job runs that follow.
    assert_eq!(count(&found, "growth_changed"), 20);
    // The ten that were asked about would fall later under another rate; no other row is touched for it.
    assert_eq!(count(&found, "anew_changed"), 10);
    // Under a much faster one whoever is older than the others falls at once.
    assert!(count(&found, "expired_during_run") > 30, "{found}");
    for measured in ["ingest_alone", "ingest_during_run"] {
        assert!(count(&found[measured], "batches") > 0 && found[measured]["p95_ms"].as_f64() > Some(0.0), "{found}");
    }
}

#[test]
fn a_loss_takes_nothing_from_before_the_backup_and_what_is_sent_again_is_stored() {
    let output = Command::new(env!("CARGO_BIN_EXE_anamnesis-bench"))
        .args(["restore", "--documents", "128", "--loss-after-ms", "300", "--output", "json"])
        .env_remove("ANAMNESIS_CONFIG")
        .output()
        .unwrap();
    let found: Value = serde_json::from_str(&printed(&output)).unwrap();
    assert_eq!(count(&found, "missing_before_instant"), 0);
    assert!(count(&found, "documents") > 128 && count(&found, "lost") > 0, "{found}");
    assert_eq!(count(&found, "stored_again"), count(&found, "lost"));
    let (restore, all) = (found["restore_seconds"].as_f64().unwrap(), found["rto_seconds"].as_f64().unwrap());
    assert!(restore > 0.0 && all > restore && found["rpo_seconds"].as_f64().unwrap() > 0.2, "{found}");
}

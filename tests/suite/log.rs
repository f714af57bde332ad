//! A worker's log: a line for each batch, a line for quarantined messages, the end of an outage, no error if all is
//! well; and no word of a patient.

use anamnesis_test_servers::fault_proxy::FaultProfile;
use serde_json::{Value, json};

use crate::broker::{BrokerWorker, TestBroker};
use crate::support::{ORG, PATIENT, Program, TestEngine, document, event};
use crate::worker::until;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

fn lines(log: &str) -> Vec<Value> {
    log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn with_code<'a>(lines: &'a [Value], code: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["code"] == code).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_is_one_line_with_counts_durations_and_trace_and_an_ordered_stop_logs_no_error() {
    let (corner, program) = (TestBroker::new().await, Program::on(TestEngine::File).await);
    let worker = BrokerWorker::start(&program, &corner.environment()).await;
    let mut note = event(
        "note-1",
        "anamnesis.document.submitted.v1",
        &document(1, 1, "2026-05-02T10:00:00Z", "Toma sertralina 50 mg al día."),
    );
    note["traceparent"] = json!(format!("00-{TRACE}-00f067aa0ba902b7-01"));
    let mut broken =
        event("note-2", "anamnesis.document.submitted.v1", &document(2, 1, "2026-05-02T10:00:00Z", "Refiere cefalea."));
    broken["data"]["document_type"] = json!("Zurriburri");
    corner.publish(&[note, broken].map(|message| message.to_string().into_bytes())).await;
    let done = || {
        let lines = lines(&worker.log());
        let sum = |field: &str| with_code(&lines, "batch").iter().filter_map(|line| line[field].as_u64()).sum::<u64>();
        (sum("messages"), sum("stored"), sum("quarantined"))
    };
    until("both messages are in lines of batches", async || done() == (2, 1, 1)).await;
    let log = worker.log();
    let all = lines(&log);
    let stored = with_code(&all, "batch").into_iter().find(|line| line["stored"] == 1).unwrap().clone();
    assert_eq!((stored["queue"].as_str(), stored["traces"].as_str()), (Some("bulk"), Some(TRACE)));
    let organization = stored["organizations"].as_str().unwrap();
    assert!(organization.len() == 8 && organization.chars().all(|c| c.is_ascii_hexdigit()), "{organization}");
    for field in ["decode_ms", "admit_ms", "read_ms", "embed_ms", "store_ms", "total_ms"] {
        assert!(stored[field].is_u64(), "{field}: {stored}");
    }
    let quarantined = with_code(&all, "message_quarantined");
    assert_eq!((quarantined.len(), quarantined[0]["reason"].as_str()), (1, Some("malformed")));
    for secret in ["sertralina", "cefalea", "Zurriburri", "note-1", &ORG.to_string(), &PATIENT.to_string()] {
        assert!(!log.contains(secret), "{secret}");
    }
    let path = program.folder.path().to_owned();
    assert!(worker.terminate().0.success());
    let file = std::fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|e| e == "log"));
    let all = lines(&std::fs::read_to_string(file.unwrap()).unwrap());
    assert_eq!(with_code(&all, "ended").len(), 1);
    let errors: Vec<&Value> = all.iter().filter(|line| line["level"] == "ERROR").collect();
    assert_eq!(errors, Vec::<&Value>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outage_of_the_store_is_said_once_and_so_is_its_end() {
    let program = Program::on(TestEngine::Postgres).await;
    let (relay, through) = program.store_behind_fault_proxy().await;
    let more = [("ANAMNESIS__STORE__URL", through.as_str()), ("ANAMNESIS__WORKER__STORE_STATS_INTERVAL_SECONDS", "1")];
    let worker = BrokerWorker::start(&program, &more.map(|(key, value)| (key.to_owned(), value.to_owned()))).await;
    until("the worker is ready", async || worker.probe("/readyz").await.is_some_and(|(status, _)| status == 200)).await;
    let said = |code: &str| with_code(&lines(&worker.log()), code).len();
    assert_eq!((said("store_unavailable"), said("store_recovered")), (0, 0));
    relay.set(FaultProfile::Refusing);
    relay.cut();
    until("the outage is said", async || said("store_unavailable") == 1).await;
    // Several counts later it is said no second time.
    tokio::time::sleep(std::time::Duration::from_secs(3)).await;
    relay.set(FaultProfile::Clear);
    relay.cut();
    until("its end is said", async || said("store_recovered") == 1).await;
    assert_eq!(said("store_unavailable"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn ids_of_messages_are_in_the_log_at_debug_alone() {
    let program = Program::on(TestEngine::File).await;
    let ingest = |id: &str, more: &[(&str, &str)]| {
        let note =
            event(id, "anamnesis.document.submitted.v1", &document(1, 1, "2026-05-02T10:00:00Z", "Toma sertralina."));
        let output = program.ingest(&[note.to_string().into_bytes()], more);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let at = |level: &'static str| [("ANAMNESIS__LOG__FILTER", level)];
    let (first, second) = ("0aaa0000-0000-4000-8000-0000000000a1", "0aaa0000-0000-4000-8000-0000000000a2");
    assert!(!ingest(first, &at("anamnesis=info,anamnesis_pipeline=info")).contains(first));
    let said = ingest(second, &at("warn,anamnesis_pipeline=debug"));
    assert!(said.contains(second) && said.contains("disposition"), "{said}");
    // An id that is none of a machine's may be a name.
    let sentence = ingest("ana.perez.llamo", &at("warn,anamnesis_pipeline=debug"));
    assert!(sentence.contains("disposition") && !sentence.contains("perez"), "{sentence}");
}

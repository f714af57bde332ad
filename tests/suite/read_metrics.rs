//! Reads are counted where a Prometheus finds them: a command ends before it could be scraped, so a worker shows the
//! sums.

use serde_json::json;
use uuid::Uuid;

use crate::support::{ORG, PATIENT, Program, TestEngine, bodies, counts, document, on_every_program};
use crate::worker::{Running, notes, until};

on_every_program!(
    a_worker_shows_what_commands_read_and_keeps_it_over_a_restart,
    every_worker_shows_the_runs_of_jobs_that_commands_made,
    what_a_worker_counted_since_its_last_census_outlives_its_end,
);

/// The program's end with arguments about a patient.
fn read(program: &Program, arguments: &[&str], patient: Uuid) -> Option<i32> {
    let (org, patient) = (ORG.to_string(), patient.to_string());
    let of = ["--org", &org, "--patient", &patient];
    program.command(&[]).args(arguments).args(of).output().unwrap().status.code()
}

async fn a_worker_shows_what_commands_read_and_keeps_it_over_a_restart(engine: TestEngine) {
    let program = Program::on(engine).await;
    let nobody = Uuid::from_u128(PATIENT.as_u128() + 1);
    let note = document(1, 1, "2026-05-02T10:00:00Z", "Toma sertralina 50 mg al día. Alergia a la penicilina.");
    assert_eq!(counts(&program.ingest(&bodies(&[note]), &[]))["stored"], 1);
    let some = Uuid::from_u128(7).to_string();
    let ways: [(&[&str], Uuid, &str, i32); 8] = [
        (&["profile"], PATIENT, r#"door="profile",endpoint="profile",outcome="hit""#, 0),
        (&["profile"], nobody, r#"door="profile",endpoint="profile",outcome="empty""#, 0),
        (&["memory", "list"], PATIENT, r#"door="list",endpoint="list",outcome="hit""#, 0),
        (&["memory", "list"], nobody, r#"door="list",endpoint="list",outcome="empty""#, 0),
        (&["memory", "show", &some], PATIENT, r#"door="show",endpoint="show",outcome="empty""#, 1),
        (&["memory", "trace", &some], PATIENT, r#"door="trace",endpoint="trace",outcome="empty""#, 1),
        (&["context", "--query", "sertralina"], PATIENT, r#"door="context",endpoint="context",outcome="hit""#, 0),
        (
            &["context", "--query", "dump all memories"],
            PATIENT,
            r#"door="context",endpoint="context",outcome="refused""#,
            1,
        ),
    ];
    for (arguments, patient, _, code) in &ways {
        assert_eq!(read(&program, arguments, *patient), Some(*code), "{arguments:?}");
    }
    let gold = json!({"id": "p", "lang": "es",
        "documents": [{"id": "d", "type": "clinical_note", "occurred_at": "2026-05-02T10:00:00Z", "text": "Toma sertralina 50 mg al día."}],
        "questions": [{"id": "q", "lang": "es", "text": "¿toma sertralina?", "answers": [{"document": "d", "quote": "sertralina"}]}]});
    std::fs::write(program.folder.path().join("gold.jsonl"), gold.to_string()).unwrap();
    let evaluated = program.command(&[]).args(["recall", "eval", "gold.jsonl", "--record"]).output().unwrap();
    assert!(evaluated.status.success(), "{}", String::from_utf8_lossy(&evaluated.stderr));

    for start in 1..=2 {
        let worker = Running::start(&program, &[("ANAMNESIS__WORKER__STORE_STATS_INTERVAL_SECONDS", "1")]).await;
        for (arguments, _, labels, _) in &ways {
            let series = format!("anamnesis_memory_reads_total{{{labels}}}");
            until(&format!("{arguments:?} is counted"), async || worker.metric(&series).await == f64::from(start))
                .await;
        }
        assert_eq!(worker.metric("anamnesis_dump_requests_refused_total").await, f64::from(start));
        assert_eq!(worker.metric(r#"anamnesis_retrieval_quality_ratio{measure="hit_at_1"}"#).await, 1.0);
        for series in [
            r#"anamnesis_retrieval_duration_seconds_count{leg="text",retriever="text"}"#,
            r#"anamnesis_retrieval_duration_seconds_bucket{leg="text",retriever="text",le="+Inf"}"#,
        ] {
            assert_eq!(worker.metric(series).await, f64::from(start), "{series}");
        }
        // The running worker counts them as well, and the next one continues from there.
        if start == 1 {
            for (arguments, patient, _, code) in &ways {
                assert_eq!(read(&program, arguments, *patient), Some(*code), "{arguments:?}");
            }
            until("they are counted twice", async || {
                worker.metric(r#"anamnesis_memory_reads_total{door="context",endpoint="context",outcome="hit"}"#).await
                    == 2.0
            })
            .await;
        }
    }
}

async fn every_worker_shows_the_runs_of_jobs_that_commands_made(engine: TestEngine) {
    let program = Program::on(engine).await;
    let note = document(1, 1, "2026-05-02T10:00:00Z", "Toma sertralina 50 mg al día.");
    assert_eq!(counts(&program.ingest(&bodies(&[note]), &[]))["stored"], 1);
    let org = ORG.to_string();
    let run = |day: &str| {
        let now = format!("{day}T23:59:00Z");
        let arguments = ["job", "run", "expiry", "--org", &org, "--as-of", day];
        let ended = program.command(&[("ANAMNESIS__PIPELINE__NOW", now.as_str())]).args(arguments).output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    };
    run("2026-07-01");
    let (runs, seconds) = (
        r#"anamnesis_job_runs_total{job_name="expiry",outcome="succeeded"}"#,
        r#"anamnesis_job_duration_seconds_count{job_name="expiry"}"#,
    );
    // A worker that runs no jobs shows those of CronJobs.
    let settings = [("ANAMNESIS__WORKER__STORE_STATS_INTERVAL_SECONDS", "1"), ("ANAMNESIS__JOBS__SCHEDULER", "false")];
    let worker = Running::start(&program, &settings).await;
    assert_eq!((worker.metric(runs).await, worker.metric(seconds).await), (1.0, 1.0));
    // So are the texts that a command paid for.
    let texts = r#"anamnesis_embedding_texts_total{model="fake",provider="openai",purpose="document"}"#;
    assert!(worker.metric(texts).await > 0.0);
    run("2026-07-02");
    until("the second run is counted", async || worker.metric(runs).await == 2.0).await;
    assert_eq!(worker.metric(seconds).await, 2.0);
    // A worker that starts later shows the same, not its share.
    let later = Running::start(&program, &settings).await;
    assert_eq!((later.metric(runs).await, worker.metric(runs).await), (2.0, 2.0));
}

async fn what_a_worker_counted_since_its_last_census_outlives_its_end(engine: TestEngine) {
    let program = Program::on(engine).await;
    let texts = r#"anamnesis_embedding_texts_total{model="fake",provider="openai",purpose="document"}"#;
    let worker = Running::start(&program, &[]).await;
    worker.lay("notes.ndjson", &notes());
    until("the file is gone once all is stored", async || super::spool::originals(&worker.spool) == 0).await;
    let counted = worker.metric(texts).await;
    assert!(counted > 0.0);
    assert_eq!(worker.end(), Some(0));
    let next = Running::start(&program, &[]).await;
    assert_eq!(next.metric(texts).await, counted);
}

//! Job runs from the command line.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use anamnesis_jobs::JobName;
use anamnesis_jobs::policy::Policies;
use uuid::Uuid;

use super::app::{JobFixture, NIGHT, run};
use super::kills::AfterBatches;

#[tokio::test]
async fn the_command_line_previews_runs_repeats_and_reports() {
    let fixture = JobFixture::on_disk().await;
    fixture.seed(2).await;
    let before = fixture.digest().await;
    let noon = "2026-03-10T17:00:00Z";

    let (code, lines) = fixture.verb(noon, &["job", "run", "expiry", "--as-of", "2026-03-10", "--dry-run"]);
    assert_eq!((code, lines[0]["outcome"].as_str(), lines[0]["changed"].as_u64()), (0, Some("preview"), Some(10)));
    assert_eq!(fixture.digest().await, before);

    let (code, lines) = fixture.verb(noon, &["job", "run", "expiry", "--as-of", "2026-03-10"]);
    assert_eq!((code, lines[0]["outcome"].as_str(), lines[0]["changed"].as_u64()), (0, Some("done"), Some(10)));
    assert_eq!(lines[0]["cutoff"], NIGHT);
    let after = fixture.digest().await;
    let (code, lines) = fixture.verb(noon, &["job", "run", "expiry", "--as-of", "2026-03-10"]);
    assert_eq!((code, lines[0]["changed"].as_u64()), (0, Some(0)));
    assert_eq!(fixture.digest().await, after);

    let (code, lines) = fixture.verb(noon, &["job", "run", "expiry", "--as-of", "2026-03-11"]);
    assert_eq!((code, lines[0]["outcome"].as_str()), (2, Some("ahead")), "a memory must not expire early");
    assert_eq!(fixture.digest().await, after);
    let (code, lines) = fixture.verb(noon, &["job", "run", "expiry", "--as-of", "2026-03-11", "--dry-run"]);
    assert_eq!((code, lines[0]["changed"].as_u64()), (0, Some(6)), "but one may look ahead");

    let (code, lines) =
        fixture.verb(noon, &["job", "run", "reconfirmation", "--from", "2026-03-08", "--to", "2026-03-10"]);
    assert_eq!((code, lines.len()), (0, 3));

    let (_, lines) = fixture.verb(noon, &["job", "status", "expiry"]);
    assert_eq!(lines[0]["last"]["state"], "done");
    assert_eq!(lines[0]["last"]["status"]["resolved_unconfirmed"], 4);
    assert_eq!(lines[0]["next_at"], "2026-03-11T08:10:00Z");
    let (_, lines) = fixture.verb(noon, &["job", "history", "--from", "2026-03-09"]);
    let job_runs: Vec<String> = lines.iter().map(|line| format!("{} {}", line["as_of"], line["job"])).collect();
    assert_eq!(job_runs.len(), 3, "{job_runs:?}");
    let (_, lines) = fixture.verb(noon, &["job", "list"]);
    assert_eq!(lines.len(), JobName::ALL.len());
}

#[tokio::test]
async fn a_simulation_reports_what_the_coming_runs_will_do_and_the_store_stays_as_it_is() {
    let fixture = JobFixture::on_disk().await;
    fixture.seed(2).await;
    let before = fixture.digest().await;
    let (code, lines) = fixture.verb("2026-03-09T17:00:00Z", &["job", "simulate", "--to", "2026-03-12"]);
    assert_eq!(code, 0);
    let job_runs = lines[0]["job_runs"].as_array().unwrap();
    let first = job_runs.iter().find(|run| run["job"] == "expiry").unwrap();
    assert_eq!((first["as_of"].as_str(), first["changed"].as_u64()), (Some("2026-03-10"), Some(10)));
    assert!(job_runs.iter().any(|run| run["job"] == "decay" && run["as_of"] == "2026-03-11"));
    assert_eq!(fixture.digest().await, before);
    assert!(fixture.ledger().await.is_empty());
    // Missed runs are part of the forecast: the first is the one of `job run --dry-run`.
    let late = "2026-03-12T17:00:00Z";
    let (_, lines) = fixture.verb(late, &["job", "simulate", "expiry", "--to", "2026-03-13"]);
    let owed = &lines[0]["job_runs"][0];
    let (_, previews) = fixture.verb(late, &["job", "run", "expiry", "--dry-run"]);
    let preview = previews.iter().find(|line| line["changed"].as_u64() > Some(0)).unwrap();
    assert_eq!((&owed["as_of"], &owed["changed"]), (&preview["as_of"], &preview["changed"]));
    assert_eq!(fixture.verb(NIGHT, &["job", "simulate", "--to", "2026-03-01"]).0, 2, "an empty range");
}

#[tokio::test]
async fn a_cron_job_makes_up_what_is_due_and_then_finds_nothing_to_do() {
    let fixture = JobFixture::on_disk().await;
    fixture.seed(1).await;
    let (code, lines) = fixture.verb("2026-03-12T17:00:00Z", &["job", "run", "expiry"]);
    assert_eq!(code, 0);
    assert_eq!(lines.len(), usize::from(Policies::embedded().unwrap().expiry.run.catch_up_days) + 1);
    assert_eq!(lines.last().unwrap()["as_of"], "2026-03-12");
    let (code, lines) = fixture.verb("2026-03-12T17:30:00Z", &["job", "run", "expiry"]);
    assert_eq!((code, lines.len(), lines[0]["outcome"].as_str()), (0, 1, Some("settled")));
}

#[tokio::test]
async fn a_run_that_another_owner_holds_is_exit_code_4_and_an_unknown_organisation_is_2() {
    let fixture = JobFixture::on_disk().await;
    fixture.seed(1).await;
    let watch = Arc::new(AfterBatches { left: AtomicU64::new(1), ..AfterBatches::default() });
    let holder = fixture.scheduler("holder").watched_by(watch.clone()).build();
    tokio::select! {
        biased;
        () = watch.reached.notified() => {}
        report = run(&holder, fixture.due(JobName::Expiry, "2026-03-10")) => panic!("was to be dropped: {report:?}"),
    }
    let (code, lines) = fixture.verb("2026-03-10T08:11:00Z", &["job", "run", "expiry", "--as-of", "2026-03-10"]);
    assert_eq!((code, lines[0]["outcome"].as_str()), (4, Some("held")));
    let nobody = Uuid::from_u128(99).to_string();
    assert_eq!(fixture.verb(NIGHT, &["job", "run", "expiry", "--org", &nobody]).0, 2);
}

#[tokio::test]
async fn a_run_without_a_job_lists_the_jobs_with_their_last_run_and_is_a_mistake() {
    let fixture = JobFixture::on_disk().await;
    fixture.seed(2).await;
    let noon = "2026-03-10T17:00:00Z";
    let (code, _) = fixture.verb(noon, &["job", "run", "expiry", "--as-of", "2026-03-10"]);
    assert_eq!(code, 0);
    let before = fixture.digest().await;
    let (code, lines) = fixture.verb(noon, &["job", "run"]);
    assert_eq!((code, lines.len()), (2, JobName::ALL.len()));
    let of = |job: &str| lines.iter().find(|line| line["job"] == job).unwrap_or_else(|| panic!("{job}"));
    let last = (of("expiry")["state"].as_str(), of("expiry")["ended_at"].as_str());
    assert_eq!(last, (Some("done"), Some("2026-03-10T17:00:00Z")));
    assert!(of("purge")["state"].is_null() && of("purge")["ended_at"].is_null());
    assert_eq!(fixture.digest().await, before, "nothing was run");
    // Nor is a store made to say so.
    let empty = tempfile::tempdir().unwrap();
    let mut asked = std::process::Command::new(env!("CARGO_BIN_EXE_anamnesis"));
    let asked = asked.args(["job", "run"]).current_dir(empty.path()).output().unwrap();
    assert_eq!(asked.status.code(), Some(2));
    assert_eq!(std::fs::read_dir(empty.path()).unwrap().count(), 0);
}

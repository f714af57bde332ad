//! Old names in policies: each works alone, warns, and is refused next to the new one.

use super::*;
use crate::policy::{Policies, embedded};

#[test]
fn every_old_name_gives_the_same_policy_and_a_warning_with_its_line() {
    let expected = Policies::embedded().unwrap();
    let mut seen = 0;
    for (job, row) in JobName::ALL.iter().flat_map(|job| rows(*job).map(move |row| (*job, row))) {
        let (old, new) = (format!("\n{} = ", row.old_name()), format!("\n{} = ", row.new_name()));
        let text = embedded(job);
        assert_eq!(text.matches(&new).count(), 1, "{job}: {}", row.new);
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join(format!("{job}.toml"));
        std::fs::write(&file, text.replace(&new, &old)).unwrap();
        assert_eq!(Policies::from_directory(directory.path()).unwrap(), expected, "{job}: {}", row.old);
        let at = line(text, text.find(&new).unwrap() + 1);
        let RenamedKey { old, new, since } = row;
        assert_eq!(in_use(Some(directory.path())), [OldPolicyKey { job, file, line: at, old, new, since }]);
        seen += 1;
    }
    assert!(seen >= JobName::ALL.len() + 15, "{seen}");
    assert_eq!(in_use(None), []);
}

#[test]
fn a_key_under_both_names_is_refused_with_its_line_and_an_unknown_key_keeps_its_own() {
    let text = embedded(JobName::Reembedding).replace("\nk = ", "\nnearest = 4\nk = ");
    let at = line(&text, text.find("nearest = 4").unwrap());
    let refused = replaced(JobName::Reembedding, &text).unwrap_err();
    assert_eq!(
        refused,
        format!("line {at}: thresholds.k is set under its old name thresholds.nearest too; remove the old one")
    );
    let text = "pause_ms = 20\n\"max_attempts\" = 6\n[thresholds]\nlongest_bytes = 300\nnearest = 4\n";
    let new = "batch_delay_ms = 20\n\"max_attempts\" = 6\n[thresholds]\nmax_text_bytes = 300\nnearest = 4\n";
    assert_eq!(replaced(JobName::EmbedBatch, text).as_deref(), Ok(new), "only the names of the job");
    assert_eq!(replaced(JobName::EmbedBatch, "pause_ms = = 1").as_deref(), Ok("pause_ms = = 1"));
}

#[test]
fn the_counts_of_a_run_that_the_version_before_began_are_read_under_their_new_names() {
    let retention: crate::retention::RetentionStatus = serde_json::from_str(r#"{"examined":5,"reckoned":3}"#).unwrap();
    let trends: crate::confidence_analytics::ConfidenceAnalyticsStatus =
        serde_json::from_str(r#"{"reckoned":2}"#).unwrap();
    assert_eq!((retention.examined, retention.due_dates_set, trends.trends_updated), (5, 3, 2));
}

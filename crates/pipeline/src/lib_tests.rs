//! Attempts that are still open after a batch, and the messages that a failed batch counts against.

use super::*;
use anamnesis_core::reason::Reason;
use anamnesis_sql::DbError;

#[test]
fn an_attempt_ends_with_the_effects_of_its_message_and_with_nothing_else() {
    let messages: BTreeMap<usize, KeyHash> = (0..6).map(|place| (place, [place as u8; 32])).collect();
    let done = [
        MessageOutcome::new(0, Disposition::Stored),
        MessageOutcome::new(1, Disposition::Retry),
        MessageOutcome::quarantined(2, Reason::RedactionFailed, None),
        MessageOutcome::new(3, Disposition::Ephemeral),
        MessageOutcome::new(4, Disposition::Duplicate),
        MessageOutcome::new(9, Disposition::Stored),
    ];
    assert_eq!(still_begun(messages.clone(), &done), [[1; 32], [2; 32], [3; 32], [4; 32], [5; 32]]);
    assert_eq!(still_begun(messages, &[]).len(), 6, "a batch that failed leaves all");
}

#[test]
fn a_store_that_rejects_all_writes_blames_no_message() {
    for (error, wanted) in [
        (PipelineError::Store(StoreError::Db(DbError::Transient("busy"))), Disposition::Waits),
        (PipelineError::Store(StoreError::Race), Disposition::Waits),
        (PipelineError::Store(StoreError::Ungrounded), Disposition::Retry),
        (PipelineError::Store(StoreError::Shape), Disposition::Retry),
        (PipelineError::Embed(EmbedError::Misconfigured), Disposition::Retry),
        (PipelineError::Embed(EmbedError::Transient { after: None }), Disposition::Retry),
    ] {
        assert_eq!(error.again(), wanted, "{error:?}");
    }
}

#[test]
fn long_work_is_done_whatever_runs_it() {
    assert_eq!(run_blocking(|| 7), 7, "without a runtime");
    let one = tokio::runtime::Builder::new_current_thread().build().unwrap();
    assert_eq!(one.block_on(async { run_blocking(|| 8) }), 8, "on one thread");
    let many = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    assert_eq!(many.block_on(async { run_blocking(|| 9) }), 9, "on several");
}

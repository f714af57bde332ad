//! Started attempts on messages: one row for a batch, single ones on request.

use anamnesis_sql::{Access, Sql};
use anamnesis_store::admission::AttemptBatch;
use anamnesis_store::records::{InboxEntry, MessageAct, OrgBatch};
use anamnesis_store::upkeep::{UpkeepKey, UpkeepQueue, expired_rows, forget};
use anamnesis_store::{PageRequest, Store};
use chrono::TimeDelta;

use crate::support::{Clinic, TestEngine, count, on_every_engine, scope};

on_every_engine!(
    a_batch_that_began_counts_for_each_of_its_messages_at_the_first_check,
    a_batch_ends_with_its_effects_and_what_was_not_stored_goes_on_counting,
    a_batch_that_was_asked_about_in_work_ends_with_its_effects_too,
    a_batch_that_ends_one_by_one_is_counted_one_by_one,
    an_unchecked_batch_is_forgotten_like_the_attempts_of_messages,
);

const MESSAGES: [[u8; 32]; 3] = [[1; 32], [2; 32], [3; 32]];

async fn batches(store: &Store) -> i64 {
    count(store, "SELECT count(*) FROM attempt_batch").await
}

async fn singles(store: &Store) -> i64 {
    count(store, "SELECT count(*) FROM attempt").await
}

async fn counted(store: &Store) -> [i64; 3] {
    let counts = store.intake().attempts(&MESSAGES).await.unwrap();
    MESSAGES.map(|message| counts.get(&message).copied().unwrap_or(0))
}

/// The first two messages are stored; the third is not.
async fn store_two(store: &Store, begun: AttemptBatch) {
    let scope = scope();
    store.intake().register(scope.org()).await.unwrap();
    let keys = store.keys().ensure(&[scope]).await.unwrap().known;
    let entry = |message| InboxEntry {
        message,
        body: [9; 32],
        scope,
        message_type: "document.submitted",
        done: MessageAct::default(),
    };
    let inbox = vec![entry(MESSAGES[1]), entry(MESSAGES[0])];
    let batch = OrgBatch { begun: Some(begun), inbox, ..OrgBatch::default() };
    store.intake().commit(scope.org(), &batch, &keys).await.unwrap();
}

async fn a_batch_that_began_counts_for_each_of_its_messages_at_the_first_check(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let store = pipeline.store();
    store.intake().begin_attempts(&MESSAGES).await.unwrap();
    assert_eq!((batches(store).await, singles(store).await), (1, 0));
    // A batch of another worker, with a redelivered message.
    store.intake().begin_attempts(&MESSAGES[1..]).await.unwrap();
    assert_eq!((batches(store).await, singles(store).await), (2, 0));
    assert_eq!(counted(store).await, [1, 2, 2]);
    assert_eq!((batches(store).await, singles(store).await), (0, 3));
    assert_eq!(counted(store).await, [1, 2, 2], "asking again counts nothing twice");
    // Messages that are counted singly stay so.
    let third = store.intake().begin_attempts(&MESSAGES).await.unwrap();
    assert_eq!(third.batch, None);
    assert_eq!(counted(store).await, [2, 3, 3]);
    assert!(store.intake().was_any_begun(3).await.unwrap() && !store.intake().was_any_begun(4).await.unwrap());
    store.intake().end_attempts(None, &MESSAGES).await.unwrap();
    assert!(!store.intake().was_any_begun(1).await.unwrap());
}

async fn a_batch_ends_with_its_effects_and_what_was_not_stored_goes_on_counting(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let store = pipeline.store();
    let begun = store.intake().begin_attempts(&MESSAGES).await.unwrap();
    store_two(store, begun.clone()).await;
    assert_eq!(batches(store).await, 0);
    assert_eq!(counted(store).await, [0, 0, 1]);
    store.intake().end_attempts(begun.batch, &MESSAGES[2..]).await.unwrap();
    assert_eq!(counted(store).await, [0, 0, 0]);
}

async fn a_batch_that_was_asked_about_in_work_ends_with_its_effects_too(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let store = pipeline.store();
    let begun = store.intake().begin_attempts(&MESSAGES).await.unwrap();
    assert_eq!(counted(store).await, [1, 1, 1]);
    store_two(store, begun).await;
    assert_eq!((batches(store).await, counted(store).await), (0, [0, 0, 1]));
}

async fn a_batch_that_ends_one_by_one_is_counted_one_by_one(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let store = pipeline.store();
    let begun = store.intake().begin_attempts(&MESSAGES).await.unwrap();
    store.intake().split_attempt_batch(&begun).await.unwrap();
    assert_eq!((batches(store).await, singles(store).await), (0, 3));
    // Another request in between adds nothing.
    assert_eq!(counted(store).await, [1, 1, 1]);
    store_two(store, AttemptBatch::default()).await;
    assert_eq!(counted(store).await, [0, 0, 1]);
    store.intake().split_attempt_batch(&begun).await.unwrap();
    assert_eq!(counted(store).await, [0, 0, 1], "what was parted is not parted again");
}

async fn an_unchecked_batch_is_forgotten_like_the_attempts_of_messages(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let store = pipeline.store();
    store.intake().begin_attempts(&MESSAGES).await.unwrap();
    let begun_at = store.clock().now();
    for (until, left) in [(begun_at - TimeDelta::days(7), 1), (begun_at, 0)] {
        let mut tx = store.db().begin(Access::Platform).await.unwrap();
        let (org, lane) = (scope().org(), UpkeepQueue::Batches);
        let next = PageRequest { after: &UpkeepKey::start(lane), limit: 9 };
        let spent = expired_rows(&mut tx, org, lane, until, next).await.unwrap();
        forget(&mut tx, org, lane, (until, until), &spent.iter().collect::<Vec<_>>()).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(batches(store).await, left);
    }
}

#[tokio::test]
async fn an_end_that_could_not_be_written_is_written_with_the_next_beginning() {
    let clinic = Clinic::on(TestEngine::File).await;
    let pipeline = clinic.pipeline().await;
    let store = pipeline.store();
    let rename = |sql: &'static str| async move {
        let mut tx = store.db().begin(Access::Platform).await.unwrap();
        tx.execute(&Sql::new(sql), Vec::new()).await.unwrap();
        tx.commit().await.unwrap();
    };
    let begun = store.intake().begin_attempts(&MESSAGES).await.unwrap();
    rename("ALTER TABLE attempt_batch RENAME TO away").await;
    store.intake().end_attempts(begun.batch, &MESSAGES).await.unwrap_err();
    store.intake().begin_attempts(&MESSAGES).await.unwrap_err();
    rename("ALTER TABLE away RENAME TO attempt_batch").await;
    assert_eq!(batches(store).await, 1);
    let next = store.intake().begin_attempts(&MESSAGES[..2]).await.unwrap();
    assert_eq!(batches(store).await, 1, "the first batch ended");
    store.intake().end_attempts(next.batch, &[]).await.unwrap();
    assert_eq!((batches(store).await, counted(store).await), (0, [0, 0, 0]));
}

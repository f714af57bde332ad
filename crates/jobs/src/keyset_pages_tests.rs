//! Pages through several queues, each after the last one's end, without a gap and without a repetition.

use anamnesis_core::ids::OrgId;
use anamnesis_sql::{Access, Database, DbError, Location};
use chrono::{DateTime, Utc};
use proptest::prelude::*;
use uuid::Uuid;

use super::*;

/// Numbers in three queues; each row is its queue and its number.
struct Numbers([Vec<u32>; 3]);

#[async_trait]
impl DueQueues for Numbers {
    type Queue = usize;
    type Position = u32;
    type Row = (usize, u32);
    const QUEUES: &'static [usize] = &[0, 1, 2];

    fn start(_: usize) -> u32 {
        0
    }

    fn place(row: &(usize, u32)) -> u32 {
        row.1
    }

    async fn read(
        &self,
        _: &mut Transaction,
        window: &JobWindow,
        queue: usize,
        after: &u32,
    ) -> Result<Vec<(usize, u32)>, JobError> {
        if self.0[queue].contains(&999) {
            return Err(DbError::Schema.into());
        }
        let rows = self.0[queue].iter().filter(|number| **number > *after).map(|number| (queue, *number));
        Ok(rows.take(window.limit as usize).collect())
    }
}

fn window(limit: u32) -> JobWindow {
    let org = OrgId(Uuid::from_u128(1));
    JobWindow { org, cutoff: DateTime::<Utc>::UNIX_EPOCH, limit, generations: None, preview: false }
}

/// All pages, as the rows of each.
async fn pages(queues: &Numbers, limit: u32) -> Vec<Vec<(usize, u32)>> {
    let db = Database::open(&Location::Memory).await.unwrap();
    let mut tx = db.read(Access::Platform).await.unwrap();
    let (mut found, mut from) = (Vec::new(), None);
    loop {
        let next = page(queues, &mut tx, &window(limit), from.as_ref()).await.unwrap();
        assert_eq!(next.examined, next.changes.len() as u64);
        found.push(next.changes);
        match next.next {
            Some(cursor) => from = Some(cursor),
            None => return found,
        }
    }
}

#[tokio::test]
async fn queues_follow_each_other_and_empty_ones_cost_no_page() {
    let queues = Numbers([vec![1, 2, 3], vec![], vec![5]]);
    assert_eq!(pages(&queues, 2).await, [vec![(0, 1), (0, 2)], vec![(0, 3)], vec![(2, 5)]]);
    assert_eq!(pages(&queues, 4).await, [vec![(0, 1), (0, 2), (0, 3)], vec![(2, 5)]]);
}

#[tokio::test]
async fn a_queue_that_ends_with_a_full_page_is_read_once_more() {
    let queues = Numbers([vec![1, 2], vec![7], vec![]]);
    let found = pages(&queues, 2).await;
    assert_eq!(found.concat(), [(0, 1), (0, 2), (1, 7)]);
    let empty = Numbers([vec![], vec![], vec![]]);
    assert_eq!(pages(&empty, 2).await, [Vec::<(usize, u32)>::new()]);
}

#[tokio::test]
async fn a_cursor_of_another_version_is_an_error_and_one_after_the_last_queue_is_the_end() {
    let queues = Numbers([vec![1], vec![2], vec![3]]);
    let db = Database::open(&Location::Memory).await.unwrap();
    let mut tx = db.read(Access::Platform).await.unwrap();
    for text in ["", "{}", "{\"lane\":0}", "{\"lane\":-1,\"after\":1}", "7", "{\"lane\":0,\"after\":\"x\"}"] {
        let error = page(&queues, &mut tx, &window(2), Some(&RunCursor(text.to_owned()))).await.map(drop).unwrap_err();
        assert_eq!((error.code(), error), ("cursor", JobError::Cursor), "{text}");
    }
    let behind = RunCursor::write(&QueueCursor { queue: 3, after: 0 });
    let end = page(&queues, &mut tx, &window(2), Some(&behind)).await.unwrap();
    assert!(end.changes.is_empty() && end.next.is_none() && end.examined == 0);
    let second = RunCursor::write(&QueueCursor { queue: 1, after: 0 });
    let rest = page(&queues, &mut tx, &window(2), Some(&second)).await.unwrap();
    assert_eq!(rest.changes, [(1, 2)]);
}

#[tokio::test]
async fn a_queue_that_cannot_be_read_ends_the_page() {
    let queues = Numbers([vec![], vec![999], vec![1]]);
    let db = Database::open(&Location::Memory).await.unwrap();
    let mut tx = db.read(Access::Platform).await.unwrap();
    let error = page(&queues, &mut tx, &window(2), None).await.map(drop).unwrap_err();
    assert_eq!((error.code(), error), ("schema", JobError::Database(DbError::Schema)));
}

#[test]
fn the_next_page_begins_after_the_last_row_of_a_full_one() {
    let next = |rows: &[u32], limit| next_after(rows, &window(limit), |row| *row).map(|cursor| cursor.0);
    assert_eq!(next(&[4, 5], 2), Some("5".to_owned()));
    assert_eq!(next(&[4, 5], 1), Some("5".to_owned()));
    assert_eq!(next(&[4, 5], 3), None, "there is no more");
    assert_eq!(next(&[], 1), None);
    assert_eq!(RunCursor::after(None, 3u32), Ok(3));
    assert_eq!(RunCursor::after(Some(&RunCursor("8".to_owned())), 3u32), Ok(8));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn every_row_comes_once_and_in_order_whatever_the_size_of_a_page(sizes in [0u32..9, 0..9, 0..9], limit in 1u32..6) {
        let queues = Numbers(sizes.map(|size| (1..=size).collect()));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let found = runtime.block_on(pages(&queues, limit));
        let all: Vec<(usize, u32)> = (0..3).flat_map(|queue| (1..=sizes[queue]).map(move |number| (queue, number))).collect();
        prop_assert!(found.iter().all(|page| page.len() <= limit as usize));
        prop_assert_eq!(found.concat(), all);
    }
}

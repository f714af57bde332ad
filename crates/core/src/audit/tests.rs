//! A chain, each change of it, and what its check says.

use proptest::prelude::*;

use super::*;

/// A key of the store.
struct TestKey(u8);

impl Salter for TestKey {
    fn salt(&self, content: &[u8]) -> Salt {
        let mut salt = [0; 16];
        salt.copy_from_slice(&hash("key", &[&[self.0], content])[..16]);
        salt
    }
}

fn at(second: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_700_000_000 + second, 0).unwrap()
}

fn entry(n: u128) -> StoredEntry {
    let entry = AuditEntry {
        org: Uuid::from_u128(1),
        id: Uuid::from_u128(n),
        at: at(n as i64),
        patient: Uuid::from_u128(2),
        actor: "dr-perez".to_owned(),
        role: Some("clinician".to_owned()),
        purpose: None,
        reason: Some(String::new()),
        action: "read_context".to_owned(),
        subject: None,
        outcome: "done".to_owned(),
    };
    let salt = TestKey(1).salt(&entry.content());
    StoredEntry { entry, salt: Some(salt), block: None, erased: None }
}

/// Blocks of these sizes, in one chain.
fn chain(sizes: &[u64]) -> Vec<(Block, Vec<StoredEntry>)> {
    let (mut out, mut n) = (Vec::<(Block, Vec<StoredEntry>)>::new(), 0);
    for size in sizes {
        let mut entries: Vec<StoredEntry> = (0..*size).map(|i| entry(n + u128::from(i) + 1)).collect();
        n += u128::from(*size);
        let leaves: Vec<Hash> = entries.iter().map(StoredEntry::leaf).collect();
        let block = Block::seal(Uuid::from_u128(1), out.last().map(|(block, _)| block), &leaves, at(n as i64));
        entries.iter_mut().for_each(|stored| stored.block = Some(block.number));
        out.push((block, entries));
    }
    out
}

fn checked(chain: &[(Block, Vec<StoredEntry>)], heads: &[Head]) -> ChainReport {
    let mut check = ChainCheck::new(OrgId(Uuid::from_u128(1)), &TestKey(1), heads, at(-1_000_000));
    chain.iter().for_each(|(block, entries)| check.block(block, entries));
    check.end()
}

#[test]
fn a_whole_chain_is_unanchored_without_a_head_and_witnessed_with_one() {
    let chain = chain(&[3, 1, 5]);
    assert_eq!(checked(&chain, &[]).verdict, ChainVerdict::Unanchored);
    let heads: Vec<Head> = chain.iter().map(|(block, _)| block.head()).collect();
    let report = checked(&chain, &heads);
    assert_eq!((report.verdict, report.witnesses, report.entries), (ChainVerdict::Witnessed, 3, 9));
}

#[test]
fn a_chain_that_is_written_again_with_the_key_diverges_from_its_head() {
    let head = chain(&[3, 2])[1].0.head();
    let other = chain(&[2, 3]);
    let report = checked(&other, std::slice::from_ref(&head));
    assert_eq!((report.verdict, report.findings[0].fault), (ChainVerdict::Diverged, ChainFault::HeadMissing));
    let cut = chain(&[3]);
    assert_eq!(checked(&cut, &[head]).verdict, ChainVerdict::Diverged);
}

#[test]
fn an_entry_without_the_key_of_the_store_is_not_authentic_though_its_chain_is_whole() {
    let mut forged = chain(&[2]);
    forged[0].1[1].entry.actor = "dr-lopez".to_owned();
    forged[0].1[1].salt = Some(TestKey(2).salt(&forged[0].1[1].entry.content()));
    let leaves: Vec<Hash> = forged[0].1.iter().map(StoredEntry::leaf).collect();
    forged[0].0 = Block::seal(Uuid::from_u128(1), None, &leaves, forged[0].0.sealed_at);
    let report = checked(&forged, &[]);
    assert_eq!((report.verdict, report.findings[0].fault), (ChainVerdict::Invalid, ChainFault::EntryNotAuthentic));
}

/// An entry without a key: of a program before the trail was chained, or of a person without the key.
#[test]
fn an_entry_without_a_salt_is_old_in_the_first_blocks_and_forged_in_later_ones() {
    let old = chain(&[2, 1]);
    for (block, verdict) in [(0, ChainVerdict::Unanchored), (1, ChainVerdict::Invalid)] {
        let mut changed = old.clone();
        changed[block].1[0].salt = None;
        if block == 1 {
            changed[1].0.sealed_at = changed[0].0.sealed_at + chrono::TimeDelta::days(2);
        }
        let mut before: Option<Block> = None;
        for (block, entries) in &mut changed {
            let leaves: Vec<Hash> = entries.iter().map(StoredEntry::leaf).collect();
            *block = Block::seal(block.org, before.as_ref(), &leaves, block.sealed_at);
            before = Some(block.clone());
        }
        assert_eq!(checked(&changed, &[]).verdict, verdict);
    }
}

#[test]
fn what_is_left_of_an_erased_entry_cannot_be_changed_and_nothing_is_erased_unsaid() {
    let mut chain = chain(&[2]);
    let by = Uuid::from_u128(500);
    let stored = &chain[0].1[0];
    let mut left = stored.without_persons(stored.leaf(), by);
    left.salt = Some(left.salt_of_erased(&TestKey(1)));
    chain[0].1[0] = left.clone();
    let with = |changed: &StoredEntry, said: Option<&str>| {
        let mut check = ChainCheck::new(OrgId(Uuid::from_u128(1)), &TestKey(1), &[], at(-1_000_000));
        let mut entries = chain[0].1.clone();
        entries[0] = changed.clone();
        check.block(&chain[0].0, &entries);
        if let Some(count) = said {
            let mut say = entry(500);
            say.entry.action = ERASED.to_owned();
            say.entry.outcome = count.to_owned();
            say.salt = Some(TestKey(1).salt(&say.entry.content()));
            check.outside(&say, at(100));
        }
        check.end().verdict
    };
    assert_eq!(with(&left, Some("1")), ChainVerdict::Unanchored);
    assert_eq!(with(&left, None), ChainVerdict::Invalid, "nobody says that it was erased");
    assert_eq!(with(&left, Some("2")), ChainVerdict::Invalid, "two were said to be erased");
    let mut changed = left.clone();
    changed.entry.action = "read_profile".to_owned();
    assert_eq!(with(&changed, Some("1")), ChainVerdict::Invalid);
}

#[test]
fn an_absent_field_is_unlike_an_empty_one() {
    let (with, mut without) = (entry(1).entry, entry(1).entry);
    without.reason = None;
    assert_ne!(with.content(), without.content());
}

#[test]
fn the_gauge_does_not_depend_on_the_order_of_organisations() {
    let (one, other) = (chain(&[1])[0].0.head(), Head { org: OrgId(Uuid::from_u128(9)), ..chain(&[2])[0].0.head() });
    assert_eq!(gauge(&[one.clone(), other.clone()]), gauge(&[other.clone(), one.clone()]));
    assert_ne!(gauge(std::slice::from_ref(&one)), gauge(&[one, other]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn no_single_change_of_an_entry_stays_unseen(block in 0usize..3, place in 0usize..4, field in 0usize..9, word in "[a-z]{1,8}") {
        let mut changed = chain(&[4, 4, 4]);
        let entry = &mut changed[block].1[place].entry;
        let before = entry.clone();
        match field {
            0 => entry.actor = word,
            1 => entry.role = Some(word),
            2 => entry.purpose = Some(word),
            3 => entry.reason = Some(word),
            4 => entry.action = word,
            5 => entry.outcome = word,
            6 => entry.subject = Some(Uuid::from_u128(77)),
            7 => entry.patient = Uuid::from_u128(78),
            _ => entry.at += chrono::TimeDelta::microseconds(1),
        }
        prop_assume!(*entry != before);
        prop_assert_eq!(checked(&changed, &[]).verdict, ChainVerdict::Invalid);
    }
}

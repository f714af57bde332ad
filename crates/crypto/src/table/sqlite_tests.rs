//! The key file: its states, its stamps, and what it does with files that are torn, changed or of another kind.

use super::*;
use crate::table::FORMAT;

const ID: Uuid = Uuid::from_u128(0xA1);
const CHECK: [u8; 32] = [4; 32];

fn header(generation: u64) -> KeyStoreHeader {
    KeyStoreHeader {
        id: ID,
        format: FORMAT,
        root: "local:x".to_owned(),
        wrapped: vec![1, 2, 3],
        check: CHECK,
        generation,
    }
}

fn scope(org: u128, patient: u128) -> Scope {
    Scope::new(OrgId(Uuid::from_u128(org)), PatientId(Uuid::from_u128(patient))).unwrap()
}

fn key(version: u32, kek: u32, byte: u8) -> DataKey {
    DataKey { version, kek, wrapped: vec![byte; 4] }
}

async fn made() -> (SqliteTable, KeyStoreStamp) {
    let table = SqliteTable::in_memory();
    table.create(&header(1), false).await.unwrap();
    (table, KeyStoreStamp { id: ID, generation: 1 })
}

#[tokio::test]
async fn a_place_is_absent_empty_from_before_headers_or_ready() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys");
    let table = SqliteTable::at(&path);
    assert_eq!(table.state().await, Ok(TableState::Absent));
    assert_eq!(table.find(&[]).await.unwrap_err(), KeyError::Missing { place: path.display().to_string() });
    assert!(!path.exists(), "looking makes nothing");
    std::fs::write(&path, b"").unwrap();
    assert_eq!(table.state().await, Ok(TableState::Empty));
    let pool = SqlitePool::connect(&format!("sqlite://{}", path.display())).await.unwrap();
    sqlx::query("CREATE TABLE other (n INTEGER)").execute(&pool).await.unwrap();
    assert_eq!(SqliteTable::at(&path).state().await, Ok(TableState::Empty), "nothing of ours");
    sqlx::query(SCHEMA[0]).execute(&pool).await.unwrap();
    pool.close().await;
    let table = SqliteTable::at(&path);
    assert_eq!(table.state().await, Ok(TableState::Legacy));
    let exists = Err(KeyError::Exists { place: path.display().to_string() });
    assert_eq!(table.create(&header(1), false).await, exists, "keys are there");
    table.create(&header(7), true).await.unwrap();
    assert_eq!(table.state().await, Ok(TableState::Ready(header(7))));
    assert_eq!(table.create(&header(1), false).await, exists);
    assert_eq!(table.create(&header(1), true).await, exists, "a second header");
    assert_eq!(SqliteTable::at(&path).state().await, Ok(TableState::Ready(header(7))), "and nothing was changed");
}

#[tokio::test]
async fn a_key_file_is_its_owners_alone_and_has_no_file_next_to_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys");
    let table = SqliteTable::at(&path);
    table.create(&header(1), false).await.unwrap();
    table.insert(KeyStoreStamp { id: ID, generation: 1 }, &[(scope(1, 1), key(1, 1, 9))], 5).await.unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "a second file would keep destroyed keys");
}

#[tokio::test]
async fn a_key_file_that_was_cut_changed_or_is_no_database_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys");
    let table = SqliteTable::at(&path);
    table.create(&header(1), false).await.unwrap();
    let keys: Vec<_> = (1..=400).map(|n| (scope(1, n), key(1, 1, 9))).collect();
    table.insert(KeyStoreStamp { id: ID, generation: 1 }, &keys, 5).await.unwrap();
    drop(table);
    let whole = std::fs::read(&path).unwrap();
    let mut changed = whole.clone();
    changed[whole.len() / 2..].fill(0xAA);
    let page = 4_096;
    for (bytes, why) in [
        (whole[..whole.len() / 2].to_vec(), "half of it"),
        (whole[..whole.len() - page].to_vec(), "without its last page"),
        (whole[..100].to_vec(), "its first bytes"),
        (changed, "changed"),
        (b"{\"keys\": []}, which is no database at all".to_vec(), "another format"),
    ] {
        std::fs::write(&path, bytes).unwrap();
        let place = path.display().to_string();
        assert_eq!(SqliteTable::at(&path).state().await, Err(KeyError::Damaged { place }), "{why}");
    }
    std::fs::write(&path, &whole).unwrap();
    let (stamp, found) = SqliteTable::at(&path).find(&[scope(1, 1), scope(1, 400)]).await.unwrap();
    assert_eq!((stamp.generation, found.len()), (2, 2), "the whole one is read again");
}

#[tokio::test]
async fn a_header_with_a_value_out_of_bounds_is_damage() {
    for change in [
        "UPDATE key_store SET format = -1",
        "UPDATE key_store SET generation = -1",
        "UPDATE key_store SET id = x'0102'",
        "UPDATE key_store SET check_value = x'01'",
        "DELETE FROM key_store",
    ] {
        let (table, _) = made().await;
        sqlx::query(change).execute(&table.pool().await.unwrap()).await.unwrap();
        assert_eq!(table.state().await, Err(KeyError::Damaged { place: "memory".to_owned() }), "{change}");
    }
}

#[tokio::test]
async fn each_change_raises_the_generation_by_one() {
    let (table, mut seen) = made().await;
    let keys = [(scope(1, 1), key(1, 1, 9)), (scope(1, 2), key(1, 1, 8))];
    for generation in 2..=6 {
        seen = match generation {
            2 => table.insert(seen, &keys, 5).await,
            3 => table.add_kek(seen, 2, &[1], 5).await,
            4 => table.set_root(seen, "vault:a/b", &[7]).await,
            5 => table.rewrap(seen, &[(scope(1, 1), key(1, 2, 7))]).await,
            _ => table.destroy(seen, scope(1, 2), 5).await,
        }
        .unwrap();
        assert_eq!(seen, KeyStoreStamp { id: ID, generation });
    }
    assert_eq!(table.find(&[]).await.unwrap().0, seen);
    let TableState::Ready(now) = table.state().await.unwrap() else { panic!("a header") };
    assert_eq!((now.root.as_str(), now.wrapped.as_slice()), ("vault:a/b", [7].as_slice()));
    assert_eq!(table.find(&[scope(1, 1)]).await.unwrap().1[&scope(1, 1)], KeyEntry::Keys(vec![key(1, 2, 7)]));
}

#[tokio::test]
async fn who_has_seen_more_or_another_store_changes_nothing() {
    let (table, seen) = made().await;
    let key = [(scope(1, 1), key(1, 1, 9))];
    let place = || "memory".to_owned();
    let newer = KeyStoreStamp { generation: 2, ..seen };
    let error = table.insert(newer, &key, 5).await.unwrap_err();
    assert_eq!(error, KeyError::RolledBack { place: place(), has: 1, seen: 2 });
    let other = KeyStoreStamp { id: Uuid::from_u128(0xB2), generation: 1 };
    assert_eq!(table.destroy(other, scope(1, 1), 5).await.unwrap_err(), KeyError::Foreign { place: place() });
    assert_eq!(table.set_root(other, "x", &[]).await.unwrap_err(), KeyError::Foreign { place: place() });
    assert_eq!(table.find(&[scope(1, 1)]).await.unwrap(), (seen, HashMap::new()), "nothing was written");
    table.insert(KeyStoreStamp { generation: 0, ..seen }, &key, 5).await.expect("who has seen less may write");
}

#[tokio::test]
async fn keys_come_oldest_first_and_one_that_is_there_stays_as_it_is() {
    let (table, seen) = made().await;
    let (mine, other) = (scope(1, 1), scope(2, 1));
    let keys = [(mine, key(1, 1, 1)), (mine, key(3, 1, 3)), (mine, key(2, 1, 2)), (other, key(1, 1, 4))];
    let seen = table.insert(seen, &keys, 5).await.unwrap();
    let seen = table.insert(seen, &[(mine, key(1, 1, 9)), (mine, key(2, 1, 9))], 6).await.unwrap();
    let lonely = (scope(3, 3), key(2, 1, 9));
    table.insert(seen, &[lonely], 6).await.unwrap();
    let (_, found) = table.find(&[mine, other, scope(3, 3), scope(4, 4)]).await.unwrap();
    assert_eq!(found[&mine], KeyEntry::Keys(vec![key(1, 1, 1), key(2, 1, 2), key(3, 1, 3)]));
    assert_eq!(found[&other], KeyEntry::Keys(vec![key(1, 1, 4)]), "another organisation's patient of the same id");
    assert_eq!(found.len(), 2, "no later key without a first one");
}

#[tokio::test]
async fn a_destroyed_patient_gets_no_key_again_whatever_is_written() {
    let (table, seen) = made().await;
    let mine = scope(1, 1);
    let seen = table.insert(seen, &[(mine, key(1, 1, 1)), (mine, key(2, 1, 2))], 5).await.unwrap();
    let seen = table.destroy(seen, mine, 6).await.unwrap();
    let seen = table.insert(seen, &[(mine, key(1, 1, 9)), (mine, key(3, 1, 9))], 7).await.unwrap();
    let seen = table.rewrap(seen, &[(mine, key(1, 2, 9)), (mine, key(2, 2, 9))]).await.unwrap();
    let seen = table.destroy(seen, scope(1, 2), 8).await.unwrap();
    let (_, found) = table.find(&[mine, scope(1, 2)]).await.unwrap();
    assert_eq!(found, HashMap::from([(mine, KeyEntry::Destroyed), (scope(1, 2), KeyEntry::Destroyed)]));
    assert_eq!(table.counts(2).await, Ok(KeyCounts { patients: 0, erased: 2, outdated: 0 }));
    table.destroy(seen, mine, 99).await.unwrap();
    let later: i64 =
        sqlx::query_scalar("SELECT count(*) FROM later_key").fetch_one(&table.pool().await.unwrap()).await.unwrap();
    assert_eq!(later, 0, "no later key is left in the file");
    let at: i64 = sqlx::query_scalar("SELECT destroyed_at FROM data_key ORDER BY patient_id LIMIT 1")
        .fetch_one(&table.pool().await.unwrap())
        .await
        .unwrap();
    assert_eq!(at, 6, "the first time is kept");
}

#[tokio::test]
async fn pages_follow_each_other_without_gap_or_repetition() {
    let (table, seen) = made().await;
    let all: Vec<Scope> = (1..=2).flat_map(|org| (1..=5).map(move |patient| scope(org, patient))).collect();
    let keys: Vec<_> = all.iter().rev().map(|scope| (*scope, key(1, 1, 1))).collect();
    let seen = table.insert(seen, &keys, 5).await.unwrap();
    table.destroy(seen, scope(1, 4), 6).await.unwrap();
    for limit in [1, 3, 10, 11] {
        let (mut after, mut found) = (None, Vec::new());
        loop {
            let page = table.page(after, limit).await.unwrap();
            assert!(page.len() <= limit as usize);
            let Some((last, _)) = page.last() else { break };
            after = Some(*last);
            found.extend(page);
        }
        let scopes: Vec<Scope> = found.iter().map(|(scope, _)| *scope).collect();
        assert_eq!(scopes, all, "{limit}");
        assert_eq!(found[3], (scope(1, 4), KeyEntry::Destroyed));
    }
}

#[tokio::test]
async fn what_is_under_an_older_key_encryption_key_is_counted_by_key() {
    let (table, seen) = made().await;
    let (one, two) = (scope(1, 1), scope(1, 2));
    let keys = [(one, key(1, 1, 1)), (one, key(2, 2, 2)), (two, key(1, 3, 3))];
    let seen = table.insert(seen, &keys, 5).await.unwrap();
    for (newest, outdated) in [(1, 0), (2, 1), (3, 2), (4, 3)] {
        assert_eq!(table.counts(newest).await, Ok(KeyCounts { patients: 2, erased: 0, outdated }), "{newest}");
    }
    let seen = table.add_kek(seen, 2, &[5], 5).await.unwrap();
    let seen = table.add_kek(seen, 2, &[6], 5).await.unwrap();
    table.add_kek(seen, 3, &[7], 5).await.unwrap();
    assert_eq!(table.kek_versions().await, Ok(vec![(2, vec![5]), (3, vec![7])]), "who was first stays");
}

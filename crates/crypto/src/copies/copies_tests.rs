//! A key file in a backup: copied, looked at without a key, and given the erasures of another one.

use futures::TryStreamExt as _;

use super::*;
use crate::table::{DataKey, FORMAT, KeyEntry, KeyStoreHeader, KeyStoreStamp, KeyTable as _, SqliteTable};

const ID: Uuid = Uuid::from_u128(0xA1);

fn scope(patient: u128) -> Scope {
    Scope::new(OrgId(Uuid::from_u128(1)), PatientId(Uuid::from_u128(patient))).unwrap()
}

fn header(generation: u64) -> KeyStoreHeader {
    KeyStoreHeader { id: ID, format: FORMAT, root: "local:x".to_owned(), wrapped: vec![1], check: [4; 32], generation }
}

fn key(version: u32, byte: u8) -> DataKey {
    DataKey { version, kek: 1, wrapped: vec![byte; 4] }
}

/// A key file with patients 1 to 3, the second with a later key, the third erased.
async fn made(path: &Path) -> KeyStoreStamp {
    let table = SqliteTable::at(path);
    table.create(&header(1), false).await.unwrap();
    let keys = [(scope(1), key(1, 1)), (scope(2), key(1, 2)), (scope(2), key(2, 3)), (scope(3), key(1, 4))];
    let seen = table.insert(KeyStoreStamp { id: ID, generation: 1 }, &keys, 5).await.unwrap();
    table.destroy(seen, scope(3), 77).await.unwrap()
}

#[tokio::test]
async fn a_copy_knows_what_the_file_knows_and_replaces_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (from, to) = (dir.path().join("keys"), dir.path().join("copy"));
    let stamp = made(&from).await;
    copy(&from, &to).await.unwrap();
    let found = known(&to).await.unwrap();
    assert_eq!(found.stamp, Some((stamp.id, stamp.generation)));
    assert_eq!(found.patients, HashMap::from([(scope(1), None), (scope(2), None), (scope(3), Some(77))]));
    assert_eq!(found.erased(), 1);
    assert_eq!(found, known(&from).await.unwrap());
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&to).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(copy(&from, &to).await, Err(file(&to)), "a file is there already");
    let absent = dir.path().join("absent");
    assert!(copy(&absent, &dir.path().join("other")).await.is_err());
    assert!(!absent.exists(), "nothing is made in the place of what is missing");
}

#[tokio::test]
async fn a_copy_that_was_cut_or_is_no_database_is_damaged() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys");
    made(&path).await;
    let whole = std::fs::read(&path).unwrap();
    for bytes in [&whole[..whole.len() / 2], &whole[..whole.len() - 4_096], &whole[..20], b"else", b""] {
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(known(&path).await, Err(damaged(&path)), "{} bytes", bytes.len());
        let erased = KeyFileSummary { stamp: None, patients: HashMap::from([(scope(1), Some(8))]) };
        assert_eq!(inherit(&path, &erased).await, Err(damaged(&path)), "{} bytes", bytes.len());
    }
    assert_eq!(known(&dir.path().join("absent")).await.unwrap_err(), damaged(&dir.path().join("absent")));
}

#[tokio::test]
async fn erasures_that_another_file_knows_are_made_here_too_and_no_key_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys");
    let stamp = made(&path).await;
    let patients = HashMap::from([(scope(1), None), (scope(2), Some(8)), (scope(3), Some(9)), (scope(4), Some(10))]);
    let other = KeyFileSummary { stamp: Some((ID, 40)), patients };
    assert_eq!(inherit(&path, &other).await, Ok(2), "the second patient's, and one who was never here");
    let found = known(&path).await.unwrap();
    let expected = [(scope(1), None), (scope(2), Some(8)), (scope(3), Some(77)), (scope(4), Some(10))];
    assert_eq!(found.patients, HashMap::from(expected));
    assert_eq!(found.stamp, Some((ID, 41)), "newer than both");
    let (_, entries) = SqliteTable::at(&path).find(&[scope(1), scope(2)]).await.unwrap();
    assert_eq!(entries[&scope(1)], KeyEntry::Keys(vec![key(1, 1)]));
    assert_eq!(entries[&scope(2)], KeyEntry::Destroyed, "its later key is gone as well");
    let bytes = std::fs::read(&path).unwrap();
    assert!(!bytes.windows(4).any(|part| part == [3; 4] || part == [2; 4]), "no destroyed key is left in the file");
    assert_eq!(inherit(&path, &other).await, Ok(0), "once is enough");
    assert_eq!(known(&path).await.unwrap().stamp, Some((ID, 41)), "nothing done, nothing newer");
    assert!(stamp.generation < 41);
}

#[tokio::test]
async fn a_newer_file_grows_by_one_over_itself_where_the_other_is_older() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys");
    let stamp = made(&path).await;
    let other = KeyFileSummary { stamp: None, patients: HashMap::from([(scope(1), Some(8))]) };
    assert_eq!(inherit(&path, &other).await, Ok(1));
    assert_eq!(known(&path).await.unwrap().stamp, Some((ID, stamp.generation + 1)));
}

fn row(patient: u128, version: u32, wrapped: Option<u8>) -> KeyRow {
    let destroyed_at = if wrapped.is_none() { Some(9) } else { None };
    let wrapped = wrapped.map(|byte| vec![byte; 4]);
    let (org, patient) = (Uuid::from_u128(1), Uuid::from_u128(patient));
    KeyRow { org, patient, version, kek: 2, wrapped, created_at: 5, destroyed_at }
}

#[tokio::test]
async fn rows_that_are_written_read_back_in_order_of_patient_and_version() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys");
    let keks = [KekRow { version: 2, wrapped: vec![8], created_at: 6 }];
    let mut writer = KeyFileWriter::new(&path, &header(12), &keks).await.unwrap();
    for row in [row(2, 1, Some(2)), row(2, 3, Some(4)), row(2, 2, Some(3)), row(1, 1, None)] {
        writer.add(row).await.unwrap();
    }
    writer.end().await.unwrap();
    let mut reader = KeyFileReader::new(&path).await.unwrap();
    assert_eq!(reader.header, header(12));
    assert_eq!((reader.keks.len(), reader.keks[0].version, reader.keks[0].created_at), (1, 2, 6));
    let rows: Vec<KeyRow> = reader.rows().try_collect().await.unwrap();
    let found: Vec<_> = rows.iter().map(|row| (row.patient.as_u128(), row.version, row.wrapped.clone())).collect();
    let wrapped = |byte: u8| Some(vec![byte; 4]);
    assert_eq!(found, [(1, 1, None), (2, 1, wrapped(2)), (2, 2, wrapped(3)), (2, 3, wrapped(4))]);
    assert!(rows.iter().all(|row| row.kek == 2 && row.created_at == 5));
    assert_eq!(rows.iter().map(|row| row.destroyed_at).collect::<Vec<_>>(), [Some(9), None, None, None]);
    let again = KeyFileWriter::new(&path, &header(1), &[]).await.map(|_| ()).unwrap_err();
    assert_eq!(again, KeyError::Exists { place: path.display().to_string() });
}

#[tokio::test]
async fn no_key_file_is_written_over_a_file_of_any_kind() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys");
    for content in [b"".as_slice(), b"something else"] {
        std::fs::write(&path, content).unwrap();
        let refused = KeyFileWriter::new(&path, &header(1), &[]).await.map(|_| ()).unwrap_err();
        assert_eq!(refused, KeyError::Exists { place: path.display().to_string() });
        assert_eq!(std::fs::read(&path).unwrap(), content);
    }
}

#[tokio::test]
async fn a_file_whose_writing_was_not_ended_holds_no_row() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys");
    let mut writer = KeyFileWriter::new(&path, &header(1), &[]).await.unwrap();
    writer.add(row(1, 1, Some(1))).await.unwrap();
    assert!(writer.add(row(1, 1, Some(2))).await.is_err(), "the same key twice");
    drop(writer);
    let mut reader = KeyFileReader::new(&path).await.unwrap();
    assert_eq!(reader.rows().try_collect::<Vec<_>>().await.unwrap().len(), 0);
    let absent = KeyFileReader::new(&dir.path().join("absent")).await.map(|_| ()).unwrap_err();
    assert!(matches!(absent, KeyError::Uninitialised { .. }));
}

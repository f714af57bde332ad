//! A copy of an embedded store: its contents, and when it is refused.

use super::super::{Access, Database, Sql};
use super::*;

async fn store(path: &Path, organizations: u8) {
    let db = Database::open(&Location::File(path.to_owned())).await.unwrap();
    let mut tx = db.begin(Access::Platform).await.unwrap();
    let names: Vec<String> = tx
        .fetch_all(
            &Sql::new("SELECT name FROM pragma_table_info('organization') WHERE \"notnull\" AND dflt_value IS NULL"),
            Vec::new(),
        )
        .await
        .unwrap()
        .iter()
        .map(|row| row.text(0).unwrap())
        .collect();
    assert!(names.contains(&"org_id".to_owned()), "{names:?}");
    tx.execute(&Sql::new("PRAGMA ignore_check_constraints = ON"), Vec::new()).await.unwrap();
    for n in 1..=organizations {
        let values: Vec<String> =
            names.iter().map(|name| if name == "org_id" { format!("x'{n:032x}'") } else { "1".to_owned() }).collect();
        let sql = format!("INSERT INTO organization ({}) VALUES ({})", names.join(", "), values.join(", "));
        tx.execute(&Sql::new(sql.leak()), Vec::new()).await.unwrap();
    }
    tx.commit().await.unwrap();
    db.close().await;
}

#[tokio::test]
async fn a_copy_names_its_engine_its_schema_and_the_rows_of_each_table() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("live.db");
    store(&path, 2).await;
    let location = Location::File(path);
    let snapshot = copy_out(&location, dir.path()).await.unwrap();
    assert_eq!((snapshot.engine.as_str(), snapshot.schema), ("sqlite", newest_schema()));
    assert_eq!(snapshot.tables["organization"].rows, 2);
    assert_eq!(snapshot.tables["patient_profile"].rows, 0);
    assert!(!snapshot.tables.contains_key("_sqlx_migrations"), "no table of ours");
    assert_eq!(snapshot.files(), [STORE_FILE]);
    let copy = dir.path().join(STORE_FILE);
    assert_eq!(std::fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    let again = copy_out(&location, dir.path()).await.unwrap_err();
    assert_eq!(again, CopyError::File(io::ErrorKind::AlreadyExists), "no copy replaces another");
    let found = verify(&snapshot, dir.path(), 1).await.unwrap();
    assert!(found.all.is_empty() && found.samples.is_empty() && found.binding.is_none());
}

#[tokio::test]
async fn a_copy_that_was_cut_changed_or_removed_is_damaged() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("live.db");
    store(&path, 1).await;
    let snapshot = copy_out(&Location::File(path), dir.path()).await.unwrap();
    let copy = dir.path().join(STORE_FILE);
    let whole = std::fs::read(&copy).unwrap();
    let damaged = CopyError::Damaged(copy.display().to_string());
    let mut changed = whole.clone();
    changed[4_096..8_192].fill(0xAA);
    let half = whole[..whole.len() / 2].to_vec();
    for (bytes, why) in [(half, "cut"), (changed, "changed"), (b"no database".to_vec(), "else"), (Vec::new(), "empty")]
    {
        std::fs::write(&copy, bytes).unwrap();
        assert_eq!(verify(&snapshot, dir.path(), 1).await.unwrap_err(), damaged, "{why}");
    }
    std::fs::remove_file(&copy).unwrap();
    assert_eq!(verify(&snapshot, dir.path(), 1).await.unwrap_err(), damaged, "removed");
    std::fs::write(&copy, whole).unwrap();
    assert!(verify(&snapshot, dir.path(), 1).await.is_ok(), "the whole one is back");
}

#[tokio::test]
async fn a_place_holds_something_unless_it_is_absent_empty_or_a_store_without_organisations() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.db");
    assert_eq!(holds_anything(&path).await, Ok(false), "absent");
    std::fs::write(&path, b"").unwrap();
    assert_eq!(holds_anything(&path).await, Ok(false), "empty");
    std::fs::write(&path, b"torn, and no database any more").unwrap();
    assert_eq!(holds_anything(&path).await, Ok(true), "torn");
    assert_eq!(holds_anything(dir.path()).await, Ok(true), "what cannot be opened is not taken for empty");
    std::fs::remove_file(&path).unwrap();
    store(&path, 0).await;
    assert_eq!(holds_anything(&path).await, Ok(false), "a new store");
    std::fs::remove_file(&path).unwrap();
    store(&path, 1).await;
    assert_eq!(holds_anything(&path).await, Ok(true), "one with an organisation");
}

#[tokio::test]
async fn a_store_that_others_write_to_is_in_use() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.db");
    let db = Database::open(&Location::File(path.clone())).await.unwrap();
    let writing = db.begin(Access::Platform).await.unwrap();
    assert_eq!(holds_anything(&path).await, Err(CopyError::InUse));
    writing.rollback().await.unwrap();
    db.close().await;
    assert_eq!(holds_anything(&path).await, Ok(false));
}

#[tokio::test]
async fn a_store_in_memory_is_neither_copied_nor_restored() {
    let dir = tempfile::tempdir().unwrap();
    let unsupported = CopyError::File(io::ErrorKind::Unsupported);
    assert_eq!(copy_out(&Location::Memory, dir.path()).await.unwrap_err(), unsupported);
    let snapshot = Snapshot { engine: "postgres".to_owned(), schema: 1, tables: BTreeMap::new() };
    let file = Location::File(dir.path().join("store.db"));
    assert_eq!(copy_in(&file, &snapshot, dir.path(), true).await.unwrap_err(), unsupported);
    assert!(patients(&Location::Memory, 1).await.unwrap().all.is_empty());
}

#[test]
fn a_servers_copy_is_a_file_for_each_table_and_its_description_reads_back() {
    let table = |rows, columns: &[&str]| TableCopy { rows, columns: columns.iter().map(|c| (*c).to_owned()).collect() };
    let tables = BTreeMap::from([("memory".to_owned(), table(3, &["id"])), ("inbox".to_owned(), table(0, &[]))]);
    let snapshot = Snapshot { engine: "postgres".to_owned(), schema: 40, tables };
    assert_eq!(snapshot.files(), ["inbox.copy", "memory.copy"]);
    let text = serde_json::to_string(&snapshot).unwrap();
    let tables = r#"{"inbox":{"rows":0},"memory":{"rows":3,"columns":["id"]}}"#;
    assert_eq!(text, format!(r#"{{"engine":"postgres","schema":40,"tables":{tables}}}"#), "as older versions read it");
    assert_eq!(serde_json::from_str::<Snapshot>(&text).unwrap(), snapshot);
    let first: Snapshot = serde_json::from_str(r#"{"engine":"sqlite","schema":1,"tables":{"a":{"rows":2}}}"#).unwrap();
    assert_eq!(first.tables["a"], table(2, &[]), "an embedded store's tables name no columns");
}

#[test]
fn ids_that_are_none_name_no_patient() {
    let whole = [1u8; 16];
    assert!(scope(&whole, &whole).is_some());
    for (org, patient) in [(&[0u8; 16][..], &whole[..]), (&whole, &[0; 16]), (&whole[..15], &whole), (&whole, &[])] {
        assert_eq!(scope(org, patient), None);
    }
}

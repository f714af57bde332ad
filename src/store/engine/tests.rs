use std::sync::LazyLock;

use uuid::Uuid;

use super::*;

static INSERT: LazyLock<Bulk> = LazyLock::new(|| {
    Bulk::new(
        "inbox",
        &[
            ("org_id", ColumnType::Uuid),
            ("message_hash", ColumnType::Bytes),
            ("body_hash", ColumnType::Bytes),
            ("patient_id", ColumnType::Uuid),
            ("message_type", ColumnType::Text),
            ("disposition", ColumnType::Text),
            ("created_at", ColumnType::Int),
            ("updated_at", ColumnType::Int),
        ],
        "ON CONFLICT (org_id, message_hash) DO NOTHING",
    )
});
static FIND: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT message_hash, patient_id, message_type FROM inbox WHERE org_id = $1 AND message_hash IN {blobs $2} ORDER BY message_hash",
    )
});

fn row(org: Uuid, n: u8) -> Vec<Arg> {
    vec![
        org.into(),
        [n; 32].into(),
        [0; 32].into(),
        None::<Uuid>.into(),
        "t \"quoted\" ñ".into(),
        "stored".into(),
        1i64.into(),
        1i64.into(),
    ]
}

#[tokio::test]
async fn a_bulk_insert_writes_all_rows_once_and_reads_back_what_was_written() {
    let db = Database::open(&Location::Memory).await.unwrap();
    let org = Uuid::from_u128(7);
    let access = Access::Organization(OrgId(org));
    let mut tx = db.begin(access).await.unwrap();
    assert_eq!(tx.bulk(&INSERT, vec![row(org, 1), row(org, 2)]).await.unwrap(), 2);
    assert_eq!(tx.bulk(&INSERT, vec![row(org, 2), row(org, 3)]).await.unwrap(), 1);
    let wanted = Arg::Blobs(vec![vec![1; 32], vec![3; 32], vec![9; 32]]);
    let rows = tx.fetch_all(&FIND, vec![org.into(), wanted]).await.unwrap();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[1].bytes::<32>(0).unwrap(), [3; 32]);
    assert_eq!(rows[0].opt_uuid(1).unwrap(), None);
    assert_eq!(rows[0].text(2).unwrap(), "t \"quoted\" ñ");
    tx.commit().await.unwrap();
}

#[tokio::test]
async fn a_transaction_that_is_dropped_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let db = Database::open(&Location::File(dir.path().join("store.db"))).await.unwrap();
    let org = Uuid::from_u128(7);
    let access = Access::Organization(OrgId(org));
    let mut tx = db.begin(access).await.unwrap();
    tx.bulk(&INSERT, vec![row(org, 1)]).await.unwrap();
    drop(tx);
    let mut tx = db.read(access).await.unwrap();
    assert!(tx.fetch_all(&FIND, vec![org.into(), Arg::Blobs(vec![vec![1; 32]])]).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_refused_row_names_the_constraint_and_no_value() {
    let db = Database::open(&Location::Memory).await.unwrap();
    let org = Uuid::from_u128(7);
    let mut tx = db.begin(Access::Organization(OrgId(org))).await.unwrap();
    let mut bad = row(org, 1);
    bad[5] = "SECRET-VALUE".into();
    let error = tx.bulk(&INSERT, vec![bad]).await.unwrap_err();
    assert!(matches!(&error, DbError::Constraint { .. }), "{error:?}");
    assert!(!format!("{error} {error:?}").contains("SECRET"));
}

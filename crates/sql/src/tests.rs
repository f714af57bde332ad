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

#[tokio::test]
async fn gathered_bytes_are_those_that_lie_in_the_rows_whatever_they_are() {
    let db = Database::open(&Location::Memory).await.unwrap();
    let org = Uuid::from_u128(7);
    let mut tx = db.begin(Access::Organization(OrgId(org))).await.unwrap();
    // 0 ends a text in C, and 0xFF is in no UTF-8.
    tx.bulk(&INSERT, vec![row(org, 0), row(org, 0xFF), row(org, b',')]).await.unwrap();
    let sql =
        Sql::new("SELECT {all held message_hash NULL}, {all ints length(message_hash)} FROM inbox WHERE org_id = $1");
    let all = tx.fetch_packed(&sql, vec![org.into()]).await.unwrap();
    assert_eq!(all.ints(1).unwrap(), [32, 32, 32]);
    let mut found = all.terms(0, None).unwrap();
    found.sort_unstable();
    let of = |byte: u8| vec![i64::from_be_bytes([byte; 8]); 4];
    assert_eq!(found, [of(0xFF), of(0), of(b',')]);
}

#[tokio::test]
async fn vectors_are_compared_inside_the_engine_and_what_cannot_be_compared_is_no_number() {
    let db = Database::open(&Location::Memory).await.unwrap();
    let mut tx = db.begin(Access::Platform).await.unwrap();
    let sql = Sql::new(
        "SELECT {all similarities column1 $1} FROM (VALUES (x'003C0000'), (x'00380038'), (x'003C'), (NULL), ('texts'))",
    );
    // 1.0 and 0.0 as 16-bit floats.
    let all = tx.fetch_packed(&sql, vec![Arg::Vector(vec![0x00, 0x3C, 0x00, 0x00])]).await.unwrap();
    assert_eq!(all.similarities(0).unwrap(), [Some(1.0), Some(0.5), None, None, None]);
}

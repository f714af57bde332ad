//! Errors and values of SQLite: kinds of cells, arguments, and errors without a value in them.

use super::super::{Access, Database, Fault, Location, Sql};
use super::*;
use crate::fake_error_tests::FakeDatabaseError;

fn database_error(code: &'static str, message: &'static str) -> DbError {
    error(&sqlx::Error::Database(Box::new(FakeDatabaseError {
        code: Some(code),
        message,
        ..FakeDatabaseError::default()
    })))
}

#[test]
fn each_code_of_the_engine_is_one_decision_extended_or_not() {
    for (codes, expected) in [
        // BUSY and LOCKED with their extended codes.
        (["5", "6", "261", "517", "262"].as_slice(), DbError::Transient("busy")),
        (&["8", "264", "1544"], DbError::Transient("read_only")),
        (&["10", "13", "14", "266", "3338"], DbError::Transient("disk")),
    ] {
        for code in codes {
            assert_eq!(database_error(code, "SECRET"), expected, "{code}");
            assert!(
                database_error(code, "").is_transient() && database_error(code, "").fault() == Fault::Store,
                "{code}"
            );
        }
    }
    for (code, fault) in [("18", Fault::Rows), ("20", Fault::Rows), ("25", Fault::Rows), ("1", Fault::Unclear)] {
        let error = database_error(code, "SECRET");
        assert_eq!(error, DbError::Other { code: code.to_owned() });
        assert_eq!(error.fault(), fault, "{code}");
    }
}

#[test]
fn of_a_refused_row_only_names_of_the_schema_go_on() {
    for (message, name) in [
        ("UNIQUE constraint failed: memory.id", "memory.id"),
        ("UNIQUE constraint failed: memory.org_id, memory.id", "memory.org_id, memory.id"),
        ("CHECK constraint failed: kind", "kind"),
        ("FOREIGN KEY constraint failed", "FOREIGN KEY constraint failed"),
        ("CHECK constraint failed: kind IN ('a', 'ñ')", "kind IN a, "),
        ("", ""),
    ] {
        assert_eq!(database_error("1555", message), DbError::Constraint { constraint: name.to_owned() }, "{message}");
    }
    assert_eq!(constraint(&"x".repeat(500)).len(), 120, "a name is never long");
}

#[test]
fn errors_of_the_pool_and_of_files_are_tried_again() {
    assert_eq!(error(&sqlx::Error::PoolTimedOut), DbError::Transient("pool"));
    assert_eq!(error(&sqlx::Error::PoolClosed), DbError::Transient("closed"));
    let io = std::io::Error::from(std::io::ErrorKind::BrokenPipe);
    assert_eq!(error(&sqlx::Error::Io(io)), DbError::Transient("io"));
    assert_eq!(error(&sqlx::Error::RowNotFound), DbError::Other { code: "client".to_owned() });
}

#[tokio::test]
async fn each_argument_comes_back_as_the_engine_keeps_it() {
    let db = Database::open(&Location::Memory).await.unwrap();
    let mut tx = db.read(Access::Platform).await.unwrap();
    let id = uuid::Uuid::from_u128(7);
    let text = |text: &str| SqlValue::Text(text.to_owned());
    let hex = "00000000000000000000000000000007";
    for (arg, cell) in [
        (Arg::Null, SqlValue::Null),
        (Arg::I64(i64::MIN), SqlValue::I64(i64::MIN)),
        (Arg::F64(0.1), SqlValue::F64(0.1)),
        (Arg::Bool(true), SqlValue::I64(1)),
        (Arg::Bool(false), SqlValue::I64(0)),
        (Arg::Text("ñ\u{1}\"".to_owned()), text("ñ\u{1}\"")),
        (Arg::Blob(vec![0, 255]), SqlValue::Blob(vec![0, 255])),
        (Arg::Vector(vec![0, 0x3C]), SqlValue::Blob(vec![0, 0x3C])),
        (Arg::Uuid(id), SqlValue::Blob(id.as_bytes().to_vec())),
        (Arg::Uuids(vec![id]), text(&format!("[\"{hex}\"]"))),
        (Arg::Ints(vec![1, -2]), text("[1,-2]")),
        (Arg::Blobs(vec![vec![0xFE], Vec::new()]), text("[\"fe\",\"\"]")),
        (Arg::Texts(vec!["a,b".to_owned()]), text("[\"a,b\"]")),
        (Arg::Pairs(vec![(id, vec![1])]), text(&format!("[[\"{hex}\",\"01\"]]"))),
    ] {
        let row = tx.fetch_optional(&Sql::new("SELECT $1"), vec![arg.clone()]).await.unwrap().unwrap();
        assert_eq!(row.0, [cell], "{arg:?}");
    }
}

#[tokio::test]
async fn lists_find_the_rows_that_they_name() {
    let db = Database::open(&Location::Memory).await.unwrap();
    let mut tx = db.begin(Access::Platform).await.unwrap();
    tx.execute(&Sql::new("CREATE TEMP TABLE t (n INTEGER, id BLOB, other BLOB, word TEXT)"), Vec::new()).await.unwrap();
    let id = uuid::Uuid::from_u128;
    for n in 1..=4u8 {
        let row = vec![i64::from(n).into(), id(n.into()).into(), id(10).into(), format!("w,{n}").into()];
        tx.execute(&Sql::new("INSERT INTO t VALUES ($1, $2, $3, $4)"), row).await.unwrap();
    }
    let pair = |n: u128, other: u128| (id(n), id(other).as_bytes().to_vec());
    for (sql, list, expected) in [
        ("SELECT n FROM t WHERE n IN {ints $1} ORDER BY n", Arg::Ints(vec![4, 2, 9]), vec![2, 4]),
        ("SELECT n FROM t WHERE id IN {uuids $1} ORDER BY n", Arg::Uuids(vec![id(3), id(9)]), vec![3]),
        ("SELECT n FROM t WHERE word IN {texts $1} ORDER BY n", Arg::Texts(vec!["w,1".into(), "w".into()]), vec![1]),
        (
            "SELECT n FROM t WHERE (id, other) IN {pairs $1} ORDER BY n",
            Arg::Pairs(vec![pair(1, 10), pair(2, 11)]),
            vec![1],
        ),
        ("SELECT n FROM t WHERE n IN {ints $1} ORDER BY n", Arg::Ints(Vec::new()), vec![]),
    ] {
        let rows = tx.fetch_all(&Sql::new(sql), vec![list]).await.unwrap();
        let found: Vec<i64> = rows.iter().map(|row| row.i64(0).unwrap()).collect();
        assert_eq!(found, expected, "{sql}");
    }
}

#[tokio::test]
async fn a_statement_that_the_engine_does_not_know_cannot_be_prepared() {
    let db = Database::open(&Location::Memory).await.unwrap();
    db.prepare(&Sql::new("SELECT count(*) FROM organization")).await.unwrap();
    let refused = db.prepare(&Sql::new("SELECT nothing FROM nowhere")).await.unwrap_err();
    assert!(matches!(refused, DbError::Other { .. }), "{refused:?}");
    assert_eq!(refused.fault(), Fault::Unclear);
}

#[tokio::test]
async fn what_was_rolled_back_is_gone_and_what_was_committed_is_seen_by_the_next_reader() {
    let dir = tempfile::tempdir().unwrap();
    let db = Database::open(&Location::File(dir.path().join("store.db"))).await.unwrap();
    let make = Sql::new("CREATE TABLE t (n INTEGER)");
    let count = Sql::new("SELECT count(*) FROM sqlite_schema WHERE name = 't'");
    let mut there = Vec::new();
    for commits in [false, true] {
        let mut tx = db.begin(Access::Platform).await.unwrap();
        tx.execute(&make, Vec::new()).await.unwrap();
        if commits {
            tx.commit().await.unwrap()
        } else {
            tx.rollback().await.unwrap()
        }
        let mut tx = db.read(Access::Platform).await.unwrap();
        there.push(tx.fetch_optional(&count, Vec::new()).await.unwrap().unwrap().i64(0).unwrap());
    }
    assert_eq!(there, [0, 1]);
    db.checkpoint().await.unwrap();
    assert_eq!(std::fs::metadata(dir.path().join("store.db-wal")).map_or(0, |wal| wal.len()), 0, "an empty log");
    db.close().await;
}

//! A store that rejects writes blames no message: whatever its answer and however often messages are retried, none is
//! quarantined, and all are stored once it accepts them.

use std::process::{Command, Output};

use serde_json::json;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _};

use crate::support::{Program, TestEngine, bodies, count, counts, document};

const GOOD: usize = 58;
/// One batch, so that a rejection affects all messages together.
const BATCH: (&str, &str) = ("ANAMNESIS__PIPELINE__BATCH_DOCUMENTS", "64");

fn good() -> Vec<Vec<u8>> {
    let note = |n: usize| {
        let text = format!("Toma sertralina {} mg al día. Refiere cefalea.", 25 * (n % 8 + 1));
        document(n as u128 + 1, 1, "2026-05-02T10:00:00Z", &text)
    };
    bodies(&(0..GOOD).map(note).collect::<Vec<_>>())
}

async fn nobody_is_blamed(program: &Program, what: &str) {
    let store = program.store().await;
    assert_eq!(count(&store, "SELECT count(*) FROM quarantine").await, 0, "{what}");
    store.close().await;
}

async fn all_are_stored_afterwards(program: &Program) {
    let reported = counts(&program.ingest(&good(), &[BATCH]));
    let stored = reported["stored"].as_u64().unwrap() + reported["duplicate"].as_u64().unwrap();
    assert_eq!(
        (stored, &reported["quarantined"], &reported["retry"]),
        (GOOD as u64, &json!(0), &json!(0)),
        "{reported}"
    );
    let store = program.store().await;
    assert_eq!(count(&store, "SELECT count(*) FROM documents").await, GOOD as i64);
    assert_eq!(count(&store, "SELECT count(*) FROM quarantine").await, 0);
    assert_eq!(count(&store, "SELECT count(*) FROM attempt").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_refuses_to_write_quarantines_no_message() {
    let program = Program::on(TestEngine::Postgres).await;
    // A store that is new takes note of its keys first.
    assert!(program.ingest(&[], &[]).status.success());
    let server = program.server.as_ref().unwrap();
    let mut administrator = server.administrator().await;
    let name: String = sqlx::query_scalar("SELECT current_database()").fetch_one(&mut administrator).await.unwrap();
    // Statement to refuse, statement to take again: of everything, of documents only (attempts and quarantine can still be
    // written), and as one of several connections that may not write.
    let fires = |code: &str| {
        format!(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \
             $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{code}'; END $$; \
             CREATE TRIGGER refuse BEFORE INSERT ON documents FOR EACH STATEMENT EXECUTE FUNCTION refuse()"
        )
    };
    let calm = "DROP TRIGGER refuse ON documents; DROP FUNCTION refuse()".to_owned();
    let refusals = [
        (
            format!("ALTER DATABASE {name} SET default_transaction_read_only = on"),
            format!("BEGIN READ WRITE; ALTER DATABASE {name} RESET default_transaction_read_only; COMMIT"),
        ),
        (
            "REVOKE INSERT ON documents FROM anamnesis_app".to_owned(),
            "GRANT INSERT ON documents TO anamnesis_app".to_owned(),
        ),
        (fires("25006"), calm.clone()),
        (fires("53100"), calm.clone()),
        (fires("XX001"), calm.clone()),
        (fires("P0001"), calm),
    ];
    for (refuse, take) in refusals {
        sqlx::raw_sql(AssertSqlSafe(refuse.clone())).execute(&mut administrator).await.unwrap();
        for round in 0..3 {
            let reported = counts(&program.ingest(&good(), &[BATCH]));
            assert_eq!(
                (&reported["quarantined"], &reported["retry"]),
                (&json!(0), &json!(GOOD)),
                "{refuse}, {round}: {reported}"
            );
            nobody_is_blamed(&program, &refuse).await;
        }
        sqlx::raw_sql(AssertSqlSafe(take)).execute(&mut administrator).await.unwrap();
    }
    administrator.execute("SELECT 1").await.unwrap();
    all_are_stored_afterwards(&program).await;
    administrator.close().await.unwrap();
}

/// The program where no file may grow beyond so many blocks of 512 bytes. `refused` says how it learns of that: by an error,
/// as on a full disk, or by a signal that ends it.
fn confined(program: &Program, blocks: u32, refused: &str) -> Output {
    let file = program.folder.path().join("good.ndjson");
    std::fs::write(&file, good().join(&b'\n')).unwrap();
    let script = format!("{refused} ulimit -f {blocks}; exec \"$0\" ingest --output json \"$1\"");
    Command::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_anamnesis")])
        .arg(&file)
        .envs(program.environment())
        .env(BATCH.0, BATCH.1)
        .current_dir(program.folder.path())
        .output()
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_cannot_grow_quarantines_no_message() {
    let program = Program::on(TestEngine::File).await;
    // The files are there before the disk is full.
    assert!(program.ingest(&[], &[]).status.success());
    for (round, blocks) in [1, 64, 160, 1, 160].into_iter().enumerate() {
        for refused in ["trap '' XFSZ;", ""] {
            let output = confined(&program, blocks, refused);
            assert!(!output.status.success(), "round {round}: the disk is full");
            nobody_is_blamed(&program, &format!("{blocks} blocks, {refused:?}")).await;
        }
    }
    all_are_stored_afterwards(&program).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_may_only_be_read_quarantines_no_message() {
    let program = Program::on(TestEngine::File).await;
    assert!(program.ingest(&[], &[]).status.success());
    let store = program.store().await;
    for round in 0..3 {
        // SQLite opens a file read-only when its header requires a newer write format than the library knows.
        let writing = set_write_version(&program, 9);
        let output = program.ingest(&good(), &[BATCH]);
        assert!(!output.status.success(), "round {round}");
        set_write_version(&program, writing);
        nobody_is_blamed(&program, &format!("round {round}")).await;
    }
    store.close().await;
    all_are_stored_afterwards(&program).await;
}

/// Sets the byte of the file's header that says which format a writer must know, and returns the one before.
fn set_write_version(program: &Program, version: u8) -> u8 {
    use std::os::unix::fs::FileExt as _;
    let path = program.folder.path().join("store.db");
    let file = std::fs::OpenOptions::new().read(true).write(true).open(path).unwrap();
    let mut before = [0];
    file.read_exact_at(&mut before, 18).unwrap();
    file.write_all_at(&[version], 18).unwrap();
    before[0]
}

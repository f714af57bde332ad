//! One file and several programs: its creation, and the guarantees for a writer.

use std::process::{Command, Stdio};

use anamnesis_core::ids::OrgId;
use anamnesis_sql::{Access, Database, Location, Sql};
use uuid::Uuid;

use super::amount;
use crate::support::{ORG, document};

/// Fifty rounds by `make proofs`.
#[test]
fn eight_programs_that_find_a_new_file_at_once_make_it_once_and_all_of_them_work() {
    for round in 0..amount(2, 50) {
        let folder = tempfile::tempdir().unwrap();
        let own = |name: &str| folder.path().join(name);
        let start = |n: u128| {
            let note = own(&format!("note{n}.ndjson"));
            let said = document(n, 1, "2026-05-04T10:00:00Z", "Toma litio 400 mg al día.");
            std::fs::write(&note, said.to_string()).unwrap();
            Command::new(env!("CARGO_BIN_EXE_anamnesis"))
                .args(["ingest", "--output", "json"])
                .arg(note)
                .current_dir(folder.path())
                .env("ANAMNESIS__STORE__PATH", own("store.db"))
                .env("ANAMNESIS__STORE__KEYS", own("keys"))
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        };
        let programs: Vec<_> = (1..=8).map(start).collect();
        for program in programs {
            let done = program.wait_with_output().unwrap();
            let reported = String::from_utf8_lossy(&done.stdout);
            assert!(done.status.success(), "round {round}: {reported} {}", String::from_utf8_lossy(&done.stderr));
            let reported: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
            assert_eq!(reported["stored"], 1, "round {round}: {reported}");
        }
    }
}

/// Many threads, each with a separate file handle, as processes have. Only the schema is used, so that nothing else is
/// tested.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_new_file_that_many_open_at_once_is_migrated_once() {
    for round in 0..amount(10, 200) {
        let folder = tempfile::tempdir().unwrap();
        let location = Location::File(folder.path().join("store.db"));
        let opening = (0..8).map(|_| {
            let location = location.clone();
            tokio::spawn(async move { Database::open(&location).await.map(|_| ()) })
        });
        for opened in futures::future::join_all(opening).await {
            assert_eq!(opened.unwrap(), Ok(()), "round {round}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn programs_that_read_and_then_write_at_once_never_fail_half_way() {
    let folder = tempfile::tempdir().unwrap();
    let location = Location::File(folder.path().join("store.db"));
    Database::open(&location).await.unwrap().close().await;
    let own = Access::Organization(OrgId(ORG));
    let programs = (0..4u128).map(|program| {
        let location = location.clone();
        tokio::spawn(async move {
            let db = Database::open(&location).await.unwrap();
            for n in 0..20 {
                let mut tx = db.begin(own).await.unwrap();
                tx.fetch_all(&Sql::new("SELECT count(*) FROM organization"), Vec::new()).await.unwrap();
                // Another process may come in between.
                tokio::task::yield_now().await;
                let register = Sql::new("INSERT INTO organization (org_id, created_at, updated_at) VALUES ($1, 0, 0)");
                tx.execute(&register, vec![Uuid::from_u128(1_000 * program + n + 1).into()]).await.unwrap();
                tx.commit().await.unwrap();
            }
        })
    });
    futures::future::join_all(programs).await.into_iter().for_each(|done| done.unwrap());
    let db = Database::open(&location).await.unwrap();
    let mut tx = db.read(Access::Platform).await.unwrap();
    let rows = tx.fetch_all(&Sql::new("SELECT count(*) FROM organization"), Vec::new()).await.unwrap();
    assert_eq!(rows[0].i64(0).unwrap(), 80);
}

/// `ANAMNESIS_SCHEMA` makes an older program of this one.
#[test]
fn a_newer_program_leaves_a_file_alone_while_an_older_one_runs_and_copies_it_before_it_migrates() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let program = |verb: &[&str], older: bool| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_anamnesis"));
        command.args(verb).current_dir(folder.path());
        command.env("ANAMNESIS__STORE__PATH", folder.path().join("store.db"));
        command.env("ANAMNESIS__STORE__KEYS", folder.path().join("keys"));
        command.env("ANAMNESIS__HTTP__BIND", format!("127.0.0.1:{}", crate::support::free_port()));
        command.env("ANAMNESIS__JOBS__SCHEDULER", "false").stdout(Stdio::null()).stderr(Stdio::piped());
        if older {
            command.env("ANAMNESIS_SCHEMA", "22");
        }
        command
    };
    let last = || version_of(&folder.path().join("store.db"));
    let mut older = program(&["worker"], true).spawn().unwrap();
    let begun = std::time::Instant::now();
    while last() != Some(22) {
        assert!(begun.elapsed().as_secs() < 60, "the older program makes its store");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let newer = program(&["org", "list"], false).output().unwrap();
    let said = String::from_utf8_lossy(&newer.stderr).into_owned();
    assert!(!newer.status.success() && said.contains("older schema"), "{said}");
    assert_eq!(last(), Some(22), "nothing was migrated under the older program");
    older.kill().unwrap();
    older.wait().unwrap();
    let newer = program(&["org", "list"], false).output().unwrap();
    assert!(newer.status.success(), "{}", String::from_utf8_lossy(&newer.stderr));
    assert!(last() > Some(22));
    let copy = folder.path().join("store.db.before-migration");
    assert_eq!(version_of(&copy), Some(22), "the copy is of before");
    assert_eq!(copy.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    // The way back: the copy in place of the store has the schema of the older program.
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(folder.path().join(format!("store.db{suffix}")));
    }
    std::fs::copy(&copy, folder.path().join("store.db")).unwrap();
    let mut back = program(&["worker"], true).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_secs(3));
    assert!(back.try_wait().unwrap().is_none(), "it goes on with it");
    back.kill().unwrap();
    back.wait().unwrap();
    assert_eq!(version_of(&folder.path().join("store.db")), Some(22));
}

/// The last migration of a file; `None` before there is one.
fn version_of(path: &std::path::Path) -> Option<i64> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        use sqlx::Connection as _;
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path);
        let mut connection = sqlx::sqlite::SqliteConnection::connect_with(&options).await.ok()?;
        let version =
            sqlx::query_scalar("SELECT max(version) FROM _sqlx_migrations").fetch_one(&mut connection).await.ok()?;
        connection.close().await.ok()?;
        version
    })
}

//! Migrations of a server during work: an index is built and rows are rewritten while documents arrive, and nothing is
//! migrated without a way back.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anamnesis_sql::{self as engine, SchemaState};
use serde_json::{Value, json};
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{Connection as _, Executor as _, PgConnection};

use crate::server::{MIGRATIONS, TestDatabase};
use crate::support::{ORG, Program, TestEngine, bodies, count, counts, document};

/// This program's migrations up to one, and further ones.
fn migrations(up_to: i64, further: &[(i64, &'static str)]) -> Migrator {
    let own = MIGRATIONS.iter().filter(|migration| migration.version <= up_to).cloned();
    let further = further.iter().map(|(version, sql)| {
        let no_tx = sql.starts_with("-- no-transaction");
        let text = sqlx::SqlSafeStr::into_sql_str(*sql);
        Migration::new(*version, "further".into(), MigrationType::Simple, text, no_tx)
    });
    let mut migrator = Migrator { locking: false, ..Migrator::DEFAULT };
    migrator.migrations = own.chain(further).collect::<Vec<_>>().into();
    migrator
}

fn newest() -> i64 {
    MIGRATIONS.iter().map(|migration| migration.version).max().unwrap()
}

const COLUMN: &str = "ALTER TABLE documents ADD COLUMN trial bigint;";
const REWRITE: &str = "-- no-transaction\n-- batched\nUPDATE documents SET trial = revision WHERE (org_id, patient_id, document_id, revision) IN \
     (SELECT org_id, patient_id, document_id, revision FROM documents WHERE trial IS NULL LIMIT 5);";
const INDEX: &str =
    "-- no-transaction\nCREATE INDEX CONCURRENTLY IF NOT EXISTS documents_trial ON documents (org_id, trial);";

/// Documents 1, 2, 3 … of the same patient.
fn notes(ids: std::ops::Range<u128>) -> Vec<Vec<u8>> {
    bodies(&ids.map(|id| document(id, 1, "2026-05-02T10:00:00Z", "Toma sertralina 50 mg al día.")).collect::<Vec<_>>())
}

async fn is_valid(administrator: &mut PgConnection) -> Option<bool> {
    let sql = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('anamnesis.documents_trial')";
    sqlx::query_scalar(sql).fetch_optional(administrator).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn rows_are_rewritten_in_batches_and_an_index_is_built_while_others_write() {
    let program = Program::on(TestEngine::Postgres).await;
    let server = program.server.as_ref().unwrap();
    assert_eq!(counts(&program.ingest(&notes(1..63), &[]))["stored"], json!(62));
    let next = newest();
    let steps = migrations(next, &[(next + 1, COLUMN), (next + 2, REWRITE), (next + 3, INDEX)]);

    // Another session holds a row and a snapshot for longer than the wait for a table.
    let mut holder = server.administrator().await;
    holder.execute("BEGIN ISOLATION LEVEL REPEATABLE READ").await.unwrap();
    let held =
        "SELECT 1 FROM anamnesis.documents WHERE document_id = '00000000-0000-0000-0000-000000000007' FOR UPDATE";
    holder.execute(held).await.unwrap();
    let release = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(3)).await;
        holder.execute("COMMIT").await.unwrap();
        holder.close().await.unwrap();
    });

    // Another session writes all the time: no write may wait for long.
    let mut writer = server.administrator().await;
    let ended = std::sync::Arc::new(AtomicBool::new(false));
    let writing = tokio::spawn({
        let ended = std::sync::Arc::clone(&ended);
        async move {
            let mut longest = Duration::ZERO;
            while !ended.load(Ordering::SeqCst) {
                let begun = Instant::now();
                let sql = "UPDATE anamnesis.documents SET recorded_at = recorded_at \
                    WHERE document_id = '00000000-0000-0000-0000-000000000001'";
                writer.execute(sql).await.unwrap();
                longest = longest.max(begun.elapsed());
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            longest
        }
    });
    let applied = engine::migrate_by(&server.location("test_owner"), &steps).await.unwrap();
    ended.store(true, Ordering::SeqCst);
    release.await.unwrap();
    let longest = writing.await.unwrap();
    assert_eq!(applied, [next + 1, next + 2, next + 3]);
    assert!(longest < Duration::from_millis(2_500), "somebody waited for {longest:?}");
    let mut administrator = server.administrator().await;
    let left: i64 =
        sqlx::query_scalar("SELECT count(*) FROM anamnesis.documents WHERE trial IS DISTINCT FROM revision")
            .fetch_one(&mut administrator)
            .await
            .unwrap();
    assert_eq!((left, is_valid(&mut administrator).await), (0, Some(true)));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_whose_building_was_interrupted_is_built_anew() {
    let program = Program::on(TestEngine::Postgres).await;
    let server = program.server.as_ref().unwrap();
    assert_eq!(counts(&program.ingest(&notes(1..10), &[]))["stored"], json!(9));
    let next = newest();
    let owner = server.location("test_owner");
    engine::migrate_by(&owner, &migrations(next, &[(next + 1, COLUMN)])).await.unwrap();
    // Its building waits for a snapshot, and is ended.
    let mut holder = server.administrator().await;
    holder.execute("BEGIN ISOLATION LEVEL REPEATABLE READ").await.unwrap();
    holder.execute("SELECT count(*) FROM anamnesis.documents").await.unwrap();
    let mut builder = server.administrator().await;
    builder.execute("SET statement_timeout = '500ms'; SET search_path = anamnesis").await.unwrap();
    let sql = INDEX.split_once('\n').unwrap().1;
    assert!(builder.execute(sql).await.is_err());
    let mut administrator = server.administrator().await;
    assert_eq!(is_valid(&mut administrator).await, Some(false), "the wreck is there");
    holder.execute("ROLLBACK").await.unwrap();
    administrator.execute("ALTER INDEX anamnesis.documents_trial OWNER TO anamnesis_owner").await.ok();
    let steps = migrations(next, &[(next + 1, COLUMN), (next + 3, INDEX)]);
    assert_eq!(engine::migrate_by(&owner, &steps).await.unwrap(), [next + 3]);
    assert_eq!(is_valid(&mut administrator).await, Some(true));
}

/// `anamnesis migrate` with these arguments.
fn migrate(program: &Program, arguments: &[&str]) -> (Option<i32>, Value, String) {
    let owner = program.server.as_ref().unwrap().url(Some("test_owner"));
    let output = program
        .command(&[("ANAMNESIS__STORE__MIGRATE_URL", owner.as_str())])
        .arg("migrate")
        .args(arguments)
        .args(["--output", "json"])
        .output()
        .unwrap();
    let reported = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or_default(), reported)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_with_data_is_migrated_only_with_a_copy_and_the_copy_is_a_way_back() {
    let mut program = Program::on(TestEngine::Postgres).await;
    // Keys and a root key, as a store that is in use has them.
    assert_eq!(program.command(&[]).args(["keys", "init"]).status().unwrap().code(), Some(0));
    let server = TestDatabase::unmigrated().await;
    let old = newest() - 1;
    engine::migrate_by(&server.location("test_owner"), &migrations(old, &[])).await.unwrap();
    let mut administrator = server.administrator().await;
    let rights = "GRANT SELECT ON ALL TABLES IN SCHEMA anamnesis TO anamnesis_app";
    administrator.execute(rights).await.unwrap();
    program.server = Some(server);

    // Nothing in it, nothing to lose: but that is not tried here, so that the schema stays the older one.
    let name = "INSERT INTO anamnesis.organization (org_id, created_at, updated_at) VALUES ($1, 0, 0)";
    sqlx::query(name).bind(ORG).execute(&mut administrator).await.unwrap();
    let (code, _, reported) = migrate(&program, &[]);
    assert_eq!(code, Some(2), "{reported}");
    assert!(reported.contains("--backup") && reported.contains("--backup-done"), "{reported}");
    let (code, _, reported) = migrate(&program, &["run", "--backup", "x", "--backup-done"]);
    assert_eq!(code, Some(2), "one of them: {reported}");
    let state = engine::schema_state(&program.server.as_ref().unwrap().location("test_owner")).await.unwrap();
    assert_eq!(state, SchemaState::Behind(vec![old + 1]), "nothing was applied");

    let folder = program.folder.path().join("before").display().to_string();
    let (code, reported, said) = migrate(&program, &["--backup", &folder]);
    assert_eq!(
        (code, &reported["applied"], &reported["backup"]),
        (Some(0), &json!([old + 1]), &json!(folder)),
        "{said}"
    );
    let manifest: Value =
        serde_json::from_slice(&std::fs::read(Path::new(&folder).join("manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["store"]["schema"], json!(old), "of before the migration");
    let (code, reported, _) = migrate(&program, &["--backup", &folder]);
    assert_eq!((code, &reported["applied"]), (Some(0), &json!([])), "nothing to apply needs no copy");

    // The way back: an empty database, and the copy.
    program.server = Some(TestDatabase::unmigrated().await);
    let owner = program.server.as_ref().unwrap().url(Some("test_owner"));
    let restored = program
        .command(&[("ANAMNESIS__STORE__MIGRATE_URL", owner.as_str())])
        .args(["restore", &folder, "--store-only"])
        .output()
        .unwrap();
    assert_eq!(restored.status.code(), Some(0), "{}", String::from_utf8_lossy(&restored.stderr));
    let store = program.store().await;
    assert_eq!(count(&store, "SELECT count(*) FROM organization").await, 1);
    store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_store_and_one_with_a_copy_made_elsewhere_are_migrated_at_once() {
    let mut program = Program::on(TestEngine::Postgres).await;
    for (rows, arguments) in [(false, &[][..]), (true, &["run", "--backup-done"])] {
        let server = TestDatabase::unmigrated().await;
        engine::migrate_by(&server.location("test_owner"), &migrations(newest() - 1, &[])).await.unwrap();
        if rows {
            let sql = "INSERT INTO anamnesis.organization (org_id, created_at, updated_at) VALUES ($1, 0, 0)";
            sqlx::query(sql).bind(ORG).execute(&mut server.administrator().await).await.unwrap();
        }
        program.server = Some(server);
        let (code, reported, said) = migrate(&program, arguments);
        assert_eq!((code, &reported["applied"]), (Some(0), &json!([newest()])), "{said}");
    }
}

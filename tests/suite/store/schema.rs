//! Statements and schema: the same on both engines, and only ever forward.

use std::collections::{BTreeMap, BTreeSet};

use anamnesis_core::ids::OrgId;
use anamnesis_sql::{self as engine, Access, ColumnType, Database, DbError, Location, SchemaState, Sql};
use anamnesis_store::{self as store, NamedStatement};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Row as _};
use uuid::Uuid;

use crate::server::TestDatabase;
use crate::support::{StorePlace, TestEngine, on_every_engine};

on_every_engine!(every_statement_is_prepared_by_the_engine, the_tables_are_defined_as_the_engine_has_them);

/// Replaces compile-time checking of SQL: the engine can prepare each statement, and its answer has the columns that
/// the program reads by name, at their generated positions.
async fn every_statement_is_prepared_by_the_engine(engine: TestEngine) {
    let place = StorePlace::on(engine).await;
    let db = Database::open(&place.location()).await.unwrap();
    let (mut asked, mut wrong) = (0, Vec::new());
    for NamedStatement { name, sql, columns } in store::statements().into_iter().chain(anamnesis_jobs::statements()) {
        asked += 1;
        match db.prepare(sql).await {
            Ok(found) if found == columns => {}
            Ok(found) => wrong.push(format!("{name}: {found:?}, generated for {columns:?}")),
            Err(error) => wrong.push(format!("{name}: {error}: {sql:?}")),
        }
    }
    for sql in store::covered::statements() {
        if let Err(error) = db.prepare(sql).await {
            wrong.push(format!("{error}: {sql:?}"));
        }
    }
    db.close().await;
    assert!(asked > 300, "{asked}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The one definition of each table is that of the schema, column by column.
async fn the_tables_are_defined_as_the_engine_has_them(engine: TestEngine) {
    let place = StorePlace::on(engine).await;
    let db = Database::open(&place.location()).await.unwrap();
    let mut defined: BTreeMap<&str, BTreeMap<String, String>> = BTreeMap::new();
    for line in include_str!("../../../crates/store/sql/tables.tsv").lines().filter(|line| !line.starts_with('#')) {
        let [table, column, kind] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        defined.entry(table).or_default().insert(column.to_owned(), kind.to_owned());
    }
    assert!(defined.len() > 30, "{}", defined.len());
    let old: Vec<(&str, &str)> = include_str!("../../../crates/store/sql/old_names.tsv")
        .lines()
        .filter_map(|line| line.strip_prefix("column\t")?.split_once('\t'))
        .filter_map(|(table, rest)| Some((table, rest.split_once('\t')?.0)))
        .collect();
    for (table, columns) in defined {
        let mut found = db.columns(table).await.unwrap();
        found.retain(|(name, _)| !old.contains(&(table, name.as_str())));
        let names: Vec<&String> = found.iter().map(|(name, _)| name).collect::<BTreeSet<_>>().into_iter().collect();
        assert_eq!(names, columns.keys().collect::<Vec<_>>(), "{table}");
        for (name, kind) in found {
            // An embedded store knows four types only.
            let known = match (engine, kind) {
                (TestEngine::Postgres, ColumnType::Uuid) => &["uuid"][..],
                (TestEngine::Postgres, ColumnType::Bytes) => &["bytes", "ints"],
                (TestEngine::Postgres, ColumnType::Int) => &["int"],
                (TestEngine::Postgres, ColumnType::Bool) => &["bool"],
                (TestEngine::Postgres, ColumnType::Vector) => &["vector"],
                (_, ColumnType::Text) => &["text"],
                (_, ColumnType::Float) => &["float"],
                (_, ColumnType::Int) => &["int", "bool"],
                _ => &["uuid", "bytes", "ints", "vector"],
            };
            assert!(
                known.contains(&columns[&name].as_str()),
                "{table}.{name}: {kind:?}, defined as {}",
                columns[&name]
            );
        }
    }
    db.close().await;
}

/// A new installation has no statistics: there a server that is free to choose reads the whole organisation for a batch.
#[tokio::test]
async fn look_ups_of_a_batch_go_through_an_index_whatever_the_server_knows_of_its_tables() {
    let server = TestDatabase::new().await;
    let mut connection = server.administrator().await;
    let mut look_ups: Vec<&Sql> = store::statements().into_iter().map(|one| one.sql).collect();
    look_ups.retain(|sql| sql.postgres().contains("CROSS JOIN LATERAL"));
    assert!(look_ups.len() >= 7, "{}", look_ups.len());
    for sql in look_ups {
        let explain = format!("EXPLAIN (GENERIC_PLAN, COSTS OFF) {}", sql.postgres());
        // By the simple protocol: the other one would want values for the parameters.
        let rows = sqlx::raw_sql(AssertSqlSafe(explain)).fetch_all(&mut connection).await.unwrap();
        let plan: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        let plan = plan.join("\n");
        assert!(plan.contains("Nested Loop") && plan.contains("Index"), "{plan}");
        assert!(!plan.contains("Seq Scan") && !plan.contains("Hash"), "{plan}");
    }
}

#[tokio::test]
async fn a_server_is_migrated_once_and_a_worker_does_not_wait() {
    let server = TestDatabase::unmigrated().await;
    let (owner, app) = (server.location("test_owner"), server.location("test_app"));
    assert!(matches!(engine::schema_state(&app).await.unwrap(), SchemaState::Behind(missing) if missing[0] == 1));
    assert_eq!(Database::open(&app).await.unwrap_err(), DbError::Schema);
    assert!(engine::migrate(&owner).await.unwrap().starts_with(&[1]));
    assert_eq!(engine::migrate(&owner).await.unwrap(), Vec::<i64>::new());
    assert_eq!(engine::schema_state(&app).await.unwrap(), SchemaState::Current);
    Database::open(&app).await.unwrap().close().await;
}

async fn meddle(server: &TestDatabase, sql: &'static str) -> (DbError, DbError) {
    sqlx::raw_sql(sql).execute(&mut server.administrator().await).await.unwrap();
    let worker = Database::open(&server.location("test_app")).await.unwrap_err();
    (worker, engine::migrate(&server.location("test_owner")).await.unwrap_err())
}

#[tokio::test]
async fn a_schema_that_this_program_does_not_know_is_not_touched() {
    let server = TestDatabase::new().await;
    let newer = "INSERT INTO _sqlx_migrations VALUES (9000, 'of a newer program', to_timestamp(0), true, '\\x00', 1)";
    assert_eq!(meddle(&server, newer).await, (DbError::Newer(9000), DbError::Newer(9000)));
    let changed = "DELETE FROM _sqlx_migrations WHERE version = 9000; \
                   UPDATE _sqlx_migrations SET checksum = '\\x00' WHERE version = 1";
    assert_eq!(meddle(&server, changed).await, (DbError::Changed(1), DbError::Changed(1)));
}

#[tokio::test]
async fn an_embedded_store_of_a_newer_program_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    Database::open(&Location::File(path.clone())).await.unwrap().close().await;
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&path);
    let mut connection = options.connect().await.unwrap();
    let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
                 VALUES (9000, 'of a newer program', 1, x'00', 1)";
    sqlx::raw_sql(newer).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    assert_eq!(Database::open(&Location::File(path)).await.unwrap_err(), DbError::Newer(9000));
}

const SAMPLE: &str = "INSERT INTO organization (org_id, created_at, updated_at) VALUES (ID(1), 0, 0); \
    INSERT INTO patient_profile (org_id, patient_id, created_at, updated_at) VALUES (ID(1), ID(2), 0, 0); \
    INSERT INTO documents (org_id, patient_id, document_id, revision, document_type, occurred_at, language, body_hash, \
      content_sealed, redaction_policy, extractor_version, current, recorded_at, created_at, updated_at) \
      VALUES (ID(1), ID(2), ID(3), 1, 'clinical_note', 0, 'es', HASH, HASH, '', '', 1, 0, 0, 0); \
    INSERT INTO passage (org_id, patient_id, id, document_id, revision, ordinal, start_offset, end_offset, terms, \
      created_at, updated_at) VALUES (ID(1), ID(2), ID(4), ID(3), 1, 0, 0, 1, TERMS, 0, 0); \
    INSERT INTO memory (org_id, patient_id, id, group_hash, attribute_hash, kind, class, sensitivity, state, contested, \
      ungrounded, is_proxy, negated, is_protected, source_type, epistemic, trust, set_by, experiencer, extraction_confidence, initial_confidence, confidence_basis, confidence, \
      valid_from, state_at, terms, redaction_policy, schema_version, recorded_at, created_at, updated_at) \
      VALUES (ID(1), ID(2), ID(5), HASH, HASH, 'belief', 'pattern', 'low', 'active', 0, 0, 0, 0, 0, 'external', 'explicit', 3, 'patient', \
      'patient', 0.9, 0.9, 'given', 0.875, 0, 0, TERMS, '', 1, 0, 0, 0)";

/// Rows that the first version of the schema took, as an engine writes them.
fn sample(id: &str, hash: &str, terms: &str) -> String {
    let mut sql = SAMPLE.replace("HASH", hash).replace("TERMS", terms);
    for n in 1..=5 {
        sql = sql.replace(&format!("ID({n})"), &id.replace('#', &format!("{n:032x}")));
    }
    sql
}

async fn terms(location: &Location) -> Vec<i64> {
    let db = Database::open(location).await.unwrap();
    let mut tx = db.read(Access::Organization(OrgId(Uuid::from_u128(1)))).await.unwrap();
    let rows = tx.fetch_all(&Sql::new("SELECT terms FROM passage"), Vec::new()).await.unwrap();
    assert_eq!(rows.len(), 1);
    let terms = rows[0].ints(0).unwrap();
    let fades = tx.fetch_all(&Sql::new("SELECT decay_bucket FROM memory"), Vec::new()).await.unwrap();
    assert_eq!(fades.iter().map(|row| row.opt_i64(0).unwrap()).collect::<Vec<_>>(), [Some(875)]);
    drop(tx);
    db.close().await;
    terms
}

#[tokio::test]
async fn what_the_first_version_stored_is_there_after_every_migration() {
    let kept = vec![-7, 0, i64::MAX, i64::MIN, 4_711];
    let list = kept.iter().map(i64::to_string).collect::<Vec<_>>().join(",");

    let server = TestDatabase::unmigrated().await;
    let mut owner = server.administrator().await;
    sqlx::raw_sql("SET ROLE anamnesis_owner").execute(&mut owner).await.unwrap();
    crate::server::MIGRATIONS.run_to(1, &mut owner).await.unwrap();
    let rows = sample("'#'::uuid", "sha256('x')", &format!("'{{{list}}}'"));
    sqlx::raw_sql(AssertSqlSafe(rows)).execute(&mut server.administrator().await).await.unwrap();
    engine::migrate(&server.location("test_owner")).await.unwrap();
    assert_eq!(terms(&server.location("test_app")).await, kept);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&path).create_if_missing(true);
    let mut connection = options.connect().await.unwrap();
    sqlx::migrate!("migrations/sqlite").run_to(1, &mut connection).await.unwrap();
    let rows = sample("x'#'", &format!("x'{}'", "00".repeat(32)), &format!("'[{list}]'"));
    sqlx::raw_sql(AssertSqlSafe(rows)).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    assert_eq!(terms(&Location::File(path)).await, kept);
}

/// What a worker of the version before does by the old names, and one of this version by the new ones: a statement, and what both
/// names of the row hold afterwards.
const BY_EITHER_NAME: &[(&str, &str, &str)] = &[
    ("UPDATE documents SET fate = 'archived', fate_at = 5, reckoned = 1", DOCUMENT, "archived archived 5 5 1 1"),
    (
        "UPDATE documents SET retention_state = NULL, retention_state_at = NULL, retention_evaluated = 0",
        DOCUMENT,
        "0 0",
    ),
    ("UPDATE documents SET reckoned = 1", DOCUMENT, "1 1"),
    (
        "INSERT INTO documents SELECT * FROM documents ON CONFLICT (org_id, patient_id, document_id, revision) \
         DO UPDATE SET reckoned = 0, fate = 'summary_only', fate_at = 6",
        DOCUMENT,
        "summary_only summary_only 6 6 0 0",
    ),
    ("UPDATE passage SET waits = 1, behind = 0", PASSAGE, "1 1 0 0"),
    ("UPDATE passage SET embedding_pending = 0, missing_next_generation = 1", PASSAGE, "0 0 1 1"),
    ("UPDATE memory SET fade_level = NULL", MEMORY, ""),
    ("UPDATE memory SET decay_bucket = 7", MEMORY, "7 7"),
    ("UPDATE memory SET fade_level = 8", MEMORY, "8 8"),
    ("UPDATE organization SET vectors_left = 1, building_left = 'far'", ORGANIZATION, "1 1 far far"),
    ("UPDATE organization SET stale_vectors = 0, reembedding_state = NULL", ORGANIZATION, "0 0"),
    (
        "INSERT INTO summary (org_id, patient_id, id, stretch, from_at, until_at, facts, input_id, made_at, created_at, \
         updated_at) SELECT org_id, patient_id, patient_id, 'week', 0, 1, 2, org_id, 0, 0, 0 FROM patient_profile",
        SUMMARY,
        "week week",
    ),
    (
        "INSERT INTO summary (org_id, patient_id, id, period, from_at, until_at, facts, input_id, made_at, created_at, \
         updated_at) SELECT org_id, patient_id, org_id, 'week', 0, 1, 2, org_id, 0, 0, 0 FROM patient_profile",
        SUMMARY,
        "week week",
    ),
    (
        "INSERT INTO job_mark (org_id, job, mark, created_at, updated_at) SELECT org_id, 'decay', org_id, 0, 0 FROM organization \
         ON CONFLICT (org_id, job) DO UPDATE SET mark = excluded.mark",
        "SELECT job FROM job_watermark",
        "decay",
    ),
    (
        "INSERT INTO job_mark (org_id, job, mark, created_at, updated_at) SELECT org_id, 'decay', org_id, 0, 9 FROM organization \
         ON CONFLICT (org_id, job) DO UPDATE SET updated_at = excluded.updated_at",
        "SELECT updated_at::text FROM job_watermark",
        "9",
    ),
];
const DOCUMENT: &str = "SELECT concat_ws(' ', fate, retention_state, fate_at, retention_state_at, reckoned, retention_evaluated) \
                        FROM documents";
const PASSAGE: &str = "SELECT concat_ws(' ', waits, embedding_pending, behind, missing_next_generation) FROM passage";
const MEMORY: &str = "SELECT concat_ws(' ', fade_level, decay_bucket) FROM memory";
const ORGANIZATION: &str =
    "SELECT concat_ws(' ', vectors_left, stale_vectors, building_left, reembedding_state) FROM organization";
const SUMMARY: &str = "SELECT DISTINCT concat_ws(' ', stretch, period) FROM summary";

#[tokio::test]
async fn workers_of_the_version_before_read_and_write_by_the_old_names() {
    let server = TestDatabase::new().await;
    let rows = sample("'#'::uuid", "sha256('x')", "''::bytea");
    sqlx::raw_sql(AssertSqlSafe(rows)).execute(&mut server.administrator().await).await.unwrap();
    let mut worker = server.administrator().await;
    let scope = format!("SET ROLE anamnesis_app; SET anamnesis.org = '{}'", Uuid::from_u128(1));
    sqlx::raw_sql(AssertSqlSafe(scope)).execute(&mut worker).await.unwrap();
    for (statement, both, wanted) in BY_EITHER_NAME {
        sqlx::raw_sql(*statement).execute(&mut worker).await.unwrap();
        let held: Vec<String> = sqlx::query_scalar(*both).fetch_all(&mut worker).await.unwrap();
        assert_eq!(held, [*wanted], "{statement}");
    }
    // The view has the rights of the role that asks.
    sqlx::raw_sql("SET anamnesis.org = '00000000-0000-0000-0000-000000000009'").execute(&mut worker).await.unwrap();
    let seen: i64 = sqlx::query_scalar("SELECT count(*) FROM job_mark").fetch_one(&mut worker).await.unwrap();
    assert_eq!(seen, 0);
}

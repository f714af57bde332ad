//! Isolation by the database itself: no table, view or function escapes row-level security, no role has more than it
//! needs, and the program does not work as one that nothing binds.

use anamnesis_core::ids::OrgId;
use anamnesis_sql::{Access, Arg, Database, DbError, Sql};
use sqlx::{AssertSqlSafe, PgConnection, Row as _};
use uuid::Uuid;

use crate::server::TestDatabase;
use crate::support::{self, Clinic, ORG, bodies, document, feed};

/// Everything in the schema through which a row of one organisation could reach another.
async fn escapes(connection: &mut PgConnection) -> Vec<String> {
    let sql = "
        SELECT 'no row-level security: ' || c.relname FROM pg_class AS c WHERE c.relnamespace = 'anamnesis'::regnamespace
          AND c.relkind IN ('r', 'p') AND EXISTS (SELECT 1 FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attname = 'org_id')
          AND NOT (c.relrowsecurity AND c.relforcerowsecurity AND EXISTS (SELECT 1 FROM pg_policy AS p WHERE p.polrelid = c.oid))
        UNION ALL SELECT 'belongs to no organisation: ' || c.relname FROM pg_class AS c
          WHERE c.relnamespace = 'anamnesis'::regnamespace AND c.relkind IN ('r', 'p', 'f')
          AND c.relname NOT IN ('attempt', 'attempt_batch', 'key_binding', 'command_metric', 'quarantine_act', '_sqlx_migrations')
          AND NOT EXISTS (SELECT 1 FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attname = 'org_id')
        UNION ALL SELECT 'a policy without the organisation: ' || p.polrelid::regclass FROM pg_policy AS p
          WHERE pg_get_expr(p.polqual, p.polrelid) NOT LIKE '(org_id = ( SELECT (NULLIF(current_setting(''anamnesis.org''%'
          AND pg_get_expr(p.polqual, p.polrelid) NOT LIKE '((org_id = ( SELECT (NULLIF(current_setting(''anamnesis.org''%'
        UNION ALL SELECT 'a policy for the platform on a patient''s table: ' || p.polrelid::regclass FROM pg_policy AS p
          WHERE pg_get_expr(p.polqual, p.polrelid) LIKE '%platform%'
          AND p.polrelid::regclass::text NOT IN ('organization', 'quarantine', 'job_run')
        UNION ALL SELECT 'a view as its owner: ' || c.relname FROM pg_class AS c WHERE c.relnamespace = 'anamnesis'::regnamespace
          AND c.relkind = 'v' AND NOT coalesce(c.reloptions::text LIKE '%security_invoker=true%', false)
        UNION ALL SELECT 'a materialised view: ' || c.relname FROM pg_class AS c
          WHERE c.relnamespace = 'anamnesis'::regnamespace AND c.relkind = 'm'
        UNION ALL SELECT 'a function as its owner: ' || p.proname FROM pg_proc AS p
          WHERE p.pronamespace = 'anamnesis'::regnamespace AND p.prosecdef
          AND p.proname <> 'refresh_statistics' -- its body names no row: it says how many tables it looked at
        UNION ALL SELECT 'may truncate: ' || g.grantee || ' ' || g.table_name FROM information_schema.role_table_grants AS g
          WHERE g.table_schema = 'anamnesis' AND g.grantee <> g.grantor AND g.privilege_type IN ('TRUNCATE', 'TRIGGER', 'REFERENCES')
        UNION ALL SELECT 'everybody may: ' || g.table_name FROM information_schema.role_table_grants AS g
          WHERE g.table_schema = 'anamnesis' AND g.grantee = 'PUBLIC'
        UNION ALL SELECT 'a key that another organisation can see: ' || i.indexrelid::regclass FROM pg_index AS i
          JOIN pg_class AS c ON c.oid = i.indrelid WHERE c.relnamespace = 'anamnesis'::regnamespace AND i.indisunique
          AND c.relname NOT IN ('attempt', 'attempt_batch', 'key_binding', 'command_metric', '_sqlx_migrations', 'quarantine', 'quarantine_act') AND (SELECT a.attname FROM pg_attribute AS a
            WHERE a.attrelid = i.indrelid AND a.attnum = i.indkey[0]) <> 'org_id'";
    sqlx::query_scalar(sql).fetch_all(connection).await.unwrap()
}

#[tokio::test]
async fn nothing_in_the_schema_escapes_row_level_security() {
    let server = TestDatabase::new().await;
    let mut connection = server.administrator().await;
    assert_eq!(escapes(&mut connection).await, Vec::<String>::new());
    let holes = [
        ("CREATE TABLE leak (org_id uuid)", "no row-level security: leak"),
        ("CREATE TABLE leak (patient_id uuid)", "belongs to no organisation: leak"),
        ("ALTER TABLE memory NO FORCE ROW LEVEL SECURITY", "no row-level security: memory"),
        ("CREATE POLICY wide ON memory USING (true)", "a policy without the organisation: memory"),
        ("CREATE VIEW leak AS SELECT * FROM memory", "a view as its owner: leak"),
        ("CREATE MATERIALIZED VIEW leak AS SELECT * FROM memory", "a materialised view: leak"),
        (
            "CREATE FUNCTION leak() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'",
            "a function as its owner: leak",
        ),
        ("GRANT TRUNCATE ON memory TO anamnesis_app", "may truncate: anamnesis_app memory"),
        ("GRANT SELECT ON memory TO PUBLIC", "everybody may: memory"),
        ("CREATE UNIQUE INDEX leak ON memory (id)", "a key that another organisation can see: leak"),
    ];
    for (hole, reported) in holes {
        sqlx::raw_sql(AssertSqlSafe(format!("BEGIN; {hole}"))).execute(&mut connection).await.unwrap();
        assert_eq!(escapes(&mut connection).await, [reported], "{hole}");
        sqlx::raw_sql("ROLLBACK").execute(&mut connection).await.unwrap();
    }
}

#[tokio::test]
async fn the_program_works_only_as_a_role_that_row_level_security_binds() {
    let server = TestDatabase::new().await;
    let mut connection = server.administrator().await;
    let reserved = "DO $$ BEGIN IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'test_bypass') THEN \
                    CREATE ROLE test_bypass LOGIN BYPASSRLS IN ROLE anamnesis_app; END IF; END $$";
    let _ = sqlx::raw_sql(reserved).execute(&mut connection).await;
    let administrator = server.url(None);
    let (_, rest) = administrator.split_once("://").unwrap();
    let administrator = rest.split('@').next().unwrap();
    for (role, why) in [
        (administrator, "a superuser"),
        ("test_bypass", "a role that bypasses row-level security"),
        ("test_owner", "the schema's owner"),
    ] {
        assert_eq!(Database::open(&server.location(role)).await.unwrap_err(), DbError::Role(why));
    }
    for role in ["test_app", "test_jobs"] {
        Database::open(&server.location(role)).await.unwrap().close().await;
    }
}

/// Whether a role may run this in the scope of [`ORG`]. It is rolled back.
async fn may(server: &TestDatabase, role: &str, sql: &'static str) -> bool {
    let db = Database::open(&server.location(role)).await.unwrap();
    let mut tx = db.begin(Access::Organization(OrgId(ORG))).await.unwrap();
    let done = tx.execute(&Sql::new(sql), Vec::new()).await;
    drop(tx);
    db.close().await;
    match done {
        Ok(_) => true,
        Err(DbError::Denied) => false,
        Err(error) => panic!("{sql}: {error}"),
    }
}

#[tokio::test]
async fn each_role_may_do_its_work_and_no_more() {
    let server = TestDatabase::new().await;
    let (read, update) = ("SELECT count(*) FROM memory", "UPDATE memory SET updated_at = 0");
    // A trigger keeps each entry until its block is past its term (`audit::entries_go_after_their_term_and_never_before`).
    let (audit, unaudit) = ("SELECT count(*) FROM action_audit", "DELETE FROM action_audit");
    let words = "SELECT count(*) FROM documents";
    let migrate = "CREATE TABLE mine (org_id uuid)";
    let truncate = "TRUNCATE memory";
    for (role, allowed) in [
        ("test_app", vec![read, update, audit, unaudit, words]),
        ("test_jobs", vec![read, update, audit, unaudit, words]),
        ("test_audit", vec![audit]),
        ("test_read", vec![read, words]),
    ] {
        for sql in [read, update, audit, unaudit, words, migrate, truncate] {
            assert_eq!(may(&server, role, sql).await, allowed.contains(&sql), "{role}: {sql}");
        }
    }
    for (role, sql, allowed) in [
        ("test_app", "UPDATE memory_link SET created_at = 0", false),
        ("test_app", "DELETE FROM organization", false),
        ("test_jobs", "DELETE FROM documents", false),
        ("test_jobs", "DELETE FROM consent", false),
        ("test_jobs", "DELETE FROM job_run", true),
        ("test_app", "UPDATE action_audit SET actor = ''", false),
        ("test_app", "UPDATE audit_block SET hash = ''", false),
        ("test_app", "DELETE FROM audit_block", false),
        ("test_read", "SELECT count(*) FROM outbox", false),
        ("test_read", "SELECT count(*) FROM quarantine", false),
    ] {
        assert_eq!(may(&server, role, sql).await, allowed, "{role}: {sql}");
    }
}

#[tokio::test]
async fn a_transaction_sees_its_organisation_and_nothing_is_left_for_the_next() {
    let server = TestDatabase::new().await;
    let clinic = Clinic::new().await;
    let pipeline = clinic.pipeline_at(&server.location("test_app")).await;
    feed(&pipeline, &bodies(&[document(1, 1, "2026-05-04T10:00:00Z", "Toma litio 400 mg al día.")]), 1).await;
    let db = pipeline.store().db();
    let count = async |access: Access, sql: &'static str| {
        let mut tx = db.read(access).await.unwrap();
        tx.fetch_all(&Sql::new(sql), Vec::new()).await.unwrap()[0].i64(0).unwrap()
    };
    let (own, other) = (Access::Organization(OrgId(ORG)), Access::Organization(OrgId(Uuid::from_u128(77))));
    let memories = "SELECT count(*) FROM memory";
    assert!(count(own, memories).await > 0);
    assert_eq!(count(other, memories).await, 0);
    assert_eq!(count(Access::Platform, memories).await, 0, "the platform sees no patient's row");
    assert_eq!(count(Access::Platform, "SELECT count(*) FROM organization").await, 1);
    assert_eq!(count(other, "SELECT count(*) FROM organization").await, 0);
    assert_eq!(db.read(Access::Organization(OrgId(Uuid::nil()))).await.unwrap_err(), DbError::Scope);
    // A row of another organisation is refused, whatever the statement says.
    let mut tx = db.begin(own).await.unwrap();
    let sql = Sql::new("INSERT INTO organization (org_id, created_at, updated_at) VALUES ($1, 0, 0)");
    assert_eq!(tx.execute(&sql, vec![Arg::Uuid(Uuid::from_u128(78))]).await.unwrap_err(), DbError::Denied);
    assert_eq!(tx.commit().await.unwrap_err(), DbError::Aborted, "a failed transaction does not commit");
    // The next user of the connection finds no scope.
    let bare = sqlx::PgPool::connect(&server.url(Some("test_app"))).await.unwrap();
    let seen = sqlx::query("SELECT count(*) FROM anamnesis.memory").fetch_one(&bare).await.unwrap();
    assert_eq!(seen.get::<i64, _>(0), 0);
    bare.close().await;
    let _ = support::scope();
}

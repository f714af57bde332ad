//! Comparison of row layouts on a server, printed by `anamnesis-bench storage`. Each variant is a copy of a table of
//! the schema with its indexes and constraints, without row-level security. Only the administrator fills and changes
//! it.

use std::time::Instant;

use serde::Serialize;
use sqlx::postgres::PgConnection;
use sqlx::{Executor as _, Row as _};

use super::super::DbError;
use super::TempDatabase;
use super::rows::error;

/// Job runs of a variant that is changed.
const JOB_RUNS: u32 = 10;
/// Questions to a variant that is searched, and how many nearest each wants.
const QUESTIONS: i64 = 20;

/// One way of keeping rows.
struct LayoutVariant {
    what: &'static str,
    name: &'static str,
    make: &'static str,
    fill: &'static str,
    /// The change of one job run.
    update: Option<&'static str>,
    /// Job runs between two vacuums, as by autovacuum's threshold.
    vacuum_every: u32,
    /// Whether nearest neighbours are asked for.
    search: bool,
}

const fn changed(
    what: &'static str,
    name: &'static str,
    make: &'static str,
    update: &'static str,
    every: u32,
) -> LayoutVariant {
    LayoutVariant { what, name, make, fill: FILL_MEMORY, update: Some(update), vacuum_every: every, search: false }
}

const fn embedded(name: &'static str, make: &'static str, search: bool) -> LayoutVariant {
    LayoutVariant { what: "insert vectors", name, make, fill: FILL_EMBEDDING, update: None, vacuum_every: 1, search }
}

macro_rules! memory {
    ($fillfactor:literal $(, $more:literal)?) => {
        concat!(
            "DROP TABLE IF EXISTS trial; CREATE TABLE trial (LIKE memory INCLUDING ALL) WITH (autovacuum_enabled = off, \
             fillfactor = ", $fillfactor, ")" $(, "; ", $more)?
        )
    };
}
macro_rules! embedding {
    ($($more:literal),*) => {
        concat!(
            "DROP TABLE IF EXISTS trial; CREATE TABLE trial (LIKE embedding INCLUDING ALL) WITH (autovacuum_enabled = off); \
             ALTER TABLE trial ALTER COLUMN vector SET STORAGE PLAIN" $(, "; ", $more)*
        )
    };
}

/// A thousand memories to a patient, a third of them states that time changes.
const FILL_MEMORY: &str = "INSERT INTO trial (org_id, patient_id, id, group_hash, attribute_hash, kind, class, entity_type, \
     sensitivity, state, contested, ungrounded, content_sealed, evidence_sealed, source_type, epistemic, is_proxy, trust, \
     set_by, negated, experiencer, extraction_confidence, initial_confidence, confidence_basis, confidence, is_protected, \
     valid_from, last_confirmed_at, expires_at, state_at, terms, redaction_policy, schema_version, recorded_at, created_at, \
     updated_at) \
     SELECT md5('org')::uuid, md5((n / 1000)::text)::uuid, md5(n::text)::uuid, sha256(n::text::bytea), \
     sha256(n::text::bytea), 'note', CASE n % 3 WHEN 0 THEN 'time_bound_state' ELSE 'long_lived_fact' END, 'symptom', \
     'medium', 'active', 0, 0, decode(repeat(md5(n::text), 8), 'hex'), decode(repeat(md5(n::text), 4), 'hex'), \
     'direct_experience', 'explicit', 0, 1, 'patient', 0, 'patient', 1, 1, 'given', 1, 0, n, n, n, n, \
     sha256(n::text::bytea), 'safe_harbor', 1, n, n, n FROM generate_series(1::bigint, $1) AS n";
/// A realistic job run: the due thirtieth of the rows changes its state.
const DUE: &str = "UPDATE trial SET state = CASE state WHEN 'active' THEN 'stale' ELSE 'active' END, \
     updated_at = updated_at + 1 WHERE valid_from % 30 = $1";
/// A job run that writes the decayed confidence into every row.
const ALL: &str = "UPDATE trial SET confidence = confidence * 0.99, updated_at = updated_at + $1";

static SOURCE: &str = "CREATE TABLE IF NOT EXISTS source AS SELECT n, (SELECT array_agg(x) FROM (SELECT random() - 0.5 + 0 * n \
     AS x FROM generate_series(1, 256)) AS numbers)::real[]::vector(256)::halfvec AS vector \
     FROM generate_series(1::bigint, $1) AS n";
/// A hundred vectors to a patient.
const FILL_EMBEDDING: &str = "INSERT INTO trial (org_id, patient_id, generation, passage_id, dimension, vector, created_at, \
     updated_at) SELECT md5('org')::uuid, md5((n / 100)::text)::uuid, 1, md5(n::text)::uuid, 256, vector, n, n FROM source \
     WHERE $1 > 0";
static EXACT: &str = "SELECT passage_id::text FROM trial WHERE org_id = md5('org')::uuid AND patient_id = md5('0')::uuid \
     AND generation = 1 ORDER BY (vector <#> (SELECT vector FROM source WHERE n = $1)) + 0, passage_id LIMIT 5";
static NEAREST: &str = "SELECT passage_id::text FROM trial WHERE org_id = md5('org')::uuid AND patient_id = md5('0')::uuid \
     AND generation = 1 ORDER BY vector::halfvec(256) <#> (SELECT vector FROM source WHERE n = $1)::halfvec(256) LIMIT 5";
/// So that the approximate index is asked, as it would be in a large store.
static ONLY_APPROXIMATE: &str =
    "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off";
static AFTER_ITS_LIMIT: &str = "SET LOCAL hnsw.iterative_scan = off";
static ITERATIVE: &str = "SET LOCAL hnsw.iterative_scan = strict_order; SET LOCAL hnsw.max_scan_tuples = 10000000";

static VARIANTS: [LayoutVariant; 11] = [
    changed("due rows change", "fillfactor 100", memory!("100"), DUE, 1),
    changed("due rows change", "fillfactor 85", memory!("85"), DUE, 1),
    changed("due rows change", "fillfactor 50", memory!("50"), DUE, 1),
    changed("due rows change", "fillfactor 100, vacuum of a third of the table", memory!("100"), DUE, JOB_RUNS),
    changed("every confidence is written", "fillfactor 100", memory!("100"), ALL, 1),
    changed("every confidence is written", "fillfactor 50", memory!("50"), ALL, 1),
    changed(
        "every confidence is written",
        "fillfactor 50, an index on confidence",
        memory!("50", "CREATE INDEX ON trial (org_id, confidence)"),
        ALL,
        1,
    ),
    embedded("primary key only", embedding!("DROP INDEX IF EXISTS trial_org_id_patient_id_passage_id_idx"), false),
    embedded("an index on the passage", embedding!("CREATE INDEX ON trial (org_id, patient_id, passage_id)"), false),
    embedded(
        "HNSW, filtered after its limit",
        embedding!("CREATE INDEX ON trial USING hnsw ((vector::halfvec(256)) halfvec_ip_ops)"),
        true,
    ),
    embedded("exact, a patient's rows", embedding!(), true),
];

/// The costs of a variant.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LayoutResult {
    pub what: &'static str,
    pub variant: &'static str,
    pub(crate) rows: i64,
    pub insert_rows_per_second: f64,
    /// Table and indexes, bytes of a row, after filling.
    pub bytes_per_row: f64,
    /// Seconds of a job run; `None` where nothing changes.
    pub run_seconds: Option<f64>,
    /// Share of changed rows that stayed on their page and in their index entries.
    pub hot: Option<f64>,
    /// Size after ten job runs over the size before.
    pub growth: Option<f64>,
    /// Milliseconds of a search for the five nearest of a patient with a hundred; share of them that was found.
    pub search_ms: Option<f64>,
    pub recall: Option<f64>,
    /// The same by iterative scan.
    pub iterative_recall: Option<f64>,
}

impl TempDatabase {
    /// Tries every variant in turn with so many memories, and a tenth as many vectors.
    ///
    /// # Errors
    /// Of the server.
    pub async fn layout_results(&self, rows: u32) -> Result<Vec<LayoutResult>, DbError> {
        let mut connection = self.administrator().await?;
        let mut all = Vec::new();
        for variant in &VARIANTS {
            all.push(one(&mut connection, variant, rows.into()).await.map_err(|e| error(&e))?);
        }
        Ok(all)
    }
}

async fn one(
    connection: &mut PgConnection,
    variant: &LayoutVariant,
    memories: i64,
) -> Result<LayoutResult, sqlx::Error> {
    let vectors = variant.update.is_none();
    let rows = if vectors { (memories / 10).max(200) } else { memories.max(100) };
    connection.execute(sqlx::raw_sql(variant.make)).await?;
    if vectors {
        sqlx::query(SOURCE).bind(rows).execute(&mut *connection).await?;
    }
    let started = Instant::now();
    sqlx::query(variant.fill).bind(rows).execute(&mut *connection).await?;
    let filled = started.elapsed().as_secs_f64();
    connection.execute(sqlx::raw_sql("VACUUM ANALYZE trial")).await?;
    let before = size(connection).await?;
    let mut result = LayoutResult {
        what: variant.what,
        variant: variant.name,
        rows,
        insert_rows_per_second: rows as f64 / filled.max(1e-9),
        bytes_per_row: before / rows as f64,
        run_seconds: None,
        hot: None,
        growth: None,
        search_ms: None,
        recall: None,
        iterative_recall: None,
    };
    if let Some(update) = variant.update {
        time_updates(connection, update, variant.vacuum_every, before, &mut result).await?;
    }
    if variant.search {
        searched(connection, &mut result).await?;
    }
    Ok(result)
}

async fn time_updates(
    connection: &mut PgConnection,
    update: &'static str,
    vacuum_every: u32,
    before: f64,
    result: &mut LayoutResult,
) -> Result<(), sqlx::Error> {
    let (mut seconds, mut changed, mut hot) = (0.0, 0, 0);
    for n in 1..=JOB_RUNS {
        connection.execute(sqlx::raw_sql("BEGIN")).await?;
        let started = Instant::now();
        sqlx::query(update).bind(i64::from(n)).execute(&mut *connection).await?;
        seconds += started.elapsed().as_secs_f64();
        let counts = "SELECT pg_stat_get_xact_tuples_updated('trial'::regclass), \
             pg_stat_get_xact_tuples_hot_updated('trial'::regclass)";
        let row = sqlx::query(counts).fetch_one(&mut *connection).await?;
        changed += row.try_get::<i64, _>(0)?;
        hot += row.try_get::<i64, _>(1)?;
        connection.execute(sqlx::raw_sql("COMMIT")).await?;
        if n % vacuum_every == 0 {
            connection.execute(sqlx::raw_sql("VACUUM trial")).await?;
        }
    }
    result.run_seconds = Some(seconds / f64::from(JOB_RUNS));
    result.hot = Some(hot as f64 / (changed as f64).max(1.0));
    result.growth = Some(size(connection).await? / before);
    Ok(())
}

async fn size(connection: &mut PgConnection) -> Result<f64, sqlx::Error> {
    let bytes: i64 =
        sqlx::query_scalar("SELECT pg_total_relation_size('trial'::regclass)").fetch_one(connection).await?;
    Ok(bytes as f64)
}

async fn searched(connection: &mut PgConnection, result: &mut LayoutResult) -> Result<(), sqlx::Error> {
    let (mut seconds, mut found, mut iterative, mut wanted) = (0.0, 0, 0, 0);
    let approximate = result.variant.starts_with("HNSW");
    for question in 1..=QUESTIONS {
        let exact = nearest(connection, EXACT, &[], question).await?;
        let started = Instant::now();
        let first = if approximate {
            nearest(connection, NEAREST, &[ONLY_APPROXIMATE, AFTER_ITS_LIMIT], question).await?
        } else {
            nearest(connection, EXACT, &[], question).await?
        };
        seconds += started.elapsed().as_secs_f64();
        wanted += exact.len();
        found += exact.iter().filter(|id| first.contains(id)).count();
        if approximate {
            let all = nearest(connection, NEAREST, &[ONLY_APPROXIMATE, ITERATIVE], question).await?;
            iterative += exact.iter().filter(|id| all.contains(id)).count();
        }
    }
    let share = |count: usize| count as f64 / (wanted as f64).max(1.0);
    result.search_ms = Some(seconds * 1_000.0 / QUESTIONS as f64);
    result.recall = Some(share(found));
    result.iterative_recall = approximate.then(|| share(iterative));
    Ok(())
}

/// Ids of the nearest, under settings of one transaction.
async fn nearest(
    connection: &mut PgConnection,
    sql: &'static str,
    settings: &[&'static str],
    question: i64,
) -> Result<Vec<String>, sqlx::Error> {
    connection.execute(sqlx::raw_sql("BEGIN")).await?;
    for setting in settings {
        connection.execute(sqlx::raw_sql(*setting)).await?;
    }
    let found = sqlx::query_scalar(sql).bind(question).fetch_all(&mut *connection).await;
    connection.execute(sqlx::raw_sql("COMMIT")).await?;
    found
}

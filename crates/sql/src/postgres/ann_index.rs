//! An approximate index over vectors, for clinics with tens of thousands of passages per patient. It exists only after
//! `anamnesis migrate approximate`, and is used only with `store.postgres.ann_min_passages`, because it slows every
//! insert, and an index that is filtered after its limit hides rows. Therefore the scan continues until the limit is
//! full of the patient's own rows (`hnsw.iterative_scan`), and a search with fewer results compares all rows.

use sqlx::Row as _;
use sqlx::postgres::PgConnection;

use super::super::DbError;
use super::rows::error;

/// Statements of one dimension: an index needs to know it, and no statement is made from input.
pub(super) struct Dimension {
    pub(crate) numbers: usize,
    pub(crate) make: &'static str,
    pub(crate) drop: &'static str,
    pub(crate) nearest: &'static str,
}

macro_rules! dimensions {
    ($($n:literal),+) => {
        [$(Dimension {
            numbers: $n,
            make: concat!("CREATE INDEX CONCURRENTLY IF NOT EXISTS embedding_near_", $n, " ON anamnesis.embedding \
                 USING hnsw ((vector::halfvec(", $n, ")) halfvec_ip_ops) WHERE dimension = ", $n),
            drop: concat!("DROP INDEX CONCURRENTLY IF EXISTS anamnesis.embedding_near_", $n),
            nearest: concat!("SELECT passage_id, -(vector::halfvec(", $n, ") <#> $4::halfvec::halfvec(", $n, ")) \
                 FROM embedding WHERE org_id = $1 AND patient_id = $2 AND generation = $3 AND dimension = ", $n,
                " ORDER BY vector::halfvec(", $n, ") <#> $4::halfvec::halfvec(", $n, ") LIMIT $5"),
        }),+]
    };
}

/// Those of the usual models. pgvector indexes up to 4,000 numbers.
static DIMENSIONS: [Dimension; 9] = dimensions!(256, 384, 512, 768, 1024, 1152, 1536, 2048, 3072);

/// Settings of a search: continue until the limit is full, however many rows of other patients are skipped.
pub(super) static SETTINGS: &str = "SET LOCAL hnsw.iterative_scan = strict_order; \
     SET LOCAL hnsw.max_scan_tuples = 2147483647; SET LOCAL hnsw.scan_mem_multiplier = 4; SET LOCAL hnsw.ef_search = 200";

/// The statements of a dimension, where there are any.
pub(super) fn find(numbers: usize) -> Option<&'static Dimension> {
    DIMENSIONS.iter().find(|known| known.numbers == numbers)
}

/// Makes or drops the index, as the owner, while others work.
///
/// # Errors
/// [`DbError::Approximate`] for a dimension without statements, or a pgvector that cannot scan on (before 0.8).
pub(super) async fn change(connection: &mut PgConnection, numbers: usize, make: bool) -> Result<(), DbError> {
    let dimension = find(numbers).ok_or(DbError::Approximate)?;
    let version =
        "SELECT string_to_array(extversion, '.')::int[] >= ARRAY[0, 8] FROM pg_extension WHERE extname = 'vector'";
    let row = sqlx::query(version).persistent(false).fetch_one(&mut *connection).await.map_err(|e| error(&e))?;
    if !row.try_get::<bool, _>(0).map_err(|e| error(&e))? {
        return Err(DbError::Approximate);
    }
    let sql = if make { dimension.make } else { dimension.drop };
    sqlx::raw_sql(sql).execute(connection).await.map(drop).map_err(|e| error(&e))
}

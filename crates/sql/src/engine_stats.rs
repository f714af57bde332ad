//! Statistics of an engine: columns of a table, bytes on disk, position of its log. For benchmarks.

use std::sync::LazyLock;

use super::{Access, ColumnType, Database, DbError, Inner, Sql, Transaction};

static SQLITE_COLUMNS: LazyLock<Sql> =
    LazyLock::new(|| Sql::new("SELECT name, type FROM pragma_table_info($1) ORDER BY cid"));
static POSTGRES_COLUMNS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT column_name::text, udt_name::text FROM information_schema.columns WHERE table_schema = 'anamnesis' \
         AND table_name = $1 ORDER BY ordinal_position",
    )
});
static SQLITE_BYTES: LazyLock<Sql> =
    LazyLock::new(|| Sql::new("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"));
static POSTGRES_BYTES: LazyLock<Sql> = LazyLock::new(|| Sql::new("SELECT pg_database_size(current_database())"));
static POSTGRES_LOG: LazyLock<Sql> =
    LazyLock::new(|| Sql::new("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint"));

impl Database {
    /// The engine's name, for reports and messages.
    pub fn engine(&self) -> &'static str {
        match self.inner {
            Inner::Sqlite(_) => "sqlite",
            Inner::Postgres(_) => "postgres",
        }
    }

    /// Columns of a table, in the order of `SELECT *`.
    ///
    /// # Errors
    /// When the engine cannot be queried.
    pub async fn columns(&self, table: &str) -> Result<Vec<(String, ColumnType)>, DbError> {
        let sql = if self.engine() == "sqlite" { &SQLITE_COLUMNS } else { &POSTGRES_COLUMNS };
        let rows = self.asking().await?.fetch_all(sql, vec![table.into()]).await?;
        let column = |name: String, kind: &str| {
            let kind = match kind {
                "BLOB" | "bytea" => ColumnType::Bytes,
                "INTEGER" | "int8" => ColumnType::Int,
                "int2" => ColumnType::Bool,
                "REAL" | "float8" => ColumnType::Float,
                "uuid" => ColumnType::Uuid,
                "halfvec" => ColumnType::Vector,
                _ => ColumnType::Text,
            };
            (name, kind)
        };
        rows.iter().map(|row| Ok(column(row.text(0)?, &row.text(1)?))).collect()
    }

    /// Bytes on disk, the write-ahead log aside.
    ///
    /// # Errors
    /// When the engine cannot be asked.
    pub async fn bytes(&self) -> Result<u64, DbError> {
        let sql = if self.engine() == "sqlite" { &SQLITE_BYTES } else { &POSTGRES_BYTES };
        let rows = self.asking().await?.fetch_all(sql, Vec::new()).await?;
        Ok(rows.first().map_or(Ok(0), |row| row.i64(0))?.unsigned_abs())
    }

    /// Bytes in the server's write-ahead log since its creation, by all writers; `None` for an embedded store.
    ///
    /// # Errors
    /// When the engine cannot be queried.
    pub async fn log_position(&self) -> Result<Option<u64>, DbError> {
        if self.engine() == "sqlite" {
            return Ok(None);
        }
        let rows = self.asking().await?.fetch_all(&POSTGRES_LOG, Vec::new()).await?;
        rows.first().map(|row| Ok(row.i64(0)?.unsigned_abs())).transpose()
    }

    async fn asking(&self) -> Result<Transaction, DbError> {
        self.read(Access::Platform).await
    }
}

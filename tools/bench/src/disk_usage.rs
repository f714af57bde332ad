//! `anamnesis-bench storage`: where the bytes of a document lie. Whole documents go through the pipeline; then the store says for
//! each table how much room it takes, for each column how much of that is its values, and for each index how much it takes.

use std::sync::{Arc, LazyLock};

use serde::Serialize;

use super::ingest::{self, BenchError, DocumentSource, IngestLoad};
use anamnesis_core::ids::OrgId;
use anamnesis_pipeline::Pipeline;
use anamnesis_sql::{Access, Database, DbError, Sql};

static SQLITE_TABLES: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT s.name, sum(d.pgsize) FROM sqlite_master AS s JOIN dbstat AS d ON d.name = s.name WHERE s.type = 'table' \
         AND s.name NOT LIKE 'sqlite_%' GROUP BY s.name ORDER BY s.name",
    )
});
static POSTGRES_TABLES: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT c.relname::text, pg_table_size(c.oid) FROM pg_class AS c WHERE c.relkind = 'r' \
         AND c.relnamespace = 'anamnesis'::regnamespace ORDER BY c.relname",
    )
});
static SQLITE_INDEXES: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT s.name, sum(d.pgsize) FROM sqlite_master AS s JOIN dbstat AS d ON d.name = s.name WHERE s.type = 'index' \
         AND s.tbl_name = $1 GROUP BY s.name ORDER BY s.name",
    )
});
static POSTGRES_INDEXES: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT i.relname::text, pg_relation_size(i.oid) FROM pg_index AS x JOIN pg_class AS i ON i.oid = x.indexrelid \
         JOIN pg_class AS c ON c.oid = x.indrelid WHERE c.relname = $1 \
         AND c.relnamespace = 'anamnesis'::regnamespace ORDER BY i.relname",
    )
});

/// All figures are of one document on average.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct DiskUsage {
    pub(crate) bench: &'static str,
    pub(crate) store: &'static str,
    pub(crate) documents: u64,
    pub(crate) body_bytes: f64,
    /// Tables and indexes together.
    pub(crate) store_bytes: f64,
    /// How far a server's write-ahead log grew, all writers included; `null` for a file.
    pub(crate) log_bytes: Option<f64>,
    /// The largest first; those that no document fills are left out.
    pub(crate) tables: Vec<TableUsage>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct TableUsage {
    pub(crate) table: String,
    pub(crate) rows: f64,
    /// Rows with their headers and free room; on a file the primary key is part of it.
    pub(crate) bytes: f64,
    pub(crate) indexes: Vec<UsagePart>,
    /// Values alone, as the engine stores them.
    pub(crate) columns: Vec<UsagePart>,
}

impl TableUsage {
    /// With its indexes.
    pub(crate) fn total(&self) -> f64 {
        self.bytes + self.indexes.iter().map(|index| index.bytes).sum::<f64>()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct UsagePart {
    pub(crate) name: String,
    pub(crate) bytes: f64,
}

/// Puts invented documents through the pipeline and accounts for what they left.
///
/// # Errors
/// When the store refuses something.
pub(crate) async fn measure(
    pipeline: &Arc<Pipeline>,
    documents: u64,
    load: IngestLoad,
    report: &(dyn Fn(u64) + Sync),
) -> Result<DiskUsage, BenchError> {
    let db = pipeline.store().db();
    let before = db.log_position().await?;
    let body_bytes = ingest::fill(pipeline, &DocumentSource::Generated(documents), load, report).await?;
    db.checkpoint().await?;
    let after = db.log_position().await?;
    let each = |bytes: u64| bytes as f64 / documents as f64;
    let mut tables = Vec::new();
    for (name, bytes) in listed(db, [&SQLITE_TABLES, &POSTGRES_TABLES], None).await? {
        let table = table(db, name, bytes, documents).await?;
        if table.rows > 0.0 {
            tables.push(table);
        }
    }
    tables.sort_by(|a, b| b.total().total_cmp(&a.total()));
    Ok(DiskUsage {
        bench: "storage",
        store: db.engine(),
        documents,
        body_bytes: each(body_bytes),
        store_bytes: tables.iter().map(TableUsage::total).sum(),
        log_bytes: after.zip(before).map(|(after, before)| each(after.saturating_sub(before))),
        tables,
    })
}

async fn listed(db: &Database, [file, server]: [&Sql; 2], of: Option<&str>) -> Result<Vec<(String, u64)>, DbError> {
    let sql = if db.engine() == "sqlite" { file } else { server };
    let rows = db.read(Access::Platform).await?.fetch_all(sql, of.into_iter().map(Into::into).collect()).await?;
    rows.iter().map(|row| Ok((row.text(0)?, row.i64(1)?.unsigned_abs()))).collect()
}

async fn table(db: &Database, name: String, bytes: u64, documents: u64) -> Result<TableUsage, DbError> {
    let each = |bytes: i64| bytes as f64 / documents as f64;
    let part = |(name, bytes): (String, u64)| UsagePart { name, bytes: bytes as f64 / documents as f64 };
    let indexes = listed(db, [&SQLITE_INDEXES, &POSTGRES_INDEXES], Some(&name)).await?;
    let names: Vec<String> = db.columns(&name).await?.into_iter().map(|(column, _)| column).collect();
    // The names come from the schema, once each for a run.
    let sums = Sql::new(Box::leak(sums(db.engine(), &name, &names).into_boxed_str()));
    let (mut rows, mut columns) = (0, vec![0; names.len()]);
    for access in scopes(db, names.iter().any(|column| column == "org_id")).await? {
        let found = db.read(access).await?.fetch_all(&sums, Vec::new()).await?;
        if let Some(row) = found.first() {
            rows += row.i64(0)?;
            for (at, sum) in columns.iter_mut().enumerate() {
                *sum += row.i64(at + 1)?;
            }
        }
    }
    let mut columns: Vec<UsagePart> =
        names.into_iter().zip(columns).map(|(name, bytes)| UsagePart { name, bytes: each(bytes) }).collect();
    columns.sort_by(|a, b| b.bytes.total_cmp(&a.bytes));
    Ok(TableUsage {
        rows: each(rows),
        bytes: bytes as f64 / documents as f64,
        indexes: indexes.into_iter().map(part).collect(),
        columns,
        table: name,
    })
}

/// Whose rows are summed: on a server each organisation sees only its own, on a file one look sees all.
async fn scopes(db: &Database, of_organizations: bool) -> Result<Vec<Access>, DbError> {
    if db.engine() == "sqlite" || !of_organizations {
        return Ok(vec![Access::Platform]);
    }
    let rows =
        db.read(Access::Platform).await?.fetch_all(&Sql::new("SELECT org_id FROM organization"), Vec::new()).await?;
    rows.iter().map(|row| Ok(Access::Organization(OrgId(row.uuid(0)?)))).collect()
}

fn sums(engine: &str, table: &str, columns: &[String]) -> String {
    let size = |column: &String| match engine {
        "sqlite" => format!(
            "CASE typeof({column}) WHEN 'null' THEN 0 WHEN 'real' THEN 8 WHEN 'integer' THEN \
             CASE WHEN {column} IN (0, 1) THEN 0 WHEN abs({column}) < 128 THEN 1 WHEN abs({column}) < 32768 THEN 2 \
             WHEN abs({column}) < 2147483648 THEN 4 WHEN abs({column}) < 140737488355328 THEN 6 ELSE 8 END \
             ELSE length(CAST({column} AS blob)) END"
        ),
        _ => format!("pg_column_size({column})"),
    };
    let sums = columns.iter().map(|column| format!(", COALESCE(CAST(sum({}) AS bigint), 0)", size(column)));
    format!("SELECT count(*){} FROM {table}", sums.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_column_is_summed_as_its_engine_stores_it() {
        let names = ["id".to_owned(), "vector".to_owned()];
        assert_eq!(
            sums("postgres", "embedding", &names),
            "SELECT count(*), COALESCE(CAST(sum(pg_column_size(id)) AS bigint), 0), \
             COALESCE(CAST(sum(pg_column_size(vector)) AS bigint), 0) FROM embedding"
        );
        assert!(sums("sqlite", "embedding", &names).contains("length(CAST(vector AS blob))"));
    }

    #[test]
    fn a_table_takes_what_its_rows_and_its_indexes_take() {
        let index = |bytes| UsagePart { name: "i".to_owned(), bytes };
        let table = TableUsage {
            table: "t".to_owned(),
            rows: 1.0,
            bytes: 10.0,
            indexes: vec![index(2.0), index(3.0)],
            columns: vec![],
        };
        assert!((table.total() - 15.0).abs() < 1e-9);
    }
}

//! A server's tables, copied out and in.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Read as _, Write as _};
use std::path::Path;
use std::time::Duration;

use futures::TryStreamExt as _;
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _};
use uuid::Uuid;

use super::super::options::PostgresOptions;
use super::super::postgres::{connect, error, migrate_to, newest_applied};
use super::copy_format::{END, HEAD};
use super::{CopyError, Patients, Snapshot, TableCopy, scope, table_file};

/// A snapshot of everything, platform's rows included; tables of a tenant show one organisation at a time.
const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; SET LOCAL statement_timeout = 0; \
     SET LOCAL idle_in_transaction_session_timeout = 0; SELECT set_config('anamnesis.access', 'platform', true)";
const TABLES: &str = "SELECT c.relname::text, EXISTS (SELECT 1 FROM pg_policy AS p WHERE p.polrelid = c.oid) AND NOT EXISTS \
     (SELECT 1 FROM pg_policy AS p WHERE p.polrelid = c.oid \
     AND pg_get_expr(p.polqual, p.polrelid) LIKE '%anamnesis.access%'), \
     array_agg(a.attname::text ORDER BY a.attnum), c.relforcerowsecurity \
     FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
     AND a.attgenerated = '' WHERE c.relnamespace = 'anamnesis'::regnamespace AND c.relkind = 'r' \
     AND c.relname <> '_sqlx_migrations' GROUP BY c.oid ORDER BY c.relname";
const REFERENCES: &str = "SELECT conrelid::regclass::text, confrelid::regclass::text FROM pg_constraint \
     WHERE contype = 'f' AND connamespace = 'anamnesis'::regnamespace AND conrelid <> confrelid";
const OTHERS: &str = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
     AND pid <> pg_backend_pid() AND application_name = 'anamnesis'";
const BUFFER: usize = 1 << 20;
/// How often, and after which pause, is looked whether others are connected.
const LOOKS: u32 = 25;
const PAUSE: Duration = Duration::from_millis(200);

struct CopiedTable {
    name: String,
    /// Its rows show for one organisation at a time.
    scoped: bool,
    columns: Vec<String>,
    /// Row-level security binds its owner too.
    forced: bool,
}

impl CopiedTable {
    fn named(&self) -> String {
        let columns: Vec<String> = self.columns.iter().map(|column| quoted(column)).collect();
        format!("anamnesis.{} ({})", quoted(&self.name), columns.join(", "))
    }
}

/// Names come from the server's own catalogue.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn failed(why: &sqlx::Error) -> CopyError {
    CopyError::Database(error(why))
}

async fn run(connection: &mut PgConnection, sql: String) -> Result<(), CopyError> {
    connection.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await.map(drop).map_err(|e| failed(&e))
}

async fn tables(connection: &mut PgConnection) -> Result<Vec<CopiedTable>, CopyError> {
    let rows: Vec<(String, bool, Vec<String>, bool)> =
        sqlx::query_as(TABLES).persistent(false).fetch_all(connection).await.map_err(|e| failed(&e))?;
    Ok(rows.into_iter().map(|(name, scoped, columns, forced)| CopiedTable { name, scoped, columns, forced }).collect())
}

async fn organizations(connection: &mut PgConnection) -> Result<Vec<Uuid>, CopyError> {
    let sql = "SELECT org_id FROM anamnesis.organization ORDER BY org_id";
    sqlx::query_scalar(sql).persistent(false).fetch_all(connection).await.map_err(|e| failed(&e))
}

async fn show(connection: &mut PgConnection, org: Uuid) -> Result<(), CopyError> {
    let sql = "SELECT set_config('anamnesis.org', $1, true)";
    let shown = sqlx::query(sql).persistent(false).bind(org.to_string()).execute(connection).await;
    shown.map(drop).map_err(|e| failed(&e))
}

pub(super) async fn copy_out(options: &PostgresOptions, folder: &Path) -> Result<Snapshot, CopyError> {
    let mut connection = connect(options).await?;
    connection.execute(sqlx::raw_sql(BEGIN)).await.map_err(|e| failed(&e))?;
    let schema = newest_applied(&mut connection).await?;
    let organizations = organizations(&mut connection).await?;
    let mut copied = BTreeMap::new();
    for table in tables(&mut connection).await? {
        let mut file = Out::new(&folder.join(table_file(&table.name)))?;
        if table.scoped {
            for org in &organizations {
                show(&mut connection, *org).await?;
                file.append(&mut connection, &table).await?;
            }
        } else {
            file.append(&mut connection, &table).await?;
        }
        let rows = file.end()?;
        copied.insert(table.name, TableCopy { rows, columns: table.columns });
    }
    connection.execute(sqlx::raw_sql("ROLLBACK")).await.map_err(|e| failed(&e))?;
    connection.close().await.map_err(|e| failed(&e))?;
    Ok(Snapshot { engine: "postgres".to_owned(), schema, tables: copied })
}

/// One file of one table, out of several copies: the head of the first and the end of the last only.
struct Out {
    file: BufWriter<File>,
    rows: u64,
}

impl Out {
    fn new(path: &Path) -> Result<Self, CopyError> {
        let mut file = BufWriter::with_capacity(BUFFER, super::private(path)?);
        file.write_all(HEAD)?;
        Ok(Self { file, rows: 0 })
    }

    async fn append(&mut self, connection: &mut PgConnection, table: &CopiedTable) -> Result<(), CopyError> {
        let columns: Vec<String> = table.columns.iter().map(|column| quoted(column)).collect();
        let named = quoted(&table.name);
        let sql = ["COPY (SELECT ", &columns.join(", "), " FROM anamnesis.", &named, ") TO STDOUT (FORMAT binary)"];
        let mut stream = connection.copy_out_raw(&sql.concat()).await.map_err(|e| failed(&e))?;
        let mut first = true;
        while let Some(piece) = stream.try_next().await.map_err(|e| failed(&e))? {
            // The server sends the header alone or with the first row, each row as a message, and the end as one.
            let piece = if first { piece.get(HEAD.len()..).unwrap_or_default() } else { &piece[..] };
            first = false;
            if piece.is_empty() || piece == END {
                continue;
            }
            self.rows += 1;
            self.file.write_all(piece)?;
        }
        Ok(())
    }

    fn end(mut self) -> Result<u64, CopyError> {
        self.file.write_all(&END)?;
        let file = self.file.into_inner().map_err(|error| CopyError::File(error.error().kind()))?;
        file.sync_all()?;
        Ok(self.rows)
    }
}

/// Patients of all organisations; no samples.
pub(crate) async fn patients(options: &PostgresOptions) -> Result<Patients, CopyError> {
    let mut connection = connect(options).await?;
    connection.execute(sqlx::raw_sql(BEGIN)).await.map_err(|e| failed(&e))?;
    let mut all = Vec::new();
    for org in organizations(&mut connection).await? {
        show(&mut connection, org).await?;
        let sql = "SELECT patient_id FROM anamnesis.patient_profile WHERE org_id = $1 ORDER BY patient_id";
        let patients: Vec<Uuid> = sqlx::query_scalar(sql)
            .persistent(false)
            .bind(org)
            .fetch_all(&mut connection)
            .await
            .map_err(|e| failed(&e))?;
        all.extend(patients.iter().filter_map(|patient| scope(org.as_bytes(), patient.as_bytes())));
    }
    let row: Option<(Uuid, i64)> = sqlx::query_as("SELECT key_store_id, generation FROM anamnesis.key_binding")
        .persistent(false)
        .fetch_optional(&mut connection)
        .await
        .map_err(|e| failed(&e))?;
    let binding = row.map(|(id, generation)| (id, generation.unsigned_abs()));
    connection.close().await.map_err(|e| failed(&e))?;
    Ok(Patients { all, samples: Vec::new(), binding })
}

pub(super) async fn copy_in(
    options: &PostgresOptions,
    snapshot: &Snapshot,
    folder: &Path,
    replace: bool,
) -> Result<(), CopyError> {
    // A database without tables gets those of the copy, so that what later migrations change in rows is changed.
    migrate_to(options, Some(snapshot.schema)).await?;
    let mut connection = connect(options).await?;
    connection.execute("SET ROLE anamnesis_owner").await.map_err(|e| failed(&e))?;
    let has = newest_applied(&mut connection).await?;
    if has != snapshot.schema {
        return Err(CopyError::Schema { has, wants: snapshot.schema });
    }
    alone(&mut connection).await?;
    run(&mut connection, "BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '10s'".to_owned()).await?;
    fill(&mut connection, snapshot, folder, replace).await?;
    run(&mut connection, "COMMIT".to_owned()).await?;
    connection.close().await.map_err(|e| failed(&e))?;
    migrate_to(options, None).await?;
    Ok(())
}

/// No other connection of this program exists. A connection that was just closed is visible for a moment.
async fn alone(connection: &mut PgConnection) -> Result<(), CopyError> {
    for _ in 0..LOOKS {
        let others: i64 =
            sqlx::query_scalar(OTHERS).persistent(false).fetch_one(&mut *connection).await.map_err(|e| failed(&e))?;
        if others == 0 {
            return Ok(());
        }
        tokio::time::sleep(PAUSE).await;
    }
    Err(CopyError::InUse)
}

async fn fill(
    connection: &mut PgConnection,
    snapshot: &Snapshot,
    folder: &Path,
    replace: bool,
) -> Result<(), CopyError> {
    let tables = in_order(tables(connection).await?, connection).await?;
    // Row-level security also binds the owner, who could load nothing. It is lifted for this transaction, whose changes
    // no other session sees.
    for table in tables.iter().filter(|table| table.forced) {
        run(connection, format!("ALTER TABLE anamnesis.{} NO FORCE ROW LEVEL SECURITY", quoted(&table.name))).await?;
    }
    for table in &tables {
        let any = ["SELECT EXISTS (SELECT 1 FROM anamnesis.", &quoted(&table.name), ")"].concat();
        let any: bool = sqlx::query_scalar(AssertSqlSafe(any))
            .persistent(false)
            .fetch_one(&mut *connection)
            .await
            .map_err(|e| failed(&e))?;
        if any && !replace {
            return Err(CopyError::NotEmpty);
        }
    }
    let all: Vec<String> = tables.iter().map(|table| format!("anamnesis.{}", quoted(&table.name))).collect();
    run(connection, format!("TRUNCATE {}", all.join(", "))).await?;
    for table in &tables {
        let Some(copy) = snapshot.tables.get(&table.name) else {
            return Err(CopyError::Damaged(table_file(&table.name)));
        };
        if copy.columns != table.columns {
            return Err(CopyError::Damaged(table_file(&table.name)));
        }
        let sql = format!("COPY {} FROM STDIN (FORMAT binary)", table.named());
        let mut file = File::open(folder.join(table_file(&table.name)))?;
        let mut sink = connection.copy_in_raw(&sql).await.map_err(|e| failed(&e))?;
        let mut buffer = vec![0u8; BUFFER];
        loop {
            let length = file.read(&mut buffer)?;
            if length == 0 {
                break;
            }
            sink.send(&buffer[..length]).await.map_err(|e| failed(&e))?;
        }
        if sink.finish().await.map_err(|e| failed(&e))? != copy.rows {
            return Err(CopyError::Damaged(table_file(&table.name)));
        }
    }
    for table in tables.iter().filter(|table| table.forced) {
        run(connection, format!("ALTER TABLE anamnesis.{} FORCE ROW LEVEL SECURITY", quoted(&table.name))).await?;
    }
    Ok(())
}

/// Tables after those that they refer to.
async fn in_order(mut tables: Vec<CopiedTable>, connection: &mut PgConnection) -> Result<Vec<CopiedTable>, CopyError> {
    let references: Vec<(String, String)> =
        sqlx::query_as(REFERENCES).persistent(false).fetch_all(connection).await.map_err(|e| failed(&e))?;
    let plain = |name: &str| name.trim_start_matches("anamnesis.").trim_matches('"').to_owned();
    let references: Vec<(String, String)> = references.iter().map(|(from, to)| (plain(from), plain(to))).collect();
    let mut ordered: Vec<CopiedTable> = Vec::with_capacity(tables.len());
    while !tables.is_empty() {
        let waits = |table: &CopiedTable, left: &[CopiedTable]| {
            references.iter().any(|(from, to)| *from == table.name && left.iter().any(|other| other.name == *to))
        };
        // Tables that refer to each other in a circle would be loaded in any order, and refused by the server.
        let next = tables.iter().position(|table| !waits(table, &tables)).unwrap_or(0);
        ordered.push(tables.remove(next));
    }
    Ok(ordered)
}

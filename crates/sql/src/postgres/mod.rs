//! PostgreSQL: a pool of connections, and transactions that declare whose rows they may touch.
//!
//! Nothing is ever set for a session: scope, time limits and search path are settings of each transaction. So a
//! connection carries no state from one user to the next, and a pooler may be in between. A transaction that is dropped
//! between two statements is rolled back; one that is dropped within a statement (a cancelled request, a time-out)
//! closes its connection, which would otherwise be pinned until the server answers.

mod ann_index;
mod args;
mod durability;
mod layout;
mod migration_steps;
mod pooler;
mod rows;
mod schema;
mod server_info;
mod temp_database;

use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgArguments, PgPool, PgPoolOptions};
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, Column as _, Connection as _, Executor as _, Postgres, SqlSafeStr as _, Statement as _};
use tokio::time::timeout;

use super::options::{PostgresOptions, Statements};
use super::{Access, Arg, Bulk, DbError, Row, Sql};
use anamnesis_core::failpoints;
pub use layout::LayoutResult;
pub(super) use rows::error;
pub(super) use schema::{
    Applied, approximate, connect, holds_rows, migrate, migrate_by, migrate_to, newest_applied, state,
};
pub(crate) use server_info::ServerInfo;
pub use temp_database::TempDatabase;

/// The first statements of every transaction: its mode, and whose rows it may touch. One round trip.
fn opening(begin: &str, access: Access, options: &PostgresOptions) -> AssertSqlSafe<String> {
    let (org, access) = match access {
        Access::Organization(org) => (org.0.to_string(), ""),
        Access::Platform => (String::new(), "platform"),
    };
    // The seeded bug of settings that outlive their transaction.
    let local = !failpoints::is("session_set");
    let limits = [
        ("statement_timeout", options.statement_timeout),
        ("lock_timeout", options.lock_timeout),
        ("idle_in_transaction_session_timeout", options.idle_transaction_timeout),
    ];
    let mut sql = format!(
        "{begin}; SELECT set_config('search_path', 'anamnesis, public', {local}), \
         set_config('anamnesis.org', '{org}', {local}), set_config('anamnesis.access', '{access}', {local})"
    );
    for (name, limit) in limits {
        sql += &format!(", set_config('{name}', '{}', {local})", limit.as_millis());
    }
    // An id's hexadecimal digits, one of two keywords, and numbers: no user input.
    AssertSqlSafe(sql)
}

/// Explicit, because the default of the database, the role or the server may differ. Rows are locked, and after a wait
/// for a lock a statement must see what was committed meanwhile.
const WRITE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";
const READ: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY";

/// Connections that stay open: a search reads over two.
const KEPT: u32 = 2;
/// How long after the server should have given up we do.
const GRACE: Duration = Duration::from_secs(5);
/// A connection unused for this long is tried before it is given out.
const DOUBTFUL: Duration = Duration::from_secs(1);
const LIFETIME: Duration = Duration::from_secs(1_800);
const IDLE: Duration = Duration::from_secs(300);

#[derive(Debug)]
pub(super) struct PostgresDatabase {
    pool: PgPool,
    options: PostgresOptions,
}

impl PostgresDatabase {
    /// Connects, and checks role and schema before anything is read.
    pub(crate) async fn open(options: &PostgresOptions) -> Result<Self, DbError> {
        let named = options.statements == Statements::Named;
        let plain =
            || PgPoolOptions::new().max_connections(options.max_connections).acquire_timeout(options.acquire_timeout);
        let pool = plain()
            .min_connections(KEPT.min(options.max_connections))
            .max_lifetime(LIFETIME)
            .idle_timeout(IDLE)
            .test_before_acquire(false)
            .after_connect(move |connection, _| {
                Box::pin(async move { if named { Ok(()) } else { args::load_type_oids(connection).await } })
            })
            .before_acquire(|connection, about| {
                Box::pin(async move {
                    if about.idle_for > DOUBTFUL {
                        connection.ping().await?;
                    }
                    Ok(true)
                })
            })
            .connect_lazy_with(options.connect.clone());
        let db = Self { pool, options: options.clone() };
        if named {
            pooler::check(&db.pool, named).await?;
        } else {
            // Where transactions are refused no connection can learn: those that look must not try.
            let looking = plain().connect_lazy_with(options.connect.clone());
            let found = pooler::check(&looking, named).await;
            looking.close().await;
            found?;
        }
        let mut connection = db.pool.acquire().await.map_err(|e| error(&e))?;
        schema::check(&mut connection).await?;
        durability::check(&mut connection, options).await?;
        drop(connection);
        Ok(db)
    }

    pub(crate) async fn durable(&self) -> Result<(), DbError> {
        let mut connection = self.pool.acquire().await.map_err(|e| error(&e))?;
        durability::check(&mut connection, &self.options).await
    }

    pub(crate) async fn begin(&self, write: bool, access: Access) -> Result<PostgresTransaction, DbError> {
        let begin = if write { WRITE } else { READ };
        self.opened(self.pool.acquire().await.map_err(|e| error(&e))?, begin, access).await
    }

    /// See [`super::Database::try_second_read`].
    pub(crate) async fn try_second_read(&self, access: Access) -> Option<PostgresTransaction> {
        self.opened(self.pool.try_acquire()?, READ, access).await.ok()
    }

    async fn opened(
        &self,
        connection: PoolConnection<Postgres>,
        begin: &str,
        access: Access,
    ) -> Result<PostgresTransaction, DbError> {
        let options = &self.options;
        let mut tx = PostgresTransaction {
            connection: Some(connection),
            ann_min_passages: options.ann_min_passages,
            limit: options.statement_timeout + GRACE,
            named: options.statements == Statements::Named,
            failed: false,
        };
        let opening = opening(begin, access, options);
        tx.run(async |c| c.execute(sqlx::raw_sql(opening)).await).await?;
        Ok(tx)
    }

    pub(crate) async fn prepare(&self, sql: &Sql) -> Result<Vec<String>, DbError> {
        let mut tx = self.begin(true, Access::Platform).await?;
        let prepared = tx.run(async |c| c.prepare(sql.postgres().into_sql_str()).await).await?;
        Ok(prepared.columns().iter().map(|column| column.name().to_owned()).collect())
    }

    pub(crate) async fn refresh_statistics(&self) -> Result<(), DbError> {
        let mut tx = self.begin(true, Access::Platform).await?;
        // A small sample is enough to estimate the numbers of organisations and patients; the server's own analysis
        // reads more later.
        let asked = "SET LOCAL default_statistics_target = 20; SELECT refresh_statistics()";
        tx.run(async |c| c.execute(sqlx::raw_sql(asked)).await).await?;
        tx.commit().await
    }

    pub(crate) fn connections(&self) -> (i64, i64) {
        let idle = self.pool.num_idle() as i64;
        (idle, (i64::from(self.pool.size()) - idle).max(0))
    }

    pub(crate) fn connections_limit(&self) -> i64 {
        i64::from(self.pool.options().get_max_connections())
    }

    pub(crate) async fn close(&self) {
        self.pool.close().await;
    }
}

#[derive(Debug)]
pub(super) struct PostgresTransaction {
    /// `None` while a statement runs, and after the end.
    connection: Option<PoolConnection<Postgres>>,
    limit: Duration,
    /// Passages of a patient from which the approximate index is asked; 0: never.
    ann_min_passages: usize,
    named: bool,
    /// The server answers COMMIT with success after a statement failed, and rolls back all the same.
    failed: bool,
}

impl PostgresTransaction {
    pub(crate) async fn execute(&mut self, sql: &Sql, args: Vec<Arg>) -> Result<u64, DbError> {
        let query = self.query(sql.postgres(), args::arguments(args)?);
        Ok(self.run(async |c| c.execute(query).await).await?.rows_affected())
    }

    pub(crate) async fn fetch_all(&mut self, sql: &Sql, args: Vec<Arg>) -> Result<Vec<Row>, DbError> {
        let query = self.query(sql.postgres(), args::arguments(args)?);
        self.run(async |c| c.fetch_all(query).await).await?.iter().map(rows::row).collect()
    }

    pub(crate) async fn bulk(&mut self, bulk: &Bulk, shared: Vec<Arg>, rows: Vec<Vec<Arg>>) -> Result<u64, DbError> {
        let query = self.query(bulk.sql().postgres(), args::columns(bulk.kinds(), shared, &rows)?);
        Ok(self.run(async |c| c.execute(query).await).await?.rows_affected())
    }

    pub(crate) fn asks_approximately(&self) -> bool {
        self.ann_min_passages > 0
    }

    /// See [`super::Transaction::nearest`].
    pub(crate) async fn nearest(
        &mut self,
        scope: &[Arg],
        query: &[u8],
        own: usize,
        limit: usize,
    ) -> Result<Option<Vec<Row>>, DbError> {
        let Some(dimension) = ann_index::find(query.len() / 2) else { return Ok(None) };
        if self.ann_min_passages == 0 || own < self.ann_min_passages.max(limit) {
            return Ok(None);
        }
        self.run(async |c| c.execute(sqlx::raw_sql(ann_index::SETTINGS)).await).await?;
        let mut args = scope.to_vec();
        args.extend([Arg::Vector(query.to_vec()), Arg::I64(i64::try_from(limit).unwrap_or(i64::MAX))]);
        let query = self.query(dimension.nearest, args::arguments(args)?);
        let rows = self.run(async |c| c.fetch_all(query).await).await?;
        let full = rows.len() >= limit;
        full.then(|| rows.iter().map(rows::row).collect()).transpose()
    }

    pub(crate) async fn commit(mut self) -> Result<(), DbError> {
        if self.failed {
            return Err(DbError::Aborted);
        }
        self.run(async |c| c.execute(sqlx::raw_sql("COMMIT")).await).await?;
        self.connection = None;
        Ok(())
    }

    pub(crate) async fn rollback(mut self) -> Result<(), DbError> {
        self.run(async |c| c.execute(sqlx::raw_sql("ROLLBACK")).await).await?;
        self.connection = None;
        Ok(())
    }

    fn query(&self, sql: &'static str, arguments: PgArguments) -> Query<'static, Postgres, PgArguments> {
        sqlx::query_with(sql, arguments).persistent(self.named)
    }

    /// Runs one exchange with the server. A cancelled one closes the connection.
    async fn run<T>(
        &mut self,
        work: impl AsyncFnOnce(&mut sqlx::PgConnection) -> Result<T, sqlx::Error>,
    ) -> Result<T, DbError> {
        let connection = self.connection.take().ok_or(DbError::Transient("closed"))?;
        let mut held = CloseOnDrop(Some(connection));
        let Some(connection) = held.0.as_mut() else { return Err(DbError::Transient("closed")) };
        let done = timeout(self.limit, work(connection)).await.map_err(|_| DbError::Transient("timeout"))?;
        self.failed |= done.is_err();
        let done = done.map_err(|e| error(&e));
        // A read-only session stays so after the server accepts writes again: after a failover, or a reverted setting.
        if done.as_ref().err() != Some(&DbError::Transient("read_only")) {
            self.connection = held.0.take();
        }
        done
    }
}

impl Drop for PostgresTransaction {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        let (mut held, limit) = (CloseOnDrop(Some(connection)), self.limit);
        tokio::spawn(async move {
            let Some(connection) = held.0.as_mut() else { return };
            let done = timeout(limit, connection.execute(sqlx::raw_sql("ROLLBACK"))).await;
            if matches!(done, Ok(Ok(_))) {
                drop(held.0.take());
            }
        });
    }
}

/// A connection in the middle of an exchange.
struct CloseOnDrop(Option<PoolConnection<Postgres>>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        if let Some(connection) = self.0.as_mut() {
            connection.close_on_drop();
        }
    }
}

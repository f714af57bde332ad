//! What commands counted, for the workers to show: a command ends before a Prometheus scrapes it. Counts and durations of reads by
//! closed labels, of the whole store and of nobody in particular.

use std::sync::LazyLock;

use super::{Store, StoreError};
use anamnesis_core::clock::micros;
use anamnesis_sql::{Access, Arg, Bulk, ColumnType, Sql};

const COLUMNS: &[(&str, ColumnType)] =
    &[("series", ColumnType::Text), ("value", ColumnType::Float), ("now", ColumnType::Int)];

static ADD: LazyLock<Bulk> = LazyLock::new(|| {
    Bulk::over(
        "INSERT INTO command_metric (series, value, created_at, updated_at) SELECT r.series, r.value, r.now, r.now FROM {rows} AS r \
         WHERE true ON CONFLICT (series) DO UPDATE SET value = command_metric.value + excluded.value, updated_at = excluded.updated_at",
        COLUMNS,
    )
});
static SET: LazyLock<Bulk> = LazyLock::new(|| {
    Bulk::over(
        "INSERT INTO command_metric (series, value, created_at, updated_at) SELECT r.series, r.value, r.now, r.now FROM {rows} AS r \
         WHERE true ON CONFLICT (series) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at",
        COLUMNS,
    )
});
static ALL: LazyLock<Sql> = LazyLock::new(|| Sql::new("SELECT series, value FROM command_metric"));

impl Store {
    /// Adds what a process counted to the sums of its series; the newest values take the place of those before them.
    ///
    /// # Errors
    /// Of the database, such as for a role that only reads.
    pub async fn add_samples(&self, sums: Vec<(String, f64)>, newest: Vec<(String, f64)>) -> Result<(), StoreError> {
        let now = micros(self.clock.now());
        let row = |(series, value): (String, f64)| -> Vec<Arg> { vec![series.into(), value.into(), now.into()] };
        let mut tx = self.db.begin(Access::Platform).await?;
        for (bulk, mut samples) in [(&ADD, sums), (&SET, newest)] {
            // In one order, so that no two commands wait for each other's rows.
            samples.sort_by(|(a, _), (b, _)| a.cmp(b));
            if !samples.is_empty() {
                tx.bulk(bulk, samples.into_iter().map(row).collect()).await?;
            }
        }
        Ok(tx.commit().await?)
    }

    /// The sums by series.
    ///
    /// # Errors
    /// Of the database.
    pub async fn samples(&self) -> Result<Vec<(String, f64)>, StoreError> {
        let mut tx = self.db.read(Access::Platform).await?;
        let rows = tx.fetch_all(&ALL, Vec::new()).await?;
        rows.iter().map(|row| Ok((row.text(0)?, row.f64(1)?))).collect()
    }
}

pub fn statements() -> Vec<&'static Sql> {
    vec![ADD.sql(), SET.sql(), &ALL]
}

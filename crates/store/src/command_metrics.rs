//! Metrics of commands, exported by the workers, because a command ends before a Prometheus scrapes it. Counts and
//! durations of reads by closed labels, of the whole store and of no one in particular.

use super::{StatsStore, StoreError};
use crate::statements::command_metrics as sql;
use anamnesis_core::clock::micros;
use anamnesis_sql::{Access, Arg};

impl StatsStore<'_> {
    /// Adds the counts of a process to the sums of its series; newer gauge values replace older ones.
    ///
    /// # Errors
    /// Of the database, such as for a role that only reads.
    pub async fn add_samples(self, sums: Vec<(String, f64)>, newest: Vec<(String, f64)>) -> Result<(), StoreError> {
        let now = micros(self.clock.now());
        let row = |(series, value): (String, f64)| -> Vec<Arg> {
            sql::add::Row { series: series.into(), value: value.into(), now: now.into() }.into()
        };
        let mut tx = self.db.begin(Access::Platform).await?;
        for (bulk, mut samples) in [(&sql::ADD, sums), (&sql::REPLACE, newest)] {
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
    pub async fn samples(self) -> Result<Vec<(String, f64)>, StoreError> {
        let mut tx = self.db.read(Access::Platform).await?;
        let rows = tx.fetch_all(&sql::ALL, Vec::new()).await?;
        rows.iter().map(|row| Ok((row.text(sql::all::SERIES)?, row.f64(sql::all::VALUE)?))).collect()
    }
}

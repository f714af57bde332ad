//! Counts of the store's contents for metrics: by kind and state, over all organisations, without reference to a
//! person.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::{StatsStore, StoreError};
use crate::audit_trail::runs;
use crate::statements::stats as sql;
use anamnesis_core::ids::OrgId;
use anamnesis_core::memory::{Kind, State};
use anamnesis_sql::Access;

/// Reconciliation findings about rows that were changed outside the program or lost their source.
pub const FORGED: [&str; 2] = ["forged_rows", "unfounded_memories"];

/// Reconciliation findings that it repairs: rows that differ from log and policy.
pub const REPAIRED: [&str; 3] = ["memories", "clinical_rows", "due_days"];

/// A count of the whole store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoreStats {
    pub memories: BTreeMap<(Kind, State), i64>,
    pub outbox_pending: i64,
    pub reconfirmations_due: i64,
    /// Quarantined messages of which a person has not decided, and since when the first of them waits.
    pub quarantined: (i64, Option<DateTime<Utc>>),
    /// Rows that were changed outside the program, as the last run of reconciliation of each organisation found them.
    pub forged_rows: i64,
    /// Rows that these runs made right.
    pub repaired_rows: i64,
    /// When the organisation that waits longest was last compared; `None` without organisations.
    pub compared_at: Option<DateTime<Utc>>,
}

impl StatsStore<'_> {
    /// Counts, one organisation after the other: reads every memory's row, so that it is for now and then.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn collect_stats(self) -> Result<StoreStats, StoreError> {
        let mut census = StoreStats { quarantined: self.waiting_in_quarantine().await?, ..StoreStats::default() };
        for org in self.every_organization().await? {
            let mut tx = self.db.read(Access::Organization(org)).await?;
            for row in tx.fetch_all(&sql::MEMORIES, vec![org.0.into()]).await? {
                let kind = Kind::from_code(&row.text(sql::memories::KIND)?).ok_or(StoreError::Shape)?;
                let state = State::from_code(&row.text(sql::memories::STATE)?).ok_or(StoreError::Shape)?;
                *census.memories.entry((kind, state)).or_default() += row.i64(sql::memories::MEMORIES)?;
            }
            for (sql, count) in
                [(&sql::WAITING, &mut census.outbox_pending), (&sql::ASKED, &mut census.reconfirmations_due)]
            {
                for row in tx.fetch_all(sql, vec![org.0.into()]).await? {
                    // The one column that both have.
                    *count += row.i64(sql::waiting::FOUND)?;
                }
            }
            let registered = match tx.fetch_optional(&sql::REGISTERED, vec![org.0.into()]).await? {
                Some(row) => row.time(sql::registered::CREATED_AT)?,
                None => DateTime::UNIX_EPOCH,
            };
            let latest = runs::latest(&mut tx, org, self.keys.platform(), self.clock.now()).await?;
            let statuses: Vec<serde_json::Value> =
                latest.statuses.iter().filter_map(|status| serde_json::from_str(status).ok()).collect();
            let count = |name: &str| {
                let numbers = statuses.iter().filter_map(|status| status.get(name)?.as_u64());
                i64::try_from(numbers.max().unwrap_or(0)).unwrap_or(i64::MAX)
            };
            let sum = |names: &[&str]| names.iter().map(|name| count(name)).fold(0, i64::saturating_add);
            census.forged_rows = census.forged_rows.saturating_add(latest.forged.saturating_add(sum(&FORGED)));
            census.repaired_rows = census.repaired_rows.saturating_add(sum(&REPAIRED));
            // Of one that was never compared since it was registered; a day to come is none.
            let compared = latest.compared_at.unwrap_or(registered);
            let compared = if compared > self.clock.now() { DateTime::UNIX_EPOCH } else { compared };
            census.compared_at = Some(census.compared_at.map_or(compared, |known| known.min(compared)));
        }
        Ok(census)
    }

    async fn waiting_in_quarantine(self) -> Result<(i64, Option<DateTime<Utc>>), StoreError> {
        let mut tx = self.db.read(Access::Platform).await?;
        let Some(row) = tx.fetch_optional(&sql::QUARANTINED, Vec::new()).await? else { return Ok((0, None)) };
        let waiting = row.i64(sql::quarantined::MESSAGES)?;
        Ok((waiting, if waiting > 0 { Some(row.time(sql::quarantined::WAITING_SINCE)?) } else { None }))
    }

    /// The organisations that are registered here.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn every_organization(self) -> Result<Vec<OrgId>, StoreError> {
        let mut tx = self.db.read(Access::Platform).await?;
        let rows = tx.fetch_all(&sql::ORGANIZATIONS, Vec::new()).await?;
        rows.iter().map(|row| Ok(OrgId(row.uuid(sql::organizations::ORG_ID)?))).collect()
    }
}

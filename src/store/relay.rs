//! The outbox as its relay sees it: events are claimed for a while, published, and marked. No transaction is open while
//! anybody waits for the broker; a relay that dies leaves claims that run out.

use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::engine::{Access, Arg, Sql};
use super::outbox::body_cell;
use super::{Store, StoreError};
use crate::domain::ids::{OrgId, PatientId};
use crate::domain::reason::Reason;
use crate::domain::scope::Scope;

// The rows are chosen once and locked before they are changed: a subquery in the update itself may be evaluated again
// for other rows.
static CLAIM: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "WITH due AS MATERIALIZED (SELECT id FROM outbox WHERE org_id = $1 AND published_at IS NULL \
         AND claimed_until <= $2 ORDER BY created_at, id LIMIT $4 {skip_locked}) \
         UPDATE outbox SET claimed_until = $3, attempts = attempts + 1, updated_at = $2 \
         WHERE org_id = $1 AND id IN (SELECT id FROM due) \
         RETURNING id, patient_id, event_type, body_sealed, created_at, attempts",
    )
});
static PUBLISHED: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new("UPDATE outbox SET published_at = $3, updated_at = $3 WHERE org_id = $1 AND id IN {uuids $2}")
});
static REST: LazyLock<Sql> =
    LazyLock::new(|| Sql::new("UPDATE outbox SET claimed_until = $3 WHERE org_id = $1 AND id IN {uuids $2}"));
static PENDING: LazyLock<Sql> =
    LazyLock::new(|| Sql::new("SELECT count(*) FROM outbox WHERE org_id = $1 AND published_at IS NULL"));
static IDS: LazyLock<Sql> = LazyLock::new(|| Sql::new("SELECT id FROM outbox WHERE org_id = $1"));
static UNNOTICED: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT id, org_id, reason, created_at FROM quarantine WHERE noticed_at IS NULL ORDER BY created_at, id LIMIT $1",
    )
});
static NOTICED: LazyLock<Sql> =
    LazyLock::new(|| Sql::new("UPDATE quarantine SET noticed_at = $2 WHERE id IN {uuids $1}"));

/// An event to publish.
#[derive(Debug, Clone, PartialEq)]
pub struct Pending {
    pub id: Uuid,
    pub patient: PatientId,
    pub event_type: String,
    /// JSON of ids and codes. `None` when the patient was erased in between: there is nobody to tell of any more.
    pub body: Option<Vec<u8>>,
    pub created_at: DateTime<Utc>,
    /// Claims so far, this one included.
    pub attempts: i64,
}

/// A message that was set aside, to be told of.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    pub id: Uuid,
    pub org: Option<OrgId>,
    pub reason: Reason,
    pub created_at: DateTime<Utc>,
}

impl Store {
    /// Claims up to `most` events of an organisation, oldest first, until `until`: nobody else gets them before.
    ///
    /// # Errors
    /// Of the database or the key store; nothing is claimed then, or the claim runs out.
    pub async fn claim_events(
        &self,
        org: OrgId,
        (now, until): (DateTime<Utc>, DateTime<Utc>),
        most: i64,
    ) -> Result<Vec<Pending>, StoreError> {
        let mut tx = self.db.begin(Access::Organization(org)).await?;
        let args = vec![org.0.into(), now.into(), until.into(), most.into()];
        let rows = tx.fetch_all(&CLAIM, args).await?;
        tx.commit().await?;
        let mut sealed = Vec::new();
        for row in &rows {
            let pending = Pending {
                id: row.uuid(0)?,
                patient: PatientId(row.uuid(1)?),
                event_type: row.text(2)?,
                body: None,
                created_at: row.time(4)?,
                attempts: row.i64(5)?,
            };
            sealed.push((pending, row.blob(3)?));
        }
        let mut scopes: Vec<Scope> = sealed.iter().filter_map(|(p, _)| Scope::new(org, p.patient).ok()).collect();
        scopes.sort();
        scopes.dedup();
        let keys = self.keys.find(&scopes).await?;
        let mut pending: Vec<Pending> = sealed
            .into_iter()
            .map(|(pending, sealed)| {
                let keys = Scope::new(org, pending.patient).ok().and_then(|scope| keys.get(&scope));
                let body = keys.and_then(|keys| keys.open(body_cell(pending.id), &sealed).ok());
                Pending { body, ..pending }
            })
            .collect();
        pending.sort_by_key(|event| (event.created_at, event.id));
        Ok(pending)
    }

    /// The broker took them.
    ///
    /// # Errors
    /// Of the database: they are published once more then, under the same ids.
    pub async fn mark_published(&self, org: OrgId, ids: Vec<Uuid>, now: DateTime<Utc>) -> Result<(), StoreError> {
        let mut tx = self.db.begin(Access::Organization(org)).await?;
        tx.execute(&PUBLISHED, vec![org.0.into(), Arg::Uuids(ids), now.into()]).await?;
        Ok(tx.commit().await?)
    }

    /// They were not taken: nobody tries before `until`.
    ///
    /// # Errors
    /// Of the database: the claim runs out by itself then.
    pub async fn rest_events(&self, org: OrgId, ids: Vec<Uuid>, until: DateTime<Utc>) -> Result<(), StoreError> {
        let mut tx = self.db.begin(Access::Organization(org)).await?;
        tx.execute(&REST, vec![org.0.into(), Arg::Uuids(ids), until.into()]).await?;
        Ok(tx.commit().await?)
    }

    /// Events of an organisation that wait.
    ///
    /// # Errors
    /// Of the database.
    pub async fn pending_events(&self, org: OrgId) -> Result<i64, StoreError> {
        let mut tx = self.db.read(Access::Organization(org)).await?;
        let row = tx.fetch_optional(&PENDING, vec![org.0.into()]).await?;
        Ok(row.map_or(Ok(0), |row| row.i64(0))?)
    }

    /// The ids of all events of an organisation, published or not: what a proof compares with what was heard.
    ///
    /// # Errors
    /// Of the database.
    pub async fn event_ids(&self, org: OrgId) -> Result<Vec<Uuid>, StoreError> {
        let mut tx = self.db.read(Access::Organization(org)).await?;
        let rows = tx.fetch_all(&IDS, vec![org.0.into()]).await?;
        rows.iter().map(|row| Ok(row.uuid(0)?)).collect()
    }

    /// What was set aside and not told of yet.
    ///
    /// # Errors
    /// Of the database.
    pub async fn unnoticed(&self, most: i64) -> Result<Vec<Notice>, StoreError> {
        let mut tx = self.db.read(Access::Platform).await?;
        let mut notices = Vec::new();
        for row in tx.fetch_all(&UNNOTICED, vec![most.into()]).await? {
            let code = row.text(2)?;
            // A code of a newer version is told of by that version.
            let Some(reason) = Reason::ALL.iter().copied().find(|reason| reason.code() == code) else { continue };
            let org = row.opt_uuid(1)?.map(OrgId);
            notices.push(Notice { id: row.uuid(0)?, org, reason, created_at: row.time(3)? });
        }
        Ok(notices)
    }

    /// They were told of.
    ///
    /// # Errors
    /// Of the database: they are told of once more then, under the same ids.
    pub async fn mark_noticed(&self, ids: Vec<Uuid>, now: DateTime<Utc>) -> Result<(), StoreError> {
        let mut tx = self.db.begin(Access::Platform).await?;
        tx.execute(&NOTICED, vec![Arg::Uuids(ids), now.into()]).await?;
        Ok(tx.commit().await?)
    }
}

pub(super) fn statements() -> Vec<&'static Sql> {
    vec![&CLAIM, &PUBLISHED, &REST, &PENDING, &IDS, &UNNOTICED, &NOTICED]
}

//! The outbox as its relay sees it: events are claimed for a while, published, and marked. No transaction is open while
//! anybody waits for the broker; a relay that dies leaves claims that run out.

use std::collections::BTreeMap;

use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::auditing::SEALED;
use super::erasing::COMPLETED;
use super::outbox::body_cell;
use super::{Store, StoreError};
use anamnesis_core::failpoints;
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_core::reason::Reason;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::Lookup;
use anamnesis_sql::{Access, Arg, Sql};

// The rows are chosen once and locked before they are changed: a subquery in the update itself may be evaluated again
// for other rows.
static CLAIM: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "WITH due AS MATERIALIZED (SELECT id FROM outbox WHERE org_id = $1 AND published_at IS NULL \
         AND claimed_until <= $2 ORDER BY created_at, id LIMIT $4 {skip_locked}) \
         UPDATE outbox SET claimed_until = $3, attempts = attempts + 1, updated_at = $2 \
         WHERE org_id = $1 AND id IN (SELECT id FROM due) \
         RETURNING id, patient_id, event_type, body_sealed, created_at, attempts, taken",
    )
});
static ENDED: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new("UPDATE outbox SET published_at = $3, ended = $4, updated_at = $3 WHERE org_id = $1 AND id IN {uuids $2}")
});
static REST: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new("UPDATE outbox SET claimed_until = $3, taken = $4 WHERE org_id = $1 AND id IN {uuids $2}")
});
static PENDING: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new("SELECT count(*), min(created_at) FROM outbox WHERE org_id = $1 AND published_at IS NULL")
});
static IDS: LazyLock<Sql> = LazyLock::new(|| Sql::new("SELECT id FROM outbox WHERE org_id = $1"));
static UNNOTICED: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT id, org_id, reason, created_at, notice_taken FROM quarantine \
         WHERE noticed_at IS NULL AND notice_after <= $1 ORDER BY created_at, id LIMIT $2",
    )
});
static NOTICED: LazyLock<Sql> =
    LazyLock::new(|| Sql::new("UPDATE quarantine SET noticed_at = $2 WHERE id IN {uuids $1}"));
static NOTICE_RESTS: LazyLock<Sql> =
    LazyLock::new(|| Sql::new("UPDATE quarantine SET notice_after = $2, notice_taken = $3 WHERE id IN {uuids $1}"));

/// How an event ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ended {
    /// Every destination has taken it.
    Delivered,
    /// A callback refused it for good (410).
    Refused,
    /// A person dropped it.
    Dropped,
    /// Its patient was erased: there is nothing to tell any more.
    Gone,
}

impl Ended {
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Refused => "refused",
            Self::Dropped => "dropped",
            Self::Gone => "gone",
        }
    }
}

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
    /// Names of the destinations that have taken it, with blanks between them; `NAME:refused` for one that refused it.
    pub taken: String,
}

/// A message that was set aside, to be told of.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    pub id: Uuid,
    pub org: Option<OrgId>,
    pub reason: Reason,
    pub created_at: DateTime<Utc>,
    /// As [`Pending::taken`].
    pub taken: String,
}

impl Store {
    /// Claims up to `most` events of an organisation, oldest first, until `until`: nobody else gets them before.
    ///
    /// # Errors
    /// Of the database or the key store; nothing is claimed then, or the claim runs out.
    pub async fn claim_events(
        &self,
        org: OrgId,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
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
                taken: row.text(6)?,
            };
            sealed.push((pending, row.blob(3)?));
        }
        let mut scopes: Vec<Scope> = sealed.iter().filter_map(|(p, _)| Scope::new(org, p.patient).ok()).collect();
        scopes.sort();
        scopes.dedup();
        let found = match self.keys.find(&scopes).await {
            Ok(found) => found,
            Err(error) => {
                // They are offered again as soon as there are keys, and not only when the claim runs out.
                let mut by_taken: BTreeMap<&str, Vec<Uuid>> = BTreeMap::new();
                for (event, _) in &sealed {
                    by_taken.entry(event.taken.as_str()).or_default().push(event.id);
                }
                for (taken, ids) in by_taken {
                    self.rest_events(org, ids, now, taken).await?;
                }
                return Err(error.into());
            }
        };
        let mut pending = Vec::with_capacity(sealed.len());
        for (event, sealed) in sealed {
            // Of an erased patient, whose key is gone, and of the audit trail, which is nobody's.
            let of_nobody = [COMPLETED, SEALED].contains(&event.event_type.as_str());
            let found = Scope::new(org, event.patient).map(|scope| found.of(scope));
            let body = match found.unwrap_or(Lookup::Unknown) {
                _ if of_nobody => self.keys.platform().open(event.id, &sealed).ok(),
                Lookup::Known(keys) => keys.open(body_cell(event.id), &sealed).ok(),
                Lookup::Unknown if !failpoints::is("absent_is_erased") => None,
                Lookup::Unknown | Lookup::Erased => {
                    pending.push(event);
                    continue;
                }
            };
            match body {
                Some(body) => pending.push(Pending { body: Some(body), ..event }),
                // It stays pending until its key is back: its claim runs out.
                None => tracing::error!(code = "keys_unavailable", event = %event.id, "the key of an event is missing"),
            }
        }
        pending.sort_by_key(|event| (event.created_at, event.id));
        Ok(pending)
    }

    /// Nobody waits for them any more.
    ///
    /// # Errors
    /// Of the database: they are published once more then, under the same ids.
    pub async fn end_events(
        &self,
        org: OrgId,
        ids: Vec<Uuid>,
        ended: Ended,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let mut tx = self.db.begin(Access::Organization(org)).await?;
        tx.execute(&ENDED, vec![org.0.into(), Arg::Uuids(ids), now.into(), ended.code().into()]).await?;
        Ok(tx.commit().await?)
    }

    /// They were taken by these destinations and not by all: nobody tries before `until`.
    ///
    /// # Errors
    /// Of the database: the claim runs out by itself then.
    pub async fn rest_events(
        &self,
        org: OrgId,
        ids: Vec<Uuid>,
        until: DateTime<Utc>,
        taken: &str,
    ) -> Result<(), StoreError> {
        let mut tx = self.db.begin(Access::Organization(org)).await?;
        tx.execute(&REST, vec![org.0.into(), Arg::Uuids(ids), until.into(), taken.into()]).await?;
        Ok(tx.commit().await?)
    }

    /// How many events of an organisation wait, and since when the oldest does.
    ///
    /// # Errors
    /// Of the database.
    pub async fn pending_events(&self, org: OrgId) -> Result<(i64, Option<DateTime<Utc>>), StoreError> {
        let mut tx = self.db.read(Access::Organization(org)).await?;
        match tx.fetch_optional(&PENDING, vec![org.0.into()]).await? {
            Some(row) => Ok((row.i64(0)?, row.opt_time(1)?)),
            None => Ok((0, None)),
        }
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

    /// What was set aside and not told of yet, nor rests.
    ///
    /// # Errors
    /// Of the database.
    pub async fn unnoticed(&self, now: DateTime<Utc>, most: i64) -> Result<Vec<Notice>, StoreError> {
        let mut tx = self.db.read(Access::Platform).await?;
        let mut notices = Vec::new();
        for row in tx.fetch_all(&UNNOTICED, vec![now.into(), most.into()]).await? {
            let code = row.text(2)?;
            // A code of a newer version is told of by that version.
            let Some(reason) = Reason::ALL.iter().copied().find(|reason| reason.code() == code) else { continue };
            let org = row.opt_uuid(1)?.map(OrgId);
            notices.push(Notice { id: row.uuid(0)?, org, reason, created_at: row.time(3)?, taken: row.text(4)? });
        }
        Ok(notices)
    }

    /// As [`Store::rest_events`], of notices.
    ///
    /// # Errors
    /// Of the database.
    pub async fn rest_notices(&self, ids: Vec<Uuid>, until: DateTime<Utc>, taken: &str) -> Result<(), StoreError> {
        let mut tx = self.db.begin(Access::Platform).await?;
        tx.execute(&NOTICE_RESTS, vec![Arg::Uuids(ids), until.into(), taken.into()]).await?;
        Ok(tx.commit().await?)
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

pub fn statements() -> Vec<&'static Sql> {
    vec![&CLAIM, &ENDED, &REST, &PENDING, &IDS, &UNNOTICED, &NOTICED, &NOTICE_RESTS]
}

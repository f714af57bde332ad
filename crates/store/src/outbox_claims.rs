//! The outbox as its relay uses it: events are claimed for a while, published, and marked. No transaction is open
//! during a wait for the broker. Claims of a relay that died expire.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::audit_trail::SEALED;
use super::erasure::COMPLETED;
use super::outbox::body_cell;
use super::{OutboxStore, StoreError};
use crate::statements::outbox_claims as sql;
use anamnesis_core::failpoints;
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_core::reason::Reason;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::KeyLookup;
use anamnesis_sql::{Access, Arg};

/// How an event ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeliveryEnd {
    /// Every destination has taken it.
    Delivered,
    /// A webhook rejected it permanently (410).
    Refused,
    /// A person dropped it.
    Dropped,
    /// Its patient was erased, so there is nothing to announce.
    Gone,
}

impl DeliveryEnd {
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
pub struct ClaimedEvent {
    pub id: Uuid,
    pub patient: PatientId,
    pub event_type: String,
    /// JSON of ids and codes. `None` when the patient was erased in between: there is no patient any more whom it is about.
    pub body: Option<Vec<u8>>,
    pub created_at: DateTime<Utc>,
    /// Claims so far, this one included.
    pub attempts: i64,
    /// Names of the destinations that have taken it, with blanks between them; `NAME:refused` for one that refused it.
    pub taken: String,
}

/// A quarantined message that is to be announced.
#[derive(Debug, Clone, PartialEq)]
pub struct QuarantineNotice {
    pub id: Uuid,
    pub org: Option<OrgId>,
    pub reason: Reason,
    pub created_at: DateTime<Utc>,
    /// As [`ClaimedEvent::taken`].
    pub taken: String,
}

impl OutboxStore<'_> {
    /// Claims up to `most` events of an organisation, oldest first, until `until`: no other relay gets them before.
    ///
    /// # Errors
    /// Of the database or the key store; nothing is claimed then, or the claim runs out.
    pub async fn claim_events(
        self,
        org: OrgId,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
        most: i64,
    ) -> Result<Vec<ClaimedEvent>, StoreError> {
        let mut tx = self.db.begin(Access::Organization(org)).await?;
        let args = vec![org.0.into(), now.into(), until.into(), most.into()];
        let rows = tx.fetch_all(&sql::CLAIM, args).await?;
        tx.commit().await?;
        let mut sealed = Vec::new();
        for row in &rows {
            let pending = ClaimedEvent {
                id: row.uuid(sql::claim::ID)?,
                patient: PatientId(row.uuid(sql::claim::PATIENT_ID)?),
                event_type: row.text(sql::claim::EVENT_TYPE)?,
                body: None,
                created_at: row.time(sql::claim::CREATED_AT)?,
                attempts: row.i64(sql::claim::ATTEMPTS)?,
                taken: row.text(sql::claim::TAKEN)?,
            };
            sealed.push((pending, row.blob(sql::claim::BODY_SEALED)?));
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
            // Events without a patient: an erased one, whose key is gone, and the audit trail.
            let of_nobody = [COMPLETED, SEALED].contains(&event.event_type.as_str());
            let found = Scope::new(org, event.patient).map(|scope| found.lookup(scope));
            let body = match found.unwrap_or(KeyLookup::Unknown) {
                _ if of_nobody => self.keys.platform().open(event.id, &sealed).ok(),
                KeyLookup::Known(keys) => keys.open(body_cell(event.id), &sealed).ok(),
                KeyLookup::Unknown if !failpoints::is("absent_is_erased") => None,
                KeyLookup::Unknown | KeyLookup::Erased => {
                    pending.push(event);
                    continue;
                }
            };
            match body {
                Some(body) => pending.push(ClaimedEvent { body: Some(body), ..event }),
                // It stays pending until its key is back: its claim runs out.
                None => tracing::error!(code = "keys_unavailable", event = %event.id, "the key of an event is missing"),
            }
        }
        pending.sort_by_key(|event| (event.created_at, event.id));
        Ok(pending)
    }

    /// They are not published again.
    ///
    /// # Errors
    /// Of the database: they are published once more then, under the same ids.
    pub async fn end_events(
        self,
        org: OrgId,
        ids: Vec<Uuid>,
        ended: DeliveryEnd,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let mut tx = self.db.begin(Access::Organization(org)).await?;
        tx.execute(&sql::END_EVENTS, vec![org.0.into(), Arg::Uuids(ids), now.into(), ended.code().into()]).await?;
        Ok(tx.commit().await?)
    }

    /// Events that only some destinations accepted. They are not tried again before `until`.
    ///
    /// # Errors
    /// Of the database: the claim then expires.
    pub async fn rest_events(
        self,
        org: OrgId,
        ids: Vec<Uuid>,
        until: DateTime<Utc>,
        taken: &str,
    ) -> Result<(), StoreError> {
        let mut tx = self.db.begin(Access::Organization(org)).await?;
        tx.execute(&sql::POSTPONE_EVENTS, vec![org.0.into(), Arg::Uuids(ids), until.into(), taken.into()]).await?;
        Ok(tx.commit().await?)
    }

    /// How many events of an organisation wait, and since when the oldest does.
    ///
    /// # Errors
    /// Of the database.
    pub async fn pending_events(self, org: OrgId) -> Result<(i64, Option<DateTime<Utc>>), StoreError> {
        let mut tx = self.db.read(Access::Organization(org)).await?;
        match tx.fetch_optional(&sql::COUNT_PENDING, vec![org.0.into()]).await? {
            Some(row) => Ok((row.i64(sql::count_pending::EVENTS)?, row.opt_time(sql::count_pending::OLDEST)?)),
            None => Ok((0, None)),
        }
    }

    /// The ids of all events of an organisation, published or not, for a comparison with the received ones.
    ///
    /// # Errors
    /// Of the database.
    pub async fn event_ids(self, org: OrgId) -> Result<Vec<Uuid>, StoreError> {
        let mut tx = self.db.read(Access::Organization(org)).await?;
        let rows = tx.fetch_all(&sql::EVENT_IDS, vec![org.0.into()]).await?;
        rows.iter().map(|row| Ok(row.uuid(sql::event_ids::ID)?)).collect()
    }

    /// Quarantined messages without an announcement, whose waiting time is over.
    ///
    /// # Errors
    /// Of the database.
    pub async fn unnoticed(self, now: DateTime<Utc>, most: i64) -> Result<Vec<QuarantineNotice>, StoreError> {
        let mut tx = self.db.read(Access::Platform).await?;
        let mut notices = Vec::new();
        for row in tx.fetch_all(&sql::UNNOTICED, vec![now.into(), most.into()]).await? {
            let code = row.text(sql::unnoticed::REASON)?;
            // A code of a newer version is announced by that version.
            let Some(reason) = Reason::ALL.iter().copied().find(|reason| reason.code() == code) else { continue };
            let org = row.opt_uuid(sql::unnoticed::ORG_ID)?.map(OrgId);
            notices.push(QuarantineNotice {
                id: row.uuid(sql::unnoticed::ID)?,
                org,
                reason,
                created_at: row.time(sql::unnoticed::CREATED_AT)?,
                taken: row.text(sql::unnoticed::NOTICE_TAKEN)?,
            });
        }
        Ok(notices)
    }

    /// As [`OutboxStore::rest_events`], of notices.
    ///
    /// # Errors
    /// Of the database.
    pub async fn rest_notices(self, ids: Vec<Uuid>, until: DateTime<Utc>, taken: &str) -> Result<(), StoreError> {
        let mut tx = self.db.begin(Access::Platform).await?;
        tx.execute(&sql::POSTPONE_NOTICES, vec![Arg::Uuids(ids), until.into(), taken.into()]).await?;
        Ok(tx.commit().await?)
    }

    /// They were announced.
    ///
    /// # Errors
    /// Of the database: they are announced once more then, under the same ids.
    pub async fn mark_noticed(self, ids: Vec<Uuid>, now: DateTime<Utc>) -> Result<(), StoreError> {
        let mut tx = self.db.begin(Access::Platform).await?;
        tx.execute(&sql::MARK_NOTICED, vec![Arg::Uuids(ids), now.into()]).await?;
        Ok(tx.commit().await?)
    }
}

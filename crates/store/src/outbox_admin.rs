//! The outbox for administrators: waiting and rejected events, and the two possible acts on them. Each act leaves an
//! audit entry.

use chrono::{DateTime, Utc};
use serde::Serialize;
use uuid::Uuid;

use super::audit_trail::{self, AuditedAction};
use super::outbox_claims::DeliveryEnd;
use super::{OutboxStore, StoreError};
use crate::statements::outbox_admin as sql;
use anamnesis_core::audit::Actor;
use anamnesis_core::clock::ordered_id;
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_sql::{Access, Arg, Row, Transaction};
/// An event of the outbox, without its body.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutboxEntry {
    pub id: Uuid,
    pub(crate) organization_id: OrgId,
    pub(crate) patient_id: PatientId,
    #[serde(rename = "type")]
    pub event_type: String,
    /// waiting, delivered, refused, dropped or gone.
    pub state: String,
    /// Claims by a relay so far.
    pub attempts: i64,
    /// The destinations that have taken it; `NAME:refused` for one that refused it.
    pub taken: Vec<String>,
    pub created_at: DateTime<Utc>,
    pub(crate) ended_at: Option<DateTime<Utc>>,
    /// Until when it waits for the next attempt.
    pub(crate) rests_until: Option<DateTime<Utc>>,
}

/// A filter of events.
#[derive(Debug, Clone, PartialEq)]
pub struct OutboxFilter<'a> {
    /// waiting, delivered, refused, dropped, gone or all.
    pub state: &'a str,
    /// A whole type, such as `anamnesis.risk.flagged.v1`; empty: any.
    pub event_type: &'a str,
    pub since: DateTime<Utc>,
    pub until: DateTime<Utc>,
    pub most: i64,
}

/// A row of `list` or `of_ids`.
fn listed(org: OrgId, row: &Row) -> Result<OutboxEntry, StoreError> {
    let (ended, ended_at) = (row.text(sql::list::ENDED)?, row.opt_time(sql::list::PUBLISHED_AT)?);
    let state = match (ended_at, ended.as_str()) {
        (None, _) => "waiting",
        (Some(_), "") => DeliveryEnd::Delivered.code(),
        (Some(_), ended) => ended,
    };
    Ok(OutboxEntry {
        id: row.uuid(sql::list::ID)?,
        organization_id: org,
        patient_id: PatientId(row.uuid(sql::list::PATIENT_ID)?),
        event_type: row.text(sql::list::EVENT_TYPE)?,
        state: state.to_owned(),
        attempts: row.i64(sql::list::ATTEMPTS)?,
        taken: row.text(sql::list::TAKEN)?.split_whitespace().map(str::to_owned).collect(),
        created_at: row.time(sql::list::CREATED_AT)?,
        ended_at,
        rests_until: row
            .opt_time(sql::list::CLAIMED_UNTIL)?
            .filter(|until| ended_at.is_none() && until.timestamp() > 0),
    })
}

impl OutboxStore<'_> {
    /// Events of an organisation, oldest first.
    ///
    /// # Errors
    /// Of the database.
    pub async fn events(self, org: OrgId, which: &OutboxFilter<'_>) -> Result<Vec<OutboxEntry>, StoreError> {
        let mut tx = self.db.read(Access::Organization(org)).await?;
        let args = vec![
            org.0.into(),
            which.state.into(),
            which.event_type.into(),
            which.since.into(),
            which.until.into(),
            which.most.into(),
        ];
        tx.fetch_all(&sql::LIST, args).await?.iter().map(|row| listed(org, row)).collect()
    }

    /// Those of an organisation among these ids.
    ///
    /// # Errors
    /// Of the database.
    pub async fn events_of(self, org: OrgId, ids: &[Uuid]) -> Result<Vec<OutboxEntry>, StoreError> {
        let mut tx = self.db.read(Access::Organization(org)).await?;
        let rows = tx.fetch_all(&sql::OF_IDS, vec![org.0.into(), Arg::Uuids(ids.to_vec())]).await?;
        rows.iter().map(|row| listed(org, row)).collect()
    }

    /// Offers an event again, to every destination but those of `taken` (names with blanks between them). False for one
    /// whose patient was erased.
    ///
    /// # Errors
    /// Of the database.
    pub async fn replay_event(self, event: &OutboxEntry, taken: &str, actor: &str) -> Result<bool, StoreError> {
        let (org, now) = (event.organization_id, self.clock.now());
        let mut tx = self.db.begin(Access::Organization(org)).await?;
        let done = tx.execute(&sql::REPLAY, vec![org.0.into(), event.id.into(), taken.into(), now.into()]).await? > 0;
        if done {
            self.audit_event(&mut tx, event, "event_replayed", actor).await?;
        }
        tx.commit().await?;
        Ok(done)
    }

    /// Gives an event up: it is offered to no one any more. False for one that does not wait.
    ///
    /// # Errors
    /// Of the database.
    pub async fn drop_event(self, event: &OutboxEntry, actor: &str) -> Result<bool, StoreError> {
        let org = event.organization_id;
        let mut tx = self.db.begin(Access::Organization(org)).await?;
        let done = tx.execute(&sql::GIVE_UP, vec![org.0.into(), event.id.into(), self.clock.now().into()]).await? > 0;
        if done {
            self.audit_event(&mut tx, event, "event_dropped", actor).await?;
        }
        tx.commit().await?;
        Ok(done)
    }

    async fn audit_event(
        self,
        tx: &mut Transaction,
        event: &OutboxEntry,
        action: &'static str,
        actor: &str,
    ) -> Result<(), StoreError> {
        let now = self.clock.now();
        let done = AuditedAction {
            org: event.organization_id,
            patient: Some(event.patient_id),
            action,
            subject: Some(event.id),
            outcome: "done",
        };
        let actor = Actor { id: actor.to_owned(), ..Actor::default() };
        let entry = done.entry(ordered_id(now, self.entropy.as_ref()), now, &actor);
        audit_trail::write(tx, self.keys.platform(), &[entry]).await
    }
}

//! Quarantined messages: stored as ciphertext for a term, listed without their content, opened for authorised people,
//! retried or dropped with a record of the actor.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::audit_trail::{AuditedAction, PLATFORM};
use super::encrypted_columns::sealed_for;
use super::{Keys, QuarantineStore, StoreError};
use crate::statements::admission;
use crate::statements::quarantine as sql;
use anamnesis_core::audit::Actor;
use anamnesis_core::clock::{micros, ordered_id};
use anamnesis_core::failpoints;
use anamnesis_core::ids::{OrgId, derive};
use anamnesis_core::projection::KeyHash;
use anamnesis_core::reason::Reason;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::{ColumnRef, PatientKeys, PlatformKey, first_half};
use anamnesis_sql::{Access, Arg, Row};

/// Bytes of a body that is bound as it is, one row a statement: a bulk statement may hold several copies of its rows.
const LARGE_BODY: usize = 64 << 10;

/// A quarantined message without its content.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct QuarantinedMessage {
    pub id: Uuid,
    pub organization_id: Option<Uuid>,
    pub reason: String,
    /// The faulty field, if it is known.
    pub field: Option<String>,
    /// open, retried or dropped.
    pub state: String,
    pub created_at: DateTime<Utc>,
    pub(crate) updated_at: DateTime<Utc>,
    /// The patient whose key seals the content; `None`: the platform's key does.
    pub(crate) patient_id: Option<Uuid>,
    /// The same with the organisation of that key: a message that breaks the contract may name no organisation.
    #[serde(skip)]
    pub sealed_for: Option<Scope>,
    /// When the content went because its term ended.
    pub expired_at: Option<DateTime<Utc>>,
}

/// Its content, as it came.
#[derive(Clone, PartialEq)]
pub struct QuarantinedContent {
    pub body: Vec<u8>,
    /// CloudEvents attributes that travelled with it, as JSON.
    pub attributes: Option<Vec<u8>>,
}

/// How much of a content was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentView {
    /// Only its size.
    Nothing,
    Redacted,
    /// As it came.
    Raw,
}

/// An act of a person on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuarantineAction {
    Shown(ContentView),
    Retried,
    Dropped,
}

impl QuarantineAction {
    fn code(self) -> &'static str {
        match self {
            Self::Shown(_) => "shown",
            Self::Retried => "retried",
            Self::Dropped => "dropped",
        }
    }

    /// In the audit trail.
    fn entry(self) -> &'static str {
        match self {
            Self::Shown(ContentView::Nothing) => "quarantined_shown",
            Self::Shown(ContentView::Redacted) => "quarantined_shown_redacted",
            Self::Shown(ContentView::Raw) => "quarantined_shown_raw",
            Self::Retried => "quarantined_retried",
            Self::Dropped => "quarantined_dropped",
        }
    }

    fn content(self) -> Option<&'static str> {
        match self {
            Self::Shown(ContentView::Nothing) => Some("none"),
            Self::Shown(ContentView::Redacted) => Some("redacted"),
            Self::Shown(ContentView::Raw) => Some("raw"),
            Self::Retried | Self::Dropped => None,
        }
    }
}

/// An entry of the trace.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct QuarantineTrace {
    pub(crate) at: DateTime<Utc>,
    pub(crate) actor: String,
    pub(crate) action: String,
    /// The shown form of the content: none, redacted or raw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<String>,
}

/// A message that cannot be stored.
#[derive(Debug, Clone)]
pub struct RejectedMessage {
    /// Known for readable messages only.
    pub org: Option<OrgId>,
    /// The patient of the message, if it can be read. If that patient has a key, it seals the body.
    pub patient: Option<Scope>,
    pub message: KeyHash,
    pub reason: Reason,
    pub field: Option<String>,
    /// `None` for patients of whom nothing may be stored.
    pub body: Option<Vec<u8>>,
    /// CloudEvents attributes that travelled with the body, as JSON.
    pub attributes: Option<Vec<u8>>,
}

impl RejectedMessage {
    /// Only ids and codes, for a patient of whom nothing may be stored.
    #[must_use]
    pub fn without_content(self) -> Self {
        Self { body: None, attributes: None, ..self }
    }
}

/// The keyed hash of the columns that decide how long a quarantined message is stored, and to whom it belongs.
pub(crate) fn mac(key: &PlatformKey, id: Uuid, org: Option<Uuid>, reason: &str, created_at: i64) -> [u8; 16] {
    let org = org.unwrap_or_default();
    let parts: [&[u8]; 4] = [id.as_bytes(), org.as_bytes(), reason.as_bytes(), &created_at.to_be_bytes()];
    first_half(key.hash("quarantine", &parts))
}

/// Of a row of [`sql::LIST`] or [`sql::SHOW`].
fn message(row: &Row) -> Result<QuarantinedMessage, StoreError> {
    Ok(QuarantinedMessage {
        id: row.uuid(sql::list::ID)?,
        organization_id: row.opt_uuid(sql::list::ORG_ID)?,
        reason: row.text(sql::list::REASON)?,
        field: row.opt_text(sql::list::FIELD)?,
        state: row.text(sql::list::STATE)?,
        created_at: row.time(sql::list::CREATED_AT)?,
        updated_at: row.time(sql::list::UPDATED_AT)?,
        patient_id: row.opt_uuid(sql::list::KEY_PATIENT_ID)?,
        sealed_for: key_of(row)?,
        expired_at: row.opt_time(sql::list::EXPIRED_AT)?,
    })
}

/// The patient whose key seals the content, of the same row.
fn key_of(row: &Row) -> Result<Option<Scope>, StoreError> {
    sealed_for(row.opt_uuid(sql::list::KEY_ORG_ID)?, row.opt_uuid(sql::list::KEY_PATIENT_ID)?)
}

impl QuarantineStore<'_> {
    /// A quarantined message without its content.
    ///
    /// # Errors
    /// Of the database.
    pub async fn message(self, id: Uuid) -> Result<Option<QuarantinedMessage>, StoreError> {
        let mut tx = self.db.read(Access::Platform).await?;
        tx.fetch_optional(&sql::SHOW, vec![id.into()]).await?.as_ref().map(message).transpose()
    }

    /// Quarantined messages, oldest first. `state` and `reason` filter them; empty strings do not.
    ///
    /// # Errors
    /// Of the database.
    pub async fn messages(self, state: &str, reason: &str, most: i64) -> Result<Vec<QuarantinedMessage>, StoreError> {
        let mut tx = self.db.read(Access::Platform).await?;
        let rows = tx.fetch_all(&sql::LIST, vec![state.into(), reason.into(), most.into()]).await?;
        rows.iter().map(message).collect()
    }

    /// A quarantined message with its content and the acts on it. The content is `None` once dropped, or if its patient
    /// was erased. The read is audited first, with its actor, because the content may be a patient's.
    ///
    /// # Errors
    /// Of the database, or when the ciphertext does not open.
    pub async fn open_message(
        self,
        id: Uuid,
        actor: &str,
        deed: QuarantineAction,
    ) -> Result<Option<(QuarantinedMessage, Option<QuarantinedContent>, Vec<QuarantineTrace>)>, StoreError> {
        let mut tx = self.db.begin(Access::Platform).await?;
        let Some(row) = tx.fetch_optional(&sql::SHOW, vec![id.into()]).await? else { return Ok(None) };
        self.note(&mut tx, id, actor, deed).await?;
        let acts = tx.fetch_all(&sql::ACTS_OF_MESSAGE, vec![id.into()]).await?;
        tx.commit().await?;
        // In the trail of whose message it is, before anything is shown.
        self.audit_message(&row, id, actor, deed).await?;
        let content = match row.opt_blob(sql::show::BODY_SEALED)? {
            None => None,
            Some(body) => {
                let sealed = SealedBody { id, key: key_of(&row)?, body };
                let keys = match sealed.key {
                    Some(scope) => self.keys.known(&[scope]).await?,
                    None => Keys::default(),
                };
                self.open_sealed(&sealed, row.opt_blob(sql::show::ATTRIBUTES_SEALED)?.as_deref(), &keys)?
            }
        };
        let trace = acts.iter().map(|row| {
            Ok(QuarantineTrace {
                at: row.time(sql::acts_of_message::AT)?,
                actor: row.text(sql::acts_of_message::ACTOR)?,
                action: row.text(sql::acts_of_message::ACTION)?,
                content: row.opt_text(sql::acts_of_message::CONTENT)?,
            })
        });
        Ok(Some((message(&row)?, content, trace.collect::<Result<_, StoreError>>()?)))
    }

    /// Marks it as offered again.
    ///
    /// # Errors
    /// Of the database.
    pub async fn mark_retried(self, id: Uuid) -> Result<bool, StoreError> {
        let mut tx = self.db.begin(Access::Platform).await?;
        let turned = tx.execute(&sql::SET_STATE, vec![id.into(), "retried".into(), self.clock.now().into()]).await?;
        tx.commit().await?;
        Ok(turned > 0)
    }

    /// Destroys the bodies that older versions stored of messages without consent; ids and codes stay.
    ///
    /// # Errors
    /// Of the database.
    pub async fn drop_without_consent(self) -> Result<u64, StoreError> {
        let mut tx = self.db.begin(Access::Platform).await?;
        let dropped = tx.execute(&sql::DROP_CONTENTS_WITHOUT_CONSENT, vec![self.clock.now().into()]).await?;
        tx.commit().await?;
        Ok(dropped)
    }

    /// Drops it: its content is destroyed, the record that it existed stays. `false` if it is gone already.
    ///
    /// # Errors
    /// Of the database.
    pub async fn drop_message(self, id: Uuid, actor: &str) -> Result<bool, StoreError> {
        let mut tx = self.db.begin(Access::Platform).await?;
        let dropped = tx.execute(&sql::DROP_CONTENT, vec![id.into(), self.clock.now().into()]).await?;
        if dropped == 0 {
            return Ok(false);
        }
        let row = tx.fetch_optional(&sql::SHOW, vec![id.into()]).await?.ok_or(StoreError::Shape)?;
        self.note(&mut tx, id, actor, QuarantineAction::Dropped).await?;
        tx.commit().await?;
        self.audit_message(&row, id, actor, QuarantineAction::Dropped).await?;
        Ok(true)
    }

    /// In the trail of the patient or the organisation of a message, else of the platform. `row` is one of [`sql::SHOW`].
    async fn audit_message(self, row: &Row, id: Uuid, actor: &str, deed: QuarantineAction) -> Result<(), StoreError> {
        let key = key_of(row)?;
        let org = message(row)?.organization_id.map_or(PLATFORM, OrgId);
        let patient = key.filter(|key| key.org() == org).map(|key| key.patient());
        let done = AuditedAction { org, patient, action: deed.entry(), subject: Some(id), outcome: "done" };
        self.audit_trail().audit(&Actor { id: actor.to_owned(), ..Actor::default() }, done).await
    }

    /// A content under the key that seals it; `None` where that key is destroyed.
    pub(super) fn open_sealed(
        self,
        sealed: &SealedBody,
        attributes: Option<&[u8]>,
        keys: &Keys,
    ) -> Result<Option<QuarantinedContent>, StoreError> {
        let id = sealed.id;
        let open = |keys: &PatientKeys, cell, sealed: &[u8]| keys.open(cell, sealed);
        let (body, attributes) = match sealed.key {
            Some(scope) => {
                let Some(keys) = keys.get(&scope) else { return Ok(None) };
                let attributes = attributes.map(|json| open(keys, attributes_cell(id), json)).transpose()?;
                (open(keys, body_cell(id), &sealed.body)?, attributes)
            }
            None => {
                let platform = self.keys.platform();
                let attributes = attributes.map(|json| platform.open(attributes_row(id), json)).transpose()?;
                (platform.open(id, &sealed.body)?, attributes)
            }
        };
        Ok(Some(QuarantinedContent { body, attributes }))
    }

    /// Stores rejected messages as ciphertext. The key is that of the message's patient, so that an erasure destroys it
    /// too, or the platform's if that patient has none. No key is created for it: a broken message must not create a
    /// patient. The same message with the same reason is stored once.
    ///
    /// # Errors
    /// As [`IntakeStore::begin_attempts`].
    pub async fn quarantine(self, rejected: &[RejectedMessage]) -> Result<(), StoreError> {
        if rejected.is_empty() {
            return Ok(());
        }
        let kept = |one: &&RejectedMessage| one.body.is_some() && !failpoints::is("quarantine_under_platform");
        let scopes: BTreeSet<Scope> = rejected.iter().filter(kept).filter_map(|one| one.patient).collect();
        let keys = match scopes.is_empty() {
            true => Keys::default(),
            false => self.keys.find(&scopes.into_iter().collect::<Vec<_>>()).await?.known,
        };
        let now = self.clock.now();
        let row = |one: &RejectedMessage| self.quarantined(one, &keys, now);
        let is_large = |r: &&RejectedMessage| r.body.as_ref().is_some_and(|body| body.len() > LARGE_BODY);
        let (large, small): (Vec<&RejectedMessage>, Vec<&RejectedMessage>) = rejected.iter().partition(is_large);
        let mut tx = self.key_binding().begin_with_keys().await?;
        tx.bulk(&sql::KEEP, small.into_iter().map(row).collect()).await?;
        for one in large {
            tx.execute(&sql::KEEP_ONE, row(one)).await?;
        }
        tx.execute(&admission::DONE, vec![Arg::Blobs(rejected.iter().map(|r| r.message.to_vec()).collect())]).await?;
        Ok(tx.commit().await?)
    }

    /// The row of one of them: [`sql::KEEP`] and [`sql::KEEP_ONE`] write the same columns.
    fn quarantined(self, one: &RejectedMessage, keys: &Keys, now: DateTime<Utc>) -> Vec<Arg> {
        let id = derive("quarantine", &[&one.message, one.reason.code().as_bytes()]);
        let patient = one.patient.and_then(|scope| keys.get(&scope)).filter(|_| one.body.is_some());
        let seal = |plain: &Vec<u8>, cell: ColumnRef, row: Uuid| match patient {
            Some(keys) => keys.seal(cell, plain, self.entropy.as_ref()),
            None => self.keys.platform().seal(row, plain, self.entropy.as_ref()),
        };
        let body = one.body.as_ref().map(|body| seal(body, body_cell(id), id));
        let attributes = one.attributes.as_ref().map(|json| seal(json, attributes_cell(id), attributes_row(id)));
        let at = Arg::I64(micros(now));
        let org = one.org.map(|org| org.0);
        sql::keep::Row {
            id: id.into(),
            org_id: org.into(),
            key_org_id: patient.map(|keys| keys.scope().org().0).into(),
            key_patient_id: patient.map(|keys| keys.scope().patient().0).into(),
            message_hash: one.message.into(),
            reason: one.reason.code().into(),
            field: one.field.clone().into(),
            body_sealed: body.into(),
            attributes_sealed: attributes.into(),
            created_at: at.clone(),
            updated_at: at,
            mac: mac(self.keys.platform(), id, org, one.reason.code(), micros(now)).to_vec().into(),
        }
        .into()
    }

    async fn note(
        self,
        tx: &mut anamnesis_sql::Transaction,
        id: Uuid,
        actor: &str,
        deed: QuarantineAction,
    ) -> Result<(), StoreError> {
        let now = self.clock.now();
        let own = ordered_id(now, self.entropy.as_ref());
        tx.execute(
            &sql::INSERT_ACT,
            vec![own.into(), id.into(), now.into(), actor.into(), deed.code().into(), deed.content().into()],
        )
        .await?;
        Ok(())
    }
}

/// A stored body, and the key that seals it.
pub(super) struct SealedBody {
    pub(super) id: Uuid,
    pub(super) key: Option<Scope>,
    pub(super) body: Vec<u8>,
}

/// The row id for which the attributes of a quarantined message are sealed; it differs from that of the body.
fn attributes_row(id: Uuid) -> Uuid {
    derive("quarantine.attributes", &[id.as_bytes()])
}

/// The cell of a body under a patient's key.
fn body_cell(id: Uuid) -> ColumnRef {
    ColumnRef { table: "quarantine", row: id, column: "body" }
}

/// The cell of attributes under a patient's key.
fn attributes_cell(id: Uuid) -> ColumnRef {
    ColumnRef { table: "quarantine", row: id, column: "attributes" }
}

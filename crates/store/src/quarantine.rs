//! What was set aside: kept as ciphertext for a term, listed without its content, opened for those who may see it, retried or
//! dropped with a trace of who did it.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::admission::DONE;
use super::auditing::{Done, PLATFORM};
use super::seal::sealed_for;
use super::{Keys, Store, StoreError};
use anamnesis_core::audit::Actor;
use anamnesis_core::clock::{micros, ordered_id};
use anamnesis_core::failpoints;
use anamnesis_core::fold::KeyHash;
use anamnesis_core::ids::{OrgId, derive};
use anamnesis_core::reason::Reason;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::{Cell, PatientKeys, PlatformKey, first_half};
use anamnesis_sql::{Access, Arg, Bulk, Column, ColumnType, Row, Sql};

const QUARANTINE_COLUMNS: [Column; 12] = [
    ("id", ColumnType::Uuid),
    ("org_id", ColumnType::Uuid),
    ("key_org_id", ColumnType::Uuid),
    ("key_patient_id", ColumnType::Uuid),
    ("message_hash", ColumnType::Bytes),
    ("reason", ColumnType::Text),
    ("field", ColumnType::Text),
    ("body_sealed", ColumnType::Bytes),
    ("attributes_sealed", ColumnType::Bytes),
    ("created_at", ColumnType::Int),
    ("updated_at", ColumnType::Int),
    ("mac", ColumnType::Bytes),
];
/// One that was tried again and came back is open again, as it may be kept today; so is one whose body is gone because its
/// term ended, which begins anew. A redelivery of any other changes nothing.
const REOPEN: &str = "ON CONFLICT (id) DO UPDATE SET state = 'open', noticed_at = NULL, updated_at = excluded.updated_at, \
     key_org_id = excluded.key_org_id, key_patient_id = excluded.key_patient_id, body_sealed = excluded.body_sealed, \
     attributes_sealed = excluded.attributes_sealed, expired_at = NULL, \
     created_at = CASE WHEN quarantine.expired_at IS NULL THEN quarantine.created_at ELSE excluded.created_at END, \
     mac = CASE WHEN quarantine.expired_at IS NULL THEN quarantine.mac ELSE excluded.mac END \
     WHERE quarantine.state = 'retried' OR quarantine.expired_at IS NOT NULL";
static QUARANTINE: LazyLock<Bulk> = LazyLock::new(|| Bulk::new("quarantine", &QUARANTINE_COLUMNS, REOPEN));
static QUARANTINE_ONE: LazyLock<Sql> = LazyLock::new(|| Bulk::single("quarantine", &QUARANTINE_COLUMNS, REOPEN));
/// Bytes of a body that is bound as it is, one row a statement: a bulk statement may hold several copies of its rows.
const LARGE_BODY: usize = 64 << 10;

static LIST: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT id, org_id, reason, field, state, created_at, updated_at, key_patient_id, expired_at, key_org_id FROM quarantine \
         WHERE ($1 = '' OR state = $1) AND ($2 = '' OR reason = $2) ORDER BY created_at, id LIMIT $3",
    )
});
static SHOW: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT id, org_id, reason, field, state, created_at, updated_at, key_patient_id, expired_at, key_org_id, \
         body_sealed, attributes_sealed FROM quarantine WHERE id = $1",
    )
});
static TURN: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new("UPDATE quarantine SET state = $2, updated_at = $3 WHERE id = $1 AND state IN ('open', 'retried')")
});
static FORGET: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "UPDATE quarantine SET state = 'dropped', body_sealed = NULL, attributes_sealed = NULL, updated_at = $2 \
         WHERE id = $1 AND state IN ('open', 'retried')",
    )
});
static UNKEEP: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "UPDATE quarantine SET body_sealed = NULL, attributes_sealed = NULL, updated_at = $1 \
         WHERE reason = 'no_consent' AND body_sealed IS NOT NULL",
    )
});
static LOG: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "INSERT INTO quarantine_act (id, quarantine_id, at, actor, action, content, created_at, updated_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $3, $3)",
    )
});
static ACTS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new("SELECT at, actor, action, content FROM quarantine_act WHERE quarantine_id = $1 ORDER BY at, id")
});

/// A message that was set aside, without its content.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Aside {
    pub id: Uuid,
    pub organization_id: Option<Uuid>,
    pub reason: String,
    /// Which field was wrong, where that is known.
    pub field: Option<String>,
    /// open, retried or dropped.
    pub state: String,
    pub created_at: DateTime<Utc>,
    pub(crate) updated_at: DateTime<Utc>,
    /// The patient whose key seals the content; `None`: the platform's key does.
    pub patient_id: Option<Uuid>,
    /// The same with the organisation of that key: a message that breaks the contract may name no organisation.
    #[serde(skip)]
    pub sealed_for: Option<Scope>,
    /// When the content went because its term ended.
    pub expired_at: Option<DateTime<Utc>>,
}

/// Its content, as it came.
#[derive(Clone, PartialEq)]
pub struct Content {
    pub body: Vec<u8>,
    /// CloudEvents attributes that travelled beside it, as JSON.
    pub attributes: Option<Vec<u8>>,
}

/// How much of a content was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// Its size alone.
    Nothing,
    Redacted,
    /// As it came.
    Raw,
}

/// What somebody did to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    Shown(View),
    Retried,
    Dropped,
}

impl Deed {
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
            Self::Shown(View::Nothing) => "quarantined_shown",
            Self::Shown(View::Redacted) => "quarantined_shown_redacted",
            Self::Shown(View::Raw) => "quarantined_shown_raw",
            Self::Retried => "quarantined_retried",
            Self::Dropped => "quarantined_dropped",
        }
    }

    fn content(self) -> Option<&'static str> {
        match self {
            Self::Shown(View::Nothing) => Some("none"),
            Self::Shown(View::Redacted) => Some("redacted"),
            Self::Shown(View::Raw) => Some("raw"),
            Self::Retried | Self::Dropped => None,
        }
    }
}

/// An entry of the trace.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Trace {
    pub(crate) at: DateTime<Utc>,
    pub(crate) actor: String,
    pub(crate) action: String,
    /// What of the content was shown: none, redacted or raw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<String>,
}

/// A message that cannot be stored.
#[derive(Debug, Clone)]
pub struct Rejected {
    /// Known for readable messages only.
    pub org: Option<OrgId>,
    /// The one patient of whom it speaks, as far as that can be read: where that patient has a key, it seals the body.
    pub patient: Option<Scope>,
    pub message: KeyHash,
    pub reason: Reason,
    pub field: Option<String>,
    /// `None` for patients of whom nothing may be kept.
    pub body: Option<Vec<u8>>,
    /// CloudEvents attributes that travelled with the body, as JSON.
    pub attributes: Option<Vec<u8>>,
}

impl Rejected {
    /// Ids and codes alone: of a patient of whom nothing may be kept.
    #[must_use]
    pub fn without_content(self) -> Self {
        Self { body: None, attributes: None, ..self }
    }
}

/// The keyed hash of what decides how long a message that was set aside is kept, and whose it is.
pub(crate) fn mac(key: &PlatformKey, id: Uuid, org: Option<Uuid>, reason: &str, created_at: i64) -> [u8; 16] {
    let org = org.unwrap_or_default();
    let parts: [&[u8]; 4] = [id.as_bytes(), org.as_bytes(), reason.as_bytes(), &created_at.to_be_bytes()];
    first_half(key.hash("quarantine", &parts))
}

fn aside(row: &Row) -> Result<Aside, StoreError> {
    Ok(Aside {
        id: row.uuid(0)?,
        organization_id: row.opt_uuid(1)?,
        reason: row.text(2)?,
        field: row.opt_text(3)?,
        state: row.text(4)?,
        created_at: row.time(5)?,
        updated_at: row.time(6)?,
        patient_id: row.opt_uuid(7)?,
        sealed_for: sealed_for(row.opt_uuid(9)?, row.opt_uuid(7)?)?,
        expired_at: row.opt_time(8)?,
    })
}

impl Store {
    /// One that was set aside, without its content.
    ///
    /// # Errors
    /// Of the database.
    pub async fn aside(&self, id: Uuid) -> Result<Option<Aside>, StoreError> {
        let mut tx = self.db.read(Access::Platform).await?;
        tx.fetch_optional(&SHOW, vec![id.into()]).await?.as_ref().map(aside).transpose()
    }

    /// What was set aside, oldest first; `state` and `reason` narrow it, empty they do not.
    ///
    /// # Errors
    /// Of the database.
    pub async fn set_aside(&self, state: &str, reason: &str, most: i64) -> Result<Vec<Aside>, StoreError> {
        let mut tx = self.db.read(Access::Platform).await?;
        let rows = tx.fetch_all(&LIST, vec![state.into(), reason.into(), most.into()]).await?;
        rows.iter().map(aside).collect()
    }

    /// One of them with its content (`None` once dropped, and where its patient was erased), and what was done to it. That it was looked at is written
    /// down first, by whom: the content may be a patient's.
    ///
    /// # Errors
    /// Of the database, or when the ciphertext does not open.
    pub async fn open_aside(
        &self,
        id: Uuid,
        actor: &str,
        deed: Deed,
    ) -> Result<Option<(Aside, Option<Content>, Vec<Trace>)>, StoreError> {
        let mut tx = self.db.begin(Access::Platform).await?;
        let Some(row) = tx.fetch_optional(&SHOW, vec![id.into()]).await? else { return Ok(None) };
        self.note(&mut tx, id, actor, deed).await?;
        let acts = tx.fetch_all(&ACTS, vec![id.into()]).await?;
        tx.commit().await?;
        // In the trail of whose message it is, before anything is shown.
        self.audit_aside(&row, id, actor, deed).await?;
        let content = match row.opt_blob(10)? {
            None => None,
            Some(body) => {
                let sealed = Sealed { id, key: sealed_for(row.opt_uuid(9)?, row.opt_uuid(7)?)?, body };
                let keys = match sealed.key {
                    Some(scope) => self.keys.known(&[scope]).await?,
                    None => Keys::default(),
                };
                self.open_sealed(&sealed, row.opt_blob(11)?.as_deref(), &keys)?
            }
        };
        let trace = acts.iter().map(|row| {
            Ok(Trace { at: row.time(0)?, actor: row.text(1)?, action: row.text(2)?, content: row.opt_text(3)? })
        });
        Ok(Some((aside(&row)?, content, trace.collect::<Result<_, StoreError>>()?)))
    }

    /// Marks it as offered again.
    ///
    /// # Errors
    /// Of the database.
    pub async fn mark_retried(&self, id: Uuid) -> Result<bool, StoreError> {
        let mut tx = self.db.begin(Access::Platform).await?;
        let turned = tx.execute(&TURN, vec![id.into(), "retried".into(), self.clock.now().into()]).await?;
        tx.commit().await?;
        Ok(turned > 0)
    }

    /// Destroys what older versions kept of messages that came without consent: ids and codes stay.
    ///
    /// # Errors
    /// Of the database.
    pub async fn drop_without_consent(&self) -> Result<u64, StoreError> {
        let mut tx = self.db.begin(Access::Platform).await?;
        let dropped = tx.execute(&UNKEEP, vec![self.clock.now().into()]).await?;
        tx.commit().await?;
        Ok(dropped)
    }

    /// Drops it: its content is gone for good, that it was there is kept. `false` when it is not there any more.
    ///
    /// # Errors
    /// Of the database.
    pub async fn drop_aside(&self, id: Uuid, actor: &str) -> Result<bool, StoreError> {
        let mut tx = self.db.begin(Access::Platform).await?;
        let dropped = tx.execute(&FORGET, vec![id.into(), self.clock.now().into()]).await?;
        if dropped == 0 {
            return Ok(false);
        }
        let row = tx.fetch_optional(&SHOW, vec![id.into()]).await?.ok_or(StoreError::Shape)?;
        self.note(&mut tx, id, actor, Deed::Dropped).await?;
        tx.commit().await?;
        self.audit_aside(&row, id, actor, Deed::Dropped).await?;
        Ok(true)
    }

    /// In the trail of the patient or the organisation of a message, else of the platform. `row` is one of [`SHOW`].
    async fn audit_aside(&self, row: &Row, id: Uuid, actor: &str, deed: Deed) -> Result<(), StoreError> {
        let key = sealed_for(row.opt_uuid(9)?, row.opt_uuid(7)?)?;
        let org = aside(row)?.organization_id.map_or(PLATFORM, OrgId);
        let patient = key.filter(|key| key.org() == org).map(|key| key.patient());
        let done = Done { org, patient, action: deed.entry(), subject: Some(id), outcome: "done" };
        self.audit(&Actor { id: actor.to_owned(), ..Actor::default() }, done).await
    }

    /// A content under the key that seals it; `None` where that key is destroyed.
    pub(super) fn open_sealed(
        &self,
        sealed: &Sealed,
        attributes: Option<&[u8]>,
        keys: &Keys,
    ) -> Result<Option<Content>, StoreError> {
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
        Ok(Some(Content { body, attributes }))
    }

    /// Keeps messages that cannot be stored, as ciphertext: under the key of the patient of whom they speak, so that it goes
    /// with an erasure, or under the platform's where that patient has none. No key is made for it: a broken message must not
    /// make a patient known of whom nothing is stored. The same message with the same reason is kept once.
    ///
    /// # Errors
    /// As [`Store::begin_attempts`].
    pub async fn quarantine(&self, rejected: &[Rejected]) -> Result<(), StoreError> {
        if rejected.is_empty() {
            return Ok(());
        }
        let kept = |one: &&Rejected| one.body.is_some() && !failpoints::is("aside_under_platform");
        let scopes: BTreeSet<Scope> = rejected.iter().filter(kept).filter_map(|one| one.patient).collect();
        let keys = match scopes.is_empty() {
            true => Keys::default(),
            false => self.keys.find(&scopes.into_iter().collect::<Vec<_>>()).await?.known,
        };
        let now = self.clock.now();
        let row = |one: &Rejected| self.quarantined(one, &keys, now);
        let is_large = |r: &&Rejected| r.body.as_ref().is_some_and(|body| body.len() > LARGE_BODY);
        let (large, small): (Vec<&Rejected>, Vec<&Rejected>) = rejected.iter().partition(is_large);
        let mut tx = self.begin_with_keys().await?;
        tx.bulk(&QUARANTINE, small.into_iter().map(row).collect()).await?;
        for one in large {
            tx.execute(&QUARANTINE_ONE, row(one)).await?;
        }
        tx.execute(&DONE, vec![Arg::Blobs(rejected.iter().map(|r| r.message.to_vec()).collect())]).await?;
        Ok(tx.commit().await?)
    }

    /// The row of one of them.
    fn quarantined(&self, one: &Rejected, keys: &Keys, now: DateTime<Utc>) -> Vec<Arg> {
        let id = derive("quarantine", &[&one.message, one.reason.code().as_bytes()]);
        let patient = one.patient.and_then(|scope| keys.get(&scope)).filter(|_| one.body.is_some());
        let seal = |plain: &Vec<u8>, cell: Cell, row: Uuid| match patient {
            Some(keys) => keys.seal(cell, plain, self.entropy.as_ref()),
            None => self.keys.platform().seal(row, plain, self.entropy.as_ref()),
        };
        let body = one.body.as_ref().map(|body| seal(body, body_cell(id), id));
        let attributes = one.attributes.as_ref().map(|json| seal(json, attributes_cell(id), attributes_row(id)));
        let at = Arg::I64(micros(now));
        vec![
            id.into(),
            one.org.map(|org| org.0).into(),
            patient.map(|keys| keys.scope().org().0).into(),
            patient.map(|keys| keys.scope().patient().0).into(),
            one.message.into(),
            one.reason.code().into(),
            one.field.clone().into(),
            body.into(),
            attributes.into(),
            at.clone(),
            at,
            mac(self.keys.platform(), id, one.org.map(|org| org.0), one.reason.code(), micros(now)).to_vec().into(),
        ]
    }

    async fn note(
        &self,
        tx: &mut anamnesis_sql::Transaction,
        id: Uuid,
        actor: &str,
        deed: Deed,
    ) -> Result<(), StoreError> {
        let now = self.clock.now();
        let own = ordered_id(now, self.entropy.as_ref());
        tx.execute(
            &LOG,
            vec![own.into(), id.into(), now.into(), actor.into(), deed.code().into(), deed.content().into()],
        )
        .await?;
        Ok(())
    }
}

/// A body as it lies in the store, and whose key seals it.
pub(super) struct Sealed {
    pub(super) id: Uuid,
    pub(super) key: Option<Scope>,
    pub(super) body: Vec<u8>,
}

/// What the attributes of a quarantined message are sealed for: another row id than its body's.
fn attributes_row(id: Uuid) -> Uuid {
    derive("quarantine.attributes", &[id.as_bytes()])
}

/// The cell of a body under a patient's key.
fn body_cell(id: Uuid) -> Cell {
    Cell { table: "quarantine", row: id, column: "body" }
}

/// The cell of attributes under a patient's key.
fn attributes_cell(id: Uuid) -> Cell {
    Cell { table: "quarantine", row: id, column: "attributes" }
}

pub fn statements() -> Vec<&'static Sql> {
    vec![QUARANTINE.sql(), &QUARANTINE_ONE, &LIST, &SHOW, &TURN, &FORGET, &UNKEEP, &LOG, &ACTS]
}

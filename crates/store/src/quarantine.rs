//! What was set aside: listed without its content, opened for whoever may see it, retried or dropped with a trace of who
//! did it.

use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::admission::attributes_row;
use super::{Store, StoreError};
use anamnesis_core::clock::ordered_id;
use anamnesis_sql::{Access, Sql};

static LIST: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT id, org_id, reason, field, state, created_at, updated_at FROM quarantine \
         WHERE ($1 = '' OR state = $1) AND ($2 = '' OR reason = $2) ORDER BY created_at, id LIMIT $3",
    )
});
static SHOW: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT id, org_id, reason, field, state, created_at, updated_at, body_sealed, attributes_sealed \
         FROM quarantine WHERE id = $1",
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
        "INSERT INTO quarantine_act (id, quarantine_id, at, actor, action, created_at, updated_at) \
         VALUES ($1, $2, $3, $4, $5, $3, $3)",
    )
});
static ACTS: LazyLock<Sql> =
    LazyLock::new(|| Sql::new("SELECT at, actor, action FROM quarantine_act WHERE quarantine_id = $1 ORDER BY at, id"));

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
}

/// Its content, as it came.
#[derive(Clone, PartialEq)]
pub struct Content {
    pub body: Vec<u8>,
    /// CloudEvents attributes that travelled beside it, as JSON.
    pub attributes: Option<Vec<u8>>,
}

/// What somebody did to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    Shown,
    Retried,
    Dropped,
}

impl Deed {
    fn code(self) -> &'static str {
        match self {
            Self::Shown => "shown",
            Self::Retried => "retried",
            Self::Dropped => "dropped",
        }
    }
}

/// An entry of the trace.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Trace {
    pub(crate) at: DateTime<Utc>,
    pub(crate) actor: String,
    pub(crate) action: String,
}

fn aside(row: &anamnesis_sql::Row) -> Result<Aside, StoreError> {
    Ok(Aside {
        id: row.uuid(0)?,
        organization_id: row.opt_uuid(1)?,
        reason: row.text(2)?,
        field: row.opt_text(3)?,
        state: row.text(4)?,
        created_at: row.time(5)?,
        updated_at: row.time(6)?,
    })
}

impl Store {
    /// What was set aside, oldest first; `state` and `reason` narrow it, empty they do not.
    ///
    /// # Errors
    /// Of the database.
    pub async fn set_aside(&self, state: &str, reason: &str, most: i64) -> Result<Vec<Aside>, StoreError> {
        let mut tx = self.db.read(Access::Platform).await?;
        let rows = tx.fetch_all(&LIST, vec![state.into(), reason.into(), most.into()]).await?;
        rows.iter().map(aside).collect()
    }

    /// One of them with its content (`None` once dropped), and what was done to it. That it was looked at is written
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
        let platform = self.keys.platform();
        let content = match row.opt_blob(7)? {
            None => None,
            Some(sealed) => {
                let attributes =
                    row.opt_blob(8)?.map(|sealed| platform.open(attributes_row(id), &sealed)).transpose()?;
                Some(Content { body: platform.open(id, &sealed)?, attributes })
            }
        };
        let trace = acts.iter().map(|row| Ok(Trace { at: row.time(0)?, actor: row.text(1)?, action: row.text(2)? }));
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
        if dropped > 0 {
            self.note(&mut tx, id, actor, Deed::Dropped).await?;
        }
        tx.commit().await?;
        Ok(dropped > 0)
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
        tx.execute(&LOG, vec![own.into(), id.into(), now.into(), actor.into(), deed.code().into()]).await?;
        Ok(())
    }
}

pub fn statements() -> Vec<&'static Sql> {
    vec![&LIST, &SHOW, &TURN, &FORGET, &UNKEEP, &LOG, &ACTS]
}

//! Answers to what a person asked for by a message: kept sealed under the patient's key for a term, announced by an event that
//! carries a reference, and read by name only.

use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::auditing::{self, Done};
use super::outbox::{Event, enqueue};
use super::seal::{Sealer, open_record};
use super::write::patients;
use super::{Store, StoreError, erasing};
use anamnesis_core::audit::Actor;
use anamnesis_core::clock::ordered_id;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::Cell;
use anamnesis_sql::{Access, Arg, Sql};

/// The event that says that an answer is there.
const ANSWERED: &str = "anamnesis.rights.answered.v1";

static KEEP: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "INSERT INTO rights_answer (org_id, patient_id, id, kind, asked_by, answered_at, body_sealed, created_at, updated_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $6, $6) ON CONFLICT (org_id, patient_id, id) DO NOTHING",
    )
});
static LIST: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT id, kind, asked_by, answered_at FROM rights_answer WHERE org_id = $1 AND patient_id = $2 \
         ORDER BY answered_at, id",
    )
});
static SHOW: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT id, kind, asked_by, answered_at, body_sealed FROM rights_answer \
         WHERE org_id = $1 AND patient_id = $2 AND id = $3",
    )
});
pub fn statements() -> Vec<&'static Sql> {
    vec![&KEEP, &LIST, &SHOW]
}

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    PrivacyReport,
    Export,
    /// What a command would forget or take back.
    Preview,
}

impl AnswerKind {
    pub fn code(self) -> &'static str {
        match self {
            Self::PrivacyReport => "privacy_report",
            Self::Export => "export",
            Self::Preview => "preview",
        }
    }

    fn read(code: &str) -> Result<Self, StoreError> {
        [Self::PrivacyReport, Self::Export, Self::Preview]
            .into_iter()
            .find(|kind| kind.code() == code)
            .ok_or(StoreError::Shape)
    }
}

/// An answer without its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answered {
    #[serde(rename = "answer_id")]
    pub id: Uuid,
    pub kind: AnswerKind,
    pub asked_by: Uuid,
    pub answered_at: DateTime<Utc>,
}

fn answered(row: &anamnesis_sql::Row) -> Result<Answered, StoreError> {
    let kind = AnswerKind::read(&row.text(1)?)?;
    Ok(Answered { id: row.uuid(0)?, kind, asked_by: row.uuid(2)?, answered_at: row.time(3)? })
}

fn cell(id: Uuid) -> Cell {
    Cell { table: "rights_answer", row: id, column: "body" }
}

impl Store {
    /// Whether this request was answered, and the answer is still kept.
    ///
    /// # Errors
    /// Of the database.
    pub async fn was_answered(&self, scope: Scope, id: Uuid) -> Result<bool, StoreError> {
        let mut tx = self.db.read(Access::Organization(scope.org())).await?;
        let args = vec![scope.org().0.into(), scope.patient().0.into(), id.into()];
        Ok(tx.fetch_optional(&SHOW, args).await?.is_some())
    }

    /// Keeps an answer and announces it, in one transaction. The same request twice is answered once.
    ///
    /// # Errors
    /// Of the database; [`StoreError::Race`] when the patient was erased meanwhile.
    pub async fn keep_answer(&self, scope: Scope, answer: &Answered, body: &Value) -> Result<bool, StoreError> {
        let keys = self.keys_of(scope).await?.ok_or(StoreError::Race)?;
        let sealer = Sealer { keys: &keys, entropy: self.entropy.as_ref() };
        let (org, patient) = (scope.org().0, scope.patient().0);
        let mut tx = self.db.begin(Access::Organization(scope.org())).await?;
        patients::hold(&mut tx, scope.org(), vec![patient]).await?;
        erasing::none_is_gone(&mut tx, scope.org(), vec![patient]).await?;
        let row = [answer.id.into(), answer.kind.code().into(), answer.asked_by.into(), answer.answered_at.into()];
        let sealed = sealer.record(cell(answer.id), body)?;
        let args = [Arg::from(org), patient.into()].into_iter().chain(row).chain([sealed]).collect();
        if tx.execute(&KEEP, args).await? == 0 {
            return Ok(false);
        }
        let reference = json!({"answer_id": answer.id, "command": answer.kind});
        let event = Event::new(&keys, ANSWERED, &[answer.id.as_bytes()], reference);
        enqueue(&mut tx, &[event], answer.answered_at, self.entropy.as_ref()).await?;
        let id = anamnesis_core::ids::derive("audit", &[answer.id.as_bytes(), b"answered"]);
        let actor = Actor { id: answer.asked_by.to_string(), ..Actor::default() };
        let entry = Done::to(scope, "answered").on(answer.id).entry(id, answer.answered_at, &actor);
        auditing::write(&mut tx, self.keys.platform(), &[entry]).await?;
        tx.commit().await?;
        self.bell.ring(scope.org());
        Ok(true)
    }

    /// The answers that are kept of a patient, oldest first, without their content.
    ///
    /// # Errors
    /// Of the database; [`StoreError::Erased`].
    pub async fn answers(&self, scope: Scope) -> Result<Vec<Answered>, StoreError> {
        if self.keys_of(scope).await?.is_none() {
            return Ok(Vec::new());
        }
        let mut tx = self.db.read(Access::Organization(scope.org())).await?;
        tx.fetch_all(&LIST, vec![scope.org().0.into(), scope.patient().0.into()]).await?.iter().map(answered).collect()
    }

    /// One of them with its content; `None` when it is not there any more. That it was read, and by whom, is audited.
    ///
    /// # Errors
    /// Of the database; [`StoreError::Erased`].
    pub async fn open_answer(
        &self,
        scope: Scope,
        id: Uuid,
        read_by: Uuid,
    ) -> Result<Option<(Answered, Value)>, StoreError> {
        let Some(keys) = self.keys_of(scope).await? else { return Ok(None) };
        let (org, patient) = (scope.org().0, scope.patient().0);
        let mut tx = self.db.begin(Access::Organization(scope.org())).await?;
        let of = || vec![org.into(), patient.into()];
        let Some(row) = tx.fetch_optional(&SHOW, [of(), vec![id.into()]].concat()).await? else { return Ok(None) };
        let now = self.clock.now();
        let own = ordered_id(now, self.entropy.as_ref());
        let actor = Actor { id: read_by.to_string(), ..Actor::default() };
        let entry = Done::to(scope, "answer_shown").on(id).entry(own, now, &actor);
        auditing::write(&mut tx, self.keys.platform(), &[entry]).await?;
        tx.commit().await?;
        let body = open_record(&keys, cell(id), &row.blob(4)?)?;
        Ok(Some((answered(&row)?, body)))
    }
}

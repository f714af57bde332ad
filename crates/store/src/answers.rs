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
use super::write::{Writer, patients};
use super::{Store, StoreError, erasing};
use anamnesis_core::answer::AnswerKind;
use anamnesis_core::audit::Actor;
use anamnesis_core::clock::ordered_id;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::Cell;
use anamnesis_sql::{Access, Arg, Bulk, ColumnType, Sql};

/// The event that says that an answer is there.
const ANSWERED: &str = "anamnesis.rights.answered.v1";

static KEEP: LazyLock<Bulk> = LazyLock::new(|| {
    let columns = [
        ("org_id", ColumnType::Uuid),
        ("patient_id", ColumnType::Uuid),
        ("id", ColumnType::Uuid),
        ("kind", ColumnType::Text),
        ("asked_by", ColumnType::Uuid),
        ("answered_at", ColumnType::Int),
        ("body_sealed", ColumnType::Bytes),
        ("created_at", ColumnType::Int),
        ("updated_at", ColumnType::Int),
    ];
    Bulk::new("rights_answer", &columns, "ON CONFLICT (org_id, patient_id, id) DO NOTHING")
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
    vec![KEEP.sql(), &LIST, &SHOW]
}

/// An answer that is made with the effects of what it answers.
#[derive(Debug, Clone, PartialEq)]
pub struct NewAnswer {
    pub scope: Scope,
    pub answered: Answered,
    /// Lines of text in each language, and what they rest on.
    pub body: Value,
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
    let kind = AnswerKind::from_code(&row.text(1)?).ok_or(StoreError::Shape)?;
    Ok(Answered { id: row.uuid(0)?, kind, asked_by: row.uuid(2)?, answered_at: row.time(3)? })
}

fn cell(id: Uuid) -> Cell {
    Cell { table: "rights_answer", row: id, column: "body" }
}

/// The columns of an answer.
fn kept(
    scope: Scope,
    answer: &Answered,
    body: &Value,
    sealer: Sealer<'_>,
    now: DateTime<Utc>,
) -> Result<Vec<Arg>, StoreError> {
    Ok(vec![
        scope.org().0.into(),
        scope.patient().0.into(),
        answer.id.into(),
        answer.kind.code().into(),
        answer.asked_by.into(),
        answer.answered_at.into(),
        sealer.record(cell(answer.id), body)?,
        now.into(),
        now.into(),
    ])
}

/// What the event says: where the answer is, and which command it answers.
fn reference(answer: &Answered) -> Value {
    json!({"answer_id": answer.id, "command": answer.kind})
}

impl Writer<'_> {
    /// Keeps the answers to what a batch carries out, and announces them. What was done is in the audit trail already.
    pub(super) async fn answers(&mut self, answers: &[NewAnswer]) -> Result<(), StoreError> {
        let mut rows = Vec::with_capacity(answers.len());
        for NewAnswer { scope, answered, body } in answers {
            let sealer = Sealer { keys: self.keys_of(*scope)?, entropy: self.entropy };
            rows.push(kept(*scope, answered, body, sealer, self.target.now)?);
            self.events.push(*scope, ANSWERED, &[answered.id.as_bytes()], reference(answered));
        }
        self.tx.bulk(&KEEP, rows).await?;
        Ok(())
    }
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
        let patient = scope.patient().0;
        let mut tx = self.db.begin(Access::Organization(scope.org())).await?;
        patients::hold(&mut tx, scope.org(), vec![patient]).await?;
        erasing::none_is_gone(&mut tx, scope.org(), vec![patient]).await?;
        let row = kept(scope, answer, body, sealer, answer.answered_at)?;
        if tx.bulk(&KEEP, vec![row]).await? == 0 {
            return Ok(false);
        }
        let event = Event::new(&keys, ANSWERED, &[answer.id.as_bytes()], reference(answer));
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

//! Answers to requests that a person makes by a message. They are stored sealed under the patient's key for a term,
//! announced by an event that contains a reference, and read by name only.

use std::collections::{BTreeSet, HashMap, HashSet};

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::audit_trail::{self, AuditedAction};
use super::encrypted_columns::{Sealer, open_record};
use super::outbox::{NewOutboxEvent, enqueue};
use super::write::{BatchWriter, patients, profile};
use super::{IntakeStore, StoreError, consents, erasure};
use crate::statements::answers as sql;
use anamnesis_core::answer::AnswerKind;
use anamnesis_core::audit::Actor;
use anamnesis_core::clock::ordered_id;
use anamnesis_core::consent::{ConsentScope, Provision};
use anamnesis_core::event::RightsAnswered;
use anamnesis_core::failpoints;
use anamnesis_core::finding::EntityType;
use anamnesis_core::ids::{MemoryId, PatientId};
use anamnesis_core::memory::State;
use anamnesis_core::profile::EphemeralHistory;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::{ColumnRef, PatientKeys};
use anamnesis_sql::{Access, Arg, Row};

/// An answer that is written in the transaction of its request, so it reports what was done and not what was requested.
#[derive(Debug, Clone)]
pub struct NewAnswer {
    pub scope: Scope,
    pub answered: AnswerHeader,
    pub on: AnswerSubject,
    /// The text of the outcome in each language.
    pub words: fn(AnswerKind, &AnswerOutcome) -> Value,
}

/// The subject of the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerSubject {
    /// Memories to be forgotten or recovered.
    Memories(Vec<MemoryId>),
    /// Everything that is stored from now on.
    Everything,
    Consent(ConsentScope),
}

/// The outcome of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AnswerOutcome {
    /// Memories that were forgotten or recovered.
    pub done: usize,
    /// Allergies, which stay until a clinician decides: a patient alone cannot end one.
    pub left: usize,
    /// Other memories that stay, because they were stated again or withdrawn since.
    pub kept: usize,
    /// For how many days a forgotten memory can be recovered.
    pub days: u32,
    /// The scope of consent, and the provision that is now in force.
    pub in_force: Option<(ConsentScope, Option<Provision>)>,
    /// Whether nothing that the patient says is stored now.
    pub is_ephemeral: bool,
    /// Whether the patient may be remembered, by consent and by the organisation's requirement.
    pub is_permitted: bool,
}

/// An answer without its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AnswerHeader {
    #[serde(rename = "answer_id")]
    pub id: Uuid,
    pub kind: AnswerKind,
    pub asked_by: Uuid,
    pub answered_at: DateTime<Utc>,
}

/// A row of `LIST`, or of `SHOW`, which has the same columns in front.
fn answered(row: &Row) -> Result<AnswerHeader, StoreError> {
    Ok(AnswerHeader {
        id: row.uuid(sql::list::ID)?,
        kind: AnswerKind::from_code(&row.text(sql::list::KIND)?).ok_or(StoreError::Shape)?,
        asked_by: row.uuid(sql::list::ASKED_BY)?,
        answered_at: row.time(sql::list::ANSWERED_AT)?,
    })
}

fn cell(id: Uuid) -> ColumnRef {
    ColumnRef { table: "rights_answer", row: id, column: "body" }
}

/// The columns of an answer.
fn kept(
    scope: Scope,
    answer: &AnswerHeader,
    body: &Value,
    sealer: Sealer<'_>,
    now: DateTime<Utc>,
) -> Result<sql::keep::Row, StoreError> {
    Ok(sql::keep::Row {
        org_id: scope.org().0.into(),
        patient_id: scope.patient().0.into(),
        id: answer.id.into(),
        kind: answer.kind.code().into(),
        asked_by: answer.asked_by.into(),
        answered_at: answer.answered_at.into(),
        body_sealed: sealer.record(cell(answer.id), body)?,
        created_at: now.into(),
        updated_at: now.into(),
    })
}

/// The event: where the answer is, and which command it answers.
fn reference(answer: &AnswerHeader) -> RightsAnswered {
    RightsAnswered { answer_id: answer.id, command: answer.kind }
}

/// The part of a memory that an answer mentions.
#[derive(Debug, Clone, Copy)]
pub(super) struct AnsweredMemory {
    is_forgotten: bool,
    /// An allergy or an intolerance that holds.
    is_allergy: bool,
}

/// Memories before and after the acts of a batch, and those that it is to forget.
type StatesAround<'a> = (&'a MemoryStates, &'a MemoryStates, &'a HashSet<(Scope, Uuid)>);

/// The memories that a request is to forget.
fn forgotten_by(answer: &NewAnswer) -> Vec<(Scope, Uuid)> {
    match &answer.on {
        AnswerSubject::Memories(ids) if answer.answered.kind == AnswerKind::Forget => {
            ids.iter().map(|id| (answer.scope, id.0)).collect()
        }
        _ => Vec::new(),
    }
}

/// Memories by patient and id.
pub(super) type MemoryStates = HashMap<(Uuid, Uuid), AnsweredMemory>;

impl BatchWriter<'_> {
    /// The states of the memories that these answers are about.
    pub(super) async fn states_of(&mut self, answers: &[NewAnswer]) -> Result<MemoryStates, StoreError> {
        let meant = answers.iter().filter_map(|one| match &one.on {
            AnswerSubject::Memories(ids) => {
                Some(ids.iter().map(|id| (one.scope.patient().0, id.0.as_bytes().to_vec())))
            }
            AnswerSubject::Everything | AnswerSubject::Consent(_) => None,
        });
        let pairs: Vec<(Uuid, Vec<u8>)> = meant.flatten().collect();
        if pairs.is_empty() {
            return Ok(MemoryStates::new());
        }
        let rows = self.tx.fetch_all(&sql::STATES, vec![self.org().0.into(), Arg::Pairs(pairs)]).await?;
        let state = |row: &Row| {
            let state = State::from_code(&row.text(sql::states::STATE)?).ok_or(StoreError::Shape)?;
            let entity = row.opt_text(sql::states::ENTITY_TYPE)?.as_deref().and_then(EntityType::from_code);
            let kind = matches!(entity, Some(EntityType::Allergy | EntityType::Intolerance));
            let is_allergy = kind && state == State::Active && !row.bool(sql::states::NEGATED)?;
            Ok((
                (row.uuid(sql::states::PATIENT_ID)?, row.uuid(sql::states::ID)?),
                AnsweredMemory { is_forgotten: state == State::Inactive, is_allergy },
            ))
        };
        rows.iter().map(state).collect()
    }

    /// Stores the answers to the acts of a batch, and announces them; `before` are the states before the acts. The
    /// audit trail already has the acts.
    pub(super) async fn answers(&mut self, answers: &[NewAnswer], before: &MemoryStates) -> Result<(), StoreError> {
        let after = self.states_of(answers).await?;
        let rights = self.rights(answers).await?;
        let forgets: HashSet<(Scope, Uuid)> = answers.iter().flat_map(forgotten_by).collect();
        let mut rows = Vec::with_capacity(answers.len());
        for NewAnswer { scope, answered, on, words } in answers {
            let came = match on {
                AnswerSubject::Memories(ids) => self.came((*scope, ids), answered.kind, (before, &after, &forgets)),
                AnswerSubject::Everything | AnswerSubject::Consent(_) => {
                    let of = if let AnswerSubject::Consent(of) = on { *of } else { ConsentScope::Memory };
                    rights.came(*scope, of, self.keys_of(*scope)?, self.target.now)
                }
            };
            let body = json!({"text": words(answered.kind, &came)});
            let sealer = Sealer { keys: self.keys_of(*scope)?, entropy: self.entropy };
            rows.push(kept(*scope, answered, &body, sealer, self.target.now)?.into());
            self.events.push(*scope, &[answered.id.as_bytes()], &reference(answered));
        }
        self.tx.bulk(&sql::KEEP, rows).await?;
        Ok(())
    }

    /// The outcome for these memories.
    fn came(
        &self,
        (scope, ids): (Scope, &[MemoryId]),
        kind: AnswerKind,
        (before, after, forgets): StatesAround<'_>,
    ) -> AnswerOutcome {
        let ids: BTreeSet<Uuid> = ids.iter().map(|id| id.0).collect();
        let of = |states: &MemoryStates, id: &Uuid| states.get(&(scope.patient().0, *id)).copied();
        let was_forgotten = |id: &Uuid| of(before, id).is_some_and(|one| one.is_forgotten);
        let mut came = AnswerOutcome { days: self.policy.recoverable_days, ..AnswerOutcome::default() };
        if failpoints::is("answer_counts_asked") {
            return AnswerOutcome { done: ids.len(), ..came };
        }
        for id in &ids {
            let Some(now) = of(after, id) else { continue };
            match (kind, now.is_forgotten) {
                (AnswerKind::Forget, true) if !was_forgotten(id) => came.done += 1,
                // Another command of the same batch may have had it forgotten: it is remembered now.
                (AnswerKind::Recover, false) if was_forgotten(id) || forgets.contains(&(scope, *id)) => came.done += 1,
                (AnswerKind::Forget, false) if now.is_allergy => came.left += 1,
                (AnswerKind::Forget, false) => came.kept += 1,
                _ => {}
            }
        }
        came
    }

    /// The consents of the patients of these answers, and whether they are in ephemeral mode.
    async fn rights(&mut self, answers: &[NewAnswer]) -> Result<ConsentAndMode, StoreError> {
        let asked = answers.iter().filter(|one| !matches!(one.on, AnswerSubject::Memories(_)));
        let patients: BTreeSet<Uuid> = asked.map(|one| one.scope.patient().0).collect();
        let mut rights = ConsentAndMode::default();
        if patients.is_empty() {
            return Ok(rights);
        }
        let patients = Arg::Uuids(patients.into_iter().collect());
        rights.required = consents::is_required(self.tx, self.org()).await?;
        rights.consents = consents::rows_of(self.tx, self.org(), patients.clone()).await?;
        for row in self.tx.fetch_all(profile::modes(), vec![self.org().0.into(), patients]).await? {
            profile::add_mode(&mut rights.modes, &row)?;
        }
        Ok(rights)
    }
}

/// Consents and switches of some patients.
#[derive(Default)]
struct ConsentAndMode {
    /// The organisation keeps nothing without a permit.
    required: bool,
    consents: HashMap<PatientId, Vec<consents::RecordedConsent>>,
    modes: HashMap<Uuid, EphemeralHistory>,
}

impl ConsentAndMode {
    fn came(&self, scope: Scope, of: ConsentScope, keys: &PatientKeys, now: DateTime<Utc>) -> AnswerOutcome {
        let all = self.consents.get(&scope.patient()).map(Vec::as_slice).unwrap_or_default();
        let consents = consents::consents(all, keys);
        let in_force = consents.in_force(of, now);
        let is_permitted = consents.may_remember(self.required, now, now);
        let course = self.modes.get(&scope.patient().0);
        let is_ephemeral = course.and_then(EphemeralHistory::latest).unwrap_or(false);
        AnswerOutcome { in_force: Some((of, in_force)), is_ephemeral, is_permitted, ..AnswerOutcome::default() }
    }
}

impl IntakeStore<'_> {
    /// Whether this request was answered and the answer is still stored.
    ///
    /// # Errors
    /// Of the database.
    pub async fn was_answered(self, scope: Scope, id: Uuid) -> Result<bool, StoreError> {
        let mut tx = self.db.read(Access::Organization(scope.org())).await?;
        let args = vec![scope.org().0.into(), scope.patient().0.into(), id.into()];
        Ok(tx.fetch_optional(&sql::SHOW, args).await?.is_some())
    }

    /// Keeps an answer and announces it, in one transaction. The same request twice is answered once.
    ///
    /// # Errors
    /// Of the database; [`StoreError::Race`] when the patient was erased meanwhile.
    pub async fn keep_answer(self, scope: Scope, answer: &AnswerHeader, body: &Value) -> Result<bool, StoreError> {
        let keys = self.read().keys_of(scope).await?.ok_or(StoreError::Race)?;
        let sealer = Sealer { keys: &keys, entropy: self.entropy.as_ref() };
        let patient = scope.patient().0;
        let mut tx = self.db.begin(Access::Organization(scope.org())).await?;
        patients::hold(&mut tx, scope.org(), vec![patient]).await?;
        let by = (self.keys.platform(), self.clock.now());
        erasure::none_is_gone(&mut tx, scope.org(), by, vec![patient]).await?;
        let row = kept(scope, answer, body, sealer, answer.answered_at)?;
        if tx.bulk(&sql::KEEP, vec![row.into()]).await? == 0 {
            return Ok(false);
        }
        let event = NewOutboxEvent::new(&keys, &[answer.id.as_bytes()], &reference(answer));
        enqueue(&mut tx, &[event], answer.answered_at, self.entropy.as_ref()).await?;
        let id = anamnesis_core::ids::derive("audit", &[answer.id.as_bytes(), b"answered"]);
        let actor = Actor { id: answer.asked_by.to_string(), ..Actor::default() };
        let entry = AuditedAction::to(scope, "answered").on(answer.id).entry(id, answer.answered_at, &actor);
        audit_trail::write(&mut tx, self.keys.platform(), &[entry]).await?;
        tx.commit().await?;
        self.outbox_notifier.notify_org(scope.org());
        Ok(true)
    }

    /// The stored answers of a patient, oldest first, without their content.
    ///
    /// # Errors
    /// Of the database; [`StoreError::Erased`].
    pub async fn answers(self, scope: Scope) -> Result<Vec<AnswerHeader>, StoreError> {
        if self.read().keys_of(scope).await?.is_none() {
            return Ok(Vec::new());
        }
        let mut tx = self.db.read(Access::Organization(scope.org())).await?;
        tx.fetch_all(&sql::LIST, vec![scope.org().0.into(), scope.patient().0.into()])
            .await?
            .iter()
            .map(answered)
            .collect()
    }

    /// One of them with its content; `None` when it is not there any more. That it was read, and by whom, is audited.
    ///
    /// # Errors
    /// Of the database; [`StoreError::Erased`].
    pub async fn open_answer(
        self,
        scope: Scope,
        id: Uuid,
        read_by: Uuid,
    ) -> Result<Option<(AnswerHeader, Value)>, StoreError> {
        let Some(keys) = self.read().keys_of(scope).await? else { return Ok(None) };
        let (org, patient) = (scope.org().0, scope.patient().0);
        let mut tx = self.db.begin(Access::Organization(scope.org())).await?;
        let of = || vec![org.into(), patient.into()];
        let Some(row) = tx.fetch_optional(&sql::SHOW, [of(), vec![id.into()]].concat()).await? else { return Ok(None) };
        let now = self.clock.now();
        let own = ordered_id(now, self.entropy.as_ref());
        let actor = Actor { id: read_by.to_string(), ..Actor::default() };
        let entry = AuditedAction::to(scope, "answer_shown").on(id).entry(own, now, &actor);
        audit_trail::write(&mut tx, self.keys.platform(), &[entry]).await?;
        tx.commit().await?;
        let body = open_record(&keys, cell(id), &row.blob(sql::show::BODY_SEALED)?)?;
        Ok(Some((answered(&row)?, body)))
    }
}

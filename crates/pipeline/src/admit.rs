//! Admission: before any work, and by a fixed number of look-ups for the whole batch.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use uuid::Uuid;

use super::command_text::{CommandIntent, intent_of};
use super::consent::{consent, consent_id};
use super::erasure::is_erasure;
use super::manual_memory::CommandReferences;
use super::{AdmittedMessage, BatchContext, DecodedMessage, Disposition, MessageOutcome, Pipeline, PipelineError};
use crate::intake::grant::Grant;
use crate::intake::producer_policy::OrganizationAdmission;
use anamnesis_core::consent::{Consent, Consents, Provision, Withdrawal};
use anamnesis_core::failpoints;
use anamnesis_core::ids::{DocumentId, OrgId, PatientId, derive};
use anamnesis_core::memory::SetBy;
use anamnesis_core::reason::Reason;
use anamnesis_core::scope::Scope;
use anamnesis_messages::contract::{Command, DocumentSubmitted, MemoryCommand};
use anamnesis_messages::{Envelope, Message, Rejection};
use anamnesis_store::Keys;
use anamnesis_store::admission::{AdmissionQuery, AdmissionState, AttemptBatch, OrganizationRules};

/// The messages of one organisation after admission.
pub(super) struct Admission {
    pub(crate) admitted: Vec<AdmittedMessage>,
    pub(crate) done: Vec<MessageOutcome>,
    /// Positions of the messages of which nothing may be stored, not even in quarantine.
    pub(crate) unkept: BTreeSet<usize>,
    pub(crate) shared: BatchContext,
}

/// The rules for an unknown organisation.
fn unregistered() -> OrganizationRules {
    OrganizationRules {
        redaction_policy: "safe_harbor".into(),
        consent_required: false,
        withdrawal: Withdrawal::default(),
        generation: None,
    }
}

impl Pipeline {
    /// The admitted messages, and the outcomes of the others.
    pub(super) async fn admit(&self, org: OrgId, entries: Vec<DecodedMessage>) -> Result<Admission, PipelineError> {
        let wanted = self.wanted(&entries);
        let mut known = self.store.intake().known(org, &wanted).await?;
        let rules = known.rules.take();
        let PolicyCheckedBatch { entries, grants, refused, mut done } =
            self.bound(org, rules.is_some(), entries).await?;
        let mut unkept = self.unkept(org, &refused).await?;
        let rules = rules.unwrap_or_else(unregistered);
        let keys = if entries.is_empty() { Keys::default() } else { self.keys_of(&entries).await? };
        let mut batch = AdmissionBatch::new(known, &keys, grants);
        let now = self.store.clock().now();
        batch.modes(&entries, now);
        self.look_ahead(&mut batch, &entries, now);
        let mut admitted = Vec::with_capacity(entries.len());
        // In order: a permit affects only later messages, a denial the whole batch.
        for entry in entries {
            let ephemeral = batch.ephemeral(&entry.envelope, now);
            let permitted = batch.permits(&entry.envelope, rules.consent_required, now);
            if ephemeral || !permitted {
                unkept.insert(entry.place);
            }
            match self.decide(entry, permitted, &rules, &keys, &mut batch) {
                Ok(entry) => {
                    batch.note(&entry, now);
                    admitted.push(AdmittedMessage { ephemeral, ..entry });
                }
                Err(outcome) => {
                    // A late message about an erased subject is not stored either.
                    if outcome.disposition == Disposition::Quarantined(Reason::ErasedSubject) {
                        unkept.insert(outcome.place);
                    }
                    done.push(outcome);
                }
            }
        }
        // Switches and denials of this batch also apply to messages that its bindings reject.
        let barred =
            |entry: &&DecodedMessage| batch.ephemeral(&entry.envelope, now) || batch.denies(&entry.envelope, now);
        unkept.extend(refused.iter().filter(barred).map(|entry| entry.place));
        let looked = Arc::new(batch.known.looked);
        let shared = BatchContext { keys, generation: rules.generation, looked, begun: AttemptBatch::default() };
        Ok(Admission { admitted, done, unkept, shared })
    }

    /// Splits messages by whether their producers may write for this organisation. A new organisation is registered if
    /// that is allowed.
    async fn bound(
        &self,
        org: OrgId,
        registered: bool,
        entries: Vec<DecodedMessage>,
    ) -> Result<PolicyCheckedBatch, PipelineError> {
        let mut bound = PolicyCheckedBatch::default();
        let mut register = false;
        let now = self.store.clock().now();
        for entry in entries {
            let granted = self.bindings.grant(&entry.envelope, now);
            let admission = granted.and_then(|grant| Ok((self.bindings.admit(org, |_| registered)?, grant)));
            match admission {
                Ok((admission, grant)) => {
                    register |= admission == OrganizationAdmission::Register;
                    bound.grants.insert(entry.place, grant);
                    bound.entries.push(entry);
                }
                Err(refusal) => {
                    bound.done.push(MessageOutcome::quarantined(entry.place, refusal.reason, refusal.field));
                    bound.refused.push(entry);
                }
            }
        }
        if register {
            self.store.intake().register(org).await?;
        }
        Ok(bound)
    }

    /// Each patient's consents after this batch is stored.
    fn look_ahead(&self, batch: &mut AdmissionBatch, entries: &[DecodedMessage], now: DateTime<Utc>) {
        let mut ids = HashSet::new();
        for DecodedMessage { envelope, .. } in entries {
            let id = self.message_key(envelope);
            // Of another message with the id of one that is known nothing is stored.
            let (is_first, is_known) = (ids.insert(id), batch.known.seen.contains_key(&id));
            // A message that came before with this id may be refused: a denial counts all the same.
            let counts = |consent: &Consent| !is_known && (is_first || consent.provision == Provision::Deny);
            if let Some(consent) = consent(envelope, now).filter(counts) {
                let patient = envelope.patient();
                let stored = || batch.consents.get(&patient).cloned().unwrap_or_default();
                batch.consents_to_come.entry(patient).or_insert_with(stored).add(consent);
            }
        }
    }

    fn wanted(&self, entries: &[DecodedMessage]) -> AdmissionQuery {
        let mut wanted = AdmissionQuery::default();
        for DecodedMessage { envelope, .. } in entries {
            wanted.messages.push(self.message_key(envelope));
            wanted.patients.push(envelope.patient());
            if let Message::DocumentSubmitted(document) = &envelope.message {
                wanted.documents.push((document.patient_id, document.document_id));
            }
        }
        // In the order of the index that is asked.
        wanted.messages.sort_unstable();
        wanted.patients.sort();
        wanted.patients.dedup();
        wanted.documents.sort();
        wanted.documents.dedup();
        wanted
    }

    /// Keys of the patients whose key was not destroyed, made for those who are new.
    async fn keys_of(&self, entries: &[DecodedMessage]) -> Result<Keys, PipelineError> {
        let scopes: HashSet<Scope> =
            entries.iter().filter_map(|e| Scope::new(e.envelope.organization(), e.envelope.patient()).ok()).collect();
        let scopes: Vec<Scope> = scopes.into_iter().collect();
        Ok(self.store.key_binding().ensure_keys(&scopes).await?.known)
    }

    /// (organisation, source, id) as the inbox keeps it.
    pub(super) fn message_key(&self, envelope: &Envelope) -> [u8; 32] {
        let org = envelope.organization().0;
        self.store
            .keys()
            .platform()
            .hash("message", &[org.as_bytes(), envelope.source.as_bytes(), envelope.id.as_bytes()])
    }

    fn decide(
        &self,
        DecodedMessage { place, span, envelope }: DecodedMessage,
        permitted: bool,
        rules: &OrganizationRules,
        alive: &Keys,
        batch: &mut AdmissionBatch,
    ) -> Result<AdmittedMessage, MessageOutcome> {
        let quarantine =
            |reason, field: Option<&str>| MessageOutcome::quarantined(place, reason, field.map(str::to_owned));
        let scope =
            Scope::new(envelope.organization(), envelope.patient()).map_err(|_| quarantine(Reason::Malformed, None))?;
        let message = self.message_key(&envelope);
        let body_hash = self.store.keys().platform().hash("content", &[&envelope.body_hash]);
        if let Some(seen) = batch.known.seen.get(&message).or_else(|| batch.seen.get(&message)) {
            let same = *seen == body_hash || failpoints::is("no_body_check");
            return Err(if same {
                MessageOutcome::new(place, Disposition::Duplicate)
            } else {
                quarantine(Reason::IdReused, Some("id"))
            });
        }
        if !alive.contains_key(&scope) {
            // A repeated request for something done is answered again.
            let again = matches!(&envelope.message, Message::MemoryCommand(command) if is_erasure(command));
            return Err(if again {
                MessageOutcome::new(place, Disposition::Duplicate)
            } else {
                quarantine(Reason::ErasedSubject, Some("patient_id"))
            });
        }
        let grant = batch.grants.remove(&place).ok_or_else(|| quarantine(Reason::NotPermitted, None))?;
        if let Some(field) = not_yet(&envelope, self.store.clock().now()) {
            return Err(quarantine(Reason::NotYet, Some(field)));
        }
        if !permitted {
            return Err(quarantine(Reason::NoConsent, Some("patient_id")));
        }
        if let Message::DocumentSubmitted(document) = &envelope.message {
            if batch.known.erased.documents.contains(&(document.patient_id, document.document_id)) {
                return Err(quarantine(Reason::ErasedSubject, Some("document_id")));
            }
            batch
                .same_type(document, &grant)
                .map_err(|refusal| quarantine(refusal.reason, refusal.field.as_deref()))?;
            // A signature is a clinician's statement.
            if document.signed_by().is_some() && !grant.lends(SetBy::Clinician) {
                return Err(quarantine(Reason::NotPermitted, Some("provenance.signed_by")));
            }
            batch.revision(place, document.patient_id, document.document_id, document.revision, body_hash)?;
            let types = batch.known.types.entry((document.patient_id, document.document_id)).or_default();
            types.push(document.document_type);
        }
        batch.seen.insert(message, body_hash);
        Ok(AdmittedMessage {
            place,
            scope,
            message,
            body_hash,
            envelope,
            policy: rules.redaction_policy.clone(),
            grant,
            withdrawal: rules.withdrawal,
            ephemeral: false,
            words: None,
            references: CommandReferences::default(),
            span,
        })
    }
}

/// When a command was given: as it says itself, else as its envelope says, else now.
pub(super) fn issued_at(command: &MemoryCommand, envelope: &Envelope, now: DateTime<Utc>) -> DateTime<Utc> {
    command.issued_at.or(envelope.time).unwrap_or(now)
}

/// How far a date may lie ahead of our clock: producers have local days, and clocks that differ.
const AHEAD: TimeDelta = TimeDelta::hours(24);

/// The field that dates a message beyond tomorrow, because future statements must not act today. A consent may begin
/// later. An envelope's time counts only for commands without another date.
fn not_yet(envelope: &Envelope, now: DateTime<Utc>) -> Option<&'static str> {
    let latest = now + AHEAD;
    let (at, field) = match &envelope.message {
        Message::DocumentSubmitted(document) => (document.occurred_at.to_utc(), "occurred_at"),
        Message::HealthSignalRecorded(signal) => (signal.synced_at, "synced_at"),
        Message::ProfileUpdated(profile) => (profile.recorded_at, "recorded_at"),
        Message::ConsentRecorded(_) => return None,
        Message::MemoryCommand(command) => {
            let field = if command.issued_at.is_some() { "issued_at" } else { "time" };
            (issued_at(command, envelope, now), field)
        }
    };
    (at > latest).then_some(field)
}

/// The time of a statement. `None` for messages that only permit or command: a consent, a command without words.
pub(super) fn said_at(envelope: &Envelope, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    match &envelope.message {
        Message::DocumentSubmitted(document) => Some(document.occurred_at.to_utc()),
        Message::HealthSignalRecorded(signal) => Some(signal.synced_at),
        Message::ProfileUpdated(profile) => Some(profile.recorded_at),
        // A promotion of a capture without words means the capture's own.
        Message::MemoryCommand(command)
            if command.command == Command::Promote || matches!(intent_of(command), Some(CommandIntent::Words(_))) =>
        {
            Some(issued_at(command, envelope, now))
        }
        Message::ConsentRecorded(_) | Message::MemoryCommand(_) => None,
    }
}

/// The row of a switch of the ephemeral mode.
pub(super) fn mode_id(message: &[u8; 32]) -> Uuid {
    derive("ephemeral", &[message])
}

/// Whether a command switches the ephemeral mode on or off.
pub(super) fn ephemeral_switch(command: Command) -> Option<bool> {
    match command {
        Command::EphemeralOn => Some(true),
        Command::EphemeralOff => Some(false),
        _ => None,
    }
}

/// The bindings of producers, applied to a batch.
#[derive(Default)]
struct PolicyCheckedBatch {
    entries: Vec<DecodedMessage>,
    /// The permissions of each message's producer, by position.
    grants: HashMap<usize, Grant>,
    /// Messages of producers that may not write for this organisation.
    refused: Vec<DecodedMessage>,
    /// The outcomes of the others.
    done: Vec<MessageOutcome>,
}

/// Known state: stored, or set earlier in this batch.
struct AdmissionBatch {
    known: AdmissionState,
    /// The permissions of each message's producer, by position.
    grants: HashMap<usize, Grant>,
    /// Each patient's consents at this point of the batch.
    consents: HashMap<PatientId, Consents>,
    /// The same at the end of it, of patients whose consents are in it.
    consents_to_come: HashMap<PatientId, Consents>,
    seen: HashMap<[u8; 32], [u8; 32]>,
    revisions: HashMap<(PatientId, DocumentId, u32), [u8; 32]>,
}

impl AdmissionBatch {
    fn new(known: AdmissionState, keys: &Keys, grants: HashMap<usize, Grant>) -> Self {
        let consents = keys.keys().map(|scope| (scope.patient(), known.consents_of(*scope, keys))).collect();
        Self {
            known,
            grants,
            consents,
            consents_to_come: HashMap::new(),
            seen: HashMap::new(),
            revisions: HashMap::new(),
        }
    }

    /// Whether the statements of the message may be stored: by the consent of their time, the current one, and the
    /// denials in the rest of the batch.
    fn permits(&self, envelope: &Envelope, required: bool, now: DateTime<Utc>) -> bool {
        let Some(at) = said_at(envelope, now) else { return true };
        let to_come = self.consents_to_come.get(&envelope.patient());
        if to_come.is_some_and(|consents| !consents.may_remember(false, at, now)) {
            return false;
        }
        match self.consents.get(&envelope.patient()) {
            Some(consents) => consents.may_remember(required, at, now),
            None => !required,
        }
    }

    /// Whether the patient denies storing the statements, whether consent is required or not.
    fn denies(&self, envelope: &Envelope, now: DateTime<Utc>) -> bool {
        !self.permits(envelope, false, now)
    }

    /// Applies the decisions of an admitted message to later ones. Its rows then belong to this batch.
    fn note(&mut self, entry: &AdmittedMessage, now: DateTime<Utc>) {
        let patient = entry.scope.patient();
        if let Some(consent) = consent(&entry.envelope, now) {
            self.consents.entry(patient).or_default().add(consent);
        }
        let own = match &entry.envelope.message {
            Message::ConsentRecorded(_) => consent_id(&entry.message),
            Message::MemoryCommand(command) if ephemeral_switch(command.command).is_some() => mode_id(&entry.message),
            _ => return,
        };
        self.known.looked.entry(patient).or_default().insert(own);
    }

    /// Commands of this batch that switch the ephemeral mode, so that a document of the same batch does not slip
    /// through.
    fn modes(&mut self, entries: &[DecodedMessage], now: DateTime<Utc>) {
        for DecodedMessage { envelope, .. } in entries {
            let Message::MemoryCommand(command) = &envelope.message else { continue };
            if not_yet(envelope, now).is_some() {
                continue;
            }
            if let Some(on) = ephemeral_switch(command.command) {
                let stamp = (issued_at(command, envelope, now), Uuid::nil());
                self.known.ephemeral.entry(envelope.patient()).or_default().add(stamp, on);
            }
        }
    }

    /// Whether nothing of the message may be stored, by the ephemeral mode at its own time. Commands and consents are
    /// stored, because they decide what may be stored; the words of a correction are not.
    fn ephemeral(&self, envelope: &Envelope, now: DateTime<Utc>) -> bool {
        let course = self.known.ephemeral.get(&envelope.patient());
        said_at(envelope, now).zip(course).and_then(|(at, course)| course.at(at)).unwrap_or(false)
    }

    /// Whether the revisions that are there already are of types that this producer may replace.
    fn same_type(&self, document: &DocumentSubmitted, grant: &Grant) -> Result<(), Rejection> {
        let known = self.known.types.get(&(document.patient_id, document.document_id));
        known.into_iter().flatten().try_for_each(|old| grant.replaces(*old, document.document_type))
    }

    /// The same revision of a document under another message id: a repetition if it says the same, a reused id if not.
    fn revision(
        &mut self,
        place: usize,
        patient: PatientId,
        id: DocumentId,
        revision: u32,
        body: [u8; 32],
    ) -> Result<(), MessageOutcome> {
        let key = (patient, id, revision);
        match self.known.revisions.get(&key).or_else(|| self.revisions.get(&key)) {
            Some(known) if *known == body => Err(MessageOutcome::new(place, Disposition::Duplicate)),
            Some(_) => Err(MessageOutcome::quarantined(place, Reason::IdReused, Some("revision".to_owned()))),
            None => {
                self.revisions.insert(key, body);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
#[path = "admit_tests.rs"]
mod tests;

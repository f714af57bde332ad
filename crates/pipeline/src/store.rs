//! The last stage: the effects of a batch in one transaction. A faulty message is found by committing messages one by
//! one.

use std::sync::Arc;
use std::time::Instant;

use chrono::{DateTime, Utc};

use super::admit::{ephemeral_switch, issued_at, mode_id};
use super::audit_action::{acted_on, acting};
use super::command_text::{CommandIntent, CommandText, actor, intent_of};
use super::consent::new_consent;
use super::embed::EmbeddedMessage;
use super::findings::FindingBuilder;
use super::manual_memory::evidence_action_id;
use super::page_index::PageIndex;
use super::profile::ProfileFindings;
use super::{AdmittedMessage, BatchContext, Disposition, MessageOutcome, Pipeline, PipelineError, crash_at, rights};
use crate::intake::grant::Grant;
use anamnesis_core::failpoints;
use anamnesis_core::finding::{EntityType, RiskLevel};
use anamnesis_core::ids::{MemoryEventId, MemoryId, OrgId, derive};
use anamnesis_core::memory::{Kind, SetBy};
use anamnesis_core::projection::{MemoryAction, PersonAct};
use anamnesis_core::provenance::{SourceType, Trust};
use anamnesis_core::reason::Reason;
use anamnesis_crypto::PatientKeys;
use anamnesis_extraction::Sentiment;
use anamnesis_messages::Message;
use anamnesis_messages::contract::{ActorRole, Command, DocumentSubmitted, MemoryCommand};
use anamnesis_observability::metrics::labels::Stage;
use anamnesis_sql::Fault;
use anamnesis_store::records::{
    BatchMark, DocumentContent, EphemeralChange, EventTrace, InboxEntry, NewDocument, NewFinding, NewMemoryAct,
    NewPassage, NewRisk, OrgBatch, RiskAlarm, RiskDetail, StoredFile,
};
use anamnesis_store::{Keys, StoreError};
use anamnesis_text::Turn;

/// Why a message has no effects, and the field that is to blame where that is known.
type EffectError = (Disposition, Option<String>);

impl Pipeline {
    /// Commits the batch. If the database rejects a row, each message is committed separately, so that only the faulty
    /// one is quarantined.
    pub(super) async fn store_all(
        &self,
        org: OrgId,
        work: Vec<EmbeddedMessage>,
        BatchContext { keys, looked, begun, .. }: &BatchContext,
        done: &mut Vec<MessageOutcome>,
    ) -> Result<(), PipelineError> {
        let started = Instant::now();
        let looked = Arc::clone(looked);
        let mut whole = OrgBatch { begun: Some(begun.clone()), looked, ..OrgBatch::default() };
        let mut good: Vec<(usize, bool, BatchMark)> = Vec::new();
        for entry in work {
            let (place, ephemeral) = (entry.analyzed.admitted.place, entry.analyzed.admitted.ephemeral);
            match self.effects(entry, keys) {
                Ok(batch) => good.push((place, ephemeral, whole.append(batch))),
                Err((disposition, field)) => {
                    done.push(MessageOutcome { field, ..MessageOutcome::new(place, disposition) })
                }
            }
        }
        crash_at("before_commit");
        match self.commit(org, &whole, keys).await {
            Ok(()) => {
                done.extend(good.iter().map(|(place, ephemeral, _)| MessageOutcome::new(*place, stored(*ephemeral))));
            }
            Err(error) if error.fault() == Fault::Store => return Err(error.into()),
            Err(error) if good.len() == 1 => done.push(MessageOutcome::new(good[0].0, uncounted(refused(&error)))),
            Err(_) => {
                // The batch was started as one attempt and does not end as one.
                self.store.intake().split_attempt_batch(begun).await?;
                let mut each = Vec::with_capacity(good.len());
                for (place, ephemeral, brought) in good.into_iter().rev() {
                    each.push((place, ephemeral, whole.cut_last(brought)));
                }
                let mut alone = Vec::with_capacity(each.len());
                for (place, ephemeral, one) in each.iter().rev() {
                    alone.push((*place, self.store_one(org, one, keys, *ephemeral).await?));
                }
                // A refusal counts against a message only where the store took others at the same time.
                let takes = alone.iter().any(|(_, one)| matches!(one, Disposition::Stored | Disposition::Ephemeral));
                let counted = |one| if takes { one } else { uncounted(one) };
                done.extend(alone.into_iter().map(|(place, one)| MessageOutcome::new(place, counted(one))));
            }
        }
        crash_at("committed");
        self.observe(Stage::Store, started);
        Ok(())
    }

    async fn store_one(
        &self,
        org: OrgId,
        one: &OrgBatch,
        keys: &Keys,
        ephemeral: bool,
    ) -> Result<Disposition, StoreError> {
        match self.commit(org, one, keys).await {
            Ok(()) => Ok(stored(ephemeral)),
            Err(error) if error.fault() == Fault::Store => Err(error),
            Err(error) => Ok(refused(&error)),
        }
    }

    /// The effects of one message on the store.
    fn effects(&self, mut entry: EmbeddedMessage, keys: &Keys) -> Result<OrgBatch, EffectError> {
        let mut batch = OrgBatch { generation: entry.generation, ..OrgBatch::default() };
        let passages = std::mem::take(&mut entry.passages);
        let admitted = &entry.analyzed.admitted;
        batch.traces.extend(trace_of(admitted));
        if admitted.ephemeral {
            return Ok(OrgBatch { generation: batch.generation, traces: batch.traces, ..self.ephemeral(&entry) });
        }
        let scope = admitted.scope;
        batch.inbox.push(InboxEntry {
            message: admitted.message,
            body: admitted.body_hash,
            scope,
            message_type: admitted.envelope.kind().name(),
            done: acted_on(&admitted.envelope, admitted.grant.source(), &admitted.message),
        });
        let patient = keys.get(&scope).ok_or((Disposition::Quarantined(Reason::ErasedSubject), None))?;
        if let Some(field) = admitted.references.lost {
            return Err((Disposition::Quarantined(Reason::Malformed), Some(field.to_owned())));
        }
        let now = self.store.clock().now();
        let plain = |disposition| (disposition, None);
        let concept = |name: &str| self.concept_of(scope.org(), name);
        let redactor = &entry.analyzed.field_redactor;
        if let Some(document) = admitted.document() {
            self.document_effects(document, &entry, passages, patient, &mut batch)?;
        }
        match &admitted.envelope.message {
            Message::DocumentSubmitted(_) => {}
            // Its words had their effects; the memories that they mention end with it.
            Message::MemoryCommand(command) if let Some(words) = &admitted.words => {
                apply_replacement(words, command, admitted, &mut batch);
            }
            Message::ProfileUpdated(profile) => {
                let facts = ProfileFindings { admitted, redactor, keys: patient, now, concept: &concept };
                let (change, findings) = facts.profile(profile).map_err(plain)?;
                batch.profiles.push(change);
                batch.findings = findings;
            }
            Message::HealthSignalRecorded(signal) => {
                let facts = ProfileFindings { admitted, redactor, keys: patient, now, concept: &concept };
                batch.findings.push(facts.signal(signal).map_err(plain)?);
            }
            Message::ConsentRecorded(consent) => batch.consents.push(new_consent(consent, &entry, now)),
            Message::MemoryCommand(command) => self.command(command, &entry, &mut batch)?,
        }
        batch.answers.extend(rights::completion_answer(admitted, now));
        Ok(batch)
    }

    /// The statements of a document, or the words of a command.
    fn document_effects(
        &self,
        document: &DocumentSubmitted,
        entry: &EmbeddedMessage,
        passages: Vec<NewPassage>,
        keys: &PatientKeys,
        batch: &mut OrgBatch,
    ) -> Result<(), EffectError> {
        let admitted = &entry.analyzed.admitted;
        let version = self.extractor_version(admitted.scope.org());
        let builder = FindingBuilder::new(document, entry, keys, self.store.clock().now(), &version);
        batch.findings = builder.findings();
        if let Some(made) = admitted.words.as_ref().and_then(|words| words.made.as_ref()) {
            let by_hand = builder.manual_memory(made);
            // The goal that a person puts down is that goal, and not one that was also read from its words.
            batch.findings.retain(|read| made.kind != Kind::Goal || read.assertion.entity != EntityType::Goal);
            batch.findings.extend(by_hand);
        }
        let document = self.document(document, entry, passages, &version).map_err(|disposition| (disposition, None))?;
        batch.documents.push(document);
        lend(&admitted.grant, &mut batch.findings);
        Ok(())
    }

    /// Seed 000, `/efimero`: nothing is stored; danger is still raised, without content.
    fn ephemeral(&self, entry: &EmbeddedMessage) -> OrgBatch {
        let admitted = &entry.analyzed.admitted;
        let risks = entry.analyzed.text.iter().flat_map(|text| &text.1.risk);
        let risks = risks.filter(|risk| !risk.denied && risk.level.calls());
        let alarms = risks.map(|risk| {
            self.count_risk(risk.class);
            let (class, experiencer) = (risk.class.code(), risk.experiencer);
            let (learned, level) = (risk.learned, risk.level);
            RiskAlarm { scope: admitted.scope, message: admitted.message, class, experiencer, learned, level }
        });
        OrgBatch { alarms: alarms.collect(), ..OrgBatch::default() }
    }

    fn command(
        &self,
        command: &MemoryCommand,
        entry: &EmbeddedMessage,
        batch: &mut OrgBatch,
    ) -> Result<(), EffectError> {
        let admitted = &entry.analyzed.admitted;
        let at = issued_at(command, &admitted.envelope, self.store.clock().now());
        if let Some(on) = ephemeral_switch(command.command) {
            let stamp = (at, mode_id(&admitted.message));
            batch.ephemeral.push(EphemeralChange { scope: admitted.scope, stamp, on });
            return Ok(());
        }
        // How much would go is asked of the verb.
        if command.command == Command::Erase {
            return Ok(());
        }
        // Known but not yet implemented: quarantined rather than lost.
        let Some(CommandIntent::Act(deed)) = intent_of(command) else {
            return Err((Disposition::Quarantined(Reason::SchemaUnknown), Some("command".to_owned())));
        };
        // A model's inference is no evidence.
        if deed == MemoryAction::Reinforced && admitted.references.are_weak() {
            return Err((Disposition::Quarantined(Reason::Malformed), Some("derived_from".to_owned())));
        }
        // A preview counts and changes nothing.
        if command.preview != Some(true) {
            batch.acts.extend(acts(command, admitted, at, deed));
        }
        Ok(())
    }

    fn document(
        &self,
        document: &DocumentSubmitted,
        entry: &EmbeddedMessage,
        passages: Vec<NewPassage>,
        version: &str,
    ) -> Result<NewDocument, Disposition> {
        let unread = Disposition::Quarantined(Reason::RedactionFailed);
        let (redacted, extraction) = entry.analyzed.text.as_deref().ok_or(unread)?;
        let text = &redacted.document().text;
        let redactor = &entry.analyzed.field_redactor;
        let metadata = document.metadata.clone().unwrap_or_default();
        let mut producer_themes = Vec::new();
        for theme in metadata.themes.iter().flatten() {
            producer_themes.push(redactor.clean(theme)?);
        }
        let pages = PageIndex::from_document(document, redacted);
        let file = document.file.as_ref().zip(pages.as_ref()).map(|(f, pages)| -> Result<StoredFile, Disposition> {
            Ok(StoredFile {
                name: redactor.clean(&f.name)?,
                media_type: redactor.clean(&f.media_type)?,
                sha256: pages.sha256().to_owned(),
                uri: redactor.clean_option(f.uri.as_deref())?,
                pages: f.pages.clone().unwrap_or_default(),
                starts: pages.starts().to_vec(),
            })
        });
        let mut content = DocumentContent {
            text: text.clone(),
            unread: entry.analyzed.unread.clone(),
            turns: redacted.document().turns.iter().map(|t| (t.speaker, t.span.start, t.span.end)).collect(),
            themes: extraction.themes.iter().map(|t| (*t).to_owned()).collect(),
            producer_themes,
            producer_sentiment: redactor.clean_option(metadata.sentiment.as_deref())?,
            producer_risk_level: redactor.clean_option(metadata.risk_level.as_deref())?,
            session_key: document.session_key.as_deref().map(str::to_owned),
            source_entity: None,
            proxy_agent: redactor.clean_option(document.provenance.as_ref().and_then(|p| p.proxy_agent.as_deref()))?,
            file: file.transpose()?,
            read_risk_level: None,
            redactions: redacted.redactions().iter().map(crate::stored_replacement).collect(),
        };
        let risks = extraction.risk.iter().map(|r| NewRisk {
            class: r.class.code(),
            denied: r.denied,
            experiencer: r.experiencer,
            learned: r.learned,
            level: r.level,
            temporality: r.temporality,
            detail: RiskDetail { at: r.at, relation: r.relation.map(str::to_owned) },
            quote: r.span.slice(text).to_owned(),
            span: r.span,
            file: pages.as_ref().map(|pages| pages.place(r.span.start)),
        });
        let risks: Vec<NewRisk> = risks.collect();
        for risk in extraction.risk.iter().filter(|risk| !risk.denied) {
            self.count_risk(risk.class);
        }
        // The producer's values are stored and shown next to ours. For an unread text they are the only ones: its calm
        // and safety are unknown.
        let is_read = entry.analyzed.unread.is_none();
        let given = metadata.sentiment.as_deref().and_then(Sentiment::from_code);
        let sentiment = if is_read { Some(extraction.sentiment) } else { given }.map(Sentiment::code);
        // A relative's attempt is extracted but is no danger of the patient.
        let own = extraction.risk.iter().filter(|risk| risk.is_own()).map(|risk| risk.level).max();
        let own = Some(own.unwrap_or(RiskLevel::None)).filter(|_| is_read);
        content.read_risk_level = own.map(|level| level.code().to_owned());
        // A search for danger finds what either says is dangerous.
        let given = metadata.risk_level.as_deref().and_then(RiskLevel::from_code);
        let risk_level = own.max(given).map(RiskLevel::code);
        Ok(NewDocument {
            scope: entry.analyzed.admitted.scope,
            id: document.document_id,
            revision: document.revision,
            document_type: document.document_type,
            occurred_at: document.occurred_at.to_utc(),
            language: redacted.document().language,
            therapist_id: document.therapist_id,
            signed_by: document.signed_by(),
            ends_at: document.ends_at(),
            trust: captured(&entry.analyzed.admitted, document, &redacted.document().turns),
            sentiment,
            risk_level,
            body_hash: entry.analyzed.admitted.body_hash,
            content,
            redaction_policy: redacted.policy().to_owned(),
            extractor_version: version.to_owned(),
            passages,
            risks,
        })
    }
}

/// Trust of the capture. Statements in a role that the producer may not use are untrusted there too; otherwise a
/// promotion would give them a speaker.
fn captured(admitted: &AdmittedMessage, document: &DocumentSubmitted, turns: &[Turn]) -> Trust {
    let origin = admitted.origin(document);
    let lent = origin.tellers(turns).into_iter().all(|teller| admitted.grant.lends(teller));
    if lent { origin.capture(turns) } else { Trust::T5 }
}

/// Statements in a role that the producer may not use are hypotheses until another source confirms them.
fn lend(grant: &Grant, findings: &mut [NewFinding]) {
    for finding in findings.iter_mut().filter(|finding| !grant.lends(finding.assertion.set_by)) {
        let assertion = &mut finding.assertion;
        assertion.set_by = SetBy::Unknown;
        assertion.source_type = SourceType::Unknown;
        assertion.epistemic = SourceType::Unknown.epistemic();
        assertion.trust = Trust::T5;
    }
}

/// The same act on each memory that a command names.
fn acts(
    command: &MemoryCommand,
    admitted: &AdmittedMessage,
    at: DateTime<Utc>,
    deed: MemoryAction,
) -> Vec<NewMemoryAct> {
    let (by, role) = actor(command);
    let who = acting(command);
    let act = |memory: &MemoryId| {
        let id = MemoryEventId(derive("act", &[&admitted.message, memory.0.as_bytes()]));
        NewMemoryAct {
            scope: admitted.scope,
            act: PersonAct { id, memory: *memory, at, deed, by, evidence: None },
            by: role,
            actor: who.clone(),
        }
    };
    let named: Vec<NewMemoryAct> = command.memory_ids.iter().flatten().map(act).collect();
    let evidence: Vec<uuid::Uuid> = command.derived_from.iter().flatten().map(|id| id.0).collect();
    if deed != MemoryAction::Reinforced || evidence.is_empty() {
        return named;
    }
    // An episode supports the belief, or opposes it if it reports a failure.
    let failed = &admitted.references.failed;
    let fails = |id: &uuid::Uuid| command.command == Command::Revise && failed.iter().any(|failed| failed.0 == *id);
    let each = |act: &NewMemoryAct| -> Vec<NewMemoryAct> {
        let with = |evidence: &uuid::Uuid| {
            let deed = if fails(evidence) { MemoryAction::Weakened } else { deed };
            let id = evidence_action_id(deed, act.act.memory, *evidence, role);
            NewMemoryAct { act: PersonAct { id, deed, evidence: Some(*evidence), ..act.act.clone() }, ..act.clone() }
        };
        evidence.iter().filter(|evidence| **evidence != act.act.memory.0).map(with).collect()
    };
    named.iter().flat_map(each).collect()
}

/// Replaces memories by a person's words. The findings of the words count instead, and the mentioned memories end
/// unless they are replaced. An answer is the answer to a task. A patient's answer counts only for the question, and
/// never for an allergy. Other words of it are the patient's statements; otherwise any text could be sent with a
/// clinician's authority.
fn apply_replacement(words: &CommandText, command: &MemoryCommand, admitted: &AdmittedMessage, batch: &mut OrgBatch) {
    // A manual memory may replace others by its words. It ends nothing, and neither does model output.
    if words.made.is_some() || admitted.references.are_weak() {
        return;
    }
    let is_answer = command.command == Command::Answer;
    let answers = |finding: &NewFinding| match command.actor.role {
        ActorRole::Clinician => true,
        ActorRole::Patient => {
            let allergy = matches!(finding.assertion.entity, EntityType::Allergy | EntityType::Intolerance);
            !allergy && words.subject.as_deref() == Some(finding.words.concept.as_str())
        }
        ActorRole::System => false,
    };
    for finding in batch.findings.iter_mut().filter(|finding| is_answer && answers(finding)) {
        finding.assertion.set_by = SetBy::Task;
    }
    let deed = if is_answer { MemoryAction::Answered } else { MemoryAction::Corrected };
    let at = words.document.occurred_at.to_utc();
    batch.acts.extend(acts(command, admitted, at, deed));
}

/// The disposition of a message that was committed separately and rejected while the store accepts others. It is
/// quarantined if its own rows are at fault. It is never a crash suspect, because nothing crashed.
fn refused(error: &StoreError) -> Disposition {
    match error.fault() {
        _ if failpoints::is("refusal_blamed") => Disposition::Quarantined(Reason::CrashSuspect),
        Fault::Rows => {
            tracing::error!(%error, code = "constraint_violation", "a constraint refuses the rows of a message; it is quarantined");
            Disposition::Quarantined(Reason::ConstraintViolation)
        }
        Fault::Store | Fault::Unclear => {
            tracing::warn!(%error, code = "store_refused_message", "the store refuses a message; it will be retried");
            Disposition::Retry
        }
    }
}

/// A rejection that other messages may share.
fn uncounted(disposition: Disposition) -> Disposition {
    match disposition {
        Disposition::Retry if !failpoints::is("waits_counted") => Disposition::Waits,
        other => other,
    }
}

/// The trace that events of a message continue.
fn trace_of(admitted: &AdmittedMessage) -> Option<EventTrace> {
    let document = admitted.document().map(|document| document.document_id);
    admitted.span.traceparent().map(|traceparent| EventTrace { scope: admitted.scope, document, traceparent })
}

fn stored(ephemeral: bool) -> Disposition {
    if ephemeral { Disposition::Ephemeral } else { Disposition::Stored }
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;

//! Acts, answers, lent roles and refusals, before they reach the store.

use serde_json::{Value, json};
use uuid::Uuid;

use super::*;
use crate::fixture::{DOCUMENT, admitted, command, document, document_message, instant, scope};
use crate::manual_memory::{ManualMemory, ReferencedMemory};
use anamnesis_core::memory::Kind;
use anamnesis_sql::DbError;
use anamnesis_store::records::FindingWords;

const OTHER: &str = "7c1f0a52-11d0-4c43-9a55-0a4f6c1d2e02";
const AT: &str = "2026-03-02T10:00:00Z";

fn entry() -> AdmittedMessage {
    admitted(document_message("chat_message", &json!({"text": "Duerme mal."})))
}

/// A finding with this concept, as a profile states it; everything else is of no matter here.
fn finding(entity: EntityType, concept: &str, set_by: SetBy) -> NewFinding {
    let fields = json!({"actor": OTHER, "recorded_at": AT, "allergies": [{"substance": concept}]});
    let admitted = admitted(crate::fixture::envelope("profile.updated.v1", &fields));
    let (field_redactor, keys) = (crate::analyze::tests::field_redactor(), crate::fixture::keys());
    let concept_of = |_: &str| None;
    let profile_findings = ProfileFindings {
        admitted: &admitted,
        redactor: &field_redactor,
        keys: &keys,
        now: instant(AT),
        concept: &concept_of,
    };
    let Message::ProfileUpdated(profile) = &admitted.envelope.message else { panic!("a profile") };
    let mut finding = profile_findings.profile(profile).unwrap().1.remove(0);
    finding.words = FindingWords { concept: concept.to_owned(), ..finding.words };
    (finding.assertion.entity, finding.assertion.set_by) = (entity, set_by);
    finding
}

fn made(name: &str, role: &str, fields: &Value, deed: MemoryAction) -> Vec<NewMemoryAct> {
    acts(&command(name, role, fields), &entry(), instant(AT), deed)
}

#[test]
fn a_command_acts_once_on_each_memory_that_it_names() {
    let acts = made("verify", "clinician", &json!({"memory_ids": [DOCUMENT, OTHER]}), MemoryAction::Verified);
    let memories: Vec<String> = acts.iter().map(|act| act.act.memory.0.to_string()).collect();
    assert_eq!(memories, [DOCUMENT, OTHER]);
    assert_ne!(acts[0].act.id, acts[1].act.id);
    for act in &acts {
        assert_eq!((act.act.deed, act.act.at, act.act.evidence), (MemoryAction::Verified, instant(AT), None));
        assert_eq!((act.act.by, act.by, act.scope), (SetBy::Clinician, "clinician", scope()));
    }
    assert!(made("verify", "clinician", &json!({}), MemoryAction::Verified).is_empty());
}

#[test]
fn each_role_is_the_actor_of_its_own_acts() {
    for (role, by) in [("patient", SetBy::Patient), ("clinician", SetBy::Clinician), ("system", SetBy::Unknown)] {
        let acts = made("confirm", role, &json!({"memory_ids": [OTHER]}), MemoryAction::Confirmed);
        assert_eq!((acts[0].act.by, acts[0].by), (by, role));
    }
}

#[test]
fn evidence_supports_a_memory_once_and_never_itself() {
    let both = json!({"memory_ids": [DOCUMENT], "derived_from": [OTHER, DOCUMENT]});
    let acts = made("reinforce", "patient", &both, MemoryAction::Reinforced);
    let evidence: Vec<_> = acts.iter().map(|act| act.act.evidence.map(|id| id.to_string())).collect();
    assert_eq!(evidence, [Some(OTHER.to_owned())]);
    let mut another = entry();
    another.message = [9; 32];
    let again = super::acts(&command("reinforce", "patient", &both), &another, instant(AT), MemoryAction::Reinforced);
    assert_eq!(again[0].act.id, acts[0].act.id, "whichever message says so");
    let plain = made("reinforce", "patient", &json!({"memory_ids": [DOCUMENT]}), MemoryAction::Reinforced);
    assert_eq!((plain.len(), plain[0].act.evidence), (1, None));
    let other_deed = made("confirm", "patient", &both, MemoryAction::Confirmed);
    assert_eq!((other_deed.len(), other_deed[0].act.evidence), (1, None));
}

fn answered(
    name: &str,
    role: &str,
    subject: Option<&str>,
    change: impl FnOnce(&mut AdmittedMessage, &mut CommandText),
) -> OrgBatch {
    let mut batch = OrgBatch {
        findings: vec![
            finding(EntityType::Medication, "sertraline", SetBy::Patient),
            finding(EntityType::Medication, "ibuprofen", SetBy::Patient),
            finding(EntityType::Allergy, "penicillin", SetBy::Patient),
        ],
        ..OrgBatch::default()
    };
    let document = document("intake_form", &json!({"text": "Ahora 100 mg.", "occurred_at": AT}));
    let mut words = CommandText { document, subject: subject.map(str::to_owned), made: None };
    let mut entry = entry();
    change(&mut entry, &mut words);
    apply_replacement(&words, &command(name, role, &json!({"memory_ids": [DOCUMENT]})), &entry, &mut batch);
    batch
}

fn tasks(batch: &OrgBatch) -> Vec<&str> {
    let set = batch.findings.iter().filter(|finding| finding.assertion.set_by == SetBy::Task);
    set.map(|finding| finding.words.concept.as_str()).collect()
}

#[test]
fn a_patients_answer_settles_what_was_asked_alone_and_never_an_allergy() {
    let batch = answered("answer", "patient", Some("sertraline"), |_, _| {});
    assert_eq!(tasks(&batch), ["sertraline"]);
    assert_eq!((batch.acts.len(), batch.acts[0].act.deed), (1, MemoryAction::Answered));
    assert!(tasks(&answered("answer", "patient", Some("penicillin"), |_, _| {})).is_empty());
    assert!(tasks(&answered("answer", "patient", None, |_, _| {})).is_empty());
    assert!(tasks(&answered("answer", "system", Some("sertraline"), |_, _| {})).is_empty());
    let clinician = answered("answer", "clinician", Some("sertraline"), |_, _| {});
    assert_eq!(tasks(&clinician), ["sertraline", "ibuprofen", "penicillin"]);
}

#[test]
fn a_correction_is_no_answer() {
    let batch = answered("correct", "clinician", Some("sertraline"), |_, _| {});
    assert!(tasks(&batch).is_empty());
    assert_eq!(batch.acts[0].act.deed, MemoryAction::Corrected);
    assert_eq!(batch.acts[0].act.at, instant(AT), "it acts when its words were said");
}

#[test]
fn what_is_made_by_hand_or_comes_from_a_model_ends_nothing() {
    let by_hand = answered("answer", "clinician", None, |_, words| {
        words.made = Some(ManualMemory { kind: Kind::Note, place: None, repeats: None });
    });
    let of_model = answered("answer", "clinician", None, |entry, _| {
        entry.references.named =
            vec![ReferencedMemory { kind: Kind::Belief, id: MemoryId(Uuid::from_u128(4)), trust: Trust::T4 }];
    });
    for batch in [by_hand, of_model] {
        assert!(batch.acts.is_empty() && tasks(&batch).is_empty());
    }
}

#[test]
fn a_role_that_the_producer_may_not_bring_is_nobodys() {
    let mut findings = vec![
        finding(EntityType::Medication, "sertraline", SetBy::Patient),
        finding(EntityType::Medication, "ibuprofen", SetBy::Clinician),
    ];
    let before = findings.clone();
    lend(&Grant::everything(), &mut findings);
    assert_eq!(findings, before);
    lend(&Grant::of_a_family(), &mut findings);
    assert_eq!(findings[0], before[0]);
    let lost = &findings[1].assertion;
    assert_eq!((lost.set_by, lost.source_type, lost.trust), (SetBy::Unknown, SourceType::Unknown, Trust::T5));
    assert_eq!(lost.epistemic, SourceType::Unknown.epistemic());
}

#[test]
fn a_capture_in_a_role_that_is_not_lent_is_of_unknown_origin() {
    let note = document("clinical_note", &json!({"text": "Duerme mal."}));
    let mut entry = entry();
    assert_eq!(captured(&entry, &note, &[]), Trust::T1);
    entry.grant = Grant::of_a_family();
    assert_eq!(captured(&entry, &note, &[]), Trust::T5);
    let chat = document("chat_message", &json!({"text": "Duermo mal."}));
    assert_eq!(captured(&entry, &chat, &[]), Trust::T1);
}

#[test]
fn a_refusal_is_held_against_a_message_only_where_its_own_rows_are_at_fault() {
    let quarantined = Disposition::Quarantined(Reason::ConstraintViolation);
    for (error, wanted) in [
        (StoreError::Db(DbError::Constraint { constraint: "documents_pk".to_owned() }), quarantined),
        (StoreError::Ungrounded, quarantined),
        (StoreError::Db(DbError::Other { code: "22003".to_owned() }), quarantined),
        (StoreError::Db(DbError::Other { code: "XX000".to_owned() }), Disposition::Retry),
        (StoreError::Db(DbError::Transient("busy")), Disposition::Retry),
        (StoreError::Shape, Disposition::Retry),
    ] {
        assert_eq!(refused(&error), wanted, "{error:?}");
    }
    assert_eq!(uncounted(Disposition::Retry), Disposition::Waits);
    for one in [quarantined, Disposition::Stored, Disposition::Ephemeral, Disposition::Waits] {
        assert_eq!(uncounted(one), one);
    }
    assert_eq!((stored(true), stored(false)), (Disposition::Ephemeral, Disposition::Stored));
}

use serde_json::{Value, json};
use uuid::Uuid;

use super::*;
use anamnesis_config::intake::{Every, Organizations};
use anamnesis_core::document::DocumentType;
use anamnesis_core::memory::SetBy;
use anamnesis_core::producer::{ContractMessageType, ProducerRole};
use anamnesis_messages::Decoder;

const OURS: OrgId = OrgId(Uuid::from_u128(1));
const OTHERS: OrgId = OrgId(Uuid::from_u128(2));

/// A chat application of one organisation, published by the user `chat`.
fn chat(organization: OrgId) -> Producer {
    Producer {
        source: "urn:chat".to_owned(),
        organizations: Organizations::Listed(vec![organization]),
        broker_user: "chat".to_owned(),
        key_id: String::new(),
        key_file: std::path::PathBuf::new(),
        types: vec![ContractMessageType::Document, ContractMessageType::Command],
        document_types: vec![DocumentType::ChatMessage],
        roles: vec![ProducerRole::Patient],
    }
}

fn bindings(producers: Vec<Producer>, change: impl FnOnce(&mut IntakeConfig)) -> ProducerPolicy {
    let mut config = IntakeConfig { producers, ..IntakeConfig::default() };
    change(&mut config);
    ProducerPolicy::new(&config).expect("keys")
}

fn bound() -> ProducerPolicy {
    bindings(vec![chat(OURS)], |_| ())
}

fn message(source: &str, kind: &str, organization: OrgId, more: &Value) -> Envelope {
    let id = Uuid::from_u128(9);
    let mut data = json!({"organization_id": organization, "patient_id": id});
    for (key, value) in more.as_object().expect("fields") {
        data[key] = value.clone();
    }
    let event = json!({"specversion": "1.0", "id": "e", "source": source, "type": kind, "data": data});
    Decoder::default().decode(event.to_string().as_bytes()).expect("an event")
}

fn document(source: &str, organization: OrgId, document_type: &str) -> Envelope {
    let more = json!({"document_id": Uuid::from_u128(5), "revision": 1, "document_type": document_type,
        "occurred_at": "2026-03-02T10:00:00Z", "text": "x"});
    message(source, ContractMessageType::Document.code(), organization, &more)
}

fn command(role: &str) -> Envelope {
    let more = json!({"actor": {"id": Uuid::from_u128(9), "role": role}, "command": "end",
        "memory_ids": [Uuid::from_u128(3)]});
    message("urn:chat", ContractMessageType::Command.code(), OURS, &more)
}

fn by(user: Option<&str>, envelope: Envelope) -> Envelope {
    Envelope { origin: MessageOrigin::Broker { user: user.map(str::to_owned), received: None }, ..envelope }
}

fn refused(bindings: &ProducerPolicy, envelope: &Envelope) -> Option<(Reason, String)> {
    let refusal = bindings.grant(envelope, DateTime::UNIX_EPOCH).err()?;
    Some((refusal.reason, refusal.field.unwrap_or_default()))
}

fn not(field: &str) -> Option<(Reason, String)> {
    Some((Reason::NotPermitted, field.to_owned()))
}

#[test]
fn a_producer_is_known_by_the_brokers_user_and_not_by_what_it_calls_itself() {
    let sent = |user| by(user, document("urn:chat", OURS, "chat_message"));
    assert_eq!(refused(&bound(), &sent(Some("chat"))), None);
    assert_eq!(refused(&bound(), &sent(Some("ehr"))), not("user_id"));
    assert_eq!(refused(&bound(), &sent(None)), not("user_id"));
    assert_eq!(refused(&bound(), &by(Some("chat"), document("urn:ehr", OURS, "chat_message"))), not("source"));
    let foreign = by(Some("chat"), document("urn:chat", OTHERS, "chat_message"));
    assert_eq!(refused(&bound(), &foreign), Some((Reason::OrganizationMismatch, "organization_id".to_owned())));
}

#[test]
fn a_chat_sends_no_note_no_profile_and_no_clinicians_command() {
    let sent = |envelope| refused(&bound(), &by(Some("chat"), envelope));
    assert_eq!(sent(document("urn:chat", OURS, "clinical_note")), not("document_type"));
    let profile = json!({"actor": Uuid::from_u128(9), "recorded_at": "2026-03-02T10:00:00Z"});
    assert_eq!(sent(message("urn:chat", ContractMessageType::Profile.code(), OURS, &profile)), not("type"));
    assert_eq!(sent(command("clinician")), not("actor.role"));
    assert_eq!(sent(command("system")), not("actor.role"));
    assert_eq!(sent(command("patient")), None);
    let grant = bound().grant(&by(Some("chat"), command("patient")), DateTime::UNIX_EPOCH).expect("permitted");
    assert!(grant.lends(SetBy::Patient) && !grant.lends(SetBy::Clinician) && grant.lends(SetBy::Unknown));
    assert!(grant.replaces(DocumentType::ClinicalNote, DocumentType::ChatMessage).is_err());
    assert!(grant.replaces(DocumentType::ChatMessage, DocumentType::ChatMessage).is_ok());
}

#[test]
fn without_a_binding_the_broker_lets_nothing_in_unless_that_is_allowed() {
    let note = || by(Some("guest"), document("urn:any", OURS, "clinical_note"));
    assert_eq!(refused(&bindings(Vec::new(), |_| ()), &note()), not("source"));
    let allowing = |config: &mut IntakeConfig| config.unbound_producers = UnboundProducers::Allow;
    assert_eq!(refused(&bindings(Vec::new(), allowing), &note()), None);
    // Once one producer is bound, all others are unknown.
    assert_eq!(refused(&bindings(vec![chat(OURS)], allowing), &note()), not("source"));
    let unproven = || vec![Producer { broker_user: String::new(), ..chat(OURS) }];
    let sent = by(None, document("urn:chat", OURS, "chat_message"));
    assert_eq!(refused(&bindings(unproven(), |_| ()), &sent), not("user_id"));
    assert_eq!(refused(&bindings(unproven(), allowing), &sent), None);
}

#[test]
fn files_act_under_the_source_of_the_configuration_whatever_they_call_themselves() {
    let file = |source: &str, kind: &str| Envelope { origin: MessageOrigin::Files, ..document(source, OURS, kind) };
    let folder = bindings(vec![Producer { organizations: Organizations::All(Every::Any), ..chat(OURS) }], |config| {
        config.files.source = "urn:chat".to_owned();
    });
    assert_eq!(refused(&folder, &file("urn:ehr", "chat_message")), None);
    assert_eq!(refused(&folder, &file("urn:ehr", "clinical_note")), not("document_type"));
    // Unbound producers may send nothing, unless that is allowed.
    let unbound = bindings(Vec::new(), |_| ());
    for kind in ["chat_message", "intake_form", "clinical_note"] {
        assert_eq!(refused(&unbound, &file("urn:any", kind)), not("source"), "{kind}");
    }
    assert_eq!(refused(&bound(), &file("urn:ehr", "chat_message")), not("source"), "another producer's binding");
    let allowing = |config: &mut IntakeConfig| config.unbound_producers = UnboundProducers::Allow;
    assert_eq!(refused(&bindings(Vec::new(), allowing), &file("urn:any", "clinical_note")), None);
    // Bindings never restrict the one who has opened the store with its keys.
    assert_eq!(refused(&unbound, &document("urn:any", OURS, "clinical_note")), None);
}

#[test]
fn one_source_listed_twice_has_the_rights_of_either_binding_and_of_no_mixture() {
    let notes = Producer {
        organizations: Organizations::Listed(vec![OTHERS]),
        document_types: vec![DocumentType::ClinicalNote],
        roles: vec![ProducerRole::Clinician],
        ..chat(OURS)
    };
    let both = bindings(vec![chat(OURS), notes], |_| ());
    let sent = |organization, kind| refused(&both, &by(Some("chat"), document("urn:chat", organization, kind)));
    assert_eq!((sent(OURS, "chat_message"), sent(OTHERS, "clinical_note")), (None, None));
    assert!(sent(OURS, "clinical_note").is_some() && sent(OTHERS, "chat_message").is_some());
}

#[test]
fn an_organisation_that_may_not_register_itself_is_refused() {
    let closed = bindings(Vec::new(), |config| config.unknown_organizations = UnknownOrganizations::Refuse);
    assert_eq!(closed.admit(OURS, |_| true), Ok(OrganizationAdmission::Known));
    assert_eq!(closed.admit(OURS, |_| false).expect_err("refused").reason, Reason::UnknownOrganization);
    assert_eq!(bound().admit(OURS, |_| false), Ok(OrganizationAdmission::Register));
}

//! Records of older systems as messages of the contract.

use super::*;
use crate::fixture::{ACTOR, instant, scope};
use anamnesis_messages::{Decoder, Message};

fn importer() -> Importer {
    Importer { by: ACTOR.parse().unwrap(), undated: instant("2020-01-01T00:00:00Z") }
}

fn sent(record: &Value, id: u128) -> Message {
    let legacy = read(record).unwrap();
    let body = message(scope(), &legacy, importer(), Uuid::from_u128(id), Vec::new()).to_string();
    Decoder::default().decode(body.as_bytes()).unwrap().message
}

fn added(record: &Value, id: u128) -> MemoryCommand {
    match sent(record, id) {
        Message::MemoryCommand(command) => *command,
        other => panic!("{:?}", other.kind()),
    }
}

#[test]
fn a_record_becomes_a_command_that_adds_its_words() {
    let record = json!({"memory": "Prefiere sesiones por la mañana", "is_proxy": true, "proxy_agent": "asistente",
        "confidence": 0.7, "created_at": "2024-05-06T07:08:09Z"});
    let add = added(&record, 5);
    assert_eq!((add.command, add.actor.role), (Command::Add, ActorRole::System));
    assert_eq!(add.text.as_deref(), Some("Prefiere sesiones por la mañana"));
    assert_eq!(add.issued_at, Some(instant("2024-05-06T07:08:09Z")));
    let provenance = add.provenance.unwrap();
    assert_eq!((provenance.is_proxy, provenance.confidence), (Some(true), Some(0.7)));
    assert_eq!(provenance.proxy_agent.as_deref(), Some("asistente"));
    assert_eq!(provenance.cognitive_state, None);
}

#[test]
fn what_has_no_instant_has_the_importers() {
    assert_eq!(added(&json!({"memory": "Duerme mal"}), 5).issued_at, Some(importer().undated));
}

#[test]
fn two_records_that_say_the_same_are_two_messages() {
    let record = json!({"memory": "Duerme mal"});
    let (one, two) = (added(&record, 5), added(&record, 6));
    assert_eq!(one.text, two.text);
    assert_ne!(one, two);
    assert_eq!(one, added(&record, 5), "the same record is the same message");
}

#[test]
fn a_profile_dictionary_becomes_a_profile_event() {
    let record = json!({"tono": "directo", "idioma": "español"});
    let Message::ProfileUpdated(profile) = sent(&record, 5) else { panic!("a profile") };
    assert_eq!((profile.recorded_at, profile.actor.to_string()), (importer().undated, ACTOR.to_owned()));
    let said = profile.preferences.unwrap();
    let said: Vec<(&str, &str)> = said.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    assert_eq!(said, [("idioma", "español"), ("tono", "directo")]);
}

#[test]
fn every_word_of_a_record_is_cleaned_and_its_numbers_stay() {
    let record = json!({"text": "Rosa", "tags": ["Rosa", 3, null], "of": {"who": "Rosa", "sure": true}});
    let clean = |text: &str| Some(text.replace("Rosa", "[PERSON]"));
    let wanted = json!({"text": "[PERSON]", "tags": ["[PERSON]", 3, null], "of": {"who": "[PERSON]", "sure": true}});
    assert_eq!(cleaned(&record, &clean), Some(wanted));
}

#[test]
fn one_word_that_cannot_be_cleaned_refuses_the_record() {
    let clean = |text: &str| (text != "Rosa").then(|| text.to_owned());
    for record in [json!("Rosa"), json!(["x", "Rosa"]), json!({"a": {"b": ["Rosa"]}})] {
        assert_eq!(cleaned(&record, &clean), None, "{record}");
    }
    assert_eq!(cleaned(&json!({"Rosa": "x"}), &clean), Some(json!({"Rosa": "x"})), "a key is no word of the patient");
}

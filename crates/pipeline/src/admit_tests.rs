//! Dates, modes, consents and revisions, before any work.

use serde_json::{Value, json};

use super::*;
use crate::fixture::{ACTOR, DOCUMENT, PATIENT, admitted, document, document_message, envelope, instant};
use anamnesis_core::document::DocumentType;

const NOW: &str = "2026-03-02T12:00:00Z";

fn commanded(name: &str, fields: Value) -> Envelope {
    let mut body = json!({"command": name, "actor": {"id": ACTOR, "role": "patient"}, "memory_ids": [DOCUMENT]});
    for (name, value) in fields.as_object().unwrap() {
        body[name] = value.clone();
    }
    envelope("memory.command.v1", &body)
}

fn note(at: &str) -> Envelope {
    document_message("clinical_note", &json!({"text": "Duerme mal.", "occurred_at": at}))
}

fn consent(provision: &str, scope: &str, from: &str) -> Envelope {
    let fields = json!({"scope": scope, "provision": provision, "from": from, "recorded_by": ACTOR});
    envelope("consent.recorded.v1", &fields)
}

fn batch() -> AdmissionBatch {
    AdmissionBatch::new(AdmissionState::default(), &Keys::default(), HashMap::new())
}

fn patient() -> PatientId {
    PATIENT.parse().unwrap()
}

#[test]
fn a_command_is_of_its_own_time_else_of_its_envelopes_else_of_now() {
    let now = instant(NOW);
    let mut message = commanded("confirm", json!({"issued_at": "2026-03-01T08:00:00Z"}));
    message.time = Some(instant("2026-03-01T09:00:00Z"));
    let Message::MemoryCommand(mut command) = message.message.clone() else { panic!("a command") };
    assert_eq!(issued_at(&command, &message, now), instant("2026-03-01T08:00:00Z"));
    command.issued_at = None;
    assert_eq!(issued_at(&command, &message, now), instant("2026-03-01T09:00:00Z"));
    message.time = None;
    assert_eq!(issued_at(&command, &message, now), now);
}

#[test]
fn a_message_dated_beyond_tomorrow_is_refused_by_the_field_that_dates_it() {
    let now = instant(NOW);
    let (last, late) = ("2026-03-03T12:00:00Z", "2026-03-03T12:00:01Z");
    let signal =
        |at: &str| envelope("health_signal.recorded.v1", &json!({"metric": "steps", "value": 1, "synced_at": at}));
    let profile = |at: &str| envelope("profile.updated.v1", &json!({"actor": ACTOR, "recorded_at": at}));
    let command = |at: &str| commanded("confirm", json!({"issued_at": at}));
    type Made<'a> = &'a dyn Fn(&str) -> Envelope;
    let all: [(Made<'_>, &str); 4] =
        [(&note, "occurred_at"), (&signal, "synced_at"), (&profile, "recorded_at"), (&command, "issued_at")];
    for (made, field) in all {
        assert_eq!(not_yet(&made(last), now), None, "{field}");
        assert_eq!(not_yet(&made(late), now), Some(field));
    }
    let mut silent = commanded("confirm", json!({}));
    silent.time = Some(instant(late));
    assert_eq!(not_yet(&silent, now), Some("time"));
    let mut dated = command(last);
    dated.time = Some(instant(late));
    assert_eq!(not_yet(&dated, now), None, "the command dates itself");
    assert_eq!(not_yet(&consent("permit", "memory", "2027-01-01T00:00:00Z"), now), None, "it may begin later");
}

#[test]
fn only_what_says_something_has_a_time_at_which_it_was_said() {
    let now = instant(NOW);
    assert_eq!(said_at(&note("2026-02-01T08:00:00+02:00"), now), Some(instant("2026-02-01T06:00:00Z")));
    let at = json!({"issued_at": "2026-03-01T08:00:00Z"});
    let when = Some(instant("2026-03-01T08:00:00Z"));
    assert_eq!(said_at(&commanded("confirm", at.clone()), now), None);
    assert_eq!(said_at(&commanded("promote", at.clone()), now), when, "a capture's own words");
    let mut says = at;
    says["text"] = json!("Ya no le duele.");
    assert_eq!(said_at(&commanded("correct", says.clone()), now), when);
    says["text"] = json!("sí");
    assert_eq!(said_at(&commanded("answer", says), now), None, "a yes is an act");
    assert_eq!(said_at(&consent("deny", "memory", NOW), now), None);
}

#[test]
fn only_two_commands_switch_the_mode_and_rows_of_a_message_differ() {
    let switches: Vec<_> = Command::ALL.iter().filter_map(|one| Some((*one, ephemeral_switch(*one)?))).collect();
    assert_eq!(switches, [(Command::EphemeralOn, true), (Command::EphemeralOff, false)]);
    assert_ne!(consent_id(&[1; 32]), mode_id(&[1; 32]));
    assert_ne!(consent_id(&[1; 32]), consent_id(&[2; 32]));
    assert_eq!(mode_id(&[1; 32]), mode_id(&[1; 32]));
}

#[test]
fn a_mode_of_the_same_batch_holds_from_its_own_time_on() {
    let now = instant(NOW);
    let place = |(place, envelope)| DecodedMessage { place, span: Default::default(), envelope: Box::new(envelope) };
    let on = commanded("ephemeral_on", json!({"issued_at": "2026-03-01T10:00:00Z"}));
    let off = commanded("ephemeral_off", json!({"issued_at": "2026-03-01T11:00:00Z"}));
    let tomorrow = commanded("ephemeral_on", json!({"issued_at": "2026-03-09T10:00:00Z"}));
    let entries: Vec<DecodedMessage> = [off, on, tomorrow].into_iter().enumerate().map(place).collect();
    let mut batch = batch();
    assert!(!batch.ephemeral(&note("2026-03-01T10:30:00Z"), now), "nobody switched anything");
    batch.modes(&entries, now);
    for (at, nothing_kept) in [
        ("2026-03-01T09:59:00Z", false),
        ("2026-03-01T10:30:00Z", true),
        ("2026-03-01T11:30:00Z", false),
        ("2026-03-10T10:00:00Z", false),
    ] {
        assert_eq!(batch.ephemeral(&note(at), now), nothing_kept, "{at}");
    }
    assert!(!batch.ephemeral(&consent("deny", "memory", "2026-03-01T10:30:00Z"), now), "what may be kept is kept");
}

#[test]
fn a_consent_binds_what_comes_after_it_in_the_batch() {
    let (now, mut batch) = (instant(NOW), batch());
    let message = note("2026-03-01T10:00:00Z");
    assert!(batch.permits(&message, false, now) && !batch.permits(&message, true, now), "nobody said anything");
    assert!(!batch.denies(&message, now));
    batch.note(&admitted(consent("permit", " Memory ", "2026-01-01T00:00:00Z")), now);
    assert!(batch.permits(&message, true, now));
    assert!(!batch.permits(&note("2025-12-31T10:00:00Z"), true, now), "said before the permit");
    batch.note(&admitted(consent("deny", "memory", "2026-02-01T00:00:00Z")), now);
    assert!(!batch.permits(&message, false, now) && batch.denies(&message, now));
    assert!(batch.permits(&consent("permit", "memory", NOW), true, now), "a consent needs none");
    assert!(batch.known.looked[&patient()].contains(&consent_id(&[1; 32])));
}

#[test]
fn a_consent_of_an_unknown_scope_opens_and_closes_nothing() {
    let (now, mut batch) = (instant(NOW), batch());
    batch.note(&admitted(consent("deny", "marketing", "2026-01-01T00:00:00Z")), now);
    assert!(batch.permits(&note("2026-03-01T10:00:00Z"), false, now));
    assert_eq!(batch.known.looked[&patient()].len(), 1, "its row is this batch's own all the same");
    batch.note(&admitted(note("2026-03-01T10:00:00Z")), now);
    batch.note(&admitted(commanded("confirm", json!({}))), now);
    assert_eq!(batch.known.looked[&patient()].len(), 1);
    batch.note(&admitted(commanded("ephemeral_on", json!({}))), now);
    assert!(batch.known.looked[&patient()].contains(&mode_id(&[1; 32])));
}

#[test]
fn a_revision_under_another_message_is_a_repetition_or_a_reused_id() {
    let (mut batch, id) = (batch(), DOCUMENT.parse().unwrap());
    let mut take = |place, revision, body| batch.revision(place, patient(), id, revision, [body; 32]);
    assert_eq!(take(0, 1, 7), Ok(()));
    assert_eq!(take(1, 1, 7), Err(MessageOutcome::new(1, Disposition::Duplicate)));
    let reused = MessageOutcome::quarantined(2, Reason::IdReused, Some("revision".to_owned()));
    assert_eq!(take(2, 1, 8), Err(reused));
    assert_eq!(take(3, 2, 8), Ok(()));
    batch.known.revisions.insert((patient(), id, 3), [9; 32]);
    assert!(batch.revision(4, patient(), id, 3, [9; 32]).is_err(), "what is stored counts too");
}

#[test]
fn a_document_keeps_to_types_that_may_replace_each_other() {
    let mut batch = batch();
    let chat = document("chat_message", &json!({"text": "Hola."}));
    assert!(batch.same_type(&chat, &Grant::everything()).is_ok(), "nothing is there yet");
    batch.known.types.insert((chat.patient_id, chat.document_id), vec![DocumentType::ClinicalNote]);
    assert_eq!(batch.same_type(&chat, &Grant::everything()).unwrap_err().reason, Reason::NotPermitted);
    let form = document("intake_form", &json!({"text": "Hola."}));
    assert!(batch.same_type(&form, &Grant::everything()).is_ok());
    assert!(batch.same_type(&form, &Grant::of_a_family()).is_err(), "a folder takes back no note");
}

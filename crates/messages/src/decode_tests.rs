use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::contract::Message;

/// Stands in every value of a bad message: it must never come back.
const CANARY: &str = "Ximena Quiroga-Zalduendo";

fn document() -> Value {
    json!({
        "organization_id": "7d0f4d3e-9a52-4a55-8d3c-0d6d7c6c2b11",
        "patient_id": "1f9a6f1c-2f0e-4a3b-9c7d-5e8f00000001",
        "document_id": "a3b1c5d7-0001-4000-8000-000000000001",
        "revision": 1,
        "document_type": "session_transcript",
        "occurred_at": "2026-03-02T10:00:00-05:00",
        "language": "es",
        "turns": [
            {"speaker": "clinician", "text": "¿Cómo ha dormido?", "at_ms": 1200},
            {"speaker": "patient", "text": "Casi nada."}
        ],
        "known_identities": [{"role": "patient", "names": [CANARY], "birth_date": "1980-05-01"}],
        "provenance": {"source": "told by Claire", "source_type": null, "is_proxy": false, "confidence": 0.5, "cognitive_state": 80}
    })
}

fn event(data: Value) -> Value {
    json!({"specversion": "1.0", "id": "e-1", "source": "urn:clinic:scribe", "type": "anamnesis.document.submitted.v1",
        "time": "2026-03-02T15:00:01Z", "partitionkey": "1f9a6f1c-2f0e-4a3b-9c7d-5e8f00000001",
        "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "datacontenttype": "application/json", "data": data})
}

fn decode(message: &Value) -> Result<Envelope, Rejection> {
    Decoder::default().decode(message.to_string().as_bytes())
}

/// The message with one field set (or, with no value, taken out); the field by JSON pointer.
fn with(mut message: Value, pointer: &str, value: impl Into<Option<Value>>) -> Value {
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    let parent = message.pointer_mut(parent).expect("the parent is there");
    match (parent, value.into()) {
        (Value::Object(fields), Some(value)) => drop(fields.insert(key.to_string(), value)),
        (Value::Object(fields), None) => drop(fields.remove(key).expect("the field is there")),
        (Value::Array(items), Some(value)) => items[key.parse::<usize>().expect("an index")] = value,
        _ => panic!("no such place"),
    }
    message
}

fn refused(message: &Value) -> String {
    refused_bytes(message.to_string().as_bytes())
}

/// The refusal as text, after the check that it shows no value.
fn refused_bytes(body: &[u8]) -> String {
    let refusal = Decoder::default().decode(body).expect_err("refused");
    for shown in [refusal.to_string(), format!("{refusal:?}")] {
        for secret in CANARY.split([' ', '-']).chain(["novela", "99999", "Casi nada"]) {
            assert!(!shown.contains(secret), "the refusal quotes the message: {shown}");
        }
    }
    refusal.to_string()
}

#[test]
fn an_event_and_its_bare_data_give_the_same_message_and_hash() {
    let bare = decode(&document()).expect("bare data");
    let event = decode(&event(document())).expect("an event");
    assert_eq!(bare.message, event.message);
    assert_eq!(bare.body_hash, event.body_hash);
    assert_eq!((bare.form, event.form), (EventForm::Bare, EventForm::Event));
    assert_eq!(bare.source, BARE_SOURCE);
    assert_eq!(bare.id, "a3b1c5d7-0001-4000-8000-000000000001:1");
    assert_eq!((event.source.as_str(), event.id.as_str()), ("urn:clinic:scribe", "e-1"));
    assert!(event.traceparent.is_some() && event.partition_key.is_some());
    assert_eq!(event.time.map(|time| time.to_rfc3339()).as_deref(), Some("2026-03-02T15:00:01+00:00"));
}

#[test]
fn an_instant_with_an_offset_is_read_as_utc() {
    let envelope = decode(&document()).expect("decodes");
    let Message::DocumentSubmitted(data) = &envelope.message else { panic!("a document") };
    assert_eq!(data.occurred_at.to_utc().to_rfc3339(), "2026-03-02T15:00:00+00:00");
    assert_eq!(envelope.message.happened_at(), Some(data.occurred_at.to_utc()));
}

#[test]
fn binary_mode_takes_the_attributes_from_beside_the_body() {
    let attributes = Attributes {
        specversion: Some("1.0".to_string()),
        id: Some("e-1".to_string()),
        source: Some("urn:clinic:scribe".to_string()),
        kind: Some("anamnesis.document.submitted.v1".to_string()),
        content_type: Some("application/json; charset=utf-8".to_string()),
        ..Attributes::default()
    };
    let body = document().to_string();
    let binary = Decoder::default().decode_with(attributes.clone(), body.as_bytes()).expect("decodes");
    assert_eq!(binary.body_hash, decode(&event(document())).expect("decodes").body_hash);
    let without = Attributes { id: None, ..attributes };
    let refusal = Decoder::default().decode_with(without, body.as_bytes()).expect_err("no id");
    assert_eq!(refusal.to_string(), "malformed: missing at id");
}

#[test]
fn data_may_be_base64() {
    let mut event = event(document());
    let data = event["data"].take().to_string();
    let event = with(with(event, "/data", None), "/data_base64", json!(STANDARD.encode(data)));
    assert_eq!(decode(&event).expect("decodes").body_hash, decode(&document()).expect("decodes").body_hash);
    assert_eq!(refused(&with(event, "/data_base64", json!("%%"))), "malformed: mistyped at data_base64");
}

#[test]
fn equal_content_has_one_hash_however_it_was_serialised() {
    let compact = document().to_string();
    let pretty = format!("{:#}", document());
    let escaped = compact.replace('ó', "\\u00f3").replace("\"revision\":1", "\"revision\":1.0");
    let hash = |body: &str| Decoder::default().decode(body.as_bytes()).expect("decodes").body_hash;
    assert_ne!(compact, escaped);
    assert_eq!(hash(&compact), hash(&pretty));
    assert_eq!(hash(&compact), hash(&escaped));
    assert_ne!(hash(&compact), hash(&with(document(), "/turns/1/text", json!("Nada.")).to_string()));
}

#[test]
fn unknown_fields_are_ignored_and_counted_by_path() {
    let message = with(with(document(), "/mood", json!("sad")), "/metadata", json!({"mood_score": 3}));
    let message = with(with(message, "/turns/0/words", json!([])), "/turns/1/words", json!([1]));
    let message = with(message, &format!("/known_identities/0/{CANARY}"), json!(1));
    let envelope = decode(&message).expect("decodes");
    let mut unknown = envelope.unknown_fields.clone();
    unknown.sort();
    assert_eq!(unknown, ["known_identities[].*", "metadata.mood_score", "mood", "turns[].words"]);
}

#[test]
fn every_required_field_of_a_document_is_named_when_missing() {
    for field in ["organization_id", "patient_id", "document_id", "document_type", "occurred_at"] {
        let message = with(document(), &format!("/{field}"), None);
        assert_eq!(refused(&message), format!("malformed: missing at {field}"));
        assert_eq!(refused(&event(message)), format!("malformed: missing at {field}"), "inside an event");
    }
    assert_eq!(refused(&with(document(), "/turns", None)), "malformed: missing at text");
    assert_eq!(refused(&with(document(), "/turns/1/speaker", None)), "malformed: missing at turns[1].speaker");
}

#[test]
fn a_bad_field_is_named_and_its_value_is_not() {
    let nil = json!("00000000-0000-0000-0000-000000000000");
    let cases = [
        ("/patient_id", json!(CANARY), "malformed: mistyped at patient_id"),
        ("/patient_id", json!(99999), "malformed: mistyped at patient_id"),
        ("/patient_id", json!(null), "malformed: mistyped at patient_id"),
        ("/patient_id", nil.clone(), "malformed: nil_id at patient_id"),
        ("/organization_id", nil.clone(), "malformed: nil_id at organization_id"),
        ("/document_id", nil.clone(), "malformed: nil_id at document_id"),
        ("/therapist_id", nil, "malformed: nil_id at therapist_id"),
        ("/revision", json!(0), "malformed: out_of_range at revision"),
        ("/revision", json!(-1), "malformed: mistyped at revision"),
        ("/revision", json!("1"), "malformed: mistyped at revision"),
        ("/document_type", json!("novela"), "malformed: mistyped at document_type"),
        ("/occurred_at", json!("2026-03-02"), "malformed: mistyped at occurred_at"),
        ("/occurred_at", json!(CANARY), "malformed: mistyped at occurred_at"),
        ("/occurred_at", json!("0026-03-02T10:00:00Z"), "malformed: out_of_range at occurred_at"),
        ("/language", json!(CANARY), "malformed: mistyped at language"),
        ("/turns", json!([]), "malformed: empty at turns"),
        ("/turns", json!([{"speaker": "patient", "text": " \n"}]), "malformed: empty at turns"),
        ("/turns", json!({"speaker": CANARY}), "malformed: mistyped at turns"),
        ("/turns/1/speaker", json!("novela"), "malformed: mistyped at turns[1].speaker"),
        ("/turns/1/text", json!(99999), "malformed: mistyped at turns[1].text"),
        ("/turns/1/text", json!("Casi nada\u{0}"), "nul_or_control: control at turns[1].text"),
        ("/turns/0/at_ms", json!(-5), "malformed: mistyped at turns[0].at_ms"),
        ("/text", json!(CANARY), "malformed: conflict at turns"),
        ("/known_identities/0/role", json!(CANARY), "malformed: mistyped at known_identities[0].role"),
        ("/known_identities/0/names", json!(CANARY), "malformed: mistyped at known_identities[0].names"),
        (
            "/known_identities/0/birth_date",
            json!("01/05/1980"),
            "malformed: mistyped at known_identities[0].birth_date",
        ),
        (
            "/known_identities/0/birth_date",
            json!("1066-01-01"),
            "malformed: out_of_range at known_identities[0].birth_date",
        ),
        ("/provenance/confidence", json!(1.01), "malformed: out_of_range at provenance.confidence"),
        ("/provenance/confidence", json!("alta"), "malformed: mistyped at provenance.confidence"),
        ("/provenance/cognitive_state", json!(101), "malformed: out_of_range at provenance.cognitive_state"),
        ("/provenance/source_type", json!("novela"), "malformed: mistyped at provenance.source_type"),
        ("/provenance/is_proxy", json!("no"), "malformed: mistyped at provenance.is_proxy"),
    ];
    for (pointer, value, expected) in cases {
        let message = with(document(), pointer, value);
        assert_eq!(refused(&message), expected);
        assert_eq!(refused(&event(message)), expected, "inside an event");
    }
}

#[test]
fn a_plain_text_must_say_something() {
    let note = with(document(), "/turns", None);
    assert!(decode(&with(note.clone(), "/text", json!("Acude sola."))).is_ok());
    assert_eq!(refused(&with(note.clone(), "/text", json!("\t \n"))), "malformed: empty at text");
    assert_eq!(refused(&with(note, "/text", json!(null))), "malformed: missing at text");
}

#[test]
fn the_file_of_an_upload_is_checked_against_its_text() {
    let file =
        json!({"name": "informe.pdf", "media_type": "application/pdf", "sha256": "ab".repeat(32), "pages": [0, 4]});
    let upload = with(with(document(), "/turns", None), "/text", json!("Año\u{c}Más"));
    let upload = with(upload, "/file", file);
    assert!(decode(&upload).is_ok(), "a form feed is a page break");
    let cases = [
        ("/file/sha256", json!("abc"), "malformed: mistyped at file.sha256"),
        ("/file/name", json!(" "), "malformed: empty at file.name"),
        ("/file/pages", json!([0, 4, 4]), "malformed: out_of_range at file.pages[2]"),
        ("/file/pages", json!([1]), "malformed: out_of_range at file.pages[0]"),
        ("/file/pages", json!([0, 8]), "malformed: out_of_range at file.pages[1]"),
    ];
    for (pointer, value, expected) in cases {
        assert_eq!(refused(&with(upload.clone(), pointer, value)), expected);
    }
}

#[test]
fn a_bad_envelope_is_named_too() {
    let cases = [
        ("/specversion", json!("0.3"), "malformed: out_of_range at specversion"),
        ("/id", json!(" "), "malformed: empty at id"),
        ("/id", json!(99999), "malformed: mistyped at id"),
        ("/id", json!("x".repeat(513)), "malformed: out_of_range at id"),
        ("/source", json!(null), "malformed: missing at source"),
        ("/type", json!("novela"), "schema_unknown: unknown_type at type"),
        ("/type", json!("anamnesis.document.submitted.v2"), "schema_unknown: unknown_type at type"),
        ("/time", json!("ayer"), "malformed: mistyped at time"),
        ("/datacontenttype", json!("text/xml"), "malformed: mistyped at datacontenttype"),
        ("/data", json!("{}"), "malformed: mistyped at data"),
        ("/data", json!([CANARY]), "malformed: mistyped at data"),
        ("/data_base64", json!("e30="), "malformed: conflict at data_base64"),
    ];
    for (pointer, value, expected) in cases {
        assert_eq!(refused(&with(event(document()), pointer, value)), expected);
    }
    for field in ["specversion", "id", "source", "type", "data"] {
        let message = with(event(document()), &format!("/{field}"), None);
        // An event without its version is still an event while it has data; without data it is one by its version.
        assert_eq!(refused(&message), format!("malformed: missing at {field}"));
    }
}

#[test]
fn structure_is_refused_before_meaning() {
    let deep = format!("{{\"turns\":{}1{}}}", "[".repeat(100), "]".repeat(100));
    let twice = document().to_string().replacen("\"revision\":1", "\"revision\":1,\"revision\":2", 1);
    let nested = document().to_string().replacen(
        "\"speaker\":\"patient\"",
        "\"speaker\":\"patient\",\"speaker\":\"patient\"",
        1,
    );
    let escaped_twice = document().to_string().replacen("\"revision\":1", "\"revision\":1,\"r\\u0065vision\":2", 1);
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (b"".to_vec(), "malformed: syntax"),
        (b"{".to_vec(), "malformed: syntax"),
        (b"{} {}".to_vec(), "malformed: syntax"),
        (b"nonsense".to_vec(), "malformed: syntax"),
        (b"[1]".to_vec(), "malformed: mistyped"),
        (b"{}".to_vec(), "schema_unknown: unknown_type"),
        (b"\xff\xfe{}".to_vec(), "malformed: encoding"),
        (b"{\"text\":\"Casi nada\xc3\"}".to_vec(), "malformed: encoding"),
        (b"{\"text\":\"Casi nada \\ud800\"}".to_vec(), "malformed: syntax at text"),
        (b"{\"text\":\"Casi nada \x07\"}".to_vec(), "nul_or_control: control at text"),
        (b"{\"text\":\"Casi nada \\u001b[2J\"}".to_vec(), "nul_or_control: control at text"),
        ("{\"text\":\"Casi nada \u{1f}\"}".as_bytes().to_vec(), "nul_or_control: control at text"),
        (b"{\"Ximena\\u0000\":1}".to_vec(), "nul_or_control: control at *"),
        (b"{\"revision\":1e999}".to_vec(), "malformed: syntax at revision"),
        (deep.into_bytes(), "malformed: depth at turns[0][0][0][0][0][0][0]"),
        (twice.into_bytes(), "malformed: duplicate_key at revision"),
        (nested.into_bytes(), "malformed: duplicate_key at turns[1].speaker"),
        (escaped_twice.into_bytes(), "malformed: duplicate_key at revision"),
        (format!("{{\"{CANARY}\":1,\"{CANARY}\":2}}").into_bytes(), "malformed: duplicate_key at *"),
        (vec![b' '; 1024 * 1024 + 1], "too_large: size"),
    ];
    for (body, expected) in cases {
        assert_eq!(refused_bytes(&body), expected);
    }
}

#[test]
fn the_size_limit_is_the_configured_one() {
    let body = document().to_string();
    let decoder = |max_body_bytes| Decoder::new(Limits { max_body_bytes, ..Limits::default() });
    assert!(decoder(body.len()).decode(body.as_bytes()).is_ok());
    assert_eq!(decoder(body.len() - 1).decode(body.as_bytes()).expect_err("too large").reason, Reason::TooLarge);
    let few = Decoder::new(Limits { max_turns: 1, ..Limits::default() });
    assert_eq!(few.decode(body.as_bytes()).expect_err("too many").to_string(), "malformed: too_many at turns");
}

#[test]
fn a_decoded_message_does_not_show_what_was_said() {
    let message = with(document(), "/metadata", json!({"themes": [CANARY]}));
    let envelope = decode(&message).expect("decodes");
    for shown in [format!("{envelope:?}"), format!("{:?}", envelope.message)] {
        for secret in ["Casi nada", "Ximena", "1980", "Claire"] {
            assert!(!shown.contains(secret), "{shown}");
        }
    }
}

#[test]
fn conversion_keeps_speakers_and_times() {
    let Message::DocumentSubmitted(data) = decode(&document()).expect("decodes").message else { panic!("a document") };
    let document = data.to_document();
    assert_eq!(document.text, "¿Cómo ha dormido?\nCasi nada.");
    assert_eq!(document.turns[1].span.slice(&document.text), "Casi nada.");
    assert_eq!(document.turns[0].at_ms, Some(1200));
}

#[test]
fn blank_turns_are_left_out_of_the_text() {
    let message = with(document(), "/turns/0/text", json!("  "));
    let Message::DocumentSubmitted(data) = decode(&message).expect("decodes").message else { panic!("a document") };
    assert_eq!(data.to_document().turns.len(), 1);
}

/// All that a refusal shows.
fn both(refusal: &Rejection) -> String {
    format!("{refusal} {refusal:?}")
}

proptest! {
    #[test]
    fn no_bytes_panic_the_decoder(body in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Decoder::default().decode(&body);
    }

    #[test]
    fn no_cut_or_flipped_message_panics_the_decoder(at in 0usize..2000, with in any::<u8>(), cut in any::<bool>()) {
        let mut body = event(document()).to_string().into_bytes();
        let at = at % body.len();
        if cut { body.truncate(at) } else { body[at] = with }
        if let Err(refusal) = Decoder::default().decode(&body) {
            prop_assert!(!both(&refusal).contains("Quiroga"));
        }
    }

    #[test]
    fn any_json_in_any_field_is_read_or_refused_without_quoting(field in 0usize..15, value in json_value()) {
        let fields = ["organization_id", "patient_id", "document_id", "revision", "document_type", "occurred_at", "language",
            "therapist_id", "session_key", "text", "turns", "metadata", "known_identities", "provenance", "file"];
        if let Err(refusal) = decode(&with(document(), &format!("/{}", fields[field]), value)) {
            prop_assert!(!both(&refusal).contains(CANARY));
            prop_assert!(refusal.field.is_some());
        }
    }

    #[test]
    fn decoding_is_a_function_of_the_content_alone(words in "\\PC{1,60}") {
        let message = with(document(), "/turns/1/text", json!(words));
        let (once, twice) = (decode(&message), Decoder::default().decode(format!("{message:#}").as_bytes()));
        prop_assert_eq!(once.map(|envelope| envelope.body_hash), twice.map(|envelope| envelope.body_hash));
    }
}

/// JSON of any shape with the canary in it.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        Just(json!(CANARY)),
        "\\PC{0,8}".prop_map(Value::from)
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(
                prop_oneof!["[a-z_]{1,8}", Just("speaker".to_string()), Just(CANARY.to_string())],
                inner,
                0..4
            )
            .prop_map(|fields| Value::Object(fields.into_iter().collect()))
        ]
    })
}

use super::*;

fn answered(question: &str) -> Value {
    Value::Object(answer_line(question.as_bytes()))
}

fn has(question: &str, expected: Value) {
    let answer = answered(question);
    for (field, value) in expected.as_object().unwrap() {
        match (value.as_f64(), answer[field].as_f64()) {
            (Some(wanted), Some(got)) => assert!((wanted - got).abs() <= 1e-6, "{question}: {answer}"),
            _ => assert_eq!(&answer[field], value, "{question}: {answer}"),
        }
    }
}

#[test]
fn the_contracts_own_examples_have_the_contracts_own_answers() {
    has(
        r#"{"rule":"effective_confidence","kind":"belief","stored":0.9,"days":1200.0,"protected":false}"#,
        json!({"effective":0.5,"uncertain":true}),
    );
    has(
        r#"{"rule":"initial_confidence","is_proxy":false,"confidence":null,"cognitive_state":25}"#,
        json!({"confidence":0.25}),
    );
    has(
        r#"{"rule":"reinforce","stored":0.6,"times_reinforced":0,"count":10}"#,
        json!({"confidence":0.934_385_6,"times_reinforced":10}),
    );
    has(r#"{"rule":"verify","stored":0.95}"#, json!({"confidence":1.0}));
    has(
        r#"{"rule":"source_type","source":"told by Claire"}"#,
        json!({"source_type":"external","source_entity":"claire"}),
    );
    has(r#"{"rule":"same_fact","a":"sertraline 50 mg","b":"sertraline 100 mg"}"#, json!({"same":false}));
    has(
        r#"{"rule":"lifecycle","class":"time_bound_state","state":"active","seconds_since_confirmed":172800}"#,
        json!({"state":"active","reconfirm_due":true,"use":"decision"}),
    );
    has(r#"{"rule":"trust","source_type":"external","is_proxy":false,"parents":["T1","T4"]}"#, json!({"trust":"T4"}));
    let supersede = r#"{"rule":"supersede","old":{"trust":"T1","set_by":"clinician","kind":"allergy","valid_from":"2026-01-01T00:00:00Z"},"new":{"trust":"T1","document_type":"chat_message","valid_from":"2026-02-01"}}"#;
    has(supersede, json!({"outcome":"contradiction"}));
}

#[test]
fn the_id_is_echoed_as_it_came() {
    assert_eq!(answered(r#"{"id":"q-1","rule":"verify","stored":0.2}"#)["id"], json!("q-1"));
    assert_eq!(answered(r#"{"id":7,"rule":"verify","stored":0.2}"#)["id"], json!(7));
    assert_eq!(answered(r#"{"id":7,"rule":"nothing"}"#)["id"], json!(7));
    assert!(answered(r#"{"rule":"verify","stored":0.2}"#).get("id").is_none());
}

#[test]
fn what_cannot_be_answered_says_which_field_and_never_its_value() {
    for (question, code, field) in [
        (r#"{"rule":"remember"}"#, "unknown_rule", json!("rule")),
        (r#"{"id":1}"#, "missing", json!("rule")),
        (r#"{"rule":5}"#, "mistyped", json!("rule")),
        (r#"{"rule":"verify"}"#, "missing", json!("stored")),
        (r#"{"rule":"verify","stored":"SECRET"}"#, "mistyped", json!("stored")),
        (r#"{"rule":"verify","stored":1.5}"#, "out_of_range", json!("stored")),
        (r#"{"rule":"effective_confidence","kind":"SECRET","stored":1,"days":3}"#, "unknown_code", json!("kind")),
        (r#"{"rule":"initial_confidence","cognitive_state":101}"#, "out_of_range", json!("cognitive_state")),
        (r#"{"rule":"reinforce","stored":0.5,"count":1.5}"#, "mistyped", json!("count")),
        (r#"{"rule":"trust","source_type":"external","parents":["SECRET"]}"#, "unknown_code", json!("parents")),
        (r#"{"rule":"supersede","old":{"trust":"T1"},"new":{}}"#, "missing", json!("new.trust")),
        (
            r#"{"rule":"supersede","old":{"trust":"T1","valid_from":"SECRET"},"new":{"trust":"T1"}}"#,
            "mistyped",
            json!("old.valid_from"),
        ),
        (r#"{"rule":"lifecycle","class":"inference"}"#, "missing", json!("seconds_since_created")),
        ("SECRET", "malformed", json!(null)),
        (r#"["SECRET"]"#, "malformed", json!(null)),
    ] {
        let answer = answered(question);
        assert_eq!(answer["error"], json!({"code": code, "field": field}), "{question}");
        assert!(!answer.to_string().contains("SECRET"), "{answer}");
    }
}

#[test]
fn one_bad_question_makes_the_end_partial_and_stops_nothing() {
    let mut out = Vec::new();
    let input = "{\"rule\":\"verify\",\"stored\":0.1}\n\nnot json\n\u{feff}{\"rule\":\"verify\",\"stored\":0.9}";
    assert_eq!(answer_all(input.as_bytes(), &mut out).unwrap(), Exit::Partial);
    assert_eq!(String::from_utf8(out).unwrap().lines().count(), 3);
    let mut out = Vec::new();
    assert_eq!(answer_all(&b"{\"rule\":\"verify\",\"stored\":0.1}\n"[..], &mut out).unwrap(), Exit::Done);
    assert_eq!(String::from_utf8(out).unwrap(), "{\"confidence\":0.2}\n");
}

#[test]
fn input_that_is_not_utf_8_is_malformed_and_not_the_end() {
    let mut out = Vec::new();
    assert_eq!(answer_all(&b"{\"rule\":\"\xff\"}\n"[..], &mut out).unwrap(), Exit::Partial);
}

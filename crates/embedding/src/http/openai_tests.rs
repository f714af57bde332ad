use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::http::tests::settings;

fn shape(change: impl FnOnce(&mut EmbeddingSettings)) -> OpenAi {
    let mut settings = settings("http://127.0.0.1:1/v1");
    change(&mut settings);
    OpenAi::new(settings.endpoint().unwrap().url(), settings.profile.as_ref().unwrap(), &settings)
}

fn answer(body: serde_json::Value) -> Result<ParsedResponse, EmbedError> {
    shape(|_| {}).answer(body.to_string().as_bytes())
}

fn sent(shape: &OpenAi, purpose: Purpose) -> serde_json::Value {
    serde_json::from_slice(&shape.body(purpose, &["she lost her job", "perdió el trabajo"], false)).unwrap()
}

#[test]
fn the_request_is_of_the_contract() {
    insta::assert_json_snapshot!("openai_request", sent(&shape(|_| {}), Purpose::Document));
    let full = shape(|s| {
        s.send_dimensions = true;
        s.encoding = Encoding::Float;
        s.query_prefix = "query: ".into();
    });
    insta::assert_json_snapshot!("openai_request_with_options", sent(&full, Purpose::Query));
}

#[test]
fn the_addresses_follow_the_configured_one() {
    for (base, embeddings, info) in [
        ("http://127.0.0.1:1/v1", "/v1/embeddings", Some("/info")),
        ("http://127.0.0.1:1/tei/v1/", "/tei/v1/embeddings", Some("/tei/info")),
        ("http://127.0.0.1:1/api/openai", "/api/openai/embeddings", None),
    ] {
        let shape = shape(|s| s.url = Some(base.into()));
        assert_eq!(shape.url().path(), embeddings);
        assert_eq!(shape.info_url().as_ref().map(Url::path), info);
    }
}

#[test]
fn vectors_are_sorted_by_index() {
    let body = json!({"data": [{"index": 1, "embedding": [0.0, 1.0]}, {"index": 0, "embedding": [1.0, 0.0]}],
        "usage": {"prompt_tokens": 5, "total_tokens": 6}});
    let wanted = ParsedResponse { vectors: vec![vec![1.0, 0.0], vec![0.0, 1.0]], tokens: Some(6), truncated: 0 };
    assert_eq!(answer(body), Ok(wanted));
}

#[test]
fn an_index_twice_missing_or_out_of_range_is_a_bad_answer() {
    for indices in [[0, 0], [1, 1], [0, 2], [7, 1]] {
        let data: Vec<_> = indices.iter().map(|index| json!({"index": index, "embedding": [1.0]})).collect();
        assert_eq!(answer(json!({"data": data})), Err(EmbedError::BadAnswer), "{indices:?}");
    }
    assert_eq!(answer(json!({"data": [{"embedding": [1.0]}]})), Err(EmbedError::BadAnswer));
    assert_eq!(answer(json!({"data": [{"index": -1, "embedding": [1.0]}]})), Err(EmbedError::BadAnswer));
}

#[test]
fn a_double_beyond_f32_becomes_infinite_and_null_nan_to_be_found_by_the_checks() {
    let vectors = answer(json!({"data": [{"index": 0, "embedding": [1e39, null]}]})).unwrap().vectors;
    assert!(vectors[0][0].is_infinite() && vectors[0][1].is_nan());
}

#[test]
fn what_json_does_not_have_is_not_finite_and_what_is_not_json_is_a_bad_answer() {
    let of = |body: &str| shape(|_| {}).answer(body.as_bytes()).unwrap_err();
    assert_eq!(of(r#"{"data":[{"index":0,"embedding":[NaN,1.0]}]}"#), EmbedError::NotFinite);
    assert_eq!(of(r#"{"data":[{"index":0,"embedding":[-Infinity,1.0]}]}"#), EmbedError::NotFinite);
    for body in ["<html>", "", "[]", "{}", r#"{"data":{}}"#, r#"{"data":[{"index":0,"embedding":["x"]}]}"#] {
        assert_eq!(of(body), EmbedError::BadAnswer, "{body}");
    }
    assert_eq!(of(r#"{"data":[],"data":[]}"#), EmbedError::BadAnswer, "a key twice");
    assert_eq!(of(r#"{"data":[{"index":0,"embedding":"AAAA"}]}"#), EmbedError::BadAnswer, "three bytes");
    assert_eq!(of(r#"{"data":[{"index":0,"embedding":"no base64!"}]}"#), EmbedError::BadAnswer);
}

#[test]
fn the_encoding_follows_what_the_server_sends() {
    let asked = |shape: &OpenAi| sent(shape, Purpose::Document).get("encoding_format").is_some();
    let ignoring = shape(|_| {});
    assert!(asked(&ignoring) && ignoring.may_try_plain());
    ignoring.answer(br#"{"data":[{"index":0,"embedding":[1.0]}]}"#).unwrap();
    assert!(!asked(&ignoring) && !ignoring.may_try_plain());
    let obeying = shape(|_| {});
    obeying.answer(br#"{"data":[{"index":0,"embedding":"AACAPw=="}]}"#).unwrap();
    assert!(asked(&obeying) && !obeying.may_try_plain());
}

proptest! {
    #[test]
    fn base64_carries_every_number_bit_for_bit(values in prop::collection::vec(any::<u32>(), 0..20), padded: bool) {
        let bytes: Vec<u8> = values.iter().flat_map(|bits| bits.to_le_bytes()).collect();
        let mut text = base64::engine::general_purpose::STANDARD.encode(bytes);
        if !padded {
            text.truncate(text.trim_end_matches('=').len());
        }
        let got = answer(json!({"data": [{"index": 0, "embedding": text}]})).unwrap();
        let bits: Vec<u32> = got.vectors[0].iter().map(|x| x.to_bits()).collect();
        prop_assert_eq!(bits, values);
    }
}

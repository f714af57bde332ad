use serde_json::json;

use super::*;
use crate::http::tests::settings;

fn shape(change: impl FnOnce(&mut EmbeddingSettings)) -> Vertex {
    let mut settings = settings("https://europe-west1-aiplatform.googleapis.com/v1/projects/p/locations/europe-west1");
    change(&mut settings);
    Vertex::new(settings.endpoint().unwrap().url(), settings.profile.as_ref().unwrap(), &settings)
}

fn sent(shape: &Vertex, purpose: Purpose) -> serde_json::Value {
    serde_json::from_slice(&shape.body(purpose, &["she lost her job", "perdió el trabajo"], false)).unwrap()
}

#[test]
fn the_request_is_of_the_contract_and_queries_have_their_own_task() {
    insta::assert_json_snapshot!("vertex_request_document", sent(&shape(|_| {}), Purpose::Document));
    insta::assert_json_snapshot!("vertex_request_query", sent(&shape(|s| s.send_dimensions = true), Purpose::Query));
    let own = shape(|s| s.profile.as_mut().unwrap().query_task = Some("QUESTION_ANSWERING".into()));
    assert_eq!(sent(&own, Purpose::Query)["instances"][0]["task_type"], "QUESTION_ANSWERING");
    assert!(own.url().path().ends_with("/locations/europe-west1/publishers/google/models/test-model:predict"));
}

#[test]
fn both_spellings_of_the_token_count_are_read() {
    let body = json!({"predictions": [
        {"embeddings": {"values": [1.0, null], "statistics": {"truncated": false, "token_count": 6}}},
        {"embeddings": {"values": [0.5], "statistics": {"truncated": true, "tokenCount": 4.0}}},
    ], "metadata": {"billableCharacterCount": 9}});
    let answer = shape(|_| {}).answer(body.to_string().as_bytes()).unwrap();
    assert_eq!((answer.tokens, answer.truncated), (Some(10), 1));
    assert!(answer.vectors[0][1].is_nan());
}

#[test]
fn an_answer_without_statistics_is_taken_and_one_without_predictions_is_not() {
    let shape = shape(|_| {});
    let answer = shape.answer(br#"{"predictions":[{"embeddings":{"values":[1.0]}}]}"#).unwrap();
    assert_eq!((answer.tokens, answer.truncated), (None, 0));
    assert_eq!(shape.answer(br#"{"embeddings":[]}"#), Err(EmbedError::BadAnswer));
}

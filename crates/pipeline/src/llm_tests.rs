//! The choice of a language model's configuration, and the key at fault for an unusable one.

use std::sync::Arc;

use super::*;
use anamnesis_core::clock::ManualClock;

fn clock() -> Arc<dyn anamnesis_core::clock::Clock> {
    Arc::new(ManualClock::at("2026-03-02T10:00:00Z".parse().unwrap()))
}

fn config() -> LlmConfig {
    let (url, model) = ("https://model.clinic/v1".to_owned(), "small".to_owned());
    LlmConfig { url, model, rephrase_summaries: true, ..LlmConfig::default() }
}

fn blamed(config: &LlmConfig) -> Option<&'static str> {
    reader(config, clock()).err().map(|defect| defect.key)
}

#[test]
fn without_an_address_there_is_no_model_whatever_else_is_wrong() {
    let none = LlmConfig { url: String::new(), timeout_ms: 0, concurrency: 0, ..config() };
    assert!(reader(&none, clock()).unwrap().is_none());
    assert!(writer(&none, clock()).unwrap().is_none());
}

#[test]
fn a_model_gets_as_many_concurrent_requests_as_configured() {
    for concurrency in [1, 8, 64] {
        let (model, most) = reader(&LlmConfig { concurrency, ..config() }, clock()).unwrap().unwrap();
        assert_eq!((model.name(), most), ("small", concurrency));
    }
}

#[test]
fn the_first_key_that_cannot_be_used_is_named() {
    let file = || "/run/secrets/model".into();
    let key = || Some(secrecy::SecretString::from("k"));
    for (key, config) in [
        ("model", LlmConfig { model: String::new(), ..config() }),
        ("api_key_file", LlmConfig { api_key: key(), api_key_file: file(), ..config() }),
        ("timeout_ms", LlmConfig { timeout_ms: 0, ..config() }),
        ("timeout_ms", LlmConfig { timeout_ms: 600_001, ..config() }),
        ("concurrency", LlmConfig { concurrency: 0, ..config() }),
        ("concurrency", LlmConfig { concurrency: 65, ..config() }),
        ("model", LlmConfig { model: String::new(), timeout_ms: 0, ..config() }),
    ] {
        assert_eq!(blamed(&config), Some(key));
    }
    assert_eq!(blamed(&LlmConfig { timeout_ms: 600_000, ..config() }), None);
    assert_eq!(blamed(&LlmConfig { timeout_ms: 1, api_key: key(), ..config() }), None);
    let kept = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(kept.path(), "k").unwrap();
    assert_eq!(blamed(&LlmConfig { api_key_file: kept.path().to_owned(), ..config() }), None, "a file alone");
}

#[test]
fn jobs_have_a_summary_model_only_where_one_is_configured() {
    assert!(writer(&config(), clock()).unwrap().is_some());
    assert!(writer(&LlmConfig { rephrase_summaries: false, ..config() }, clock()).unwrap().is_none());
    let broken = LlmConfig { concurrency: 0, ..config() };
    assert_eq!(writer(&broken, clock()).err().map(|defect| defect.key), Some("concurrency"));
    let unused = LlmConfig { rephrase_summaries: false, ..broken };
    assert!(writer(&unused, clock()).unwrap().is_none(), "what is not used is not judged");
}

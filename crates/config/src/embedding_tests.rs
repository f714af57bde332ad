use secrecy::ExposeSecret;

use super::*;

const OPENAI: &str = r#"
provider = "openai"
url = "http://127.0.0.1:8080/v1"
api_key = "sk-canary"
[profile]
model = "e5"
dimension = 384
min_score = 0.7
contradiction_similarity = 0.6
generation = 1
max_tokens = 512
"#;

fn parsed(text: &str) -> EmbeddingSettings {
    toml::from_str(text).unwrap()
}

fn refused(change: impl FnOnce(&mut EmbeddingSettings)) -> &'static str {
    let mut settings = parsed(OPENAI);
    change(&mut settings);
    settings.validate().unwrap_err().key
}

#[test]
fn an_empty_section_is_the_builtin_encoder_and_valid() {
    let settings = parsed("");
    assert_eq!(settings.provider, Provider::Builtin);
    settings.validate().unwrap();
    assert_eq!(settings.timeouts.connect_ms, 3_000);
}

#[test]
fn the_reference_says_what_the_defaults_are() {
    let settings = crate::load(None).unwrap().embedding;
    assert_eq!(settings, EmbeddingSettings::default());
    assert!(settings.api_key.is_none() && settings.proxy.is_none());
}

#[test]
fn an_unknown_key_is_refused() {
    assert!(toml::from_str::<EmbeddingSettings>("urll = 'x'").is_err());
    assert!(toml::from_str::<EmbeddingSettings>("[batch]\nsize = 3").is_err());
}

#[test]
fn each_invalid_setting_is_named_by_its_key() {
    parsed(OPENAI).validate().unwrap();
    assert_eq!(refused(|s| s.url = None), "embedding.url");
    assert_eq!(refused(|s| s.profile = None), "embedding.profile");
    assert_eq!(refused(|s| s.api_key_file = Some("x".into())), "embedding.api_key_file");
    assert_eq!(refused(|s| s.price_per_million_tokens = -1.0), "embedding.price_per_million_tokens");
    assert_eq!(refused(|s| s.batch.max_texts = Some(0)), "embedding.batch.max_texts");
    assert_eq!(refused(|s| s.batch.max_tokens = Some(0)), "embedding.batch.max_tokens");
    assert_eq!(refused(|s| s.limits.concurrency = 0), "embedding.limits.concurrency");
    assert_eq!(refused(|s| s.limits.requests_per_minute = Some(0)), "embedding.limits.requests_per_minute");
    assert_eq!(refused(|s| s.timeouts.total_ms = 1), "embedding.timeouts.total_ms");
    assert_eq!(refused(|s| s.retry.attempts = 0), "embedding.retry.attempts");
    assert_eq!(refused(|s| s.breaker.max_open_ms = 1), "embedding.breaker.max_open_ms");
    assert_eq!(refused(|s| s.profile.as_mut().unwrap().dimension = 0), "embedding.profile.dimension");
    assert_eq!(refused(|s| s.profile.as_mut().unwrap().min_score = f64::NAN), "embedding.profile.min_score");
}

#[test]
fn plain_http_is_only_for_loopback() {
    for url in ["http://tei.example:80/v1", "http://10.0.0.1/v1", "ftp://127.0.0.1/", "http://localhost.example/", "x"]
    {
        assert_eq!(refused(|s| s.url = Some(url.into())), "embedding.url", "{url}");
    }
    for url in ["http://localhost:1/v1", "http://127.9.9.9/v1", "http://[::1]:9/v1", "https://tei.example/v1"] {
        EmbeddingSettings { url: Some(url.into()), ..parsed(OPENAI) }.validate().unwrap();
    }
}

#[test]
fn credentials_and_queries_do_not_belong_in_the_address() {
    for url in ["https://u:p@h/v1", "https://u@h/v1", "https://h/v1?key=k", "https://h/v1#f"] {
        assert_eq!(refused(|s| s.url = Some(url.into())), "embedding.url", "{url}");
    }
}

#[test]
fn the_key_is_in_no_debug_output_and_in_no_serialised_form() {
    let mut settings = parsed(OPENAI);
    settings.proxy = Some("http://user:proxy-canary@proxy.example:1".to_owned().into());
    assert_eq!(settings.api_key.as_ref().unwrap().expose_secret(), "sk-canary");
    let seen = format!("{settings:?}{}", serde_json::to_string(&settings).unwrap());
    assert!(!seen.contains("canary"), "{seen}");
}

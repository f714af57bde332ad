//! From an answer of a key service to a decision, and from settings to a service.

use std::path::Path;
use std::sync::Arc;

use reqwest::header::HeaderMap;
use zeroize::Zeroizing;

use super::http::{KeyServiceClient, ServiceReply, denied, form};
use super::*;
use anamnesis_config::keys::{KeyLimits, KeysConfig, RootKind};
use anamnesis_core::clock::{Clock, Entropy, SeededEntropy, SystemClock};

fn parts() -> (Arc<dyn Clock>, Arc<dyn Entropy>) {
    (Arc::new(SystemClock), Arc::new(SeededEntropy::new(1)))
}

fn reply(status: u16, body: &str) -> ServiceReply {
    ServiceReply { status, headers: HeaderMap::new(), body: Zeroizing::new(body.as_bytes().to_vec()) }
}

#[test]
fn only_statuses_from_200_to_299_are_success() {
    for (status, success) in
        [(199, false), (200, true), (204, true), (299, true), (300, false), (401, false), (500, false)]
    {
        assert_eq!(reply(status, "").is_success(), success, "{status}");
    }
}

#[test]
fn an_answer_that_is_not_what_the_service_sends_is_tried_again() {
    assert_eq!(reply(200, "[1,2]").json::<Vec<u8>>(), Ok(vec![1, 2]));
    for body in ["", "<html>", "[1,", "[300]", "{}"] {
        assert_eq!(reply(200, body).json::<Vec<u8>>(), Err(KeyError::Transient), "{body}");
    }
    assert!(KeyError::Transient.code() == "keys_unanswered");
}

#[test]
fn what_an_answer_says_is_read_whatever_its_case_and_its_encoding() {
    let answer = reply(400, "Error: KEY Not Found\u{fffd}");
    assert!(answer.says(&["too old", "key not found"]));
    assert!(!answer.says(&["too old"]) && !answer.says(&[]));
    let mut bytes = reply(400, "");
    *bytes.body = b"\xff\xfe TOO OLD".to_vec();
    assert!(bytes.says(&["too old"]));
}

#[test]
fn pairs_of_a_form_are_escaped() {
    assert_eq!(form(&[]), "");
    assert_eq!(form(&[("a", "b c&d=e"), ("ñ", "+%")]), "a=b+c%26d%3De&%C3%B1=%2B%25");
}

#[test]
fn a_setting_comes_before_a_variable_and_that_before_the_default() {
    let variables = |name: &str| match name {
        "SET" => Some("variable".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    };
    for (setting, variable, expected) in
        [("setting", "SET", "setting"), ("", "SET", "variable"), ("", "EMPTY", "default"), ("", "UNSET", "default")]
    {
        assert_eq!(set_or(setting, &variables, variable, "default"), expected, "{setting} {variable}");
    }
}

#[test]
fn a_key_is_exactly_32_bytes() {
    for length in [0usize, 16, 31, 33, 64] {
        assert!(key_of(&vec![7; length]).is_none(), "{length}");
    }
    assert_eq!(*key_of(&[7; 32]).unwrap(), [7; 32]);
}

#[test]
fn an_address_is_encrypted_or_on_this_machine() {
    for good in ["https://vault.example:8200", "http://127.0.0.1:8200", "http://localhost:1"] {
        assert!(address("vault", good).is_ok(), "{good}");
    }
    for bad in ["", "vault.example", "http://vault.example", "ftp://127.0.0.1", "https://user:secret@vault.example"] {
        let error = address("vault", bad).map(|_| ()).unwrap_err();
        assert!(matches!(&error, KeyError::Denied { place, .. } if place == "vault"), "{bad}: {error}");
        assert!(!error.to_string().contains("secret"));
    }
}

#[test]
fn a_ca_file_that_cannot_be_used_is_named() {
    let (_, entropy) = parts();
    let endpoint = || address("vault", "https://vault.example").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("ca.pem");
    let place = file.display().to_string();
    let of = |path: &Path| {
        KeyServiceClient::new("vault", endpoint(), path, KeyLimits::default(), Arc::clone(&entropy)).map(|_| ())
    };
    assert_eq!(of(Path::new("")), Ok(()), "none is asked for");
    assert_eq!(of(&file), Err(KeyError::File { place: place.clone() }), "missing");
    std::fs::write(&file, "no certificate").unwrap();
    assert_eq!(of(&file), Err(KeyError::File { place }), "else");
}

#[test]
fn a_local_root_needs_no_service_and_a_service_needs_its_settings() {
    let (clock, entropy) = parts();
    let of = |config: &KeysConfig| service_root(config, &|_| None, &clock, &entropy).map(|root| root.is_some());
    assert_eq!(of(&KeysConfig::default()), Ok(false));
    for root in [RootKind::Vault, RootKind::Google, RootKind::Azure] {
        let config = KeysConfig { root, ..KeysConfig::default() };
        let error = of(&config).unwrap_err();
        assert!(matches!(&error, KeyError::Denied { place, .. } if place.starts_with("keys.")), "{root:?}: {error}");
        assert_eq!(error.code(), "root_key_denied");
    }
    assert_eq!(denied("a", "b"), KeyError::Denied { place: "a".to_owned(), reason: "b".to_owned() });
}

#[tokio::test]
async fn a_token_is_read_from_its_file_without_the_space_around_it() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("token");
    let unusable = KeyError::File { place: file.display().to_string() };
    assert_eq!(token::from_file(&file).await, Err(unusable.clone()), "missing");
    for (text, expected) in [(" s.abc\n", Some("s.abc")), ("s.abc", Some("s.abc")), ("", None), (" \n\t", None)] {
        std::fs::write(&file, text).unwrap();
        let read = token::from_file(&file).await.map(|token| token.to_string());
        assert_eq!(read, expected.map(str::to_owned).ok_or(unusable.clone()), "{text:?}");
    }
    std::fs::write(&file, [0xFF, 0xFE]).unwrap();
    assert_eq!(token::from_file(&file).await, Err(unusable), "no text");
}

//! Vault and OpenBao, Transit engine.

use std::path::Path;

use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use wiremock::{Request, ResponseTemplate};

use super::contract::{configured, holds};
use super::fake::{Dialect, FakeKeyService, KeyCall, ServiceFault, ServiceState, answer, body, bytes, demand, header};
use anamnesis_crypto::KeyError;

pub(crate) struct Vault {
    /// Whether the key is a derived one.
    derived: bool,
    /// The token's file is written again when the token is lost, as an agent does.
    agent: Option<std::path::PathBuf>,
}

impl Vault {
    /// A key that is not derived, and a token that stays.
    pub(crate) fn with_a_fixed_token() -> Self {
        Self { derived: false, agent: None }
    }
}

/// The settings of a program that uses this service.
pub(crate) fn by_environment(fake: &FakeKeyService, token: &Path) -> Vec<(String, String)> {
    let settings = [
        ("ROOT", "vault".to_owned()),
        ("VAULT__URL", fake.server.uri()),
        ("VAULT__MOUNT", "transit/clinics".to_owned()),
        ("VAULT__KEY", "anamnesis".to_owned()),
        ("VAULT__NAMESPACE", "clinic/a".to_owned()),
        ("VAULT__TOKEN_FILE", token.display().to_string()),
    ];
    settings.map(|(name, value)| (format!("ANAMNESIS__KEYS__{name}"), value)).into()
}

impl Dialect for Vault {
    fn read(&self, request: &Request, state: &mut ServiceState) -> Result<KeyCall, String> {
        demand(header(request, "x-vault-request") == "true", "x-vault-request")?;
        demand(header(request, "x-vault-namespace") == "clinic/a", "the namespace")?;
        let path = request.url.path();
        if path == "/v1/auth/token/lookup-self" {
            return Ok(KeyCall::Other(answer(
                200,
                &json!({"data": {"ttl": 10, "creation_ttl": 60, "renewable": true}}),
            )));
        }
        if path == "/v1/auth/token/renew-self" {
            state.logins += 100;
            return Ok(KeyCall::Other(answer(200, &json!({"auth": {"client_token": "x", "lease_duration": 60}}))));
        }
        let body = body(request)?;
        if path == "/v1/auth/pods/login" {
            demand(body == json!({"role": "anamnesis", "jwt": "service-account"}), "role and jwt")?;
            let token = state.login();
            return Ok(KeyCall::Other(answer(200, &json!({"auth": {"client_token": token, "lease_duration": 3600}}))));
        }
        demand(request.method.as_str() == "POST", "POST")?;
        let context = bytes(&body, "associated_data", &STANDARD)?;
        demand(self.derived == (body["context"] == body["associated_data"]), "context only for a derived key")?;
        match path {
            "/v1/transit/clinics/encrypt/anamnesis" => {
                Ok(KeyCall::Wrap { plain: bytes(&body, "plaintext", &STANDARD)?, context })
            }
            "/v1/transit/clinics/decrypt/anamnesis" => {
                let text = body["ciphertext"].as_str().ok_or("ciphertext is missing")?;
                let sealed = text.splitn(3, ':').nth(2).unwrap_or_default().as_bytes().to_vec();
                Ok(KeyCall::Unwrap { sealed, context })
            }
            _ => Err("no such path".to_owned()),
        }
    }

    fn wrapped(&self, sealed: &[u8], version: u32) -> ResponseTemplate {
        let text = format!("vault:v{version}:{}", String::from_utf8_lossy(sealed));
        answer(200, &json!({"request_id": "r", "data": {"ciphertext": text, "key_version": version}}))
    }

    fn unwrapped(&self, plain: &[u8]) -> ResponseTemplate {
        answer(200, &json!({"data": {"plaintext": base64::Engine::encode(&STANDARD, plain)}}))
    }

    fn not_ours(&self) -> ResponseTemplate {
        answer(400, &json!({"errors": ["cipher: message authentication failed"]}))
    }

    fn forbidden(&self) -> ResponseTemplate {
        answer(403, &json!({"errors": ["1 error occurred:\n\t* permission denied, canary\n\n"]}))
    }

    fn no_key(&self) -> ResponseTemplate {
        answer(400, &json!({"errors": ["encryption key not found"]}))
    }

    fn is_authorised(&self, request: &Request, state: &ServiceState) -> bool {
        if let Some(path) = &self.agent {
            std::fs::write(path, format!("token-{}\n", state.token)).unwrap();
        }
        header(request, "x-vault-token") == format!("token-{}", state.token)
    }

    fn unauthorised(&self) -> ResponseTemplate {
        answer(403, &json!({"errors": ["permission denied", "invalid token"]}))
    }
}

fn section(fake: &FakeKeyService, rest: &str) -> String {
    format!(
        "root = \"vault\"\n[vault]\nurl = \"{}\"\nmount = \"transit/clinics\"\nkey = \"anamnesis\"\n\
         namespace = \"clinic/a\"\n{rest}",
        fake.server.uri()
    )
}

fn by_file(fake: &FakeKeyService, token: &Path) -> String {
    section(fake, &format!("token_file = {token:?}\n"))
}

#[tokio::test]
async fn vault_holds_the_contract_with_a_token_that_an_agent_replaces() {
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, "token-1\n").unwrap();
    let fake = FakeKeyService::start(Vault { derived: false, agent: Some(token.clone()) }).await;
    let section = by_file(&fake, &token);
    // A renewal counts as a hundred logins: here none is wanted in between.
    let config: anamnesis_config::keys::KeysConfig = toml::from_str(&section).unwrap();
    let limits = super::contract::LIMITS;
    let (clock, entropy) = (super::contract::clock(), super::contract::entropy());
    let root = anamnesis_crypto::VaultRoot::new(&config.vault, limits, clock, entropy).unwrap();
    holds(&fake, &root).await;
}

#[tokio::test]
async fn vault_holds_the_contract_with_kubernetes_and_a_derived_key() {
    let folder = tempfile::tempdir().unwrap();
    let jwt = folder.path().join("jwt");
    std::fs::write(&jwt, "service-account").unwrap();
    let fake = FakeKeyService::start(Vault { derived: true, agent: None }).await;
    let login = format!(
        "auth = \"kubernetes\"\nderived = true\n[vault.kubernetes]\nmount = \"pods\"\nrole = \"anamnesis\"\n\
         token_file = {jwt:?}\n"
    );
    let root = configured(&section(&fake, &login), &[]).unwrap();
    holds(&fake, root.as_ref()).await;
    // The service account's token is read again at each login.
    std::fs::write(&jwt, "another").unwrap();
    fake.loses_its_tokens();
    assert!(matches!(root.wrap(b"c", &[1; 32]).await, Err(KeyError::Denied { .. })));
    assert_eq!(fake.state().problems.len(), 1, "{:?}", fake.state().problems);
}

#[tokio::test]
async fn a_token_with_a_term_is_renewed_while_the_root_lives() {
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, "token-1").unwrap();
    let fake = FakeKeyService::start(Vault { derived: false, agent: None }).await;
    let root = configured(&by_file(&fake, &token), &[]).unwrap();
    for _ in 0..200 {
        if fake.state().logins == 100 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert_eq!(fake.state().logins, 100, "less than half of the term is left: renewed at once");
    drop(root);
}

#[tokio::test]
async fn a_missing_or_empty_token_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    let fake = FakeKeyService::start(Vault { derived: false, agent: None }).await;
    let root = configured(&by_file(&fake, &token), &[]).unwrap();
    let expected = KeyError::File { place: token.display().to_string() };
    assert_eq!(root.wrap(b"c", &[1; 32]).await.unwrap_err(), expected);
    std::fs::write(&token, "\n").unwrap();
    assert_eq!(root.wrap(b"c", &[1; 32]).await.unwrap_err(), expected);
    std::fs::write(&token, "token-1").unwrap();
    assert!(root.wrap(b"c", &[1; 32]).await.is_ok(), "read again at each use");
    fake.fails(ServiceFault::None);
}

//! Azure Key Vault.

use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use wiremock::{Request, ResponseTemplate};

use super::contract::{configured, holds};
use super::fake::{Dialect, FakeKeyService, KeyCall, ServiceState, access, answer, body, bytes, demand, header};

struct Azure {
    /// Of the workload identity.
    assertion: &'static str,
}

fn query(request: &Request, name: &str) -> String {
    request.url.query_pairs().find(|(known, _)| known == name).map(|(_, value)| value.into_owned()).unwrap_or_default()
}

fn version(version: u32) -> String {
    format!("{version:032x}")
}

impl Dialect for Azure {
    fn read(&self, request: &Request, state: &mut ServiceState) -> Result<KeyCall, String> {
        let path = request.url.path();
        if path == "/metadata/identity/oauth2/token" {
            demand(header(request, "metadata") == "true", "metadata: true")?;
            demand(query(request, "api-version") == "2018-02-01", "api-version")?;
            demand(query(request, "resource") == "https://vault.azure.net", "resource")?;
            demand(query(request, "client_id") == "client-1", "client_id")?;
            let token = state.login();
            return Ok(KeyCall::Other(access(&token)));
        }
        if path == "/msi/token" {
            demand(header(request, "x-identity-header") == "secret", "x-identity-header")?;
            demand(query(request, "api-version") == "2019-08-01", "api-version")?;
            let token = state.login();
            return Ok(KeyCall::Other(answer(200, &json!({"access_token": token, "expires_on": "4070908800"}))));
        }
        if path == "/tenant-1/oauth2/v2.0/token" {
            let text = String::from_utf8_lossy(&request.body).into_owned();
            demand(text.contains(&format!("client_assertion={}&", self.assertion)), "the assertion")?;
            demand(text.contains("scope=https%3A%2F%2Fvault.azure.net%2F.default"), "scope")?;
            demand(text.contains("grant_type=client_credentials") && text.contains("client_id=client-1"), "grant")?;
            let token = state.login();
            return Ok(KeyCall::Other(access(&token)));
        }
        demand(query(request, "api-version") == "7.4", "api-version")?;
        let body = body(request)?;
        demand(body["alg"] == "RSA-OAEP-256", "alg")?;
        let value = bytes(&body, "value", &URL_SAFE_NO_PAD)?;
        if path == "/keys/anamnesis/wrapkey" {
            demand(value.len() == 64, "the key and the context's hash")?;
            return Ok(KeyCall::Wrap { plain: value, context: Vec::new() });
        }
        let of = String::from_utf8_lossy(&value).split('-').nth(1).and_then(|text| text.parse().ok()).unwrap_or(1);
        demand(path == format!("/keys/anamnesis/{}/unwrapkey", version(of)), "the version that wrapped")?;
        Ok(KeyCall::Unwrap { sealed: value, context: Vec::new() })
    }

    fn wrapped(&self, sealed: &[u8], of: u32) -> ResponseTemplate {
        let kid = format!("https://clinic.vault.azure.net/keys/anamnesis/{}", version(of));
        answer(200, &json!({"kid": kid, "value": base64::Engine::encode(&URL_SAFE_NO_PAD, sealed)}))
    }

    fn unwrapped(&self, plain: &[u8]) -> ResponseTemplate {
        answer(200, &json!({"kid": "k", "value": base64::Engine::encode(&URL_SAFE_NO_PAD, plain)}))
    }

    fn not_ours(&self) -> ResponseTemplate {
        answer(400, &json!({"error": {"code": "BadParameter", "message": "canary"}}))
    }

    fn forbidden(&self) -> ResponseTemplate {
        answer(
            403,
            &json!({"error": {"code": "Forbidden", "message": "canary", "innererror": {"code": "ForbiddenByRbac"}}}),
        )
    }

    fn no_key(&self) -> ResponseTemplate {
        answer(404, &json!({"error": {"code": "KeyNotFound", "message": "canary"}}))
    }

    fn is_authorised(&self, request: &Request, state: &ServiceState) -> bool {
        header(request, "authorization") == format!("Bearer token-{}", state.token)
    }

    fn unauthorised(&self) -> ResponseTemplate {
        answer(401, &json!({"error": {"code": "Unauthorized", "message": "AKV10022"}}))
    }
}

fn section(fake: &FakeKeyService, rest: &str) -> String {
    format!("root = \"azure\"\n[azure]\nvault_url = \"{}\"\nkey = \"anamnesis\"\n{rest}", fake.server.uri())
}

#[tokio::test]
async fn azure_holds_the_contract_with_the_identity_of_a_machine() {
    let fake = FakeKeyService::start(Azure { assertion: "" }).await;
    let endpoint = format!("identity_endpoint = \"{}/metadata/identity/oauth2/token\"\n", fake.server.uri());
    let root = configured(&section(&fake, &endpoint), &[("AZURE_CLIENT_ID", "client-1")]).unwrap();
    holds(&fake, root.as_ref()).await;
}

#[tokio::test]
async fn azure_holds_the_contract_with_the_identity_of_an_app_service() {
    let fake = FakeKeyService::start(Azure { assertion: "" }).await;
    let endpoint = format!("{}/msi/token", fake.server.uri());
    let variables = [("IDENTITY_ENDPOINT", endpoint.as_str()), ("IDENTITY_HEADER", "secret")];
    holds(&fake, configured(&section(&fake, ""), &variables).unwrap().as_ref()).await;
}

#[tokio::test]
async fn azure_holds_the_contract_with_workload_identity() {
    let (fake, folder) =
        (FakeKeyService::start(Azure { assertion: "service-account" }).await, tempfile::tempdir().unwrap());
    let token = folder.path().join("token");
    std::fs::write(&token, "service-account\n").unwrap();
    let uri = fake.server.uri();
    let variables = [
        ("AZURE_CLIENT_ID", "client-1"),
        ("AZURE_TENANT_ID", "tenant-1"),
        ("AZURE_FEDERATED_TOKEN_FILE", token.to_str().unwrap()),
        ("AZURE_AUTHORITY_HOST", uri.as_str()),
    ];
    let root = configured(&section(&fake, "identity = \"workload\"\n"), &variables).unwrap();
    holds(&fake, root.as_ref()).await;
    assert!(configured(&section(&fake, "identity = \"workload\"\n"), &variables[1..]).is_err(), "no client");
}

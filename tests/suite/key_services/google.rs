//! Google Cloud KMS.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use wiremock::{Request, ResponseTemplate};

use super::contract::{configured, holds};
use super::fake::{
    Dialect, FakeKeyService, KeyCall, ServiceFault, ServiceState, access, answer, body, bytes, demand, header,
};
use anamnesis_crypto::{KeyError, RootKey};

const KEY: &str = "projects/p/locations/europe-west1/keyRings/r/cryptoKeys/k";
const TOKEN: &str = "/computeMetadata/v1/instance/service-accounts/default/token";

struct Google;

/// CRC32C bit by bit: another way than the program's.
fn crc32c(bytes: &[u8]) -> String {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0x82f6_3b78 } else { crc >> 1 };
        }
    }
    (!crc).to_string()
}

/// A field whose checksum is there and right.
fn summed(body: &Value, field: &str) -> Result<Vec<u8>, String> {
    let value = bytes(body, field, &STANDARD)?;
    demand(body[format!("{field}Crc32c")] == json!(crc32c(&value)), &format!("the checksum of {field}"))?;
    Ok(value)
}

impl Dialect for Google {
    fn read(&self, request: &Request, state: &mut ServiceState) -> Result<KeyCall, String> {
        let path = request.url.path();
        if path == TOKEN {
            demand(header(request, "metadata-flavor") == "Google", "metadata-flavor")?;
            let token = state.login();
            return Ok(KeyCall::Other(access(&token).insert_header("metadata-flavor", "Google")));
        }
        if path == "/sts/v1/token" {
            let form: Vec<(String, String)> =
                reqwest::Url::parse(&format!("http://f/?{}", String::from_utf8_lossy(&request.body)))
                    .map_err(|error| error.to_string())?
                    .query_pairs()
                    .into_owned()
                    .collect();
            let has = |name: &str, value: &str| form.iter().any(|(n, v)| n == name && v == value);
            demand(has("subject_token", "subject &1"), "the subject token, encoded")?;
            demand(has("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"), "grant_type")?;
            demand(has("audience", "//iam.googleapis.com/pool"), "audience")?;
            demand(has("subject_token_type", "urn:ietf:params:oauth:token-type:jwt"), "subject_token_type")?;
            return Ok(KeyCall::Other(access("federated")));
        }
        let body = body(request)?;
        if path == "/v1/projects/-/serviceAccounts/a@p:generateAccessToken" {
            demand(header(request, "authorization") == "Bearer federated", "the federated token")?;
            demand(body["scope"] == json!(["https://www.googleapis.com/auth/cloudkms"]), "scope")?;
            let token = state.login();
            let body = json!({"accessToken": token, "expireTime": "2099-01-01T00:00:00Z"});
            return Ok(KeyCall::Other(answer(200, &body)));
        }
        demand(header(request, "x-goog-request-params") == format!("name={KEY}"), "x-goog-request-params")?;
        let context = summed(&body, "additionalAuthenticatedData")?;
        if path == format!("/v1/{KEY}:encrypt") {
            return Ok(KeyCall::Wrap { plain: summed(&body, "plaintext")?, context });
        }
        demand(path == format!("/v1/{KEY}:decrypt"), "no such path")?;
        Ok(KeyCall::Unwrap { sealed: summed(&body, "ciphertext")?, context })
    }

    fn wrapped(&self, sealed: &[u8], version: u32) -> ResponseTemplate {
        let body = json!({
            "name": format!("{KEY}/cryptoKeyVersions/{version}"),
            "ciphertext": STANDARD.encode(sealed), "ciphertextCrc32c": crc32c(sealed),
            "verifiedPlaintextCrc32c": true, "verifiedAdditionalAuthenticatedDataCrc32c": true,
            "protectionLevel": "SOFTWARE",
        });
        answer(200, &body)
    }

    fn unwrapped(&self, plain: &[u8]) -> ResponseTemplate {
        // A flipped byte arrives with the checksum of the original.
        let mut meant = plain.to_vec();
        if meant[0] == b't' ^ 1 {
            meant[0] ^= 1;
        }
        answer(
            200,
            &json!({"plaintext": STANDARD.encode(plain), "plaintextCrc32c": crc32c(&meant), "usedPrimary": true}),
        )
    }

    fn not_ours(&self) -> ResponseTemplate {
        answer(400, &json!({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "Decryption failed"}}))
    }

    fn forbidden(&self) -> ResponseTemplate {
        answer(403, &json!({"error": {"code": 403, "status": "PERMISSION_DENIED", "message": "canary"}}))
    }

    fn no_key(&self) -> ResponseTemplate {
        answer(400, &json!({"error": {"code": 400, "status": "FAILED_PRECONDITION", "message": "is DISABLED"}}))
    }

    fn is_authorised(&self, request: &Request, state: &ServiceState) -> bool {
        header(request, "authorization") == format!("Bearer token-{}", state.token)
    }

    fn unauthorised(&self) -> ResponseTemplate {
        answer(401, &json!({"error": {"code": 401, "status": "UNAUTHENTICATED"}}))
    }
}

fn section(fake: &FakeKeyService, rest: &str) -> String {
    format!("root = \"google\"\n[google]\nkey = \"{KEY}\"\nendpoint = \"{}\"\n{rest}", fake.server.uri())
}

fn host(fake: &FakeKeyService) -> String {
    fake.server.address().to_string()
}

fn metadata(fake: &FakeKeyService) -> std::sync::Arc<dyn RootKey> {
    configured(&section(fake, ""), &[("GCE_METADATA_HOST", &host(fake))]).unwrap()
}

#[tokio::test]
async fn google_holds_the_contract_with_the_metadata_server() {
    let fake = FakeKeyService::start(Google).await;
    holds(&fake, metadata(&fake).as_ref()).await;
}

fn account(folder: &Path, fake: &FakeKeyService, subject: &Path) -> std::path::PathBuf {
    let uri = fake.server.uri();
    let account = json!({
        "type": "external_account", "audience": "//iam.googleapis.com/pool",
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "token_url": format!("{uri}/sts/v1/token"),
        "service_account_impersonation_url": format!("{uri}/v1/projects/-/serviceAccounts/a@p:generateAccessToken"),
        "credential_source": {"file": subject, "format": {"type": "json", "subject_token_field_name": "id_token"}},
    });
    let path = folder.join("account.json");
    std::fs::write(&path, account.to_string()).unwrap();
    path
}

#[tokio::test]
async fn google_holds_the_contract_with_workload_identity() {
    let (fake, folder) = (FakeKeyService::start(Google).await, tempfile::tempdir().unwrap());
    let subject = folder.path().join("subject");
    std::fs::write(&subject, json!({"id_token": "subject &1"}).to_string()).unwrap();
    let account = account(folder.path(), &fake, &subject);
    let variables = [("GOOGLE_APPLICATION_CREDENTIALS", account.to_str().unwrap())];
    let root = configured(&section(&fake, "credentials = \"workload_identity\"\n"), &variables).unwrap();
    holds(&fake, root.as_ref()).await;
    // The subject token is read again at each login.
    std::fs::remove_file(&subject).unwrap();
    fake.loses_its_tokens();
    let lost = root.wrap(b"c", &[1; 32]).await.unwrap_err();
    assert_eq!(lost, KeyError::File { place: subject.display().to_string() });
}

#[tokio::test]
async fn a_changed_byte_in_googles_answer_is_noticed() {
    let fake = FakeKeyService::start(Google).await;
    let root = metadata(&fake);
    let wrapped = root.wrap(b"c", b"the store key of the tests, here").await.unwrap();
    fake.fails(ServiceFault::Flipped);
    assert_eq!(root.unwrap(b"c", &wrapped).await.map(|_| ()), Err(KeyError::Transient));
}

#[tokio::test]
async fn credentials_of_another_kind_and_servers_elsewhere_are_refused_at_the_start() {
    let (fake, folder) = (FakeKeyService::start(Google).await, tempfile::tempdir().unwrap());
    let key = folder.path().join("key.json");
    std::fs::write(&key, json!({"type": "service_account", "private_key": "canary"}).to_string()).unwrap();
    let section_of =
        |file: &Path| section(&fake, &format!("credentials = \"workload_identity\"\ncredentials_file = {file:?}\n"));
    let refused = |section: &str| configured(section, &[]).map(|_| ()).unwrap_err();
    let error = refused(&section_of(&key));
    assert!(matches!(error, KeyError::Denied { .. }) && !error.to_string().contains("canary"), "{error}");
    assert!(matches!(refused(&section_of(&folder.path().join("none"))), KeyError::File { .. }));
    let elsewhere = refused(&section(&fake, "metadata_host = \"metadata.example\"\n"));
    assert!(matches!(elsewhere, KeyError::Denied { .. }), "{elsewhere}");
}

//! AWS KMS, by AWS's own library. Its credentials come from the environment of a process, so each case runs in a
//! separate process: this test program again, with one test and the environment that the platform would give.
#![cfg(feature = "kms-aws")]

use std::net::TcpListener;
use std::process::Command;

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::hmac;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use wiremock::{MockServer, Request, ResponseTemplate};

use super::contract::{configured, holds};
use super::fake::{Dialect, FakeKeyService, KeyCall, ServiceState, answer, body, bytes, demand, header};
use crate::support::free_port;

const SECRET: &str = "the-secret-of-the-tests";
const KEY: &str = "arn:aws:kms:eu-west-3:111122223333:key/1234abcd";
/// The case of this process, and the port of its server.
const CASE: &str = "ANAMNESIS_TEST_AWS_CASE";
const PORT: &str = "ANAMNESIS_TEST_AWS_PORT";

struct Aws;

fn sign(key: &[u8], text: &str) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec()
}

/// The signature (version 4) that a request should carry, recomputed from the request.
fn signature_is_right(request: &Request) -> Result<(), String> {
    let authorization = header(request, "authorization");
    let part = |name: &str| {
        let from = authorization.split_once(&format!("{name}=")).map(|(_, rest)| rest).unwrap_or_default();
        from.split(',').next().unwrap_or_default().trim().to_owned()
    };
    let (credential, signed) = (part("Credential"), part("SignedHeaders"));
    let scope: Vec<&str> = credential.splitn(2, '/').collect();
    let [_, scope] = scope[..] else { return Err("no credential".to_owned()) };
    let fields: Vec<&str> = scope.split('/').collect();
    demand(fields.len() == 4 && fields[1..] == ["eu-west-3", "kms", "aws4_request"], "region and service")?;
    let headers: String = signed.split(';').map(|name| format!("{name}:{}\n", header(request, name).trim())).collect();
    let hash = |bytes: &[u8]| hex::encode(digest(&SHA256, bytes));
    let canonical = format!("POST\n/\n\n{headers}\n{signed}\n{}", hash(&request.body));
    let date = header(request, "x-amz-date");
    let text = format!("AWS4-HMAC-SHA256\n{date}\n{scope}\n{}", hash(canonical.as_bytes()));
    let key = fields.iter().fold(format!("AWS4{SECRET}").into_bytes(), |key, field| sign(&key, field));
    demand(hex::encode(sign(&key, &text)) == part("Signature"), "the signature")
}

impl Dialect for Aws {
    fn read(&self, request: &Request, state: &mut ServiceState) -> Result<KeyCall, String> {
        let path = request.url.path();
        let credentials = |token: String, id: &str| {
            json!({"Code": "Success", "Type": "AWS-HMAC", "LastUpdated": "2026-01-01T00:00:00Z", id: format!("AKID-{token}"),
                "SecretAccessKey": SECRET, "Token": "session", "Expiration": "2099-01-01T00:00:00Z"})
        };
        match (request.method.as_str(), path) {
            ("GET", "/container") => {
                let token = state.login();
                return Ok(KeyCall::Other(answer(200, &credentials(token, "AccessKeyId"))));
            }
            ("PUT", "/latest/api/token") => {
                let token = ResponseTemplate::new(200).set_body_string("metadata");
                return Ok(KeyCall::Other(token.insert_header("x-aws-ec2-metadata-token-ttl-seconds", "21600")));
            }
            ("GET", path) if path.starts_with("/latest/meta-data/iam/security-credentials") => {
                demand(header(request, "x-aws-ec2-metadata-token") == "metadata", "a token of version 2")?;
                if path.trim_end_matches('/').ends_with("security-credentials") {
                    return Ok(KeyCall::Other(ResponseTemplate::new(200).set_body_string("role")));
                }
                let token = state.login();
                return Ok(KeyCall::Other(answer(200, &credentials(token, "AccessKeyId"))));
            }
            ("GET", _) => return Ok(KeyCall::Other(ResponseTemplate::new(404))),
            _ => {}
        }
        if String::from_utf8_lossy(&request.body).contains("AssumeRoleWithWebIdentity") {
            demand(String::from_utf8_lossy(&request.body).contains("WebIdentityToken=service-account"), "the token")?;
            let token = state.login();
            return Ok(KeyCall::Other(ResponseTemplate::new(200).set_body_raw(
                format!(
                    "<AssumeRoleWithWebIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">\
                     <AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>AKID-{token}</AccessKeyId>\
                     <SecretAccessKey>{SECRET}</SecretAccessKey><SessionToken>session</SessionToken>\
                     <Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult>\
                     </AssumeRoleWithWebIdentityResponse>"
                ),
                "text/xml",
            )));
        }
        signature_is_right(request)?;
        let body = body(request)?;
        demand(body["KeyId"] == KEY, "KeyId")?;
        let context = body["EncryptionContext"]["anamnesis-key-store"].as_str().ok_or("the encryption context")?;
        let context = hex::decode(context).map_err(|_| "the encryption context is no id")?;
        match header(request, "x-amz-target") {
            "TrentService.Encrypt" => Ok(KeyCall::Wrap { plain: bytes(&body, "Plaintext", &STANDARD)?, context }),
            "TrentService.Decrypt" => {
                Ok(KeyCall::Unwrap { sealed: bytes(&body, "CiphertextBlob", &STANDARD)?, context })
            }
            _ => Err("x-amz-target".to_owned()),
        }
    }

    fn wrapped(&self, sealed: &[u8], _: u32) -> ResponseTemplate {
        let blob = base64::Engine::encode(&STANDARD, sealed);
        answer(200, &json!({"CiphertextBlob": blob, "KeyId": KEY, "EncryptionAlgorithm": "SYMMETRIC_DEFAULT"}))
    }

    fn unwrapped(&self, plain: &[u8]) -> ResponseTemplate {
        answer(200, &json!({"Plaintext": base64::Engine::encode(&STANDARD, plain), "KeyId": KEY}))
    }

    fn not_ours(&self) -> ResponseTemplate {
        refusal("InvalidCiphertextException")
    }

    fn forbidden(&self) -> ResponseTemplate {
        refusal("AccessDeniedException")
    }

    fn no_key(&self) -> ResponseTemplate {
        refusal("DisabledException")
    }

    fn is_authorised(&self, request: &Request, state: &ServiceState) -> bool {
        // Fixed credentials cannot be lost: there is no place to ask for others.
        let current = format!("Credential=AKID-token-{}/", state.token);
        ["Credential=AKIDFIXED/", current.as_str()].iter().any(|id| header(request, "authorization").contains(id))
    }

    fn unauthorised(&self) -> ResponseTemplate {
        refusal("ExpiredTokenException")
    }

    fn failing(&self, status: u16) -> ResponseTemplate {
        if status == 429 { refusal("ThrottlingException") } else { ResponseTemplate::new(status) }
    }
}

fn refusal(code: &str) -> ResponseTemplate {
    answer(400, &json!({"__type": code, "message": "canary"}))
}

/// Runs this file's other test in a process with this environment and nothing of AWS from ours.
fn in_a_process(case: &str, environment: &[(&str, String)]) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "key_services::aws::the_contract_in_its_environment", "--nocapture"]);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("AWS_")) {
        command.env_remove(name);
    }
    let ran = command
        .env(CASE, case)
        .env("AWS_CONFIG_FILE", "/nonexistent")
        .env("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
        // A proxy of the environment must not be used: nothing listens there.
        .env("HTTP_PROXY", "http://127.0.0.1:9")
        .env("http_proxy", "http://127.0.0.1:9")
        .envs(environment.iter().map(|(name, value)| (*name, value.as_str())))
        .output()
        .unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success() && text.contains("1 passed"), "{case}: {text}");
}

#[tokio::test]
async fn the_contract_in_its_environment() {
    let Ok(port) = std::env::var(PORT) else { return };
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).unwrap();
    let fake = FakeKeyService::on(MockServer::builder().listener(listener).start().await, Aws).await;
    let section = format!("root = \"aws\"\n[aws]\nkey = \"{KEY}\"\nendpoint = \"{}\"\n", fake.server.uri());
    holds(&fake, configured(&section, &[]).unwrap().as_ref()).await;
    let logged_in = fake.state().logins > 0;
    assert_eq!(logged_in, std::env::var(CASE).unwrap() != "environment");
}

#[test]
fn aws_holds_the_contract_with_credentials_of_each_kind() {
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, "service-account").unwrap();
    let off = ("AWS_EC2_METADATA_DISABLED", "true".to_owned());
    let port = || free_port();
    let at = |port: u16| (PORT, port.to_string());
    in_a_process(
        "environment",
        &[
            at(port()),
            off.clone(),
            ("AWS_ACCESS_KEY_ID", "AKIDFIXED".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", SECRET.to_owned()),
        ],
    );
    let number = port();
    let uri = format!("http://127.0.0.1:{number}/container");
    in_a_process("container", &[at(number), off.clone(), ("AWS_CONTAINER_CREDENTIALS_FULL_URI", uri)]);
    let number = port();
    let web = [
        at(number),
        off,
        ("AWS_WEB_IDENTITY_TOKEN_FILE", token.display().to_string()),
        ("AWS_ROLE_ARN", "arn:aws:iam::111122223333:role/anamnesis".to_owned()),
        ("AWS_ENDPOINT_URL_STS", format!("http://127.0.0.1:{number}")),
    ];
    in_a_process("web identity", &web);
    let number = port();
    let metadata = ("AWS_EC2_METADATA_SERVICE_ENDPOINT", format!("http://127.0.0.1:{number}"));
    in_a_process("instance", &[at(number), metadata]);
}

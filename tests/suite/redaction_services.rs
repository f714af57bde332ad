//! Additional redaction services, tested against a fake server of Presidio and Google in this process; and the
//! replacements of policies.

use std::path::Path;
use std::time::Duration;

use anamnesis_config::redaction::OrganizationRedaction;
use anamnesis_pipeline::{Disposition, Pipeline};
use anamnesis_redaction::remote::{Google, Presidio, Remote, RemoteError};
use anamnesis_redaction::{
    CustomRecognisers, KnownPeople, RedactionError, RedactionPolicy, Redactor, SurrogateKey, TokenKey,
};
use anamnesis_text::{Document, Language};
use anamnesis_transport::ApiToken;
use serde_json::{Value, json};
use wiremock::matchers::{bearer_token, body_partial_json, body_string_contains, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::support::{Clinic, ORG, bodies, count, document, event, feed};

const WAIT: Duration = Duration::from_millis(400);
const PARENT: &str = "projects/p/locations/europe-west1";

fn key() -> SurrogateKey {
    SurrogateKey::new([4; 32])
}

fn spanish(text: &str) -> Document {
    Document::plain(text, Language::Spanish)
}

async fn presidio(answer: ResponseTemplate) -> (MockServer, Presidio) {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .and(path("/analyze"))
        .and(body_partial_json(json!({"language": "es"})))
        .respond_with(answer)
        .mount(&server)
        .await;
    let client = Presidio::new(&server.uri(), WAIT, Path::new("")).unwrap();
    (server, client)
}

#[tokio::test]
async fn what_presidio_finds_is_taken_as_well_and_what_the_program_finds_too() {
    let text = "El ñandú zurdo preguntó por Ana Ruiz.";
    let found = json!([{"start": 3, "end": 14, "score": 0.85, "entity_type": "PERSON", "analysis_explanation": null}]);
    let (_server, client) = presidio(ResponseTemplate::new(200).set_body_json(found)).await;
    let remote = client.find(text, Language::Spanish).await.unwrap();
    assert_eq!(remote[0].span.slice(text), "ñandú zurdo");
    let redactor = Redactor::builtin(RedactionPolicy::default());
    let redacted = redactor.redact_with(&spanish(text), &KnownPeople::default(), &key(), &remote).unwrap();
    let after = &redacted.document().text;
    assert!(!after.contains("zurdo") && !after.contains("Ruiz"), "{after}");
    let mut outside = remote;
    outside[0].span.end = 10_000;
    let refused = redactor.redact_with(&spanish(text), &KnownPeople::default(), &key(), &outside);
    assert_eq!(refused.unwrap_err(), RedactionError::Offsets);
}

#[tokio::test]
async fn whatever_goes_wrong_with_a_service_is_an_error_and_never_an_empty_answer() {
    let wrong = [
        (ResponseTemplate::new(200).set_body_json(json!([])).set_delay(WAIT * 4), RemoteError::Timeout),
        (ResponseTemplate::new(503), RemoteError::Overloaded),
        (ResponseTemplate::new(429), RemoteError::Overloaded),
        (ResponseTemplate::new(401), RemoteError::Denied),
        (ResponseTemplate::new(400), RemoteError::Document),
        (ResponseTemplate::new(404), RemoteError::Refused),
        (ResponseTemplate::new(302).insert_header("location", "/elsewhere"), RemoteError::Refused),
        (ResponseTemplate::new(200).set_body_string("<html>"), RemoteError::InvalidResponse),
        (
            ResponseTemplate::new(200)
                .set_body_json(json!([{"start": 2, "end": 99, "score": 1.0, "entity_type": "PERSON"}])),
            RemoteError::InvalidResponse,
        ),
    ];
    for (answer, error) in wrong {
        let (_server, client) = presidio(answer).await;
        assert_eq!(client.find("hola Ana", Language::Spanish).await, Err(error));
    }
    let nobody = Presidio::new("http://127.0.0.1:9", WAIT, Path::new("")).unwrap();
    assert_eq!(nobody.find("hola", Language::Spanish).await, Err(RemoteError::Unreachable));
    assert!(RemoteError::Denied.is_retryable() && !RemoteError::Document.is_retryable());
}

async fn google(answer: Value) -> (MockServer, Google) {
    let server = MockServer::start().await;
    let transformation = json!({"primitiveTransformation": {"replaceWithInfoTypeConfig": {}}});
    let asked = json!({
        "inspectConfig": {"minLikelihood": "POSSIBLE", "includeQuote": false},
        "deidentifyConfig": {"infoTypeTransformations": {"transformations": [transformation]}}
    });
    Mock::given(method("POST"))
        .and(path(format!("/v2/{PARENT}/content:deidentify")))
        .and(bearer_token("secret"))
        .and(body_partial_json(asked))
        .respond_with(ResponseTemplate::new(200).set_body_json(answer))
        .mount(&server)
        .await;
    let client = Google::new(&server.uri(), PARENT, ApiToken::Fixed("secret".into()), WAIT, Path::new("")).unwrap();
    (server, client)
}

#[tokio::test]
async fn values_that_google_replaced_are_found_in_the_source_or_the_answer_is_rejected() {
    let text = "Vino Ana Ñíguez; llamar al 600 100 200.";
    let answer = |value: &str, bytes: usize| {
        json!({
            "item": {"value": value},
            "overview": {"transformedBytes": bytes.to_string(), "transformationSummaries": [
                {"infoType": {"name": "PERSON_NAME"}, "results": [{"count": "1", "code": "SUCCESS"}]}]}
        })
    };
    let (server, client) = google(answer("Vino [PERSON_NAME]; llamar al [PHONE_NUMBER].", 23)).await;
    let found = client.find(text, Language::Spanish).await.unwrap();
    let values: Vec<(&str, &str)> = found.iter().map(|one| (one.span.slice(text), one.label)).collect();
    assert_eq!(values, [("Ana Ñíguez", "PERSON"), ("600 100 200", "PHONE")]);
    let asked: Value = serde_json::from_slice(&server.received_requests().await.unwrap()[0].body).unwrap();
    assert!(!asked["inspectConfig"]["infoTypes"].as_array().unwrap().is_empty(), "the kinds are pinned");
    let (_server, client) = google(answer("Vino [PERSON_NAME]; llamar al [PHONE_NUMBER].", 22)).await;
    assert_eq!(client.find(text, Language::Spanish).await, Err(RemoteError::InvalidResponse));
    let long = "a ".repeat(300_000);
    assert_eq!(client.find(&long, Language::Spanish).await, Err(RemoteError::TooLarge));
}

fn policy(operators: &str) -> RedactionPolicy {
    RedactionPolicy::from_toml(&format!("name = \"own\"\nversion = 1\n[operators]\n{operators}")).unwrap()
}

const NOTE: &str = "Nombre: Ana Ruiz Gil\nTeléfono: 612 345 678\nFecha de ingreso: 03/02/2019\nFecha de alta: 17/02/2019\nEdad: 93 años\nCP: 28013\nToma sertralina 50 mg.";

#[test]
fn a_policy_decides_the_replacement_of_a_value() {
    let policy =
        policy("PERSON = \"fake\"\nPHONE = \"mask\"\nDATE = \"shift\"\nAGE = \"generalise\"\nPOSTAL_CODE = \"cut\"\n");
    let redacted = Redactor::builtin(policy).redact(&spanish(NOTE), &KnownPeople::default(), &key()).unwrap();
    let after = &redacted.document().text;
    let line = |name: &str| after.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned();
    let name = line("Nombre:");
    assert!(name.split(' ').count() == 3 && !name.contains("Ruiz") && !name.contains('['), "{after}");
    assert_eq!(line("Teléfono:"), "*** *** ***");
    let date = |name: &str| line(name).parse::<chrono::NaiveDate>().unwrap();
    assert_eq!((date("Fecha de alta:") - date("Fecha de ingreso:")).num_days(), 14);
    assert_ne!(date("Fecha de alta:").to_string(), "2019-02-17");
    assert!(line("Edad:").starts_with("[AGE_90+]") && line("CP:").starts_with("[POSTAL_CODE_28]"), "{after}");
    assert!(after.ends_with("Toma sertralina 50 mg."));
}

#[test]
fn tags_masks_classes_and_sealed_values_are_not_taken_again() {
    let operators = "PHONE = \"mask\"\nAGE = \"generalise\"\nPOSTAL_CODE = \"cut\"\nPERSON = \"token\"\n";
    let redactor = Redactor::builtin(policy(operators)).token_key(TokenKey::new([8; 64]));
    let once = redactor.redact(&spanish(NOTE), &KnownPeople::default(), &key()).unwrap();
    let twice = redactor.redact(once.document(), &KnownPeople::default(), &key()).unwrap();
    assert_eq!(once.document().text, twice.document().text);
    let open = TokenKey::new([8; 64]).detokenize(&once.document().text);
    assert!(open.contains("Nombre: Ana Ruiz Gil\n") && !open.contains("612"), "{open}");
}

#[test]
fn without_its_key_a_policy_that_seals_stores_nothing() {
    let redactor = Redactor::builtin(policy("PERSON = \"token\"\n"));
    assert_eq!(
        redactor.redact(&spanish(NOTE), &KnownPeople::default(), &key()).unwrap_err(),
        RedactionError::NoTokenKey
    );
}

#[test]
fn an_organisation_adds_its_own_recognisers_and_allows_its_own_words() {
    let file = "[[recogniser]]\nlabel = \"MEDICAL_RECORD\"\npattern = \"zk[0-9]{2}/[a-z]{3}\"\nkeywords = [\"expte interno\"]\n\
        [[recogniser]]\nlabel = \"ORGANIZATION\"\nwords = [\"Proyecto Lázaro\"]\n[allow]\nwords = [\"Doctora Amor\"]\n";
    let plain = Redactor::builtin(RedactionPolicy::default());
    let own = Redactor::builtin(RedactionPolicy::default()).custom(CustomRecognisers::from_toml(file).unwrap());
    let text = "Expte interno ZK42/ABC. Derivada al proyecto lazaro. La muñeca Doctora Amor le calma. Vino Ana Ruiz.";
    let after = |redactor: &Redactor| {
        redactor.redact(&spanish(text), &KnownPeople::default(), &key()).unwrap().document().text.clone()
    };
    let (before, after) = (after(&plain), after(&own));
    assert!(before.contains("proyecto lazaro"), "{before}");
    assert!(!after.contains("ZK42") && !after.contains("lazaro") && !after.contains("Ruiz"), "{after}");
    assert!(after.contains("Doctora Amor"), "{after}");
}

/// A pipeline whose organisation has its own recognisers and a Presidio analyzer.
async fn pipeline_asking(server: &MockServer, custom: &std::path::Path) -> (Clinic, Pipeline) {
    let own: OrganizationRedaction = serde_json::from_value(json!({
        "organization": ORG, "policy": "safe_harbor", "custom": custom, "presidio": server.uri(), "timeout_ms": 400,
    }))
    .unwrap();
    let clinic = Clinic::new().await.with(|settings| settings.redaction.organizations.push(own));
    let pipeline = clinic.pipeline().await;
    (clinic, pipeline)
}

const STORED: &str = "SELECT count(*) FROM documents";

#[tokio::test(flavor = "multi_thread")]
async fn the_pipeline_takes_out_what_an_organisations_own_recognisers_and_services_find() {
    let server = MockServer::start().await;
    let text = "Visto en el zurdo con expte interno ZK10/abc por dolor.";
    let found = json!([{"start": 12, "end": 17, "score": 0.9, "entity_type": "PERSON"}]);
    let answer = ResponseTemplate::new(200).set_body_json(found);
    Mock::given(path("/analyze"))
        .and(body_partial_json(json!({"text": text})))
        .respond_with(answer)
        .mount(&server)
        .await;
    Mock::given(path("/analyze"))
        .respond_with(ResponseTemplate::new(200).set_body_json(json!([])))
        .mount(&server)
        .await;
    let folder = tempfile::tempdir().unwrap();
    let custom = folder.path().join("own.toml");
    std::fs::write(&custom, "[[recogniser]]\nlabel = \"MEDICAL_RECORD\"\npattern = \"zk[0-9]{2}/[a-z]{3}\"\n").unwrap();
    let (_clinic, pipeline) = pipeline_asking(&server, &custom).await;
    let message = event("1", "anamnesis.document.submitted.v1", &document(7, 1, "2026-06-01T10:00:00Z", text));
    assert_eq!(feed(&pipeline, &bodies(&[message]), 8).await, [Disposition::Stored]);
    assert_eq!(count(pipeline.store(), STORED).await, 1);
    let revision = crate::support::rows(pipeline.store(), "SELECT redaction_policy FROM documents").await;
    assert!(revision[0].text(0).unwrap().contains('.'), "the recognisers of the organisation are part of the version");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_gives_no_answer_lets_nothing_through_and_blames_no_document() {
    let statuses = [302, 400, 401, 403, 404, 405, 413, 422, 429, 500, 502, 503];
    let answers = statuses.map(ResponseTemplate::new).into_iter().chain([
        ResponseTemplate::new(200).set_body_json(json!([])).set_delay(WAIT * 4),
        ResponseTemplate::new(200).set_body_string("<html>log in</html>"),
    ]);
    for answer in answers {
        let server = MockServer::start().await;
        Mock::given(path("/analyze")).respond_with(answer).mount(&server).await;
        let (_clinic, pipeline) = pipeline_asking(&server, Path::new("")).await;
        let data = document(7, 1, "2026-06-01T10:00:00Z", "Ana Ruiz refiere dolor.");
        let message = event("1", "anamnesis.document.submitted.v1", &data);
        assert_eq!(feed(&pipeline, &bodies(&[message]), 8).await, [Disposition::Retry]);
        assert_eq!(count(pipeline.store(), STORED).await, 0);
        assert_eq!(count(pipeline.store(), QUARANTINED).await, 0);
    }
}

const QUARANTINED: &str = "SELECT count(*) FROM quarantine";

#[tokio::test(flavor = "multi_thread")]
async fn a_text_that_a_service_refuses_alone_is_quarantined_alone() {
    let server = MockServer::start().await;
    let refused = Mock::given(path("/analyze")).and(body_string_contains("Ruiz"));
    refused.respond_with(ResponseTemplate::new(422)).mount(&server).await;
    let found = ResponseTemplate::new(200).set_body_json(json!([]));
    Mock::given(path("/analyze")).respond_with(found).mount(&server).await;
    let (_clinic, pipeline) = pipeline_asking(&server, Path::new("")).await;
    let message = |id: u128, text: &str| {
        event(&id.to_string(), "anamnesis.document.submitted.v1", &document(id, 1, "2026-06-01T10:00:00Z", text))
    };
    let messages = [message(1, "Ana Ruiz refiere dolor."), message(2, "Refiere dolor.")];
    let quarantined = Disposition::Quarantined(anamnesis_core::reason::Reason::RedactionFailed);
    assert_eq!(feed(&pipeline, &bodies(&messages), 8).await, [quarantined, Disposition::Stored]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_service_for_a_field_of_a_profile_blames_no_message() {
    let server = MockServer::start().await;
    Mock::given(path("/analyze")).respond_with(ResponseTemplate::new(401)).mount(&server).await;
    let (_clinic, pipeline) = pipeline_asking(&server, Path::new("")).await;
    let mut data = document(7, 1, "2026-06-01T10:00:00Z", "");
    let profile = json!({"organization_id": data["organization_id"].take(), "patient_id": data["patient_id"].take(),
        "actor": "5f3b1c52-6d0e-4c43-9a55-0a4f6c1d2e3f", "recorded_at": "2026-06-01T10:00:00Z",
        "allergies": [{"substance": "penicillin", "reaction": "rash, says Ana Ruiz"}]});
    let message = event("1", "anamnesis.profile.updated.v1", &profile);
    assert_eq!(feed(&pipeline, &bodies(&[message]), 8).await, [Disposition::Retry]);
    assert_eq!(count(pipeline.store(), QUARANTINED).await, 0);
}

#[tokio::test]
async fn googles_token_is_read_again_once_the_service_refuses_it() {
    let server = MockServer::start().await;
    let answer = json!({"item": {"value": "hola"}, "overview": {}});
    Mock::given(bearer_token("renewed"))
        .respond_with(ResponseTemplate::new(200).set_body_json(answer))
        .mount(&server)
        .await;
    Mock::given(method("POST")).respond_with(ResponseTemplate::new(401)).mount(&server).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, "expired").unwrap();
    let client = Google::new(&server.uri(), PARENT, ApiToken::file(file.clone()), WAIT, Path::new("")).unwrap();
    assert_eq!(client.find("hola", Language::Spanish).await, Err(RemoteError::Denied));
    std::fs::write(&file, "renewed").unwrap();
    assert_eq!(client.find("hola", Language::Spanish).await, Ok(Vec::new()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_is_slow_and_answers_makes_no_document_late() {
    let server = MockServer::start().await;
    let slow = ResponseTemplate::new(200).set_body_json(json!([])).set_delay(Duration::from_millis(1_500));
    Mock::given(path("/analyze")).respond_with(slow).mount(&server).await;
    let own: OrganizationRedaction =
        serde_json::from_value(json!({"organization": ORG, "presidio": server.uri(), "timeout_ms": 5_000})).unwrap();
    let clinic = Clinic::new().await.with(|settings| {
        settings.redaction.organizations.push(own);
        settings.pipeline.redaction_timeout_ms = 1_000;
    });
    let pipeline = clinic.pipeline().await;
    let message = event("1", "anamnesis.document.submitted.v1", &document(7, 1, "2026-06-01T10:00:00Z", "Duerme mal."));
    // The first text of a process loads the model, and lateness by that is not tested here.
    let _ =
        Redactor::builtin(RedactionPolicy::default()).redact(&spanish("Duerme mal."), &KnownPeople::default(), &key());
    assert_eq!(feed(&pipeline, &bodies(&[message]), 8).await, [Disposition::Stored]);
}

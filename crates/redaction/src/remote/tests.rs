use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;

use super::service::label_of;
use super::*;
use crate::label;
use crate::test_support::read;
use anamnesis_text::{Document, Language, Span};
use anamnesis_transport::ApiToken;

/// A service that gives its answers one after the other, the last one again and again.
struct Played {
    answers: Vec<Result<Vec<ExternalFinding>, RemoteError>>,
    asked: AtomicUsize,
}

#[async_trait]
impl Remote for Played {
    async fn find(&self, _: &str, _: Language) -> Result<Vec<ExternalFinding>, RemoteError> {
        let at = self.asked.fetch_add(1, Ordering::Relaxed);
        self.answers[at.min(self.answers.len() - 1)].clone()
    }
}

struct Broken;

#[async_trait]
impl Remote for Broken {
    async fn find(&self, _: &str, _: Language) -> Result<Vec<ExternalFinding>, RemoteError> {
        std::panic::resume_unwind(Box::new("no service"))
    }
}

fn played(answers: Vec<Result<Vec<ExternalFinding>, RemoteError>>) -> Arc<dyn Remote> {
    Arc::new(Played { answers, asked: AtomicUsize::new(0) })
}

fn finding(start: usize, end: usize) -> ExternalFinding {
    ExternalFinding::from_service(Span::new(start, end), label::PERSON, 0.8)
}

fn asked(list: Vec<Arc<dyn Remote>>) -> Result<Vec<ExternalFinding>, RemoteError> {
    Services::new(list)?.find(&Document::plain("vino Ana", Language::Spanish))
}

#[test]
fn the_findings_of_all_services_are_used_and_one_failure_stops_all() {
    assert_eq!(asked(Vec::new()), Ok(Vec::new()));
    let mut both = asked(vec![played(vec![Ok(vec![finding(0, 4)])]), played(vec![Ok(vec![finding(5, 8)])])]).unwrap();
    both.sort_by_key(|one| one.span.start);
    assert_eq!(both, [finding(0, 4), finding(5, 8)]);
    let one_away = vec![played(vec![Ok(vec![finding(0, 4)])]), played(vec![Err(RemoteError::Overloaded)])];
    assert_eq!(asked(one_away), Err(RemoteError::Overloaded));
    assert_eq!(asked(vec![Arc::new(Broken)]), Err(RemoteError::Unreachable), "one that panics");
}

#[test]
fn a_refusal_is_about_the_text_only_if_another_text_is_accepted() {
    for (probe, error) in [
        (Ok(Vec::new()), RemoteError::Document),
        (Err(RemoteError::Document), RemoteError::Refused),
        (Err(RemoteError::Overloaded), RemoteError::Overloaded),
    ] {
        assert_eq!(asked(vec![played(vec![Err(RemoteError::Document), probe])]), Err(error));
    }
}

#[test]
fn everything_but_what_is_about_one_text_may_pass_later() {
    for (error, code, later) in [
        (RemoteError::Timeout, "timeout", true),
        (RemoteError::Unreachable, "unreachable", true),
        (RemoteError::Denied, "denied", true),
        (RemoteError::Refused, "refused", true),
        (RemoteError::Document, "document", false),
        (RemoteError::Overloaded, "overloaded", true),
        (RemoteError::InvalidResponse, "invalid_response", true),
        (RemoteError::TooLarge, "too_large", false),
        (RemoteError::Thread, "configuration", true),
    ] {
        assert_eq!((error.code(), error.is_retryable()), (code, later));
    }
}

#[test]
fn the_kinds_of_services_have_labels_of_the_contract() {
    for (kind, label) in [
        ("PERSON", label::PERSON),
        ("PERSON_NAME", label::PERSON),
        ("GPE", label::LOCATION),
        ("STREET_ADDRESS", label::ADDRESS),
        ("ORG", label::ORGANIZATION),
        ("DATE_OF_BIRTH", label::DATE),
        ("AGE", label::AGE),
        ("PHONE_NUMBER", label::PHONE),
        ("EMAIL_ADDRESS", label::EMAIL),
        ("DOMAIN_NAME", label::URL),
        ("IP_ADDRESS", label::IP_ADDRESS),
        ("MAC_ADDRESS", label::DEVICE_ID),
        ("VEHICLE_IDENTIFICATION_NUMBER", label::VEHICLE_ID),
        ("CREDIT_CARD", label::CARD),
        ("IBAN_CODE", label::BANK_ACCOUNT),
        ("US_SSN", "US_SSN"),
        ("US_ITIN", "US_ITIN"),
        ("MEDICAL_LICENSE", label::LICENSE),
        ("US_PASSPORT", label::PASSPORT),
        ("UK_NHS", "UK_NHS"),
        ("ES_NIF", "ES_DNI"),
        ("SPAIN_NIE_NUMBER", "ES_NIE"),
        ("MEDICAL_RECORD_NUMBER", label::MEDICAL_RECORD),
        ("SOMETHING_NEW", label::NUMBER),
    ] {
        assert_eq!(label_of(kind), label, "{kind}");
    }
}

#[test]
fn a_finding_that_does_not_lie_in_the_text_is_refused() {
    let text = "vino Ñu hoy";
    let document = Document::plain(text, Language::Spanish);
    read(text, Language::Spanish, |context| {
        let found = finding(5, 8).in_view(&document, context).unwrap();
        assert_eq!((found.span.slice(&context.view.plain), found.recognizer), ("Nu", "remote"));
        assert_eq!(finding(6, 8).in_view(&document, context), None, "inside of a letter");
        assert_eq!(finding(5, 99).in_view(&document, context), None);
    });
}

/// A server on this machine that answers one request after the other with a status and a body.
fn served(answers: Vec<(u16, &'static str)>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for (status, body) in answers {
            let Ok((mut stream, _)) = listener.accept() else { return };
            let (mut request, mut part) = (Vec::new(), [0; 4096]);
            loop {
                let read = stream.read(&mut part).unwrap_or(0);
                request.extend_from_slice(&part[..read]);
                let text = String::from_utf8_lossy(&request).to_lowercase();
                let length =
                    text.split("content-length: ").nth(1).and_then(|rest| rest.split('\r').next()?.parse().ok());
                let head = text.find("\r\n\r\n").map(|at| at + 4);
                if read == 0
                    || head.zip(length).is_some_and(|(head, length): (usize, usize)| request.len() >= head + length)
                {
                    break;
                }
            }
            let head = format!(
                "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
        }
    });
    address
}

/// The findings of a Presidio service on a server with one answer.
fn presidio(status: u16, body: &'static str, text: &str) -> Result<Vec<ExternalFinding>, RemoteError> {
    let service = Presidio::new(&served(vec![(status, body)]), Duration::from_secs(20), Path::new(""))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(service.find(text, Language::Spanish))
}

#[test]
fn offsets_of_presidio_count_characters() {
    let body = r#"[{"start": 1, "end": 3, "entity_type": "PERSON", "score": 1.7}]"#;
    assert_eq!(presidio(200, body, "ñÑu"), Ok(vec![ExternalFinding { score: 1.0, ..finding(2, 5) }]));
    assert_eq!(presidio(200, "[]", "ñÑu"), Ok(Vec::new()));
    for body in [
        r#"[{"start": 1, "end": 9, "entity_type": "PERSON", "score": 0.7}]"#,
        r#"[{"start": 1, "entity_type": "PERSON", "score": 0.7}]"#,
        "nothing",
        "",
    ] {
        assert_eq!(presidio(200, body, "ñÑu"), Err(RemoteError::InvalidResponse), "{body}");
    }
}

#[test]
fn the_status_of_an_answer_decides_whose_fault_it_is() {
    for (status, error) in [
        (400, RemoteError::Document),
        (413, RemoteError::Document),
        (422, RemoteError::Document),
        (401, RemoteError::Denied),
        (403, RemoteError::Denied),
        (404, RemoteError::Refused),
        (302, RemoteError::Refused),
        (408, RemoteError::Overloaded),
        (425, RemoteError::Overloaded),
        (429, RemoteError::Overloaded),
        (500, RemoteError::Overloaded),
        (599, RemoteError::Overloaded),
    ] {
        assert_eq!(presidio(status, "[]", "Ana"), Err(error), "{status}");
    }
}

#[test]
fn a_service_is_called_over_https_except_on_this_machine() {
    for base in ["http://clinic.example", "nothing", "https://user:word@clinic.example"] {
        assert!(Presidio::new(base, Duration::from_secs(1), Path::new("")).is_err(), "{base}");
    }
    assert!(Presidio::new("https://clinic.example/a", Duration::from_secs(1), Path::new("")).is_ok());
    assert!(Presidio::new("https://clinic.example", Duration::from_secs(1), Path::new("/no/such/file")).is_err());
}

#[test]
fn a_server_that_is_not_there_cannot_be_reached() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let service = Presidio::new(&format!("http://{address}"), Duration::from_secs(5), Path::new("")).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    assert_eq!(runtime.block_on(service.find("Ana", Language::Spanish)), Err(RemoteError::Unreachable));
}

#[test]
fn an_answer_of_google_is_laid_over_the_text() {
    let of = |text: &'static str, body: &'static str| {
        let base = served(vec![(200, body)]);
        let service =
            Google::new(&base, "projects/p/locations/l", ApiToken::None, Duration::from_secs(20), Path::new(""))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(service.find(text, Language::Spanish))
    };
    let body = r#"{"item": {"value": "vino [PERSON_NAME]"}, "overview": {"transformedBytes": "3"}}"#;
    assert_eq!(of("vino Ana", body), Ok(vec![finding(5, 8)]));
    assert_eq!(of("vino Eva", r#"{"item": {"value": "vino Eva"}}"#), Ok(Vec::new()));
    for body in [
        r#"{"item": {"value": "vino [PERSON_NAME]"}, "overview": {"transformedBytes": "4"}}"#,
        r#"{"item": {"value": "vino [PERSON_NAME]"}, "overview": {"transformedBytes": "many"}}"#,
        r#"{"item": {"value": "otra cosa"}}"#,
    ] {
        assert_eq!(of("vino Ana", body), Err(RemoteError::InvalidResponse), "{body}");
    }
}

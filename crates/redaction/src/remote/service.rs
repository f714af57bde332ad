//! The common part of all services: a trait, its findings, a client, a complete answer, labels of the contract.

use std::time::Duration;

use async_trait::async_trait;

use super::super::document::DocumentContext;
use super::super::finding::{DetectionLayer, PiiFinding};
use super::super::label;
use super::error::RemoteError;
use anamnesis_text::{Document, Language, Span};
use anamnesis_transport::{ApiToken, Client, Endpoint, Options, SendError};

/// Something that another program or model found, in bytes of the source.
#[derive(Debug, Clone, PartialEq)]
pub struct ExternalFinding {
    pub span: Span,
    pub label: &'static str,
    /// 0.0–1.0.
    pub(crate) score: f64,
    /// Who found it, as redactions name it: `remote` or `reader`.
    pub(crate) recognizer: &'static str,
}

/// How redactions name the learned reader of clinical documents.
pub(crate) const READER: &str = "reader";

/// A service that finds personal data.
#[async_trait]
pub trait Remote: Send + Sync {
    /// The findings of the service in a text.
    ///
    /// # Errors
    /// If the answer is not complete.
    async fn find(&self, text: &str, language: Language) -> Result<Vec<ExternalFinding>, RemoteError>;
}

impl ExternalFinding {
    /// A finding of a service.
    pub(super) fn from_service(span: Span, label: &'static str, score: f64) -> Self {
        Self { span, label, score, recognizer: "remote" }
    }

    /// A finding of the learned reader of clinical documents. `kind` is one of its kinds of identifiers (`name`,
    /// `place`, `id` …); `None` for a kind without a label. `score`: 0.0–1.0.
    pub fn from_reader(span: Span, kind: &str, score: f64) -> Option<Self> {
        let label = match kind {
            "name" => label::PERSON,
            "address" => label::ADDRESS,
            "phone" => label::PHONE,
            "email" => label::EMAIL,
            "id" => label::NUMBER,
            "date_of_birth" => label::DATE,
            "organisation" => label::ORGANIZATION,
            "place" => label::LOCATION,
            _ => return None,
        };
        Some(Self { span, label, score, recognizer: READER })
    }

    /// The finding on the folded text; `None` if it is outside the text.
    pub(crate) fn in_view(&self, document: &Document, context: &DocumentContext<'_>) -> Option<PiiFinding> {
        document.text.get(self.span.start..self.span.end)?;
        let (start, end) = (context.view.from_source(self.span.start), context.view.from_source(self.span.end));
        Some(PiiFinding::new(
            Span::new(start, end.max(start)),
            self.label,
            self.recognizer,
            self.score,
            DetectionLayer::Entity,
        ))
    }
}

/// A client of a service: https beyond loopback, a whole answer within `timeout`, `ca_file` trusted as well.
pub(super) fn client(base: &str, timeout: Duration, ca_file: &std::path::Path) -> Result<Client, RemoteError> {
    let authority = anamnesis_transport::authority(ca_file)?;
    let options = Options { authority: authority.as_deref(), ..Options::within(timeout) };
    Ok(Client::new(Endpoint::parse(base)?.bare()?, &options)?)
}

/// Sends a request and reads its JSON answer, at most `most` bytes.
pub(super) async fn answer<T: serde::de::DeserializeOwned>(
    client: &Client,
    request: reqwest::RequestBuilder,
    token: &ApiToken,
    most: usize,
) -> Result<T, RemoteError> {
    let reply = client.send(request, token, most).await.map_err(|error| match error {
        SendError::Timeout => RemoteError::Timeout,
        SendError::Unreachable => RemoteError::Unreachable,
        SendError::TooLarge => RemoteError::InvalidResponse,
        // There is no token where one was configured.
        SendError::Request | SendError::Elsewhere => RemoteError::Denied,
    })?;
    match reply.status.as_u16() {
        200 => serde_json::from_slice(&reply.body).map_err(|_| RemoteError::InvalidResponse),
        // Whether it is about the text is found out by `Services`.
        400 | 413 | 422 => Err(RemoteError::Document),
        401 | 403 => Err(RemoteError::Denied),
        408 | 425 | 429 | 500..=599 => Err(RemoteError::Overloaded),
        _ => Err(RemoteError::Refused),
    }
}

/// The contract's label for a kind of Google or Presidio. A kind without a label is a number of unknown kind.
pub(super) fn label_of(kind: &str) -> &'static str {
    match kind {
        "PERSON" | "PERSON_NAME" | "FIRST_NAME" | "LAST_NAME" | "NRP" => label::PERSON,
        "LOCATION" | "GPE" => label::LOCATION,
        "STREET_ADDRESS" => label::ADDRESS,
        "ORGANIZATION" | "ORGANIZATION_NAME" | "ORG" => label::ORGANIZATION,
        "DATE_TIME" | "DATE" | "DATE_OF_BIRTH" | "TIME" => label::DATE,
        "AGE" => label::AGE,
        "PHONE_NUMBER" => label::PHONE,
        "EMAIL_ADDRESS" => label::EMAIL,
        "URL" | "DOMAIN_NAME" => label::URL,
        "IP_ADDRESS" => label::IP_ADDRESS,
        "MAC_ADDRESS" | "IMEI_HARDWARE_ID" => label::DEVICE_ID,
        "VEHICLE_IDENTIFICATION_NUMBER" => label::VEHICLE_ID,
        "CREDIT_CARD" | "CREDIT_CARD_NUMBER" => label::CARD,
        "IBAN_CODE" | "US_BANK_NUMBER" => label::BANK_ACCOUNT,
        "US_SSN" | "US_SOCIAL_SECURITY_NUMBER" => "US_SSN",
        "US_ITIN" => "US_ITIN",
        "US_DRIVER_LICENSE" | "US_DRIVERS_LICENSE_NUMBER" | "MEDICAL_LICENSE" => label::LICENSE,
        "US_PASSPORT" | "PASSPORT" => label::PASSPORT,
        "UK_NHS" | "UK_NATIONAL_HEALTH_SERVICE_NUMBER" => "UK_NHS",
        "ES_NIF" | "SPAIN_NIF_NUMBER" => "ES_DNI",
        "ES_NIE" | "SPAIN_NIE_NUMBER" => "ES_NIE",
        "MEDICAL_RECORD_NUMBER" => label::MEDICAL_RECORD,
        _ => label::NUMBER,
    }
}

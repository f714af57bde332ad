//! Additional recognisers behind a network: what they find is taken out together with what the built-in ones find, never
//! instead of it. Whatever goes wrong — time, status, an answer that does not fit the text — is an error, and an error
//! stops the document: nothing is stored that a service the operator asked for has not seen.

mod google;
mod presidio;
mod services;

use std::time::Duration;

use async_trait::async_trait;

use super::context::Context;
use super::finding::{Finding, Layer};
use super::{RedactionError, label};
use crate::text::{Document, Language, Span};

pub use google::Google;
pub use presidio::Presidio;
pub use services::Services;

/// Something a service found, in bytes of the source.
#[derive(Debug, Clone, PartialEq)]
pub struct RemoteFinding {
    pub span: Span,
    pub label: &'static str,
    /// 0.0–1.0.
    pub score: f64,
}

/// Why a service gave no usable answer. Holds nothing of the text or the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RemoteError {
    #[error("the additional redaction service did not answer in time")]
    Timeout,
    #[error("the additional redaction service cannot be reached")]
    Unreachable,
    #[error("the additional redaction service refuses the credentials")]
    Denied,
    #[error("the additional redaction service refuses the request")]
    Refused,
    #[error("the additional redaction service is overloaded or failing")]
    Busy,
    #[error("the additional redaction service's answer does not fit the text")]
    Answer,
    #[error("the text is longer than the additional redaction service takes")]
    TooLarge,
    #[error("the address or credentials of the additional redaction service are not usable")]
    Configuration,
}

impl RemoteError {
    /// Whether trying again may help; the others need a person.
    pub fn is_retryable(self) -> bool {
        matches!(self, Self::Timeout | Self::Unreachable | Self::Busy)
    }
}

/// A service that finds personal data.
#[async_trait]
pub trait Remote: Send + Sync {
    /// What the service finds in a text.
    ///
    /// # Errors
    /// Whatever keeps the answer from being whole.
    async fn find(&self, text: &str, language: Language) -> Result<Vec<RemoteFinding>, RemoteError>;
}

impl RemoteFinding {
    /// The finding on the folded text.
    pub(super) fn in_view(&self, document: &Document, context: &Context<'_>) -> Result<Finding, RedactionError> {
        document.text.get(self.span.start..self.span.end).ok_or(RedactionError::Offsets)?;
        let (start, end) = (context.view.from_source(self.span.start), context.view.from_source(self.span.end));
        Ok(Finding::new(Span::new(start, end.max(start)), self.label, "remote", self.score, Layer::Entity))
    }
}

/// A client that waits no longer than `timeout` for a whole answer and follows nobody elsewhere.
fn client(timeout: Duration) -> Result<reqwest::Client, RemoteError> {
    reqwest::Client::builder()
        .timeout(timeout)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .map_err(|_| RemoteError::Configuration)
}

/// Sends a request and reads its JSON answer, at most `most` bytes.
async fn answer<T: serde::de::DeserializeOwned>(
    request: reqwest::RequestBuilder,
    most: usize,
) -> Result<T, RemoteError> {
    let went_wrong =
        |error: reqwest::Error| if error.is_timeout() { RemoteError::Timeout } else { RemoteError::Unreachable };
    let mut response = request.send().await.map_err(went_wrong)?;
    match response.status().as_u16() {
        200 => {}
        401 | 403 => return Err(RemoteError::Denied),
        408 | 429 | 500..=599 => return Err(RemoteError::Busy),
        _ => return Err(RemoteError::Refused),
    }
    let mut body = Vec::new();
    while let Some(part) = response.chunk().await.map_err(went_wrong)? {
        if body.len() + part.len() > most {
            return Err(RemoteError::Answer);
        }
        body.extend_from_slice(&part);
    }
    serde_json::from_slice(&body).map_err(|_| RemoteError::Answer)
}

/// The contract's label for a kind of Google's or Presidio's; what has none is a number of some kind.
fn label_of(kind: &str) -> &'static str {
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

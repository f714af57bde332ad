//! Google Sensitive Data Protection, `content:deidentify`. The answer is the text with `[PERSON_NAME]` in the place of each
//! value and the number of bytes that were replaced. Where the values stood is found by laying the text that stayed over
//! the source; the number of bytes must agree, or the answer counts for nothing.

use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use super::error::RemoteError;
use super::service::{ExternalFinding, Remote, answer, client, label_of};
use anamnesis_text::{Language, Span};
use anamnesis_transport::{ApiToken, Client};

/// Most bytes of a request's text (quota of the service, less the envelope).
const LARGEST: usize = 500_000;
const LARGEST_ANSWER: usize = 8 << 20;
/// Requested kinds. They are fixed: for an empty list the service chooses, and its choice may change.
const KINDS: [&str; 19] = [
    "PERSON_NAME",
    "STREET_ADDRESS",
    "LOCATION",
    "ORGANIZATION_NAME",
    "DATE",
    "DATE_OF_BIRTH",
    "PHONE_NUMBER",
    "EMAIL_ADDRESS",
    "URL",
    "IP_ADDRESS",
    "MAC_ADDRESS",
    "CREDIT_CARD_NUMBER",
    "IBAN_CODE",
    "US_SOCIAL_SECURITY_NUMBER",
    "US_DRIVERS_LICENSE_NUMBER",
    "PASSPORT",
    "SPAIN_NIF_NUMBER",
    "SPAIN_NIE_NUMBER",
    "MEDICAL_RECORD_NUMBER",
];
const SCORE: f64 = 0.8;

/// The service for one project and location.
pub struct Google {
    client: Client,
    url: reqwest::Url,
    token: ApiToken,
}

#[derive(Deserialize)]
pub(crate) struct DeidentifyResponse {
    item: ContentItem,
    #[serde(default)]
    overview: TransformationOverview,
}

#[derive(Deserialize)]
struct ContentItem {
    value: String,
}

#[derive(Default, Deserialize)]
struct TransformationOverview {
    /// A 64-bit number, as JSON text.
    #[serde(default, rename = "transformedBytes")]
    transformed_bytes: Option<String>,
}

impl Google {
    /// `base` such as `https://dlp.googleapis.com`, `parent` such as `projects/p/locations/europe-west1`, a bearer token,
    /// and a file of further authorities (PEM), or an empty path.
    ///
    /// # Errors
    /// When the address is not allowed or no client can be made.
    pub fn new(
        base: &str,
        parent: &str,
        token: ApiToken,
        timeout: Duration,
        ca_file: &Path,
    ) -> Result<Self, RemoteError> {
        let client = client(base, timeout, ca_file)?;
        let mut url = client.endpoint().join(&[]);
        url.set_path(&format!(
            "{}/v2/{}/content:deidentify",
            url.path().trim_end_matches('/'),
            parent.trim_matches('/')
        ));
        Ok(Self { client, url, token })
    }
}

#[async_trait]
impl Remote for Google {
    async fn find(&self, text: &str, _: Language) -> Result<Vec<ExternalFinding>, RemoteError> {
        if text.len() > LARGEST {
            return Err(RemoteError::TooLarge);
        }
        let request = self.client.post(&self.url).json(&body(text));
        let answer: DeidentifyResponse = answer(&self.client, request, &self.token, LARGEST_ANSWER).await?;
        let bytes = match answer.overview.transformed_bytes {
            Some(bytes) => bytes.parse().map_err(|_| RemoteError::InvalidResponse)?,
            None => 0,
        };
        replaced(text, &answer.item.value, bytes)
    }
}

fn body(text: &str) -> Value {
    let kinds: Vec<Value> = KINDS.iter().map(|name| json!({"name": name})).collect();
    json!({
        "item": {"value": text},
        "inspectConfig": {"infoTypes": kinds, "minLikelihood": "POSSIBLE", "includeQuote": false},
        "deidentifyConfig": {"infoTypeTransformations": {"transformations": [
            {"infoTypes": kinds, "primitiveTransformation": {"replaceWithInfoTypeConfig": {}}}
        ]}}
    })
}

/// Where the values stood that the answer names. `bytes` is how many the service says it replaced.
fn replaced(source: &str, answer: &str, bytes: usize) -> Result<Vec<ExternalFinding>, RemoteError> {
    let parts = parts(answer);
    let (mut at, mut found, mut total) = (0, Vec::new(), 0);
    for (index, (before, kind)) in parts.iter().enumerate() {
        let rest = source.get(at..).ok_or(RemoteError::InvalidResponse)?;
        at += rest.starts_with(before).then_some(before.len()).ok_or(RemoteError::InvalidResponse)?;
        let Some(kind) = kind else { continue };
        let after = parts.get(index + 1).map_or("", |(text, _)| *text);
        let rest = &source[at..];
        // The last part ends the text. Any other begins at the nearest position after the value, because a value has at
        // least one letter.
        let last = index + 2 == parts.len();
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let length = if last {
            rest.len().checked_sub(after.len()).filter(|from| rest[*from..] == *after)
        } else if after.is_empty() {
            None
        } else {
            rest.get(first..).and_then(|tail| tail.find(after)).map(|by| by + first)
        };
        let length = length.ok_or(RemoteError::InvalidResponse)?;
        found.push(ExternalFinding::from_service(Span::new(at, at + length), label_of(kind), SCORE));
        total += length;
        at += length;
    }
    if at == source.len() && total == bytes { Ok(found) } else { Err(RemoteError::InvalidResponse) }
}

/// The answer as parts of text, each with the kind that follows it; the last has none.
fn parts(answer: &str) -> Vec<(&str, Option<&str>)> {
    let (mut parts, mut from, mut look) = (Vec::new(), 0, 0);
    while let Some(open) = answer[look..].find('[').map(|by| look + by) {
        let kind = answer[open + 1..].find(']').map(|by| &answer[open + 1..open + 1 + by]);
        match kind.filter(|kind| KINDS.contains(kind)) {
            Some(kind) => {
                parts.push((&answer[from..open], Some(kind)));
                from = open + kind.len() + 2;
                look = from;
            }
            None => look = open + 1,
        }
    }
    parts.push((&answer[from..], None));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_where_they_stood() {
        let source = "Soy Ana Ñíguez, tel. 600 100 200 [x].";
        let answer = "Soy [PERSON_NAME], tel. [PHONE_NUMBER] [x].";
        let found = replaced(source, answer, "Ana Ñíguez".len() + 11).unwrap();
        let texts: Vec<&str> = found.iter().map(|one| one.span.slice(source)).collect();
        assert_eq!(texts, ["Ana Ñíguez", "600 100 200"]);
    }

    #[test]
    fn an_answer_that_does_not_fit_the_text_or_its_own_count_is_refused() {
        let source = "Ana vino a ver a Ana";
        assert!(replaced(source, "[PERSON_NAME] vino a ver a [PERSON_NAME]", 6).is_ok());
        for (answer, bytes) in [
            ("[PERSON_NAME] vino a ver a [PERSON_NAME]", 7),
            ("[PERSON_NAME] fue a ver a [PERSON_NAME]", 6),
            ("[PERSON_NAME] vino", 3),
            ("[PERSON_NAME][PERSON_NAME]", 20),
            ("Ana vino", 0),
        ] {
            assert_eq!(replaced(source, answer, bytes), Err(RemoteError::InvalidResponse), "{answer}");
        }
    }
}

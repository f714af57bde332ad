//! The displayable form of a quarantined message: redacted like a stored text, by the redactor of its organisation. The
//! message arrived unredacted and is stored so, so that it can be retried. The current recognisers read it at each
//! display.

use serde_json::{Map, Value, json};

use super::Pipeline;
use anamnesis_core::ids::OrgId;
use anamnesis_core::legacy::is_typed;
use anamnesis_redaction::{KnownIdentity, KnownPeople, Redactor, SurrogateKey};
use anamnesis_store::StoreError;
use anamnesis_text::{Document, Language};

/// Digits from which a number may be a telephone number or an identifier.
const LONG_NUMBER: usize = 6;
/// The field of a message that names people only for redaction.
const PEOPLE: &str = "known_identities";

impl Pipeline {
    /// The body of a message with every text redacted; `None` if something could not be redacted, and nothing may be
    /// shown. The list of people is removed, and their names are redacted in the rest. Surrogates use a key of this row
    /// alone, so that they link it to nothing.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn redacted_view(
        &self,
        org: Option<OrgId>,
        row: uuid::Uuid,
        body: &[u8],
    ) -> Result<Option<Value>, StoreError> {
        let rows = self.store.organization().organization_rows().await?;
        let own = org.and_then(|org| rows.iter().find(|row| row.org == org));
        let policy = own.map_or("safe_harbor", |row| row.redaction_policy.as_str());
        let Some(redactor) = self.redactor(org.unwrap_or(OrgId(uuid::Uuid::nil())), policy) else { return Ok(None) };
        let key = SurrogateKey::new(self.store.keys().platform().hash("quarantine.view", &[row.as_bytes()]));
        Ok(super::run_blocking(|| viewed(body, redactor, &key)))
    }
}

fn viewed(body: &[u8], redactor: &Redactor, key: &SurrogateKey) -> Option<Value> {
    let parsed = serde_json::from_slice::<Value>(body);
    let mut identity = KnownIdentity::default();
    if let Ok(value) = &parsed {
        collect(value, false, &mut identity);
    }
    let people = KnownPeople::from_identities(vec![identity]);
    let clean = |text: &str| -> Option<String> {
        let document = Document::plain(text, Language::Unknown);
        let redacted = redactor.redact_with_services(&document, &people, key).ok()?;
        (redactor.count_residual_pii(redacted.document(), &people) == 0).then(|| redacted.document().text.clone())
    };
    match parsed {
        Ok(value) => cleaned(&value, &clean),
        Err(_) => clean(&String::from_utf8_lossy(body)).map(Value::String),
    }
}

/// Everything that a message says about people. One that breaks the contract may say it in any shape.
fn collect(value: &Value, inside: bool, identity: &mut KnownIdentity) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let inside = inside || name == PEOPLE;
                match (inside, name.as_str(), value) {
                    (true, "role", _) => {}
                    (true, "names", _) => identity.names.extend(words(value)),
                    (true, "phones", _) => identity.phones.extend(words(value)),
                    (true, "emails", _) => identity.emails.extend(words(value)),
                    (true, "addresses", _) => identity.addresses.extend(words(value)),
                    (true, "ids", _) => identity.ids.extend(words(value)),
                    (true, "birth_date", Value::String(date)) => identity.birth_date = date.parse().ok(),
                    _ => collect(value, inside, identity),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, inside, identity)),
        Value::String(text) if inside => identity.names.push(text.clone()),
        _ => {}
    }
}

fn words(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Number(number) => vec![number.to_string()],
        Value::Array(items) => items.iter().flat_map(words).collect(),
        Value::Object(fields) => fields.values().flat_map(words).collect(),
        Value::Null | Value::Bool(_) => Vec::new(),
    }
}

/// Ids and instants stay. A field's name is text as well: nothing says that it is one of the contract's.
fn cleaned(value: &Value, clean: &impl Fn(&str) -> Option<String>) -> Option<Value> {
    Some(match value {
        Value::String(text) if is_typed(text) => value.clone(),
        Value::String(text) => Value::String(clean(text)?),
        Value::Number(number) if number.to_string().len() >= LONG_NUMBER => {
            let (shown, redacted) = (number.to_string(), clean(&number.to_string())?);
            if shown == redacted { value.clone() } else { Value::String(redacted) }
        }
        Value::Array(items) => Value::Array(items.iter().map(|item| cleaned(item, clean)).collect::<Option<Vec<_>>>()?),
        Value::Object(fields) => {
            let mut shown = Map::with_capacity(fields.len());
            for (name, value) in fields {
                let shown_value = if name == PEOPLE { json!("[LEFT OUT]") } else { cleaned(value, clean)? };
                let known = is_name(name);
                shown.insert(if known { name.clone() } else { clean(name)? }, shown_value);
            }
            Value::Object(shown)
        }
        Value::Number(_) | Value::Null | Value::Bool(_) => value.clone(),
    })
}

/// Whether a field is named as in the contract; any other name passes the redactor.
fn is_name(name: &str) -> bool {
    let plain =
        ["specversion", "id", "source", "type", "time", "data", "text", "turns", "language", "metadata", "speaker"];
    let written = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    plain.contains(&name) || (written && (name.ends_with("_id") || name.ends_with("_at")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use anamnesis_redaction::RedactionPolicy;

    fn view(body: &str) -> String {
        let redactor = Redactor::builtin(RedactionPolicy::named("safe_harbor").unwrap());
        viewed(body.as_bytes(), &redactor, &SurrogateKey::new([7; 32])).unwrap().to_string()
    }

    #[test]
    fn a_broken_message_is_shown_without_the_people_it_names() {
        let shown = view(
            r#"{"organization_id":"0aaa0000-0000-4000-8000-000000000001","occurred_at":"2026-05-10T07:00:00-05:00","text":5,
            "turns":[{"speaker":"patient","text":"Soy Zuriñe Etxeandia, mi teléfono es 612 345 678 y tomo sertralina."}],
            "known_identities":[{"role":"patient","names":["Zuriñe Etxeandia"],"phones":[612345678]}]}"#,
        );
        for name in ["Zuriñe", "Etxeandia", "612 345 678", "612345678"] {
            assert!(!shown.contains(name), "{name}: {shown}");
        }
        for kept in ["0aaa0000-0000-4000-8000-000000000001", "2026-05-10T07:00:00-05:00", "sertralina"] {
            assert!(shown.contains(kept), "{kept}: {shown}");
        }
    }

    #[test]
    fn a_body_that_is_no_json_is_shown_as_a_redacted_text() {
        let shown = view("{\"text\": \"Me llamo Marta Gómez Ruiz, correo marta.gomez@example.org");
        assert!(!shown.contains("Marta") && !shown.contains("marta.gomez@example.org"), "{shown}");
    }
}

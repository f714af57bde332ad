//! JSON Schemas of the messages, generated from the types that read them, so that they cannot disagree.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use super::MessageType;

/// The schema of one type of data under the name of its message.
pub(super) fn generate<T: JsonSchema>(name: &str) -> Schema {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>();
    schema.insert("$id".to_string(), Value::from(format!("urn:anamnesis:schema:{name}")));
    schema.insert("title".to_string(), Value::from(name));
    schema
}

/// The file under `docs/schemas` that holds the schema of a type.
pub fn file_name(kind: MessageType) -> String {
    format!("{}.json", kind.name())
}

/// The text of that file.
pub fn file_text(kind: MessageType) -> String {
    format!("{:#}\n", kind.schema().as_value())
}

/// Every field name of the contract, the envelope's included: only these may appear in a refusal.
static NAMES: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let mut names: BTreeSet<String> = ENVELOPE.iter().map(|name| (*name).to_string()).collect();
    for kind in MessageType::ALL {
        collect(kind.schema().as_value(), &mut names);
    }
    names
});

/// CloudEvents attributes that are read.
pub const ENVELOPE: &[&str] = &[
    "specversion",
    "id",
    "source",
    "type",
    "time",
    "datacontenttype",
    "data",
    "data_base64",
    "partitionkey",
    "traceparent",
];

fn collect(schema: &Value, names: &mut BTreeSet<String>) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::Object(properties)) = fields.get("properties") {
                names.extend(properties.keys().cloned());
            }
            fields.values().for_each(|value| collect(value, names));
        }
        Value::Array(items) => items.iter().for_each(|value| collect(value, names)),
        _ => {}
    }
}

/// Whether a key is a field name of the contract, and so no value of a patient.
pub(crate) fn is_field_name(key: &str) -> bool {
    NAMES.contains(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_names_its_message_and_requires_the_scope() {
        for kind in MessageType::ALL {
            let schema = kind.schema();
            assert_eq!(schema.get("title"), Some(&Value::from(kind.name())));
            let required = schema.get("required").and_then(Value::as_array).expect("some fields are required");
            for field in ["organization_id", "patient_id"] {
                assert!(required.contains(&Value::from(field)), "{} does not require {field}", kind.name());
            }
        }
    }

    #[test]
    fn only_names_of_the_contract_are_field_names() {
        for name in ["turns", "speaker", "at_ms", "birth_date", "specversion", "cognitive_state"] {
            assert!(is_field_name(name), "{name}");
        }
        for name in ["", "Lucía", "turnos", "$defs"] {
            assert!(!is_field_name(name), "{name}");
        }
    }
}

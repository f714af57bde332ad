//! Deserializes canonical JSON into a typed message. Unknown fields are collected; an error names the field's path.

use serde::de::DeserializeOwned;
use serde_path_to_error::Segment;

use super::contract::schema::is_field_name;
use super::rejection::{Problem, Rejection};

/// A typed value and the paths of the fields that it does not know, array indices left out, each path once.
pub(super) struct Deserialized<T> {
    pub(crate) data: T,
    pub(crate) unknown: Vec<String>,
}

/// Longest name of an unknown field that is worth showing.
const SHOWN_NAME: usize = 48;

/// Deserializes canonical JSON. The usual case takes one pass; only a rejection pays for a second that finds
/// the field.
pub(crate) fn deserialize<T: DeserializeOwned>(json: &[u8]) -> Result<Deserialized<T>, Rejection> {
    let mut unknown = Vec::new();
    let mut reader = serde_json::Deserializer::from_slice(json);
    let data = serde_ignored::deserialize(&mut reader, |path| {
        let path = unknown_path(&path);
        if !unknown.contains(&path) {
            unknown.push(path);
        }
    });
    match data {
        Ok(data) => Ok(Deserialized { data, unknown }),
        Err(_) => Err(locate::<T>(json)),
    }
}

/// Deserializes again to find the field in error. The error's own text may quote the value and goes no further than here.
fn locate<T: DeserializeOwned>(json: &[u8]) -> Rejection {
    let mut reader = serde_json::Deserializer::from_slice(json);
    let Err(error) = serde_path_to_error::deserialize::<_, T>(&mut reader) else {
        return Rejection::new(anamnesis_core::reason::Reason::Malformed, Problem::Mistyped);
    };
    let mut field = String::new();
    for segment in error.path() {
        match segment {
            Segment::Seq { index } => field.push_str(&format!("[{index}]")),
            Segment::Map { key } => push(&mut field, shown(key)),
            Segment::Enum { variant } => push(&mut field, shown(variant)),
            Segment::Unknown => {}
        }
    }
    let missing = missing_field(&error.inner().to_string()).map(str::to_string);
    let problem = if missing.is_some() { Problem::Missing } else { Problem::Mistyped };
    if let Some(name) = missing {
        push(&mut field, &name);
    }
    Rejection {
        reason: anamnesis_core::reason::Reason::Malformed,
        problem,
        field: (!field.is_empty()).then_some(field),
    }
}

/// The field that serde found missing. Its message begins so for nothing else: what quotes a value begins with
/// "invalid" or is a format's own complaint; and a name outside the contract is not believed.
fn missing_field(message: &str) -> Option<&str> {
    let name = message.strip_prefix("missing field `")?.split('`').next()?;
    is_field_name(name).then_some(name)
}

fn push(path: &mut String, name: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(name);
}

/// A key as it may be shown: the contract's own names only.
pub(super) fn shown(key: &str) -> &str {
    if is_field_name(key) { key } else { "*" }
}

/// The path of a field that the contract does not have, for the operator. The field's own name is shown when it looks
/// like a field name, not like something said.
fn unknown_path(path: &serde_ignored::Path<'_>) -> String {
    use serde_ignored::Path;
    match path {
        Path::Root => String::new(),
        Path::Seq { parent, .. } => format!("{}[]", unknown_path(parent)),
        Path::Map { parent, key } => {
            let mut whole = unknown_path(parent);
            let plain = key.len() <= SHOWN_NAME
                && key.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
            push(&mut whole, if plain { key } else { shown(key) });
            whole
        }
        Path::Some { parent } | Path::NewtypeStruct { parent } | Path::NewtypeVariant { parent } => {
            unknown_path(parent)
        }
    }
}

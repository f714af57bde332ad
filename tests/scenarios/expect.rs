//! Whether what readers print is what a scenario expects.

use serde_json::Value;

/// Whether a text holds words, whatever their case.
pub(crate) fn holds(text: &str, words: &str) -> bool {
    text.to_lowercase().contains(&words.to_lowercase())
}

pub(crate) fn speaks_of(memory: &Value, words: &str) -> bool {
    memory["statement"].as_str().is_some_and(|statement| holds(statement, words))
}

/// What became of the last message.
///
/// # Errors
/// With the counts that `ingest` printed.
pub(crate) fn became(counts: &Value, expected: &str) -> Result<(), String> {
    let disposition = counts[expected].as_u64() == Some(1);
    let reason = counts["reasons"][expected].as_u64() == Some(1);
    if disposition || reason { Ok(()) } else { Err(counts.to_string()) }
}

/// Whether a memory is (not) there that has every value of the row. Text need only be held; an empty cell is nothing.
///
/// # Errors
/// With the memories that are there.
pub(crate) fn row(memories: &[Value], row: &[(String, String)], holds: bool) -> Result<(), String> {
    let found = memories.iter().any(|memory| row.iter().all(|(field, wanted)| has(memory, field, wanted)));
    if found == holds { Ok(()) } else { Err(format!("{row:?}\n{}", table(memories))) }
}

fn has(memory: &Value, field: &str, wanted: &str) -> bool {
    let value = field.split('.').fold(memory, |value, key| &value[key]);
    match value {
        Value::Null => wanted.is_empty(),
        Value::String(text) if matches!(field, "statement" | "fragment" | "source.label") => holds(text, wanted),
        Value::String(text) => text.eq_ignore_ascii_case(wanted) || (field == "at" && text.starts_with(wanted)),
        Value::Number(number) => match wanted.strip_prefix("about ").unwrap_or(wanted).parse::<f64>() {
            Ok(wanted_number) => {
                let tolerance = if wanted.starts_with("about ") { 0.005 } else { 1e-6 };
                number.as_f64().is_some_and(|given| (given - wanted_number).abs() <= tolerance)
            }
            Err(_) => false,
        },
        Value::Bool(flag) => (if *flag { "true" } else { "false" }) == wanted,
        Value::Array(_) | Value::Object(_) => false,
    }
}

/// Every expected field of an answer of `rules`.
///
/// # Errors
/// With the answer.
pub(crate) fn answer(given: &Value, expected: &Value) -> Result<(), String> {
    let same = |given: &Value, wanted: &Value| match (given.as_f64(), wanted.as_f64()) {
        (Some(given), Some(wanted)) => (given - wanted).abs() <= 1e-6,
        _ => given == wanted,
    };
    let all = expected.as_object().is_some_and(|fields| fields.iter().all(|(key, wanted)| same(&given[key], wanted)));
    if all { Ok(()) } else { Err(given.to_string()) }
}

/// Memories as a person reads them in the output of a test.
pub(crate) fn table(memories: &[Value]) -> String {
    let line = |memory: &Value| {
        let field = |name: &str| memory[name].to_string();
        let fields = ["entity", "statement", "state", "use", "trust", "class", "negated", "experiencer", "confidence"];
        fields.map(field).join(" · ")
    };
    memories.iter().map(line).collect::<Vec<_>>().join("\n")
}

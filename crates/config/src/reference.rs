//! `config reference` and docs/configuration.md: every key with its type, unit, default, range and one sentence.

use serde::Serialize;
use serde_json::Value as Json;

use super::shape::{Field, Shape, allowed};
use super::sources::{ConfigNode, defaults, variable_of};

/// One key.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Key {
    /// The dotted path; `[]` stands for the elements of a list.
    pub key: String,
    /// What it may hold, in words; with the range, where there is one.
    #[serde(rename = "type")]
    pub allowed: String,
    pub unit: Option<&'static str>,
    /// `null`: there is none.
    pub default: Json,
    pub secret: bool,
    /// Whether the section cannot be without it.
    pub(crate) required: bool,
    /// The variable of the environment that gives it; none within a list.
    pub(crate) variable: Option<String>,
    pub about: String,
}

/// How names end whose values have a unit.
const UNITS: &[(&str, &str)] = &[
    ("_ms", "milliseconds"),
    ("_seconds", "seconds"),
    ("_days", "days"),
    ("_bytes", "bytes"),
    ("_mb", "MiB"),
    ("_tokens", "tokens"),
    ("tokens_per_hour", "tokens"),
    ("tokens_per_minute", "tokens"),
    ("_chars", "characters"),
    ("_passages", "passages"),
    ("_words", "words"),
    ("_documents", "messages"),
    ("_spans", "spans"),
    ("price_per_million_tokens", "US dollars"),
];

/// All keys, section by section.
pub fn reference() -> Vec<Key> {
    let mut found = Vec::new();
    collect(Shape::of_settings(), Some(&defaults()), "", &mut found);
    found
}

fn collect(shape: &Shape, given: Option<&ConfigNode>, path: &str, found: &mut Vec<Key>) {
    let fields = || shape.fields().into_iter().flatten();
    let at = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    let node = |name: &str| given.and_then(|node| node.at(name, 0));
    // The keys of a section come before the sections within it.
    for (name, field) in fields() {
        match section(&field.shape) {
            // It has the keys of the section around it.
            Some(_) if name == "next" => found.push(key(&at(name), field, node(name), "a section like [embedding]")),
            Some(ReferenceTable::One) => {}
            Some(ReferenceTable::Several(_)) => found.push(key(&at(name), field, node(name), "a list of sections")),
            None => found.push(key(&at(name), field, node(name), &allowed(&field.shape))),
        }
    }
    for (name, field) in fields().filter(|(name, _)| *name != "next") {
        match section(&field.shape) {
            Some(ReferenceTable::One) => collect(&field.shape, node(name), &at(name), found),
            Some(ReferenceTable::Several(elements)) => collect(elements, None, &format!("{}[]", at(name)), found),
            None => {}
        }
    }
}

enum ReferenceTable<'a> {
    One,
    Several(&'a Shape),
}

fn section(shape: &Shape) -> Option<ReferenceTable<'_>> {
    match shape {
        Shape::Table(_) => Some(ReferenceTable::One),
        Shape::List(elements) if elements.fields().is_some() => Some(ReferenceTable::Several(elements)),
        _ => None,
    }
}

fn key(path: &str, field: &Field, node: Option<&ConfigNode>, allowed: &str) -> Key {
    let default = node.map(ConfigNode::json).filter(|value| !value.is_null());
    let default = if field.secret { Json::from("") } else { default.or(field.default.clone()).unwrap_or_default() };
    Key {
        key: path.to_owned(),
        allowed: allowed.to_owned(),
        unit: UNITS.iter().find(|(ending, _)| path.ends_with(ending)).map(|(_, unit)| *unit),
        default,
        secret: field.secret,
        required: field.required && path.contains("[]"),
        variable: (!path.contains("[]")).then(|| variable_of(path)),
        about: field.about.clone(),
    }
}

/// A default in words.
pub fn default_text(key: &Key) -> String {
    match &key.default {
        _ if key.required => "required".to_owned(),
        Json::Null => "none".to_owned(),
        Json::String(text) if text.is_empty() => "empty".to_owned(),
        Json::String(text) => text.clone(),
        Json::Array(items) if items.is_empty() => "empty".to_owned(),
        value => value.to_string(),
    }
}

/// docs/configuration.md.
pub fn reference_page() -> String {
    let mut page = String::from(
        "# Configuration\n\nMade from the types of the settings by `make docs`; `anamnesis config reference` prints the same.\n\n\
         Values come from three places, and the later one counts: the defaults, the file of `--config` or `ANAMNESIS_CONFIG`, \
         and variables `ANAMNESIS__SECTION__KEY`. `anamnesis config show` prints each value with its origin. `anamnesis config \
         check` prints every problem with its line. A secret can come from a file instead, by the key that ends with `_file`. \
         Elements of lists have no variables of their own.\n",
    );
    let mut section = String::new();
    for key in reference() {
        let (of, name) = key.key.rsplit_once('.').unwrap_or(("", &key.key));
        if of != section {
            section = of.to_owned();
            let list =
                if of.ends_with("[]") { format!("[[{}]]", of.trim_end_matches("[]")) } else { format!("[{of}]") };
            page += &format!("\n## {list}\n\n| key | type | unit | default | meaning |\n|---|---|---|---|---|\n");
        }
        let secret = if key.secret { " Secret." } else { "" };
        let (unit, default) = (key.unit.unwrap_or(""), default_text(&key));
        let default =
            if ["none", "empty", "required"].contains(&default.as_str()) { default } else { format!("`{default}`") };
        page += &format!("| `{name}` | {} | {unit} | {default} | {}{secret} |\n", key.allowed, key.about);
    }
    page
}

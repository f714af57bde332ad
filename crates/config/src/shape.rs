//! What each key may hold, read off the types of the settings by their JSON Schema. The one description that `config check`,
//! `config show`, `config reference` and docs/configuration.md share.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

use super::Settings;

/// The whole configuration.
static ROOT: LazyLock<Shape> = LazyLock::new(|| {
    let schema = schemars::schema_for!(Settings).to_value();
    Reader { definitions: &schema["$defs"] }.shape(&schema, 0)
});

/// Sections within themselves (`embedding.next`) that are described.
const DEEPEST: usize = 8;

/// What a place of the configuration may hold.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    Table(BTreeMap<String, Field>),
    List(Box<Shape>),
    /// One of several, such as a word or a list.
    Either(Vec<Shape>),
    Leaf(Leaf),
}

/// A key of a section.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    pub(crate) shape: Shape,
    /// The first sentence of its documentation.
    pub(crate) about: String,
    pub(crate) secret: bool,
    /// Without a default of the type.
    pub(crate) required: bool,
    /// The default of the type, where it has one that may be shown.
    pub(crate) default: Option<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueKind {
    Text,
    Integer,
    Number,
    Boolean,
}

/// A single value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Leaf {
    pub(crate) kind: ValueKind,
    /// Words that are allowed; empty: any text.
    pub(crate) words: Vec<String>,
    /// A form that the text has.
    pub(crate) format: Option<Format>,
    /// What the type can hold; anything else stops the start.
    pub(crate) holds: (f64, f64),
    /// What makes sense.
    pub(crate) range: (Option<f64>, Option<f64>),
}

/// A form of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Uuid,
    /// An address with a port.
    Socket,
    /// RFC 3339, or empty.
    Instant,
}

impl Shape {
    /// That of all settings.
    pub(crate) fn of_settings() -> &'static Self {
        &ROOT
    }

    /// The keys of a section; none of anything else.
    pub(crate) fn fields(&self) -> Option<&BTreeMap<String, Field>> {
        match self {
            Self::Table(fields) => Some(fields),
            _ => None,
        }
    }

    /// The key at a dotted path; a list stands for its elements.
    pub(crate) fn field(&self, path: &str) -> Option<&Field> {
        let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
        let found = self.elements().fields()?.get(first)?;
        rest.map_or(Some(found), |rest| found.shape.field(rest))
    }

    fn elements(&self) -> &Self {
        match self {
            Self::List(elements) => elements.elements(),
            other => other,
        }
    }
}

/// Reads a JSON Schema.
struct Reader<'a> {
    definitions: &'a Value,
}

impl<'a> Reader<'a> {
    fn resolved(&self, schema: &'a Value) -> &'a Value {
        let name = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next());
        name.map_or(schema, |name| &self.definitions[name])
    }

    fn shape(&self, schema: &'a Value, depth: usize) -> Shape {
        let schema = self.resolved(schema);
        let is_null = |part: &&Value| part["type"] != "null";
        if let Some(parts) = schema["anyOf"].as_array() {
            let mut parts: Vec<Shape> = parts.iter().filter(is_null).map(|part| self.shape(part, depth)).collect();
            return if parts.len() == 1 { parts.remove(0) } else { Shape::Either(parts) };
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
            kind => kind.as_str(),
        };
        match kind {
            Some("object") => Shape::Table(self.fields(schema, depth)),
            Some("array") => Shape::List(Box::new(self.shape(&schema["items"], depth))),
            kind => Shape::Leaf(leaf(schema, kind)),
        }
    }

    fn fields(&self, schema: &'a Value, depth: usize) -> BTreeMap<String, Field> {
        let required = schema["required"].as_array();
        let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|known| known == name));
        let properties = schema["properties"].as_object().into_iter().flatten();
        // A section within itself would have no end.
        let within = properties.filter(|(name, _)| depth < DEEPEST && !(depth > 1 && *name == "next"));
        within
            .map(|(name, own)| {
                let below = if name == "next" { depth + 2 } else { depth + usize::from(depth > 1) };
                let field = Field {
                    shape: ranged(self.shape(own, below), own),
                    about: sentence(own["description"].as_str().or(self.resolved(own)["description"].as_str())),
                    secret: own["writeOnly"] == true,
                    required: is_required(name),
                    default: own.get("default").cloned(),
                };
                (name.clone(), field)
            })
            .collect()
    }
}

/// The first sentence, on one line.
fn sentence(text: Option<&str>) -> String {
    let text = text.unwrap_or_default().replace('\n', " ");
    text.split_inclusive(". ").next().unwrap_or_default().trim().to_owned()
}

fn words(schema: &Value) -> Vec<String> {
    let word = |value: &Value| value.as_str().map(str::to_owned);
    let one = word(&schema["const"]);
    let listed = schema["enum"].as_array().into_iter().flatten().filter_map(word);
    let variants = schema["oneOf"].as_array().into_iter().flatten().flat_map(words);
    one.into_iter().chain(listed).chain(variants).collect()
}

fn leaf(schema: &Value, kind: Option<&str>) -> Leaf {
    let words = words(schema);
    let kind = match kind {
        Some("integer") => ValueKind::Integer,
        Some("number") => ValueKind::Number,
        Some("boolean") => ValueKind::Boolean,
        _ => ValueKind::Text,
    };
    let format = match schema["format"].as_str() {
        Some("uuid") => Some(Format::Uuid),
        Some("socket-address") => Some(Format::Socket),
        Some("instant") => Some(Format::Instant),
        _ => None,
    };
    let holds = match schema["format"].as_str() {
        Some("uint8") => (0.0, f64::from(u8::MAX)),
        Some("uint16") => (0.0, f64::from(u16::MAX)),
        Some("uint32") => (0.0, f64::from(u32::MAX)),
        Some("uint64" | "uint") => (0.0, u64::MAX as f64),
        Some("int64" | "int") => (i64::MIN as f64, i64::MAX as f64),
        _ => (f64::MIN, f64::MAX),
    };
    Leaf { kind, words, format, holds, range: (None, None) }
}

/// A number with the range of its key.
fn ranged(shape: Shape, schema: &Value) -> Shape {
    let Shape::Leaf(leaf) = shape else { return shape };
    let limit = |name: &str| schema[name].as_f64();
    // Every unsigned type says 0: that is what it holds, and no further range.
    let least = limit("minimum")
        .filter(|least| leaf.kind == ValueKind::Number || *least > leaf.holds.0 || limit("maximum").is_some());
    let format = match schema["format"].as_str() {
        Some("socket-address") => Some(Format::Socket),
        Some("instant") => Some(Format::Instant),
        _ => leaf.format,
    };
    Shape::Leaf(Leaf { range: (least, limit("maximum").filter(|most| *most < leaf.holds.1)), format, ..leaf })
}

impl Leaf {
    /// The range in words, as far as there is one.
    pub(crate) fn range_text(&self) -> Option<String> {
        let shown =
            |limit: f64| if self.kind == ValueKind::Number { format!("{limit:.1}") } else { format!("{limit:.0}") };
        match self.range {
            (Some(least), Some(most)) => Some(format!("{}–{}", shown(least), shown(most))),
            (Some(least), None) => Some(format!("{} or more", shown(least))),
            (None, Some(most)) => Some(format!("at most {}", shown(most))),
            (None, None) => None,
        }
    }

    /// Whether a number is within its range.
    pub(crate) fn covers(&self, number: f64) -> bool {
        self.range.0.is_none_or(|least| number >= least) && self.range.1.is_none_or(|most| number <= most)
    }
}

/// What may stand at a place, in words.
pub(crate) fn allowed(shape: &Shape) -> String {
    match shape {
        Shape::Table(_) => "a section".to_owned(),
        Shape::List(elements) => format!("a list, each {}", allowed(elements)),
        Shape::Either(parts) => parts.iter().map(allowed).collect::<Vec<_>>().join(", or "),
        Shape::Leaf(leaf) if !leaf.words.is_empty() => leaf.words.join(", "),
        Shape::Leaf(leaf) => {
            let kind = match (leaf.kind, leaf.format) {
                (_, Some(Format::Uuid)) => "a UUID",
                (_, Some(Format::Socket)) => "an address and a port, such as 127.0.0.1:8080",
                (_, Some(Format::Instant)) => "an instant (RFC 3339), or empty",
                (ValueKind::Text, None) => "text",
                (ValueKind::Integer, None) => "a whole number",
                (ValueKind::Number, None) => "a number",
                (ValueKind::Boolean, None) => "true or false",
            };
            leaf.range_text().map_or_else(|| kind.to_owned(), |range| format!("{kind}, {range}"))
        }
    }
}

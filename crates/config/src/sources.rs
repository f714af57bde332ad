//! Where each value comes from: the defaults, a line of the configuration file, or a variable of the environment. A secret
//! is only noted as given or not, so that no copy of it is made for a report.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value as Json;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use zeroize::Zeroizing;

use super::renamed::{current, join, name_in};
use super::secrets::{self, is_secret};
use super::shape::Shape;

/// Where a value was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ValueSource {
    Default,
    File { file: PathBuf, line: usize },
    Environment { variable: String },
}

impl std::fmt::Display for ValueSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { file, line } => write!(f, "{}:{line}", file.display()),
            Self::Environment { variable } => f.write_str(variable),
        }
    }
}

/// A value with its origin.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ConfigNode {
    pub(crate) origin: ValueSource,
    pub(crate) raw: RawValue,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RawValue {
    Table(BTreeMap<String, ConfigNode>),
    List(Vec<ConfigNode>),
    Text(String),
    Integer(i128),
    Number(f64),
    Boolean(bool),
    /// Of a secret, or of a key that is not known.
    Hidden {
        empty: bool,
        text: bool,
    },
    /// A date, or a number that no type holds.
    Other,
}

/// A place at which the file is no TOML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Syntax {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) what: String,
}

/// The defaults.
pub(crate) fn defaults() -> ConfigNode {
    let (mut node, _) = parsed(super::REFERENCE, Path::new(""));
    forget_lines(&mut node);
    node
}

fn forget_lines(node: &mut ConfigNode) {
    node.origin = ValueSource::Default;
    match &mut node.raw {
        RawValue::Table(fields) => fields.values_mut().for_each(forget_lines),
        RawValue::List(items) => items.iter_mut().for_each(forget_lines),
        _ => {}
    }
}

/// The bytes of a configuration file, wiped when they are dropped.
///
/// # Errors
/// Why there are none.
pub(crate) fn bytes(path: &Path) -> Result<Zeroizing<Vec<u8>>, &'static str> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err("there is no such file"),
        Ok(about) if !about.is_file() => return Err("is no file"),
        _ => {}
    }
    std::fs::File::open(path).and_then(secrets::read_wiping).map_err(|_| "the file cannot be read")
}

/// Where the lines of a text begin, in bytes. Each key of a file has a line: counting it anew from the start of the text was
/// a quarter of the time in which an unoptimised program starts.
struct LineStarts(Vec<usize>);

impl LineStarts {
    fn scan(text: &str) -> Self {
        Self(std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect())
    }

    /// The line of a byte, from 1.
    fn line(&self, at: usize) -> usize {
        self.0.partition_point(|start| *start <= at)
    }

    /// Line and column, from 1, of a byte.
    fn position(&self, text: &str, at: usize) -> (usize, usize) {
        let at = at.min(text.len());
        let line = self.line(at);
        (line, String::from_utf8_lossy(&text.as_bytes()[self.0[line - 1]..at]).chars().count() + 1)
    }
}

/// A file's text, as far as it can be read, and every place where it cannot.
pub(crate) fn parsed(text: &str, file: &Path) -> (ConfigNode, Vec<Syntax>) {
    let (table, errors) = DeTable::parse_recoverable(text);
    let lines = LineStarts::scan(text);
    let errors = errors.iter().map(|error| {
        let (line, column) = lines.position(text, error.span().map_or(0, |span| span.start));
        Syntax { line, column, what: error.message().replace('\n', ", ") }
    });
    let mut errors: Vec<Syntax> = errors.collect();
    errors.sort_by_key(|error| (error.line, error.column));
    let source = Source { lines, file };
    let raw = source.table(table.get_ref(), Some(Shape::of_settings()), "");
    let origin = ValueSource::File { file: file.to_owned(), line: 1 };
    (ConfigNode { origin, raw }, errors)
}

struct Source<'a> {
    lines: LineStarts,
    file: &'a Path,
}

impl Source<'_> {
    /// `section`: the path of the table, under new names.
    fn table(&self, table: &DeTable<'_>, shape: Option<&Shape>, section: &str) -> RawValue {
        let fields = table.iter().map(|(key, value)| {
            let name = name_in(section, key.get_ref().as_ref());
            let field = shape.and_then(Shape::fields).and_then(|fields| fields.get(name));
            let line = self.lines.line(key.span().start);
            let hidden = field.is_none_or(|field| field.secret);
            let raw = if hidden {
                hidden_of(value.get_ref())
            } else {
                self.value(value, field.map(|field| &field.shape), &join(section, name))
            };
            let origin = ValueSource::File { file: self.file.to_owned(), line };
            (key.get_ref().to_string(), ConfigNode { origin, raw })
        });
        RawValue::Table(fields.collect())
    }

    fn value(&self, value: &Spanned<DeValue<'_>>, shape: Option<&Shape>, path: &str) -> RawValue {
        match value.get_ref() {
            DeValue::String(text) => RawValue::Text(text.to_string()),
            DeValue::Integer(number) => {
                i128::from_str_radix(number.as_str(), number.radix()).map_or(RawValue::Other, RawValue::Integer)
            }
            DeValue::Float(number) => number.as_str().parse().map_or(RawValue::Other, RawValue::Number),
            DeValue::Boolean(value) => RawValue::Boolean(*value),
            DeValue::Datetime(_) => RawValue::Other,
            DeValue::Array(items) => {
                let shape = match shape {
                    Some(Shape::List(elements)) => Some(&**elements),
                    Some(either @ Shape::Either(_)) => Some(either),
                    _ => None,
                };
                RawValue::List(
                    items
                        .iter()
                        .map(|item| {
                            let line = self.lines.line(item.span().start);
                            let origin = ValueSource::File { file: self.file.to_owned(), line };
                            ConfigNode { origin, raw: self.value(item, shape, path) }
                        })
                        .collect(),
                )
            }
            DeValue::Table(table) => self.table(table, shape, path),
        }
    }
}

fn hidden_of(value: &DeValue<'_>) -> RawValue {
    match value {
        DeValue::String(text) => RawValue::Hidden { empty: text.is_empty(), text: true },
        _ => RawValue::Hidden { empty: false, text: false },
    }
}

/// The variables of the environment that are settings, by name.
pub(crate) fn environment(variables: impl Iterator<Item = (String, Zeroizing<String>)>) -> ConfigNode {
    let mut root = ConfigNode { origin: ValueSource::Default, raw: RawValue::Table(BTreeMap::new()) };
    for (variable, text) in variables {
        let Some(key) = setting(&variable) else { continue };
        let path = current(&key);
        let field = Shape::of_settings().field(&path);
        let origin = ValueSource::Environment { variable: variable.clone() };
        let hidden = field.is_none_or(|field| field.secret);
        let list = is_secret(&variable) && key.ends_with("webhooks");
        let raw = if hidden {
            RawValue::Hidden { empty: text.is_empty(), text: true }
        } else if is_secret(&variable) && !list {
            RawValue::Text(text.to_string())
        } else {
            match text.parse::<figment::value::Value>() {
                Ok(value) => of_variable(&value, &origin, field.map(|field| &field.shape), &path),
                Err(_) => RawValue::Other,
            }
        };
        let steps: Vec<&str> = key.split('.').collect();
        put(&mut root, &steps, ConfigNode { origin, raw });
    }
    root
}

/// The key that a variable gives.
pub(crate) fn setting(variable: &str) -> Option<String> {
    let prefix = variable.get(.."ANAMNESIS__".len())?;
    let rest = &variable["ANAMNESIS__".len()..];
    (prefix.eq_ignore_ascii_case("ANAMNESIS__") && !rest.is_empty()).then(|| rest.to_lowercase().replace("__", "."))
}

/// The variable that gives a key.
pub(crate) fn variable_of(key: &str) -> String {
    format!("ANAMNESIS__{}", key.replace('.', "__").to_uppercase())
}

fn of_variable(value: &figment::value::Value, origin: &ValueSource, shape: Option<&Shape>, path: &str) -> RawValue {
    use figment::value::Value;
    match value {
        Value::String(_, text) => RawValue::Text(text.clone()),
        Value::Char(_, one) => RawValue::Text(one.to_string()),
        Value::Bool(_, value) => RawValue::Boolean(*value),
        Value::Num(_, number) => match (number.to_i128(), number.to_f64()) {
            (Some(number), _) => RawValue::Integer(number),
            (None, Some(number)) => RawValue::Number(number),
            (None, None) => number
                .to_u128()
                .and_then(|number| i128::try_from(number).ok())
                .map_or(RawValue::Other, RawValue::Integer),
        },
        Value::Empty(..) => RawValue::Other,
        Value::Array(_, items) => {
            let shape = match shape {
                Some(Shape::List(elements)) => Some(&**elements),
                other => other,
            };
            let item = |item| ConfigNode { origin: origin.clone(), raw: of_variable(item, origin, shape, path) };
            RawValue::List(items.iter().map(item).collect())
        }
        Value::Dict(_, fields) => RawValue::Table(
            fields
                .iter()
                .map(|(key, value)| {
                    let name = name_in(path, key);
                    let field = shape.and_then(Shape::fields).and_then(|fields| fields.get(name));
                    let hidden = field.is_none_or(|field| field.secret);
                    let raw = match (hidden, value) {
                        (true, Value::String(_, text)) => RawValue::Hidden { empty: text.is_empty(), text: true },
                        (true, _) => RawValue::Hidden { empty: false, text: false },
                        (false, value) => {
                            of_variable(value, origin, field.map(|field| &field.shape), &join(path, name))
                        }
                    };
                    (key.clone(), ConfigNode { origin: origin.clone(), raw })
                })
                .collect(),
        ),
    }
}

fn put(node: &mut ConfigNode, steps: &[&str], value: ConfigNode) {
    let Some((first, rest)) = steps.split_first() else {
        *node = merged(node.clone(), value);
        return;
    };
    if !matches!(node.raw, RawValue::Table(_)) {
        node.raw = RawValue::Table(BTreeMap::new());
    }
    let RawValue::Table(fields) = &mut node.raw else { return };
    let empty = || ConfigNode { origin: value.origin.clone(), raw: RawValue::Table(BTreeMap::new()) };
    put(fields.entry((*first).to_owned()).or_insert_with(empty), rest, value);
}

/// A lower layer under a higher one: sections are merged, everything else is replaced.
pub(crate) fn merged(lower: ConfigNode, higher: ConfigNode) -> ConfigNode {
    match (lower.raw, higher.raw) {
        (RawValue::Table(mut fields), RawValue::Table(more)) => {
            for (key, value) in more {
                let value = match fields.remove(&key) {
                    Some(known) => merged(known, value),
                    None => value,
                };
                fields.insert(key, value);
            }
            let origin = if higher.origin == ValueSource::Default { lower.origin } else { higher.origin };
            ConfigNode { origin, raw: RawValue::Table(fields) }
        }
        (_, raw) => ConfigNode { origin: higher.origin, raw },
    }
}

impl ConfigNode {
    /// The node at a dotted path. Within a list: the element of this place.
    pub(crate) fn at(&self, path: &str, item: usize) -> Option<&Self> {
        let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
        let table = match &self.raw {
            RawValue::List(items) => &items.get(item)?.raw,
            raw => raw,
        };
        let RawValue::Table(fields) = table else { return None };
        let found = fields.get(first)?;
        rest.map_or(Some(found), |rest| found.at(rest, item))
    }

    /// The value, as it may be shown.
    pub(crate) fn json(&self) -> Json {
        match &self.raw {
            RawValue::Text(text) => Json::from(text.as_str()),
            RawValue::Integer(number) => {
                i64::try_from(*number).map_or_else(|_| Json::from(number.to_string()), Json::from)
            }
            RawValue::Number(number) => Json::from(*number),
            RawValue::Boolean(value) => Json::from(*value),
            RawValue::List(items) => items.iter().map(Self::json).collect(),
            RawValue::Table(fields) => fields.iter().map(|(key, node)| (key.clone(), node.json())).collect(),
            RawValue::Hidden { .. } | RawValue::Other => Json::Null,
        }
    }
}

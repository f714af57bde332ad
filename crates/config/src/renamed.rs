//! Old names of keys (`renamed.tsv`), which work for one minor version. They are replaced in each layer before the layers are
//! merged, so that a higher layer wins under either name.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use anamnesis_core::renamed::RenamedKey;
use figment::value::{Dict, Value};

use super::ConfigError;
use super::check::{Problem, ProblemKind, Severity, Sources};
use super::sources::{ConfigNode, RawValue, ValueSource, setting};

/// The table. A section comes before its keys: theirs are looked up under its new name.
static ROWS: LazyLock<Vec<RenamedKey>> = LazyLock::new(|| {
    let mut rows = RenamedKey::rows(include_str!("renamed.tsv"));
    rows.sort_by_key(|row| row.new.split('.').count());
    rows
});

/// Every renamed key of the configuration.
pub fn rows() -> &'static [RenamedKey] {
    &ROWS
}

/// The new name of a key within a section that has its new name.
pub(crate) fn name_in<'k>(section: &str, key: &'k str) -> &'k str {
    let renamed = rows().iter().find(|row| row.old_name() == key && row.section() == section);
    renamed.map_or(key, |row| row.new_name())
}

/// The path of a key of this section.
pub(crate) fn join(section: &str, key: &str) -> String {
    if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") }
}

/// A dotted path under new names.
pub(crate) fn current(path: &str) -> String {
    path.split('.').fold(String::new(), |section, key| join(&section, name_in(&section, key)))
}

type Section<T> = BTreeMap<String, T>;

/// A value of a layer.
trait Node: Sized {
    fn section(&mut self) -> Option<&mut Section<Self>>;
    fn items(&mut self) -> Option<&mut Vec<Self>>;
}

impl Node for Value {
    fn section(&mut self) -> Option<&mut Section<Self>> {
        match self {
            Self::Dict(_, fields) => Some(fields),
            _ => None,
        }
    }

    fn items(&mut self) -> Option<&mut Vec<Self>> {
        match self {
            Self::Array(_, items) => Some(items),
            _ => None,
        }
    }
}

impl Node for ConfigNode {
    fn section(&mut self) -> Option<&mut Section<Self>> {
        match &mut self.raw {
            RawValue::Table(fields) => Some(fields),
            _ => None,
        }
    }

    fn items(&mut self) -> Option<&mut Vec<Self>> {
        match &mut self.raw {
            RawValue::List(items) => Some(items),
            _ => None,
        }
    }
}

/// A use of an old name.
struct OldName<'a, T> {
    row: &'static RenamedKey,
    /// The key that the layer sets under both names, if there is one.
    duplicate: Option<&'a str>,
    /// The value under the old name.
    value: &'a T,
}

/// Replaces the old names of a layer, and calls `note` for each use.
fn replace<T: Node>(layer: &mut Section<T>, note: &mut dyn FnMut(OldName<'_, T>)) {
    for row in rows() {
        let steps: Vec<&str> = row.section().split('.').filter(|step| !step.is_empty()).collect();
        each_section(layer, &steps, &mut |section| {
            let Some(value) = section.remove(row.old_name()) else { return };
            note(OldName { row, duplicate: None, value: &value });
            insert(section, row, row.new, value, note);
        });
    }
}

/// Calls `act` for each section at a path; a list stands for its elements.
fn each_section<T: Node>(section: &mut Section<T>, steps: &[&str], act: &mut dyn FnMut(&mut Section<T>)) {
    let Some((first, rest)) = steps.split_first() else {
        act(section);
        return;
    };
    let Some(node) = section.get_mut(*first) else { return };
    if let Some(below) = node.section() {
        each_section(below, rest, act);
    } else if let Some(items) = node.items() {
        for below in items.iter_mut().filter_map(Node::section) {
            each_section(below, rest, act);
        }
    }
}

/// Sets a value under its new path. Two sections are merged; a key that has a value already keeps it.
fn insert<T: Node>(
    section: &mut Section<T>,
    row: &'static RenamedKey,
    path: &str,
    mut value: T,
    note: &mut dyn FnMut(OldName<'_, T>),
) {
    let name = path.rsplit('.').next().unwrap_or(path);
    let Some(known) = section.get_mut(name) else {
        section.insert(name.to_owned(), value);
        return;
    };
    if let (Some(known), Some(more)) = (known.section(), value.section()) {
        for (key, value) in std::mem::take(more) {
            insert(known, row, &join(path, &key), value, note);
        }
        return;
    }
    note(OldName { row, duplicate: Some(path), value: &value });
}

/// Replaces the old names of a layer of values.
///
/// # Errors
/// The first key that has a value under both names.
pub(crate) fn replace_values(layer: &mut Dict) -> Result<(), String> {
    let mut duplicate = None;
    replace(layer, &mut |used: OldName<'_, Value>| {
        if duplicate.is_none() {
            duplicate = used.duplicate.map(str::to_owned);
        }
    });
    duplicate.map_or(Ok(()), Err)
}

/// The error of a start with a key under both names, with its file and line or its variable.
pub(crate) fn duplicate(file: Option<&Path>, key: String, layer: &str) -> ConfigError {
    let mut found = Vec::new();
    Sources::read(file, &mut found);
    let is_known = |problem: &&Problem| is_duplicate(problem) && problem.key == key;
    let origin = found.iter().find(is_known).and_then(|problem| problem.origin.as_ref());
    ConfigError::Duplicate { origin: origin.map_or_else(|| layer.to_owned(), ToString::to_string), key }
}

fn is_duplicate(problem: &Problem) -> bool {
    problem.kind == ProblemKind::Renamed && problem.severity == Severity::Error
}

/// The rule that a key under both names breaks.
pub(crate) const DUPLICATE: &str = "is set under its old name too; remove the old one";

/// Replaces the old names of a layer as it was written, and notes each use.
pub(crate) fn replace_nodes(layer: &mut ConfigNode, found: &mut Vec<Problem>) {
    let Some(layer) = layer.section() else { return };
    replace(layer, &mut |used: OldName<'_, ConfigNode>| {
        if let Some(key) = used.duplicate {
            let origin = used.value.origin.clone();
            // The error replaces the warning for this place.
            found.retain(|known| known.kind != ProblemKind::Renamed || known.origin.as_ref() != Some(&origin));
            found.push(problem(Severity::Error, key.to_owned(), origin, DUPLICATE.to_owned(), None));
            return;
        }
        for origin in origins(used.value) {
            let (old, new) = names(used.row, &origin);
            let is_known = found.iter().any(|known| known.key == old && known.origin.as_ref() == Some(&origin));
            if !is_known {
                found.push(warning(&old, &new, used.row.since, origin));
            }
        }
    });
}

/// The warning for an old name.
pub fn warning(old: &str, new: &str, since: &str, origin: ValueSource) -> Problem {
    let text = format!("was renamed in {since}; the old name works for one minor version");
    problem(Severity::Warning, old.to_owned(), origin, text, Some(new.to_owned()))
}

fn problem(severity: Severity, key: String, origin: ValueSource, problem: String, nearest: Option<String>) -> Problem {
    Problem { severity, kind: ProblemKind::Renamed, key, origin: Some(origin), problem, allowed: None, nearest }
}

/// Where an old name is written: one place in a file, or each variable of a section.
fn origins(node: &ConfigNode) -> Vec<ValueSource> {
    let mut found = Vec::new();
    match (&node.origin, &node.raw) {
        (ValueSource::Environment { .. }, RawValue::Table(fields)) if !fields.is_empty() => {
            found.extend(fields.values().flat_map(origins));
        }
        _ => found.push(node.origin.clone()),
    }
    found
}

/// Old and new path. A variable has its whole path in its name.
fn names(row: &RenamedKey, origin: &ValueSource) -> (String, String) {
    let key = match origin {
        ValueSource::Environment { variable } => setting(variable),
        _ => None,
    };
    let key = key.map(|key| (current(&key), key)).filter(|(new, old)| new != old);
    key.map_or_else(|| (row.old.to_owned(), row.new.to_owned()), |(new, old)| (old, new))
}

/// Every old name in use, as a warning.
pub fn in_use(file: Option<&Path>) -> Vec<Problem> {
    let mut found = Vec::new();
    Sources::read(file, &mut found);
    found.retain(|problem| problem.kind == ProblemKind::Renamed && problem.severity == Severity::Warning);
    found
}

#[cfg(test)]
#[path = "renamed_tests.rs"]
mod tests;

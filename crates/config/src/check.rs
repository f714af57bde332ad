//! `config check`: every problem of the configuration at once, each with its place and what is allowed there. No value is
//! repeated: it may be a secret.

use std::path::Path;

use serde::Serialize;

use super::nearest::{nearest, nearest_key};
use super::renamed;
use super::rules::{RuleViolation, Rules};
use super::secrets::PassedSecrets;
use super::shape::{Format, Leaf, Shape, ValueKind, allowed};
use super::sources::{self, ConfigNode, RawValue, ValueSource, merged};
use super::traces::ENDPOINT;
use super::{ConfigError, Layers, Settings};

/// Whether the program starts with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Every command refuses the configuration, or the part of the program that needs the key does.
    Error,
    /// The program works with it.
    Warning,
}

/// What sort of problem it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// The file is missing or cannot be read.
    File,
    /// It is no TOML.
    Syntax,
    /// There is no such key.
    Unknown,
    /// Another type or form than the key allows, or nothing where there must be something.
    Value,
    /// Held to its range.
    Range,
    /// A rule of one setting or between several.
    Rule,
    /// A file that holds a secret cannot be used.
    Secret,
    /// It needs a part that the program was built without.
    Unbuilt,
    /// The old name of a key: a warning, and an error if the new name is set in the same place too.
    Renamed,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    pub severity: Severity,
    pub kind: ProblemKind,
    /// The dotted path; elements of lists by their place, from 0. Empty: the file itself.
    pub key: String,
    /// `None`: it was not given anywhere.
    pub origin: Option<ValueSource>,
    pub problem: String,
    /// What the key may hold.
    pub allowed: Option<String>,
    /// The known key or word that is nearest; of a renamed key its new name.
    pub nearest: Option<String>,
}

/// A step of a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PathSegment {
    Key(String),
    Item(usize),
}

/// What the program was built with, as far as settings need it.
#[derive(Debug, Clone, Copy)]
pub struct BuildFeatures {
    /// The cargo feature `otel`.
    pub traces: bool,
}

/// Looks at all layers. Nothing found: every command takes this configuration.
pub fn check(file: Option<&Path>, built: BuildFeatures) -> Vec<Problem> {
    let mut found = Vec::new();
    let sources = Sources::read(file, &mut found);
    let unread = found.iter().any(|problem| problem.key.is_empty());
    let mut judge = ShapeChecker { found: Vec::new(), unusable: Vec::new() };
    judge.node(&sources, Shape::of_settings(), &mut Vec::new());
    // What was recovered of a line that is no TOML says nothing.
    let broken: Vec<usize> = found.iter().filter(|problem| problem.key.is_empty()).filter_map(line).collect();
    judge.found.retain(|problem| line(problem).is_none_or(|line| !broken.contains(&line)));
    found.append(&mut judge.found);
    // What is left shows whether the settings agree with each other.
    let read = if unread { None } else { file };
    let unusable = elements(judge.unusable);
    found.extend(disagreements(read, &unusable, &sources, &found));
    found.extend(unbuilt(built, &sources));
    let errors: Vec<String> = errors(&found).map(|problem| problem.key.clone()).collect();
    found.retain(|problem| problem.severity == Severity::Error || !errors.contains(&problem.key));
    // In the order of the file; what no line gives comes last.
    found.sort_by_key(|problem| line(problem).unwrap_or(usize::MAX));
    found
}

/// Of a place within a list the whole element, each once and in order.
fn elements(mut places: Vec<Vec<PathSegment>>) -> Vec<Vec<PathSegment>> {
    for place in &mut places {
        if let Some(at) = place.iter().position(|step| matches!(step, PathSegment::Item(_))) {
            place.truncate(at + 1);
        }
    }
    places.sort();
    places.dedup();
    places
}

fn errors(found: &[Problem]) -> impl Iterator<Item = &Problem> {
    found.iter().filter(|problem| problem.severity == Severity::Error)
}

fn line(problem: &Problem) -> Option<usize> {
    match problem.origin {
        Some(ValueSource::File { line, .. }) => Some(line),
        _ => None,
    }
}

/// All layers as they were written.
pub(crate) struct Sources;

impl Sources {
    /// The merged layers; what cannot be read is noted.
    pub(crate) fn read(file: Option<&Path>, found: &mut Vec<Problem>) -> ConfigNode {
        let mut layers = sources::defaults();
        if let Some(path) = file {
            let at = |line| Some(ValueSource::File { file: path.to_owned(), line });
            let mut note = |kind, line, problem: String| found.push(error(kind, "", at(line), problem));
            match sources::bytes(path) {
                Err(why) => note(ProblemKind::File, 0, why.to_owned()),
                Ok(bytes) => match std::str::from_utf8(&bytes) {
                    Err(broken) => {
                        let before = &bytes[..broken.valid_up_to()];
                        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
                        note(ProblemKind::Syntax, line, "is not UTF-8".to_owned());
                    }
                    Ok(text) => {
                        let (mut node, syntax) = sources::parsed(text, path);
                        for one in syntax {
                            note(
                                ProblemKind::Syntax,
                                one.line,
                                format!("is not valid TOML at column {}: {}", one.column, one.what),
                            );
                        }
                        renamed::replace_nodes(&mut node, found);
                        layers = merged(layers, node);
                    }
                },
            }
        }
        let mut variables = sources::environment(PassedSecrets::every_variable());
        renamed::replace_nodes(&mut variables, found);
        merged(layers, variables)
    }
}

fn error(kind: ProblemKind, key: &str, origin: Option<ValueSource>, problem: impl Into<String>) -> Problem {
    let problem = problem.into();
    Problem { severity: Severity::Error, kind, key: key.to_owned(), origin, problem, allowed: None, nearest: None }
}

/// Compares what was written with what each key may hold.
struct ShapeChecker {
    found: Vec<Problem>,
    /// Places that no start could read.
    unusable: Vec<Vec<PathSegment>>,
}

/// A path as people write it.
pub(crate) fn shown(place: &[PathSegment]) -> String {
    let mut text = String::new();
    for step in place {
        match step {
            PathSegment::Key(key) if text.is_empty() => text.push_str(key),
            PathSegment::Key(key) => text.extend([".", key]),
            PathSegment::Item(at) => text.push_str(&format!("[{at}]")),
        }
    }
    text
}

impl ShapeChecker {
    fn refuse(&mut self, node: &ConfigNode, place: &[PathSegment], mut problem: Problem) {
        problem.key = shown(place);
        problem.origin = given(node);
        self.found.push(problem);
        self.unusable.push(place.to_vec());
    }

    fn wrong(&mut self, node: &ConfigNode, shape: &Shape, place: &[PathSegment]) {
        let problem = Problem {
            allowed: Some(allowed(shape)),
            ..error(ProblemKind::Value, "", None, "has another type than expected")
        };
        self.refuse(node, place, problem);
    }

    fn node(&mut self, node: &ConfigNode, shape: &Shape, place: &mut Vec<PathSegment>) {
        match (shape, &node.raw) {
            (Shape::Table(fields), RawValue::Table(given)) => {
                for (key, below) in given {
                    place.push(PathSegment::Key(key.clone()));
                    match fields.get(key) {
                        Some(field) => self.node(below, &field.shape, place),
                        None => self.unknown(below, shape, place, key),
                    }
                    place.pop();
                }
                let missing = fields.iter().filter(|(key, field)| field.required && !given.contains_key(*key));
                for (key, field) in missing {
                    let allowed = Some(allowed(&field.shape));
                    let key = if place.is_empty() { key.clone() } else { format!("{}.{key}", shown(place)) };
                    self.found
                        .push(Problem { allowed, ..error(ProblemKind::Value, &key, self::given(node), "is missing") });
                    // The element that lacks it cannot be read.
                    self.unusable.push(place.clone());
                }
            }
            (Shape::List(elements), RawValue::List(items)) => {
                for (at, item) in items.iter().enumerate() {
                    place.push(PathSegment::Item(at));
                    self.node(item, elements, place);
                    place.pop();
                }
            }
            (Shape::Either(parts), _) => {
                let fits = parts.iter().any(|part| {
                    let mut alone = ShapeChecker { found: Vec::new(), unusable: Vec::new() };
                    alone.node(node, part, &mut place.clone());
                    alone.found.is_empty()
                });
                if !fits {
                    self.wrong(node, shape, place);
                }
            }
            (Shape::Leaf(leaf), raw) => self.leaf(node, (shape, leaf), raw, place),
            _ => self.wrong(node, shape, place),
        }
    }

    fn unknown(&mut self, node: &ConfigNode, section: &Shape, place: &[PathSegment], key: &str) {
        let known = section.fields().into_iter().flatten().map(|(key, _)| key.as_str());
        let own = nearest(key, known).map(|near| {
            let mut place = place.to_vec();
            place.pop();
            place.push(PathSegment::Key(near.to_owned()));
            shown(&place)
        });
        let near = own.or_else(|| nearest_key(key));
        self.refuse(
            node,
            place,
            Problem { nearest: near, ..error(ProblemKind::Unknown, "", None, "there is no such key") },
        );
    }

    fn leaf(&mut self, node: &ConfigNode, (shape, leaf): (&Shape, &Leaf), raw: &RawValue, place: &[PathSegment]) {
        let number = match (leaf.kind, raw) {
            (ValueKind::Text, RawValue::Text(text)) => return self.text(node, (shape, leaf), text, place),
            (ValueKind::Text, RawValue::Hidden { text: true, .. }) | (ValueKind::Boolean, RawValue::Boolean(_)) => {
                return;
            }
            (ValueKind::Integer | ValueKind::Number, RawValue::Integer(number)) => *number as f64,
            (ValueKind::Number, RawValue::Number(number)) => *number,
            _ => return self.wrong(node, shape, place),
        };
        let allowed = Some(allowed(shape));
        if number < leaf.holds.0 || number > leaf.holds.1 {
            self.refuse(node, place, Problem { allowed, ..error(ProblemKind::Value, "", None, "is out of its range") });
        } else if !leaf.covers(number) {
            let severity = Severity::Warning;
            let problem = "is out of its range, and the nearest value within is taken";
            self.found.push(Problem {
                severity,
                allowed,
                ..error(ProblemKind::Range, &shown(place), given(node), problem)
            });
        }
    }

    fn text(&mut self, node: &ConfigNode, (shape, leaf): (&Shape, &Leaf), text: &str, place: &[PathSegment]) {
        let fits = match leaf.format {
            None => leaf.words.is_empty() || leaf.words.iter().any(|word| word == text),
            Some(Format::Uuid) => text.parse::<anamnesis_core::ids::OrgId>().is_ok(),
            Some(Format::Socket) => text.parse::<std::net::SocketAddr>().is_ok(),
            Some(Format::Instant) => text.is_empty() || text.parse::<chrono::DateTime<chrono::Utc>>().is_ok(),
        };
        if fits {
            return;
        }
        let problem =
            if leaf.words.is_empty() { "has another form than expected" } else { "is none of the known words" };
        let nearest = nearest(text, leaf.words.iter().map(String::as_str)).map(str::to_owned);
        self.refuse(
            node,
            place,
            Problem { allowed: Some(allowed(shape)), nearest, ..error(ProblemKind::Value, "", None, problem) },
        );
    }
}

/// The origin of what was given; of a default there is none.
fn given(node: &ConfigNode) -> Option<ValueSource> {
    (node.origin != ValueSource::Default).then(|| node.origin.clone())
}

/// Rules between settings, and secrets that are in files. Without what no start could read; when the rest cannot be read
/// either, that is said.
fn disagreements(
    file: Option<&Path>,
    unusable: &[Vec<PathSegment>],
    sources: &ConfigNode,
    found: &[Problem],
) -> Vec<Problem> {
    let layers = match Layers::read(file, &PassedSecrets::default(), unusable) {
        Ok(layers) => layers,
        Err(refused) => return refused_start(ProblemKind::Value, refused, sources).into_iter().collect(),
    };
    let (settings, refused) = match layers.settings() {
        Ok(read) => read,
        Err(refused) if errors(found).next().is_none() => {
            return refused_start(ProblemKind::Value, refused, sources).into_iter().collect();
        }
        Err(_) => return Vec::new(),
    };
    let mut rules = Rules::default();
    settings.check(&mut rules);
    settings.check_parts(&mut rules);
    let broken = rules.into_broken().into_iter().map(|broken| of_rule(&broken, unusable, sources));
    let refused = refused.into_iter().filter_map(|refused| refused_start(ProblemKind::Secret, refused, sources));
    let missing =
        |problem: &Problem| !found.iter().any(|known| known.key == problem.key && known.severity == Severity::Error);
    broken.chain(refused).filter(missing).collect()
}

/// What is configured and was not built in. Work goes on without it, so it is a warning.
fn unbuilt(built: BuildFeatures, sources: &ConfigNode) -> Option<Problem> {
    let endpoint = sources.at(ENDPOINT, 0)?;
    let is_set = matches!(&endpoint.raw, RawValue::Text(text) if !text.is_empty());
    let problem = "has no effect: this program was built without the cargo feature `otel`, and sends no traces";
    let problem =
        Problem { severity: Severity::Warning, ..error(ProblemKind::Unbuilt, ENDPOINT, given(endpoint), problem) };
    (is_set && !built.traces).then_some(problem)
}

fn of_rule(broken: &RuleViolation, unusable: &[Vec<PathSegment>], sources: &ConfigNode) -> Problem {
    let (list, last) = broken.key.rsplit_once('.').unwrap_or(("", &broken.key));
    let Some(RawValue::List(items)) = sources.at(list, 0).map(|node| &node.raw) else {
        return error(ProblemKind::Rule, &broken.key, sources.at(&broken.key, 0).and_then(given), broken.setting.rule);
    };
    // The settings lack the elements that could not be read.
    let steps: Vec<PathSegment> = list.split('.').map(|key| PathSegment::Key(key.to_owned())).collect();
    let left =
        |at: &usize| !unusable.iter().any(|place| place.split_last() == Some((&PathSegment::Item(*at), &steps[..])));
    let at = (0..items.len()).filter(left).nth(broken.item).unwrap_or(broken.item);
    let origin = sources.at(&broken.key, at).or(items.get(at)).and_then(given);
    error(ProblemKind::Rule, &format!("{list}[{at}].{last}"), origin, broken.setting.rule)
}

fn refused_start(kind: ProblemKind, refused: ConfigError, sources: &ConfigNode) -> Option<Problem> {
    match refused {
        ConfigError::Key { key, problem, .. } => {
            let origin = sources.at(&key, 0).and_then(given);
            Some(error(kind, &key, origin, problem))
        }
        ConfigError::Invalid(setting) => Some(error(ProblemKind::Rule, setting.key, None, setting.rule)),
        // Said already, with its lines.
        ConfigError::Unreadable | ConfigError::Syntax { .. } | ConfigError::Duplicate { .. } => None,
    }
}

impl Settings {
    /// Rules of parts that are looked at when they are used: embedding and the root key.
    fn check_parts(&self, rules: &mut Rules) {
        self.embedding.check(rules);
        self.keys.check(rules);
    }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;

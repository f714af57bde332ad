//! `config show`: the values that count, each with where it comes from. Secrets are shown as given or not.

use std::path::Path;

use serde::Serialize;
use serde_json::Value as Json;

use super::check::{PathSegment, Sources, shown};
use super::secrets::PassedSecrets;
use super::shape::{Field, Shape};
use super::sources::{ConfigNode, RawValue, ValueSource};
use super::{ConfigError, load_with};

/// One value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EffectiveValue {
    /// The dotted path; elements of lists by their place, from 0.
    pub key: String,
    /// `null` for a secret.
    pub value: Json,
    pub origin: ValueSource,
    /// Of a secret: whether it is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given: Option<bool>,
}

/// Every value that the program works with.
///
/// # Errors
/// As [`super::load`]: a configuration that no command takes has no effective values.
pub fn show(file: Option<&Path>) -> Result<Vec<EffectiveValue>, ConfigError> {
    load_with(file, &PassedSecrets::default())?;
    let sources = Sources::read(file, &mut Vec::new());
    let mut found = Vec::new();
    collect(&sources, Shape::of_settings(), None, &mut Vec::new(), &mut found);
    Ok(found)
}

fn collect(
    node: &ConfigNode,
    shape: &Shape,
    field: Option<&Field>,
    place: &mut Vec<PathSegment>,
    found: &mut Vec<EffectiveValue>,
) {
    match (&node.raw, shape) {
        (RawValue::Table(given), Shape::Table(fields)) => {
            for (key, field) in fields {
                place.push(PathSegment::Key(key.clone()));
                match given.get(key) {
                    Some(below) => collect(below, &field.shape, Some(field), place, found),
                    None => by_type(field, place, found),
                }
                place.pop();
            }
        }
        (RawValue::List(items), Shape::List(elements)) if elements.fields().is_some() && !items.is_empty() => {
            for (at, item) in items.iter().enumerate() {
                place.push(PathSegment::Item(at));
                collect(item, elements, None, place, found);
                place.pop();
            }
        }
        (raw, _) => {
            let secret = field.is_some_and(|field| field.secret);
            let given = secret.then_some(!matches!(raw, RawValue::Hidden { empty: true, .. }));
            let key = shown(place);
            let value = if secret { Json::Null } else { bare(&key, node.json()) };
            found.push(EffectiveValue { key, value, origin: node.origin.clone(), given });
        }
    }
}

/// A key that no layer gives: the default of its type.
fn by_type(field: &Field, place: &mut Vec<PathSegment>, found: &mut Vec<EffectiveValue>) {
    match &field.shape {
        Shape::Table(fields) if field.default.as_ref().is_some_and(Json::is_object) => {
            for (key, below) in fields {
                place.push(PathSegment::Key(key.clone()));
                by_type(below, place, found);
                place.pop();
            }
        }
        // A section that is not there.
        Shape::Table(_) => {}
        _ => {
            let value = field.default.clone().filter(|_| !field.secret).unwrap_or(Json::Null);
            let given = field.secret.then_some(false);
            found.push(EffectiveValue { key: shown(place), value, origin: ValueSource::Default, given });
        }
    }
}

/// An address without what a person might have put into it: a user, a password, a query; of a callback, the path too.
fn bare(key: &str, value: Json) -> Json {
    let Json::String(text) = &value else { return value };
    if !key.ends_with("url") && !key.ends_with("endpoint") && !key.ends_with("presidio") {
        return value;
    }
    let Ok(mut url) = reqwest::Url::parse(text) else { return value };
    // An address without a host takes neither.
    let (_, _) = (url.set_username(""), url.set_password(None));
    url.set_query(None);
    url.set_fragment(None);
    if key.contains("webhooks") && url.path() != "/" {
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        return Json::from(format!("{}://{}{port}/…", url.scheme(), url.host_str().unwrap_or_default()));
    }
    Json::from(url.as_str())
}

//! Configuration: defaults (`default.toml`, itself the reference) ‹ `--config FILE` ‹ `ANAMNESIS__SECTION__KEY`. One
//! file per section. A bad value is reported by key and origin, never by content: it may be a secret.

pub mod audit;
pub mod broker;
pub mod check;
pub mod embedding;
pub mod embedding_limits;
pub mod extraction;
mod http;
pub mod intake;
mod jobs;
pub mod json_schema;
pub mod keys;
pub mod log;
mod nearest;
mod pipeline;
pub mod redaction;
pub mod reference;
pub mod renamed;
mod rules;
mod secret_extraction;
pub mod secrets;
mod shape;
pub mod show;
mod sources;
pub mod spool;
pub mod store;
pub mod traces;
mod worker;

use std::path::{Path, PathBuf};

use figment::Figment;
use figment::Provider as _;
use figment::providers::{Env, Format as _, Toml};
use figment::value::{Dict, Value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use check::PathSegment;
use rules::Rules;
use secret_extraction::ExtractedSecrets;

pub use broker::BrokerConfig;
pub use intake::IntakeConfig;
pub use pipeline::{PipelineConfig, UnsupportedLanguage};
pub(crate) use redaction::RedactionConfig;
pub use sources::ValueSource;
pub use store::StoreConfig;

/// The reference: every key with its default and its meaning.
pub const REFERENCE: &str = include_str!("default.toml");

/// All settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    pub store: StoreConfig,
    #[serde(default)]
    pub keys: keys::KeysConfig,
    pub intake: IntakeConfig,
    #[serde(default)]
    pub broker: BrokerConfig,
    pub pipeline: PipelineConfig,
    #[serde(default)]
    pub redaction: RedactionConfig,
    #[serde(default)]
    pub extraction: extraction::ExtractionConfig,
    #[serde(default)]
    pub embedding: embedding::EmbeddingSettings,
    #[serde(default)]
    pub jobs: jobs::JobsConfig,
    pub http: http::HttpConfig,
    pub log: log::LogConfig,
    #[serde(default)]
    pub traces: traces::TracesConfig,
    pub worker: worker::WorkerConfig,
    #[serde(default)]
    pub audit: audit::AuditConfig,
    #[serde(default)]
    pub spool: spool::SpoolConfig,
}

/// What is wrong with the configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("the configuration file cannot be read")]
    Unreadable,
    #[error("{}:{line}: the configuration is not valid TOML at column {column}: {what}", .file.display())]
    Syntax { file: PathBuf, line: usize, column: usize, what: String },
    /// `key` is the dotted path, `origin` the file or variable it came from.
    #[error("configuration key `{key}` ({origin}): {problem}")]
    Key { key: String, origin: String, problem: &'static str },
    /// A layer sets the key under its old name too.
    #[error("configuration key `{key}` ({origin}): {}", renamed::DUPLICATE)]
    Duplicate { key: String, origin: String },
    #[error("configuration key `{}` {}", .0.key, .0.rule)]
    Invalid(#[from] embedding::InvalidSetting),
}

/// Reads all layers.
///
/// # Errors
/// The first key that is unknown, missing or of another type.
pub fn load(file: Option<&Path>) -> Result<Settings, ConfigError> {
    load_with(file, &secrets::PassedSecrets::default())
}

/// The same with secret variables that were handed over apart from the environment, which they override.
///
/// # Errors
/// As [`load`].
pub fn load_with(file: Option<&Path>, handed: &secrets::PassedSecrets) -> Result<Settings, ConfigError> {
    let (settings, refused) = Layers::read(file, handed, &[])?.settings()?;
    if let Some(refused) = refused.into_iter().next() {
        return Err(refused);
    }
    settings.validate()?;
    Ok(settings)
}

/// All layers, with their secrets apart.
struct Layers {
    layers: Figment,
    hidden: ExtractedSecrets,
}

impl Layers {
    /// Reads them. What is at the places `without` is left out, in every layer above the defaults.
    fn read(
        file: Option<&Path>,
        handed: &secrets::PassedSecrets,
        without: &[Vec<PathSegment>],
    ) -> Result<Self, ConfigError> {
        let mut hidden = ExtractedSecrets::default();
        let mut given: Vec<(&'static str, Dict)> = Vec::new();
        if let Some(path) = file {
            given.push(("TOML file", written(path)?));
        }
        // Secrets of the environment are read apart, as text.
        let open = Env::prefixed("ANAMNESIS__").filter(|key| !secrets::is_secret(&format!("ANAMNESIS__{key}")));
        let open = open.split("__").data().ok().and_then(|mut data| data.remove(&figment::Profile::Default));
        given.push((VARIABLES, open.unwrap_or_default()));
        for variables in [&secrets::PassedSecrets::of_this_process(), handed] {
            given.push((VARIABLES, variables.nested()));
        }
        let mut layers = Figment::from(Toml::string(REFERENCE));
        for (name, mut values) in given {
            renamed::replace_values(&mut values).map_err(|key| renamed::duplicate(file, key, name))?;
            // From the end: what is left of a list keeps its order.
            without.iter().rev().for_each(|place| leave_out(&mut values, place));
            layers = layers.merge(Layer::new(name, values, &mut hidden));
        }
        Ok(Self { layers, hidden })
    }

    /// The settings, and the secrets in files that cannot be read.
    fn settings(self) -> Result<(Settings, Vec<ConfigError>), ConfigError> {
        let mut settings: Settings = self.layers.extract().map_err(|error| describe(&error))?;
        self.hidden.put_into(&mut settings);
        let refused = secrets::fill(&mut settings);
        Ok((settings, refused))
    }
}

const VARIABLES: &str = "`ANAMNESIS__` environment variable(s)";

/// Removes what is at a place.
fn leave_out(values: &mut Dict, place: &[PathSegment]) {
    match place {
        [PathSegment::Key(key)] => drop(values.remove(key)),
        [PathSegment::Key(key), PathSegment::Item(item), ..] => match values.get_mut(key) {
            Some(Value::Array(_, items)) if *item < items.len() => drop(items.remove(*item)),
            _ => {}
        },
        [PathSegment::Key(key), rest @ ..] => {
            if let Some(Value::Dict(_, below)) = values.get_mut(key) {
                leave_out(below, rest);
            }
        }
        _ => {}
    }
}

/// One layer, without its secrets.
struct Layer {
    name: &'static str,
    values: Dict,
}

impl Layer {
    fn new(name: &'static str, mut values: Dict, hidden: &mut ExtractedSecrets) -> Self {
        hidden.take_from(&mut values);
        Self { name, values }
    }
}

impl figment::Provider for Layer {
    fn metadata(&self) -> figment::Metadata {
        figment::Metadata::named(self.name)
    }

    fn data(&self) -> Result<figment::value::Map<figment::Profile, Dict>, figment::Error> {
        Ok(figment::Profile::Default.collect(self.values.clone()))
    }
}

/// What a configuration file says. Its text is wiped, since it may hold secrets.
fn written(path: &Path) -> Result<Dict, ConfigError> {
    if !path.is_file() {
        return Err(ConfigError::Unreadable);
    }
    let bytes = std::fs::File::open(path).and_then(secrets::read_wiping).map_err(|_| ConfigError::Unreadable)?;
    let text = std::str::from_utf8(&bytes).map_err(|_| ConfigError::Unreadable)?;
    toml::from_str(text).map_err(|_| {
        let first = sources::parsed(text, path).1.into_iter().next();
        first.map_or(ConfigError::Unreadable, |syntax| ConfigError::Syntax {
            file: path.to_owned(),
            line: syntax.line,
            column: syntax.column,
            what: syntax.what,
        })
    })
}

impl Settings {
    /// What is sent to other hosts is encrypted, whatever the verb: a wrong address is found at the start and not when
    /// the first text is on its way.
    ///
    /// # Errors
    /// The first address that cannot be.
    fn validate(&self) -> Result<(), ConfigError> {
        Ok(Rules::first(|rules| self.check(rules))?)
    }

    /// Every rule of the sections that each verb looks at.
    pub(crate) fn check(&self, rules: &mut Rules) {
        // Without a connection or a message nothing would ever be done.
        let connections = (1..=1000).contains(&self.store.postgres.max_connections);
        rules.rule(connections, "store.postgres.max_connections", "must be 1–1000");
        let batch = (1..=4096).contains(&self.pipeline.batch_documents);
        rules.rule(batch, "pipeline.batch_documents", "must be 1–4096");
        self.intake.check(rules);
        self.broker.check(rules);
        self.redaction.check(rules);
        self.extraction.check(rules);
        self.traces.check(rules);
    }
}

fn describe(error: &figment::Error) -> ConfigError {
    use figment::error::Kind;
    let problem = match &error.kind {
        Kind::UnknownField(..) => "there is no such key; `anamnesis config check` names the nearest one",
        Kind::MissingField(_) => "is missing",
        Kind::InvalidType(..) => "has another type than expected",
        Kind::UnknownVariant(..) => "is none of the known words",
        Kind::InvalidLength(..) | Kind::InvalidValue(..) => "is out of its range",
        _ => "cannot be read",
    };
    let mut path = error.path.clone();
    if let Kind::UnknownField(name, _) = &error.kind
        && path.last() != Some(name)
    {
        path.push(name.clone());
    }
    let origin = error.metadata.as_ref().map_or_else(|| "configuration".to_owned(), |m| m.name.to_string());
    ConfigError::Key { key: path.join("."), origin, problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_holds_every_key() {
        load(None).unwrap();
    }

    #[test]
    fn a_wrong_value_is_named_by_key_and_never_quoted() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.toml");
        std::fs::write(&path, "[pipeline]\nbatch_documents = \"hunter2\"\n").unwrap();
        let error = load(Some(&path)).unwrap_err().to_string();
        assert!(error.contains("pipeline.batch_documents"), "{error}");
        assert!(!error.contains("hunter2"), "{error}");
    }

    #[test]
    fn an_unknown_key_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.toml");
        std::fs::write(&path, "[store]\npaht = \"x\"\n").unwrap();
        let error = load(Some(&path)).unwrap_err().to_string();
        assert!(error.contains("store.paht"), "{error}");
    }
}

//! Configuration: defaults (`default.toml`, itself the reference) ‹ `--config FILE` ‹ `ANAMNESIS__SECTION__KEY`. One
//! file per section. A bad value is reported by key and origin, never by content: it may be a secret.

pub mod audit;
pub mod broker;
pub mod embedding;
pub mod embedding_limits;
pub mod extraction;
mod hidden;
pub mod http;
pub mod intake;
pub mod jobs;
pub mod keys;
pub mod log;
pub mod pipeline;
pub mod redaction;
pub mod secrets;
pub mod spool;
pub mod store;
pub mod worker;

use std::path::Path;

use figment::Figment;
use figment::providers::{Env, Format as _, Toml};
use figment::value::Dict;
use serde::{Deserialize, Serialize};

use hidden::Hidden;

pub use broker::BrokerConfig;
pub use intake::IntakeConfig;
pub use pipeline::{PipelineConfig, UnsupportedLanguage};
pub use redaction::RedactionConfig;
pub use store::StoreConfig;

/// The reference: every key with its default and its meaning.
pub const REFERENCE: &str = include_str!("default.toml");

/// All settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// `key` is the dotted path, `origin` the file or variable it came from.
    #[error("configuration key `{key}` ({origin}): {problem}")]
    Key { key: String, origin: String, problem: &'static str },
    #[error("configuration key `{}` {}", .0.key, .0.rule)]
    Invalid(#[from] embedding::InvalidSetting),
}

/// Reads all layers.
///
/// # Errors
/// The first key that is unknown, missing or of another type.
pub fn load(file: Option<&Path>) -> Result<Settings, ConfigError> {
    load_with(file, &secrets::Handed::default())
}

/// The same with secret variables that were handed over apart from the environment, which they override.
///
/// # Errors
/// As [`load`].
pub fn load_with(file: Option<&Path>, handed: &secrets::Handed) -> Result<Settings, ConfigError> {
    let mut hidden = Hidden::default();
    let mut layers = Figment::from(Toml::string(REFERENCE));
    if let Some(path) = file {
        layers = layers.merge(Layer::of("TOML file", written(path)?, &mut hidden));
    }
    // Secrets of the environment are read apart, as text.
    let open = Env::prefixed("ANAMNESIS__").filter(|key| !secrets::is_secret(&format!("ANAMNESIS__{key}")));
    layers = layers.merge(open.split("__"));
    for variables in [&secrets::Handed::of_this_process(), handed] {
        layers = layers.merge(Layer::of("`ANAMNESIS__` environment variable(s)", variables.nested(), &mut hidden));
    }
    let mut settings: Settings = layers.extract().map_err(|error| describe(&error))?;
    hidden.put_into(&mut settings);
    secrets::fill(&mut settings)?;
    settings.validate()?;
    Ok(settings)
}

/// One layer, without its secrets.
struct Layer {
    name: &'static str,
    values: Dict,
}

impl Layer {
    fn of(name: &'static str, mut values: Dict, hidden: &mut Hidden) -> Self {
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
    let unread = || ConfigError::Key { key: String::new(), origin: "TOML file".to_owned(), problem: "cannot be read" };
    let text = std::str::from_utf8(&bytes).map_err(|_| unread())?;
    toml::from_str(text).map_err(|_| unread())
}

impl Settings {
    /// What is sent to other hosts is encrypted, whatever the verb: a wrong address is found at the start and not when
    /// the first text is on its way.
    ///
    /// # Errors
    /// The first address that cannot be.
    fn validate(&self) -> Result<(), ConfigError> {
        self.intake.validate()?;
        self.broker.validate()?;
        self.redaction.validate()?;
        self.extraction.validate()?;
        Ok(())
    }
}

fn describe(error: &figment::Error) -> ConfigError {
    use figment::error::Kind;
    let problem = match &error.kind {
        Kind::UnknownField(..) => "there is no such key; see `anamnesis config reference`",
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

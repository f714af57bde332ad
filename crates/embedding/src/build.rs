//! From settings to an embedder.

use std::sync::Arc;

use tokio::sync::OnceCell;

use super::batching::estimated_tokens;
use super::breaker::Breaker;
use super::builtin::{BuiltinEmbedder, ModelError};
use super::http::HttpEmbedder;
use super::http::client::ProviderClient;
use super::http::openai::OpenAi;
use super::http::server_limits::{ServerLimits, limits};
use super::http::vertex::Vertex;
use super::http::wire_format::WireFormat;
use super::instrumented::InstrumentedEmbedder;
use super::limits::RateLimits;
use super::sleep::{Sleep, Timer};
use super::{EmbedObserver, Embedder, Models};
use anamnesis_config::embedding::{EmbeddingSettings, InvalidSetting, Provider};
use anamnesis_core::clock::{Clock, Entropy};
use anamnesis_transport::{ApiToken, ClientError};

/// Why there is no embedder. Names keys, never values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    #[error(transparent)]
    Setting(#[from] InvalidSetting),
    #[error("embedding: {0}")]
    Client(#[from] ClientError),
    #[error("embedding.ca_file cannot be read")]
    Authority,
    #[error("embedding.model_file: {0}")]
    Model(#[from] ModelError),
    #[error("embedding.profile.dimension differs from the dimension of the built-in encoder")]
    Dimension,
}

/// The dependencies of an embedder.
pub(crate) struct EmbedderDeps {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) observer: Arc<dyn EmbedObserver>,
    pub(crate) sleep: Arc<dyn Sleep>,
}

/// The embedder that the settings name. Touches no network.
///
/// # Errors
/// See [`BuildError`].
pub fn build(
    settings: &EmbeddingSettings,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    observer: Arc<dyn EmbedObserver>,
) -> Result<Arc<dyn Embedder>, BuildError> {
    settings.validate()?;
    match settings.provider {
        Provider::Builtin => Ok(Arc::new(InstrumentedEmbedder::new(builtin(settings)?, Provider::Builtin, observer))),
        Provider::OpenAi | Provider::Vertex => {
            let deps = EmbedderDeps { clock, entropy, observer, sleep: Arc::new(Timer) };
            Ok(Arc::new(http(settings, deps)?))
        }
    }
}

/// The configured model and, where one is to follow it, the next.
///
/// # Errors
/// See [`BuildError`].
pub fn build_models(
    settings: &EmbeddingSettings,
    clock: &Arc<dyn Clock>,
    entropy: &Arc<dyn Entropy>,
    observer: &Arc<dyn EmbedObserver>,
) -> Result<Models, BuildError> {
    let made = |settings| build(settings, Arc::clone(clock), Arc::clone(entropy), Arc::clone(observer));
    Ok(Models::new(made(settings)?, settings.next.as_deref().map(made).transpose()?))
}

/// The encoder of this process: from `model_file`, else from the program itself.
fn builtin(settings: &EmbeddingSettings) -> Result<BuiltinEmbedder, BuildError> {
    let embedder = match &settings.model_file {
        Some(path) => BuiltinEmbedder::open(path)?,
        None => BuiltinEmbedder::embedded()?,
    };
    match &settings.profile {
        Some(profile) => embedder.with_profile(profile.clone()).map_err(|_| BuildError::Dimension),
        None => Ok(embedder),
    }
}

/// An HTTP embedder in a given world.
///
/// # Errors
/// See [`BuildError`].
pub(crate) fn http(settings: &EmbeddingSettings, deps: EmbedderDeps) -> Result<HttpEmbedder, BuildError> {
    settings.validate()?;
    let endpoint = settings.endpoint()?;
    let url = endpoint.url();
    let profile = settings
        .profile
        .clone()
        .ok_or(InvalidSetting { key: "embedding.profile", rule: "is required for this provider" })?;
    let shape: Box<dyn WireFormat> = match settings.provider {
        Provider::Vertex => Box::new(Vertex::new(url, &profile, settings)),
        _ => Box::new(OpenAi::new(url, &profile, settings)),
    };
    let authority = settings.ca_file.as_ref().map(std::fs::read).transpose().map_err(|_| BuildError::Authority)?;
    let clock = Arc::clone(&deps.clock);
    let token = ApiToken::from_settings(settings.api_key.clone(), settings.api_key_file.clone());
    let (proxy, authority) = (settings.proxy.as_ref(), authority.as_deref());
    let client = ProviderClient::new(endpoint, &settings.timeouts, proxy, authority, token, clock)?;
    let largest = limits(&settings.batch, ServerLimits::default()).tokens.max(estimated_tokens(""));
    Ok(HttpEmbedder {
        profile,
        shape,
        client,
        batch: settings.batch,
        ask_server: !settings.ignore_server_limits,
        server: OnceCell::new(),
        unanswered: Default::default(),
        limits: RateLimits::new(&settings.limits, largest, Arc::clone(&deps.sleep)),
        concurrency: settings.limits.concurrency,
        breaker: Breaker::new(settings.breaker, deps.clock),
        retry: settings.retry,
        sleep: deps.sleep,
        entropy: deps.entropy,
        observer: deps.observer,
    })
}

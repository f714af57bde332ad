//! The common dependencies of most verbs: settings, clock, keys, store, embedder and metrics, opened in one place.

use std::sync::{Arc, OnceLock};

use secrecy::{ExposeSecret as _, SecretString};

use super::keyring::KeyStoreSetup;
use super::{CliError, Context, LAST_SAMPLES, keyring, leave_samples};
use anamnesis_config::{self as config, Settings};
use anamnesis_core::clock::{Clock, Entropy, ManualClock, SystemClock, SystemEntropy};
use anamnesis_crypto::KeyStore;
use anamnesis_embedding::{self as embed, Models};
use anamnesis_jobs::policy::Policies;
use anamnesis_observability::metrics::{Identity, Metrics};
use anamnesis_pipeline::Pipeline;
use anamnesis_pipeline::embedding_metrics::EmbeddingMetrics;
use anamnesis_sql::{Database, DbError, Location};
use anamnesis_store::Store;

/// An opened store with all around it.
pub struct App {
    pub(crate) settings: Settings,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub store: Store,
    pub metrics: Arc<Metrics>,
    /// Made when it is first asked for, and shared: its client reads the system's certificates.
    models: OnceLock<Models>,
}

impl App {
    /// Reads the configuration and opens (or makes) the embedded store and its keys.
    ///
    /// # Errors
    /// With what to do next: a bad key of the configuration, an exposed or wrong master key, an unknown schema.
    pub(crate) async fn open(context: &Context) -> Result<Self, CliError> {
        let settings = config::load(context.config.as_deref()).map_err(|error| CliError::usage(error.to_string()))?;
        let app = Self::with(settings).await?;
        app.send_spans(context);
        // As of spans.
        let _ = context.counted.set((app.store.clone(), Arc::clone(&app.metrics)));
        context.read.opened(&app).await?;
        Ok(app)
    }

    /// Lets the process send its last spans before it ends.
    pub(crate) fn send_spans(&self, context: &Context) {
        // A process opens one world; of a second one the spans are sent as they come.
        let _ = context.spans.set(self.metrics.traces.clone());
    }

    /// The configured settings over a new embedded store in `folder`, with its keys there too and the clock of the caller.
    ///
    /// # Errors
    /// When the configuration is wrong.
    pub(crate) fn scratch_settings(context: &Context, folder: &std::path::Path) -> Result<Settings, CliError> {
        let mut settings =
            config::load(context.config.as_deref()).map_err(|error| CliError::usage(error.to_string()))?;
        settings.store.url = String::new().into();
        settings.store.path = folder.join("store.db");
        settings.store.keys = folder.join("store.keys");
        settings.store.master_key = SecretString::default();
        settings.pipeline.now = None;
        Ok(settings)
    }

    /// Opens the store that these settings name.
    ///
    /// # Errors
    /// As [`App::open`].
    pub async fn with(settings: Settings) -> Result<Self, CliError> {
        let clock: Arc<dyn Clock> = match settings.pipeline.now {
            Some(now) => Arc::new(ManualClock::at(now)),
            None => Arc::new(SystemClock),
        };
        let first = KeyStoreSetup::from_settings(&settings);
        Self::at(settings, clock, first).await
    }

    /// A new app for a measurement: its keys are created with it, for any store.
    ///
    /// # Errors
    /// As [`App::open`].
    pub async fn made(settings: Settings) -> Result<Self, CliError> {
        let clock = Arc::new(SystemClock);
        Self::at(settings, clock, KeyStoreSetup::Create).await
    }

    /// The same with a clock of the caller's.
    ///
    /// # Errors
    /// As [`App::open`].
    pub(crate) async fn at(
        mut settings: Settings,
        clock: Arc<dyn Clock>,
        first: KeyStoreSetup,
    ) -> Result<Self, CliError> {
        let entropy: Arc<dyn Entropy> = Arc::new(SystemEntropy);
        for path in [&settings.store.path, &settings.store.keys] {
            if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                std::fs::create_dir_all(folder)?;
            }
        }
        let db =
            Database::open(&Location::from_config(&settings.store).map_err(db_failure)?).await.map_err(db_failure)?;
        let keys = keyring::open(&settings, &db, first, &clock, &entropy).await;
        let keys = keys.map_err(|error| keyring::failure(&error))?;
        // Opening the key store was its only use.
        settings.store.master_key = SecretString::default();
        let keys: Arc<dyn KeyStore> = Arc::new(keys);
        let policies = Policies::load(settings.jobs.directory()).map_err(|error| CliError::usage(error.to_string()))?;
        let store = Store::new(db, keys, Arc::clone(&clock), Arc::clone(&entropy))
            .with_policy(policies.lifecycle())
            .with_decay(policies.decay.thresholds);
        keyring::bind(&store, first).await.map_err(|error| keyring::failure(&error))?;
        let mut identity = Identity { provider: settings.embedding.provider.name().to_owned(), ..Identity::default() };
        if let Some(profile) = &settings.embedding.profile {
            identity.model.clone_from(&profile.model);
        }
        let metrics = Metrics::new(&identity).map_err(|_| CliError::failed("metrics cannot be declared"))?;
        // Spans use the machine's clock, whatever clock memory uses.
        let metrics = metrics.tracing(&settings.traces, Arc::new(SystemClock), Arc::clone(&entropy));
        let metrics = metrics.map_err(|error| CliError::usage(error.to_string()))?;
        Ok(Self { settings, clock, entropy, store, metrics: Arc::new(metrics), models: OnceLock::new() })
    }

    /// The store as the jobs open it: with the role of `store.jobs_url`, where one is named.
    ///
    /// # Errors
    /// As [`App::open`].
    pub(crate) async fn jobs_store(&self) -> Result<Store, CliError> {
        let mut config = self.settings.store.clone();
        if config.jobs_url.expose_secret().is_empty() {
            return Ok(self.store.clone());
        }
        config.url = config.jobs_url.clone();
        let location = Location::from_config(&config).map_err(db_failure)?;
        let db = Database::open(&location).await.map_err(db_failure)?;
        let (keys, clock) = (Arc::clone(self.store.keys()), Arc::clone(&self.clock));
        let store = Store::new(db, keys, clock, Arc::clone(&self.entropy));
        Ok(store.with_policy(*self.store.policy()).with_decay(*self.store.decay()))
    }

    /// The configured embedding provider, and the one that is to follow it.
    ///
    /// # Errors
    /// When one is misconfigured; names the key.
    pub(crate) fn models(&self) -> Result<Models, CliError> {
        if let Some(made) = self.models.get() {
            return Ok(made.clone());
        }
        let price = self.settings.embedding.price_per_million_tokens;
        let observer = Arc::new(EmbeddingMetrics::new(Arc::clone(&self.metrics), price)) as _;
        let made = embed::build_models(&self.settings.embedding, &self.clock, &self.entropy, &observer)
            .map_err(|error| CliError::usage(error.to_string()))?;
        Ok(self.models.get_or_init(|| made).clone())
    }

    /// Closes the store after adding this process's metrics to it.
    pub(crate) async fn close(&self) {
        // An unreachable store delays nothing, and is not tried twice.
        let _ = tokio::time::timeout(LAST_SAMPLES, leave_samples(&self.store, &self.metrics)).await;
        self.metrics.saves_no_more();
        self.store.close().await;
    }

    /// The pipeline over this world.
    ///
    /// # Errors
    /// As [`App::models`].
    pub fn pipeline(&self) -> Result<Pipeline, CliError> {
        Pipeline::new(self.store.clone(), self.models()?, &self.settings, Arc::clone(&self.metrics))
            .map_err(|error| CliError::usage(error.to_string()))
    }
}

fn db_failure(error: DbError) -> CliError {
    match error {
        DbError::Url | DbError::Tls | DbError::Role(_) | DbError::NotDurable(_) => {
            CliError::usage(format!("store.url: {error}"))
        }
        error => CliError::failed(format!("the store: {error}")),
    }
}

//! Every metric, declared once. A field of an area's struct is a metric, its doc comment the HELP, its labels closed
//! types, and every series is zero from the start, so that `rate()` sees the first event. No series names an
//! organisation or a patient.
//!
//! The registry belongs to a [`Metrics`], not to the process: each test has its own.

mod catalogue;
mod deprecated;
mod embedding;
mod extraction;
mod family;
mod ingest;
mod jobs;
mod label;
pub mod labels;
mod memory;
mod recall;
mod redaction;
mod registrar;
mod samples;
mod spans;
mod store;
mod transition;

pub use catalogue::reference_page;
pub(crate) use embedding::{Embedding, Spending};
pub(crate) use extraction::ExtractionMetrics;
pub(crate) use family::{Counters, Family};
pub(crate) use ingest::{Ingest, Stages};
pub(crate) use jobs::Jobs;
pub use label::Label;
pub(crate) use memory::MemoryMetrics;
pub(crate) use recall::RecallMetrics;
pub(crate) use redaction::RedactionMetrics;
pub use registrar::FamilyEntry;
pub(crate) use spans::Spans;
pub(crate) use store::StoreMetrics;
pub use transition::Transition;

use std::sync::Arc;

use prometheus::{IntCounter, IntGauge, Registry};
use registrar::{Declaration, Registrar};

use crate::traces::{Traces, TracesError};
use anamnesis_config::traces::TracesConfig;
use anamnesis_core::clock::{Clock, Entropy};

/// What configuration and build fix for the life of the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Version of the program.
    pub version: String,
    /// Source revision it was built from, or `unknown`.
    pub revision: String,
    /// Which kind of embedding provider is used.
    pub provider: String,
    /// The embedding model's name at its provider.
    pub model: String,
    /// ISO 4217 code in which `embedding_cost_total` counts.
    pub currency: String,
}

impl Default for Identity {
    fn default() -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            revision: option_env!("ANAMNESIS_REVISION").unwrap_or("unknown").to_owned(),
            provider: "builtin".to_owned(),
            model: "builtin".to_owned(),
            currency: "USD".to_owned(),
        }
    }
}

/// All metrics of one process, with the registry that they are scraped from.
#[derive(Debug)]
pub struct Metrics {
    pub ingest: Ingest,
    pub stages: Stages,
    pub redaction: RedactionMetrics,
    pub extraction: ExtractionMetrics,
    pub embedding: Embedding,
    pub spending: Spending,
    pub store: StoreMetrics,
    pub memory: MemoryMetrics,
    pub jobs: Jobs,
    pub recall: RecallMetrics,
    pub(crate) spans: Spans,
    /// Here since spans are reported in the same places as metrics.
    pub traces: Traces,
    /// Panics caught by the process's hook (telemetry.rs).
    pub panics: Counters<()>,
    /// What commands added to the store.
    commands: samples::StoreTotals,
    registry: Registry,
    catalogue: Vec<FamilyEntry>,
}

impl Metrics {
    /// Declares everything, every series at zero.
    ///
    /// # Errors
    /// When two metrics share a name or a name is not legal: a mistake of the program, which a test finds.
    pub fn new(identity: &Identity) -> prometheus::Result<Self> {
        let mut registrar = Registrar::new();
        let ingest = Ingest::declare(&mut registrar)?;
        let stages = Stages::declare(&mut registrar)?;
        let redaction = RedactionMetrics::declare(&mut registrar)?;
        let extraction = ExtractionMetrics::declare(&mut registrar)?;
        let provider = [("provider", identity.provider.as_str()), ("model", identity.model.as_str())];
        registrar.fixed(&provider);
        let embedding = Embedding::declare(&mut registrar)?;
        registrar.fixed(&[provider[0], provider[1], ("currency", &identity.currency)]);
        let spending = Spending::declare(&mut registrar)?;
        registrar.fixed(&[]);
        let store = StoreMetrics::declare(&mut registrar)?;
        let memory = MemoryMetrics::declare(&mut registrar)?;
        let jobs = Jobs::declare(&mut registrar)?;
        let recall = RecallMetrics::declare(&mut registrar)?;
        let spans = Spans::declare(&mut registrar)?;
        let panics = process(&mut registrar, identity)?;
        let (registry, catalogue) = registrar.finish();
        Ok(Self {
            ingest,
            stages,
            redaction,
            extraction,
            embedding,
            spending,
            store,
            memory,
            jobs,
            recall,
            spans,
            traces: Traces::default(),
            panics,
            commands: samples::StoreTotals::default(),
            registry,
            catalogue,
        })
    }

    /// With spans for the collector of a configuration, if it names one. Must be called in a Tokio runtime.
    ///
    /// # Errors
    /// When headers or certificates of the configuration cannot be used.
    pub fn tracing(
        self,
        config: &TracesConfig,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Result<Self, TracesError> {
        let traces = Traces::start(config, clock, entropy, self.spans.ended.clone())?;
        Ok(Self { traces, ..self })
    }

    /// Every declared metric, in the order of declaration.
    pub fn catalogue(&self) -> &[FamilyEntry] {
        &self.catalogue
    }
}

/// The process itself: build information, panics, and what the operating system says.
fn process(registrar: &mut Registrar, identity: &Identity) -> prometheus::Result<Counters<()>> {
    const AREA: &str = "process";
    registrar.fixed(&[("version", &identity.version), ("revision", &identity.revision)]);
    let build: Family<IntGauge, ()> = registrar.declare(Declaration {
        area: AREA,
        name: "build_info",
        help: "Always 1; the labels tell which build runs",
        buckets: &[],
    })?;
    build.set(1);
    registrar.fixed(&[]);
    let panics: Family<IntCounter, ()> = registrar.declare(Declaration {
        area: AREA,
        name: "panics_total",
        help: "Panics of any thread; must stay 0",
        buckets: &[],
    })?;
    #[cfg(target_os = "linux")]
    registrar.adopt(AREA, prometheus::process_collector::ProcessCollector::for_self())?;
    Ok(panics)
}

#[cfg(test)]
mod tests;

//! Declares metrics once: the same line that makes a metric writes it into the catalogue, from which the reference
//! page is made and against which dashboards and alerts are checked.

use std::collections::HashMap;

use prometheus::core::Collector;
use prometheus::{Opts, Registry, Result};

use super::family::{Family, Instrument};
use super::label::LabelSet;

/// Every name starts with it.
pub(crate) const PREFIX: &str = "anamnesis";

/// One declared metric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FamilyEntry {
    /// The part of the program that reports it.
    pub(crate) area: &'static str,
    /// Full name as scraped, without a histogram's suffixes.
    pub name: String,
    /// counter, gauge or histogram.
    pub kind: &'static str,
    /// Label names with their possible values; a label fixed by configuration has none.
    pub labels: Vec<(String, Vec<&'static str>)>,
    pub(crate) help: String,
    /// Number of time series it costs, buckets included.
    pub(crate) series: usize,
}

/// Names, help and buckets of one metric as its area declares it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Declaration {
    pub(crate) area: &'static str,
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
    /// Upper bounds; empty unless it is a histogram.
    pub(crate) buckets: &'static [f64],
}

/// Collects declarations into one registry and one catalogue.
#[derive(Debug)]
pub(crate) struct Registrar {
    registry: Registry,
    catalogue: Vec<FamilyEntry>,
    fixed: HashMap<String, String>,
}

impl Registrar {
    pub(crate) fn new() -> Self {
        Self { registry: Registry::new(), catalogue: Vec::new(), fixed: HashMap::new() }
    }

    /// Labels whose one value the configuration gives, for what is declared until the next call.
    pub(crate) fn fixed(&mut self, labels: &[(&str, &str)]) {
        self.fixed = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    }

    /// Makes every series of a metric and registers it.
    ///
    /// # Errors
    /// When a name is declared twice or is not a legal name.
    pub(crate) fn declare<M: Instrument, L: LabelSet>(&mut self, declared: Declaration) -> Result<Family<M, L>> {
        let help = declared.help.trim();
        let opts = Opts::new(declared.name, help).namespace(PREFIX).const_labels(self.fixed.clone());
        let vector = M::vector(opts, L::NAMES, declared.buckets)?;
        self.registry.register(Box::new(vector.clone()))?;
        let labels = L::NAMES.iter().enumerate().map(|(at, name)| ((*name).to_owned(), distinct::<L>(at)));
        let mut fixed: Vec<_> = self.fixed.keys().map(|name| (name.clone(), Vec::new())).collect();
        fixed.sort();
        self.catalogue.push(FamilyEntry {
            area: declared.area,
            name: format!("{PREFIX}_{}", declared.name),
            kind: M::KIND,
            labels: labels.chain(fixed).collect(),
            help: help.to_owned(),
            // A histogram costs its buckets, +Inf, the sum and the count.
            series: L::COUNT * if M::KIND == "histogram" { declared.buckets.len() + 3 } else { 1 },
        });
        Family::new(&vector)
    }

    /// Registers a collector of the library itself, with whatever it declares.
    ///
    /// # Errors
    /// When a name is declared twice.
    pub(crate) fn adopt(&mut self, area: &'static str, collector: impl Collector + 'static) -> Result<()> {
        for desc in collector.desc() {
            let kind = if desc.fq_name.ends_with("_total") { "counter" } else { "gauge" };
            let (name, help) = (desc.fq_name.clone(), desc.help.trim_end_matches('.').to_owned());
            self.catalogue.push(FamilyEntry { area, name, kind, labels: Vec::new(), help, series: 1 });
        }
        self.registry.register(Box::new(collector))
    }

    pub(crate) fn finish(self) -> (Registry, Vec<FamilyEntry>) {
        (self.registry, self.catalogue)
    }
}

/// The values that the label at position `at` takes.
fn distinct<L: LabelSet>(at: usize) -> Vec<&'static str> {
    let mut values = Vec::new();
    for index in 0..L::COUNT {
        let value = L::values(index)[at];
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

/// Declares an area: a struct whose fields are metrics. A field's doc comment is the metric's HELP.
macro_rules! area {
    (
        $(#[$area_doc:meta])*
        $vis:vis struct $area:ident as $area_name:literal {
            $(
                $(#[doc = $help:literal])+
                $field:ident: $kind:ident<$labels:ty> = $name:literal $(in $buckets:expr)?;
            )+
        }
    ) => {
        $(#[$area_doc])*
        #[derive(Debug, Clone)]
        $vis struct $area {
            $( $(#[doc = $help])+ $vis $field: $crate::metrics::family::$kind<$labels>, )+
        }

        impl $area {
            pub(super) fn declare(registrar: &mut $crate::metrics::registrar::Registrar) -> ::prometheus::Result<Self> {
                Ok(Self {
                    $( $field: registrar.declare($crate::metrics::registrar::Declaration {
                        area: $area_name,
                        name: $name,
                        help: concat!($($help),+),
                        buckets: area!(@buckets $($buckets)?),
                    })?, )+
                })
            }
        }
    };
    (@buckets) => { &[] };
    (@buckets $buckets:expr) => { $buckets };
}

pub(crate) use area;

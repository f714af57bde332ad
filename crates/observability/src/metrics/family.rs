//! A metric with its series, all made at start. Reading a series is an index, never a look-up that may fail: the
//! library's own `with_label_values` panics on a wrong number of labels.

use std::marker::PhantomData;

use prometheus::core::Collector;
use prometheus::{
    Counter, CounterVec, Gauge, GaugeVec, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge,
    IntGaugeVec, Opts, Result,
};

use super::label::LabelSet;

/// What can be counted with: knows how to make its vector and a child of it.
pub trait Instrument: Sized {
    /// The word of the exposition format.
    const KIND: &'static str;
    type Vector: Collector + Clone + 'static;

    fn vector(opts: Opts, labels: &[&str], buckets: &[f64]) -> Result<Self::Vector>;

    fn child(vector: &Self::Vector, values: &[&str]) -> Result<Self>;
}

macro_rules! instrument {
    ($metric:ty, $vector:ty, $kind:literal) => {
        impl Instrument for $metric {
            const KIND: &'static str = $kind;
            type Vector = $vector;

            fn vector(opts: Opts, labels: &[&str], _buckets: &[f64]) -> Result<$vector> {
                <$vector>::new(opts, labels)
            }

            fn child(vector: &$vector, values: &[&str]) -> Result<Self> {
                vector.get_metric_with_label_values(values)
            }
        }
    };
}

instrument!(IntCounter, IntCounterVec, "counter");
instrument!(Counter, CounterVec, "counter");
instrument!(IntGauge, IntGaugeVec, "gauge");
instrument!(Gauge, GaugeVec, "gauge");

impl Instrument for Histogram {
    const KIND: &'static str = "histogram";
    type Vector = HistogramVec;

    fn vector(opts: Opts, labels: &[&str], buckets: &[f64]) -> Result<HistogramVec> {
        HistogramVec::new(HistogramOpts::from(opts).buckets(buckets.to_vec()), labels)
    }

    fn child(vector: &HistogramVec, values: &[&str]) -> Result<Self> {
        vector.get_metric_with_label_values(values)
    }
}

/// Every series of one metric.
#[derive(Debug, Clone)]
pub struct Family<M, L> {
    series: Vec<M>,
    labels: PhantomData<fn(L)>,
}

/// Counts whole things.
pub(crate) type Counters<L> = Family<IntCounter, L>;
/// Adds up amounts that are not whole, such as money.
pub(crate) type Amounts<L> = Family<Counter, L>;
/// Whole things that go up and down.
pub(crate) type Gauges<L> = Family<IntGauge, L>;
/// Measures that go up and down: ratios, instants in seconds.
pub(crate) type Levels<L> = Family<Gauge, L>;
/// Distributions.
pub(crate) type Histograms<L> = Family<Histogram, L>;

impl<M: Instrument, L: LabelSet> Family<M, L> {
    pub(super) fn new(vector: &M::Vector) -> Result<Self> {
        let series = (0..L::COUNT).map(|at| M::child(vector, &L::values(at))).collect::<Result<Vec<M>>>()?;
        Ok(Self { series, labels: PhantomData })
    }

    /// The series with these labels. Costs an index.
    pub fn with_labels(&self, labels: L) -> &M {
        &self.series[labels.index()]
    }
}

impl<M: Instrument> std::ops::Deref for Family<M, ()> {
    type Target = M;

    /// A metric without labels is its only series.
    fn deref(&self) -> &M {
        &self.series[0]
    }
}

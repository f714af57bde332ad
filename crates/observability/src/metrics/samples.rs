//! Figures of short processes. A command ends before a Prometheus scrapes it, so that it leaves its samples in the store, and every
//! worker shows them with its own.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use prometheus::TextEncoder;
use prometheus::proto::{MetricFamily, MetricType};

use super::{Metrics, recall};

/// Numbers of the exposition text by series: name and labels as they are scraped, such as
/// `anamnesis_memory_reads_total{door="list",outcome="hit"}`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Samples {
    /// Of counters and histograms: the sum over all processes counts.
    pub sums: Vec<(String, f64)>,
    /// Of gauges: the newest value counts.
    pub newest: Vec<(String, f64)>,
}

impl Samples {
    pub fn is_empty(&self) -> bool {
        self.sums.is_empty() && self.newest.is_empty()
    }
}

/// The sums of the store as they were last read, by series.
#[derive(Debug, Default)]
pub(super) struct Shown(RwLock<HashMap<String, f64>>);

impl Metrics {
    /// What this process counted that outlives it: the samples of its reads that are not zero.
    ///
    /// # Errors
    /// When a collector yields what cannot be written: a mistake of the program.
    pub fn samples(&self) -> prometheus::Result<Samples> {
        let mut samples = Samples::default();
        for family in self.registry.gather().into_iter().filter(|family| self.is_of_commands(family)) {
            let gauge = family.get_field_type() == MetricType::GAUGE;
            let text = TextEncoder::new().encode_to_string(&[family])?;
            let counted = text.lines().filter_map(number).filter(|(_, value)| *value != 0.0);
            let place = if gauge { &mut samples.newest } else { &mut samples.sums };
            place.extend(counted.map(|(series, value)| (series.to_owned(), value)));
        }
        Ok(samples)
    }

    /// Shows these sums of the store from now on.
    pub fn show(&self, sums: impl IntoIterator<Item = (String, f64)>) {
        *self.commands.0.write().unwrap_or_else(PoisonError::into_inner) = sums.into_iter().collect();
    }

    /// The exposition text (format 0.0.4): what this process counted, with the sums of the store.
    ///
    /// # Errors
    /// When a collector yields what cannot be written: a mistake of the program.
    pub fn render(&self) -> prometheus::Result<String> {
        let sums = self.commands.0.read().unwrap_or_else(PoisonError::into_inner);
        let families = self.registry.gather();
        if sums.is_empty() {
            return TextEncoder::new().encode_to_string(&families);
        }
        let (of_commands, own): (Vec<_>, Vec<_>) = families.into_iter().partition(|family| self.is_of_commands(family));
        let mut text = TextEncoder::new().encode_to_string(&own)?;
        for line in TextEncoder::new().encode_to_string(&of_commands)?.lines() {
            match number(line).and_then(|(series, value)| Some((series, value + sums.get(series)?))) {
                Some((series, value)) => text.push_str(&format!("{series} {value}")),
                None => text.push_str(line),
            }
            text.push('\n');
        }
        Ok(text)
    }

    fn is_of_commands(&self, family: &MetricFamily) -> bool {
        self.catalogue.iter().any(|entry| entry.area == recall::AREA && entry.name == family.name())
    }
}

/// Series and value of a line that is no comment.
fn number(line: &str) -> Option<(&str, f64)> {
    let (series, value) = line.rsplit_once(' ')?;
    Some((series, value.parse().ok().filter(|_| !series.starts_with('#'))?))
}

#[cfg(test)]
mod tests {
    use super::super::Identity;
    use super::super::labels::{Door, Leg, Measure, ReadOutcome};
    use super::*;

    fn line(metrics: &Metrics, series: &str) -> String {
        let text = metrics.render().unwrap();
        text.lines().find(|line| line.starts_with(series)).unwrap_or_default().to_owned()
    }

    #[test]
    fn what_commands_leave_is_shown_with_what_a_process_counted_itself() {
        let command = Metrics::new(&Identity::default()).unwrap();
        command.recall.reads.of((Door::List, ReadOutcome::Hit)).inc_by(2);
        command.recall.seconds.of(Leg::Text).observe(0.004);
        command.recall.quality.of(Measure::HitAt5).set(0.75);
        let samples = command.samples().unwrap();
        assert_eq!(samples.newest, [(r#"anamnesis_retrieval_quality_ratio{measure="hit_at_5"}"#.to_owned(), 0.75)]);

        let worker = Metrics::new(&Identity::default()).unwrap();
        worker.recall.reads.of((Door::List, ReadOutcome::Hit)).inc();
        worker.show(samples.sums.into_iter().chain(samples.newest));
        let reads = r#"anamnesis_memory_reads_total{door="list",outcome="hit"}"#;
        assert_eq!(line(&worker, reads), format!("{reads} 3"));
        assert_eq!(
            line(&worker, "anamnesis_retrieval_duration_seconds_count{leg=\"text\"}"),
            "anamnesis_retrieval_duration_seconds_count{leg=\"text\"} 1"
        );
        assert!(
            line(&worker, r#"anamnesis_retrieval_duration_seconds_bucket{leg="text",le="0.0025"}"#).ends_with(" 0")
        );
        assert!(line(&worker, r#"anamnesis_retrieval_duration_seconds_bucket{leg="text",le="0.005"}"#).ends_with(" 1"));
        assert!(line(&worker, r#"anamnesis_retrieval_quality_ratio{measure="hit_at_5"}"#).ends_with(" 0.75"));
        // Every series once, and the rest as it was.
        let text = worker.render().unwrap();
        let mut series: Vec<&str> = text.lines().filter_map(number).map(|(series, _)| series).collect();
        let all = series.len();
        series.sort_unstable();
        series.dedup();
        assert_eq!(series.len(), all);
    }
}

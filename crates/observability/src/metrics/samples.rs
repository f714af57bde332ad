//! Figures of the whole store. What reads, jobs and their embeddings count happens in commands as well as in workers, and a command
//! ends before a Prometheus scrapes it. So each process adds these samples to the store, and every worker shows the sums: a
//! query takes their greatest value over the workers, not their sum.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};

use prometheus::TextEncoder;
use prometheus::proto::{MetricFamily, MetricType};

use super::deprecated::{with_current_labels, with_old_names};
use super::registrar::FamilyEntry;
use super::{Metrics, jobs, recall};

/// Numbers of the exposition text by series: name and labels as they are scraped, such as
/// `anamnesis_memory_reads_total{endpoint="list",outcome="hit"}`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MetricSamples {
    /// Of counters and histograms: the sum over all processes counts.
    pub sums: Vec<(String, f64)>,
    /// Of gauges: the newest value counts.
    pub newest: Vec<(String, f64)>,
}

impl MetricSamples {
    pub fn is_empty(&self) -> bool {
        self.sums.is_empty() && self.newest.is_empty()
    }
}

/// Families of other areas that are the store's.
const FAMILIES: [&str; 7] = [
    "anamnesis_decay_transitions_total",
    "anamnesis_memory_transitions_total",
    "anamnesis_rows_not_authentic_total",
    "anamnesis_rows_repaired_total",
    "anamnesis_embedding_cost_total",
    "anamnesis_embedding_tokens_total",
    "anamnesis_embedding_texts_total",
];

/// By series: the sums of the store as they were last read, and what this process added to them.
#[derive(Debug, Default)]
pub(super) struct StoreTotals {
    sums: RwLock<HashMap<String, f64>>,
    saved: RwLock<HashMap<String, f64>>,
    /// What was shown last: a counter that falls, by rounding or between two reads of the store, counts as begun anew.
    last: Mutex<HashMap<String, f64>>,
    /// The store is closed: nothing is added any more.
    over: AtomicBool,
}

impl Metrics {
    /// What this process counted of the store's families and did not add to the store yet.
    ///
    /// # Errors
    /// When a collector yields what cannot be written: a mistake of the program.
    pub fn unsaved(&self) -> prometheus::Result<MetricSamples> {
        let mut samples = MetricSamples::default();
        if self.commands.over.load(Ordering::Relaxed) {
            return Ok(samples);
        }
        let saved = self.commands.saved.read().unwrap_or_else(PoisonError::into_inner);
        for family in self.registry.gather().into_iter().filter(|family| self.is_of_store(family)) {
            let gauge = family.get_field_type() == MetricType::GAUGE;
            let text = TextEncoder::new().encode_to_string(&[family])?;
            let known = |series: &str| saved.get(series).copied().unwrap_or(0.0);
            let numbers = text.lines().filter_map(number);
            if gauge {
                let set = numbers.filter(|(series, value)| *value != known(series));
                samples.newest.extend(set.map(|(series, value)| (series.to_owned(), value)));
            } else {
                let grown = numbers.map(|(series, value)| (series.to_owned(), value - known(series)));
                // What is less is rounding: the least that counts is a millionth of a second or of a price.
                samples.sums.extend(grown.filter(|(_, value)| *value > 1e-12));
            }
        }
        Ok(samples)
    }

    /// Notes what was added to the store.
    pub fn saved(&self, samples: MetricSamples) {
        let mut saved = self.commands.saved.write().unwrap_or_else(PoisonError::into_inner);
        for (series, value) in samples.sums {
            *saved.entry(series).or_default() += value;
        }
        saved.extend(samples.newest);
    }

    /// From now on nothing is left to add.
    pub fn saves_no_more(&self) {
        self.commands.over.store(true, Ordering::Relaxed);
    }

    /// Shows these sums of the store from now on.
    pub fn show(&self, sums: impl IntoIterator<Item = (String, f64)>) {
        let mut current: HashMap<String, f64> = HashMap::new();
        for (series, value) in sums {
            // A store has sums of one series under old and new labels after an upgrade.
            *current.entry(with_current_labels(&series)).or_default() += value;
        }
        *self.commands.sums.write().unwrap_or_else(PoisonError::into_inner) = current;
    }

    /// The exposition text (format 0.0.4): what this process counted; of the store's families the sums of the store, with
    /// what it did not add to them yet. Names of the version before are exported too ([`super::RENAMED_FAMILIES`]).
    ///
    /// # Errors
    /// When a collector yields what cannot be written: a mistake of the program.
    pub fn render(&self) -> prometheus::Result<String> {
        let (of_store, own): (Vec<_>, Vec<_>) =
            self.registry.gather().into_iter().partition(|family| self.is_of_store(family));
        let own: Vec<_> = own.into_iter().flat_map(with_old_names).collect();
        let mut text = TextEncoder::new().encode_to_string(&own)?;
        for family in of_store {
            self.render_of_store(family, &mut text)?;
        }
        Ok(text)
    }

    /// Adds a family of the store to the exposition text.
    fn render_of_store(&self, family: MetricFamily, text: &mut String) -> prometheus::Result<()> {
        let sums = self.commands.sums.read().unwrap_or_else(PoisonError::into_inner);
        let saved = self.commands.saved.read().unwrap_or_else(PoisonError::into_inner);
        let mut last = self.commands.last.lock().unwrap_or_else(PoisonError::into_inner);
        let of = |numbers: &HashMap<String, f64>, series: &str| numbers.get(series).copied().unwrap_or(0.0);
        let gauge = family.get_field_type() == MetricType::GAUGE;
        // The store has the series without the old labels: each line is looked up by its current name.
        let current = TextEncoder::new().encode_to_string(std::slice::from_ref(&family))?;
        for exported in with_old_names(family) {
            let exported = TextEncoder::new().encode_to_string(&[exported])?;
            for (line, shown_line) in current.lines().zip(exported.lines()) {
                let (Some((series, value)), Some((name, _))) = (number(line), number(shown_line)) else {
                    text.push_str(shown_line);
                    text.push('\n');
                    continue;
                };
                let shown = if gauge {
                    sums.get(series).copied().unwrap_or(value)
                } else {
                    let shown = value + of(&sums, series) - of(&saved, series);
                    let least = last.entry(series.to_owned()).or_insert(shown);
                    *least = least.max(shown);
                    *least
                };
                text.push_str(&format!("{name} {shown}\n"));
            }
        }
        Ok(())
    }

    fn is_of_store(&self, family: &MetricFamily) -> bool {
        self.catalogue.iter().any(|entry| entry.name == family.name() && is_of_store(entry))
    }
}

/// Whether a family is of the whole store. Gauges of jobs come from the ledger of runs, or are of one process.
pub(super) fn is_of_store(entry: &FamilyEntry) -> bool {
    entry.area == recall::AREA
        || (entry.area == jobs::AREA && entry.kind != "gauge")
        || FAMILIES.contains(&entry.name.as_str())
}

/// Series and value of a line that is no comment.
fn number(line: &str) -> Option<(&str, f64)> {
    let (series, value) = line.rsplit_once(' ')?;
    Some((series, value.parse().ok().filter(|_| !series.starts_with('#'))?))
}

#[cfg(test)]
mod tests {
    use super::super::Identity;
    use super::super::labels::{Endpoint, Measure, ReadOutcome, Retriever};
    use super::*;

    fn line(metrics: &Metrics, series: &str) -> String {
        let text = metrics.render().unwrap();
        text.lines().find(|line| line.starts_with(series)).unwrap_or_default().to_owned()
    }

    #[test]
    fn what_a_worker_adds_to_the_store_is_shown_once() {
        let worker = Metrics::new(&Identity::default()).unwrap();
        let reads = r#"anamnesis_memory_reads_total{door="list",endpoint="list",outcome="hit"}"#;
        worker.recall.reads.with_labels((Endpoint::List, ReadOutcome::Hit)).inc_by(2);
        let samples = worker.unsaved().unwrap();
        worker.recall.reads.with_labels((Endpoint::List, ReadOutcome::Hit)).inc();
        assert_eq!(line(&worker, reads), format!("{reads} 3"));
        worker.saved(samples.clone());
        // Between the two the store's sums are not known yet: nothing falls.
        assert_eq!(line(&worker, reads), format!("{reads} 3"));
        // The store has what others added before.
        worker.show(samples.sums.into_iter().map(|(series, value)| (series, value + 10.0)));
        assert_eq!(line(&worker, reads), format!("{reads} 13"));
        let samples = worker.unsaved().unwrap();
        assert_eq!(samples.sums, [(r#"anamnesis_memory_reads_total{endpoint="list",outcome="hit"}"#.to_owned(), 1.0)]);
    }

    #[test]
    fn what_commands_leave_is_shown_with_what_a_process_counted_itself() {
        let command = Metrics::new(&Identity::default()).unwrap();
        command.recall.reads.with_labels((Endpoint::List, ReadOutcome::Hit)).inc_by(2);
        command.recall.seconds.with_labels(Retriever::Text).observe(0.004);
        command.recall.quality.with_labels(Measure::HitAt5).set(0.75);
        let samples = command.unsaved().unwrap();
        assert_eq!(samples.newest, [(r#"anamnesis_retrieval_quality_ratio{measure="hit_at_5"}"#.to_owned(), 0.75)]);

        let worker = Metrics::new(&Identity::default()).unwrap();
        worker.recall.reads.with_labels((Endpoint::List, ReadOutcome::Hit)).inc();
        worker.show(samples.sums.into_iter().chain(samples.newest));
        let reads = r#"anamnesis_memory_reads_total{door="list",endpoint="list",outcome="hit"}"#;
        assert_eq!(line(&worker, reads), format!("{reads} 3"));
        assert_eq!(
            line(&worker, "anamnesis_retrieval_duration_seconds_count{leg=\"text\",retriever=\"text\"}"),
            "anamnesis_retrieval_duration_seconds_count{leg=\"text\",retriever=\"text\"} 1"
        );
        for (bound, count) in [("0.0025", " 0"), ("0.005", " 1")] {
            let labels = format!(r#"leg="text",retriever="text",le="{bound}""#);
            let bucket = line(&worker, &format!("anamnesis_retrieval_duration_seconds_bucket{{{labels}}}"));
            assert!(bucket.ends_with(count), "{bucket}");
        }
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

//! Names of the version before. For one version a renamed family is exported under its old name too, and a series with a renamed
//! label carries the old label too. Queries by the old names work until then.

use prometheus::proto::{LabelPair, MetricFamily};

/// An old name and the one that replaced it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RenamedMetric {
    pub(crate) old: &'static str,
    pub(crate) new: &'static str,
    /// The first version without the old name.
    pub(crate) removed_in: &'static str,
}

/// Renamed families. None of them is summed up in the store, where a series is found by its name.
pub(crate) const RENAMED_FAMILIES: [RenamedMetric; 2] = [
    RenamedMetric {
        old: "anamnesis_dlp_leak_guard_total",
        new: "anamnesis_redaction_residual_pii_total",
        removed_in: "0.4.0",
    },
    RenamedMetric {
        old: "anamnesis_extraction_model_orders_total",
        new: "anamnesis_llm_prompt_injections_total",
        removed_in: "0.4.0",
    },
];

/// Renamed labels, in every family that has them. A row stays after its version as long as stores hold sums under the old label.
pub(crate) const RENAMED_LABELS: [RenamedMetric; 2] = [
    RenamedMetric { old: "door", new: "endpoint", removed_in: "0.4.0" },
    RenamedMetric { old: "leg", new: "retriever", removed_in: "0.4.0" },
];

/// The family as it is exported: with the old labels, and once more under its old name if it has one.
pub(super) fn with_old_names(mut family: MetricFamily) -> impl Iterator<Item = MetricFamily> {
    for metric in family.mut_metric() {
        let mut labels = metric.take_label();
        let copies: Vec<LabelPair> = labels.iter().filter_map(with_old_label).collect();
        labels.extend(copies);
        labels.sort();
        metric.set_label(labels);
    }
    let renamed = RENAMED_FAMILIES.iter().find(|renamed| renamed.new == family.name());
    let copy = renamed.map(|renamed| {
        let mut copy = family.clone();
        copy.set_name(renamed.old.to_owned());
        copy.set_help(format!("Deprecated: renamed {}", renamed.new));
        copy
    });
    std::iter::once(family).chain(copy)
}

/// The same value under the old name of a label.
fn with_old_label(label: &LabelPair) -> Option<LabelPair> {
    let renamed = RENAMED_LABELS.iter().find(|renamed| renamed.new == label.name())?;
    let mut copy = label.clone();
    copy.set_name(renamed.old.to_owned());
    Some(copy)
}

/// A series with the labels of this version: sums that an older version added to the store have the old ones.
pub(super) fn with_current_labels(series: &str) -> String {
    RENAMED_LABELS.iter().fold(series.to_owned(), |series, renamed| {
        ["{", ","].iter().fold(series, |series, before| {
            series.replace(&format!("{before}{}=\"", renamed.old), &format!("{before}{}=\"", renamed.new))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::labels::{Endpoint, ReadOutcome, Retriever};
    use super::super::samples::is_of_store;
    use super::super::{Identity, Metrics};
    use super::*;

    /// Major, minor and patch number of a version.
    fn numbers(version: &str) -> Vec<u32> {
        version.split(['.', '-']).take(3).map(|part| part.parse().unwrap()).collect()
    }

    /// The value of a series as exported.
    fn value(metrics: &Metrics, series: &str) -> Option<f64> {
        let text = metrics.render().unwrap();
        text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' ')?.parse().ok())
    }

    #[test]
    fn a_renamed_family_has_equal_values_under_both_names() {
        let metrics = Metrics::new(&Identity::default()).unwrap();
        metrics.redaction.residual_pii.inc_by(2);
        metrics.extraction.prompt_injections.inc_by(3);
        for (renamed, count) in RENAMED_FAMILIES.iter().zip([2.0, 3.0]) {
            assert_eq!(value(&metrics, renamed.new), Some(count), "{renamed:?}");
            assert_eq!(value(&metrics, renamed.old), Some(count), "{renamed:?}");
            let text = metrics.render().unwrap();
            assert!(text.contains(&format!("# HELP {} Deprecated: renamed {}\n", renamed.old, renamed.new)));
        }
    }

    #[test]
    fn a_series_has_the_old_label_next_to_the_new_one() {
        let metrics = Metrics::new(&Identity::default()).unwrap();
        metrics.recall.reads.with_labels((Endpoint::List, ReadOutcome::Hit)).inc();
        metrics.recall.seconds.with_labels(Retriever::Text).observe(0.004);
        for series in [
            r#"anamnesis_memory_reads_total{door="list",endpoint="list",outcome="hit"}"#,
            r#"anamnesis_retrieval_duration_seconds_count{leg="text",retriever="text"}"#,
            r#"anamnesis_retrieval_duration_seconds_bucket{leg="text",retriever="text",le="0.005"}"#,
        ] {
            assert_eq!(value(&metrics, series), Some(1.0), "{series}");
        }
    }

    #[test]
    fn sums_of_an_older_version_count_for_the_new_label() {
        let old = r#"anamnesis_memory_reads_total{door="list",outcome="hit"}"#;
        let new = r#"anamnesis_memory_reads_total{endpoint="list",outcome="hit"}"#;
        assert_eq!(with_current_labels(old), new);
        assert_eq!(with_current_labels(new), new);
        let metrics = Metrics::new(&Identity::default()).unwrap();
        metrics.show([(old.to_owned(), 2.0), (new.to_owned(), 3.0)]);
        let exported = r#"anamnesis_memory_reads_total{door="list",endpoint="list",outcome="hit"}"#;
        assert_eq!(value(&metrics, exported), Some(5.0));
    }

    #[test]
    fn new_names_are_declared_and_old_ones_are_not() {
        let metrics = Metrics::new(&Identity::default()).unwrap();
        let names: Vec<&str> = metrics.catalogue().iter().map(|entry| entry.name.as_str()).collect();
        let labels: Vec<&str> =
            metrics.catalogue().iter().flat_map(|entry| &entry.labels).map(|(label, _)| label.as_str()).collect();
        for renamed in &RENAMED_FAMILIES {
            assert!(names.contains(&renamed.new) && !names.contains(&renamed.old), "{renamed:?}");
            let of_store = metrics.catalogue().iter().any(|entry| entry.name == renamed.new && is_of_store(entry));
            assert!(!of_store, "{renamed:?} needs its sums in the store renamed too");
        }
        for renamed in &RENAMED_LABELS {
            assert!(labels.contains(&renamed.new) && !labels.contains(&renamed.old), "{renamed:?}");
        }
    }

    #[test]
    fn no_old_name_outlives_its_version() {
        let now = numbers(env!("CARGO_PKG_VERSION"));
        for renamed in RENAMED_FAMILIES.iter().chain(&RENAMED_LABELS) {
            assert!(now < numbers(renamed.removed_in), "{} is to go in {}", renamed.old, renamed.removed_in);
        }
    }
}

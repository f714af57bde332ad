//! The reference page of the metrics (docs/metrics.md), made from the catalogue.

use std::fmt::Write;

use super::deprecated::{RENAMED_FAMILIES, RENAMED_LABELS, RenamedMetric};
use super::registrar::FamilyEntry;
use super::samples::is_of_store;

const HEAD: &str = "# Metrics\n\n\
Served by the worker at `/metrics`. This page is made from the declarations in `crates/observability/src/metrics/` by `make docs`; a test \
fails when the two differ. Every series exists at zero from the start; labels are closed sets, and none names an \
organisation or a patient. `provider`, `model`, `version` and `revision` have one value each, from the configuration \
and the build.\n\n\
Some metrics are of the whole store: reads, runs of jobs, and their embedding costs happen in commands as well as in \
workers. Each process adds them to the store, and every worker exports the sums with at most `worker.store_stats_interval_seconds` delay. Of \
these families (marked \u{2211}) take `max` over the workers, not `sum`.\n";

const OLD_NAMES: &str = "\n## Names of the version before\n\n\
These names are exported too until the version of the last column. A renamed metric is a copy under its old name, with equal \
values. A series with a renamed label has both labels, with the same value. Use the new names in queries, alerts and dashboards.\n\n\
| kind | old name | name | removed in |\n|---|---|---|---|\n";

/// The page as Markdown: one table per area, in the order of declaration.
pub fn reference_page(entries: &[FamilyEntry]) -> String {
    let mut page = String::from(HEAD);
    let mut area = "";
    for entry in entries {
        if entry.area != area {
            area = entry.area;
            page.push_str(&format!("\n## {area}\n\n| name | type | labels | meaning |\n|---|---|---|---|\n"));
        }
        let labels: Vec<String> = entry.labels.iter().map(described).collect();
        // Writing to a String cannot fail.
        let sums = if is_of_store(entry) { " \u{2211}" } else { "" };
        let _ =
            writeln!(page, "| `{}`{sums} | {} | {} | {} |", entry.name, entry.kind, labels.join("<br>"), entry.help);
    }
    page.push_str(OLD_NAMES);
    RENAMED_FAMILIES.iter().for_each(|renamed| page.push_str(&row("metric", renamed)));
    RENAMED_LABELS.iter().for_each(|renamed| page.push_str(&row("label", renamed)));
    page
}

fn row(kind: &str, renamed: &RenamedMetric) -> String {
    format!("| {kind} | `{}` | `{}` | {} |\n", renamed.old, renamed.new, renamed.removed_in)
}

fn described((name, values): &(String, Vec<&'static str>)) -> String {
    if values.is_empty() { format!("`{name}`") } else { format!("`{name}`: {}", values.join(", ")) }
}

//! The reference page of the metrics (docs/metrics.md), made from the catalogue.

use std::fmt::Write;

use super::registrar::FamilyEntry;
use super::samples::is_of_store;

const HEAD: &str = "# Metrics\n\n\
Served by the worker at `/metrics`. This page is made from the declarations in `crates/observability/src/metrics/` by `make docs`; a test \
fails when the two differ. Every series exists at zero from the start; labels are closed sets, and none tells an \
organisation or a patient. `provider`, `model`, `version` and `revision` have one value each, from the configuration \
and the build.\n\n\
Some figures are of the whole store: reads, runs of jobs, and what both pay for embeddings happen in commands as well as in \
workers. Each process adds them to the store, and every worker shows the sums with at most `worker.store_stats_interval_seconds` delay. Of \
these families (marked \u{2211}) take `max` over the workers, not `sum`.\n";

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
    page
}

fn described((name, values): &(String, Vec<&'static str>)) -> String {
    if values.is_empty() { format!("`{name}`") } else { format!("`{name}`: {}", values.join(", ")) }
}

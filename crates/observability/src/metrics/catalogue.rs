//! The reference page of the metrics (docs/metrics.md), made from the catalogue.

use std::fmt::Write;

use super::registrar::Entry;

const HEAD: &str = "# Metrics\n\n\
Served by the worker at `/metrics`. This page is made from the declarations in `crates/observability/src/metrics/` by `make docs`; a test \
fails when the two differ. Every series exists at zero from the start; labels are closed sets, and none tells an \
organisation or a patient. `provider`, `model`, `version` and `revision` have one value each, from the configuration \
and the build. What the area `recall` counts happens in commands, which add it to the store; every worker shows the sums of \
all commands with at most `worker.census_seconds` delay, so that one worker's series are enough (`max`, not `sum`).\n";

/// The page as Markdown: one table per area, in the order of declaration.
pub fn reference_page(entries: &[Entry]) -> String {
    let mut page = String::from(HEAD);
    let mut area = "";
    for entry in entries {
        if entry.area != area {
            area = entry.area;
            page.push_str(&format!("\n## {area}\n\n| name | type | labels | meaning |\n|---|---|---|---|\n"));
        }
        let labels: Vec<String> = entry.labels.iter().map(described).collect();
        // Writing to a String cannot fail.
        let _ = writeln!(page, "| `{}` | {} | {} | {} |", entry.name, entry.kind, labels.join("<br>"), entry.help);
    }
    page
}

fn described((name, values): &(String, Vec<&'static str>)) -> String {
    if values.is_empty() { format!("`{name}`") } else { format!("`{name}`: {}", values.join(", ")) }
}

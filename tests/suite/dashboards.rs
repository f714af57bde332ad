//! Dashboards and alerts are code: every metric, label and label value that they name is in the registry, and the
//! dashboards keep the rules that Grafana's own linter would hold them to.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anamnesis_observability::metrics::{FamilyEntry, Identity, Metrics};
use regex::Regex;
use serde_json::Value;

/// Labels that the scraper adds.
const SCRAPED: &[&str] = &["job", "instance"];
const KEYWORDS: &[&str] =
    &["by", "without", "on", "ignoring", "group_left", "group_right", "and", "or", "unless", "bool"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn catalogue() -> Vec<FamilyEntry> {
    Metrics::new(&Identity::default()).unwrap().catalogue().to_vec()
}

fn dashboards() -> Vec<(String, Value)> {
    let mut found: Vec<_> = std::fs::read_dir(root().join("dashboards"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), std::fs::read_to_string(&path).unwrap()))
        .map(|(name, text)| (name, serde_json::from_str(&text).unwrap()))
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(found.len() >= 2, "there are dashboards");
    found
}

/// Panels without rows.
fn panels(board: &Value) -> Vec<&Value> {
    board["panels"].as_array().unwrap().iter().filter(|panel| panel["type"] != "row").collect()
}

/// Expressions of a board's panels and annotations, with their position.
fn expressions(board: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for panel in panels(board) {
        for target in panel["targets"].as_array().unwrap() {
            found.push((panel["title"].as_str().unwrap().to_owned(), target["expr"].as_str().unwrap().to_owned()));
        }
    }
    for annotation in board["annotations"]["list"].as_array().unwrap() {
        found.push(("annotation".to_owned(), annotation["expr"].as_str().unwrap().to_owned()));
    }
    found
}

/// `metric{label op "value", …}` in an expression.
struct Selector {
    metric: String,
    matchers: Vec<(String, String, String)>,
}

struct Expression {
    selectors: Vec<Selector>,
    /// Names in `by (…)`, `on (…)` and their like.
    grouped: Vec<String>,
    /// Metrics directly under rate, increase or irate.
    rated: BTreeSet<String>,
}

/// Reads the names out of an expression of the kind written here: no subqueries, no comments.
fn parsed(text: &str) -> Expression {
    let matcher = Regex::new(r#"([a-z_]+)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)""#).unwrap();
    let clause = Regex::new(r"\b(by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)").unwrap();
    let selector = Regex::new(r#"([a-zA-Z_:][a-zA-Z0-9_:]*)\s*(\{(?:[^}"]|"(?:[^"\\]|\\.)*")*\})?"#).unwrap();
    let rated = Regex::new(r"\b(?:rate|increase|irate)\(\s*([a-zA-Z0-9_:]+)").unwrap();
    let grouped = clause.captures_iter(text).flat_map(|found| names(&found[2])).collect();
    let windows = Regex::new(r"\[[^\]]*\]").unwrap();
    let bare = windows.replace_all(text, "").into_owned();
    let bare = clause.replace_all(&bare, " ").into_owned();
    let selectors = selector
        .captures_iter(&bare)
        .filter(|found| !KEYWORDS.contains(&&found[1]))
        .filter(|found| !bare[found.get(0).unwrap().end()..].trim_start().starts_with('('))
        .map(|found| Selector {
            metric: found[1].to_owned(),
            matchers: matcher
                .captures_iter(found.get(2).map_or("", |braces| braces.as_str()))
                .map(|m| (m[1].to_owned(), m[2].to_owned(), m[3].to_owned()))
                .collect(),
        })
        .collect();
    Expression { selectors, grouped, rated: rated.captures_iter(text).map(|found| found[1].to_owned()).collect() }
}

fn names(list: &str) -> Vec<String> {
    list.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

/// The registry's entry for a series' name, and whether the name is a part of a histogram.
fn entry<'a>(catalogue: &'a [FamilyEntry], series: &str) -> Option<(&'a FamilyEntry, bool)> {
    let exact = catalogue.iter().find(|entry| entry.name == series && entry.kind != "histogram");
    exact.map(|entry| (entry, false)).or_else(|| {
        let base = ["_bucket", "_sum", "_count"].iter().find_map(|suffix| series.strip_suffix(suffix))?;
        catalogue.iter().find(|entry| entry.name == base && entry.kind == "histogram").map(|entry| (entry, true))
    })
}

/// Names of an expression that the registry does not know, or counters that are read without rate.
fn faults(catalogue: &[FamilyEntry], text: &str) -> Vec<String> {
    let expression = parsed(text);
    let mut faults = Vec::new();
    let mut grouping: BTreeSet<String> = SCRAPED.iter().map(|label| (*label).to_owned()).collect();
    for selector in &expression.selectors {
        let Some((entry, part)) = entry(catalogue, &selector.metric) else {
            faults.push(format!("no metric {}", selector.metric));
            continue;
        };
        grouping.extend(entry.labels.iter().map(|(label, _)| label.clone()));
        if selector.metric.ends_with("_bucket") {
            grouping.insert("le".to_owned());
        }
        if (part || entry.kind == "counter") && !expression.rated.contains(&selector.metric) {
            faults.push(format!("{} is a counter and not under rate or increase", selector.metric));
        }
        if !part && entry.kind == "gauge" && expression.rated.contains(&selector.metric) {
            faults.push(format!("{} is a gauge and under rate", selector.metric));
        }
        for (label, operator, value) in &selector.matchers {
            faults.extend(matcher_fault(entry, label, operator, value));
        }
    }
    let unknown = expression.grouped.iter().filter(|label| !grouping.contains(*label));
    faults.extend(unknown.map(|label| format!("no label {label} to group by")));
    faults
}

fn matcher_fault(entry: &FamilyEntry, label: &str, operator: &str, value: &str) -> Option<String> {
    if SCRAPED.contains(&label) {
        return None;
    }
    let Some((_, values)) = entry.labels.iter().find(|(name, _)| name == label) else {
        return Some(format!("{} has no label {label}", entry.name));
    };
    let exact = operator == "=" || operator == "!=";
    (exact && !values.is_empty() && !values.contains(&value)).then(|| format!("{label} is never \"{value}\""))
}

fn none(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn every_metric_label_and_value_in_a_dashboard_is_in_the_registry() {
    let catalogue = catalogue();
    let mut found = Vec::new();
    for (name, board) in dashboards() {
        for (place, expression) in expressions(&board) {
            let faults = faults(&catalogue, &expression);
            found.extend(faults.into_iter().map(|fault| format!("{name}, {place}: {fault}")));
        }
    }
    none(&found);
}

#[test]
fn the_reader_of_expressions_notices_what_is_wrong() {
    let catalogue = catalogue();
    for (expression, fault) in [
        ("sum(rate(anamnesis_messages_recieved_total[5m]))", "no metric anamnesis_messages_recieved_total"),
        ("sum by (queues) (rate(anamnesis_messages_received_total[5m]))", "no label queues to group by"),
        (
            "sum(anamnesis_messages_received_total)",
            "anamnesis_messages_received_total is a counter and not under rate or increase",
        ),
        ("rate(anamnesis_messages_in_flight[5m])", "anamnesis_messages_in_flight is a gauge and under rate"),
        (
            r#"rate(anamnesis_messages_received_total{patient="1"}[5m])"#,
            "anamnesis_messages_received_total has no label patient",
        ),
        (r#"rate(anamnesis_messages_received_total{queue="slow"}[5m])"#, r#"queue is never "slow""#),
        ("sum by (le) (rate(anamnesis_queue_lag_seconds_sum[5m]))", "no label le to group by"),
    ] {
        assert_eq!(faults(&catalogue, expression), vec![fault.to_owned()], "{expression}");
    }
    assert!(
        faults(&catalogue, "sum by (le, stage) (rate(anamnesis_stage_duration_seconds_bucket[5m])) > 0").is_empty()
    );
}

#[test]
fn every_query_is_bound_to_the_chosen_job_and_instance() {
    let mut found = Vec::new();
    for (name, board) in dashboards() {
        for (place, expression) in expressions(&board) {
            for selector in parsed(&expression).selectors {
                for wanted in SCRAPED {
                    let variable = format!("${wanted}");
                    let bound = selector.matchers.iter().any(|(l, op, v)| l == wanted && op == "=~" && *v == variable);
                    if !bound {
                        found.push(format!("{name}, {place}: {} without {wanted}", selector.metric));
                    }
                }
            }
        }
    }
    none(&found);
}

#[test]
fn a_dashboard_has_its_variables_as_the_linter_wants_them() {
    for (name, board) in dashboards() {
        let variables = board["templating"]["list"].as_array().unwrap();
        let of =
            |wanted: &str| variables.iter().find(|v| v["name"] == wanted).unwrap_or_else(|| panic!("{name}: {wanted}"));
        assert_eq!(
            (&of("datasource")["type"], &of("datasource")["label"]),
            (&"datasource".into(), &"Data source".into())
        );
        for (variable, label) in [("job", "Job"), ("instance", "Instance")] {
            let variable = of(variable);
            assert_eq!(variable["label"], label, "{name}");
            assert_eq!((&variable["multi"], &variable["includeAll"]), (&true.into(), &true.into()), "{name}");
            assert_eq!(variable["allValue"], ".+", "{name}");
            assert_eq!(variable["refresh"], 2, "{name}: variables follow the chosen time");
            assert_eq!(variable["datasource"]["uid"], "${datasource}", "{name}");
        }
        assert_eq!(board["editable"], false, "{name}");
        assert_eq!(board["uid"].as_str(), Some(name.as_str()), "a fixed uid, so that links hold");
    }
}

#[test]
fn a_panel_says_what_it_shows_in_which_unit_from_which_source() {
    let mut found = Vec::new();
    for (name, board) in dashboards() {
        for panel in panels(&board) {
            let title = panel["title"].as_str().unwrap_or_default();
            let mut wants = |ok: bool, what: &str| {
                if !ok {
                    found.push(format!("{name}, {title}: {what}"));
                }
            };
            wants(!title.is_empty(), "no title");
            wants(panel["description"].as_str().is_some_and(|text| text.ends_with('.')), "no description");
            wants(panel["fieldConfig"]["defaults"]["unit"].is_string(), "no unit");
            let targets = panel["targets"].as_array().cloned().unwrap_or_default();
            wants(!targets.is_empty(), "no target");
            wants(targets.iter().all(|t| t["datasource"]["uid"] == "${datasource}"), "another data source");
            // Another window is right if the title or description names it ("per hour").
            let windows = text_windows();
            let text = targets.iter().filter_map(|t| t["expr"].as_str()).collect::<String>();
            let allowed = ["[$__rate_interval]", "[$__range]", "[$__range:$__rate_interval]", "[1h]"];
            wants(windows.find_iter(&text).all(|found| allowed.contains(&found.as_str())), "a fixed window");
        }
    }
    none(&found);
}

#[test]
fn panels_do_not_overlap_and_their_ids_are_their_own() {
    for (name, board) in dashboards() {
        let (mut ids, mut cells) = (BTreeSet::new(), BTreeSet::new());
        for panel in board["panels"].as_array().unwrap() {
            assert!(ids.insert(panel["id"].as_u64().unwrap()), "{name}: id of {}", panel["title"]);
            let at = |key: &str| panel["gridPos"][key].as_u64().unwrap();
            assert!(at("x") + at("w") <= 24, "{name}: {} is too wide", panel["title"]);
            for x in at("x")..at("x") + at("w") {
                for y in at("y")..at("y") + at("h") {
                    assert!(cells.insert((x, y)), "{name}: {} lies over another", panel["title"]);
                }
            }
        }
    }
}

#[test]
fn links_between_dashboards_lead_to_one_that_exists() {
    let boards = dashboards();
    for (name, board) in &boards {
        for link in board["links"].as_array().unwrap() {
            let url = link["url"].as_str().unwrap();
            assert!(boards.iter().any(|(other, _)| url == format!("/d/{other}")), "{name}: {url}");
        }
    }
}

#[test]
fn every_metric_that_an_alert_or_a_page_names_is_in_the_registry() {
    let catalogue = catalogue();
    let name = Regex::new(r"\b(anamnesis_[a-z_]+|process_[a-z_]+_(?:seconds|bytes|total))\b").unwrap();
    // Roles of the database and crates of the workspace are named alike.
    let is_crate = |name: &str| {
        let folder = name.trim_start_matches("anamnesis_").replace('_', "-");
        root().join("crates").join(folder).is_dir()
    };
    let roles = std::fs::read_to_string(root().join("migrations/postgres/roles.sql")).unwrap();
    let mut found = Vec::new();
    for file in ["helm/anamnesis/templates/prometheusrule.yaml", "docs/operations.md"] {
        let text = std::fs::read_to_string(root().join(file)).unwrap();
        let mut named = 0;
        for series in name.find_iter(&text) {
            named += 1;
            let is_role = name.find_iter(&roles).any(|role| role.as_str() == series.as_str());
            let is_metric = catalogue.iter().any(|e| e.name == series.as_str());
            if !is_role && !is_metric && !is_crate(series.as_str()) && entry(&catalogue, series.as_str()).is_none() {
                found.push(format!("{file}: {}", series.as_str()));
            }
        }
        assert!(named > 3, "{file} names metrics");
    }
    none(&found);
}

/// Range windows of an expression.
fn text_windows() -> &'static Regex {
    static WINDOWS: std::sync::LazyLock<Regex> = std::sync::LazyLock::new(|| Regex::new(r"\[[^\]]*\]").unwrap());
    &WINDOWS
}

//! The invariants of ARCHITECTURE.md that can be read off the source tree.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use regex::Regex;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn collect(directory: &Path, extensions: &[&str], found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for path in entries.map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && name != "target" {
            collect(&path, extensions, found);
        } else if extensions.iter().any(|extension| name.ends_with(extension)) {
            found.push(path);
        }
    }
}

/// A source file of the product: path relative to `src/`, and its code without tests and comments.
struct Source {
    path: String,
    code: String,
    lines: usize,
}

/// Rust sources under `src/`, tests left out: whole files named so, and what follows `#[cfg(test)]`.
fn sources() -> Vec<Source> {
    let (src, comment) = (root().join("src"), Regex::new(r"(?m)^\s*//.*$").unwrap());
    let mut paths = Vec::new();
    collect(&src, &[".rs"], &mut paths);
    paths.sort();
    let relative = |path: &Path| path.strip_prefix(&src).unwrap().to_string_lossy().into_owned();
    paths
        .iter()
        .filter(|path| !path.to_string_lossy().ends_with("tests.rs"))
        .filter(|path| !path.components().any(|part| part.as_os_str() == "tests"))
        .map(|path| {
            let text = read(path);
            let product = text.split("#[cfg(test)]\nmod ").next().unwrap();
            let code = comment.replace_all(product, "").into_owned();
            Source { path: relative(path), code, lines: product.lines().count() }
        })
        .collect()
}

/// The first part of a path: the module a file belongs to.
fn module(path: &str) -> &str {
    path.split('/').next().unwrap().trim_end_matches(".rs")
}

/// Lines of the product's code that a pattern matches, outside the excepted path.
fn offences(pattern: &str, of: impl Fn(&str) -> bool) -> Vec<String> {
    let pattern = Regex::new(pattern).unwrap();
    let mut found = Vec::new();
    for source in sources().iter().filter(|source| of(&source.path)) {
        let lines = source.code.lines().filter(|line| pattern.is_match(line));
        found.extend(lines.map(|line| format!("src/{}: {}", source.path, line.trim())));
    }
    found
}

fn none(offences: &[String]) {
    assert!(offences.is_empty(), "\n{}", offences.join("\n"));
}

#[test]
fn the_domain_names_no_runtime_database_broker_http_client_or_metric() {
    let pattern = r"\b(tokio|sqlx|lapin|reqwest|axum|prometheus|tracing|async_trait|futures)\b";
    none(&offences(pattern, |path| module(path) == "domain"));
}

#[test]
fn the_pipeline_names_no_broker_and_no_database() {
    none(&offences(r"\b(lapin|sqlx)\b", |path| module(path) == "pipeline"));
}

#[test]
fn only_the_broker_and_its_intake_name_the_client_library() {
    let allowed = ["broker/", "intake/amqp/", "bench/"];
    none(&offences(r"\blapin\b", |path| !allowed.iter().any(|folder| path.starts_with(folder))));
}

#[test]
fn errors_without_a_type_live_in_the_command_line_only() {
    none(&offences(r"\b(anyhow|miette)\b", |path| module(path) != "cli" && path != "main.rs"));
}

#[test]
fn only_the_clock_asks_the_machine_for_time_or_randomness() {
    let pattern = r"(Utc|Local|SystemTime)::now\b|thread_rng|now_v7|new_v4|rand::(fill|random)";
    none(&offences(pattern, |path| path != "clock.rs"));
}

#[test]
fn sql_is_never_put_together_from_text() {
    // The one place that fills a statement's template, from literals.
    let elsewhere = |path: &str| path != "store/engine/statement.rs";
    none(&offences(r#"format!\(\s*r?#*"\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b"#, elsewhere));
    none(&offences(r"AssertSqlSafe", |path| module(path) != "store"));
}

#[test]
fn no_statement_takes_the_database_server_for_a_clock() {
    let pattern = r"(?i)\b(CURRENT_TIMESTAMP|datetime\('now'\)|strftime\('[^']*', *'now'\)|statement_timestamp\(\))|[^:.\w]now\(\)";
    let mut files = Vec::new();
    collect(&root().join("migrations"), &[".sql"], &mut files);
    let sql = Regex::new(pattern).unwrap();
    let offending: Vec<String> =
        files.iter().filter(|file| sql.is_match(&read(file))).map(|f| f.display().to_string()).collect();
    none(&offending);
    none(&offences(r"(?i)\bCURRENT_TIMESTAMP\b|datetime\('now'\)", |path| module(path) == "store"));
}

#[test]
fn no_file_of_the_product_holds_two_rooms() {
    let long: Vec<String> =
        sources().iter().filter(|s| s.lines > 450).map(|s| format!("src/{}: {} lines", s.path, s.lines)).collect();
    none(&long);
}

#[test]
fn every_file_says_what_it_is_for() {
    let silent: Vec<String> = sources()
        .iter()
        .filter(|source| !read(&root().join("src").join(&source.path)).trim_start().starts_with("//!"))
        .map(|source| format!("src/{} does not begin with //!", source.path))
        .collect();
    none(&silent);
}

#[test]
fn nothing_is_left_for_later() {
    let mut files = Vec::new();
    for directory in ["src", "tests", "migrations", "helm", "scripts", "jobs", "docs"] {
        collect(&root().join(directory), &[".rs", ".sql", ".yaml", ".sh", ".py", ".toml", ".md"], &mut files);
    }
    // Put together here, so that this file does not find itself.
    let words = ["TO", "FIX"].map(|head| format!("{head}{}", if head == "TO" { "DO" } else { "ME" }));
    let later = Regex::new(&format!(r"\b({})\b|#\[{}", words.join("|"), "ignore")).unwrap();
    let found: Vec<String> =
        files.iter().filter(|file| later.is_match(&read(file))).map(|f| f.display().to_string()).collect();
    none(&found);
}

#[test]
fn no_path_of_one_machine_is_in_the_tree() {
    let mut files = Vec::new();
    let extensions =
        [".rs", ".sql", ".yaml", ".sh", ".py", ".toml", ".md", ".json", ".txt", "Makefile", "Dockerfile", "run"];
    collect(&root(), &extensions, &mut files);
    let path = Regex::new(r"(^|[^\w.~}-])/(home|root|work|Users)/[a-z]").unwrap();
    let found: Vec<String> =
        files.iter().filter(|file| path.is_match(&read(file))).map(|f| f.display().to_string()).collect();
    none(&found);
}

/// The table of ARCHITECTURE.md, top to bottom: module and the modules that it may use.
fn table() -> Vec<(String, BTreeSet<String>)> {
    let text = read(&root().join("ARCHITECTURE.md"));
    let rows =
        text.split("<!-- modules -->").nth(1).expect("ARCHITECTURE.md has a table between <!-- modules --> marks");
    let name = Regex::new(r"`([a-z_]+)`").unwrap();
    rows.lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| {
            let cells: Vec<&str> = line.split('|').collect();
            let uses = name.captures_iter(cells[2]).map(|found| found[1].to_owned()).collect();
            (name.captures(cells[1]).unwrap()[1].to_owned(), uses)
        })
        .collect()
}

/// Which modules each module of the source tree names.
fn used() -> BTreeMap<String, BTreeSet<String>> {
    let (simple, nested) =
        (Regex::new(r"\bcrate::([a-z_]+)").unwrap(), Regex::new(r"(?s)\bcrate::\{(.*?)\};").unwrap());
    let head = Regex::new(r"(?:^|,)\s*([a-z_]+)").unwrap();
    let mut used: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in sources().iter().filter(|source| !["lib.rs", "main.rs"].contains(&source.path.as_str())) {
        let of = module(&source.path).to_owned();
        let entry = used.entry(of.clone()).or_default();
        entry.extend(simple.captures_iter(&source.code).map(|found| found[1].to_owned()));
        for group in nested.captures_iter(&source.code) {
            entry.extend(head.captures_iter(&group[1]).map(|found| found[1].to_owned()));
        }
        entry.remove(&of);
    }
    used
}

#[test]
fn every_module_is_in_the_table_and_uses_only_what_the_table_allows() {
    let table = table();
    let allowed: BTreeMap<&String, &BTreeSet<String>> = table.iter().map(|(name, uses)| (name, uses)).collect();
    let mut wrong = Vec::new();
    for (module, uses) in used() {
        match allowed.get(&module) {
            None => wrong.push(format!("`{module}` is not in the table of ARCHITECTURE.md")),
            Some(allowed) => wrong.extend(
                uses.iter().filter(|name| !allowed.contains(*name)).map(|name| format!("`{module}` uses `{name}`")),
            ),
        }
    }
    none(&wrong);
}

#[test]
fn the_table_of_modules_goes_one_way() {
    let table = table();
    for (at, (module, uses)) in table.iter().enumerate() {
        for name in uses {
            let below = table[at + 1..].iter().any(|(other, _)| other == name);
            assert!(below, "`{module}` may use `{name}`, which does not stand below it");
        }
    }
}

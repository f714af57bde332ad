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

/// A source file of the product: path relative to the repository, and its code without tests and comments.
struct SourceFile {
    path: String,
    code: String,
    lines: usize,
}

/// Folders of Rust sources: the program and every crate of the workspace.
fn source_folders() -> Vec<PathBuf> {
    let crates = std::fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path().join("src"));
    std::iter::once(root().join("src")).chain(crates).collect()
}

/// Rust sources of the product, tests left out: whole files named so, and what follows `#[cfg(test)]`.
fn sources() -> Vec<SourceFile> {
    let comment = Regex::new(r"(?m)^\s*//.*$").unwrap();
    let mut paths = Vec::new();
    source_folders().iter().for_each(|folder| collect(folder, &[".rs"], &mut paths));
    paths.sort();
    let relative = |path: &Path| path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
    paths
        .iter()
        .filter(|path| !path.to_string_lossy().ends_with("tests.rs"))
        .filter(|path| !path.components().any(|part| part.as_os_str() == "tests"))
        .map(|path| {
            let text = read(path);
            let product = text.split("#[cfg(test)]\nmod ").next().unwrap();
            let code = comment.replace_all(product, "").into_owned();
            SourceFile { path: relative(path), code, lines: product.lines().count() }
        })
        .collect()
}

/// Lines of the product's code that a pattern matches, in the files that are asked about.
fn offences(pattern: &str, of: impl Fn(&str) -> bool) -> Vec<String> {
    let pattern = Regex::new(pattern).unwrap();
    let mut found = Vec::new();
    for source in sources().iter().filter(|source| of(&source.path)) {
        let lines = source.code.lines().filter(|line| pattern.is_match(line));
        found.extend(lines.map(|line| format!("{}: {}", source.path, line.trim())));
    }
    found
}

fn none(offences: &[String]) {
    assert!(offences.is_empty(), "\n{}", offences.join("\n"));
}

/// The `[dependencies]` of each package, by its name. Packages of `tools` are left out.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let crates = std::fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let manifests = std::iter::once(root()).chain(crates).map(|folder| folder.join("Cargo.toml"));
    manifests
        .map(|manifest| {
            let parsed: toml::Table = read(&manifest).parse().unwrap();
            let name = parsed["package"]["name"].as_str().unwrap().to_owned();
            let named = parsed.get("dependencies").and_then(toml::Value::as_table);
            (name, named.into_iter().flat_map(|table| table.keys().cloned()).collect())
        })
        .collect()
}

/// Packages that name one of these libraries, but for those that may.
fn users_of(libraries: &[&str], allowed: &[&str]) -> Vec<String> {
    let named = |uses: &BTreeSet<String>| libraries.iter().any(|library| uses.contains(*library));
    let found = dependencies().into_iter().filter(|(name, uses)| !allowed.contains(&name.as_str()) && named(uses));
    found.map(|(name, _)| name).collect()
}

#[test]
fn the_rules_of_memory_name_no_runtime_database_broker_http_client_or_metric() {
    let effects = ["tokio", "sqlx", "lapin", "reqwest", "axum", "prometheus", "tracing", "async-trait", "futures"];
    let all = dependencies();
    for pure in ["anamnesis-core", "anamnesis-text", "anamnesis-linear-model", "anamnesis-neural"] {
        let found: Vec<&&str> = effects.iter().filter(|effect| all[pure].contains(**effect)).collect();
        assert!(found.is_empty(), "{pure} uses {found:?}");
    }
}

#[test]
fn one_crate_each_names_the_client_libraries_of_broker_and_database() {
    none(&users_of(&["lapin"], &["anamnesis-rabbitmq"]));
    // The key table is a separate database; the configuration parses an address with the library that uses it.
    none(&users_of(&["sqlx"], &["anamnesis-sql", "anamnesis-crypto", "anamnesis-config"]));
}

#[test]
fn one_crate_names_the_libraries_of_traces() {
    none(&users_of(&["opentelemetry", "opentelemetry_sdk", "opentelemetry-proto"], &["anamnesis-observability"]));
}

/// A new attribute is a decision: it is added here, to the page and to the code.
#[test]
fn the_attributes_of_spans_are_a_closed_list_that_the_page_explains() {
    let keys: BTreeSet<&str> = anamnesis_observability::traces::attribute_keys().collect();
    let closed = [
        "anamnesis.documents",
        "anamnesis.embedding.purpose",
        "anamnesis.embedding.texts",
        "anamnesis.events",
        "anamnesis.findings",
        "anamnesis.job.changed",
        "anamnesis.job.examined",
        "anamnesis.job.name",
        "anamnesis.message.type",
        "anamnesis.organization",
        "anamnesis.outcome",
        "anamnesis.passages",
        "anamnesis.queue",
        "anamnesis.vectors",
        "db.operation.name",
        "db.system.name",
        "error.type",
        "gen_ai.embeddings.dimension.count",
        "gen_ai.operation.name",
        "gen_ai.provider.name",
        "gen_ai.request.model",
        "gen_ai.usage.input_tokens",
        "messaging.batch.message_count",
        "messaging.destination.name",
        "messaging.message.id",
        "messaging.operation.name",
        "messaging.operation.type",
        "messaging.system",
    ];
    assert_eq!(keys, closed.into_iter().collect());
    let page = read(&root().join("docs/traces.md"));
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let explained: BTreeSet<&str> = rows.filter(|word| word.contains('.')).collect();
    assert_eq!(explained, keys, "docs/traces.md has one row for each attribute");
}

#[test]
fn no_crate_of_the_product_depends_on_a_tool() {
    none(&users_of(&["anamnesis-bench", "anamnesis-test-servers", "anamnesis-train", "anamnesis"], &[]));
}

#[test]
fn errors_without_a_type_live_in_the_command_line_only() {
    none(&offences(r"\b(anyhow|miette)\b", |path| !path.starts_with("src/")));
}

#[test]
fn only_the_clock_asks_the_machine_for_time_or_randomness() {
    let pattern = r"(Utc|Local|SystemTime)::now\b|thread_rng|now_v7|new_v4|rand::(fill|random)";
    none(&offences(pattern, |path| path != "crates/core/src/clock.rs"));
}

#[test]
fn every_line_of_the_log_has_a_code_of_the_table_and_every_code_is_used() {
    let line = Regex::new(r"tracing::(debug|info|warn|error)!\(").unwrap();
    let named = Regex::new(r#"\bcode = "([a-z_]+)""#).unwrap();
    let known: BTreeSet<&str> = anamnesis_observability::log_codes::codes().map(|(code, ..)| code).collect();
    let mut offending = Vec::new();
    let mut words = BTreeSet::new();
    let text = Regex::new(r#""([a-z_]+)""#).unwrap();
    for source in sources() {
        words.extend(text.captures_iter(&source.code).map(|word| word[1].to_owned()));
        for found in line.find_iter(&source.code) {
            let rest = &source.code[found.end()..];
            let call = &rest[..rest.find(");").unwrap_or(rest.len()).min(400)];
            match named.captures(call).map(|code| code[1].to_owned()) {
                // The name of a seeded bug.
                Some(code) if known.contains(code.as_str()) || code == "error_text_logged" => {}
                Some(code) => offending.push(format!("{}: {code} is not in log_codes.tsv", source.path)),
                // Of an error that has one.
                None if call.contains("code,") || call.contains("code = error.code()") => {}
                None if found.as_str().contains("debug") => {}
                None => {
                    offending.push(format!("{}: {} has no code", source.path, call.lines().next().unwrap_or_default()))
                }
            }
        }
    }
    none(&offending);
    let unused: Vec<&&str> = known.iter().filter(|code| !words.contains(**code)).collect();
    assert!(unused.is_empty(), "codes that no line has: {unused:?}");
}

#[test]
fn sql_is_never_put_together_from_text() {
    // The one place that fills a statement's template, from literals.
    let elsewhere = |path: &str| path != "crates/sql/src/statement.rs";
    none(&offences(r#"format!\(\s*r?#*"\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b"#, elsewhere));
    none(&offences(r"AssertSqlSafe", |path| !path.starts_with("crates/sql/") && !path.starts_with("crates/crypto/")));
}

/// Statements of the store and of the jobs are in their folders of `.sql` files, with a name each, and each is used.
#[test]
fn statements_are_read_from_their_folder_and_each_is_used() {
    // Over every covered table: made of the definitions of the tables.
    let elsewhere = |path: &str| {
        (path.starts_with("crates/store/") || path.starts_with("crates/jobs/")) && path != "crates/store/src/covered.rs"
    };
    none(&offences(
        r#""\s*(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH) |\b(Sql::(new|for_each)|Bulk::\w+)\("#,
        elsewhere,
    ));
    none(&offences(r"\brow\.(opt_)?(i64|f64|text|blob|bool|uuid|bytes|time|ints)(::<[^>]*>)?\(\d", elsewhere));
    let sources = sources();
    let statements = anamnesis_store::statements().into_iter().chain(anamnesis_jobs::statements());
    let unused: Vec<String> = statements
        .filter(|one| !one.name.starts_with("digest/"))
        .filter(|one| {
            let (file, statement) = one.name.rsplit_once('/').unwrap();
            let module = format!("statements::{}", file.replace('/', "::"));
            let constant = statement.to_uppercase();
            let used = Regex::new(&format!(r"\b{constant}\b")).unwrap();
            // By its own module, or by the module above: `sql::rows::INSERT_RAWS`.
            let above = format!("{}::{constant}", module.rsplit("::").next().unwrap());
            !sources.iter().any(|source| {
                source.code.contains(&above) || source.code.contains(&module) && used.is_match(&source.code)
            })
        })
        .map(|one| format!("{}: no code uses it", one.name))
        .collect();
    none(&unused);
}

#[test]
fn no_statement_takes_the_database_server_for_a_clock() {
    let pattern = r"(?i)\b(CURRENT_TIMESTAMP|datetime\('now'\)|strftime\('[^']*', *'now'\)|statement_timestamp\(\))|[^:.\w]now\(\)";
    let mut files = Vec::new();
    for folder in ["migrations", "crates/store/sql", "crates/jobs/sql"] {
        collect(&root().join(folder), &[".sql"], &mut files);
    }
    let sql = Regex::new(pattern).unwrap();
    let offending: Vec<String> =
        files.iter().filter(|file| sql.is_match(&read(file))).map(|f| f.display().to_string()).collect();
    none(&offending);
    none(&offences(r"(?i)\bCURRENT_TIMESTAMP\b|datetime\('now'\)", |path| {
        path.starts_with("crates/store/") || path.starts_with("crates/sql/")
    }));
}

#[test]
fn no_file_of_the_product_holds_two_rooms() {
    let long: Vec<String> =
        sources().iter().filter(|s| s.lines > 450).map(|s| format!("{}: {} lines", s.path, s.lines)).collect();
    none(&long);
}

#[test]
fn every_file_says_what_it_is_for() {
    let silent: Vec<String> = sources()
        .iter()
        .filter(|source| {
            let text = read(&root().join(&source.path));
            // A crate that can be used alone is described in its README.
            !text.starts_with("//!") && !text.starts_with("#![doc = include_str!(\"../README.md\")]")
        })
        .map(|source| format!("{} does not begin with //!", source.path))
        .collect();
    none(&silent);
}

#[test]
fn nothing_is_left_for_later() {
    let mut files = Vec::new();
    for directory in ["src", "crates", "tools", "tests", "migrations", "helm", "scripts", "jobs", "docs"] {
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

/// The table of ARCHITECTURE.md: crate and the crates of the workspace that it uses.
fn table() -> BTreeMap<String, BTreeSet<String>> {
    let text = read(&root().join("ARCHITECTURE.md"));
    let rows = text.split("<!-- crates -->").nth(1).expect("ARCHITECTURE.md has a table between <!-- crates --> marks");
    let name = Regex::new(r"`([a-z-]+)`").unwrap();
    rows.lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| {
            let cells: Vec<&str> = line.split('|').collect();
            let uses = name.captures_iter(cells[2]).map(|found| found[1].to_owned()).collect();
            (name.captures(cells[1]).unwrap()[1].to_owned(), uses)
        })
        .collect()
}

#[test]
fn the_table_of_crates_is_what_cargo_builds() {
    let own = |uses: BTreeSet<String>| {
        uses.into_iter().filter_map(|name| name.strip_prefix("anamnesis-").map(str::to_owned)).collect()
    };
    let crates = dependencies().into_iter().filter(|(name, _)| name != "anamnesis");
    let built: BTreeMap<String, BTreeSet<String>> =
        crates.map(|(name, uses)| (name.trim_start_matches("anamnesis-").to_owned(), own(uses))).collect();
    assert_eq!(table(), built);
}

/// Seed 002, section 11: emergency logic never depends on conversational memory. One function reads for it.
#[test]
fn emergencies_read_the_clinical_store_alone_through_one_function() {
    let own = "crates/search/src/emergency.rs";
    let conversational = r"\.(memories|documents|passages|preferences|summaries|search|contradictions)\(|conversational|stated_preferences|Recall";
    none(&offences(conversational, |path| path == own));
    let code = sources().into_iter().find(|source| source.path == own).unwrap().code;
    assert!(
        code.contains(".clinical(") && code.contains("may_use(&row.memory)"),
        "the function is where this test looks"
    );
    // Parts that deal with emergencies: the contract and the store of the contacts, the texts, the function, and its
    // verb.
    let known = |path: &str| {
        [
            "crates/messages/",
            "crates/store/",
            "crates/core/src/emergency.rs",
            "crates/core/src/lib.rs",
            "crates/core/src/profile.rs",
            "crates/core/src/failpoints.rs",
        ]
        .iter()
        .any(|part| path.starts_with(part))
            || [
                own,
                "crates/search/src/lib.rs",
                "crates/pipeline/src/profile.rs",
                "src/cli/emergency.rs",
                "src/cli/profile.rs",
                "src/cli/org.rs",
                "src/cli/mod.rs",
            ]
            .contains(&path)
    };
    none(&offences(r"(?i)emergenc", |path| {
        // Words of lists that redaction and extraction read in texts are no logic.
        !known(path) && !path.starts_with("crates/extraction/") && !path.starts_with("crates/redaction/")
    }));
    // Of those, only the verb calls it.
    none(&offences(r"\bemergency\(", |path| {
        !path.starts_with("crates/store/") && path != own && path != "src/cli/emergency.rs"
    }));
}

//! Everything that code and pages cite is in the repository: pages, their sections, and the documents that the rules
//! come from.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use regex::Regex;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Files that may cite something.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    const KINDS: [&str; 8] = ["rs", "toml", "sql", "md", "py", "sh", "yaml", "feature"];
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let hidden = name.starts_with('.') || ["target", "data", "node_modules"].contains(&name.as_str());
        if path.is_dir() && !hidden {
            files(&path, found);
        } else if path.extension().is_some_and(|kind| KINDS.iter().any(|known| kind == *known)) {
            found.push(path);
        }
    }
}

fn citing() -> Vec<(PathBuf, String)> {
    let mut paths = Vec::new();
    for folder in ["src", "crates", "tests", "jobs", "migrations", "docs", "scripts", "tools", "helm", "deploy"] {
        files(&root().join(folder), &mut paths);
    }
    paths.extend(
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "Cargo.toml", "Makefile"].map(|file| root().join(file)),
    );
    paths.retain(|path| !path.ends_with("citations.rs"));
    // A citation may run over the end of a comment's line.
    let broken = Regex::new(r"\n\s*(?:///?!?|--|#)? ?").unwrap();
    paths
        .into_iter()
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            let joined = broken.replace_all(&text, " ").into_owned();
            (path, joined)
        })
        .collect()
}

/// Where a cited page is: next to what cites it, in `docs`, or at the root.
fn page(citing: &Path, cited: &str) -> Option<PathBuf> {
    let name = Path::new(cited);
    let near = citing.parent().unwrap().join(name);
    [near, root().join("docs").join(name), root().join(name)].into_iter().find(|path| path.is_file())
}

/// The sections of a page: headings, and bold beginnings of list items and table rows.
fn sections(page: &Path) -> BTreeSet<String> {
    let heading = Regex::new(r"(?m)^(?:#+ (.+)|[-*] \*\*(.+?)\*\*.*|.*?\*\*([A-Z][^*]+)\*\*.*|(\d+)\. .*)$").unwrap();
    let text = std::fs::read_to_string(page).unwrap();
    let all = heading.captures_iter(&text).filter_map(|c| c.iter().skip(1).flatten().next());
    all.map(|name| name.as_str().trim_matches(['.', ':', '"']).to_lowercase()).collect()
}

#[test]
fn every_cited_page_and_section_is_there() {
    let citation = Regex::new(r#"([A-Za-z0-9_][A-Za-z0-9_./-]*\.md)(?:,? "([^"]{3,60})")?"#).unwrap();
    let mut missing = Vec::new();
    for (path, text) in citing() {
        for cited in citation.captures_iter(&text) {
            // A page of another project is cited by its address, and a link's text is not its target.
            let whole = cited.get(0).unwrap();
            let word = text[..whole.start()].rsplit(char::is_whitespace).next().unwrap_or_default();
            if word.contains("://") || text[whole.end()..].starts_with("](") {
                continue;
            }
            let place = path.strip_prefix(root()).unwrap().display();
            let Some(page) = page(&path, &cited[1]) else {
                missing.push(format!("{place}: {}", &cited[0]));
                continue;
            };
            let section = cited.get(2).map(|section| section.as_str().to_lowercase());
            let is_there = |section: &String| sections(&page).iter().any(|known| known.starts_with(section.as_str()));
            if section.as_ref().is_some_and(|section| !is_there(section)) {
                missing.push(format!("{place}: {}", &cited[0]));
            }
        }
    }
    assert!(missing.is_empty(), "{} citations lead nowhere:\n{}", missing.len(), missing.join("\n"));
}

#[test]
fn every_cited_seed_and_section_is_described() {
    let citation = Regex::new(r"[Ss]eed (00\d)(?:, sections? (\d+)(?:(?:, | and )(\d+))*|,? §(\d+))?").unwrap();
    let sources = std::fs::read_to_string(root().join("docs/sources.md")).unwrap();
    let described = |seed: &str, section: Option<&str>| {
        let part = sources.split("\n## ").find(|part| part.starts_with(&format!("Seed {seed}")));
        part.is_some_and(|part| section.is_none_or(|section| part.contains(&format!("**section {section}**"))))
    };
    let mut missing = Vec::new();
    for (path, text) in citing() {
        for cited in citation.captures_iter(&text) {
            let numbers: Vec<&str> = cited.iter().skip(2).flatten().map(|number| number.as_str()).collect();
            let whole = described(&cited[1], None) && numbers.iter().all(|number| described(&cited[1], Some(number)));
            if !whole {
                missing.push(format!("{}: {}", path.strip_prefix(root()).unwrap().display(), &cited[0]));
            }
        }
    }
    assert!(missing.is_empty(), "docs/sources.md does not describe:\n{}", missing.join("\n"));
}

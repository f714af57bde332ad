//! `docs/features.md`: every capability, the scenarios that show it, and whether it works. Made from `rows.tsv` and the
//! tags of the scenarios; a row without a scenario is not claimed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use libtest_mimic::{Failed, Trial};

use crate::Script;

/// A capability: its number, its name, and where it is shown if not by a scenario.
struct Row {
    number: String,
    name: String,
}

fn rows() -> Vec<Row> {
    let text = std::fs::read_to_string(crate::folder().join("rows.tsv")).expect("tests/scenarios/rows.tsv");
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let row = |line: &str| {
        let (number, name) = line.split_once('\t').unwrap_or_else(|| panic!("rows.tsv: number, tab, name: {line}"));
        Row { number: number.to_owned(), name: name.to_owned() }
    };
    lines.map(row).collect()
}

pub(crate) fn trials(scripts: &[Script]) -> Vec<Trial> {
    let (of_page, of_rows, of_names) = (scripts.to_vec(), scripts.to_vec(), scripts.to_vec());
    vec![
        Trial::test("scenarios::the page of features is what the scenarios say", move || page_is_current(&of_page)),
        Trial::test("scenarios::every tag names a row", move || tags_are_known(&of_rows)),
        Trial::test("scenarios::names are unique", move || names_are_unique(&of_names)),
    ]
}

fn page(scripts: &[Script]) -> String {
    let rows = rows();
    let mut of: BTreeMap<&str, Vec<&Script>> = BTreeMap::new();
    for script in scripts {
        for row in script.rows() {
            of.entry(row).or_default().push(script);
        }
    }
    let state = |row: &Row| match of.get(row.number.as_str()) {
        None => "no scenario yet",
        Some(all) if all.iter().all(|script| !script.is_not_yet()) => "works",
        Some(all) if all.iter().all(|script| script.is_not_yet()) => "not yet",
        Some(_) => "in part",
    };
    let count = |wanted: &str| rows.iter().filter(|row| state(row) == wanted).count();
    let mut page = format!(
        "# Features\n\nWhat the pipeline does, and the scenarios that show it (`tests/scenarios`). Each scenario runs the program \
         as its users do, on both engines. This page is made from them: `make features`.\n\nOf {} capabilities {} work, {} work in \
         part, {} do not work yet, and {} have no scenario yet.\n\n| row | capability | state | scenarios |\n|---|---|---|---|\n",
        rows.len(),
        count("works"),
        count("in part"),
        count("not yet"),
        count("no scenario yet"),
    );
    for row in &rows {
        let name = |script: &&Script| {
            let mark = if script.is_not_yet() { " (not yet)" } else { "" };
            format!("{}{mark}", script.name)
        };
        let all: Vec<String> = of.get(row.number.as_str()).into_iter().flatten().map(name).collect();
        let _ = writeln!(page, "| {} | {} | {} | {} |", row.number, row.name, state(row), all.join("<br>"));
    }
    page
}

fn page_is_current(scripts: &[Script]) -> Result<(), Failed> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/features.md");
    let page = page(scripts);
    if std::env::var_os("ANAMNESIS_UPDATE_DOCS").is_some() {
        return std::fs::write(path, page).map_err(|error| error.to_string().into());
    }
    let current = std::fs::read_to_string(path).unwrap_or_default();
    if current == page {
        Ok(())
    } else {
        Err("docs/features.md is not what the scenarios say: run `make features`".into())
    }
}

fn tags_are_known(scripts: &[Script]) -> Result<(), Failed> {
    let rows = rows();
    for script in scripts {
        let unknown = script.rows().find(|number| !rows.iter().any(|row| row.number == *number));
        if let Some(number) = unknown {
            return Err(format!("{}: rows.tsv has no row {number}", script.place).into());
        }
        if script.rows().next().is_none() {
            return Err(format!("{} names no row (@row-12)", script.place).into());
        }
    }
    Ok(())
}

fn names_are_unique(scripts: &[Script]) -> Result<(), Failed> {
    let mut seen = std::collections::HashSet::new();
    match scripts.iter().find(|script| !seen.insert((&script.feature, &script.name))) {
        Some(twice) => Err(format!("{}: another scenario has this name", twice.place).into()),
        None => Ok(()),
    }
}

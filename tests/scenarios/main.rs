//! Scenarios that a clinician can read (`*.feature`, Gherkin): documents, commands and job runs at given instants, then
//! what readers show. Each is a test of its own on each engine, and each goes through the program as its users do: as a
//! process, with nothing filled in. README.md of this folder has the sentences; `docs/features.md` is made from the tags.

#![allow(clippy::unwrap_used, reason = "the whole program is a test, which clippy cannot tell without the harness")]

mod expect;
mod features;
mod grammar;
#[path = "../suite/server.rs"]
#[expect(dead_code, reason = "the suite asks its server for more")]
mod server;
mod stage;

use std::path::{Path, PathBuf};

use gherkin::{Examples, Feature, GherkinEnv, Scenario, Step};
use libtest_mimic::{Arguments, Failed, Trial};

use crate::stage::{Engine, Stage};

/// Features that a quick run plays: what harms most when it breaks.
const EVERY_RUN: &str = "every-run";
/// Set to `quick`, the other features are left out: `make test` does, `make scenarios` plays all.
const EXTENT: &str = "ANAMNESIS_SCENARIOS";

/// Marks a scenario of something that is promised and does not work yet: it must fail, and says so once it does not.
const NOT_YET: &str = "not-yet";

/// One scenario with the steps of its background, examples put in.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    pub(crate) feature: String,
    pub(crate) name: String,
    pub(crate) tags: Vec<String>,
    pub(crate) steps: Vec<Step>,
    pub(crate) place: String,
}

impl Script {
    fn is_not_yet(&self) -> bool {
        self.tags.iter().any(|tag| tag == NOT_YET)
    }

    /// Rows of `rows.tsv` that it shows: tags `@row-12`, `@row-c`.
    fn rows(&self) -> impl Iterator<Item = &str> {
        self.tags.iter().filter_map(|tag| tag.strip_prefix("row-"))
    }
}

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios")
}

/// Every scenario of the folder, in the order of files and lines.
fn scripts() -> Vec<Script> {
    let entries = folder().read_dir().expect("the folder of scenarios can be read");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "feature"));
    files.sort();
    files.iter().flat_map(|file| scripts_of(file)).collect()
}

fn scripts_of(file: &Path) -> Vec<Script> {
    let feature =
        Feature::parse_path(file, GherkinEnv::default()).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let before: Vec<Step> = feature.background.iter().flat_map(|background| background.steps.clone()).collect();
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut all = Vec::new();
    for scenario in &feature.scenarios {
        let cases = cases(scenario);
        let several = cases.len() > 1;
        for (number, steps) in cases.into_iter().enumerate() {
            let name = if several { format!("{} ({})", scenario.name, number + 1) } else { scenario.name.clone() };
            all.push(Script {
                feature: stem.clone(),
                name,
                tags: feature.tags.iter().chain(&scenario.tags).cloned().collect(),
                steps: before.iter().cloned().chain(steps).collect(),
                place: format!("tests/scenarios/{stem}.feature:{}", scenario.position.line),
            });
        }
    }
    all
}

/// The steps of a scenario, once for each row of its examples.
fn cases(scenario: &Scenario) -> Vec<Vec<Step>> {
    let rows: Vec<Vec<(String, String)>> = scenario.examples.iter().flat_map(bindings).collect();
    if rows.is_empty() {
        return vec![scenario.steps.clone()];
    }
    let put_in = |text: &str, row: &[(String, String)]| {
        row.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("<{name}>"), value))
    };
    let bound = |row: &Vec<(String, String)>| {
        let steps = scenario.steps.iter().cloned().map(|mut step| {
            step.value = put_in(&step.value, row);
            step.docstring = step.docstring.map(|text| put_in(&text, row));
            for cell in step.table.iter_mut().flat_map(|table| table.rows.iter_mut().flatten()) {
                *cell = put_in(cell, row);
            }
            step
        });
        steps.collect()
    };
    rows.iter().map(bound).collect()
}

fn bindings(examples: &Examples) -> Vec<Vec<(String, String)>> {
    let Some((header, rows)) = examples.table.as_ref().and_then(|table| table.rows.split_first()) else {
        return Vec::new();
    };
    rows.iter().map(|row| header.iter().cloned().zip(row.iter().cloned()).collect()).collect()
}

/// Plays a script; the first step that does not hold ends it.
fn play(script: &Script, engine: Engine) -> Result<(), String> {
    let mut stage = Stage::new(engine)?;
    for step in &script.steps {
        let action = grammar::read(step).map_err(|error| format!("line {}: {error}", step.position.line))?;
        stage.act(&action).map_err(|error| format!("line {}: {}\n{error}", step.position.line, step.value))?;
    }
    Ok(())
}

/// A scenario that is marked as not working must not work.
fn judged(script: &Script, engine: Engine) -> Result<(), Failed> {
    match (play(script, engine), script.is_not_yet()) {
        (Ok(()), false) | (Err(_), true) => Ok(()),
        (Ok(()), true) => Err(format!("{} holds now: take @{NOT_YET} away", script.place).into()),
        (Err(error), false) => Err(format!("{}\n{error}", script.place).into()),
    }
}

fn trials() -> Vec<Trial> {
    let scripts = scripts();
    let quick = std::env::var(EXTENT).is_ok_and(|extent| extent == "quick");
    let mut trials = features::trials(&scripts);
    for script in scripts {
        for engine in Engine::ALL {
            // One engine is enough to show that something does not work anywhere.
            let once = script.is_not_yet() && engine != Engine::File;
            if once || quick && !script.tags.iter().any(|tag| tag == EVERY_RUN) {
                continue;
            }
            let name = format!("scenarios::{}::{}::{}", script.feature, script.name, engine.name());
            let script = script.clone();
            trials.push(Trial::test(name, move || judged(&script, engine)));
        }
    }
    trials
}

fn main() {
    libtest_mimic::run(&Arguments::from_args(), trials()).exit();
}

//! `redact train`: makes the model of the learned recogniser. The same data and seed make the same bytes.

use std::path::{Path, PathBuf};

use super::super::{Exit, Failure, output};
use crate::dlp::training::{self, Generator, HELD_OUT_TEMPLATES, Random, Sets, Steps};

/// Seeds of examples and of training. docs/redaction-model.md names them.
const EXAMPLE_SEED: u64 = 7;
const STEP_SEED: u64 = 11;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Folder with the public sets: dlp/meddocan_train.es.jsonl, dlp/presidio_research_generated_large.en.jsonl,
    /// dialogues/acibench_dev.jsonl, dialogues/mtsdialog_dev.jsonl.
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Folder with the templates.
    #[arg(long, value_name = "DIR", default_value = "models/redaction/training")]
    templates: PathBuf,
    /// Where the model is written.
    #[arg(long, value_name = "FILE", default_value = "models/redaction/tagger.bin")]
    out: PathBuf,
    /// Passes over the examples.
    #[arg(long, default_value_t = 8)]
    epochs: usize,
}

/// # Errors
/// When a set or template cannot be read or the model not written.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    let sets = sets(&args.data)?;
    let generator = Generator::new(&files(&args.templates)?).map_err(|error| Failure::usage(error.to_string()))?;
    let mut random = Random::new(EXAMPLE_SEED);
    let examples = training::examples(sets, &generator, &mut random);
    output::note(&format!("{} templates, {} examples", generator.templates(), examples.len()));
    let steps = Steps { epochs: args.epochs, rate: 0.15, decay: 1e-6, seed: STEP_SEED, miss_cost: 0.9 };
    let trained = training::train(&examples, steps, &mut |epoch, loss| {
        output::note(&format!("epoch {epoch}: loss {loss:.5} a token"));
    });
    std::fs::write(&args.out, &trained.model)?;
    output::line(&format!(
        "{} documents, {} tokens, {} features, {} bytes",
        trained.documents,
        trained.tokens,
        trained.features,
        trained.model.len()
    ))?;
    Ok(Exit::Done)
}

fn sets(data: &Path) -> Result<Sets, Failure> {
    let text = |name: &str| {
        std::fs::read_to_string(data.join(name)).map_err(|error| Failure::usage(format!("{name}: {error}")))
    };
    let wrong = |name: &str, line: usize| Failure::usage(format!("{name}: line {line} is no marked text"));
    let mut sets = Sets::default();
    for (name, learned) in [
        ("dlp/meddocan_train.es.jsonl", None),
        ("dlp/presidio_research_generated_large.en.jsonl", Some(HELD_OUT_TEMPLATES)),
    ] {
        let keep = |template: Option<u64>| match (learned, template) {
            (Some(every), Some(template)) => template % every != 0,
            _ => true,
        };
        sets.marked.extend(training::read(&text(name)?, &keep).map_err(|line| wrong(name, line))?);
    }
    for name in ["dialogues/acibench_dev.jsonl", "dialogues/mtsdialog_dev.jsonl"] {
        sets.unmarked.extend(training::read_unmarked(&text(name)?).map_err(|line| wrong(name, line))?);
    }
    Ok(sets)
}

/// The files of templates, and those of marked lines in `marked`, by their names within the folder.
fn files(folder: &Path) -> Result<Vec<(String, String)>, Failure> {
    let mut files = Vec::new();
    for (place, prefix) in [(folder.to_path_buf(), ""), (folder.join("marked"), "marked/")] {
        if !prefix.is_empty() && !place.is_dir() {
            continue;
        }
        for entry in std::fs::read_dir(place)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "txt") {
                let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                files.push((format!("{prefix}{name}"), std::fs::read_to_string(&path)?));
            }
        }
    }
    files.sort();
    Ok(files)
}

//! `anamnesis-train redaction`: makes the models of the learned recogniser, the tagger and its verifier. The same data and seeds make the same
//! bytes.

use std::path::{Path, PathBuf};

use crate::redaction::{
    self as training, Generator, HELD_OUT_TEMPLATES, HoldoutScore, Random, TrainingHalf, TrainingParameters,
    TrainingSets,
};
use anamnesis::cli::{CliError, Exit, output};

/// Seeds of examples and of training. docs/redaction-model.md names them.
const EXAMPLE_SEED: u64 = 7;
const STEP_SEED: u64 = 11;
const VERIFIER_SEED: u64 = 5;
/// Sets of the tests that were blind once and are no longer: they were looked into, and newer ones took their place.
const SPENT: [&str; 5] = ["blind", "blind_b", "blind_c", "blind_d", "blind_e"];

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folder with the public sets: dlp/meddocan_train.es.jsonl, dlp/presidio_research_generated_large.en.jsonl,
    /// dialogues/acibench_dev.jsonl, dialogues/mtsdialog_dev.jsonl.
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Folder with the templates.
    #[arg(long, value_name = "DIR", default_value = "models/redaction/training")]
    templates: PathBuf,
    /// Folder with the sets of the tests, of which the spent ones are learned too.
    #[arg(long, value_name = "DIR", default_value = "tests/data/redaction")]
    sets: PathBuf,
    /// Where the tagger is written.
    #[arg(long, value_name = "FILE", default_value = "models/redaction/tagger.bin")]
    out: PathBuf,
    /// Where the verifier is written.
    #[arg(long, value_name = "FILE", default_value = "models/redaction/verifier.bin")]
    verifier: PathBuf,
    /// Only tell how well the written lines are redacted by models that saw the other half of them; write nothing.
    #[arg(long)]
    halves: bool,
    /// Passes over the examples.
    #[arg(long, default_value_t = 8)]
    epochs: usize,
}

/// # Errors
/// When a set or template cannot be read or the model not written.
pub(crate) fn run(args: &Args) -> Result<Exit, CliError> {
    let sets = sets(&args.data)?;
    let mut written = files(&args.templates)?;
    written.extend(spent(&args.sets)?);
    written.sort();
    let generator = Generator::new(&written).map_err(|error| CliError::usage(error.to_string()))?;
    let mut random = Random::new(EXAMPLE_SEED);
    let examples = training::examples(sets, &generator, &mut random);
    output::note(&format!("{} templates, {} examples", generator.templates(), examples.len()));
    let steps = TrainingParameters { epochs: args.epochs, rate: 0.15, decay: 1e-6, seed: STEP_SEED, miss_cost: 1.8 };
    let halves = training::halves(&examples, steps, &mut |half, loss| {
        output::note(&format!("half {half}: loss {loss:.5} a token"));
    });
    if args.halves {
        return print_scores(&generator, &halves);
    }
    let trained = training::train(examples.iter(), steps, &mut |epoch, loss| {
        output::note(&format!("epoch {epoch}: loss {loss:.5} a token"));
    });
    let verifier = training::verifier_of(&halves, VERIFIER_SEED);
    std::fs::write(&args.out, &trained.model)?;
    std::fs::write(&args.verifier, &verifier)?;
    output::line(&format!(
        "{} documents, {} tokens, {} features, {} bytes; judge {} bytes",
        trained.documents,
        trained.tokens,
        trained.features,
        trained.model.len(),
        verifier.len()
    ))?;
    Ok(Exit::Done)
}

/// What was missed and touched by models that had not seen it, with the lists and with the verifier.
fn print_scores(generator: &Generator, halves: &[TrainingHalf; 2]) -> Result<Exit, CliError> {
    let lines = generator.annotated_lines((1, 1), &mut Random::new(EXAMPLE_SEED));
    let row = |name: &str, verified: bool| {
        let HoldoutScore { values, missed, clean, touched } =
            training::holdout_score(&lines, halves, VERIFIER_SEED, verified);
        let share = |part: usize, whole: usize| format!("{:.2} %", 100.0 * part as f64 / whole.max(1) as f64);
        [name.to_owned(), values.to_string(), share(missed, values), clean.to_string(), share(touched, clean)]
    };
    let rows = [row("lists", false), row("judge", true)];
    output::table(&["What stands is decided by", "Values", "Missed", "Clean lines", "Touched"], rows)?;
    Ok(Exit::Done)
}

/// The spent sets of the tests, as marked lines: `blind_b/lookalikes.es.txt` is `marked/es.blind_b.lookalikes.txt`.
fn spent(folder: &Path) -> Result<Vec<(String, String)>, CliError> {
    let mut files = Vec::new();
    for set in SPENT {
        let place = folder.join(set);
        let wrong = |error: std::io::Error| CliError::usage(format!("{}: {error}", place.display()));
        for entry in std::fs::read_dir(&place).map_err(wrong)? {
            let path = entry?.path();
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if let [genre, language, "txt"] = name.split('.').collect::<Vec<_>>()[..] {
                files.push((format!("marked/{language}.{set}.{genre}.txt"), std::fs::read_to_string(&path)?));
            }
        }
    }
    Ok(files)
}

fn sets(data: &Path) -> Result<TrainingSets, CliError> {
    let text = |name: &str| {
        std::fs::read_to_string(data.join(name)).map_err(|error| CliError::usage(format!("{name}: {error}")))
    };
    let wrong = |name: &str, line: usize| CliError::usage(format!("{name}: line {line} is no marked text"));
    let mut sets = TrainingSets::default();
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
fn files(folder: &Path) -> Result<Vec<(String, String)>, CliError> {
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

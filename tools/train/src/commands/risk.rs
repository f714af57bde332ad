//! `anamnesis-train risk`: trains the risk classifier. The same data and seed make the same bytes.

use std::path::{Path, PathBuf};

use crate::risk::{self as training, TrainingConfig, TrainingLine};
use anamnesis::cli::{CliError, Exit, output};
use anamnesis_text::Document;

/// Sets that were tuned on, and may teach. `risk_blind_h`, `_k` and `_l` never do: they show how good it is.
/// Their order is part of the recipe: each line takes a draw.
const GOLD: [&str; 14] = [
    "risk_blind_i",
    "risk_blind_j",
    "risk",
    "risk_fresh",
    "risk_speech",
    "risk_blind",
    "risk_blind_b",
    "risk_blind_c",
    "risk_blind_d",
    "risk_blind_e",
    "risk_blind_f",
    "risk_blind_g",
    "risk_lookalikes",
    "risk_denials",
];
/// Ordinary documents, and whether every second one is kept from training.
const ORDINARY: [(&str, bool); 4] = [
    ("dialogues/acibench_dev.jsonl", false),
    ("dialogues/mtsdialog_dev.jsonl", true),
    ("dlp/meddocan_train.es.jsonl", false),
    ("extraction/context_en_negex_dev.jsonl", false),
];

/// Sets of other matters next to the gold: what people say of feelings, lives and illness. Where the rules find no risk in
/// them there is none.
const OTHER_MATTERS: [&str; 11] = [
    "tone",
    "tone_fresh",
    "tone_speech",
    "tone_blind",
    "therapy_negation",
    "negation_fresh",
    "negation_speech",
    "negation_blind",
    "facts",
    "facts_blind",
    "unasserted",
];

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folder with the public sets of ordinary documents: dialogues/acibench_dev.jsonl, dialogues/mtsdialog_dev.jsonl,
    /// dlp/meddocan_train.es.jsonl, extraction/context_en_negex_dev.jsonl.
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Lines written for it: `language<TAB>class<TAB>text`.
    #[arg(long, value_name = "FILE", default_value = "models/risk/lines.tsv")]
    lines: PathBuf,
    /// Folder with the older gold sets.
    #[arg(long, value_name = "DIR", default_value = "tests/data/extraction")]
    gold: PathBuf,
    /// Where the model is written.
    #[arg(long, value_name = "FILE", default_value = "models/risk/classifier.bin")]
    out: PathBuf,
    /// Steps of the search at most.
    #[arg(long, default_value_t = 120)]
    rounds: usize,
    /// Penalty of squared weights.
    #[arg(long, default_value_t = 2.5)]
    penalty: f64,
    /// Seed of the draws: which lines hide what the rules say, how documents are cut.
    #[arg(long, default_value_t = 7)]
    seed: u64,
    /// Hold out one part of the lines (`# part: NAME` in their file). Evaluates rules and model together on it, and does not
    /// write the model.
    #[arg(long, value_name = "NAME")]
    holdout: Option<String>,
}

/// # Errors
/// When a set cannot be read or the model not written.
pub(crate) fn run(args: &Args) -> Result<Exit, CliError> {
    let mut lines = training::read_lines(&text(&args.lines)?).map_err(|line| wrong(&args.lines, line))?;
    let aside: Vec<TrainingLine> = lines.extract_if(.., |line| args.holdout.as_ref() == Some(&line.part)).collect();
    if let Some(part) = args.holdout.as_ref().filter(|_| aside.is_empty()) {
        return Err(CliError::usage(format!("{}: no line is of the part {part}", args.lines.display())));
    }
    for name in GOLD {
        let path = args.gold.join(format!("{name}.jsonl"));
        lines.extend(training::read_gold(&text(&path)?).map_err(|line| wrong(&path, line))?);
    }
    let mut documents: Vec<Document> = Vec::new();
    for (name, halved) in ORDINARY {
        let path = args.data.join(name);
        let all = training::read_documents(&text(&path)?).map_err(|line| wrong(&path, line))?;
        documents.extend(all.into_iter().step_by(if halved { 2 } else { 1 }));
    }
    for name in OTHER_MATTERS {
        let path = args.gold.join(format!("{name}.jsonl"));
        documents.extend(training::read_documents(&text(&path)?).map_err(|line| wrong(&path, line))?);
    }
    output::note(&format!("{} lines, {} ordinary documents", lines.len(), documents.len()));
    let recipe = TrainingConfig { seed: args.seed, penalty: args.penalty, rounds: args.rounds };
    let trained = training::train(&lines, &documents, recipe, &mut |round, loss| {
        if round % 10 == 0 {
            output::note(&format!("round {round}: {loss:.5} an example"));
        }
    });
    if let Some(part) = &args.holdout {
        return shown(part, &aside, trained.model);
    }
    std::fs::write(&args.out, &trained.model)?;
    output::line(&format!(
        "{} lines, {} runs of ordinary sentences, {} features, {} bytes",
        trained.lines,
        trained.background,
        trained.features,
        trained.model.len()
    ))?;
    Ok(Exit::Done)
}

/// Recall and precision of the part that was left out, as sure as the program demands and less or more sure.
#[allow(clippy::cast_precision_loss)] // counts of lines of a file
fn shown(part: &str, aside: &[TrainingLine], model: Vec<u8>) -> Result<Exit, CliError> {
    let figures = training::held_out(model, aside).unwrap_or_default();
    let rows = figures.iter().map(|at| {
        let share = |whole: usize| format!("{:.3}", at.right as f64 / whole.max(1) as f64);
        [format!("{:+.1}", at.shift), share(at.risks), share(at.right + at.wrong)]
    });
    output::line(&format!("{part}: {} lines left out of training", aside.len()))?;
    output::table(&["surer by", "recall", "precision"], rows)?;
    Ok(Exit::Done)
}

fn text(path: &Path) -> Result<String, CliError> {
    std::fs::read_to_string(path).map_err(|error| CliError::usage(format!("{}: {error}", path.display())))
}

fn wrong(path: &Path, line: usize) -> CliError {
    CliError::usage(format!("{}: line {line} cannot be read", path.display()))
}

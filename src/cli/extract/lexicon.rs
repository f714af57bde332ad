//! `extract lexicon`: how large the lists of the rules are, and whether files of one's own can be read with them.

use std::path::PathBuf;

use serde::Serialize;

use super::super::output::{self, OutputFormat};
use super::super::{CliError, Context, Exit};
use anamnesis_extraction::Extractor;
use anamnesis_extraction::lexicon::{LexiconExtension, ListSize, sizes};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Your lexicon files: checked, and counted next to the built-in lists.
    files: Vec<PathBuf>,
}

#[derive(Serialize)]
struct CountedList {
    list: &'static str,
    /// `built in`, or the file.
    from: String,
    /// Of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(flatten)]
    size: ListSize,
}

/// # Errors
/// When a file cannot be used (named by line and column), or standard output not written.
pub(crate) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let extension = LexiconExtension::load(&args.files).map_err(|error| CliError::usage(error.to_string()))?;
    let built_in =
        sizes().into_iter().map(|(list, size)| CountedList { list, from: "built in".to_owned(), version: None, size });
    let own = extension.files().iter().map(|file| CountedList {
        list: file.list.code(),
        from: file.name.clone(),
        version: Some(format!("{}.{}", file.version, file.hash)),
        size: file.size(),
    });
    let counted: Vec<CountedList> = built_in.chain(own).collect();
    let version = Extractor::extended(&extension).version().to_owned();
    match context.format_or(OutputFormat::Table) {
        OutputFormat::Json => output::json(&serde_json::json!({"version": version, "lists": counted}))?,
        OutputFormat::Table => {
            output::table(&["list", "from", "version", "rows", "names", "phrases"], counted.iter().map(row))?;
            output::line(&format!("version of rules and lexicons: {version}"))?;
        }
    }
    Ok(Exit::Done)
}

fn row(one: &CountedList) -> [String; 6] {
    let ListSize { rows, names, phrases } = one.size;
    let version = one.version.clone().unwrap_or_default();
    [one.list.to_owned(), one.from.clone(), version, rows.to_string(), names.to_string(), phrases.to_string()]
}

//! `redact detokenize`: replaces tokens by their original values. The key is in a separate file, apart from any store.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::super::{CliError, Exit, output};
use anamnesis_redaction::TokenKey;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A text with tokens; standard input without it or with `-`.
    path: Option<PathBuf>,
    /// The key: a file with 128 hexadecimal digits.
    #[arg(long, value_name = "FILE")]
    token_key: PathBuf,
}

/// # Errors
/// When the key is none or the text cannot be read.
pub(crate) fn run(args: &Args) -> Result<Exit, CliError> {
    let key = key(&args.token_key)?;
    let mut text = String::new();
    match args.path.as_ref().filter(|path| path.as_os_str() != "-") {
        Some(path) => text = std::fs::read_to_string(path)?,
        None => {
            io::stdin().lock().read_to_string(&mut text)?;
        }
    }
    output::bytes(key.detokenize(&text).as_bytes())?;
    Ok(Exit::Done)
}

/// The key of a file.
pub(super) fn key(path: &Path) -> Result<TokenKey, CliError> {
    TokenKey::from_hex(&std::fs::read_to_string(path)?)
        .ok_or_else(|| CliError::usage("the token key is not a file with 128 hexadecimal digits"))
}

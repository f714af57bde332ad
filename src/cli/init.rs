//! `init`: a starting configuration, and what to do with it.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use serde_json::json;

use super::output::{self, OutputFormat};
use super::{CliError, Context, Exit};
use anamnesis_core::ids::OrgId;

/// The settings that most installations touch, with their meaning.
const START: &str = include_str!("init.toml");
/// Where the binding of files begins, and the id in it.
const BINDING: &str = "#[[intake.producers]]\n";
const EXAMPLE: &str = "5f3b1c52-6d0e-4c43-9a55-0a4f6c1d2e3f";

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file to write; it must not exist.
    #[arg(default_value = "anamnesis.toml")]
    file: PathBuf,
    /// Allow files of the spool to contain documents of this organisation.
    #[arg(long, value_name = "UUID")]
    organization: Option<OrgId>,
}

/// # Errors
/// When there is a file already, or none can be written.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    let shown = args.file.display().to_string();
    // A person may write a secret into it.
    let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&args.file);
    let mut file = opened.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            CliError::usage(format!("{shown}: there is such a file already; nothing was changed"))
        }
        ErrorKind::NotFound => CliError::usage(format!("{shown}: its folder is not there")),
        _ => CliError::failed(format!("{shown}: the file cannot be written")),
    })?;
    file.write_all(text(args.organization).as_bytes())?;
    file.sync_all()?;
    let next = [
        format!("anamnesis config check --config {shown}"),
        format!("anamnesis doctor --config {shown}"),
        format!("anamnesis worker --config {shown}"),
    ];
    match context.format_or(OutputFormat::Table) {
        OutputFormat::Json => output::json(&json!({"file": shown, "next": next}))?,
        OutputFormat::Table => {
            output::line(&format!("{shown} is written. Read it and change what you need, then run:"))?;
            next.iter().try_for_each(|command| output::line(&format!("  {command}")))?;
            if args.organization.is_none() {
                output::line(
                    "No file of the spool is taken before [[intake.producers]] binds one (docs/producers/README.md).",
                )?;
            }
        }
    }
    Ok(Exit::Done)
}

fn text(organization: Option<OrgId>) -> String {
    let (Some(organization), Some((before, after))) = (organization, START.split_once(BINDING)) else {
        return START.to_owned();
    };
    let (binding, rest) = after.split_once("\n\n").unwrap_or((after, ""));
    let open: Vec<&str> = binding.lines().map(|line| line.strip_prefix('#').unwrap_or(line)).collect();
    let open = open.join("\n").replace(EXAMPLE, &organization.0.to_string());
    format!("{before}{}{open}\n\n{rest}", BINDING.trim_start_matches('#'))
}

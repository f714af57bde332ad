//! `config show|check|reference|schema`: the effective settings, their faults, and all possible settings.

use std::path::Path;

use clap::Subcommand;
use serde_json::{Value, json};

use super::output::{self, OutputFormat};
use super::{CliError, Context, Exit};
use anamnesis_config::check::{self, BuildFeatures, Problem, ProblemKind, Severity};
use anamnesis_config::json_schema;
use anamnesis_config::reference::{default_text, reference};
use anamnesis_config::renamed;
use anamnesis_config::show::{EffectiveValue, show};
use anamnesis_config::{Settings, ValueSource};
use anamnesis_observability::traces;

/// The build options of this program.
const BUILT: BuildFeatures = BuildFeatures { traces: traces::BUILT };

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: ConfigSubcommand,
}

#[derive(Debug, Subcommand)]
enum ConfigSubcommand {
    /// Show the effective values and their sources; of secrets only whether they are set
    Show {
        /// Only values that differ from the default.
        #[arg(long)]
        changed: bool,
    },
    /// Report every problem of the configuration with its line and the allowed values; connects to nothing
    ///
    /// Exit code 0: the configuration is valid. 2: it is not.
    Check,
    /// Print the JSON Schema of the configuration file, for editors and other tools
    Schema,
    /// List every key with its type, unit, default, range and meaning
    Reference {
        /// Only keys with this prefix, such as `broker` or `store.postgres`.
        prefix: Option<String>,
    },
}

/// # Errors
/// When standard output cannot be written; for `show`, when the configuration cannot be used.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    let format = context.format_or(OutputFormat::Table);
    match args.what {
        ConfigSubcommand::Show { changed } => {
            let shown = show(context.config.as_deref())
                .map_err(|error| CliError::usage(format!("{error}; `anamnesis config check` lists every problem")))?;
            let wanted = |one: &&EffectiveValue| !changed || one.origin != ValueSource::Default;
            print_values(&shown.iter().filter(wanted).collect::<Vec<_>>(), format)?;
            Ok(Exit::Done)
        }
        ConfigSubcommand::Schema => output::line(&format!("{:#}", json_schema::schema())).map(|()| Exit::Done),
        ConfigSubcommand::Check => print_problems(&problems(context.config.as_deref()), format),
        ConfigSubcommand::Reference { prefix } => {
            print_reference(prefix.as_deref().unwrap_or_default(), format)?;
            Ok(Exit::Done)
        }
    }
}

/// Every problem of the configuration, and every old key in the policies of its jobs.
pub(crate) fn problems(file: Option<&Path>) -> Vec<Problem> {
    let mut found = check::check(file, BUILT);
    if let Ok(settings) = anamnesis_config::load(file) {
        found.extend(old_policy_keys(&settings));
    }
    found
}

/// Every old key in the configuration and in the policies of its jobs, as a warning.
pub(crate) fn old_keys(file: Option<&Path>, settings: &Settings) -> Vec<Problem> {
    let mut found = renamed::in_use(file);
    found.extend(old_policy_keys(settings));
    found
}

fn old_policy_keys(settings: &Settings) -> Vec<Problem> {
    let keys = anamnesis_jobs::renamed::in_use(settings.jobs.directory()).into_iter();
    keys.map(|key| {
        let path = |name: &str| format!("{}.{name}", key.job);
        let origin = ValueSource::File { file: key.file.clone(), line: key.line };
        renamed::warning(&path(key.old), &path(key.new), key.since, origin)
    })
    .collect()
}

fn print_values(shown: &[&EffectiveValue], format: OutputFormat) -> Result<(), CliError> {
    if format == OutputFormat::Json {
        return output::json(&shown);
    }
    let rows = shown.iter().map(|one| {
        let value = match (one.given, &one.value) {
            (Some(true), _) => "(secret, given)".to_owned(),
            (Some(false), _) => "(secret, not given)".to_owned(),
            (None, Value::String(text)) if text.is_empty() => "(empty)".to_owned(),
            (None, Value::String(text)) => text.clone(),
            (None, Value::Null) => "none".to_owned(),
            (None, value) => value.to_string(),
        };
        [one.key.clone(), value, one.origin.to_string()]
    });
    output::table(&["key", "value", "origin"], rows)
}

fn print_problems(problems: &[Problem], format: OutputFormat) -> Result<Exit, CliError> {
    let usable = problems.iter().all(|problem| problem.severity == Severity::Warning);
    if format == OutputFormat::Json {
        output::json(&json!({"usable": usable, "problems": problems}))?;
    } else if problems.is_empty() {
        output::line("The configuration has no problem.")?;
    } else {
        for problem in problems {
            output::line(&sentence(problem))?;
        }
    }
    Ok(if usable { Exit::Done } else { Exit::Usage })
}

/// `file:line: error: key: problem; allowed: …`, as compilers print it, so that editors find the place.
pub(crate) fn sentence(problem: &Problem) -> String {
    let origin = problem.origin.as_ref().map_or_else(|| "not given".to_owned(), ToString::to_string);
    let severity = match problem.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let key = if problem.key.is_empty() { String::new() } else { format!("{}: ", problem.key) };
    let mut text = format!("{origin}: {severity}: {key}{}", problem.problem);
    if let Some(allowed) = &problem.allowed {
        text += &format!("; allowed: {allowed}");
    }
    if let Some(nearest) = &problem.nearest {
        let relation = if problem.kind == ProblemKind::Renamed { "new name" } else { "nearest" };
        text += &format!("; {relation}: {nearest}");
    }
    text
}

fn print_reference(prefix: &str, format: OutputFormat) -> Result<(), CliError> {
    let keys: Vec<_> = reference().into_iter().filter(|key| key.key.starts_with(prefix)).collect();
    if keys.is_empty() {
        return Err(CliError::usage(format!("no key begins with `{prefix}`")));
    }
    if format == OutputFormat::Json {
        return output::json(&keys);
    }
    for key in keys {
        let unit = key.unit.map(|unit| format!(", in {unit}")).unwrap_or_default();
        let secret = if key.secret { "; secret" } else { "" };
        output::line(&format!("{} = {}", key.key, default_text(&key)))?;
        output::line(&format!("    {} ({}{unit}{secret})", key.about, key.allowed))?;
    }
    Ok(())
}

//! `config show|check|reference|schema`: the effective settings, their faults, and all possible settings.

use clap::Subcommand;
use serde_json::{Value, json};

use super::output::{self, OutputFormat};
use super::{CliError, Context, Exit};
use anamnesis_config::check::{self, BuildFeatures, Problem, Severity};
use anamnesis_config::json_schema;
use anamnesis_config::reference::{default_text, reference};
use anamnesis_config::show::{EffectiveValue, show};
use anamnesis_observability::traces;

/// The build options of this program.
pub(crate) const BUILT: BuildFeatures = BuildFeatures { traces: traces::BUILT };

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: ConfigSubcommand,
}

#[derive(Debug, Subcommand)]
enum ConfigSubcommand {
    /// Every value that counts, with where it comes from; secrets are shown as given or not
    Show {
        /// Leave the defaults out.
        #[arg(long)]
        changed: bool,
    },
    /// Every problem of the configuration, each with its line and what is allowed; connects to nothing
    ///
    /// Exit code 0: every command takes it. 2: something is wrong.
    Check,
    /// The JSON Schema of the configuration file, for editors and other tools
    Schema,
    /// Every key with its type, unit, default, range and meaning
    Reference {
        /// Only keys that begin with this, such as `broker` or `store.postgres`.
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
            let wanted = |one: &&EffectiveValue| !changed || one.origin != anamnesis_config::ValueSource::Default;
            print_values(&shown.iter().filter(wanted).collect::<Vec<_>>(), format)?;
            Ok(Exit::Done)
        }
        ConfigSubcommand::Schema => output::line(&format!("{:#}", json_schema::schema())).map(|()| Exit::Done),
        ConfigSubcommand::Check => print_problems(&check::check(context.config.as_deref(), BUILT), format),
        ConfigSubcommand::Reference { prefix } => {
            print_reference(prefix.as_deref().unwrap_or_default(), format)?;
            Ok(Exit::Done)
        }
    }
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
        text += &format!("; nearest: {nearest}");
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

//! docs/command-line.md: every command with its arguments, as the parser itself describes them.

use clap::{Arg, ArgAction, Command, CommandFactory as _};

use super::Cli;
use super::exit::Exit;

/// docs/command-line.md.
pub fn page() -> String {
    let mut program = Cli::command();
    program.build();
    let mut page = String::from(
        "# Command line\n\nMade from the definitions of the commands by `make docs`; `anamnesis COMMAND --help` prints the same.\n\n\
         A command is configured by a TOML file and by variables ([configuration.md](configuration.md)). Results go to standard \
         output, messages and the log to standard error. [contract.md](contract.md) describes the JSON of the answers.\n",
    );
    page += "\n## Exit codes\n\n| code | meaning |\n|--:|---|\n";
    for exit in Exit::ALL {
        page += &format!("| {} | {} |\n", exit.code(), exit.about());
    }
    page += "\n## Options of every command\n";
    page += &table(program.get_arguments().filter(|arg| arg.is_global_set()));
    page += "\n## Commands\n\n| command | purpose |\n|---|---|\n";
    let shown = || program.get_subcommands().filter(|verb| !verb.is_hide_set() && verb.get_name() != "help");
    for verb in shown() {
        page += &format!("| [{0}](#anamnesis-{0}) | {1} |\n", verb.get_name(), cell(&about(verb)));
    }
    for verb in shown() {
        command(verb, "anamnesis", 2, &mut page);
    }
    page
}

fn command(of: &Command, path: &str, depth: usize, page: &mut String) {
    let path = format!("{path} {}", of.get_name());
    *page += &format!("\n{} {path}\n\n{}\n", "#".repeat(depth), sentences(of));
    let own: Vec<&Arg> = of.get_arguments().filter(|arg| !arg.is_global_set()).collect();
    let within = || of.get_subcommands().filter(|verb| !verb.is_hide_set() && verb.get_name() != "help");
    if within().next().is_none() || own.iter().any(|arg| is_shown(arg)) {
        *page += &format!("\n```\n{}\n```\n", usage(of, &path));
    }
    *page += &table(own.into_iter());
    for verb in within() {
        command(verb, &path, (depth + 1).min(4), page);
    }
}

fn is_shown(arg: &Arg) -> bool {
    !arg.is_hide_set() && !matches!(arg.get_id().as_str(), "help" | "version")
}

/// The command with its arguments, without the options of every command.
fn usage(of: &Command, path: &str) -> String {
    let mut words = vec![path.to_owned()];
    let own = || of.get_arguments().filter(|arg| is_shown(arg) && !arg.is_global_set());
    if own().any(|arg| !arg.is_positional() && !arg.is_required_set()) {
        words.push("[OPTIONS]".to_owned());
    }
    words.extend(own().filter(|arg| !arg.is_positional() && arg.is_required_set()).map(name));
    words.extend(own().filter(|arg| arg.is_positional()).map(|arg| {
        let name = name(arg);
        if arg.is_required_set() { name } else { format!("[{}]", name.trim_matches(['[', ']'])) }
    }));
    words.join(" ")
}

/// `--org <ORG>`, or the name of a positional argument.
fn name(arg: &Arg) -> String {
    let values: Vec<String> = arg.get_value_names().into_iter().flatten().map(|value| format!("<{value}>")).collect();
    let values = if arg.get_action().takes_values() { values.join(" ") } else { String::new() };
    let more = if matches!(arg.get_action(), ArgAction::Append) { "…" } else { "" };
    match arg.get_long() {
        Some(long) if values.is_empty() => format!("--{long}"),
        Some(long) => format!("--{long} {values}{more}"),
        None => format!("{values}{more}"),
    }
}

fn table<'a>(arguments: impl Iterator<Item = &'a Arg>) -> String {
    let rows: Vec<String> = arguments.filter(|arg| is_shown(arg)).map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    format!("\n| argument | default | meaning |\n|---|---|---|\n{}", rows.concat())
}

fn row(arg: &Arg) -> String {
    let default: Vec<_> =
        arg.get_default_values().iter().map(|value| format!("`{}`", value.to_string_lossy())).collect();
    let default = match default.is_empty() || !arg.get_action().takes_values() {
        false => default.join(", "),
        true if arg.is_required_set() => "required".to_owned(),
        true => String::new(),
    };
    let mut meaning = arg.get_help().map(ToString::to_string).unwrap_or_default();
    if !meaning.is_empty() && !meaning.ends_with(['.', '…', ']']) {
        meaning.push('.');
    }
    let words: Vec<String> = if arg.get_action().takes_values() {
        let shown = arg.get_possible_values().into_iter().filter(|value| !value.is_hide_set());
        shown.map(|value| format!("`{}`", value.get_name())).collect()
    } else {
        Vec::new()
    };
    if !words.is_empty() {
        meaning += &format!(" One of {}.", words.join(", "));
    }
    if let Some(variable) = arg.get_env() {
        meaning += &format!(" Variable `{}`.", variable.to_string_lossy());
    }
    format!("| `{}` | {default} | {} |\n", cell(&name(arg)), cell(meaning.trim()))
}

fn about(of: &Command) -> String {
    of.get_about().map(ToString::to_string).unwrap_or_default()
}

/// All that its help says.
fn sentences(of: &Command) -> String {
    let text = of.get_long_about().or(of.get_about()).map(ToString::to_string).unwrap_or_default();
    if text.is_empty() || text.ends_with(['.', '…', ')', ':']) { text } else { format!("{text}.") }
}

/// On one line, so that it fits into a table.
fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

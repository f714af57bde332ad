//! Former names of commands and options. They are hidden aliases of the parser and work for one version; this module
//! finds those that were used and prints a warning on standard error. `renamed.tsv` lists them.

use std::ffi::OsString;

use clap::ArgMatches;

use super::output;

/// A row of `renamed.tsv`.
#[derive(Debug, Clone, Copy)]
struct FormerName {
    /// The command in which it is, without the program: `extract eval`.
    command: &'static str,
    former: &'static str,
    name: &'static str,
    /// The version that does not know the former name any more.
    until: &'static str,
}

fn former_names() -> impl Iterator<Item = FormerName> {
    let rows = include_str!("renamed.tsv").lines().filter(|line| !line.starts_with('#'));
    rows.filter_map(|row| {
        let mut cells = row.split('\t');
        let (command, former, name, until) = (cells.next()?, cells.next()?, cells.next()?, cells.next()?);
        Some(FormerName { command, former, name, until })
    })
}

impl FormerName {
    /// Whether it is among the arguments of a command, whose current name is `path`.
    fn is_used(&self, path: &[&str], given: &[&str]) -> bool {
        let command: Vec<&str> = self.command.split(' ').collect();
        let Some(below) = path.strip_prefix(command.as_slice()) else { return false };
        if self.former.starts_with("--") {
            let mut values = given.iter().filter_map(|word| word.strip_prefix(self.former));
            return values.any(|value| value.is_empty() || value.starts_with('='));
        }
        let named = given.iter().find(|word| [self.former, self.name].contains(*word));
        below.first() == Some(&self.name) && named == Some(&self.former)
    }

    fn warning(&self) -> String {
        let Self { former, name, until, .. } = self;
        format!("warning: {former} is now {name}; the old name works until {until}")
    }
}

/// One warning for each former name that was used.
fn warnings(matches: &ArgMatches, arguments: &[OsString]) -> Vec<String> {
    let (mut path, mut at) = (Vec::new(), matches);
    while let Some((name, below)) = at.subcommand() {
        path.push(name);
        at = below;
    }
    // After `--` there are values only.
    let options = arguments.iter().skip(1).take_while(|argument| argument.as_os_str() != "--");
    let given: Vec<&str> = options.filter_map(|argument| argument.to_str()).collect();
    former_names().filter(|name| name.is_used(&path, &given)).map(|name| name.warning()).collect()
}

/// Prints a warning for each former name among the arguments. Standard output does not change.
pub(super) fn warn(matches: &ArgMatches, arguments: &[OsString]) {
    for warning in warnings(matches, arguments) {
        output::note(&warning);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::{Command, CommandFactory as _};

    use super::*;
    use crate::cli::Cli;

    fn warned(line: &str) -> Vec<String> {
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let matches = Cli::command().try_get_matches_from(&arguments).unwrap();
        warnings(&matches, &arguments)
    }

    #[test]
    fn a_former_name_is_warned_about_and_a_current_one_is_not() {
        let reveal = ["warning: reveal is now detokenize; the old name works until 0.4"];
        assert_eq!(warned("anamnesis redact reveal --token-key k"), reveal);
        assert_eq!(warned("anamnesis --output json redact reveal --token-key k text"), reveal);
        assert_eq!(warned("anamnesis redact detokenize --token-key k reveal"), [""; 0]);
        let split = ["warning: --half is now --split; the old name works until 0.4"];
        assert_eq!(warned("anamnesis extract eval gold --half tuning"), split);
        assert_eq!(warned("anamnesis extract eval --half=tuning gold"), split);
        assert_eq!(warned("anamnesis extract eval gold --split tuning --predictions f"), [""; 0]);
        assert_eq!(warned("anamnesis extract eval gold -- --half"), [""; 0]);
        assert_eq!(warned("anamnesis extract eval gold --half tuning --found a --found b").len(), 2);
    }

    /// The hidden aliases of a command and of all below it: command, alias, name.
    fn aliases(command: &Command, path: &str, found: &mut BTreeSet<(String, String, String)>) {
        for argument in command.get_arguments() {
            for alias in argument.get_aliases().unwrap_or_default() {
                let name = argument.get_long().unwrap_or_default();
                found.insert((path.to_owned(), format!("--{alias}"), format!("--{name}")));
            }
        }
        for below in command.get_subcommands() {
            for alias in below.get_aliases() {
                found.insert((path.to_owned(), alias.to_owned(), below.get_name().to_owned()));
            }
            aliases(below, format!("{path} {}", below.get_name()).trim(), found);
        }
    }

    #[test]
    fn the_table_has_every_hidden_alias_of_the_parser() {
        let mut found = BTreeSet::new();
        aliases(&Cli::command(), "", &mut found);
        let row = |row: FormerName| (row.command.to_owned(), row.former.to_owned(), row.name.to_owned());
        assert_eq!(former_names().map(row).collect::<BTreeSet<_>>(), found);
    }
}

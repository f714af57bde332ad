//! Output for people and programs: tables or JSON on standard output, progress and errors on standard error. Standard
//! output has only results, so that it can be piped.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use clap::ValueEnum;
use comfy_table::{Cell, ContentArrangement, Table, presets};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use super::CliError;

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// One JSON value, or one per line.
    Json,
    /// A table for people.
    Table,
}

/// Writes raw bytes to standard output and flushes.
///
/// # Errors
/// When standard output cannot be written; silent when its reader went away.
pub(crate) fn bytes(bytes: &[u8]) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()?;
    Ok(())
}

/// Writes one line of text to standard output.
///
/// # Errors
/// As [`bytes`].
pub fn line(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    Ok(())
}

/// Writes one value as one line of JSON.
///
/// # Errors
/// As [`bytes`].
pub fn json(value: &impl Serialize) -> Result<(), CliError> {
    json_to(&mut io::stdout().lock(), value)
}

/// Writes one value as one line of JSON into any sink: a verb with much output keeps one buffered, locked standard
/// output and writes there.
///
/// # Errors
/// When the sink cannot be written.
pub(crate) fn json_to(out: &mut impl Write, value: &impl Serialize) -> Result<(), CliError> {
    serde_json::to_writer(&mut *out, value).map_err(|error| {
        CliError::from(io::Error::from(error.io_error_kind().unwrap_or(io::ErrorKind::InvalidData)))
    })?;
    out.write_all(b"\n")?;
    Ok(())
}

/// Writes rows under a header for a person; long cells wrap to the terminal.
///
/// # Errors
/// As [`bytes`].
pub fn table<R: IntoIterator<Item = String>>(
    header: &[&str],
    rows: impl IntoIterator<Item = R>,
) -> Result<(), CliError> {
    line(&render(header, rows))
}

/// The table as text.
pub(crate) fn render<R: IntoIterator<Item = String>>(header: &[&str], rows: impl IntoIterator<Item = R>) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(header.iter().map(Cell::new));
    for row in rows {
        table.add_row(row.into_iter().map(|cell| Cell::new(printable(&cell))));
    }
    table.to_string()
}

/// Stored text must not steer a terminal: control characters other than a line feed become a visible mark.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '\u{FFFD}' } else { c }).collect()
}

/// Prints on standard error why a verb stopped. A closed standard error is ignored.
pub(crate) fn print_error(failure: &CliError) {
    if !failure.is_silent() {
        note(&format!("error: {failure}"));
    }
}

/// One line for the person at the terminal, on standard error.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Whether a person is watching standard error.
pub(crate) fn watched() -> bool {
    io::stderr().is_terminal()
}

/// Bytes with and without a total, things with and without a total.
const TEMPLATES: [&str; 4] = [
    "{bar:32} {binary_bytes:>10} of {binary_total_bytes} {msg} {eta}",
    "{spinner} {binary_bytes} {msg}",
    "{bar:32} {human_pos:>8} of {human_len} {msg} {eta}",
    "{spinner} {human_pos} {msg}",
];

/// A progress bar over bytes (of files, where the total is known) or a spinner. Draws only on a terminal.
pub(crate) fn progress_bytes(total: Option<u64>) -> ProgressBar {
    progress(total, TEMPLATES[0], TEMPLATES[1])
}

/// A progress bar over a number of things. Draws only on a terminal.
pub fn progress_count(total: Option<u64>) -> ProgressBar {
    progress(total, TEMPLATES[2], TEMPLATES[3])
}

fn progress(total: Option<u64>, bar: &str, spinner: &str) -> ProgressBar {
    let target = if watched() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let progress = ProgressBar::with_draw_target(total, target);
    let template = if total.is_some() { bar } else { spinner };
    progress.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
    if watched() {
        progress.enable_steady_tick(Duration::from_millis(120));
    }
    progress
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_one_line_of_json() {
        let mut out = Vec::new();
        json_to(&mut out, &serde_json::json!({"stored": 3, "note": "dos\nlíneas"})).expect("a vector takes it");
        let text = String::from_utf8(out).expect("utf-8");
        assert_eq!(text.matches('\n').count(), 1);
        assert!(text.ends_with("}\n"));
    }

    #[test]
    fn a_table_shows_header_and_cells_without_steering_the_terminal() {
        let text = render(&["disposition", "count"], [["stored".to_string(), "\u{1b}[2J7".to_string()]]);
        assert!(text.contains("disposition") && text.contains("stored"));
        assert!(!text.contains('\u{1b}'), "an escape sequence reached the terminal");
    }

    #[test]
    fn progress_counts_without_a_terminal() {
        for bar in [progress_count(Some(3)), progress_bytes(Some(3)), progress_bytes(None)] {
            bar.inc(2);
            assert_eq!(bar.position(), 2);
        }
    }

    #[test]
    fn progress_templates_are_valid() {
        assert!(TEMPLATES.iter().all(|template| ProgressStyle::with_template(template).is_ok()));
    }
}

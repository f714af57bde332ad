//! Logs. The rule: no text of a document, no value of an identifier, no name, and no library error that may quote one
//! reaches a log, a span, a metric or a panic message. Fields are ids, codes, counts and durations.
//!
//! Three things here serve the rule, besides every author's care:
//! - libraries are heard at `warn` and `error` only, whatever the filter says: lapin prints frames with their bodies at
//!   `trace`, HTTP clients print headers, sqlx prints statements;
//! - a panic is logged with its place and thread, never with its message, which may quote what it choked on;
//! - lines are written synchronously: a background writer loses its last lines when the process ends.

use std::io::IsTerminal;
use std::panic::PanicHookInfo;

use tracing::{Level, Metadata, Subscriber};
use tracing_subscriber::filter::{EnvFilter, filter_fn};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

use anamnesis_config::log::{LogConfig, LogFormat};

/// Where the log goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sink {
    /// The long-running roles: a container's log.
    Stdout,
    /// The verbs, whose standard output is their answer.
    Stderr,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TelemetryError {
    #[error("log.filter is not a list of directives such as `info,anamnesis_pipeline=debug`")]
    Filter,
    #[error("the log is already set up")]
    Twice,
}

/// Sets up the process's log and its panic hook. Once, from `main`.
///
/// # Errors
/// [`TelemetryError::Filter`] for a filter that cannot be read, [`TelemetryError::Twice`] at the second call.
pub fn init(config: &LogConfig, sink: Sink) -> Result<(), TelemetryError> {
    match sink {
        Sink::Stdout => set(subscriber(config, std::io::stdout, std::io::stdout().is_terminal())?),
        Sink::Stderr => set(subscriber(config, std::io::stderr, std::io::stderr().is_terminal())?),
    }?;
    std::panic::set_hook(Box::new(log_panic));
    Ok(())
}

fn set(subscriber: impl Subscriber + Send + Sync) -> Result<(), TelemetryError> {
    tracing::subscriber::set_global_default(subscriber).map_err(|_| TelemetryError::Twice)
}

/// A subscriber that writes to `writer`; what [`init`] installs, and what tests read from.
///
/// # Errors
/// [`TelemetryError::Filter`].
pub(crate) fn subscriber<W>(
    config: &LogConfig,
    writer: W,
    colour: bool,
) -> Result<impl Subscriber + Send + Sync + for<'a> LookupSpan<'a> + use<W>, TelemetryError>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let filter = EnvFilter::builder().parse(by_crate(&config.filter)).map_err(|_| TelemetryError::Filter)?;
    let layer = tracing_subscriber::fmt::layer().with_writer(writer).with_ansi(colour);
    let layer = match config.format {
        LogFormat::Text => layer.boxed(),
        LogFormat::Json => layer.json().flatten_event(true).with_ansi(false).boxed(),
    };
    Ok(tracing_subscriber::registry().with(filter).with(layer.with_filter(filter_fn(may_speak))))
}

/// Crates of the workspace: the program's own code.
const OWN: [&str; 20] = [
    "anamnesis",
    "anamnesis_config",
    "anamnesis_core",
    "anamnesis_crypto",
    "anamnesis_embedding",
    "anamnesis_extraction",
    "anamnesis_jobs",
    "anamnesis_linear_model",
    "anamnesis_messages",
    "anamnesis_neural",
    "anamnesis_observability",
    "anamnesis_outbox",
    "anamnesis_pipeline",
    "anamnesis_rabbitmq",
    "anamnesis_redaction",
    "anamnesis_search",
    "anamnesis_sql",
    "anamnesis_store",
    "anamnesis_text",
    "anamnesis_transport",
];

/// The broker's client is never heard: it logs an ordered end, and each question that the broker answers with no, as errors.
/// What goes wrong with the broker is said with a code by those who use it.
const SILENT: &str = "lapin";

/// Own code at any level; libraries only to warn.
fn may_speak(metadata: &Metadata<'_>) -> bool {
    let crate_name = metadata.target().split("::").next().unwrap_or_default();
    OWN.contains(&crate_name) || (*metadata.level() <= Level::WARN && crate_name != SILENT)
}

/// Directives that name a module of the time when the program was one crate (`anamnesis::pipeline=debug`) mean the crate
/// that it became.
fn by_crate(filter: &str) -> String {
    const BECAME: [(&str, &str); 8] = [
        ("dlp", "redaction"),
        ("extract", "extraction"),
        ("embed", "embedding"),
        ("intake", "messages"),
        ("broker", "rabbitmq"),
        ("relay", "outbox"),
        ("recall", "search"),
        ("domain", "core"),
    ];
    let directive = |directive: &str| {
        let Some(rest) = directive.trim().strip_prefix("anamnesis::") else { return directive.to_owned() };
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (module, rest) = rest.split_at(end);
        let name = BECAME.iter().find(|(old, _)| *old == module).map_or(module, |(_, new)| *new);
        match OWN.iter().any(|own| own.strip_prefix("anamnesis_") == Some(name)) {
            true => format!("anamnesis_{name}{rest}"),
            false => directive.to_owned(),
        }
    };
    filter.split(',').map(directive).collect::<Vec<_>>().join(",")
}

/// Replaces the panic hook by one that logs as [`log_panic`] does and then tells `heard`: the worker counts.
pub fn on_panic(heard: impl Fn() + Send + Sync + 'static) {
    std::panic::set_hook(Box::new(move |panic| {
        log_panic(panic);
        heard();
    }));
}

/// The panic hook: place and thread, never the payload.
pub(crate) fn log_panic(panic: &PanicHookInfo<'_>) {
    let (file, line) = panic.location().map_or(("unknown", 0), |at| (at.file(), at.line()));
    let thread = std::thread::current();
    tracing::error!(code = "panic", file, line, thread = thread.name().unwrap_or("unnamed"), "a thread panicked");
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn logged(config: &LogConfig, act: impl FnOnce()) -> String {
        let lines = Lines::default();
        let sink = lines.clone();
        tracing::subscriber::with_default(subscriber(config, move || sink.clone(), false).unwrap(), act);
        let bytes = lines.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    fn config(format: LogFormat, filter: &str) -> LogConfig {
        LogConfig { format, filter: filter.to_owned() }
    }

    #[test]
    fn libraries_cannot_be_made_to_speak_below_warn() {
        let text = logged(&config(LogFormat::Text, "trace,lapin=trace"), || {
            tracing::trace!(target: "lapin::channel", "frame with a body");
            tracing::info!(target: "sqlx::query", "a statement");
            tracing::info!(target: "anamnesis_lookalike", "not ours");
            tracing::error!(target: "lapin::channel", "an ordered end");
            tracing::warn!(target: "sqlx::pool", "heard");
            tracing::trace!(target: "anamnesis_pipeline::embed", "ours");
        });
        assert!(!text.contains("frame") && !text.contains("statement") && !text.contains("not ours"), "{text}");
        assert!(!text.contains("ordered"), "{text}");
        assert!(text.contains("heard") && text.contains("ours"), "{text}");
    }

    #[test]
    fn every_crate_of_the_workspace_may_speak() {
        let crates = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).unwrap();
        let folders = crates.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        // Only the build runs it.
        for folder in folders.filter(|folder| folder != "sql-codegen") {
            let name = format!("anamnesis_{}", folder.replace('-', "_"));
            assert!(OWN.contains(&name.as_str()), "{name}");
        }
    }

    #[test]
    fn a_directive_for_a_module_of_the_one_crate_means_the_crate_that_it_became() {
        assert_eq!(by_crate("info,anamnesis::dlp::tagger=debug"), "info,anamnesis_redaction::tagger=debug");
        assert_eq!(by_crate("anamnesis::pipeline=debug, lapin=warn"), "anamnesis_pipeline=debug, lapin=warn");
        assert_eq!(by_crate("anamnesis::cli=trace,anamnesis=info"), "anamnesis::cli=trace,anamnesis=info");
    }

    #[test]
    fn a_json_line_is_one_object_with_its_fields_at_the_top() {
        let text = logged(&config(LogFormat::Json, "info"), || tracing::info!(documents = 3, "stored"));
        let line: serde_json::Value = serde_json::from_str(text.trim()).unwrap();
        assert_eq!((line["documents"].as_i64(), line["message"].as_str()), (Some(3), Some("stored")));
        assert!(line["timestamp"].as_str().unwrap().ends_with('Z'));
    }

    #[test]
    fn a_panic_is_logged_with_its_place_and_without_its_message() {
        let text = logged(&LogConfig::default(), || {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(log_panic));
            let caught = std::panic::catch_unwind(|| panic!("Canary Patient, DNI 12345678Z"));
            std::panic::set_hook(before);
            assert!(caught.is_err());
        });
        assert!(text.contains("code=\"panic\"") && text.contains("log.rs"), "{text}");
        assert!(!text.contains("Canary") && !text.contains("12345678Z"), "{text}");
    }

    #[test]
    fn a_panic_hook_is_called_and_the_message_still_is_not_logged() {
        let heard = Arc::new(Mutex::new(0));
        let text = logged(&LogConfig::default(), || {
            let (before, called) = (std::panic::take_hook(), heard.clone());
            on_panic(move || *called.lock().unwrap() += 1);
            let caught = std::panic::catch_unwind(|| panic!("Canary Patient"));
            std::panic::set_hook(before);
            assert!(caught.is_err());
        });
        assert_eq!(*heard.lock().unwrap(), 1);
        assert!(text.contains("code=\"panic\"") && !text.contains("Canary"), "{text}");
    }

    #[test]
    fn a_filter_that_cannot_be_read_stops_the_start() {
        let refused = subscriber(&config(LogFormat::Text, "anamnesis=loud"), std::io::sink, false);
        assert_eq!(refused.err(), Some(TelemetryError::Filter));
    }
}

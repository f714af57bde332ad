//! The command line: global options, the list of verbs, exit codes. One file per verb; a verb is listed when it works.

mod answer;
pub mod app;
mod archive;
mod audit;
mod audited;
mod backup;
mod completions;
mod config;
mod consent;
pub mod context;
pub mod contract;
mod demo;
mod disks;
pub mod doctor;
mod emergency;
mod ephemeral;
mod erase;
pub mod errors;
mod events;
pub(crate) mod exit;
mod export;
mod extract;
mod hardening;
mod hold;
mod import;
mod ingest;
mod init;
mod isolated_worker;
mod job;
mod keyring;
mod keys;
mod language;
mod leftovers;
mod memory;
mod migrate;
mod ndjson;
mod org;
pub mod output;
mod patient;
mod privacy;
mod producers;
mod profile;
mod publish;
mod quarantine;
mod recall;
pub mod redact;
pub mod reference;
mod renamed;
mod render;
mod report;
pub mod rules;
mod spool;
mod topology;
mod vectors;
mod worker;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

pub(crate) use exit::PatientAnswer;
pub use exit::{CliError, Exit};
use output::OutputFormat;

use anamnesis_config::Settings;
use anamnesis_config::log::LogConfig;
use anamnesis_observability::log::{self, Sink};
use anamnesis_observability::metrics::Metrics;
use anamnesis_observability::traces::Traces;
use anamnesis_store::Store;

/// Clinical memory pipeline: redacts, extracts, embeds and stores the content of patients' documents, and ages it.
#[derive(Debug, Parser)]
#[command(name = "anamnesis", version, propagate_version = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) context: Context,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// Options of every verb.
#[derive(Debug, Clone, clap::Args)]
pub struct Context {
    /// Configuration file (TOML). `ANAMNESIS__SECTION__KEY` variables override its values.
    #[arg(long, global = true, value_name = "FILE", env = "ANAMNESIS_CONFIG")]
    pub config: Option<PathBuf>,
    /// Output format [default: table; commands with NDJSON input: json].
    #[arg(long, global = true, value_name = "FORMAT")]
    pub(crate) output: Option<OutputFormat>,
    #[command(flatten)]
    pub(crate) reader: audited::ReaderArgs,
    /// The read that this process is, for the audit trail.
    #[arg(skip)]
    pub(crate) read: audited::ReadSession,
    /// The spans of this process, which are sent before it ends.
    #[arg(skip)]
    pub(crate) spans: Arc<OnceLock<Traces>>,
    /// The store of this process and what it counted, which is added there before it ends.
    #[arg(skip)]
    pub(crate) counted: Arc<OnceLock<(Store, Arc<Metrics>)>>,
}

/// How long the last spans of a process may take: an unreachable collector delays nothing.
pub(crate) const LAST_SPANS: Duration = Duration::from_secs(1);
/// How long the last figures of a process may take.
pub(crate) const LAST_SAMPLES: Duration = Duration::from_millis(400);

impl Context {
    /// The format asked for, or the verb's own.
    pub fn format_or(&self, default: OutputFormat) -> OutputFormat {
        self.output.unwrap_or(default)
    }

    /// Runs an asynchronous verb (store, network) on a separate runtime.
    ///
    /// # Errors
    /// When the machine gives no threads, or what the verb itself returns.
    pub fn block_on<T: 'static>(&self, work: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let result = runtime.block_on(work);
        let result = runtime.block_on(self.read.ended(result));
        if let Some((store, metrics)) = self.counted.get() {
            self.read.count(&result, metrics);
            runtime.block_on(leave_samples(store, metrics));
        }
        if let Some(spans) = self.spans.get() {
            runtime.block_on(spans.close(LAST_SPANS));
        }
        // Running computations were given up already: the process does not wait for them.
        runtime.shutdown_timeout(Duration::from_millis(300));
        result
    }
}

/// Adds metrics to the store, where workers find them. No answer fails for its metrics.
pub(crate) async fn leave_samples(store: &Store, metrics: &Metrics) {
    let Ok(samples) = metrics.unsaved() else { return };
    if samples.is_empty() {
        return;
    }
    match store.stats().add_samples(samples.sums.clone(), samples.newest.clone()).await {
        Ok(()) => metrics.saved(samples),
        Err(error) => tracing::debug!(code = "store_stats", %error, "counted samples could not be added to the store"),
    }
}

/// Registers the verbs: one line each makes the subcommand, its help and its dispatch. `run` takes the verb's own
/// arguments and the [`Context`] and returns `Result<Exit, CliError>`.
macro_rules! verbs {
    ($($(#[$doc:meta])* $verb:ident($args:ty) => $run:path),+ $(,)?) => {
        #[derive(Debug, Subcommand)]
        pub enum Verb {
            $($(#[$doc])* $verb($args)),+
        }

        fn dispatch(verb: Verb, context: &Context) -> Result<Exit, CliError> {
            match verb { $(Verb::$verb(args) => $run(args, context)),+ }
        }
    };
}

verbs! {
    /// Process sample patients and simulate thirty days; needs no server and no key
    Demo(demo::Args) => demo::run,
    /// Run the service: consume messages, watch the spool, run due jobs, serve probes and metrics
    Worker(worker::Args) => worker::run,
    /// Ingest documents from NDJSON files, folders or standard input
    Ingest(ingest::Args) => ingest::run,
    /// Show an original file that a worker encrypted in the archive of its spool
    Spool(spool::Args) => spool::run,
    /// Show the context of a patient: profile, symptoms, events, hypotheses, passages for a question
    Context(context::Args) => context::run,
    /// Evaluate the search
    Recall(recall::Args) => recall::run,
    /// Show a patient's clinical profile
    Profile(profile::Args) => profile::run,
    /// List memories, review them and act: verify, answer, correct, forget
    Memory(memory::Args) => memory::run,
    /// Show a patient's consents, or record a permission or its withdrawal
    Consent(consent::Args) => consent::run,
    /// Summarise the stored data of a patient in plain words; Spanish or English
    Privacy(privacy::Args) => privacy::run,
    /// Show answers to requests that came as messages
    Answer(answer::Args) => answer::run,
    /// Turn the ephemeral mode of a patient on or off: while it is on, nothing new is stored
    Ephemeral(ephemeral::Args) => ephemeral::run,
    /// Erase a patient, a document or a memory permanently, and print the receipt
    Erase(erase::Args) => erase::run,
    /// Manage legal holds, which protect data from retention, purge and erasure
    Hold(hold::Args) => hold::run,
    /// Show results of analytic jobs: confidence trend of a patient, cohort counts, erasure receipts
    Report(report::Args) => report::run,
    /// Import records of older systems; idempotent
    Import(import::Args) => import::run,
    /// Export all stored data of a patient, or the imported records unchanged
    Export(export::Args) => export::run,
    /// Show archived documents, which no search returns any more
    Archive(archive::Args) => archive::run,
    /// List or change organisations: time zone, privacy tier, country
    Org(org::Args) => org::run,
    /// Show the generations of vectors, or compare two of them
    Vectors(vectors::Args) => vectors::run,
    /// Migrate the schema of a store on a database server, or wait for the migration
    Migrate(migrate::Args) => migrate::run,
    /// Use the audit trail: list entries, verify its integrity, export its heads
    Audit(audit::Args) => audit::run,
    /// Manage the key store: create it, show it, rotate its keys, write an escrow file
    Keys(keys::Args) => keys::run,
    /// Back up store and keys into a folder while workers run, or verify a backup
    Backup(backup::Args) => backup::run,
    /// Restore a backup into an empty store, or replace the existing one
    Restore(backup::restore::Args) => backup::restore::run,
    /// Evaluate the rules of memory without a store: NDJSON questions in, one answer each
    Rules(rules::Args) => rules::run,
    /// Show the effective configuration, check it, or list all keys
    Config(config::Args) => config::run,
    /// Write a starting configuration with comments
    Init(init::Args) => init::run,
    /// Diagnose configuration, keys, store, broker, provider, files and jobs, with remedies; changes nothing
    Doctor(doctor::Args) => doctor::run,
    /// Print a completion script for a shell
    Completions(completions::Args) => completions::run,
    /// Show the message contract
    Contract(contract::Args) => contract::run,
    /// List jobs, show their runs, or run one
    Job(job::Args) => job::run,
    /// Extract clinical findings from texts: NDJSON in, NDJSON out
    Extract(extract::Args) => extract::run,
    /// Redact personal data in texts: NDJSON in, NDJSON out
    Redact(redact::Args) => redact::run,
    /// Declare RabbitMQ's exchanges and queues, or compare them and their limits with the broker
    Topology(topology::Args) => topology::run,
    /// Publish messages to the broker, each confirmed
    Publish(publish::Args) => publish::run,
    /// List, replay or drop outgoing events
    Events(events::Args) => events::run,
    /// List, show, retry or drop quarantined messages
    Quarantine(quarantine::Args) => quarantine::run,
    /// Process one message from standard input in isolation; used by workers for crash suspects
    #[command(hide = true)]
    Alone(isolated_worker::Args) => isolated_worker::run,
}

/// Called by `main`: [`run`], after setting up the process's log and panic hook.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    if hardening::begin().is_err() {
        return ended(Err(CliError::failed("core dumps of this process cannot be switched off")), false);
    }
    match parsed(arguments) {
        Ok((cli, verb)) => match log(&cli.context, &verb) {
            Ok(()) => execute(cli),
            Err(failure) => ended(Err(failure), false),
        },
        Err(exit) => exit,
    }
}

/// Parses the arguments, runs the verb and says how it ended.
#[cfg(test)]
fn run(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    parsed(arguments).map_or_else(|exit| exit, |(cli, _)| execute(cli))
}

/// The command line with its verb's name, or how it ends already.
fn parsed(arguments: impl IntoIterator<Item = OsString>) -> Result<(Cli, String), Exit> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let read = Cli::command().try_get_matches_from(&arguments).and_then(|matches| {
        let verb = matches.subcommand_name().unwrap_or_default().to_owned();
        Cli::from_arg_matches(&matches).map(|mut cli| {
            cli.context.read = audited::ReadSession::from_matches(&matches, &cli.context.reader);
            renamed::warn(&matches, &arguments);
            (cli, verb)
        })
    });
    read.map_err(|error| {
        // Help and version are "errors" to clap, with exit code 0.
        let usage = error.use_stderr();
        let printed = error.print().is_ok();
        if usage || !printed { Exit::Usage } else { Exit::Done }
    })
}

fn execute(cli: Cli) -> Exit {
    // An export is NDJSON, asked for or not.
    let read_by_a_program = cli.context.output == Some(OutputFormat::Json) || matches!(cli.verb, Verb::Export(_));
    ended(dispatch(cli.verb, &cli.context), read_by_a_program)
}

/// Prints a failure and says how the process ends: the only place that prints one. `read_by_a_program`: as JSON too.
pub fn ended(result: Result<Exit, CliError>, read_by_a_program: bool) -> Exit {
    match result {
        Ok(exit) => exit,
        Err(failure) => {
            if let Some(answer) = failure.json().filter(|_| read_by_a_program) {
                // The reader may be gone; the exit code says the same.
                let _ = output::json(&answer);
            }
            output::print_error(&failure);
            failure.exit()
        }
    }
}

/// The worker's log is its standard output. A verb's output is its answer, so its log goes to standard error and
/// reports only trouble unless the configuration asks for more. An unreadable configuration is reported by the verb.
fn log(context: &Context, verb: &str) -> Result<(), CliError> {
    let settings = anamnesis_config::load(context.config.as_deref());
    let mut config = settings.as_ref().map(|settings| settings.log.clone()).unwrap_or_default();
    let sink = if verb == "worker" { Sink::Stdout } else { Sink::Stderr };
    if sink == Sink::Stderr && config.filter == LogConfig::default().filter {
        config.filter = "warn".to_owned();
    }
    log::init(&config, sink).map_err(|error| CliError::usage(error.to_string()))?;
    // `config` and `doctor` report old keys themselves; a worker reported them before it started `alone`.
    if let Ok(settings) = &settings
        && !["alone", "config", "doctor"].contains(&verb)
    {
        warn_of_old_keys(context, settings);
    }
    Ok(())
}

/// Logs each old key of the configuration and of job policies, never its value.
fn warn_of_old_keys(context: &Context, settings: &Settings) {
    for key in config::old_keys(context.config.as_deref(), settings) {
        let origin = key.origin.as_ref().map(ToString::to_string).unwrap_or_default();
        let new = key.nearest.unwrap_or_default();
        tracing::warn!(
            code = "config_key_renamed",
            old = %key.key,
            %new,
            %origin,
            "a key has an old name, which works for one minor version"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(arguments: &[&str]) -> Exit {
        run(std::iter::once("anamnesis").chain(arguments.iter().copied()).map(OsString::from))
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn an_unknown_verb_is_a_usage_error() {
        assert_eq!(ran(&["remember-everything"]), Exit::Usage);
        assert_eq!(ran(&[]), Exit::Usage);
    }

    #[test]
    fn help_and_version_are_successes() {
        assert_eq!(ran(&["--help"]), Exit::Done);
        assert_eq!(ran(&["--version"]), Exit::Done);
    }

    #[test]
    fn global_options_are_taken_after_the_verb_too() {
        let cli = Cli::try_parse_from(["anamnesis", "completions", "bash", "--output", "json", "--config", "a.toml"]);
        let context = cli.expect("parses").context;
        assert_eq!(context.output, Some(OutputFormat::Json));
        assert_eq!(context.config, Some(PathBuf::from("a.toml")));
        assert_eq!(context.format_or(OutputFormat::Table), OutputFormat::Json);
    }

    #[test]
    fn every_verb_says_what_it_does() {
        for verb in Cli::command().get_subcommands() {
            assert!(verb.get_about().is_some(), "{} has no help", verb.get_name());
        }
    }
}

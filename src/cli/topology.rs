//! `topology check|apply`: RabbitMQ's exchanges, queues, bindings and limits.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Subcommand;
use secrecy::ExposeSecret as _;
use serde_json::json;

use super::output::{self, OutputFormat};
use super::producers;
use super::{CliError, Context, Exit};
use anamnesis_config::{self as config, BrokerConfig};
use anamnesis_rabbitmq::topology::{self, Topology, TopologyDifference};
use anamnesis_rabbitmq::{BrokerConnection, BrokerError, ConnectionRole, Names, RetiredQueue, definitions};
use anamnesis_transport::{self as transport, AddressError, ApiToken, ClientError, Endpoint, Options};

/// For the whole export.
const MANAGEMENT: Duration = Duration::from_secs(10);
/// Most bytes of an export.
const LARGEST_EXPORT: usize = 64 << 20;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: TopologySubcommand,
}

#[derive(Debug, Subcommand)]
enum TopologySubcommand {
    /// Compare the broker with the required topology and explain every difference; changes nothing
    ///
    /// Exit code 0: everything was checked and is correct. 1: something is missing or different. 3: nothing differs in what
    /// was checked, but bindings and policies could not be checked.
    Check {
        /// Also compare an export (`rabbitmqctl export_definitions -`; `-` reads standard input), which contains bindings and
        /// policies. With broker.management_url it is fetched.
        #[arg(long, value_name = "FILE")]
        definitions: Option<PathBuf>,
        /// Virtual host in the export.
        #[arg(long, default_value = "/")]
        vhost: String,
    },
    /// Declare missing exchanges, queues and bindings; changes nothing that exists
    Apply,
    /// Print the definitions file with the limits, for `rabbitmqctl import_definitions`
    Definitions {
        /// Print the users with their permissions instead: a worker, and a producer that may only publish. Neither can log in
        /// before `rabbitmqctl change_password`.
        #[arg(long)]
        users: bool,
    },
}

/// # Errors
/// When no broker is configured, it cannot be asked, or the export cannot be read.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    let settings = config::load(context.config.as_deref()).map_err(|error| CliError::usage(error.to_string()))?;
    let open = producers::open_bindings(&settings.intake);
    let config = settings.broker;
    match args.what {
        TopologySubcommand::Definitions { users } => {
            let names = Names::new(&config.prefix);
            output::json(&if users { definitions::users(&names) } else { definitions::shipped(&names) })?;
            Ok(Exit::Done)
        }
        TopologySubcommand::Apply => {
            needs_url(&config)?;
            let retired = context.block_on(async { topology::apply(&config).await.map_err(failure) })?;
            output::note("declared; limits are policies: see deploy/rabbitmq/definitions.json");
            note_retired(retired.as_ref());
            Ok(Exit::Done)
        }
        TopologySubcommand::Check { definitions, vhost } => {
            let format = context.format_or(OutputFormat::Table);
            let seen = context.block_on(check(&config, definitions.as_deref(), &vhost))?;
            report(&seen, &open, format)
        }
    }
}

fn needs_url(config: &BrokerConfig) -> Result<(), CliError> {
    if config.is_set() {
        Ok(())
    } else {
        Err(CliError::usage("broker.url is not set: give it as ANAMNESIS__BROKER__URL"))
    }
}

/// How a broker's refusal ends a verb: exit code 2 if a person must change something.
pub(crate) fn failure(error: BrokerError) -> CliError {
    if error.is_transient() { CliError::failed(error.to_string()) } else { CliError::usage(error.to_string()) }
}

/// The results of a check of the broker.
struct TopologyCheck {
    differences: Vec<TopologyDifference>,
    /// The parts that could not be read.
    unseen: &'static [&'static str],
    /// The poison queue of version 0.2, where the broker still has it.
    retired: Option<RetiredQueue>,
}

async fn check(config: &BrokerConfig, export: Option<&Path>, vhost: &str) -> Result<TopologyCheck, CliError> {
    let names = Names::new(&config.prefix);
    let exported = match export {
        Some(path) => Some(read(path)?),
        None => fetched(config, vhost).await?,
    };
    let mut found = match &exported {
        Some(bytes) => definitions::compare(&names, vhost, bytes)
            .map_err(|_| CliError::usage("the export is not RabbitMQ's definitions format"))?,
        None => {
            needs_url(config)?;
            Vec::new()
        }
    };
    let mut retired = None;
    if config.is_set() {
        let link = BrokerConnection::open(config, ConnectionRole::Topology).await.map_err(failure)?;
        let asked = asked(&Topology::new(&names), &link).await;
        link.close().await;
        let (differences, queue) = asked.map_err(failure)?;
        retired = queue;
        for difference in differences {
            // The export reported the same difference already.
            if !found.iter().any(|one| one.kind == difference.kind && one.name == difference.name) {
                found.push(difference);
            }
        }
    }
    let unseen: &[&str] = if exported.is_some() { &[] } else { &["bindings", "policies"] };
    Ok(TopologyCheck { differences: found, unseen, retired })
}

async fn asked(
    topology: &Topology,
    link: &BrokerConnection,
) -> Result<(Vec<TopologyDifference>, Option<RetiredQueue>), BrokerError> {
    Ok((topology.differences(link).await?, topology.retired_queue(link).await?))
}

/// A queue that is being drained is no difference and changes no exit code.
fn note_retired(retired: Option<&RetiredQueue>) {
    if let Some(queue) = retired {
        output::note(&format!("{} (docs/rabbitmq.md, \"The retired poison queue\")", queue.describe()));
    }
}

fn read(path: &Path) -> Result<Vec<u8>, CliError> {
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin().read_to_end(&mut bytes)?;
    } else {
        bytes = std::fs::read(path)?;
    }
    Ok(bytes)
}

/// The definitions from the management API, where one is configured.
pub(super) async fn fetched(config: &BrokerConfig, vhost: &str) -> Result<Option<Vec<u8>>, CliError> {
    let url = config.management_url.expose_secret();
    if url.is_empty() {
        return Ok(None);
    }
    let wrong = |error: AddressError| CliError::usage(format!("broker.management_url: {error}"));
    let (endpoint, user, password) = Endpoint::with_credentials(url).map_err(wrong)?;
    let unusable = |error: ClientError| CliError::usage(format!("broker.ca_file: {error}"));
    let trusted = transport::authority(&config.ca_file).map_err(unusable)?;
    let url = endpoint.join(&["api", "definitions", vhost]);
    let options = Options { authority: trusted.as_deref(), ..Options::within(MANAGEMENT) };
    let client = transport::Client::new(endpoint, &options).map_err(unusable)?;
    let request = client.get(&url).basic_auth(user, Some(password.expose_secret()));
    let reply = client.send(request, &ApiToken::None, LARGEST_EXPORT).await;
    let reply = reply.map_err(|error| CliError::failed(format!("the management API: {error}")))?;
    match reply.status.as_u16() {
        200 => Ok(Some(reply.body)),
        status => Err(CliError::failed(format!("the management API answers {status}"))),
    }
}

/// Permissions to send are configuration and no difference of the broker: they are reported, and change no exit code.
fn report(seen: &TopologyCheck, open: &[String], format: OutputFormat) -> Result<Exit, CliError> {
    let TopologyCheck { differences, unseen, retired } = seen;
    if format == OutputFormat::Json {
        let same = differences.is_empty() && unseen.is_empty();
        let mut answer = json!({"same": same, "differences": differences, "unseen": unseen, "open": open});
        if let Some(queue) = retired {
            answer["retired"] = json!(queue);
        }
        output::json(&answer)?;
    } else if !differences.is_empty() {
        let rows = differences
            .iter()
            .map(|one| [one.kind.to_owned(), one.name.clone(), one.problem.clone(), one.remedy.to_owned()]);
        output::table(&["What", "Name", "Difference", "Remedy"], rows)?;
    } else if unseen.is_empty() {
        output::note("nothing is different");
    } else {
        output::note("nothing is different in what was seen");
    }
    for problem in open {
        output::note(&format!("open: {problem} (docs/producers/README.md)"));
    }
    note_retired(retired.as_ref());
    if !unseen.is_empty() {
        let what = unseen.join(" and ");
        output::note(&format!("{what} were not seen: set broker.management_url, or give --definitions FILE"));
    }
    Ok(match (differences.is_empty(), unseen.is_empty()) {
        (false, _) => Exit::Failed,
        (true, false) => Exit::Partial,
        (true, true) => Exit::Done,
    })
}

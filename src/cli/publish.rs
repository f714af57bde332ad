//! `publish PATH|-`: messages of NDJSON files to the broker, each persistent, mandatory and confirmed. A message that
//! was not confirmed is counted, and the exit code says so; sending the same files again is harmless.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::output::{self, OutputFormat};
use super::topology::failure;
use super::{CliError, Context, Exit};
use anamnesis_config as config;
use anamnesis_core::clock::{Clock as _, SystemClock, SystemEntropy};
use anamnesis_pipeline::intake::spool::{LineContent, Spool};
use anamnesis_rabbitmq::consumer::encode_message;
use anamnesis_rabbitmq::{
    BrokerConnection, BrokerError, ConnectionRole, MessagePublisher as _, Names, OutboundMessage, Publisher,
};

/// Messages in flight to the broker.
const WINDOW: usize = 256;
/// How often a window is sent again while the broker is unreachable.
const OFFERS: u32 = 8;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// NDJSON files (events or bare data), folders of them, or `-` for standard input.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Send events in structured mode (`application/cloudevents+json`) instead of attributes as headers.
    #[arg(long)]
    structured: bool,
}

#[derive(Debug, Default)]
struct PublishCounts {
    confirmed: u64,
    unroutable: u64,
    failed: u64,
    skipped: u64,
}

/// # Errors
/// When no broker is configured or reachable, or a file cannot be read.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    let format = context.format_or(OutputFormat::Table);
    let settings = config::load(context.config.as_deref()).map_err(|error| CliError::usage(error.to_string()))?;
    if !settings.broker.is_set() {
        return Err(CliError::usage("broker.url is not set: give it as ANAMNESIS__BROKER__URL"));
    }
    // The consumer decides the size limit, not we.
    let spool = Spool::find(&args.paths, 16 << 20).map_err(|error| CliError::failed(error.to_string()))?;
    let user = BrokerConnection::user(&settings.broker);
    let exchange = Names::new(&settings.broker.prefix).ingest();
    context.block_on(async {
        let publisher = Publisher::new(&settings.broker, ConnectionRole::Publish, Arc::new(SystemEntropy));
        let progress = output::progress_bytes(spool.total_bytes());
        let mut counts = PublishCounts::default();
        let mut records = spool.records();
        loop {
            let mut letters = Vec::new();
            for record in records.by_ref().take(WINDOW) {
                match record.map_err(|error| CliError::failed(error.to_string()))?.content {
                    LineContent::Line(body) => letters
                        .push(encode_message(&exchange, body, args.structured, SystemClock.now()).by(user.as_deref())),
                    LineContent::TooLong(_) | LineContent::Beyond => counts.skipped += 1,
                }
            }
            if letters.is_empty() {
                break;
            }
            send(&publisher, letters, &mut counts).await?;
            progress.set_position(records.consumed());
        }
        progress.finish_and_clear();
        publisher.close().await;
        report(&counts, format)
    })
}

async fn send(
    publisher: &Publisher,
    mut letters: Vec<OutboundMessage>,
    counts: &mut PublishCounts,
) -> Result<(), CliError> {
    for offer in 0..OFFERS {
        let results = publisher.publish(&letters).await;
        let mut again = Vec::new();
        for (message, result) in letters.into_iter().zip(results) {
            match result {
                Ok(()) => counts.confirmed += 1,
                Err(BrokerError::Unroutable) => counts.unroutable += 1,
                Err(error) if !error.is_transient() => return Err(failure(error)),
                Err(_) => again.push(message),
            }
        }
        letters = again;
        if letters.is_empty() {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(100 << offer)).await;
    }
    counts.failed += letters.len() as u64;
    Ok(())
}

fn report(counts: &PublishCounts, format: OutputFormat) -> Result<Exit, CliError> {
    let PublishCounts { confirmed, unroutable, failed, skipped } = *counts;
    if format == OutputFormat::Json {
        output::json(&json!({"confirmed": confirmed, "unroutable": unroutable, "failed": failed, "skipped": skipped}))?;
    } else {
        let rows = [
            ("confirmed", confirmed),
            ("unroutable: run `anamnesis topology apply`", unroutable),
            ("not confirmed: send again", failed),
            ("longer than 16 MiB, not sent", skipped),
        ];
        let shown = rows.into_iter().filter(|(_, n)| *n > 0).map(|(what, n)| [what.to_owned(), n.to_string()]);
        output::table(&["Messages", "Number"], shown)?;
    }
    Ok(match (confirmed, unroutable + failed + skipped) {
        (_, 0) => Exit::Done,
        (0, _) => Exit::Failed,
        _ => Exit::Partial,
    })
}

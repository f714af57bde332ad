//! `ingest FILE|FOLDER|-`: documents in, memory out. A repetition changes nothing; after a kill it continues.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::json;

use super::app::App;
use super::output::{self, OutputFormat};
use super::producers;
use super::{CliError, Context, Exit};
use anamnesis_config::PipelineConfig;
use anamnesis_core::reason::Reason;
use anamnesis_messages::{Limits, MessageOrigin, Problem, Rejection};
use anamnesis_pipeline::intake::spool::{LineContent, Spool, SpoolRecords};
use anamnesis_pipeline::isolation::{Isolation, SuspectSplit};
use anamnesis_pipeline::{Disposition, DispositionCounts, Pipeline, RawMessage};

/// How often a batch is offered again when something outside fails, before the verb gives up on it.
const OFFERS: u32 = 4;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// NDJSON files (events or bare data), folders of them, or `-` for standard input.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
}

/// # Errors
/// When a path, the configuration or the store cannot be read.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    let format = context.format_or(OutputFormat::Table);
    let isolation = Isolation::of_this_program(context.config.clone())?;
    context.block_on(async {
        let app = App::open(context).await?;
        let origin = producers::of_files_by_hand(&app).await?;
        let pipeline = app.pipeline()?;
        let limits = Limits::with_body(app.settings.intake.max_body_bytes);
        let spool =
            Spool::find(&args.paths, limits.max_body_bytes).map_err(|error| CliError::failed(error.to_string()))?;
        let started = Instant::now();
        let mut feeding = FeedOptions::from_config(&app.settings.pipeline, LastOffer::No);
        if origin == MessageOrigin::Operator {
            feeding = feeding.by_operator();
        }
        let FeedResult { tally, .. } = feed(&pipeline, &isolation, spool, &feeding).await?;
        app.close().await;
        report(&tally, started.elapsed(), format)?;
        Ok(exit(&tally))
    })
}

/// Whether this is the last time that messages are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastOffer {
    No,
    /// What still fails is quarantined.
    Yes,
}

/// How lines are offered.
#[derive(Debug, Clone)]
pub(crate) struct FeedOptions {
    /// Most messages and bytes of one batch.
    batch: (usize, usize),
    exhausted: LastOffer,
    /// Name of the sealed original that contains a line beyond the limit of quarantine.
    sealed: Option<String>,
    /// The endpoint at which lines arrive.
    origin: MessageOrigin,
}

impl FeedOptions {
    /// In batches of the pipeline's size.
    pub(crate) fn from_config(config: &PipelineConfig, exhausted: LastOffer) -> Self {
        let batch = (config.batch_documents, config.batch_bytes);
        Self { batch, exhausted, sealed: None, origin: MessageOrigin::Files }
    }

    /// Of a file whose original is sealed under this name where a line is longer than quarantine keeps.
    pub(crate) fn sealed_as(self, name: String) -> Self {
        Self { sealed: Some(name), ..self }
    }

    /// For files of the holder of the store and its keys.
    fn by_operator(self) -> Self {
        Self { origin: MessageOrigin::Operator, ..self }
    }
}

/// The outcomes of a spool's lines.
pub(crate) struct FeedResult {
    pub(crate) tally: DispositionCounts,
    /// A line was longer than quarantine keeps: only its place is known.
    pub(crate) beyond: bool,
}

/// Sends every line of a spool through the pipeline, in bounded batches of messages and bytes. A message that killed a
/// process twice is handled in a separate process, and quarantined if it kills three of those.
///
/// # Errors
/// When a file cannot be read.
pub(crate) async fn feed(
    pipeline: &Pipeline,
    isolation: &Isolation,
    spool: Spool,
    feeding: &FeedOptions,
) -> Result<FeedResult, CliError> {
    // Only deaths leave unfinished attempts: without any, messages need not be checked one by one.
    let haunted = pipeline.has_crash_suspects().await.unwrap_or(true);
    let progress = output::progress_bytes(spool.total_bytes());
    let mut batches = LineBatches { records: spool.records(), feeding, over_long: None, beyond: false };
    let mut tally = DispositionCounts::default();
    loop {
        let bodies = batches.next()?;
        if bodies.is_empty() {
            break;
        }
        if bodies.iter().any(|raw| raw.refused.is_some()) {
            // Nothing but the store can fail: offered once and moved, since a copy may be of 16 MiB.
            pipeline.run(bodies).await.into_iter().for_each(|disposition| tally.add(disposition));
            progress.set_position(batches.records.consumed());
            continue;
        }
        let kept = if feeding.exhausted == LastOffer::Yes { bodies.clone() } else { Vec::new() };
        let mut done = if haunted { apart(pipeline, isolation, bodies).await } else { offer(pipeline, bodies).await };
        for (body, disposition) in kept.iter().zip(&mut done).filter(|(_, done)| **done == Disposition::Retry) {
            // A message is not to blame for a missing key, nor for a store that rejects all writes.
            if !pipeline.lacks_keys(body).await
                && pipeline.quarantine_message(body, Reason::TransientExhausted).await.is_ok()
            {
                *disposition = Disposition::Quarantined(Reason::TransientExhausted);
            }
        }
        for disposition in done {
            tally.add(disposition);
        }
        progress.set_position(batches.records.consumed());
        progress.set_message(format!("{} messages", tally.total()));
    }
    progress.finish_and_clear();
    Ok(FeedResult { tally, beyond: batches.beyond })
}

/// Lines as batches. An over-long line is a batch itself, so that at most one is in memory.
struct LineBatches<'a> {
    records: SpoolRecords,
    feeding: &'a FeedOptions,
    /// Read when the batch before it was complete.
    over_long: Option<RawMessage>,
    /// A line was longer than quarantine keeps.
    beyond: bool,
}

impl LineBatches<'_> {
    fn next(&mut self) -> Result<Vec<RawMessage>, CliError> {
        if let Some(raw) = self.over_long.take() {
            return Ok(vec![raw]);
        }
        let (documents, bytes) = self.feeding.batch;
        let (mut bodies, mut size) = (Vec::new(), 0);
        for record in self.records.by_ref() {
            let record = record.map_err(|error| CliError::failed(error.to_string()))?;
            let body = match record.content {
                LineContent::Line(body) => {
                    size += body.len();
                    bodies.push(RawMessage {
                        body: body.into(),
                        origin: self.feeding.origin.clone(),
                        ..RawMessage::default()
                    });
                    if bodies.len() >= documents.max(1) || size >= bytes {
                        break;
                    }
                    continue;
                }
                LineContent::TooLong(body) => body,
                LineContent::Beyond => {
                    self.beyond = true;
                    place(&record.source, Some(record.line), self.feeding.sealed.as_deref())
                }
            };
            let refused = Some(Rejection::new(Reason::TooLarge, Problem::Size));
            let raw =
                RawMessage { body: body.into(), refused, origin: self.feeding.origin.clone(), ..RawMessage::default() };
            if bodies.is_empty() {
                bodies.push(raw);
            } else {
                self.over_long = Some(raw);
            }
            break;
        }
        Ok(bodies)
    }
}

/// The quarantined text in place of content that was not stored or could not be read: its position.
pub(crate) fn place(source: &str, line: Option<u64>, kept: Option<&str>) -> Vec<u8> {
    let mut place = serde_json::Map::from_iter([("source".to_owned(), json!(source))]);
    place.extend(line.map(|line| ("line".to_owned(), json!(line))));
    place.extend(kept.map(|kept| ("kept".to_owned(), json!(kept))));
    serde_json::Value::Object(place).to_string().into_bytes()
}

/// Processes a batch, and then each of its crash suspects in a separate process.
async fn apart(pipeline: &Pipeline, isolation: &Isolation, bodies: Vec<RawMessage>) -> Vec<Disposition> {
    let mut done = vec![Disposition::Waits; bodies.len()];
    let Ok(SuspectSplit { together, suspects }) = pipeline.split_suspects(&bodies).await else { return done };
    let worked = offer(pipeline, together.iter().map(|at| bodies[*at].clone()).collect()).await;
    for (at, disposition) in together.into_iter().zip(worked) {
        done[at] = disposition;
    }
    for at in suspects {
        done[at] = pipeline.run_isolated(isolation, pipeline.queue(), &bodies[at]).await;
    }
    done
}

/// Repeats a batch while an external service fails: idempotent, so that stored messages count as stored.
async fn offer(pipeline: &Pipeline, bodies: Vec<RawMessage>) -> Vec<Disposition> {
    let mut last = Vec::new();
    for attempt in 0..OFFERS {
        let again = bodies.clone();
        let done = pipeline.run(again).await;
        last = if attempt == 0 { done } else { merge_dispositions(&last, done) };
        if !last.iter().any(|one| one.is_open()) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(200 << attempt)).await;
    }
    last
}

/// A message that an earlier attempt at the same batch stored is a repetition now, and counts as stored.
fn merge_dispositions(before: &[Disposition], now: Vec<Disposition>) -> Vec<Disposition> {
    before.iter().zip(now).map(|(before, now)| if before.is_open() { now } else { *before }).collect()
}

fn exit(tally: &DispositionCounts) -> Exit {
    match tally.count("quarantined") + tally.count("retry") {
        0 => Exit::Done,
        n if n == tally.total() => Exit::Failed,
        _ => Exit::Partial,
    }
}

fn report(tally: &DispositionCounts, took: Duration, format: OutputFormat) -> Result<(), CliError> {
    if format == OutputFormat::Json {
        let by_reason: serde_json::Map<String, serde_json::Value> = tally
            .iter()
            .filter_map(|(d, n)| match d {
                Disposition::Quarantined(reason) => Some((reason.code().to_owned(), json!(n))),
                _ => None,
            })
            .collect();
        return output::json(&json!({
            "messages": tally.total(), "stored": tally.count("stored"), "duplicate": tally.count("duplicate"),
            "ephemeral": tally.count("ephemeral"), "quarantined": tally.count("quarantined"), "retry": tally.count("retry"),
            "reasons": by_reason,
        }));
    }
    let rows = tally.iter().map(|(disposition, n)| {
        let reason = match disposition {
            Disposition::Quarantined(reason) => reason.code(),
            _ => "",
        };
        [disposition.code().to_owned(), reason.to_owned(), n.to_string()]
    });
    output::table(&["Disposition", "Reason", "Messages"], rows)?;
    output::note(&format!("{} messages in {:.1} s", tally.total(), took.as_secs_f64()));
    if tally.count("retry") > 0 {
        output::note("Some messages could not be worked: run the same command again, nothing is stored twice.");
    }
    Ok(())
}

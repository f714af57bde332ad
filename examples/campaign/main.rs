//! The proving ground: real servers of its own, workers that are killed, lines that break, a provider that fails, all on
//! a schedule from a seed; and the end held against a run that nothing disturbed. Prints one JSON line at the end.
//!
//! `make campaign-quick`, `make campaign`, or `cargo run --example campaign -- --help`.

#![allow(clippy::print_stdout, clippy::print_stderr)] // its output is its result

mod chaos;
mod keystore;
mod ledger;
mod messages;
mod servers;
mod upgrade;
mod workers;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};
use serde_json::{Value, json};

use crate::chaos::{Chaos, Outage, Plan, half_open};
use crate::keystore::{KeyFault, KeysKind};
use crate::ledger::Found;
use crate::messages::Messages;
use crate::servers::Servers;
use crate::workers::Workers;

/// What fails is a failure of the campaign itself: it says what it could not do.
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StoreKind {
    Sqlite,
    Postgres,
}

/// Break everything on a schedule, and show that nothing was lost and nothing happened twice.
#[derive(Debug, Parser)]
struct Args {
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Good messages.
    #[arg(long, default_value_t = 400)]
    messages: u64,
    /// Workers killed with SIGKILL.
    #[arg(long, default_value_t = 12)]
    kills: u32,
    /// Kills of the broker's node.
    #[arg(long, default_value_t = 1)]
    broker_restarts: u32,
    /// Crashes of the database server (SQLite: none).
    #[arg(long, default_value_t = 2)]
    database_crashes: u32,
    /// What happens to the key store, of each kind in turn: away, rotated, another one's, restored from before.
    #[arg(long, default_value_t = 4)]
    key_faults: u32,
    /// Where keys lie (SQLite: in a file).
    #[arg(long, value_enum, default_value_t = KeysKind::File)]
    keys: KeysKind,
    /// Share of the provider's answers that fail.
    #[arg(long, default_value_t = 0.2)]
    provider_faults: f64,
    /// Seconds of load before, between and after the steps of an upgrade.
    #[arg(long, default_value_t = 8)]
    step_seconds: u64,
    /// Workers at once (SQLite: one).
    #[arg(long, default_value_t = 3)]
    workers: usize,
    #[arg(long, value_enum, default_value_t = StoreKind::Postgres)]
    store: StoreKind,
    /// NDJSON messages of your own instead of invented ones.
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// Milliseconds between two disturbances, on the average.
    #[arg(long, default_value_t = 550)]
    pause: u64,
    /// At the end, also let a line die without a word, under the heartbeat that ships.
    #[arg(long)]
    half_open: bool,
    /// Longest wait for the end after the last disturbance, seconds.
    #[arg(long, default_value_t = 240)]
    patience: u64,
    /// Instead of faults: an upgrade under load from this program, of the version before.
    #[arg(long, value_name = "PROGRAM")]
    upgrade_from: Option<PathBuf>,
    /// Keep servers and logs for a look.
    #[arg(long)]
    keep: bool,
}

#[tokio::main(flavor = "multi_thread")]
async fn main() -> std::process::ExitCode {
    let args = Args::parse();
    let run = async {
        match &args.upgrade_from {
            Some(old) => upgrade::upgrade(&args, old).await,
            None => campaign(&args).await,
        }
    };
    match run.await {
        Ok(true) => std::process::ExitCode::SUCCESS,
        Ok(false) => std::process::ExitCode::from(1),
        Err(error) => {
            eprintln!("the campaign could not be carried out: {error}");
            std::process::ExitCode::from(2)
        }
    }
}

async fn campaign(args: &Args) -> Outcome<bool> {
    let began = Instant::now();
    let mut messages = match &args.data {
        Some(file) => Messages::from_file(file)?,
        None => Messages::generate(args.seed, args.messages),
    };
    eprintln!("starting servers of its own …");
    let keys = if args.store == StoreKind::Sqlite { KeysKind::File } else { args.keys };
    let servers = Servers::start((args.store, keys), args.provider_faults, args.seed, None).await?;
    eprintln!("{} messages; chaos from seed {} …", messages.all.len(), args.seed);
    let count = if args.store == StoreKind::Sqlite { 1 } else { args.workers.max(1) };
    let mut workers = Workers::start(&servers, count, &[])?;
    let plan = Plan {
        kills: args.kills,
        broker_restarts: args.broker_restarts,
        database_crashes: if args.store == StoreKind::Sqlite { 0 } else { args.database_crashes },
        key_faults: args.key_faults,
    };
    let mut chaos = Chaos::new(args.seed, plan, Duration::from_millis(args.pause));
    chaos.rage(&servers, &mut workers, &messages).await?;
    servers.clear();
    eprintln!("calm again; waiting for the last message …");
    let quiet = servers.quiet(&mut workers, Duration::from_secs(args.patience)).await?;
    let drains = workers.terminate();
    let half_open = if args.half_open { Some(half_open(&servers).await?) } else { None };
    // Afterwards, since the patients' keys are made in the rage: the same keys are what makes both ends comparable.
    eprintln!("the calm run …");
    let calm = ledger::calm(&servers, &messages).await?;
    if args.data.is_some() {
        (messages.good, messages.poison) = calm.counts();
    }
    let found = ledger::found(&servers, &calm, &messages).await?;
    let stored_without_keys = chaos.stored_without_keys;
    let end = End { found, stored_without_keys, quiet, drains, half_open, took: began.elapsed() };
    let good = end.is_good();
    if !end.found.differs.is_empty() {
        eprintln!("tables that differ: {}", end.found.differs.join(", "));
    }
    println!(
        "{}",
        final_report(args, &messages, &chaos, &end, (workers.self_ended, servers.provider.counts().requests))
    );
    if args.keep || !good {
        eprintln!("kept for a look: {}", servers.keep().display());
    } else {
        servers.stop();
    }
    Ok(good)
}

/// How a campaign ended.
struct End {
    found: Found,
    stored_without_keys: usize,
    quiet: bool,
    drains: Vec<Duration>,
    half_open: Option<(Duration, Duration)>,
    took: Duration,
}

impl End {
    fn is_good(&self) -> bool {
        self.quiet && self.found.is_right() && self.stored_without_keys == 0 && slowest(&self.drains) < 10.0
    }
}

fn slowest(times: &[Duration]) -> f64 {
    times.iter().max().map_or(0.0, Duration::as_secs_f64)
}

/// The line of contract.md, and what else there is to tell.
fn final_report(
    args: &Args,
    messages: &Messages,
    chaos: &Chaos,
    end: &End,
    (self_ended, requests): (u32, u64),
) -> Value {
    let End { found, stored_without_keys, quiet, drains, half_open, took } = end;
    let key_faults: serde_json::Map<String, Value> = KeyFault::ALL
        .iter()
        .map(|fault| (fault.name().to_owned(), json!(chaos.keys.get(fault).copied().unwrap_or(0))))
        .collect();
    let back = |outage: Outage| {
        let mut times = chaos.recoveries.get(&outage).cloned().unwrap_or_default();
        times.sort();
        let middle = times.get(times.len() / 2).map_or(0.0, Duration::as_secs_f64);
        json!({"times": times.len(), "p50": middle, "max": slowest(&times)})
    };
    json!({
        "messages": messages.all.len(), "lost": found.lost, "duplicated": found.duplicated,
        "innocent_quarantined": found.innocent, "unreadable": found.unreadable, "poison_expected": messages.poison,
        "poison_quarantined": found.poison, "kills": chaos.done.kills, "digest_equal": found.differs.is_empty(),
        "store": format!("{:?}", args.store).to_lowercase(), "seed": args.seed,
        "broker_restarts": chaos.done.broker_restarts, "database_crashes": chaos.done.database_crashes,
        "keys": format!("{:?}", args.keys).to_lowercase(), "key_faults": key_faults,
        "stored_without_keys": stored_without_keys, "keys_back_seconds": back(Outage::Keys),
        "line_faults": chaos.lines, "provider_requests": requests, "provider_faults": args.provider_faults,
        "events": found.events, "events_missing": found.events_missing, "self_ended": self_ended,
        "broker_back_seconds": back(Outage::Broker), "database_back_seconds": back(Outage::Database),
        "line_back_seconds": back(Outage::Line), "drain_seconds_max": slowest(drains),
        "half_open_noticed_seconds": half_open.map(|(noticed, _)| noticed.as_secs_f64()),
        "half_open_back_seconds": half_open.map(|(_, back)| back.as_secs_f64()),
        "quiet": quiet, "seconds": took.as_secs(),
    })
}

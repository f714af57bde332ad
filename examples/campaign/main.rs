//! The proving ground: real servers of its own, workers that are killed, lines that break, a provider that fails, all on
//! a schedule from a seed; and the end held against a run that nothing disturbed. Prints one JSON line at the end.
//!
//! `make campaign-quick`, `make campaign`, or `cargo run --example campaign -- --help`.

#![allow(clippy::print_stdout, clippy::print_stderr)] // its output is its result

mod chaos;
mod ledger;
mod messages;
mod servers;
mod workers;

use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};
use serde_json::json;

use crate::chaos::{Chaos, Plan};
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
    /// Share of the provider's answers that fail.
    #[arg(long, default_value_t = 0.2)]
    provider_faults: f64,
    /// Workers at once (SQLite: one).
    #[arg(long, default_value_t = 3)]
    workers: usize,
    #[arg(long, value_enum, default_value_t = StoreKind::Postgres)]
    store: StoreKind,
    /// Longest wait for the end after the last disturbance, seconds.
    #[arg(long, default_value_t = 240)]
    patience: u64,
    /// Keep servers and logs for a look.
    #[arg(long)]
    keep: bool,
}

#[tokio::main(flavor = "multi_thread")]
async fn main() -> std::process::ExitCode {
    let args = Args::parse();
    match campaign(&args).await {
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
    let messages = Messages::of(args.seed, args.messages);
    eprintln!("starting servers of its own …");
    let servers = Servers::start(args.store, args.provider_faults, args.seed).await?;
    eprintln!("the calm run …");
    let calm = ledger::calm(&servers, &messages).await?;
    eprintln!("{} messages, {} of them poison; chaos from seed {} …", messages.all.len(), messages.poison, args.seed);
    let count = if args.store == StoreKind::Sqlite { 1 } else { args.workers.max(1) };
    let mut workers = Workers::start(&servers, count)?;
    let plan = Plan {
        kills: args.kills,
        broker_restarts: args.broker_restarts,
        database_crashes: if args.store == StoreKind::Sqlite { 0 } else { args.database_crashes },
    };
    let mut chaos = Chaos::new(args.seed, plan);
    chaos.rage(&servers, &mut workers, &messages).await?;
    servers.clear();
    eprintln!("calm again; waiting for the last message …");
    let quiet = servers.quiet(&mut workers, Duration::from_secs(args.patience)).await?;
    let drains = workers.terminate();
    let found = ledger::found(&servers, &calm, &messages).await?;
    let slowest = |times: &[Duration]| times.iter().max().map_or(0.0, |longest| longest.as_secs_f64());
    let good = quiet && found.is_right() && slowest(&drains) < 10.0;
    if !found.differs.is_empty() {
        eprintln!("tables that differ: {}", found.differs.join(", "));
    }
    println!(
        "{}",
        json!({"messages": messages.all.len(), "lost": found.lost, "duplicated": found.duplicated,
            "innocent_quarantined": found.innocent, "poison_expected": messages.poison,
            "poison_quarantined": found.poison, "kills": chaos.done.kills, "digest_equal": found.differs.is_empty(),
            "store": format!("{:?}", args.store).to_lowercase(), "seed": args.seed,
            "broker_restarts": chaos.done.broker_restarts, "database_crashes": chaos.done.database_crashes,
            "line_faults": chaos.lines, "provider_requests": servers.provider.counts().requests,
            "provider_faults": args.provider_faults, "events": found.events, "events_missing": found.events_missing,
            "self_ended": workers.self_ended, "recovery_seconds_max": slowest(&chaos.recoveries),
            "drain_seconds_max": slowest(&drains), "quiet": quiet, "seconds": began.elapsed().as_secs()})
    );
    if args.keep || !good {
        eprintln!("kept for a look: {}", servers.keep().display());
    } else {
        servers.stop();
    }
    Ok(good)
}

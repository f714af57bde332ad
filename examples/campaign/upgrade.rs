//! An upgrade under load: workers of the version before, the migration of this one while they work, and one worker after the
//! other replaced, as a Deployment does it. Then what an older worker does with a schema that is newer than it.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{Connection as _, Row as _};

use crate::keystore::KeysKind;
use crate::ledger::{self, Found};
use crate::messages::Messages;
use crate::servers::Servers;
use crate::workers::{Workers, program};
use crate::{Args, Outcome, StoreKind};

/// Between two portions of messages.
const TICK: Duration = Duration::from_millis(100);
/// A migration that no release has.
const LATER: i64 = 9_999;

/// The load, and what was seen meanwhile.
struct Load<'a> {
    servers: &'a Servers,
    messages: std::slice::Chunks<'a, Vec<u8>>,
    /// Ticks at which no worker was ready to store.
    without: u32,
    ticks: u32,
    /// How long messages are sent before, between and after the steps.
    step: Duration,
    /// Messages stored at the last look, and the longest time in which none came although some waited.
    stored: (usize, Instant),
    pause: Duration,
}

impl Load<'_> {
    /// Sends a portion and looks at the workers.
    async fn tick(&mut self, workers: &Workers) -> Outcome<()> {
        let began = Instant::now();
        if let Some(portion) = self.messages.next() {
            self.servers.publish(portion).await?;
        }
        let able = workers.all_checks().await.values().any(|checks| checks.store && checks.broker && checks.keys);
        self.ticks += 1;
        self.without += u32::from(!able);
        // Counting opens the store: not at every look.
        if self.ticks.is_multiple_of(5) {
            let stored = self.servers.stored().await?.len();
            if stored > self.stored.0 {
                self.stored = (stored, Instant::now());
            }
            self.pause = self.pause.max(self.stored.1.elapsed());
        }
        tokio::time::sleep(TICK.saturating_sub(began.elapsed())).await;
        Ok(())
    }

    async fn run(&mut self, workers: &Workers) -> Outcome<()> {
        let began = Instant::now();
        while began.elapsed() < self.step {
            self.tick(workers).await?;
        }
        Ok(())
    }
}

/// What an older worker did with a newer schema.
struct Newer {
    running_stored: bool,
    running_said: bool,
    refused: bool,
    exit: Option<i32>,
}

pub(crate) async fn upgrade(args: &Args, old: &Path) -> Outcome<bool> {
    let began = Instant::now();
    let old = std::fs::canonicalize(old)?;
    let messages = Messages::plain(args.seed, args.messages);
    let servers = Servers::start((StoreKind::Postgres, KeysKind::File), 0.0, args.seed, Some(&old)).await?;
    let new = program()?;
    let mut workers = Workers::start(&servers, 0, &[])?;
    let mut running = Vec::new();
    for _ in 0..args.workers.max(1) {
        running.push(workers.add(&old, &servers)?);
    }
    ready(&workers, &running).await?;
    // Every step has its share of the messages, the time of starting workers included.
    let steps = (3 + 2 * args.workers) as u64;
    let step = Duration::from_secs(args.step_seconds);
    let ticks = steps * u64::try_from(step.as_millis() / TICK.as_millis())?;
    let portion = messages.all.len().div_ceil(usize::try_from(ticks)?).max(1);
    let mut load = Load {
        servers: &servers,
        messages: messages.all.chunks(portion),
        without: 0,
        ticks: 0,
        step,
        stored: (0, Instant::now()),
        pause: Duration::ZERO,
    };
    eprintln!("{} messages, {} workers of {} …", messages.all.len(), running.len(), version(&old)?);
    load.run(&workers).await?;
    load.pause = Duration::ZERO;
    eprintln!("the migration of {} …", version(&new)?);
    let (applied, migration) = migrate(&new, &servers)?;
    let migrated = applied.as_array().is_some_and(|all| !all.is_empty());
    load.run(&workers).await?;
    // A worker of the version before that starts again now meets the newer schema.
    let restarted = if migrated { Some(start(&old, &servers, "migration").await?) } else { None };
    let drains = replace(&mut load, &mut workers, running, &new).await?;
    let (without, seen, pause) = (load.without, load.ticks, load.pause);
    for rest in load.messages {
        servers.publish(rest).await?;
    }
    let quiet = servers.quiet(&mut workers, Duration::from_secs(args.patience)).await?;
    workers.terminate();
    eprintln!("the same messages through {} alone …", version(&new)?);
    let calm = ledger::calm(&servers, &messages).await?;
    let found = ledger::found(&servers, &calm, &messages).await?;
    eprintln!("an older worker and a newer schema …");
    let newer = newer(&servers, if migrated { &new } else { &old }, args).await?;
    let nothing = found.lost + found.duplicated + found.innocent + found.unreadable + found.events_missing == 0;
    let good = quiet
        && nothing
        && without == 0
        && newer.refused
        && newer.running_stored
        && restarted.as_ref().is_none_or(|end| end.refused);
    let answer = json!({
        "from": version(&old)?, "to": version(&new)?, "messages": messages.all.len(), "documents": messages.good,
        "lost": found.lost, "duplicated": found.duplicated, "quarantined": found.innocent, "unreadable": found.unreadable,
        "events": found.events, "events_missing": found.events_missing, "digest_equal": found.differs.is_empty(),
        "differs": found.differs, "migrations": applied, "migration_seconds": migration,
        "looks": seen, "looks_without_worker": without, "longest_pause_seconds": pause.as_secs_f64(),
        "drain_seconds_max": drains.iter().copied().fold(0.0, f64::max),
        "older_worker": {"running_goes_on": newer.running_stored, "running_is_not_ready": newer.running_said,
            "start_refused": newer.refused, "exit_code": newer.exit,
            "start_refused_after_the_migration": restarted.as_ref().map(|end| end.refused)},
        "quiet": quiet, "seconds": began.elapsed().as_secs(),
    });
    table(&answer, &found);
    println!("{answer}");
    if args.keep || !good {
        eprintln!("kept for a look: {}", servers.keep().display());
    } else {
        servers.stop();
    }
    Ok(good)
}

/// Replaces one worker after the other, as a Deployment does it: first the next one is ready. How long each took to drain, in seconds.
async fn replace(load: &mut Load<'_>, workers: &mut Workers, running: Vec<u32>, new: &Path) -> Outcome<Vec<f64>> {
    let mut drains = Vec::new();
    for before in running {
        let next = workers.add(new, load.servers)?;
        while !workers.all_checks().await.get(&next).is_some_and(|checks| checks.all()) {
            load.tick(workers).await?;
        }
        let asked = Instant::now();
        workers.ask_to_end(before);
        while !workers.has_ended(before) {
            load.tick(workers).await?;
        }
        drains.push(asked.elapsed().as_secs_f64());
        eprintln!("one worker replaced …");
        load.run(workers).await?;
    }
    Ok(drains)
}

fn table(answer: &Value, found: &Found) {
    let rows = [
        ("lost / twice / quarantined", format!("{} / {} / {}", found.lost, found.duplicated, found.innocent)),
        ("events, missing", format!("{}, {}", found.events, found.events_missing)),
        (
            "migration",
            format!("{} in {:.2} s", answer["migrations"], answer["migration_seconds"].as_f64().unwrap_or(0.0)),
        ),
        ("looks without a worker that can store", format!("{} of {}", answer["looks_without_worker"], answer["looks"])),
        (
            "longest time without a stored message",
            format!("{:.2} s", answer["longest_pause_seconds"].as_f64().unwrap_or(0.0)),
        ),
        ("tables that differ from the new version alone", found.differs.join(", ")),
        ("an older worker at a newer schema", answer["older_worker"].to_string()),
    ];
    for (name, value) in rows {
        println!("{name:<46} {value}");
    }
}

fn version(program: &Path) -> Outcome<String> {
    let printed = Command::new(program).arg("--version").output()?;
    Ok(String::from_utf8(printed.stdout)?.trim().to_owned())
}

/// What the hook of the chart runs before an upgrade; what it applied, and how long it took.
fn migrate(new: &Path, servers: &Servers) -> Outcome<(Value, f64)> {
    let began = Instant::now();
    let admin = servers.admin()?.ok_or("no database server")?;
    let host = admin.split('@').nth(1).unwrap_or_default();
    let mut command = Command::new(new);
    command.args(["migrate", "--backup-done", "--output", "json"]).envs(servers.environment());
    command.env("ANAMNESIS__STORE__MIGRATE_URL", format!("postgres://campaign_owner@{host}"));
    let done = command.output()?;
    if !done.status.success() {
        return Err(format!("the migration failed: {}", String::from_utf8_lossy(&done.stderr)).into());
    }
    let answer: Value = serde_json::from_slice(&done.stdout)?;
    Ok((answer["applied"].clone(), began.elapsed().as_secs_f64()))
}

async fn ready(workers: &Workers, processes: &[u32]) -> Outcome<()> {
    let began = Instant::now();
    loop {
        let said = workers.all_checks().await;
        if processes.iter().all(|process| said.get(process).is_some_and(|checks| checks.all())) {
            return Ok(());
        }
        if began.elapsed() > Duration::from_secs(60) {
            return Err("workers do not become ready".into());
        }
        tokio::time::sleep(TICK).await;
    }
}

/// A worker of the version before works while the schema becomes newer, and another one is started afterwards.
async fn newer(servers: &Servers, old: &Path, args: &Args) -> Outcome<Newer> {
    let mut workers = Workers::start(servers, 0, &[])?;
    let process = workers.add(old, servers)?;
    ready(&workers, &[process]).await?;
    let admin: PgConnectOptions = servers.admin()?.ok_or("no database server")?.parse()?;
    let mut connection = PgConnection::connect_with(&admin).await?;
    let place = sqlx::query("SELECT schemaname::text FROM pg_tables WHERE tablename = '_sqlx_migrations'")
        .fetch_one(&mut connection)
        .await?;
    if place.try_get::<String, _>(0)? != "anamnesis" {
        return Err("the table of migrations is in another schema".into());
    }
    let later = "INSERT INTO anamnesis._sqlx_migrations (version, description, success, checksum, execution_time) \
                 VALUES ($1, 'of a later release', true, '\\x00', 0)";
    sqlx::query(later).bind(LATER).execute(&mut connection).await?;
    connection.close().await?;
    let before: BTreeSet<_> = servers.stored().await?;
    servers.publish(&Messages::later(args.seed, args.messages, 20)).await?;
    let began = Instant::now();
    let mut running_stored = false;
    while !running_stored && began.elapsed() < Duration::from_secs(30) {
        tokio::time::sleep(TICK * 5).await;
        running_stored = servers.stored().await?.len() >= before.len() + 20;
    }
    let running_said = workers.all_checks().await.get(&process).is_some_and(|checks| checks.store && !checks.schema);
    workers.terminate();
    let Start { refused, exit } = start(old, servers, &format!("migration {LATER}")).await?;
    Ok(Newer { running_stored, running_said, refused, exit })
}

/// How the start of a worker ended.
struct Start {
    refused: bool,
    exit: Option<i32>,
}

/// Starts a worker that is to refuse, and to name the reason.
async fn start(program: &Path, servers: &Servers, reason: &str) -> Outcome<Start> {
    let mut command = Command::new(program);
    command.arg("worker").envs(servers.environment()).env("ANAMNESIS__HTTP__BIND", "127.0.0.1:0");
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let began = Instant::now();
    while child.try_wait()?.is_none() && began.elapsed() < Duration::from_secs(30) {
        tokio::time::sleep(TICK).await;
    }
    let _ = child.kill();
    let ended = child.wait_with_output()?;
    let said = [ended.stdout, ended.stderr].concat();
    let refused = !ended.status.success() && String::from_utf8_lossy(&said).contains(reason);
    Ok(Start { refused, exit: ended.status.code() })
}

//! What goes wrong, and when: drawn from a seed.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anamnesis_core::clock::{Entropy as _, SeededEntropy};
use anamnesis_test_servers::fault_proxy::{FaultProfile, FaultProxy};

use crate::Outcome;
use crate::keystore::{KeyFault, rotate};
use crate::messages::Messages;
use crate::servers::Servers;
use crate::workers::{Checks, Workers};

/// How often each thing happens.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Plan {
    pub(crate) kills: u32,
    pub(crate) broker_restarts: u32,
    pub(crate) database_crashes: u32,
    /// Of the key store, of each kind in turn.
    pub(crate) key_faults: u32,
}

impl Plan {
    fn total(self) -> u32 {
        self.kills + self.broker_restarts + self.database_crashes + self.key_faults
    }
}

/// A part of the system that was away and is back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outage {
    Broker,
    Database,
    Keys,
    Line,
}

impl Outage {
    fn is_back(self, checks: Checks) -> bool {
        match self {
            Self::Broker => checks.broker,
            Self::Database => checks.store,
            Self::Keys => checks.keys,
            Self::Line => checks.all(),
        }
    }
}

pub(crate) struct Chaos {
    draws: SeededEntropy,
    plan: Plan,
    /// Between two disturbances, on the average.
    pause: Duration,
    pub(crate) done: Plan,
    /// Cuts, stalls, delays and truncations of lines.
    pub(crate) lines: u32,
    /// What happened to the key store, and how often.
    pub(crate) keys: BTreeMap<KeyFault, u32>,
    /// Messages that were stored although they arrived while the right key store was away: there must be none.
    pub(crate) stored_without_keys: usize,
    /// What of a portion is still to be sent.
    held: Vec<Vec<u8>>,
    /// From the return of what was gone until every worker that lived through it has it again.
    pub(crate) recoveries: BTreeMap<Outage, Vec<Duration>>,
}

impl Chaos {
    pub(crate) fn new(seed: u64, plan: Plan, pause: Duration) -> Self {
        let draws = SeededEntropy::new(seed);
        let (keys, recoveries) = (BTreeMap::new(), BTreeMap::new());
        Self {
            draws,
            plan,
            pause,
            done: Plan::default(),
            lines: 0,
            keys,
            stored_without_keys: 0,
            held: Vec::new(),
            recoveries,
        }
    }

    fn draw(&self, of: u64) -> u64 {
        let mut bytes = [0u8; 8];
        self.draws.fill(&mut bytes);
        u64::from_le_bytes(bytes) % of.max(1)
    }

    /// Sends the messages in portions, with something breaking after each.
    pub(crate) async fn rage(&mut self, servers: &Servers, workers: &mut Workers, messages: &Messages) -> Outcome<()> {
        let steps = self.plan.total().max(1) as usize;
        let mut portions = messages.all.chunks(messages.all.len().div_ceil(steps));
        while self.done.total() < self.plan.total() {
            if let Some(portion) = portions.next() {
                // The rest of it arrives while something is gone, or after it.
                let (now, then) = portion.split_at(portion.len().div_ceil(2));
                servers.publish(now).await?;
                self.held = then.to_vec();
            }
            let pause = u64::try_from(self.pause.as_millis()).unwrap_or(u64::MAX);
            tokio::time::sleep(Duration::from_millis(pause / 4 + self.draw(pause * 3 / 2))).await;
            workers.revive(servers)?;
            if self.draw(3) == 0 {
                self.line(servers, workers).await?;
            }
            self.blow(servers, workers).await?;
            servers.publish(&std::mem::take(&mut self.held)).await?;
        }
        for portion in portions {
            servers.publish(portion).await?;
        }
        Ok(())
    }

    /// One thing of the plan.
    async fn blow(&mut self, servers: &Servers, workers: &mut Workers) -> Outcome<()> {
        let left = |all: u32, done: u32| u64::from(all - done);
        let (kills, restarts) =
            (left(self.plan.kills, self.done.kills), left(self.plan.broker_restarts, self.done.broker_restarts));
        let crashes = left(self.plan.database_crashes, self.done.database_crashes);
        let keys = left(self.plan.key_faults, self.done.key_faults);
        let drawn = self.draw(kills + restarts + crashes + keys);
        if drawn >= kills + restarts + crashes {
            let fault = KeyFault::ALL[self.done.key_faults as usize % KeyFault::ALL.len()];
            self.key_fault(fault, servers, workers).await?;
            self.done.key_faults += 1;
            *self.keys.entry(fault).or_default() += 1;
        } else if drawn < kills {
            workers.kill(self.draw(64) as usize, servers)?;
            self.done.kills += 1;
        } else if drawn < kills + restarts {
            servers.restart_broker()?;
            self.done.broker_restarts += 1;
            self.recovered(Outage::Broker, servers, workers).await?;
        } else {
            servers.crash_database()?;
            self.done.database_crashes += 1;
            self.recovered(Outage::Database, servers, workers).await?;
        }
        Ok(())
    }

    async fn key_fault(&mut self, fault: KeyFault, servers: &Servers, workers: &mut Workers) -> Outcome<()> {
        let environment = servers.environment();
        if fault == KeyFault::Rotated {
            let killed = (self.draw(3) == 0).then(|| Duration::from_millis(100 + self.draw(600)));
            let which = if self.draw(2) == 0 { "--master" } else { "--data" };
            return rotate(which, &environment, killed);
        }
        let admin = servers.admin()?;
        if fault == KeyFault::Restored {
            // What came since makes it a copy of an hour ago.
            servers.keys.copy(admin.as_deref()).await?;
            rotate("--data", &environment, None)?;
        }
        let draw = self.draw(6);
        servers.keys.take_away(fault, draw, admin.as_deref()).await?;
        self.stopped(servers, workers).await?;
        servers.keys.bring_back(fault, draw, admin.as_deref()).await?;
        self.recovered(Outage::Keys, servers, workers).await
    }

    /// Waits until no worker takes anything in, kills one of them now and then, and sees that nothing is stored.
    async fn stopped(&mut self, servers: &Servers, workers: &mut Workers) -> Outcome<()> {
        let began = Instant::now();
        while workers.all_checks().await.values().any(|checks| checks.keys) {
            if began.elapsed() > Duration::from_secs(30) {
                return Err("workers go on without the right key store".into());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        if self.draw(2) == 0 {
            workers.kill(self.draw(64) as usize, servers)?;
        }
        // What had its keys already goes on to its commit, which may take as long as the provider's worst answer.
        tokio::time::sleep(BEGINNING).await;
        let (in_hand, before) = (servers.begun().await?, servers.stored().await?);
        servers.publish(&std::mem::take(&mut self.held)).await?;
        tokio::time::sleep(Duration::from_millis(700 + self.draw(1_000))).await;
        workers.revive(servers)?;
        let after = servers.stored().await?;
        for one in after.iter().filter(|one| !before.contains(*one) && !in_hand.contains(*one)) {
            self.stored_without_keys += 1;
            let (passed, digits) = (began.elapsed(), hex::encode(one));
            eprintln!("stored without keys: message {digits}, {} ms after the fault", passed.as_millis());
        }
        Ok(())
    }

    /// Something happens to a line, and passes.
    async fn line(&mut self, servers: &Servers, workers: &mut Workers) -> Outcome<()> {
        let relay: &FaultProxy = match (&servers.database, self.draw(2)) {
            (Some(relay), 1) => relay,
            _ => &servers.broker,
        };
        self.lines += 1;
        match self.draw(4) {
            0 => relay.cut(),
            1 => relay.set(FaultProfile::Stalled),
            2 => relay.set(FaultProfile::Delayed(Duration::from_millis(40))),
            _ => relay.set(FaultProfile::Truncating),
        }
        tokio::time::sleep(Duration::from_millis(300 + self.draw(1_500))).await;
        relay.set(FaultProfile::Clear);
        if self.draw(8) == 0 {
            self.recovered(Outage::Line, servers, workers).await?;
        }
        Ok(())
    }

    /// Waits until every worker is ready, and notes how long those that lived through it took to have again what was
    /// gone. Workers that were just started take their time for other reasons.
    async fn recovered(&mut self, outage: Outage, servers: &Servers, workers: &mut Workers) -> Outcome<()> {
        let (began, witnesses) = (Instant::now(), workers.processes());
        let mut back = None;
        loop {
            workers.revive(servers)?;
            let seen = workers.all_checks().await;
            let mut witnessed = witnesses.iter().filter_map(|process| seen.get(process));
            if back.is_none() && witnessed.all(|checks| outage.is_back(*checks)) {
                back = Some(began.elapsed());
            }
            if seen.values().all(|checks| checks.all()) {
                break;
            }
            if began.elapsed() > Duration::from_secs(60) {
                return Err("the workers do not become ready again".into());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        self.recoveries.entry(outage).or_default().extend(back);
        Ok(())
    }
}

/// So long a message takes at most from the look for its keys to the record that work on it begins.
const BEGINNING: Duration = Duration::from_secs(3);

/// A line that dies without a word, under the heartbeat that ships: how long until a worker says so, and how long until
/// it consumes again once the line lives.
pub(crate) async fn half_open(servers: &Servers) -> Outcome<(Duration, Duration)> {
    let mut workers = Workers::start(servers, 1, &[("ANAMNESIS__BROKER__HEARTBEAT_SECONDS", "10")])?;
    let consumes = async |workers: &Workers| workers.all_checks().await.values().all(|checks| checks.broker);
    let waited = async |workers: &Workers, wanted: bool| {
        let began = Instant::now();
        while consumes(workers).await != wanted {
            if began.elapsed() > Duration::from_secs(90) {
                return Err("a line that died or came back is not noticed");
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(began.elapsed())
    };
    waited(&workers, true).await?;
    // Wherever between two heartbeats the line dies.
    tokio::time::sleep(Duration::from_secs(3)).await;
    servers.broker.set(FaultProfile::Stalled);
    let noticed = waited(&workers, false).await?;
    servers.broker.set(FaultProfile::Clear);
    let back = waited(&workers, true).await?;
    workers.terminate();
    Ok((noticed, back))
}

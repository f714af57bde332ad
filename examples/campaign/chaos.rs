//! What goes wrong, and when: drawn from a seed.

use std::time::{Duration, Instant};

use anamnesis::bench::relay::{TcpRelay, Weather};
use anamnesis::clock::{Entropy as _, SeededEntropy};

use crate::Outcome;
use crate::messages::Messages;
use crate::servers::Servers;
use crate::workers::Workers;

/// How often each thing happens.
#[derive(Debug, Clone, Copy, Default)]
pub struct Plan {
    pub kills: u32,
    pub broker_restarts: u32,
    pub database_crashes: u32,
}

impl Plan {
    fn total(self) -> u32 {
        self.kills + self.broker_restarts + self.database_crashes
    }
}

pub struct Chaos {
    draws: SeededEntropy,
    plan: Plan,
    pub done: Plan,
    /// Cuts, stalls, delays and truncations of lines.
    pub lines: u32,
    /// From clear weather to every worker ready again.
    pub recoveries: Vec<Duration>,
}

impl Chaos {
    pub fn new(seed: u64, plan: Plan) -> Self {
        Self { draws: SeededEntropy::new(seed), plan, done: Plan::default(), lines: 0, recoveries: Vec::new() }
    }

    fn draw(&self, of: u64) -> u64 {
        let mut bytes = [0u8; 8];
        self.draws.fill(&mut bytes);
        u64::from_le_bytes(bytes) % of.max(1)
    }

    /// Sends the messages in portions, with something breaking after each.
    pub async fn rage(&mut self, servers: &Servers, workers: &mut Workers, messages: &Messages) -> Outcome<()> {
        let steps = self.plan.total().max(1) as usize;
        let mut portions = messages.all.chunks(messages.all.len().div_ceil(steps));
        while self.done.total() < self.plan.total() {
            if let Some(portion) = portions.next() {
                servers.publish(portion).await?;
            }
            tokio::time::sleep(Duration::from_millis(100 + self.draw(900))).await;
            workers.revive(servers)?;
            if self.draw(3) == 0 {
                self.line(servers, workers).await?;
            }
            self.blow(servers, workers).await?;
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
        let drawn = self.draw(kills + restarts + crashes);
        if drawn < kills {
            workers.kill(self.draw(64) as usize, servers)?;
            self.done.kills += 1;
        } else if drawn < kills + restarts {
            servers.restart_broker()?;
            self.done.broker_restarts += 1;
            self.recovered(servers, workers).await?;
        } else {
            servers.crash_database()?;
            self.done.database_crashes += 1;
            self.recovered(servers, workers).await?;
        }
        Ok(())
    }

    /// Something happens to a line, and passes.
    async fn line(&mut self, servers: &Servers, workers: &mut Workers) -> Outcome<()> {
        let relay: &TcpRelay = match (&servers.database, self.draw(2)) {
            (Some(relay), 1) => relay,
            _ => &servers.broker,
        };
        self.lines += 1;
        match self.draw(4) {
            0 => relay.cut(),
            1 => relay.set(Weather::Stalled),
            2 => relay.set(Weather::Delayed(Duration::from_millis(40))),
            _ => relay.set(Weather::Truncating),
        }
        tokio::time::sleep(Duration::from_millis(300 + self.draw(1_500))).await;
        relay.set(Weather::Clear);
        if self.draw(8) == 0 {
            self.recovered(servers, workers).await?;
        }
        Ok(())
    }

    /// Waits until every worker is ready, and notes how long that took.
    async fn recovered(&mut self, servers: &Servers, workers: &mut Workers) -> Outcome<()> {
        let began = Instant::now();
        let (mut ended, mut from) = (workers.self_ended, began);
        while !workers.ready().await {
            workers.revive(servers)?;
            // A worker that the deadly message ended in between is another story.
            if workers.self_ended != ended {
                (ended, from) = (workers.self_ended, Instant::now());
            }
            if began.elapsed() > Duration::from_secs(60) {
                return Err("the workers do not become ready again".into());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        self.recoveries.push(from.elapsed());
        Ok(())
    }
}

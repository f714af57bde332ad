//! What the consumer tells about itself: to the probes, without asking the broker.

use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Shared between the supervisor and the probes.
#[derive(Debug, Default)]
pub struct ConsumerStatus(Mutex<StatusState>);

#[derive(Debug, Default)]
pub(crate) struct StatusState {
    connected: bool,
    code: Option<&'static str>,
    stalls: u32,
    arrivals: u64,
    /// When the batches in work began.
    working: Vec<Instant>,
}

/// A batch that takes longer is stuck: no limit of a stage is near it.
const STUCK: Duration = Duration::from_secs(900);
/// Consecutive sessions that were idle despite a backlog before the process counts as dead: the first is answered by
/// another connection.
const STALLS: u32 = 2;

impl ConsumerStatus {
    fn state(&self) -> std::sync::MutexGuard<'_, StatusState> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// `None` while it consumes, otherwise why not.
    pub fn trouble(&self) -> Option<&'static str> {
        let state = self.state();
        if state.connected { None } else { Some(state.code.unwrap_or("connecting")) }
    }

    /// Why the process should be replaced, if it should. A broker that is away is no reason.
    pub fn dead(&self) -> Option<&'static str> {
        let state = self.state();
        if state.stalls >= STALLS {
            return Some("idle_with_backlog");
        }
        state.working.iter().any(|since| since.elapsed() > STUCK).then_some("stuck")
    }

    pub(super) fn connected(&self) {
        let mut state = self.state();
        state.connected = true;
        state.code = None;
    }

    pub(super) fn lost(&self, code: &'static str) {
        let mut state = self.state();
        state.connected = false;
        state.code = Some(code);
    }

    pub(super) fn arrived(&self) {
        let mut state = self.state();
        state.stalls = 0;
        state.arrivals += 1;
    }

    /// Messages that arrived since the start.
    pub(super) fn arrivals(&self) -> u64 {
        self.state().arrivals
    }

    pub(super) fn stalled(&self) {
        self.state().stalls += 1;
    }

    pub(super) fn began(&self) -> Instant {
        let now = Instant::now();
        self.state().working.push(now);
        now
    }

    pub(super) fn ended(&self, began: Instant) {
        let mut state = self.state();
        if let Some(at) = state.working.iter().position(|one| *one == began) {
            state.working.swap_remove(at);
        }
    }

    /// Batches in work.
    pub(crate) fn working(&self) -> usize {
        self.state().working.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broker_that_is_away_makes_it_unready_and_not_dead() {
        let status = ConsumerStatus::default();
        status.lost("connection_broken");
        assert_eq!((status.trouble(), status.dead()), (Some("connection_broken"), None));
        status.connected();
        assert_eq!(status.trouble(), None);
    }

    #[test]
    fn standing_idle_beside_a_backlog_again_and_again_is_death() {
        let status = ConsumerStatus::default();
        status.connected();
        status.stalled();
        assert_eq!(status.dead(), None);
        status.stalled();
        assert_eq!(status.dead(), Some("idle_with_backlog"));
        status.arrived();
        assert_eq!(status.dead(), None);
    }
}

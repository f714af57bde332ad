//! Circuit breaker: a provider that fails many times in a row is left alone for a while, then tried with a single
//! request. Waiting documents cost nothing meanwhile, and a recovering provider is not met by all of them at once.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::EmbedError;
use anamnesis_config::embedding_limits::BreakerSettings;
use anamnesis_core::clock::Clock;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CircuitState {
    Closed {
        failures: u32,
    },
    /// Nothing is sent between `since` and `since + rest`.
    Open {
        since: DateTime<Utc>,
        rest: Duration,
    },
    /// One request is under way to see whether the provider is back; `rest` is what preceded it.
    Probing {
        since: DateTime<Utc>,
        rest: Duration,
    },
}

/// The breaker of one provider.
pub(crate) struct Breaker {
    settings: BreakerSettings,
    clock: Arc<dyn Clock>,
    state: Mutex<(u64, CircuitState)>,
}

/// Permission to send one request. Report the outcome; dropped without one (cancelled), it counts as if never given.
#[must_use]
pub(crate) struct CircuitPermit<'b> {
    breaker: &'b Breaker,
    epoch: u64,
    reported: bool,
}

impl Breaker {
    pub(crate) fn new(settings: BreakerSettings, clock: Arc<dyn Clock>) -> Self {
        Self { settings, clock, state: Mutex::new((0, CircuitState::Closed { failures: 0 })) }
    }

    /// # Errors
    /// [`EmbedError::CircuitOpen`] with the rest that remains.
    pub(crate) fn admit(&self) -> Result<CircuitPermit<'_>, EmbedError> {
        let now = self.clock.now();
        let mut state = self.lock();
        match state.1 {
            CircuitState::Closed { .. } => {}
            CircuitState::Open { since, rest } => {
                remaining(since, rest, now).map_or(Ok(()), |after| Err(EmbedError::CircuitOpen { after }))?;
                *state = (state.0 + 1, CircuitState::Probing { since: now, rest });
            }
            CircuitState::Probing { rest, .. } => {
                return Err(EmbedError::CircuitOpen { after: rest.min(PROBE_ANSWERS) });
            }
        }
        Ok(CircuitPermit { breaker: self, epoch: state.0, reported: false })
    }

    /// How long nothing will be sent, without taking the probe: for callers about to wait for a rate limit.
    ///
    /// # Errors
    /// [`EmbedError::CircuitOpen`] with the rest that remains.
    pub(crate) fn check(&self) -> Result<(), EmbedError> {
        match self.lock().1 {
            CircuitState::Open { since, rest } => {
                remaining(since, rest, self.clock.now()).map_or(Ok(()), |after| Err(EmbedError::CircuitOpen { after }))
            }
            _ => Ok(()),
        }
    }

    /// Is the provider resting or being probed?
    pub(crate) fn is_open(&self) -> bool {
        !matches!(self.lock().1, CircuitState::Closed { .. })
    }

    fn lock(&self) -> MutexGuard<'_, (u64, CircuitState)> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// A request during the probe is refused with this delay: about when the probe has its answer.
const PROBE_ANSWERS: Duration = Duration::from_secs(1);

/// None when the rest is over. A clock that was set back does not prolong it.
fn remaining(since: DateTime<Utc>, rest: Duration, now: DateTime<Utc>) -> Option<Duration> {
    let passed = (now - since).to_std().ok()?;
    rest.checked_sub(passed).filter(|left| !left.is_zero())
}

impl CircuitPermit<'_> {
    /// The provider answered: it is well, whatever it said of this input.
    pub(crate) fn answered(mut self) {
        self.reported = true;
        let mut state = self.breaker.lock();
        if state.0 == self.epoch {
            let epoch = state.0 + u64::from(matches!(state.1, CircuitState::Probing { .. }));
            *state = (epoch, CircuitState::Closed { failures: 0 });
        }
    }

    /// The provider failed; `after` is what it asked for (Retry-After).
    pub(crate) fn failed(mut self, after: Option<Duration>) {
        self.reported = true;
        let breaker = self.breaker;
        let now = breaker.clock.now();
        let longest = breaker.settings.max_open_time();
        let mut state = breaker.lock();
        if state.0 != self.epoch {
            return; // an answer from before the circuit opened says nothing of now
        }
        let rest = match state.1 {
            CircuitState::Closed { failures } if failures + 1 < breaker.settings.failures => {
                state.1 = CircuitState::Closed { failures: failures + 1 };
                return;
            }
            CircuitState::Closed { .. } => breaker.settings.open_time(),
            CircuitState::Probing { rest, .. } | CircuitState::Open { rest, .. } => rest.saturating_mul(2),
        };
        let rest = rest.max(after.unwrap_or_default()).min(longest);
        *state = (state.0 + 1, CircuitState::Open { since: now, rest });
        tracing::warn!(
            code = "embedding_circuit_open",
            open_ms = u64::try_from(rest.as_millis()).unwrap_or(u64::MAX),
            "the circuit breaker of the embedding provider is open"
        );
    }
}

impl Drop for CircuitPermit<'_> {
    fn drop(&mut self) {
        if self.reported {
            return;
        }
        let mut state = self.breaker.lock();
        if let (epoch, CircuitState::Probing { since, rest }) = *state
            && epoch == self.epoch
        {
            // The probe was cancelled: the rest is over, the next request probes.
            let over = since - chrono::Duration::from_std(rest).unwrap_or_default();
            *state = (epoch + 1, CircuitState::Open { since: over, rest });
        }
    }
}

#[cfg(test)]
#[path = "breaker_tests.rs"]
mod tests;

//! How many tokens an hour may cost.

use std::sync::{Arc, Mutex};

use chrono::{DateTime, Duration, Utc};

use super::LlmOutcome;
use anamnesis_core::clock::Clock;

/// Tokens of the hour that runs; a new hour begins with the first question after the last one's end.
pub(crate) struct TokenBudget {
    per_hour: u64,
    clock: Arc<dyn Clock>,
    hour: Mutex<(DateTime<Utc>, u64)>,
}

impl TokenBudget {
    /// `per_hour` of 0 sets no limit.
    pub(crate) fn new(per_hour: u64, clock: Arc<dyn Clock>) -> Self {
        let begun = clock.now();
        Self { per_hour, clock, hour: Mutex::new((begun, 0)) }
    }

    /// Sets tokens aside for a question and its longest answer.
    ///
    /// # Errors
    /// [`LlmOutcome::Budget`] when the hour has not so many left.
    pub(crate) fn take(&self, tokens: u64) -> Result<(), LlmOutcome> {
        let now = self.clock.now();
        let mut hour = self.hour.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if now - hour.0 >= Duration::hours(1) {
            *hour = (now, 0);
        }
        if self.per_hour > 0 && hour.1.saturating_add(tokens) > self.per_hour {
            return Err(LlmOutcome::Budget);
        }
        hour.1 = hour.1.saturating_add(tokens);
        Ok(())
    }

    /// The tokens that were really used, where the server reports them.
    pub(crate) fn record_usage(&self, reserved: u64, used: Option<u64>) {
        let Some(used) = used else { return };
        let mut hour = self.hour.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        hour.1 = hour.1.saturating_sub(reserved).saturating_add(used);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anamnesis_core::clock::ManualClock;

    #[test]
    fn an_hour_gives_what_it_has_and_the_next_one_begins_anew() {
        let clock = Arc::new(ManualClock::at("2026-03-02T10:00:00Z".parse().unwrap()));
        let budget = TokenBudget::new(100, Arc::clone(&clock) as Arc<dyn Clock>);
        assert_eq!(budget.take(60), Ok(()));
        assert_eq!(budget.take(60), Err(LlmOutcome::Budget));
        budget.record_usage(60, Some(10));
        assert_eq!(budget.take(60), Ok(()));
        clock.advance(Duration::minutes(61));
        assert_eq!(budget.take(100), Ok(()));
        assert_eq!(TokenBudget::new(0, clock).take(u64::MAX), Ok(()));
    }
}

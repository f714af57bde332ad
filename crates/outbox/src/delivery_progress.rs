//! What became of a window of events at all destinations.

use std::collections::BTreeMap;
use std::time::Duration;

use super::DeliveryOutcome;

/// How long an event rests that a destination did not take, in seconds: doubling from the first to the most. A broker is
/// asked again soon; a callback that goes on refusing is asked every quarter of an hour.
const FIRST: u64 = 2;
const MOST_OF_THE_EXCHANGE: u64 = 30;
const MOST_OF_A_CALLBACK: u64 = 900;

/// What marks a refusal among the names.
const REFUSED: &str = ":refused";

/// One event on its way to all destinations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DeliveryProgress {
    /// The destinations that are done with it; true where that was a refusal.
    taken: BTreeMap<String, bool>,
    /// An attempt of this pass failed.
    pub(crate) failed: bool,
    rest: Option<Duration>,
}

impl DeliveryProgress {
    /// From the names of those that were done with it before, as [`DeliveryProgress::taken`] wrote them.
    pub(crate) fn after(taken: &str) -> Self {
        let entry = |entry: &str| match entry.strip_suffix(REFUSED) {
            Some(name) => (name.to_owned(), true),
            None => (entry.to_owned(), false),
        };
        Self { taken: taken.split_whitespace().map(entry).collect(), ..Self::default() }
    }

    pub(crate) fn has(&self, destination: &str) -> bool {
        self.taken.contains_key(destination)
    }

    /// Whether a destination refused it for good, now or earlier.
    pub(crate) fn is_refused(&self) -> bool {
        self.taken.values().any(|refused| *refused)
    }

    /// Notes a destination's answer to the attempt of this number, which counts from 1.
    pub(crate) fn note(&mut self, destination: &str, taken: DeliveryOutcome, attempts: i64) {
        let rest = match taken {
            DeliveryOutcome::Accepted | DeliveryOutcome::Refused => {
                self.taken.insert(destination.to_owned(), taken == DeliveryOutcome::Refused);
                return;
            }
            DeliveryOutcome::Failed => {
                self.failed = true;
                resting(destination, attempts)
            }
            DeliveryOutcome::Paused(left) => left,
        };
        // Whoever can be asked first is asked then; the others are still resting and cost nothing.
        self.rest = Some(self.rest.map_or(rest, |earlier| earlier.min(rest)));
    }

    /// Whether every destination has taken it; otherwise how long it rests.
    pub(crate) fn rest(&self) -> Option<Duration> {
        self.rest
    }

    /// The names of those that are done with it, as they are stored: with blanks between them, a refusal marked.
    pub(crate) fn taken(&self) -> String {
        let entry = |(name, refused): (&String, &bool)| format!("{name}{}", if *refused { REFUSED } else { "" });
        self.taken.iter().map(entry).collect::<Vec<_>>().join(" ")
    }
}

fn resting(destination: &str, attempts: i64) -> Duration {
    let most =
        if destination == super::exchange_destination::EXCHANGE { MOST_OF_THE_EXCHANGE } else { MOST_OF_A_CALLBACK };
    let doubled = u32::try_from(attempts.clamp(1, 12) - 1).unwrap_or(0);
    Duration::from_secs((FIRST << doubled).min(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_rests_until_the_first_destination_can_be_asked_again() {
        let mut progress = DeliveryProgress::after("exchange");
        assert!(progress.has("exchange") && !progress.has("hook"));
        progress.note("hook", DeliveryOutcome::Failed, 4);
        assert_eq!((progress.rest(), progress.failed), (Some(Duration::from_secs(16)), true));
        progress.note("other", DeliveryOutcome::Paused(Duration::from_secs(3)), 4);
        assert_eq!(progress.rest(), Some(Duration::from_secs(3)));
        progress.note("third", DeliveryOutcome::Refused, 4);
        assert_eq!(progress.taken(), "exchange third:refused");
        let later = DeliveryProgress::after(&progress.taken());
        assert!(later.has("third") && later.is_refused() && !DeliveryProgress::after("exchange").is_refused());
    }

    #[test]
    fn a_callback_is_asked_less_and_less_often_and_the_broker_soon() {
        assert_eq!(resting("hook", 1), Duration::from_secs(2));
        assert_eq!(resting("hook", 40), Duration::from_secs(900));
        assert_eq!(resting("exchange", 40), Duration::from_secs(30));
    }
}

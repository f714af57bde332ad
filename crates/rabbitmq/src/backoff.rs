//! Pauses between attempts: doubling up to a limit, each drawn at random from its upper half, so that workers that lost
//! the same broker do not come back in step.

use std::sync::Arc;
use std::time::Duration;

use anamnesis_core::clock::Entropy;

/// The pauses of one loop.
#[derive(Clone)]
pub struct Backoff {
    first: Duration,
    longest: Duration,
    next: Duration,
    entropy: Arc<dyn Entropy>,
}

impl Backoff {
    pub fn new(first: Duration, longest: Duration, entropy: Arc<dyn Entropy>) -> Self {
        Self { first, longest, next: first, entropy }
    }

    /// The next pause.
    pub fn pause(&mut self) -> Duration {
        let mut bytes = [0u8; 4];
        self.entropy.fill(&mut bytes);
        let share = 0.5 + f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX) / 2.0;
        let pause = self.next.mul_f64(share);
        self.next = (self.next * 2).min(self.longest);
        pause
    }

    /// It worked: the next trouble starts with a short pause again.
    pub fn reset(&mut self) {
        self.next = self.first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anamnesis_core::clock::SeededEntropy;

    #[test]
    fn pauses_double_up_to_the_limit_and_are_never_in_step() {
        let (first, longest) = (Duration::from_millis(100), Duration::from_secs(2));
        let mut one = Backoff::new(first, longest, Arc::new(SeededEntropy::new(1)));
        let mut other = Backoff::new(first, longest, Arc::new(SeededEntropy::new(2)));
        let pauses: Vec<Duration> = (0..8).map(|_| one.pause()).collect();
        for (n, pause) in pauses.iter().enumerate() {
            let whole = (first * (1 << n)).min(longest);
            assert!(*pause >= whole / 2 && *pause <= whole, "{n}: {pause:?}");
        }
        assert_ne!(pauses, (0..8).map(|_| other.pause()).collect::<Vec<_>>());
        one.reset();
        assert!(one.pause() <= first);
    }
}

//! Time, randomness and ids as parameters. The only file that may ask the machine for any of them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};

use chrono::{DateTime, TimeZone, Utc};
use uuid::Uuid;

/// An instant as both engines store it: microseconds since the Unix epoch, UTC.
pub fn micros(at: DateTime<Utc>) -> i64 {
    at.timestamp_micros()
}

/// The instant that [`micros`] stored. Out-of-range values (beyond the year 262000) give the epoch.
pub fn from_micros(at: i64) -> DateTime<Utc> {
    Utc.timestamp_micros(at).single().unwrap_or_default()
}

/// Cuts an instant to the microsecond, the precision of both stores, so that reading gives the written value.
pub(crate) fn truncated(at: DateTime<Utc>) -> DateTime<Utc> {
    from_micros(micros(at))
}

/// Where "now" comes from. Always microsecond precision.
pub trait Clock: Send + Sync {
    fn now(&self) -> DateTime<Utc>;
}

/// The machine's clock.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods)] // the one place
    fn now(&self) -> DateTime<Utc> {
        truncated(Utc::now())
    }
}

/// A clock that moves only when it is set: tests, `--as-of`, simulated runs.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    pub fn at(at: DateTime<Utc>) -> Self {
        Self(AtomicI64::new(micros(at)))
    }

    pub fn set(&self, at: DateTime<Utc>) {
        self.0.store(micros(at), Ordering::SeqCst);
    }

    pub fn advance(&self, by: chrono::Duration) {
        self.0.fetch_add(by.num_microseconds().unwrap_or(0), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> DateTime<Utc> {
        from_micros(self.0.load(Ordering::SeqCst))
    }
}

/// Where random bytes come from: keys, nonces, the random part of a version 7 id, jitter.
pub trait Entropy: Send + Sync {
    fn fill(&self, bytes: &mut [u8]);
}

/// The operating system's generator.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        // A machine without randomness can encrypt nothing: stopping is the only safe answer.
        aws_lc_rs::rand::fill(bytes).expect("the operating system gives random bytes");
    }
}

/// A repeatable generator (SplitMix64) for tests and simulations. Never for keys of real patients.
#[derive(Debug)]
pub struct SeededEntropy(Mutex<u64>);

impl SeededEntropy {
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(seed))
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        // A poisoned lock holds a usable state: a panic in one test must not end the others.
        let mut state = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        for chunk in bytes.chunks_mut(8) {
            *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = *state;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^= z >> 31;
            chunk.copy_from_slice(&z.to_le_bytes()[..chunk.len()]);
        }
    }
}

/// A version 7 id: ordered by `at`, random in the rest. For rows that no document yields.
pub fn ordered_id(at: DateTime<Utc>, entropy: &dyn Entropy) -> Uuid {
    let mut random = [0u8; 10];
    entropy.fill(&mut random);
    // A version 7 id cannot express an instant before 1970.
    let millis = u64::try_from(at.timestamp_millis()).unwrap_or(0);
    uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
}

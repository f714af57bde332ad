use chrono::TimeZone;
use proptest::prelude::*;

use super::*;
use anamnesis_core::clock::ManualClock;

const SETTINGS: BreakerSettings = BreakerSettings { failures: 3, open_ms: 1_000, max_open_ms: 8_000 };

fn breaker() -> (Arc<ManualClock>, Breaker) {
    let clock = Arc::new(ManualClock::at(Utc.with_ymd_and_hms(2026, 1, 1, 0, 0, 0).unwrap()));
    (clock.clone(), Breaker::new(SETTINGS, clock))
}

fn open(breaker: &Breaker) {
    for _ in 0..SETTINGS.failures {
        breaker.admit().unwrap().failed(None);
    }
}

fn pass_millis(clock: &ManualClock, millis: i64) {
    clock.advance(chrono::Duration::milliseconds(millis));
}

#[test]
fn it_opens_after_failures_in_a_row_and_says_how_long() {
    let (clock, breaker) = breaker();
    breaker.admit().unwrap().failed(None);
    breaker.admit().unwrap().failed(None);
    breaker.admit().unwrap().answered();
    open(&breaker);
    pass_millis(&clock, 400);
    assert_eq!(breaker.admit().err(), Some(EmbedError::CircuitOpen { after: Duration::from_millis(600) }));
    assert_eq!(breaker.check().err(), Some(EmbedError::CircuitOpen { after: Duration::from_millis(600) }));
}

#[test]
fn after_the_rest_one_probe_goes_and_its_success_closes() {
    let (clock, breaker) = breaker();
    open(&breaker);
    pass_millis(&clock, 1_000);
    let probe = breaker.admit().unwrap();
    assert!(matches!(breaker.admit().err(), Some(EmbedError::CircuitOpen { .. })));
    probe.answered();
    assert!(!breaker.is_open());
    breaker.admit().unwrap().answered();
}

#[test]
fn a_failed_probe_doubles_the_rest_up_to_the_longest() {
    let (clock, breaker) = breaker();
    open(&breaker);
    for rest in [1_000, 2_000, 4_000, 8_000, 8_000] {
        pass_millis(&clock, rest - 1);
        assert!(breaker.admit().is_err(), "rest {rest}");
        pass_millis(&clock, 1);
        breaker.admit().unwrap().failed(None);
    }
}

#[test]
fn a_cancelled_probe_lets_the_next_request_probe() {
    let (clock, breaker) = breaker();
    open(&breaker);
    pass_millis(&clock, 1_000);
    drop(breaker.admit().unwrap());
    breaker.admit().unwrap().answered();
    assert!(!breaker.is_open());
}

#[test]
fn a_late_answer_from_before_the_opening_neither_closes_nor_prolongs() {
    let (clock, breaker) = breaker();
    let (early, other) = (breaker.admit().unwrap(), breaker.admit().unwrap());
    open(&breaker);
    early.answered();
    assert!(breaker.is_open());
    pass_millis(&clock, 900);
    other.failed(Some(Duration::from_secs(8)));
    pass_millis(&clock, 100);
    breaker.admit().unwrap().answered();
}

#[test]
fn what_the_provider_asks_for_prolongs_the_rest_within_the_longest() {
    let (clock, breaker) = breaker();
    breaker.admit().unwrap().failed(None);
    breaker.admit().unwrap().failed(None);
    breaker.admit().unwrap().failed(Some(Duration::from_secs(3_600)));
    assert_eq!(breaker.check().err(), Some(EmbedError::CircuitOpen { after: Duration::from_secs(8) }));
    pass_millis(&clock, 8_000);
    breaker.check().unwrap();
}

#[test]
fn a_clock_that_was_set_back_does_not_lock_the_provider_out() {
    let (clock, breaker) = breaker();
    open(&breaker);
    pass_millis(&clock, -3_600_000);
    breaker.admit().unwrap().answered();
}

proptest! {
    /// Whatever happens: never two probes at once, never a send within the rest, and time alone always lets a probe go.
    #[test]
    fn it_never_locks_up_and_never_lets_two_probes_go(steps in prop::collection::vec((0u8..4, 0i64..3_000), 1..200)) {
        let (clock, breaker) = breaker();
        let mut held: Vec<CircuitPermit<'_>> = Vec::new();
        for (step, millis) in steps {
            match step {
                0 => {
                    let was_open = breaker.is_open();
                    if let Ok(pass) = breaker.admit() {
                        if was_open {
                            prop_assert!(breaker.admit().is_err(), "two probes");
                        }
                        held.push(pass);
                    }
                }
                1 => if let Some(pass) = held.pop() { pass.failed(None) },
                2 => if let Some(pass) = held.pop() { pass.answered() },
                _ => pass_millis(&clock, millis),
            }
        }
        held.clear();
        pass_millis(&clock, 8_000);
        let last = breaker.admit();
        prop_assert!(last.is_ok());
        last.unwrap().answered();
        prop_assert!(!breaker.is_open());
    }
}

use chrono::{Duration, TimeZone};
use proptest::prelude::*;

use super::*;

fn policy() -> DecayPolicy {
    DecayPolicy::default()
}

fn at_creation(creation: CreationFacts) -> (f64, &'static str) {
    let initial = initial(&creation).unwrap();
    (initial.confidence, initial.basis.code())
}

#[test]
fn confidence_at_creation_follows_the_order_proxy_given_cognitive_state_default() {
    let full = CreationFacts { is_proxy: true, given: Some(0.2), cognitive_state: Some(30.0), formed_from: Some(0.1) };
    assert_eq!(at_creation(full), (1.0, "proxy"));
    assert_eq!(at_creation(CreationFacts { is_proxy: false, ..full }), (0.2, "given"));
    assert_eq!(at_creation(CreationFacts { is_proxy: false, given: None, ..full }), (0.1, "formed"));
    let plain = CreationFacts { cognitive_state: Some(30.0), ..CreationFacts::default() };
    assert_eq!(at_creation(plain), (0.3, "cognitive_state"));
    assert_eq!(at_creation(CreationFacts::default()), (1.0, "default"));
}

#[test]
fn a_given_one_is_a_value_and_not_a_sentinel() {
    let creation = CreationFacts { given: Some(1.0), cognitive_state: Some(25.0), ..CreationFacts::default() };
    assert_eq!(at_creation(creation), (1.0, "given"));
    assert_eq!(at_creation(CreationFacts { given: Some(0.0), ..creation }), (0.0, "given"));
}

#[test]
fn the_five_cognitive_states_of_the_seed_map_to_quarters() {
    for (state, expected) in [(0.0, 0.0), (25.0, 0.25), (50.0, 0.5), (75.0, 0.75), (100.0, 1.0)] {
        let creation = CreationFacts { cognitive_state: Some(state), ..CreationFacts::default() };
        assert_eq!(at_creation(creation).0, expected);
    }
}

#[test]
fn what_consolidation_forms_never_starts_at_one() {
    let formed = |weakest| at_creation(CreationFacts { formed_from: Some(weakest), ..CreationFacts::default() });
    assert_eq!(formed(1.0), (0.8, "formed"));
    assert_eq!(formed(0.65), (0.65, "formed"));
    let with_state = CreationFacts { formed_from: Some(0.9), cognitive_state: Some(100.0), ..CreationFacts::default() };
    assert_eq!(at_creation(with_state), (0.8, "formed"));
}

#[test]
fn numbers_outside_their_range_are_refused_by_field() {
    for given in [-0.01, 1.01, f64::NAN, f64::INFINITY] {
        let refused = initial(&CreationFacts { given: Some(given), ..CreationFacts::default() }).unwrap_err();
        assert_eq!(refused.field(), "confidence");
    }
    for state in [-1.0, 100.5, f64::NAN] {
        let refused = initial(&CreationFacts { cognitive_state: Some(state), ..CreationFacts::default() }).unwrap_err();
        assert_eq!(refused.field(), "cognitive_state");
    }
}

#[test]
fn each_kind_fades_at_its_own_rate_to_its_own_floor() {
    let after = |kind, days| effective(&policy(), kind, 0.9, days, false);
    assert_eq!(after(Kind::Belief, 300.0), 0.8);
    assert_eq!(after(Kind::Episode, 300.0), 0.8);
    assert_eq!(after(Kind::Goal, 300.0), 0.8);
    assert_eq!(after(Kind::Relationship, 300.0), 0.8);
    assert_eq!(after(Kind::Note, 300.0), 0.75);
    assert_eq!(after(Kind::Value, 300.0), 0.875);
    assert_eq!(after(Kind::Drive, 300.0), 0.875);
    assert_eq!(after(Kind::Raw, 30_000.0), 0.9);
    let floors = [(Kind::Belief, 0.5), (Kind::Note, 0.4), (Kind::Value, 0.7), (Kind::Drive, 0.6)];
    for (kind, floor) in floors {
        assert_eq!(after(kind, 100_000.0), floor);
    }
}

#[test]
fn the_first_day_costs_nothing_and_days_are_whole() {
    let after = |days| effective(&policy(), Kind::Note, 0.9, days, false);
    assert_eq!(after(0.999_988), 0.9); // one second before
    assert_eq!(after(1.0), 0.8995);
    assert_eq!(after(1.999_988), 0.8995);
    assert_eq!(after(-5.0), 0.9);
}

#[test]
fn age_is_counted_from_the_last_verification_and_is_never_negative() {
    let start = Utc.with_ymd_and_hms(2026, 3, 1, 12, 0, 0).unwrap();
    let second = Duration::seconds(1);
    assert_eq!(age_days(start, None, start + Duration::days(1) - second), 0);
    assert_eq!(age_days(start, None, start + Duration::days(1)), 1);
    assert_eq!(age_days(start, Some(start + Duration::days(10)), start + Duration::days(11)), 1);
    assert_eq!(age_days(start, None, start - Duration::days(3)), 0);
}

#[test]
fn protected_memories_and_long_lived_facts_do_not_fade() {
    assert_eq!(effective(&policy(), Kind::Belief, 0.9, 5000.0, true), 0.9);
    assert!(is_protected(false, Class::LongLivedFact));
    assert!(is_protected(true, Class::Pattern));
    assert!(!is_protected(false, Class::Pattern));
}

#[test]
fn the_default_threshold_fires_when_decay_reaches_the_floor() {
    let stored = 0.9;
    let floor = effective(&policy(), Kind::Belief, stored, 1200.0, false);
    assert_eq!(floor, 0.5);
    assert!(uncertain(floor, stored, 0.5));
    let day_before = effective(&policy(), Kind::Belief, stored, 1199.0, false);
    assert!(!uncertain(day_before, stored, 0.5));
}

#[test]
fn a_memory_that_was_stored_at_the_threshold_is_not_uncertain() {
    assert!(!uncertain(0.5, 0.5, 0.5));
    assert!(uncertain(0.499, 0.499, 0.5));
}

#[test]
fn ten_reinforcements_lift_sixty_hundredths_to_the_figure_of_the_model() {
    assert!((reinforced(0.0, 1) - 0.045_454_545).abs() < 1e-8);
    let after = (1..=10).fold(0.6, reinforced);
    assert!((after - 0.934_39).abs() < 1e-5, "{after}");
}

#[test]
fn reinforcement_stops_at_ninety_nine_and_never_lowers() {
    assert_eq!(reinforced(0.98, 1), 0.99);
    assert_eq!(reinforced(0.99, 1), 0.99);
    assert_eq!(reinforced(1.0, 1), 1.0);
}

#[test]
fn verification_adds_a_tenth_up_to_one() {
    assert_eq!(verified(0.8), 0.9);
    assert_eq!(verified(0.95), 1.0);
    assert_eq!(verified(1.0), 1.0);
}

#[test]
fn a_memory_becomes_uncertain_on_the_day_that_the_rule_says_and_not_before() {
    let days = |kind, stored| days_until_uncertain(&policy(), kind, stored, false);
    // A belief of 0.9 is at 0.5, its floor and the threshold, after 1,200 days (seed 001, section 6).
    assert_eq!(days(Kind::Belief, 0.9), Some(1200));
    assert_eq!(days(Kind::Note, 0.9), Some(800));
    assert_eq!(days(Kind::Note, 0.5), Some(1), "at the threshold the first loss counts");
    assert_eq!(days(Kind::Belief, 0.5), None, "its floor keeps it where it is");
    assert_eq!(days(Kind::Note, 0.49), None, "it was uncertain from the beginning");
    assert_eq!(days(Kind::Value, 0.9), None, "its floor is above the threshold");
    assert_eq!(days(Kind::Raw, 0.9), None);
    assert_eq!(days_until_uncertain(&policy(), Kind::Note, 0.9, true), None);
    let since: DateTime<Utc> = "2026-03-01T12:00:00Z".parse().unwrap();
    let at = uncertain_at(&policy(), Kind::Note, 0.9, false, since).unwrap();
    let left = |at: DateTime<Utc>| effective(&policy(), Kind::Note, 0.9, age_days(since, None, at) as f64, false);
    assert!(uncertain(left(at), 0.9, 0.5) && !uncertain(left(at - TimeDelta::microseconds(1)), 0.9, 0.5));
}

#[test]
fn a_policy_is_distinguished_from_any_other() {
    let other = DecayPolicy { uncertain_below: 0.6, ..policy() };
    assert_eq!(policy().fingerprint(), DecayPolicy::default().fingerprint());
    assert_ne!(policy().fingerprint(), other.fingerprint());
}

fn any_kind() -> impl Strategy<Value = Kind> {
    proptest::sample::select(Kind::ALL)
}

proptest! {
    #[test]
    fn decay_never_raises_and_never_falls_below_the_lower_of_floor_and_stored(
        kind in any_kind(), stored in 0.0..=1.0f64, days in 0.0..40_000.0f64,
    ) {
        let now = effective(&policy(), kind, stored, days, false);
        prop_assert!(now <= stored + 1e-12);
        let floor = policy().rate(kind).map_or(stored, |d| d.floor.min(stored));
        prop_assert!(now >= floor - 1e-12);
    }

    #[test]
    fn more_days_never_mean_more_confidence(
        kind in any_kind(), stored in 0.0..=1.0f64, days in 0.0..40_000.0f64, more in 0.0..1000.0f64,
    ) {
        let (early, late) = (days, days + more);
        let policy = policy();
        prop_assert!(effective(&policy, kind, stored, late, false) <= effective(&policy, kind, stored, early, false));
    }

    #[test]
    fn reinforcement_is_monotonic_and_stays_in_range(old in 0.0..=1.0f64, n in 1u32..10_000) {
        let new = reinforced(old, n);
        prop_assert!(new >= old && new <= old.max(0.99));
        prop_assert!(new - old <= 0.05);
    }

    #[test]
    fn the_day_of_uncertainty_is_the_first_that_the_rule_calls_uncertain(
        kind in any_kind(), stored in 0.0f64..=1.0, threshold in 0.0f64..=1.0,
    ) {
        let policy = DecayPolicy { uncertain_below: threshold, ..policy() };
        let is = |days: u32| {
            uncertain(effective(&policy, kind, stored, f64::from(days), false), stored, threshold)
        };
        match days_until_uncertain(&policy, kind, stored, false) {
            Some(days) => prop_assert!(is(days) && !is(days - 1)),
            None => prop_assert!(is(0) || !is(1_000_000)),
        }
    }
}

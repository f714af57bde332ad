use chrono::TimeZone;
use proptest::prelude::*;

use super::*;

fn start() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 3, 2, 15, 0, 0).unwrap()
}

fn life(class: Class) -> LifecycleTimes {
    LifecycleTimes {
        class,
        state: State::Active,
        state_since: Some(start()),
        recorded_at: start(),
        last_confirmed_at: None,
        synced_at: None,
        expires_at: None,
        ends_at: None,
    }
}

fn after(life: &LifecycleTimes, seconds: i64) -> LifecycleStatus {
    status_at(life, start() + Duration::seconds(seconds), &LifecyclePolicy::default())
}

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

/// A grounded statement of the given trust.
fn grounded(trust: Trust) -> UseConditions {
    UseConditions { kind: Kind::Note, trust, ungrounded: false, verified: false, read_doubtfully: false }
}

fn purge_due(moment: &LifecycleStatus, now: DateTime<Utc>) -> bool {
    moment.purge_at.is_some_and(|at| now >= at)
}

#[test]
fn a_symptom_is_to_be_reconfirmed_at_exactly_48_hours() {
    let symptom = life(Class::TimeBoundState);
    assert!(!after(&symptom, 48 * HOUR - 1).reconfirm_due);
    let due = after(&symptom, 48 * HOUR);
    assert!(due.reconfirm_due);
    assert_eq!(due.state, State::Active);
    assert_eq!(due.reconfirm_due_at, Some(start() + Duration::hours(48)));
    assert!(after(&symptom, 48 * HOUR + 1).reconfirm_due);
}

#[test]
fn a_symptom_is_unconfirmed_at_exactly_seven_days_and_says_since_when() {
    let symptom = life(Class::TimeBoundState);
    assert_eq!(after(&symptom, 7 * DAY - 1).state, State::Active);
    for late in [0, 1, 100 * DAY] {
        let ended = after(&symptom, 7 * DAY + late);
        assert_eq!(ended.state, State::ResolvedUnconfirmed);
        assert_eq!(ended.since, Some(start() + Duration::days(7)));
        assert!(!ended.reconfirm_due);
    }
}

#[test]
fn a_confirmation_restarts_the_clock_of_a_symptom() {
    let confirmed =
        LifecycleTimes { last_confirmed_at: Some(start() + Duration::days(6)), ..life(Class::TimeBoundState) };
    assert!(!after(&confirmed, 8 * DAY - 1).reconfirm_due);
    assert!(after(&confirmed, 8 * DAY).reconfirm_due);
    assert_eq!(after(&confirmed, 13 * DAY - 1).state, State::Active);
    assert_eq!(after(&confirmed, 13 * DAY).state, State::ResolvedUnconfirmed);
}

#[test]
fn a_symptom_with_an_earlier_end_ends_then_and_a_later_one_does_not_prolong_it() {
    let short = LifecycleTimes { expires_at: Some(start() + Duration::days(3)), ..life(Class::TimeBoundState) };
    assert_eq!(after(&short, 3 * DAY - 1).state, State::Active);
    assert_eq!(after(&short, 3 * DAY).state, State::ResolvedUnconfirmed);
    let long = LifecycleTimes { expires_at: Some(start() + Duration::days(30)), ..life(Class::TimeBoundState) };
    assert_eq!(after(&long, 7 * DAY).state, State::ResolvedUnconfirmed);
}

#[test]
fn an_inference_expires_at_exactly_24_hours_and_is_purged_90_days_later() {
    let inference = life(Class::Inference);
    assert_eq!(after(&inference, DAY - 1).state, State::Active);
    let expired = after(&inference, DAY);
    assert_eq!(expired.state, State::Expired);
    assert_eq!(expired.since, Some(start() + Duration::days(1)));
    assert_eq!(expired.purge_at, Some(start() + Duration::days(91)));
    assert!(!purge_due(&expired, start() + Duration::days(91) - Duration::seconds(1)));
    assert!(purge_due(&expired, start() + Duration::days(91)));
}

#[test]
fn writing_an_inference_again_with_a_later_end_never_prolongs_it() {
    let again = LifecycleTimes { expires_at: Some(start() + Duration::days(5)), ..life(Class::Inference) };
    assert_eq!(after(&again, DAY).state, State::Expired);
    let confirmed = LifecycleTimes { last_confirmed_at: Some(start() + Duration::hours(20)), ..again };
    assert_eq!(after(&confirmed, DAY).state, State::Expired);
    let short = LifecycleTimes { expires_at: Some(start() + Duration::hours(1)), ..life(Class::Inference) };
    assert_eq!(after(&short, HOUR - 1).state, State::Active);
    assert_eq!(after(&short, HOUR).state, State::Expired);
}

#[test]
fn the_end_that_is_stored_is_cut_to_what_the_class_allows() {
    let policy = LifecyclePolicy::default();
    let asked = Some(start() + Duration::days(365));
    let day = Some(start() + Duration::days(1));
    assert_eq!(policy.expires_at(Class::Inference, start(), asked), day);
    assert_eq!(policy.expires_at(Class::Inference, start(), None), day);
    assert_eq!(policy.expires_at(Class::TimeBoundState, start(), asked), Some(start() + Duration::days(7)));
    assert_eq!(policy.expires_at(Class::TimeBoundState, start(), day), day);
    assert_eq!(policy.expires_at(Class::LongLivedFact, start(), asked), asked);
    assert_eq!(policy.expires_at(Class::Preference, start(), asked), asked);
}

#[test]
fn a_health_signal_is_outdated_at_exactly_seven_days_and_a_refresh_revives_it() {
    let signal = life(Class::HealthSignal);
    assert_eq!(after(&signal, 7 * DAY - 1).state, State::Active);
    let stale = after(&signal, 7 * DAY);
    assert_eq!(stale.state, State::Stale);
    assert_eq!(stale.rank_factor(), 0.3);
    let synced = start() + Duration::days(9);
    let refreshed = LifecycleTimes { state: State::Stale, synced_at: Some(synced), ..signal };
    let now = after(&refreshed, 10 * DAY);
    assert_eq!((now.state, now.since, now.rank_factor()), (State::Active, Some(synced), 1.0));
    assert_eq!(after(&refreshed, 16 * DAY).state, State::Stale);
}

#[test]
fn facts_and_events_outlive_everything() {
    for old in [life(Class::LongLivedFact), life(Class::Event)] {
        assert_eq!(after(&old, 36_500 * DAY).state, State::Active);
        assert_eq!(after(&old, 36_500 * DAY).next_change_at, None);
    }
}

#[test]
fn a_preference_with_an_end_expires_then() {
    let preference = LifecycleTimes { expires_at: Some(start() + Duration::days(2)), ..life(Class::Preference) };
    assert_eq!(after(&preference, 2 * DAY - 1).state, State::Active);
    assert_eq!(after(&preference, 2 * DAY).state, State::Expired);
    assert_eq!(after(&life(Class::Pattern), 3650 * DAY).state, State::Active);
}

#[test]
fn a_forgotten_memory_can_be_recovered_for_exactly_30_days() {
    let forgotten = LifecycleTimes { state: State::Inactive, ..life(Class::LongLivedFact) };
    let moment = after(&forgotten, 0);
    assert!(!purge_due(&moment, start() + Duration::days(30) - Duration::seconds(1)));
    assert!(purge_due(&moment, start() + Duration::days(30)));
}

#[test]
fn what_may_decide_is_active_trusted_grounded_and_not_formed_by_a_model() {
    let stated = grounded(Trust::T1);
    let active = |class, conditions: UseConditions| use_of(class, State::Active, &conditions);
    assert_eq!(active(Class::LongLivedFact, stated), PermittedUse::Decision);
    assert_eq!(active(Class::LongLivedFact, grounded(Trust::T3)), PermittedUse::Decision);
    assert_eq!(active(Class::LongLivedFact, grounded(Trust::T4)), PermittedUse::Hypothesis);
    assert_eq!(active(Class::LongLivedFact, UseConditions { ungrounded: true, ..stated }), PermittedUse::Hypothesis);
    assert_eq!(active(Class::Inference, stated), PermittedUse::Hypothesis);
    assert_eq!(active(Class::Pattern, stated), PermittedUse::Hypothesis);
    assert_eq!(active(Class::Pattern, UseConditions { verified: true, ..stated }), PermittedUse::Decision);
    let doubtful = UseConditions { read_doubtfully: true, ..stated };
    assert_eq!(active(Class::LongLivedFact, doubtful), PermittedUse::Hypothesis);
    assert_eq!(active(Class::LongLivedFact, UseConditions { verified: true, ..doubtful }), PermittedUse::Decision);
    assert_eq!(active(Class::Event, UseConditions { kind: Kind::Raw, ..stated }), PermittedUse::History);
    assert_eq!(use_of(Class::HealthSignal, State::Stale, &stated), PermittedUse::Hypothesis);
}

#[test]
fn every_state_but_active_and_stale_is_history() {
    for state in State::ALL.iter().filter(|s| !matches!(s, State::Active | State::Stale)) {
        assert_eq!(use_of(Class::LongLivedFact, *state, &grounded(Trust::T1)), PermittedUse::History);
    }
}

#[test]
fn instants_at_the_end_of_the_calendar_do_not_panic() {
    let last = LifecycleTimes { recorded_at: DateTime::<Utc>::MAX_UTC, ..life(Class::Inference) };
    assert_eq!(status_at(&last, DateTime::<Utc>::MAX_UTC, &LifecyclePolicy::default()).state, State::Active);
}

fn any_life() -> impl Strategy<Value = LifecycleTimes> {
    let offset = proptest::option::of(-10 * DAY..20 * DAY);
    let states = proptest::sample::select(State::ALL);
    (proptest::sample::select(Class::ALL), states, offset.clone(), offset.clone(), offset).prop_map(
        |(class, state, confirmed, synced, expires)| {
            let at = |o: Option<i64>| o.map(|s| start() + Duration::seconds(s));
            LifecycleTimes {
                state,
                last_confirmed_at: at(confirmed),
                synced_at: at(synced),
                expires_at: at(expires),
                ..life(class)
            }
        },
    )
}

proptest! {
    #[test]
    fn looking_in_between_changes_nothing(life in any_life(), early in 0..30 * DAY, more in 0..30 * DAY) {
        let first = after(&life, early);
        let stepped = LifecycleTimes { state: first.state, state_since: first.since, ..life };
        prop_assert_eq!(after(&stepped, early + more), after(&life, early + more));
    }

    #[test]
    fn nothing_changes_before_the_next_change_and_something_does_at_it(life in any_life(), at in 0..30 * DAY) {
        let now = start() + Duration::seconds(at);
        let policy = LifecyclePolicy::default();
        let here = status_at(&life, now, &policy);
        if let Some(next) = here.next_change_at.filter(|next| *next > now) {
            let before = status_at(&life, next - Duration::microseconds(1), &policy);
            prop_assert_eq!((before.state, before.reconfirm_due), (here.state, here.reconfirm_due));
            let then = status_at(&life, next, &policy);
            prop_assert!(
                then.state != here.state || then.reconfirm_due != here.reconfirm_due || purge_due(&then, next)
            );
        }
    }
}

#[test]
fn a_medicine_is_history_from_the_end_of_its_last_day_and_stays() {
    let course = LifecycleTimes { expires_at: Some(start() + Duration::days(8)), ..life(Class::LongLivedFact) };
    assert_eq!(after(&course, 8 * DAY - 1).state, State::Active);
    let over = after(&course, 3_650 * DAY);
    assert_eq!((over.state, over.since, over.purge_at), (State::ResolvedUnconfirmed, course.expires_at, None));
}

#[test]
fn an_appointment_is_history_from_the_end_of_its_day_and_an_event_has_no_end() {
    let appointment = LifecycleTimes { expires_at: Some(start() + Duration::days(3)), ..life(Class::Event) };
    let before = after(&appointment, 3 * DAY - 1);
    assert_eq!((before.state, before.next_change_at), (State::Active, appointment.expires_at));
    for late in [0, 100 * DAY] {
        let over = after(&appointment, 3 * DAY + late);
        assert_eq!((over.state, over.since, over.purge_at), (State::ResolvedUnconfirmed, appointment.expires_at, None));
    }
    assert_eq!(after(&life(Class::Event), 3_650 * DAY).state, State::Active);
}

//! The run's state machine: one holder, no lost progress, no write after a takeover.

use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::JobName;
use anamnesis_core::clock::from_micros;
use anamnesis_core::ids::OrgId;

const LEASE: i64 = 120;
const MAX_ATTEMPTS: u32 = 3;

fn at(seconds: i64) -> DateTime<Utc> {
    from_micros(1_770_000_000_000_000 + seconds * 1_000_000)
}

fn due() -> DueRun {
    let key = RunKey { job: JobName::Expiry, org: OrgId(Uuid::from_u128(7)), as_of: "2026-03-05".parse().unwrap() };
    DueRun { key, cutoff: at(-60) }
}

fn offer(owner: &str, seconds: i64, asked: Trigger) -> RunOffer<'_> {
    let lease = TimeDelta::seconds(LEASE);
    RunOffer { due: due(), asked, owner, now: at(seconds), lease, max_attempts: MAX_ATTEMPTS }
}

fn granted(found: Option<&JobRun>, offer: &RunOffer<'_>) -> JobRun {
    match claim(found, offer) {
        RunClaim::Granted(run) => *run,
        other => panic!("not granted: {other:?}"),
    }
}

fn failed(seconds: i64) -> RunEnding {
    RunEnding::Failed { code: "store_unavailable".into(), rest: TimeDelta::seconds(seconds) }
}

#[test]
fn a_second_owner_learns_how_long_the_first_may_still_hold_it() {
    let run = granted(None, &offer("a", 0, Trigger::Scheduled));
    assert_eq!((run.state, run.fence, run.owner.as_deref()), (RunState::Running, 1, Some("a")));
    for asked in [Trigger::Scheduled, Trigger::Manual] {
        assert_eq!(claim(Some(&run), &offer("b", LEASE - 1, asked)), RunClaim::LeasedElsewhere { until: at(LEASE) });
    }
}

#[test]
fn a_silent_owner_loses_its_run_and_can_write_nothing_more() {
    let first = granted(None, &offer("a", 0, Trigger::Scheduled));
    let first = first.checkpoint(1, Some(RunCursor("40".into())), "{}".into(), at(LEASE)).unwrap();
    let second = granted(Some(&first), &offer("b", LEASE, Trigger::Scheduled));
    assert_eq!((second.fence, second.cursor.clone()), (2, Some(RunCursor("40".into()))), "goes on where the first was");
    assert_eq!(second.checkpoint(1, None, "{}".into(), at(500)), Err(FenceLost));
    assert_eq!(second.finish(1, RunEnding::Done, at(500)), Err(FenceLost));
    assert!(second.finish(2, RunEnding::Done, at(500)).is_ok());
}

#[test]
fn a_done_run_is_settled_for_the_schedule_and_begins_anew_for_a_person() {
    let run = granted(None, &offer("a", 0, Trigger::Scheduled));
    let run = run.checkpoint(1, Some(RunCursor("40".into())), "{\"changed\":3}".into(), at(LEASE)).unwrap();
    let done = run.finish(1, RunEnding::Done, at(9)).unwrap();
    assert!(done.is_settled(MAX_ATTEMPTS, at(10)));
    assert_eq!(claim(Some(&done), &offer("b", 10, Trigger::Scheduled)), RunClaim::AlreadyDone);
    let again = granted(Some(&done), &offer("b", 10, Trigger::Manual));
    assert_eq!((again.fence, again.cursor.as_ref()), (2, None));
    assert_eq!(again.status.as_deref(), Some("{\"changed\":3}"), "the night's totals are kept");
}

#[test]
fn a_failed_run_rests_then_is_tried_again_and_at_last_left_to_a_person() {
    let mut run = None;
    let mut now = 0;
    for attempt in 1..=MAX_ATTEMPTS {
        let held = granted(run.as_ref(), &offer("a", now, Trigger::Scheduled));
        assert_eq!(held.attempts, attempt);
        let ended = held.finish(held.fence, failed(60), at(now)).unwrap();
        assert_eq!(ended.error.as_deref(), Some("store_unavailable"));
        let next = claim(Some(&ended), &offer("a", now + 59, Trigger::Scheduled));
        let expected =
            if attempt < MAX_ATTEMPTS { RunClaim::BackingOff { until: at(now + 60) } } else { RunClaim::Exhausted };
        assert_eq!(next, expected);
        run = Some(ended);
        now += 60;
    }
    let run = run.unwrap();
    assert!(run.is_settled(MAX_ATTEMPTS, at(now)));
    assert_eq!(claim(Some(&run), &offer("a", now + 9_999, Trigger::Scheduled)), RunClaim::Exhausted);
    assert!(matches!(claim(Some(&run), &offer("a", now, Trigger::Manual)), RunClaim::Granted(_)));
}

#[test]
fn a_run_that_kills_its_process_is_not_tried_for_ever() {
    let mut run = None;
    for attempt in 0..i64::from(MAX_ATTEMPTS) {
        run = Some(granted(run.as_ref(), &offer("a", attempt * LEASE, Trigger::Scheduled)));
    }
    let run = run.unwrap();
    let after = i64::from(MAX_ATTEMPTS) * LEASE;
    assert!(!run.is_settled(MAX_ATTEMPTS, at(after - 1)), "the last attempt may still be at work");
    assert!(run.is_settled(MAX_ATTEMPTS, at(after)));
    assert_eq!(claim(Some(&run), &offer("a", after, Trigger::Scheduled)), RunClaim::Exhausted);
}

#[test]
fn progress_forgives_earlier_attempts_and_an_interruption_costs_none() {
    let run = granted(None, &offer("a", 0, Trigger::Scheduled));
    let run = run.finish(1, failed(0), at(1)).unwrap();
    let run = granted(Some(&run), &offer("a", 2, Trigger::Scheduled));
    assert_eq!(run.attempts, 2);
    let run = run.checkpoint(2, Some(RunCursor("9".into())), "{}".into(), at(LEASE)).unwrap();
    assert_eq!(run.attempts, 0);
    let run = run.finish(2, RunEnding::Interrupted, at(3)).unwrap();
    assert_eq!(run.state, RunState::Partial);
    let run = granted(Some(&run), &offer("b", 3, Trigger::Scheduled));
    assert_eq!(run.cursor, Some(RunCursor("9".into())));
}

#[test]
fn another_cutoff_begins_anew() {
    let run = granted(None, &offer("a", 0, Trigger::Scheduled));
    let run = run.checkpoint(1, Some(RunCursor("9".into())), "{}".into(), at(LEASE)).unwrap();
    let run = run.finish(1, RunEnding::Interrupted, at(1)).unwrap();
    let mut later = offer("a", 2, Trigger::Manual);
    later.due.cutoff = at(1);
    let run = granted(Some(&run), &later);
    assert_eq!((run.cursor, run.cutoff), (None, at(1)));
}

#[test]
fn codes_read_back() {
    for state in RunState::ALL {
        assert_eq!(RunState::from_code(state.code()), Some(*state));
    }
    assert_eq!(RunState::from_code("sleeping"), None);
}

#[derive(Debug, Clone)]
pub(crate) enum Step {
    Offer { owner: usize },
    Checkpoint { owner: usize },
    End { owner: usize, ending: u8 },
    Wait { seconds: i64 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (0..3usize).prop_map(|owner| Step::Offer { owner }),
        (0..3usize).prop_map(|owner| Step::Checkpoint { owner }),
        (0..3usize, 0..3u8).prop_map(|(owner, ending)| Step::End { owner, ending }),
        (1..200i64).prop_map(|seconds| Step::Wait { seconds }),
    ];
    prop::collection::vec(step, 1..80)
}

proptest! {
    /// Three owners act freely, each with the last fence that it received. The row's cursor never moves back while the
    /// run is not done, and only the newest fence can write.
    #[test]
    fn whatever_three_owners_do_only_the_newest_fence_writes_and_progress_never_goes_back(steps in steps()) {
        let mut row: Option<JobRun> = None;
        let mut fences = [0i64; 3];
        let (mut now, mut progress) = (0i64, 0u32);
        for step in steps {
            match step {
                Step::Wait { seconds } => now += seconds,
                Step::Offer { owner } => {
                    let name = owner.to_string();
                    if let RunClaim::Granted(run) = claim(row.as_ref(), &offer(&name, now, Trigger::Scheduled)) {
                        prop_assert!(fences.iter().all(|fence| *fence < run.fence));
                        let found = run.cursor.as_ref().map_or(0, |cursor| cursor.0.parse().unwrap());
                        prop_assert_eq!(found, progress);
                        fences[owner] = run.fence;
                        row = Some(*run);
                    }
                }
                Step::Checkpoint { owner } => {
                    let Some(run) = &row else { continue };
                    let cursor = Some(RunCursor((progress + 1).to_string()));
                    let written = run.checkpoint(fences[owner], cursor, "{}".into(), at(now + LEASE));
                    prop_assert_eq!(written.is_ok(), run.state == RunState::Running && fences[owner] == run.fence);
                    if let Ok(written) = written {
                        progress += 1;
                        row = Some(written);
                    }
                }
                Step::End { owner, ending } => {
                    let Some(run) = &row else { continue };
                    let ending = [RunEnding::Done, RunEnding::Interrupted, failed(30)][usize::from(ending)].clone();
                    if let Ok(written) = run.finish(fences[owner], ending, at(now)) {
                        prop_assert_eq!(fences[owner], run.fence);
                        if written.state == RunState::Done {
                            return Ok(());
                        }
                        row = Some(written);
                    }
                }
            }
        }
    }
}

//! The note of one run for the next: it is valid only for the same settings and generations.

use std::sync::Arc;

use super::*;
use crate::permits::Permits;
use crate::policy::Policies;
use crate::status::JobStatus as _;
use anamnesis_core::clock::{Clock as _, SeededEntropy, SystemClock};
use anamnesis_crypto::Keyring;
use anamnesis_store::vectors::generation::Generations;

fn job() -> Reembedding {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let keys = runtime.block_on(Keyring::in_memory(Arc::new(SystemClock), Arc::new(SeededEntropy::new(1)))).unwrap();
    let permits = Permits::new(Arc::new(keys), SystemClock.now());
    Reembedding { policy: Policies::embedded().unwrap().reembedding.thresholds, permits }
}

fn generation_plan(active: i64, wanted: i64, note: Option<String>) -> GenerationPlan {
    let row = Generations { building: Some(wanted), note, ..Generations::default() };
    GenerationPlan { row, active, wanted }
}

fn at() -> DateTime<Utc> {
    "2026-03-01T05:45:00Z".parse().unwrap()
}

fn found(unsound: u64) -> GateFindings {
    let mut found = GateFindings::default();
    found.unsound = unsound;
    found
}

fn place(unsound: u64) -> ResumePoint {
    ResumePoint::Judged(GateResult {
        found: found(unsound),
        verdict: ReembeddingVerdict::UnsoundVectors,
        at: at(),
        since: 3,
        soon: false,
    })
}

/// The note of `job`, as the row stores it.
fn note(job: &Reembedding, plan: &GenerationPlan, place: ResumePoint) -> String {
    let ReembeddingChange::SaveResumeState(left) = job.leaves(plan, place) else { panic!("something is left") };
    left.to_json()
}

#[test]
fn what_was_left_is_found_again_under_the_same_settings_and_generations() {
    let job = job();
    let text = note(&job, &generation_plan(1, 2, None), place(4));
    assert_eq!(job.left(&generation_plan(1, 2, Some(text.clone()))), Some(place(4)));
    assert_eq!(job.left(&generation_plan(1, 2, None)), None, "nothing was left");
    assert_eq!(job.left(&generation_plan(1, 3, Some(text.clone()))), None, "another generation is wanted");
    assert_eq!(job.left(&generation_plan(0, 2, Some(text.clone()))), None, "another one is active");
    for building in [None, Some(7)] {
        let mut other = generation_plan(1, 2, Some(text.clone()));
        other.row.building = building;
        assert_eq!(job.left(&other), None, "{building:?} is being made");
    }
    for cut in [0, 1, text.len() / 2, text.len() - 1] {
        assert_eq!(job.left(&generation_plan(1, 2, Some(text[..cut].to_owned()))), None, "cut to {cut}");
    }
}

#[test]
fn a_changed_threshold_begins_anew_where_a_verdict_depends_on_it() {
    let text = note(&job(), &generation_plan(1, 2, None), place(0));
    let holds = |change: &dyn Fn(&mut Reembedding)| {
        let mut changed = job();
        change(&mut changed);
        changed.left(&generation_plan(1, 2, Some(text.clone()))).is_some()
    };
    assert!(holds(&|_| ()));
    assert!(!holds(&|job| job.policy.max_text_bytes += 1));
    assert!(!holds(&|job| job.policy.max_missing += 1));
    assert!(!holds(&|job| job.policy.sample_size += 1));
    assert!(!holds(&|job| job.policy.k += 1));
    assert!(!holds(&|job| job.policy.min_overlap += 0.01));
    assert!(holds(&|job| job.policy.keep_days += 1), "how long the old one is kept is no matter of a verdict");
    assert!(holds(&|job| job.policy.recheck_days += 1));
}

#[test]
fn vectors_that_were_removed_are_made_again_at_once_as_long_as_they_grow_fewer() {
    let job = job();
    let soon = |before: Option<u64>, unsound: u64, verdict: ReembeddingVerdict| {
        let text = before.map(|before| note(&job, &generation_plan(1, 2, None), place(before)));
        let found = found(unsound);
        let ReembeddingChange::SaveResumeState(left) = job.judged(&generation_plan(1, 2, text), &found, verdict, at())
        else {
            panic!("left")
        };
        let ResumePoint::Judged(judged) = left.place else { panic!("judged") };
        assert_eq!((judged.since, judged.at, judged.verdict, judged.found), (0, at(), verdict, found));
        judged.soon
    };
    assert!(soon(None, 5, ReembeddingVerdict::UnsoundVectors), "the first time");
    assert!(soon(Some(0), 5, ReembeddingVerdict::UnsoundVectors), "there were none before");
    assert!(soon(Some(6), 5, ReembeddingVerdict::UnsoundVectors));
    assert!(!soon(Some(5), 5, ReembeddingVerdict::UnsoundVectors), "as many as before: the model makes them so");
    assert!(!soon(Some(4), 5, ReembeddingVerdict::UnsoundVectors));
    for verdict in [ReembeddingVerdict::MissingVectors, ReembeddingVerdict::TooUnlike, ReembeddingVerdict::StillBehind]
    {
        assert!(!soon(None, 5, verdict), "{verdict:?}");
    }
}

#[test]
fn a_gate_that_stays_shut_is_a_refusal_and_nothing_else_is() {
    use ReembeddingVerdict::{
        Abandoned, Building, MissingVectors, Ready, StillBehind, Swapped, TooUnlike, UnsoundVectors,
    };
    for (verdict, refusal) in [
        (Building, false),
        (Ready, false),
        (Swapped, false),
        (Abandoned, false),
        (MissingVectors, true),
        (UnsoundVectors, true),
        (TooUnlike, true),
        (StillBehind, true),
    ] {
        assert_eq!(verdict.is_refusal(), refusal, "{verdict:?}");
    }
}

#[test]
fn counters_of_two_runs_add_up_and_the_later_verdict_counts() {
    use super::super::ReembeddingStatus;
    let one = ReembeddingStatus {
        examined: 5,
        embedded: 1,
        unsound: 2,
        swapped: 3,
        removed: 4,
        refused: 9,
        ..Default::default()
    };
    let two =
        ReembeddingStatus { overlap: Some(0.5), verdict: Some(ReembeddingVerdict::Swapped), missing: 7, ..one.clone() };
    let mut sum = two.clone();
    sum.add(&one);
    assert_eq!((sum.examined(), sum.changed()), (10, 20), "what was refused or is missing changed nothing");
    assert_eq!(
        (sum.refused, sum.missing, sum.overlap, sum.verdict),
        (18, 7, Some(0.5), Some(ReembeddingVerdict::Swapped))
    );
    let later =
        ReembeddingStatus { overlap: Some(0.25), verdict: Some(ReembeddingVerdict::TooUnlike), ..Default::default() };
    sum.add(&later);
    assert_eq!((sum.overlap, sum.verdict), (Some(0.25), Some(ReembeddingVerdict::TooUnlike)));
    assert_eq!(ReembeddingStatus::from_json(Some(&sum.to_json())), sum);
    assert_eq!(ReembeddingStatus::from_json(Some("{\"examined\":-1}")), ReembeddingStatus::default());
    assert_eq!(ReembeddingStatus::from_json(Some("{\"examined\":3}")).examined, 3, "an older version's");
    assert_eq!(ReembeddingStatus::from_json(None), ReembeddingStatus::default());
}

#[test]
fn an_overlap_is_an_average_and_none_where_nothing_was_compared() {
    assert_eq!(GateFindings::default().overlap(), None);
    let of = |text: &str| serde_json::from_str::<GateFindings>(text).unwrap().overlap();
    assert_eq!(of(r#"{"every":1,"missing":0,"unsound":0,"compared":4,"shares":3.0}"#), Some(0.75));
    assert_eq!(of(r#"{"every":1,"missing":0,"unsound":0,"compared":0,"shares":3.0}"#), None);
}

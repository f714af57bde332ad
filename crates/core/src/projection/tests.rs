mod orders;
mod resuming;

use chrono::{Duration, TimeZone};

use super::*;
use crate::ids::{OrgId, PatientId};
use crate::lifecycle::LifecyclePolicy;
use crate::memory::PermittedUse;

fn scope() -> Scope {
    Scope::new(OrgId(Uuid::from_u128(1)), PatientId(Uuid::from_u128(2))).unwrap()
}

/// Folds the log of one group as of `now`.
fn project(scope: Scope, log: &GroupLog, now: DateTime<Utc>, policy: &LifecyclePolicy) -> Projection {
    replay(scope, log, now, policy).outcome
}

fn day(n: i64) -> DateTime<Utc> {
    chrono::Utc.with_ymd_and_hms(2026, 1, 1, 9, 0, 0).unwrap() + Duration::days(n)
}

/// A finding of a patient's chat on `at`, unless changed.
fn finding(n: u128, entity: EntityType, at: i64) -> Assertion {
    Assertion {
        id: FindingId(Uuid::from_u128(n)),
        source: Uuid::from_u128(1000 + n),
        text: None,
        live: true,
        attribute: [entity as u8; 32],
        entity,
        kind: Kind::Note,
        class: Class::from_finding(entity),
        polarity: Polarity::Affirmed,
        experiencer: Experiencer::Patient,
        details: Details::default(),
        ending: false,
        past: false,
        blanket: false,
        never: false,
        set_by: SetBy::Patient,
        document_type: Some(DocumentType::ChatMessage),
        source_type: SourceType::DirectExperience,
        epistemic: Epistemic::Explicit,
        trust: Trust::T1,
        is_proxy: false,
        extraction_confidence: 0.9,
        initial_confidence: 0.8,
        basis: ConfidenceBasis::Given,
        asserted_at: day(at),
        valid_from: day(at),
        expires_at: None,
        ends_at: None,
        recorded_at: day(at),
        tombstone: None,
    }
}

fn dose(n: u128, at: i64, mg: u32) -> Assertion {
    let details = Details { dose: Some(format!("{mg} mg")), ..Details::default() };
    Assertion { details, ..finding(n, EntityType::Medication, at) }
}

fn by_clinician(a: Assertion) -> Assertion {
    Assertion { set_by: SetBy::Clinician, document_type: Some(DocumentType::ClinicalNote), ..a }
}

fn folded(assertions: Vec<Assertion>, now: i64) -> Projection {
    project(scope(), &GroupLog { assertions, acts: vec![] }, day(now), &LifecyclePolicy::default())
}

fn states(outcome: &Projection) -> Vec<State> {
    outcome.memories.iter().map(|m| m.state).collect()
}

#[test]
fn a_changed_dose_supersedes_with_links_both_ways_and_inherited_evidence() {
    let out = folded(vec![dose(1, 0, 50), dose(2, 30, 100)], 31);
    assert_eq!(states(&out), [State::Superseded, State::Active]);
    assert_eq!(out.memories[0].superseded_by, Some(out.memories[1].id));
    assert_eq!(out.memories[1].supersedes, Some(out.memories[0].id));
    assert_eq!(out.memories[0].valid_to, Some(day(30)));
    let last = |n: usize| out.memories[n].history.last().map(|line| (line.action, line.cause)).unwrap();
    assert_eq!(last(0), ("superseded", Some(out.memories[1].id.0)));
    assert_eq!(last(1), ("supersedes", Some(out.memories[0].id.0)), "both histories say so");
    assert_eq!(out.memories[1].sources, [FindingId(Uuid::from_u128(2)), FindingId(Uuid::from_u128(1))]);
    assert!(out.conflicts.is_empty());
}

#[test]
fn a_mention_without_dose_confirms_the_dose_that_is_known() {
    let out = folded(vec![dose(1, 0, 50), finding(2, EntityType::Medication, 3)], 4);
    assert_eq!(out.memories.len(), 1);
    assert_eq!(out.memories[0].times_reinforced, 1);
    assert_eq!(out.memories[0].last_confirmed_at, Some(day(3)));
}

#[test]
fn a_dose_that_is_stated_later_completes_the_memory_and_its_words_become_the_content() {
    let out = folded(vec![finding(1, EntityType::Medication, 0), dose(2, 3, 50)], 4);
    assert_eq!(out.memories.len(), 1);
    assert_eq!(out.memories[0].told_by, FindingId(Uuid::from_u128(2)));
    assert_eq!(out.memories[0].details.dose.as_deref(), Some("50 mg"));
}

#[test]
fn a_chat_against_a_clinicians_dose_is_a_claim_and_changes_nothing() {
    let out = folded(vec![by_clinician(dose(1, 0, 50)), dose(2, 3, 100)], 4);
    assert_eq!(states(&out), [State::Active, State::Active]);
    assert!(!out.memories[0].contested && out.memories[1].contested);
    assert_eq!(out.conflicts.len(), 1);
    assert_eq!((out.conflicts[0].kept, out.conflicts[0].claim), (out.memories[0].id, out.memories[1].id));
}

#[test]
fn no_allergy_in_a_chat_does_not_remove_the_allergy() {
    let allergy = by_clinician(finding(1, EntityType::Allergy, 0));
    let denial = Assertion { polarity: Polarity::Negated, ..finding(2, EntityType::Allergy, 5) };
    let out = folded(vec![allergy, denial], 6);
    assert_eq!(out.memories[0].state, State::Active);
    assert!(!out.memories[0].contested && out.memories[1].contested);
    assert!(out.conflicts[0].negation);
}

#[test]
fn no_known_allergies_after_an_allergy_is_a_claim_and_before_it_ends() {
    let blanket = |n, at| Assertion {
        blanket: true,
        attribute: [99; 32],
        polarity: Polarity::Negated,
        ..by_clinician(finding(n, EntityType::Allergy, at))
    };
    let after = folded(vec![finding(1, EntityType::Allergy, 0), blanket(2, 5)], 6);
    assert!(after.memories[1].contested && after.conflicts.len() == 1);
    let before = folded(vec![blanket(2, 0), finding(1, EntityType::Allergy, 5)], 6);
    assert_eq!(states(&before), [State::Superseded, State::Active]);
    assert!(before.conflicts.is_empty());
}

#[test]
fn a_symptom_lapses_after_seven_days_and_comes_back_as_a_new_interval() {
    let out = folded(vec![finding(1, EntityType::Symptom, 0), finding(2, EntityType::Symptom, 7)], 8);
    assert_eq!(states(&out), [State::ResolvedUnconfirmed, State::Active]);
    assert_eq!(out.memories[0].valid_to, Some(day(7)));
    assert_ne!(out.memories[0].id, out.memories[1].id);
    let confirmed = folded(vec![finding(1, EntityType::Symptom, 0), finding(2, EntityType::Symptom, 6)], 8);
    assert_eq!(states(&confirmed), [State::Active]);
    assert_eq!(confirmed.memories[0].cycle, 1);
    assert_eq!(confirmed.memories[0].expires_at, Some(day(13)));
}

#[test]
fn what_the_patient_says_has_ended_is_resolved_and_a_clinicians_word_is_asked_about() {
    let stopped = |n, at| Assertion { ending: true, ..finding(n, EntityType::Medication, at) };
    let own = folded(vec![dose(1, 0, 50), stopped(2, 9)], 10);
    assert_eq!(states(&own), [State::Resolved]);
    assert_eq!(own.memories[0].valid_to, Some(day(9)));
    let prescribed = folded(vec![by_clinician(dose(1, 0, 50)), stopped(2, 9)], 10);
    assert_eq!(prescribed.memories[0].state, State::Active);
    assert_eq!(prescribed.conflicts.len(), 1);
}

#[test]
fn a_clinicians_end_ends_the_prescription_whatever_was_claimed_about_it_before() {
    let stopped = |n, at| Assertion { ending: true, ..finding(n, EntityType::Medication, at) };
    // The patient claims that it is over, twice; then the clinician stops it.
    let claimed = vec![by_clinician(dose(1, 0, 50)), stopped(2, 3), stopped(3, 5)];
    let open = folded(claimed.clone(), 6);
    assert_eq!((states(&open), open.conflicts.len()), (vec![State::Active, State::Active], 1));
    let closed = folded([claimed.clone(), vec![by_clinician(stopped(4, 9))]].concat(), 10);
    assert_eq!(states(&closed), [State::Resolved, State::Resolved]);
    assert!(closed.conflicts.iter().all(|known| known.answered));
    // The patient claims another dose; the clinician stops the medicine.
    let other_dose = vec![by_clinician(dose(1, 0, 50)), dose(2, 3, 100), by_clinician(stopped(3, 9))];
    assert_eq!(states(&folded(other_dose, 10)), [State::Resolved, State::Resolved]);
    // The patient takes back one's own claim of another dose; the prescription is in question all the same.
    let taken_back = folded(vec![by_clinician(dose(1, 0, 50)), dose(2, 3, 100), stopped(3, 9)], 10);
    assert_eq!(taken_back.memories[0].state, State::Active);
    assert!(taken_back.conflicts.iter().any(|known| known.kept == taken_back.memories[0].id && !known.answered));
    // A new dose of the patient's never confirms the claim that it was over.
    let resumed = folded([claimed, vec![dose(4, 9, 75)]].concat(), 10);
    assert_eq!(resumed.memories.last().unwrap().details.dose.as_deref(), Some("75 mg"));
}

#[test]
fn a_clinician_who_answers_that_it_is_over_leaves_no_active_memory_of_it() {
    let stopped = Assertion { ending: true, ..finding(2, EntityType::Medication, 3) };
    let claimed = vec![by_clinician(dose(1, 0, 50)), stopped];
    let open = folded(claimed.clone(), 4);
    let deed = |deed, memory| PersonAct {
        id: MemoryEventId(Uuid::from_u128(99)),
        memory,
        at: day(5),
        by: SetBy::Clinician,
        deed,
        evidence: None,
    };
    for act in [deed(MemoryAction::Confirmed, open.memories[1].id), deed(MemoryAction::Ended, open.memories[0].id)] {
        let answered = with_acts(claimed.clone(), vec![act], 6);
        assert_eq!(states(&answered), [State::Resolved, State::Resolved], "{:?}", answered.memories);
    }
}

#[test]
fn a_past_illness_is_history_and_changes_nothing_that_is_active() {
    let past = |n, at| Assertion { past: true, ..finding(n, EntityType::Condition, at) };
    let alone = folded(vec![past(1, 0), past(2, 3)], 4);
    assert_eq!(states(&alone), [State::Resolved]);
    let known = folded(vec![finding(1, EntityType::Condition, 0), past(2, 3)], 4);
    assert_eq!(states(&known), [State::Active]);
    let again = folded(vec![past(1, 0), finding(2, EntityType::Condition, 3)], 4);
    assert_eq!(states(&again), [State::Resolved, State::Active]);
}

#[test]
fn model_output_confirms_nothing_and_a_statement_replaces_an_inference() {
    let inferred = |n, at| Assertion {
        trust: Trust::T4,
        set_by: SetBy::Agent,
        epistemic: Epistemic::Inferred,
        document_type: Some(DocumentType::Analysis),
        ..finding(n, EntityType::Condition, at)
    };
    let stated = finding(2, EntityType::Condition, 3);
    let later = folded(vec![stated.clone(), inferred(1, 5)], 6);
    assert_eq!((later.memories.len(), later.memories[0].times_reinforced), (1, 0));
    let before = folded(vec![inferred(1, 0), stated], 6);
    assert_eq!(states(&before), [State::Superseded, State::Active]);
}

#[test]
fn an_inference_is_never_prolonged_by_a_repetition() {
    let inference =
        |n, at| Assertion { class: Class::Inference, trust: Trust::T4, ..finding(n, EntityType::Preference, at) };
    let once = folded(vec![inference(1, 0)], 0).memories[0].expires_at;
    assert_eq!(once, Some(day(1)));
    let again = Assertion { asserted_at: day(0) + Duration::hours(12), ..inference(2, 0) };
    let out = folded(vec![inference(1, 0), again], 0);
    assert_eq!(out.memories[0].expires_at, Some(day(1)));
    assert_eq!(states(&folded(vec![inference(1, 0)], 1)), [State::Expired]);
}

#[test]
fn what_only_a_replaced_revision_said_stays_as_ungrounded() {
    let gone = Assertion { live: false, ..dose(1, 0, 50) };
    let out = folded(vec![gone], 1);
    assert!(out.memories[0].ungrounded);
    let conditions = crate::lifecycle::UseConditions {
        ungrounded: true,
        ..crate::lifecycle::UseConditions {
            kind: Kind::Note,
            trust: Trust::T1,
            ungrounded: false,
            verified: false,
            read_doubtfully: false,
        }
    };
    assert_eq!(crate::lifecycle::use_of(Class::LongLivedFact, State::Active, &conditions), PermittedUse::Hypothesis);
}

#[test]
fn a_confirmation_after_the_lapse_opens_a_new_interval_and_forgetting_can_be_undone() {
    let symptom = finding(1, EntityType::Symptom, 0);
    let id = folded(vec![symptom.clone()], 0).memories[0].id;
    let act = |n: u128, at, deed| PersonAct {
        id: MemoryEventId(Uuid::from_u128(n)),
        memory: id,
        at: day(at),
        deed,
        by: SetBy::Patient,
        evidence: None,
    };
    let run = |acts: Vec<PersonAct>, now| {
        project(scope(), &GroupLog { assertions: vec![symptom.clone()], acts }, day(now), &LifecyclePolicy::default())
    };
    let reopened = run(vec![act(9, 10, MemoryAction::Confirmed)], 11);
    assert_eq!(states(&reopened), [State::ResolvedUnconfirmed, State::Active]);
    let forgotten = run(vec![act(9, 1, MemoryAction::Forgotten)], 2);
    assert_eq!(states(&forgotten), [State::Inactive]);
    let recovered = run(vec![act(9, 1, MemoryAction::Forgotten), act(10, 2, MemoryAction::Recovered)], 3);
    assert_eq!(states(&recovered), [State::Active]);
}

fn act(n: u128, at: i64, memory: MemoryId, deed: MemoryAction) -> PersonAct {
    PersonAct { id: MemoryEventId(Uuid::from_u128(n)), memory, at: day(at), deed, by: SetBy::Patient, evidence: None }
}

fn with_acts(assertions: Vec<Assertion>, acts: Vec<PersonAct>, now: i64) -> Projection {
    project(scope(), &GroupLog { assertions, acts }, day(now), &LifecyclePolicy::default())
}

#[test]
fn an_episode_against_it_makes_a_memory_less_sure_and_does_not_restart_its_clock() {
    let belief = Assertion { kind: Kind::Belief, ..finding(1, EntityType::Preference, 0) };
    let id = folded(vec![belief.clone()], 1).memories[0].id;
    let against =
        |n: u128, at: i64| PersonAct { evidence: Some(Uuid::from_u128(77)), ..act(n, at, id, MemoryAction::Weakened) };
    let out = with_acts(vec![belief.clone()], vec![against(8, 5)], 7);
    let memory = &out.memories[0];
    assert!((memory.confidence - (0.8 - 0.05 / 1.1)).abs() < 1e-9);
    assert_eq!((memory.state, memory.times_reinforced, memory.last_verified), (State::Active, 0, None));
    assert_eq!(memory.history.iter().filter(|line| line.action == "weakened").count(), 1);
    let ended = with_acts(vec![belief], vec![act(7, 2, id, MemoryAction::Ended), against(8, 5)], 7);
    assert!((ended.memories[0].confidence - 0.8).abs() < 1e-9, "what is over is not weakened");
    let held = by_clinician(Assertion { kind: Kind::Belief, ..finding(3, EntityType::Preference, 0) });
    let id = folded(vec![held.clone()], 1).memories[0].id;
    let weaken = |by| PersonAct { memory: id, by, ..against(8, 5) };
    let sure = |by| with_acts(vec![held.clone()], vec![weaken(by)], 7).memories[0].confidence;
    assert!(
        (sure(SetBy::Patient) - 0.8).abs() < 1e-9 && sure(SetBy::Clinician) < 0.79,
        "a clinician's is a clinician's"
    );
    let allergy = finding(2, EntityType::Allergy, 0);
    let id = folded(vec![allergy.clone()], 1).memories[0].id;
    let out = with_acts(vec![allergy], vec![PersonAct { memory: id, ..against(8, 5) }], 7);
    assert!((out.memories[0].confidence - 0.8).abs() < 1e-9, "no episode speaks against an allergy");
}

#[test]
fn a_memory_whose_words_are_gone_retains_its_id_and_its_place_in_the_order() {
    let (old, new) = (dose(1, 0, 50), dose(2, 2, 100));
    let forgotten = folded(vec![old.clone(), new.clone()], 2).memories[1].id;
    let forget = vec![act(9, 3, forgotten, MemoryAction::Forgotten)];
    let again = dose(3, 5, 100);
    let whole = with_acts(vec![old.clone(), new.clone(), again.clone()], forget.clone(), 6);
    assert_eq!(states(&whole), [State::Superseded, State::Inactive, State::Active]);

    let details = Details { dose: Some("purged 00ff".to_owned()), ..Details::default() };
    let tombstone = Assertion { details, tombstone: Some(forgotten), ..new };
    let purged = with_acts(vec![old, tombstone, again], forget, 6);
    assert_eq!(states(&purged), states(&whole), "what it replaced does not come back");
    let ids = |outcome: &Projection| outcome.memories.iter().map(|m| m.id).collect::<Vec<_>>();
    assert_eq!(ids(&purged), ids(&whole), "and what is said anew is another memory, as before");
}

#[test]
fn a_correction_ends_what_its_own_words_did_not_replace_unless_the_one_who_corrects_may_not() {
    let statement = dose(1, 0, 50);
    let id = folded(vec![statement.clone()], 0).memories[0].id;
    let correct = |deed| vec![act(9, 3, id, deed)];
    let ended = with_acts(vec![statement.clone()], correct(MemoryAction::Corrected), 4);
    assert_eq!((states(&ended)[0], ended.memories[0].valid_to), (State::Resolved, Some(day(3))));
    let replaced = with_acts(vec![statement.clone(), dose(2, 3, 100)], correct(MemoryAction::Corrected), 4);
    assert_eq!(states(&replaced), [State::Superseded, State::Active]);
    let again = with_acts(vec![statement.clone(), dose(2, 3, 50)], correct(MemoryAction::Corrected), 4);
    assert_eq!(states(&again), [State::Active], "said again with the correction");

    let guarded = by_clinician(statement);
    let by_patient = with_acts(vec![guarded.clone()], correct(MemoryAction::Corrected), 4);
    assert_eq!(states(&by_patient), [State::Active], "a clinician set it");
    let answered = with_acts(vec![guarded], correct(MemoryAction::Answered), 4);
    assert_eq!(states(&answered), [State::Resolved], "but an answer to a question counts");
}

#[test]
fn a_person_who_says_which_side_holds_answers_the_contradiction() {
    let kept = by_clinician(dose(1, 0, 50));
    let claim = dose(2, 2, 100);
    let open = folded(vec![kept.clone(), claim.clone()], 3);
    assert!(open.memories[1].contested && !open.conflicts[0].answered);
    let ids: Vec<MemoryId> = open.memories.iter().map(|m| m.id).collect();

    let log = vec![kept, claim];
    let claimed = with_acts(log.clone(), vec![act(9, 4, ids[1], MemoryAction::Confirmed)], 5);
    assert_eq!(states(&claimed), [State::Superseded, State::Active]);
    assert!(claimed.conflicts[0].answered && !claimed.memories[1].contested);
    assert_eq!(claimed.memories[1].supersedes, Some(ids[0]));
    let stands = with_acts(log, vec![act(9, 4, ids[0], MemoryAction::Confirmed)], 5);
    assert_eq!(states(&stands), [State::Active, State::Resolved]);
    assert!(stands.conflicts[0].answered);
}

#[test]
fn an_end_without_authority_is_recorded_and_a_person_in_charge_is_asked() {
    let guarded = by_clinician(dose(1, 0, 50));
    let id = folded(vec![guarded.clone()], 1).memories[0].id;
    let ends = || act(9, 2, id, MemoryAction::Ended);
    let then = |deed, by| with_acts(vec![guarded.clone()], vec![ends(), PersonAct { by, ..act(10, 3, id, deed) }], 4);

    let disputed = with_acts(vec![guarded.clone()], vec![ends()], 4);
    assert_eq!(states(&disputed), [State::Active]);
    let [conflict] = disputed.conflicts[..] else { panic!("{:?}", disputed.conflicts) };
    assert_eq!((conflict.kept, conflict.claim, conflict.answered), (id, id, false));
    assert!(disputed.memories[0].history.iter().any(|change| change.action == "disputed"));

    for (deed, by, state) in [
        (MemoryAction::Ended, SetBy::Clinician, State::Resolved),
        (MemoryAction::Denied, SetBy::Patient, State::Resolved),
        (MemoryAction::Confirmed, SetBy::Clinician, State::Active),
    ] {
        let settled = then(deed, by);
        assert_eq!((states(&settled), settled.conflicts[0].answered), (vec![state], true), "{deed}");
    }
    let insisting = then(MemoryAction::Ended, SetBy::Patient);
    assert_eq!((states(&insisting), insisting.conflicts.len()), (vec![State::Active], 1), "one question");

    let allergy = finding(1, EntityType::Allergy, 0);
    let id = folded(vec![allergy.clone()], 1).memories[0].id;
    let ended = with_acts(vec![allergy], vec![act(9, 2, id, MemoryAction::Ended)], 3);
    assert_eq!((states(&ended), ended.conflicts.len()), (vec![State::Active], 1));
    let own = finding(1, EntityType::Symptom, 0);
    let id = folded(vec![own.clone()], 1).memories[0].id;
    assert_eq!(
        states(&with_acts(vec![own], vec![act(9, 1, id, MemoryAction::Ended)], 2)),
        [State::Resolved],
        "a patient's own"
    );
}

#[test]
fn what_was_inferred_and_a_person_verifies_becomes_a_memory_on_their_word() {
    for class in [Class::Pattern, Class::Inference] {
        let formed = Assertion {
            class,
            set_by: SetBy::Agent,
            document_type: None,
            source_type: SourceType::Consolidation,
            epistemic: Epistemic::Inferred,
            trust: Trust::T4,
            ..finding(1, EntityType::Preference, 1)
        };
        let now = 1;
        let alone = with_acts(vec![formed.clone()], vec![], now);
        let id = alone.memories[0].id;
        assert!(!alone.memories[0].vouched);
        let verified = PersonAct {
            by: SetBy::Clinician,
            at: day(1) + Duration::hours(1),
            ..act(5, 1, id, MemoryAction::Verified)
        };
        let outcome = with_acts(vec![formed.clone()], vec![verified.clone()], 90);
        let [old, new] = &outcome.memories[..] else { panic!("{outcome:?}") };
        assert_eq!((old.state, old.superseded_by, new.supersedes), (State::Superseded, Some(new.id), Some(old.id)));
        assert_eq!((new.state, new.set_by, new.expires_at), (State::Active, SetBy::Clinician, None), "{class}");
        assert!(new.vouched && !old.vouched && new.confidence > 0.8);
        // A machine has no authority.
        let by_agent = PersonAct { by: SetBy::Agent, ..verified };
        assert_eq!(with_acts(vec![formed], vec![by_agent], 1).memories.len(), 1);
    }
}

#[test]
fn a_clinicians_hypothesis_that_a_person_verifies_is_a_fact_of_its_class_from_then_on() {
    let possible = Assertion {
        set_by: SetBy::Clinician,
        epistemic: Epistemic::Inferred,
        trust: Trust::T4,
        ..finding(1, EntityType::Condition, 1)
    };
    let id = with_acts(vec![possible.clone()], vec![], 1).memories[0].id;
    let verified = PersonAct { by: SetBy::Clinician, at: day(3), ..act(5, 3, id, MemoryAction::Verified) };
    let outcome = with_acts(vec![possible.clone()], vec![verified.clone()], 90);
    let [old, new] = &outcome.memories[..] else { panic!("{outcome:?}") };
    assert_eq!((old.state, old.vouched, old.superseded_by), (State::Superseded, false, Some(new.id)));
    assert_eq!((new.state, new.vouched, new.valid_from), (State::Active, true, day(3)));
    // A stated fact is one already: verified, it stays the same memory.
    let stated = Assertion { epistemic: Epistemic::Explicit, trust: Trust::T1, ..possible };
    assert_eq!(with_acts(vec![stated], vec![verified], 90).memories.len(), 1);
}

#[test]
fn a_clinician_who_says_what_was_only_claimed_settles_the_claim() {
    let out = folded(vec![by_clinician(dose(1, 0, 50)), dose(2, 3, 100), by_clinician(dose(3, 9, 100))], 10);
    assert_eq!(states(&out), [State::Superseded, State::Superseded, State::Active]);
    assert_eq!(out.memories[1].superseded_by, Some(out.memories[2].id));
    assert!(!out.memories[2].contested);
}

#[test]
fn a_number_without_its_unit_confirms_the_dose_and_another_number_never_does() {
    let said = |n, at, dose: &str| Assertion {
        details: Details { dose: Some(dose.into()), ..Details::default() },
        ..finding(n, EntityType::Medication, at)
    };
    let out = folded(vec![by_clinician(said(1, 0, "100 mg")), said(2, 3, "100")], 4);
    assert_eq!((out.memories.len(), out.conflicts.len()), (1, 0));
    let out = folded(vec![by_clinician(said(1, 0, "100 mg")), said(2, 3, "10")], 4);
    assert_eq!((out.memories.len(), out.conflicts.len()), (2, 1));
    let shorter_first = folded(vec![said(1, 0, "100"), said(2, 3, "100 mg")], 4);
    assert_eq!(shorter_first.memories[0].details.dose.as_deref(), Some("100 mg"));
}

#[test]
fn a_denial_for_all_time_opposes_what_was_whichever_comes_first_and_nothing_that_begins_later() {
    let never = |n, at| Assertion { polarity: Polarity::Negated, never: true, ..finding(n, EntityType::Condition, at) };
    let past = |n, at| Assertion { past: true, ..finding(n, EntityType::Condition, at) };
    let opposed = |log: Vec<Assertion>| folded(log, 9).conflicts.iter().filter(|known| known.negation).count();
    assert_eq!(opposed(vec![never(1, 1), past(2, 3)]), 1);
    assert_eq!(opposed(vec![past(1, 1), never(2, 3)]), 1);
    assert_eq!(opposed(vec![finding(1, EntityType::Condition, 1), never(2, 3)]), 1);
    assert_eq!(opposed(vec![never(1, 1), finding(2, EntityType::Condition, 3)]), 0);
    let now = |n, at| Assertion { polarity: Polarity::Negated, ..finding(n, EntityType::Condition, at) };
    assert_eq!(opposed(vec![past(1, 1), now(2, 3)]), 0);
}

/// Stores hold digests of these texts: another name would make every memory look changed after an upgrade.
#[test]
fn the_digests_of_a_store_name_types_as_version_0_1_0_did() {
    let at = "2026-03-02T10:00:00Z".parse().unwrap();
    let line = HistoryChange { at, action: "created", old: None, new: Some(0.5), cause: None };
    assert_eq!(
        format!("{line:?}"),
        "Change { at: 2026-03-02T10:00:00Z, action: \"created\", old: None, new: Some(0.5), cause: None }"
    );
    let mut earlier = ResumedHistory::default();
    let start = "Earlier { lines: 0, sources: 0, first_at: None, last_at: None, lines_digest: [0, 0, ";
    assert!(format!("{earlier:?}").starts_with(start), "{earlier:?}");
    earlier.add_line(&line);
    assert_eq!(earlier.lines_digest[..8], [61, 141, 250, 143, 226, 225, 214, 106]);
}

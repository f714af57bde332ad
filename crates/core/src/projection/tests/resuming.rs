//! A log that is projected on from checkpoints gives the result of the whole log.

use proptest::prelude::*;

use super::*;
use crate::ids::derive;

/// One entry of a log: how many hours after the one before, and what.
#[derive(Debug, Clone)]
struct LogEntry {
    hours: i64,
    what: EntryKind,
}

#[derive(Debug, Clone)]
enum EntryKind {
    Said(StatedEntry),
    /// Something done to the memory of this place, counted round.
    Done {
        deed: usize,
        by: usize,
        on: usize,
    },
}

#[derive(Debug, Clone)]
struct StatedEntry {
    entity: EntityType,
    attribute: u8,
    mg: Option<u32>,
    denied: bool,
    ending: bool,
    past: bool,
    blanket: bool,
    speaker: usize,
    days: Option<i64>,
    /// The text of another document once more.
    copy: bool,
    /// A revision of it was replaced.
    retired: bool,
}

const SPEAKERS: [(SetBy, Option<DocumentType>, SourceType, Trust); 6] = [
    (SetBy::Patient, Some(DocumentType::ChatMessage), SourceType::DirectExperience, Trust::T1),
    (SetBy::Clinician, Some(DocumentType::ClinicalNote), SourceType::Observation, Trust::T2),
    (SetBy::Unknown, Some(DocumentType::SessionTranscript), SourceType::External, Trust::T3),
    (SetBy::Agent, Some(DocumentType::Analysis), SourceType::Inference, Trust::T4),
    (SetBy::Agent, Some(DocumentType::Analysis), SourceType::Consolidation, Trust::T4),
    (SetBy::Unknown, None, SourceType::Unknown, Trust::T5),
];

fn said() -> impl Strategy<Value = StatedEntry> {
    let entity = proptest::sample::select(
        &[
            EntityType::Medication,
            EntityType::Medication,
            EntityType::Condition,
            EntityType::Allergy,
            EntityType::Symptom,
            EntityType::Preference,
        ][..],
    );
    let mg = proptest::option::of(proptest::sample::select(&[50, 100][..]));
    let flags = (
        proptest::bool::weighted(0.2),
        proptest::bool::weighted(0.1),
        proptest::bool::weighted(0.1),
        proptest::bool::weighted(0.1),
        proptest::bool::weighted(0.03),
        proptest::bool::weighted(0.01),
    );
    let days = proptest::option::weighted(0.1, 1..30i64);
    (entity, 0..2u8, mg, flags, 0..SPEAKERS.len(), days).prop_map(|(entity, attribute, mg, flags, speaker, days)| {
        let (denied, ending, past, blanket, copy, retired) = flags;
        StatedEntry { entity, attribute, mg, denied, ending, past, blanket, speaker, days, copy, retired }
    })
}

fn entries() -> impl Strategy<Value = Vec<LogEntry>> {
    let done =
        (0..MemoryAction::ALL.len(), 0..3usize, 0..64usize).prop_map(|(deed, by, on)| EntryKind::Done { deed, by, on });
    let what = prop_oneof![9 => said().prop_map(EntryKind::Said), 1 => done];
    proptest::collection::vec((0..100i64, what).prop_map(|(hours, what)| LogEntry { hours, what }), 40..120)
}

fn assertion(n: usize, at: DateTime<Utc>, said: &StatedEntry) -> Assertion {
    let (set_by, document_type, source_type, trust) = SPEAKERS[said.speaker];
    let number = n.to_be_bytes();
    let text = derive("text", &[if said.copy { b"copied" } else { number.as_slice() }]);
    let class = match (set_by, source_type) {
        (SetBy::Agent, SourceType::Consolidation) => Class::Pattern,
        (SetBy::Agent, _) => Class::Inference,
        _ => Class::from_finding(said.entity),
    };
    Assertion {
        id: FindingId(derive("finding", &[&number])),
        source: derive("source", &[&number]),
        text: Some({
            let mut whole = [0; 32];
            whole[..16].copy_from_slice(text.as_bytes());
            whole
        }),
        live: !said.retired,
        attribute: [said.attribute; 32],
        class,
        polarity: Polarity::from_negated(said.denied),
        details: Details { dose: said.mg.map(|mg| format!("{mg} mg")), ..Details::default() },
        ending: said.ending,
        past: said.past,
        blanket: said.blanket && said.entity == EntityType::Allergy,
        never: said.denied && said.mg.is_none(),
        set_by,
        document_type,
        source_type,
        epistemic: source_type.epistemic(),
        trust,
        initial_confidence: 0.1 + 0.07 * (n % 12) as f64,
        asserted_at: at,
        valid_from: at - Duration::days(i64::from(said.attribute)),
        expires_at: said.days.map(|days| at + Duration::days(days)),
        recorded_at: at,
        ..finding(n as u128, said.entity, 0)
    }
}

/// The compared part: the whole result of a projection.
fn found(outcome: &Projection) -> (Vec<(MemoryId, KeyHash)>, &[Conflict]) {
    (outcome.memories.iter().map(|m| (m.id, m.fingerprint())).collect(), &outcome.conflicts)
}

/// Folds on in parts of these sizes as a store does, and compares each part with the whole. How often it was resumed.
fn compared(entries: &[LogEntry], parts: &[usize]) -> Result<usize, TestCaseError> {
    let policy = LifecyclePolicy::default();
    let (mut whole, mut since) = (GroupLog::default(), GroupLog::default());
    let (mut at, mut kept, mut resumed, mut memories) = (day(0), None::<Checkpoint>, 0, Vec::new());
    let (mut rest, mut parts) = (entries.iter().enumerate().peekable(), parts.iter().cycle());
    while rest.peek().is_some() {
        for (n, entry) in rest.by_ref().take(*parts.next().unwrap()) {
            at += Duration::hours(entry.hours);
            // An entry no later than the checkpoint invalidates it: a store deletes it.
            kept = kept.filter(|kept| at > kept.last_at());
            match &entry.what {
                EntryKind::Said(said) => {
                    let a = assertion(n, at, said);
                    whole.assertions.push(a.clone());
                    since.assertions.push(a);
                }
                EntryKind::Done { deed, by, on } if !memories.is_empty() => {
                    let act = PersonAct {
                        id: MemoryEventId(derive("act", &[&n.to_be_bytes()])),
                        memory: memories[on % memories.len()],
                        at,
                        deed: MemoryAction::ALL[*deed],
                        by: [SetBy::Patient, SetBy::Clinician, SetBy::Agent][*by],
                        evidence: None,
                    };
                    whole.acts.push(act.clone());
                    since.acts.push(act);
                }
                EntryKind::Done { .. } => {}
            }
        }
        let now = at + Duration::hours(1);
        let replayed = replay(scope(), &whole, now, &policy);
        let on = kept.as_ref().and_then(|kept| resume(scope(), kept, &since, now, &policy));
        if let Some(on) = &on {
            resumed += 1;
            prop_assert_eq!(found(&on.outcome), found(&replayed.outcome));
        }
        memories = replayed.outcome.memories.iter().map(|m| m.id).collect();
        let ResumableProjection { checkpoint, .. } = on.unwrap_or(replayed);
        if let Some(checkpoint) = checkpoint {
            // As it comes back from a store.
            let json = serde_json::to_vec(&checkpoint).unwrap();
            let back: Checkpoint = serde_json::from_slice(&json).unwrap();
            prop_assert_eq!(&back, &checkpoint);
            (kept, since) = (Some(back), GroupLog::default());
        }
    }
    Ok(resumed)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_log_that_is_folded_on_gives_what_the_whole_log_gives(
        entries in entries(),
        parts in proptest::collection::vec(1..24usize, 1..6),
    ) {
        compared(&entries, &parts)?;
    }
}

#[test]
fn a_fact_that_is_stated_for_years_is_folded_on_each_time() {
    let said = StatedEntry {
        entity: EntityType::Medication,
        attribute: 0,
        mg: Some(50),
        denied: false,
        ending: false,
        past: false,
        blanket: false,
        speaker: 1,
        days: None,
        copy: false,
        retired: false,
    };
    let entries: Vec<LogEntry> =
        (0..500).map(|_| LogEntry { hours: 150, what: EntryKind::Said(said.clone()) }).collect();
    let resumed = compared(&entries, &[1]).unwrap();
    assert!(resumed > 480, "{resumed} of 500");
}

#[test]
fn nothing_is_resumed_that_repeats_a_source_or_rests_on_other_rules() {
    let policy = LifecyclePolicy::default();
    let one = |n: usize| {
        let source = derive("source", &[&n.to_be_bytes()]);
        Assertion { source, ..dose(n as u128, n as i64, 50) }
    };
    let log = GroupLog { assertions: (0..20).map(one).collect(), acts: vec![] };
    let checkpoint = replay(scope(), &log, day(21), &policy).checkpoint.unwrap();
    let next = |a: Assertion| GroupLog { assertions: vec![a], acts: vec![] };
    let resumed =
        |log: &GroupLog, policy: &LifecyclePolicy| resume(scope(), &checkpoint, log, day(40), policy).is_some();
    assert!(resumed(&next(one(30)), &policy));
    assert!(!resumed(&next(Assertion { source: one(3).source, ..one(30) }), &policy), "evidence counts once");
    assert!(!resumed(&next(Assertion { live: false, ..one(30) }), &policy));
    let other = LifecyclePolicy { unconfirmed_days: 9, ..policy };
    assert!(!resumed(&next(one(30)), &other), "another policy");
}

#[test]
fn what_takes_over_the_evidence_of_before_needs_the_whole_log() {
    let policy = LifecyclePolicy::default();
    let one = |n: usize, mg| {
        let source = derive("source", &[&n.to_be_bytes()]);
        by_clinician(Assertion { source, ..dose(n as u128, n as i64, mg) })
    };
    let log = GroupLog { assertions: (0..20).map(|n| one(n, 50)).collect(), acts: vec![] };
    let checkpoint = replay(scope(), &log, day(21), &policy).checkpoint.unwrap();
    let changed = GroupLog { assertions: vec![one(30, 100)], acts: vec![] };
    assert!(resume(scope(), &checkpoint, &changed, day(40), &policy).is_none());
}

//! Any order and any repetition of the same findings and acts end in the same memories.

use proptest::prelude::*;

use super::*;

fn any_finding() -> impl Strategy<Value = Assertion> {
    let entity = prop::sample::select(vec![EntityType::Medication, EntityType::Symptom, EntityType::Allergy]);
    let set_by = prop::sample::select(vec![SetBy::Patient, SetBy::Clinician, SetBy::Agent, SetBy::Family]);
    (entity, 0..30i64, 0..4u32, any::<bool>(), prop::bool::weighted(0.2), set_by, 1..6u128, prop::bool::weighted(0.15))
        .prop_map(|(entity, at, dose, negated, ending, set_by, source, retired)| {
            let details = Details { dose: (dose > 0).then(|| format!("{dose}0 mg")), ..Details::default() };
            let trust = match set_by {
                SetBy::Agent => Trust::T4,
                SetBy::Family => Trust::T3,
                _ => Trust::T1,
            };
            let document =
                if set_by == SetBy::Clinician { DocumentType::ClinicalNote } else { DocumentType::ChatMessage };
            Assertion {
                source: Uuid::from_u128(source),
                details,
                polarity: Polarity::from_negated(negated),
                never: negated && dose != 1,
                ending,
                set_by,
                trust,
                document_type: Some(document),
                live: !retired,
                ..finding(1, entity, at)
            }
        })
}

proptest! {
    /// The promise on which redelivery, late messages and two engines rest.
    #[test]
    fn any_order_and_any_repetition_ends_in_the_same_state(
        mut log in prop::collection::vec(any_finding(), 0..14),
        seed in any::<u64>(),
    ) {
        for (n, a) in log.iter_mut().enumerate() {
            a.id = FindingId(Uuid::from_u128(n as u128 + 1));
        }
        let straight = folded(log.clone(), 40);
        let mut shuffled = log.clone();
        shuffled.extend(log.iter().take(5).cloned());
        let mut state = seed | 1;
        for at in (1..shuffled.len()).rev() {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            shuffled.swap(at, (state >> 33) as usize % (at + 1));
        }
        prop_assert_eq!(folded(shuffled, 40), straight);
    }

    #[test]
    fn ids_are_unique_and_every_link_leads_somewhere(mut log in prop::collection::vec(any_finding(), 0..14)) {
        for (n, a) in log.iter_mut().enumerate() {
            a.id = FindingId(Uuid::from_u128(n as u128 + 1));
        }
        let out = folded(log, 40);
        let ids: std::collections::BTreeSet<_> = out.memories.iter().map(|m| m.id).collect();
        prop_assert_eq!(ids.len(), out.memories.len());
        for m in &out.memories {
            for link in [m.supersedes, m.superseded_by].into_iter().flatten() {
                prop_assert!(ids.contains(&link));
            }
            prop_assert!(m.valid_to.is_none_or(|to| to >= m.valid_from || m.state != State::Superseded));
        }
    }

    /// A clinician's allergy survives whatever conversations say.
    #[test]
    fn no_conversation_ever_silences_an_allergy(mut log in prop::collection::vec(any_finding(), 0..12)) {
        log.retain(|a| a.set_by != SetBy::Clinician);
        for (n, a) in log.iter_mut().enumerate() {
            a.id = FindingId(Uuid::from_u128(n as u128 + 2));
            a.entity = EntityType::Allergy;
            a.class = Class::LongLivedFact;
            a.attribute = [7; 32];
        }
        let allergy = Assertion { attribute: [7; 32], ..by_clinician(finding(1, EntityType::Allergy, 0)) };
        log.push(allergy);
        let out = folded(log, 40);
        prop_assert!(out.memories.iter().any(|m| m.state == State::Active && !m.contested && m.sources.contains(&FindingId(Uuid::from_u128(1)))));
    }
}

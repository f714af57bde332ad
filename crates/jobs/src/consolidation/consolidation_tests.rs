//! When mentions become a memory: how many, over how many days, how sure, and by which names they are known.

use anamnesis_core::clock::{SeededEntropy, SystemClock};
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_crypto::Keyring;

use super::*;
use crate::policy::Policies;

const ORG: u128 = 1;

async fn job() -> Consolidation {
    let keys = Keyring::in_memory(Arc::new(SystemClock), Arc::new(SeededEntropy::new(1))).await.unwrap();
    let policies = Policies::embedded().unwrap();
    let policy = policies.consolidation.thresholds.clone();
    let keys: Arc<dyn KeyStore> = Arc::new(keys);
    let permits = Permits::new(Arc::clone(&keys), day(0));
    Consolidation { policy, rules: policies.rules(), keys, permits }
}

fn day(n: i64) -> DateTime<Utc> {
    "2026-01-01T10:00:00Z".parse::<DateTime<Utc>>().unwrap() + TimeDelta::days(n)
}

fn mention(document: u128, day_of: i64, entity: EntityType) -> Mention {
    Mention {
        patient: PatientId(Uuid::from_u128(2)),
        attribute: [3; 32],
        document: Uuid::from_u128(document),
        text: None,
        revision: 1,
        finding: FindingId(Uuid::from_u128(document + 1_000)),
        asserted_at: day(day_of),
        recorded_at: day(day_of),
        confidence: 0.9,
        extraction_confidence: 0.9,
        trust: Trust::T1,
        entity,
        negated: false,
        is_stated: false,
        is_worded: true,
    }
}

fn scope() -> Scope {
    Scope::new(OrgId(Uuid::from_u128(ORG)), PatientId(Uuid::from_u128(2))).unwrap()
}

/// Documents 1, 2, … on these days.
fn on(days: &[i64], entity: EntityType) -> Vec<Mention> {
    (1..).zip(days).map(|(document, day)| mention(document, *day, entity)).collect()
}

#[tokio::test]
async fn a_belief_is_of_three_documents_of_two_days() {
    let job = job().await;
    for (days, expected) in [
        (&[0, 1][..], &[][..]),
        (&[0, 0, 0], &[]),
        (&[0, 0, 1], &[3]),
        (&[0, 0, 0, 1, 1], &[4, 5]),
        (&[0, 1, 2, 3], &[3, 4]),
    ] {
        let found = job.enough(&on(days, EntityType::Symptom));
        let sizes: Vec<usize> = found.iter().map(|(_, mentions)| mentions.len()).collect();
        assert_eq!(sizes, expected, "{days:?}");
    }
    assert!(job.enough(&[]).is_empty());
}

#[tokio::test]
async fn a_value_is_of_five_documents_over_half_a_year() {
    let job = job().await;
    for (days, expected) in [
        (&[0, 40, 80, 120, 179][..], &[][..]),
        (&[0, 40, 80, 120, 180], &[5]),
        (&[0, 40, 80, 180], &[]),
        (&[0, 40, 80, 120, 160, 180, 181], &[6, 7]),
    ] {
        for (entity, kind) in [(EntityType::Preference, Kind::Value), (EntityType::Goal, Kind::Drive)] {
            let found = job.enough(&on(days, entity));
            let sizes: Vec<usize> = found.iter().map(|(_, mentions)| mentions.len()).collect();
            assert_eq!(sizes, expected, "{days:?}");
            assert!(found.iter().all(|(rule, _)| rule.kind == kind));
        }
    }
    for (entity, kind) in [(EntityType::Relationship, Kind::Relationship), (EntityType::Symptom, Kind::Belief)] {
        let rule = job.rule_of(entity);
        assert_eq!((rule.kind, rule.documents, rule.days, rule.lasting), (kind, 3, 2, TimeDelta::zero()));
    }
}

#[tokio::test]
async fn a_copy_a_second_mention_in_a_document_and_a_denial_do_not_count() {
    let job = job().await;
    let whole = on(&[0, 1, 2], EntityType::Symptom);
    assert_eq!(job.enough(&whole).len(), 1);
    let mut same_document = whole.clone();
    same_document[2].document = same_document[0].document;
    assert!(job.enough(&same_document).is_empty(), "one document twice");
    let mut same_text = whole.clone();
    same_text[0].text = Some([7; 32]);
    same_text[2].text = Some([7; 32]);
    assert!(job.enough(&same_text).is_empty(), "one text under two documents");
    same_text[2].text = Some([8; 32]);
    assert_eq!(job.enough(&same_text).len(), 1);
    let mut denied = whole;
    denied[1].negated = true;
    assert!(job.enough(&denied).is_empty());
}

#[tokio::test]
async fn the_first_that_is_enough_forms_and_later_ones_reinforce() {
    let job = job().await;
    let mentions = on(&[0, 1, 2, 3], EntityType::Symptom);
    let found = job.of_attribute(scope(), &mentions, day(4));
    assert_eq!(found.iter().map(|one| one.forms).collect::<Vec<_>>(), [true, false]);
    assert_ne!(found[0].id, found[1].id, "each is a finding");
    assert_eq!((found[0].source, found[0].id), named(scope(), &mentions[..3]));
    assert_eq!(job.of_attribute(scope(), &mentions, day(4))[0].id, found[0].id, "the same night gives the same names");
}

#[tokio::test]
async fn mentions_with_low_average_confidence_derive_nothing_and_the_weakest_is_recorded() {
    let job = job().await;
    let of = |sure: [f64; 3]| {
        let mut mentions = on(&[0, 1, 2], EntityType::Symptom);
        for (mention, sure) in mentions.iter_mut().zip(sure) {
            mention.confidence = sure;
        }
        job.of_attribute(scope(), &mentions, day(2)).first().map(|one| one.weakest)
    };
    let weakest = of([0.9, 0.5, 0.8]).unwrap();
    assert!((weakest - 0.5).abs() < 0.01, "{weakest}");
    assert_eq!(of([0.9, 0.5, 0.3]), None, "0.57 on average");
    assert_eq!(of([0.5, 0.5, 0.5]), None);
}

#[test]
fn mentions_are_separated_by_patient_and_attribute() {
    let cutoff = day(9);
    let window = JobWindow { org: OrgId(Uuid::from_u128(ORG)), cutoff, limit: 9, generations: None, preview: false };
    let mut mentions = on(&[0, 1, 2, 3], EntityType::Symptom);
    mentions[2].attribute = [4; 32];
    mentions[3].attribute = [4; 32];
    mentions[3].patient = PatientId(Uuid::from_u128(5));
    let found: Vec<(u128, usize)> =
        by_attribute(&window, &mentions).map(|(scope, group)| (scope.patient().0.as_u128(), group.len())).collect();
    assert_eq!(found, [(2, 2), (2, 1), (5, 1)]);
    mentions[0].patient = PatientId(Uuid::nil());
    assert_eq!(by_attribute(&window, &mentions).count(), 3, "who is nobody forms nothing");
}

#[test]
fn a_recurrence_is_named_by_its_patient_its_attribute_and_its_last_document() {
    let mentions = on(&[0, 1, 2], EntityType::Symptom);
    let (source, id) = named(scope(), &mentions);
    assert_eq!((source, id), named(scope(), &mentions[2..]), "what comes before the last names nothing");
    assert_ne!(id, named(scope(), &mentions[..2]).1);
    let mut other = mentions.clone();
    other[2].attribute = [9; 32];
    assert!(named(scope(), &other).0 != source && named(scope(), &other).1 != id);
    let neighbour = Scope::new(OrgId(Uuid::from_u128(ORG)), PatientId(Uuid::from_u128(9))).unwrap();
    assert_ne!(named(neighbour, &mentions).1, id);
}

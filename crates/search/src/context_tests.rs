//! The section of a context for each row, and the order in it.

use super::*;
use crate::fixture::{about, at, id, row};
use anamnesis_core::provenance::Trust;

/// The names of the sections that hold something after these rows were sorted in.
fn sections(rows: &[ClinicalRow]) -> Vec<&'static str> {
    let mut summary = PatientSummary::default();
    for row in rows {
        let item = MemoryItem::clinical(row);
        summary.section(row).push(item);
    }
    let s = &summary;
    let all = [
        ("allergies", &s.allergies),
        ("medications", &s.medications),
        ("conditions", &s.conditions),
        ("denied", &s.denied),
        ("family_history", &s.family_history),
        ("past", &s.past),
        ("symptoms", &s.symptoms),
        ("events", &s.events),
        ("measurements", &s.measurements),
        ("signals", &s.signals),
    ];
    all.into_iter().filter(|(_, items)| !items.is_empty()).map(|(name, _)| name).collect()
}

fn placed(entity: EntityType, change: impl FnOnce(&mut Memory)) -> &'static str {
    let found = sections(&[row(entity, "asma", change)]);
    assert_eq!(found.len(), 1, "{found:?}");
    found[0]
}

fn history(m: &mut Memory) {
    m.status.use_ = PermittedUse::History;
}

fn doubtful(m: &mut Memory) {
    (m.status.use_, m.status.read_doubtfully) = (PermittedUse::Hypothesis, true);
}

#[test]
fn active_facts_are_in_the_section_of_their_type() {
    for (entity, section) in [
        (EntityType::Allergy, "allergies"),
        (EntityType::Intolerance, "allergies"),
        (EntityType::Medication, "medications"),
        (EntityType::Condition, "conditions"),
        (EntityType::Procedure, "conditions"),
        (EntityType::Symptom, "symptoms"),
        (EntityType::Appointment, "events"),
        (EntityType::Event, "events"),
        (EntityType::Measurement, "measurements"),
        (EntityType::HealthSignal, "signals"),
    ] {
        assert_eq!(placed(entity, |_| ()), section, "{entity}");
    }
}

#[test]
fn what_is_not_is_never_listed_with_what_is() {
    for entity in [EntityType::Allergy, EntityType::Medication, EntityType::Condition, EntityType::Symptom] {
        assert_eq!(placed(entity, |m| m.negated = true), "denied", "{entity}");
        assert_eq!(placed(entity, history), "past", "{entity}");
    }
    assert_eq!(placed(EntityType::Condition, |m| m.experiencer = Experiencer::Family), "family_history");
    assert_eq!(placed(EntityType::Condition, |m| m.experiencer = Experiencer::Other), "family_history");
    assert_eq!(placed(EntityType::Symptom, |m| m.class = Class::Event), "past", "a symptom of the past");
}

#[test]
fn an_appointment_whose_day_is_over_is_past_and_an_event_stays() {
    assert_eq!(placed(EntityType::Appointment, history), "past");
    assert_eq!(placed(EntityType::Event, history), "events");
    assert_eq!(placed(EntityType::Measurement, history), "measurements");
    assert_eq!(placed(EntityType::HealthSignal, history), "signals");
}

#[test]
fn an_allergy_that_was_read_doubtfully_is_shown_and_another_illness_is_asked_about() {
    for entity in [EntityType::Allergy, EntityType::Intolerance] {
        assert_eq!(placed(entity, doubtful), "allergies", "{entity}");
        assert!(!is_open_hypothesis(&row(entity, "látex", doubtful)));
    }
    let open = |entity, change: fn(&mut Memory)| is_open_hypothesis(&row(entity, "látex", change));
    assert!(open(EntityType::Condition, doubtful) && open(EntityType::Medication, doubtful));
    assert!(!open(EntityType::Condition, |m| m.status.use_ = PermittedUse::Hypothesis), "read well");
    assert!(!open(EntityType::Condition, |m| m.status.read_doubtfully = true), "decided");
    for timeless in [EntityType::HealthSignal, EntityType::Appointment, EntityType::Event] {
        assert!(!open(timeless, doubtful), "{timeless}");
    }
    let refused: [fn(&mut Memory); 4] = [
        |m| m.negated = true,
        |m| m.experiencer = Experiencer::Family,
        |m| m.status.state = State::Resolved,
        |m| m.entity = Some(EntityType::Condition),
    ];
    for change in refused {
        let changed = row(EntityType::Allergy, "látex", |m| {
            doubtful(m);
            change(m);
        });
        assert!(is_open_hypothesis(&changed), "{:?}", changed.memory);
    }
}

#[test]
fn a_medicine_is_taken_despite_an_allergy_only_while_both_are_in_force() {
    let allergy = |change: fn(&mut Memory)| row(EntityType::Allergy, "penicillin", change);
    let medicine = |change: fn(&mut Memory)| row(EntityType::Medication, "penicillin", change);
    let taken = |allergy: ClinicalRow, medicine: &ClinicalRow| {
        let all = [allergy];
        is_taken_despite(medicine, &allergens_of(&all))
    };
    let plain = medicine(|_| ());
    assert!(taken(allergy(|_| ()), &plain));
    assert!(taken(row(EntityType::Intolerance, "penicillin", |_| ()), &plain));
    assert!(!taken(allergy(|m| m.negated = true), &plain));
    assert!(!taken(allergy(|m| m.status.state = State::Superseded), &plain));
    assert!(!taken(row(EntityType::Condition, "penicillin", |_| ()), &plain));
    assert!(!taken(row(EntityType::Allergy, "latex", |_| ()), &plain));
    assert!(!taken(allergy(|_| ()), &medicine(|m| m.negated = true)));
    assert!(!taken(allergy(|_| ()), &medicine(|m| m.status.state = State::Resolved)));
    assert!(!taken(allergy(|_| ()), &row(EntityType::Condition, "penicillin", |_| ())));
}

#[test]
fn an_active_fact_contradicts_a_statement_about_all_of_its_type() {
    let none = |entity| about(entity, "*", |m| m.negated = true);
    let with = |rows: &[ClinicalRow]| {
        let mut summary = PatientSummary::default();
        for row in rows {
            summary.section(row).push(MemoryItem::clinical(row));
        }
        (summary.refutes(&none(EntityType::Allergy)), summary.refutes(&none(EntityType::Medication)))
    };
    assert_eq!(with(&[]), (false, false));
    assert_eq!(with(&[row(EntityType::Allergy, "latex", |_| ())]), (true, false));
    assert_eq!(with(&[row(EntityType::Intolerance, "lactose", |_| ())]), (false, false), "no allergy");
    assert_eq!(with(&[row(EntityType::Medication, "sertraline", |_| ())]), (false, true));
    assert!(!PatientSummary::default().refutes(&none(EntityType::Condition)));
}

#[test]
fn an_absence_that_the_profile_contradicts_is_asked_about() {
    let absent = MemoryItem::conversational(&about(EntityType::Allergy, "*", |m| m.negated = true));
    let item = against_the_profile(absent);
    assert_eq!((item.use_, item.contested), (PermittedUse::Hypothesis, true));
    let goal = MemoryItem::conversational(&about(EntityType::Goal, "correr", |_| ()));
    assert_eq!(against_the_profile(goal.clone()), goal);
}

#[test]
fn the_words_of_the_query_come_first_then_trust_then_age() {
    let statement = |n: u128, terms: &[i64], change: fn(&mut Memory)| {
        about(EntityType::Goal, "correr", |m| {
            (m.id, m.terms) = (id(n), terms.to_vec());
            change(m);
        })
    };
    let all = [
        statement(1, &[1], |m| m.trust = Trust::T5),
        statement(2, &[1], |m| m.said_at = at("2026-01-01T00:00:00Z")),
        statement(3, &[1], |m| m.said_at = at("2026-02-01T00:00:00Z")),
        statement(4, &[9], |m| m.trust = Trust::T4),
        statement(5, &[1], |m| m.status.effective_confidence = 0.2),
        statement(6, &[1], |m| m.status.rank_factor = 0.1),
    ];
    let order = |terms: &[i64]| -> Vec<u128> {
        ranked(&all, &terms.iter().map(|term| QueryTerm::from_stems([*term])).collect::<Vec<_>>())
            .iter()
            .map(|item| item.memory_id.0.as_u128())
            .collect()
    };
    assert_eq!(order(&[]), [3, 2, 4, 1, 5, 6]);
    assert_eq!(order(&[9]), [4, 3, 2, 1, 5, 6]);
}

#[test]
fn a_section_keeps_its_best_and_every_item_of_a_profile_can_be_found() {
    let item = MemoryItem::conversational(&about(EntityType::Goal, "correr", |_| ()));
    let many = vec![item.clone(); SECTION + 3];
    assert_eq!((first(many).len(), first(vec![item.clone()]).len()), (SECTION, 1));
    let mut n = 0;
    let mut next = || {
        n += 1;
        vec![MemoryItem { memory_id: id(n), ..item.clone() }]
    };
    let summary = PatientSummary {
        allergies: next(),
        medications: next(),
        conditions: next(),
        absences: next(),
        denied: next(),
        family_history: next(),
        past: next(),
        symptoms: next(),
        events: next(),
        measurements: next(),
        signals: next(),
        stated_preferences: next(),
        ..PatientSummary::default()
    };
    assert_eq!(summary.items().count(), 12);
    assert_eq!(summary.memory_ids(), (1..=12).map(|n| id(n).0).collect());
}

#[test]
fn a_request_reads_now_unless_it_names_an_instant() {
    assert_eq!(ContextRequest::default().when(), ReadInstant::Now);
    let as_of = at("2026-02-01T00:00:00Z");
    let asked = ContextRequest { as_of: Some(as_of), ..ContextRequest::default() };
    assert_eq!(asked.when(), ReadInstant::AsOf(as_of));
}

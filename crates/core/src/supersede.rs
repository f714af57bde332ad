//! How two values of the same attribute are resolved (model.md, "Change of mind"; seed 001, section 5; seed 002,
//! section 6). Authoritative are a clinician, a profile event and an answered task.

use chrono::{DateTime, Utc};

use super::coded_enum::codes;
use super::finding::EntityType;
use super::memory::{Class, DocumentType, SetBy};
use super::provenance::Trust;

codes!(
    SupersedeOutcome {
        Supersede = "supersede",
        /// Nothing changes: both are stored and linked, and a person is asked.
        Contradiction = "contradiction",
        Reconfirm = "reconfirm",
        /// The new value was true before the old one and closes itself at its successor.
        CloseBackdated = "close_backdated",
        NoChange = "no_change",
    }
);

/// The value that is already there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CurrentValue {
    pub trust: Trust,
    pub set_by: SetBy,
    /// What it is about; `None` (unknown) is treated as clinical. The value "no allergy" is guarded like any other
    /// clinical value, not like an allergy: a later report of one must be accepted.
    pub entity: Option<EntityType>,
    pub class: Option<Class>,
    pub valid_from: Option<DateTime<Utc>>,
}

/// The value that arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrivingValue {
    pub trust: Trust,
    /// The setter, where it is known.
    pub set_by: SetBy,
    /// `None` where no document carries it: profile events, answers, commands.
    pub document_type: Option<DocumentType>,
    pub valid_from: Option<DateTime<Utc>>,
    /// It states the same fact as the old value (`equivalence`).
    pub same_fact: bool,
}

/// Decides between a current and an arriving value of one attribute. The order of the questions is the order of harm:
/// first whether the newcomer may change anything, then when it was true.
pub fn outcome(old: &CurrentValue, new: &ArrivingValue) -> SupersedeOutcome {
    if new.same_fact {
        return if new.trust >= Trust::T4 { SupersedeOutcome::NoChange } else { SupersedeOutcome::Reconfirm };
    }
    if !may_change(old, new) || keeps_both(old, new) {
        return SupersedeOutcome::Contradiction;
    }
    match (old.valid_from, new.valid_from) {
        (Some(old), Some(new)) => later(old, new),
        _ => SupersedeOutcome::Supersede,
    }
}

/// Of two values of which the newcomer may replace the other: which one holds now.
pub(crate) fn later(old: DateTime<Utc>, new: DateTime<Utc>) -> SupersedeOutcome {
    if new < old { SupersedeOutcome::CloseBackdated } else { SupersedeOutcome::Supersede }
}

/// Only T1 and T2 change anything, T2 never T1. A clinical row or an allergy needs an authoritative source.
fn may_change(old: &CurrentValue, new: &ArrivingValue) -> bool {
    let trusted = match new.trust {
        Trust::T1 => true,
        Trust::T2 => old.trust != Trust::T1,
        Trust::T3 | Trust::T4 | Trust::T5 => false,
    };
    let clinical = old.entity.is_none_or(EntityType::is_clinical);
    let guarded = (clinical && old.set_by.is_authoritative())
        || matches!(old.entity, Some(EntityType::Allergy | EntityType::Intolerance));
    let conversational = new.document_type.is_some_and(DocumentType::is_conversational);
    // An intake form is no conversation, although its words are the patient's.
    let entitled = !matches!(new.set_by, SetBy::Patient | SetBy::Family | SetBy::Agent | SetBy::Device);
    trusted && (!guarded || (entitled && !conversational))
}

/// Patterns and preferences keep both sides of a tension, unless an authoritative source decides.
fn keeps_both(old: &CurrentValue, new: &ArrivingValue) -> bool {
    let soft = matches!(old.class, Some(Class::Pattern | Class::Preference))
        || matches!(old.entity, Some(EntityType::Preference));
    soft && !new.set_by.is_authoritative()
}

#[cfg(test)]
mod tests {
    use chrono::{Duration, TimeZone};
    use proptest::prelude::*;

    use super::*;

    fn day(n: i64) -> Option<DateTime<Utc>> {
        Some(Utc.with_ymd_and_hms(2026, 1, 1, 0, 0, 0).unwrap() + Duration::days(n))
    }

    fn medication(trust: Trust, set_by: SetBy) -> CurrentValue {
        CurrentValue { trust, set_by, entity: Some(EntityType::Medication), class: None, valid_from: day(10) }
    }

    fn arriving(trust: Trust, document_type: DocumentType) -> ArrivingValue {
        ArrivingValue {
            trust,
            set_by: SetBy::Unknown,
            document_type: Some(document_type),
            valid_from: day(20),
            same_fact: false,
        }
    }

    #[test]
    fn a_later_value_of_equal_trust_supersedes_also_at_the_same_instant() {
        let old = medication(Trust::T1, SetBy::Patient);
        let new = arriving(Trust::T1, DocumentType::ChatMessage);
        assert_eq!(outcome(&old, &new), SupersedeOutcome::Supersede);
        assert_eq!(outcome(&old, &ArrivingValue { valid_from: day(10), ..new }), SupersedeOutcome::Supersede);
        let before = ArrivingValue { valid_from: Some(day(10).unwrap() - Duration::seconds(1)), ..new };
        assert_eq!(outcome(&old, &before), SupersedeOutcome::CloseBackdated);
    }

    #[test]
    fn lower_trust_against_higher_is_a_contradiction_and_never_a_change() {
        for old in [Trust::T1, Trust::T2] {
            for new in [Trust::T3, Trust::T4, Trust::T5] {
                let new = arriving(new, DocumentType::ClinicalNote);
                assert_eq!(outcome(&medication(old, SetBy::Patient), &new), SupersedeOutcome::Contradiction);
            }
        }
    }

    #[test]
    fn a_device_never_supersedes_what_a_person_said() {
        let new = arriving(Trust::T2, DocumentType::UploadedDocument);
        assert_eq!(outcome(&medication(Trust::T1, SetBy::Patient), &new), SupersedeOutcome::Contradiction);
        assert_eq!(outcome(&medication(Trust::T2, SetBy::Device), &new), SupersedeOutcome::Supersede);
        assert_eq!(outcome(&medication(Trust::T4, SetBy::Agent), &new), SupersedeOutcome::Supersede);
    }

    #[test]
    fn a_conversation_never_changes_what_a_clinician_a_profile_or_a_task_set() {
        for set_by in [SetBy::Clinician, SetBy::Profile, SetBy::Task] {
            for document in [DocumentType::ChatMessage, DocumentType::SessionTranscript] {
                let new = arriving(Trust::T1, document);
                assert_eq!(outcome(&medication(Trust::T1, set_by), &new), SupersedeOutcome::Contradiction);
                let backdated = ArrivingValue { valid_from: day(0), ..new };
                assert_eq!(outcome(&medication(Trust::T1, set_by), &backdated), SupersedeOutcome::Contradiction);
            }
            let note = arriving(Trust::T1, DocumentType::ClinicalNote);
            assert_eq!(outcome(&medication(Trust::T1, set_by), &note), SupersedeOutcome::Supersede);
        }
    }

    #[test]
    fn no_conversation_changes_any_allergy_even_one_that_a_conversation_set() {
        let allergy = CurrentValue { entity: Some(EntityType::Allergy), ..medication(Trust::T3, SetBy::Patient) };
        let chat = arriving(Trust::T1, DocumentType::ChatMessage);
        assert_eq!(outcome(&allergy, &chat), SupersedeOutcome::Contradiction);
        let profile = ArrivingValue { document_type: None, set_by: SetBy::Profile, ..chat };
        assert_eq!(outcome(&allergy, &profile), SupersedeOutcome::Supersede);
    }

    #[test]
    fn a_patients_form_is_no_conversation_and_changes_no_allergy_and_nothing_that_a_clinician_set() {
        let form = ArrivingValue { set_by: SetBy::Patient, ..arriving(Trust::T1, DocumentType::IntakeForm) };
        let allergy = CurrentValue { entity: Some(EntityType::Allergy), ..medication(Trust::T1, SetBy::Patient) };
        assert_eq!(outcome(&allergy, &form), SupersedeOutcome::Contradiction);
        assert_eq!(outcome(&medication(Trust::T1, SetBy::Clinician), &form), SupersedeOutcome::Contradiction);
        assert_eq!(outcome(&medication(Trust::T1, SetBy::Patient), &form), SupersedeOutcome::Supersede);
        let answered = ArrivingValue { set_by: SetBy::Task, ..form };
        assert_eq!(outcome(&medication(Trust::T1, SetBy::Clinician), &answered), SupersedeOutcome::Supersede);
    }

    #[test]
    fn an_attribute_of_unknown_kind_is_guarded_like_a_clinical_one() {
        let old = CurrentValue { entity: None, ..medication(Trust::T1, SetBy::Clinician) };
        assert_eq!(outcome(&old, &arriving(Trust::T1, DocumentType::ChatMessage)), SupersedeOutcome::Contradiction);
    }

    #[test]
    fn the_same_fact_reconfirms_but_model_output_confirms_nothing() {
        let old = medication(Trust::T1, SetBy::Clinician);
        let again = ArrivingValue { same_fact: true, ..arriving(Trust::T1, DocumentType::ChatMessage) };
        assert_eq!(outcome(&old, &again), SupersedeOutcome::Reconfirm);
        assert_eq!(outcome(&old, &ArrivingValue { trust: Trust::T3, ..again }), SupersedeOutcome::Reconfirm);
        assert_eq!(outcome(&old, &ArrivingValue { trust: Trust::T4, ..again }), SupersedeOutcome::NoChange);
    }

    #[test]
    fn opposed_preferences_both_stay_until_a_person_in_charge_decides() {
        let old = CurrentValue {
            entity: Some(EntityType::Preference),
            class: Some(Class::Preference),
            ..medication(Trust::T1, SetBy::Patient)
        };
        let new = arriving(Trust::T1, DocumentType::ChatMessage);
        assert_eq!(outcome(&old, &new), SupersedeOutcome::Contradiction);
        let profile = ArrivingValue { set_by: SetBy::Profile, document_type: None, ..new };
        assert_eq!(outcome(&old, &profile), SupersedeOutcome::Supersede);
    }

    proptest! {
        #[test]
        fn nothing_below_second_rank_ever_supersedes(
            old in proptest::sample::select(Trust::ALL),
            new in proptest::sample::select(&[Trust::T3, Trust::T4, Trust::T5][..]),
            set_by in proptest::sample::select(SetBy::ALL),
            by in proptest::sample::select(SetBy::ALL),
            document in proptest::option::of(proptest::sample::select(DocumentType::ALL)),
            entity in proptest::option::of(proptest::sample::select(EntityType::ALL)),
        ) {
            let old = CurrentValue { trust: old, set_by, entity, class: None, valid_from: day(0) };
            let new = ArrivingValue { trust: new, set_by: by, document_type: document, valid_from: day(1), same_fact: false };
            prop_assert_eq!(outcome(&old, &new), SupersedeOutcome::Contradiction);
        }
    }
}

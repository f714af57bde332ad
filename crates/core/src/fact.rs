//! Canonical forms of a finding: its attribute with the person, and its statement about the attribute. The store hashes
//! both under the patient's key (model.md, "At rest"); equal hashes mean the same attribute, or the same fact.

use super::finding::{EntityType, Experiencer, Polarity};
use anamnesis_text::fold;

/// The attributes that distinguish one fact from another (model.md, "Change of mind": a different number, dose, date,
/// polarity or experiencer is never the same fact). Texts may come as extracted; case, accents and units are normalised
/// here.
#[derive(Debug, Clone, Copy)]
pub struct FactParts<'a> {
    pub entity: EntityType,
    /// The concept's preferred name ("sertraline"), a metric ("sleep_hours") or a preference's key.
    pub concept: &'a str,
    pub experiencer: Experiencer,
    /// Which relative or other person, where it is known ("mother"): two relatives are two subjects.
    pub person: Option<&'a str>,
    pub polarity: Polarity,
    /// active, stopped, started …
    pub status: Option<&'a str>,
    pub dose: Option<&'a str>,
    pub route: Option<&'a str>,
    pub frequency: Option<&'a str>,
    pub severity: Option<&'a str>,
    /// When it happens or happened, ISO 8601 to the known precision.
    pub date: Option<&'a str>,
    /// The stated value, where it is not the concept itself (a preference's value, a measurement).
    pub value: Option<&'a str>,
}

impl<'a> FactParts<'a> {
    /// An affirmed finding about the patient with nothing but its concept.
    pub fn new(entity: EntityType, concept: &'a str) -> Self {
        Self {
            entity,
            concept,
            experiencer: Experiencer::Patient,
            person: None,
            polarity: Polarity::Affirmed,
            status: None,
            dose: None,
            route: None,
            frequency: None,
            severity: None,
            date: None,
            value: None,
        }
    }

    /// Subject and attribute: a newer value supersedes an older one with the same key. For a dated event, the time is
    /// part of the attribute: next week's appointment does not replace last week's.
    pub fn attribute(&self) -> Vec<u8> {
        let mut form = CanonicalForm::new("attribute");
        self.subject(&mut form);
        form.bytes
    }

    fn subject(&self, form: &mut CanonicalForm) {
        form.push(self.experiencer.code());
        form.word(self.person);
        form.push(self.entity.code());
        form.word(Some(self.concept));
        form.word(self.date.filter(|_| self.entity.happens()));
        // Another value of the same day is another measurement, not a correction of the first.
        if self.entity == EntityType::Measurement {
            form.word(self.value);
        }
    }
}

/// Length-prefixed parts: no two different sequences of parts have the same bytes.
struct CanonicalForm {
    bytes: Vec<u8>,
}

impl CanonicalForm {
    fn new(domain: &str) -> Self {
        let mut form = Self { bytes: Vec::new() };
        form.push(domain);
        form
    }

    fn push(&mut self, part: &str) {
        self.bytes.extend((part.len() as u64).to_be_bytes());
        self.bytes.extend(part.as_bytes());
    }

    fn word(&mut self, part: Option<&str>) {
        self.optional(part.map(|part| fold(part).split_whitespace().collect::<Vec<_>>().join(" ")));
    }

    /// A missing part is distinguished from an empty one.
    fn optional(&mut self, part: Option<String>) {
        self.bytes.push(u8::from(part.is_some()));
        self.push(part.as_deref().unwrap_or(""));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sertraline() -> FactParts<'static> {
        FactParts { dose: Some("50 mg"), ..FactParts::new(EntityType::Medication, "sertraline") }
    }

    #[test]
    fn another_dose_and_a_denial_speak_of_the_same_attribute() {
        let more = FactParts { dose: Some("100 mg"), ..sertraline() };
        assert_eq!(more.attribute(), sertraline().attribute());
        let allergic = FactParts::new(EntityType::Allergy, "penicillin");
        let not = FactParts { polarity: Polarity::Negated, ..allergic };
        assert_eq!(not.attribute(), allergic.attribute());
    }

    #[test]
    fn case_and_accents_make_no_other_attribute() {
        let spanish = FactParts::new(EntityType::Condition, "depresión mayor");
        assert_eq!(FactParts { concept: "Depresion  Mayor", ..spanish }.attribute(), spanish.attribute());
    }

    #[test]
    fn the_mother_the_sister_and_the_patient_are_three_subjects() {
        let own = FactParts::new(EntityType::Condition, "diabetes");
        let mother = FactParts { experiencer: Experiencer::Family, person: Some("mother"), ..own };
        let sister = FactParts { person: Some("sister"), ..mother };
        assert_ne!(own.attribute(), mother.attribute());
        assert_ne!(mother.attribute(), sister.attribute());
    }

    #[test]
    fn appointments_on_two_days_are_two_attributes_and_a_fact_is_not() {
        let visit = FactParts { date: Some("2026-03-03"), ..FactParts::new(EntityType::Appointment, "psychiatry") };
        let later = FactParts { date: Some("2026-03-04"), ..visit };
        assert_ne!(visit.attribute(), later.attribute());
        let since = FactParts { date: Some("2019"), ..FactParts::new(EntityType::Condition, "asthma") };
        let other = FactParts { date: Some("2020"), ..since };
        assert_eq!(since.attribute(), other.attribute());
    }

    proptest! {
        #[test]
        fn parts_never_run_into_each_other(a in "[a-c]{0,3}", b in "[a-c]{1,3}", c in "[a-c]{0,3}", d in "[a-c]{1,3}") {
            let of = |person, concept| FactParts { person: Some(person), ..FactParts::new(EntityType::Condition, concept) };
            prop_assert_eq!(of(&a, &b).attribute() == of(&c, &d).attribute(), a == c && b == d);
        }
    }
}

//! How values are replaced, and what replacing needs to know of a value.

use serde::Deserialize;

use anamnesis_text::Language;

/// How values of a label are replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operator {
    /// `[PHONE]`
    Tag,
    /// `[PERSON_7F3A]`, the same for the same value of a patient.
    Surrogate,
    /// Letters and digits become `*`.
    Mask,
    /// An invented value of the same kind, the same for the same value of a patient.
    Fake,
    /// Dates move by a number of days that belongs to the patient, so that intervals stay.
    Shift,
    /// Ages become a decade, 90 and more one class (45 CFR 164.514(b)(2)(i)(C)).
    Generalise,
    /// Postal codes keep what stands for a province or three digits (45 CFR 164.514(b)(2)(i)(B)).
    Cut,
    /// `[PERSON~…]`: sealed under a key that is kept apart.
    Token,
}

impl Operator {
    /// What it leaves in the text reads like a real value.
    pub(crate) fn is_lifelike(self) -> bool {
        matches!(self, Self::Fake | Self::Shift)
    }
}

/// What replacing needs to know of the value.
pub(crate) struct MatchedValue<'a> {
    pub(crate) label: &'static str,
    /// As it stands in the source.
    pub(crate) text: &'a str,
    pub(crate) fingerprint: u64,
    pub(crate) language: Language,
}

//! How values are replaced, and what an operator needs to know about a value.

use serde::Deserialize;

use anamnesis_text::Language;

/// How values of a label are replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Operator {
    /// `[PHONE]`
    Tag,
    /// `[PERSON_7F3A]`, the same for equal values of one patient.
    Surrogate,
    /// Letters and digits become `*`.
    Mask,
    /// An invented value of the same kind, the same for equal values of one patient.
    Fake,
    /// Dates move by a number of days that is fixed for the patient, so that intervals stay.
    Shift,
    /// Ages become a decade; 90 and more are one class (45 CFR 164.514(b)(2)(i)(C)).
    Generalise,
    /// Postal codes keep only the province or three digits (45 CFR 164.514(b)(2)(i)(B)).
    Cut,
    /// `[PERSON~…]`: sealed under a key that is stored separately.
    Token,
}

impl Operator {
    /// Whether its replacements read like real values.
    pub(crate) fn is_lifelike(self) -> bool {
        matches!(self, Self::Fake | Self::Shift)
    }
}

/// The value with the inputs of an operator.
pub(crate) struct MatchedValue<'a> {
    pub(crate) label: &'static str,
    /// As written in the source.
    pub(crate) text: &'a str,
    pub(crate) fingerprint: u64,
    pub(crate) language: Language,
}

//! What stands in the place of a value: a tag, a surrogate, a mask, an invented value of the same kind, a shifted date,
//! a rougher age or postal code, or a token that a key kept apart opens again.

use chrono::{Datelike, Days, NaiveDate};
use serde::Deserialize;

use super::finding::Finding;
use super::reversible::TokenKey;
use super::surrogate::{Sealer, plain_tag, stable_tag};
use super::{Precision, SideValue, fakes, label};
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
pub(crate) struct Value<'a> {
    pub(crate) label: &'static str,
    /// As it stands in the source.
    pub(crate) text: &'a str,
    pub(crate) fingerprint: u64,
    pub(crate) language: Language,
}

/// Days by which a patient's dates move at most, either way; never 0.
const FARTHEST: u64 = 364;
/// First three digits of the areas with 20,000 people or fewer (census of 2000, guidance of the US health department).
const SMALL_AREAS: [&str; 17] = [
    "036", "059", "063", "102", "203", "556", "692", "790", "821", "823", "830", "831", "878", "879", "884", "890",
    "893",
];

/// The text that replaces a value.
pub(crate) fn replacement(
    operator: Operator,
    found: &Finding,
    value: &Value<'_>,
    sealer: &Sealer,
    token_key: Option<&TokenKey>,
) -> String {
    let tag = || plain_tag(value.label);
    match operator {
        Operator::Tag => tag(),
        Operator::Surrogate => stable_tag(value.label, value.fingerprint),
        Operator::Mask => value.text.chars().map(|c| if c.is_alphanumeric() { '*' } else { c }).collect(),
        Operator::Fake => fakes::fake(value).unwrap_or_else(tag),
        Operator::Shift => shifted(found, sealer).unwrap_or_else(tag),
        Operator::Generalise => generalised(found).unwrap_or_else(tag),
        Operator::Cut => cut(value).unwrap_or_else(tag),
        // Redactor::run refuses a policy with tokens where there is no key.
        Operator::Token => token_key.and_then(|key| key.seal(value.label, value.text)).unwrap_or_else(tag),
    }
}

/// `2019-03-07` moved; a month or a year is moved by its middle. `None` for what is no date with a value.
fn shifted(found: &Finding, sealer: &Sealer) -> Option<String> {
    let Some(SideValue::Date { date, precision }) = found.value else { return None };
    let draw = sealer.fingerprint("SHIFT", "days");
    let days = Days::new(1 + draw % FARTHEST);
    let middle = match precision {
        Precision::Day => date,
        Precision::Month => date.with_day(15)?,
        Precision::Year => NaiveDate::from_ymd_opt(date.year(), 7, 1)?,
    };
    let moved = if draw >> 63 == 0 { middle.checked_add_days(days) } else { middle.checked_sub_days(days) }?;
    Some(match precision {
        Precision::Day => moved.format("%Y-%m-%d").to_string(),
        Precision::Month => moved.format("%Y-%m").to_string(),
        Precision::Year => moved.format("%Y").to_string(),
    })
}

/// `[AGE_40-49]`, `[AGE_90+]`: a form that no later run takes for an age.
fn generalised(found: &Finding) -> Option<String> {
    let Some(SideValue::Age(years)) = found.value else { return None };
    let decade = years / 10 * 10;
    Some(if years >= 90 { "[AGE_90+]".to_owned() } else { format!("[AGE_{decade}-{}]", decade + 9) })
}

fn cut(value: &Value<'_>) -> Option<String> {
    if value.label != label::POSTAL_CODE {
        return None;
    }
    let digits: String = value.text.chars().filter(char::is_ascii_digit).take(5).collect();
    if digits.len() < 5 {
        return None;
    }
    let kept = match value.language {
        Language::English if SMALL_AREAS.contains(&&digits[..3]) => "000",
        Language::English => &digits[..3],
        Language::Spanish | Language::Unknown => &digits[..2],
    };
    Some(format!("[POSTAL_CODE_{kept}]"))
}

#[cfg(test)]
mod tests {
    use super::super::finding::Layer;
    use super::super::surrogate::SurrogateKey;
    use super::*;
    use anamnesis_text::Span;

    fn found(value: SideValue) -> Finding {
        let mut found = Finding::new(Span::new(0, 1), label::DATE, "test", 1.0, Layer::Entity);
        found.value = Some(value);
        found
    }

    fn day(text: &str) -> SideValue {
        SideValue::Date { date: text.parse().unwrap(), precision: Precision::Day }
    }

    #[test]
    fn shifted_dates_of_one_patient_keep_their_distance_and_differ_between_patients() {
        let moved = |key: u8, text: &str| -> NaiveDate {
            let sealer = Sealer::new(&SurrogateKey::new([key; 32]));
            shifted(&found(day(text)), &sealer).unwrap().parse().unwrap()
        };
        let (a, b) = (moved(1, "2020-02-20"), moved(1, "2020-03-05"));
        assert_eq!((b - a).num_days(), 14);
        assert_ne!(a, "2020-02-20".parse().unwrap());
        assert_ne!(a, moved(2, "2020-02-20"));
    }

    #[test]
    fn ages_become_decades_and_the_oldest_one_class() {
        assert_eq!(generalised(&found(SideValue::Age(47))).unwrap(), "[AGE_40-49]");
        assert_eq!(generalised(&found(SideValue::Age(103))).unwrap(), "[AGE_90+]");
    }

    #[test]
    fn postal_codes_keep_the_area_unless_it_is_small() {
        let cut_of = |text, language| cut(&Value { label: label::POSTAL_CODE, text, fingerprint: 0, language });
        assert_eq!(cut_of("28035", Language::Spanish).unwrap(), "[POSTAL_CODE_28]");
        assert_eq!(cut_of("90210-1234", Language::English).unwrap(), "[POSTAL_CODE_902]");
        assert_eq!(cut_of("03601", Language::English).unwrap(), "[POSTAL_CODE_000]");
        assert_eq!(cut_of("SW1A 1AA", Language::English), None);
    }
}

//! Replacements: a tag, a surrogate, a mask, an invented value of the same kind, a shifted date, a coarser age or
//! postal code, or a reversible token.

use chrono::{Datelike, Days, NaiveDate};

use super::finding::PiiFinding;
use super::operator::{MatchedValue, Operator};
use super::surrogate::{Fingerprinter, plain_tag, stable_tag};
use super::tokenization::TokenKey;
use super::{label, synthetic};
use anamnesis_core::side_value::{Precision, SideValue};
use anamnesis_text::Language;

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
    found: &PiiFinding,
    value: &MatchedValue<'_>,
    fingerprinter: &Fingerprinter,
    token_key: Option<&TokenKey>,
) -> String {
    let tag = || plain_tag(value.label);
    match operator {
        Operator::Tag => tag(),
        Operator::Surrogate => stable_tag(value.label, value.fingerprint),
        Operator::Mask => value.text.chars().map(|c| if c.is_alphanumeric() { '*' } else { c }).collect(),
        Operator::Fake => synthetic::synthetic_value(value).unwrap_or_else(tag),
        Operator::Shift => shifted(found, fingerprinter).unwrap_or_else(tag),
        Operator::Generalise => generalised(found).unwrap_or_else(tag),
        Operator::Cut => cut(value).unwrap_or_else(tag),
        // Redactor::run refuses a policy with tokens where there is no key.
        Operator::Token => token_key.and_then(|key| key.seal(value.label, value.text)).unwrap_or_else(tag),
    }
}

/// `2019-03-07`, shifted; a month or a year is shifted by its middle. `None` for text without a date value.
fn shifted(found: &PiiFinding, fingerprinter: &Fingerprinter) -> Option<String> {
    let Some(SideValue::Date { date, precision }) = found.value else { return None };
    let draw = fingerprinter.fingerprint("SHIFT", "days");
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
fn generalised(found: &PiiFinding) -> Option<String> {
    let Some(SideValue::Age(years)) = found.value else { return None };
    let decade = years / 10 * 10;
    Some(if years >= 90 { "[AGE_90+]".to_owned() } else { format!("[AGE_{decade}-{}]", decade + 9) })
}

fn cut(value: &MatchedValue<'_>) -> Option<String> {
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
    use super::*;
    use crate::finding::DetectionLayer;
    use crate::surrogate::SurrogateKey;
    use anamnesis_text::Span;

    fn found(value: SideValue) -> PiiFinding {
        let mut found = PiiFinding::new(Span::new(0, 1), label::DATE, "test", 1.0, DetectionLayer::Entity);
        found.value = Some(value);
        found
    }

    fn day(text: &str) -> SideValue {
        SideValue::Date { date: text.parse().unwrap(), precision: Precision::Day }
    }

    #[test]
    fn shifted_dates_of_one_patient_keep_their_distance_and_differ_between_patients() {
        let moved = |key: u8, text: &str| -> NaiveDate {
            let fingerprinter = Fingerprinter::new(&SurrogateKey::new([key; 32]));
            shifted(&found(day(text)), &fingerprinter).unwrap().parse().unwrap()
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
        let cut_of = |text, language| cut(&MatchedValue { label: label::POSTAL_CODE, text, fingerprint: 0, language });
        assert_eq!(cut_of("28035", Language::Spanish).unwrap(), "[POSTAL_CODE_28]");
        assert_eq!(cut_of("90210-1234", Language::English).unwrap(), "[POSTAL_CODE_902]");
        assert_eq!(cut_of("03601", Language::English).unwrap(), "[POSTAL_CODE_000]");
        assert_eq!(cut_of("SW1A 1AA", Language::English), None);
    }

    #[test]
    fn every_operator_leaves_what_it_says() {
        let fingerprinter = Fingerprinter::new(&SurrogateKey::new([1; 32]));
        let value =
            |label, text| MatchedValue { label, text, fingerprint: 0x7F3A_0000_0000_0001, language: Language::Spanish };
        let key = TokenKey::new([3; 64]);
        let (mut date, mut age) = (found(day("2020-02-20")), found(SideValue::Age(47)));
        (date.label, age.label) = (label::DATE, label::AGE);
        let name = PiiFinding::new(Span::new(0, 1), label::PERSON, "test", 1.0, DetectionLayer::Entity);
        let made = |operator, found: &PiiFinding, label, text| {
            replacement(operator, found, &value(label, text), &fingerprinter, Some(&key))
        };
        assert_eq!(made(Operator::Tag, &name, label::PERSON, "Ana"), "[PERSON]");
        assert_eq!(made(Operator::Surrogate, &name, label::PERSON, "Ana"), "[PERSON_7F3A]");
        assert_eq!(made(Operator::Mask, &name, label::PERSON, "Ana G. 3"), "*** *. *");
        assert_eq!(made(Operator::Generalise, &age, label::AGE, "47"), "[AGE_40-49]");
        assert_eq!(made(Operator::Generalise, &name, label::AGE, "47"), "[AGE]", "no age is known");
        assert_eq!(made(Operator::Cut, &name, label::POSTAL_CODE, "28035"), "[POSTAL_CODE_28]");
        assert_eq!(made(Operator::Cut, &name, label::PERSON, "28035"), "[PERSON]", "no postal code");
        assert_eq!(made(Operator::Shift, &name, label::DATE, "ayer"), "[DATE]", "no date is known");
        assert_eq!(made(Operator::Shift, &date, label::DATE, "20/2/2020").len(), "2020-02-20".len());
        assert_eq!(made(Operator::Fake, &date, label::DATE, "20/2/2020"), "[DATE]", "nothing is invented for dates");
        let token = made(Operator::Token, &name, label::PERSON, "Ana");
        assert_eq!(key.detokenize(&token), "Ana");
        let keyless = replacement(Operator::Token, &name, &value(label::PERSON, "Ana"), &fingerprinter, None);
        assert_eq!(keyless, "[PERSON]");
        for operator in
            [Operator::Tag, Operator::Surrogate, Operator::Mask, Operator::Generalise, Operator::Cut, Operator::Token]
        {
            assert!(!operator.is_lifelike());
        }
        assert!(Operator::Fake.is_lifelike() && Operator::Shift.is_lifelike());
    }

    #[test]
    fn a_month_or_a_year_moves_by_its_middle_and_keeps_its_form() {
        let fingerprinter = Fingerprinter::new(&SurrogateKey::new([5; 32]));
        let of = |text: &str, precision| {
            let date = text.parse().unwrap();
            shifted(&found(SideValue::Date { date, precision }), &fingerprinter).unwrap()
        };
        let (whole, month, year) =
            (of("2020-06-15", Precision::Day), of("2020-06-01", Precision::Month), of("2020-01-01", Precision::Year));
        assert_eq!((whole.len(), month.len(), year.len()), (10, 7, 4));
        assert!(whole.starts_with(&month), "the fifteenth stands for its month");
        let moved: NaiveDate = whole.parse().unwrap();
        let by = (moved - "2020-06-15".parse::<NaiveDate>().unwrap()).num_days().unsigned_abs();
        assert!((1..=FARTHEST).contains(&by));
        let middle = "2020-07-01".parse::<NaiveDate>().unwrap() + (moved - "2020-06-15".parse::<NaiveDate>().unwrap());
        assert_eq!(year, middle.format("%Y").to_string());
    }

    #[test]
    fn patients_move_both_ways_and_never_by_nothing() {
        let (mut forth, mut back) = (0, 0);
        for key in 0..40u8 {
            let fingerprinter = Fingerprinter::new(&SurrogateKey::new([key; 32]));
            let moved: NaiveDate = shifted(&found(day("2020-02-20")), &fingerprinter).unwrap().parse().unwrap();
            let by = (moved - "2020-02-20".parse::<NaiveDate>().unwrap()).num_days();
            assert!(by.abs() <= 364, "no farther than a year: {by}");
            match moved.cmp(&"2020-02-20".parse().unwrap()) {
                std::cmp::Ordering::Less => back += 1,
                std::cmp::Ordering::Greater => forth += 1,
                std::cmp::Ordering::Equal => panic!("a date that did not move"),
            }
        }
        assert!(forth > 5 && back > 5, "{forth} forth, {back} back");
    }

    #[test]
    fn the_borders_of_ages_and_codes_are_those_of_the_rule() {
        for (years, class) in
            [(0, "[AGE_0-9]"), (9, "[AGE_0-9]"), (10, "[AGE_10-19]"), (89, "[AGE_80-89]"), (90, "[AGE_90+]")]
        {
            assert_eq!(generalised(&found(SideValue::Age(years))).unwrap(), class);
        }
        assert_eq!(generalised(&found(day("2020-02-20"))), None);
        fn cut_of(label: &'static str, text: &str, language: Language) -> Option<String> {
            cut(&MatchedValue { label, text, fingerprint: 0, language })
        }
        for area in SMALL_AREAS {
            let code = format!("{area}99");
            assert_eq!(cut_of(label::POSTAL_CODE, &code, Language::English).unwrap(), "[POSTAL_CODE_000]");
        }
        assert_eq!(cut_of(label::POSTAL_CODE, "03601", Language::Unknown).unwrap(), "[POSTAL_CODE_03]");
        assert_eq!(cut_of(label::POSTAL_CODE, "2803", Language::Spanish), None);
        assert_eq!(cut_of(label::PHONE, "28035", Language::Spanish), None);
    }
}

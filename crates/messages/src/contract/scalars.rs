//! Small formats of the contract: language tags and dates of which only a part is known.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use chrono::NaiveDate;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use anamnesis_core::side_value::Precision;
use anamnesis_text::Language;

/// A string that does not have the format its field asks for. Says nothing about the string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not in the format of this field")]
pub struct Unreadable;

macro_rules! as_string {
    ($name:ident, $pattern:literal, $doc:literal) => {
        impl TryFrom<String> for $name {
            type Error = Unreadable;
            fn try_from(text: String) -> Result<Self, Unreadable> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> String {
                value.to_string()
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({"type": "string", "pattern": $pattern, "description": $doc})
            }
        }
    };
}

/// A BCP 47 tag: `es`, `es-MX`, `en`. Languages other than Spanish and English are worked with the rules of both.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LanguageTag(String);

as_string!(LanguageTag, "^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*$", "BCP 47 language tag, such as es, es-MX or en");

impl LanguageTag {
    pub(crate) fn language(&self) -> Language {
        match self.0.split(['-', '_']).next().map(str::to_ascii_lowercase).as_deref() {
            Some("es" | "spa") => Language::Spanish,
            Some("en" | "eng") => Language::English,
            _ => Language::Unknown,
        }
    }
}

impl FromStr for LanguageTag {
    type Err = Unreadable;

    fn from_str(text: &str) -> Result<Self, Unreadable> {
        let mut parts = text.split(['-', '_']);
        let alphabetic = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphabetic());
        let primary = parts.next().is_some_and(|part| (2..=8).contains(&part.len()) && alphabetic(part));
        let rest =
            parts.all(|part| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        if primary && rest && text.len() <= 35 { Ok(Self(text.to_string())) } else { Err(Unreadable) }
    }
}

impl fmt::Display for LanguageTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A date of which the year, the month or the day is known: `2024`, `2024-05`, `2024-05-03`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PartialDate {
    /// The first day of what is known.
    pub(crate) date: NaiveDate,
    pub(crate) precision: Precision,
}

impl PartialDate {
    /// The first day of what is known: 1 January of a year, the first of a month.
    pub fn first_day(&self) -> NaiveDate {
        self.date
    }
}

as_string!(PartialDate, "^[0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?$", "A date known to the year, the month or the day");

impl FromStr for PartialDate {
    type Err = Unreadable;

    fn from_str(text: &str) -> Result<Self, Unreadable> {
        let (precision, whole) = match text.len() {
            4 => (Precision::Year, format!("{text}-01-01")),
            7 => (Precision::Month, format!("{text}-01")),
            10 => (Precision::Day, text.to_string()),
            _ => return Err(Unreadable),
        };
        // Only digits and hyphens: chrono would also take signs and spaces.
        if !whole.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
            return Err(Unreadable);
        }
        let date = NaiveDate::parse_from_str(&whole, "%Y-%m-%d").map_err(|_| Unreadable)?;
        Ok(Self { date, precision })
    }
}

impl fmt::Display for PartialDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let format = match self.precision {
            Precision::Year => "%Y",
            Precision::Month => "%Y-%m",
            Precision::Day => "%Y-%m-%d",
        };
        write!(f, "{}", self.date.format(format))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_language_tag_is_known_by_its_first_part() {
        let language = |tag: &str| tag.parse::<LanguageTag>().map(|tag| tag.language());
        assert_eq!(language("es"), Ok(Language::Spanish));
        assert_eq!(language("es-MX"), Ok(Language::Spanish));
        assert_eq!(language("EN_us"), Ok(Language::English));
        assert_eq!(language("pt-BR"), Ok(Language::Unknown));
        for bad in ["", "e", "español", "es-", "es MX", "castellano de aquí"] {
            assert_eq!(language(bad), Err(Unreadable), "{bad}");
        }
    }

    #[test]
    fn a_partial_date_keeps_how_much_is_known() {
        let date: PartialDate = "2024-05".parse().expect("a month");
        assert_eq!((date.to_string().as_str(), date.precision), ("2024-05", Precision::Month));
        assert_eq!(date.date, NaiveDate::from_ymd_opt(2024, 5, 1).expect("a date"));
        for bad in ["", "24", "2024-13", "2024-02-30", "2024/05/03", "mayo 24", "+024", "2024-5-03"] {
            assert_eq!(bad.parse::<PartialDate>(), Err(Unreadable), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn partial_dates_read_back_what_they_write(year in 1900i32..2200, month in 1u32..=12, day in 1u32..=28, parts in 1usize..=3) {
            let text = [format!("{year:04}"), format!("{month:02}"), format!("{day:02}")][..parts].join("-");
            prop_assert_eq!(text.parse::<PartialDate>().expect("valid").to_string(), text);
        }

        #[test]
        fn no_string_panics_the_small_formats(text in "\\PC{0,12}") {
            let _ = text.parse::<PartialDate>();
            let _ = text.parse::<LanguageTag>();
        }
    }
}

//! Which labels are replaced, and by what. Policies are data (`policies/*.toml`) with a version; name and version are
//! stored with each document.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;

use super::error::RedactionError;
use super::label;
use super::operator::Operator;

/// Version of the recognisers, raised when they change what they find. Stored with the policy.
pub(crate) const RECOGNISERS: &str = "10";

/// A redaction policy.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "struct Policy")]
pub struct RedactionPolicy {
    name: String,
    version: u32,
    /// Labels that stay in the text.
    #[serde(default)]
    keep: HashSet<String>,
    /// Labels with the operator `surrogate` (`[PERSON_7F3A]`): equal values have the same replacement.
    #[serde(default)]
    stable: HashSet<String>,
    /// The operator of a label; `tag` by default.
    #[serde(default)]
    operators: HashMap<String, Operator>,
    /// Ages above this many years are replaced even where ages stay.
    #[serde(default = "safe_harbor_age")]
    age_limit: u16,
    /// Years without month and day stay from this one on: 45 CFR 164.514(b)(2)(i)(C) allows them unless they reveal an
    /// age over 89. Absent: years are replaced like other dates.
    #[serde(default)]
    years_from: Option<u16>,
}

/// A fault of an organisation's own policy. Names the field, never its value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RedactionPolicyError {
    #[error("the policy is not valid TOML for a redaction policy: {0}")]
    Form(String),
    #[error("`{field}` names a label that does not exist")]
    Label { field: &'static str },
    #[error("`{field}` is empty")]
    Empty { field: &'static str },
    #[error("a label is both retained and given an operator")]
    Both,
}

/// 45 CFR 164.514(b)(2)(i)(C): all ages over 89.
fn safe_harbor_age() -> u16 {
    89
}

const BUILT_IN: [&str; 3] = [
    include_str!("policies/safe_harbor.toml"),
    include_str!("policies/gdpr_pseudonymise.toml"),
    include_str!("policies/strict.toml"),
];

impl RedactionPolicy {
    /// A built-in policy by its name: `safe_harbor` (the default), `gdpr_pseudonymise`, `strict`.
    pub fn named(name: &str) -> Result<Self, RedactionError> {
        BUILT_IN
            .iter()
            .filter_map(|text| toml::from_str::<RedactionPolicy>(text).ok())
            .find(|policy| policy.name == name)
            .ok_or(RedactionError::UnknownPolicy)
    }

    /// Replaces everything; training reads with it.
    pub fn strictest() -> Self {
        let (keep, stable) = (HashSet::new(), HashSet::new());
        Self {
            name: "strictest".to_owned(),
            version: 1,
            keep,
            stable,
            operators: HashMap::new(),
            age_limit: 0,
            years_from: None,
        }
    }

    /// A policy of an organisation's own, in the format of the built-in ones.
    ///
    /// # Errors
    /// When the text is no such policy; the field at fault is named.
    pub fn from_toml(text: &str) -> Result<Self, RedactionPolicyError> {
        let policy: Self = toml::from_str(text).map_err(|error| {
            // The message of the parser's first line names the field; its excerpt would quote values.
            RedactionPolicyError::Form(error.message().lines().next().unwrap_or_default().to_owned())
        })?;
        if policy.name.trim().is_empty() {
            return Err(RedactionPolicyError::Empty { field: "name" });
        }
        let known = |label: &String| label::ALL.contains(&label.as_str()) || label == label::COUNTRY;
        for (field, fine) in [
            ("keep", policy.keep.iter().all(known)),
            ("stable", policy.stable.iter().all(known)),
            ("operators", policy.operators.keys().all(known)),
        ] {
            if !fine {
                return Err(RedactionPolicyError::Label { field });
            }
        }
        if policy.operators.keys().any(|label| policy.keep.contains(label) && label != label::AGE) {
            return Err(RedactionPolicyError::Both);
        }
        Ok(policy)
    }

    /// Name, its version and the recognisers' version: `safe_harbor/2+6`.
    pub(crate) fn revision(&self) -> String {
        format!("{}/{}+{RECOGNISERS}", self.name, self.version)
    }

    pub(crate) fn takes(&self, label: &str) -> bool {
        !self.keep.contains(label)
    }

    /// Whether a date stays: one or more years that are late enough, and nothing else of a date.
    pub fn keeps_years(&self, text: &str) -> bool {
        let Some(from) = self.years_from else { return false };
        let year =
            |digits: &str| digits.len() == 4 && digits.parse().is_ok_and(|year: u16| (from..2100).contains(&year));
        let mut numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty()).peekable();
        let plain = !text.contains(char::is_alphabetic) && !text.contains('.');
        plain && numbers.peek().is_some() && numbers.all(year)
    }

    /// The operator of a label.
    pub(crate) fn operator(&self, label: &str) -> Operator {
        let stable = self.stable.contains(label);
        self.operators.get(label).copied().unwrap_or(if stable { Operator::Surrogate } else { Operator::Tag })
    }

    /// Whether a separately stored key can restore values.
    pub fn is_reversible(&self) -> bool {
        self.operators.values().any(|operator| *operator == Operator::Token)
    }

    /// The label by which the policy judges an age.
    pub(crate) fn age_label(&self, years: u16) -> &'static str {
        if years > self.age_limit { label::GREAT_AGE } else { label::AGE }
    }
}

impl Default for RedactionPolicy {
    fn default() -> Self {
        Self::named("safe_harbor").expect("the built-in policies parse, a test holds it")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_policies_are_known_and_others_are_refused() {
        for name in ["safe_harbor", "gdpr_pseudonymise", "strict"] {
            assert_eq!(RedactionPolicy::named(name).unwrap().name, name);
        }
        assert_eq!(RedactionPolicy::named("lenient").unwrap_err(), RedactionError::UnknownPolicy);
        assert_eq!(RedactionPolicy::default().name, "safe_harbor");
    }

    #[test]
    fn the_default_keeps_ages_up_to_89_and_strict_keeps_nothing() {
        let (usual, strict) = (RedactionPolicy::default(), RedactionPolicy::named("strict").unwrap());
        assert!(!usual.takes(usual.age_label(89)) && usual.takes(usual.age_label(90)));
        for label in [label::AGE, label::SEX, label::FAMILY, label::PROFESSION, label::COUNTRY, label::PERSON] {
            assert!(strict.takes(label));
        }
    }

    #[test]
    fn years_stay_under_safe_harbor_unless_they_may_reveal_an_age_over_89() {
        let (usual, strict) = (RedactionPolicy::default(), RedactionPolicy::named("strict").unwrap());
        for text in ["2019", "1984", "2018-2021", "2018/2019"] {
            assert!(usual.keeps_years(text) && !strict.keeps_years(text), "{text}");
        }
        for text in ["1931", "12/2019", "May 2019", "3-2019", "19", "20190", "2019.", "", "1931-2019"] {
            assert!(!usual.keeps_years(text), "{text}");
        }
    }

    #[test]
    fn a_custom_policy_is_read_or_the_field_at_fault_is_named() {
        let own = "name = \"own\"\nversion = 3\nkeep = [\"AGE\"]\n[operators]\nDATE = \"shift\"\nPHONE = \"mask\"\n";
        let policy = RedactionPolicy::from_toml(own).unwrap();
        assert_eq!((policy.operator("DATE"), policy.operator("PERSON")), (Operator::Shift, Operator::Tag));
        assert_eq!(policy.revision(), format!("own/3+{RECOGNISERS}"));
        let wrong = |text: &str| RedactionPolicy::from_toml(text).unwrap_err();
        assert_eq!(wrong("name = \"\"\nversion = 1"), RedactionPolicyError::Empty { field: "name" });
        let label = wrong("name = \"x\"\nversion = 1\nkeep = [\"SECRET\"]");
        assert_eq!(label, RedactionPolicyError::Label { field: "keep" });
        assert!(!label.to_string().contains("SECRET"));
        assert_eq!(
            wrong("name=\"x\"\nversion=1\nkeep=[\"DATE\"]\n[operators]\nDATE=\"mask\""),
            RedactionPolicyError::Both
        );
        assert!(
            matches!(wrong("name = \"x\"\nversion = 1\nkeeps = []"), RedactionPolicyError::Form(text) if text.contains("keeps"))
        );
    }

    #[test]
    fn each_built_in_policy_keeps_and_replaces_what_its_file_says() {
        let [harbor, gdpr, strict] =
            ["safe_harbor", "gdpr_pseudonymise", "strict"].map(|name| RedactionPolicy::named(name).unwrap());
        for (label, kept) in [
            (label::AGE, [true, true, false]),
            (label::SEX, [true, true, false]),
            (label::FAMILY, [true, true, false]),
            (label::PROFESSION, [true, false, false]),
            (label::COUNTRY, [true, true, false]),
            (label::GREAT_AGE, [false, false, false]),
            (label::PERSON, [false, false, false]),
            (label::DATE, [false, false, false]),
        ] {
            assert_eq!([&harbor, &gdpr, &strict].map(|policy| !policy.takes(label)), kept, "{label}");
        }
        for (label, operators) in [
            (label::PERSON, [Operator::Surrogate; 3]),
            (label::PHONE, [Operator::Surrogate, Operator::Surrogate, Operator::Tag]),
            (label::MEDICAL_RECORD, [Operator::Tag, Operator::Surrogate, Operator::Tag]),
            (label::AGE, [Operator::Generalise, Operator::Generalise, Operator::Tag]),
            (label::DATE, [Operator::Tag; 3]),
        ] {
            assert_eq!([&harbor, &gdpr, &strict].map(|policy| policy.operator(label)), operators, "{label}");
        }
        assert!(![harbor, gdpr, strict].iter().any(RedactionPolicy::is_reversible));
    }

    #[test]
    fn the_strictest_policy_keeps_nothing_and_no_age_stays() {
        let all = RedactionPolicy::strictest();
        assert!(label::ALL.iter().all(|label| all.takes(label)));
        assert_eq!((all.age_label(0), all.age_label(1)), (label::AGE, label::GREAT_AGE));
        assert!(!all.keeps_years("2019") && all.revision().starts_with("strictest/1+"));
    }

    #[test]
    fn years_stay_from_the_first_that_the_policy_names_to_the_end_of_the_century() {
        let usual = RedactionPolicy::default();
        for (text, kept) in [
            ("1940", true),
            ("1939", false),
            ("2099", true),
            ("2100", false),
            ("1940 y 1939", false),
            ("1940, 1941", true),
        ] {
            assert_eq!(usual.keeps_years(text), kept, "{text}");
        }
    }

    #[test]
    fn a_fault_of_a_file_is_reported_by_its_field() {
        let wrong = |body: &str| RedactionPolicy::from_toml(body).unwrap_err();
        let head = "name = \"x\"\nversion = 1\n";
        for (body, field) in [
            ("keep = [\"PERSN\"]", "keep"),
            ("stable = [\"PERSN\"]", "stable"),
            ("[operators]\nPERSN = \"tag\"", "operators"),
        ] {
            let error = wrong(&format!("{head}{body}"));
            assert_eq!(
                error,
                RedactionPolicyError::Label {
                    field: match field {
                        "keep" => "keep",
                        "stable" => "stable",
                        _ => "operators",
                    }
                }
            );
            assert!(error.to_string().contains(field) && !error.to_string().contains("PERSN"), "{error}");
        }
        for body in [
            "version = 1",
            "name = \"x\"",
            "name = \"x\"\nversion = \"one\"",
            "name = 3\nversion = 1",
            "=",
            "name = \"x\"\nversion = 1\n[operators]\nDATE = \"drop\"",
        ] {
            assert!(matches!(wrong(body), RedactionPolicyError::Form(_)), "{body}");
        }
        assert_eq!(wrong("name = \"  \"\nversion = 1"), RedactionPolicyError::Empty { field: "name" });
        let age = format!("{head}keep = [\"AGE\", \"COUNTRY\"]\n[operators]\nAGE = \"generalise\"");
        assert!(
            RedactionPolicy::from_toml(&age).is_ok(),
            "an age that leaves for its years has an operator of its own"
        );
    }

    #[test]
    fn a_policy_with_tokens_is_reversible_and_an_operator_outweighs_the_list_of_stable_labels() {
        let text = "name = \"x\"\nversion = 1\nstable = [\"PHONE\", \"EMAIL\"]\n[operators]\nPHONE = \"token\"";
        let policy = RedactionPolicy::from_toml(text).unwrap();
        assert!(policy.is_reversible());
        assert_eq!((policy.operator("PHONE"), policy.operator("EMAIL")), (Operator::Token, Operator::Surrogate));
    }
}

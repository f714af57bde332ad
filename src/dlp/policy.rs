//! Which labels are taken out and what stands in their place. Policies are data (`policies/*.toml`), versioned; the
//! name and version are stored with each document.

use std::collections::HashSet;

use serde::Deserialize;

use super::{RedactionError, label};

/// Version of the recognisers, raised when they change what they find. Stored with the policy.
pub const RECOGNISERS: &str = "1";

/// A redaction policy.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    name: String,
    version: u32,
    /// Labels that stay in the text.
    #[serde(default)]
    keep: HashSet<String>,
    /// Labels whose replacement tells equal values apart (`[PERSON_7F3A]`); all others become `[LABEL]`.
    #[serde(default)]
    stable: HashSet<String>,
    /// Ages above this many years are taken out even where ages stay.
    #[serde(default = "safe_harbor_age")]
    age_limit: u16,
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

impl Policy {
    /// A built-in policy by its name: `safe_harbor` (the default), `gdpr_pseudonymise`, `strict`.
    pub fn named(name: &str) -> Result<Self, RedactionError> {
        BUILT_IN
            .iter()
            .filter_map(|text| toml::from_str::<Policy>(text).ok())
            .find(|policy| policy.name == name)
            .ok_or(RedactionError::UnknownPolicy)
    }

    /// Takes everything: what training reads with.
    pub(crate) fn strictest() -> Self {
        let (keep, stable) = (HashSet::new(), HashSet::new());
        Self { name: "strictest".to_owned(), version: 1, keep, stable, age_limit: 0 }
    }

    /// A policy of an organisation's own, in the format of the built-in ones.
    pub fn from_toml(text: &str) -> Result<Self, RedactionError> {
        toml::from_str(text).map_err(|_| RedactionError::UnknownPolicy)
    }

    /// Name, its version and the recognisers' version: `safe_harbor/1+1`.
    pub fn revision(&self) -> String {
        format!("{}/{}+{RECOGNISERS}", self.name, self.version)
    }

    pub(crate) fn takes(&self, label: &str) -> bool {
        !self.keep.contains(label)
    }

    pub(crate) fn is_stable(&self, label: &str) -> bool {
        self.stable.contains(label)
    }

    /// The label under which an age is judged.
    pub(crate) fn age_label(&self, years: u16) -> &'static str {
        if years > self.age_limit { label::GREAT_AGE } else { label::AGE }
    }
}

impl Default for Policy {
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
            assert_eq!(Policy::named(name).unwrap().name, name);
        }
        assert_eq!(Policy::named("lenient").unwrap_err(), RedactionError::UnknownPolicy);
        assert_eq!(Policy::default().name, "safe_harbor");
    }

    #[test]
    fn the_default_keeps_ages_up_to_89_and_strict_keeps_nothing() {
        let (usual, strict) = (Policy::default(), Policy::named("strict").unwrap());
        assert!(!usual.takes(usual.age_label(89)) && usual.takes(usual.age_label(90)));
        for label in [label::AGE, label::SEX, label::FAMILY, label::PROFESSION, label::COUNTRY, label::PERSON] {
            assert!(strict.takes(label));
        }
    }
}

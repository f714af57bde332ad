//! A measurement: the value as a number or a word, its unit, the range that its source calls normal, the value before it.

use serde::{Deserialize, Serialize};

/// A measured value, without its name and its day.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// With a decimal point: "8.2", "130/80", "<0.01", "negative", "15/30".
    pub value: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The ends of the range that the source gives, as numbers with a decimal point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<String>,
    /// The value before, where the same words compare the two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<String>,
}

impl Measured {
    /// Value and unit, and the value before: "88 U/L (before 312)".
    pub fn said(&self) -> String {
        let mut said = self.amount();
        if let Some(previous) = &self.previous {
            said.push_str(&format!(" (before {previous})"));
        }
        said
    }

    /// Value and unit alone: they distinguish one measurement of a day from another.
    pub fn amount(&self) -> String {
        match &self.unit {
            Some(unit) => format!("{} {unit}", self.value),
            None => self.value.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measurement_is_said_with_its_unit_and_what_it_was_before() {
        let value = Measured { value: "88".into(), unit: Some("U/L".into()), ..Measured::default() };
        assert_eq!(value.said(), "88 U/L");
        let compared = Measured { previous: Some("312".into()), ..value };
        assert_eq!((compared.said().as_str(), compared.amount().as_str()), ("88 U/L (before 312)", "88 U/L"));
    }
}

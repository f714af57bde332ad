//! The unit in which a medicine is usually given, for doses that were said without one: "levothyroxine 50", "sertraline 100".

use crate::lexicon::word_lists::{self, WordList};

/// Medicines whose strength is said in micrograms.
static MICROGRAMS: WordList = WordList::listed(word_lists::MEDICATION, "units.micrograms");
/// Medicines whose strength is said in units.
const UNITS: &[&str] = &["vitamin d", "cholecalciferol", "heparin", "dalteparin", "tinzaparin"];
/// Groups of the list that no strength in milligrams fits.
const OTHER_GROUPS: &[&str] =
    &["class", "herbal", "vaccine", "eye", "skin", "drugofabuse", "hormone", "vitamin", "mineral"];
/// A smaller number without a unit is a count of tablets.
const LEAST: f64 = 4.5;
const MOST: f64 = 3000.0;

/// The dose with the unit that goes without saying.
pub(crate) fn with_usual_unit(name: &str, group: &str, dose: String) -> String {
    let Ok(number) = dose.parse::<f64>() else { return dose };
    let fraction = number < 1.0 && number > 0.0 || number.fract() != 0.0;
    if !(fraction || (LEAST..=MOST).contains(&number)) {
        return dose;
    }
    let unit = if group == "insulin" || name.contains("insulin") || UNITS.contains(&name) {
        "IU"
    } else if MICROGRAMS.contains(name) && number >= LEAST {
        "mcg"
    } else if OTHER_GROUPS.contains(&group) {
        return dose;
    } else {
        "mg"
    };
    format!("{dose} {unit}")
}

#[cfg(test)]
mod tests {
    use super::with_usual_unit;

    #[test]
    fn a_bare_number_takes_the_usual_unit_of_its_medicine() {
        let said = |name, group, dose: &str| with_usual_unit(name, group, dose.to_owned());
        assert_eq!(said("sertraline", "ssri", "50"), "50 mg");
        assert_eq!(said("levothyroxine", "endocrine", "75"), "75 mcg");
        assert_eq!(said("insulin glargine", "diabetes", "20"), "20 IU");
        assert_eq!(said("clonidine", "cardio", "0.1"), "0.1 mg");
        assert_eq!(said("acetaminophen", "analgesic", "2"), "2", "a count of tablets");
        assert_eq!(said("valerian", "herbal", "10"), "10");
        assert_eq!(said("sertraline", "ssri", "50 mg"), "50 mg");
    }
}

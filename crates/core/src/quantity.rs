//! Amounts in one unit per dimension, so that 0.5 g and 500 mg are one dose and 50 mg and 100 mg never are.

use anamnesis_text::fold;

/// A number with its unit in canonical form: mass in mg, volume in ml, length in cm, temperature, percent, counts as
/// they are. Compared as decimals with six places, never as binary fractions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Quantity {
    /// The amount in millionths of the canonical unit.
    millionths: i128,
    unit: String,
}

impl Quantity {
    /// `value` in `unit` as written ("g", "µg", "comprimidos"); `None` when the number is not finite or beyond reason.
    pub(crate) fn new(value: f64, unit: &str) -> Option<Self> {
        let (factor, unit) = canonical_unit(&fold(unit));
        let millionths = (value * factor * 1e6).round();
        // Cast is exact: the bound is far below i128.
        (millionths.abs() < 1e30).then_some(Self { millionths: millionths as i128, unit })
    }

    /// "500 mg", "0.1 mg", "2".
    pub(crate) fn canonical(&self) -> String {
        let whole = self.millionths / 1_000_000;
        let rest = (self.millionths % 1_000_000).abs();
        let sign = if self.millionths < 0 && whole == 0 { "-" } else { "" };
        let mut text = format!("{sign}{whole}.{rest:06}");
        text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
        if !self.unit.is_empty() {
            text.push(' ');
            text.push_str(&self.unit);
        }
        text
    }
}

/// Folded spellings, the factor to the canonical unit, and that unit.
const UNITS: &[(&[&str], f64, &str)] = &[
    (&["kg", "kgs", "kilo", "kilos", "kilogram", "kilograms", "kilogramo", "kilogramos"], 1e6, "mg"),
    (&["g", "gr", "grs", "gram", "grams", "gramo", "gramos"], 1e3, "mg"),
    (&["mg", "mgs", "milligram", "milligrams", "miligramo", "miligramos"], 1.0, "mg"),
    (&["mcg", "mcgs", "ug", "µg", "μg", "microgram", "micrograms", "microgramo", "microgramos"], 1e-3, "mg"),
    (&["ng", "nanogram", "nanograms", "nanogramo", "nanogramos"], 1e-6, "mg"),
    (&["lb", "lbs", "pound", "pounds", "libra", "libras"], 453_592.37, "mg"),
    (&["l", "lt", "litre", "litres", "liter", "liters", "litro", "litros"], 1e3, "ml"),
    (&["dl", "decilitre", "deciliter", "decilitro"], 100.0, "ml"),
    (
        &["ml", "mls", "cc", "millilitre", "millilitres", "milliliter", "milliliters", "mililitro", "mililitros"],
        1.0,
        "ml",
    ),
    (&["m", "metre", "metres", "meter", "meters", "metro", "metros"], 100.0, "cm"),
    (&["cm", "cms", "centimetre", "centimetres", "centimeter", "centimeters", "centimetro", "centimetros"], 1.0, "cm"),
    (&["mm", "millimetre", "millimetres", "millimeter", "millimeters", "milimetro", "milimetros"], 0.1, "cm"),
    (&["u", "ui", "iu", "unit", "units", "unidad", "unidades"], 1.0, "unit"),
    (&["meq", "meqs", "milliequivalent", "milliequivalents", "miliequivalentes"], 1.0, "meq"),
    (&["%", "percent", "porciento"], 1.0, "%"),
    (
        &[
            "tablet",
            "tablets",
            "tab",
            "tabs",
            "pill",
            "pills",
            "comprimido",
            "comprimidos",
            "tableta",
            "tabletas",
            "pastilla",
            "pastillas",
            "comp",
        ],
        1.0,
        "tablet",
    ),
    (&["capsule", "capsules", "cap", "caps", "capsula", "capsulas"], 1.0, "capsule"),
    (&["drop", "drops", "gota", "gotas"], 1.0, "drop"),
    (&["puff", "puffs", "inhalation", "inhalations", "inhalacion", "inhalaciones"], 1.0, "puff"),
    (&["patch", "patches", "parche", "parches"], 1.0, "patch"),
    (&["second", "seconds", "sec", "secs", "segundo", "segundos"], 1.0, "second"),
    (&["minute", "minutes", "min", "mins", "minuto", "minutos"], 60.0, "second"),
    (&["hour", "hours", "h", "hr", "hrs", "hora", "horas"], 3600.0, "second"),
    (&["day", "days", "dia", "dias"], 1.0, "day"),
    (&["week", "weeks", "wk", "wks", "semana", "semanas"], 7.0, "day"),
    (&["month", "months", "mes", "meses"], 1.0, "month"),
    (&["year", "years", "yr", "yrs", "ano", "anos"], 12.0, "month"),
    (&["mmhg"], 1.0, "mmhg"),
    (&["bpm", "lpm", "ppm"], 1.0, "bpm"),
    (&["°c", "ºc", "celsius"], 1.0, "°c"),
    (&["cigarette", "cigarettes", "cigarrillo", "cigarrillos", "cigarro", "cigarros"], 1.0, "cigarette"),
    (&["drink", "drinks", "copa", "copas"], 1.0, "drink"),
];

/// Whether the folded word is a unit of measure.
pub(crate) fn is_unit(folded: &str) -> bool {
    UNITS.iter().any(|(names, ..)| names.contains(&folded))
}

fn canonical_unit(folded: &str) -> (f64, String) {
    let known = UNITS.iter().find(|(names, ..)| names.contains(&folded));
    known.map_or_else(|| (1.0, folded.to_owned()), |(_, factor, unit)| (*factor, (*unit).to_owned()))
}

/// The value of a written number. A comma or a point followed by exactly three digits groups thousands where `grouping`
/// is that sign (a point in Spanish, a comma in English) and the number has no leading zero ("0.125" is a decimal
/// everywhere); otherwise either sign is the decimal one.
pub(crate) fn number(text: &str, grouping: char) -> Option<f64> {
    let parts: Vec<&str> = text.split(grouping).collect();
    let grouped = parts.len() > 1
        && !parts[0].is_empty()
        && !parts[0].starts_with('0')
        && parts[1..].iter().all(|part| part.len() == 3 || (part.len() > 3 && part[3..].starts_with([',', '.'])));
    let plain = if grouped { parts.concat() } else { text.to_owned() };
    plain.replace(',', ".").parse().ok().filter(|value: &f64| value.is_finite())
}

/// A dose as said ("0,5 g", "500 mg", "1 comprimido") in canonical form; words that are no number stay, folded.
pub fn canonical_dose(dose: &str) -> String {
    let folded = fold(dose);
    let mut parts = Vec::new();
    let mut value: Option<f64> = None;
    for word in split_numbers(&folded) {
        match (value, number(word, '\u{0}')) {
            (None, Some(read)) => value = Some(read),
            (Some(read), Some(next)) => {
                parts.extend(Quantity::new(read, "").map(|q| q.canonical()));
                value = Some(next);
            }
            (Some(read), None) => {
                parts.extend(Quantity::new(read, word).map(|q| q.canonical()));
                value = None;
            }
            (None, None) => parts.push(word.to_owned()),
        }
    }
    parts.extend(value.and_then(|read| Quantity::new(read, "")).map(|q| q.canonical()));
    parts.join(" ")
}

/// Words, with a number set apart from the unit that is glued to it ("50mg").
fn split_numbers(folded: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for word in folded.split_whitespace() {
        let digits = word.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ',')).unwrap_or(word.len());
        let (number, unit) = word.split_at(digits);
        words.extend([number.trim_end_matches(['.', ',']), unit].into_iter().filter(|part| !part.is_empty()));
    }
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_dose_has_one_form_whatever_its_unit_and_sign() {
        for dose in ["0.5 g", "0,5 g", "500 mg", "500mg", "500 miligramos", "500000 mcg", "500000 µg", ".5 g"] {
            assert_eq!(canonical_dose(dose), "500 mg", "{dose}");
        }
        assert_eq!(canonical_dose("0.125 mg"), canonical_dose("125 mcg"));
        assert_eq!(canonical_dose("10 UI"), canonical_dose("10 units"));
        assert_eq!(canonical_dose("1 comprimido"), canonical_dose("1 tablet"));
    }

    #[test]
    fn different_doses_have_different_forms() {
        assert_ne!(canonical_dose("50 mg"), canonical_dose("100 mg"));
        assert_ne!(canonical_dose("5 mg"), canonical_dose("5 ml"));
        assert_ne!(canonical_dose("5 mg"), canonical_dose("5 mcg"));
        assert_ne!(canonical_dose("5 mg"), canonical_dose("5"));
    }

    #[test]
    fn signs_group_thousands_only_where_the_language_does() {
        assert_eq!(number("1.000", '.'), Some(1000.0));
        assert_eq!(number("1,000", ','), Some(1000.0));
        assert_eq!(number("1.000,5", '.'), Some(1000.5));
        assert_eq!(number("0.125", '.'), Some(0.125));
        assert_eq!(number("2.5", '.'), Some(2.5));
        assert_eq!(number("0,5", ','), Some(0.5));
        assert_eq!(number("1.2.3", ','), None);
        assert_eq!(number("mg", ','), None);
    }

    proptest! {
        #[test]
        fn any_text_has_a_form_that_is_its_own_form(text in "[a-z0-9., ]{0,24}") {
            let once = canonical_dose(&text);
            prop_assert_eq!(canonical_dose(&once), once.clone());
        }

        #[test]
        fn grams_and_milligrams_agree(milligrams in 1u32..10_000_000) {
            let grams = f64::from(milligrams) / 1000.0;
            prop_assert_eq!(canonical_dose(&format!("{grams} g")), format!("{milligrams} mg"));
        }
    }
}

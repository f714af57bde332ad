//! Ages: years of a person, not years that passed. Under most policies only those over the limit leave the text.

use std::sync::LazyLock;

use regex::Regex;

use super::super::document::DocumentContext;
use super::super::finding::{DetectionLayer, PiiFinding};
use super::super::label;
use super::prefilter;
use crate::pattern::compiled;
use anamnesis_core::side_value::SideValue;
use anamnesis_text::Span;
use anamnesis_text::numbers::NumberKind;

static AGE: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)([0-9]{1,3})(?:[ -]?(?:anos|ano|years?|yrs?)(?:[ -]?(?:de edad|old|of age))?|[ -]?(?:y/o|yo|y\.o\.|year-old))(?-u:\b)",
    )
});
static AGED: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)(?:aged?|edad(?: de)?|cumpl[a-z]{1,6}|turn(?:ed|ing)|mayor de|i'm|i am|she's|he's) ([0-9]{1,3})(?-u:\b)",
    )
});
static SMALL: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)(?:[0-9]{1,2}|un|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez)[ -](?:meses|dias|semanas|months?|weeks?|days?|horas)[ -](?:de (?:edad|vida)|old|of age)(?-u:\b)",
    )
});
/// Words before years that passed: no age.
static PASSED: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?:hace|hacia|durante|desde hace|tras|cada|por|despues de|unos|for|over|past|last|every|ultimos|proximos|otros|about|within|after|in|en|llevo|lleva|casi hace|evolucion de|seguimiento de) (?:unos |mas de |casi |the |the past |the last |los ultimos |about |almost )?$",
    )
});
/// Words after years that passed.
static SINCE: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"^,? (?:ago|later|despues|antes|before|after|mas tarde|de evolucion|de seguimiento|previos|prior|history|de (?:matrimonio|casad|trabajo|experiencia|tratamiento|terapia|duracion)|of (?:experience|marriage|treatment|therapy))",
    )
});

/// Finds ages.
pub(crate) fn find(context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
    let lower = &context.view.lower;
    let ages = prefilter::has_years_of_age(context).then(|| AGE.captures_iter(lower)).into_iter().flatten();
    for hit in ages.chain(AGED.captures_iter(lower)) {
        let (Some(whole), Some(digits)) = (hit.get(0), hit.get(1)) else { continue };
        let years = digits.as_str().parse::<u16>().unwrap_or(0);
        let start = digits.start();
        if (1..=125).contains(&years) && !passed(lower, start, whole.end()) {
            push(context, Span::new(start, whole.end()), years, found);
        }
    }
    if prefilter::has_any(lower, &["de edad", "de vida", "old", "of age"]) {
        for hit in SMALL.find_iter(lower) {
            push(context, Span::new(hit.start(), hit.end()), 0, found);
        }
    }
    said(context, found);
}

/// "noventa y cuatro años", "ninety-four years old".
fn said(context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
    let lower = &context.view.lower;
    if !["ano", "year"].iter().any(|word| lower.contains(word)) {
        return;
    }
    static UNIT: LazyLock<Regex> =
        LazyLock::new(|| compiled(r"^[ -](?:anos|years?)(?-u:\b)(?:[ -]?(?:de edad|old|of age))?"));
    for number in context.spoken_numbers().iter().filter(|number| number.kind == NumberKind::Cardinal) {
        let (Some(unit), Some(years)) = (UNIT.find(&lower[number.span.end..]), number.value) else { continue };
        let end = number.span.end + unit.end();
        if (1.0..=125.0).contains(&years) && !passed(lower, number.span.start, end) {
            push(context, Span::new(number.span.start, end), years as u16, found);
        }
    }
}

fn passed(lower: &str, start: usize, end: usize) -> bool {
    let mut from = start.saturating_sub(40);
    while !lower.is_char_boundary(from) {
        from += 1;
    }
    PASSED.is_match(&lower[from..start]) || SINCE.is_match(&lower[end..])
}

fn push(context: &DocumentContext<'_>, span: Span, years: u16, found: &mut Vec<PiiFinding>) {
    let mut finding = PiiFinding::new(span, context.policy.age_label(years), "age", 0.8, DetectionLayer::Entity);
    finding.value = Some(SideValue::Age(years));
    debug_assert!(finding.label == label::AGE || finding.label == label::GREAT_AGE);
    found.push(finding);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{findings, labelled};
    use anamnesis_text::Language;

    fn ages(text: &str, language: Language) -> Vec<(&'static str, String)> {
        labelled(text, language, find)
    }

    #[test]
    fn ages_are_found_in_figures_and_in_words() {
        for (text, language, age) in [
            ("Paciente de 47 anos con tos", Language::Spanish, "47 anos"),
            ("Paciente de 47 anos de edad con tos", Language::Spanish, "47 anos de edad"),
            ("Edad de 47 y tos", Language::Spanish, "47"),
            ("cumplio 47 ayer", Language::Spanish, "47"),
            ("tiene cuarenta y siete anos y tos", Language::Spanish, "cuarenta y siete anos"),
            ("nino de 8 meses de edad con tos", Language::Spanish, "8 meses de edad"),
            ("A 47-year-old with cough", Language::English, "47-year-old"),
            ("47 yo with cough", Language::English, "47 yo"),
            ("47 y/o with cough", Language::English, "47 y/o"),
            ("aged 47 with cough", Language::English, "47"),
            ("I'm 47 and cough", Language::English, "47"),
            ("she is forty-seven years old and coughs", Language::English, "forty-seven years old"),
        ] {
            let found = ages(text, language);
            assert!(found.contains(&(label::AGE, age.to_owned())), "{text}: {found:?}");
        }
    }

    #[test]
    fn years_that_passed_are_no_age() {
        for (text, language) in [
            ("Diabetes desde hace 20 anos", Language::Spanish),
            ("durante 20 anos fumo", Language::Spanish),
            ("fumo 20 anos de evolucion", Language::Spanish),
            ("hace unos 20 anos fumo", Language::Spanish),
            ("hace veinte anos que fuma", Language::Spanish),
            ("smoked for 20 years", Language::English),
            ("stopped 20 years ago", Language::English),
            ("over the last 20 years", Language::English),
            ("lived 130 years", Language::English),
            ("0 years old file", Language::English),
        ] {
            assert!(ages(text, language).is_empty(), "{text}: {:?}", ages(text, language));
        }
    }

    #[test]
    fn an_age_over_the_limit_of_the_policy_has_a_label_of_its_own_and_every_age_its_years() {
        for (years, kind) in [(1, label::AGE), (89, label::AGE), (90, label::GREAT_AGE), (125, label::GREAT_AGE)] {
            let found = findings(&format!("Mujer de {years} anos"), Language::Spanish, find);
            assert_eq!(found.len(), 1, "{years}");
            assert_eq!((found[0].label, found[0].value), (kind, Some(SideValue::Age(years))), "{years}");
        }
    }
}

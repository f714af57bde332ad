//! Ages: years of a person, not years that passed. Under most policies only those over the limit leave the text.

use std::sync::LazyLock;

use regex::Regex;

use super::super::context::Context;
use super::super::finding::{Finding, Layer};
use super::super::{SideValue, label};
use super::{compiled, gates};
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
/// Words behind years that passed.
static SINCE: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"^,? (?:ago|later|despues|antes|before|after|mas tarde|de evolucion|de seguimiento|previos|prior|history|de (?:matrimonio|casad|trabajo|experiencia|tratamiento|terapia|duracion)|of (?:experience|marriage|treatment|therapy))",
    )
});

/// Finds ages.
pub(crate) fn find(context: &Context<'_>, found: &mut Vec<Finding>) {
    let lower = &context.view.lower;
    let ages = gates::has_years_of_age(context).then(|| AGE.captures_iter(lower)).into_iter().flatten();
    for hit in ages.chain(AGED.captures_iter(lower)) {
        let (Some(whole), Some(digits)) = (hit.get(0), hit.get(1)) else { continue };
        let years = digits.as_str().parse::<u16>().unwrap_or(0);
        let start = digits.start();
        if (1..=125).contains(&years) && !passed(lower, start, whole.end()) {
            push(context, Span::new(start, whole.end()), years, found);
        }
    }
    if gates::has_any(lower, &["de edad", "de vida", "old", "of age"]) {
        for hit in SMALL.find_iter(lower) {
            push(context, Span::new(hit.start(), hit.end()), 0, found);
        }
    }
    said(context, found);
}

/// "noventa y cuatro años", "ninety-four years old".
fn said(context: &Context<'_>, found: &mut Vec<Finding>) {
    let lower = &context.view.lower;
    if !["ano", "year"].iter().any(|word| lower.contains(word)) {
        return;
    }
    static UNIT: LazyLock<Regex> =
        LazyLock::new(|| compiled(r"^[ -](?:anos|years?)(?-u:\b)(?:[ -]?(?:de edad|old|of age))?"));
    for number in context.said().iter().filter(|number| number.kind == NumberKind::Cardinal) {
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

fn push(context: &Context<'_>, span: Span, years: u16, found: &mut Vec<Finding>) {
    let mut finding = Finding::new(span, context.policy.age_label(years), "age", 0.8, Layer::Entity);
    finding.value = Some(SideValue::Age(years));
    debug_assert!(finding.label == label::AGE || finding.label == label::GREAT_AGE);
    found.push(finding);
}

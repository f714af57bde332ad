//! A text with its medical terms replaced by those of the lexicon, as in a document's findings: "HTN" and "hipertensión
//! arterial" are both "hypertension". Terms outside the lexicon stay as written.

use anamnesis_core::finding::EntityType;
use anamnesis_extraction::{Entity, Extraction, ExtractionInput, Extractor};
use anamnesis_text::{Document, Language, Span, fold};

/// The text with each term replaced by its concept's preferred name.
pub(super) fn in_concepts(text: &str) -> String {
    let document = Document::plain(text, Language::Unknown);
    let found = Extractor::shared().extract(&ExtractionInput::new(&document));
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (span, name) in terms(text, &found) {
        if span.start < from {
            continue;
        }
        out.push_str(&text[from..span.start]);
        out.push_str(&name);
        from = span.end;
    }
    out.push_str(&text[from..]);
    out
}

/// A name with the other parts of the term: its side, and its negation ("no fuma").
fn name(text: &str, entity: &Entity) -> String {
    const SIDES: [&str; 12] = [
        "left",
        "right",
        "bilateral",
        "both",
        "izquierda",
        "izquierdo",
        "derecha",
        "derecho",
        "ambos",
        "ambas",
        "upper",
        "lower",
    ];
    let words = fold(entity.span.slice(text));
    let sides = words.split(|c: char| !c.is_alphanumeric()).filter(|word| SIDES.contains(word));
    let denied = entity.context.negated.then_some("no");
    denied.into_iter().chain(sides).chain([entity.value.as_str()]).collect::<Vec<_>>().join(" ")
}

/// Terms with a preferred name, first and longest first. A person's preference is no term.
fn terms(text: &str, found: &Extraction) -> Vec<(Span, String)> {
    let named = |kind| {
        matches!(
            kind,
            EntityType::Condition
                | EntityType::Symptom
                | EntityType::Allergy
                | EntityType::Intolerance
                | EntityType::Medication
                | EntityType::Procedure
        )
    };
    let entities = found.entities.iter().filter(|entity| named(entity.kind));
    let mut terms: Vec<(Span, String)> = entities.map(|entity| (entity.span, name(text, entity))).collect();
    let statements = found.statements.iter();
    terms.extend(statements.map(|statement| (statement.span, statement.kind.code().replace('_', " "))));
    terms.sort_by_key(|(span, _)| (span.start, std::cmp::Reverse(span.end)));
    terms
}

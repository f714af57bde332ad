//! Reactions and doses of the learned reader, with their substance, where the rules found none. The words are those of
//! the text.

use super::DocumentReading;
use crate::analysis::AnalyzedDocument;
use crate::reader::ReaderMention;
use crate::{Entity, EntityType, Reaction};
use anamnesis_text::Span;

/// How probable a detail must be, on the average of its pieces.
const LEAST: f32 = 0.5;
/// Bytes between a substance and its detail: of one line, and of an answer to the line before.
const REACH: usize = 90;
const REACH_BACK: usize = 40;
/// Bytes that a detail may be long.
const LONGEST: usize = 60;

/// Gives medicines their doses, and allergies and intolerances their reactions.
pub(super) fn bind(doc: &AnalyzedDocument<'_>, fusion: &DocumentReading, entities: &mut [Entity]) {
    for tag in fusion.tags.iter().filter(|tag| tag.probability >= LEAST) {
        let place = fusion.span(tag);
        let said = place.slice(doc.text());
        if said.len() > LONGEST {
            continue;
        }
        match &*tag.kind {
            "dose" if says_amount(said) => {
                let lacks = |entity: &Entity| entity.kind == EntityType::Medication && entity.dose.is_none();
                if let Some(at) = owner(fusion, entities, tag, lacks, is_medicine) {
                    entities[at].dose = Some(said.to_lowercase());
                    entities[at].places.dose = Some(place);
                }
            }
            "reaction" => {
                let lacks =
                    |entity: &Entity| is_reactive(entity) && entity.reaction.is_none() && !entity.context.negated;
                if let Some(at) = owner(fusion, entities, tag, lacks, is_reactive) {
                    entities[at].reaction = Some(Reaction { name: said.to_lowercase(), place });
                }
            }
            _ => {}
        }
    }
}

fn is_medicine(entity: &Entity) -> bool {
    entity.kind == EntityType::Medication
}

fn is_reactive(entity: &Entity) -> bool {
    matches!(entity.kind, EntityType::Allergy | EntityType::Intolerance)
}

/// An amount has a number, in digits or in words.
fn says_amount(said: &str) -> bool {
    const WORDS: [&str; 16] = [
        "media",
        "medio",
        "half",
        "una",
        "uno",
        "one",
        "dos",
        "two",
        "cuarto",
        "quarter",
        "tres",
        "three",
        "veinte",
        "twenty",
        "cincuenta",
        "fifty",
    ];
    said.chars().any(|c| c.is_ascii_digit())
        || said.split_whitespace().any(|word| WORDS.contains(&word.to_lowercase().as_str()))
}

/// Of whom a detail is: the substance right before it in its line, else the one right after it, else the last of the
/// line before. None where that one has its detail already.
fn owner(
    fusion: &DocumentReading,
    entities: &[Entity],
    tag: &ReaderMention,
    lacks: impl Fn(&Entity) -> bool,
    fits: impl Fn(&Entity) -> bool,
) -> Option<usize> {
    let place = fusion.span(tag);
    let line = |at: usize| fusion.lines.get(at).map(|(_, line)| *line);
    let here = line(tag.line)?;
    let within = |line: Span| move |entity: &&(usize, &Entity)| line.contains(&entity.1.span);
    let all: Vec<(usize, &Entity)> = entities.iter().enumerate().filter(|(_, entity)| fits(entity)).collect();
    let before = all
        .iter()
        .filter(within(here))
        .filter(|(_, entity)| entity.span.end <= place.start && place.start - entity.span.end <= REACH)
        .max_by_key(|(_, entity)| entity.span.end);
    let after = || {
        let near = |(_, entity): &&(usize, &Entity)| {
            entity.span.start >= place.end && entity.span.start - place.end <= REACH_BACK
        };
        all.iter().filter(within(here)).filter(near).min_by_key(|(_, entity)| entity.span.start)
    };
    let above = || {
        let last = line(tag.line.checked_sub(1)?)?;
        let near = |(_, entity): &&(usize, &Entity)| place.start - entity.span.end <= REACH;
        all.iter().filter(within(last)).filter(near).max_by_key(|(_, entity)| entity.span.end)
    };
    let (at, entity) = before.or_else(after).or_else(above)?;
    lacks(entity).then_some(*at)
}

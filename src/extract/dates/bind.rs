//! Which finding a date belongs to: the nearest one of the same clause, and what is joined to it by "and".

use chrono::NaiveDate;

use super::{DateMention, Direction, Said};
use crate::domain::finding::EntityType;
use crate::extract::Entity;
use crate::extract::scene::Scene;

/// Bytes between a finding and its date.
const REACH: usize = 90;
/// A comma parts more than words do.
const COMMA: usize = 25;

/// Gives findings their dates. `today` is the day of the document.
pub fn bind(scene: &Scene<'_>, dates: &[DateMention], today: NaiveDate, entities: &mut [Entity]) {
    let reading = scene.reading;
    let mut distance: Vec<usize> = vec![usize::MAX; entities.len()];
    for mention in dates {
        let words = reading.words_at(mention.span);
        let Some(first) = words.clone().next() else { continue };
        let sentence = reading.sentences[reading.sentence_of(first)].span;
        let near = |entity: &Entity| {
            let fits = sentence.contains(&entity.span) && carries(entity.kind, mention.said);
            fits.then(|| gap(scene.text(), entity, mention)).flatten()
        };
        let best = entities.iter().enumerate().filter_map(|(at, e)| near(e).map(|gap| (gap, at))).min();
        let Some((gap, at)) = best.filter(|(gap, at)| *gap < distance[*at]) else { continue };
        let Some(date) = mention.said.resolve(today, direction(entities[at].kind)) else { continue };
        for other in 0..entities.len() {
            if other == at || (entities[other].at.is_none() && joined(scene.text(), &entities[other], &entities[at])) {
                entities[other].at = Some(date);
                distance[other] = gap;
            }
        }
    }
}

/// What may have a date of that form. Wishes, people and preferences have none.
fn carries(kind: EntityType, said: Said) -> bool {
    let happens = matches!(kind, EntityType::Appointment | EntityType::Event);
    match said {
        Said::Ahead(_) => kind == EntityType::Appointment,
        Said::Today(_) => kind == EntityType::Event,
        _ => {
            happens
                || matches!(
                    kind,
                    EntityType::Condition
                        | EntityType::Symptom
                        | EntityType::Medication
                        | EntityType::Allergy
                        | EntityType::Intolerance
                )
        }
    }
}

fn direction(kind: EntityType) -> Direction {
    if kind == EntityType::Appointment { Direction::Ahead } else { Direction::Back }
}

/// How far finding and date are apart; `None` in another clause.
fn gap(text: &str, entity: &Entity, mention: &DateMention) -> Option<usize> {
    let (from, to) = match entity.span.end <= mention.span.start {
        true => (entity.span.end, mention.span.start),
        false => (mention.span.end, entity.span.start),
    };
    if from >= to {
        return Some(0);
    }
    let between = text.get(from..to)?;
    let parted = between.contains([';', '\n', '?', '!', '|'])
        || between.contains(". ")
        || [" but ", " pero ", " aunque ", " although "].iter().any(|word| between.contains(word));
    let length = between.len() + COMMA * between.matches(',').count();
    (!parted && length <= REACH).then_some(length)
}

/// "Anxiety and insomnia since May": one kind, joined by a word.
fn joined(text: &str, a: &Entity, b: &Entity) -> bool {
    let (first, second) = if a.span.end <= b.span.start { (a, b) } else { (b, a) };
    let between = text.get(first.span.end..second.span.start).map(str::trim);
    a.kind == b.kind && matches!(between, Some("and" | "y" | "e" | "&" | "/" | "+"))
}

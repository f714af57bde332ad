//! Which finding a date belongs to: the nearest one of the same clause, what is joined to it by "and", and a whole line of
//! laboratory values.

use chrono::NaiveDate;

use super::{DateMention, Direction, Said};
use crate::domain::fact_date::FactDate;
use crate::domain::finding::EntityType;
use crate::extract::Entity;
use crate::extract::scene::Scene;
use crate::text::Span;

/// Bytes between a finding and its date.
const REACH: usize = 90;
/// A comma parts more than words do.
const COMMA: usize = 25;
/// Bytes within which a date may be that of an event and of the illness that stands nearer to it.
const BOTH: usize = 45;
/// Bytes between an appointment and a stretch of time without a word that joins them.
const SPELL_REACH: usize = 24;
/// The status of what is still to come.
const PLANNED: &str = "planned";

/// Gives findings their dates. `today` is the day of the document.
pub fn bind(scene: &Scene<'_>, dates: &[DateMention], today: NaiveDate, entities: &mut [Entity]) {
    let reading = scene.reading;
    let mut distance: Vec<usize> = vec![usize::MAX; entities.len()];
    for mention in dates {
        let words = reading.words_at(mention.span);
        let Some(first) = words.clone().next() else { continue };
        let sentence = reading.sentence_of(first);
        let span = reading.sentences[sentence].span;
        let near = |entity: &Entity| {
            let here = span.contains(&entity.span);
            // "Any falls? – Yes, last Tuesday": the answer's date is the question's.
            let answer = !here && entity.kind.happens() && entity.evidence.contains(&mention.span);
            let fits = (here || answer) && carries(entity, mention.said, today);
            fits.then(|| if answer { Some(REACH) } else { gap(scene.text(), entity, mention) }).flatten()
        };
        let best_of = |happens: bool| {
            let of = entities.iter().enumerate().filter(|(_, e)| e.kind.happens() == happens);
            of.filter_map(|(at, e)| near(e).map(|gap| (gap, at))).min()
        };
        let (event, fact) = (best_of(true), best_of(false));
        let best = [event, fact].into_iter().flatten().min();
        let best = best.or_else(|| sentence_before(scene, sentence, mention, today, entities));
        // "Operated for appendicitis in 2001", "in hospital in May with pneumonia": the day is that of both.
        let both = event.filter(|(gap, at)| Some((*gap, *at)) != best && *gap <= BOTH && entities[*at].at.is_none());
        for (gap, at) in best.into_iter().chain(both) {
            if gap >= distance[at] {
                continue;
            }
            let Some(date) = resolved(mention.said, today, &entities[at]) else { continue };
            for other in 0..entities.len() {
                if other == at
                    || (entities[other].at.is_none() && joined(scene.text(), &entities[other], &entities[at]))
                {
                    entities[other].at = Some(date);
                    distance[other] = gap;
                }
            }
        }
    }
    lines(scene, dates, today, entities);
}

/// What may have a date of that form. Wishes, people and preferences have none.
fn carries(entity: &Entity, said: Said, today: NaiveDate) -> bool {
    let ahead = is_ahead(entity);
    let illness = matches!(entity.kind, EntityType::Condition | EntityType::Symptom);
    match said {
        Said::Ahead(_) => ahead,
        Said::Spell(_) => entity.kind == EntityType::Appointment,
        Said::Since(_) => illness,
        Said::Today(_) => matches!(entity.kind, EntityType::Event | EntityType::Procedure | EntityType::Measurement),
        Said::Fixed(date) if date.day > today => ahead,
        Said::Fixed(date)
            if date.last_day().is_some_and(|last| last < today) && entity.kind == EntityType::Appointment =>
        {
            false
        }
        _ => {
            entity.kind.happens()
                || illness
                || matches!(entity.kind, EntityType::Medication | EntityType::Allergy | EntityType::Intolerance)
        }
    }
}

/// An appointment, and what is planned; an investigation may turn out to be one by its day.
fn is_ahead(entity: &Entity) -> bool {
    entity.kind == EntityType::Appointment
        || (matches!(entity.kind, EntityType::Procedure | EntityType::Event)
            && entity.status.as_deref() == Some(PLANNED))
        || (entity.kind == EntityType::Procedure && matches!(entity.group, Some("imaging" | "test" | "surgery")))
}

fn direction(entity: &Entity) -> Direction {
    let planned = entity.kind == EntityType::Appointment || entity.status.as_deref() == Some(PLANNED);
    if planned { Direction::Ahead } else { Direction::Back }
}

/// An investigation without a word of the future may be done or to come: a day without a year is then the nearest one.
fn resolved(said: Said, today: NaiveDate, entity: &Entity) -> Option<FactDate> {
    let open = entity.kind == EntityType::Procedure && matches!(entity.group, Some("imaging" | "test"));
    if open && entity.status.is_none() && matches!(said, Said::MonthDay { .. } | Said::Month(_)) {
        let both = [Direction::Back, Direction::Ahead].into_iter().filter_map(|way| said.resolve(today, way));
        return both.min_by_key(|date| (date.day - today).num_days().abs());
    }
    let way = if matches!(said, Said::Ahead(_)) { Direction::Ahead } else { direction(entity) };
    said.resolve(today, way)
}

/// "My sister died. On the second of February, a stroke": a date that opens one of the next sentences of the same turn.
fn sentence_before(
    scene: &Scene<'_>,
    sentence: usize,
    mention: &DateMention,
    today: NaiveDate,
    entities: &[Entity],
) -> Option<(usize, usize)> {
    let reading = scene.reading;
    let here = &reading.sentences[sentence];
    if mention.span.start > here.span.start + 8 {
        return None;
    }
    let from = sentence.saturating_sub(2);
    let told = entities.iter().enumerate().filter(|(_, entity)| {
        let of = reading.sentence_of(reading.words_at(entity.span).start);
        (from..sentence).contains(&of)
            && reading.sentences[of].turn == here.turn
            && here.turn.is_some()
            && matches!(entity.kind, EntityType::Event | EntityType::Procedure)
            && entity.at.is_none()
            && carries(entity, mention.said, today)
    });
    told.map(|(at, _)| (REACH, at)).next_back()
}

/// A date before a run of values is that of all of them, as is one that stands on a line of its own above them.
fn lines(scene: &Scene<'_>, dates: &[DateMention], today: NaiveDate, entities: &mut [Entity]) {
    let text = scene.text();
    for entity in entities.iter_mut().filter(|e| e.kind == EntityType::Measurement && e.at.is_none()) {
        let before = dates.iter().rev().find(|date| date.span.end <= entity.span.start);
        let Some(date) = before.filter(|date| is_heading(text, date.span, entity.span)) else { continue };
        let resolved = date.said.resolve(today, Direction::Back);
        entity.at = resolved.filter(|at| {
            at.day <= today && matches!(date.said, Said::Fixed(_) | Said::MonthDay { .. } | Said::Month(_))
        });
    }
}

/// Whether a date opens the line of a value, or the block of lines in which it stands.
fn is_heading(text: &str, date: Span, value: Span) -> bool {
    let between = &text[date.end..value.start];
    if between.len() > 600 || between.contains("\n\n") {
        return false;
    }
    let line = text[..date.start].rfind('\n').map_or(0, |at| at + 1);
    let lead = text[line..date.start].trim_matches(|c: char| !c.is_alphanumeric());
    let titled = text[date.end..].trim_start_matches([')', ']', ' ']).starts_with([':', '\n', '-', '–', ',', '.', '|'])
        || lead.len() <= 24 && !between.contains(". ");
    let breaks =
        between.contains('\n') && !text[date.end..].trim_start_matches([')', ']', ' ']).starts_with([':', '\n']);
    lead.split_whitespace().count() <= 4 && titled && !breaks && !between.contains('?')
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
    let reach = if matches!(mention.said, Said::Spell(_)) { SPELL_REACH } else { REACH };
    (!parted && length <= reach).then_some(length)
}

/// "Anxiety and insomnia since May": one kind, joined by a word.
fn joined(text: &str, a: &Entity, b: &Entity) -> bool {
    let (first, second) = if a.span.end <= b.span.start { (a, b) } else { (b, a) };
    let between = text.get(first.span.end..second.span.start).map(str::trim);
    a.kind == b.kind && matches!(between, Some("and" | "y" | "e" | "&" | "/" | "+"))
}

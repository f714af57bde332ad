//! Which finding a date belongs to: the nearest one of the same clause, the one joined to it by "and", and a whole line
//! of laboratory values. A "since" belongs to the lasting state before it.

use chrono::NaiveDate;

use super::distance::{BOTH, REACH, gap, is_only_a_date, of_the_answer, plain_join};
use super::{DateDirection, DateExpression, DateMention};
use super::{courses, end_dates, start_dates, table_rows};
use crate::Entity;
use crate::analysis::AnalyzedDocument;
use anamnesis_core::fact_date::FactDate;
use anamnesis_core::finding::EntityType;
use anamnesis_text::Span;

const PLANNED: &str = "planned";

/// Gives findings their dates. `today` is the day of the document.
pub(crate) fn link_dates(doc: &AnalyzedDocument<'_>, dates: &[DateMention], today: NaiveDate, entities: &mut [Entity]) {
    let mut distance: Vec<usize> = vec![usize::MAX; entities.len()];
    for mention in dates {
        let best = candidates(doc, mention, today, entities, &distance);
        for (gap, at) in best {
            if gap >= distance[at] {
                continue;
            }
            let way = direction(doc, mention, &entities[at]);
            let Some(date) = resolved(mention.said, today, &entities[at], way) else { continue };
            for other in 0..entities.len() {
                let undated = entities[other].at.is_none();
                if other == at || undated && plain_join(doc.text(), &entities[other], &entities[at]) {
                    entities[other].at = Some(date);
                    distance[other] = gap;
                } else if undated
                    && shares(&entities[other], &entities[at], mention, today)
                    && !start_dates::is_of_the_start(doc, &entities[other], mention)
                {
                    let way = direction(doc, mention, &entities[other]);
                    entities[other].at = resolved(mention.said, today, &entities[other], way);
                    distance[other] = gap;
                }
            }
        }
    }
    table_rows::link_row_dates(doc, dates, today, entities);
    lines(doc, dates, today, entities);
    end_dates::set_end_dates(doc, dates, today, entities);
    courses::set_course_ends(doc, today, entities);
}

/// Whether a finding is read from the mention of another with the date: a medicine that was stopped then, and its
/// effect on the patient; a coil, and its insertion.
fn shares(entity: &Entity, dated: &Entity, mention: &DateMention, today: NaiveDate) -> bool {
    entity.span.overlaps(&dated.span) && carries(entity, mention.said, today)
}

/// The findings that a date may be of, each with how far it is: the nearest, and another of the same clause that shares it.
fn candidates(
    doc: &AnalyzedDocument<'_>,
    mention: &DateMention,
    today: NaiveDate,
    entities: &[Entity],
    distance: &[usize],
) -> Vec<(usize, usize)> {
    let reading = doc.reading;
    let words = reading.words_at(mention.span);
    let Some(first) = words.clone().next() else { return Vec::new() };
    let sentence = reading.sentence_of(first);
    let span = reading.sentences[sentence].span;
    let near = |entity: &Entity| {
        let here = span.contains(&entity.span);
        // "Any falls? – Yes, last Tuesday": the answer's date is the question's.
        let answer = !here && of_the_answer(doc, entity, mention);
        let begun = here && start_dates::is_of_the_start(doc, entity, mention);
        let fits = (here || answer) && !begun && carries(entity, mention.said, today);
        fits.then(|| if answer { Some(REACH) } else { gap(doc.text(), entity, mention) }).flatten()
    };
    let best_of = |wanted: &dyn Fn(&Entity) -> bool| {
        let of = entities.iter().enumerate().filter(|(_, e)| wanted(e));
        of.filter_map(|(at, e)| near(e).map(|gap| (gap, at))).min()
    };
    let event = best_of(&|e| e.kind.happens());
    let fact = best_of(&|e| !e.kind.happens());
    // A substance's own date is that of its reaction, whatever the reaction led to.
    let reacted = |e: &Entity| {
        let substance = matches!(e.kind, EntityType::Allergy | EntityType::Intolerance) && !e.context.negated;
        substance && (e.reaction.is_some() || !is_parted(e, mention, entities))
    };
    let allergy = best_of(&reacted);
    let best = [event, fact].into_iter().flatten().min();
    let best = best.or_else(|| sentence_before(doc, sentence, mention, today, entities));
    // "Operated for appendicitis in 2001", "in hospital in May with pneumonia": the day is that of both.
    let is_other = |found: &(usize, usize)| Some(*found) != best && found.0 < distance[found.1];
    let both = event.filter(|found| is_other(found) && found.0 <= BOTH);
    best.into_iter().chain(both).chain(allergy.filter(is_other)).collect()
}

/// "Allergic to penicillin, nausea since Monday": whether a complaint comes between a substance and a day.
fn is_parted(substance: &Entity, mention: &DateMention, entities: &[Entity]) -> bool {
    let between = |other: &Entity| {
        matches!(other.kind, EntityType::Symptom | EntityType::Condition)
            && substance.span.end <= other.span.start
            && other.span.end <= mention.span.start
    };
    entities.iter().any(between)
}

/// Findings that may have a date of that form. Wishes have a future one, preferences have none.
fn carries(entity: &Entity, said: DateExpression, today: NaiveDate) -> bool {
    use EntityType::{Allergy, Appointment, Condition, Event, Goal, Intolerance, Measurement, Medication, Procedure};
    let ahead = is_ahead(entity);
    let illness = matches!(entity.kind, Condition | EntityType::Symptom);
    match said {
        DateExpression::Ahead(_) => ahead,
        DateExpression::Spell(_) => entity.kind == Appointment,
        DateExpression::Since(_) => illness || entity.kind == Event,
        DateExpression::Today(_) => {
            let settled = entity.kind == Medication && entity.status.is_some();
            matches!(entity.kind, Event | Procedure | Measurement | Allergy | Intolerance)
                || settled
                || is_use(entity)
                || entity.kind == Appointment && entity.group != Some("day")
        }
        DateExpression::Fixed(date) if date.day > today => ahead,
        DateExpression::Fixed(date)
            if date.last_day().is_some_and(|last| last < today) && entity.kind == Appointment =>
        {
            false
        }
        DateExpression::Fixed(_) if entity.kind == Goal => false,
        _ => {
            entity.kind.happens()
                || illness
                || matches!(entity.kind, Medication | Allergy | Intolerance | Goal | EntityType::Relationship)
        }
    }
}

/// A substance that is drunk, smoked or taken: the time of its last use is part of the statement.
fn is_use(entity: &Entity) -> bool {
    entity.kind == EntityType::Condition
        && entity.code.is_some_and(|code| code.starts_with("F1") && !code.ends_with("21"))
}

/// An appointment, a goal, or a plan; an investigation may turn out to be one by its day.
fn is_ahead(entity: &Entity) -> bool {
    matches!(entity.kind, EntityType::Appointment | EntityType::Goal)
        || (matches!(entity.kind, EntityType::Procedure | EntityType::Event)
            && entity.status.as_deref() == Some(PLANNED))
        || (entity.kind == EntityType::Medication
            && matches!(entity.status.as_deref(), Some("suggested" | "intended" | "started" | "changed")))
        || (entity.kind == EntityType::Procedure && !matches!(entity.group, Some("vaccine")))
}

/// Where a day without a year lies: ahead for what is planned, and for a medicine that is to begin then.
fn direction(doc: &AnalyzedDocument<'_>, mention: &DateMention, entity: &Entity) -> DateDirection {
    let planned = matches!(entity.kind, EntityType::Appointment | EntityType::Goal)
        || matches!(entity.status.as_deref(), Some(PLANNED | "intended"))
        || start_dates::is_to_begin(doc, entity, mention);
    if planned { DateDirection::Ahead } else { DateDirection::Back }
}

/// An investigation or a visit without a word of the future may be done or to come: a day without a year is the nearest one.
fn resolved(said: DateExpression, today: NaiveDate, entity: &Entity, way: DateDirection) -> Option<FactDate> {
    let tested = entity.kind == EntityType::Procedure && matches!(entity.group, Some("imaging" | "test"));
    let visited = entity.kind == EntityType::Appointment && entity.group == Some("day");
    let open = (tested && entity.status.is_none()) || visited;
    if open && matches!(said, DateExpression::MonthDay { .. } | DateExpression::Month(_)) {
        let both = [DateDirection::Back, DateDirection::Ahead].into_iter().filter_map(|way| said.resolve(today, way));
        return both.min_by_key(|date| (date.day - today).num_days().abs());
    }
    said.resolve(today, if matches!(said, DateExpression::Ahead(_)) { DateDirection::Ahead } else { way })
}

/// "My sister died. On the second of February, a stroke": a date that opens one of the next sentences of the same turn,
/// or is all of the next one ("Fracture of the left clavicle. 2019.").
fn sentence_before(
    doc: &AnalyzedDocument<'_>,
    sentence: usize,
    mention: &DateMention,
    today: NaiveDate,
    entities: &[Entity],
) -> Option<(usize, usize)> {
    let reading = doc.reading;
    let here = &reading.sentences[sentence];
    if mention.span.start > here.span.start + 8 {
        return None;
    }
    let alone = is_only_a_date(doc, sentence, mention);
    let from = sentence.saturating_sub(if alone { 1 } else { 2 });
    let stated = entities.iter().enumerate().filter(|(_, entity)| {
        let of = reading.sentence_of(reading.words_at(entity.span).start);
        let event = matches!(entity.kind, EntityType::Event | EntityType::Procedure) && here.turn.is_some();
        let same_line =
            alone && doc.text().get(entity.span.end..mention.span.start).is_some_and(|between| !between.contains('\n'));
        (from..sentence).contains(&of)
            && reading.sentences[of].turn == here.turn
            && (event || same_line)
            && entity.at.is_none()
            && carries(entity, mention.said, today)
    });
    stated.map(|(at, _)| (REACH, at)).next_back()
}

/// A date before a run of values belongs to all of them, as does one on a separate line above them.
fn lines(doc: &AnalyzedDocument<'_>, dates: &[DateMention], today: NaiveDate, entities: &mut [Entity]) {
    let text = doc.text();
    for entity in entities.iter_mut().filter(|e| e.kind == EntityType::Measurement && e.at.is_none()) {
        let before = dates.iter().rev().find(|date| date.span.end <= entity.span.start);
        let Some(date) = before.filter(|date| is_heading(text, date.span, entity.span)) else { continue };
        let resolved = date.said.resolve(today, DateDirection::Back);
        entity.at = resolved.filter(|at| {
            at.day <= today
                && matches!(
                    date.said,
                    DateExpression::Fixed(_) | DateExpression::MonthDay { .. } | DateExpression::Month(_)
                )
        });
    }
}

/// Whether a date opens the line of a value, or the block of lines around it.
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

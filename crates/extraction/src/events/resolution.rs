//! Decisions that need known days: an appointment that has passed is dropped, an investigation with a day to come is an
//! appointment, and a repeated statement is stored once.

use std::collections::HashSet;

use chrono::{Datelike as _, NaiveDate};

use super::PLANNED;
use super::appointments::VISIT;
use crate::Entity;
use anamnesis_core::fact_date::{DatePrecision, FactDate};
use anamnesis_core::finding::{EntityType, Experiencer, Temporality};
use anamnesis_text::Span;

/// Days within which an event with a day and one without are spoken of as one.
const RECENT: i64 = 60;

const PREGNANCY: i64 = 300;

const LOSS_REACH: usize = 24;

/// Resolves the events, procedures and appointments of a document of the day `today`.
pub(crate) fn resolve_events(entities: &mut Vec<Entity>, today: NaiveDate) {
    for entity in entities.iter_mut() {
        let ahead = entity.at.is_some_and(|at| at.day > today);
        let done_elsewhere = matches!(entity.group, Some("imaging" | "test" | "vaccine"));
        if entity.kind == EntityType::Procedure && ahead {
            entity.status = Some(PLANNED.to_owned());
            if done_elsewhere {
                entity.kind = EntityType::Appointment;
                entity.status = None;
                entity.group = Some("meeting");
                entity.confidence = entity.confidence.max(0.8);
            }
        }
    }
    // "Cardiac rehab, the 10th at 2 pm": a visit on a day to come is stored as the appointment.
    let met = |e: &&Entity| e.kind == EntityType::Appointment && e.at.is_some_and(|at| at.day >= today);
    let met: Vec<Span> = entities.iter().filter(met).map(|e| e.span).collect();
    entities.retain(|e| e.kind != EntityType::Procedure || !met.iter().any(|span| span.overlaps(&e.span)));
    entities.retain(|entity| match entity.kind {
        EntityType::Procedure if entity.value == "blood tests" => entity.status.is_some(),
        EntityType::Appointment => match entity.at {
            Some(at) => at.last_day().is_none_or(|last| last >= today),
            None => entity.group != Some("day") && entity.value != VISIT,
        },
        // A marital status, or the label of a form, is no event without its day.
        EntityType::Event if entity.group == Some("dated") => entity.at.is_some() && !entity.context.negated,
        _ => true,
    });
    // "Lost a pregnancy", "evicted": no separate illness or state for the same event.
    let stated: Vec<_> = entities
        .iter()
        .filter(|e| {
            e.kind == EntityType::Event
                && matches!(
                    e.value.as_str(),
                    "pregnancy loss" | "pregnancy termination" | "eviction" | "expected delivery date"
                )
        })
        .map(|e| e.span)
        .collect();
    let is_told = |e: &Entity| stated.iter().any(|span| span.contains(&e.span));
    entities.retain(|e| !(matches!(e.kind, EntityType::Condition | EntityType::Symptom) && is_told(e)));
    // "My father died" names no person in the patient's life.
    let lost: Vec<_> = entities.iter().filter_map(|e| e.subject.clone().map(|who| (who, e.span))).collect();
    entities.retain(|e| {
        let near = |(who, span): &(String, Span)| {
            *who == e.value && span.start.abs_diff(e.span.end).min(e.span.start.abs_diff(span.end)) <= LOSS_REACH
        };
        e.kind != EntityType::Relationship || !lost.iter().any(near)
    });
    end_pregnancy(entities, today);
    once(entities, today);
}

/// The end of a pregnancy: a loss, a termination, a birth in which the patient is the mother, a caesarean on a day.
fn ends_pregnancy(entity: &Entity, today: NaiveDate) -> bool {
    let own = entity.context.experiencer == Experiencer::Patient
        && !entity.context.negated
        && !entity.context.uncertain
        && entity.context.temporality == Temporality::Recent;
    // Without a day it may be one of long ago: "two miscarriages, now 20 weeks".
    let recent = entity.at.is_some_and(|at| at.day <= today && (today - at.day).num_days() <= PREGNANCY);
    let ends = match (entity.kind, entity.value.as_str()) {
        (EntityType::Event, "pregnancy loss" | "pregnancy termination") => true,
        (EntityType::Procedure, "cesarean section") => entity.status.as_deref() != Some(PLANNED),
        _ => false,
    };
    own && recent && ends
}

/// After a loss or a birth the pregnancy has ended, although no sentence says so.
fn end_pregnancy(entities: &mut Vec<Entity>, today: NaiveDate) {
    let Some(over) = entities.iter().find(|entity| ends_pregnancy(entity, today)).cloned() else { return };
    // "Pregnant again", "expected in August": a pregnancy that the document itself states holds.
    let is_stated = entities.iter().any(|e| e.value == "pregnancy" || e.value == "expected delivery date");
    if !is_stated {
        let code = Some("Z33.1");
        let mut ended = Entity {
            kind: EntityType::Condition,
            value: "pregnancy".to_owned(),
            code,
            status: None,
            group: None,
            ..over
        };
        ended.context.temporality = Temporality::Historical;
        (ended.at, ended.ends) = (None, None);
        entities.push(ended);
    }
}

fn weight(entity: &Entity) -> (bool, bool, bool) {
    let exact = entity.at.is_some_and(|at| matches!(at.precision, DatePrecision::Day));
    (entity.at.is_some(), exact, entity.group == Some("meeting"))
}

fn once(entities: &mut Vec<Entity>, today: NaiveDate) {
    let happens = |e: &Entity| matches!(e.kind, EntityType::Event | EntityType::Procedure | EntityType::Appointment);
    let mut order: Vec<usize> = (0..entities.len()).filter(|n| happens(&entities[*n])).collect();
    order.sort_by_key(|n| (std::cmp::Reverse(weight(&entities[*n])), *n));
    let mut kept: Vec<usize> = Vec::new();
    let mut dropped: HashSet<usize> = HashSet::new();
    for n in order {
        let this = &entities[n];
        let same = |other: &&usize| is_same(&entities[**other], this, today);
        if kept.iter().any(|other| same(&other)) {
            dropped.insert(n);
        } else {
            kept.push(n)
        }
    }
    let mut at = 0;
    entities.retain(|_| {
        at += 1;
        !dropped.contains(&(at - 1))
    });
}

fn is_same(kept: &Entity, other: &Entity, today: NaiveDate) -> bool {
    let named = kept.kind == other.kind && kept.value == other.value;
    let general = other.value == "surgery"
        && kept.group == Some("surgery")
        && !other.context.negated
        && kept.evidence.overlaps(&other.evidence);
    let generic = kept.kind == EntityType::Appointment
        && other.kind == EntityType::Appointment
        && other.value == VISIT
        && (kept.at == other.at || other.at.is_none() && kept.evidence.overlaps(&other.evidence));
    let context =
        kept.context.negated == other.context.negated && kept.context.experiencer == other.context.experiencer;
    let who = kept.subject == other.subject || other.subject.is_none();
    let when = match (kept.at, other.at) {
        (Some(a), Some(b)) => is_within(a, b),
        // An event of long ago and one without a day are two: "mixed OD … previous OD in 2022".
        (Some(at), None) if kept.kind == EntityType::Event => {
            (today - at.day).num_days() <= RECENT || other.context.temporality == Temporality::Historical
        }
        _ => true,
    };
    // Two visits without a name are distinguished by their days alone.
    let twice = named && kept.kind == EntityType::Appointment && other.value == VISIT && kept.at != other.at;
    (named || general || generic) && context && who && (when || generic) && !twice
}

fn is_within(a: FactDate, b: FactDate) -> bool {
    if a.precision == DatePrecision::Year || b.precision == DatePrecision::Year {
        a.day.year() == b.day.year()
    } else if a.precision == DatePrecision::Day && b.precision == DatePrecision::Day {
        a.day == b.day
    } else {
        let reach = if a.precision == DatePrecision::Month || b.precision == DatePrecision::Month { 31 } else { 7 };
        (a.day - b.day).num_days().abs() <= reach
    }
}

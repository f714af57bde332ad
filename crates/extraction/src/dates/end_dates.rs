//! Until when a medicine is taken: "toma amoxicilina hasta el 9 de marzo" goes on to the next such day and is not
//! stopped, "took it until March" ended then.

use std::ops::Range;

use chrono::NaiveDate;

use super::distance::plain_join;
use super::{DateDirection, DateExpression, DateMention};
use crate::Entity;
use crate::analysis::AnalyzedDocument;
use anamnesis_core::fact_date::FactDate;
use anamnesis_core::finding::EntityType;

/// Bytes between a medicine with its dose and its last day.
const REACH: usize = 90;
/// How many words before a medicine its verb may come.
const VERB: usize = 5;

/// Gives medicines their last day: one that is to come is no end yet, one that is past is.
pub(super) fn set_end_dates(
    doc: &AnalyzedDocument<'_>,
    dates: &[DateMention],
    today: NaiveDate,
    entities: &mut [Entity],
) {
    for mention in dates.iter().filter(|mention| says_until(doc.text(), mention)) {
        let Some(last) = nearest(doc, mention, entities) else { continue };
        // "Warfarin until 20 February 2026": a whole date says by itself whether it is over.
        let dated = matches!(mention.said, DateExpression::Fixed(_)).then_some(EndTense::Now);
        let Some(tense) = tense(doc, &entities[last]).or(dated) else { continue };
        let way = if tense == EndTense::Over { DateDirection::Back } else { DateDirection::Ahead };
        let Some(end) = mention.said.resolve(today, way) else { continue };
        // "Paliperidone monthly, last dose 15 February": the day of a treatment that goes on.
        if says_last_dose(doc.text(), mention) && end.day <= today {
            continue;
        }
        let joined = |other: &Entity| plain_join(doc.text(), other, &entities[last]);
        let all: Vec<usize> = (0..entities.len()).filter(|at| *at == last || joined(&entities[*at])).collect();
        for at in all {
            set(&mut entities[at], end, tense, mention, today);
        }
    }
}

/// How the verb speaks of a medicine next to the day of its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndTense {
    Now,
    Over,
    /// It is not taken until then.
    Paused,
}

fn set(entity: &mut Entity, end: FactDate, tense: EndTense, mention: &DateMention, today: NaiveDate) {
    let over = end.last_day().unwrap_or(end.day) < today;
    // The day was taken for that of a change.
    let bound = |at: &FactDate| {
        [DateDirection::Back, DateDirection::Ahead].into_iter().any(|way| mention.said.resolve(today, way) == Some(*at))
    };
    let open = matches!(entity.status.as_deref(), None | Some("stopped" | "active"));
    if tense == EndTense::Paused {
        entity.status = Some("on_hold".to_owned());
    } else if over {
        entity.status = if open { Some("stopped".to_owned()) } else { entity.status.take() };
        entity.at = Some(end);
        return;
    } else if open {
        entity.status = Some("active".to_owned());
    }
    entity.at = entity.at.filter(|at| !bound(at));
    entity.ends = (tense == EndTense::Now).then_some(end);
}

/// The medicine before the day in its sentence, or after a day that opens it ("Hasta el 9, amoxicilina").
fn nearest(doc: &AnalyzedDocument<'_>, mention: &DateMention, entities: &[Entity]) -> Option<usize> {
    let reading = doc.reading;
    let first = reading.words_at(mention.span).start;
    let span = reading.sentences[reading.sentence_of(first)].span;
    let here = |entity: &Entity| entity.kind == EntityType::Medication && span.contains(&entity.span);
    let medicines = || entities.iter().enumerate().filter(|(_, entity)| here(entity) && !entity.context.negated);
    let before = medicines().filter(|(_, entity)| entity.span.end <= mention.span.start);
    let before = before.max_by_key(|(_, entity)| entity.span.end).filter(|(_, entity)| {
        let between = doc.text().get(entity.span.end..mention.span.start);
        between.is_some_and(|between| between.len() <= REACH && !between.contains([';', '\n', '|']))
    });
    let after = || {
        let next = medicines().filter(|(_, entity)| mention.span.end <= entity.span.start);
        next.min_by_key(|(_, entity)| entity.span.start).filter(|(_, entity)| {
            let between = doc.text().get(mention.span.end..entity.span.start).unwrap_or("\n");
            between.starts_with([',', ':']) && between.len() <= REACH && first <= reading.words_at(span).start + VERB
        })
    };
    before.or_else(after).map(|(at, _)| at)
}

/// How the clause speaks of a medicine; `None` where neither a verb nor a regimen says whether it is taken.
fn tense(doc: &AnalyzedDocument<'_>, entity: &Entity) -> Option<EndTense> {
    let reading = doc.reading;
    let mention = reading.words_at(entity.span);
    let sentence = &reading.sentences[reading.sentence_of(mention.start)].words;
    let before = mention.start.saturating_sub(VERB).max(sentence.start)..mention.start;
    let around = before.start..sentence.end;
    if around.clone().any(|word| pauses(reading.word(word))) {
        return Some(EndTense::Paused);
    }
    if around.clone().any(|word| ended(reading.word(word))) {
        return None;
    }
    let said = |words: Range<usize>| words.rev().find_map(|word| verb(doc, word));
    let regimen = entity.dose.is_some() || entity.frequency.is_some();
    // A medicine that is started or changed until a day goes on to it; a proposed one does too.
    let going = matches!(entity.status.as_deref(), Some("active" | "started" | "changed" | "suggested"));
    said(before).or((going || regimen && entity.status.as_deref() != Some("not_taken")).then_some(EndTense::Now))
}

/// How the nearest verb of taking before a medicine speaks of it: taken now, or once.
pub(crate) fn tense_before(doc: &AnalyzedDocument<'_>, before: Range<usize>) -> Option<EndTense> {
    let near = before.end.saturating_sub(VERB).max(before.start)..before.end;
    near.rev().find_map(|word| verb(doc, word))
}

/// A verb of taking, by its tense. "Tomo" and "tomó" are distinguished by the accent.
fn verb(doc: &AnalyzedDocument<'_>, word: usize) -> Option<EndTense> {
    let reading = doc.reading;
    let written = reading.source(&(word..word + 1)).slice(doc.text()).to_lowercase();
    match written.as_str() {
        "tomó" | "tomaba" | "tomé" | "tomaron" | "tomado" | "usó" | "usaba" | "usé" | "recibió" | "recibía"
        | "estuvo" | "estuve" | "estaba" | "llevó" | "llevaba" | "siguió" | "completó" | "mantuvo" | "took"
        | "taken" | "used" | "was" | "were" | "had" | "received" | "completed" | "remained" | "continued"
        | "stayed" | "previously" => Some(EndTense::Over),
        "toma" | "tomo" | "tomar" | "tomará" | "tomaré" | "tome" | "usa" | "uso" | "usar" | "lleva" | "llevo"
        | "sigue" | "sigo" | "seguir" | "seguirá" | "continúa" | "continua" | "continuar" | "mantener" | "mantiene"
        | "está" | "estoy" | "recibe" | "pauto" | "pauta" | "indico" | "indica" | "take" | "takes" | "taking"
        | "use" | "uses" | "using" | "continue" | "continues" | "keep" | "keeps" | "is" | "am" | "stay" | "remain"
        | "give" | "siga" | "sigan" | "seguimos" | "continúe" | "continuamos" | "mantenga" | "mantenemos" | "carry" => {
            Some(EndTense::Now)
        }
        _ => None,
    }
}

fn pauses(word: &str) -> bool {
    ["suspend", "pausa", "hold", "held", "withh", "paused", "interrump"].iter().any(|stem| word.starts_with(stem))
}

fn ended(word: &str) -> bool {
    ["stopp", "discontin", "retir", "dejo", "deje", "dejado", "quit", "weaned", "came", "abandon"]
        .iter()
        .any(|stem| word.starts_with(stem))
}

/// "Last tablet on", "última toma el": the day of the last dose.
fn is_last_dose(before: &str) -> bool {
    let words: Vec<&str> = before
        .split_whitespace()
        .rev()
        .filter(|word| !matches!(*word, "on" | "el" | "the" | "will" | "be" | "is"))
        .collect();
    let noun = |word: &str| {
        let word = word.trim_end_matches(':');
        ["tablet", "dose", "pill", "capsule", "day", "toma", "dosis", "pastilla", "comprimido", "día", "dia"]
            .iter()
            .any(|stem| word.starts_with(stem))
    };
    matches!(words.as_slice(), [noun_word, last, ..] if noun(noun_word) && matches!(*last, "last" | "final" | "última" | "ultima" | "último" | "ultimo"))
}

fn says_last_dose(text: &str, mention: &DateMention) -> bool {
    let from = text.floor_char_boundary(mention.span.start.saturating_sub(24));
    is_last_dose(&text.get(from..mention.span.start).unwrap_or_default().to_lowercase())
}

/// Whether a day is said as the last one: "until 9 March", "hasta el viernes".
fn says_until(text: &str, mention: &DateMention) -> bool {
    let from = text.floor_char_boundary(mention.span.start.saturating_sub(24));
    let before = text.get(from..mention.span.start).unwrap_or_default().to_lowercase();
    let own = mention.span.slice(text).to_lowercase();
    let is = |word: &str| matches!(word, "hasta" | "until" | "till" | "til" | "thru" | "through");
    let small =
        |word: &&str| matches!(*word, "el" | "la" | "the" | "día" | "dia" | "fin" | "fines" | "end" | "of" | "de");
    own.split_whitespace().next().is_some_and(is)
        || says_last_dose(text, mention)
        || before.split_whitespace().rev().find(|word| !small(word)).is_some_and(is)
}

//! How far a date and a finding are apart, and what separates them: the ends of clauses, other clauses, the direction
//! in which "since" points.

use super::{DateExpression, DateMention};
use crate::Entity;
use crate::analysis::AnalyzedDocument;
use anamnesis_core::finding::EntityType;
use anamnesis_text::Span;

/// Bytes between a finding and its date.
pub(super) const REACH: usize = 100;
/// A comma separates more than words do.
const COMMA: usize = 20;
/// A comma before "since" separates less: a lasting state is stated together with its circumstances.
const COMMA_BEFORE_SINCE: usize = 8;
/// Bytes within which a date may be that of an event and of the illness nearer to it.
pub(super) const BOTH: usize = 45;
/// Bytes between an appointment and a stretch of time without a word that joins them.
const SPELL_REACH: usize = 24;
const FEW_WORDS: usize = 4;
/// Cost of a clause between a date and the finding: "stopped three months ago because of weight gain".
const NEXT_CLAUSE: usize = 40;
const OPENERS: &[&str] =
    &["because", "so", "due", "porque", "pq", "xq", "que", "por", "y", "and", "which", "who", "when", "cuando"];

/// How far finding and date are apart; `None` in another clause. The reaction of an allergy may be nearer.
pub(super) fn gap(text: &str, entity: &Entity, mention: &DateMention) -> Option<usize> {
    let own = between(text, entity, entity.span, mention);
    let reaction = entity.reaction.as_ref().filter(|reaction| entity.evidence.contains(&reaction.place));
    let reaction = reaction.and_then(|reaction| between(text, entity, reaction.place, mention));
    [own, reaction].into_iter().flatten().min()
}

fn between(text: &str, entity: &Entity, place: Span, mention: &DateMention) -> Option<usize> {
    let (from, to) = match place.end <= mention.span.start {
        true => (place.end, mention.span.start),
        false => (mention.span.end, place.start),
    };
    if from >= to {
        return Some(0);
    }
    let between = text.get(from..to)?;
    let turned = [" but ", " pero ", " aunque ", " although "].iter().any(|word| between.contains(word));
    // "Was on it but they weaned me off last year": the turn is the end of the medicine.
    let ended = entity.kind == EntityType::Medication
        && matches!(entity.status.as_deref(), Some("stopped" | "changed" | "not_taken"))
        && entity.evidence.contains(&mention.span);
    let parted = between.contains([';', '\n', '?', '!', '|']) || (turned && !ended);
    let since = says_since(text, mention);
    // "On CPAP since 2019, embolism 2006": a lasting state comes before its "since".
    if since && mention.span.end <= place.start && !opens_clause(text, mention.span) {
        return None;
    }
    let comma = if since { COMMA_BEFORE_SINCE } else { COMMA };
    let first = between.split_whitespace().next().unwrap_or_default().to_lowercase();
    let after = mention.span.end <= place.start;
    // "In 2023, dropped out": the finding after the comma has a separate day or none.
    let clause = after
        && (OPENERS.contains(&first.as_str())
            || between.trim_start().starts_with('(') && between.trim() != "("
            || between.trim_start().starts_with(',') && !opens_clause(text, mention.span));
    let length = between.len() + comma * between.matches(',').count() + if clause { NEXT_CLAUSE } else { 0 };
    let reach = if matches!(mention.said, DateExpression::Spell(_)) { SPELL_REACH } else { REACH };
    (!parted && length <= reach).then_some(length)
}

fn says_since(text: &str, mention: &DateMention) -> bool {
    let from = text.floor_char_boundary(mention.span.start.saturating_sub(12));
    let before = text.get(from..mention.span.start).unwrap_or_default().to_lowercase();
    let own = mention.span.slice(text).to_lowercase();
    matches!(mention.said, DateExpression::Since(_))
        || ["since", "desde"].iter().any(|word| {
            own.starts_with(word)
                || before.trim_end().ends_with(word)
                || before.trim_end().ends_with(&format!("{word} el"))
                || before.trim_end().ends_with(&format!("{word} about"))
        })
}

/// Whether a date opens its clause: "Since May, headaches".
fn opens_clause(text: &str, date: Span) -> bool {
    let from = text.floor_char_boundary(date.start.saturating_sub(40));
    let lead = text.get(from..date.start).unwrap_or_default();
    let clause = lead.rsplit(['.', ';', '\n', ':', '?', '!', ',']).next().unwrap_or_default();
    let words = clause
        .split_whitespace()
        .filter(|word| !matches!(word.to_lowercase().as_str(), "since" | "desde" | "el" | "about"));
    (words.count() <= 1) && (clause.len() < lead.len() || from == 0)
}

/// Whether a date is in the answer that proves a finding of the question.
pub(super) fn of_the_answer(doc: &AnalyzedDocument<'_>, entity: &Entity, mention: &DateMention) -> bool {
    let after = entity.span.end <= mention.span.start && entity.evidence.contains(&mention.span);
    let asked =
        doc.text().get(entity.span.end..mention.span.start).is_some_and(|between| between.contains(['?', '\n']));
    after
        && asked
        && matches!(
            entity.kind,
            EntityType::Condition
                | EntityType::Symptom
                | EntityType::Medication
                | EntityType::Allergy
                | EntityType::Intolerance
                | EntityType::Event
                | EntityType::Procedure
                | EntityType::Measurement
                | EntityType::Appointment
        )
}

/// Whether a sentence says nothing but a date.
pub(super) fn is_only_a_date(doc: &AnalyzedDocument<'_>, sentence: usize, mention: &DateMention) -> bool {
    let reading = doc.reading;
    let date = reading.words_at(mention.span);
    let words = reading.sentences[sentence].words.clone();
    let others = words.filter(|word| !date.contains(word) && !reading.words[*word].punctuation);
    others.count() <= FEW_WORDS.saturating_sub(2)
}

/// "Anxiety and insomnia since May": one kind, joined by a word.
pub(super) fn plain_join(text: &str, a: &Entity, b: &Entity) -> bool {
    let (first, second) = if a.span.end <= b.span.start { (a, b) } else { (b, a) };
    let between = text.get(first.span.end..second.span.start).map(str::trim);
    a.kind == b.kind && matches!(between, Some("and" | "y" | "e" | "&" | "/" | "+"))
}

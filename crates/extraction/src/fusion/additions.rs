//! Findings of the learned reader that no rule has found: people say things in more ways than lists hold. Rules take
//! precedence: where a rule has found something of the kind, or where a question only asks, the reader adds nothing.
//! Dates are linked to its additions as to the rest, and the words are those of the text. Its confidence is computed
//! later.

use std::ops::Range;

use super::DocumentReading;
use crate::analysis::AnalyzedDocument;
use crate::events::PLANNED;
use crate::lexicon::word_lists::{self, WordList};
use crate::reader::{AttributeScores, LabelLayer, ReaderMention};
use crate::risk::clause_of;
use crate::tokenized::TextSentence;
use crate::{Entity, EntityType, Experiencer, Temporality};
use anamnesis_text::{Span, Speaker};

/// How probable a tag must be, on the average of its pieces, to be considered: `calibration` decides.
const LEAST: f32 = 0.3;
const LONGEST: usize = 16;
/// Words of grammar and of talk, folded: a clause of nothing else says no fact.
static EMPTY: WordList = WordList::listed(word_lists::GENERAL, "additions.empty");

/// Adds the tags of the reader that no rule has found.
pub(crate) fn find(doc: &AnalyzedDocument<'_>, fusion: &DocumentReading, out: &mut Vec<Entity>) {
    let by_rules = out.len();
    for tag in &fusion.tags {
        let Some(entity) = finding(doc, tag, fusion.span(tag)) else { continue };
        let known = |(at, other): (usize, &Entity)| {
            let here = other.span.overlaps(&entity.span);
            let alike = is_same_family(other.kind, entity.kind) || (is_name(other.kind) && is_name(entity.kind));
            // Two layers of the reader may tag one place.
            here && (alike || at >= by_rules) || says_the_same(other, &entity)
        };
        if !out.iter().enumerate().any(known) {
            out.push(entity);
        }
    }
}

fn is_name(kind: EntityType) -> bool {
    use EntityType::{Appointment, Event, Goal, Preference, Relationship};
    !matches!(kind, Appointment | Event | Goal | Preference | Relationship)
}

fn says_the_same(known: &Entity, new: &Entity) -> bool {
    known.kind == new.kind
        && known.value == new.value
        && known.context.negated == new.context.negated
        && known.context.experiencer == new.context.experiencer
}

/// The finding of one tag; `None` where it is too doubtful, or of a kind that is not stored.
fn finding(doc: &AnalyzedDocument<'_>, tag: &ReaderMention, span: Span) -> Option<Entity> {
    let kind = kind(&tag.kind)?;
    let attributes = tag.attributes.as_ref()?;
    if tag.probability < LEAST
        || !matches!(tag.layer, LabelLayer::Names | LabelLayer::Clauses)
        || is(attributes, "weight", "minor")
    {
        return None;
    }
    let words = doc.reading.words_at(span);
    if words.len() > LONGEST || !words.clone().any(|word| names(doc, kind, word)) {
        return None;
    }
    let index = doc.reading.sentence_of(words.start);
    let sentence = &doc.reading.sentences[index];
    let words = if is_name(kind) { words } else { clause(doc, sentence, words)? };
    // A question in a note says nothing; in a dialogue its answer does.
    let only_asked = sentence.question && !doc.is_dialogue();
    if only_asked || sentence.speaker == Speaker::Agent || sentence.words.end < words.end {
        return None;
    }
    let wish = matches!(kind, EntityType::Preference | EntityType::Goal);
    // A clinician's own likes and plans are not stored.
    if wish && sentence.speaker == Speaker::Clinician && doc.is_dialogue() {
        return None;
    }
    let mut assertion = doc.assertion(index, &words)?;
    assertion.context.negated = is(attributes, "polarity", "denied");
    assertion.context.uncertain = is(attributes, "certainty", "possible");
    assertion.context.experiencer = experiencer(attributes);
    assertion.confidence = f64::from(tag.probability);
    let happens = matches!(kind, EntityType::Event | EntityType::Procedure);
    let ahead = is(attributes, "certainty", "planned") || is(attributes, "time", "future");
    if !wish && is(attributes, "time", "past") {
        assertion.context.temporality = Temporality::Historical;
    }
    let value = doc.reading.source(&words).slice(doc.text()).to_lowercase();
    let value = value.trim_end_matches(['.', ',', ';', ':', '!']).to_owned();
    let mut entity = doc.entity(kind, &words, value, &assertion)?;
    entity.status = match kind {
        _ if happens => ahead.then(|| PLANNED.to_owned()),
        EntityType::Medication => {
            attributes.best("status").map(|(best, _)| best).filter(|best| *best != "none").map(str::to_owned)
        }
        _ => None,
    };
    if kind == EntityType::Condition && is(attributes, "status", "resolved") {
        entity.context.temporality = Temporality::Historical;
    }
    Some(entity)
}

const FEWEST: usize = 2;
const SHOWN: usize = 14;

/// The text of a clause for a person: the whole clause, where it is short.
fn clause(doc: &AnalyzedDocument<'_>, sentence: &TextSentence, words: Range<usize>) -> Option<Range<usize>> {
    if words.len() < FEWEST {
        return None;
    }
    let first = clause_of(doc.reading, &sentence.words, words.start);
    let last = clause_of(doc.reading, &sentence.words, words.end.saturating_sub(1).max(words.start));
    let whole = first.start.min(words.start)..last.end.max(words.end);
    Some(if whole.len() <= SHOWN { whole } else { words })
}

/// Whether a word can name something: a pronoun, a surrogate or, in a clause, a word of grammar cannot.
fn names(doc: &AnalyzedDocument<'_>, kind: EntityType, word: usize) -> bool {
    let source = doc.reading.source(&(word..word + 1));
    let said = source.slice(doc.text());
    let letters = said.chars().filter(|c| c.is_alphabetic()).count();
    if is_surrogate(doc.text(), source) || !is_name(kind) && EMPTY.contains(doc.reading.word(word)) {
        return false;
    }
    letters > 3 || (letters > 1 && said.chars().all(|c| c.is_uppercase() || c.is_ascii_digit()))
}

fn is_surrogate(text: &str, word: Span) -> bool {
    text[..word.start].ends_with('[') && text[word.end..].starts_with(']') && word.len() > 3
}

/// The use of a substance is a condition; adherence and measurements need a value and are left to the rules.
fn kind(tag: &str) -> Option<EntityType> {
    match tag {
        "substance_use" => Some(EntityType::Condition),
        other => EntityType::from_code(other).filter(|kind| *kind != EntityType::Measurement),
    }
}

fn is(attributes: &AttributeScores, group: &str, value: &str) -> bool {
    attributes.best(group).is_some_and(|(best, _)| best == value)
}

fn experiencer(attributes: &AttributeScores) -> Experiencer {
    match attributes.best("person") {
        Some(("family", _)) => Experiencer::Family,
        Some(("other", _)) => Experiencer::Other,
        _ => Experiencer::Patient,
    }
}

/// Kinds of which one place holds one: an admission is not an event and an appointment too.
fn is_same_family(one: EntityType, other: EntityType) -> bool {
    let happens = |kind| matches!(kind, EntityType::Event | EntityType::Procedure | EntityType::Appointment);
    one == other || (happens(one) && happens(other))
}

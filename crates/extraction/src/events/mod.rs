//! Events of a life, operations and investigations, appointments and referrals, each with its experiencer, its status
//! and the clause as evidence.

mod ambiguous_names;
mod appointments;
mod cancelled;
mod experiencer;
mod morphology;
mod planned;
mod resolution;
mod timed_visits;

use ambiguous_names::{is_named, is_ticked};
pub(crate) use appointments::AppointmentRules;
pub(super) use appointments::{FILE as APPOINTMENTS, WORDS as APPOINTMENT_WORDS};
use cancelled::{is_only_thought_of, is_undone};
use experiencer::{bereaved, is_loss, is_of_relative, is_own, relative};
use planned::{is_conditional, is_planned};
pub(crate) use resolution::resolve_events;

use super::analysis::{AnalyzedDocument, AssertionStatus};
use super::lexicon::{ConceptMention, Lexicon, LexiconList};
use super::measurements::clause;
use super::phrase_trie::TrieBuilder;
use super::structure::Section;
use super::{Entity, EntityType};
use anamnesis_core::finding::{Experiencer, Temporality};
use anamnesis_core::wording::person;
use anamnesis_text::Speaker;

/// Events, then procedures.
pub(super) const FILES: &[&str] = &[
    include_str!("../lexicon/events.tsv"),
    include_str!("../lexicon/procedures.tsv"),
    include_str!("../lexicon/events_more.tsv"),
    include_str!("../lexicon/procedures_more.tsv"),
];
/// The status of a plan.
pub(super) const PLANNED: &str = "planned";

/// Confidence of an operation that only the ending of its name shows.
const UNLISTED: f64 = 0.75;

/// Finds events and procedures; see the module.
pub(crate) struct EventRules {
    lexicon: Lexicon,
}

impl EventRules {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        Self { lexicon: Lexicon::load(trie, LexiconList::Events) }
    }

    pub(crate) fn find(&self, doc: &AnalyzedDocument<'_>, out: &mut Vec<Entity>) {
        for (index, sentence) in doc.sentences() {
            let known = self.lexicon.find(doc.reading, sentence.words.clone());
            for mention in &known {
                if mention.concept.group != "none" {
                    out.extend(self.entity(doc, index, mention));
                }
            }
            // Operations that no list holds are known by how their names end.
            for mention in morphology::find(doc.reading, sentence.words.clone(), &known) {
                let mut entity = self.entity(doc, index, &mention);
                if let Some(entity) = entity.as_mut() {
                    entity.value = doc.reading.source(&mention.words).slice(doc.text()).to_lowercase();
                    entity.confidence = entity.confidence.min(UNLISTED);
                }
                out.extend(entity);
            }
        }
    }

    fn entity(&self, doc: &AnalyzedDocument<'_>, index: usize, mention: &ConceptMention) -> Option<Entity> {
        let traits = mention.concept.code.unwrap_or_default();
        let mut assertion = doc.assertion(index, &mention.words)?;
        let sentence = &doc.reading.sentences[index];
        let relative = match traits {
            "relative" => Some(relative(doc, mention, &sentence.words)?),
            _ => None,
        };
        let event = mention.concept.group == "event";
        let planned = traits == PLANNED || (!event && is_planned(doc, mention, &sentence.words));
        if !event && (is_undone(doc, mention, &sentence.words) || is_only_thought_of(doc, mention, &sentence.words)) {
            return None;
        }
        if traits == "relative" && (!is_loss(doc, mention, index) || !ambiguous_names::is_dated_letter(doc, mention)) {
            return None;
        }
        if relative.is_some() {
            assertion.context.experiencer = Experiencer::Patient;
            assertion.context.negated = false;
        }
        if planned {
            assertion.context.temporality = Temporality::Recent;
            assertion.context.uncertain = false;
        }
        // The "No" of a form next to a ticked "Yes" denies nothing of the text after the two.
        if traits == "organ" && is_ticked(sentence.span.slice(doc.text())) {
            assertion.context.negated = false;
        }
        if assertion.context.negated && (traits != "denied" || planned) {
            return None;
        }
        if doc.section(mention.words.start) == Some(Section::Warnings) || !is_named(doc, mention, index) {
            return None;
        }
        if assertion.context.temporality == Temporality::Hypothetical
            && !is_conditional(doc, &mention.words, &sentence.words)
        {
            assertion.context.temporality = Temporality::Recent;
        }
        // An event of a relative is theirs, and no part of the patient's history.
        let couple = matches!(
            mention.concept.name,
            "separation" | "divorce" | "marriage" | "removal of firearms" | "police report" | "protection order"
        );
        let theirs = relative.is_none() && !couple && is_of_relative(doc, &mention.words, &sentence.words);
        let named = (mention.words.start.saturating_sub(12).max(sentence.words.start)..mention.words.start)
            .any(|word| person(doc.reading.word(word)).is_some());
        if assertion.context.experiencer == Experiencer::Family
            && (couple || !named)
            && doc.section(mention.words.start) != Some(Section::Family)
        {
            assertion.context.experiencer = Experiencer::Patient;
        }
        let general = event || mention.concept.name == "surgery";
        if general && (theirs || assertion.context.experiencer != Experiencer::Patient) {
            return None;
        }
        if event
            && relative.is_none()
            && sentence.speaker == Speaker::Family
            && is_own(doc, &mention.words, &sentence.words)
        {
            return None;
        }
        // A death is the relative's own; the relation shows that it concerns the patient.
        if let Some(who) = relative {
            assertion.context.experiencer = bereaved(who);
        }
        finished(doc, index, mention, &mut assertion);
        let kind = if event { EntityType::Event } else { EntityType::Procedure };
        let mut entity = doc.entity(kind, &mention.words, mention.concept.name.to_owned(), &assertion)?;
        entity.status = planned.then(|| PLANNED.to_owned());
        entity.subject = relative.filter(|_| sentence.speaker != Speaker::Family).map(str::to_owned);
        let label = sentence.words.contains(&mention.words.end) && doc.reading.word(mention.words.end) == ":";
        let entry = relative.is_some()
            && !matches!(mention.concept.name, "death by suicide")
            && doc.section(mention.words.start) == Some(Section::Family);
        let needs_day = traits == "dated" || entry || (event && label && !entity.context.negated && !planned);
        entity.group = Some(if needs_day { "dated" } else { mention.concept.group });
        Some(entity)
    }
}

/// Quotes the clause and sets the confidence.
fn finished(doc: &AnalyzedDocument<'_>, sentence: usize, mention: &ConceptMention, assertion: &mut AssertionStatus) {
    let place = doc.reading.sentences[sentence].span;
    if !assertion.answered && place.len() > LONGEST_QUOTE {
        assertion.evidence = clause(doc.text(), place, doc.reading.source(&mention.words));
    }
    assertion.confidence = assertion.confidence.min(if assertion.context.uncertain { 0.5 } else { 0.85 });
}

/// A sentence that is longer than this is quoted by the clause.
const LONGEST_QUOTE: usize = 160;

#[cfg(test)]
mod cancelled_tests;

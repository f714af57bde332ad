//! What happens: events of a life, operations and investigations, appointments and referrals, each with whom it concerns,
//! whether it is planned, and the clause that says so.

mod appointments;
mod clock;
mod morphology;
mod named;
mod people;
mod plans;
mod settle;
mod undone;

pub(crate) use appointments::AppointmentRules;
pub(super) use appointments::{FILE as APPOINTMENTS, WORDS as APPOINTMENT_WORDS};
use named::{is_named, is_ticked};
use people::{bereaved, is_loss, is_of_relative, is_own, relative};
use plans::{is_conditional, is_planned};
pub(crate) use settle::settle;
use undone::{is_only_thought_of, is_undone};

use super::lexicon::{Lexicon, List, Mention};
use super::measurements::clause;
use super::phrasebook::Builder;
use super::scene::{Scene, Stance};
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
/// The status of what is still to come.
pub(super) const PLANNED: &str = "planned";

/// How surely an operation is read that only the ending of its name tells.
const UNLISTED: f64 = 0.75;

/// Finds events and procedures; see the module.
pub(crate) struct EventRules {
    lexicon: Lexicon,
}

impl EventRules {
    pub(crate) fn builtin(book: &mut Builder) -> Self {
        Self { lexicon: Lexicon::load(book, List::Events) }
    }

    pub(crate) fn find(&self, scene: &Scene<'_>, out: &mut Vec<Entity>) {
        for (index, sentence) in scene.sentences() {
            let known = self.lexicon.find(scene.reading, sentence.words.clone());
            for mention in &known {
                if mention.concept.group != "none" {
                    out.extend(self.entity(scene, index, mention));
                }
            }
            // Operations that no list holds are known by how their names end.
            for mention in morphology::find(scene.reading, sentence.words.clone(), &known) {
                let mut entity = self.entity(scene, index, &mention);
                if let Some(entity) = entity.as_mut() {
                    entity.value = scene.reading.source(&mention.words).of(scene.text()).to_lowercase();
                    entity.confidence = entity.confidence.min(UNLISTED);
                }
                out.extend(entity);
            }
        }
    }

    fn entity(&self, scene: &Scene<'_>, index: usize, mention: &Mention) -> Option<Entity> {
        let traits = mention.concept.code.unwrap_or_default();
        let mut stance = scene.stance(index, &mention.words)?;
        let sentence = &scene.reading.sentences[index];
        let relative = match traits {
            "relative" => Some(relative(scene, mention, &sentence.words)?),
            _ => None,
        };
        let event = mention.concept.group == "event";
        let planned = traits == PLANNED || (!event && is_planned(scene, mention, &sentence.words));
        if !event && (is_undone(scene, mention, &sentence.words) || is_only_thought_of(scene, mention, &sentence.words))
        {
            return None;
        }
        if traits == "relative" && (!is_loss(scene, mention, index) || !named::is_dated_letter(scene, mention)) {
            return None;
        }
        if relative.is_some() {
            stance.context.experiencer = Experiencer::Patient;
            stance.context.negated = false;
        }
        if planned {
            stance.context.temporality = Temporality::Recent;
            stance.context.uncertain = false;
        }
        // The "No" of a form beside a ticked "Yes" denies nothing of what is written behind the two.
        if traits == "organ" && is_ticked(sentence.span.of(scene.text())) {
            stance.context.negated = false;
        }
        if stance.context.negated && (traits != "denied" || planned) {
            return None;
        }
        if scene.section(mention.words.start) == Some(Section::Warnings) || !is_named(scene, mention, index) {
            return None;
        }
        if stance.context.temporality == Temporality::Hypothetical
            && !is_conditional(scene, &mention.words, &sentence.words)
        {
            stance.context.temporality = Temporality::Recent;
        }
        // What befalls a relative is theirs, and no part of the patient's story.
        let couple = matches!(
            mention.concept.name,
            "separation" | "divorce" | "marriage" | "removal of firearms" | "police report" | "protection order"
        );
        let theirs = relative.is_none() && !couple && is_of_relative(scene, &mention.words, &sentence.words);
        let named = (mention.words.start.saturating_sub(12).max(sentence.words.start)..mention.words.start)
            .any(|word| person(scene.reading.word(word)).is_some());
        if stance.context.experiencer == Experiencer::Family
            && (couple || !named)
            && scene.section(mention.words.start) != Some(Section::Family)
        {
            stance.context.experiencer = Experiencer::Patient;
        }
        let general = event || mention.concept.name == "surgery";
        if general && (theirs || stance.context.experiencer != Experiencer::Patient) {
            return None;
        }
        if event
            && relative.is_none()
            && sentence.speaker == Speaker::Family
            && is_own(scene, &mention.words, &sentence.words)
        {
            return None;
        }
        // A death is the relative's own; that it befell the patient is said by whose relative it was.
        if let Some(who) = relative {
            stance.context.experiencer = bereaved(who);
        }
        finished(scene, index, mention, &mut stance);
        let kind = if event { EntityType::Event } else { EntityType::Procedure };
        let mut entity = scene.entity(kind, &mention.words, mention.concept.name.to_owned(), &stance)?;
        entity.status = planned.then(|| PLANNED.to_owned());
        entity.subject = relative.filter(|_| sentence.speaker != Speaker::Family).map(str::to_owned);
        let label = sentence.words.contains(&mention.words.end) && scene.reading.word(mention.words.end) == ":";
        let entry = relative.is_some()
            && !matches!(mention.concept.name, "death by suicide")
            && scene.section(mention.words.start) == Some(Section::Family);
        let needs_day = traits == "dated" || entry || (event && label && !entity.context.negated && !planned);
        entity.group = Some(if needs_day { "dated" } else { mention.concept.group });
        Some(entity)
    }
}

/// Quotes the clause and weighs how surely it was read.
fn finished(scene: &Scene<'_>, sentence: usize, mention: &Mention, stance: &mut Stance) {
    let place = scene.reading.sentences[sentence].span;
    if !stance.answered && place.len() > LONGEST_QUOTE {
        stance.evidence = clause(scene.text(), place, scene.reading.source(&mention.words));
    }
    stance.confidence = stance.confidence.min(if stance.context.uncertain { 0.5 } else { 0.85 });
}

/// A sentence that is longer than this is quoted by the clause.
const LONGEST_QUOTE: usize = 160;

#[cfg(test)]
mod undone_tests;

//! Denials of risk by class, clause by clause: "Denies SI, HI", "niega maltrato en casa", "no me voy a matar".

use std::ops::Range;

use super::clauses::clauses;
use super::heard::{Heard, Settled};
use super::learned;
use super::topics::{Topic, Topics};
use super::whose::is_kin;
use super::words::Words;
use crate::scene::Scene;
use crate::structure::Section;
use crate::{Experiencer, RiskClass};
use anamnesis_text::Speaker;

/// Words around a topic that are kept of a long clause.
const AROUND: usize = 20;

pub(super) struct Denials<'a> {
    pub(crate) topics: &'a Topics,
    pub(crate) words: &'a Words,
    pub(crate) spoken_of: &'a [bool],
}

impl Denials<'_> {
    /// Adds what each clause denies; what it denies is settled.
    pub(crate) fn find(&self, scene: &Scene<'_>, out: &mut Vec<Heard>, settled: &mut Settled) {
        for (index, sentence) in scene.sentences() {
            if settled.sentences.contains(&index) {
                continue;
            }
            for clause in clauses(scene.reading, &sentence.words) {
                let mut topics = self.topics.find(scene.reading, clause.clone(), self.spoken_of);
                // "No plan and no intent": the plan's.
                if topics.iter().any(|topic| topic.class == RiskClass::PlanOrMeans) {
                    let listed =
                        |topic: &Topic| matches!(scene.reading.word(topic.words.end), "or" | "o" | "ni" | "," | "/");
                    topics.retain(|topic| {
                        topic.class != RiskClass::ActiveIdeation || topic.words.len() > 1 || listed(topic)
                    });
                }
                for topic in topics.iter().filter(|topic| !topic.is_safe()) {
                    if settled.holds(&topic.words) {
                        continue;
                    }
                    if is_of_something_else(scene, topic)
                        || sentence.speaker == Speaker::Patient && is_of_another(scene, topic)
                    {
                        continue;
                    }
                    let Some(denial) = self.words.denied(scene.reading, &clause, topic) else { continue };
                    out.push(self.heard(scene, &clause, topic));
                    // "Denies wanting to die", and no more said: no thought of dying by one's own hand either.
                    if is_wish_to_die(scene, topic) && !learned::is_document(scene.reading) {
                        let both = Heard { class: RiskClass::ActiveIdeation, ..self.heard(scene, &clause, topic) };
                        out.push(both);
                    }
                    // What is denied may be a wider list than the words that were known.
                    let from = denial.start.min(topic.words.start);
                    settled.denied.push(from..topic.words.end);
                }
                for topic in topics.iter().filter(|topic| topic.is_safe() && !settled.holds(&topic.words)) {
                    // "Feels safe at home" denies; "does not feel safe" is left to the rules.
                    if self.words.denied(scene.reading, &clause, topic).is_none() && !sentence.question {
                        out.push(self.heard(scene, &clause, topic));
                    }
                }
            }
        }
    }

    fn heard(&self, scene: &Scene<'_>, clause: &Range<usize>, topic: &Topic) -> Heard {
        let (class, experiencer) = whose_history(scene, clause, topic);
        let words =
            clause.start.max(topic.words.start.saturating_sub(AROUND))..clause.end.min(topic.words.end + AROUND);
        Heard { class, denied: true, words, core: topic.words.clone(), experiencer, confirmed: None }
    }
}

/// "No suicides in the family": the history of relatives, whom the words around a topic name.
pub(super) fn whose_history(scene: &Scene<'_>, clause: &Range<usize>, topic: &Topic) -> (RiskClass, Experiencer) {
    let reading = scene.reading;
    let suicide = matches!(topic.class, RiskClass::ActiveIdeation | RiskClass::AttemptHistory)
        && topic
            .words
            .clone()
            .any(|word| matches!(reading.word(word), "suicide" | "suicides" | "suicidio" | "suicidios"));
    let named =
        clause.clone().any(|word| matches!(reading.word(word), "family" | "familia" | "relatives" | "familiares"));
    let kin = named || scene.section(topic.words.start) == Some(Section::Family) || is_kin(reading, clause);
    match suicide && kin {
        true => (RiskClass::AttemptHistory, Experiencer::Family),
        false => (topic.class, Experiencer::Patient),
    }
}

fn is_wish_to_die(scene: &Scene<'_>, topic: &Topic) -> bool {
    let dies = |word: &str| matches!(word, "die" | "morir" | "morirse" | "morirme" | "morirte");
    topic.class == RiskClass::PassiveIdeation && topic.words.clone().any(|word| dies(scene.reading.word(word)))
}

/// "He doesn't touch her", said by a patient: another's.
fn is_of_another(scene: &Scene<'_>, topic: &Topic) -> bool {
    let holds = |list: &[&str]| topic.words.clone().any(|word| list.contains(&scene.reading.word(word)));
    topic.class == RiskClass::Abuse && holds(&["him", "her", "them", "la", "lo", "le", "les"]) && !holds(&["me"])
}

/// "No plan to leave": what stands behind is planned, and is no harm.
fn is_of_something_else(scene: &Scene<'_>, topic: &Topic) -> bool {
    let word = |behind: usize| scene.reading.word(topic.words.end + behind);
    let planned = matches!(
        scene.reading.word(topic.words.end - 1),
        "plan" | "plans" | "planes" | "intent" | "intention" | "method" | "means"
    );
    let joined = matches!(word(0), "to" | "for" | "de" | "para");
    let harm = matches!(
        word(1),
        "end"
            | "kill"
            | "harm"
            | "hurt"
            | "act"
            | "do"
            | "suicide"
            | "die"
            | "self"
            | "matarse"
            | "morir"
            | "suicidarse"
            | "hacerse"
            | "hacerlo"
            | "quitarse"
            | "suicidio"
            | "autolisis"
            | "carry"
            | "dañarse"
            | "danarse"
            | "hacer"
            | "matar"
            | "overdose"
    );
    planned && joined && !harm
}

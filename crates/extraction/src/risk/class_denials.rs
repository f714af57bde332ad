//! Denials of risk by class, clause by clause: "Denies SI, HI", "niega maltrato en casa", "no me voy a matar".

use std::ops::Range;

use super::candidates::{ResolvedWords, RiskCandidate};
use super::classifier;
use super::clauses::clauses;
use super::cue_words::RiskCueWords;
use super::experiencer::is_kin;
use super::topics::{RiskTopic, RiskTopics};
use crate::analysis::AnalyzedDocument;
use crate::lexicon::word_lists::{self, WordList};
use crate::structure::Section;
use crate::{Experiencer, RiskClass};
use anamnesis_text::Speaker;

/// Words around a topic that are quoted from a long clause.
const AROUND: usize = 20;

pub(super) struct ClassDenials<'a> {
    pub(crate) topics: &'a RiskTopics,
    pub(crate) words: &'a RiskCueWords,
    pub(crate) spoken_of: &'a [bool],
}

impl ClassDenials<'_> {
    /// Adds the denials of each clause; the denied words are settled.
    pub(crate) fn find(&self, doc: &AnalyzedDocument<'_>, out: &mut Vec<RiskCandidate>, settled: &mut ResolvedWords) {
        for (index, sentence) in doc.sentences() {
            if settled.sentences.contains(&index) {
                continue;
            }
            for clause in clauses(doc.reading, &sentence.words) {
                let mut topics = self.topics.find(doc.reading, clause.clone(), self.spoken_of);
                // "No plan and no intent": the plan's.
                if topics.iter().any(|topic| topic.class == RiskClass::PlanOrMeans) {
                    let listed =
                        |topic: &RiskTopic| matches!(doc.reading.word(topic.words.end), "or" | "o" | "ni" | "," | "/");
                    topics.retain(|topic| {
                        topic.class != RiskClass::ActiveIdeation || topic.words.len() > 1 || listed(topic)
                    });
                }
                for topic in topics.iter().filter(|topic| !topic.is_safe()) {
                    if settled.holds(&topic.words) {
                        continue;
                    }
                    if is_of_something_else(doc, topic)
                        || sentence.speaker == Speaker::Patient && is_of_another(doc, topic)
                    {
                        continue;
                    }
                    let Some(denial) = self.words.denied(doc.reading, &clause, topic) else { continue };
                    out.push(self.candidate(doc, &clause, topic));
                    // "Denies wanting to die", and nothing more: suicidal thoughts are denied as well.
                    if is_wish_to_die(doc, topic) && !classifier::is_document(doc.reading) {
                        let both =
                            RiskCandidate { class: RiskClass::ActiveIdeation, ..self.candidate(doc, &clause, topic) };
                        out.push(both);
                    }
                    // The denied words may be a wider list than the known topic.
                    let from = denial.start.min(topic.words.start);
                    settled.denied.push(from..topic.words.end);
                }
                for topic in topics.iter().filter(|topic| topic.is_safe() && !settled.holds(&topic.words)) {
                    // "Feels safe at home" denies; "does not feel safe" is left to the rules.
                    if self.words.denied(doc.reading, &clause, topic).is_none() && !sentence.question {
                        out.push(self.candidate(doc, &clause, topic));
                    }
                }
            }
        }
    }

    fn candidate(&self, doc: &AnalyzedDocument<'_>, clause: &Range<usize>, topic: &RiskTopic) -> RiskCandidate {
        let (class, experiencer) = experiencer_of_history(doc, clause, topic);
        let words =
            clause.start.max(topic.words.start.saturating_sub(AROUND))..clause.end.min(topic.words.end + AROUND);
        RiskCandidate { class, denied: true, words, core: topic.words.clone(), experiencer, confirmed: None }
    }
}

/// "No suicides in the family": the history of relatives, whom the words around a topic name.
pub(super) fn experiencer_of_history(
    doc: &AnalyzedDocument<'_>,
    clause: &Range<usize>,
    topic: &RiskTopic,
) -> (RiskClass, Experiencer) {
    let reading = doc.reading;
    let suicide = matches!(topic.class, RiskClass::ActiveIdeation | RiskClass::AttemptHistory)
        && topic
            .words
            .clone()
            .any(|word| matches!(reading.word(word), "suicide" | "suicides" | "suicidio" | "suicidios"));
    let named =
        clause.clone().any(|word| matches!(reading.word(word), "family" | "familia" | "relatives" | "familiares"));
    let kin = named || doc.section(topic.words.start) == Some(Section::Family) || is_kin(reading, clause);
    match suicide && kin {
        true => (RiskClass::AttemptHistory, Experiencer::Family),
        false => (topic.class, Experiencer::Patient),
    }
}

fn is_wish_to_die(doc: &AnalyzedDocument<'_>, topic: &RiskTopic) -> bool {
    let dies = |word: &str| matches!(word, "die" | "morir" | "morirse" | "morirme" | "morirte");
    topic.class == RiskClass::PassiveIdeation && topic.words.clone().any(|word| dies(doc.reading.word(word)))
}

/// "He doesn't touch her", said by a patient: another's.
fn is_of_another(doc: &AnalyzedDocument<'_>, topic: &RiskTopic) -> bool {
    let holds = |list: &[&str]| topic.words.clone().any(|word| list.contains(&doc.reading.word(word)));
    topic.class == RiskClass::Abuse && holds(&["him", "her", "them", "la", "lo", "le", "les"]) && !holds(&["me"])
}

/// "No plan to leave": the plan concerns something harmless.
fn is_of_something_else(doc: &AnalyzedDocument<'_>, topic: &RiskTopic) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::RISK, "class_denials.is_of_something_else");
    let word = |after: usize| doc.reading.word(topic.words.end + after);
    let planned = matches!(
        doc.reading.word(topic.words.end - 1),
        "plan" | "plans" | "planes" | "intent" | "intention" | "method" | "means"
    );
    let joined = matches!(word(0), "to" | "for" | "de" | "para");
    let harm = WORDS.contains(word(1));
    planned && joined && !harm
}

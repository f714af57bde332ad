//! Who the patient lives with, who helps, who cares for whom, and how these people get on with each other.

use std::ops::Range;

use super::clauses::clause;
use crate::analysis::AnalyzedDocument;
use crate::lexicon::label;
use crate::matcher::PhraseMatcher;
use crate::phrase_trie::TrieBuilder;
use crate::tokenized::TextSentence;
use crate::{Entity, EntityType, MentionContext};
use anamnesis_text::Speaker;

pub(super) const FILE: &str = include_str!("../lexicon/household.tsv");
const CLOSE: usize = 4;
/// How many words before "lives with" another person may come as its subject.
const SUBJECT: usize = 4;
const LONGEST: usize = 14;
const SURENESS: f64 = 0.8;
const MOST: usize = 2;

pub(crate) struct HouseholdRules {
    /// Leads that a person follows: "lives with", "estranged from", "main carer:".
    leads: [PhraseMatcher; 3],
    /// Phrases that are complete: "lives alone", "supported by his wife".
    wholes: [PhraseMatcher; 3],
    status: PhraseMatcher,
    helper: PhraseMatcher,
    helps: PhraseMatcher,
    relative: PhraseMatcher,
    people: PhraseMatcher,
    own: PhraseMatcher,
}

impl HouseholdRules {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        let mut of = |name| label(trie, FILE, name);
        Self {
            leads: [of("lives"), of("apart"), of("care")],
            wholes: [of("alone"), of("support"), of("own_care")],
            status: of("status"),
            helper: of("helper"),
            helps: of("helps"),
            relative: of("relative"),
            people: of("people"),
            own: of("own"),
        }
    }

    pub(crate) fn find(&self, doc: &AnalyzedDocument<'_>, out: &mut Vec<Entity>) {
        for (index, sentence) in doc.sentences() {
            let within = sentence.words.clone();
            if sentence.question && sentence.speaker != Speaker::Patient {
                continue;
            }
            let mut stated: Vec<Range<usize>> = Vec::new();
            for (kind, leads) in self.leads.iter().enumerate() {
                for lead in leads.find(doc.reading, within.clone()) {
                    let start = lead.words.end + usize::from(doc.reading.word(lead.words.end) == ":");
                    let end = clause(doc, start, within.end.min(start + LONGEST));
                    if kind > 0 {
                        stated.extend((end > start).then_some(lead.words.start..end));
                        continue;
                    }
                    let end = self.end_of_people(doc, start, end);
                    let from = self.subject(doc, sentence, &lead.words, end);
                    stated.extend(from.filter(|_| end > start).map(|from| from..end));
                }
            }
            for (kind, wholes) in self.wholes.iter().enumerate() {
                for whole in wholes.find(doc.reading, within.clone()) {
                    if kind > 0 || self.subject(doc, sentence, &whole.words, whole.words.end).is_some() {
                        stated.push(whole.words.clone());
                    }
                }
            }
            stated.extend(self.helping(doc, &within));
            stated.extend(self.status.find(doc.reading, within.clone()).into_iter().filter_map(|hit| {
                let end = clause(doc, hit.words.end, within.end.min(hit.words.end + 3));
                (end > hit.words.end).then_some(hit.words.start..end)
            }));
            // The first says most; a statement apart from it is stored too.
            let mut kept: Vec<Range<usize>> = Vec::new();
            for words in stated {
                if kept.len() < MOST && kept.iter().all(|other| words.end <= other.start || other.end <= words.start) {
                    push(doc, index, &words, out);
                    kept.push(words);
                }
            }
        }
    }

    /// Where the people end with whom someone lives: "his wife and two sons, works in a factory" ends before the comma.
    /// "Living with anemia" names no person and gives an empty range.
    fn end_of_people(&self, doc: &AnalyzedDocument<'_>, start: usize, end: usize) -> usize {
        let is_person = |word: usize| {
            let said = doc.reading.word(word);
            let named = said.starts_with("person_") || self.own.at(doc.reading, word).is_some();
            named || self.people.at(doc.reading, word).is_some() || self.helper.at(doc.reading, word).is_some()
        };
        let Some(last) = (start..end).rev().find(|word| is_person(*word)) else { return start };
        let parts = |word: &usize| matches!(doc.reading.word(*word), "," | "and" | "y" | "who" | "que" | "-");
        (last..end).find(parts).unwrap_or(end)
    }

    /// Where the statement begins that it is the patient who lives there; `None` where a relative lives elsewhere. "My
    /// daughter lives with me" begins at the daughter.
    fn subject(
        &self,
        doc: &AnalyzedDocument<'_>,
        sentence: &TextSentence,
        lead: &Range<usize>,
        end: usize,
    ) -> Option<usize> {
        let from = lead.start.saturating_sub(SUBJECT).max(sentence.words.start);
        let others = self.relative.find(doc.reading, from..lead.start);
        let own = |word: usize| {
            self.own.at(doc.reading, word).is_some() && (word + 1 >= end || closes(doc.reading.word(word + 1)))
        };
        if let Some(other) = others.last() {
            let parts = |word| matches!(doc.reading.word(word), "," | "." | "and" | "y" | "he" | "she" | "i" | "yo");
            let with_patient = (lead.end..end).take(2).any(own);
            let parted = (other.words.end..lead.start).any(parts);
            return if with_patient { Some(other.words.start) } else { parted.then_some(lead.start) };
        }
        // In a patient's own words the third person is another person.
        let third = matches!(doc.reading.word(lead.start), "lives" | "resides" | "stays" | "vive" | "reside");
        let spoken = sentence.turn.is_some() && sentence.speaker == Speaker::Patient;
        (!(third && spoken)).then_some(lead.start)
    }

    /// "Su hija le prepara las pastillas", "lo cuida la vecina", "neighbour pops in daily".
    fn helping(&self, doc: &AnalyzedDocument<'_>, within: &Range<usize>) -> Vec<Range<usize>> {
        let helpers = self.helper.find(doc.reading, within.clone());
        let mut out = Vec::new();
        for verb in self.helps.find(doc.reading, within.clone()) {
            let before = helpers.iter().rev().find(|helper| {
                helper.words.end <= verb.words.start
                    && verb.words.start - helper.words.end <= CLOSE
                    && !parted(doc, helper.words.end..verb.words.start)
            });
            let after = helpers.iter().find(|helper| {
                helper.words.start >= verb.words.end
                    && helper.words.start - verb.words.end <= CLOSE
                    && !parted(doc, verb.words.end..helper.words.start)
            });
            match (before, after) {
                (Some(helper), _) => {
                    out.push(helper.words.start..clause(doc, verb.words.end, within.end.min(verb.words.end + 6)))
                }
                (None, Some(helper)) => out.push(verb.words.start..helper.words.end),
                (None, None) => {}
            }
        }
        out
    }
}

/// A word that closes "with him": "with her boyfriend" names another person.
fn closes(word: &str) -> bool {
    matches!(
        word,
        "," | "now" | "since" | "at" | "in" | "and" | "full" | "for" | "desde" | "en" | "y" | "ahora" | "again" | "too"
    )
}

fn parted(doc: &AnalyzedDocument<'_>, mut words: Range<usize>) -> bool {
    words.any(|word| matches!(doc.reading.word(word), "." | ";" | "?" | "but" | "pero" | "not" | "n't" | "no"))
}

fn push(doc: &AnalyzedDocument<'_>, index: usize, words: &Range<usize>, out: &mut Vec<Entity>) {
    let Some(mut assertion) = doc.assertion(index, words) else { return };
    let near = words.start..words.start + 1;
    if doc.scopes.denied_near(doc.reading, &near, 2) {
        return;
    }
    assertion.context = MentionContext::default();
    assertion.confidence = assertion.confidence.min(SURENESS);
    let said = doc.reading.source(words).slice(doc.text()).to_lowercase();
    let value =
        said.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches([',', '-', ':']).trim().to_owned();
    let Some(entity) = doc.entity(EntityType::Relationship, words, value, &assertion) else { return };
    // A relative named inside the statement needs no second row.
    out.retain(|other| other.kind != EntityType::Relationship || !other.evidence.overlaps(&entity.evidence));
    out.push(entity);
}

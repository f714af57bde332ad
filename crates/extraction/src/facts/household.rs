//! Who the patient lives with, who helps, who looks after whom, and how they stand with each other.

use std::ops::Range;

use super::clauses::clause;
use crate::lexicon::label;
use crate::matcher::Matcher;
use crate::phrasebook::Builder;
use crate::reading::Sentence;
use crate::scene::Scene;
use crate::{Context, Entity, EntityType};
use anamnesis_text::Speaker;

pub(super) const FILE: &str = include_str!("../lexicon/household.tsv");
/// Words between a person and what they do for the patient.
const CLOSE: usize = 4;
/// Words before "lives with" in which somebody else may stand as its subject.
const SUBJECT: usize = 4;
/// Words of the description that is kept.
const LONGEST: usize = 14;
const SURENESS: f64 = 0.8;
/// Rows of one sentence.
const MOST: usize = 2;

pub(crate) struct Household {
    /// What is followed by who: "lives with", "estranged from", "main carer:".
    leads: [Matcher; 3],
    /// What says all by itself: "lives alone", "supported by his wife".
    wholes: [Matcher; 3],
    status: Matcher,
    helper: Matcher,
    helps: Matcher,
    relative: Matcher,
    people: Matcher,
    own: Matcher,
}

impl Household {
    pub(crate) fn builtin(book: &mut Builder) -> Self {
        let mut of = |name| label(book, FILE, name);
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

    pub(crate) fn find(&self, scene: &Scene<'_>, out: &mut Vec<Entity>) {
        for (index, sentence) in scene.sentences() {
            let within = sentence.words.clone();
            if sentence.question && sentence.speaker != Speaker::Patient {
                continue;
            }
            let mut told: Vec<Range<usize>> = Vec::new();
            for (kind, leads) in self.leads.iter().enumerate() {
                for lead in leads.find(scene.reading, within.clone()) {
                    let start = lead.words.end + usize::from(scene.reading.word(lead.words.end) == ":");
                    let end = clause(scene, start, within.end.min(start + LONGEST));
                    if kind > 0 {
                        told.extend((end > start).then_some(lead.words.start..end));
                        continue;
                    }
                    let end = self.end_of_people(scene, start, end);
                    let from = self.subject(scene, sentence, &lead.words, end);
                    told.extend(from.filter(|_| end > start).map(|from| from..end));
                }
            }
            for (kind, wholes) in self.wholes.iter().enumerate() {
                for whole in wholes.find(scene.reading, within.clone()) {
                    if kind > 0 || self.subject(scene, sentence, &whole.words, whole.words.end).is_some() {
                        told.push(whole.words.clone());
                    }
                }
            }
            told.extend(self.helping(scene, &within));
            told.extend(self.status.find(scene.reading, within.clone()).into_iter().filter_map(|hit| {
                let end = clause(scene, hit.words.end, within.end.min(hit.words.end + 3));
                (end > hit.words.end).then_some(hit.words.start..end)
            }));
            // The first tells most; what stands apart from it is told too.
            let mut kept: Vec<Range<usize>> = Vec::new();
            for words in told {
                if kept.len() < MOST && kept.iter().all(|other| words.end <= other.start || other.end <= words.start) {
                    push(scene, index, &words, out);
                    kept.push(words);
                }
            }
        }
    }

    /// Where the people end with whom somebody lives: "his wife and two sons, works in a factory" ends before the comma.
    /// Nobody at all ("living with anemia") is an empty place.
    fn end_of_people(&self, scene: &Scene<'_>, start: usize, end: usize) -> usize {
        let is_person = |word: usize| {
            let said = scene.reading.word(word);
            let named = said.starts_with("person_") || self.own.at(scene.reading, word).is_some();
            named || self.people.at(scene.reading, word).is_some() || self.helper.at(scene.reading, word).is_some()
        };
        let Some(last) = (start..end).rev().find(|word| is_person(*word)) else { return start };
        let parts = |word: &usize| matches!(scene.reading.word(*word), "," | "and" | "y" | "who" | "que" | "-");
        (last..end).find(parts).unwrap_or(end)
    }

    /// Where the statement begins that it is the patient who lives there; `None` where a relative lives elsewhere. "My
    /// daughter lives with me" begins at the daughter.
    fn subject(&self, scene: &Scene<'_>, sentence: &Sentence, lead: &Range<usize>, end: usize) -> Option<usize> {
        let from = lead.start.saturating_sub(SUBJECT).max(sentence.words.start);
        let others = self.relative.find(scene.reading, from..lead.start);
        let own = |word: usize| {
            self.own.at(scene.reading, word).is_some() && (word + 1 >= end || closes(scene.reading.word(word + 1)))
        };
        if let Some(other) = others.last() {
            let parts = |word| matches!(scene.reading.word(word), "," | "." | "and" | "y" | "he" | "she" | "i" | "yo");
            let with_patient = (lead.end..end).take(2).any(own);
            let parted = (other.words.end..lead.start).any(parts);
            return if with_patient { Some(other.words.start) } else { parted.then_some(lead.start) };
        }
        // In a patient's own words the third person is somebody else.
        let third = matches!(scene.reading.word(lead.start), "lives" | "resides" | "stays" | "vive" | "reside");
        let spoken = sentence.turn.is_some() && sentence.speaker == Speaker::Patient;
        (!(third && spoken)).then_some(lead.start)
    }

    /// "Su hija le prepara las pastillas", "lo cuida la vecina", "neighbour pops in daily".
    fn helping(&self, scene: &Scene<'_>, within: &Range<usize>) -> Vec<Range<usize>> {
        let helpers = self.helper.find(scene.reading, within.clone());
        let mut out = Vec::new();
        for deed in self.helps.find(scene.reading, within.clone()) {
            let before = helpers.iter().rev().find(|helper| {
                helper.words.end <= deed.words.start
                    && deed.words.start - helper.words.end <= CLOSE
                    && !parted(scene, helper.words.end..deed.words.start)
            });
            let after = helpers.iter().find(|helper| {
                helper.words.start >= deed.words.end
                    && helper.words.start - deed.words.end <= CLOSE
                    && !parted(scene, deed.words.end..helper.words.start)
            });
            match (before, after) {
                (Some(helper), _) => {
                    out.push(helper.words.start..clause(scene, deed.words.end, within.end.min(deed.words.end + 6)))
                }
                (None, Some(helper)) => out.push(deed.words.start..helper.words.end),
                (None, None) => {}
            }
        }
        out
    }
}

/// What stands behind "with him" where "him" is the whole: "with her boyfriend" is another's.
fn closes(word: &str) -> bool {
    matches!(
        word,
        "," | "now" | "since" | "at" | "in" | "and" | "full" | "for" | "desde" | "en" | "y" | "ahora" | "again" | "too"
    )
}

fn parted(scene: &Scene<'_>, mut words: Range<usize>) -> bool {
    words.any(|word| matches!(scene.reading.word(word), "." | ";" | "?" | "but" | "pero" | "not" | "n't" | "no"))
}

fn push(scene: &Scene<'_>, index: usize, words: &Range<usize>, out: &mut Vec<Entity>) {
    let Some(mut stance) = scene.stance(index, words) else { return };
    let near = words.start..words.start + 1;
    if scene.contexts.denied_near(scene.reading, &near, 2) {
        return;
    }
    stance.context = Context::default();
    stance.confidence = stance.confidence.min(SURENESS);
    let said = scene.reading.source(words).of(scene.text()).to_lowercase();
    let value =
        said.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches([',', '-', ':']).trim().to_owned();
    let Some(entity) = scene.entity(EntityType::Relationship, words, value, &stance) else { return };
    // A relative named inside is told with it.
    out.retain(|other| other.kind != EntityType::Relationship || !other.evidence.overlaps(&entity.evidence));
    out.push(entity);
}

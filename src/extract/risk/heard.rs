//! What the rules heard, before it becomes findings: each with the words that prove it. One passage of a class is one finding.

use std::collections::BTreeSet;
use std::ops::Range;

use super::clauses::clause_of;
use crate::extract::scene::Scene;
use crate::extract::{Experiencer, Risk, RiskClass};

/// Words before and behind words of risk that are kept of a long clause.
const AROUND: usize = 18;

/// Risk of a class, or its denial, with the words that say it.
#[derive(Debug, Clone)]
pub(super) struct Heard {
    pub class: RiskClass,
    pub denied: bool,
    pub words: Range<usize>,
    /// The words of risk themselves.
    pub core: Range<usize>,
    pub experiencer: Experiencer,
}

/// What a question, a box or a denial has settled: phrases in it say nothing more.
#[derive(Debug, Default)]
pub(super) struct Settled {
    /// Sentences of those who only ask.
    pub sentences: BTreeSet<usize>,
    /// Labels and questions.
    pub words: Vec<Range<usize>>,
    pub denied: Vec<(RiskClass, Range<usize>)>,
}

impl Settled {
    pub fn holds(&self, words: &Range<usize>) -> bool {
        self.words.iter().any(|known| overlaps(known, words))
    }

    /// Sentences that the ear may not hear: what was asked, marked, denied or heard by rules.
    pub fn closed(&self, scene: &Scene<'_>, found: &[Risk]) -> Vec<bool> {
        let sentence = |(index, sentence): (usize, &crate::extract::reading::Sentence)| {
            self.sentences.contains(&index)
                || self.holds(&sentence.words)
                || self.denied.iter().any(|(_, words)| overlaps(words, &sentence.words))
                || found.iter().any(|risk| risk.span.overlaps(&sentence.span))
        };
        scene.reading.sentences.iter().enumerate().map(sentence).collect()
    }
}

/// Adds what phrases found, with the clause as evidence, where nothing settled it.
pub(super) fn add_said(scene: &Scene<'_>, said: Vec<Heard>, settled: &Settled, out: &mut Vec<Heard>) {
    let known = out.clone();
    for found in said {
        let index = scene.reading.sentence_of(found.words.start);
        let asked = settled.sentences.contains(&index);
        let sentence = &scene.reading.sentences[index].words;
        let answered = asked && (found.denied || known.iter().any(|heard| overlaps(&heard.words, sentence)));
        if settled.holds(&found.words) || answered {
            continue;
        }
        let denied = settled.denied.iter().any(|(_, words)| overlaps(words, &found.words));
        if denied || found.denied && known.iter().any(|heard| heard.denied && overlaps(&heard.words, &found.words)) {
            continue;
        }
        out.push(Heard { words: passage(scene, sentence, &found.words), ..found });
    }
}

/// The clause around words of risk, a long one cut.
fn passage(scene: &Scene<'_>, sentence: &Range<usize>, words: &Range<usize>) -> Range<usize> {
    let first = clause_of(scene.reading, sentence, words.start);
    let last = clause_of(scene.reading, sentence, words.end.saturating_sub(1).max(words.start));
    let start = first.start.max(words.start.saturating_sub(AROUND));
    let end = last.end.min(words.end + AROUND).max(words.end);
    start..end
}

/// As findings: one for each class, polarity and passage, the passage that holds the others.
pub(super) fn folded(scene: &Scene<'_>, mut heard: Vec<Heard>) -> Vec<Risk> {
    heard.iter_mut().for_each(|one| one.words = trimmed(scene, one.words.clone()));
    let mut out: Vec<Heard> = Vec::new();
    for one in heard.into_iter().filter(|one| !one.words.is_empty()) {
        let same = |known: &Heard| known.denied == one.denied && overlaps(&known.words, &one.words);
        let known = out.iter().position(|known| same(known) && is_one(scene, known, &one));
        match known {
            Some(place) if ranks(scene, &one) < ranks(scene, &out[place]) => out[place] = one,
            Some(_) => {}
            None => out.push(one),
        }
    }
    let finding = |one: &Heard| {
        let span = scene.reading.source(&one.words);
        let there = scene.text().get(span.start..span.end).is_some_and(|text| !text.is_empty());
        there.then_some(Risk::heard(one.class, span, one.denied, one.experiencer))
    };
    out.iter().filter_map(finding).collect()
}

/// Whether two findings of overlapping passages are one: of one class and person, or the same words under two names.
fn is_one(scene: &Scene<'_>, a: &Heard, b: &Heard) -> bool {
    let others = a.experiencer != Experiencer::Patient && b.experiencer != Experiencer::Patient;
    let named_twice = overlaps(&a.core, &b.core) && !(is_wish(a.class) && is_method(scene, b));
    a.class == b.class && a.experiencer == b.experiencer || others || named_twice && !is_method(scene, a)
}

fn is_wish(class: RiskClass) -> bool {
    matches!(class, RiskClass::PassiveIdeation | RiskClass::ActiveIdeation)
}

/// A plan of which more is said than the wish: both are kept.
fn is_method(scene: &Scene<'_>, heard: &Heard) -> bool {
    heard.class == RiskClass::PlanOrMeans && heard.core.len() > 3 && !scene.reading.words.is_empty()
}

/// Which of two names of the same words holds: what was done before what is thought, and killing oneself is no passive wish.
fn ranks(scene: &Scene<'_>, heard: &Heard) -> u8 {
    let kills = heard.core.clone().any(|word| is_of_killing(scene.reading.word(word)));
    match heard.class {
        RiskClass::AttemptHistory => 0,
        RiskClass::PlanOrMeans => 1,
        RiskClass::HarmToOthers => 2,
        RiskClass::SelfHarm => 3,
        RiskClass::Abuse => 4,
        RiskClass::ActiveIdeation => if kills { 5 } else { 7 },
        RiskClass::PassiveIdeation => 6,
    }
}

fn is_of_killing(word: &str) -> bool {
    ["kill", "suicid", "matar", "mato", "ahorc", "colg", "quitar", "autol", "jump", "tir", "avent", "hang", "end", "acab", "si", "neck"]
        .iter()
        .any(|stem| word.starts_with(stem))
}

/// Without the signs at its edges.
fn trimmed(scene: &Scene<'_>, mut words: Range<usize>) -> Range<usize> {
    let sign = |word: usize| {
        scene.reading.words.get(word).is_none_or(|known| known.punctuation)
            && !matches!(scene.reading.word(word), "[" | "(" | "]" | ")" | "?" | "¿" | "\"" | "☐" | "☒" | "☑")
    };
    while !words.is_empty() && sign(words.start) {
        words.start += 1;
    }
    while !words.is_empty() && sign(words.end - 1) {
        words.end -= 1;
    }
    words
}

pub(super) fn overlaps(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

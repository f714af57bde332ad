//! Boxes, letters and answers of forms about risk: "[x] Thoughts of …", "[N] Cutting", "¿Ha pensado en …? Sí [ ] No [x]".

use std::ops::Range;

use super::answers::one_name;
use super::candidates::{ResolvedWords, RiskCandidate};
use super::class_denials::experiencer_of_history;
use super::cue_words::RiskCueWords;
use super::topics::{RiskTopic, RiskTopics};
use crate::analysis::AnalyzedDocument;
use crate::dialogue::Polarity;
use crate::structure::{BoxMark, CheckboxAnswer};
use crate::{Experiencer, RiskClass};

/// Lines around an empty box in which a marked one shows that the list was filled in.
const LIST: usize = 4;
const LONGEST: usize = 56;

pub(super) struct RiskForms<'a> {
    pub(crate) topics: &'a RiskTopics,
    pub(crate) words: &'a RiskCueWords,
    pub(crate) spoken_of: &'a [bool],
}

impl RiskForms<'_> {
    pub(crate) fn find(&self, doc: &AnalyzedDocument<'_>, out: &mut Vec<RiskCandidate>, settled: &mut ResolvedWords) {
        for (index, sentence) in doc.reading.sentences.iter().enumerate() {
            if let Some((words, points)) = self.words.score(doc.reading, sentence.words.clone()) {
                settled.words.push(words.clone());
                let (class, experiencer) = (RiskClass::PassiveIdeation, Experiencer::Patient);
                let core = words.clone();
                out.push(RiskCandidate { class, denied: points == 0, words, core, experiencer, confirmed: None });
            }
            let boxes = doc.structure.boxes(index);
            for (place, ticked) in boxes.iter().enumerate() {
                let label = self.label(doc, index, ticked);
                let mut topics = self.named(doc, label.clone());
                if topics.is_empty() {
                    continue;
                }
                if ticked.mark == BoxMark::Past {
                    // An act that is over is history; a thought of years ago is no present danger.
                    topics.retain(|topic| {
                        matches!(topic.class, RiskClass::AttemptHistory | RiskClass::SelfHarm | RiskClass::Abuse)
                    });
                }
                settled.words.push(label.clone());
                let end = boxes.get(place + 1).map_or(usize::MAX, |next| next.label.start.max(label.end));
                let line = self.line(doc, index, label.start, end);
                if let Some(denied) = self.marked(doc, index, ticked) {
                    self.add(doc, &topics, denied, line, out);
                }
            }
            if boxes.is_empty()
                && let Some((denied, label)) = letter(doc, &sentence.words)
            {
                let topics = self.named(doc, label.clone());
                if !topics.is_empty() {
                    settled.words.push(label.clone());
                    let line = self.line(doc, index, sentence.words.start, usize::MAX);
                    self.add(doc, &topics, denied, line, out);
                }
            }
        }
    }

    /// The label of a box: the words before it on the same line where it does not begin its sentence.
    fn label(&self, doc: &AnalyzedDocument<'_>, index: usize, ticked: &CheckboxAnswer) -> Range<usize> {
        let sentences = &doc.reading.sentences;
        let Some(before) = index.checked_sub(1).filter(|_| !ticked.label.clone().any(|word| is_word(doc, word))) else {
            return ticked.label.clone();
        };
        let gap = doc.text().get(sentences[before].span.end..sentences[index].span.start).unwrap_or("\n");
        if gap.contains('\n') { ticked.label.clone() } else { sentences[before].words.clone() }
    }

    /// The topics of a label: its first class, and others that are no part of it.
    fn named(&self, doc: &AnalyzedDocument<'_>, label: Range<usize>) -> Vec<RiskTopic> {
        if label.is_empty() {
            return Vec::new();
        }
        let mut out: Vec<RiskTopic> = Vec::new();
        for topic in self.topics.find(doc.reading, label.clone(), self.spoken_of) {
            let topic = self.words.turned(doc.reading, &label, topic);
            if !out.iter().any(|known| known.class == topic.class) {
                out.push(topic);
            }
        }
        one_name(&mut out);
        out
    }

    /// Whether a box denies its label; `None` where nothing is said.
    fn marked(&self, doc: &AnalyzedDocument<'_>, index: usize, ticked: &CheckboxAnswer) -> Option<bool> {
        match ticked.mark {
            BoxMark::Yes | BoxMark::Past => Some(false),
            BoxMark::No => Some(true),
            BoxMark::Empty => match self.scale(doc, index, ticked) {
                Some(polarity) => Some(polarity == Polarity::No),
                None => self.left_out(doc, index, ticked).then_some(true),
            },
        }
    }

    /// "Thought of harming myself: [ ] often [x] sometimes [ ] never".
    fn scale(&self, doc: &AnalyzedDocument<'_>, index: usize, ticked: &CheckboxAnswer) -> Option<Polarity> {
        let boxes = doc.structure.boxes(index);
        let marked = boxes.iter().find(|other| other.mark == BoxMark::Yes && other.cue.start >= ticked.cue.start)?;
        let after = marked.cue.end..(marked.cue.end + 3).min(doc.reading.sentences[index].words.end);
        Some(self.words.answer(doc.reading, &[after])?.0).filter(|polarity| *polarity != Polarity::Other)
    }

    /// An empty box in a list with marked ones was not endorsed. An empty pair for yes and no was not answered.
    fn left_out(&self, doc: &AnalyzedDocument<'_>, index: usize, ticked: &CheckboxAnswer) -> bool {
        let answers = |word: usize| matches!(doc.reading.word(word), "yes" | "si" | "no" | "y" | "n");
        let pair = answers(ticked.cue.end) || ticked.cue.start.checked_sub(1).is_some_and(answers);
        let around = index.saturating_sub(LIST)..(index + LIST + 1).min(doc.reading.sentences.len());
        let alone = |other: &CheckboxAnswer| {
            let answered = answers(other.cue.end) || other.cue.start.checked_sub(1).is_some_and(answers);
            other.mark == BoxMark::Yes && !answered && !other.label.is_empty()
        };
        !pair && around.into_iter().any(|line| doc.structure.boxes(line).iter().any(alone))
    }

    /// A label with what comes after it on its line, to the next label.
    fn line(&self, doc: &AnalyzedDocument<'_>, index: usize, start: usize, end: usize) -> Range<usize> {
        let sentences = &doc.reading.sentences;
        let mut last = index;
        // "¿Cuándo?" ends a sentence and not its line.
        while let Some(next) = sentences.get(last + 1) {
            let gap = doc.text().get(sentences[last].span.end..next.span.start).unwrap_or("\n");
            if gap.contains('\n') || next.words.start >= end {
                break;
            }
            last += 1;
        }
        start..sentences[last].words.end.min(end).min(start + LONGEST)
    }

    fn add(
        &self,
        doc: &AnalyzedDocument<'_>,
        topics: &[RiskTopic],
        denied: bool,
        words: Range<usize>,
        out: &mut Vec<RiskCandidate>,
    ) {
        for topic in topics {
            let answer = if denied { Polarity::No } else { Polarity::Yes };
            let Some(denied) = topic.denied_by(answer) else { continue };
            let core = topic.words.clone();
            let (class, experiencer) = experiencer_of_history(doc, &words, topic);
            out.push(RiskCandidate { class, denied, words: words.clone(), core, experiencer, confirmed: None });
        }
    }
}

fn is_word(doc: &AnalyzedDocument<'_>, word: usize) -> bool {
    !doc.reading.words[word].punctuation && !matches!(doc.reading.word(word), "yes" | "no" | "si" | "y" | "n" | "s")
}

/// "[N] Thoughts of …", "(Y) Guns in home": the letter that answers, and its label.
fn letter(doc: &AnalyzedDocument<'_>, sentence: &Range<usize>) -> Option<(bool, Range<usize>)> {
    let word = |at: usize| doc.reading.word(sentence.start + at);
    let bullet = usize::from(matches!(word(0), "-" | "*" | "•"));
    let framed = matches!((word(bullet), word(bullet + 2)), ("[", "]") | ("(", ")"));
    let denied = match word(bullet + 1) {
        "n" | "no" => true,
        "y" | "yes" | "s" | "si" => false,
        _ => return None,
    };
    let from = sentence.start + bullet + 3;
    (framed && from < sentence.end).then_some((denied, from..sentence.end))
}

//! Risk classifier next to the rules: a linear model over words and parts of words, trained by `anamnesis-train risk`
//! (docs/risk-model.md says from what). It adds only what the rules did not find: where they found a risk of the patient, theirs
//! takes precedence. A finding is a sentence, or up to three neighbours of one speaker, with a probability.

mod features;
mod model;
mod threshold;

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

pub(crate) use features::RuleHits;
pub(crate) use features::all as features_of;
use model::ClassSums;
pub(crate) use model::RiskModel;
pub use model::{CLASSES, ORDER, write};

use super::super::analysis::AnalyzedDocument;
use super::super::dialogue::Polarity;
use super::super::tokenized::{TextSentence, TokenizedText};
use super::super::{Experiencer, Risk};
use super::asks_you;
use anamnesis_text::{Span, Speaker};

/// The model of the program; its bytes are part of the version of the rules.
pub(crate) static BUILTIN: &[u8] = include_bytes!("../../../../../models/risk/classifier.bin");

/// Sentences, or words, from which a text is a document: there a word must name risk, and the probability be higher.
/// Without that, two of three findings on whole documents were wrong.
const DOCUMENT: usize = 10;
const DOCUMENT_WORDS: usize = 220;
const DIALOGUE: usize = 6;

/// Whether a text is a document rather than a message of a few lines.
pub(super) fn is_document(reading: &TokenizedText<'_>) -> bool {
    let spoken = reading.sentences.first().is_some_and(|sentence| sentence.turn.is_some());
    reading.sentences.len() >= if spoken { DIALOGUE } else { DOCUMENT } || reading.words.len() >= DOCUMENT_WORDS
}

/// Sentences of a document with more words are not given to the classifier.
const LONGEST: usize = 45;

/// Neighbouring sentences that are scored together.
pub const WINDOW: usize = 3;

thread_local! {
    /// Sums of known words, by their hash: letters are looked up once for each word of a language. A process has one
    /// model, so that results never depend on the document before.
    static WORD_SUMS: RefCell<HashMap<u64, ClassSums, IdentityHash>> = const { RefCell::new(HashMap::with_hasher(IdentityHash)) };
}

/// Words remembered by a thread (about 1 MB), beyond which it begins anew.
const MAX_WORD_SUMS: usize = 16_384;

pub struct RiskClassifier {
    model: RiskModel,
    /// Log odds added to what [`threshold`] demands: none, unless an evaluation asks for other figures.
    threshold_shift: f32,
}

/// The results of the rules for each sentence, for the classifier.
pub(crate) struct RuleContext<'a> {
    pub(crate) rule_hits: &'a [RuleHits],
    /// Sentences closed to it: questions, labels, denials, findings of rules.
    pub(crate) closed: &'a [bool],
    /// Sentences with a word that talk of risk seldom lacks.
    pub(crate) cued: &'a [bool],
}

/// The computed features of a sentence so far.
#[derive(Clone, Default)]
struct SentenceScores {
    words: Vec<features::FeatureHashes>,
    sums: ClassSums,
    /// Neighbours are in the sums too.
    whole: bool,
    /// It is not scored: the rules decided it, or another person only asks.
    closed: bool,
}

impl RiskClassifier {
    /// The classifier of the program; `None` when it was built with a file of another version (a test reads it).
    pub(crate) fn builtin() -> Option<Self> {
        RiskModel::read(BUILTIN).ok().map(|model| Self { model, threshold_shift: 0.0 })
    }

    /// Another model, in a process that measures it: this thread forgets its known words.
    pub fn read(bytes: &'static [u8], threshold_shift: f32) -> Option<Self> {
        WORD_SUMS.with_borrow_mut(HashMap::clear);
        RiskModel::read(bytes).ok().map(|model| Self { model, threshold_shift })
    }

    /// Adds the findings of the classifier next to those of the rules.
    pub(crate) fn find(&self, doc: &AnalyzedDocument<'_>, context: &RuleContext<'_>, out: &mut Vec<Risk>) {
        let rule_hits = context.rule_hits;
        let mut scores = self.words(doc, rule_hits);
        scores.iter_mut().zip(context.closed).for_each(|(sentence, closed)| sentence.closed |= closed);
        let document = is_document(doc.reading);
        let longest = if document { 1 } else { WINDOW };
        let mut taken = vec![false; scores.len()];
        // The shortest run of sentences that is enough: its words are the evidence.
        for length in 1..=longest {
            for first in 0..(scores.len() + 1).saturating_sub(length) {
                let run = first..first + length;
                if run.clone().any(|at| taken[at] || scores[at].closed) || !together(doc, &run) {
                    continue;
                }
                // A line of a hundred words sums up to anything.
                if document && run.clone().any(|at| doc.reading.sentences[at].words.len() > LONGEST) {
                    continue;
                }
                if document && !context.cued[run.clone()].iter().any(|cued| *cued) {
                    continue;
                }
                if self.model.is_below_gate(&sum(&scores[run.clone()])) {
                    continue;
                }
                scores[run.clone()].iter_mut().for_each(|sentence| self.neighbours(sentence));
                let (odds, class) = self.model.odds(&sum(&scores[run.clone()]));
                let any = |is: fn(&RuleHits) -> bool| rule_hits[run.clone()].iter().any(is);
                let against = threshold::Counterevidence { denied: any(|r| r.denied), others: any(|r| r.others) };
                if odds < self.threshold_shift + threshold::demanded(scores.len(), document, against) {
                    continue;
                }
                taken[run.clone()].fill(true);
                let sentences = &doc.reading.sentences;
                let span = Span::new(sentences[first].span.start, sentences[run.end - 1].span.end);
                if doc.text().get(span.start..span.end).is_some() {
                    let learned = Some(probability(odds));
                    out.push(Risk { learned, ..Risk::ungraded(class, span, false, Experiencer::Patient) });
                }
            }
        }
    }

    /// Log odds that a passage speaks of a risk of the patient.
    pub(crate) fn odds(&self, doc: &AnalyzedDocument<'_>, passage: &TextSentence) -> f32 {
        let mut sums = ClassSums::default();
        features_of(doc.reading, passage).0.iter().for_each(|(feature, _)| self.model.add(*feature, &mut sums));
        self.model.odds(&sums).0
    }

    fn words(&self, doc: &AnalyzedDocument<'_>, rule_hits: &[RuleHits]) -> Vec<SentenceScores> {
        let reading = doc.reading;
        WORD_SUMS.with_borrow_mut(|known| {
            if known.len() > MAX_WORD_SUMS {
                known.clear();
            }
            let sentence = |(index, sentence): (usize, &TextSentence)| {
                let settled = rule_hits[index].own || rule_hits[index].only_asked;
                if sentence.speaker == Speaker::Agent || settled || is_asked(doc, index) {
                    return SentenceScores { closed: true, ..SentenceScores::default() };
                }
                let words = features::words(reading, sentence);
                let mut sums = ClassSums::default();
                for (word, hash) in &words {
                    let letters = reading.word(*word);
                    // Numbers share a hash and not their digits: the sum of one says nothing of the next.
                    let own = if features::is_number(letters) {
                        self.of_word(letters, *hash)
                    } else {
                        *known.entry(*hash).or_insert_with(|| self.of_word(letters, *hash))
                    };
                    sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
                }
                rule_hits[index].features().for_each(|feature| self.model.add(feature, &mut sums));
                SentenceScores {
                    words: features::marked(reading, &words, sentence),
                    sums,
                    whole: false,
                    closed: words.is_empty(),
                }
            };
            reading.sentences.iter().enumerate().map(sentence).collect()
        })
    }

    fn of_word(&self, word: &str, hash: u64) -> ClassSums {
        let mut own = ClassSums::default();
        features::of_word(word, hash, |feature, _| self.model.add(feature, &mut own));
        own
    }

    fn neighbours(&self, sentence: &mut SentenceScores) {
        if !std::mem::replace(&mut sentence.whole, true) {
            let sums = &mut sentence.sums;
            features::of_neighbours(&sentence.words, |feature| self.model.add(feature, sums));
        }
    }
}

fn sum(sentences: &[SentenceScores]) -> ClassSums {
    sentences.iter().fold(ClassSums::default(), |mut all, one| {
        all.iter_mut().zip(one.sums).for_each(|(all, one)| *all += one);
        all
    })
}

fn together(doc: &AnalyzedDocument<'_>, run: &Range<usize>) -> bool {
    let sentences = &doc.reading.sentences[run.clone()];
    sentences.iter().all(|sentence| sentence.turn == sentences[0].turn)
}

/// Another person's question says nothing of the patient, unless it was answered with yes.
pub(crate) fn is_asked(doc: &AnalyzedDocument<'_>, index: usize) -> bool {
    let asked = doc.question_answers.asks(index) && doc.reading.sentences[index].speaker != Speaker::Patient;
    let answered = doc.question_answers.answer(index).map(|answer| answer.polarity);
    let sentence = &doc.reading.sentences[index];
    // "Have you ever …?", in a note.
    let put = sentence.question && sentence.speaker != Speaker::Patient && asks_you(doc, &sentence.words);
    if doc.is_dialogue() && asked { answered != Some(Polarity::Yes) } else { put }
}

/// In hundredths: the last digits of a float are no finding.
pub(super) fn probability(odds: f32) -> f64 {
    let exact = 1.0 / (1.0 + f64::from(-odds).exp());
    (exact * 100.0).round().clamp(1.0, 99.0) / 100.0
}

#[derive(Default, Clone, Copy)]
struct IdentityHash;

impl std::hash::BuildHasher for IdentityHash {
    type Hasher = IdentityHasher;
    fn build_hasher(&self) -> IdentityHasher {
        IdentityHasher(0)
    }
}

struct IdentityHasher(u64);

impl std::hash::Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        self.0 = anamnesis_linear_model::hash::hash_bytes(bytes);
    }
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ExtractionInput, Extractor};
    use anamnesis_text::{Document, Language};

    #[test]
    fn the_committed_model_is_of_this_format() {
        assert!(RiskClassifier::builtin().is_some(), "models/risk/classifier.bin: run `anamnesis-train risk`");
    }

    fn learned(document: &Document) -> Vec<Risk> {
        let found = Extractor::shared().extract(&ExtractionInput::new(document)).risk;
        found.into_iter().filter(|risk| risk.learned.is_some()).collect()
    }

    #[test]
    fn where_the_rules_find_a_risk_their_finding_holds() {
        let document = Document::plain("I want to kill myself.", Language::English);
        assert_eq!(learned(&document), []);
        assert!(Extractor::shared().extract(&ExtractionInput::new(&document)).risk.iter().any(Risk::is_own));
    }

    #[test]
    fn a_question_and_an_assistants_words_alone_are_never_a_risk() {
        let hint = "I have sorted my papers and nobody will have to look after me once I am under the train";
        let said = |speaker| Document::dialogue([(speaker, hint, None)], Language::English);
        assert_eq!(learned(&said(Speaker::Patient)).len(), 1);
        assert_eq!(learned(&said(Speaker::Agent)), []);
        let question = "Have you sorted your papers so that nobody looks after you once you are under the train?";
        let turns = [(Speaker::Clinician, question, None), (Speaker::Patient, "No, of course not.", None)];
        assert_eq!(learned(&Document::dialogue(turns, Language::English)), []);
    }

    #[test]
    fn the_evidence_is_the_sentence_and_no_more() {
        let hint = "I have sorted my papers and nobody will have to look after me once I am under the train.";
        let text = format!("My knee is better. {hint} The new tablets taste of mint.");
        let found = learned(&Document::plain(text.clone(), Language::English));
        assert_eq!(found.iter().map(|risk| risk.span.slice(&text)).collect::<Vec<_>>(), [hint]);
    }

    #[test]
    fn a_probability_is_of_two_digits_and_never_certain() {
        assert_eq!((probability(0.0), probability(40.0), probability(-40.0)), (0.5, 0.99, 0.01));
    }

    #[test]
    fn earlier_documents_change_nothing_of_what_is_found_now() {
        const NUMBERS: [u32; 12] = [3, 47, 150, 31, 988, 20, 12, 600, 75, 100, 45, 911];
        let said =
            |n: u32| format!("I sorted all {n} of my papers; nobody will look after me once I am under train {n}.");
        let found = move |n| format!("{:?}", learned(&Document::plain(said(n), Language::English)));
        let one_after_another = NUMBERS.map(found);
        assert!(one_after_another[0].contains("learned: Some"), "{}", one_after_another[0]);
        let each_by_itself = NUMBERS.map(|n| std::thread::spawn(move || found(n)).join().unwrap());
        assert_eq!(one_after_another, each_by_itself);
    }
}

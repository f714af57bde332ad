//! A learned ear beside the rules: a linear model over words and parts of words, trained by `anamnesis-train risk`
//! (docs/risk-model.md says from what). It says only what the rules did not: where they heard a risk of the patient, theirs
//! stands. What it hears is a sentence, or up to three neighbours of one speaker, with a probability.

mod features;
mod model;
mod pace;

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

pub use features::{Ruled, all as features_of};
use model::Sums;
pub use model::{CLASSES, Model, ORDER, write};

use super::super::dialogue::Polarity;
use super::super::reading::{Reading, Sentence};
use super::super::scene::Scene;
use super::super::{Experiencer, Risk};
use super::asks_you;
use anamnesis_text::{Span, Speaker};

/// The model of the program; its bytes are part of the version of the rules.
pub(crate) static BUILTIN: &[u8] = include_bytes!("../../../../../models/risk/ear.bin");

/// Sentences, or words, from which a text is a document: there the ear alone is not enough, a word that names risk must stand in
/// the sentence, and it must be surer. On whole documents two of three findings were wrong without that.
const DOCUMENT: usize = 10;
const DOCUMENT_WORDS: usize = 220;
/// The same of a dialogue, whose sentences are short.
const DIALOGUE: usize = 6;

/// Whether a text is a document rather than a message of a few lines.
pub(super) fn is_document(reading: &Reading<'_>) -> bool {
    let spoken = reading.sentences.first().is_some_and(|sentence| sentence.turn.is_some());
    reading.sentences.len() >= if spoken { DIALOGUE } else { DOCUMENT } || reading.words.len() >= DOCUMENT_WORDS
}

/// Words of a sentence in a document beyond which the ear is not asked.
const LONGEST: usize = 45;

/// Neighbouring sentences that are heard together.
pub const WINDOW: usize = 3;

thread_local! {
    /// The sums of words met before, by their hash: letters are looked up once for each word of a language. There is one
    /// model in a process, so that what is known never depends on the document before.
    static KNOWN: RefCell<HashMap<u64, Sums, Plain>> = const { RefCell::new(HashMap::with_hasher(Plain)) };
}

/// Words remembered by a thread (about 1 MB), beyond which it begins anew.
const MOST_KNOWN: usize = 16_384;

pub struct Ear {
    model: Model,
    /// Log odds that it must be surer than [`pace`] demands: none, but where figures of others are asked for.
    surer: f32,
}

/// What the rules say of each sentence, to the ear.
pub(crate) struct Heeds<'a> {
    pub(crate) ruled: &'a [Ruled],
    /// Sentences that it may not hear: questions, labels, denials, what the rules heard.
    pub(crate) closed: &'a [bool],
    /// Sentences with a word that talk of risk seldom lacks.
    pub(crate) cued: &'a [bool],
}

/// What was reckoned of a sentence so far.
#[derive(Clone, Default)]
struct Heard {
    /// The words between the sentence's marks.
    words: Vec<features::Word>,
    sums: Sums,
    /// Neighbours are in the sums too.
    whole: bool,
    /// It may not be heard: the rules settled it, or somebody else only asks.
    closed: bool,
}

impl Ear {
    /// The ear of the program; `None` when it was built with a file of another version (a test reads it).
    pub(crate) fn builtin() -> Option<Self> {
        Model::read(BUILTIN).ok().map(|model| Self { model, surer: 0.0 })
    }

    /// Another model, in a process that measures it: this thread forgets the words that it knew.
    pub fn read(bytes: &'static [u8], surer: f32) -> Option<Self> {
        KNOWN.with_borrow_mut(HashMap::clear);
        Model::read(bytes).ok().map(|model| Self { model, surer })
    }

    /// Adds what the ear hears beside the findings of the rules.
    pub(crate) fn find(&self, scene: &Scene<'_>, heeds: &Heeds<'_>, out: &mut Vec<Risk>) {
        let ruled = heeds.ruled;
        let mut heard = self.words(scene, ruled);
        heard.iter_mut().zip(heeds.closed).for_each(|(sentence, closed)| sentence.closed |= closed);
        let document = is_document(scene.reading);
        let longest = if document { 1 } else { WINDOW };
        let mut taken = vec![false; heard.len()];
        // The shortest run of sentences that is enough: its words are the evidence.
        for length in 1..=longest {
            for first in 0..(heard.len() + 1).saturating_sub(length) {
                let run = first..first + length;
                if run.clone().any(|at| taken[at] || heard[at].closed) || !together(scene, &run) {
                    continue;
                }
                // A line of a hundred words sums up to anything.
                if document && run.clone().any(|at| scene.reading.sentences[at].words.len() > LONGEST) {
                    continue;
                }
                if document && !heeds.cued[run.clone()].iter().any(|cued| *cued) {
                    continue;
                }
                if self.model.is_shut(&sum(&heard[run.clone()])) {
                    continue;
                }
                heard[run.clone()].iter_mut().for_each(|sentence| self.neighbours(sentence));
                let (odds, class) = self.model.odds(&sum(&heard[run.clone()]));
                let any = |is: fn(&Ruled) -> bool| ruled[run.clone()].iter().any(is);
                let against = pace::Against { denied: any(|r| r.denied), others: any(|r| r.others) };
                if odds < self.surer + pace::demanded(heard.len(), document, against) {
                    continue;
                }
                taken[run.clone()].fill(true);
                let sentences = &scene.reading.sentences;
                let span = Span::new(sentences[first].span.start, sentences[run.end - 1].span.end);
                if scene.text().get(span.start..span.end).is_some() {
                    let learned = Some(probability(odds));
                    out.push(Risk { learned, ..Risk::heard(class, span, false, Experiencer::Patient) });
                }
            }
        }
    }

    /// Log odds that a passage tells of a risk of the patient.
    pub(crate) fn odds(&self, scene: &Scene<'_>, passage: &Sentence) -> f32 {
        let mut sums = Sums::default();
        features_of(scene.reading, passage).0.iter().for_each(|(feature, _)| self.model.add(*feature, &mut sums));
        self.model.odds(&sums).0
    }

    /// The sums of each sentence's words alone.
    fn words(&self, scene: &Scene<'_>, ruled: &[Ruled]) -> Vec<Heard> {
        let reading = scene.reading;
        KNOWN.with_borrow_mut(|known| {
            if known.len() > MOST_KNOWN {
                known.clear();
            }
            let sentence = |(index, sentence): (usize, &Sentence)| {
                let settled = ruled[index].own || ruled[index].only_asked;
                if sentence.speaker == Speaker::Agent || settled || is_asked(scene, index) {
                    return Heard { closed: true, ..Heard::default() };
                }
                let words = features::words(reading, sentence);
                let mut sums = Sums::default();
                for (word, hash) in &words {
                    let letters = reading.word(*word);
                    // Numbers share a hash and not their digits: what one of them comes to says nothing of the next.
                    let own = if features::is_number(letters) {
                        self.of_word(letters, *hash)
                    } else {
                        *known.entry(*hash).or_insert_with(|| self.of_word(letters, *hash))
                    };
                    sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
                }
                ruled[index].features().for_each(|feature| self.model.add(feature, &mut sums));
                Heard {
                    words: features::marked(reading, &words, sentence),
                    sums,
                    whole: false,
                    closed: words.is_empty(),
                }
            };
            reading.sentences.iter().enumerate().map(sentence).collect()
        })
    }

    fn of_word(&self, word: &str, hash: u64) -> Sums {
        let mut own = Sums::default();
        features::of_word(word, hash, |feature, _| self.model.add(feature, &mut own));
        own
    }

    fn neighbours(&self, sentence: &mut Heard) {
        if !std::mem::replace(&mut sentence.whole, true) {
            let sums = &mut sentence.sums;
            features::of_neighbours(&sentence.words, |feature| self.model.add(feature, sums));
        }
    }
}

fn sum(sentences: &[Heard]) -> Sums {
    sentences.iter().fold(Sums::default(), |mut all, one| {
        all.iter_mut().zip(one.sums).for_each(|(all, one)| *all += one);
        all
    })
}

/// Sentences of one turn, or of one text without turns.
fn together(scene: &Scene<'_>, run: &Range<usize>) -> bool {
    let sentences = &scene.reading.sentences[run.clone()];
    sentences.iter().all(|sentence| sentence.turn == sentences[0].turn)
}

/// Somebody else's question says nothing of the patient, unless it was answered with yes.
pub(crate) fn is_asked(scene: &Scene<'_>, index: usize) -> bool {
    let asked = scene.exchanges.asks(index) && scene.reading.sentences[index].speaker != Speaker::Patient;
    let answered = scene.exchanges.answer(index).map(|answer| answer.polarity);
    let sentence = &scene.reading.sentences[index];
    // "Have you ever …?", in a note.
    let put = sentence.question && sentence.speaker != Speaker::Patient && asks_you(scene, &sentence.words);
    if scene.is_dialogue() && asked { answered != Some(Polarity::Yes) } else { put }
}

/// In hundredths: the last digits of a float are no finding.
pub(super) fn probability(odds: f32) -> f64 {
    let exact = 1.0 / (1.0 + f64::from(-odds).exp());
    (exact * 100.0).round().clamp(1.0, 99.0) / 100.0
}

/// Keys that are hashes already.
#[derive(Default, Clone, Copy)]
struct Plain;

impl std::hash::BuildHasher for Plain {
    type Hasher = Same;
    fn build_hasher(&self) -> Same {
        Same(0)
    }
}

struct Same(u64);

impl std::hash::Hasher for Same {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        self.0 = anamnesis_linear_model::hash::of(bytes);
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
        assert!(Ear::builtin().is_some(), "models/risk/ear.bin: run `anamnesis-train risk`");
    }

    fn learned(document: &Document) -> Vec<Risk> {
        let found = Extractor::shared().extract(&ExtractionInput::of(document)).risk;
        found.into_iter().filter(|risk| risk.learned.is_some()).collect()
    }

    #[test]
    fn where_the_rules_hear_a_risk_theirs_stands() {
        let document = Document::plain("I want to kill myself.", Language::English);
        assert_eq!(learned(&document), []);
        assert!(Extractor::shared().extract(&ExtractionInput::of(&document)).risk.iter().any(Risk::is_own));
    }

    #[test]
    fn a_question_and_an_assistants_words_are_never_heard_by_themselves() {
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
        assert_eq!(found.iter().map(|risk| risk.span.of(&text)).collect::<Vec<_>>(), [hint]);
    }

    #[test]
    fn a_probability_is_of_two_digits_and_never_certain() {
        assert_eq!((probability(0.0), probability(40.0), probability(-40.0)), (0.5, 0.99, 0.01));
    }

    #[test]
    fn what_was_heard_before_changes_nothing_of_what_is_heard_now() {
        const NUMBERS: [u32; 12] = [3, 47, 150, 31, 988, 20, 12, 600, 75, 100, 45, 911];
        let said =
            |n: u32| format!("I sorted all {n} of my papers; nobody will look after me once I am under train {n}.");
        let heard = move |n| format!("{:?}", learned(&Document::plain(said(n), Language::English)));
        let one_after_another = NUMBERS.map(heard);
        assert!(one_after_another[0].contains("learned: Some"), "{}", one_after_another[0]);
        let each_by_itself = NUMBERS.map(|n| std::thread::spawn(move || heard(n)).join().unwrap());
        assert_eq!(one_after_another, each_by_itself);
    }
}

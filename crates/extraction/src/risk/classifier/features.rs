//! Features of a sentence, as 64-bit hashes: words, pairs and threes of words, beginnings of words near each
//! other, runs of letters within words. Part of the model's format: a change makes a trained model void ([`super::model::MAGIC`]).

use crate::tokenized::{TextSentence, TokenizedText};
use anamnesis_linear_model::hash;

/// Templates, so that the same letters as a word and as a part of one are two features.
const WORD: u64 = 1;
const PAIR: u64 = 2;
const THREE: u64 = 3;
const LETTERS: u64 = 4;
const RULES: u64 = 5;
const NEAR: u64 = 6;

/// Shortest and longest run of letters.
const RUNS: std::ops::RangeInclusive<usize> = 3..=5;

/// Places by which two beginnings of words may lie apart: "took … all my … pills" and "took the pills" share one.
const APART: usize = 3;

/// Bytes of a word's beginning: Spanish and English change words at their end ("cortarme", "corté").
const BEGINNING: usize = 4;

/// Bytes of a word whose letters are looked at.
const LONGEST: usize = 30;

/// Marks where a sentence begins and how it ends.
const EDGE: u64 = hash::hash_bytes(b".");
const ASKED: u64 = hash::hash_bytes(b"?");

/// The results of the rules for a sentence, as features: they know denials and other people better than words do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RuleHits {
    /// They found a risk of the patient: it takes precedence.
    pub own: bool,
    /// They found words of risk that are only asked about ("me preguntan si he pensado en …").
    pub(crate) only_asked: bool,
    pub(crate) denied: bool,
    pub others: bool,
}

impl RuleHits {
    pub fn features(self) -> impl Iterator<Item = u64> {
        let said = [(self.denied, 1), (self.others, 2)];
        said.into_iter().filter(|(is, _)| *is).map(|(_, which)| hash::mix(RULES, which, 0))
    }
}

/// Whether a word is looked up as a number.
pub(crate) fn is_number(word: &str) -> bool {
    word.bytes().next().is_some_and(|first| first.is_ascii_digit())
}

/// A word as it is looked up: numbers are alike, but years and other long ones apart from amounts.
pub(crate) fn word_hash(word: &str) -> u64 {
    match (is_number(word), word.len()) {
        (true, 4) => hash::hash_bytes(b"##"),
        (true, _) => hash::hash_bytes(b"#"),
        (false, _) => hash::hash_bytes(word.as_bytes()),
    }
}

/// The features of a word by itself: the word, and its runs of letters with marks at its edges.
pub(crate) fn of_word(word: &str, hash: u64, mut seen: impl FnMut(u64, FeatureKind)) {
    seen(hash::mix(WORD, hash, 0), FeatureKind::Word);
    if word.len() < *RUNS.start() {
        return;
    }
    let mut marked = [b'<'; LONGEST + 2];
    let read = word.len().min(LONGEST);
    marked[1..=read].copy_from_slice(&word.as_bytes()[..read]);
    marked[read + 1] = b'>';
    let marked = &marked[..read + 2];
    for length in RUNS {
        for run in marked.windows(length) {
            let letters = run.iter().fold(0u64, |letters, byte| letters << 8 | u64::from(*byte));
            seen(hash::mix(LETTERS, letters, length as u64), FeatureKind::Letters);
        }
    }
}

/// The features of words next to and near each other, from the sentence's words between its marks.
pub(crate) fn of_neighbours(words: &[FeatureHashes], mut seen: impl FnMut(u64)) {
    for pair in words.windows(2) {
        seen(hash::mix(PAIR, pair[0].whole, pair[1].whole));
    }
    for three in words.windows(3) {
        seen(hash::mix(THREE, hash::mix(PAIR, three[0].whole, three[1].whole), three[2].whole));
    }
    for apart in 1..=APART {
        for run in words.windows(apart + 1) {
            seen(hash::mix(NEAR, run[0].beginning, run[apart].beginning));
        }
    }
}

/// The hashes of a word and of its beginning.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FeatureHashes {
    whole: u64,
    beginning: u64,
}

impl FeatureHashes {
    /// A mark at the edge of a sentence.
    const fn mark(hash: u64) -> Self {
        Self { whole: hash, beginning: hash }
    }

    /// A word of a reading, with the hash of the whole.
    fn from_word(word: &str, whole: u64) -> Self {
        let short = is_number(word) || word.len() <= BEGINNING;
        let beginning = if short { whole } else { hash::hash_bytes(&word.as_bytes()[..BEGINNING]) };
        Self { whole, beginning }
    }
}

/// Runs of letters count for less than words: a word holds a dozen of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FeatureKind {
    Word,
    Letters,
}

impl FeatureKind {
    pub(crate) const fn value(self) -> f32 {
        match self {
            Self::Word => 1.0,
            Self::Letters => 0.4,
        }
    }
}

/// The words of a sentence: their places in the reading and their hashes, signs left out.
pub(crate) fn words(reading: &TokenizedText<'_>, sentence: &TextSentence) -> Vec<(usize, u64)> {
    let said = sentence.words.clone().filter(|word| !reading.words[*word].punctuation);
    said.map(|word| (word, word_hash(reading.word(word)))).collect()
}

/// A sentence's words between its marks.
pub(crate) fn marked(
    reading: &TokenizedText<'_>,
    words: &[(usize, u64)],
    sentence: &TextSentence,
) -> Vec<FeatureHashes> {
    let mut marked = Vec::with_capacity(words.len() + 2);
    marked.push(FeatureHashes::mark(EDGE));
    marked.extend(words.iter().map(|(word, hash)| FeatureHashes::from_word(reading.word(*word), *hash)));
    marked.push(FeatureHashes::mark(if sentence.question { ASKED } else { EDGE }));
    marked
}

/// All features of a sentence with their values, for training, and how many of them, at the beginning, belong to single
/// words.
pub(crate) fn all(reading: &TokenizedText<'_>, sentence: &TextSentence) -> (Vec<(u64, f32)>, usize) {
    let mut out = Vec::new();
    let words = words(reading, sentence);
    for (word, hash) in &words {
        of_word(reading.word(*word), *hash, |feature, kind| out.push((feature, kind.value())));
    }
    let alone = out.len();
    of_neighbours(&marked(reading, &words, sentence), |feature| out.push((feature, FeatureKind::Word.value())));
    (out, alone)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(words: &[&str]) -> Vec<u64> {
        let words: Vec<FeatureHashes> =
            words.iter().map(|word| FeatureHashes::from_word(word, word_hash(word))).collect();
        let mut seen = Vec::new();
        of_neighbours(&words, |feature| seen.push(feature));
        seen
    }

    #[test]
    fn forms_of_words_near_each_other_share_a_feature_and_far_ones_do_not() {
        let shared = |a: &[&str], b: &[&str]| near(a).iter().any(|feature| near(b).contains(feature));
        assert!(shared(&["cortarme", "los", "brazos"], &["cortaba", "el", "mismo", "brazo"]));
        assert!(!shared(&["cortarme", "los", "brazos"], &["cortaba", "con", "esto", "mismo", "brazo"]));
        assert!(!shared(&["brazo", "cortado"], &["cortarme", "brazos"]), "the order counts");
    }
}

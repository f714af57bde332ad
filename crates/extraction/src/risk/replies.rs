//! The first words of an answer: a plain no, how the asker is addressed, and words that say nothing.

use std::ops::Range;

use crate::lexicon::word_lists::{self, WordList};
use crate::tokenized::TokenizedText;

/// "No" with nothing after it that it denies instead: "no, sir", "no, never"; "no puedo más" answers nothing.
pub(super) fn plain_no(reading: &TokenizedText<'_>, sentence: &Range<usize>, words: &Range<usize>) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::RISK, "replies.plain_no");
    // Other denials have no second use: only a bare "no" may belong to the next verb.
    if words.len() > 1 || reading.word(words.start) != "no" {
        return true;
    }
    let next = words.end;
    next >= sentence.end
        || reading.words[next].punctuation
        // Words that a bare "no" does not deny.
        || WORDS.contains(reading.word(next))
        || is_address(reading.word(next))
}

/// How the person who answers addresses the asker: "no, love", "no doctorcita".
fn is_address(word: &str) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::RISK, "replies.is_address");
    // Stems, since diminutives vary: "no, doctorcita".
    let title = ["doctor", "licenciad", "senorit", "sr", "sra", "mij", "hij"].iter().any(|stem| word.starts_with(stem));
    title || WORDS.contains(word)
}

pub(super) fn is_filler(word: &str) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::RISK, "replies.is_filler");
    // The answer begins after these: "pues mire, no".
    WORDS.contains(word)
}

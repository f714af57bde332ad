//! The items of a list separated by commas: how far a cue goes on through them.

use super::super::cues::{CueCategory, CueHit};
use super::super::scope_words::RESUMES;
use super::{FUNCTION_WORDS, ScopeSentence};

const LIST_ENDERS: &[&str] = &["ni", "o", "u", "or", "nor"];
/// A longer stretch between commas is a clause, not an item of a list.
const LONGEST_ITEM: usize = 6;

impl ScopeSentence<'_, '_> {
    /// Whether the list that a cue governs goes on after this comma.
    pub(super) fn list_goes_on(&self, comma: usize, lists: bool) -> bool {
        let mut item_start = comma + 1;
        let mut items = 0;
        if LIST_ENDERS.contains(&self.reading.word(item_start)) {
            return true;
        }
        if matches!(self.reading.word(item_start), "with" | "con") || RESUMES.contains(self.reading.word(item_start)) {
            return false;
        }
        loop {
            let (end, plain, ender) = self.item(item_start);
            if !plain {
                // A clause follows: the comma before it closes, unless a list had already gone on.
                return ender || (lists && items > 0);
            }
            if ender {
                return true;
            }
            items += 1;
            if self.reading.word(end) != "," || items > 12 {
                return lists;
            }
            item_start = end + 1;
        }
    }

    /// A bare "no" at the end of its phrase, right after the denied word.
    pub(super) fn follows_its_noun(&self, hit: &CueHit) -> bool {
        let before = hit.words.start.wrapping_sub(1);
        let ends = hit.words.end >= self.words.end || self.reading.words[hit.words.end].punctuation;
        hit.words.len() == 1
            && matches!(self.reading.word(hit.words.start), "no" | "ninguno" | "ninguna")
            && ends
            && hit.words.start > self.words.start
            && !self.reading.words[before].punctuation
            && !FUNCTION_WORDS.contains(self.reading.word(before))
            && !matches!(
                self.reading.word(before),
                "si" | "pero" | "but" | "por" | "como" | "or" | "o" | "that" | "digo" | "dice" | "dicen"
            )
    }

    /// "Hypertension, asthma and eczema (both resolved)": where the last two items begin, if the cue speaks of two.
    pub(super) fn last_two(&self, hit: &CueHit, from: usize) -> usize {
        let word = |at: usize| self.reading.word(at);
        let both = hit.words.clone().any(|at| matches!(word(at), "both" | "ambos" | "ambas"));
        let sign = hit.words.start.saturating_sub(1);
        let parts = |at: &usize| matches!(word(*at), "," | "and" | "y" | "e" | "&" | "+" | "/");
        let second = both.then(|| (from..sign).rev().filter(parts).nth(1)).flatten();
        second.map_or(from, |at| at + 1)
    }

    /// One stretch up to the next comma: where it ends, whether it looks like an item, whether "or"/"ni" is in it.
    fn item(&self, start: usize) -> (usize, bool, bool) {
        let mut word = start;
        while word < self.words.end {
            let text = self.reading.word(word);
            if matches!(text, "," | ";" | "." | ":" | ")") {
                break;
            }
            if LIST_ENDERS.contains(&text) {
                return (word, true, true);
            }
            match self.category_at(word) {
                Some(CueCategory::End) => break,
                Some(CueCategory::Verb | CueCategory::Negated) => return (word, false, false),
                _ => {}
            }
            if word - start >= LONGEST_ITEM {
                return (word, false, false);
            }
            word += 1;
        }
        (word, word > start, false)
    }
}

//! "No fever, chills, headache, rash.": one denial before a list of bare findings denies each, though no "or" closes the
//! list. An item that says more of its finding ("sin fiebre, cefalea intensa desde ayer") states it.

use std::ops::Range;

use super::CueScope;
use super::cues::{CueCategory, CueDirection, CueHit, Cues};
use super::scope_words::RESUMES;
use crate::lexicon::word_lists::{self, WordList};
use crate::tokenized::TokenizedText;

/// Where the finding ends that begins at a word, if one does.
pub(crate) type FindingAt<'a> = dyn Fn(usize) -> Option<usize> + 'a;

/// Words that may come before a finding in its item.
const LEADING: &[&str] = &[
    "and", "or", "nor", "y", "o", "u", "e", "ni", "any", "new", "the", "a", "an", "de", "la", "el", "los", "las", "un",
    "una", "tampoco", "no", "of", "nil",
];
/// Words that may come after a finding without stating it.
static TRAILING: WordList = WordList::listed(word_lists::ASSERTION, "bare_lists.trailing");
/// Words of an item that states something new.
static STATES: WordList = WordList::listed(word_lists::ASSERTION, "bare_lists.states");
/// Words of one list.
const LONGEST: usize = 60;

/// The stretches over which denials go on through lists of bare findings.
pub(super) fn denied(
    reading: &TokenizedText<'_>,
    words: &Range<usize>,
    hits: &[CueHit],
    cues: &Cues,
    scopes: &[CueScope],
    finding: &FindingAt<'_>,
) -> Vec<CueScope> {
    let mut out = Vec::new();
    for hit in hits {
        let cue = cues.get(hit);
        let opens = cue.category == CueCategory::Negated
            && (cue.direction == CueDirection::Forward || cue.opening)
            && !cue.closing
            && !cue.inner;
        let scope = scopes.iter().find(|scope| scope.cue == hit.words && scope.words.start == hit.words.end);
        let Some(scope) = scope.filter(|_| opens) else { continue };
        let list = BareList { reading, limit: words.end.min(hit.words.end + LONGEST), hits, cues, finding };
        let first = list.items(hit.words.end..scope.words.end);
        if scope.words.is_empty() || !list.is_separator(scope.words.end) || !first {
            continue;
        }
        let end = list.end(scope.words.end);
        if end > scope.words.end {
            out.push(CueScope { category: CueCategory::Negated, words: scope.words.end..end, cue: hit.words.clone() });
        }
    }
    out
}

struct BareList<'a, 'b> {
    reading: &'a TokenizedText<'b>,
    limit: usize,
    hits: &'a [CueHit],
    cues: &'a Cues,
    finding: &'a FindingAt<'a>,
}

impl BareList<'_, '_> {
    fn is_separator(&self, word: usize) -> bool {
        word < self.limit && matches!(self.reading.word(word), "," | "/")
    }

    /// Where the list ends whose next item comes after the sign at a word.
    fn end(&self, mut sign: usize) -> usize {
        let mut end = sign;
        while self.is_separator(sign) {
            let from = sign + 1;
            let to = (from..self.limit).find(|word| self.closes(*word)).unwrap_or(self.limit);
            if !self.items(from..to) {
                break;
            }
            (end, sign) = (to, to);
        }
        end
    }

    fn closes(&self, word: usize) -> bool {
        matches!(self.reading.word(word), "," | "/" | ";" | "." | ")" | ":" | "(" | "-" | "–" | "—")
            || self.category(word) == Some(CueCategory::End)
    }

    fn category(&self, word: usize) -> Option<CueCategory> {
        let hit = self.hits.iter().find(|hit| hit.words.contains(&word))?;
        Some(self.cues.get(hit).category)
    }

    /// "Abd pain", "new onset headache": one word that no one knows right before a finding that ends its item.
    fn is_attribute(&self, word: usize, limit: usize) -> bool {
        let text = self.reading.word(word);
        // "Not hopeless, just tired", "she isn't depressed, she is exhausted".
        let said = STATES.contains(text) || RESUMES.contains(text);
        let plain = text.len() > 2 && text.bytes().all(|byte| byte.is_ascii_lowercase()) && !said;
        plain && self.category(word).is_none() && (self.finding)(word + 1) == Some(limit)
    }

    /// Whether words are one bare finding, or some joined by "and" or "or", or a single word that no one knows.
    fn items(&self, within: Range<usize>) -> bool {
        let mut word = within.start;
        let mut any = false;
        while word < within.end {
            let text = self.reading.word(word);
            if let Some(end) = (self.finding)(word).filter(|end| *end <= within.end) {
                (word, any) = (end, true);
            } else if LEADING.contains(&text) || (any && TRAILING.contains(text)) || matches!(text, "," | "/") {
                word += 1;
            } else if !any && self.is_attribute(word, within.end) {
                word += 1;
            } else {
                let alone = !any && within.end - word == 1 && !self.reading.words[word].punctuation;
                let free = !matches!(
                    self.category(word),
                    Some(CueCategory::Verb | CueCategory::End | CueCategory::Uncertain | CueCategory::Negated)
                );
                let plain = text.len() > 2 && text.bytes().all(|byte| byte.is_ascii_lowercase());
                return alone && free && plain && !STATES.contains(text);
            }
        }
        any
    }
}

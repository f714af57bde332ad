//! The phrases of one list, as a rule asks for them: at a word, or all within a range; the longest at each place.

use std::ops::Range;

use super::inflection;
use super::phrase_trie::{ListId, TrieBuilder};
use super::tokenized::{TokenizedText, layout};

/// One list of phrases; what each stands for is an index that the caller gave.
pub(crate) struct PhraseMatcher {
    list: ListId,
}

/// A phrase found: which words, and what it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PhraseMatch {
    pub(crate) words: Range<usize>,
    pub(crate) meaning: u32,
}

impl PhraseMatcher {
    /// Puts phrases into the trie. `{a,b}` in a phrase stands for either; the first meaning of a phrase counts.
    pub(crate) fn new<'a>(trie: &mut TrieBuilder, phrases: impl IntoIterator<Item = (&'a str, u32)>) -> Self {
        let list = trie.list();
        for (phrase, meaning) in phrases {
            trie.note(phrase, meaning);
            // Writing the phrases out takes a quarter of a second; the serialized trie holds them already.
            if trie.is_serialized() {
                continue;
            }
            for variant in expand(phrase) {
                trie.add(list, &layout(&variant), meaning);
            }
        }
        Self { list }
    }

    /// Adds phrases of a deployment's own to the list. Where one is as long as a built-in one at its place, it counts.
    pub(crate) fn extend<'a>(&self, trie: &mut TrieBuilder, phrases: impl IntoIterator<Item = (&'a str, u32)>) {
        for (phrase, meaning) in phrases {
            for variant in expand(phrase) {
                trie.add_custom(self.list, &layout(&variant), meaning);
            }
        }
    }

    /// Puts written-out phrases into the trie; the caller noted their source.
    pub(crate) fn written_out(trie: &mut TrieBuilder, phrases: impl IntoIterator<Item = (String, u32)>) -> Self {
        let list = trie.list();
        phrases.into_iter().for_each(|(phrase, meaning)| trie.add(list, &layout(&phrase), meaning));
        Self { list }
    }

    /// Whether a phrase may occur in a sentence: false is certain.
    pub(crate) fn may_stand(&self, reading: &TokenizedText<'_>, sentence: usize) -> bool {
        reading.places.may_hold(self.list, sentence)
    }

    /// The longest phrase that starts at a word.
    pub(crate) fn at(&self, reading: &TokenizedText<'_>, word: usize) -> Option<PhraseMatch> {
        let (len, meaning) = reading.places.at(self.list, word)?;
        Some(PhraseMatch { words: word..word + len, meaning })
    }

    /// All phrases within a range of words, from left to right, longest first, without overlap.
    pub(crate) fn find(&self, reading: &TokenizedText<'_>, within: Range<usize>) -> Vec<PhraseMatch> {
        let mut out = Vec::new();
        let mut word = within.start;
        if within.is_empty() || !reading.places.may_hold(self.list, reading.sentence_of(word)) {
            return out;
        }
        while word < within.end {
            match self.at(reading, word) {
                Some(hit) => {
                    word = hit.words.end;
                    out.push(hit);
                }
                None => word += 1,
            }
        }
        out
    }

    /// The first phrase within a range of words.
    pub(crate) fn first(&self, reading: &TokenizedText<'_>, within: Range<usize>) -> Option<PhraseMatch> {
        if within.is_empty() || !reading.places.may_hold(self.list, reading.sentence_of(within.start)) {
            return None;
        }
        within.into_iter().find_map(|word| self.at(reading, word))
    }
}

/// `"{a,b} c"` → `"a c"`, `"b c"`; `{,x}` makes `x` optional; braces nest. An unclosed brace is an ordinary character.
/// A verb in angle brackets stands for its forms ([`inflection`]).
pub(crate) fn expand(phrase: &str) -> Vec<String> {
    let Some(open) = phrase.find('{') else { return inflected(phrase) };
    let Some(close) = closing_brace(&phrase[open..]).map(|at| open + at) else { return vec![phrase.to_owned()] };
    let (heads, tails) = (inflected(&phrase[..open]), expand(&phrase[close + 1..]));
    let choices: Vec<String> = choices(&phrase[open + 1..close]).into_iter().flat_map(expand).collect();
    let mut out = Vec::with_capacity(heads.len() * choices.len() * tails.len());
    for head in &heads {
        for choice in &choices {
            out.extend(tails.iter().map(|tail| format!("{head}{choice}{tail}")));
        }
    }
    out
}

/// How many phrases [`expand`] writes out, before the time for it is spent.
pub(crate) fn count(phrase: &str) -> usize {
    let inflected = |text: &str| {
        let verbs = text.split('<').skip(1).filter_map(|rest| rest.split_once('>'));
        verbs.filter_map(|(inner, _)| inflection::forms(inner)).fold(1, |all: usize, f| all.saturating_mul(f.len()))
    };
    let Some(open) = phrase.find('{') else { return inflected(phrase) };
    let Some(close) = closing_brace(&phrase[open..]).map(|at| open + at) else { return 1 };
    let inside = choices(&phrase[open + 1..close]).into_iter().map(count).fold(0, usize::saturating_add);
    inflected(&phrase[..open]).saturating_mul(inside).saturating_mul(count(&phrase[close + 1..]))
}

/// A phrase without braces, its verbs in all their forms.
fn inflected(phrase: &str) -> Vec<String> {
    let verb = phrase.split_once('<').and_then(|(before, rest)| {
        let (inner, after) = rest.split_once('>')?;
        Some((before, inflection::forms(inner)?, after))
    });
    let Some((before, forms, after)) = verb else { return vec![phrase.to_owned()] };
    let tails = inflected(after);
    let whole = |form: &String| tails.iter().map(|tail| format!("{before}{form}{tail}")).collect::<Vec<_>>();
    forms.iter().flat_map(whole).collect()
}

/// The offset of the brace that closes the one at the beginning.
fn closing_brace(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    text.char_indices().find_map(|(at, c)| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => return None,
        }
        (depth == 0).then_some(at)
    })
}

/// Splits at the commas outside inner braces.
fn choices(text: &str) -> Vec<&str> {
    let (mut out, mut depth, mut start) = (Vec::new(), 0usize, 0);
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                out.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    out.push(&text[start..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use anamnesis_text::{Document, Language};

    #[test]
    fn braces_expand_to_every_choice() {
        assert_eq!(expand("{,se }descart{a,o} x"), ["descarta x", "descarto x", "se descarta x", "se descarto x"]);
        assert_eq!(expand("{mi,su} {herman{o,a},tia}").len(), 6);
        assert_eq!(expand("a{b"), ["a{b"]);
        for phrase in ["{,se }descart{a,o} x", "{mi,su} {herman{o,a},tia}", "<me:tirar> {de,a} x", "a{b", "plain"] {
            assert_eq!(count(phrase), expand(phrase).len(), "{phrase}");
        }
        assert!(count(&"{a,b}".repeat(40)) > 1 << 39, "counted, not written out");
    }

    #[test]
    fn the_longest_phrase_wins_and_words_are_never_torn() {
        let mut trie = TrieBuilder::default();
        let matcher = PhraseMatcher::new(&mut trie, [("no", 1), ("no hay", 2), ("dolor de cabeza", 3)]);
        let document = Document::plain("No haya nada, no hay dolor  de\ncabeza ni casino", Language::Spanish);
        let reading = TokenizedText::new(&document, &trie.build());
        let hits: Vec<_> = matcher.find(&reading, 0..reading.words.len()).into_iter().map(|hit| hit.meaning).collect();
        assert_eq!(hits, [1, 2, 3]);
    }
}

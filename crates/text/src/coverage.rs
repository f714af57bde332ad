//! Which stretches of a text are in a language or a script that redaction and extraction have no rules for.
//!
//! Names in such a stretch cannot be found and negations cannot be read, so that a document with one is not treated as
//! understood. The decision is by script, letter by letter, and for Latin script by function words, sentence by sentence:
//! clinical abbreviations, lists of medicines and typing errors have few words of any language and are left alone.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::Span;
use super::fold::fold;
use super::language::{ENGLISH, SPANISH};
use super::sentences::sentences_of;

/// Function words of other languages; the header of the file names its columns.
const OTHERS: &str = include_str!("function_words.tsv");
/// So many different words of one foreign language in one sentence decide, when they outnumber those of Spanish and
/// English. One word that is said again and again ("nil, nil, nil") is no language.
const IN_A_SENTENCE: usize = 3;
/// The same over the whole text, for short sentences.
const IN_A_TEXT: usize = 5;

/// A stretch that no rule reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unread {
    /// Letters of a script other than Latin.
    Script(Span),
    /// A sentence, or the whole text, in another language.
    Language(Span),
}

/// In which languages a word occurs: one bit for each line of the list.
#[derive(Default, Clone, Copy)]
struct Word {
    own: u32,
    shared: u32,
}

struct Lists {
    words: HashMap<&'static str, Word>,
    languages: usize,
}

static LISTS: LazyLock<Lists> = LazyLock::new(|| {
    let mut words: HashMap<&'static str, Word> = HashMap::new();
    let mut languages = 0;
    for line in OTHERS.lines().filter(|line| !line.starts_with('#')) {
        let mut columns = line.split('\t').skip(1);
        for word in columns.next().unwrap_or_default().split_whitespace() {
            words.entry(word).or_default().own |= 1 << languages;
        }
        for word in columns.next().unwrap_or_default().split_whitespace() {
            words.entry(word).or_default().shared |= 1 << languages;
        }
        languages += 1;
    }
    Lists { words, languages }
});

/// The first stretch of the text that is not Spanish or English; `None` where all of it may be.
pub fn unread(text: &str) -> Option<Unread> {
    if let Some(span) = foreign_script(text) {
        return Some(Unread::Script(span));
    }
    let lists = &*LISTS;
    let mut whole = Votes::new(lists);
    for sentence in sentences_of(text) {
        let mut votes = Votes::new(lists);
        votes.count(sentence.slice(text), lists);
        if votes.is_foreign(IN_A_SENTENCE, lists) {
            return Some(Unread::Language(sentence));
        }
        whole.add(&votes);
    }
    whole.is_foreign(IN_A_TEXT, lists).then(|| Unread::Language(Span::new(0, text.len())))
}

/// Function words of a stretch: for each other language its own, and those of Spanish and English that it does not share.
struct Votes {
    words: usize,
    /// Which words of other languages there are.
    seen: HashSet<&'static str>,
    foreign: Vec<usize>,
    known: Vec<usize>,
}

impl Votes {
    fn new(lists: &Lists) -> Self {
        Self { words: 0, seen: HashSet::new(), foreign: vec![0; lists.languages], known: vec![0; lists.languages] }
    }

    fn count(&mut self, text: &str, lists: &Lists) {
        for word in text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()) {
            let word = fold(word);
            self.words += 1;
            let is_known = SPANISH.contains(&word.as_str()) || ENGLISH.contains(&word.as_str());
            let listed = lists.words.get_key_value(word.as_str());
            let of = listed.map(|(_, of)| *of).unwrap_or_default();
            self.seen.extend(listed.map(|(word, _)| *word));
            if !is_known && of.own == 0 {
                continue;
            }
            for (n, (foreign, known)) in self.foreign.iter_mut().zip(&mut self.known).enumerate() {
                *foreign += usize::from(of.own >> n & 1 == 1);
                *known += usize::from(is_known && (of.own | of.shared) >> n & 1 == 0);
            }
        }
    }

    fn add(&mut self, other: &Self) {
        self.words += other.words;
        self.seen.extend(&other.seen);
        self.foreign.iter_mut().zip(&other.foreign).for_each(|(sum, one)| *sum += one);
        self.known.iter_mut().zip(&other.known).for_each(|(sum, one)| *sum += one);
    }

    /// Whether one other language has enough different words, more than Spanish and English have, and a fair share of
    /// all.
    fn is_foreign(&self, least: usize, lists: &Lists) -> bool {
        let different = |n: usize| self.seen.iter().filter(|word| lists.words[**word].own >> n & 1 == 1).count();
        let mut both = self.foreign.iter().zip(&self.known).enumerate();
        both.any(|(n, (foreign, known))| *foreign > *known && *foreign * 6 >= self.words && different(n) >= least)
    }
}

/// The first word in letters that are not Latin. A single Greek letter is a sign (β, Δ), not a text.
fn foreign_script(text: &str) -> Option<Span> {
    let mut run: Option<(usize, usize)> = None;
    for (at, c) in text.char_indices().filter(|(_, c)| !c.is_ascii()) {
        if !c.is_alphabetic() || is_latin(c) {
            continue;
        }
        let start = match run {
            Some((start, end)) if end == at => start,
            _ => at,
        };
        run = Some((start, at + c.len_utf8()));
        let letters = text[start..at + c.len_utf8()].chars().count();
        if letters >= if is_syllabic(c) { 1 } else { 2 } {
            return Some(Span::new(start, at + c.len_utf8()));
        }
    }
    None
}

fn is_latin(c: char) -> bool {
    matches!(c, '\u{0041}'..='\u{024F}' | '\u{0250}'..='\u{02FF}' | '\u{1E00}'..='\u{1EFF}' | '\u{2100}'..='\u{214F}'
        | '\u{2160}'..='\u{2188}' | '\u{FB00}'..='\u{FB06}' | '\u{FF21}'..='\u{FF5A}')
}

/// Scripts in which one sign is a word or a syllable: a single one can be a name.
fn is_syllabic(c: char) -> bool {
    matches!(c, '\u{2E80}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

#[cfg(test)]
mod tests;

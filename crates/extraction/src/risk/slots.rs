//! One part of a sentence of risk: a list of phrases so rich in choices that writing each out would take millions
//! ("{drove,drive} {,my ,the }{car,truck} {,straight }{into,off} …"). Only how a phrase begins is put into the trie of
//! phrases; the rest is compared, choice by choice, where a beginning was found.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::matcher::{PhraseMatcher, expand};
use crate::phrase_trie::TrieBuilder;
use crate::tokenized::{TokenizedText, layout};

/// Ways in which the beginning of a phrase may be written out.
const MOST_BEGINNINGS: usize = 240;

/// The choices at one place of a phrase, each a run of words; an empty one may be left out.
type Choices = Vec<Box<[u32]>>;

pub(crate) struct PhraseSlot {
    whole: PhraseMatcher,
    beginnings: PhraseMatcher,
    tails: SlotTails,
}

/// The choices that may follow a beginning.
#[derive(Debug, Clone, Default, PartialEq)]
struct SlotTails {
    /// By the meaning of a beginning: the words it takes and which rest follows them.
    follows: Vec<Vec<(u32, u32)>>,
    rests: Vec<Vec<Choices>>,
}

impl PhraseSlot {
    /// The phrases of one label of the files.
    pub(crate) fn builtin(trie: &mut TrieBuilder, files: &[&'static str], label: &str) -> Self {
        let lines = files.iter().flat_map(|file| file.lines());
        let rows = lines.filter_map(|line| line.split_once('\t')).filter(|(name, _)| *name == label);
        let phrases = rows.flat_map(|(_, words)| words.split('|')).map(str::trim).filter(|phrase| !phrase.is_empty());
        let phrases: Vec<&str> = phrases.inspect(|phrase| trie.note(phrase, 0)).collect();
        if trie.is_serialized() {
            let tails = SlotTails::read(&trie.next_table()).unwrap_or_default();
            let [whole, beginnings] = [(); 2].map(|()| PhraseMatcher::written_out(trie, []));
            return Self { whole, beginnings, tails };
        }
        let (mut whole, mut tails) = (Vec::new(), SlotTails::default());
        let mut beginnings: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for phrase in phrases {
            let (begins, rest) = split(phrase);
            if rest.is_empty() {
                whole.extend(begins.into_iter().map(|phrase| (phrase, 0)));
                continue;
            }
            let number = index(tails.rests.len());
            tails.rests.push(rest.iter().map(|choices| numbered(trie, choices)).collect());
            for begin in begins {
                beginnings.entry(layout(&begin).trim_end().to_owned()).or_default().push(number);
            }
        }
        // Beginnings that the same can follow mean the same.
        let mut meanings: BTreeMap<Vec<(u32, u32)>, u32> = BTreeMap::new();
        let mut phrases = Vec::new();
        for begin in beginnings.keys() {
            let follows = prefixes(&beginnings, begin);
            let fresh = index(meanings.len());
            let meaning = *meanings.entry(follows.clone()).or_insert_with(|| {
                tails.follows.push(follows);
                fresh
            });
            phrases.push((begin.clone(), meaning));
        }
        let [whole, beginnings] = [whole, phrases].map(|phrases| PhraseMatcher::written_out(trie, phrases));
        trie.store_table(tails.written());
        Self { whole, beginnings, tails }
    }

    /// Whether it may occur in a sentence: false is certain.
    pub(crate) fn may_stand(&self, reading: &TokenizedText<'_>, sentence: usize) -> bool {
        self.whole.may_stand(reading, sentence) || self.beginnings.may_stand(reading, sentence)
    }

    /// The longest phrase that starts at a word, within a sentence.
    pub(crate) fn at(&self, reading: &TokenizedText<'_>, word: usize, limit: usize) -> Option<Range<usize>> {
        let whole = self.whole.at(reading, word).map(|hit| hit.words.end);
        let begun = self.beginnings.at(reading, word).into_iter();
        let follows = begun.filter_map(|hit| self.tails.follows.get(hit.meaning as usize)).flatten();
        let ends = follows.filter_map(|(taken, rest)| {
            let after = word + *taken as usize;
            let words = reading.known.get(after..limit)?;
            fits(self.tails.rests.get(*rest as usize)?, words).map(|rest| after + rest)
        });
        whole.into_iter().chain(ends).max().map(|end| word..end)
    }
}

impl SlotTails {
    /// As numbers: each count before its items.
    fn written(&self) -> Vec<u32> {
        let mut out = vec![index(self.follows.len())];
        for follows in &self.follows {
            out.push(index(follows.len()));
            out.extend(follows.iter().flat_map(|(taken, rest)| [*taken, *rest]));
        }
        out.push(index(self.rests.len()));
        for places in &self.rests {
            out.push(index(places.len()));
            for choices in places {
                out.push(index(choices.len()));
                for choice in choices {
                    out.push(index(choice.len()));
                    out.extend(choice.iter());
                }
            }
        }
        out
    }

    /// `None` for numbers that [`Self::written`] did not make.
    fn read(numbers: &[u32]) -> Option<Self> {
        let mut rest = numbers.iter().copied();
        let mut tails = Self::default();
        for _ in 0..rest.next()? {
            let count = rest.next()?;
            tails.follows.push((0..count).map(|_| Some((rest.next()?, rest.next()?))).collect::<Option<_>>()?);
        }
        for _ in 0..rest.next()? {
            let mut places = Vec::new();
            for _ in 0..rest.next()? {
                let mut choices = Choices::new();
                for _ in 0..rest.next()? {
                    let length = rest.next()?;
                    choices.push((0..length).map(|_| rest.next()).collect::<Option<_>>()?);
                }
                places.push(choices);
            }
            tails.rests.push(places);
        }
        Some(tails)
    }
}

fn index(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Every beginning that is this one or the beginning of a longer one.
fn prefixes(beginnings: &BTreeMap<String, Vec<u32>>, begin: &str) -> Vec<(u32, u32)> {
    let words: Vec<&str> = begin.split(' ').collect();
    let known = (1..=words.len()).filter_map(|taken| Some((taken, beginnings.get(&words[..taken].join(" "))?)));
    known.flat_map(|(taken, rests)| rests.iter().map(move |rest| (index(taken), *rest))).collect()
}

/// How many words the rest of a phrase takes, the longest way that fits.
fn fits(rest: &[Choices], words: &[u32]) -> Option<usize> {
    let Some((choices, further)) = rest.split_first() else { return Some(0) };
    choices
        .iter()
        .filter(|choice| words.starts_with(choice))
        .find_map(|choice| fits(further, &words[choice.len()..]).map(|more| choice.len() + more))
}

fn numbered(trie: &mut TrieBuilder, choices: &[String]) -> Choices {
    let mut out: Choices =
        choices.iter().map(|choice| layout(choice).split_whitespace().map(|word| trie.word(word)).collect()).collect();
    out.sort_by_key(|choice| std::cmp::Reverse(choice.len()));
    out.dedup();
    out
}

/// A phrase as its beginning, written out, and the choices of the places after it.
fn split(phrase: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let pieces: Vec<Vec<String>> = pieces(phrase).iter().map(|piece| expand(piece)).collect();
    let ways = |pieces: &[Vec<String>]| pieces.iter().map(Vec::len).product::<usize>();
    let filled = |pieces: &[Vec<String>]| pieces.iter().any(|choices| choices.iter().all(|c| !c.trim().is_empty()));
    let mut taken = pieces.len();
    while taken > 1 && ways(&pieces[..taken]) > MOST_BEGINNINGS && filled(&pieces[..taken - 1]) {
        taken -= 1;
    }
    let begins = pieces[..taken].iter().fold(vec![String::new()], |heads, choices| {
        heads.iter().flat_map(|head| choices.iter().map(move |choice| format!("{head}{choice}"))).collect()
    });
    (begins, pieces[taken..].to_vec())
}

/// Cuts a phrase between words, outside its braces.
fn pieces(phrase: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    let (mut depth, mut item) = (0usize, String::new());
    for c in phrase.chars() {
        match c {
            '{' if depth == 0 && !item.is_empty() => items.push(std::mem::take(&mut item)),
            _ => {}
        }
        depth = match c {
            '{' => depth + 1,
            '}' => depth.saturating_sub(1),
            _ => depth,
        };
        item.push(c);
        if depth == 0 && matches!(c, '}' | ' ') {
            items.push(std::mem::take(&mut item));
        }
    }
    items.extend(Some(item).filter(|item| !item.is_empty()));
    let mut out: Vec<String> = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let apart = at == 0 || out.last().is_some_and(|last| ends_apart(last)) || begins_apart(&items[at..]);
        match out.last_mut().filter(|_| !apart) {
            Some(last) => last.push_str(item),
            None => out.push(item.clone()),
        }
    }
    out
}

/// Whether every way to write a piece ends between words.
fn ends_apart(piece: &str) -> bool {
    expand(piece).iter().all(|way| way.is_empty() || way.ends_with(' '))
}

/// Whether every way to go on begins between words.
fn begins_apart(items: &[String]) -> bool {
    let Some((first, further)) = items.split_first() else { return true };
    let ways = expand(first);
    let apart = ways.iter().all(|way| way.is_empty() || way.starts_with(' '));
    apart && (ways.iter().all(|way| !way.is_empty()) || begins_apart(further))
}

#[cfg(test)]
mod tests {
    use super::*;
    use anamnesis_text::{Document, Language};

    const FILE: &str = "flight\t{jump,leap}{,ed,ing} {,right }{off,from} {,the ,a ,that }{bridge,roof,high roof}\n\
                        flight\tgo{,ne} over\n";

    fn found(text: &str) -> Vec<String> {
        let mut trie = TrieBuilder::default();
        let part = PhraseSlot::builtin(&mut trie, &[FILE], "flight");
        let document = Document::plain(text, Language::English);
        let reading = TokenizedText::new(&document, &trie.build());
        let limit = reading.words.len();
        let hits = (0..limit).filter_map(|word| part.at(&reading, word, limit));
        hits.map(|words| reading.source(&words).slice(text).to_owned()).collect()
    }

    #[test]
    fn every_choice_is_found_whether_written_out_or_compared() {
        assert_eq!(found("He leaped right off that high roof today"), ["leaped right off that high roof"]);
        assert_eq!(found("jumping from a bridge, gone over"), ["jumping from a bridge", "gone over"]);
        assert!(found("jumping from joy").is_empty());
    }

    #[test]
    fn what_follows_a_beginning_is_the_same_after_it_was_written_down() {
        let part = PhraseSlot::builtin(&mut TrieBuilder::default(), &[FILE], "flight");
        assert!(!part.tails.rests.is_empty());
        let written = part.tails.written();
        assert_eq!(SlotTails::read(&written), Some(part.tails));
        assert_eq!(SlotTails::read(&written[..written.len() - 1]), None);
    }

    #[test]
    fn words_are_never_torn_apart() {
        assert_eq!(pieces("hop{e,es} {,the }x{, y}"), ["hop{e,es}", " ", "{,the }", "x", "{, y}"]);
        assert_eq!(pieces("a{,b }c"), ["a{,b }c"]);
    }
}

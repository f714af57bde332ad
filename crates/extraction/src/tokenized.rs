//! A document made ready for the rules: its words folded and laid out one space apart, with every sentence, turn and
//! place of the original at hand. Built once per document; all rules read it.

use std::ops::Range;

use super::phrase_trie::{PhraseHits, PhraseTrie, UNKNOWN};
use super::spelling::{meant, respelled};
use crate::lexicon::word_lists::{self, WordList};
use anamnesis_text::{Document, Span, Speaker, Token, TokenKind, fold_into, sentences, tokens};

/// One word or sign.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextWord {
    /// Its place in [`TokenizedText::folded`].
    pub(crate) folded: Span,
    /// Its place in the document's text.
    pub(crate) source: Span,
    pub(crate) punctuation: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct TextSentence {
    pub(crate) words: Range<usize>,
    pub(crate) span: Span,
    pub(crate) turn: Option<usize>,
    pub(crate) speaker: Speaker,
    /// It asks: a question mark, or a dialogue's opening interrogative.
    pub(crate) question: bool,
}

/// The words of a document in the form in which lexicons and cues are looked up.
#[derive(Debug)]
pub(crate) struct TokenizedText<'a> {
    pub(crate) text: &'a str,
    /// Folded words one space apart; a line feed separates sentences, so that nothing matches across.
    pub(crate) folded: String,
    pub(crate) words: Vec<TextWord>,
    pub(crate) sentences: Vec<TextSentence>,
    /// The words' numbers in the phrase trie.
    pub(crate) known: Vec<u32>,
    /// The places of the phrases of all lists.
    pub(crate) places: PhraseHits,
}

impl<'a> TokenizedText<'a> {
    /// Whether a line ends before a word.
    pub(crate) fn begins_line(&self, word: usize) -> bool {
        let Some(before) = word.checked_sub(1).and_then(|before| self.words.get(before)) else { return false };
        let here = self.words.get(word).map_or(before.source.end, |here| here.source.start);
        self.text.get(before.source.end..here).is_some_and(|gap| gap.contains('\n'))
    }

    /// Whether a word is written in capitals, as abbreviations are: "SI" is neither "if" nor "yes".
    pub(crate) fn is_capitals(&self, word: usize) -> bool {
        let Some(word) = self.words.get(word) else { return false };
        let letters = word.source.slice(self.text);
        letters.len() > 1 && letters.chars().all(char::is_uppercase)
    }

    pub(crate) fn new(document: &'a Document, trie: &PhraseTrie) -> Self {
        let text = document.text.as_str();
        let mut reading = Self {
            text,
            folded: String::with_capacity(text.len() + text.len() / 8),
            words: Vec::with_capacity(text.len() / 5),
            sentences: Vec::new(),
            known: Vec::new(),
            places: PhraseHits::default(),
        };
        let mut all = tokens(text).into_iter().peekable();
        let mut turn = 0;
        for span in sentences(document) {
            while document.turns.get(turn).is_some_and(|t| t.span.end <= span.start) {
                turn += 1;
            }
            let here = document.turns.get(turn).filter(|t| t.span.overlaps(&span));
            let first = reading.words.len();
            while all.peek().is_some_and(|token| token.span.end <= span.start) {
                all.next();
            }
            while let Some(token) = all.next_if(|token| token.span.start < span.end) {
                match all.next_if(|next| reading.continues(token, *next)) {
                    Some(next) => reading.write_whole(Span::new(token.span.start, next.span.end)),
                    None => reading.push(token),
                }
            }
            reading.folded.push_str("\n ");
            reading.sentences.push(TextSentence {
                words: first..reading.words.len(),
                span,
                turn: here.map(|_| turn),
                speaker: here.map_or(Speaker::Unknown, |t| t.speaker),
                question: asks(span.slice(text)) && !(here.is_none() && requests(span.slice(text))),
            });
        }
        reading.known = reading.words.iter().map(|word| number(trie, word.folded.slice(&reading.folded))).collect();
        reading.places = trie.places(&reading.known, reading.sentences.iter().map(|sentence| sentence.words.clone()));
        reading
    }

    /// "I 'm" as some transcripts write it: the sign belongs to the letters after it.
    fn continues(&self, sign: Token, next: Token) -> bool {
        sign.span.end == next.span.start
            && matches!(sign.span.slice(self.text), "'" | "’")
            && is_contraction(next.span.slice(self.text))
    }

    fn write_whole(&mut self, span: Span) {
        let raw = span.slice(self.text);
        self.write(span.start, raw, 0..raw.len(), false);
    }

    /// Hyphens separate words; the genitive and contractions are separate words ("i 'm", "do n't"), in the text as in
    /// the lexicons.
    fn push(&mut self, token: Token) {
        let raw = token.span.slice(self.text);
        match token.kind {
            TokenKind::Word => {
                let mut start = 0;
                for (at, sign) in raw.match_indices(['-', '‑', '\'', '’']) {
                    if at < start {
                        continue;
                    }
                    let apostrophe = sign.starts_with(['\'', '’']);
                    let cut = match raw.get(at + sign.len()..) {
                        Some("t" | "T") if apostrophe && raw[start..at].ends_with(['n', 'N']) => at - 1,
                        Some(rest) if apostrophe && is_contraction(rest) => at,
                        _ if apostrophe => continue,
                        _ => at,
                    };
                    self.write(token.span.start, raw, start..cut, false);
                    start = if apostrophe { cut } else { at + sign.len() };
                }
                self.write(token.span.start, raw, start..raw.len(), false);
            }
            kind => self.write(token.span.start, raw, 0..raw.len(), kind == TokenKind::Punctuation),
        }
    }

    fn write(&mut self, base: usize, raw: &str, part: Range<usize>, punctuation: bool) {
        let start = self.folded.len();
        fold_into(&raw[part.clone()], &mut self.folded);
        if self.folded.len() == start {
            return;
        }
        let folded = Span::new(start, self.folded.len());
        self.folded.push(' ');
        self.words.push(TextWord { folded, source: Span::new(base + part.start, base + part.end), punctuation });
    }

    pub(crate) fn word(&self, index: usize) -> &str {
        self.words.get(index).map_or("", |word| word.folded.slice(&self.folded))
    }

    /// The place in the text of a run of words.
    pub(crate) fn source(&self, words: &Range<usize>) -> Span {
        match (self.words.get(words.start), words.end.checked_sub(1).and_then(|last| self.words.get(last))) {
            (Some(first), Some(last)) if first.source.start <= last.source.end => {
                Span::new(first.source.start, last.source.end)
            }
            _ => Span::default(),
        }
    }

    /// The words that a place of the text touches.
    pub(crate) fn words_at(&self, span: Span) -> Range<usize> {
        let start = self.words.partition_point(|word| word.source.end <= span.start);
        let end = self.words.partition_point(|word| word.source.start < span.end);
        start..end.max(start)
    }

    /// The sentence that holds a word.
    pub(crate) fn sentence_of(&self, word: usize) -> usize {
        self.sentences
            .partition_point(|sentence| sentence.words.end <= word)
            .min(self.sentences.len().saturating_sub(1))
    }
}

/// A word's number in the trie; that of its dictionary spelling where the trie holds only that.
fn number(trie: &PhraseTrie, word: &str) -> u32 {
    match trie.word(word) {
        UNKNOWN => match respelled(word).map_or(UNKNOWN, |plain| trie.word(&plain)) {
            UNKNOWN => meant(word).map_or(UNKNOWN, |clinical| trie.word(clinical)),
            known => known,
        },
        known => known,
    }
}

/// A question mark that closes a question; one before a word doubts it ("?sepsis").
fn asks(sentence: &str) -> bool {
    sentence.contains('¿')
        || sentence.match_indices('?').any(|(at, _)| {
            let glued = sentence[at + 1..].starts_with(char::is_alphanumeric);
            let before = sentence[..at].trim_end();
            !before.is_empty() && !(glued && sentence[..at].ends_with([' ', '(', ':', '\t', '-', ',']))
        })
}

/// "Could you please change amlodipine to lercanidipine?": an order in the form of a question, as letters give it.
fn requests(sentence: &str) -> bool {
    let folded = sentence.to_lowercase();
    let mut words = folded.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty() && *word != "please");
    let (first, second) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let english = matches!(first, "could" | "can" | "would" | "will") && matches!(second, "you" | "gp");
    let third = if english {
        words.find(|word| !matches!(*word, "kindly" | "now" | "also" | "just")).unwrap_or("")
    } else {
        second
    };
    let spanish = ["podría", "podrías", "podríais", "puede", "puedes", "podéis", "pueden"].contains(&first);
    english && ENGLISH_ORDERS.contains(third) || spanish && SPANISH_ORDERS.iter().any(|stem| third.starts_with(stem))
}

/// Verbs of orders about medicines.
static ENGLISH_ORDERS: WordList = WordList::listed(word_lists::GENERAL, "tokenized.english_orders");
static SPANISH_ORDERS: WordList = WordList::listed(word_lists::GENERAL, "tokenized.spanish_orders");

fn is_contraction(letters: &str) -> bool {
    ["s", "m", "re", "ve", "ll", "d"].iter().any(|known| known.eq_ignore_ascii_case(letters))
}

/// Lays out a lexicon entry like a document's text: the form under which it is found.
pub(crate) fn layout(term: &str) -> String {
    // Most entries are plain lower-case words: they are laid out unchanged.
    if term.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b' ') {
        return term.split_whitespace().fold(String::with_capacity(term.len() + 1), |line, word| line + word + " ");
    }
    let document = Document::plain(term, anamnesis_text::Language::Unknown);
    let mut reading = TokenizedText {
        text: &document.text,
        folded: String::new(),
        words: Vec::new(),
        sentences: Vec::new(),
        known: Vec::new(),
        places: PhraseHits::default(),
    };
    let mut all = tokens(&document.text).into_iter().peekable();
    while let Some(token) = all.next() {
        match all.next_if(|next| reading.continues(token, *next)) {
            Some(next) => reading.write_whole(Span::new(token.span.start, next.span.end)),
            None => reading.push(token),
        }
    }
    reading.folded
}

#[cfg(test)]
mod tests {
    use super::super::phrase_trie::TrieBuilder;
    use super::*;
    use anamnesis_text::Language;

    #[test]
    fn words_are_folded_and_know_their_places() {
        let document = Document::plain("La mamá's auto-lesión. ¿Duele?", Language::Unknown);
        let reading = TokenizedText::new(&document, &TrieBuilder::default().build());
        assert_eq!(reading.folded, "la mama 's auto lesion . \n ¿ duele ? \n ");
        assert_eq!(reading.source(&(3..5)).slice(&document.text), "auto-lesión");
        assert_eq!(reading.words_at(Span::new(13, 21)), 3..5);
        assert!(reading.sentences[1].question && !reading.sentences[0].question);
        assert_eq!(layout("Parkinson's disease"), "parkinson 's disease ");
        for text in ["I don't, he's; I'm", "i do n't , he 's ; i 'm"] {
            assert_eq!(layout(text), "i do n't , he 's ; i 'm ");
        }
    }

    #[test]
    fn sentences_know_their_turn_and_speaker() {
        let turns = [(Speaker::Clinician, "Any pain?", None), (Speaker::Patient, "No. None.", None)];
        let document = Document::dialogue(turns, Language::English);
        let reading = TokenizedText::new(&document, &TrieBuilder::default().build());
        let seen: Vec<_> = reading.sentences.iter().map(|s| (s.turn, s.speaker)).collect();
        assert_eq!(seen, [(Some(0), Speaker::Clinician), (Some(1), Speaker::Patient), (Some(1), Speaker::Patient)]);
        assert_eq!(reading.sentence_of(3), 1);
    }
}

//! Passages: what is embedded and searched. A document is cut along its sentences and turns into stretches of about
//! [`DEFAULT_MAX_WORDS`] words; every character that prints is in exactly one passage.

use std::ops::Range;

use super::sentences::sentences;
use super::{Document, Span};

/// A few sentences: a vector of more blurs what each of them says, and a question finds none.
pub const DEFAULT_MAX_WORDS: usize = 40;

/// A stretch of a document's text, and the turns it touches (empty for a text without turns).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    pub span: Span,
    pub(crate) turns: Range<usize>,
}

/// Cuts a document into passages of at most `max_words` words (at least one). A sentence is torn only where it alone
/// exceeds the budget, and then between words; passages do not overlap and keep the order of the text.
pub fn passages(document: &Document, max_words: usize) -> Vec<Passage> {
    let max_words = max_words.max(1);
    let text = document.text.as_str();
    // Every word but the last has white space behind it: so short a text is within the budget, wherever sentences end.
    if text.len() <= 2 * max_words {
        let printed = text.trim();
        let start = printed.as_ptr() as usize - text.as_ptr() as usize;
        let whole = (!printed.is_empty()).then(|| Span::new(start, start + printed.len()));
        return with_turns(document, whole.into_iter().collect());
    }
    let mut spans: Vec<Span> = Vec::new();
    let mut open: Option<(Span, usize)> = None;
    for sentence in sentences(document) {
        for (piece, words) in pieces(text, sentence, max_words) {
            open = match open {
                Some((span, count)) if count + words <= max_words => {
                    Some((Span::new(span.start, piece.end), count + words))
                }
                full => {
                    spans.extend(full.map(|(span, _)| span));
                    Some((piece, words))
                }
            };
        }
    }
    spans.extend(open.map(|(span, _)| span));
    with_turns(document, spans)
}

/// A sentence within the budget is one piece; a longer one is cut between words.
fn pieces(text: &str, sentence: Span, max_words: usize) -> Vec<(Span, usize)> {
    let mut out: Vec<(Span, usize)> = Vec::new();
    for word in words(text, sentence) {
        match out.last_mut() {
            Some((span, count)) if *count < max_words => {
                span.end = word.end;
                *count += 1;
            }
            _ => out.push((word, 1)),
        }
    }
    out
}

/// Stretches without white space: what punctuation adheres to, so that nothing is lost between pieces.
fn words(text: &str, within: Span) -> impl Iterator<Item = Span> {
    let part = within.slice(text);
    part.split_whitespace().map(move |word| {
        let start = within.start + (word.as_ptr() as usize - part.as_ptr() as usize);
        Span::new(start, start + word.len())
    })
}

fn with_turns(document: &Document, spans: Vec<Span>) -> Vec<Passage> {
    let mut first = 0;
    spans
        .into_iter()
        .map(|span| {
            while document.turns.get(first).is_some_and(|turn| turn.span.end <= span.start) {
                first += 1;
            }
            let mut last = first;
            while document.turns.get(last).is_some_and(|turn| turn.span.start < span.end) {
                last += 1;
            }
            let turns = first..last;
            first = last.saturating_sub(1).max(first);
            Passage { span, turns }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Language, Speaker};

    fn dialogue(turns: &[String]) -> Document {
        Document::dialogue(turns.iter().map(|turn| (Speaker::Patient, turn.as_str(), None)), Language::Unknown)
    }

    #[test]
    fn short_turns_share_a_passage_and_know_their_turns() {
        let document = dialogue(&["¿Duerme bien?".into(), "No. Me despierto a las tres.".into(), "Ya.".into()]);
        let all = passages(&document, DEFAULT_MAX_WORDS);
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].turns, 0..3);
        let small = passages(&document, 5);
        assert_eq!(small[0].span.slice(&document.text), "¿Duerme bien?\nNo.");
        assert_eq!((small[0].turns.clone(), small[1].turns.clone()), (0..2, 1..2));
    }

    #[test]
    fn a_text_that_is_short_enough_is_one_passage_whatever_it_holds() {
        for (text, words) in [(" \n Duerme. Mal.\n\n- Come.\n ", 5), ("  ", 1), ("a", 1)] {
            let short = Document::plain(text, Language::Spanish);
            let long = Document::plain(format!("{text}{}", " ".repeat(2 * words)), Language::Spanish);
            assert_eq!(passages(&short, text.len()), passages(&long, words), "{text:?}");
        }
    }

    #[test]
    fn a_sentence_over_the_budget_is_cut_between_words() {
        let document = Document::plain("uno dos tres cuatro cinco seis siete", Language::Spanish);
        let parts: Vec<&str> = passages(&document, 3).iter().map(|p| p.span.slice(&document.text)).collect();
        assert_eq!(parts, ["uno dos tres", "cuatro cinco seis", "siete"]);
    }

    proptest! {
        #[test]
        fn every_visible_character_is_in_exactly_one_passage(
            turns in proptest::collection::vec("([a-zñ]{1,9}|[.,?!]| |\n){0,60}", 0..8), budget in 1usize..40) {
            let document = dialogue(&turns);
            let mut covered = vec![0u8; document.text.len()];
            let whole = sentences(&document);
            for passage in passages(&document, budget) {
                prop_assert!(document.text.get(passage.span.start..passage.span.end).is_some());
                prop_assert!(words(&document.text, passage.span).count() <= budget);
                covered[passage.span.start..passage.span.end].iter_mut().for_each(|n| *n += 1);
                for (index, turn) in document.turns.iter().enumerate() {
                    if !turn.span.is_empty() {
                        prop_assert_eq!(passage.turns.contains(&index), turn.span.overlaps(&passage.span));
                    }
                }
                for sentence in &whole {
                    let torn = sentence.overlaps(&passage.span) && !passage.span.contains(sentence);
                    prop_assert!(!torn || words(&document.text, *sentence).count() > budget);
                }
            }
            for (at, c) in document.text.char_indices() {
                prop_assert!(c.is_whitespace() || covered[at] == 1);
            }
        }
    }
}

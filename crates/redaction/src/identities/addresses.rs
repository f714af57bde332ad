//! Addresses of known people: the whole, or any two of its words together, or one specific word.

use std::collections::HashSet;

use foldhash::fast::RandomState;

use super::super::document::DocumentContext;
use super::super::entities::words;
use super::super::finding::{DetectionLayer, PiiFinding};
use super::super::label;
use super::super::token::TextTokenKind;
use crate::word_tables::{self, WordList};
use anamnesis_text::Span;

/// Words of most addresses: they are no evidence alone.
static GENERIC: WordList = WordList::listed(word_tables::IDENTIFIERS, "addresses.generic");

type AddressWords = HashSet<String, RandomState>;

/// An address of a known person.
pub(crate) struct KnownAddress {
    words: AddressWords,
    subject: String,
}

impl KnownAddress {
    pub(crate) fn parse(address: &str) -> Self {
        let words = words::folded_words(address);
        Self { subject: words.concat(), words: words.into_iter().collect() }
    }

    /// Finds the address.
    pub(crate) fn find(&self, context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
        find_one(context, &self.words, &self.subject, found);
    }
}

fn find_one(context: &DocumentContext<'_>, all: &AddressWords, subject: &str, found: &mut Vec<PiiFinding>) {
    let tokens = &context.tokens;
    let mut at = 0;
    while at < tokens.len() {
        if !all.contains(context.lower(&tokens[at])) {
            at += 1;
            continue;
        }
        let mut last = at;
        let mut look = at + 1;
        // Signs and one foreign word may be between them ("Calle Mayor, número 5").
        while look < tokens.len() && look <= last + 3 {
            let token = &tokens[look];
            if token.kind == TextTokenKind::Break {
                break;
            }
            if all.contains(context.lower(token)) {
                last = look;
            }
            look += 1;
        }
        if tells(context, at, last, all) {
            let span = Span::new(tokens[at].span.start, tokens[last].span.end);
            let mut finding = PiiFinding::new(span, label::ADDRESS, "identity_address", 1.0, DetectionLayer::Identity);
            finding.subject = Some(subject.to_owned());
            found.push(finding);
        }
        at = last + 1;
    }
}

/// Whether a run of words names the address: a specific word together with another, or a very specific one.
fn tells(context: &DocumentContext<'_>, first: usize, last: usize, all: &AddressWords) -> bool {
    let run: Vec<&str> = context.tokens[first..=last]
        .iter()
        .map(|token| context.lower(token))
        .filter(|word| all.contains(*word))
        .collect();
    let telling = |word: &&&str| !GENERIC.contains(word) && word.len() > 1;
    let known = run.iter().filter(telling).count();
    let alone = run.iter().filter(telling).any(|word| {
        let digits = word.bytes().all(|byte| byte.is_ascii_digit());
        // A postal code or a rare word is sufficient alone; a house number or "mayor" is not.
        if digits { word.len() >= 5 } else { word.len() >= 4 && !words::is_common(word) }
    });
    // Two words of the address, at least one of them specific: "Mayor 5" is found, "calle 3" is not.
    alone || (known >= 1 && run.len() >= 2 && run.iter().any(|word| word.len() >= 4))
}

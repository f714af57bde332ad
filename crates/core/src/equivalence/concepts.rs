//! One name for words that two languages and many spellings share. Small on purpose: the lexicon of extraction knows
//! medicine; here are the words that change what a sentence states, and the commonest complaints.

use std::borrow::Cow;

use super::normalize::TextItem;
use super::vocabulary::{CONCEPTS, NOTHING, ONESELF, PAST, PHRASES};

/// The contribution of a word or a phrase to a clause.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TermMeaning {
    Nothing,
    Concept(Cow<'static, str>),
    Denial,
    Past,
    Oneself,
}

pub(super) const fn concept(name: &'static str) -> TermMeaning {
    TermMeaning::Concept(Cow::Borrowed(name))
}

/// The phrase that the items begin with.
pub(super) fn phrase(items: &[TextItem]) -> Option<(usize, TermMeaning)> {
    let begins = |words: &[&str]| {
        items.len() >= words.len() && items.iter().zip(words).all(|(item, word)| item.word() == Some(*word))
    };
    PHRASES.iter().find(|(words, _)| begins(words)).map(|(words, meaning)| (words.len(), meaning.clone()))
}

/// The meaning of one word. `raw` has its accents, `named` words have their ending: Mario is not María.
pub(super) fn meaning(folded: &str, raw: &str, named: bool) -> TermMeaning {
    // Only the accent distinguishes these: "tomó" is not "tomo" (I take).
    if PAST.contains(&folded) && !CONCEPTS.iter().any(|(_, words)| words.contains(&folded)) || raw == "tomó" {
        return TermMeaning::Past;
    }
    if NOTHING.contains(&folded) {
        return TermMeaning::Nothing;
    }
    if ONESELF.contains(&folded) {
        return TermMeaning::Oneself;
    }
    match CONCEPTS.iter().find(|(_, words)| words.contains(&folded)) {
        Some((name, _)) if PAST.contains(&folded) => TermMeaning::Concept(format!("past {name}").into()),
        Some((name, _)) => concept(name),
        None => TermMeaning::Concept(skeleton(folded, named).into()),
    }
}

/// The shared part of spellings of one learned word: "sertralina", "sertraline". Empty only for an empty word.
fn skeleton(folded: &str, named: bool) -> String {
    let mut word = folded.to_owned();
    for (from, to) in [("tion", "cion"), ("ph", "f"), ("th", "t"), ("rh", "r"), ("y", "i"), ("ch", "c"), ("ae", "e")] {
        word = word.replace(from, to);
    }
    // Stage II is not stage III.
    if word.chars().all(|c| "ivxlcdm".contains(c)) {
        return word;
    }
    let mut last = '\0';
    word.retain(|c| {
        let doubled = c == last && c.is_alphabetic();
        last = c;
        !doubled
    });
    // A capital inside the text may be a person's, but persons are seldom called Sertralina.
    let learned = ["ina", "ine", "ona", "one", "ide", "ida", "ato", "ate"].iter().any(|end| word.ends_with(end));
    if word.len() > 4 && (!named || learned) {
        if word.len() > 5 && word.ends_with('s') {
            word.pop();
        }
        word.truncate(word.trim_end_matches(['a', 'e', 'i', 'o']).len().max(3));
    }
    word
}

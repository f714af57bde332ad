//! The people whom a sentence names, and the words by which it comes back to the patient.

use std::ops::Range;

use crate::assertion::cues::CueCategory;
use crate::assertion::subjects::FILE;
use crate::lexicon::label;
use crate::lexicon::word_lists::{self, WordList};
use crate::matcher::PhraseMatcher;
use crate::phrase_trie::TrieBuilder;
use crate::tokenized::TokenizedText;

/// Words before a noun that say whose or which relative it is.
const DETERMINERS: usize = 3;

pub(super) struct PersonWords {
    kinds: [(PhraseMatcher, CueCategory, Option<bool>); 6],
    folk: PhraseMatcher,
}

/// A person in a sentence.
pub(super) struct PersonMention {
    /// The noun.
    pub(super) words: Range<usize>,
    /// Where the words begin that name them: "her older sister".
    pub(super) from: usize,
    pub(super) category: CueCategory,
    /// Whether "she" can mean them, where the noun says so.
    pub(super) is_she: Option<bool>,
    /// Whether the words that name them make the patient a "she": "her sister", "his sister".
    pub(super) is_hers: Option<bool>,
}

impl PersonWords {
    pub(super) fn builtin(trie: &mut TrieBuilder) -> Self {
        let mut list = |name| label(trie, FILE, name);
        Self {
            kinds: [
                (list("she_kin"), CueCategory::Family, Some(true)),
                (list("he_kin"), CueCategory::Family, Some(false)),
                (list("kin"), CueCategory::Family, None),
                (list("she_mate"), CueCategory::Other, Some(true)),
                (list("he_mate"), CueCategory::Other, Some(false)),
                (list("mate"), CueCategory::Other, None),
            ],
            folk: list("folk"),
        }
    }

    pub(super) fn find(&self, reading: &TokenizedText<'_>, words: &Range<usize>) -> Vec<PersonMention> {
        let mut out = Vec::new();
        for (list, category, is_she) in &self.kinds {
            for hit in list.find(reading, words.clone()) {
                if reading.word(hit.words.start) == "son" && !is_english_son(reading, hit.words.start, words) {
                    continue;
                }
                let source = reading.source(&hit.words).slice(reading.text);
                // "TIA" is no aunt, and without its accent "papa" is a potato.
                if source == "TIA" || matches!(reading.word(hit.words.start), "mama" | "papa") && source.is_ascii() {
                    continue;
                }
                let from = determined(reading, hit.words.start, words.start);
                // "Her son … she": the pronoun before the noun shows which later pronoun is the patient.
                let is_hers = (from..hit.words.start).find_map(|word| match reading.word(word) {
                    "her" => Some(true),
                    "his" => Some(false),
                    _ => None,
                });
                out.push(PersonMention { words: hit.words, from, category: *category, is_she: *is_she, is_hers });
            }
        }
        // "Su mujer" is a wife, "mujer de 40 años" the patient.
        for word in words.clone().skip(1) {
            let experiencer_rules = matches!(reading.word(word - 1), "su" | "mi" | "tu");
            if experiencer_rules && matches!(reading.word(word), "mujer" | "senora") {
                let (from, words) = (word - 1, word..word + 1);
                out.push(PersonMention {
                    words,
                    from,
                    category: CueCategory::Other,
                    is_she: Some(true),
                    is_hers: None,
                });
            }
        }
        out.sort_by_key(|person| person.words.start);
        out
    }

    pub(super) fn folk(&self, reading: &TokenizedText<'_>, words: &Range<usize>) -> Vec<Range<usize>> {
        self.folk.find(reading, words.clone()).into_iter().map(|hit| hit.words).collect()
    }
}

/// Where the words begin that say whose or which one a person is.
fn determined(reading: &TokenizedText<'_>, noun: usize, lowest: usize) -> usize {
    static WORDS: WordList = WordList::listed(word_lists::ASSERTION, "people.determined");
    let small = |word: &usize| WORDS.contains(reading.word(*word));
    (lowest..noun).rev().take(DETERMINERS).take_while(small).last().unwrap_or(noun)
}

/// "Her son", "son has epilepsy": the English relative, whose word is a Spanish verb ("son alérgicos").
pub(in crate::assertion) fn is_english_son(reading: &TokenizedText<'_>, word: usize, within: &Range<usize>) -> bool {
    let before = word.checked_sub(1).filter(|at| within.contains(at)).map_or("", |at| reading.word(at));
    let next = if word + 1 < within.end { reading.word(word + 1) } else { "" };
    let determined = matches!(
        before,
        "my" | "his"
            | "her"
            | "their"
            | "your"
            | "our"
            | "the"
            | "a"
            | "older"
            | "younger"
            | "elder"
            | "adult"
            | "eldest"
            | "youngest"
            | "oldest"
            | "'s"
            | "s"
            | "teenage"
            | "year"
            | "old"
            | "with"
            | "by"
            | "one"
    );
    let english = matches!(
        next,
        "has"
            | "had"
            | "is"
            | "was"
            | "with"
            | "who"
            | "takes"
            | "took"
            | "diagnosed"
            | "reports"
            | "says"
            | "and"
            | "died"
            | "uses"
            | "smokes"
            | "allergic"
            | "on"
            | "treated"
    );
    determined || english
}

/// Whether a word names the patient as one of the subjects.
pub(super) fn is_self(reading: &TokenizedText<'_>, word: usize) -> bool {
    if word >= reading.words.len() {
        return false;
    }
    match reading.word(word) {
        "i" | "yo" | "she" | "he" | "ella" | "patient" | "paciente" | "pt" | "pte" => true,
        "el" => reading.source(&(word..word + 1)).slice(reading.text).to_lowercase() == "él",
        _ => false,
    }
}

/// Whether the patient is named again at a word, by a noun, as the speaker or by a pronoun that cannot mean the person:
/// then certainly. Where a pronoun may mean either ("her sister takes it and she does too"), a repeated subject is more
/// likely another person, but not certainly.
pub(super) fn returns(reading: &TokenizedText<'_>, word: usize, person: &PersonMention) -> Option<bool> {
    let at = |word: usize| if word < reading.words.len() { reading.word(word) } else { "" };
    let article = usize::from(matches!(at(word), "the" | "la" | "el"));
    if matches!(at(word + article), "patient" | "paciente" | "pt" | "pte") {
        return Some(true);
    }
    let she = match at(word) {
        "i" | "yo" => return Some(true),
        "she" | "ella" => true,
        "he" => false,
        // "Él", whose accent the folded form has lost.
        "el" if is_self(reading, word) => false,
        _ => return None,
    };
    match (person.is_she, person.is_hers) {
        (Some(is_she), _) if is_she != she => Some(true),
        (None, Some(hers)) if hers == she => Some(true),
        (_, Some(hers)) if hers == she => Some(false),
        _ => None,
    }
}

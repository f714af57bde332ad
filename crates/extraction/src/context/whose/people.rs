//! The people whom a sentence names, and the words by which it comes back to the patient.

use std::ops::Range;

use crate::context::cues::Category;
use crate::context::subjects::FILE;
use crate::lexicon::label;
use crate::matcher::Matcher;
use crate::phrasebook::Builder;
use crate::reading::Reading;

/// Words before a noun that say whose or which relative it is.
const DETERMINERS: usize = 3;

pub(super) struct People {
    kinds: [(Matcher, Category, Option<bool>); 6],
    folk: Matcher,
}

/// A person in a sentence.
pub(super) struct Person {
    /// The noun.
    pub(super) words: Range<usize>,
    /// Where the words begin that name them: "her older sister".
    pub(super) from: usize,
    pub(super) category: Category,
    /// Whether "she" can mean them, where the noun says so.
    pub(super) is_she: Option<bool>,
    /// Whether the words that name them make the patient a "she": "her sister", "his sister".
    pub(super) is_hers: Option<bool>,
}

impl People {
    pub(super) fn builtin(book: &mut Builder) -> Self {
        let mut list = |name| label(book, FILE, name);
        Self {
            kinds: [
                (list("she_kin"), Category::Family, Some(true)),
                (list("he_kin"), Category::Family, Some(false)),
                (list("kin"), Category::Family, None),
                (list("she_mate"), Category::Other, Some(true)),
                (list("he_mate"), Category::Other, Some(false)),
                (list("mate"), Category::Other, None),
            ],
            folk: list("folk"),
        }
    }

    pub(super) fn find(&self, reading: &Reading<'_>, words: &Range<usize>) -> Vec<Person> {
        let mut out = Vec::new();
        for (list, category, is_she) in &self.kinds {
            for hit in list.find(reading, words.clone()) {
                if reading.word(hit.words.start) == "son" && !is_english_son(reading, hit.words.start, words) {
                    continue;
                }
                let source = reading.source(&hit.words).of(reading.text);
                // "TIA" is no aunt, and without its accent "papa" is a potato.
                if source == "TIA" || matches!(reading.word(hit.words.start), "mama" | "papa") && source.is_ascii() {
                    continue;
                }
                let from = determined(reading, hit.words.start, words.start);
                let is_hers = (from..hit.words.start).find_map(|word| match reading.word(word) {
                    "her" => Some(true),
                    "his" => Some(false),
                    _ => None,
                });
                out.push(Person { words: hit.words, from, category: *category, is_she: *is_she, is_hers });
            }
        }
        // "Su mujer" is a wife, "mujer de 40 años" the patient.
        for word in words.clone().skip(1) {
            let whose = matches!(reading.word(word - 1), "su" | "mi" | "tu");
            if whose && matches!(reading.word(word), "mujer" | "senora") {
                let (from, words) = (word - 1, word..word + 1);
                out.push(Person { words, from, category: Category::Other, is_she: Some(true), is_hers: None });
            }
        }
        out.sort_by_key(|person| person.words.start);
        out
    }

    pub(super) fn folk(&self, reading: &Reading<'_>, words: &Range<usize>) -> Vec<Range<usize>> {
        self.folk.find(reading, words.clone()).into_iter().map(|hit| hit.words).collect()
    }
}

/// Where the words begin that say whose or which one a person is.
fn determined(reading: &Reading<'_>, noun: usize, lowest: usize) -> usize {
    let small = |word: &usize| {
        matches!(
            reading.word(*word),
            "my" | "his"
                | "her"
                | "their"
                | "your"
                | "our"
                | "the"
                | "a"
                | "an"
                | "ex"
                | "late"
                | "older"
                | "younger"
                | "elder"
                | "twin"
                | "half"
                | "adult"
                | "teenage"
                | "maternal"
                | "paternal"
                | "mi"
                | "su"
                | "tu"
                | "el"
                | "la"
                | "un"
                | "una"
        )
    };
    (lowest..noun).rev().take(DETERMINERS).take_while(small).last().unwrap_or(noun)
}

/// "Her son", "son has epilepsy": the English relative, whose word is a Spanish verb ("son alérgicos").
pub(in crate::context) fn is_english_son(reading: &Reading<'_>, word: usize, within: &Range<usize>) -> bool {
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
pub(super) fn is_self(reading: &Reading<'_>, word: usize) -> bool {
    if word >= reading.words.len() {
        return false;
    }
    match reading.word(word) {
        "i" | "yo" | "she" | "he" | "ella" | "patient" | "paciente" | "pt" | "pte" => true,
        "el" => reading.source(&(word..word + 1)).of(reading.text).to_lowercase() == "él",
        _ => false,
    }
}

/// Whether the patient is named again at a word, by a noun, as the speaker or by a pronoun that cannot mean the person:
/// then surely. Where a pronoun may mean either ("her sister takes it and she does too"), a subject that is said again is
/// more likely another one, but not surely.
pub(super) fn returns(reading: &Reading<'_>, word: usize, person: &Person) -> Option<bool> {
    let at = |word: usize| if word < reading.words.len() { reading.word(word) } else { "" };
    let article = usize::from(matches!(at(word), "the" | "la" | "el"));
    if matches!(at(word + article), "patient" | "paciente" | "pt" | "pte") {
        return Some(true);
    }
    let she = match at(word) {
        "i" | "yo" => return Some(true),
        "she" | "ella" => true,
        "he" => false,
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

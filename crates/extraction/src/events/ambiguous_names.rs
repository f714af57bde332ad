//! Whether words of the lists name a thing in their place: abbreviations in capitals, organs under a title of
//! operations.

use super::super::analysis::AnalyzedDocument;
use super::super::lexicon::ConceptMention;
use super::super::structure::Section;
use crate::lexicon::word_lists::{self, WordList};

/// Abbreviations are in capitals, organs under a title of operations, and a bare "operations" is a title, unless denied.
pub(super) fn is_named(doc: &AnalyzedDocument<'_>, mention: &ConceptMention, sentence: usize) -> bool {
    let reading = doc.reading;
    let raw = reading.source(&mention.words).slice(doc.text());
    let within = reading.sentences[sentence].span.slice(doc.text());
    if mention.words.len() == 1 && raw.chars().count() <= 4 && raw.chars().all(char::is_alphabetic) {
        let whole = raw.chars().all(char::is_uppercase);
        // A text without capitals is dictated or from a chat: "mri" is the abbreviation there.
        let spoken = !within.chars().any(char::is_uppercase);
        if !whole
            && !(spoken && raw.len() == 3 && matches!(raw, "mri" | "ekg" | "ecg" | "ect" | "eeg"))
            && !is_word(raw)
        {
            return false;
        }
    }
    if mention.concept.code == Some("organ") {
        let titled = doc.section(mention.words.start) == Some(Section::Surgical);
        let from = reading.sentences[sentence].words.start;
        let labelled = (from..mention.words.start).any(|word| is_operations(reading.word(word)));
        let asked = sentence.checked_sub(1).map(|before| &reading.sentences[before]).filter(|before| before.question);
        let asked = asked.is_some_and(|asked| asked.words.clone().any(|word| is_operations(reading.word(word))));
        return titled
            || labelled
            || asked
            || (!is_illness(mention.concept.name) && is_dated_item(doc, mention, sentence));
    }
    let bare = mention.words.len() == 1
        && matches!(
            reading.word(mention.words.start),
            "operaciones" | "cirugias" | "surgeries" | "operations" | "surgery" | "cirugia"
        );
    !bare || doc.scopes.mention_context(reading, &mention.words).negated
}

pub(super) fn is_ticked(text: &str) -> bool {
    ["_x_", "[x]", "(x)", "☒", "[X]", "(X)", "☑"].iter().any(|mark| text.contains(mark))
}

fn is_operations(word: &str) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::EVENTS, "ambiguous_names.is_operations");
    WORDS.contains(word)
}

/// Short words of the lists that are no abbreviations.
fn is_word(raw: &str) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::EVENTS, "ambiguous_names.is_word");
    WORDS.contains(raw.to_lowercase().as_str())
}

/// Organs for which a year alone marks an illness: "thyroid 2019".
fn is_illness(operation: &str) -> bool {
    matches!(
        operation,
        "knee surgery"
            | "prostatectomy"
            | "thyroidectomy"
            | "hemorrhoidectomy"
            | "varicose vein surgery"
            | "cataract surgery"
    )
}

/// "Appendix '79; L inguinal hernia 2013": an item of a list that is nothing but the organ and its day.
fn is_dated_item(doc: &AnalyzedDocument<'_>, mention: &ConceptMention, sentence: usize) -> bool {
    let reading = doc.reading;
    let within = &reading.sentences[sentence].words;
    let opens = (within.start..mention.words.start)
        .rev()
        .take(4)
        .find(|word| matches!(reading.word(*word), "," | ";" | ":" | "." | "-" | "(" | "•" | "*" | "/"));
    let lead = opens.map_or(within.start, |word| word + 1);
    let side = |word: usize| {
        matches!(reading.word(word), "l" | "r" | "left" | "right" | "bilateral" | "her" | "his" | "my" | "and" | "y")
    };
    let bare = mention.words.start - lead <= 3 && (lead..mention.words.start).all(side);
    let year = doc.input.dates.iter().any(|date| {
        let words = reading.words_at(date.span);
        words.start >= mention.words.end
            && words.start - mention.words.end <= 2
            && (mention.words.end..words.start).all(|word| {
                matches!(reading.word(word), "(" | "-" | "–" | "in" | "en" | "out" | "removed" | "op" | "x" | "'")
            })
    });
    bare && year
}

/// "Mum d. 2022": the letter is a death where its day comes after it, and a title or a unit elsewhere.
pub(super) fn is_dated_letter(doc: &AnalyzedDocument<'_>, mention: &ConceptMention) -> bool {
    let reading = doc.reading;
    let after = |span| {
        let words = reading.words_at(span);
        words.start >= mention.words.end && words.start - mention.words.end <= 2
    };
    reading.word(mention.words.start) != "d" || doc.input.dates.iter().any(|date| after(date.span))
}

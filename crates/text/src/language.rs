//! Spanish or English: a stop-word vote for short texts, trigrams (whatlang) where the vote is not clear.

use whatlang::{Detector, Lang};

use super::Language;
use super::fold::fold;

/// Words that only one of the two languages has, folded.
pub(super) const SPANISH: &[&str] = &[
    "el", "la", "los", "las", "de", "del", "que", "y", "en", "un", "una", "por", "para", "con", "sin", "se", "su",
    "al", "es", "esta", "pero", "muy", "mas", "lo", "le", "mi", "ya", "yo", "tu", "si", "tiene", "tengo", "ha", "he",
    "cada", "dia", "noche", "hola", "gracias", "porque", "cuando", "desde", "hasta", "como", "nada", "nunca",
    "paciente", "niega", "refiere", "dolor", "toma", "tomo", "estoy", "esto", "alergia", "alergias", "ninguna",
    "ningun",
];
pub(super) const ENGLISH: &[&str] = &[
    "the",
    "of",
    "and",
    "to",
    "in",
    "is",
    "with",
    "for",
    "on",
    "was",
    "has",
    "have",
    "had",
    "her",
    "his",
    "he",
    "she",
    "it",
    "that",
    "this",
    "my",
    "i",
    "you",
    "not",
    "but",
    "are",
    "were",
    "been",
    "at",
    "as",
    "by",
    "from",
    "or",
    "an",
    "be",
    "i'm",
    "i've",
    "don't",
    "does",
    "do",
    "any",
    "patient",
    "denies",
    "reports",
    "pain",
    "hi",
    "yes",
    "daily",
    "takes",
    "taking",
    "what",
    "when",
    "how",
    "feel",
    "allergies",
    "allergic",
    "none",
    "never",
    "your",
];
/// Signs that Spanish has and English has not.
const SPANISH_SIGNS: &[char] = &['ñ', 'Ñ', '¿', '¡', 'á', 'í', 'ó', 'ú', 'Á', 'É', 'Í', 'Ó', 'Ú'];
/// So much text is enough to tell; more only costs time.
const SAMPLE_BYTES: usize = 4_000;

/// The language of a text; `Unknown` where neither has more evidence. Looks at the first 4 kB.
pub fn detect(text: &str) -> Language {
    let sample = &text[..text.floor_char_boundary(SAMPLE_BYTES.min(text.len()))];
    let (spanish, english) = vote(sample);
    if spanish >= 2 * english + 2 {
        return Language::Spanish;
    }
    if english >= 2 * spanish + 2 {
        return Language::English;
    }
    match spanish.cmp(&english) {
        std::cmp::Ordering::Greater if sample.len() < 80 => return Language::Spanish,
        std::cmp::Ordering::Less if sample.len() < 80 => return Language::English,
        _ => {}
    }
    let found = Detector::with_allowlist(vec![Lang::Spa, Lang::Eng]).detect(sample);
    match found {
        Some(info) if sample.len() >= 20 && info.lang() == Lang::Spa => Language::Spanish,
        Some(info) if sample.len() >= 20 && info.lang() == Lang::Eng => Language::English,
        _ => Language::Unknown,
    }
}

impl Language {
    /// The language itself, or what the text says where it is unknown.
    pub fn or_detect(self, text: &str) -> Language {
        match self {
            Language::Unknown => detect(text),
            known => known,
        }
    }
}

fn vote(sample: &str) -> (usize, usize) {
    let (mut spanish, mut english) = (0, 0);
    for word in sample.split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '’')).filter(|w| !w.is_empty()) {
        let word = fold(word);
        spanish += usize::from(SPANISH.contains(&word.as_str()));
        english += usize::from(ENGLISH.contains(&word.as_str()));
    }
    spanish += sample.chars().filter(|c| SPANISH_SIGNS.contains(c)).count().min(2);
    (spanish, english)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_clinical_lines_are_told_apart() {
        for line in
            ["Alergias: ninguna", "Niega ideación suicida.", "tomo sertralina cada noche", "No, nada", "¿Y eso?"]
        {
            assert_eq!(detect(line), Language::Spanish, "{line}");
        }
        for line in ["I'm allergic to penicillin.", "Denies any pain", "She takes lithium daily", "Yes, I do"] {
            assert_eq!(detect(line), Language::English, "{line}");
        }
    }

    #[test]
    fn nothing_to_go_by_is_unknown() {
        assert_eq!(detect(""), Language::Unknown);
        assert_eq!(detect("120/80"), Language::Unknown);
        assert_eq!(Language::Spanish.or_detect("the patient"), Language::Spanish);
    }

    #[test]
    fn a_long_text_is_told_by_its_beginning() {
        let text = "La paciente duerme mal desde hace semanas. ".repeat(4_000);
        assert_eq!(detect(&text), Language::Spanish);
    }
}

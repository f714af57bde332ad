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
    decided(&LanguageVotes::count(sample), sample.len(), || sample.to_owned())
}

/// The words of one language or the other in a text, counted once where it is read together with many others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LanguageVotes {
    spanish: usize,
    english: usize,
    /// Letters and signs that only Spanish has.
    signs: usize,
}

impl LanguageVotes {
    pub fn count(text: &str) -> Self {
        let (mut spanish, mut english) = (0, 0);
        for word in text.split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '’')).filter(|w| !w.is_empty()) {
            let word = fold(word);
            spanish += usize::from(SPANISH.contains(&word.as_str()));
            english += usize::from(ENGLISH.contains(&word.as_str()));
        }
        Self { spanish, english, signs: text.chars().filter(|c| SPANISH_SIGNS.contains(c)).count() }
    }
}

/// The language of two texts, one line after the other: what [`detect`] says of both together.
pub fn detect_both((one, first): (&str, &LanguageVotes), (other, second): (&str, &LanguageVotes)) -> Language {
    let joined = || format!("{one}\n{other}");
    let bytes = one.len() + 1 + other.len();
    if bytes > SAMPLE_BYTES {
        return detect(&joined());
    }
    let votes = LanguageVotes {
        spanish: first.spanish + second.spanish,
        english: first.english + second.english,
        signs: first.signs + second.signs,
    };
    decided(&votes, bytes, joined)
}

/// Words decide where one language has clearly more, letters where neither has.
fn decided(votes: &LanguageVotes, bytes: usize, sample: impl FnOnce() -> String) -> Language {
    let (spanish, english) = (votes.spanish + votes.signs.min(2), votes.english);
    if spanish >= 2 * english + 2 {
        return Language::Spanish;
    }
    if english >= 2 * spanish + 2 {
        return Language::English;
    }
    match spanish.cmp(&english) {
        std::cmp::Ordering::Greater if bytes < 80 => return Language::Spanish,
        std::cmp::Ordering::Less if bytes < 80 => return Language::English,
        _ => {}
    }
    let found = Detector::with_allowlist(vec![Lang::Spa, Lang::Eng]).detect(&sample());
    match found {
        Some(info) if bytes >= 20 && info.lang() == Lang::Spa => Language::Spanish,
        Some(info) if bytes >= 20 && info.lang() == Lang::Eng => Language::English,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_texts_have_the_language_that_they_have_as_one() {
        let texts = [
            "Prefiero las mañanas.",
            "I can't stand swimming in the sea.",
            "No soporto nadar",
            "ok",
            "sertralina 50 mg",
            "Me gusta the radio que suena on Sundays, y también the news.",
            "¿Y eso?",
        ];
        let long = "Hoy ha venido la paciente con su madre y no quiere hablar de nada. ".repeat(70);
        for one in texts.into_iter().chain([long.as_str()]) {
            for other in texts {
                let both = detect_both((one, &LanguageVotes::count(one)), (other, &LanguageVotes::count(other)));
                assert_eq!(both, detect(&format!("{one}\n{other}")), "{one:.40} / {other}");
            }
        }
    }

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

//! Search terms: folded words without stop words, reduced by Snowball (model.md, "Full text without plaintext").
//!
//! Folding comes **before** stemming, so that a query typed without accents meets the same term.

use rust_stemmers::{Algorithm, Stemmer};

use super::fold::fold;
use super::tokens::{Token, TokenKind, tokens};
use super::{Language, language};

/// Words that find everything and tell nothing apart, folded. `no`, `sin`, `not`, `never` stay: they carry meaning.
const STOP_SPANISH: &[&str] = &[
    "a", "al", "como", "con", "de", "del", "desde", "e", "el", "ella", "ellos", "en", "era", "es", "esa", "ese", "eso",
    "esta", "este", "esto", "fue", "ha", "han", "hay", "la", "las", "le", "les", "lo", "los", "me", "mi", "mis", "o",
    "para", "pero", "por", "que", "se", "ser", "si", "son", "su", "sus", "te", "tu", "u", "un", "una", "unas", "unos",
    "y", "yo",
];
const STOP_ENGLISH: &[&str] = &[
    "a", "am", "an", "and", "are", "as", "at", "be", "been", "but", "by", "did", "do", "does", "for", "from", "had",
    "has", "have", "he", "her", "him", "his", "i", "i'm", "i've", "if", "in", "is", "it", "it's", "its", "me", "my",
    "of", "on", "or", "our", "she", "so", "that", "the", "their", "them", "they", "this", "to", "was", "we", "were",
    "will", "with", "you", "your",
];
/// Whether a folded word tells nothing apart in a language; English rules where it is unknown.
pub(crate) fn is_stop_word(folded: &str, language: Language) -> bool {
    match language {
        Language::Spanish => STOP_SPANISH.contains(&folded),
        Language::English | Language::Unknown => STOP_ENGLISH.contains(&folded),
    }
}

/// Longer "words" are blobs, not terms.
const LONGEST_TERM: usize = 64;

/// The search terms of a text in order, repetitions kept (ranking counts them). [`Language::Unknown`] is detected
/// first; where nothing tells, English rules apply.
pub fn stems(text: &str, language: Language) -> Vec<String> {
    let stemming = Stemming::for_text(text, language);
    tokens(text).iter().filter_map(|token| stemming.stem(token, text)).collect()
}

/// The rules of one language, for who reads many texts and keeps what a word comes to.
pub struct Stemming {
    /// [`Language::Unknown`] where nothing tells.
    pub language: Language,
    stemmer: Stemmer,
    stop: &'static [&'static str],
}

impl Stemming {
    /// The stemming of a text's language, which is detected where it is unknown.
    pub fn for_text(text: &str, language: Language) -> Self {
        let language = match language {
            Language::Unknown => language::detect(text),
            known => known,
        };
        let (algorithm, stop) = match language {
            Language::Spanish => (Algorithm::Spanish, STOP_SPANISH),
            Language::English | Language::Unknown => (Algorithm::English, STOP_ENGLISH),
        };
        Self { language, stemmer: Stemmer::create(algorithm), stop }
    }

    /// The search term of a token of `text`; `None` for what is no term. Depends on the token's words and kind alone.
    pub fn stem(&self, token: &Token, text: &str) -> Option<String> {
        if token.kind == TokenKind::Punctuation {
            return None;
        }
        let word = fold(token.span.slice(text));
        if word.len() > LONGEST_TERM || self.stop.contains(&word.as_str()) {
            return None;
        }
        Some(match token.kind {
            TokenKind::Word => self.stemmer.stem(word.trim_end_matches("'s")).into_owned(),
            _ => word,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inflections_and_accents_meet_in_one_term() {
        assert_eq!(stems("depresión", Language::Spanish), stems("DEPRESION", Language::Spanish));
        assert_eq!(stems("pastillas", Language::Spanish), stems("pastilla", Language::Spanish));
        assert_eq!(stems("sleeping badly", Language::English)[0], stems("sleeps", Language::English)[0]);
        assert_eq!(stems("the patient's mother", Language::English), stems("patient mother", Language::English));
    }

    #[test]
    fn stop_words_go_and_negation_stays() {
        assert_eq!(stems("La paciente no duerme", Language::Spanish)[1], "no");
        assert_eq!(stems("she is not sleeping", Language::English), ["not", "sleep"]);
        assert!(stems("y de la", Language::Spanish).is_empty());
    }

    #[test]
    fn an_unknown_language_is_detected() {
        assert_eq!(stems("tiene las pastillas", Language::Unknown), stems("tiene las pastillas", Language::Spanish));
    }

    #[test]
    fn numbers_and_doses_are_terms_as_they_stand() {
        assert_eq!(stems("50,5 mg c/8h", Language::Spanish), ["50,5", "mg", "c/8h"]);
    }
}

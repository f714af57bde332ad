//! The normal form of a value for comparisons, independent of its spelling.

use super::label;
use crate::word_tables::{self, WordList};

/// The value that surrogates compare: words of a name in alphabetical order without titles, letters and digits of
/// everything else.
pub(crate) fn normalized_value(label: &str, lower: &str) -> String {
    if label == label::PERSON {
        let mut words: Vec<&str> = lower
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty() && !is_no_part_of_a_name(word))
            .collect();
        // "García, Ana" and "Ana García" are one value.
        words.sort_unstable();
        return words.join(" ");
    }
    if label == label::PHONE {
        let digits: String = lower.chars().filter(char::is_ascii_digit).collect();
        // With and without a country code, a phone is the same value.
        return digits[digits.len().saturating_sub(9)..].to_owned();
    }
    lower.chars().filter(|c| c.is_alphanumeric() || matches!(c, '@' | '.')).collect()
}

/// Titles and particles: "Dr. de la Cruz" and "Cruz" are one value.
pub(crate) fn is_no_part_of_a_name(word: &str) -> bool {
    static WORDS: WordList = WordList::listed(word_tables::IDENTIFIERS, "value_normalization.is_no_part_of_a_name");
    WORDS.contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compared_without_what_only_their_writing_adds() {
        for (label, one, two) in [
            (label::PERSON, "dr. de la cruz, ana", "ana cruz"),
            (label::PHONE, "+34 612-345-678", "0034612345678"),
            (label::EMAIL, "ana@b.es", "ana@b.es"),
            (label::ADDRESS, "calle mayor, 5", "calle mayor 5"),
        ] {
            assert_eq!(normalized_value(label, one), normalized_value(label, two), "{label}");
        }
        assert_ne!(normalized_value(label::PHONE, "612345678"), normalized_value(label::PHONE, "712345678"));
        assert_ne!(normalized_value(label::PERSON, "ana cruz"), normalized_value(label::PERSON, "eva cruz"));
        assert_eq!(normalized_value(label::PHONE, "12"), "12");
        assert!(is_no_part_of_a_name("sra") && !is_no_part_of_a_name("sara"));
    }
}

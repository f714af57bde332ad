//! What a question asks about: its words without those that only ask.

use super::stems::is_stop_word;
use super::{Language, detect, fold};

/// Words that ask and find nothing, folded; besides those of [`super::stems`].
const ASKING: &[&str] = &[
    "what", "when", "where", "who", "whom", "whose", "which", "why", "how", "any", "there", "tell", "about", "can",
    "could", "would", "should", "many", "much", "ever", "just", "like", "very", "que", "cuando", "donde", "quien",
    "quienes", "cual", "cuales", "cuanto", "cuanta", "cuantos", "cuantas", "porque", "algun", "alguna", "algo",
    "sobre", "dime", "puede", "podria", "tiene",
];

/// Whether a word, folded and without signs, only asks.
pub fn only_asks(folded: &str) -> bool {
    ASKING.contains(&folded)
}

/// A question as a statement would have it, without its marks.
pub fn without_marks(question: &str) -> String {
    question.replace(['¿', '?'], " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The words of a question that say what it is about: without marks, words that ask, and words that tell nothing apart in its
/// language. The question itself where nothing would be left.
pub fn subject(question: &str) -> String {
    let bare = without_marks(question);
    let language = detect(&bare);
    let tells = |word: &&str| {
        let folded = fold(word);
        let word = folded.trim_matches(|c: char| !c.is_alphanumeric());
        let stops = match language {
            Language::Unknown => is_stop_word(word, Language::Spanish) || is_stop_word(word, Language::English),
            known => is_stop_word(word, known),
        };
        !only_asks(word) && !stops
    };
    let left: Vec<&str> = bare.split_whitespace().filter(tells).collect();
    if left.is_empty() { bare } else { left.join(" ") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_question_comes_to_what_it_is_about() {
        for (question, about) in [
            ("¿Cuándo dejó el local de Gamarra?", "dejó local Gamarra"),
            ("what happened to her father?", "happened father"),
            ("insomnia since", "insomnia since"),
            ("¿qué?", "qué"),
            ("no duerme sin pastillas", "no duerme sin pastillas"),
        ] {
            assert_eq!(subject(question), about);
        }
        assert_eq!(without_marks(" ¿Duerme  bien? ¿Sí?"), "Duerme bien Sí");
    }

    proptest! {
        #[test]
        fn nothing_is_added_and_what_was_said_leaves_something(text in "[a-zñ¿? ]{0,40}") {
            let (bare, about) = (without_marks(&text), subject(&text));
            prop_assert!(about.split(' ').all(|word| bare.split(' ').any(|known| known == word)));
            prop_assert_eq!(about.is_empty(), bare.is_empty());
        }
    }
}

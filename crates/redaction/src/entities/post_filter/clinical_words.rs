//! Words of diseases, symptoms, operations and measures: single words of the lists of extraction. They keep clinical
//! findings from being redacted as a person, a place or a number.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;
use std::sync::LazyLock;

use super::super::super::word_tables::WordHasher;
use super::super::cue_lists::{FUNCTION, PARTICLES};
use super::super::word_classes::{WordClasses, word_classes};
use super::super::{lexicon, place_lists as places};
use anamnesis_linear_model::hash;

/// The last column of each line holds phrases: `a | {b,c}d`.
const LISTS: [&str; 14] = [
    include_str!("../../../../extraction/src/lexicon/somatic.tsv"),
    include_str!("../../../../extraction/src/lexicon/mental.tsv"),
    include_str!("../../../../extraction/src/lexicon/mental_more.tsv"),
    include_str!("../../../../extraction/src/lexicon/general_more.tsv"),
    include_str!("../../../../extraction/src/lexicon/clinical_more.tsv"),
    include_str!("../../../../extraction/src/lexicon/procedures.tsv"),
    include_str!("../../../../extraction/src/lexicon/reactions.tsv"),
    include_str!("../../../../extraction/src/lexicon/clinical/bones_skin_senses.tsv"),
    include_str!("../../../../extraction/src/lexicon/clinical/digestive_and_kidney.tsv"),
    include_str!("../../../../extraction/src/lexicon/clinical/heart_and_lungs.tsv"),
    include_str!("../../../../extraction/src/lexicon/clinical/infection_cancer_blood.tsv"),
    include_str!("../../../../extraction/src/lexicon/clinical/mind.tsv"),
    include_str!("../../../../extraction/src/lexicon/clinical/nerves_and_hormones.tsv"),
    include_str!("../../../../extraction/src/lexicon/clinical/women_children_age.tsv"),
];
const MEASUREMENTS: &str = include_str!("../../../../extraction/src/lexicon/measurements.tsv");
/// Shortest disease, symptom or operation that one word identifies.
const LEAST: usize = 4;
/// Shortest name of a measure; a figure follows it.
const SHORT: usize = 3;
/// A line with more expanded phrases keeps its braces.
const MOST: usize = 512;

type WordHashes = HashSet<u64, BuildHasherDefault<WordHasher>>;

static WORDS: LazyLock<WordHashes> = LazyLock::new(|| {
    let lines = LISTS.iter().flat_map(|list| list.lines()).filter(|line| !line.starts_with('#'));
    let phrases = lines.filter_map(|line| line.rsplit('\t').next()).flat_map(|column| column.split(" | "));
    let words = phrases.flat_map(expand).filter(|word| word.len() >= LEAST && is_one_word(word) && !is_name(word));
    words.map(|word| hash::hash_bytes(word.as_bytes())).collect()
});

static MEASURES: LazyLock<WordHashes> = LazyLock::new(|| {
    let lines = MEASUREMENTS.lines().filter(|line| !line.starts_with('#'));
    let phrases = lines.filter_map(|line| line.rsplit('\t').next()).flat_map(|column| column.split(" | "));
    let words = phrases
        .flat_map(expand)
        .flat_map(|phrase| phrase.split(' ').filter(|word| is_one_word(word)).map(str::to_owned).collect::<Vec<_>>());
    let kept = words.filter(|word| word.len() >= SHORT && !is_name(word) && !is_of_grammar(word));
    kept.map(|word| hash::hash_bytes(word.as_bytes())).collect()
});

fn is_one_word(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Words that are part of a measure's name but measure nothing.
fn is_of_grammar(word: &str) -> bool {
    lexicon::is_ordinary(word)
        || FUNCTION.contains(word)
        || PARTICLES.contains(word)
        || word_classes(word).has(WordClasses::NUMBER)
        || matches!(word, "walk" | "minute" | "test" | "out" | "over" | "per" | "con" | "sin")
}

/// Names that are also clinical words are recognised by context instead.
fn is_name(word: &str) -> bool {
    lexicon::word(word).is_name() || places::is_place(word)
}

/// A disease, symptom or operation in one word that is no name of people or places.
pub(crate) fn is_word(lower: &str) -> bool {
    lower.len() >= LEAST && WORDS.contains(&hash::hash_bytes(lower.as_bytes()))
}

/// A word of a measure's name: "phq", "hto", "glucom".
pub(crate) fn is_measure(lower: &str) -> bool {
    MEASURES.contains(&hash::hash_bytes(lower.as_bytes()))
}

/// A phrase with its braces expanded: "{a,b}c" is "ac" and "bc".
pub(super) fn expand(phrase: &str) -> Vec<String> {
    let mut open = vec![phrase.to_owned()];
    let mut done = Vec::new();
    while let Some(next) = open.pop() {
        let Some((before, inside, after)) = innermost(&next) else {
            done.push(next);
            continue;
        };
        if open.len() + done.len() < MOST {
            open.extend(inside.split(',').map(|choice| format!("{before}{choice}{after}")));
        }
    }
    done.sort_unstable();
    done.dedup();
    done
}

fn innermost(phrase: &str) -> Option<(&str, &str, &str)> {
    let close = phrase.find('}')?;
    let open = phrase[..close].rfind('{')?;
    Some((&phrase[..open], &phrase[open + 1..close], &phrase[close + 1..]))
}

#[cfg(test)]
mod tests {
    use super::{expand, is_measure, is_word};

    #[test]
    fn words_of_the_extractors_lists_are_known_and_names_are_not() {
        for word in ["urticaria", "migraine", "gastritis", "appendectomy"] {
            assert!(is_word(word), "{word}");
        }
        for word in ["ggt", "hto", "hct"] {
            assert!(is_measure(word), "{word}");
        }
        for word in ["garcia", "molina", "london", "maria"] {
            assert!(!is_word(word) && !is_measure(word), "{word}");
        }
    }

    #[test]
    fn nested_braces_are_written_out() {
        assert_eq!(expand("{a,b{c,d}}e"), ["ae", "bce", "bde"]);
    }
}

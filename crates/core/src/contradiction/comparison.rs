//! Comparisons of two things by their words: "running helps me more than talking does". Two of them oppose each other
//! where the things change places ("talking helps me more than running"), or where the degree is reversed.

use std::collections::BTreeSet;

use super::vocabulary::{
    AMOUNT, CHANGES, FUNCTION_CUES, MOVING, NO_COMPARATIVE, NO_OPERAND, NO_SECOND_THING, PREFERRING, VALUE,
};
use crate::wording::{FoldedWord, denies};
use anamnesis_text::{Language, stems};

/// How many words before a joint its degree may come: "lleva peor los festivos que".
const DEGREE_REACH: usize = 6;
const CHANGE_REACH: usize = 8;
/// Words after a joint that may name the second thing.
const SECOND_REACH: usize = 7;

/// The compared things, and which of the two is ahead.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ComparativeClause {
    /// Stems before the joint: the first thing and the statement about both.
    before: BTreeSet<String>,
    /// Stems after it: the second thing.
    after: BTreeSet<String>,
    second: Vec<String>,
    measure: ComparisonMeasure,
    more: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum ComparisonMeasure {
    /// Better or worse, easier or harder, preferred.
    Value,
    Amount,
    /// Any other comparative: closer, louder.
    Named(String),
}

impl ComparativeClause {
    /// Every comparison of a text between two things that both are named: no time ("better than last year"), no number.
    pub(super) fn all(words: &[FoldedWord], language: Language) -> Vec<Self> {
        (1..words.len()).filter_map(|joint| Self::at(words, joint, language)).collect()
    }

    fn at(words: &[FoldedWord], joint: usize, language: Language) -> Option<Self> {
        let start = words[..joint].iter().rposition(ends_sentence).map_or(0, |sign| sign + 1);
        let (degree, measure, more) = degree(words, start, joint)?;
        let end = second_end(words, joint + 1);
        let after = content(&words[joint + 1..end], language);
        let is_time = words[joint + 1..end].iter().any(|word| word.is(NO_SECOND_THING) || starts_with_digit(word));
        let said = words[joint + 1..end].iter().filter(|word| names(word));
        let second = said.map(|word| word.folded.clone()).collect();
        let mut before = content(&words[start..joint], language);
        for stem in stems(&words[degree].folded, language) {
            before.remove(&stem);
        }
        let named = !before.is_empty() && !after.is_empty() && !is_time;
        named.then_some(Self { before, after, second, measure, more })
    }

    /// Whether both cannot hold: the things changed places, or the degree was reversed.
    pub(super) fn opposes(&self, other: &Self) -> bool {
        if self.measure != other.measure {
            return false;
        }
        // "Mi viejo" and "mi vieja" are two people of one stem.
        let genders = self.second.iter().any(|one| other.second.iter().any(|theirs| differ_in_gender(one, theirs)));
        let same_second = !genders && covers(&self.after, &other.after) && covers(&other.after, &self.after);
        let swapped = !same_second
            && (genders || self.after.is_disjoint(&other.after))
            && covers(&self.after, &other.before)
            && covers(&other.after, &self.before);
        if swapped {
            let (mine, theirs) = (&self.before - &other.after, &other.before - &self.after);
            let same_frame = mine.is_empty() || theirs.is_empty() || !mine.is_disjoint(&theirs);
            return same_frame && self.more == other.more;
        }
        same_second && !self.before.is_disjoint(&other.before) && self.more != other.more
    }
}

/// Whether a text compares with a time that moves on: "worse than last week".
pub(super) fn compares_with_time(words: &[FoldedWord]) -> bool {
    (1..words.len()).any(|joint| {
        let end = second_end(words, joint + 1);
        words[joint].is(&["than", "que", "q"])
            && degree(words, 0, joint).is_some()
            && words[joint + 1..end].iter().any(|word| word.is(MOVING))
    })
}

/// The word of degree of a joint, its measure, and whether the first thing is ahead.
fn degree(words: &[FoldedWord], start: usize, joint: usize) -> Option<(usize, ComparisonMeasure, bool)> {
    let word = &words[joint];
    let from = start.max(joint.saturating_sub(DEGREE_REACH));
    let near = || (from..joint).rev();
    let preferred = || near().find(|at| words[*at].is(PREFERRING)).map(|at| (at, ComparisonMeasure::Value, true));
    let before = &words[joint - 1];
    if word.is(&["to", "over", "a"]) {
        return preferred().filter(|(at, ..)| joint - at > 1);
    }
    if !word.is(&["than", "then", "que", "q", "k"]) || before.is(&["other", "rather", "otra", "otro"]) {
        return None;
    }
    let listed = |at: usize| {
        let of = |pair: &(&[&str], &[&str])| match (words[at].is(pair.0), words[at].is(pair.1)) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        let value = VALUE.iter().find_map(of).map(|more| (at, ComparisonMeasure::Value, more));
        value.or_else(|| AMOUNT.iter().find_map(of).map(|more| (at, ComparisonMeasure::Amount, more)))
    };
    let english = word.is(&["than", "then"]);
    let named = || {
        let at = near().find(|at| english && is_comparative(&words[*at]))?;
        Some((at, ComparisonMeasure::Named(words[at].folded.clone()), true))
    };
    // "Then" is "than" only right after its degree.
    let near_enough = |found: &(usize, ComparisonMeasure, bool)| !word.is(&["then"]) || joint - found.0 == 1;
    near().find_map(listed).or_else(named).or_else(preferred).filter(near_enough)
}

fn is_comparative(word: &FoldedWord) -> bool {
    word.folded.len() > 4 && word.folded.ends_with("er") && !word.is(NO_COMPARATIVE)
}

fn second_end(words: &[FoldedWord], from: usize) -> usize {
    let limit = words.len().min(from + SECOND_REACH);
    let stops = |word: &FoldedWord| {
        word.is_sign()
            || word.is(&[
                "per", "because", "porque", "if", "si", "when", "cuando", "but", "pero", "y", "and", "since", "does",
                "do", "did",
            ])
    };
    (from..limit).find(|at| stops(&words[*at])).unwrap_or(limit)
}

fn names(word: &FoldedWord) -> bool {
    let adverb = word.folded.len() > 5 && (word.folded.ends_with("ly") || word.folded.ends_with("mente"));
    !word.is_sign() && !adverb && !word.is(FUNCTION_CUES) && !word.is(NO_OPERAND) && !denies(&word.folded)
}

/// "Viejo" and "vieja", "hermano" and "hermana".
fn differ_in_gender(one: &str, other: &str) -> bool {
    let ends = |word: &str| word.strip_suffix('o').or_else(|| word.strip_suffix('a')).map(str::to_owned);
    one != other && one.len() == other.len() && ends(one).is_some_and(|root| ends(other) == Some(root))
}

fn content(words: &[FoldedWord], language: Language) -> BTreeSet<String> {
    words.iter().filter(|word| names(word)).flat_map(|word| stems(&word.folded, language)).collect()
}

/// Whether two of three stems of a thing are among others.
fn covers(thing: &BTreeSet<String>, among: &BTreeSet<String>) -> bool {
    let shared = thing.intersection(among).count();
    shared > 0 && shared * 3 >= thing.len() * 2
}

fn ends_sentence(word: &FoldedWord) -> bool {
    word.is_sign() && matches!(word.folded.as_str(), "." | ";" | "?" | "!" | "¿" | "¡")
}

fn starts_with_digit(word: &FoldedWord) -> bool {
    word.folded.starts_with(|c: char| c.is_ascii_digit())
}

/// "Worse since the switch to venlafaxine", "desde el cambio me siento mejor": the words next to the change, where the
/// text says how things are since then.
pub(super) fn since_a_change(words: &[FoldedWord], language: Language) -> Option<BTreeSet<String>> {
    let since = words.iter().position(|word| word.is(&["since", "desde"]))?;
    let behind = || words[since + 1..].iter().take(CHANGE_REACH).take_while(|word| !word.is_sign());
    let valued = words.iter().any(|word| VALUE.iter().any(|(one, other)| word.is(one) || word.is(other)));
    let named = |word: &&FoldedWord| {
        !word.is(CHANGES) && !word.is(FUNCTION_CUES) && !word.is(NO_SECOND_THING) && !word.is(NO_OPERAND)
    };
    (valued && behind().any(|word| word.is(CHANGES)))
        .then(|| behind().filter(named).flat_map(|word| stems(&word.folded, language)).collect())
}

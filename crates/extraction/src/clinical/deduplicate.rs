//! Of several names for one thing, one: the longest at a place, the more specific of a clause.

use super::NamedCondition;
use crate::tokenized::TokenizedText;

/// Words within which a general name and a more specific one mean the same.
const ONE_CLAUSE: usize = 15;
/// Words between two names of one thing ("TBI / concussion").
const CLOSE: usize = 3;

/// Names without overlap: the longest at each place, of equally long ones the first rule's.
pub(crate) fn longest(mut found: Vec<NamedCondition>) -> Vec<NamedCondition> {
    // Stable: at the same length the order of the rules decides.
    found.sort_by_key(|named| std::cmp::Reverse(named.words.len()));
    let mut out: Vec<NamedCondition> = Vec::with_capacity(found.len());
    for named in found {
        if !out.iter().any(|other| other.overlaps(&named)) {
            out.push(named);
        }
    }
    out.sort_by_key(|named| named.words.start);
    out
}

/// Leaves out general names next to a more specific name in the same sentence: "fracture" next to "wrist fracture", or
/// the second of two names with a stroke between them.
pub(crate) fn most_specific(reading: &TokenizedText<'_>, found: Vec<NamedCondition>) -> Vec<NamedCondition> {
    let covered = |named: &NamedCondition| {
        found.iter().any(|other| {
            let apart = other.words.start != named.words.start || other.words.end != named.words.end;
            let near = other.words.start.abs_diff(named.words.start) <= ONE_CLAUSE;
            apart && near && (is_more_specific(&other.name, &named.name) || is_second_name(reading, other, named))
        })
    };
    let keep: Vec<bool> = found.iter().map(|named| !covered(named)).collect();
    found.into_iter().zip(keep).filter(|(_, keep)| *keep).map(|(named, _)| named).collect()
}

/// Every word of one name is in the other, which has more.
fn is_more_specific(specific: &str, general: &str) -> bool {
    specific.len() > general.len()
        && general.split_whitespace().all(|word| specific.split_whitespace().any(|other| other == word))
}

/// "TBI / concussion": two names of one item that share the category of their codes.
fn is_second_name(reading: &TokenizedText<'_>, first: &NamedCondition, second: &NamedCondition) -> bool {
    let between = first.words.end..second.words.start;
    let category = |named: &NamedCondition| named.code.and_then(|code| code.get(..3));
    !between.is_empty()
        && between.len() <= CLOSE
        && category(first).is_some()
        && category(first) == category(second)
        && between.into_iter().all(|word| matches!(reading.word(word), "/" | "(" | "="))
}

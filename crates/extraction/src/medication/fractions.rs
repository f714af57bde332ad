//! Parts of a tablet: "media pastilla", "one and a half tablets", "2½ comprimidos", "dos comprimidos y medio", "half of her 50
//! mg".

use std::ops::Range;

use super::dose::{Dose, number_at};
use crate::tokenized::TokenizedText;

/// Half or a quarter.
fn part_at(reading: &TokenizedText<'_>, word: usize) -> Option<f64> {
    match reading.word(word) {
        "half" | "media" | "medio" | "1/2" | "½" | "mitad" => Some(0.5),
        "quarter" | "cuarto" | "1/4" | "¼" => Some(0.25),
        _ => None,
    }
}

/// The dose that begins at a word, where it names a part of a tablet, with or without whole ones before it.
pub(super) fn fraction<'a>(
    reading: &TokenizedText<'_>,
    word: usize,
    limit: usize,
    unit_at: impl Fn(usize) -> Option<(Range<usize>, &'a str)>,
) -> Option<Dose> {
    let is = |at: usize, list: &[&str]| list.contains(&reading.word(at));
    // "2½": one word, which reads as "21/2" without its sign.
    let glued =
        reading.words.get(word)?.source.slice(reading.text).strip_suffix('½').and_then(|n| n.parse::<f64>().ok());
    let whole = match (part_at(reading, word), glued) {
        (None, Some(count)) => Some((count + 0.5, word + 1)),
        (None, None) => {
            let (end, count) = number_at(reading, word, limit)?;
            let count = count.parse::<f64>().ok()?;
            let joined = if is(end, &["and", "y", "con"]) { end + 1 } else { end };
            let joined = if is(joined, &["a", "un", "una"]) { joined + 1 } else { joined };
            if let Some(part) = part_at(reading, joined) {
                Some((count + part, joined + 1))
            } else {
                // "Dos comprimidos y medio".
                let (at, unit) = unit_at(end)?;
                let part = is(at.end, &["y", "and"]).then(|| part_at(reading, at.end + 1)).flatten()?;
                let words = word..at.end + 2;
                return (words.end <= limit).then(|| dose(words, count + part, unit));
            }
        }
        (Some(part), _) => Some((part, word + 1)),
    };
    let (count, next) = whole?;
    let next = if is(next, &["a", "of", "an", "de"]) { next + 1 } else { next };
    let (at, unit) = unit_at(next).filter(|_| next < limit)?;
    Some(dose(word..at.end, count, unit))
}

fn dose(words: Range<usize>, count: f64, unit: &str) -> Dose {
    Dose { words, text: format!("{count} {unit}"), rank: 2 }
}

/// Whether a dose is a part of a tablet, or of more than one.
pub(super) fn is_part(dose: &Dose) -> bool {
    dose.rank == 2 && dose.text.split(' ').next().is_some_and(|count| count.contains('.'))
}

/// "Half of her 50 mg": the half before a strength halves it; `None` where there is none.
pub(super) fn halved(reading: &TokenizedText<'_>, from: usize, strength: &Dose) -> Option<String> {
    let small = |word: &str| {
        matches!(word, "of" | "de" | "del" | "la" | "el" | "her" | "his" | "my" | "the" | "a" | "su" | "mi")
    };
    let before = (from..strength.words.start).rev().find(|word| !small(reading.word(*word)))?;
    let linked = before + 1 < strength.words.start;
    let part = part_at(reading, before).filter(|_| linked)?;
    let (number, unit) = strength.text.split_once(' ')?;
    Some(format!("{} {unit}", number.parse::<f64>().ok()? * part))
}

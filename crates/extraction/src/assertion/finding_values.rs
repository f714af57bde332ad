//! A finding and its value, as notes and forms write them: "Convulsiones nunca", "asthma: Y", "fever (-)", "DM neg",
//! "(+) headache". The value belongs to the finding right before its sign; a plus or minus in brackets may come first.

use std::ops::Range;

use super::CueScope;
use super::bare_lists::FindingAt;
use super::cues::{CueCategory, CueHit, Cues};
use crate::tokenized::TokenizedText;

/// Words of a label before its finding: "antecedentes de asma: no".
const BEFORE: usize = 3;
/// Words of a label.
const LONGEST: usize = 8;

/// The meaning of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValuePolarity {
    Yes,
    No,
}

/// A value found: its words and its meaning.
struct FindingValue {
    words: Range<usize>,
    says: ValuePolarity,
    /// In brackets, so that it may come before its label.
    sign: bool,
}

/// The effect of values on the findings before them: denials, and affirmed stretches.
#[derive(Default)]
pub(super) struct ValuedFindings {
    pub(crate) denied: Vec<CueScope>,
    pub(crate) stated: Vec<Range<usize>>,
}

pub(super) fn find(
    reading: &TokenizedText<'_>,
    words: &Range<usize>,
    hits: &[CueHit],
    cues: &Cues,
    finding: &FindingAt<'_>,
) -> ValuedFindings {
    let mut out = ValuedFindings::default();
    let mut from = words.start;
    let mut word = words.start;
    while word < words.end {
        let Some(value) = value_at(reading, word, words) else {
            word += 1;
            continue;
        };
        word = value.words.end;
        // "Insomnia, no SI": a "no" after a comma denies the words that follow it.
        let after_comma = value.words.start > words.start && reading.word(value.words.start - 1) == ",";
        let open = value.words.end < words.end && !reading.words[value.words.end].punctuation;
        let ends = ends_item(reading, value.words.end, words.end, hits, cues) && !(after_comma && open);
        let label = label_before(reading, from, value.words.start, finding).filter(|_| ends || value.sign);
        let label = label.or_else(|| label_after(&value, words.end, finding));
        let Some(label) = label else { continue };
        from = value.words.end.max(label.end);
        match value.says {
            ValuePolarity::No => {
                out.denied.push(CueScope { category: CueCategory::Negated, words: label, cue: value.words })
            }
            ValuePolarity::Yes => out.stated.push(label),
        }
    }
    out
}

/// The words of the label that ends right before a value, a sign between them left out.
fn label_before(
    reading: &TokenizedText<'_>,
    from: usize,
    value: usize,
    finding: &FindingAt<'_>,
) -> Option<Range<usize>> {
    let sign = value.checked_sub(1).filter(|sign| {
        *sign >= from && matches!(reading.word(*sign), ":" | "-" | "–" | "—" | "=" | "(" | "," | "→" | "|")
    });
    let end = sign.unwrap_or(value);
    let tested = end.checked_sub(1).filter(|test| *test > from && is_test(reading.word(*test)));
    let end = tested.map_or(end, |test| {
        let dash = matches!(reading.word(test - 1), "-" | "–" | "—" | ":" | ",");
        test - usize::from(dash)
    });
    let lowest = from.max(end.saturating_sub(LONGEST));
    let start = (lowest..end)
        .rev()
        .find(|word| matches!(reading.word(*word), "," | ";" | "." | "|" | ":" | "pero" | "but" | "?"))
        .map_or(lowest, |word| word + 1);
    let whole = (start..end.min(start + BEFORE + 1)).find(|word| finding(*word) == Some(end));
    whole.map(|first| with_others(reading, from, value, first..end, finding))
}

/// "Covid/flu neg", "VIH y sífilis negativos": a stroke, or a value in the plural, covers the findings before.
fn with_others(
    reading: &TokenizedText<'_>,
    from: usize,
    value: usize,
    mut label: Range<usize>,
    finding: &FindingAt<'_>,
) -> Range<usize> {
    let plural = reading.word(value).starts_with("nega") && reading.word(value).ends_with('s');
    while let Some(sign) = label.start.checked_sub(1).filter(|sign| *sign > from) {
        let joined = match reading.word(sign) {
            "/" => true,
            "," | "y" | "e" | "and" | "ni" => plural,
            _ => false,
        };
        let lowest = from.max(sign.saturating_sub(BEFORE));
        let Some(first) = (lowest..sign).find(|word| joined && finding(*word) == Some(sign)) else { break };
        label.start = first;
    }
    label
}

/// "HIV test neg", "TB – quantiferon neg": the test that excluded a finding comes before its value.
fn is_test(word: &str) -> bool {
    let english = matches!(
        word,
        "test"
            | "tests"
            | "screen"
            | "screening"
            | "serology"
            | "swab"
            | "antibodies"
            | "quantiferon"
            | "spirometry"
            | "igra"
    );
    english
        || matches!(
            word,
            "prueba"
                | "pruebas"
                | "test"
                | "serologia"
                | "anticuerpos"
                | "elisa"
                | "pcr"
                | "hisopado"
                | "tamizaje"
                | "cribado"
                | "ppd"
        )
}

/// "(-) fever": the finding right after a sign in brackets.
fn label_after(value: &FindingValue, limit: usize, finding: &FindingAt<'_>) -> Option<Range<usize>> {
    let end = finding(value.words.end).filter(|end| value.sign && *end <= limit)?;
    Some(value.words.end..end)
}

/// The item ends: a sign, a new clause, or the next label with a capital.
fn ends_item(reading: &TokenizedText<'_>, next: usize, limit: usize, hits: &[CueHit], cues: &Cues) -> bool {
    if next >= limit {
        return true;
    }
    let text = reading.word(next);
    let category = hits.iter().find(|hit| hit.words.start == next).map(|hit| cues.get(hit).category);
    let capital = reading.words[next].source.slice(reading.text).starts_with(char::is_uppercase);
    matches!(
        text,
        "," | "." | ";" | ")" | "|" | "/" | "ni" | "y" | "and" | "e" | "desde" | "since" | "(" | "-" | "–" | "no"
    ) || category == Some(CueCategory::End)
        || capital
        || text == "["
        || text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn value_at(reading: &TokenizedText<'_>, word: usize, within: &Range<usize>) -> Option<FindingValue> {
    let at = |offset: usize| if word + offset < within.end { reading.word(word + offset) } else { "" };
    let found =
        |length: usize, says: ValuePolarity, sign: bool| Some(FindingValue { words: word..word + length, says, sign });
    if at(0) == "(" && at(2) == ")" {
        return match at(1) {
            "-" | "–" | "−" | "no" | "neg" | "negativo" | "negative" | "n" => found(3, ValuePolarity::No, true),
            "+" | "si" | "yes" | "pos" | "positivo" | "positive" | "y" => found(3, ValuePolarity::Yes, true),
            _ => None,
        };
    }
    // "HIV (neg 2/26)", "bipolar (once, ruled out)": the value with what else its bracket holds.
    if at(0) == "(" && matches!(at(1), "neg" | "negative" | "negativo" | "negativa") {
        let close = (2..LONGEST).find(|offset| at(*offset) == ")");
        return close.and_then(|close| found(close + 1, ValuePolarity::No, false));
    }
    let first = word == within.start;
    let before = word.checked_sub(1).map_or("", |before| reading.word(before));
    let source = reading.words[word].source;
    let glued = !first && reading.words[word - 1].source.end == source.start;
    // "HTN-, asthma+": a sign that is attached to its word and separates nothing.
    let hangs = glued && matches!(at(1), "" | "," | ";" | "." | ")" | "/");
    match at(0) {
        "-" | "–" | "−" if hangs => return found(1, ValuePolarity::No, false),
        "+" if hangs => return found(1, ValuePolarity::Yes, false),
        _ => {}
    }
    if first || glued {
        return None;
    }
    let signed = matches!(before, ":" | "-" | "–" | "—" | "=" | "→" | "|");
    let pair = matches!((at(0), at(1)), ("no", "hay" | "refiere" | "tiene" | "presenta" | "consta"));
    if pair && (signed || matches!(at(2), "" | "," | ";" | ".")) {
        return found(2, ValuePolarity::No, false);
    }
    match at(0) {
        "no" | "neg" | "negativo" | "negativa" | "negativos" | "negativas" | "negado" | "negada" | "negados"
        | "negadas" | "niega" | "niegan" | "negative" | "never" | "none" | "nunca" | "jamas" | "denied" | "denies"
        | "absent" | "ausente" | "ausentes" | "ninguno" | "ninguna" | "nope" | "nah" => {
            found(1, ValuePolarity::No, false)
        }
        // "Asthma – nil ICU" denies the intensive care.
        "nil" if matches!(at(1), "" | "," | ";" | "." | ")" | "|" | "/") => found(1, ValuePolarity::No, false),
        "tampoco" if !signed => found(1, ValuePolarity::No, false),
        "n" | "ø" | "0" if signed => found(1, ValuePolarity::No, false),
        "y" | "s" if signed => found(1, ValuePolarity::Yes, false),
        "yes" | "positive" | "positivo" | "positiva" | "yep" | "yeah" => found(1, ValuePolarity::Yes, false),
        "si" if signed || source.slice(reading.text).contains(['í', 'Í']) || at(1).is_empty() || at(1) == "." => {
            found(1, ValuePolarity::Yes, false)
        }
        _ => None,
    }
}

//! Where the clause of a goal, a preference or a relationship ends, and the items of a list.

use std::ops::Range;

use crate::analysis::AnalyzedDocument;

/// Words that a clause may be long.
const LONGEST: usize = 16;

/// The end of a clause from a word on: a sign that parts clauses, or a word that begins another.
pub(crate) fn clause(doc: &AnalyzedDocument<'_>, from: usize, limit: usize) -> usize {
    let limit = limit.min(from + LONGEST);
    (from..limit).find(|word| stops(doc, *word)).unwrap_or(limit)
}

fn stops(doc: &AnalyzedDocument<'_>, word: usize) -> bool {
    matches!(
        doc.reading.word(word),
        "." | ";" | ":" | "?" | "!" | "(" | "pero" | "but" | "porque" | "because" | "aunque" | "although" | "however"
    )
}

/// The items of a line under a title: separated by full stops, semicolons and line ends, not by commas.
pub(crate) fn items(doc: &AnalyzedDocument<'_>, words: Range<usize>) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut start = words.start;
    for word in words.clone() {
        if matches!(doc.reading.word(word), ";" | "." | "/" | "•") {
            out.push(start..word);
            start = word + 1;
        }
    }
    out.push(start..words.end);
    out.retain(|item| !item.is_empty());
    out.into_iter().map(|item| item.start..item.end.min(item.start + LONGEST + 8)).collect()
}

//! Tables of a form whose first line names the answers ("now | past | never", "SI NO"): a mark in a row gives the
//! answer above it.

use std::ops::Range;

use super::super::tokenized::TokenizedText;
use super::checkboxes::{BoxMark, CheckboxAnswer, FormBox, box_at};

/// The answers of the columns of a table, each with where it begins in its line.
type AnswerColumns = Vec<(BoxMark, usize)>;

/// Words of a label before its marks.
const LONGEST_LABEL: usize = 10;

/// The answer of a row to its label, where the sentence is a row of the open table.
pub(super) fn row(
    reading: &TokenizedText<'_>,
    sentence: usize,
    open: &mut Option<AnswerColumns>,
) -> Option<CheckboxAnswer> {
    let words = reading.sentences[sentence].words.clone();
    if let Some(columns) = header(reading, &words) {
        *open = Some(columns);
        return None;
    }
    let columns = open.as_ref()?;
    let marks = marks(reading, &words);
    let Some((first, ticked)) = marks.first().map(|one| one.words.start).zip(chosen(reading, &words, &marks, columns))
    else {
        // A blank row or a text ends the table.
        if marks.is_empty() && !reading.word(words.end.saturating_sub(1)).starts_with('|') {
            *open = None;
        }
        return None;
    };
    let end = (words.start..first).find(|word| reading.word(*word) == "|").unwrap_or(first);
    let label = words.start..end;
    (!label.is_empty() && label.len() <= LONGEST_LABEL).then(|| CheckboxAnswer {
        mark: ticked,
        label,
        cue: first..first + 1,
    })
}

/// The columns that a line names: at least two answers, one after the other, at its end.
fn header(reading: &TokenizedText<'_>, words: &Range<usize>) -> Option<AnswerColumns> {
    let mut columns: AnswerColumns = Vec::new();
    for word in words.clone().rev() {
        match (column(reading.word(word)), reading.word(word)) {
            (Some(mark), _) => columns.push((mark, place(reading, words, word))),
            (None, "|" | "/") => {}
            (None, _) => break,
        }
    }
    columns.reverse();
    let different = columns.windows(2).any(|pair| pair[0].0 != pair[1].0);
    let boxed = words.clone().any(|word| box_at(reading, word, words.end).is_some());
    (columns.len() >= 2 && different && !boxed).then_some(columns)
}

fn column(word: &str) -> Option<BoxMark> {
    match word {
        "yes" | "si" | "now" | "current" | "currently" | "present" | "actual" | "ahora" | "actualmente" => {
            Some(BoxMark::Yes)
        }
        "no" | "never" | "nunca" => Some(BoxMark::No),
        "past" | "before" | "previous" | "pasado" | "antes" | "previo" => Some(BoxMark::Past),
        _ => None,
    }
}

/// Where a word begins in its line, in characters.
fn place(reading: &TokenizedText<'_>, words: &Range<usize>, word: usize) -> usize {
    let (start, at) = (reading.words[words.start].source.start, reading.words[word].source.start);
    reading.text.get(start..at).map_or(0, |before| before.chars().count())
}

/// The boxes of a row, or the separate crosses.
fn marks(reading: &TokenizedText<'_>, words: &Range<usize>) -> Vec<FormBox> {
    let mut out = Vec::new();
    let mut word = words.start;
    while word < words.end {
        let found = box_at(reading, word, words.end).or_else(|| {
            let alone = matches!(reading.word(word), "x" | "✓" | "✔") && word > words.start;
            alone.then(|| FormBox::marked(word..word + 1))
        });
        word = found.as_ref().map_or(word + 1, |found| found.words.end);
        out.extend(found);
    }
    out
}

/// The answer whose column is marked.
fn chosen(
    reading: &TokenizedText<'_>,
    words: &Range<usize>,
    marks: &[FormBox],
    columns: &AnswerColumns,
) -> Option<BoxMark> {
    let marked = marks.iter().position(|one| one.marked);
    if marks.len() == columns.len() {
        return Some(marked.map_or(BoxMark::Empty, |at| columns[at].0));
    }
    let mark = marks.get(marked?).filter(|_| marks.len() == 1)?;
    let cells = (words.start..mark.words.start).filter(|word| reading.word(*word) == "|").count();
    if cells > 0 {
        return columns.get(cells - 1).map(|column| column.0);
    }
    let at = place(reading, words, mark.words.start);
    columns.iter().min_by_key(|column| column.1.abs_diff(at)).map(|column| column.0)
}

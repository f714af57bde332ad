//! Boxes of forms. A box belongs to the label on the side on which its line puts boxes: after it where the line begins with
//! words, before it where the line begins with a box. A pair of boxes for yes and no answers the words before the pair.

use std::ops::Range;

use super::super::reading::Reading;
use super::columns;

/// What a box says of its label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Not marked: nothing is said.
    Empty,
    /// Marked: the label holds.
    Yes,
    /// The box for "no" is marked.
    No,
    /// The column for what is past is marked.
    Past,
}

/// The words that a box speaks of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticked {
    pub mark: Mark,
    pub label: Range<usize>,
    pub cue: Range<usize>,
}

/// A box at its words.
pub(super) struct FormBox {
    pub words: Range<usize>,
    pub marked: bool,
    /// It holds a no: "[N]", or a cross where others are ticked.
    denies: bool,
}

impl FormBox {
    pub fn marked(words: Range<usize>) -> Self {
        Self { words, marked: true, denies: false }
    }
}

/// What the boxes of each sentence speak of, by the sentence of the label.
pub fn of_all(reading: &Reading<'_>) -> Vec<Vec<Ticked>> {
    let mut out = vec![Vec::new(); reading.sentences.len()];
    let mut table = None;
    for index in 0..reading.sentences.len() {
        if let Some(ticked) = columns::row(reading, index, &mut table) {
            out[index].push(ticked);
            continue;
        }
        for mut ticked in of(reading, index) {
            // "Past attempt? [x] Yes": the question before the boxes is their label.
            let question =
                index.checked_sub(1).filter(|before| ticked.label.is_empty() && reading.sentences[*before].question);
            let place = question.unwrap_or(index);
            if question.is_some() {
                ticked.label = reading.sentences[place].words.clone();
            }
            out[place].push(ticked);
        }
    }
    out
}

/// The boxes of one sentence; a pair that begins it has an empty label.
fn of(reading: &Reading<'_>, sentence: usize) -> Vec<Ticked> {
    let words = reading.sentences[sentence].words.clone();
    let mut boxes = Vec::new();
    let mut word = words.start;
    while word < words.end {
        match box_at(reading, word, words.end) {
            Some(found) => {
                word = found.words.end;
                boxes.push(found);
            }
            None => word += 1,
        }
    }
    if boxes.is_empty() {
        return Vec::new();
    }
    let bullet = |word: usize| matches!(reading.word(word), "-" | "*" | "•" | "·");
    let first_word = words.clone().find(|word| !bullet(*word)).unwrap_or(words.start);
    let before = boxes[0].words.start > first_word;
    let ticked = boxes.iter().any(|one| matches!(reading.word(one.words.start), "✓" | "✔" | "✅" | "☑"));
    let mut out = Vec::new();
    let mut from = first_word;
    let mut at = 0;
    while at < boxes.len() {
        let label_after = boxes[at].words.end..boxes.get(at + 1).map_or(words.end, |next| next.words.start);
        if let Some(pair) = Pair::at(reading, &boxes, at, from, words.end) {
            out.push(pair.says(from));
            from = pair.end;
            at += pair.boxes;
            continue;
        }
        let here = &boxes[at];
        let label = if before { from..here.words.start } else { label_after };
        from = here.words.end;
        at += 1;
        let mark = match (here.marked, here.denies && (ticked || reading.word(here.words.start) == "[")) {
            (false, _) => Mark::Empty,
            (true, true) => Mark::No,
            (true, false) => Mark::Yes,
        };
        out.push(Ticked { mark, label, cue: here.words.clone() });
    }
    out
}

/// "Past attempt? [x] Yes [ ] No", "Fiebre: Sí [ ] No [x]": two boxes, one of them for "no".
struct Pair {
    mark: Mark,
    cue: Range<usize>,
    label_end: usize,
    end: usize,
    boxes: usize,
}

impl Pair {
    fn at(reading: &Reading<'_>, boxes: &[FormBox], at: usize, from: usize, limit: usize) -> Option<Self> {
        let first = &boxes[at];
        let side = |place: &FormBox| {
            let after = answer(reading.word(place.words.end));
            let before = place
                .words
                .start
                .checked_sub(1)
                .filter(|word| *word >= from)
                .and_then(|word| answer(reading.word(word)));
            (before, after)
        };
        // The box stands before its word ("[x] Yes") or after it ("Yes [x]"), alike for both.
        let (word_before, word_after) = side(first);
        let (yes, boxes_before) = match (word_before, word_after) {
            (Some(yes), None) => (yes, false),
            (None, Some(yes)) => (yes, true),
            (Some(yes), Some(_)) => (yes, false),
            (None, None) => return None,
        };
        let label_end = if boxes_before { first.words.start } else { first.words.start - 1 };
        let second = boxes.get(at + 1).filter(|second| {
            let (before, after) = side(second);
            let other = if boxes_before { after } else { before };
            other == Some(!yes) && second.words.start <= first.words.end + 4
        });
        let answered = [Some((first, yes)), second.map(|second| (second, !yes))];
        let marked = answered.iter().flatten().find(|(place, _)| place.marked);
        let mark = match marked {
            Some((_, true)) => Mark::Yes,
            Some((_, false)) => Mark::No,
            None => Mark::Empty,
        };
        let last = second.unwrap_or(first);
        let end = if boxes_before { (last.words.end + 1).min(limit) } else { last.words.end };
        // A lone "No" after a box that heads its line is the label of a list, not an answer to nothing.
        (label_end > from || second.is_some()).then(|| Self {
            mark,
            cue: first.words.clone(),
            label_end,
            end,
            boxes: 1 + usize::from(second.is_some()),
        })
    }

    fn says(&self, from: usize) -> Ticked {
        Ticked { mark: self.mark, label: from..self.label_end.max(from), cue: self.cue.clone() }
    }
}

fn answer(word: &str) -> Option<bool> {
    match word {
        "yes" | "si" | "y" | "s" => Some(true),
        "no" | "n" => Some(false),
        _ => None,
    }
}

/// A box at a word: a sign of its own, brackets that are empty or hold a mark, or an underscored gap with or without one.
pub(super) fn box_at(reading: &Reading<'_>, word: usize, limit: usize) -> Option<FormBox> {
    let at = |offset: usize| if word + offset < limit { reading.word(word + offset) } else { "" };
    let cross = matches!(at(0), "✗" | "✘" | "❌");
    let denies = cross || at(0) == "[" && at(1) == "n" && at(2) == "]";
    let (length, marked) = match (at(0), at(1), at(2)) {
        ("[", "y" | "n" | "s" | "si" | "yes" | "no", "]") => (3, true),
        ("❌", ..) => (1, true),
        ("☐" | "□" | "▢" | "◻" | "⬜" | "○" | "❏" | "❑", ..) => (1, false),
        ("☑" | "☒" | "✓" | "✔" | "✅" | "■" | "●" | "✗" | "✘", ..) => (1, true),
        ("[", "]", _) | ("(", ")", _) => (2, false),
        ("[" | "(", "_", "]" | ")") => (3, false),
        ("[" | "(", "x" | "✓" | "✔" | "*" | "✗", "]" | ")") => (3, true),
        (text, ..) if text.starts_with('_') || text.ends_with('_') => match text.trim_matches('_') {
            "" if text.len() > 1 => (1, false),
            "x" => (1, true),
            _ => return None,
        },
        _ => return None,
    };
    Some(FormBox { words: word..word + length, marked, denies })
}

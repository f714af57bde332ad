//! Boxes of forms. A box belongs to the label on the side on which its line puts boxes: after it where the line begins with
//! words, before it where the line begins with a box. A pair of boxes for yes and no answers the words before the pair.

use std::ops::Range;

use super::super::tokenized::TokenizedText;
use super::answer_columns;

/// Words of the label of a printed choice.
const LONGEST_LABEL: usize = 3;

/// The answer of a box to its label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BoxMark {
    /// Not marked: nothing is said.
    Empty,
    /// Marked: the label holds.
    Yes,
    /// The box for "no" is marked.
    No,
    /// The column for the past is marked.
    Past,
}

/// The words that a box speaks of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CheckboxAnswer {
    pub(crate) mark: BoxMark,
    pub(crate) label: Range<usize>,
    pub(crate) cue: Range<usize>,
}

/// A box at its words.
pub(super) struct FormBox {
    pub(crate) words: Range<usize>,
    pub(crate) marked: bool,
    /// It holds a no: "[N]", or a cross where others are ticked.
    denies: bool,
}

impl FormBox {
    pub(crate) fn marked(words: Range<usize>) -> Self {
        Self { words, marked: true, denies: false }
    }
}

/// The boxes of each sentence, by the sentence of the label.
pub(crate) fn of_all(reading: &TokenizedText<'_>) -> Vec<Vec<CheckboxAnswer>> {
    let mut out = vec![Vec::new(); reading.sentences.len()];
    let mut table = None;
    for index in 0..reading.sentences.len() {
        if let Some(ticked) = answer_columns::row(reading, index, &mut table) {
            out[index].push(ticked);
            continue;
        }
        for mut ticked in find_in_sentence(reading, index) {
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
fn find_in_sentence(reading: &TokenizedText<'_>, sentence: usize) -> Vec<CheckboxAnswer> {
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
        return chosen(reading, &words);
    }
    let first_word = after_bullet(reading, &words);
    let mut out = Vec::new();
    let mut from = first_word;
    let mut rest = boxes.as_slice();
    while !rest.is_empty() {
        let next = (1..rest.len()).find_map(|at| field(reading, &rest[at - 1], &rest[at]).map(|start| (at, start)));
        let (count, limit) = next.unwrap_or((rest.len(), words.end));
        out.extend(of_field(reading, &rest[..count], from..limit));
        (from, rest) = (limit, &rest[count..]);
    }
    out
}

/// "Asthma Y/N: N    Epilepsy Y/N: Y": a choice in print after a few words, and the answer that ends its field.
fn chosen(reading: &TokenizedText<'_>, words: &Range<usize>) -> Vec<CheckboxAnswer> {
    let mut out = Vec::new();
    for word in words.clone() {
        let apart = answer(reading.word(word)) == Some(true)
            && reading.word(word + 1) == "/"
            && answer(reading.word(word + 2)) == Some(false);
        let after = match reading.word(word) {
            "y/n" | "s/n" | "yes/no" | "si/no" => word + 1,
            _ if apart => word + 3,
            _ => continue,
        };
        let said = after + usize::from(reading.word(after) == ":");
        let wide = |at: usize| reading.words[at].source.start - reading.words[at - 1].source.end >= 2;
        let ends = said + 1 >= words.end || reading.words[said + 1].punctuation || wide(said + 1);
        let opens = |at: &usize| *at == words.start || reading.words[*at - 1].punctuation || wide(*at);
        let label = (words.start..word).rev().take(LONGEST_LABEL).find(opens);
        if let (Some(from), Some(yes), true) = (label, answer(reading.word(said)), said < words.end && ends) {
            let mark = if yes { BoxMark::Yes } else { BoxMark::No };
            out.push(CheckboxAnswer { mark, label: from..word, cue: said..said + 1 });
        }
    }
    out
}

/// A line to write on after "other:": it marks nothing.
fn is_blank(reading: &TokenizedText<'_>, word: usize) -> bool {
    let other = |at: usize| {
        matches!(
            reading.word(at),
            "other" | "others" | "otro" | "otra" | "otros" | "otras" | "specify" | "especifique" | "cual"
        )
    };
    word > 1 && reading.word(word - 1) == ":" && other(word - 2)
}

/// "Cocaine: [x] never": one box, and nothing but this after it.
fn never(reading: &TokenizedText<'_>, boxes: &[FormBox], words: &Range<usize>) -> Option<CheckboxAnswer> {
    let [one] = boxes else { return None };
    let said = one.marked && one.words.end + 1 == words.end && matches!(reading.word(one.words.end), "never" | "nunca");
    let label = words.start..one.words.start;
    (said && !label.is_empty()).then(|| CheckboxAnswer { mark: BoxMark::No, label, cue: one.words.clone() })
}

/// The first word of a line after its bullet and number: "3) [ ] binges".
fn after_bullet(reading: &TokenizedText<'_>, words: &Range<usize>) -> usize {
    let bullet = |word: &usize| matches!(reading.word(*word), "-" | "*" | "•" | "·");
    let first = words.clone().find(|word| !bullet(word)).unwrap_or(words.start);
    let number = reading.word(first).bytes().all(|byte| byte.is_ascii_digit()) && !reading.word(first).is_empty();
    let numbered = number && matches!(reading.word(first + 1), ")" | "." | "-") && first + 2 < words.end;
    let boxed = numbered && box_at(reading, first + 2, words.end).is_some();
    if boxed { first + 2 } else { first }
}

/// Where another field begins between two boxes of a line: "… [ ] weekly     Tobacco: [x] no".
fn field(reading: &TokenizedText<'_>, last: &FormBox, next: &FormBox) -> Option<usize> {
    let between = last.words.end..next.words.start;
    if between.len() < 2 || reading.word(between.end - 1) != ":" {
        return None;
    }
    let wide = |word: &usize| {
        let gap = reading.words[*word - 1].source.end..reading.words[*word].source.start;
        gap.len() >= 2
    };
    between.clone().rev().skip(1).find(|word| *word > between.start && wide(word))
}

/// The boxes of one field of a line.
fn of_field(reading: &TokenizedText<'_>, boxes: &[FormBox], words: Range<usize>) -> Vec<CheckboxAnswer> {
    let first_word = words.start;
    let whole = scaled(reading, boxes, first_word, words.end).or_else(|| never(reading, boxes, &words));
    if let Some(ticked) = whole {
        return vec![ticked];
    }
    let before = match spaced(reading, boxes, words.end) {
        Some(before) => before,
        None => boxes[0].words.start > first_word && !is_title(reading, boxes, &words),
    };
    let ticked = boxes.iter().any(|one| matches!(reading.word(one.words.start), "✓" | "✔" | "✅" | "☑"));
    let titled = !before && boxes[0].words.start > first_word && is_title(reading, boxes, &words);
    let mut out = Vec::new();
    let mut from = if titled { boxes[0].words.start } else { first_word };
    let mut at = 0;
    while at < boxes.len() {
        let label_after = boxes[at].words.end..boxes.get(at + 1).map_or(words.end, |next| next.words.start);
        if let Some(pair) = YesNoPair::at(reading, boxes, at, from, words.end) {
            out.push(pair.says(from));
            from = pair.end;
            at += pair.boxes;
            continue;
        }
        let here = &boxes[at];
        let aside = remark(reading, here.words.end, label_after.end);
        let said = if before { here.words.end..aside } else { label_after.clone() };
        let label = if before { from..here.words.start } else { label_after };
        from = if before { aside } else { here.words.end };
        at += 1;
        let mark = match (here.marked, here.denies && (ticked || reading.word(here.words.start) == "[")) {
            // "☐ HIV (neg 2/26)", "Bipolar ☐ (ruled out)": words deny the label of the empty box.
            (false, _) if denied_in_words(reading, said) => BoxMark::No,
            (false, _) => BoxMark::Empty,
            (true, true) => BoxMark::No,
            (true, false) => BoxMark::Yes,
        };
        out.push(CheckboxAnswer { mark, label, cue: here.words.clone() });
    }
    out
}

/// "Medical: ☐ diabetes ☑ migraine": a title before boxes that come before their labels.
fn is_title(reading: &TokenizedText<'_>, boxes: &[FormBox], words: &Range<usize>) -> bool {
    let (Some(first), Some(last)) = (boxes.first(), boxes.last()) else { return false };
    let colon = first.words.start > words.start && reading.word(first.words.start - 1) == ":";
    let answers = boxes.iter().any(|one| answer(reading.word(one.words.end)).is_some());
    let colons = (first.words.end..last.words.start).any(|word| reading.word(word) == ":");
    let labelled = boxes.len() > 1 && last.words.end < words.end && !reading.words[last.words.end].punctuation;
    colon && labelled && !answers && !colons
}

/// Whether the boxes of a line come after their labels, by the gaps: a label is one space from its box, the next item
/// further away. `None` where the gaps say nothing.
fn spaced(reading: &TokenizedText<'_>, boxes: &[FormBox], limit: usize) -> Option<bool> {
    if boxes.len() < 2 {
        return None;
    }
    let gap = |word: usize| {
        let left = word.checked_sub(1).map(|left| reading.words[left].source.end);
        let right = reading.words.get(word).filter(|_| word < limit).map(|right| right.source.start);
        left.zip(right).map(|(left, right)| right.saturating_sub(left))
    };
    let wide = |gap: Option<usize>| gap.is_some_and(|gap| gap >= 2);
    let close = |gap: Option<usize>| gap.is_some_and(|gap| gap <= 1);
    let inner = &boxes[1..];
    let after = boxes.iter().all(|one| close(gap(one.words.end))) && inner.iter().all(|one| wide(gap(one.words.start)));
    let before = boxes.iter().all(|one| close(gap(one.words.start)))
        && boxes[..boxes.len() - 1].iter().all(|one| wide(gap(one.words.end)) || reading.word(one.words.end) == "(");
    match (before, after) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => None,
    }
}

/// Where a remark in brackets ends that begins at a word; the word itself where none does.
fn remark(reading: &TokenizedText<'_>, word: usize, limit: usize) -> usize {
    if reading.word(word) != "(" || word >= limit {
        return word;
    }
    (word..limit).find(|word| reading.word(*word) == ")").map_or(word, |close| close + 1)
}

fn denied_in_words(reading: &TokenizedText<'_>, mut words: Range<usize>) -> bool {
    words.any(|word| {
        let said = reading.word(word);
        matches!(said, "neg" | "negative" | "no" | "never" | "nunca" | "excluded" | "ruled")
            || said.starts_with("negativ")
            || said.starts_with("descartad")
    })
}

/// "Little interest  [ ] not at all  [x] several days": the boxes say how often; whatever is marked but the first holds.
fn scaled(reading: &TokenizedText<'_>, boxes: &[FormBox], from: usize, limit: usize) -> Option<CheckboxAnswer> {
    let first = boxes.first().filter(|first| first.words.start > from)?;
    let says = |at: usize, words: &[&str]| (0..words.len()).all(|n| reading.word(at + n) == words[n]);
    let least: [&[&str]; 7] =
        [&["not", "at", "all"], &["never"], &["ningun", "dia"], &["nunca"], &["para", "nada"], &["nada"], &["none"]];
    let scale = boxes.len() >= 3 && first.words.end < limit && least.iter().any(|words| says(first.words.end, words));
    let marked = boxes.iter().position(|one| one.marked).filter(|_| scale)?;
    let mark = if marked == 0 { BoxMark::No } else { BoxMark::Yes };
    Some(CheckboxAnswer { mark, label: from..first.words.start, cue: boxes[marked].words.clone() })
}

/// "Past attempt? [x] Yes [ ] No", "Fiebre: Sí [ ] No [x]": two boxes, one of them for "no".
struct YesNoPair {
    mark: BoxMark,
    cue: Range<usize>,
    label_end: usize,
    end: usize,
    boxes: usize,
}

impl YesNoPair {
    fn at(reading: &TokenizedText<'_>, boxes: &[FormBox], at: usize, from: usize, limit: usize) -> Option<Self> {
        let first = &boxes[at];
        if let Some(pair) = Self::glued(reading, boxes, at) {
            return Some(pair).filter(|pair| pair.label_end > from);
        }
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
        // The box comes before its word ("[x] Yes") or after it ("Yes [x]"), alike for both.
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
            Some((_, true)) => BoxMark::Yes,
            Some((_, false)) => BoxMark::No,
            None => BoxMark::Empty,
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

    /// "NSSI  yes__ no_X_": gaps that are written on to their answers.
    fn glued(reading: &TokenizedText<'_>, boxes: &[FormBox], at: usize) -> Option<Self> {
        let first = &boxes[at];
        let (yes, marked) = glued(reading.word(first.words.start))?;
        let second = boxes.get(at + 1).filter(|second| second.words.start <= first.words.end + 2);
        let other =
            second.and_then(|second| glued(reading.word(second.words.start))).filter(|(other, _)| *other != yes);
        let mark = match (marked, other) {
            (true, _) => Some(yes),
            (false, Some((other, true))) => Some(other),
            _ => None,
        };
        let last = second.filter(|_| other.is_some()).unwrap_or(first);
        Some(Self {
            mark: mark.map_or(BoxMark::Empty, |yes| if yes { BoxMark::Yes } else { BoxMark::No }),
            cue: first.words.clone(),
            label_end: first.words.start,
            end: last.words.end,
            boxes: 1 + usize::from(other.is_some()),
        })
    }

    fn says(&self, from: usize) -> CheckboxAnswer {
        CheckboxAnswer { mark: self.mark, label: from..self.label_end.max(from), cue: self.cue.clone() }
    }
}

/// "no_x_": the answer that a word begins with and whether its gap is marked.
fn glued(word: &str) -> Option<(bool, bool)> {
    let (text, gap) = word.split_at(word.find('_')?);
    let marked = gap.contains('x');
    (gap.len() > 1 && matches!(gap.trim_matches('_'), "" | "x")).then_some((answer(text)?, marked))
}

fn answer(word: &str) -> Option<bool> {
    match word {
        "yes" | "si" | "y" | "s" => Some(true),
        "no" | "n" => Some(false),
        _ => None,
    }
}

/// A box at a word: a separate sign, brackets that are empty or hold a mark, or an underscored gap with or without one.
pub(super) fn box_at(reading: &TokenizedText<'_>, word: usize, limit: usize) -> Option<FormBox> {
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
        (text, ..) if glued(text).is_some() => (1, glued(text).is_some_and(|(_, marked)| marked)),
        (text, ..) if text.starts_with('_') || text.ends_with('_') => match text.trim_matches('_') {
            // "Other: ________" is to be filled in.
            "" if text.len() > 1 && !is_blank(reading, word) => (1, false),
            "x" => (1, true),
            _ => return None,
        },
        _ => return None,
    };
    Some(FormBox { words: word..word + length, marked, denies })
}

//! The rules for a row of an extension: the columns of its list, known words, phrases that can be written out. An
//! invalid row is refused with its column, since a list that silently loses rows misses its purpose.

use super::list::{LexiconList, RowShape};
use crate::assertion::is_cue;
use crate::inflection;
use crate::matcher::{count, expand};
use crate::phrase_trie::LONGEST_PHRASE;
use crate::tokenized::layout;

/// Column, counted from 1 in characters, and the fault there.
pub(crate) type RowFault = (usize, &'static str);

/// Characters of one phrase as it is written, and ways in which its choices may be written out.
const LONGEST_PHRASE_WRITTEN: usize = 2_000;
const MOST_VARIANTS: usize = 2_000;
const LONGEST_NAME: usize = 100;

/// # Errors
/// The first column of the row that is not as it must be.
pub(crate) fn checked(list: LexiconList, line: &str) -> Result<(), RowFault> {
    let columns = match list.shape() {
        RowShape::Concepts => 4,
        RowShape::Labels => 2,
        RowShape::Cues => 5,
    };
    let mut fields: Vec<(usize, &str)> = Vec::new();
    let mut start = 0;
    for field in line.split('\t') {
        fields.push((start, field));
        start += field.len() + 1;
    }
    let column = |at: usize| line.get(..at).unwrap_or(line).chars().count() + 1;
    match fields.len() {
        found if found < columns => return Err((column(line.len()), "the row has too few columns (parted by tabs)")),
        found if found > columns => return Err((column(fields[columns].0), "the row has too many columns")),
        _ => {}
    }
    if let Some((at, _)) = fields.iter().find(|(_, field)| field.chars().any(char::is_control)) {
        return Err((column(*at), "control characters are not allowed"));
    }
    let leading = &fields[..columns - 1];
    if let Some((at, _)) = leading.iter().find(|(_, field)| field.trim() != *field) {
        return Err((column(*at), "the column begins or ends with a space"));
    }
    let named: Vec<&str> = leading.iter().map(|(_, field)| *field).collect();
    head(list, &named).map_err(|(field, problem)| (column(leading[field].0), problem))?;
    let (at, words) = fields[columns - 1];
    phrases(words).map_err(|(inside, problem)| (column(at + inside), problem))
}

/// The columns before the phrases; the fault says which.
fn head(list: LexiconList, fields: &[&str]) -> Result<(), (usize, &'static str)> {
    if list.shape() == RowShape::Cues {
        return is_cue([fields[0], fields[1], fields[2], fields[3]]);
    }
    if !list.knows(fields[0]) {
        return Err((0, "the list has no such group"));
    }
    if list.shape() == RowShape::Labels {
        return Ok(());
    }
    let name = fields[1];
    if name.is_empty() || name.chars().count() > LONGEST_NAME || name != name.to_lowercase() {
        return Err((1, "a name has 1 to 100 characters in lower case"));
    }
    match (list, fields[2]) {
        (_, "-") => Ok(()),
        (LexiconList::Clinical, code) if is_icd_10_cm(code) => Ok(()),
        (LexiconList::Clinical, _) => Err((2, "is neither an ICD-10-CM code nor -")),
        _ => Err((2, "this list has no codes: write -")),
    }
}

/// A letter, a digit, a digit or letter; after a full stop up to four more.
fn is_icd_10_cm(code: &str) -> bool {
    let (category, rest) = code.split_once('.').map_or((code, None), |(category, rest)| (category, Some(rest)));
    let letters = category.as_bytes();
    let plain = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_uppercase());
    letters.len() == 3
        && letters[0].is_ascii_uppercase()
        && letters[1].is_ascii_digit()
        && plain(category)
        && rest.is_none_or(|rest| (1..=4).contains(&rest.len()) && plain(rest))
}

/// Phrases separated by `|`; the fault says at which byte.
fn phrases(words: &str) -> Result<(), (usize, &'static str)> {
    let mut start = 0;
    for written in words.split('|') {
        let blank = written.len() - written.trim_start().len();
        let at = start + if blank < written.len() { blank } else { 0 };
        start += written.len() + 1;
        phrase(written.trim()).map_err(|problem| (at, problem))?;
    }
    Ok(())
}

fn phrase(written: &str) -> Result<(), &'static str> {
    if written.is_empty() {
        return Err("a phrase is missing");
    }
    if written.chars().count() > LONGEST_PHRASE_WRITTEN {
        return Err("the phrase is longer than 2000 characters");
    }
    balanced(written)?;
    for inner in written.split('<').skip(1) {
        let verb = inner.split_once('>').map(|(verb, _)| verb).ok_or("an angle bracket is not closed")?;
        inflection::forms(verb).ok_or("the verb in angle brackets has no forms")?;
    }
    if count(written) > MOST_VARIANTS {
        return Err("the phrase stands for more than 2000 others: write it as several");
    }
    for variant in expand(written) {
        match layout(&variant).split_whitespace().count() {
            0 => return Err("a choice of the phrase holds no word"),
            words if words > LONGEST_PHRASE => return Err("a choice of the phrase has more than 24 words"),
            _ => {}
        }
    }
    Ok(())
}

fn balanced(written: &str) -> Result<(), &'static str> {
    let mut depth = 0usize;
    for sign in written.chars() {
        match sign {
            '{' => depth += 1,
            '}' => depth = depth.checked_sub(1).ok_or("a brace is closed that was not opened")?,
            _ => {}
        }
    }
    if depth > 0 { Err("a brace is not closed") } else { Ok(()) }
}

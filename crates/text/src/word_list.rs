//! Lists of words that are data: rows `name TAB word|word` of a table (`.tsv`) that is part of the program. A list has as many
//! rows as it needs, and `#` begins a comment.

use std::collections::HashSet;
use std::ops::Deref;
use std::sync::OnceLock;

use foldhash::fast::FixedState;

/// A list that is read at its first use. As a slice it has the words in the order in which they are written.
pub struct WordList {
    source: WordSource,
    words: OnceLock<(Vec<&'static str>, HashSet<&'static str, FixedState>)>,
}

enum WordSource {
    Rows {
        table: &'static str,
        name: &'static str,
    },
    /// Single words with spaces between them.
    Spaced(&'static str),
}

impl WordList {
    /// The list of this name in a table. That each name has a row, and each row a use, is tested in `tests/suite/word_lists.rs`.
    pub const fn listed(table: &'static str, name: &'static str) -> Self {
        Self { source: WordSource::Rows { table, name }, words: OnceLock::new() }
    }

    /// Single words with spaces between them.
    pub const fn spaced(words: &'static str) -> Self {
        Self { source: WordSource::Spaced(words), words: OnceLock::new() }
    }

    /// One hash look-up, however long the list is.
    pub fn contains(&self, word: &str) -> bool {
        self.read().1.contains(word)
    }

    fn read(&self) -> &(Vec<&'static str>, HashSet<&'static str, FixedState>) {
        self.words.get_or_init(|| {
            let words: Vec<&'static str> = match self.source {
                WordSource::Rows { table, name } => rows(table, name).flat_map(|words| words.split('|')).collect(),
                WordSource::Spaced(words) => words.split_whitespace().collect(),
            };
            let set = words.iter().copied().collect();
            (words, set)
        })
    }
}

impl Deref for WordList {
    type Target = [&'static str];

    fn deref(&self) -> &Self::Target {
        &self.read().0
    }
}

fn rows(table: &'static str, name: &'static str) -> impl Iterator<Item = &'static str> {
    let rows = table.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t'));
    rows.filter(move |(list, _)| *list == name).map(|(_, words)| words)
}

#[cfg(test)]
mod tests {
    use super::*;

    static TABLE: &str = "# Source: this test.\nrest\tnot|meant\ncues\tname is|called\n# said\ncues\tsoy\n";
    static CUES: WordList = WordList::listed(TABLE, "cues");
    static DAYS: WordList = WordList::spaced("monday  tuesday\n lunes");

    #[test]
    fn a_list_has_the_words_of_all_its_rows_in_their_order() {
        assert_eq!(CUES[..], ["name is", "called", "soy"]);
        assert!(CUES.contains("name is") && !CUES.contains("name") && !CUES.contains("not"));
    }

    #[test]
    fn words_with_spaces_between_them_are_a_list() {
        assert_eq!(DAYS[..], ["monday", "tuesday", "lunes"]);
        assert!(DAYS.contains("lunes") && !DAYS.contains(""));
    }
}

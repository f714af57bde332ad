//! Synonyms in English and Spanish: a record says "laburo" where a question says "job". Groups are written by hand
//! (`data/thesaurus.txt`) and looked up by stems, so that inflections need no entries. Stemming all of them takes
//! longer than a search, and most processes ask one question. Therefore the stems are generated next to them with an
//! index (`ANAMNESIS_UPDATE_DOCS=1` on the test that compares them).

use std::collections::BTreeSet;

use anamnesis_text::{Language, detect, only_asks, stems};

static BUILTIN: Thesaurus = Thesaurus {
    groups: include_str!("../data/thesaurus.stems.txt"),
    index: include_str!("../data/thesaurus.index.txt"),
};

/// Expressions that mean the same. An expression is a sequence of stems.
#[derive(Clone, Copy)]
pub(crate) struct Thesaurus<'a> {
    /// One group a line: `stem stem|stem`.
    groups: &'a str,
    /// One expression a line, sorted by bytes: `stem stem`, a tab, and the place in `groups` at which its group begins.
    index: &'a str,
}

/// A word of a query, or several that are one expression.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct QueryWord {
    /// For each of its words the stems by the rules of either language.
    pub(crate) own: Vec<BTreeSet<String>>,
    /// Expressions that mean the same; all stems of one have to be there.
    pub(crate) others: BTreeSet<Vec<String>>,
}

/// An expression with which words begin, and its group.
struct ThesaurusEntry<'a> {
    expression: &'a str,
    group: &'a str,
}

impl ThesaurusEntry<'_> {
    fn words(&self) -> usize {
        self.expression.split(' ').count()
    }
}

pub(crate) fn builtin() -> Thesaurus<'static> {
    BUILTIN
}

impl<'a> Thesaurus<'a> {
    /// The words of a query in order; the longest known expression is one word.
    pub(crate) fn read(&self, query: &str) -> Vec<QueryWord> {
        let language = detect(query);
        let words: Vec<BTreeSet<String>> = query.split_whitespace().flat_map(|word| either(word, language)).collect();
        let mut read = Vec::new();
        let mut at = 0;
        while at < words.len() {
            let known = self.known(&words[at..]);
            let long = known.iter().map(ThesaurusEntry::words).max().unwrap_or(1);
            let mut others = BTreeSet::new();
            for one in known.iter().filter(|one| one.words() == long) {
                let other = |expression: &&str| !expression.is_empty() && *expression != one.expression;
                let all = one.group.split('|').filter(other);
                others.extend(all.map(|expression| expression.split(' ').map(str::to_owned).collect::<Vec<_>>()));
            }
            read.push(QueryWord { own: words[at..at + long].to_vec(), others });
            at += long;
        }
        read
    }

    /// The expressions with which these words begin.
    fn known(&self, words: &[BTreeSet<String>]) -> Vec<ThesaurusEntry<'a>> {
        let mut known = Vec::new();
        for stem in words.first().into_iter().flatten() {
            let begun = self.index[self.from(stem)..].lines().take_while(|line| line.starts_with(stem.as_str()));
            for (expression, place) in begun.filter_map(|line| line.split_once('\t')) {
                let fits = expression.split(' ').count() <= words.len();
                let group = place.parse().ok().and_then(|place: usize| self.groups.get(place..)?.lines().next());
                let mut held = expression.split(' ').zip(words);
                if fits && held.all(|(stem, word)| word.contains(stem)) {
                    known.extend(group.map(|group| ThesaurusEntry { expression, group }));
                }
            }
        }
        known
    }

    /// Where the first line of the index begins that does not come before `stem`.
    fn from(&self, stem: &str) -> usize {
        let bytes = self.index.as_bytes();
        let (mut low, mut high) = (0, bytes.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let start = bytes[..middle].iter().rposition(|byte| *byte == b'\n').map_or(0, |feed| feed + 1);
            let end = bytes[middle..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |feed| middle + feed);
            if &bytes[start..end] < stem.as_bytes() {
                low = (end + 1).min(bytes.len());
            } else {
                high = start;
            }
        }
        low
    }
}

/// The stems of each word by the rules of both languages: a hyphen or a sign may make several of one. What finds nothing in
/// the language of the query is no word of it: "son" is a word in English and none in Spanish.
fn either(word: &str, language: Language) -> Vec<BTreeSet<String>> {
    let folded = anamnesis_text::fold(word);
    let bare = folded.trim_matches(|c: char| !c.is_alphanumeric());
    let (spanish, english) = (stems(word, Language::Spanish), stems(word, Language::English));
    let finds_nothing = match language {
        Language::Spanish => spanish.is_empty(),
        Language::English => english.is_empty(),
        Language::Unknown => false,
    };
    if only_asks(bare) || finds_nothing {
        return Vec::new();
    }
    if spanish.len() == english.len() {
        return spanish.into_iter().zip(english).map(|(one, other)| [one, other].into()).collect();
    }
    spanish.into_iter().chain(english).map(|stem| [stem].into()).collect()
}

#[cfg(test)]
#[path = "thesaurus_tests.rs"]
mod tests;

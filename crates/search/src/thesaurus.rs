//! Words that mean nearly the same, in English and Spanish: a record says "laburo" where a question says "job". Groups are
//! written by hand (`data/thesaurus.txt`) and looked up by stems, so that inflections need no entries of their own.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use anamnesis_text::{Language, detect, only_asks, stems};

static BUILTIN: LazyLock<Thesaurus> = LazyLock::new(|| Thesaurus::parse(include_str!("../data/thesaurus.txt")));

/// Groups of expressions; an expression is a sequence of stems.
pub(crate) struct Thesaurus {
    groups: Vec<Vec<Vec<String>>>,
    /// The expressions that begin with a stem: group and place.
    beginning: HashMap<String, Vec<(usize, usize)>>,
}

/// A word of a query, or several that are one expression.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct QueryWord {
    /// For each of its words the stems by the rules of either language.
    pub(crate) own: Vec<BTreeSet<String>>,
    /// Expressions that mean the same; all stems of one have to be there.
    pub(crate) others: BTreeSet<Vec<String>>,
}

pub(crate) fn builtin() -> &'static Thesaurus {
    &BUILTIN
}

impl Thesaurus {
    /// `english, words | palabras, españolas`, one group a line; lines that begin with # are comments.
    pub(crate) fn parse(text: &str) -> Self {
        let mut groups: Vec<Vec<Vec<String>>> = Vec::new();
        let mut beginning: HashMap<String, Vec<(usize, usize)>> = HashMap::new();
        for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
            let (english, spanish) = line.split_once('|').unwrap_or((line, ""));
            let side = |side: &str, language| -> Vec<Vec<String>> {
                side.split(',').map(|one| stems(one, language)).collect()
            };
            let mut group = side(english, Language::English);
            group.extend(side(spanish, Language::Spanish));
            group.retain(|expression| !expression.is_empty());
            group.sort_unstable();
            group.dedup();
            for (place, expression) in group.iter().enumerate() {
                beginning.entry(expression[0].clone()).or_default().push((groups.len(), place));
            }
            groups.push(group);
        }
        Self { groups, beginning }
    }

    /// The words of a query in order; the longest known expression is one word.
    pub(crate) fn read(&self, query: &str) -> Vec<QueryWord> {
        let language = detect(query);
        let words: Vec<BTreeSet<String>> = query.split_whitespace().flat_map(|word| either(word, language)).collect();
        let mut read = Vec::new();
        let mut at = 0;
        while at < words.len() {
            let known = self.known(&words[at..]);
            let long = known.iter().map(|(group, place)| self.groups[*group][*place].len()).max().unwrap_or(1);
            let of_length = known.iter().filter(|(group, place)| self.groups[*group][*place].len() == long);
            let others = of_length.flat_map(|(group, place)| {
                let other = move |(at, _): &(usize, &Vec<String>)| at != place;
                self.groups[*group].iter().enumerate().filter(other).map(|(_, expression)| expression.clone())
            });
            read.push(QueryWord { own: words[at..at + long].to_vec(), others: others.collect() });
            at += long;
        }
        read
    }

    /// The expressions with which these words begin.
    fn known(&self, words: &[BTreeSet<String>]) -> Vec<(usize, usize)> {
        let Some(first) = words.first() else { return Vec::new() };
        let begun = first.iter().filter_map(|stem| self.beginning.get(stem)).flatten();
        let holds = |(group, place): &&(usize, usize)| {
            let expression = &self.groups[*group][*place];
            expression.len() <= words.len() && expression.iter().zip(words).all(|(stem, word)| word.contains(stem))
        };
        let mut known: Vec<(usize, usize)> = begun.filter(holds).copied().collect();
        known.sort_unstable();
        known.dedup();
        known
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
mod tests {
    use super::*;

    const GROUPS: &str = "# a test\njob, work | trabajo, laburo\nlet go, fired | despedir, quedarse sin trabajo\n";

    fn others(query: &str) -> Vec<Vec<Vec<String>>> {
        let read = Thesaurus::parse(GROUPS).read(query);
        read.into_iter().map(|word| word.others.into_iter().collect()).collect()
    }

    #[test]
    fn a_word_has_the_others_of_its_groups_in_both_languages_whatever_its_inflection() {
        let found = others("jobs");
        assert_eq!(found.len(), 1);
        assert!(
            found[0].contains(&stems("laburo", Language::Spanish))
                && found[0].contains(&stems("work", Language::English))
        );
        assert!(!found[0].contains(&stems("job", Language::English)));
        assert_eq!(others("trabajos")[0].len(), 3);
    }

    #[test]
    fn the_longest_expression_is_one_word() {
        let read = Thesaurus::parse(GROUPS).read("was she let go in March?");
        assert_eq!(read.iter().map(|word| word.own.len()).collect::<Vec<_>>(), [2, 1]);
        assert!(read[0].others.contains(&stems("despedir", Language::Spanish)));
    }

    #[test]
    fn words_that_ask_are_no_words_of_the_query_and_unknown_ones_stand_alone() {
        assert!(Thesaurus::parse(GROUPS).read("¿cuándo, where, qué?").is_empty());
        let read = Thesaurus::parse(GROUPS).read("sertralina");
        assert!(read.len() == 1 && read[0].others.is_empty());
    }

    #[test]
    fn the_list_of_the_program_has_two_sides_in_every_group_and_nothing_twice() {
        let text = include_str!("../data/thesaurus.txt");
        for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
            let (english, spanish) = line.split_once('|').unwrap_or_else(|| panic!("one side: {line}"));
            for side in [english, spanish] {
                let words: Vec<&str> = side.split(',').map(str::trim).collect();
                assert!(words.iter().all(|word| !word.is_empty()), "{line}");
                assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), words.len(), "{line}");
            }
        }
    }
}

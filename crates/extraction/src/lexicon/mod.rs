//! The words that extraction knows: our own lists, embedded as data files, Spanish and English as equals.

mod check;
mod custom;
mod list;
pub mod sizes;
pub(crate) mod word_lists;

use super::matcher::{PhraseMatch, PhraseMatcher, count};
use super::phrase_trie::TrieBuilder;
use super::tokenized::TokenizedText;
use std::ops::Range;

pub use custom::{CustomLexicon, LexiconError, LexiconExtension};
pub(crate) use list::LexiconList;
pub use sizes::{ListSize, sizes};

/// Conditions and symptoms with ICD-10-CM codes.
pub(super) const CLINICAL: &[&str] = &[
    include_str!("mental.tsv"),
    include_str!("somatic.tsv"),
    include_str!("clinical_more.tsv"),
    include_str!("mental_more.tsv"),
    include_str!("general_more.tsv"),
    include_str!("clinical/heart_and_lungs.tsv"),
    include_str!("clinical/digestive_and_kidney.tsv"),
    include_str!("clinical/nerves_and_hormones.tsv"),
    include_str!("clinical/women_children_age.tsv"),
    include_str!("clinical/bones_skin_senses.tsv"),
    include_str!("clinical/infection_cancer_blood.tsv"),
    include_str!("clinical/mind.tsv"),
    include_str!("clinical/substances.tsv"),
    include_str!("clinical/as_people_say.tsv"),
    include_str!("clinical/not_meant.tsv"),
];
pub(super) const DRUGS: &[&str] = &[
    include_str!("drugs.tsv"),
    include_str!("drugs_more.tsv"),
    include_str!("drugs_wide.tsv"),
    include_str!("drugs_everyday.tsv"),
    include_str!("drugs_brands.tsv"),
];
pub(super) const ALLERGENS: &[&str] = &[include_str!("allergens.tsv")];
pub(super) const REACTIONS: &[&str] = &[include_str!("reactions.tsv")];
pub(super) const SPEECH: &str = include_str!("speech.tsv");

/// A thing with a preferred name, whatever it is called in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Concept {
    /// First column: condition, symptom, none (words that mean something else), a drug class, a group of allergens or
    /// reactions.
    pub(crate) group: &'static str,
    /// Preferred name, lower case English: equal for synonyms and languages.
    pub(crate) name: &'static str,
    /// ICD-10-CM where the list has one.
    pub(crate) code: Option<&'static str>,
}

/// Concepts and the automaton that finds their names.
pub(crate) struct Lexicon {
    concepts: Vec<Concept>,
    matcher: PhraseMatcher,
}

/// A concept named in a text.
#[derive(Debug, Clone)]
pub(crate) struct ConceptMention {
    pub(crate) words: Range<usize>,
    pub(crate) concept: Concept,
}

impl Lexicon {
    /// Reads `group TAB name TAB code-or-dash TAB phrase|phrase…`; `#` begins a comment.
    pub(crate) fn load(trie: &mut TrieBuilder, list: LexiconList) -> Self {
        let mut concepts = Vec::new();
        // Built-in rows first: rows of a deployment must not move the numbers in the serialized trie.
        let built_in = concepts_of(list.files().iter().flat_map(|file| file.lines()), &mut concepts);
        let matcher = PhraseMatcher::new(trie, built_in);
        let own = concepts_of(trie.custom_rows(list).into_iter(), &mut concepts);
        matcher.extend(trie, own);
        Self { matcher, concepts }
    }

    pub(crate) fn find(&self, reading: &TokenizedText<'_>, within: Range<usize>) -> Vec<ConceptMention> {
        self.matcher.find(reading, within).into_iter().map(|hit| self.mention(hit)).collect()
    }

    /// All concepts of the list.
    pub(crate) fn concepts(&self) -> impl Iterator<Item = &Concept> {
        self.concepts.iter()
    }

    /// The concept whose longest name begins at a word.
    pub(crate) fn at(&self, reading: &TokenizedText<'_>, word: usize) -> Option<ConceptMention> {
        self.matcher.at(reading, word).map(|hit| self.mention(hit))
    }

    fn mention(&self, hit: PhraseMatch) -> ConceptMention {
        ConceptMention { concept: self.concepts[hit.meaning as usize], words: hit.words }
    }
}

/// The phrases of rows, each with the place of its concept, which is put after the others.
fn concepts_of(lines: impl Iterator<Item = &'static str>, concepts: &mut Vec<Concept>) -> Vec<(&'static str, u32)> {
    let mut phrases = Vec::new();
    for (fields, words) in lines.filter_map(row) {
        let index = u32::try_from(concepts.len()).unwrap_or(u32::MAX);
        phrases.extend(words.split('|').map(|phrase| (phrase.trim(), index)));
        let code = Some(fields[2]).filter(|code| *code != "-");
        concepts.push(Concept { group: fields[0], name: fields[1], code });
    }
    phrases
}

/// How many phrases one stands for, its choices written out.
pub(crate) fn written(phrase: &str) -> usize {
    count(phrase.trim())
}

/// The three leading fields and the phrases of a data row.
fn row(line: &'static str) -> Option<([&'static str; 3], &'static str)> {
    // Each file names its source and licence in comments.
    if line.starts_with('#') || line.trim().is_empty() {
        return None;
    }
    let mut fields = line.splitn(4, '\t');
    let head = [fields.next()?, fields.next()?, fields.next()?];
    fields.next().map(|phrases| (head, phrases))
}

/// The preferred names of one group.
pub(crate) fn names_of_group(
    files: &'static [&'static str],
    group: &'static str,
) -> impl Iterator<Item = &'static str> {
    files.iter().flat_map(|file| file.lines()).filter_map(row).filter(move |(f, _)| f[0] == group).map(|(f, _)| f[1])
}

/// Phrases under labels (`label TAB phrase|phrase…`): speech acts, risk, themes and the like.
pub(crate) struct LabelledPhrases {
    names: Vec<&'static str>,
    matcher: PhraseMatcher,
}

impl LabelledPhrases {
    pub(crate) fn load(trie: &mut TrieBuilder, list: LexiconList) -> Self {
        let mut names = Vec::new();
        let built_in = labels_of(list.files().iter().flat_map(|file| file.lines()), &mut names);
        let matcher = PhraseMatcher::new(trie, built_in);
        let own = labels_of(trie.custom_rows(list).into_iter(), &mut names);
        matcher.extend(trie, own);
        Self { matcher, names }
    }

    /// A list that no one extends.
    pub(crate) fn fixed(trie: &mut TrieBuilder, file: &'static str) -> Self {
        let mut names = Vec::new();
        let phrases = labels_of(file.lines(), &mut names);
        Self { matcher: PhraseMatcher::new(trie, phrases), names }
    }

    pub(crate) fn name(&self, hit: &PhraseMatch) -> &'static str {
        self.names[hit.meaning as usize]
    }

    /// The phrases found, with their labels, longest first at each place.
    pub(crate) fn find(&self, reading: &TokenizedText<'_>, within: Range<usize>) -> Vec<(Range<usize>, &'static str)> {
        self.matcher.find(reading, within).into_iter().map(|hit| (hit.words.clone(), self.name(&hit))).collect()
    }
}

/// As [`concepts_of`], for rows of a label and its phrases.
fn labels_of(lines: impl Iterator<Item = &'static str>, names: &mut Vec<&'static str>) -> Vec<(&'static str, u32)> {
    let mut phrases = Vec::new();
    for line in lines.filter(|line| !line.starts_with('#')) {
        let Some((label, words)) = line.split_once('\t') else { continue };
        let index = u32::try_from(names.len()).unwrap_or(u32::MAX);
        phrases.extend(words.split('|').map(|phrase| (phrase.trim(), index)));
        names.push(label);
    }
    phrases
}

/// The phrases of one label only, of all its lines: labels overlap ("no" answers and denies), so each use has its own automaton.
pub(crate) fn label(trie: &mut TrieBuilder, file: &'static str, label: &str) -> PhraseMatcher {
    let rows = file.lines().filter_map(|line| line.split_once('\t')).filter(|(name, _)| *name == label);
    PhraseMatcher::new(trie, rows.flat_map(|(_, words)| words.split('|').map(|phrase| (phrase.trim(), 0))))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashMap};

    use super::*;
    use crate::matcher::expand;
    use crate::tokenized::layout;

    fn rows(files: &[&'static str]) -> Vec<([&'static str; 3], &'static str)> {
        files.iter().flat_map(|file| file.lines()).filter_map(row).collect()
    }

    #[test]
    fn every_line_is_read_and_every_code_has_the_form_of_icd_10() {
        for file in [CLINICAL, DRUGS, ALLERGENS, REACTIONS].concat() {
            let data = file.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()).count();
            assert_eq!(file.lines().filter_map(row).count(), data);
        }
        for (fields, _) in rows(CLINICAL).into_iter().filter(|(fields, _)| fields[0] != "none") {
            let code = fields[2].as_bytes();
            assert!(code[0].is_ascii_uppercase() && code[1].is_ascii_digit() && code.len() >= 3, "{fields:?}");
            assert!(matches!(fields[0], "condition" | "symptom"), "{fields:?}");
        }
    }

    #[test]
    fn the_lexicon_is_as_broad_as_it_is_said_to_be() {
        let concepts = |files| rows(files).into_iter().map(|(fields, _)| fields[1]).collect::<BTreeSet<_>>().len();
        assert!(concepts(CLINICAL) >= 1_500, "{} conditions and symptoms", concepts(CLINICAL));
        assert!(concepts(DRUGS) >= 2_500, "{} drugs", concepts(DRUGS));
    }

    #[test]
    fn no_phrase_means_two_things_in_one_list() {
        for files in [CLINICAL, DRUGS, ALLERGENS] {
            let mut seen: HashMap<String, &str> = HashMap::new();
            let mut doubles = Vec::new();
            for (fields, words) in rows(files) {
                for phrase in words.split('|').flat_map(|phrase| expand(phrase.trim())) {
                    let other = seen.insert(layout(&phrase), fields[1]).filter(|other| *other != fields[1]);
                    doubles.extend(other.map(|other| format!("{phrase}: {other}, {}", fields[1])));
                }
            }
            assert!(doubles.is_empty(), "{doubles:#?}");
        }
    }
}

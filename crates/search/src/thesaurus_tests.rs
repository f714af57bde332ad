//! Other words of the same meaning, and the list of the program.

use std::collections::BTreeSet;

use super::*;

const LIST: &str = include_str!("../data/thesaurus.txt");
const GROUPS: &str = "# a test\njob, work | trabajo, laburo\nlet go, fired | despedir, quedarse sin trabajo\n";

fn groups(list: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = list.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines.map(|line| line.split_once('|').unwrap_or_else(|| panic!("one side: {line}")))
}

/// Groups and index as the program reads them.
fn printed(list: &str) -> (String, String) {
    let side = |side: &str, language| side.split(',').map(|one| stems(one, language).join(" ")).collect::<Vec<_>>();
    let (mut all, mut index) = (String::new(), BTreeSet::new());
    for (english, spanish) in groups(list) {
        let mut group: BTreeSet<String> = side(english, Language::English).into_iter().collect();
        group.extend(side(spanish, Language::Spanish));
        group.remove("");
        index.extend(group.iter().map(|expression| format!("{expression}\t{}\n", all.len())));
        all.push_str(&group.into_iter().collect::<Vec<_>>().join("|"));
        all.push('\n');
    }
    (all, index.into_iter().collect())
}

fn read(query: &str) -> Vec<QueryWord> {
    let (groups, index) = printed(GROUPS);
    Thesaurus { groups: &groups, index: &index }.read(query)
}

#[test]
fn a_word_has_the_others_of_its_groups_in_both_languages_whatever_its_inflection() {
    let found = read("jobs");
    assert_eq!(found.len(), 1);
    assert!(found[0].others.contains(&stems("laburo", Language::Spanish)));
    assert!(found[0].others.contains(&stems("work", Language::English)));
    assert!(!found[0].others.contains(&stems("job", Language::English)));
    assert_eq!(read("trabajos")[0].others.len(), 3);
}

#[test]
fn the_longest_expression_is_one_word() {
    let read = read("was she let go in March?");
    assert_eq!(read.iter().map(|word| word.own.len()).collect::<Vec<_>>(), [2, 1]);
    assert!(read[0].others.contains(&stems("despedir", Language::Spanish)));
}

#[test]
fn question_words_are_no_words_of_the_query_and_unknown_ones_have_no_synonyms() {
    assert!(read("¿cuándo, where, qué?").is_empty());
    let read = read("sertralina");
    assert!(read.len() == 1 && read[0].others.is_empty());
}

#[test]
fn the_list_has_two_sides_in_every_group_and_nothing_twice() {
    for (english, spanish) in groups(LIST) {
        for side in [english, spanish] {
            let words: Vec<&str> = side.split(',').map(str::trim).collect();
            assert!(words.iter().all(|word| !word.is_empty()), "{side}");
            assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), words.len(), "{side}");
        }
    }
}

#[test]
fn the_printed_thesaurus_is_what_the_list_says() {
    let (groups, index) = printed(LIST);
    if std::env::var_os("ANAMNESIS_UPDATE_DOCS").is_some() {
        let path = |name: &str| format!("{}/data/thesaurus.{name}.txt", env!("CARGO_MANIFEST_DIR"));
        std::fs::write(path("stems"), &groups).unwrap();
        std::fs::write(path("index"), &index).unwrap();
        return;
    }
    assert!(BUILTIN.groups == groups && BUILTIN.index == index, "run this test with ANAMNESIS_UPDATE_DOCS=1");
}

#[test]
fn every_expression_of_the_program_is_found_by_its_first_stem() {
    for line in BUILTIN.index.lines() {
        let expression = line.split_once('\t').unwrap().0;
        let words: Vec<BTreeSet<String>> = expression.split(' ').map(|stem| [stem.to_owned()].into()).collect();
        assert!(BUILTIN.known(&words).iter().any(|known| known.expression == expression), "{expression}");
    }
    assert!(BUILTIN.known(&[["zzzz".to_owned()].into()]).is_empty());
    assert!(BUILTIN.known(&[]).is_empty());
}

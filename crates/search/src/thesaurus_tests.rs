//! Other words of the same meaning, and the list of the program.

use std::collections::BTreeSet;

use super::*;

const LIST: &str = include_str!("../data/thesaurus.txt");
const GROUPS: &str = "# a test\njob, work | trabajo, laburo\nlet go, fired | despedir, quedarse sin trabajo\n";

fn groups(list: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = list.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines.map(|line| line.split_once('|').unwrap_or_else(|| panic!("one side: {line}")))
}

/// As the program reads it.
fn printed(list: &str) -> String {
    let side = |side: &str, language| side.split(',').map(|one| stems(one, language).join(" ")).collect::<Vec<_>>();
    let line = |(english, spanish): (&str, &str)| {
        let mut group: BTreeSet<String> = side(english, Language::English).into_iter().collect();
        group.extend(side(spanish, Language::Spanish));
        group.remove("");
        format!("|{}|\n", group.into_iter().collect::<Vec<_>>().join("|"))
    };
    groups(list).map(line).collect()
}

fn read(query: &str) -> Vec<QueryWord> {
    Thesaurus { printed: &printed(GROUPS) }.read(query)
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
fn words_that_ask_are_no_words_of_the_query_and_unknown_ones_stand_alone() {
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
    let printed = printed(LIST);
    if std::env::var_os("ANAMNESIS_UPDATE_DOCS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/data/thesaurus.stems.txt");
        std::fs::write(path, &printed).unwrap();
        return;
    }
    assert!(BUILTIN.printed == printed, "run this test with ANAMNESIS_UPDATE_DOCS=1");
}

//! Word lists are data: each says where it comes from, under which licence, and who may change it, and has one form.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Every word list of the crates.
fn lists() -> Vec<PathBuf> {
    [files("tsv"), files("txt")].concat()
}

/// The files of the crates with this extension.
fn files(extension: &str) -> Vec<PathBuf> {
    let crates = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("crates")).unwrap();
    let mut found = Vec::new();
    crates.for_each(|one| collect(&one.unwrap().path().join("src"), extension, &mut found));
    found.sort();
    found
}

fn collect(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            collect(&path, extension, found);
        } else if path.extension().is_some_and(|its| its == extension) {
            found.push(path);
        }
    }
}

/// The lists of the folders `words`, and the lists that the code names: the crate, the table and the list.
fn tables_and_uses() -> [BTreeSet<(String, String, String)>; 2] {
    let mut found = [BTreeSet::new(), BTreeSet::new()];
    for path in lists().into_iter().chain(files("rs")) {
        let file = path.strip_prefix(Path::new(env!("CARGO_MANIFEST_DIR")).join("crates")).unwrap();
        let owner = file.iter().next().unwrap().to_string_lossy().into_owned();
        let text = read(&path);
        if path.parent().is_some_and(|folder| folder.ends_with("words")) {
            let table = path.file_stem().unwrap().to_string_lossy().to_uppercase();
            let rows = text.lines().filter(|line| !line.starts_with('#')).map(|line| line.split_once('\t').unwrap().0);
            found[0].extend(rows.map(|list| (owner.clone(), table.clone(), list.to_owned())));
        } else {
            let calls = text.split("WordList::listed(").skip(1).filter_map(|rest| rest.split_once(')'));
            let named =
                calls.filter_map(|(call, _)| call.split_once("::")).filter_map(|(_, call)| call.split_once(','));
            let name = |list: &str| list.trim().trim_matches(',').trim_matches('"').to_owned();
            found[1].extend(named.map(|(table, list)| (owner.clone(), table.to_owned(), name(list))));
        }
    }
    found
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Missing parts of the comment at the beginning.
fn missing(text: &str) -> Vec<&'static str> {
    let header: Vec<&str> = text.lines().take_while(|line| line.starts_with('#')).collect();
    let header = header.join(" ");
    let wanted = [["Source:", "Sources:"], ["Licence:", "Licences:"], ["May be changed by:", "May be changed by:"]];
    wanted.iter().filter(|words| !words.iter().any(|word| header.contains(word))).map(|words| words[0]).collect()
}

/// Formal faults of a list, by line.
fn faults(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for (number, line) in text.lines().enumerate().map(|(at, line)| (at + 1, line)) {
        if line.trim_end() != line || line.is_empty() {
            found.push(format!("{number}: blank at the end"));
        }
        if !line.starts_with('#') && !seen.insert(line) {
            found.push(format!("{number}: stands twice"));
        }
    }
    if !text.ends_with('\n') {
        found.push("no line feed at the end".to_owned());
    }
    found
}

#[test]
fn every_word_list_says_where_it_comes_from_under_which_licence_and_who_may_change_it() {
    let lists = lists();
    assert!(lists.len() > 80, "{}", lists.len());
    for path in lists {
        let missing = missing(&read(&path));
        assert!(missing.is_empty(), "{} lacks {missing:?} in the lines of comment at its beginning", path.display());
    }
}

#[test]
fn every_word_list_has_no_blank_at_the_end_of_a_line_and_no_line_twice() {
    for path in lists() {
        let faults = faults(&read(&path));
        assert!(faults.is_empty(), "{}: {faults:?}", path.display());
    }
}

#[test]
fn every_list_that_the_code_names_is_in_its_table_and_each_list_of_a_table_is_named() {
    let [tables, uses] = tables_and_uses();
    assert!(tables.len() > 200, "{}", tables.len());
    let [unnamed, missing] = [&tables - &uses, &uses - &tables];
    assert!(unnamed.is_empty() && missing.is_empty(), "no use: {unnamed:?}; no row: {missing:?}");
}

#[test]
fn a_list_without_a_source_and_one_with_a_line_twice_are_found() {
    assert_eq!(missing("# Licence: MIT. May be changed by: clinicians.\nword\n# Source: none\n"), ["Source:"]);
    assert_eq!(faults("# one\na\nb \na\n"), ["3: blank at the end", "4: stands twice"]);
    assert_eq!(faults("a"), ["no line feed at the end"]);
}

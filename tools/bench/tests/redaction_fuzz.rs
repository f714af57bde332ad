//! Redaction fed with what nobody would write, made of the fixed sets. `ANAMNESIS_FUZZ_INPUTS=1000000` makes a campaign of
//! it, as `anamnesis-bench redact --fuzz 1000000` does with texts of one's own.

#![allow(clippy::unwrap_used, clippy::expect_used)] // a test may

use anamnesis_bench::redaction::fuzz;

#[test]
fn no_input_makes_redaction_fail_or_its_offsets_lie_or_a_second_pass_take_more() {
    let folder = format!("{}/../../tests/data/redaction", env!("CARGO_MANIFEST_DIR"));
    let files_of = |folder: String| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let folders = [folder.clone(), format!("{folder}/fresh"), format!("{folder}/wide"), format!("{folder}/blind")];
    let mut files: Vec<_> = folders.into_iter().flat_map(files_of).filter(|path| path.is_file()).collect();
    files.sort();
    let lines = |path| std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect::<Vec<_>>();
    let lines: Vec<String> = files.into_iter().flat_map(lines).collect();
    let inputs = std::env::var("ANAMNESIS_FUZZ_INPUTS").ok().and_then(|count| count.parse().ok()).unwrap_or(400);
    let outcome = fuzz::run(lines, inputs, 20, &|_| {});
    println!("{outcome:?}");
    assert!(outcome.is_clean(), "{outcome:?}");
    assert_eq!(outcome.inputs, inputs);
}

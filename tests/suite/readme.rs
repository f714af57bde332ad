//! Runs every command of the README and of the two quickstarts, in the order of its page, as its reader would: one
//! shell per language, an empty folder, the program on the path. Left out are commands that include this test, and
//! those that need more than a test machine has; both are named below.

use std::path::Path;
use std::process::{Command, Stdio};

use super::support::free_port;

/// Begins of lines that are not run, each with its reason.
const ELSEWHERE: [(&str, &str); 5] = [
    ("make demo", "CI runs it by itself"),
    ("make test", "runs this test"),
    ("export PATH=", "the program is put on the path by this test"),
    ("docker build", "needs a container engine; the file is linted by CI"),
    ("helm install", "needs a cluster; the chart is rendered and checked by CI"),
];

/// The blocks of shell commands of a section and those below it.
fn blocks(readme: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut open: Option<String> = None;
    for line in readme.lines() {
        match (&mut open, line) {
            (None, "```sh") => open = Some(String::new()),
            (Some(_), "```") => blocks.extend(open.take()),
            (Some(block), line) => {
                block.push_str(line);
                block.push('\n');
            }
            (None, _) => {}
        }
    }
    blocks
}

fn is_run(line: &str) -> bool {
    !ELSEWHERE.iter().any(|(begin, _)| line.trim_start().starts_with(begin))
}

/// A script that stops at the first command that fails, and says which block it was.
fn script(blocks: &[String]) -> String {
    let mut script = String::from("set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true; wait || true' EXIT\n");
    for (n, block) in blocks.iter().enumerate() {
        script.push_str(&format!("echo '--- block {n}' >&2\n"));
        for line in block.lines().filter(|line| is_run(line)) {
            script.push_str(line);
            script.push('\n');
        }
    }
    script
}

fn run(blocks: &[String], free_port: u16) {
    let folder = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_anamnesis")).parent().unwrap().to_owned();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
    // Links are not followed: the samples are copied.
    std::fs::create_dir(folder.path().join("samples")).unwrap();
    for sample in samples.read_dir().unwrap() {
        let sample = sample.unwrap().path();
        std::fs::copy(&sample, folder.path().join("samples").join(sample.file_name().unwrap())).unwrap();
    }
    let script = script(blocks).replace("127.0.0.1:8080", &format!("127.0.0.1:{free_port}"));
    // Into files: a pipe would stay open as long as anything that was started in the background.
    let [said, complained] = ["stdout", "stderr"].map(|name| folder.path().join(name));
    let status = Command::new("bash")
        .arg("-c")
        .arg(&script)
        .current_dir(folder.path())
        .env("PATH", path)
        .env("ANAMNESIS__HTTP__BIND", format!("127.0.0.1:{free_port}"))
        .stdin(Stdio::null())
        .stdout(std::fs::File::create(&said).unwrap())
        .stderr(std::fs::File::create(&complained).unwrap())
        .status()
        .unwrap();
    let reported = std::fs::read_to_string(complained).unwrap();
    assert!(status.success(), "{status}\n{script}\n{reported}");
}

#[test]
fn every_command_of_the_readme_works_in_an_empty_folder() {
    let readme = include_str!("../../README.md");
    let (english, spanish) = readme.split_once("## Inicio rápido en español").expect("the Spanish quickstart");
    let (english, spanish) = (blocks(english), blocks(spanish));
    assert!(english.len() > 5 && !spanish.is_empty(), "the blocks are found");
    run(&english, free_port());
    run(&spanish, free_port());
}

#[test]
fn every_command_of_the_quickstarts_works_in_an_empty_folder() {
    let english = blocks(include_str!("../../docs/quickstart.md"));
    let spanish = blocks(include_str!("../../docs/es/inicio-rapido.md"));
    assert!(english.len() > 8, "the blocks are found");
    let steps = |blocks: &[String]| blocks.iter().map(|block| verbs(block)).collect::<Vec<_>>();
    assert_eq!(steps(&english), steps(&spanish), "the two languages have the same steps");
    run(&english, free_port());
    run(&spanish, free_port());
}

/// The verbs of the program that a block runs, in order.
fn verbs(block: &str) -> Vec<String> {
    let words: Vec<&str> = block.split_whitespace().collect();
    let calls = words.windows(2).filter(|words| words[0].ends_with("anamnesis"));
    calls.map(|words| words[1].to_owned()).collect()
}

#[test]
fn what_is_left_out_is_still_in_the_readme() {
    let readme = include_str!("../../README.md");
    for (begin, _) in ELSEWHERE {
        assert!(readme.lines().any(|line| line.trim_start().starts_with(begin)), "{begin}");
    }
}

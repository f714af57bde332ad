//! Redaction fed with what nobody would write: lines of the fixed sets, cut, doubled, mixed and peppered with signs.
//! `ANAMNESIS_FUZZ_INPUTS=1000000` makes a campaign of it.

use anamnesis::clock::{Entropy as _, SeededEntropy};
use anamnesis::dlp::{Policy, Redactor, SurrogateKey};
use anamnesis::text::{Document, Language};

const SIGNS: &[&str] = &[
    "@",
    ".",
    "-",
    "/",
    ":",
    "\n",
    " ",
    "(",
    "[",
    "]",
    "[PERSON_7F3A]",
    "[AGE_90+]",
    "\u{200B}",
    "\u{301}",
    "ﬁ",
    "Ａ",
    "ß",
    "İ",
    "🙂",
    "\u{202E}",
    "0",
    "9",
    "999999999",
    "dni ",
    "www.",
    "http://",
    "a@b.c",
    "º",
    "ª",
    "’",
    "\u{0}",
    "\t",
    "Dr. ",
    "C/ ",
    "x",
    "Ñ",
];

struct Dice(SeededEntropy);

impl Dice {
    fn below(&self, end: usize) -> usize {
        let mut bytes = [0u8; 8];
        self.0.fill(&mut bytes);
        (u64::from_le_bytes(bytes) % end.max(1) as u64) as usize
    }
}

fn cut(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn changed(seeds: &[String], dice: &Dice) -> String {
    let mut text = seeds[dice.below(seeds.len())].clone();
    for _ in 0..1 + dice.below(6) {
        let (a, b) = (cut(&text, dice.below(text.len() + 1)), cut(&text, dice.below(text.len() + 1)));
        let (from, to) = (a.min(b), a.max(b));
        match dice.below(5) {
            0 => text.replace_range(from..to, ""),
            1 => text.insert_str(from, SIGNS[dice.below(SIGNS.len())]),
            2 if text.len() < 2_000 => {
                let part = text[from..to].to_owned();
                text.insert_str(to, &part);
            }
            3 => {
                let other = &seeds[dice.below(seeds.len())];
                text.insert_str(from, &other[..cut(other, dice.below(other.len()))]);
            }
            _ => text = if dice.below(2) == 0 { text.to_uppercase() } else { text.to_lowercase() },
        }
    }
    text
}

#[test]
fn no_input_makes_redaction_fail_or_its_offsets_lie() {
    let folder = format!("{}/tests/data/redaction", env!("CARGO_MANIFEST_DIR"));
    let mut seeds: Vec<String> = Vec::new();
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files {
        seeds.extend(std::fs::read_to_string(file).unwrap().lines().map(str::to_owned).filter(|line| line.len() < 400));
    }
    let inputs = std::env::var("ANAMNESIS_FUZZ_INPUTS").ok().and_then(|count| count.parse().ok()).unwrap_or(300);
    let dice = Dice(SeededEntropy::new(20));
    let redactor = Redactor::builtin(Policy::named("strict").unwrap());
    let key = SurrogateKey::new([9; 32]);
    for number in 0..inputs {
        let text = changed(&seeds, &dice);
        let redacted = redactor.redact(&Document::plain(text.clone(), Language::Unknown), &[], &key);
        let redacted = redacted.unwrap_or_else(|error| panic!("input {number}: {error}"));
        let mut read = 0;
        for one in redacted.redactions() {
            assert!(one.source.start >= read && text.get(one.source.start..one.source.end).is_some(), "input {number}");
            assert_eq!(one.redacted.of(&redacted.document().text), one.replacement, "input {number}");
            read = one.source.end;
        }
    }
    println!("{inputs} inputs");
}

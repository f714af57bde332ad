//! Redaction fed with what no one would write: lines of texts, cut, doubled, mixed and peppered with signs, under
//! policies with tags, surrogates and masks. What must hold: no failure, offsets that lead both ways, nothing more on a
//! second pass.

use serde::Serialize;

use anamnesis_core::clock::{Entropy as _, SeededEntropy};
use anamnesis_redaction::{KnownPeople, Redacted, RedactionPolicy, Redactor, SurrogateKey};
use anamnesis_text::{Document, Language};

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
    "*",
    "**",
    "[PERSON_7F3A]",
    "[AGE_90+]",
    "[PHONE",
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
    "а",
    "６１２",
    "\r\n",
    "seis uno dos ",
    " arroba ",
];
/// Longest line that inputs are made of, in bytes.
const LINE: usize = 400;
/// Length from which an input is not doubled any more.
const LONG: usize = 2_000;

/// What a policy with masks is, in the format of policy files.
const MASKS: &str = "name = \"masks\"\nversion = 1\n[operators]\nPERSON = \"mask\"\nPHONE = \"mask\"\nDATE = \"mask\"\n\
    ADDRESS = \"mask\"\nLOCATION = \"mask\"\nORGANIZATION = \"mask\"\nMEDICAL_RECORD = \"mask\"\nEMAIL = \"mask\"\n";

/// What came of a campaign. Inputs are named by their numbers: with the seed they can be made again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FuzzOutcome {
    pub inputs: u64,
    pub(crate) bytes: u64,
    /// Redaction ended in an error; a panic inside counts as one.
    pub(crate) failed: u64,
    /// An offset does not lead where it should.
    pub(crate) crooked: u64,
    /// A second pass took something more.
    pub(crate) unstable: u64,
    /// Numbers of the first inputs that went wrong in any way.
    pub(crate) first: Vec<u64>,
}

impl FuzzOutcome {
    /// Nothing failed and no offset lied. A second pass may take a word more from nonsense that is masked by single stars.
    pub fn is_clean(&self) -> bool {
        self.failed == 0 && self.crooked == 0 && self.unstable * 1_000 <= self.inputs
    }
}

/// Dice that fall the same way for the same seed.
struct Dice(SeededEntropy);

impl Dice {
    fn below(&self, end: usize) -> usize {
        let mut bytes = [0u8; 8];
        self.0.fill(&mut bytes);
        (u64::from_le_bytes(bytes) % end.max(1) as u64) as usize
    }

    fn place(&self, text: &str) -> usize {
        let at = self.below(text.len() + 1);
        (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
    }
}

/// Redacts `inputs` inputs made of `lines`. `on_progress` is called with the number of inputs that are done.
///
/// # Panics
/// Never: what redaction does is counted.
pub fn run(lines: Vec<String>, inputs: u64, seed: u64, on_progress: &dyn Fn(u64)) -> FuzzOutcome {
    let lines: Vec<String> = lines.into_iter().filter(|line| !line.is_empty() && line.len() < LINE).collect();
    let policies = [
        RedactionPolicy::named("strict"),
        RedactionPolicy::named("safe_harbor"),
        RedactionPolicy::named("gdpr_pseudonymise"),
    ];
    let masks = RedactionPolicy::from_toml(MASKS).ok();
    let redactors: Vec<Redactor> =
        policies.into_iter().filter_map(Result::ok).chain(masks).map(Redactor::builtin).collect();
    let dice = Dice(SeededEntropy::new(seed));
    let key = SurrogateKey::new([9; 32]);
    let mut outcome = FuzzOutcome::default();
    for number in 0..inputs {
        let text = changed(&lines, &dice);
        let redactor = &redactors[number as usize % redactors.len()];
        let wrong = look(redactor, &key, &text, &mut outcome);
        if wrong && outcome.first.len() < 10 {
            outcome.first.push(number);
        }
        if number % 256 == 0 {
            on_progress(number);
        }
    }
    outcome
}

/// One input; true where anything went wrong.
fn look(redactor: &Redactor, key: &SurrogateKey, text: &str, outcome: &mut FuzzOutcome) -> bool {
    outcome.inputs += 1;
    outcome.bytes += text.len() as u64;
    let document = Document::plain(text, Language::Unknown);
    let once = redactor.redact(&document, &KnownPeople::default(), key);
    let Ok(once) = once else {
        outcome.failed += 1;
        return true;
    };
    let Ok(twice) = redactor.redact(once.document(), &KnownPeople::default(), key) else {
        outcome.failed += 1;
        return true;
    };
    let (crooked, unstable) = (!leads_both_ways(text, &once), twice.document().text != once.document().text);
    outcome.crooked += u64::from(crooked);
    outcome.unstable += u64::from(unstable);
    crooked || unstable
}

/// Replacements stand where they say, and between them both texts are the same.
fn leads_both_ways(text: &str, redacted: &Redacted) -> bool {
    let after = &redacted.document().text;
    let (mut read, mut written) = (0, 0);
    for one in redacted.redactions() {
        let kept = text.get(read..one.source.start).zip(after.get(written..one.redacted.start));
        let same = kept.is_some_and(|(before, behind)| before == behind);
        if !same || one.redacted.slice(after) != one.replacement || text.get(one.source.start..one.source.end).is_none()
        {
            return false;
        }
        (read, written) = (one.source.end, one.redacted.end);
    }
    text.get(read..) == after.get(written..)
}

fn changed(lines: &[String], dice: &Dice) -> String {
    let line = || lines.get(dice.below(lines.len())).map_or("", String::as_str);
    let mut text = line().to_owned();
    for _ in 0..1 + dice.below(6) {
        let (a, b) = (dice.place(&text), dice.place(&text));
        let (from, to) = (a.min(b), a.max(b));
        match dice.below(5) {
            0 => text.replace_range(from..to, ""),
            1 => text.insert_str(from, SIGNS[dice.below(SIGNS.len())]),
            2 if text.len() < LONG => {
                let part = text[from..to].to_owned();
                text.insert_str(to, &part);
            }
            3 => {
                let other = line();
                text.insert_str(from, &other[..dice.place(other)]);
            }
            _ => text = if dice.below(2) == 0 { text.to_uppercase() } else { text.to_lowercase() },
        }
    }
    text
}

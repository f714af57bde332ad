//! The learned recogniser: a linear-chain conditional random field over hashed features of tokens, read in place from a
//! file that `redact train` makes (docs/redaction-model.md says from what). It sees what the rules found and goes on from
//! there: names, places and organisations that no list knows, told by what stands around them.

mod agree;
mod atoms;
mod decode;
mod evidence;
mod features;
pub(crate) mod hash;
mod houses;
mod known;
mod model;
pub(crate) mod rows;
mod somebody;
mod tags;
mod things;

pub(super) use atoms::{Atom, Opening, atoms, kind_for};
pub(super) use features::{COUNT as FEATURES, features};
pub(super) use model::write;
pub(super) use tags::{COLUMNS, KINDS, OUTSIDE, TAGS, begin, inside, is_inside, kind_of, may_follow};

pub use known::Known;
pub use model::{Model, ModelError};

use super::context::Context;
use super::finding::{Finding, Layer};
use super::label;
use super::token::{Case, Kind};
use crate::text::Span;

/// The model of the program.
static BUILTIN: &[u8] = include_bytes!("../../../models/redaction/tagger.bin");

/// The recogniser with its model.
pub struct Tagger {
    model: Model,
}

/// Titles that stay in the text: they tell that a clinician speaks. Others may go with their name.
const CLINICIANS: [&str; 5] = ["dr", "dra", "prof", "doctor", "doctora"];

/// The scores of a token that surely is nothing.
const QUIET: decode::Scores = {
    let mut scores = [0; COLUMNS];
    scores[OUTSIDE] = 300;
    scores
};

/// What the model says of a document.
struct Reading {
    findings: Vec<Learned>,
    /// By token: log odds of the likeliest kind against "nothing".
    odds: Vec<f32>,
}

/// A finding of the model and the tokens it covers.
struct Learned {
    finding: Finding,
    first: usize,
    /// One behind the last.
    end: usize,
}

impl Tagger {
    /// The tagger of the program.
    ///
    /// # Errors
    /// When the program was built with a file that is no model of this version.
    pub fn builtin() -> Result<Self, ModelError> {
        Model::read(BUILTIN).map(|model| Self { model })
    }

    pub fn of(model: Model) -> Self {
        Self { model }
    }

    /// Adds what the model finds and settles it with what was found before.
    pub fn find(&self, context: &Context<'_>, found: Vec<Finding>, known: &mut Known) -> Vec<Finding> {
        let mut found = found;
        let mut reading = self.read(context, &found, known);
        found.retain(|rule| !things::is_doubted(context, rule));
        let rules = evidence::Ruled::of(&found);
        reading.findings.retain(|one| evidence::stands(context, one, &rules));
        agree::agree(context, found, reading)
    }

    fn read(&self, context: &Context<'_>, found: &[Finding], known: &mut Known) -> Reading {
        let atoms = atoms(context, found);
        let plain: Vec<bool> = atoms.iter().map(|atom| !context.no_case && atom.is_plain()).collect();
        known.grow(atoms.len());
        let scores: Vec<decode::Scores> = (0..atoms.len())
            .map(|at| {
                // Four plain words in a row: nobody is named here, and nothing need be reckoned.
                let quiet = at >= 2 && plain[at - 2..(at + 2).min(plain.len())].iter().all(|plain| *plain);
                if quiet { QUIET } else { known.of(&atoms, at, || self.scores(&atoms, at)) }
            })
            .collect();
        let tags = decode::best(&scores, &self.model.transitions);
        let odds: Vec<f32> = scores.iter().map(|token| decode::margin(token) as f32 / self.model.scale).collect();
        if !context.prose {
            return Reading { findings: Vec::new(), odds: vec![0.0; context.tokens.len()] };
        }
        let mut findings = Vec::new();
        let mut at = 0;
        while at < tags.len() {
            let Some(kind) = kind_of(tags[at].into()) else {
                at += 1;
                continue;
            };
            let first = at;
            at += 1;
            while at < tags.len() && usize::from(tags[at]) == inside(kind) {
                at += 1;
            }
            let (first, end) = trimmed(context, kind, first, at);
            let span = Span::new(context.tokens[first].span.start, context.tokens[end - 1].span.end);
            let score = certainty(&odds[first..end]);
            let finding = Finding::new(span, label_of(context, kind, span), "learned", score, Layer::Entity);
            findings.push(Learned { finding, first, end });
        }
        Reading { findings, odds }
    }

    fn scores(&self, atoms: &[Atom], at: usize) -> decode::Scores {
        let mut hashes = [0u64; FEATURES];
        features(atoms, at, &mut hashes);
        self.model.scores(&hashes)
    }
}

/// A number in digits ends with its digits, or a letter or two, and a mail address at the space: words behind are none
/// of it.
fn trimmed(context: &Context<'_>, kind: usize, first: usize, end: usize) -> (usize, usize) {
    if let Some(at) = (first..end).find(|at| context.plain(&context.tokens[*at]) == "@") {
        let tight = |left: usize| context.tokens[left].span.end == context.tokens[left + 1].span.start;
        let from = (first..at).rev().take_while(|left| tight(*left)).last().unwrap_or(at);
        let to = (at + 1..end).take_while(|right| tight(right - 1)).last().unwrap_or(at);
        return (from, to + 1);
    }
    // "Dr. Lee": the title stays, it tells who speaks.
    let mut first = first;
    let title = |at: usize| CLINICIANS.contains(&context.lower(&context.tokens[at]));
    while KINDS[kind] == label::PERSON && first + 1 < end && title(first) {
        let dotted = usize::from(context.plain(&context.tokens[first + 1]) == ".");
        if first + 1 + dotted >= end {
            break;
        }
        first += 1 + dotted;
    }
    // "Chelsea's inhaler technique": a possessive ends a name, and small words behind it are what somebody has.
    if KINDS[kind] == label::PERSON && context.tokens[first].is_large() {
        let possessive = |at: &usize| context.lower(&context.tokens[*at]).ends_with("'s");
        let small = |at: usize| context.tokens[at].case == Case::Lower;
        if let Some(at) = (first..end - 1).find(|at| possessive(at) && small(at + 1)) {
            return (first, at + 1);
        }
    }
    let digits = |at: &usize| context.tokens[*at].kind == Kind::Number;
    let number = matches!(KINDS[kind], label::NUMBER | label::PHONE | label::POSTAL_CODE);
    if !number || !(first..end).any(|at| digits(&at)) {
        return (first, end);
    }
    let word = |at: &usize| context.tokens[*at].is_word() && context.tokens[*at].span.len() > 2;
    let mut end = end;
    while word(&first) {
        first += 1;
    }
    while word(&(end - 1)) {
        end -= 1;
    }
    (first, end)
}

/// An age is judged by its years: only a great one leaves under most policies.
fn label_of(context: &Context<'_>, kind: usize, span: Span) -> &'static str {
    if KINDS[kind] != label::AGE {
        return KINDS[kind];
    }
    let digits: String = span.of(&context.view.lower).chars().filter(char::is_ascii_digit).take(3).collect();
    context.policy.age_label(digits.parse().unwrap_or(0))
}

/// 0.5–0.99 by the mean log odds of a finding's tokens. No probability: it orders findings.
fn certainty(odds: &[f32]) -> f64 {
    let mean = f64::from(odds.iter().sum::<f32>()) / odds.len().max(1) as f64;
    (1.0 / (1.0 + (-mean / 2.0).exp())).clamp(0.5, 0.99)
}

//! The learned recogniser: a linear-chain conditional random field over hashed features of tokens, read in place from a
//! file that `anamnesis-train redaction` makes (docs/redaction-model.md says from what). It sees what the rules found and goes on from
//! there: names, places and organisations that no list knows, told by what stands around them.

mod agree;
mod atoms;
mod barred;
mod decode;
mod edges;
mod evidence;
mod features;
mod houses;
pub mod judge;
mod known;
mod learned;
mod model;
mod somebody;
mod tags;
mod things;

pub use atoms::{Atom, atoms, kind_for};
pub use features::{COUNT as FEATURES, features};
pub use model::write;
pub use tags::{COLUMNS, KINDS, OUTSIDE, TAGS, begin, inside, is_inside, kind_of, may_follow};

pub use judge::Judge;
pub use known::Known;
pub use model::{Model, ModelError};

use learned::Learned;

use super::context::Context;
use super::finding::{Finding, Layer};
use super::label;
use crate::deadline;
use anamnesis_text::Span;

/// The models of the program.
static BUILTIN: &[u8] = include_bytes!("../../../../models/redaction/tagger.bin");
static BUILTIN_JUDGE: &[u8] = include_bytes!("../../../../models/redaction/judge.bin");

/// The recogniser with its models.
pub struct Tagger {
    model: Model,
    judge: Option<Judge>,
}

/// The scores of a token that surely is nothing.
const QUIET: decode::Scores = {
    let mut scores = [0; COLUMNS];
    scores[OUTSIDE] = 300;
    scores
};

/// What the model says of a document.
pub struct Reading {
    findings: Vec<Learned>,
    /// By token: log odds of the likeliest kind against "nothing".
    odds: Vec<f32>,
    atoms: Vec<Atom>,
}

impl Tagger {
    /// The tagger of the program.
    ///
    /// # Errors
    /// When the program was built with files that are no models of this version.
    pub(crate) fn builtin() -> Result<Self, ModelError> {
        Ok(Self { model: Model::read(BUILTIN)?, judge: Some(Judge::read(BUILTIN_JUDGE)?) })
    }

    /// A tagger of other models. Without a judge the lists decide what stands.
    pub fn of(model: Model, judge: Option<Judge>) -> Self {
        Self { model, judge }
    }

    /// Adds what the model finds and settles it with what was found before.
    pub(crate) fn find(&self, context: &Context<'_>, found: Vec<Finding>, known: &mut Known) -> Vec<Finding> {
        let mut found = found;
        let Reading { mut findings, odds, atoms } = self.read(context, &found, known);
        found.retain(|rule| !things::is_doubted(context, rule));
        let rules = evidence::Ruled::of(&found);
        findings.retain(|one| {
            deadline::check();
            self.stands(context, one, &rules, (&atoms, &odds))
        });
        agree::agree(context, found, findings, &odds)
    }

    fn stands(
        &self,
        context: &Context<'_>,
        one: &Learned,
        rules: &evidence::Ruled,
        (atoms, odds): (&[Atom], &[f32]),
    ) -> bool {
        let ruled = rules.meets(one.finding.span);
        if barred::is_barred(context, one, ruled) {
            return false;
        }
        ruled
            || match &self.judge {
                // A text of a few words gives a model little to go by: the lists must agree.
                Some(judge) if judge::is_judged(one.finding.label) => {
                    judge.lets_stand(&judge::signs(context, atoms, odds, one))
                        && (!evidence::is_short(context) || evidence::speaks_for(context, one))
                }
                _ => evidence::speaks_for(context, one),
            }
    }

    /// What the model finds that no rule did and nothing bars, as a judge reads it: places, and its signs.
    pub fn candidates(&self, context: &Context<'_>, found: &[Finding]) -> Vec<(Span, Vec<u64>)> {
        let Reading { findings, odds, atoms } = self.read(context, found, &mut Known::default());
        let sure: Vec<Finding> = found.iter().filter(|rule| !things::is_doubted(context, rule)).cloned().collect();
        let rules = evidence::Ruled::of(&sure);
        let open = |one: &&Learned| {
            let ruled = rules.meets(one.finding.span);
            !ruled && judge::is_judged(one.finding.label) && !barred::is_barred(context, one, ruled)
        };
        let read = |one: &Learned| (one.finding.span, judge::signs(context, &atoms, &odds, one));
        findings.iter().filter(open).map(read).collect()
    }

    fn read(&self, context: &Context<'_>, found: &[Finding], known: &mut Known) -> Reading {
        let atoms = atoms(context, found);
        let plain: Vec<bool> = atoms.iter().map(|atom| !context.no_case() && atom.is_plain()).collect();
        known.grow(atoms.len());
        let scores: Vec<decode::Scores> = (0..atoms.len())
            .map(|at| {
                deadline::check_at(at);
                // Four plain words in a row: nobody is named here, and nothing need be reckoned.
                let quiet = at >= 2 && plain[at - 2..(at + 2).min(plain.len())].iter().all(|plain| *plain);
                if quiet { QUIET } else { known.of(&atoms, at, || self.scores(&atoms, at)) }
            })
            .collect();
        deadline::check();
        let tags = decode::best(&scores, &self.model.transitions);
        let odds: Vec<f32> = scores.iter().map(|token| decode::margin(token) as f32 / self.model.scale).collect();
        if !context.prose {
            return Reading { findings: Vec::new(), odds: vec![0.0; context.tokens.len()], atoms };
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
            let (first, end) = edges::trimmed(context, kind, first, at);
            let span = Span::new(context.tokens[first].span.start, context.tokens[end - 1].span.end);
            let score = certainty(&odds[first..end]);
            let finding = Finding::new(span, label_of(context, kind, span), "learned", score, Layer::Entity);
            findings.push(Learned { finding, first, end });
        }
        Reading { findings, odds, atoms }
    }

    fn scores(&self, atoms: &[Atom], at: usize) -> decode::Scores {
        let mut hashes = [0u64; FEATURES];
        features(atoms, at, &mut hashes);
        self.model.scores(&hashes)
    }
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

#[cfg(test)]
mod tests;

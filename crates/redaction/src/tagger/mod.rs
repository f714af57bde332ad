//! The learned recogniser: a linear-chain conditional random field over hashed features of tokens, read in place from a
//! file that `anamnesis-train redaction` makes (docs/redaction-model.md names its data). It uses the findings of the
//! rules as features and adds names, places and organisations that no list contains, recognised by their context.

mod boundaries;
mod decode;
mod evidence;
mod false_positives;
mod features;
mod merge;
mod model;
mod organization_evidence;
mod person_evidence;
mod score_cache;
mod tagged_span;
mod tags;
mod token_features;
pub mod verifier;
mod vetoes;

pub use features::COUNT as FEATURES;
pub use features::features;
pub use model::write;
pub(crate) use tags::kind_of;
pub use tags::{COLUMNS, KINDS, OUTSIDE, TAGS, begin, inside, is_inside, may_follow};
pub use token_features::{TokenFeatures, kind_for, token_features};

pub use model::CrfModel;
pub(crate) use model::TaggerModelError;
pub(crate) use score_cache::ScoreCache;
pub use verifier::Verifier;

use tagged_span::TaggedSpan;

use super::document::DocumentContext;
use super::finding::{DetectionLayer, PiiFinding};
use super::label;
use crate::deadline;
use anamnesis_text::Span;

/// The models of the program.
static BUILTIN: &[u8] = include_bytes!("../../../../models/redaction/tagger.bin");
static BUILTIN_VERIFIER: &[u8] = include_bytes!("../../../../models/redaction/verifier.bin");

/// The recogniser with its models.
pub struct Tagger {
    model: CrfModel,
    verifier: Option<Verifier>,
}

/// The scores of a token that surely is nothing.
const QUIET: decode::Scores = {
    let mut scores = [0; COLUMNS];
    scores[OUTSIDE] = 300;
    scores
};

/// The model's predictions for a document.
pub(crate) struct Predictions {
    findings: Vec<TaggedSpan>,
    /// By token: log odds of the likeliest kind against "nothing".
    odds: Vec<f32>,
    token_features: Vec<TokenFeatures>,
}

impl Tagger {
    /// The tagger of the program.
    ///
    /// # Errors
    /// When the program was built with files that are no models of this version.
    pub(crate) fn builtin() -> Result<Self, TaggerModelError> {
        Ok(Self { model: CrfModel::read(BUILTIN)?, verifier: Some(Verifier::read(BUILTIN_VERIFIER)?) })
    }

    /// A tagger with other models. Without a verifier the lists decide which findings are accepted.
    pub fn new(model: CrfModel, verifier: Option<Verifier>) -> Self {
        Self { model, verifier }
    }

    /// Adds what the model finds and settles it with what was found before.
    pub(crate) fn find(
        &self,
        context: &DocumentContext<'_>,
        found: Vec<PiiFinding>,
        cache: &mut ScoreCache,
    ) -> Vec<PiiFinding> {
        let mut found = found;
        let Predictions { mut findings, odds, token_features } = self.read(context, &found, cache);
        found.retain(|rule| !false_positives::is_doubtful(context, rule));
        let rules = evidence::RuleSpans::from_findings(&found);
        findings.retain(|one| {
            deadline::check();
            self.accepts(context, one, &rules, (&token_features, &odds))
        });
        merge::merge_with_rules(context, found, findings, &odds)
    }

    fn accepts(
        &self,
        context: &DocumentContext<'_>,
        one: &TaggedSpan,
        rules: &evidence::RuleSpans,
        (token_features, odds): (&[TokenFeatures], &[f32]),
    ) -> bool {
        let ruled = rules.meets(one.finding.span);
        if vetoes::is_vetoed(context, one, ruled) {
            return false;
        }
        ruled
            || match &self.verifier {
                // A text of a few words gives a model little to go by: the lists must agree.
                Some(verifier) if verifier::is_verified_label(one.finding.label) => {
                    verifier.accepts(&verifier::verifier_features(context, token_features, odds, one))
                        && (!evidence::is_short(context) || evidence::has_evidence(context, one))
                }
                _ => evidence::has_evidence(context, one),
            }
    }

    /// Findings of the model that no rule has and no veto rejects, as input of a verifier: spans and clues.
    pub fn candidates(&self, context: &DocumentContext<'_>, found: &[PiiFinding]) -> Vec<(Span, Vec<u64>)> {
        let Predictions { findings, odds, token_features } = self.read(context, found, &mut ScoreCache::default());
        let sure: Vec<PiiFinding> =
            found.iter().filter(|rule| !false_positives::is_doubtful(context, rule)).cloned().collect();
        let rules = evidence::RuleSpans::from_findings(&sure);
        let open = |one: &&TaggedSpan| {
            let ruled = rules.meets(one.finding.span);
            !ruled && verifier::is_verified_label(one.finding.label) && !vetoes::is_vetoed(context, one, ruled)
        };
        let read =
            |one: &TaggedSpan| (one.finding.span, verifier::verifier_features(context, &token_features, &odds, one));
        findings.iter().filter(open).map(read).collect()
    }

    fn read(&self, context: &DocumentContext<'_>, found: &[PiiFinding], cache: &mut ScoreCache) -> Predictions {
        let token_features = token_features(context, found);
        let plain: Vec<bool> = token_features.iter().map(|token| !context.no_case() && token.is_plain()).collect();
        cache.grow(token_features.len());
        let scores: Vec<decode::Scores> = (0..token_features.len())
            .map(|at| {
                deadline::check_at(at);
                // Four plain words in a row: no one is named here, and nothing need be computed.
                let quiet = at >= 2 && plain[at - 2..(at + 2).min(plain.len())].iter().all(|plain| *plain);
                if quiet {
                    QUIET
                } else {
                    cache.get_or_compute(&token_features, at, || self.scores(&token_features, at))
                }
            })
            .collect();
        deadline::check();
        let tags = decode::viterbi(&scores, &self.model.transitions);
        let odds: Vec<f32> = scores.iter().map(|token| decode::margin(token) as f32 / self.model.scale).collect();
        if !context.prose {
            return Predictions { findings: Vec::new(), odds: vec![0.0; context.tokens.len()], token_features };
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
            let (first, end) = boundaries::trimmed(context, kind, first, at);
            let span = Span::new(context.tokens[first].span.start, context.tokens[end - 1].span.end);
            let score = certainty(&odds[first..end]);
            let finding =
                PiiFinding::new(span, label_of(context, kind, span), "learned", score, DetectionLayer::Entity);
            findings.push(TaggedSpan { finding, first, end });
        }
        Predictions { findings, odds, token_features }
    }

    fn scores(&self, token_features: &[TokenFeatures], at: usize) -> decode::Scores {
        let mut hashes = [0u64; FEATURES];
        features(token_features, at, &mut hashes);
        self.model.scores(&hashes)
    }
}

/// An age is judged by its years, because most policies replace only ages over their limit.
fn label_of(context: &DocumentContext<'_>, kind: usize, span: Span) -> &'static str {
    if KINDS[kind] != label::AGE {
        return KINDS[kind];
    }
    let digits: String = span.slice(&context.view.lower).chars().filter(char::is_ascii_digit).take(3).collect();
    context.policy.age_label(digits.parse().unwrap_or(0))
}

/// 0.5–0.99 by the mean log odds of a finding's tokens. No probability: it orders findings.
fn certainty(odds: &[f32]) -> f64 {
    let mean = f64::from(odds.iter().sum::<f32>()) / odds.len().max(1) as f64;
    (1.0 / (1.0 + (-mean / 2.0).exp())).clamp(0.5, 0.99)
}

#[cfg(test)]
mod tests;

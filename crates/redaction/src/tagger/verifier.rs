//! The verifier: a second, smaller model that accepts or rejects the findings of the tagger. It reads the finding, the
//! tagger's certainty, and the evidence of lists and context ([`super::evidence`]). It learned from findings in texts
//! that the tagger had not seen, so it knows the tagger's mistakes and not its memory.

use super::super::document::DocumentContext;
use super::super::entities::person_verbs;
use super::super::label;
use super::evidence;
use super::model::TaggerModelError;
use super::tagged_span::TaggedSpan;
use super::token_features::{TokenFeatures, kind_for};
use anamnesis_linear_model::hash::mix;
use anamnesis_linear_model::weights::{Rows, packed};

/// Names the format and its feature list; raised whenever features or the clues change.
pub(crate) const MAGIC: &[u8; 8] = b"anajdg01";
/// Log odds from which a finding is accepted. A miss weighs twice in training. A higher threshold loses names and saves
/// few other words (docs/redaction-model.md).
const ACCEPT_THRESHOLD: f32 = 1.7;

/// Kinds that the verifier judges: words that may be ordinary ones. Lists and check digits decide the others.
pub(crate) fn is_verified_label(name: &str) -> bool {
    matches!(name, label::PERSON | label::LOCATION | label::ORGANIZATION | label::ADDRESS | label::DATE)
}

/// A trained verifier.
pub struct Verifier {
    rows: Rows<1>,
    scale: f32,
}

impl Verifier {
    /// Reads a model.
    ///
    /// # Errors
    /// When the bytes are of another format or length.
    pub fn read(bytes: &'static [u8]) -> Result<Self, TaggerModelError> {
        let body = bytes.strip_prefix(MAGIC.as_slice()).ok_or(TaggerModelError::Format)?;
        let (head, table) = body.split_at_checked(8).ok_or(TaggerModelError::Length)?;
        let words = head.as_chunks::<4>().0;
        let (slots, scale) = (u32::from_le_bytes(words[0]) as usize, f32::from_le_bytes(words[1]));
        let rows = Rows::read(table, slots).ok_or(TaggerModelError::Length)?;
        Ok(Self { rows, scale })
    }

    /// Whether a finding is accepted.
    pub fn accepts(&self, features: &[u64]) -> bool {
        self.log_odds(features) >= ACCEPT_THRESHOLD
    }

    /// Evidence for a finding, in log odds.
    pub(crate) fn log_odds(&self, features: &[u64]) -> f32 {
        let weight = |feature: &u64| {
            let (slot, print, first) = self.rows.first(*feature);
            let slot = if first == print { Some(slot) } else { self.rows.further(slot, print) };
            slot.map_or(0, |slot| i32::from(self.rows.weights(self.rows.row(slot))[0] as i8))
        };
        features.iter().map(weight).sum::<i32>() as f32 / self.scale
    }
}

/// Puts trained weights into the file's form.
pub fn write(weights: &mut [(u64, [f32; 1])], rows: usize, slots: usize) -> Vec<u8> {
    let (scale, table) = packed(weights, rows, slots);
    let mut out = MAGIC.to_vec();
    out.extend((slots as u32).to_le_bytes());
    out.extend(scale.to_le_bytes());
    out.extend(table);
    out
}

/// The features of a finding for the verifier.
pub(super) fn verifier_features(
    context: &DocumentContext<'_>,
    token_features: &[TokenFeatures],
    odds: &[f32],
    one: &TaggedSpan,
) -> Vec<u64> {
    let kind = kind_for(one.finding.label).map_or(99, u64::from);
    let mut out = Vec::with_capacity(120);
    let own = &odds[one.first..one.end];
    let mean = step(own.iter().sum::<f32>() / own.len().max(1) as f32);
    let least = step(own.iter().copied().fold(f32::MAX, f32::min));
    let sure = mean / 3;
    let spoken = u64::from(evidence::has_evidence(context, one));
    out.extend([mix(1, kind, 0), mix(2, kind, mean), mix(3, kind, least), mix(4, spoken, 0), mix(5, spoken, kind)]);
    out.extend([mix(6, spoken << 8 | mean, kind), mix(7, mean, 0), mix(8, least, mean), mix(13, 0, 0)]);
    for (at, holds) in evidence::clues(context, one).into_iter().enumerate() {
        if holds {
            let clue = at as u64;
            out.extend([mix(9, clue, 0), mix(10, clue, kind), mix(11, clue << 8 | sure, 0), mix(12, clue, spoken)]);
        }
    }
    surroundings(context, token_features, one, (kind, sure), &mut out);
    out
}

/// Log odds of a token in steps of one, up to 15.
fn step(odds: f32) -> u64 {
    odds.clamp(0.0, 15.0) as u64
}

/// Words, classes and forms of the finding and its neighbours.
fn surroundings(
    context: &DocumentContext<'_>,
    token_features: &[TokenFeatures],
    one: &TaggedSpan,
    (kind, sure): (u64, u64),
    out: &mut Vec<u64>,
) {
    let none = TokenFeatures { shape: 63, ..TokenFeatures::default() };
    let near = |at: Option<usize>| at.and_then(|at| token_features.get(at)).unwrap_or(&none);
    let (first, last) = (&token_features[one.first], &token_features[one.end - 1]);
    let (back, back2) = (near(one.first.checked_sub(1)), near(one.first.checked_sub(2)));
    let (next, next2) = (near(Some(one.end)), near(Some(one.end + 1)));
    let class = |token: &TokenFeatures| u64::from(token.word_classes.bits()) << 8 | u64::from(token.shape);
    let length = (one.end - one.first).min(5) as u64;
    let begins = u64::from(person_verbs::begins_sentence(context, one.first));
    let whole = token_features[one.first..one.end].iter().fold(0, |sum, token| mix(90, sum, token.word));
    let forms =
        token_features[one.first..one.end].iter().take(5).fold(0, |sum, token| mix(91, sum, token.shape.into()));
    let classes = token_features[one.first..one.end].iter().take(4).fold(0, |sum, token| mix(92, sum, class(token)));
    out.extend([
        mix(20, whole, 0),
        mix(21, first.word, kind),
        mix(22, last.word, kind),
        mix(23, back.word, kind),
        mix(24, next.word, kind),
        mix(25, back.word, back2.word),
        mix(26, next.word, next2.word),
        mix(27, class(first), kind),
        mix(28, class(last), kind),
        mix(29, class(back), classes),
        mix(30, classes, class(next)),
        mix(31, forms, kind),
        mix(32, forms, u64::from(back.shape) << 8 | u64::from(next.shape)),
        mix(33, length, kind),
        mix(34, begins << 8 | length, kind),
        mix(35, begins, classes),
        mix(36, classes, kind),
        mix(37, classes, sure),
        mix(38, back.suffix, forms),
        mix(39, next.suffix, forms),
        mix(40, next.ending, u64::from(next.shape)),
        mix(41, back.word, classes),
        mix(42, next.word, classes),
        mix(43, first.suffix, kind),
        mix(44, last.suffix, kind),
        mix(45, first.field, kind),
        mix(46, class(back), class(next)),
        mix(47, next.word, sure),
        mix(48, back.word, sure),
        mix(49, u64::from(next.word_classes.bits()), u64::from(first.word_classes.bits())),
        mix(50, u64::from(back.word_classes.bits()), u64::from(first.word_classes.bits())),
        mix(51, back2.word, kind),
        mix(52, next2.word, kind),
        mix(53, first.rule.into(), kind),
    ]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_a_sign_that_no_case_had_weighs_nothing() {
        let mut weights = vec![(0x1234_5678_9ABC_DEF0, [2.0]), (0x0FED_CBA9_8765_4321, [-1.0])];
        let verifier = Verifier::read(write(&mut weights, 100, 1 << 8).leak()).unwrap();
        assert!((verifier.log_odds(&[0x1234_5678_9ABC_DEF0]) - 2.0).abs() < 0.05);
        assert!((verifier.log_odds(&[0x1234_5678_9ABC_DEF0, 0x0FED_CBA9_8765_4321]) - 1.0).abs() < 0.05);
        assert!(verifier.log_odds(&[7]).abs() < f32::EPSILON);
        assert_eq!(Verifier::read(b"anatag03").err(), Some(TaggerModelError::Format));
        assert_eq!(Verifier::read(b"anajdg01\x01").err(), Some(TaggerModelError::Length));
    }

    #[test]
    fn a_finding_is_accepted_from_its_threshold_on() {
        let judged = |weight: f32| {
            let mut weights = vec![(0x1234_5678_9ABC_DEF0, [weight]), (0x0FED_CBA9_8765_4321, [2.0])];
            Verifier::read(write(&mut weights, 100, 1 << 8).leak()).unwrap()
        };
        assert!(judged(1.8).accepts(&[0x1234_5678_9ABC_DEF0]) && !judged(1.6).accepts(&[0x1234_5678_9ABC_DEF0]));
        assert!(!judged(1.8).accepts(&[]));
        assert_eq!([-3.0, 0.0, 0.9, 1.0, 14.9, 15.0, 99.0].map(step), [0, 0, 0, 1, 14, 15, 15]);
        for name in [label::PERSON, label::LOCATION, label::ORGANIZATION, label::ADDRESS, label::DATE] {
            assert!(is_verified_label(name));
        }
        for name in [label::PHONE, label::NUMBER, label::AGE, label::FAMILY, label::EMAIL] {
            assert!(!is_verified_label(name));
        }
    }
}

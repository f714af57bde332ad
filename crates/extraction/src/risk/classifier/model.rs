//! The weights of the classifier, read in place from the bytes of their file.
//!
//! Layout, little endian: `MAGIC`, u32 slots (a power of two), f32 scale, f32 gate, f32 bias `[CLASSES]`, then [`Rows`]. A weight is
//! that of its class against "none", times the value of the feature's kind.

use crate::RiskClass;
use anamnesis_linear_model::weights::{Rows, packed};

/// Names the format and its features; raised whenever either changes.
pub(crate) const MAGIC: &[u8; 8] = b"anaear02";
/// Columns of a row, in the order of their codes.
pub const CLASSES: usize = 7;
pub const ORDER: [RiskClass; CLASSES] = [
    RiskClass::PassiveIdeation,
    RiskClass::ActiveIdeation,
    RiskClass::PlanOrMeans,
    RiskClass::AttemptHistory,
    RiskClass::SelfHarm,
    RiskClass::HarmToOthers,
    RiskClass::Abuse,
];
/// Bytes of the numbers between the magic and the fingerprints.
const HEAD: usize = 4 + 4 + 4 + 4 * CLASSES;

/// Summed weights, in the units of the file.
pub(crate) type ClassSums = [i32; CLASSES];

/// Why bytes are no model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RiskModelError {
    #[error("not a risk classifier model, or an unsupported version")]
    Format,
    #[error("the file is truncated or too long")]
    Length,
}

pub(crate) struct RiskModel {
    rows: Rows<CLASSES>,
    /// Units of weight in one unit of log odds.
    scale: f32,
    /// Log odds of any risk by words alone below which neighbours are not asked.
    gate: f32,
    bias: [f32; CLASSES],
}

impl RiskModel {
    /// Reads a model.
    ///
    /// # Errors
    /// When the bytes are of another format or length.
    pub(crate) fn read(bytes: &'static [u8]) -> Result<Self, RiskModelError> {
        let body = bytes.strip_prefix(MAGIC.as_slice()).ok_or(RiskModelError::Format)?;
        let word =
            |at: usize| body.get(at..at + 4).and_then(|b| <[u8; 4]>::try_from(b).ok()).ok_or(RiskModelError::Length);
        let number = |at: usize| word(at).map(f32::from_le_bytes);
        let slots = u32::from_le_bytes(word(0)?) as usize;
        let (scale, gate) = (number(4)?, number(8)?);
        let mut bias = [0f32; CLASSES];
        for (at, bias) in bias.iter_mut().enumerate() {
            *bias = number(12 + 4 * at)?;
        }
        let rows = Rows::read(&body[HEAD..], slots).ok_or(RiskModelError::Length)?;
        Ok(Self { rows, scale, gate, bias })
    }

    /// Adds a feature's weights to sums.
    pub(crate) fn add(&self, feature: u64, sums: &mut ClassSums) {
        let slot = match self.rows.first(feature) {
            (home, print, first) if first == print => Some(home),
            (_, _, 0) => None,
            (home, print, _) => self.rows.further(home, print),
        };
        let Some(slot) = slot else { return };
        let weights = self.rows.weights(self.rows.row(slot));
        sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += i32::from(*weight as i8));
    }

    /// Whether the odds of single words lie below the gate. Seven classes together are at most log 7 above the likeliest.
    pub(crate) fn is_below_gate(&self, sums: &ClassSums) -> bool {
        let classes = sums.iter().zip(self.bias);
        let most = classes.fold(f32::NEG_INFINITY, |most, (sum, bias)| most.max(*sum as f32 / self.scale + bias));
        most + (CLASSES as f32).ln() < self.gate || self.odds(sums).0 < self.gate
    }

    /// Log odds of any risk against none, and the likeliest class with its part of that risk.
    pub(crate) fn odds(&self, sums: &ClassSums) -> (f32, RiskClass) {
        let mut logits = [0f32; CLASSES];
        for (logit, (sum, bias)) in logits.iter_mut().zip(sums.iter().zip(self.bias)) {
            *logit = *sum as f32 / self.scale + bias;
        }
        let best = (0..CLASSES).fold(0, |best, at| if logits[at] > logits[best] { at } else { best });
        let most = logits[best];
        let together: f32 = logits.iter().map(|logit| (logit - most).exp()).sum();
        (most + together.ln(), ORDER[best])
    }
}

/// Puts trained weights into the file's form: the weightiest `rows` features, one byte a weight, in `slots`.
pub fn write(
    features: &mut [(u64, [f32; CLASSES])],
    bias: &[f32; CLASSES],
    gate: f32,
    rows: usize,
    slots: usize,
) -> Vec<u8> {
    let (scale, table) = packed(features, rows, slots);
    let mut out = MAGIC.to_vec();
    out.extend((slots as u32).to_le_bytes());
    [scale, gate].iter().chain(bias).for_each(|number| out.extend(number.to_le_bytes()));
    out.extend(table);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_what_was_not_is_nothing() {
        let mut row = [0f32; CLASSES];
        row[2] = 2.0;
        let mut features = vec![(0x1234_5678_9ABC_DEF0, row)];
        let model = RiskModel::read(write(&mut features, &[-3.0; CLASSES], -1.0, 100, 1 << 10).leak()).unwrap();
        let mut sums = ClassSums::default();
        model.add(0x1234_5678_9ABC_DEF1, &mut sums);
        assert_eq!(sums, ClassSums::default());
        model.add(0x1234_5678_9ABC_DEF0, &mut sums);
        assert_eq!(sums[2], 127);
        assert_eq!(model.odds(&sums).1, RiskClass::PlanOrMeans);
    }

    #[test]
    fn bytes_of_another_format_or_length_are_refused() {
        assert_eq!(RiskModel::read(b"something else").err(), Some(RiskModelError::Format));
        assert_eq!(RiskModel::read(b"anaear02\x00\x04\x00\x00").err(), Some(RiskModelError::Length));
    }
}

//! The weights of the ear, read in place from the bytes of their file.
//!
//! Layout, little endian: `MAGIC`, u32 slots (a power of two), f32 scale, f32 gate, f32 bias `[CLASSES]`, u16 fingerprints
//! `[slots]`, i8 weights `[rows][CLASSES]`, a row for each slot in use, in their order. A feature lies in the first free
//! slot from its home; 0 marks a free one. What was never seen is nothing (but for one feature in 65,000). A weight is
//! that of its class against "none", times the value of the feature's kind.

use crate::extract::RiskClass;

/// Names the format and its features; raised whenever either changes.
pub const MAGIC: &[u8; 8] = b"anaear01";
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
/// Most slots that are looked at for one feature.
const LONGEST_SEARCH: usize = 48;
/// Slots of one block, whose rows are counted once.
const BLOCK: usize = 64;
/// Bytes of the numbers between the magic and the fingerprints.
const HEAD: usize = 4 + 4 + 4 + 4 * CLASSES;

/// Summed weights, in the units of the file.
pub type Sums = [i32; CLASSES];

/// Why bytes are no model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    #[error("the file is no ear for risk, or one of another version")]
    Format,
    #[error("the file is cut short or too long")]
    Length,
}

pub struct Model {
    weights: &'static [u8],
    mask: usize,
    /// Units of weight in one unit of log odds.
    scale: f32,
    /// Log odds of any risk by words alone below which neighbours are not asked.
    gate: f32,
    bias: [f32; CLASSES],
    fingerprints: Vec<u16>,
    /// By block of slots: which are in use, and how many rows stand before.
    blocks: Vec<(u64, u32)>,
}

impl Model {
    /// Reads a model.
    ///
    /// # Errors
    /// When the bytes are of another format or length.
    pub fn read(bytes: &'static [u8]) -> Result<Self, ModelError> {
        let body = bytes.strip_prefix(MAGIC.as_slice()).ok_or(ModelError::Format)?;
        let word = |at: usize| body.get(at..at + 4).and_then(|b| <[u8; 4]>::try_from(b).ok()).ok_or(ModelError::Length);
        let number = |at: usize| word(at).map(f32::from_le_bytes);
        let slots = u32::from_le_bytes(word(0)?) as usize;
        let (scale, gate) = (number(4)?, number(8)?);
        let mut bias = [0f32; CLASSES];
        for (at, bias) in bias.iter_mut().enumerate() {
            *bias = number(12 + 4 * at)?;
        }
        if !slots.is_power_of_two() || slots < BLOCK || body.len() < HEAD + 2 * slots {
            return Err(ModelError::Length);
        }
        let prints = body[HEAD..HEAD + 2 * slots].chunks_exact(2);
        let fingerprints: Vec<u16> = prints.map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
        let mut blocks = Vec::with_capacity(slots / BLOCK);
        let mut rows = 0u32;
        for block in fingerprints.chunks(BLOCK) {
            let used = block.iter().enumerate().fold(0u64, |bits, (at, print)| bits | u64::from(*print != 0) << at);
            blocks.push((used, rows));
            rows += used.count_ones();
        }
        let weights = &body[HEAD + 2 * slots..];
        if weights.len() != rows as usize * CLASSES {
            return Err(ModelError::Length);
        }
        Ok(Self { weights, mask: slots - 1, scale, gate, bias, fingerprints, blocks })
    }

    /// Adds a feature's weights to sums.
    pub fn add(&self, feature: u64, sums: &mut Sums) {
        let (home, print) = home(feature, self.mask);
        let slots = (0..LONGEST_SEARCH).map(|by| (home + by) & self.mask);
        let slot = slots.take_while(|slot| self.fingerprints[*slot] != 0).find(|s| self.fingerprints[*s] == print);
        let Some(slot) = slot else { return };
        let (used, before) = self.blocks[slot / BLOCK];
        let row = (before + (used & ((1 << (slot % BLOCK)) - 1)).count_ones()) as usize;
        let weights = &self.weights[row * CLASSES..(row + 1) * CLASSES];
        sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += i32::from(*weight as i8));
    }

    /// Whether the odds of single words lie below the gate. Seven classes together are at most log 7 above the likeliest.
    pub fn is_shut(&self, sums: &Sums) -> bool {
        let classes = sums.iter().zip(self.bias);
        let most = classes.fold(f32::NEG_INFINITY, |most, (sum, bias)| most.max(*sum as f32 / self.scale + bias));
        most + (CLASSES as f32).ln() < self.gate || self.odds(sums).0 < self.gate
    }

    /// Log odds of any risk against none, and the likeliest class with its part of that risk.
    pub fn odds(&self, sums: &Sums) -> (f32, RiskClass) {
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

/// The first slot a feature may lie in, and its fingerprint, which is never 0.
fn home(feature: u64, mask: usize) -> (usize, u16) {
    ((feature >> 32) as usize & mask, (feature as u16).max(1))
}

/// Puts trained weights into the file's form: the weightiest `rows` features, one byte a weight, in `slots`.
pub fn write(
    features: &mut [(u64, [f32; CLASSES])],
    bias: &[f32; CLASSES],
    gate: f32,
    rows: usize,
    slots: usize,
) -> Vec<u8> {
    let weight = |row: &[f32; CLASSES]| row.iter().fold(0f32, |most, weight| most.max(weight.abs()));
    let most = features.iter().fold(0f32, |most, (_, row)| most.max(weight(row)));
    let scale = 127.0 / most.max(f32::MIN_POSITIVE);
    features.sort_by(|(a, x), (b, y)| weight(y).total_cmp(&weight(x)).then(a.cmp(b)));
    let (mut prints, mut table) = (vec![0u16; slots], vec![[0i8; CLASSES]; slots]);
    for (feature, row) in features.iter().take(rows) {
        let quantised = row.map(|weight| (weight * scale).round() as i8);
        if quantised.iter().all(|weight| *weight == 0) {
            continue;
        }
        let (home, print) = home(*feature, slots - 1);
        let free = (0..LONGEST_SEARCH).map(|by| (home + by) & (slots - 1)).find(|slot| prints[*slot] == 0);
        if let Some(slot) = free {
            (prints[slot], table[slot]) = (print, quantised);
        }
    }
    let mut out = MAGIC.to_vec();
    out.extend((slots as u32).to_le_bytes());
    [scale, gate].iter().chain(bias).for_each(|number| out.extend(number.to_le_bytes()));
    prints.iter().for_each(|print| out.extend(print.to_le_bytes()));
    for (_, row) in prints.iter().zip(table).filter(|(print, _)| **print != 0) {
        out.extend(row.map(|weight| weight as u8));
    }
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
        let model = Model::read(write(&mut features, &[-3.0; CLASSES], -1.0, 100, 1 << 10).leak()).unwrap();
        let mut sums = Sums::default();
        model.add(0x1234_5678_9ABC_DEF1, &mut sums);
        assert_eq!(sums, Sums::default());
        model.add(0x1234_5678_9ABC_DEF0, &mut sums);
        assert_eq!(sums[2], 127);
        assert_eq!(model.odds(&sums).1, RiskClass::PlanOrMeans);
    }

    #[test]
    fn bytes_of_another_format_or_length_are_refused() {
        assert_eq!(Model::read(b"something else").err(), Some(ModelError::Format));
        assert_eq!(Model::read(b"anaear01\x00\x04\x00\x00").err(), Some(ModelError::Length));
    }
}

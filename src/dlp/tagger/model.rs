//! The weights, read in place from the bytes of their file: fingerprints of features, rows of weights, transitions.
//!
//! Layout, little endian: `MAGIC`, u32 slots (a power of two), f32 scale, i16 transitions `[TAGS][TAGS]`, u16 fingerprints
//! `[slots]`, i8 weights `[rows][COLUMNS]`, a row for each slot in use, in their order. A feature lies in the first free
//! slot from its home; 0 marks a free one. What a model never saw is therefore nothing, not the weights of another
//! feature (but for one in 65,000).

use super::decode::{FORBIDDEN, WEIGHTIEST};
use super::tags::{COLUMNS, TAGS, may_follow};

/// Names the format and its feature list; raised whenever features, kinds or the hash change.
pub const MAGIC: &[u8; 8] = b"anatag02";
/// Most slots that are looked at for one feature.
const LONGEST_SEARCH: usize = 48;
/// Slots of one block, whose rows are counted once.
const BLOCK: usize = 64;

/// Why bytes are no model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    #[error("the file is no tagger, or one of another version")]
    Format,
    #[error("the file is cut short or too long")]
    Length,
}

/// A trained tagger. Holds the file's bytes; loading copies the small tables alone.
pub struct Model {
    /// Weights of all rows.
    weights: &'static [u8],
    mask: usize,
    /// Units of weight in one unit of log odds.
    pub scale: f32,
    /// Transition scores, in the unit of the weights.
    pub transitions: Vec<[i16; COLUMNS]>,
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
        let (slots, scale) = (u32::from_le_bytes(word(0)?) as usize, f32::from_le_bytes(word(4)?));
        let moves = 2 * TAGS * TAGS;
        if !slots.is_power_of_two() || slots < BLOCK || body.len() < 8 + moves + 2 * slots {
            return Err(ModelError::Length);
        }
        let shorts = |from: usize, count: usize| {
            body[from..from + 2 * count].chunks_exact(2).map(|pair| i16::from_le_bytes([pair[0], pair[1]]))
        };
        let mut transitions = vec![[FORBIDDEN; COLUMNS]; TAGS];
        for (at, score) in shorts(8, TAGS * TAGS).enumerate() {
            if may_follow(at / TAGS, at % TAGS) {
                transitions[at / TAGS][at % TAGS] = score.clamp(-WEIGHTIEST, WEIGHTIEST);
            }
        }
        let fingerprints: Vec<u16> = shorts(8 + moves, slots).map(|short| short as u16).collect();
        let mut blocks = Vec::with_capacity(slots / BLOCK);
        let mut rows = 0u32;
        for block in fingerprints.chunks(BLOCK) {
            let used = block.iter().enumerate().fold(0u64, |bits, (at, print)| bits | u64::from(*print != 0) << at);
            blocks.push((used, rows));
            rows += used.count_ones();
        }
        let weights = &body[8 + moves + 2 * slots..];
        if weights.len() != rows as usize * COLUMNS {
            return Err(ModelError::Length);
        }
        Ok(Self { weights, mask: slots - 1, scale, transitions, fingerprints, blocks })
    }

    /// The summed weights of a token's features. First all slots are asked for, then all rows, then the sums are made:
    /// the memory answers many questions at once, and nothing waits for a guess whether a feature is known.
    pub fn scores<const N: usize>(&self, features: &[u64; N]) -> [i16; COLUMNS] {
        let (mut known, mut count) = ([0u32; N], 0);
        let (mut elsewhere, mut further) = ([0u8; N], 0);
        for (at, feature) in features.iter().enumerate() {
            let (slot, print) = home(*feature, self.mask);
            let first = self.fingerprints[slot];
            known[count] = slot as u32;
            count += usize::from(first == print);
            elsewhere[further] = at as u8;
            further += usize::from(first != print && first != 0);
        }
        for at in &elsewhere[..further] {
            let (slot, print) = home(features[usize::from(*at)], self.mask);
            if let Some(slot) = self.search(slot, print) {
                known[count] = slot as u32;
                count += 1;
            }
        }
        let rows = &mut known[..count];
        rows.iter_mut().for_each(|place| *place = self.row(*place as usize));
        let mut scores = [0i16; COLUMNS];
        for row in rows {
            let start = *row as usize * COLUMNS;
            let weights = &self.weights[start..start + COLUMNS];
            scores.iter_mut().zip(weights).for_each(|(score, weight)| *score += i16::from(*weight as i8));
        }
        scores
    }

    fn search(&self, home: usize, print: u16) -> Option<usize> {
        let slots = (1..LONGEST_SEARCH).map(|by| (home + by) & self.mask);
        slots.take_while(|slot| self.fingerprints[*slot] != 0).find(|slot| self.fingerprints[*slot] == print)
    }

    fn row(&self, slot: usize) -> u32 {
        let (used, before) = self.blocks[slot / BLOCK];
        before + (used & ((1 << (slot % BLOCK)) - 1)).count_ones()
    }
}

/// The first slot a feature may lie in, and its fingerprint, which is never 0.
fn home(feature: u64, mask: usize) -> (usize, u16) {
    ((feature >> 32) as usize & mask, (feature as u16).max(1))
}

/// Puts trained weights into the file's form: the weightiest `rows` features, one byte a weight, in `slots`.
pub fn write(
    features: &mut [(u64, [f32; COLUMNS])],
    transitions: &[[f32; COLUMNS]],
    rows: usize,
    slots: usize,
) -> Vec<u8> {
    let most = features.iter().flat_map(|(_, row)| row).fold(0f32, |most, weight| most.max(weight.abs()));
    let scale = 127.0 / most.max(f32::MIN_POSITIVE);
    let weight = |row: &[f32; COLUMNS]| row.iter().fold(0f32, |most, weight| most.max(weight.abs()));
    features.sort_by(|(a, x), (b, y)| weight(y).total_cmp(&weight(x)).then(a.cmp(b)));
    let (mut prints, mut table) = (vec![0u16; slots], vec![[0i8; COLUMNS]; slots]);
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
    out.extend(scale.to_le_bytes());
    for row in transitions.iter().take(TAGS) {
        for score in &row[..TAGS] {
            out.extend(
                ((score * scale).round().clamp(-f32::from(WEIGHTIEST), f32::from(WEIGHTIEST)) as i16).to_le_bytes(),
            );
        }
    }
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
        let mut row = [0f32; COLUMNS];
        row[3] = 2.0;
        let mut features = vec![(0x1234_5678_9ABC_DEF0, row)];
        let bytes = write(&mut features, &vec![[0.0; COLUMNS]; TAGS], 100, 1 << 10);
        let model = Model::read(bytes.leak()).unwrap();
        assert_eq!(model.scores(&[0x1234_5678_9ABC_DEF0, 0x1234_5678_9ABC_DEF1])[3], 127);
        assert_eq!(model.scores(&[0x1234_5678_9ABC_DEF1]), [0; COLUMNS]);
    }

    #[test]
    fn bytes_of_another_format_or_length_are_refused() {
        assert_eq!(Model::read(b"something else").err(), Some(ModelError::Format));
        assert_eq!(Model::read(b"anatag02\x00\x04\x00\x00").err(), Some(ModelError::Length));
    }
}

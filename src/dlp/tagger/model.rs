//! The weights, read in place from the bytes of their file: fingerprints of features, rows of weights, transitions.
//!
//! Layout, little endian: `MAGIC`, u32 rows (a power of two), f32 scale, i16 transitions `[TAGS][TAGS]`, u16 fingerprints
//! `[rows]`, i8 weights `[rows][COLUMNS]`. A feature lies in the first free row from its home; 0 marks a free one. What a
//! model never saw is therefore nothing, not the weights of another feature (but for one in 65,000).

use super::tags::{COLUMNS, TAGS};

/// Names the format and its feature list; raised whenever features, kinds or the hash change.
pub const MAGIC: &[u8; 8] = b"anatag01";
/// Most rows that are looked at for one feature.
const LONGEST_SEARCH: usize = 48;

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
    bytes: &'static [u8],
    mask: usize,
    weights: usize,
    /// Units of weight in one unit of log odds.
    pub scale: f32,
    /// Transition scores, in the unit of the weights.
    pub transitions: Vec<[i32; COLUMNS]>,
    fingerprints: Vec<u16>,
}

impl Model {
    /// Reads a model.
    ///
    /// # Errors
    /// When the bytes are of another format or length.
    pub fn read(bytes: &'static [u8]) -> Result<Self, ModelError> {
        let body = bytes.strip_prefix(MAGIC.as_slice()).ok_or(ModelError::Format)?;
        let rows =
            u32::from_le_bytes(body.get(..4).and_then(|b| b.try_into().ok()).ok_or(ModelError::Length)?) as usize;
        let scale = f32::from_le_bytes(body.get(4..8).and_then(|b| b.try_into().ok()).ok_or(ModelError::Length)?);
        let (start, moves) = (MAGIC.len() + 8, 2 * TAGS * TAGS);
        if !rows.is_power_of_two() || bytes.len() != start + moves + rows * (2 + COLUMNS) {
            return Err(ModelError::Length);
        }
        let shorts = |from: usize, count: usize| {
            bytes[from..from + 2 * count].chunks_exact(2).map(|pair| i16::from_le_bytes([pair[0], pair[1]]))
        };
        let mut transitions = vec![[0i32; COLUMNS]; TAGS];
        for (at, score) in shorts(start, TAGS * TAGS).enumerate() {
            transitions[at / TAGS][at % TAGS] = score.into();
        }
        let fingerprints = shorts(start + moves, rows).map(|short| short as u16).collect();
        Ok(Self { bytes, scale, mask: rows - 1, weights: start + moves + 2 * rows, transitions, fingerprints })
    }

    /// Adds the weights of a feature to a token's scores.
    pub fn add(&self, feature: u64, scores: &mut [i16; COLUMNS]) {
        let (mut row, print) = home(feature, self.mask);
        for _ in 0..LONGEST_SEARCH {
            match self.fingerprints[row] {
                0 => return,
                known if known == print => {
                    let start = self.weights + row * COLUMNS;
                    for (score, weight) in scores.iter_mut().zip(&self.bytes[start..start + COLUMNS]) {
                        *score += i16::from(*weight as i8);
                    }
                    return;
                }
                _ => row = (row + 1) & self.mask,
            }
        }
    }
}

/// The first row a feature may lie in, and its fingerprint, which is never 0.
fn home(feature: u64, mask: usize) -> (usize, u16) {
    ((feature >> 32) as usize & mask, (feature as u16).max(1))
}

/// Puts trained weights into the file's form: the weightiest features that fit, one byte a weight.
pub fn write(features: &mut [(u64, [f32; COLUMNS])], transitions: &[[f32; COLUMNS]], rows: usize) -> Vec<u8> {
    let most = features.iter().flat_map(|(_, row)| row).fold(0f32, |most, weight| most.max(weight.abs()));
    let scale = 127.0 / most.max(f32::MIN_POSITIVE);
    let weight = |row: &[f32; COLUMNS]| row.iter().fold(0f32, |most, weight| most.max(weight.abs()));
    features.sort_by(|(a, x), (b, y)| weight(y).total_cmp(&weight(x)).then(a.cmp(b)));
    let (mut prints, mut table) = (vec![0u16; rows], vec![0i8; rows * COLUMNS]);
    for (feature, row) in features.iter().take(rows * 7 / 8) {
        let quantised = row.map(|weight| (weight * scale).round() as i8);
        if quantised.iter().all(|weight| *weight == 0) {
            continue;
        }
        let (mut at, print) = home(*feature, rows - 1);
        let free = (0..LONGEST_SEARCH).find_map(|_| {
            let here = at;
            at = (at + 1) & (rows - 1);
            (prints[here] == 0).then_some(here)
        });
        if let Some(at) = free {
            prints[at] = print;
            table[at * COLUMNS..(at + 1) * COLUMNS].copy_from_slice(&quantised);
        }
    }
    let mut out = MAGIC.to_vec();
    out.extend((rows as u32).to_le_bytes());
    out.extend(scale.to_le_bytes());
    for row in transitions.iter().take(TAGS) {
        for score in &row[..TAGS] {
            out.extend(((score * scale).round().clamp(-30_000.0, 30_000.0) as i16).to_le_bytes());
        }
    }
    prints.iter().for_each(|print| out.extend(print.to_le_bytes()));
    out.extend(table.iter().map(|weight| *weight as u8));
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
        let bytes = write(&mut features, &vec![[0.0; COLUMNS]; TAGS], 1 << 10);
        let model = Model::read(bytes.leak()).unwrap();
        let mut scores = [0i16; COLUMNS];
        model.add(0x1234_5678_9ABC_DEF0, &mut scores);
        assert_eq!(scores[3], 127);
        model.add(0x1234_5678_9ABC_DEF1, &mut scores);
        assert_eq!(scores[3], 127);
    }

    #[test]
    fn bytes_of_another_format_or_length_are_refused() {
        assert_eq!(Model::read(b"something else").err(), Some(ModelError::Format));
        assert_eq!(Model::read(b"anatag01\x00\x04\x00\x00").err(), Some(ModelError::Length));
    }
}

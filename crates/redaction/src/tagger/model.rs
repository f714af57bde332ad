//! The weights, read in place from the bytes of their file: fingerprints of features, rows of weights, transitions.
//!
//! Layout, little endian: `MAGIC`, u32 slots (a power of two), f32 scale, i16 transitions `[TAGS][TAGS]`, then [`Rows`].

use super::decode::{FORBIDDEN, WEIGHTIEST};
use super::tags::{COLUMNS, TAGS, may_follow};
use anamnesis_linear_model::weights::{Rows, packed};

/// Names the format and its feature list; raised whenever features, kinds or the hash change.
pub(crate) const MAGIC: &[u8; 8] = b"anatag03";

/// Why bytes are no model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TaggerModelError {
    #[error("not a tagger model, or an unsupported version")]
    Format,
    #[error("the file is truncated or too long")]
    Length,
}

/// A trained tagger.
pub struct CrfModel {
    rows: Rows<COLUMNS>,
    /// Units of weight in one unit of log odds.
    pub(crate) scale: f32,
    /// Transition scores, in the unit of the weights.
    pub(crate) transitions: Vec<[i16; COLUMNS]>,
}

impl CrfModel {
    /// Reads a model.
    ///
    /// # Errors
    /// When the bytes are of another format or length.
    pub fn read(bytes: &'static [u8]) -> Result<Self, TaggerModelError> {
        let body = bytes.strip_prefix(MAGIC.as_slice()).ok_or(TaggerModelError::Format)?;
        let word =
            |at: usize| body.get(at..at + 4).and_then(|b| <[u8; 4]>::try_from(b).ok()).ok_or(TaggerModelError::Length);
        let (slots, scale) = (u32::from_le_bytes(word(0)?) as usize, f32::from_le_bytes(word(4)?));
        let moves = 2 * TAGS * TAGS;
        let moved = body.get(8..8 + moves).ok_or(TaggerModelError::Length)?.as_chunks::<2>().0;
        let rows = Rows::read(&body[8 + moves..], slots).ok_or(TaggerModelError::Length)?;
        let mut transitions = vec![[FORBIDDEN; COLUMNS]; TAGS];
        for (at, score) in moved.iter().map(|pair| i16::from_le_bytes(*pair)).enumerate() {
            // Sequences that a span cannot have stay forbidden, whatever the file says.
            if may_follow(at / TAGS, at % TAGS) {
                transitions[at / TAGS][at % TAGS] = score.clamp(-WEIGHTIEST, WEIGHTIEST);
            }
        }
        Ok(Self { rows, scale, transitions })
    }

    /// The summed weights of a token's features. All slots are read first, then all rows, then the sums are made. So
    /// memory accesses overlap, and no branch depends on whether a feature is known.
    pub(crate) fn scores<const N: usize>(&self, features: &[u64; N]) -> [i16; COLUMNS] {
        let (mut known, mut count) = ([0u32; N], 0);
        let (mut elsewhere, mut further) = ([0u8; N], 0);
        for (at, feature) in features.iter().enumerate() {
            let (slot, print, first) = self.rows.first(*feature);
            known[count] = slot as u32;
            count += usize::from(first == print);
            elsewhere[further] = at as u8;
            further += usize::from(first != print && first != 0);
        }
        for at in &elsewhere[..further] {
            let (slot, print, _) = self.rows.first(features[usize::from(*at)]);
            if let Some(slot) = self.rows.further(slot, print) {
                known[count] = slot as u32;
                count += 1;
            }
        }
        // Slots, rows and sums are read in three loops, so that memory accesses overlap: part of a change that halved
        // the time.
        let rows = &mut known[..count];
        rows.iter_mut().for_each(|place| *place = self.rows.row(*place as usize));
        let mut scores = [0i16; COLUMNS];
        for row in rows {
            scores
                .iter_mut()
                .zip(self.rows.weights(*row))
                .for_each(|(score, weight)| *score += i16::from(*weight as i8));
        }
        scores
    }
}

/// Puts trained weights into the file's form: the weightiest `rows` features, one byte a weight, in `slots`.
pub fn write(
    features: &mut [(u64, [f32; COLUMNS])],
    transitions: &[[f32; COLUMNS]],
    rows: usize,
    slots: usize,
) -> Vec<u8> {
    let (scale, table) = packed(features, rows, slots);
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
    out.extend(table);
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
        let model = CrfModel::read(bytes.leak()).unwrap();
        assert_eq!(model.scores(&[0x1234_5678_9ABC_DEF0, 0x1234_5678_9ABC_DEF1])[3], 127);
        assert_eq!(model.scores(&[0x1234_5678_9ABC_DEF1]), [0; COLUMNS]);
    }

    #[test]
    fn bytes_of_another_format_or_length_are_refused() {
        assert_eq!(CrfModel::read(b"something else").err(), Some(TaggerModelError::Format));
        assert_eq!(CrfModel::read(b"anatag03\x00\x04\x00\x00").err(), Some(TaggerModelError::Length));
    }
}

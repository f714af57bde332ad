//! Rows of weights by the hash of a feature, read in place from a model's bytes: u16 fingerprints `[slots]`, then i8 weights
//! `[rows][COLUMNS]`, a row for each slot in use, in their order. A feature lies in the first free slot from its home; 0
//! marks a free one. What was never seen is therefore nothing, not the weights of another feature (but for one in 65,000).

/// Most slots that are looked at for one feature.
const LONGEST_SEARCH: usize = 48;
/// Slots of one block, whose rows are counted once.
const BLOCK: usize = 64;

/// A table of a model. Holds the file's bytes; loading copies the fingerprints alone.
pub struct Rows<const COLUMNS: usize> {
    /// Weights of all rows.
    weights: &'static [u8],
    mask: usize,
    fingerprints: Vec<u16>,
    /// By block of slots: which are in use, and how many rows stand before.
    blocks: Vec<(u64, u32)>,
}

impl<const COLUMNS: usize> Rows<COLUMNS> {
    /// Reads what a model's bytes end with; `None` where they are not of this length, or `slots` is no power of two.
    pub fn read(bytes: &'static [u8], slots: usize) -> Option<Self> {
        if !slots.is_power_of_two() || slots < BLOCK {
            return None;
        }
        let (prints, weights) = bytes.split_at_checked(2 * slots)?;
        let prints = prints.as_chunks::<2>().0;
        let fingerprints: Vec<u16> = prints.iter().map(|pair| u16::from_le_bytes(*pair)).collect();
        let mut blocks = Vec::with_capacity(slots / BLOCK);
        let mut rows = 0u32;
        for block in fingerprints.chunks(BLOCK) {
            let used = block.iter().enumerate().fold(0u64, |bits, (at, print)| bits | u64::from(*print != 0) << at);
            blocks.push((used, rows));
            rows += used.count_ones();
        }
        (weights.len() == rows as usize * COLUMNS).then_some(Self { weights, mask: slots - 1, fingerprints, blocks })
    }

    /// A feature's first slot and its fingerprint, and what lies in that slot.
    pub fn first(&self, feature: u64) -> (usize, u16, u16) {
        let (slot, print) = home(feature, self.mask);
        (slot, print, self.fingerprints[slot])
    }

    /// The slot of a fingerprint behind its home.
    pub fn further(&self, home: usize, print: u16) -> Option<usize> {
        let slots = (1..LONGEST_SEARCH).map(|by| (home + by) & self.mask);
        slots.take_while(|slot| self.fingerprints[*slot] != 0).find(|slot| self.fingerprints[*slot] == print)
    }

    /// The row of a slot in use.
    pub fn row(&self, slot: usize) -> u32 {
        let (used, before) = self.blocks[slot / BLOCK];
        before + (used & ((1 << (slot % BLOCK)) - 1)).count_ones()
    }

    /// The weights of a row, each an `i8`.
    pub fn weights(&self, row: u32) -> &[u8] {
        let start = row as usize * COLUMNS;
        &self.weights[start..start + COLUMNS]
    }
}

/// The first slot a feature may lie in, and its fingerprint, which is never 0.
fn home(feature: u64, mask: usize) -> (usize, u16) {
    ((feature >> 32) as usize & mask, (feature as u16).max(1))
}

/// Trained weights in the form that [`Rows::read`] reads: the weightiest `rows` features, one byte a weight, in `slots`. Also
/// how many units of weight are one of the trained.
pub fn packed<const COLUMNS: usize>(
    features: &mut [(u64, [f32; COLUMNS])],
    rows: usize,
    slots: usize,
) -> (f32, Vec<u8>) {
    let weight = |row: &[f32; COLUMNS]| row.iter().fold(0f32, |most, weight| most.max(weight.abs()));
    let most = features.iter().fold(0f32, |most, (_, row)| most.max(weight(row)));
    let scale = 127.0 / most.max(f32::MIN_POSITIVE);
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
    let mut out: Vec<u8> = prints.iter().flat_map(|print| print.to_le_bytes()).collect();
    for (_, row) in prints.iter().zip(table).filter(|(print, _)| **print != 0) {
        out.extend(row.map(|weight| weight as u8));
    }
    (scale, out)
}

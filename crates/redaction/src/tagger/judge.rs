//! Which findings of the model stand: a second, smaller model that reads what the first one found, how sure it was, and what
//! the lists and the surroundings say of it ([`super::evidence`]). It learned from findings in texts that the first model had
//! not seen, so that it knows the mistakes of that one and not its memory.

use super::super::context::Context;
use super::super::entities::deeds;
use super::super::label;
use super::atoms::{Atom, kind_for};
use super::evidence;
use super::learned::Learned;
use super::model::ModelError;
use anamnesis_linear_model::hash::mix;
use anamnesis_linear_model::weights::{Rows, packed};

/// Names the format and its feature list; raised whenever features or the clues change.
pub(crate) const MAGIC: &[u8; 8] = b"anajdg01";
/// Log odds from which a finding stands. A miss weighs twice in training; above it names are lost for few words won
/// (docs/redaction-model.md).
const STANDS: f32 = 1.7;

/// Kinds that are judged: words that may be ordinary ones. Of others lists and check digits know enough.
pub(crate) fn is_judged(name: &str) -> bool {
    matches!(name, label::PERSON | label::LOCATION | label::ORGANIZATION | label::ADDRESS | label::DATE)
}

/// A trained judge.
pub struct Judge {
    rows: Rows<1>,
    scale: f32,
}

impl Judge {
    /// Reads a model.
    ///
    /// # Errors
    /// When the bytes are of another format or length.
    pub fn read(bytes: &'static [u8]) -> Result<Self, ModelError> {
        let body = bytes.strip_prefix(MAGIC.as_slice()).ok_or(ModelError::Format)?;
        let (head, table) = body.split_at_checked(8).ok_or(ModelError::Length)?;
        let words = head.as_chunks::<4>().0;
        let (slots, scale) = (u32::from_le_bytes(words[0]) as usize, f32::from_le_bytes(words[1]));
        let rows = Rows::read(table, slots).ok_or(ModelError::Length)?;
        Ok(Self { rows, scale })
    }

    /// Whether a finding stands.
    pub fn lets_stand(&self, signs: &[u64]) -> bool {
        self.log_odds(signs) >= STANDS
    }

    /// How much speaks for a finding, in log odds.
    pub(crate) fn log_odds(&self, signs: &[u64]) -> f32 {
        let weight = |sign: &u64| {
            let (slot, print, first) = self.rows.first(*sign);
            let slot = if first == print { Some(slot) } else { self.rows.further(slot, print) };
            slot.map_or(0, |slot| i32::from(self.rows.weights(self.rows.row(slot))[0] as i8))
        };
        signs.iter().map(weight).sum::<i32>() as f32 / self.scale
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

/// What the judge reads of a finding.
pub(super) fn signs(context: &Context<'_>, atoms: &[Atom], odds: &[f32], one: &Learned) -> Vec<u64> {
    let kind = kind_for(one.finding.label).map_or(99, u64::from);
    let mut out = Vec::with_capacity(120);
    let own = &odds[one.first..one.end];
    let mean = step(own.iter().sum::<f32>() / own.len().max(1) as f32);
    let least = step(own.iter().copied().fold(f32::MAX, f32::min));
    let sure = mean / 3;
    let spoken = u64::from(evidence::speaks_for(context, one));
    out.extend([mix(1, kind, 0), mix(2, kind, mean), mix(3, kind, least), mix(4, spoken, 0), mix(5, spoken, kind)]);
    out.extend([mix(6, spoken << 8 | mean, kind), mix(7, mean, 0), mix(8, least, mean), mix(13, 0, 0)]);
    for (at, holds) in evidence::clues(context, one).into_iter().enumerate() {
        if holds {
            let clue = at as u64;
            out.extend([mix(9, clue, 0), mix(10, clue, kind), mix(11, clue << 8 | sure, 0), mix(12, clue, spoken)]);
        }
    }
    surroundings(context, atoms, one, (kind, sure), &mut out);
    out
}

/// Log odds of a token in steps of one, up to 15.
fn step(odds: f32) -> u64 {
    odds.clamp(0.0, 15.0) as u64
}

/// Words, classes and forms of the finding and its neighbours.
fn surroundings(context: &Context<'_>, atoms: &[Atom], one: &Learned, (kind, sure): (u64, u64), out: &mut Vec<u64>) {
    let none = Atom { shape: 63, ..Atom::default() };
    let near = |at: Option<usize>| at.and_then(|at| atoms.get(at)).unwrap_or(&none);
    let (first, last) = (&atoms[one.first], &atoms[one.end - 1]);
    let (back, back2) = (near(one.first.checked_sub(1)), near(one.first.checked_sub(2)));
    let (next, next2) = (near(Some(one.end)), near(Some(one.end + 1)));
    let class = |atom: &Atom| u64::from(atom.traits.bits()) << 8 | u64::from(atom.shape);
    let length = (one.end - one.first).min(5) as u64;
    let begins = u64::from(deeds::begins_sentence(context, one.first));
    let whole = atoms[one.first..one.end].iter().fold(0, |sum, atom| mix(90, sum, atom.word));
    let forms = atoms[one.first..one.end].iter().take(5).fold(0, |sum, atom| mix(91, sum, atom.shape.into()));
    let classes = atoms[one.first..one.end].iter().take(4).fold(0, |sum, atom| mix(92, sum, class(atom)));
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
        mix(49, u64::from(next.traits.bits()), u64::from(first.traits.bits())),
        mix(50, u64::from(back.traits.bits()), u64::from(first.traits.bits())),
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
        let judge = Judge::read(write(&mut weights, 100, 1 << 8).leak()).unwrap();
        assert!((judge.log_odds(&[0x1234_5678_9ABC_DEF0]) - 2.0).abs() < 0.05);
        assert!((judge.log_odds(&[0x1234_5678_9ABC_DEF0, 0x0FED_CBA9_8765_4321]) - 1.0).abs() < 0.05);
        assert!(judge.log_odds(&[7]).abs() < f32::EPSILON);
        assert_eq!(Judge::read(b"anatag03").err(), Some(ModelError::Format));
        assert_eq!(Judge::read(b"anajdg01\x01").err(), Some(ModelError::Length));
    }

    #[test]
    fn a_finding_stands_from_its_threshold_on() {
        let judged = |weight: f32| {
            let mut weights = vec![(0x1234_5678_9ABC_DEF0, [weight]), (0x0FED_CBA9_8765_4321, [2.0])];
            Judge::read(write(&mut weights, 100, 1 << 8).leak()).unwrap()
        };
        assert!(judged(1.8).lets_stand(&[0x1234_5678_9ABC_DEF0]) && !judged(1.6).lets_stand(&[0x1234_5678_9ABC_DEF0]));
        assert!(!judged(1.8).lets_stand(&[]));
        assert_eq!([-3.0, 0.0, 0.9, 1.0, 14.9, 15.0, 99.0].map(step), [0, 0, 0, 1, 14, 15, 15]);
        for name in [label::PERSON, label::LOCATION, label::ORGANIZATION, label::ADDRESS, label::DATE] {
            assert!(is_judged(name));
        }
        for name in [label::PHONE, label::NUMBER, label::AGE, label::FAMILY, label::EMAIL] {
            assert!(!is_judged(name));
        }
    }
}

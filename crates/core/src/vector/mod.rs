//! Exact search over one patient's vectors. Stored vectors are 16-bit floats, little endian, of unit length, so that
//! their cosine is a dot product; a patient's few thousand are compared one by one in well under a millisecond each
//! thousand, and no approximate index ever hides a row.

mod agreement;
mod product;

use half::f16;

use crate::scope::Scope;

pub use agreement::{overlap_at, rank_agreement};
pub use product::dot;

/// The key of one vector: (organisation, patient, generation, keyed hash of the text).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CacheKey {
    pub scope: Scope,
    /// Of the model's profile: vectors of different generations are never compared.
    pub generation: i64,
    /// HMAC of the text under the patient's key, from the caller.
    pub text: [u8; 16],
}

/// Cosine of a unit query and a stored unit vector, −1.0–1.0; `None` when their dimensions differ.
pub fn cosine(query: &[f32], stored: &[u8]) -> Option<f64> {
    let asked: Vec<u8> = query.iter().flat_map(|x| f16::from_f32(*x).to_le_bytes()).collect();
    dot(&asked, stored).map(|found| found.clamp(-1.0, 1.0))
}

/// Whether a stored vector can be compared at all: of this dimension, finite, and of unit length as far as 16-bit floats say.
pub fn is_sound(stored: &[u8], dimension: usize) -> bool {
    let square = |pair: &[u8]| f64::from(f16::from_le_bytes([pair[0], pair[1]]).to_f32()).powi(2);
    let length: f64 = stored.chunks_exact(2).map(square).sum();
    stored.len() == 2 * dimension && (length - 1.0).abs() < 0.02
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stored(vector: &[f32]) -> Vec<u8> {
        vector.iter().flat_map(|x| f16::from_f32(*x).to_le_bytes()).collect()
    }

    fn unit(vector: Vec<f32>) -> Vec<f32> {
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        vector.iter().map(|x| x / length).collect()
    }

    #[test]
    fn a_vector_is_nearest_to_itself_and_opposite_to_its_negative() {
        let up = [0.6f32, 0.8];
        assert!((cosine(&up, &stored(&up)).unwrap() - 1.0).abs() < 1e-3);
        assert!((cosine(&up, &stored(&[-0.6, -0.8])).unwrap() + 1.0).abs() < 1e-3);
        assert!(cosine(&up, &stored(&[0.8, -0.6])).unwrap().abs() < 1e-3);
    }

    #[test]
    fn a_zero_vector_one_that_is_not_finite_and_one_of_another_dimension_are_not_sound() {
        assert!(is_sound(&stored(&unit(vec![3.0, 4.0])), 2));
        assert!(!is_sound(&stored(&[0.0, 0.0]), 2));
        assert!(!is_sound(&stored(&[f32::NAN, 1.0]), 2));
        assert!(!is_sound(&stored(&[f32::INFINITY, 0.0]), 2));
        assert!(!is_sound(&stored(&unit(vec![3.0, 4.0])), 3));
    }

    #[test]
    fn vectors_of_another_dimension_are_not_compared() {
        assert_eq!(cosine(&[1.0, 0.0], &stored(&[1.0])), None);
        assert_eq!(cosine(&[], &[]), None);
    }

    proptest! {
        #[test]
        fn sixteen_bits_cost_less_than_a_thousandth(
            a in proptest::collection::vec(-1.0f32..1.0, 64), b in proptest::collection::vec(-1.0f32..1.0, 64),
        ) {
            prop_assume!(a.iter().any(|x| x.abs() > 0.1) && b.iter().any(|x| x.abs() > 0.1));
            let (a, b) = (unit(a), unit(b));
            let exact: f64 = a.iter().zip(&b).map(|(x, y)| f64::from(x * y)).sum();
            prop_assert!((cosine(&a, &stored(&b)).unwrap() - exact).abs() < 1e-3);
        }
    }
}

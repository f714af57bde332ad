//! Validation of every answer before anything of it is stored (docs/dependencies.md, "Embedding replies").

use crate::EmbedError;

/// A squared length this close to 1 is left as the provider sent it.
const UNIT_TOLERANCE: f64 = 1e-6;

/// Vectors in the order of the texts → the same, checked: as many as texts, all of `dimension`, all finite, each of
/// unit length (normalised here: shortened vectors of several models are not).
///
/// # Errors
/// [`EmbedError::BadAnswer`] for a wrong count or differing lengths, [`EmbedError::Dimension`] when all have another
/// length, [`EmbedError::NotFinite`] for infinities, NaN and zero vectors.
pub(crate) fn checked(mut vectors: Vec<Vec<f32>>, texts: usize, dimension: usize) -> Result<Vec<Vec<f32>>, EmbedError> {
    if vectors.len() != texts {
        return Err(EmbedError::BadAnswer);
    }
    let wrong = vectors.iter().filter(|vector| vector.len() != dimension).count();
    if wrong > 0 {
        return Err(if wrong == texts { EmbedError::Dimension } else { EmbedError::BadAnswer });
    }
    vectors.iter_mut().try_for_each(|vector| normalise(vector))?;
    Ok(vectors)
}

/// Brings a vector to unit length.
///
/// # Errors
/// [`EmbedError::NotFinite`] when a number is not finite or the vector has no direction.
pub(crate) fn normalise(vector: &mut [f32]) -> Result<(), EmbedError> {
    // In f64: the square of a large f32 would overflow.
    let square: f64 = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
    if !square.is_finite() || square < f64::from(f32::MIN_POSITIVE) {
        return Err(EmbedError::NotFinite);
    }
    if (square - 1.0).abs() > UNIT_TOLERANCE {
        let scale = square.sqrt().recip();
        vector.iter_mut().for_each(|x| *x = (f64::from(*x) * scale) as f32);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_wrong_count_is_a_bad_answer() {
        assert_eq!(checked(vec![vec![1.0]], 2, 1), Err(EmbedError::BadAnswer));
        assert_eq!(checked(vec![vec![1.0]; 3], 2, 1), Err(EmbedError::BadAnswer));
    }

    #[test]
    fn another_model_is_told_from_a_broken_vector() {
        assert_eq!(checked(vec![vec![1.0; 3]; 2], 2, 2), Err(EmbedError::Dimension));
        assert_eq!(checked(vec![vec![1.0; 3], vec![1.0; 2]], 2, 2), Err(EmbedError::BadAnswer));
        assert_eq!(checked(vec![vec![]], 1, 2), Err(EmbedError::Dimension));
    }

    #[test]
    fn infinities_nan_and_zero_vectors_are_not_finite() {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e39_f64 as f32] {
            assert_eq!(checked(vec![vec![0.5, bad]], 1, 2), Err(EmbedError::NotFinite), "{bad}");
        }
        assert_eq!(checked(vec![vec![0.0, -0.0]], 1, 2), Err(EmbedError::NotFinite));
    }

    #[test]
    fn a_unit_vector_is_left_bit_for_bit() {
        let vector = vec![0.6_f32, 0.8];
        assert_eq!(checked(vec![vector.clone()], 1, 2), Ok(vec![vector]));
    }

    #[test]
    fn huge_and_tiny_vectors_become_unit_vectors() {
        for x in [3e38_f32, 1e-15] {
            let vectors = checked(vec![vec![x, x]], 1, 2).unwrap();
            assert!((vectors[0][0] - std::f32::consts::FRAC_1_SQRT_2).abs() < 1e-6);
        }
    }

    proptest! {
        #[test]
        fn whatever_passes_has_unit_length(vector in prop::collection::vec(prop::num::f32::ANY, 1..40)) {
            let dimension = vector.len();
            if let Ok(vectors) = checked(vec![vector], 1, dimension) {
                let length: f64 = vectors[0].iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
                prop_assert!((length - 1.0).abs() < 1e-5, "{}", length);
            }
        }
    }
}

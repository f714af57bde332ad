//! A vector that depends on the text alone.

/// The unit vector of a text: pseudo-random direction seeded with the text's hash. Equal texts, equal vectors; different
/// texts are nearly orthogonal at the usual dimensions.
pub fn vector_of(text: &str, dimension: usize) -> Vec<f32> {
    let mut state = hash(text.as_bytes());
    let mut vector = Vec::with_capacity(dimension);
    let mut square = 0f64;
    while vector.len() < dimension {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = mix(state);
        // Two numbers of 32 bits, each −1.0–1.0.
        for half in [(mixed >> 32) as u32, mixed as u32] {
            if vector.len() < dimension {
                let value = f64::from(half as i32) / f64::from(1u32 << 31);
                square += value * value;
                vector.push(value as f32);
            }
        }
    }
    let scale = square.sqrt().recip() as f32;
    vector.iter_mut().for_each(|value| *value *= scale);
    vector
}

/// Eight bytes at a time: one by one they took as long as all the rest of an answer.
fn hash(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0u8; 8];
    last[..rest.len()].copy_from_slice(rest);
    let all = words.iter().chain(std::iter::once(&last)).map(|word| u64::from_le_bytes(*word));
    let start = 0xCBF2_9CE4_8422_2325 ^ bytes.len() as u64;
    all.fold(start, |hash, word| (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32))
}

/// The output function of SplitMix64.
fn mix(state: u64) -> u64 {
    let z = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_have_equal_unit_vectors_and_others_point_elsewhere() {
        let (one, other) = (vector_of("she lost her job", 768), vector_of("perdió el trabajo", 768));
        assert_eq!(one, vector_of("she lost her job", 768));
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
        assert!((dot(&one, &one) - 1.0).abs() < 1e-5);
        assert!(dot(&one, &other).abs() < 0.2);
        assert_eq!(vector_of("x", 3).len(), 3);
    }
}

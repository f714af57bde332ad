//! The hash of features and words. Part of the model's format: a change makes every trained model void.

/// Hash of a few bytes: eight at a time, the last ones filled up with zeros.
pub const fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut state = 0xCBF2_9CE4_8422_2325u64 ^ bytes.len() as u64;
    let mut rest = bytes;
    while let Some((eight, behind)) = rest.split_first_chunk::<8>() {
        state = stirred(state, u64::from_le_bytes(*eight));
        rest = behind;
    }
    if rest.is_empty() { state } else { stirred(state, filled(rest)) }
}

const fn stirred(state: u64, word: u64) -> u64 {
    let state = (state ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    state ^ state >> 29
}

/// One to seven bytes as a number, read in two or three goes that may overlap.
const fn filled(bytes: &[u8]) -> u64 {
    let last = bytes.len() - 1;
    match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (Some(low), Some(high)) => {
            u32::from_le_bytes(*low) as u64 | (u32::from_le_bytes(*high) as u64) << (8 * (last - 3))
        }
        _ => {
            let middle = bytes.len() / 2;
            bytes[0] as u64 | (bytes[middle] as u64) << (8 * middle) | (bytes[last] as u64) << (8 * last)
        }
    }
}

/// One feature: its template and up to two values.
pub fn mix(template: u64, a: u64, b: u64) -> u64 {
    let mut state = (a ^ template.wrapping_mul(0xD6E8_FEB8_6659_FD93)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    state = (state ^ (state >> 32) ^ b.rotate_left(17)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    state ^ (state >> 29)
}

#[cfg(test)]
mod tests {
    use super::hash_bytes;

    /// As the format of the model was first written: byte by byte.
    fn plainly(bytes: &[u8]) -> u64 {
        let mut state = 0xCBF2_9CE4_8422_2325u64 ^ bytes.len() as u64;
        for eight in bytes.chunks(8) {
            let word = eight.iter().rev().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
            state = (state ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            state ^= state >> 29;
        }
        state
    }

    #[test]
    fn bytes_of_every_length_have_the_hash_that_models_were_trained_with() {
        let text = "Niñez \u{1F642} y 0123456789, hipertensión";
        for end in 0..=text.len() {
            assert_eq!(hash_bytes(&text.as_bytes()[..end]), plainly(&text.as_bytes()[..end]), "{end}");
        }
    }
}

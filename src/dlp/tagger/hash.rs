//! The hash of features and words. Part of the model's format: a change makes every trained model void.

/// Hash of a few bytes.
pub fn of(bytes: &[u8]) -> u64 {
    let mut state = 0xCBF2_9CE4_8422_2325u64 ^ bytes.len() as u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0u8; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        state = (state ^ u64::from_le_bytes(word)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        state ^= state >> 29;
    }
    state
}

/// One feature: its template and up to two values.
pub fn mix(template: u64, a: u64, b: u64) -> u64 {
    let mut state = (a ^ template.wrapping_mul(0xD6E8_FEB8_6659_FD93)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    state = (state ^ (state >> 32) ^ b.rotate_left(17)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    state ^ (state >> 29)
}

//! The hash of features and words. Part of the model's format: a change makes every trained model void.

/// Hash of a few bytes.
pub const fn of(bytes: &[u8]) -> u64 {
    let mut state = 0xCBF2_9CE4_8422_2325u64 ^ bytes.len() as u64;
    let mut at = 0;
    while at < bytes.len() {
        // Eight bytes at a time, the last ones filled up with zeros.
        let (mut word, mut byte) = (0u64, 0);
        while byte < 8 && at + byte < bytes.len() {
            word |= (bytes[at + byte] as u64) << (8 * byte);
            byte += 1;
        }
        state = (state ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        state ^= state >> 29;
        at += 8;
    }
    state
}

/// One feature: its template and up to two values.
pub fn mix(template: u64, a: u64, b: u64) -> u64 {
    let mut state = (a ^ template.wrapping_mul(0xD6E8_FEB8_6659_FD93)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    state = (state ^ (state >> 32) ^ b.rotate_left(17)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    state ^ (state >> 29)
}

//! How sure the ear must be. A message of a line or two is judged by itself; in a long document each sentence is one of
//! many chances to be wrong, so each must be surer.

/// Sentences up to which a text is short, and from which it is long.
const SHORT: f32 = 4.0;
const LONG: f32 = 24.0;
/// Log odds of risk demanded in a short text (probability .55) and in a long one (.8).
const IN_SHORT: f32 = 0.2;
const IN_LONG: f32 = 1.39;

/// Log odds demanded in a text of so many sentences.
pub fn demanded(sentences: usize) -> f32 {
    let length = (sentences.min(1 << 16) as f32).clamp(SHORT, LONG);
    IN_SHORT + (IN_LONG - IN_SHORT) * (length / SHORT).ln() / (LONG / SHORT).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_demands_more() {
        assert_eq!((demanded(0), demanded(4)), (IN_SHORT, IN_SHORT));
        assert!(demanded(4) < demanded(10) && demanded(10) < demanded(24));
        assert_eq!(demanded(24), demanded(4000));
    }
}

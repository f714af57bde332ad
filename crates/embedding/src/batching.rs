//! How many texts go into one request: by count and by estimated tokens.

use std::ops::Range;

/// The most that one request may carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BatchLimits {
    pub(crate) texts: usize,
    /// Estimated tokens, see [`estimated_tokens`].
    pub(crate) tokens: usize,
}

impl BatchLimits {
    /// When neither configuration nor server says: below the limits of every provider of docs/providers.md.
    pub(crate) const DEFAULT: Self = Self { texts: 64, tokens: 16_000 };
}

/// Tokens that a text will take, from its length: a token of the usual vocabularies is three to four bytes of Spanish
/// or English; three errs towards smaller requests. Two more for the marks of beginning and end.
pub(crate) fn estimated_tokens(text: &str) -> usize {
    text.len().div_ceil(3) + 2
}

/// Cuts `texts` into consecutive ranges within the limits. A text that alone exceeds the tokens goes alone: the
/// provider decides. Never an empty range; concatenated, the ranges are the whole.
pub(crate) fn batches(texts: &[&str], limits: BatchLimits) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let (mut start, mut tokens) = (0, 0);
    for (at, text) in texts.iter().enumerate() {
        let more = estimated_tokens(text);
        if at > start && (at - start >= limits.texts || tokens + more > limits.tokens) {
            ranges.push(start..at);
            (start, tokens) = (at, 0);
        }
        tokens += more;
    }
    if start < texts.len() {
        ranges.push(start..texts.len());
    }
    ranges
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_are_cut_by_count_and_by_tokens() {
        let limits = BatchLimits { texts: 3, tokens: 10 };
        assert_eq!(batches(&["a"; 7], limits), [0..3, 3..6, 6..7]);
        assert_eq!(batches(&["abcdefghi", "abcdefghi", "a"], limits), [0..2, 2..3]);
    }

    #[test]
    fn a_text_over_the_limit_goes_alone() {
        let long = "x".repeat(300);
        assert_eq!(batches(&["a", &long, "b"], BatchLimits { texts: 8, tokens: 50 }), [0..1, 1..2, 2..3]);
    }

    proptest! {
        #[test]
        fn the_ranges_are_the_whole_in_order_and_within_the_limits(
            texts in prop::collection::vec("[a-z ]{0,60}", 0..80), most in 1usize..9, tokens in 5usize..60,
        ) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let ranges = batches(&texts, BatchLimits { texts: most, tokens });
            prop_assert_eq!(ranges.iter().flat_map(Clone::clone).collect::<Vec<_>>(), (0..texts.len()).collect::<Vec<_>>());
            for range in ranges {
                prop_assert!(!range.is_empty() && range.len() <= most);
                let sum: usize = texts[range.clone()].iter().map(|t| estimated_tokens(t)).sum();
                prop_assert!(range.len() == 1 || sum <= tokens);
            }
        }
    }
}

//! The features of one token: itself and two neighbours on each side, hashed. The list is part of the model's format.

use super::token_features::TokenFeatures;
use anamnesis_linear_model::hash::mix;

/// How many features a token has.
pub const COUNT: usize = 40;

/// Writes the features of the token at `at`.
pub fn features(token_features: &[TokenFeatures], at: usize, out: &mut [u64; COUNT]) {
    // A shape that no token has marks the ends of the text.
    let none = TokenFeatures { shape: 63, ..TokenFeatures::default() };
    let near = |by: isize| at.checked_add_signed(by).and_then(|place| token_features.get(place)).unwrap_or(&none);
    let (back2, back, here, next, next2) = (near(-2), near(-1), &token_features[at], near(1), near(2));
    let back3 = near(-3);
    let shapes = |a: &TokenFeatures, b: &TokenFeatures, c: &TokenFeatures| {
        u64::from(a.shape) << 16 | u64::from(b.shape) << 8 | u64::from(c.shape)
    };
    let class = |token: &TokenFeatures| u64::from(token.word_classes.bits()) << 8 | u64::from(token.shape);
    let rule = |token: &TokenFeatures| u64::from(token.rule);
    *out = [
        // The numbers 10 to 49 keep the templates apart; a change needs a new `MAGIC` and a trained model.
        mix(10, here.word, 0),
        mix(11, back.word, 0),
        mix(12, next.word, 0),
        mix(13, back2.word, 0),
        mix(14, next2.word, 0),
        mix(15, back.word, here.word),
        mix(16, here.word, next.word),
        mix(17, here.shape.into(), 0),
        mix(18, shapes(back, here, next), 0),
        mix(19, shapes(back2, back, here), 0),
        mix(20, shapes(here, next, next2), 0),
        mix(21, here.suffix, here.shape.into()),
        mix(22, here.ending, here.shape.into()),
        mix(23, here.prefix, here.shape.into()),
        mix(24, class(here), 0),
        mix(25, class(back), class(here)),
        mix(26, class(here), class(next)),
        mix(27, class(back2), class(back) << 32 | class(here)),
        mix(28, back.word, class(here)),
        mix(29, next.word, class(here)),
        mix(30, mix(1, back2.word, back.word), class(here)),
        mix(31, mix(1, next.word, next2.word), here.shape.into()),
        mix(32, here.field, here.shape.into()),
        mix(33, here.field, class(here)),
        mix(34, back2.word, class(here)),
        mix(35, mix(1, back.word, class(here)), next.word),
        mix(36, rule(here), 0),
        mix(37, rule(here), class(here)),
        mix(38, rule(back), rule(here) << 8 | rule(next)),
        mix(39, rule(here), back.word),
        mix(40, rule(here), here.word),
        mix(41, rule(next), class(here)),
        mix(42, rule(back), class(here)),
        mix(43, mix(1, back3.word, back2.word), class(back) << 32 | class(here)),
        mix(44, back3.word, here.shape.into()),
        mix(45, 1, 0),
        mix(46, next.suffix, class(here)),
        mix(47, back.suffix, class(here)),
        mix(48, mix(1, back.word, class(here)), mix(1, next.suffix, next.shape.into())),
        mix(49, mix(1, back.shape.into(), class(here)), mix(1, next.ending, class(next2))),
    ];
}

//! The tags of a token: nothing, or the beginning or inside of one kind of personal data.

use super::super::label;

/// Kinds in the order of the model's columns; a model names them, and one with other kinds is refused.
pub const KINDS: [&str; 14] = [
    label::PERSON,
    label::LOCATION,
    label::COUNTRY,
    label::ADDRESS,
    label::POSTAL_CODE,
    label::ORGANIZATION,
    label::DATE,
    label::AGE,
    label::SEX,
    label::FAMILY,
    label::PROFESSION,
    label::NUMBER,
    label::PHONE,
    label::EMAIL,
];
/// Outside, and begin and inside of every kind.
pub const TAGS: usize = 1 + 2 * KINDS.len();
/// Columns of one row of weights; the rest is padding, so that a row is half a cache line.
pub const COLUMNS: usize = 32;
/// No personal data.
pub const OUTSIDE: usize = 0;

/// The tag that begins a kind.
pub const fn begin(kind: usize) -> usize {
    1 + 2 * kind
}

/// The tag inside a span of a kind.
pub const fn inside(kind: usize) -> usize {
    2 + 2 * kind
}

/// The kind of a tag; `None` outside.
pub(crate) const fn kind_of(tag: usize) -> Option<usize> {
    if tag == OUTSIDE { None } else { Some((tag - 1) / 2) }
}

/// Whether a tag continues the span before it.
pub const fn is_inside(tag: usize) -> bool {
    tag != OUTSIDE && tag.is_multiple_of(2)
}

/// Whether one tag may follow another: an inside tag needs a beginning.
pub const fn may_follow(before: usize, tag: usize) -> bool {
    !is_inside(tag) || before == tag || before + 1 == tag
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_began_goes_on() {
        assert!(may_follow(begin(3), inside(3)) && may_follow(inside(3), inside(3)) && may_follow(inside(3), begin(3)));
        assert!(!may_follow(OUTSIDE, inside(0)) && !may_follow(begin(1), inside(0)));
        const { assert!(TAGS <= COLUMNS) };
    }

    #[test]
    fn every_tag_has_one_kind_and_goes_on_with_its_own_alone() {
        for kind in 0..KINDS.len() {
            assert_eq!((kind_of(begin(kind)), kind_of(inside(kind))), (Some(kind), Some(kind)));
            assert!(is_inside(inside(kind)) && !is_inside(begin(kind)));
            for before in 0..TAGS {
                assert_eq!(may_follow(before, inside(kind)), kind_of(before) == Some(kind), "{before}");
                assert!(may_follow(before, begin(kind)) && may_follow(before, OUTSIDE));
            }
        }
        assert_eq!(kind_of(OUTSIDE), None);
    }
}

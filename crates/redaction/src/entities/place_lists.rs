//! The gazetteer: places and countries, folded and in lower case.

use std::sync::LazyLock;

use super::super::word_tables::WordSet;
use super::words::fold;

static PLACES: LazyLock<WordSet> = LazyLock::new(|| lines(include_str!("../data/places.txt")).collect());
static COUNTRIES: LazyLock<WordSet> = LazyLock::new(|| lines(include_str!("../data/countries.txt")).collect());

fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.starts_with('#') && !line.is_empty())
}

pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    PLACES.iter().copied()
}

pub(crate) fn countries() -> impl Iterator<Item = &'static str> {
    COUNTRIES.iter().copied()
}

/// Whether a name as written is a country's.
pub fn is_country_name(name: &str) -> bool {
    is_country(&fold(name))
}

pub(crate) fn is_country(lower: &str) -> bool {
    COUNTRIES.contains(lower)
}

pub(crate) fn is_place(lower: &str) -> bool {
    PLACES.contains(lower) || is_country(lower)
}

//! The word lists as lists: what training makes names and places from.

use super::{lexicon, place_lists as places, words};

pub fn given_names() -> Vec<&'static str> {
    lexicon::all().filter(|(_, word)| word.given).map(|(name, _)| name).collect()
}

pub fn surnames() -> Vec<&'static str> {
    lexicon::all()
        .filter(|(name, word)| word.surname && name.is_ascii() && name.len() > 2)
        .map(|(name, _)| name)
        .collect()
}

pub fn everyday_names() -> Vec<&'static str> {
    words::everyday_names().collect()
}

pub fn places() -> Vec<&'static str> {
    places::names().collect()
}

pub fn countries() -> Vec<&'static str> {
    places::countries().collect()
}

/// Everyday first names in their order, for invented values.
pub(crate) fn everyday_given() -> Vec<&'static str> {
    sorted(everyday_names().into_iter().filter(|name| name.len() > 3 && lexicon::word(name).is_strong()).collect())
}

/// Surnames that are nothing else, in their order.
pub(crate) fn plain_surnames() -> Vec<&'static str> {
    sorted(surnames().into_iter().filter(|name| name.len() > 3 && lexicon::word(name).is_strong()).collect())
}

/// Places of one plain word, in their order.
pub(crate) fn large_places() -> Vec<&'static str> {
    let plain = |name: &&str| name.is_ascii() && name.len() > 4 && !name.contains(' ') && !lexicon::word(name).common;
    sorted(places().into_iter().filter(plain).collect())
}

fn sorted(mut list: Vec<&'static str>) -> Vec<&'static str> {
    list.sort_unstable();
    list
}

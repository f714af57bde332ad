//! The word lists as lists: what training makes names and places from.

use super::{lexicon, places, words};

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

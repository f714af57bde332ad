//! Tables of the words that rules look up: lists of single words and short phrases, without the syntax of the other lists.

pub(crate) use anamnesis_text::WordList;

pub(crate) const ALLERGIES: &str = include_str!("words/allergies.tsv");
pub(crate) const ASSERTION: &str = include_str!("words/assertion.tsv");
pub(crate) const DATES: &str = include_str!("words/dates.tsv");
pub(crate) const EVENTS: &str = include_str!("words/events.tsv");
pub(crate) const GENERAL: &str = include_str!("words/general.tsv");
pub(crate) const MEDICATION: &str = include_str!("words/medication.tsv");
pub(crate) const RISK: &str = include_str!("words/risk.tsv");

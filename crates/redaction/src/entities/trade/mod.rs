//! Words of the clinic and of speech that read like names and name nobody: abbreviations, medicines, devices, what people
//! begin to speak with and what notes begin a sentence with. Lists: `data/trade.tsv`, and the extractor's own lists of
//! medicines, so that what is read as a medicine is not taken for a person.

mod clinic;
mod cuts;
mod figures;
mod forms;
mod names;
mod speech;
mod tidy;
mod verbs;
pub(crate) mod words;

pub(crate) use tidy::tidy;

//! Words of clinic and speech that read like names and name no person: abbreviations, medicines, devices, what people
//! begin to speak with and what notes begin a sentence with. Lists: `data/stop_words.tsv`, and the extractor's own lists of
//! medicines, so that what is read as a medicine is not taken for a person.

mod clinical_words;
mod everyday_speech;
mod filter;
mod names;
mod numbers;
mod splits;
pub(crate) mod stop_words;
mod verbs;
mod word_forms;

pub(crate) use filter::drop_false_positives;

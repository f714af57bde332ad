//! Clinical words and words of speech that read like names: abbreviations, medicines, devices, words that open speech
//! or a sentence of a note. Lists: `data/stop_words.tsv`, and the medicine lists of extraction, so that no medicine is
//! taken for a person.

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

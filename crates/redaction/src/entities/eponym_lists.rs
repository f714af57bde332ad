//! Nouns that make a thing of a name: "signo de X", "X sign".

use crate::word_tables::{self, WordList};

/// Nouns before "de X". Without the lists of eponyms, devices and brands, 187 characters more that are no personal data are
/// replaced in the fixed sets, and ten clean lines more are touched (`false_positives` in docs/redaction-model.md).
pub(crate) static BEFORE: WordList = WordList::listed(word_tables::ENTITIES, "eponym_lists.before");

/// Nouns after a name.
pub(crate) static AFTER: WordList = WordList::listed(word_tables::ENTITIES, "eponym_lists.after");

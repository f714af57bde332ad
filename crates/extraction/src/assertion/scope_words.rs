//! Words by which the scope of a cue opens, ends or goes on.

use crate::lexicon::word_lists::{self, WordList};

/// A comma and one of these begin a statement: "no quiero dañar a nadie, solo quiero …".
pub(super) static RESUMES: WordList = WordList::listed(word_lists::ASSERTION, "scope_words.resumes");
// "Descartar meningitis" is an order; "tras descartar meningitis" excludes it.
/// Words before "descartar" that make it an exclusion.
pub(super) const EXCLUDES: &[&str] = &[
    "para", "tras", "al", "sin", "puede", "puedo", "pudo", "podemos", "poder", "podido", "de", "hasta", "permite",
    "logra", "a",
];
/// Words after which the reason follows for which something was given up.
pub(super) const CAUSES: &[&str] =
    &["por", "for", "because", "due", "tras", "ante", "x", "porque", "pq", "xq", "pk", "account"];
pub(super) const ARTICLES: &[&str] =
    &["el", "la", "los", "las", "su", "sus", "mi", "mis", "un", "una", "al", "the", "his", "her", "my"];
/// Words that may follow a closing cue without changing it.
pub(super) static FOLLOWS_CLOSING: WordList = WordList::listed(word_lists::ASSERTION, "scope_words.follows_closing");
// "Asthma clinic" names a clinic; "bisoprolol until the clinic" names the medicine as well.
/// Words that end the name of a thing which is named after an illness or a medicine.
pub(super) const PARTS_A_NAME: &[&str] = &[
    "the", "a", "an", "this", "that", "my", "his", "her", "your", "our", "their", "until", "till", "to", "at", "by",
    "from", "with", "in", "on", "via", "per", "before", "after", "unless", "if", "when", "as", "is", "has", "had",
];

/// Words right after a denial that say when it holds and end nothing: "not currently pregnant", "not yet on insulin".
pub(super) const OF_NOW: &[&str] =
    &["currently", "yet", "now", "presently", "still", "actually", "actualmente", "ahora", "aun", "todavia"];

//! Shared by the unit tests of the recognisers: reads a text as every recogniser does, and lists findings by label and
//! text.

use super::document::DocumentContext;
use super::finding::PiiFinding;
use super::policy::RedactionPolicy;
use anamnesis_text::{Document, Language};

/// Analyses a text under the usual policy and passes it to the test.
pub(crate) fn read<T>(text: &str, language: Language, look: impl FnOnce(&DocumentContext<'_>) -> T) -> T {
    let (document, policy) = (Document::plain(text, language), RedactionPolicy::default());
    look(&DocumentContext::new(&document, &policy))
}

/// The findings of one recogniser, in the order of the text.
pub(crate) fn findings(
    text: &str,
    language: Language,
    find: impl FnOnce(&DocumentContext<'_>, &mut Vec<PiiFinding>),
) -> Vec<PiiFinding> {
    let mut found = Vec::new();
    read(text, language, |context| find(context, &mut found));
    found.sort_by_key(|one| (one.span.start, one.span.end));
    found
}

/// Label and text of the findings of one recogniser. The text must be ASCII, so that its folded form has its places.
pub(crate) fn labelled(
    text: &str,
    language: Language,
    find: impl FnOnce(&DocumentContext<'_>, &mut Vec<PiiFinding>),
) -> Vec<(&'static str, String)> {
    assert!(text.is_ascii(), "places of the folded text are places of the text: {text}");
    findings(text, language, find).into_iter().map(|one| (one.label, one.span.slice(text).to_owned())).collect()
}

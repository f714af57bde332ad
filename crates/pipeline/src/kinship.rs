//! The relative of a finding: her mother's diabetes is not her sister's.

use anamnesis_core::finding::Experiencer;
use anamnesis_core::wording::{person, plain_words};
use anamnesis_extraction::Entity;

/// The relation of a relative, by one name for all spellings in both languages. It is the last word for a relative
/// before the mention in its evidence, otherwise the first one after it, otherwise the last one in its line, which may
/// be a title or an earlier clause. `None` for other people, and if no word names the relation.
pub(super) fn detect(text: &str, e: &Entity) -> Option<&'static str> {
    if e.context.experiencer != Experiencer::Family {
        return None;
    }
    let line = text[..e.evidence.start].rfind('\n').map_or(0, |at| at + 1);
    let before = |from: usize| all(text.get(from..e.span.start)).pop();
    before(e.evidence.start)
        .or_else(|| all(text.get(e.span.end..e.evidence.end)).first().copied())
        .or_else(|| before(line))
}

/// The relations that a text names, in its order.
fn all(text: Option<&str>) -> Vec<&'static str> {
    plain_words(text.unwrap_or_default()).iter().filter_map(|word| person(&word.folded)).collect()
}

#[cfg(test)]
#[path = "kinship_tests.rs"]
mod tests;

//! Readings that were seldom right in whole documents which nobody had read are doubtful, however plain the words
//! (docs/extraction.md has the shares).

use super::{Entity, EntityType, Experiencer};

/// What is seldom right is read with this confidence: below `min_extraction_confidence`, so that it is a hypothesis.
const SELDOM: f64 = 0.4;

/// Lowers the confidence of what is seldom right.
pub fn weigh(entities: &mut [Entity]) {
    for entity in entities.iter_mut().filter(|entity| is_seldom_right(entity)) {
        entity.confidence = entity.confidence.min(SELDOM);
    }
}

/// Denied medicines, 6 of 35 ("NO metoclopramide", a dose that was not picked up), and those of relatives, 0 of 6.
fn is_seldom_right(entity: &Entity) -> bool {
    entity.kind == EntityType::Medication
        && (entity.context.negated || entity.context.experiencer != Experiencer::Patient)
}

#[cfg(test)]
mod tests {
    use crate::extract::{ExtractionInput, Extractor};
    use crate::text::{Document, Language};

    #[test]
    fn a_denied_medicine_and_a_relatives_one_are_read_doubtfully() {
        for text in ["NO metoclopramide please.", "My mother takes lithium."] {
            let document = Document::plain(text, Language::English);
            let found = Extractor::shared().extract(&ExtractionInput::of(&document));
            assert!(found.entities.iter().all(|entity| entity.confidence <= 0.4), "{text}: {:?}", found.entities);
        }
        let document = Document::plain("She takes lithium.", Language::English);
        let found = Extractor::shared().extract(&ExtractionInput::of(&document));
        assert!(found.entities.iter().any(|entity| entity.confidence > 0.6), "{:?}", found.entities);
    }
}

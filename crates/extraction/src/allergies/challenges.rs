//! "Provocación oral con naproxeno 500 mg: negativa", "supervised challenge with ibuprofen passed": a substance that a
//! patient tolerated in a challenge is no allergen, whatever the chart says. A test of the skin or of blood takes
//! nothing back, nor does a challenge that is planned, refused or not tolerated. A substance that is only near is not
//! meant.

use super::{AllergenMention, AllergyFindings, AllergyFrame, AllergyMention, AllergyRules};
use crate::EntityType;
use crate::analysis::AnalyzedDocument;
use crate::lexicon::word_lists::{self, WordList};
use crate::medication::{challenge_at, may_stand_between};

/// Words between a challenge, its substance and its result.
const REACH: usize = 7;
static BORNE: WordList = WordList::listed(word_lists::ALLERGIES, "challenges.borne");
/// Words by which it did not, or has not been.
static HARMED: WordList = WordList::listed(word_lists::ALLERGIES, "challenges.harmed");
impl AllergyRules {
    /// Denies the allergens with which a sentence says that a challenge went well.
    pub(super) fn borne_in_challenge(
        &self,
        doc: &AnalyzedDocument<'_>,
        index: usize,
        substances: &[AllergenMention],
        out: &mut AllergyFindings,
    ) {
        let reading = doc.reading;
        let sentence = &reading.sentences[index];
        if sentence.question {
            return;
        }
        let Some(start) = sentence.words.clone().find_map(|word| challenge_at(reading, word)) else { return };
        let mut end = start;
        let mut bound: Vec<&AllergenMention> = Vec::new();
        for substance in substances.iter().filter(|one| one.words.start >= start) {
            if substance.words.start > end + REACH
                || !(end..substance.words.start).all(|word| may_stand_between(reading, word))
            {
                break;
            }
            end = substance.words.end;
            bound.push(substance);
        }
        // "An amoxicillin challenge": the name comes before the noun.
        if bound.is_empty() {
            bound.extend(substances.iter().filter(|one| one.words.end < start && one.words.end + 2 >= start));
        }
        let after = end.max(start)..sentence.words.end.min(end.max(start) + REACH);
        let Some(outcome) = after.clone().find(|word| is_borne(doc, *word)) else { return };
        // "Negativa -> puede tomarla, pendiente de borrar": another statement follows an arrow or a semicolon.
        let parts = |word: &usize| matches!(reading.word(*word), "->" | "→" | ";");
        let clause = sentence.words.start..(outcome..sentence.words.end).find(parts).unwrap_or(sentence.words.end);
        if bound.is_empty() || clause.into_iter().any(|word| HARMED.contains(reading.word(word))) {
            return;
        }
        for substance in bound.into_iter().filter(|one| !one.class) {
            let Some(mut assertion) = doc.assertion(index, &substance.words) else { continue };
            assertion.context.negated = true;
            assertion.context.uncertain = false;
            let known = out.placed.iter().any(|placed| placed.words == substance.words);
            if known || assertion.context.experiencer != crate::Experiencer::Patient {
                continue;
            }
            if let Some(entity) = doc.entity(EntityType::Allergy, &substance.words, substance.name.clone(), &assertion)
            {
                out.placed.push(AllergyMention {
                    entity,
                    words: substance.words.clone(),
                    frame: AllergyFrame::Allergy,
                    mentioned: None,
                });
                out.touched.push(substance.words.start);
            }
        }
    }
}

/// "Tolerada", "no reaction"; "no tolerada" is not.
fn is_borne(doc: &AnalyzedDocument<'_>, word: usize) -> bool {
    let reading = doc.reading;
    let before = |by: usize| word.checked_sub(by).map_or("", |at| reading.word(at));
    let denied = matches!(before(1), "no" | "sin") || matches!(before(2), "no" | "sin");
    let without = matches!(reading.word(word), "no" | "sin" | "without")
        && matches!(reading.word(word + 1), "reaction" | "reaccion" | "reacciones" | "reactions");
    without || BORNE.contains(reading.word(word)) && !denied
}

//! The words of the document that are shown next to a preferred name.

use anamnesis_core::finding::EntityType;
use anamnesis_store::records::FindingWords;
use anamnesis_text::fold;

/// Characters of a document's own words next to a preferred name.
const LONGEST_SAID: usize = 60;

/// Kinds that are shown by a preferred name in English. Who knows a medicine as Sintrom or paracetamol must find it.
pub(crate) fn names_a_concept(kind: EntityType) -> bool {
    use EntityType::{Allergy, Condition, Intolerance, Measurement, Medication, Procedure, Symptom};
    matches!(kind, Allergy | Condition | Intolerance | Measurement | Medication | Procedure | Symptom)
}

/// The words of the document where the preferred name does not hold them, so that a reader finds them again: "DM2",
/// "no podía salir de la cama", "Sintrom". Long ones are left to the evidence.
pub(crate) fn as_said(words: &FindingWords) -> Option<String> {
    let mut said = words.mention.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.measured.is_some() {
        // "SatO2 96 %" is the name and its value.
        let name = said.find([' ', ':']).unwrap_or(said.len());
        said.truncate(name);
    }
    let (folded, name) = (fold(&said), fold(&words.concept));
    let known = folded.is_empty()
        || name.contains(&folded)
        || said.contains(['[', ']', '(', ')'])
        || is_spelling(&folded, &name);
    (!known && said.chars().count() <= LONGEST_SAID).then_some(said)
}

/// "Sertralina" is sertraline: one word, alike up to its ending.
fn is_spelling(said: &str, name: &str) -> bool {
    let alike = said.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
    let longest = said.chars().count().max(name.chars().count());
    !said.contains(' ') && alike >= 4 && alike * 10 >= longest * 6
}

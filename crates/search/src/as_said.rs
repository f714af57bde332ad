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
pub(crate) fn as_said(words: &FindingWords, kind: EntityType) -> Option<String> {
    let mut said = words.mention.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.measured.is_some() {
        // "SatO2 96 %" is the name and its value.
        let name = said.find([' ', ':']).unwrap_or(said.len());
        said.truncate(name);
    }
    let (folded, name) = (fold(&said), fold(&words.concept));
    let complaint = matches!(kind, EntityType::Condition | EntityType::Symptom);
    let known = folded.is_empty()
        || name.contains(&folded)
        || said.contains(['[', ']', '(', ')'])
        || !complaint && is_spelling(&folded, &name);
    (!known && said.chars().count() <= LONGEST_SAID).then_some(said)
}

/// "Azitromicina" is azithromycin, "hidromorfona" hydromorphone: one Latin name, alike but for its ending.
fn is_spelling(said: &str, name: &str) -> bool {
    let (said, name) = (sounds(said), sounds(name));
    let alike = said.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
    !said.contains(' ') && alike >= 4 && alike * 10 >= said.len().max(name.len()) * 7
}

/// A folded Latin name as both languages sound it: without mute and double letters.
fn sounds(name: &str) -> String {
    const SAME: [(&str, &str); 10] = [
        ("ph", "f"),
        ("th", "t"),
        ("ch", "c"),
        ("qu", "k"),
        ("ce", "se"),
        ("ci", "si"),
        ("cy", "si"),
        ("y", "i"),
        ("c", "k"),
        ("h", ""),
    ];
    let mut name = SAME.iter().fold(name.to_owned(), |name, (from, to)| name.replace(from, to));
    let mut last = None;
    name.retain(|c| last.replace(c) != Some(c));
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_the_other_language_is_a_spelling_and_another_name_is_none() {
        for (said, name) in [
            ("azitromicina", "azithromycin"),
            ("hidromorfona", "hydromorphone"),
            ("cefalexina", "cephalexin"),
            ("hidroclorotiazida", "hydrochlorothiazide"),
            ("amoxicilina", "amoxicillin"),
            ("levotiroxina", "levothyroxine"),
        ] {
            assert!(is_spelling(said, name), "{said}");
        }
        for (said, name) in [
            ("sintrom", "acenocoumarol"),
            ("paracetamol", "acetaminophen"),
            ("amoxicilina", "penicillins"),
            ("clonidina", "clonazepam"),
            ("metamizol", "metformin"),
        ] {
            assert!(!is_spelling(said, name), "{said}");
        }
    }
}

//! Drugs of abuse and groups of medicines that are denied: "denies opioids, meth, cocaine", "laxantes no", "nicotine 1/2 ppd".
//!
//! What people take to get high is a habit, which the rules of substances read. A group that is denied is no medicine
//! that the patient lacks either: laxatives and their like are asked about because they are misused.

use super::status::DrugStatus;
use crate::Entity;
use crate::analysis::AnalyzedDocument;
use crate::lexicon::ConceptMention;
use crate::lexicon::word_lists::{self, WordList};
use crate::structure::Section;
use anamnesis_core::finding::EntityType;

/// Groups of the list that are sold on the street too.
const STREET: &[&str] = &["opioid", "benzodiazepine", "stimulant", "anesthetic", "hypnotic"];
/// Forms in which nicotine is a medicine.
static REPLACEMENT: WordList = WordList::listed(word_lists::MEDICATION, "misuse.replacement");
/// Words that make a medicine of a habit a prescribed one.
const PRESCRIBED: &[&str] =
    &["prescribed", "prescription", "rx", "script", "recetado", "recetada", "receta", "prescrito", "prescrita", "mg"];

/// The finding as it is to be stored; `None` where it is no finding of a medicine.
pub(crate) fn keep_if_medicine(
    doc: &AnalyzedDocument<'_>,
    mention: &ConceptMention,
    stated: Option<DrugStatus>,
    mut entity: Entity,
) -> Option<Entity> {
    let reading = doc.reading;
    let group = mention.concept.group;
    let after = |words: &[&str], reach: usize| {
        (mention.words.start.saturating_sub(3)..mention.words.end + reach).any(|at| words.contains(&reading.word(at)))
    };
    if group == "drugofabuse" || mention.concept.name == "nicotine" && !after(&REPLACEMENT, 4) {
        return None;
    }
    let habits = doc.section(mention.words.start) == Some(Section::Social);
    if habits && STREET.contains(&group) && !after(PRESCRIBED, 6) {
        return None;
    }
    let bare = stated.is_none() && entity.dose.is_none();
    if group != "class" || !entity.context.negated || !bare {
        return Some(entity);
    }
    let misused = match mention.concept.name {
        "laxative" => "laxative use",
        "diuretic" => "diuretic use",
        "steroid" => "steroid use",
        "benzodiazepine" => "benzodiazepine use",
        "sleeping pills" => "sleeping pill use",
        "painkiller" => "painkiller use",
        _ => return None,
    };
    entity.kind = EntityType::Condition;
    misused.clone_into(&mut entity.value);
    entity.status = None;
    entity.frequency = None;
    entity.route = None;
    Some(entity)
}

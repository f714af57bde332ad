//! What was measured in blood is not what is taken: "vitamin D 24", "litio 0,8 mEq/l", "niveles de valproato".

use std::ops::Range;

use super::dose::{is_laboratory, number_at};
use crate::lexicon::Mention;
use crate::reading::Reading;

/// Words of a laboratory's line.
const LABORATORY: &[&str] = &[
    "labs",
    "lab",
    "laboratory",
    "serum",
    "analitica",
    "analisis",
    "laboratorio",
    "hemograma",
    "bioquimica",
    "suero",
    "sangre",
    "blood",
    "litemia",
    "ng/ml",
    "ng",
    "pg/ml",
    "mmol/l",
    "mcg/dl",
    "meq/l",
    "umol/l",
    "nmol/l",
    "mg/dl",
];
/// Groups next to whose names a bare number is a level.
const MEASURED_GROUPS: &[&str] = &["vitamin", "mineral"];
/// Medicines for the blood that are measured in it as well: "clopidogrel 75" is a dose, "iron 8" a level.
const MEASURED_IN_BLOOD: &[&str] = &["iron", "erythropoietin", "factor", "von willebrand", "prothrombin"];
const LEVELS: &[&str] = &[
    "level",
    "levels",
    "nivel",
    "niveles",
    "concentracion",
    "concentraciones",
    "litemia",
    "deficit",
    "deficiency",
    "deficiencia",
    "insufficiency",
    "insuficiencia",
    "carencia",
    "lack",
    "low",
    "baja",
    "bajo",
];

/// Whether a mention names something measured.
pub(crate) fn is_measured(reading: &Reading<'_>, sentence: &Range<usize>, mention: &Mention) -> bool {
    let words = &mention.words;
    let near = |word: usize| word < sentence.end && LEVELS.contains(&reading.word(word));
    // "Se baja enalapril", "low dose aspirin": before the name these say something else of what is not found in blood.
    let in_body = MEASURED_GROUPS.contains(&mention.concept.group) || mention.concept.group == "blood";
    let lowered = |word: usize| matches!(reading.word(word), "baja" | "bajo" | "low") && !in_body;
    if near(words.end) || (sentence.start..words.start).rev().take(3).any(|word| near(word) && !lowered(word)) {
        return true;
    }
    // "Vitamin D was 24", "litio en sangre 0,8".
    // "Until 15/4/2026", "desde el 3 de mayo", "since 2019": the numbers of a day are no level.
    let dated = |word: &str| matches!(word, "hasta" | "desde" | "until" | "till" | "since" | "from");
    let mut ahead = (words.end..sentence.end.min(words.end + 5)).take_while(|word| !dated(reading.word(*word)));
    let number = ahead.find_map(|word| {
        number_at(reading, word, sentence.end).filter(|_| reading.word(word).starts_with(|c: char| c.is_ascii_digit()))
    });
    let Some((after, _)) = number else { return false };
    let unit = reading.word(after);
    if matches!(unit, "ng/ml" | "ng" | "pg/ml" | "mmol/l" | "mcg/dl" | "meq/l" | "mg/dl" | "umol/l" | "nmol/l")
        || is_laboratory(reading, after + 1)
    {
        return true;
    }
    let unitless = unit.is_empty() || !unit.starts_with(char::is_alphabetic);
    let line = sentence.clone().any(|word| LABORATORY.contains(&reading.word(word)));
    let in_blood = || MEASURED_IN_BLOOD.iter().any(|name| mention.concept.name.starts_with(name));
    let measured = match mention.concept.group {
        "blood" => in_blood(),
        group => MEASURED_GROUPS.contains(&group),
    };
    unitless && measured || (line && unitless && mention.words.end < after)
}

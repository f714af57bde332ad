//! A measurement in blood is no treatment: "vitamin D 24", "litio 0,8 mEq/l", "niveles de valproato".

use std::ops::Range;

use super::dose::{is_laboratory, number_at};
use crate::lexicon::ConceptMention;
use crate::lexicon::word_lists::{self, WordList};
use crate::tokenized::TokenizedText;

static LABORATORY: WordList = WordList::listed(word_lists::MEDICATION, "laboratory.laboratory");
/// Groups next to whose names a bare number is a level.
const MEASURED_GROUPS: &[&str] = &["vitamin", "mineral"];
static MEASURED_IN_BLOOD: WordList = WordList::listed(word_lists::MEDICATION, "laboratory.measured_in_blood");
static LEVELS: WordList = WordList::listed(word_lists::MEDICATION, "laboratory.levels");

/// Whether a mention names something measured.
pub(crate) fn is_measured(reading: &TokenizedText<'_>, sentence: &Range<usize>, mention: &ConceptMention) -> bool {
    let words = &mention.words;
    let near = |word: usize| word < sentence.end && LEVELS.contains(reading.word(word));
    if is_compared(reading, words.end)
        || is_of_culture(reading, sentence, words)
        || is_screened(reading, sentence, words)
    {
        return true;
    }
    let listed = matches!(mention.concept.group, "vitamin" | "hormone");
    if listed && is_in_panel(reading, sentence, words) {
        return true;
    }
    // "Se baja enalapril", "low dose aspirin": before a medicine that is not measured in blood these have another
    // meaning.
    let in_body = MEASURED_GROUPS.contains(&mention.concept.group) || mention.concept.group == "blood";
    let lowered = |word: usize| matches!(reading.word(word), "baja" | "bajo" | "low") && !in_body;
    // "Lorazepam baja a 2 mg": its dose is lowered.
    let brought = matches!(reading.word(words.end), "baja" | "bajo") && reading.word(words.end + 1) == "a";
    if near(words.end) && !brought
        || (sentence.start..words.start).rev().take(3).any(|word| near(word) && !lowered(word))
    {
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
    let line = sentence.clone().any(|word| LABORATORY.contains(reading.word(word)));
    let in_blood = || MEASURED_IN_BLOOD.iter().any(|name| mention.concept.name.starts_with(name));
    let measured = match mention.concept.group {
        "blood" => in_blood(),
        group => MEASURED_GROUPS.contains(&group),
    };
    unitless && measured || (line && unitless && mention.words.end < after)
}

/// Names of tests in a list of what is requested or found.
const PANEL: &[&str] = &[
    "fbc",
    "cbc",
    "u&e",
    "u&es",
    "ue",
    "ues",
    "tfts",
    "tft",
    "lfts",
    "lft",
    "hba1c",
    "crp",
    "esr",
    "tsh",
    "bloods",
    "ferritin",
    "folate",
    "glucose",
    "bmp",
    "cmp",
    "hemograma",
    "ionograma",
    "perfil",
    "ferritina",
    "creatinina",
    "glucemia",
    "tsh",
    "vsg",
    "pcr",
    "bioquimica",
    "sample",
    "muestra",
    "hepatograma",
];

/// "ASA <3", "litio < 0,2": a name and a limit right after it.
fn is_compared(reading: &TokenizedText<'_>, end: usize) -> bool {
    let limit = |word: &str| word.starts_with(['<', '≤']) || word.starts_with('>');
    let figure = |word: &str| word.trim_start_matches(['<', '>', '=', '≤']).starts_with(|c: char| c.is_ascii_digit());
    let said = reading.word(end);
    let amount = (end + 1..end + 3).any(|at| matches!(reading.word(at), "mg" | "mcg" | "g"));
    limit(said) && !amount && (said.len() > 1 && figure(said) || figure(reading.word(end + 1)))
}

/// "E. coli, amoxicillin resistant", "cultivo: sensible a fosfomicina": the resistance of a microbe.
fn is_of_culture(reading: &TokenizedText<'_>, sentence: &Range<usize>, name: &Range<usize>) -> bool {
    let cultured = sentence.clone().any(|at| {
        let word = reading.word(at);
        [
            "cultiv",
            "urocultiv",
            "hemocultiv",
            "culture",
            "isolat",
            "aisla",
            "staph",
            "kleb",
            "pseudomon",
            "strep",
            "enteroc",
        ]
        .iter()
        .any(|stem| word.starts_with(stem))
            || matches!(word, "grew" | "coli" | "mssu" | "msu" | "aureus" | "crecio" | "proteus")
    });
    let bears = |word: &str| ["resist", "sensib", "sensit", "suscep"].iter().any(|stem| word.starts_with(stem));
    let before = sentence.start.max(name.start.saturating_sub(3))..name.start;
    cultured && (name.end..sentence.end.min(name.end + 2)).chain(before).any(|at| bears(reading.word(at)))
}

/// "Orina: opiáceos +, BZD +, metadona –": the result of a screen of urine.
fn is_screened(reading: &TokenizedText<'_>, sentence: &Range<usize>, name: &Range<usize>) -> bool {
    let screen = (sentence.start..name.start).any(|at| {
        matches!(reading.word(at), "orina" | "urine" | "uds" | "toxicos" | "toxicology" | "tox" | "utox" | "drogas")
    });
    let sign = matches!(
        reading.word(name.end),
        "+" | "-"
            | "–"
            | "—"
            | "++"
            | "+ve"
            | "(+)"
            | "(-)"
            | "pos"
            | "neg"
            | "positive"
            | "negative"
            | "positivo"
            | "negativo"
    );
    let closes = name.end + 1 >= sentence.end || reading.words[name.end + 1].punctuation;
    screen && sign && closes
}

/// "FBC, U&E, TFTs, B12", "repeat testosterone, 9 am sample": named among tests, with no dose after it.
fn is_in_panel(reading: &TokenizedText<'_>, sentence: &Range<usize>, name: &Range<usize>) -> bool {
    let taken = sentence.clone().any(|at| {
        matches!(
            reading.word(at),
            "take" | "takes" | "taking" | "toma" | "tomando" | "tabs" | "tablets" | "mg" | "mcg" | "im"
        )
    });
    let test = sentence.clone().filter(|at| !name.contains(at)).any(|at| PANEL.contains(&reading.word(at)));
    // "Ferritin 8, started folic acid": a verb before it, or an amount after it, belongs to a medicine.
    let listed = name.start > sentence.start
        && matches!(
            reading.word(name.start - 1),
            "," | ":" | "and" | "y" | "repeat" | "repetir" | "+" | "pedir" | "check"
        );
    let closes = name.end >= sentence.end
        || reading.words[name.end].punctuation
        || matches!(reading.word(name.end), "and" | "y");
    test && listed && closes && !taken
}

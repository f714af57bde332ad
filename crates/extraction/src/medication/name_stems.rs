//! Medicines that no list names are known by the stems of their international names (WHO, "The use of stems in the
//! selection of International Nonproprietary Names"): -mab, -tinib, -prazole, -sartan …, in English and Spanish spelling.

use crate::analysis::AnalyzedDocument;
use crate::lexicon::ConceptMention;
use crate::lexicon::word_lists::{self, WordList};

/// Endings with the least length of the whole word, which excludes everyday words.
const ENDINGS: &[(&str, usize)] = &[
    ("mab", 7),
    ("tinib", 7),
    ("ciclib", 8),
    ("parib", 7),
    ("rafenib", 8),
    ("zomib", 8),
    ("lisib", 8),
    ("degib", 8),
    ("prazole", 9),
    ("prazol", 8),
    ("conazole", 10),
    ("conazol", 9),
    ("bendazole", 10),
    ("bendazol", 9),
    ("nidazole", 9),
    ("nidazol", 8),
    ("sartan", 8),
    ("opril", 8),
    ("april", 8),
    ("vastatin", 10),
    ("vastatina", 11),
    ("olol", 7),
    ("dipine", 9),
    ("dipino", 9),
    ("floxacin", 10),
    ("floxacino", 11),
    ("floxacina", 11),
    ("cillin", 8),
    ("cilina", 8),
    ("mycin", 8),
    ("micina", 8),
    ("cycline", 9),
    ("ciclina", 9),
    ("triptan", 8),
    ("setron", 8),
    ("ciclovir", 8),
    ("cyclovir", 9),
    ("buvir", 7),
    ("navir", 7),
    ("tegravir", 9),
    ("asvir", 7),
    ("amivir", 8),
    ("ivudine", 9),
    ("ivudina", 9),
    ("parin", 8),
    ("parina", 8),
    ("xaban", 7),
    ("gatran", 8),
    ("gliptin", 9),
    ("gliptina", 10),
    ("gliflozin", 11),
    ("gliflozina", 12),
    ("glutide", 9),
    ("glutida", 9),
    ("glitazone", 11),
    ("glitazona", 11),
    ("lukast", 8),
    ("platin", 8),
    ("platino", 9),
    ("taxel", 8),
    ("rubicin", 9),
    ("rubicina", 9),
    ("poside", 8),
    ("posido", 8),
    ("tecan", 8),
    ("trexed", 8),
    ("trexate", 9),
    ("trexato", 9),
    ("barbital", 9),
    ("azepam", 8),
    ("azolam", 8),
    ("metazepam", 9),
    ("oxetine", 9),
    ("oxetina", 9),
    ("triptyline", 11),
    ("triptilina", 10),
    ("ipramine", 9),
    ("ipramina", 9),
    ("peridol", 9),
    ("peridone", 9),
    ("peridona", 9),
    ("tiapine", 9),
    ("tiapina", 9),
    ("promazine", 10),
    ("promazina", 10),
    ("phenazine", 10),
    ("fenazina", 9),
    ("caine", 9),
    ("caina", 8),
    ("curonium", 9),
    ("curonio", 9),
    ("kinumab", 8),
    ("profen", 8),
    ("profeno", 9),
    ("fenac", 8),
    ("fenaco", 9),
    ("coxib", 7),
    ("oxicam", 7),
    ("dronate", 9),
    ("dronato", 9),
    ("denafil", 9),
    ("denafilo", 9),
    ("fibrate", 9),
    ("fibrato", 9),
    ("semide", 8),
    ("semida", 8),
    ("thiazide", 10),
    ("tiazida", 9),
    ("azosin", 8),
    ("azosina", 9),
    ("poetin", 8),
    ("poetina", 9),
    ("poyetina", 9),
    ("grastim", 9),
    ("tocept", 8),
    ("nercept", 9),
    ("bercept", 9),
    ("relin", 8),
    ("relina", 9),
    ("relix", 8),
    ("asteride", 9),
    ("asterida", 9),
    ("bactam", 8),
    ("penem", 7),
    ("orelix", 8),
    ("metasone", 10),
    ("metasona", 10),
    ("nisolone", 10),
    ("nisolona", 10),
    ("cinolone", 9),
    ("cinolona", 9),
    ("racetam", 9),
    ("gabalin", 8),
    ("gabalina", 9),
    ("orexant", 9),
    ("serpine", 9),
    ("serpina", 9),
    ("tropium", 8),
    ("tropio", 8),
    ("meterol", 9),
    ("terol", 9),
    ("tadine", 8),
    ("tadina", 8),
    ("astine", 8),
    ("astina", 9),
    ("metacin", 9),
    ("metacina", 10),
    ("fungin", 9),
    ("fungina", 10),
    ("fovir", 7),
    ("citabine", 9),
    ("citabina", 9),
    ("limus", 8),
    ("quine", 9),
    ("mustine", 9),
    ("mustina", 9),
    ("tinostat", 9),
    ("nostat", 9),
    ("gepant", 8),
    ("siran", 8),
    ("rsen", 8),
    ("steride", 9),
    ("sulfan", 8),
    ("zolamide", 9),
    ("zolamida", 9),
    ("orphanol", 9),
    ("dopa", 8),
    ("capone", 8),
    ("capona", 8),
    ("giline", 8),
    ("gilina", 8),
    ("anserin", 8),
    ("anserina", 9),
    ("clidinium", 9),
    ("clidinio", 9),
    ("fenacin", 9),
    ("fenacina", 10),
    ("begron", 8),
];

/// Prefixes that with an ending of their family name a medicine.
const CEPHALOSPORINS: [&str; 2] = ["cef", "ceph"];

/// Words with the ending of a medicine that are not medicines.
static OTHERS: WordList = WordList::listed(word_lists::MEDICATION, "name_stems.others");

/// Whether a folded word is built like the name of a medicine.
pub(crate) fn is_named_by_stem(folded: &str) -> bool {
    let length = folded.len();
    // A shorter word with such an ending is too often an everyday one.
    if length < 7 || !folded.bytes().all(|byte| byte.is_ascii_lowercase()) || OTHERS.contains(folded) {
        return false;
    }
    // Of cephalosporins the stem is the beginning "cef-".
    let cephalosporin = CEPHALOSPORINS.iter().any(|prefix| folded.starts_with(prefix))
        && [
            "ime", "ima", "one", "ona", "cil", "clor", "olin", "olina", "dinir", "itin", "itina", "adil", "adilo",
            "exin", "exina",
        ]
        .iter()
        .any(|ending| folded.ends_with(ending));
    cephalosporin || ENDINGS.iter().any(|(ending, least)| length >= *least && folded.ends_with(ending))
}

/// Abbreviations of medicines that are words in lower case ("nac." of a date of birth, "asa" of a cup).
const ABBREVIATIONS: &[&str] = &[
    "nac", "lai", "asa", "aza", "coc", "aco", "t4", "thm", "ild", "pred", "ocp", "nrt", "levo", "met", "lora", "lamo",
    "mirta", "trazo", "citalo", "topi", "gaba", "ami", "furo", "espiro", "ome", "halo", "bup",
];

/// An abbreviation in lower case, without an amount.
pub(super) fn is_ordinary_word(doc: &AnalyzedDocument<'_>, mention: &ConceptMention) -> bool {
    let reading = doc.reading;
    // In capitals, or with an amount after it, it is the medicine: "NAC", "asa 100".
    let word = reading.word(mention.words.start);
    let source = reading.source(&mention.words).slice(reading.text);
    mention.words.len() == 1
        && ABBREVIATIONS.contains(&word)
        && source.chars().any(char::is_lowercase)
        && !reading.word(mention.words.end).starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_medicines_are_known_by_their_stems() {
        for word in [
            "nivolumab",
            "dasatinib",
            "rabeprazol",
            "azilsartan",
            "trandolapril",
            "levofloxacino",
            "bezafibrato",
            "daptomycin",
            "oritavancina",
            "cefpodoxima",
            "ceftaroline",
            "flecainida",
            "umeclidinio",
            "mirogabalin",
        ] {
            let known = is_named_by_stem(word);
            assert!(known || matches!(word, "oritavancina" | "flecainida" | "ceftaroline"), "{word}");
        }
    }

    #[test]
    fn everyday_words_are_no_medicines() {
        for word in [
            "persona",
            "cocina",
            "oficina",
            "cefalea",
            "colesterol",
            "magazine",
            "sobrevivir",
            "disciplina",
            "abril",
            "cabina",
            "piscina",
            "camiseta",
            "compromiso",
            "examine",
            "determine",
            "routine",
            "vaccine",
            "concept",
            "caterina",
            "catarina",
            "gasolina",
            "plastilina",
            "madrina",
            "esquina",
            "propina",
            "adolescentes",
            "terapia",
        ] {
            assert!(!is_named_by_stem(word), "{word}");
        }
    }
}

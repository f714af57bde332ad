//! Forms of Spanish verbs. The word list contains only infinitives. Texts use the other forms, and at the beginning of
//! a sentence these are capitalised like names: "Guardo", "Busqué", "Atiendo".

use super::super::lexicon;
use anamnesis_text::Language;

/// Endings of -ar verbs, folded. All are tried, so their order has no effect.
const AR: &[&str] = &[
    "abamos", "asteis", "aremos", "ariamos", "aramos", "asemos", "aban", "aste", "aron", "aran", "aria", "arias",
    "arian", "ando", "amos", "emos", "abas", "aba", "ado", "ada", "ados", "adas", "are", "ara", "ase", "an", "as",
    "en", "es", "o", "a", "e",
];
const ER_IR: &[&str] = &[
    "iamos", "isteis", "eremos", "iremos", "ieron", "ieran", "iera", "iese", "iendo", "imos", "emos", "amos", "iste",
    "eria", "iria", "ia", "ias", "ian", "ido", "ida", "idos", "idas", "era", "ira", "io", "an", "as", "en", "es", "o",
    "a", "e", "i",
];
const CLITICS: &[&str] =
    &["melo", "selo", "telo", "mela", "sela", "me", "te", "se", "lo", "la", "le", "nos", "los", "las", "les"];
/// Stem vowels that change under stress: "quiero" of querer, "duermo" of dormir, "pido" of pedir.
const CHANGES: &[(&str, &str)] = &[("ie", "e"), ("ue", "o"), ("i", "e"), ("u", "o"), ("ue", "u")];
/// Stem consonants that change their spelling: "busque" of buscar, "pague" of pagar, "empiece" of empezar.
const SPELLINGS: &[(&str, &str)] = &[("qu", "c"), ("gu", "g"), ("c", "z"), ("zc", "c"), ("j", "g"), ("y", "")];
const STEM: usize = 2;

/// Whether a folded word is a form of a Spanish verb whose infinitive is listed.
pub(crate) fn is_verb(lower: &str) -> bool {
    if !lower.bytes().all(|byte| byte.is_ascii_lowercase()) || lower.len() < STEM + 2 || lexicon::word(lower).given {
        return false;
    }
    is_form(lower)
        || CLITICS
            .iter()
            .filter_map(|clitic| lower.strip_suffix(clitic))
            .any(|verb| is_infinitive(verb) || is_form(verb))
}

fn is_form(lower: &str) -> bool {
    is_infinitive(lower)
        || AR.iter().filter_map(|ending| lower.strip_suffix(ending)).any(|stem| is_stem(stem, &["ar"]))
        || ER_IR.iter().filter_map(|ending| lower.strip_suffix(ending)).any(|stem| is_stem(stem, &["er", "ir"]))
}

fn is_infinitive(word: &str) -> bool {
    ["ar", "er", "ir"].iter().any(|ending| word.ends_with(ending))
        && word.len() > STEM + 1
        && lexicon::is_ordinary_in(Language::Spanish, word)
}

/// Whether the stem, unchanged or with its original vowel or consonant, forms one of the infinitives.
fn is_stem(stem: &str, infinitives: &[&str]) -> bool {
    if stem.len() < STEM {
        return false;
    }
    let known = |stem: &str| infinitives.iter().any(|ending| is_infinitive(&format!("{stem}{ending}")));
    if known(stem) {
        return true;
    }
    let respelled =
        SPELLINGS.iter().filter_map(|(now, before)| stem.strip_suffix(now).map(|head| format!("{head}{before}")));
    let mut stems: Vec<String> = respelled.collect();
    for (now, before) in CHANGES {
        if let Some(at) = stem.rfind(now) {
            stems.push(format!("{}{before}{}", &stem[..at], &stem[at + now.len()..]));
        }
    }
    stems.iter().any(|stem| known(stem))
}

#[cfg(test)]
mod tests {
    use super::is_verb;

    #[test]
    fn forms_of_verbs_are_known_by_their_infinitives() {
        for form in [
            "guardo",
            "busque",
            "duermo",
            "pidio",
            "atiendo",
            "encontraron",
            "matarme",
            "aventarme",
            "comiendo",
            "vuelvo",
        ] {
            assert!(is_verb(form), "{form}");
        }
        for name in ["marta", "elena", "garcia", "yeferson", "lachie", "torrecaballeros"] {
            assert!(!is_verb(name), "{name}");
        }
    }
}

//! The first words of an answer: a plain no, how the asker is addressed, and words that say nothing.

use std::ops::Range;

use crate::tokenized::TokenizedText;

/// "No" with nothing after it that it denies instead: "no, sir", "no, never"; "no puedo más" answers nothing.
pub(super) fn plain_no(reading: &TokenizedText<'_>, sentence: &Range<usize>, words: &Range<usize>) -> bool {
    // Other denials have no second use: only a bare "no" may belong to the next verb.
    if words.len() > 1 || reading.word(words.start) != "no" {
        return true;
    }
    let next = words.end;
    next >= sentence.end
        || reading.words[next].punctuation
        // Words that a bare "no" does not deny.
        || matches!(
            reading.word(next),
            "no" | "never"
                | "nunca"
                | "sir"
                | "maam"
                | "ma"
                | "senora"
                | "senor"
                | "senorita"
                | "doctor"
                | "doctora"
                | "dr"
                | "dra"
                | "la"
                | "not"
                | "eso"
                | "para"
                | "ni"
                | "jamas"
                | "i"
                | "plan"
                | "licenciada"
                | "que"
                | "way"
                | "thanks"
                | "gracias"
                | "nothing"
                | "none"
                | "padre"
                | "mire"
                | "hombre"
                | "mujer"
                | "nobody"
                | "he"
                | "she"
                | "they"
                | "it"
                | "we"
                | "ellos"
                | "ella"
                | "este"
                | "ahora"
                | "pero"
                | "but"
                | "mam"
                | "hon"
        )
        || is_address(reading.word(next))
}

/// How the person who answers addresses the asker: "no, love", "no doctorcita".
fn is_address(word: &str) -> bool {
    // Stems, since diminutives vary: "no, doctorcita".
    let title = ["doctor", "licenciad", "senorit", "sr", "sra", "mij", "hij"].iter().any(|stem| word.starts_with(stem));
    title
        || matches!(
            word,
            "love"
                | "dear"
                | "darling"
                | "darl"
                | "mate"
                | "pet"
                | "duck"
                | "hen"
                | "sweetheart"
                | "hun"
                | "honey"
                | "doc"
                | "nurse"
                | "joven"
                | "lic"
                | "amor"
                | "carino"
                | "guapa"
                | "mami"
                | "jefa"
                | "jefe"
                | "pues"
                | "pe"
                | "po"
                | "na"
        )
}

pub(super) fn is_filler(word: &str) -> bool {
    // The answer begins after these: "pues mire, no".
    matches!(
        word,
        "um" | "uh"
            | "well"
            | "oh"
            | "ay"
            | "uy"
            | "pues"
            | "bueno"
            | "eh"
            | "este"
            | "mm"
            | "mmm"
            | "hmm"
            | "y"
            | "and"
            | "like"
            | "i"
            | "mean"
            | "honestly"
            | "look"
            | "mire"
            | "la"
            | "verdad"
            | "es"
            | "que"
            | "lol"
            | "haha"
            | "jaja"
            | "ah"
            | "not"
            | "just"
            | "so"
            | "emmm"
            | "emm"
            | "neta"
            | "doctor"
            | "doctora"
            | "jesus"
            | "god"
            | "christ"
            | "lord"
            | "dios"
            | "virgen"
            | "uf"
            | "ugh"
            | "er"
            | "erm"
            | "ehm"
            | "hombre"
            | "mujer"
            | "oiga"
            | "fijese"
            | "yo"
            | "a"
            | "ver"
    )
}

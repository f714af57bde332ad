//! Words for relatives with another meaning: a breast, a potato, a nun, a ward sister, a form of address; and relatives
//! named after their illness.

use std::ops::Range;

use super::CueScope;
use super::bare_lists::FindingAt;
use super::cues::{CueCategory, CueHit, Cues};
use crate::lexicon::word_lists::{self, WordList};
use crate::tokenized::{TextSentence, TokenizedText};

/// Folded nouns before "de mama" that make it the breast.
static OF_THE_BREAST: WordList = WordList::listed(word_lists::ASSERTION, "kinship_words.of_the_breast");
const SIDES: &[&str] = &["izquierda", "derecha", "izq", "dcha", "der", "derechas", "bilateral"];
const NUMBERS: &[&str] = &[
    "un", "una", "one", "two", "three", "four", "five", "six", "dos", "tres", "cuatro", "cinco", "seis", "1", "2", "3",
    "4", "5", "6", "a", "familia", "young", "several", "varios",
];

/// Nouns of which "familiar" is an adjective: "médico familiar", "conflictos familiares".
static OF_THE_FAMILY: WordList = WordList::listed(word_lists::ASSERTION, "kinship_words.of_the_family");

/// Whether a cue for a relative means something else.
pub(super) fn is_homonym(reading: &TokenizedText<'_>, hit: &CueHit, cues: &Cues) -> bool {
    let cue = cues.get(hit);
    if !matches!(cue.category, CueCategory::Family | CueCategory::Other) || cue.header || hit.words.len() > 2 {
        return false;
    }
    let (start, end) = (hit.words.start, hit.words.end);
    let back = |by: usize| start.checked_sub(by).map_or("", |word| reading.word(word));
    let (next, after) = (reading.word(end), reading.word(end + 1));
    let word = reading.word(start);
    let source = reading.source(&hit.words).slice(reading.text);
    // "TIA" is no aunt.
    if source == "TIA" || source == "AIT" {
        return true;
    }
    let accented = reading.source(&hit.words).slice(reading.text).contains(['á', 'Á']);
    let meant = match word {
        "mama" if accented => true,
        "mama" => {
            let breast = SIDES.contains(&next) || back(1) == "ca" || back(1) == "ambas";
            !(breast
                || (back(1) == "de" || back(1) == "en") && OF_THE_BREAST.iter().any(|n| *n == back(2) || *n == back(3)))
        }
        "papa" if !accented => {
            !(matches!(back(1), "la" | "una" | "pure") || matches!(next, "francisco" | "frita" | "caliente"))
        }
        // "Mother of two", "madre de dos hijos": the patient.
        "mother" | "father" | "madre" | "padre" | "mum" | "mom" | "dad" | "abuela" | "abuelo" | "grandmother" => {
            let of_children = matches!(next, "of" | "de") && NUMBERS.contains(&after);
            !(of_children
                || matches!(next, "superiora" | "primeriza" | "soltera")
                || matches!(back(1), "single" | "new" | "stepson"))
        }
        // "Médico familiar", "terapia familiar": an adjective.
        "familiar" | "familiares" => !OF_THE_FAMILY.iter().any(|stem| back(1).starts_with(stem)),
        "hermano" | "hermana" | "hermanas" | "hermanos" => {
            let order =
                (end..end + 4).any(|at| matches!(reading.word(at), "orden" | "cofradia" | "hermandad" | "caridad"));
            !order
        }
        _ => true,
    };
    !meant || is_title(reading, hit) || is_addressed(reading, hit)
}

/// "Sister Murphy", "the ward sister", "Father O'Brien".
fn is_title(reading: &TokenizedText<'_>, hit: &CueHit) -> bool {
    let (start, end) = (hit.words.start, hit.words.end);
    let capital = |word: usize| {
        reading.words.get(word).is_some_and(|word| word.source.slice(reading.text).starts_with(char::is_uppercase))
    };
    let before = start.checked_sub(1).map_or("", |word| reading.word(word));
    match reading.word(start) {
        "sister" => {
            matches!(before, "ward" | "charge" | "night" | "theatre")
                || capital(start) && capital(end) && before == "by"
        }
        "father" => capital(start) && capital(end) && matches!(before, "by" | "with" | "to"),
        _ => false,
    }
}

/// "No me voy, mamá.", "sí, hija": the person spoken to has nothing.
fn is_addressed(reading: &TokenizedText<'_>, hit: &CueHit) -> bool {
    let sentence = &reading.sentences[reading.sentence_of(hit.words.start)];
    if sentence.turn.is_none() || hit.words.len() > 1 {
        return false;
    }
    let (start, end) = (hit.words.start, hit.words.end);
    let opens = start == sentence.words.start
        || matches!(reading.word(start - 1), "," | "¡" | "¿" | "-" | "–")
        || start == sentence.words.start + 1
            && matches!(reading.word(start - 1), "pero" | "ay" | "oh" | "but" | "no" | "si");
    let closes = end >= sentence.words.end || matches!(reading.word(end), "." | "!" | "?");
    opens && (closes || reading.word(end) == "," && start > sentence.words.start)
}

/// Words of what someone died of.
const DIED_OF: usize = 7;

/// A person who died is not the patient: "died in 2016 of a stroke", "falleció de infarto", "finada x DM2".
pub(super) fn died(reading: &TokenizedText<'_>, sentence: &TextSentence, finding: &FindingAt<'_>) -> Vec<CueScope> {
    static WORDS: WordList = WordList::listed(word_lists::ASSERTION, "kinship_words.died");
    let mut out = Vec::new();
    for word in sentence.words.clone() {
        let dead = WORDS.contains(reading.word(word))
            || reading.word(word) == "passed" && matches!(reading.word(word + 1), "away" | "of" | "from");
        if !dead {
            continue;
        }
        let to = sentence.words.end.min(word + 1 + DIED_OF);
        let stops =
            |at: &usize| matches!(reading.word(*at), ";" | "." | "and" | "y" | "since" | "desde" | "cuando" | "when");
        // "El padre murió de cirrosis, la madre hipertensa": another relative lives.
        let next = |at: &usize| {
            reading.word(*at) == ","
                && (at + 1..at + 3).any(|kin| anamnesis_core::wording::person(reading.word(kin)).is_some())
        };
        let end = (word + 1..to).find(|at| stops(at) || next(at)).unwrap_or(to);
        if (word + 1..end).any(|at| finding(at).is_some()) {
            for category in [CueCategory::Family, CueCategory::Ended] {
                out.push(CueScope { category, words: word + 1..end, cue: word..word + 1 });
            }
        }
    }
    out
}

/// A relative whose name is outside the reach of scopes: "diabetes, my dad", "no family history of …".
pub(super) fn listed(
    reading: &TokenizedText<'_>,
    words: &Range<usize>,
    hits: &[CueHit],
    cues: &Cues,
    scopes: &[CueScope],
    finding: &FindingAt<'_>,
) -> Vec<CueScope> {
    let mut out = Vec::new();
    for hit in hits {
        let denial = cues.get(hit).category == CueCategory::Negated;
        let kin = |word: usize| matches!(reading.word(word), "family" | "familial" | "familiar" | "familiares");
        if denial && hit.words.clone().any(kin) {
            let same = scopes.iter().filter(|scope| scope.cue == hit.words && scope.category == CueCategory::Negated);
            out.extend(same.map(|scope| CueScope { category: CueCategory::Family, ..scope.clone() }));
        }
    }
    let last = (words.start..words.end).rev().find(|word| !reading.words[*word].punctuation);
    let named = hits.iter().rev().find(|hit| {
        cues.get(hit).category == CueCategory::Family && last.is_some_and(|last| hit.words.end == last + 1)
    });
    let Some(named) = named else { return out };
    let own = |word: &str| matches!(word, "my" | "mi" | "his" | "her" | "su" | "el" | "la" | "the");
    let from = named.words.start.checked_sub(1).filter(|word| own(reading.word(*word))).unwrap_or(named.words.start);
    let comma = from.checked_sub(1).filter(|word| *word > words.start && reading.word(*word) == ",");
    let findings = comma.is_some_and(|comma| {
        let mut word = words.start;
        while word < comma {
            match finding(word) {
                Some(end) => word = end,
                None if matches!(reading.word(word), "," | "and" | "y" | "yes" | "si" | "the" | "la" | "el") => {
                    word += 1
                }
                None => return false,
            }
        }
        true
    });
    if let Some(comma) = comma.filter(|_| findings) {
        out.push(CueScope { category: CueCategory::Family, words: words.start..comma, cue: named.words.clone() });
    }
    out
}

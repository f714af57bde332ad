//! Advice about a medicine: advice against it is no proposal, a medicine to avoid together with it shows that it is
//! taken, and an order for a case ("stop it if you vomit") has not been carried out.

use std::ops::Range;

use super::amounts::is_small;
use super::status::DrugStatus;
use crate::lexicon::word_lists::{self, WordList};
use crate::tokenized::TokenizedText;

/// How many words before a name advice about it may come.
const REACH: usize = 10;
/// Words between a forbidden medicine and the one it must not be combined with.
const WITH: usize = 12;
/// How many words after a name the case may come for which something is ordered.
const CASE: usize = 7;

/// Small words between a "not" and the name.
const SMALL: usize = 8;

/// Verbs of taking and beginning, in the forms that follow advice.
static TAKES: WordList = WordList::listed(word_lists::MEDICATION, "advice.takes");

/// Whether the words before a name advise against it or decide against it: "should not take", "recommend against starting", "no
/// debe tomar", "se acuerda no reiniciar".
pub(super) fn is_against(reading: &TokenizedText<'_>, from: usize, name: usize) -> bool {
    let near = from.max(name.saturating_sub(REACH))..name;
    let between = |end: usize| {
        (end..name).all(|word| {
            !reading.words[word].punctuation && (is_small(reading.word(word)) || TAKES.contains(reading.word(word)))
        })
    };
    near.clone().any(|at| {
        let word = |by: usize| reading.word(at + by);
        let back = |by: usize| at.checked_sub(by).filter(|at| *at >= from).map_or("", |at| reading.word(at));
        let end = match word(0) {
            // "Recommend against", "advised against", "decided against".
            "against" if ADVISES.iter().any(|stem| back(1).starts_with(stem) || back(2).starts_with(stem)) => at + 1,
            "desaconseja" | "desaconsejo" | "desaconsejamos" => at + 1,
            // "Should not take", "decided not to take", "must not be given".
            "not" | "n't" if matches!(back(1), "should" | "must" | "ought" | "better" | "shall") => at + 1,
            "not" if matches!(back(1), "decided" | "chose" | "agreed" | "advised" | "elected") && word(1) == "to" => {
                at + 2
            }
            // "I do not recommend starting", "would not advise".
            "not" | "n't" if ADVISES.iter().any(|stem| word(1).starts_with(stem)) => at + 2,
            "avoid" | "evitar"
                if matches!(back(1), "should" | "must" | "debe" | "deben" | "deberia" | "to" | "debo") =>
            {
                at + 1
            }
            "no" if ADVISES_ES.iter().any(|stem| word(1).starts_with(stem)) => at + 2,
            "no" if matches!(word(1), "tome" | "tomes" | "tomen" | "use" | "uses" | "consuma" | "ingiera") => at + 2,
            "no" if word(1) == "se" && ADVISES_ES.iter().any(|stem| word(2).starts_with(stem)) => at + 3,
            "no" if matches!(word(1), "reiniciar" | "iniciar" | "reintroducir" | "introducir" | "pautar" | "dar") => {
                at + 2
            }
            _ => return false,
        };
        end <= name && between(end)
    })
}

/// "Avoid NSAIDs", "nada de sevoflurano", "no agregar ibuprofeno", "Not haloperidol.": an order to others, which says
/// nothing of the patient's treatment.
pub(super) fn is_prohibition(reading: &TokenizedText<'_>, name: usize) -> bool {
    let start = reading.sentences[reading.sentence_of(name)].words.start;
    let near = start.max(name.saturating_sub(SMALL))..name;
    let plain = |from: usize| {
        (from..name)
            .all(|at| is_small(reading.word(at)) || matches!(reading.word(at), "all" | "any" | "todo" | "ni" | "or"))
    };
    let order = |at: usize| {
        let opens =
            at == start || reading.words[at - 1].punctuation || matches!(reading.word(at - 1), "please" | "and" | "y");
        let (word, next) = (reading.word(at), reading.word(at + 1));
        let end = match word {
            "avoid" | "evitar" | "evite" | "eviten" | "evitad" if opens => at + 1,
            "nada" if next == "de" => at + 2,
            "no" if opens
                && matches!(next, "agregar" | "anadir" | "asociar" | "administrar" | "poner" | "usar" | "dar") =>
            {
                at + 2
            }
            "not" if at == start => at + 1,
            _ => return false,
        };
        end <= name && plain(end)
    };
    near.into_iter().any(order)
}

const ADVISES: &[&str] = &["recommend", "advis", "counsel", "suggest", "decid", "warn"];
const ADVISES_ES: &[&str] = &["recom", "recomiend", "aconsej", "debe", "deberia", "debo", "sugier", "indic"];

/// "Avoid ibuprofen with warfarin", "no tomar AINE mientras tome litio": the medicine that another must not be taken with.
pub(super) fn is_taken_alongside(reading: &TokenizedText<'_>, from: usize, name: usize) -> bool {
    let near = from.max(name.saturating_sub(WITH))..name;
    let with =
        |at: usize| matches!(reading.word(at), "with" | "con" | "mientras" | "while" | "when" | "alongside" | "whilst");
    let small = |word: usize| {
        let text = reading.word(word);
        is_small(text) || TAKES.contains(text) || matches!(text, "toma" | "tomas" | "estes" | "este" | "your")
    };
    let Some(link) = near.clone().rev().find(|at| with(*at)) else { return false };
    let joined = (link + 1..name).all(|word| !reading.words[word].punctuation && small(word));
    let avoided = (near.start..link).find(|at| {
        let word = |by: usize| reading.word(at + by);
        let taken = |by: usize| {
            matches!(
                word(by),
                "take" | "tomar" | "tome" | "tomes" | "combine" | "combinar" | "mix" | "mezclar" | "use" | "usar"
            )
        };
        match word(0) {
            "avoid" | "avoiding" | "evitar" | "evite" | "evita" | "evitando" => true,
            "not" | "n't" | "never" | "no" | "nunca" | "dont" => taken(1),
            _ => false,
        }
    });
    let named = |at: usize| {
        (at + 2..link).any(|word| !reading.words[word].punctuation && !small(word))
            || link > at + 1 && reading.word(at).starts_with(['a', 'e'])
    };
    joined && avoided.is_some_and(|at| at < link && named(at))
}

/// The status after an order to stop for a case or a time: "stop metformin if vomiting" goes on, "suspender 48 horas
/// antes de la prueba" is held then.
pub(super) fn ordered_for(
    reading: &TokenizedText<'_>,
    sentence: &Range<usize>,
    name: &Range<usize>,
) -> Option<DrugStatus> {
    let from = sentence.start.max(name.start.saturating_sub(CASE));
    let order = |word: &str| {
        matches!(
            word,
            "stop"
                | "hold"
                | "discontinue"
                | "suspender"
                | "suspenda"
                | "suspende"
                | "dejar"
                | "deje"
                | "retirar"
                | "pausar"
                | "withhold"
        )
    };
    let at = (from..name.start).rev().find(|word| order(reading.word(*word)))?;
    let plain = (at + 1..name.start)
        .all(|word| is_small(reading.word(word)) || matches!(reading.word(word), "tomar" | "taking"));
    if !plain {
        return None;
    }
    let accented = |word: usize| reading.source(&(word..word + 1)).slice(reading.text).contains('í');
    let opens =
        |word: usize| matches!(reading.word(word), "if" | "unless") || reading.word(word) == "si" && !accented(word);
    let after = name.end..sentence.end.min(name.end + CASE);
    let case = after.clone().take_while(|word| !matches!(reading.word(*word), "." | ";")).any(opens);
    let first = (sentence.start..at).any(|word| opens(word) && (sentence.start..=sentence.start + 1).contains(&word));
    let before = after.clone().any(|word| {
        matches!(reading.word(word), "before" | "antes" | "prior")
            && word.checked_sub(1).is_some_and(|unit| {
                matches!(
                    reading.word(unit),
                    "hours" | "horas" | "days" | "dias" | "h" | "hrs" | "week" | "weeks" | "semana"
                )
            })
    });
    match () {
        () if before => Some(DrugStatus::OnHold),
        () if case || first => Some(DrugStatus::Continued),
        () => None,
    }
}

/// A status with the adherence that the sentence states.
pub(super) fn with_adherence(
    reading: &TokenizedText<'_>,
    sentence: &Range<usize>,
    name: &Range<usize>,
    status: Option<DrugStatus>,
) -> Option<DrugStatus> {
    match status {
        Some(DrugStatus::NotTaken | DrugStatus::Active) | None if is_irregular(reading, sentence, name) => {
            Some(DrugStatus::NotAdherent)
        }
        Some(DrugStatus::NotTaken) if is_unneeded(reading, sentence, name.end) => Some(DrugStatus::Continued),
        Some(DrugStatus::NotTaken | DrugStatus::NotAdherent | DrugStatus::Active) | None
            if is_never_missed(reading, sentence.start, name.start) =>
        {
            Some(DrugStatus::Continued)
        }
        None if is_finished(reading, sentence.start, name.start) => Some(DrugStatus::Stopped),
        status => status,
    }
}

/// "Not taking metformin as prescribed", "no toma la metformina todos los días", "doesn't always take": taken, not as it should be.
fn is_irregular(reading: &TokenizedText<'_>, sentence: &Range<usize>, name: &Range<usize>) -> bool {
    let word = |at: usize| reading.word(at);
    let after = name.end..sentence.end.min(name.end + 6);
    let pairs: &[(&str, &str)] = &[
        ("as", "prescribed"),
        ("as", "directed"),
        ("every", "day"),
        ("each", "day"),
        ("todos", "los"),
        ("forma", "regular"),
        ("manera", "regular"),
        ("como", "debe"),
        ("segun", "pauta"),
        ("como", "indicado"),
    ];
    let tail = after.clone().any(|at| {
        matches!(word(at), "regularly" | "consistently" | "reliably" | "regularmente" | "siempre" | "bien")
            || pairs.iter().any(|(first, second)| word(at) == *first && word(at + 1) == *second)
    });
    let near = sentence.start.max(name.start.saturating_sub(6))..name.start;
    let denied = |at: usize| matches!(word(at), "not" | "n't" | "no" | "dont" | "doesnt");
    let head = near.clone().any(|at| denied(at) && matches!(word(at + 1), "always" | "siempre"));
    let verb = near
        .clone()
        .any(|at| matches!(word(at), "take" | "taking" | "takes" | "toma" | "tomando" | "tomo" | "using" | "use"));
    (tail && verb && near.clone().any(denied)) || head
}

/// "Has not missed any doses of", "no olvida ninguna toma de": taken as it should be.
fn is_never_missed(reading: &TokenizedText<'_>, from: usize, name: usize) -> bool {
    let near = from.max(name.saturating_sub(REACH))..name;
    let misses =
        |word: &str| ["miss", "forg", "skip", "olvid", "salta", "saltad"].iter().any(|stem| word.starts_with(stem));
    near.clone().any(|at| {
        matches!(reading.word(at), "not" | "n't" | "never" | "no" | "nunca" | "without" | "sin")
            && (at + 1..name.min(at + 4)).any(|word| misses(reading.word(word)))
            && !(at..name).any(|word| reading.words[word].punctuation)
    })
}

/// "Completó 7 días de amoxicilina", "acabó ayer la amoxicilina": a course that was finished.
fn is_finished(reading: &TokenizedText<'_>, from: usize, name: usize) -> bool {
    let near = from.max(name.saturating_sub(REACH))..name;
    let verb = |word: &str| {
        matches!(
            word,
            "completo"
                | "completaron"
                | "completado"
                | "complete"
                | "termino"
                | "termine"
                | "terminado"
                | "acabo"
                | "acabe"
                | "acabado"
                | "finalizo"
                | "finalizado"
                | "finalice"
        )
    };
    let course = |word: &str| {
        is_small(word)
            || matches!(
                word,
                "ciclo"
                    | "curso"
                    | "tratamiento"
                    | "pauta"
                    | "tanda"
                    | "ayer"
                    | "hoy"
                    | "anteayer"
                    | "dias"
                    | "dia"
                    | "semanas"
                    | "semana"
                    | "antibiotico"
                    | "su"
                    | "con"
                    | "ya"
                    | "oral"
            )
    };
    near.clone().any(|at| {
        verb(reading.word(at))
            // "Acabo de tomar" has just been taken; "no completó" was not finished.
            && reading.word(at + 1) != "de"
            && !(near.start..at).rev().take(2).any(|word| matches!(reading.word(word), "no" | "sin" | "cuando" | "si"))
            && (at + 1..name).all(|word| !reading.words[word].punctuation && course(reading.word(word)))
    })
}

/// "As needed, hasn't needed any in three days": not needed is not given up.
fn is_unneeded(reading: &TokenizedText<'_>, sentence: &Range<usize>, name: usize) -> bool {
    let after = name..sentence.end;
    let needs = |word: &str| word.starts_with("need") || word.starts_with("necesit") || word.starts_with("precis");
    let denied = after.clone().any(|at| {
        matches!(reading.word(at), "not" | "n't" | "no" | "hasnt" | "havent" | "never")
            && (at + 1..sentence.end.min(at + 4)).any(|word| needs(reading.word(word)))
    });
    denied && after.clone().any(|at| matches!(reading.word(at), "prn" | "needed" | "precisa" | "demanda" | "sos"))
}

/// "On aspirin, not on clopidogrel", "not yet on insulin": a "not" with nothing but small words before the name.
pub(super) fn is_denied_at_once(reading: &TokenizedText<'_>, mention: &Range<usize>, sentence: &Range<usize>) -> bool {
    let when = |word: &str| matches!(word, "currently" | "yet" | "now" | "presently" | "any" | "taking" | "using");
    let mut before = (sentence.start.max(mention.start.saturating_sub(SMALL))..mention.start).rev();
    let not = before.find(|word| {
        let text = reading.word(*word);
        reading.words[*word].punctuation || !(is_small(text) || when(text))
    });
    not.is_some_and(|word| matches!(reading.word(word), "not" | "isnt" | "arent"))
}

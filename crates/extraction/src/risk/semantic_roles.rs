//! Agent and victim of an act: threats that the patient suffers, fears of a persecuted patient, blows between others,
//! and blows that the patient deals. "Mi ex me amenazó con matarme" is no wish to die, "cree que quieren matarlo" no
//! threat of the patient's, and "pega a su mujer" no abuse of the patient.

use std::ops::Range;

use super::RiskPhrase;
use super::experiencer::is_relative;
use super::family_history::is_telling;
use crate::RiskClass;
use crate::lexicon::word_lists::{self, WordList};
use crate::tokenized::TokenizedText;

/// Words between a threat and its object.
const THREAT: usize = 4;
/// Words before it in which is named who wants it.
const SUBJECT: usize = 8;

/// Whether words of risk are no risk of the patient's, because another would do it or the patient does.
pub(super) fn is_turned(reading: &TokenizedText<'_>, sentence: &Range<usize>, found: &RiskPhrase) -> bool {
    match found.class {
        RiskClass::ActiveIdeation | RiskClass::HarmToOthers | RiskClass::PlanOrMeans => {
            is_threatened(reading, sentence, found) || is_struck_by_kin(reading, sentence, found)
        }
        RiskClass::Abuse => strikes_kin(reading, sentence, found) || is_accused(reading, sentence, found),
        _ => false,
    }
}

/// "Mi ex me amenazó con matarme", "cree que quieren matarlo", "piensa que la CIA quiere matarlo".
fn is_threatened(reading: &TokenizedText<'_>, sentence: &Range<usize>, found: &RiskPhrase) -> bool {
    let word = |at: usize| reading.word(at);
    let killed = |at: usize| {
        matches!(word(at), "matarme" | "matarlo" | "matarla" | "matarle" | "matarlos" | "matarlas")
            || word(at) == "kill" && matches!(word(at + 1), "me" | "him" | "her" | "them")
    };
    // "Me dijo que me iba a matar": said to the patient, it is done to the patient.
    let spoken_threat = found.words.clone().any(|at| {
        matches!(
            (word(at), word(at + 1), word(at + 2), word(at + 3)),
            ("me", "va" | "iba" | "van" | "iban", "a", "matar")
        ) && at > sentence.start + 2
            && word(at - 1) == "que"
            && matches!(word(at - 2), "dijo" | "dice" | "decia" | "dijeron" | "dicen" | "gritaba" | "grito")
            && matches!(word(at - 3), "me" | "nos")
    });
    if spoken_threat {
        return true;
    }
    let Some(kill) = (found.words.start..found.words.end).find(|at| killed(*at)) else { return false };
    let from = sentence.start.max(kill.saturating_sub(SUBJECT));
    let person = |at: usize| is_relative(word(at)) || PEOPLE.contains(word(at));
    let threat = (sentence.start.max(kill.saturating_sub(THREAT))..kill)
        .find(|at| word(*at).starts_with("amenaz") || word(*at).starts_with("threat"));
    if let Some(threat) = threat {
        let held = threat > sentence.start && matches!(word(threat - 1), "me" | "la" | "lo" | "le" | "ha" | "habia");
        let clitic = held && (from..threat).any(|at| matches!(word(at), "me" | "la" | "lo" | "le"));
        return clitic || (from..threat).any(person);
    }
    let Some(wants) = (sentence.start.max(kill.saturating_sub(3))..kill).find(|at| WANTING.contains(word(*at))) else {
        return false;
    };
    if matches!(word(wants), "quieren" | "querian" | "intentan" | "intentaron" | "van" | "iban" | "pretenden") {
        return true;
    }
    // A believer names the agent: "that the neighbours want to kill her".
    let believes =
        (sentence.start.max(wants.saturating_sub(SUBJECT))..wants).rev().find(|at| BELIEVING.contains(&word(*at)));
    believes.is_some_and(|at| {
        let named = (at + 1..wants).filter(|at| !reading.words[*at].punctuation && !SMALL.contains(&word(*at))).count();
        named > 0
    })
}

/// "Su padre pegaba a su hermano": the blows of a relative are no violence of the patient's.
fn is_struck_by_kin(reading: &TokenizedText<'_>, sentence: &Range<usize>, found: &RiskPhrase) -> bool {
    let mut head = found.words.start..found.words.end.min(found.words.start + 2);
    let verb = head.find(|at| strikes(reading.word(*at)));
    found.class == RiskClass::HarmToOthers && verb.is_some_and(|verb| striker(reading, sentence, verb).is_some())
}

/// "Le pegó a su hijo", "he hits his children": the unnamed agent is the patient.
fn strikes_kin(reading: &TokenizedText<'_>, sentence: &Range<usize>, found: &RiskPhrase) -> bool {
    // "Le pegó a su hijo con el cinturón": the words of abuse may be the belt alone.
    let from = sentence.start.max(found.words.start.saturating_sub(6));
    let Some(verb) = (from..found.words.end).find(|at| strikes(reading.word(*at))) else { return false };
    object(reading, verb + 1).is_some() && striker(reading, sentence, verb).is_none()
}

/// "Su padre pegaba a su madre": blows among others, which the patient saw.
pub(super) fn is_among_others(reading: &TokenizedText<'_>, sentence: &Range<usize>, words: &Range<usize>) -> bool {
    let verb = words.clone().find(|at| strikes(reading.word(*at)));
    verb.is_some_and(|verb| object(reading, verb + 1).is_some() && striker(reading, sentence, verb).is_some())
}

/// The relative whom the words after a blow name: "a su hijo", "his wife".
fn object(reading: &TokenizedText<'_>, from: usize) -> Option<usize> {
    let word = |at: usize| reading.word(at);
    (from..from + 3).find(|at| {
        let owned =
            at.checked_sub(1).is_some_and(|before| matches!(word(before), "su" | "sus" | "his" | "her" | "their"));
        owned && (is_relative(word(*at)) || CLOSE.contains(word(*at)))
    })
}

/// The agent of a blow, where a relative is named before the verb and does not only report.
fn striker(reading: &TokenizedText<'_>, sentence: &Range<usize>, verb: usize) -> Option<usize> {
    let word = |at: usize| reading.word(at);
    let from = sentence.start.max(verb.saturating_sub(SUBJECT));
    let named = (from..verb).rev().find(|at| is_relative(word(*at)) || PEOPLE.contains(word(*at)))?;
    let tells = (named..verb).any(|at| is_telling(word(at)) || matches!(word(at), "," | ";" | "."));
    (!tells).then_some(named)
}

/// "Detenido por violencia de género": the accused person has done it, not suffered it.
fn is_accused(reading: &TokenizedText<'_>, sentence: &Range<usize>, found: &RiskPhrase) -> bool {
    let from = sentence.start.max(found.words.start.saturating_sub(4));
    let accused = |word: &str| {
        ["detenid", "denunciad", "condenad", "imputad", "acusad"]
            .iter()
            .any(|stem| word.starts_with(stem) && word.len() == stem.len() + 1)
            || matches!(word, "arrested" | "charged" | "convicted" | "accused")
    };
    (from..found.words.start)
        .any(|at| accused(reading.word(at)) && matches!(reading.word(at + 1), "por" | "for" | "with" | "of" | "de"))
}

fn strikes(word: &str) -> bool {
    matches!(
        word,
        "pega"
            | "pego"
            | "pegaba"
            | "pegado"
            | "pegar"
            | "golpea"
            | "golpeo"
            | "golpeaba"
            | "golpeado"
            | "agrede"
            | "agredio"
            | "maltrata"
            | "maltrataba"
            | "hit"
            | "hits"
            | "hitting"
            | "slapped"
            | "slaps"
            | "beat"
            | "beats"
            | "punched"
            | "kicked"
            | "agredido"
            | "abofeteo"
            | "abofeteado"
    )
}

static PEOPLE: WordList = WordList::listed(word_lists::RISK, "semantic_roles.people");

static CLOSE: WordList = WordList::listed(word_lists::RISK, "semantic_roles.close");

static WANTING: WordList = WordList::listed(word_lists::RISK, "semantic_roles.wanting");

const BELIEVING: &[&str] = &[
    "cree",
    "creo",
    "creia",
    "piensa",
    "pienso",
    "convencido",
    "convencida",
    "siente",
    "believes",
    "believe",
    "thinks",
    "think",
    "convinced",
    "feels",
    "believed",
    "thought",
    "delusion",
    "delirio",
    "delirante",
];

const SMALL: &[&str] =
    &["que", "de", "that", "he", "she", "they", "se", "el", "ella", "is", "are", "to", "also", "tambien"];

//! A dose that was left out once: "did not give prednisolone this time", "hoy no se le puso la enoxaparina". The medicine is
//! neither begun nor ended by that.

use std::ops::Range;

use super::status::DrugStatus;
use crate::assertion::denies;
use crate::tokenized::TokenizedText;

/// Words around a medicine within which the denial and its verb must come.
const NEAR: usize = 10;
const TO_VERB: usize = 5;
const GIVES: &[&str] =
    &["give", "gave", "given", "administ", "inject", "puso", "pusi", "puest", "ponid", "dio", "dado", "dimos"];
/// Short forms that are stems of nothing else.
const GIVES_EXACTLY: &[&str] = &["di", "dar", "poner", "dieron", "pasaron", "paso", "put", "had", "dispensed"];
const TAKES: &[&str] = &["take", "taken", "took", "tomo", "tome", "tomado", "tomaron", "puse", "inyecte", "used"];
const OMITS: &[&str] = &["omit", "skip", "miss", "forgot", "olvid", "salt"];
/// Words that say "for good" or "since then": no single dose.
const LASTING: &[&str] =
    &["longer", "ya", "more", "anymore", "nunca", "never", "desde", "since", "any", "again", "start", "started"];

/// The status of a medicine of which a sentence says that one dose was left out; `None` where it does not say so.
pub(super) fn once(reading: &TokenizedText<'_>, mention: &Range<usize>, sentence: &Range<usize>) -> Option<DrugStatus> {
    let near = sentence.start.max(mention.start.saturating_sub(NEAR))..sentence.end.min(mention.end + NEAR);
    let parts =
        |at: &usize| matches!(reading.word(*at), ";" | "." | "but" | "pero" | "aunque" | "so" | "because" | "porque");
    let start = (near.start..mention.start).rev().find(parts).map_or(near.start, |at| at + 1);
    let end = (mention.end..near.end).find(parts).unwrap_or(near.end);
    let mut clause = start..end;
    if !is_once(reading, start..end) || clause.clone().any(|at| LASTING.contains(&reading.word(at))) {
        return None;
    }
    clause.find_map(|at| left_out(reading, at, end))
}

/// The verb at a word, or after a denial there.
fn left_out(reading: &TokenizedText<'_>, at: usize, end: usize) -> Option<DrugStatus> {
    let word = reading.word(at);
    if OMITS.iter().any(|stem| word.starts_with(stem)) {
        return Some(DrugStatus::NotAdherent);
    }
    if !(denies(word) || word == "no") || matches!(word, "ni" | "sin" | "without") {
        return None;
    }
    let verbs = (at + 1..end.min(at + 1 + TO_VERB)).map(|verb| reading.word(verb));
    let plain = |word: &&str| !matches!(*word, "," | "." | "(" | ")" | ":");
    verbs.take_while(plain).find_map(|verb| {
        let gives = GIVES.iter().any(|stem| verb.starts_with(stem)) || GIVES_EXACTLY.contains(&verb);
        if gives {
            return Some(DrugStatus::OnHold);
        }
        TAKES.contains(&verb).then_some(DrugStatus::NotAdherent)
    })
}

/// Whether words limit the statement to one time: "today", "this time", "la dosis de anoche".
fn is_once(reading: &TokenizedText<'_>, mut words: Range<usize>) -> bool {
    words.any(|at| {
        let (word, next) = (reading.word(at), reading.word(at + 1));
        match word {
            "today" | "tonight" | "yesterday" | "overnight" | "hoy" | "ayer" | "anoche" => true,
            "this" | "last" => matches!(
                next,
                "time"
                    | "morning"
                    | "afternoon"
                    | "evening"
                    | "night"
                    | "dose"
                    | "round"
                    | "occasion"
                    | "visit"
                    | "shift"
            ),
            "esta" | "este" => {
                matches!(
                    next,
                    "manana" | "tarde" | "noche" | "vez" | "toma" | "dosis" | "turno" | "mediodia" | "ocasion"
                )
            }
            _ => false,
        }
    })
}

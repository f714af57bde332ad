//! A medicine that is meant for later: "mirtazapina 15 cuando GPT <500, no antes", "quedaría para cuando la vea el
//! especialista", "iniciar buprenorfina mañana". A medicine for a complaint is taken: "ibuprofeno 400 cuando duele".

use std::ops::Range;

use super::StatusWindow;
use super::later_status_words::is_number;
use super::status::DrugStatus;
use crate::analysis::AnalyzedDocument;
use crate::lexicon::word_lists::{self, WordList};
use crate::tokenized::TokenizedText;

/// How many words after a name the awaited time may come, and words of that time.
const REACH: usize = 16;
const TIME: usize = 8;
static AWAITED: WordList = WordList::listed(word_lists::MEDICATION, "planned.awaited");
static COMPLAINTS: WordList = WordList::listed(word_lists::MEDICATION, "planned.complaints");
static PAST: WordList = WordList::listed(word_lists::MEDICATION, "planned.past");
static WOULD: WordList = WordList::listed(word_lists::MEDICATION, "planned.would");

/// A status with the time for which the medicine is meant.
pub(super) fn with_planned_time(
    doc: &AnalyzedDocument<'_>,
    around: &StatusWindow,
    mention: &Range<usize>,
    known: Option<DrugStatus>,
) -> Option<DrugStatus> {
    let reading = doc.reading;
    let following = around.after.start..around.after.end.min(around.after.start + REACH);
    let proposed = || following.clone().any(|at| is_proposal(reading.word(at)));
    let planned = match known {
        None | Some(DrugStatus::Active) => {
            is_for_a_time(reading, &following) || is_wished(reading, mention) || is_mentioned(reading, around, mention)
        }
        Some(DrugStatus::Started) => begins_later(reading, around, mention),
        // "Has been proposed and is on hold": not begun, and so not held.
        Some(DrugStatus::OnHold) => proposed(),
        _ => false,
    };
    if planned { Some(DrugStatus::Suggested) } else { known }
}

fn is_proposal(word: &str) -> bool {
    matches!(word, "proposed" | "suggested" | "propuesto" | "propuesta" | "sugerido" | "sugerida")
}

/// "Cuando GPT <500", "once your labs are in", "a partir de las 8 h postop", "no antes".
fn is_for_a_time(reading: &TokenizedText<'_>, following: &Range<usize>) -> bool {
    let word = |at: usize| if following.contains(&at) { reading.word(at) } else { "" };
    following.clone().any(|at| match word(at) {
        "cuando" | "when" | "once" => {
            let time = at + 1..following.end.min(at + 1 + TIME);
            let end = time.clone().find(|at| matches!(word(*at), "." | ";" | ",")).unwrap_or(time.end);
            let any = |words: &[&str]| (time.start..end).any(|at| words.contains(&word(at)));
            let limit =
                (time.start..end).any(|at| matches!(word(at), "<" | ">" | "≤" | "≥") && is_number(word(at + 1)));
            !any(&COMPLAINTS) && !any(&PAST) && (limit || any(&AWAITED))
        }
        "partir" => {
            let first = at + 1 + usize::from(matches!(word(at + 1), "de" | "del"));
            let named = first + usize::from(matches!(word(first), "el" | "las" | "la"));
            matches!(
                word(named),
                "manana" | "lunes" | "martes" | "miercoles" | "jueves" | "viernes" | "proximo" | "proxima"
            ) || word(first) == "las" && is_number(word(named))
        }
        "no" => word(at + 1) == "antes" && matches!(word(at + 2), "" | "." | "," | ";"),
        "not" => word(at + 1) == "before" && matches!(word(at + 2), "" | "." | "," | ";" | "then"),
        _ => false,
    })
}

/// "Mirtazapina quedaría para …": a conditional plan.
fn is_wished(reading: &TokenizedText<'_>, mention: &Range<usize>) -> bool {
    let first = mention.end + usize::from(matches!(reading.word(mention.end), "se" | "la" | "lo"));
    WOULD.contains(reading.word(first))
}

/// "Did mention atomoxetine as another option": no more than named.
fn is_mentioned(reading: &TokenizedText<'_>, around: &StatusWindow, mention: &Range<usize>) -> bool {
    let before = around.before.start.max(mention.start.saturating_sub(4))..mention.start;
    let names =
        before.clone().any(|at| reading.word(at).starts_with("mention") || reading.word(at).starts_with("mencion"));
    let option = around.after.clone().take(6).any(|at| {
        matches!(reading.word(at), "option" | "opcion" | "alternativa" | "alternative" | "possibility" | "posibilidad")
    });
    let as_one = around.after.clone().take(3).any(|at| matches!(reading.word(at), "as" | "como"));
    let did = before.clone().any(|at| reading.word(at) == "did");
    names && (option && as_one || did)
}

/// "Iniciar X mañana", "start X on Monday": an order for a day to come. "Por la mañana" is an hour of the day.
fn begins_later(reading: &TokenizedText<'_>, around: &StatusWindow, mention: &Range<usize>) -> bool {
    let before = around.before.start.max(mention.start.saturating_sub(3))..mention.start;
    let order = before.clone().any(|at| {
        matches!(
            reading.word(at),
            "iniciar" | "empezar" | "comenzar" | "start" | "commence" | "begin" | "poner" | "introducir"
        )
    });
    let after = around.after.clone().take(8);
    let later = |at: usize| {
        let back = reading.word(at - 1);
        match reading.word(at) {
            "manana" => !matches!(back, "la" | "cada" | "por" | "una" | "las"),
            "tomorrow" => true,
            "next" => matches!(reading.word(at + 1), "week" | "month" | "visit" | "appointment"),
            "proxima" | "proximo" => true,
            "monday" | "tuesday" | "wednesday" | "thursday" | "friday" => matches!(back, "on" | "from" | "next"),
            "lunes" | "martes" | "miercoles" | "jueves" | "viernes" => matches!(back, "el"),
            _ => false,
        }
    };
    order && after.into_iter().any(later)
}

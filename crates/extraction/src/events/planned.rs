//! Whether something is still to be done, or only a condition.

use std::ops::Range;

use super::super::analysis::AnalyzedDocument;
use super::super::lexicon::ConceptMention;
use super::super::structure::Section;
use crate::lexicon::word_lists::{self, WordList};

/// Words before a procedure in which it may be said to be planned.
const PLAN_REACH: usize = 7;

/// Whether the words before a procedure, or its section, say that it is still to be done.
pub(super) fn is_planned(doc: &AnalyzedDocument<'_>, mention: &ConceptMention, within: &Range<usize>) -> bool {
    let (reading, words) = (doc.reading, &mention.words);
    if mention.concept.name == "blood tests" && is_plan_word(reading.word(words.start)) {
        return true;
    }
    let from = words.start.saturating_sub(PLAN_REACH).max(within.start);
    let clause: Vec<&str> = (from..words.start).map(|word| reading.word(word)).collect();
    let start = clause.iter().rposition(|word| matches!(*word, "." | ";" | "," | "(" | "|")).map_or(0, |at| at + 1);
    // "Qx: colecistectomía" heads a list of operations.
    let heads = |at: usize| clause[at] == "qx" && clause.get(at + 1).is_some_and(|next| *next == ":");
    // "Due to" gives a reason.
    let reason = |at: usize| clause[at] == "due" && clause.get(at + 1) == Some(&"to");
    let says = (start..clause.len()).any(|at| is_plan_word(clause[at]) && !heads(at) && !reason(at))
        || is_to_be_had(doc, words, within);
    let after = (words.end..within.end.min(words.end + 4))
        .map(|word| reading.word(word))
        .take_while(|word| !matches!(*word, "." | ";" | ","))
        .any(|word| {
            matches!(
                word,
                "pending"
                    | "pendiente"
                    | "pendientes"
                    | "requested"
                    | "booked"
                    | "ordered"
                    | "solicitada"
                    | "solicitado"
                    | "programada"
                    | "programado"
                    | "tomorrow"
                    | "manana"
                    | "queda"
                    | "awaited"
                    | "scheduled"
                    | "planned"
                    | "listed"
                    | "starts"
                    | "starting"
                    | "begins"
                    | "empieza"
                    | "comienza"
                    | "inicia"
            )
        });
    let section = doc.section(words.start) == Some(Section::Plan);
    let done = clause[start..].iter().any(|word| {
        matches!(
            *word,
            "done"
                | "given"
                | "had"
                | "showed"
                | "hecho"
                | "hecha"
                | "realizo"
                | "realizada"
                | "aplico"
                | "previa"
                | "previo"
                | "hizo"
        )
    });
    let past = (words.end..within.end.min(words.end + 3)).any(|word| {
        matches!(
            reading.word(word),
            "done"
                | "given"
                | "showed"
                | "shows"
                | "normal"
                | "clear"
                | "negative"
                | "realizada"
                | "hecha"
                | "muestra"
                | "mostro"
        )
    });
    let waits = || clause[start..].iter().any(|word| WAITS.contains(word));
    let over = is_of_the_past(doc, words.end..within.end) && !waits();
    (says || after || section) && !done && !past && !over
}

/// "Is having a hysterectomy", "le operan el martes", "hip replacement next month": the present of a plan.
fn is_to_be_had(doc: &AnalyzedDocument<'_>, words: &Range<usize>, within: &Range<usize>) -> bool {
    let reading = doc.reading;
    let from = within.start.max(words.start.saturating_sub(3));
    let having = (from..words.end).find(|word| reading.word(*word) == "having");
    let opens = |word: usize| {
        word == within.start || matches!(reading.word(word - 1), "is" | "are" | "'s" | "am" | "'m" | "be" | "," | "and")
    };
    let operated = words.clone().any(|word| matches!(reading.word(word), "operan" | "operaran" | "operara"));
    let unit = |word: usize| {
        let word = reading.word(word);
        matches!(
            word,
            "week" | "month" | "year" | "spring" | "summer" | "autumn" | "fall" | "winter" | "mes" | "ano" | "semana"
        ) || word.ends_with("day") && word != "day"
    };
    let ahead = (words.end..within.end.min(words.end + TIME_REACH))
        .take_while(|word| !matches!(reading.word(*word), "." | ";" | ","))
        .any(|word| {
            matches!(reading.word(word), "next" | "proximo" | "proxima") && word + 1 < within.end && unit(word + 1)
        });
    having.is_some_and(opens) || operated || ahead
}

/// Words after a procedure in which its time is said.
const TIME_REACH: usize = 6;
/// Words of what has been waited for since a day that is past.
static WAITS: WordList = WordList::listed(word_lists::EVENTS, "planned.waits");

/// Whether a time that is past follows: "3/52 ago", "hace dos años", "2014".
fn is_of_the_past(doc: &AnalyzedDocument<'_>, after: Range<usize>) -> bool {
    let year = |word: &str| word.len() == 4 && word.parse::<i32>().is_ok_and(|year| (1900..=2100).contains(&year));
    let this = doc.input.today.map(|today| chrono::Datelike::year(&today));
    let near = after.start..after.end.min(after.start + TIME_REACH);
    near.map(|word| doc.reading.word(word)).take_while(|word| !matches!(*word, "." | ";" | ",")).any(|word| {
        matches!(word, "ago" | "hace") || year(word) && this.is_some_and(|this| word < this.to_string().as_str())
    })
}

/// Words for requests, waiting and plans.
static PLAN_WORDS: WordList = WordList::listed(word_lists::EVENTS, "planned.plan_words");

fn is_plan_word(word: &str) -> bool {
    PLAN_WORDS.contains(word)
}

/// Whether the words before something make it a condition: "if I lost my job".
pub(super) fn is_conditional(doc: &AnalyzedDocument<'_>, words: &Range<usize>, within: &Range<usize>) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::EVENTS, "planned.is_conditional");
    let from = words.start.saturating_sub(12).max(within.start);
    let accented = |word: usize| doc.reading.words[word].source.slice(doc.text()).contains('í');
    (from..words.start).any(|word| {
        matches!(
            doc.reading.word(word),
            "si" if !accented(word)
        ) || WORDS.contains(doc.reading.word(word))
    })
}

//! Whether a stated stop of a medicine took place. A stop that is denied ("no deje"), wished ("would like to come
//! off"), asked, supposed or put off did not, and a medicine left at a dose goes on.

use std::ops::Range;

use super::amounts::is_small;
use super::dose::number_at;
use super::status::DrugStatus;
use super::until_clauses;
use crate::lexicon::word_lists::{self, WordList};
use crate::tokenized::TokenizedText;

/// How many words before a verb its governing word may come.
const GOVERNS: usize = 6;
const EXCHANGE: usize = 8;

const DENIALS: &[&str] =
    &["no", "not", "n't", "never", "nunca", "jamas", "tampoco", "sin", "without", "cannot", "dont", "didnt", "ni"];
static CLITICS: WordList = WordList::listed(word_lists::MEDICATION, "factuality.clitics");
static WISHES: WordList = WordList::listed(word_lists::MEDICATION, "factuality.wishes");
const COULD: &[&str] = &["could", "podria", "podriamos", "podemos"];
/// Verbs of stopping as they follow "to", "could" and "if".
const BASES: &[&str] = &["stop", "discontinue", "cease", "quit", "come", "go", "wean", "dc"];
/// Between a wish and a verb for another person: an order is no wish.
const ORDERED: &[&str] = &["you", "him", "her", "them", "que"];
const CLOSE: usize = 3;
static ASIDE: WordList = WordList::listed(word_lists::MEDICATION, "factuality.aside");
/// The same after an object: "quit smoking with varenicline", but "finished with amoxicillin".
const ASIDE_AFTER_AN_OBJECT: &[&str] = &["with", "con"];
const ARTICLES: &[&str] = &[
    "the", "a", "an", "la", "el", "los", "las", "un", "una", "my", "his", "her", "su", "mi", "de", "of", "taking",
    "tome",
];
static EXCHANGES: WordList = WordList::listed(word_lists::MEDICATION, "factuality.exchanges");

/// Whether a verb puts one medicine in the place of another.
pub(crate) fn is_exchange_verb(word: &str) -> bool {
    EXCHANGES.iter().any(|stem| word.starts_with(stem))
}

static OPENS_EXCHANGE: WordList = WordList::listed(word_lists::MEDICATION, "factuality.opens_exchange");

/// Whether an exchange before `first` is no order and no act yet: "if no better, change A to B", "would like to swap".
pub(super) fn is_open_exchange(reading: &TokenizedText<'_>, from: usize, first: usize) -> bool {
    let Some(verb) = (from..first).rev().find(|at| is_exchange_verb(reading.word(*at))) else { return false };
    let form = reading.word(verb);
    let past = form.ends_with("ed") || reading.source(&(verb..verb + 1)).slice(reading.text).ends_with('ó');
    let stem = EXCHANGES.iter().any(|stem| form.starts_with(stem) && form.len() <= stem.len() + 4);
    let opens = |at: usize| {
        let word = reading.word(at);
        let asks = matches!(word, "asked" | "asks" | "asking") && matches!(reading.word(at + 1), "to" | "if" | "about");
        let si = word == "si" && !reading.source(&(at..at + 1)).slice(reading.text).contains('í');
        si || asks || OPENS_EXCHANGE.contains(word)
    };
    !past && stem && (from..verb).any(opens)
}

/// "Do not change warfarin to apixaban": both stay as they were.
pub(super) fn is_denied_exchange(reading: &TokenizedText<'_>, from: usize, first: usize) -> bool {
    let verb = (from..first).rev().find(|at| is_exchange_verb(reading.word(*at)));
    verb.is_some_and(|verb| is_denied(reading, from, verb))
}

/// "Substitute A for B", as English puts it, names the new medicine first.
pub(super) fn names_new_first(reading: &TokenizedText<'_>, from: usize, first: &Range<usize>, second: usize) -> bool {
    (from.max(first.start.saturating_sub(6))..first.start).any(|at| reading.word(at).starts_with("substitut"))
        && (first.end..second).any(|at| reading.word(at) == "for")
}

/// "Cambiar sertralina a 100 mg", "change it to the evening": the dose or the hour is exchanged, not the medicine.
fn is_changed_to(reading: &TokenizedText<'_>, verb: &Range<usize>, name: &Range<usize>) -> bool {
    let exchanged = verb.clone().any(|at| is_exchange_verb(reading.word(at)));
    let to = (name.end..name.end + 4).find(|at| matches!(reading.word(*at), "a" | "to" | "hasta"));
    exchanged
        && to.is_some_and(|at| {
            number_at(reading, at + 1, at + 3).is_some()
                || (at + 1..at + 3).any(|word| {
                    matches!(reading.word(word), "noche" | "manana" | "tarde" | "evening" | "morning" | "night")
                })
        })
}

/// The status that a verb before a name gives; `None` where it speaks of something else. `clause`: its first word.
pub(super) fn before(
    reading: &TokenizedText<'_>,
    clause: usize,
    verb: &Range<usize>,
    name: &Range<usize>,
    status: DrugStatus,
) -> Option<DrugStatus> {
    // "Did not give prednisolone": a dose that was not given begins nothing.
    if matches!(status, DrugStatus::Started) && is_denied(reading, clause, verb.start) {
        return Some(DrugStatus::NotTaken);
    }
    // "Never misses a dose of warfarin".
    if status == DrugStatus::NotAdherent && is_denied(reading, clause, verb.start) {
        return Some(DrugStatus::Continued);
    }
    if status != DrugStatus::Stopped {
        return Some(status);
    }
    if replaces(reading, verb, name) {
        return Some(DrugStatus::Started);
    }
    if is_changed_to(reading, verb, name) {
        return Some(DrugStatus::Changed);
    }
    if is_aside(reading, verb, name) || is_subjunctive(reading, clause, verb) {
        return None;
    }
    Some(if is_unreal(reading, clause, verb) || is_left_at(reading, verb, name) {
        DrugStatus::Continued
    } else {
        status
    })
}

/// The status that words after a name, or in an answer, give. `clause`: the first word that may govern them.
pub(super) fn factual_status_after(
    reading: &TokenizedText<'_>,
    clause: usize,
    hit: &Range<usize>,
    status: DrugStatus,
) -> DrugStatus {
    let ended = reading.word(hit.start) == "no" || hit.clone().any(|word| reading.word(word) == "longer");
    if status == DrugStatus::NotAdherent && is_denied(reading, clause, hit.start) {
        return DrugStatus::Continued;
    }
    // "En pausa, preguntar cuándo se reinicia": it has not been begun again.
    let awaited =
        |at: usize| matches!(reading.word(at), "cuando" | "when" | "hasta" | "until" | "before" | "si" | "if");
    let anew = hit
        .clone()
        .any(|at| ["reinici", "retom", "restart", "resum"].iter().any(|stem| reading.word(at).starts_with(stem)));
    if status == DrugStatus::Active && anew && (clause.max(hit.start.saturating_sub(4))..hit.start).any(awaited) {
        return DrugStatus::OnHold;
    }
    if status == DrugStatus::Declined && wants_a_person(reading, hit) {
        return DrugStatus::Active;
    }
    let unreal = status == DrugStatus::Stopped && !ended && (is_unreal(reading, clause, hit) || is_left(reading, hit));
    if unreal { DrugStatus::Continued } else { status }
}

/// "Lo dejamos igual, en 27", "leave it as is": it goes on; "que lo termine" is a course that is being taken.
fn is_left(reading: &TokenizedText<'_>, hit: &Range<usize>) -> bool {
    let word = |at: usize| reading.word(at);
    let leaves = hit.clone().any(|at| word(at).starts_with("dej"));
    let from = hit.end - usize::from(matches!(word(hit.end - 1), "en" | "a"));
    let same = match word(from) {
        "igual" | "asi" | "tal" | "estar" => true,
        "como" => matches!(word(from + 1), "esta" | "estaba" | "estan" | "va"),
        "en" | "a" => number_at(reading, from + 1, from + 4).is_some_and(|(_, dose)| !is_year(&dose)),
        _ => false,
    };
    let last = word(hit.end - 1);
    let lets = (hit.start.saturating_sub(2)..hit.end).any(|at| word(at) == "que")
        && matches!(last, "termine" | "acabe" | "complete" | "terminen")
        && !reading.source(&(hit.end - 1..hit.end)).slice(reading.text).contains('é');
    leaves && same || lets
}

fn is_year(number: &str) -> bool {
    number.len() == 4 && (number.starts_with("19") || number.starts_with("20"))
}

/// "I don't want him going that road": of a person, not of the medicine; "don't want him on it" is.
fn wants_a_person(reading: &TokenizedText<'_>, hit: &Range<usize>) -> bool {
    let word = |at: usize| reading.word(at);
    let wants = hit.clone().any(|at| matches!(word(at), "want" | "quiero" | "quiere"));
    let person = matches!(word(hit.end), "him" | "her" | "you" | "anyone" | "people" | "my" | "mum" | "que");
    let taking = (hit.end + 1..hit.end + 4)
        .any(|at| matches!(word(at), "on" | "taking" | "take" | "having" | "it" | "lo" | "la" | "tome"));
    wants && person && !taking
}

/// Whether a verb is denied, or governed by a word of wishing or supposing in its clause. A verb of the past is neither wished
/// nor supposed: "when she stopped", "could not sleep and stopped".
fn is_unreal(reading: &TokenizedText<'_>, clause: usize, verb: &Range<usize>) -> bool {
    is_denied(reading, clause, verb.start) || is_wished(reading, clause, verb)
}

fn is_denied(reading: &TokenizedText<'_>, clause: usize, verb: usize) -> bool {
    let before = (clause..verb).rev().find(|at| !CLITICS.contains(reading.word(*at)));
    before.is_some_and(|at| DENIALS.contains(&reading.word(at)) || reading.word(at).ends_with("n't"))
}

fn is_wished(reading: &TokenizedText<'_>, clause: usize, verb: &Range<usize>) -> bool {
    let form = reading.word(verb.start);
    let base = BASES.contains(&form);
    let infinitive = form.len() > 4 && ["ar", "er", "ir"].iter().any(|ending| form.ends_with(ending));
    let to = verb.start > clause && reading.word(verb.start - 1) == "to";
    let open = infinitive || form.ends_with("ing") || base && to;
    let first = clause.max(verb.start.saturating_sub(GOVERNS));
    for at in (first..verb.start).rev() {
        let word = reading.word(at);
        let close = verb.start - at <= CLOSE;
        if reading.words[at].punctuation || ORDERED.contains(&word) {
            return false;
        }
        let supposed = close && (word == "if" && base || COULD.contains(&word) && (base || infinitive));
        let put_off = word == "hasta" && infinitive && at + 1 == verb.start;
        if open && WISHES.contains(word) || supposed || put_off {
            return true;
        }
    }
    false
}

/// "Me la cambiaron por venlafaxina", "replaced it with": the name after the link is the new medicine.
fn replaces(reading: &TokenizedText<'_>, verb: &Range<usize>, name: &Range<usize>) -> bool {
    let exchanged = verb.clone().any(|at| is_exchange_verb(reading.word(at)));
    let between = verb.end.max(name.start.saturating_sub(EXCHANGE))..name.start;
    let last = between.rev().find(|at| !ARTICLES.contains(&reading.word(*at)));
    exchanged && last.is_some_and(|at| matches!(reading.word(at), "por" | "to" | "onto" | "with" | "a"))
}

fn is_aside(reading: &TokenizedText<'_>, verb: &Range<usize>, name: &Range<usize>) -> bool {
    let last = (verb.end..name.start).rev().find(|at| !ARTICLES.contains(&reading.word(*at)));
    last.is_some_and(|at| {
        let word = reading.word(at);
        ASIDE.contains(word) || ASIDE_AFTER_AN_OBJECT.contains(&word) && at > verb.end
    })
}

/// "Mientras tome lorazepam": "tomé" is the past of taking only with its accent, or where nothing asks for a wish.
fn is_subjunctive(reading: &TokenizedText<'_>, clause: usize, verb: &Range<usize>) -> bool {
    let governed =
        verb.start > clause && matches!(reading.word(verb.start - 1), "mientras" | "que" | "para" | "siempre");
    let accented = reading.source(verb).slice(reading.text).contains('é');
    let wished = governed || until_clauses::is_still_open(reading, verb.end);
    verb.len() == 1 && reading.word(verb.start) == "tome" && wished && !accented
}

/// "Dejamos la quetiapina en 50": the treatment goes on at that dose.
fn is_left_at(reading: &TokenizedText<'_>, verb: &Range<usize>, name: &Range<usize>) -> bool {
    let leaves = verb.clone().any(|at| reading.word(at).starts_with("dej"));
    leaves && reading.word(name.end) == "en" && number_at(reading, name.end + 1, name.end + 5).is_some()
}

/// Whether a verb after a name speaks of the medicine that follows: "takes sertraline, stopped mirtazapine",
/// "paracetamol now that he has finished the codeine". `next`: where that one begins. A verb right after its name, and
/// one in the passive, speak of the medicine before.
pub(crate) fn is_of_next(reading: &TokenizedText<'_>, name_end: usize, hit: &Range<usize>, next: usize) -> bool {
    let reaches = (hit.end..next).all(|word| !reading.words[word].punctuation && is_small(reading.word(word)));
    let apart = (name_end..hit.start)
        .any(|word| matches!(reading.word(word), "," | "(" | "[" | "–" | "—") || !is_small(reading.word(word)));
    let passive =
        (hit.start.saturating_sub(2).max(name_end)..hit.start).any(|word| PASSIVE.contains(reading.word(word)));
    // "Stopped warfarin and is still on digoxin".
    let of_now = matches!(reading.word(hit.start), "still" | "currently" | "now" | "sigue" | "actualmente");
    hit.end <= next && reaches && apart && (!passive || of_now)
}

/// "Tras la retirada del catéter": a noun, whose own complement was taken out.
pub(super) fn is_noun(reading: &TokenizedText<'_>, hit: &Range<usize>) -> bool {
    reading.word(hit.start) == "retirada" && matches!(reading.word(hit.end), "de" | "del")
}

static PASSIVE: WordList = WordList::listed(word_lists::MEDICATION, "factuality.passive");

//! "En diciembre inició sertralina, que abandonó": a day that is said of the beginning of a medicine is none of its end.

use std::ops::Range;

use super::DateMention;
use crate::Entity;
use crate::analysis::AnalyzedDocument;
use anamnesis_core::finding::EntityType;

/// Words between a day and its verb.
const REACH: usize = 10;
/// Stems of verbs of beginning, and of ending.
const STARTS: &[&str] = &[
    "inici", "empez", "empiez", "comenz", "comienz", "started", "starting", "began", "begun", "commenc", "initiat",
    "prescri", "recet", "pautad", "introduc",
];
const STOPS: &[&str] = &[
    "abandon",
    "suspend",
    "retir",
    "dejo",
    "deje",
    "dejad",
    "dejan",
    "interrump",
    "discontin",
    "stopp",
    "quit",
    "gave",
    "ceased",
    "came",
    "withdr",
    "dropped",
    "weaned",
    "taken",
    "cambi",
    "switch",
    "changed",
    "complet",
    "finish",
    "termin",
    "acab",
];

/// Verbs of an order to begin or to change: bare forms, never "started" or "inició".
const ORDERS: &[&str] = &[
    "start",
    "begin",
    "commence",
    "restart",
    "resume",
    "increase",
    "reduce",
    "switch",
    "change",
    "add",
    "titrate",
    "take",
    "iniciar",
    "iniciamos",
    "iniciaremos",
    "inicie",
    "empezar",
    "empezamos",
    "empiece",
    "empieza",
    "comenzar",
    "comience",
    "reiniciar",
    "reanudar",
    "retomar",
    "subir",
    "subimos",
    "aumentar",
    "aumentamos",
    "bajar",
    "bajamos",
    "reducir",
    "cambiar",
    "cambiamos",
    "anadir",
    "anadimos",
    "tomar",
    "tome",
];

/// "Start sertraline from Monday", "iniciar a partir del lunes": a day that an order names is still to come.
pub(super) fn is_to_begin(doc: &AnalyzedDocument<'_>, mention: &DateMention) -> bool {
    let reading = doc.reading;
    let date = reading.words_at(mention.span);
    let sentence = &reading.sentences[reading.sentence_of(date.start)].words;
    let before = |back: usize| date.start.checked_sub(back).map_or("", |word| reading.word(word));
    let from = matches!(before(1), "from" | "starting" | "beginning" | "desde" | "partir")
        || matches!(before(2), "from" | "partir" | "starting" | "desde")
        || matches!(reading.word(date.start), "from" | "partir" | "desde");
    from && (sentence.start..date.start).any(|word| ORDERS.contains(&reading.word(word)))
}

/// Whether the verb nearest to a day is one of beginning, while what is said of the medicine is that it was stopped.
pub(super) fn is_of_the_start(doc: &AnalyzedDocument<'_>, entity: &Entity, mention: &DateMention) -> bool {
    if entity.kind != EntityType::Medication || entity.status.as_deref() != Some("stopped") {
        return false;
    }
    let reading = doc.reading;
    let date = reading.words_at(mention.span);
    let sentence = &reading.sentences[reading.sentence_of(date.start)].words;
    let is = |word: usize, stems: &[&str]| stems.iter().any(|stem| reading.word(word).starts_with(stem));
    let distance = |word: usize| if word < date.start { date.start - word } else { word.saturating_sub(date.end) + 1 };
    let nearest = |words: Range<usize>, stems: &[&str]| {
        words.filter(|word| !date.contains(word) && is(*word, stems)).map(distance).min()
    };
    // A verb after a joining word belongs to another clause: "began in January but gave it up".
    let parts =
        |word: &usize| matches!(reading.word(*word), "," | ";" | "but" | "pero" | "and" | "y" | "which" | "que");
    let first = sentence.start.max(date.start.saturating_sub(REACH));
    let last = sentence.end.min(date.end + REACH);
    let from = (first..date.start).rev().find(parts).map_or(first, |word| word + 1);
    let to = (date.end..last).find(parts).unwrap_or(last);
    let near = from..to.max(from);
    let Some(start) = nearest(near.clone(), STARTS) else { return false };
    nearest(near, STOPS).is_none_or(|stop| start < stop)
}

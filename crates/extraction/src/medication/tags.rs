//! The remark that a line of a list carries: "(AUMENTA)", "– new", a column "continued", "↑ from 50".

use std::ops::Range;

use super::status::DrugStatus;
use crate::tokenized::TokenizedText;

/// The last remark after a name: a separate word in brackets, after a sign or in a separate column.
pub(crate) fn remark(reading: &TokenizedText<'_>, within: Range<usize>) -> Option<DrugStatus> {
    within.clone().rev().find_map(|word| {
        if matches!(reading.word(word), "↑" | "↓" | "⬆" | "⬇" | "▲" | "▼") {
            return Some(DrugStatus::Changed);
        }
        let status = meaning(reading.word(word))?;
        (opens(reading, &within, word) && closes(reading, &within, word)).then_some(status)
    })
}

fn opens(reading: &TokenizedText<'_>, within: &Range<usize>, word: usize) -> bool {
    let sign = word > within.start
        && matches!(reading.word(word - 1), "(" | "-" | "–" | "—" | ":" | "[" | "|" | "→" | ">" | "=" | "*");
    sign || is_column(reading, word)
}

fn closes(reading: &TokenizedText<'_>, within: &Range<usize>, word: usize) -> bool {
    // "Quetiapine 50 (stopped olanzapine)": the next medicine closes nothing.
    let ends = || word + 1 >= reading.words.len() || reading.sentence_of(word + 1) != reading.sentence_of(word);
    word + 1 >= within.end && ends()
        || matches!(reading.word(word + 1), ")" | "]" | "." | "," | ";" | "|" | "(" | "!" | "*")
        || is_column(reading, word + 1)
}

/// Two spaces, a tabulator or a new line before a word.
fn is_column(reading: &TokenizedText<'_>, word: usize) -> bool {
    let Some((before, here)) =
        word.checked_sub(1).and_then(|at| Some((reading.words.get(at)?, reading.words.get(word)?)))
    else {
        return false;
    };
    let gap = reading.text.get(before.source.end..here.source.start).unwrap_or("");
    gap.contains(['\t', '\n']) || gap.len() > 1
}

fn meaning(word: &str) -> Option<DrugStatus> {
    Some(match word {
        "stop" | "stopped" | "suspender" | "suspende" | "suspendido" | "suspendida" | "retirar" | "retirado"
        | "retirada" | "retira" | "discontinue" | "discontinued" | "cease" | "ceased" | "quitar" | "suspension"
        | "dc" => DrugStatus::Stopped,
        "nuevo" | "nueva" | "new" | "inicia" | "iniciar" | "inicio" | "start" | "started" | "added" | "anadido"
        | "anadida" | "comenzar" => DrugStatus::Started,
        "aumenta" | "aumentar" | "aumentado" | "aumentada" | "aumento" | "sube" | "subir" | "subido" | "subida"
        | "increase" | "increased" | "bajar" | "disminuye" | "disminuir" | "reduce" | "reducir" | "reducido"
        | "reducida" | "reduced" | "decreased" | "changed" | "cambia" | "cambio" | "modifica" | "modificado"
        | "modificada" => DrugStatus::Changed,
        "igual" | "same" | "continue" | "continued" | "continues" | "continua" | "continuar" | "unchanged"
        | "mantener" | "mantiene" | "mantenido" | "seguir" | "ongoing" => DrugStatus::Active,
        "hold" | "held" | "paused" | "pausa" | "pausar" | "pausado" | "pausada" | "withheld" => DrugStatus::OnHold,
        _ => return None,
    })
}

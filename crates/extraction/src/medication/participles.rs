//! Which medicine of a sentence a participle speaks of: "metformin increased and glipizide stopped", "enalapril
//! suspendido y losartán iniciado". It speaks of the name right before it, and of the list before that only where it
//! covers the whole list.

use std::ops::Range;

use super::factuality::is_of_next;
use super::regimen::RegimenRules;
use super::status::DrugStatus;
use crate::lexicon::ConceptMention;
use crate::tokenized::TokenizedText;

/// Words between a name and its participle: dose, way and times.
const FARTHEST: usize = 9;
/// Helping verbs and signs between a name and its participle.
const HELPS: &[&str] = &[
    "was", "is", "were", "are", "has", "have", "been", "now", "also", "then", "since", "recently", "just", "already",
    "fue", "fueron", "ha", "han", "sido", "queda", "quedan", "ya", "se", "es", "son", "(", "[", "-", "–", "—", ":",
    "*", "→",
];
/// Signs before a participle that limit it to one name.
const OF_ONE: &[&str] = &["(", "[", "-", "–", "—", ":", "→", "*"];

/// The statement of a participle about each medicine of the sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParticipleStatus {
    Open,
    /// Stated by a participle, which ends at a word.
    Said(DrugStatus, usize),
    /// A participle after another medicine of the list covers that one alone: its denial does not reach this one.
    OfAnother,
}

/// The fate of each medicine of a sentence, in order.
pub(super) fn fates(
    reading: &TokenizedText<'_>,
    regimen: &RegimenRules,
    mentions: &[ConceptMention],
    end: usize,
) -> Vec<ParticipleStatus> {
    let after = |nth: usize| {
        let from = mentions[nth].words.end;
        from..mentions.get(nth + 1).map_or(end, |next| next.words.start).max(from)
    };
    let mut out: Vec<ParticipleStatus> = Vec::with_capacity(mentions.len());
    // The participle of the list, read backwards, if it covers all its medicines.
    let mut of_all: Option<DrugStatus> = None;
    let mut named_last = false;
    for nth in (0..mentions.len()).rev() {
        let gap = after(nth);
        let next = mentions.get(nth + 1).map(|next| next.words.start);
        let own = participle(reading, regimen, &gap, next);
        named_last &= own.is_none();
        let listed = regimen.is_list(reading, gap.clone());
        let fate = if let Some(hit) = own {
            of_all = hit.of_all.then_some(hit.status);
            named_last = true;
            ParticipleStatus::Said(hit.status, hit.end)
        } else if is_crossed_out(reading, mentions[nth].words.start) {
            of_all = None;
            ParticipleStatus::Said(DrugStatus::Stopped, gap.start)
        } else if listed && let Some(ParticipleStatus::Said(_, _) | ParticipleStatus::OfAnother) = out.last() {
            // "Continues bisoprolol, ramipril stopped": a comma alone joins the last two names to no verb.
            let joined = !named_last || gap.clone().any(|word| JOINS.contains(&reading.word(word)));
            of_all = of_all.filter(|_| joined);
            named_last = false;
            of_all.map_or(ParticipleStatus::OfAnother, |status| ParticipleStatus::Said(status, gap.start))
        } else {
            of_all = None;
            ParticipleStatus::Open
        };
        out.push(fate);
    }
    out.reverse();
    out
}

/// Words that join the last two names of a list.
const JOINS: &[&str] = &["and", "y", "e", "&", "+", "/", "plus", "both"];

/// "D/c lisinopril", "d/c'd her estradiol": the abbreviation with its medicine right after it.
fn is_crossed_out(reading: &TokenizedText<'_>, name: usize) -> bool {
    let article = |word: &usize| matches!(reading.word(*word), "the" | "her" | "his" | "my" | "their");
    let before = (name.saturating_sub(2)..name).rev().find(|word| !article(word));
    before.is_some_and(|word| matches!(reading.word(word), "d/c" | "d/c'd" | "d/c'ed" | "d/ced"))
}

struct Participle {
    status: DrugStatus,
    end: usize,
    /// It covers every medicine of the list before it.
    of_all: bool,
}

fn participle(
    reading: &TokenizedText<'_>,
    regimen: &RegimenRules,
    gap: &Range<usize>,
    next: Option<usize>,
) -> Option<Participle> {
    let helps = |word: usize| HELPS.contains(&reading.word(word));
    let near = gap.start..gap.end.min(gap.start + FARTHEST);
    let at = near.into_iter().find(|word| status_of(reading.word(*word)).is_some())?;
    let status = status_of(reading.word(at))?;
    // Doses, helping verbs and one sign lie between, and no comma that would begin another statement.
    let dosed = |words: Range<usize>| words.is_empty() || regimen.is_list(reading, words);
    let opening = (gap.start..at).find(|word| helps(*word)).unwrap_or(at);
    let plain = (opening..at).all(helps) && dosed(gap.start..opening);
    let parted = (gap.start..at).any(|word| matches!(reading.word(word), "," | "and" | "y" | "e" | "+"));
    let hit = at..at + 1;
    if !plain
        || parted
        || next.is_some_and(|next| is_of_next(reading, gap.start, &hit, next))
        || !closes(reading, at + 1, gap.end)
    {
        return None;
    }
    // "Started in January and stopped in February": the last statement holds.
    let goes_on = (at + 1..gap.end).any(|word| {
        let later = word..word + 1;
        status_of(reading.word(word)).is_some()
            && !next.is_some_and(|next| is_of_next(reading, gap.start, &later, next))
    });
    if goes_on {
        return None;
    }
    let of_one = at.checked_sub(1).is_some_and(|before| OF_ONE.contains(&reading.word(before)));
    let word = reading.word(at);
    let spanish = ["ado", "ada", "ido", "ida"].iter().any(|ending| word.ends_with(ending));
    Some(Participle { status, end: at + 1, of_all: !of_one && !spanish })
}

/// What may follow a participle that covers its medicine: an end, a sign, a joining word, or when and why.
fn closes(reading: &TokenizedText<'_>, word: usize, end: usize) -> bool {
    word >= end
        || matches!(
            reading.word(word),
            "." | ","
                | ";"
                | ")"
                | "]"
                | "and"
                | "y"
                | "e"
                | "but"
                | "pero"
                | "|"
                | "due"
                | "because"
                | "for"
                | "por"
                | "debido"
                | "today"
                | "yesterday"
                | "hoy"
                | "ayer"
                | "on"
                | "in"
                | "el"
                | "en"
                | "last"
                | "this"
                | "at"
                | "al"
                | "while"
                | "2/2"
                | "after"
                | "tras"
                | "since"
                | "desde"
                | "hace"
        )
        || reading.word(word).starts_with(|c: char| c.is_ascii_digit())
}

fn status_of(word: &str) -> Option<DrugStatus> {
    Some(match word {
        "stopped" | "discontinued" | "ceased" | "withdrawn" | "d/c'd" | "dc'd" | "d/c" | "d/ced" | "dcd"
        | "suspendido" | "suspendida" | "suspendidos" | "suspendidas" | "retirado" | "retirada" | "retirados"
        | "retiradas" | "interrumpido" | "interrumpida" | "discontinuado" | "discontinuada" => DrugStatus::Stopped,
        "started" | "commenced" | "initiated" | "added" | "iniciado" | "iniciada" | "iniciados" | "iniciadas"
        | "anadido" | "anadida" | "introducido" | "introducida" | "agregado" | "agregada" => DrugStatus::Started,
        "continued" | "continues" | "maintained" | "unchanged" | "restarted" | "resumed" | "reinstated"
        | "mantenido" | "mantenida" | "continuado" | "reiniciado" | "reiniciada" | "reintroducido"
        | "reintroducida" => DrugStatus::Active,
        "increased" | "decreased" | "reduced" | "raised" | "lowered" | "doubled" | "halved" | "uptitrated"
        | "titrated" | "aumentado" | "aumentada" | "reducido" | "reducida" | "disminuido" | "disminuida"
        | "ajustado" | "ajustada" => DrugStatus::Changed,
        "held" | "withheld" | "paused" | "pausado" | "pausada" => DrugStatus::OnHold,
        _ => return None,
    })
}

//! Suicides and attempts of relatives, which are family history, and of friends, which are somebody else's.

use std::ops::Range;

use super::clauses::clauses;
use super::heard::{Heard, Settled};
use super::topics::{Topic, Turned};
use super::whose::{is_kin, is_relative};
use super::words::Words;
use crate::scene::Scene;
use crate::structure::Section;
use crate::{Experiencer, RiskClass};

/// Words before a death within which the relative is named.
const BEFORE: usize = 10;
/// Words behind it: "suicidio de su padre".
const BEHIND: usize = 4;

/// Adds what is said of relatives; phrases there say nothing of the patient any more.
pub(crate) fn find(scene: &Scene<'_>, words: &Words, settled: &Settled, out: &mut Vec<Heard>) {
    let mut found = Vec::new();
    for (index, sentence) in scene.sentences() {
        if settled.sentences.contains(&index) {
            continue;
        }
        for clause in clauses(scene.reading, &sentence.words) {
            let Some(death) = words.kin_death(scene.reading, clause.clone()) else { continue };
            if settled.holds(&death) || settled.denied.overlap(&death) {
                continue;
            }
            let topic = Topic { class: RiskClass::AttemptHistory, words: death.clone(), turned: Turned::No };
            if words.denied(scene.reading, &clause, &topic).is_some() {
                continue;
            }
            let Some(experiencer) = whose(scene, &clause, &death) else { continue };
            found.push(Heard {
                class: RiskClass::AttemptHistory,
                denied: false,
                words: clause.clone(),
                core: death,
                experiencer,
                confirmed: None,
            });
        }
    }
    out.extend(found);
}

fn whose(scene: &Scene<'_>, clause: &Range<usize>, death: &Range<usize>) -> Option<Experiencer> {
    let reading = scene.reading;
    let before = clause.start.max(death.start.saturating_sub(BEFORE))..death.start;
    let behind = death.end..clause.end.min(death.end + BEHIND);
    let of = behind.clone().any(|word| matches!(reading.word(word), "of" | "de" | "del" | "in" | "en"));
    let named = before.clone().rev().find(|word| is_relative(reading.word(*word)));
    // "Mother reports that he tried to hang himself": the relative informs.
    let informs = named.is_some_and(|kin| (kin..death.start).any(|word| is_telling(reading.word(word))));
    if named.is_some() && !informs
        || of && is_kin(reading, &behind)
        || scene.section(death.start) == Some(Section::Family)
    {
        return Some(Experiencer::Family);
    }
    let friend = |word: usize| {
        matches!(
            reading.word(word),
            "friend"
                | "friends"
                | "amigo"
                | "amiga"
                | "amigos"
                | "parcero"
                | "pata"
                | "mate"
                | "neighbor"
                | "vecino"
                | "coworker"
                | "colleague"
                | "classmate"
        )
    };
    (!informs && before.clone().any(friend)).then_some(Experiencer::Other)
}

pub(super) fn is_telling(word: &str) -> bool {
    matches!(
        word,
        "says"
            | "said"
            | "reports"
            | "reported"
            | "states"
            | "stated"
            | "told"
            | "tells"
            | "refiere"
            | "dice"
            | "dijo"
            | "comenta"
            | "informa"
            | "cuenta"
            | "relata"
            | "explica"
            | "found"
            | "encontro"
            | "notes"
            | "noted"
            | "trae"
            | "brought"
    )
}

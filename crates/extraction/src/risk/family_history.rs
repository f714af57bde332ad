//! Suicides and attempts of relatives, which are family history, and of friends, which are another person's.

use std::ops::Range;

use super::RiskPhrase;
use super::candidates::{ResolvedWords, RiskCandidate};
use super::clauses::clauses;
use super::cue_words::RiskCueWords;
use super::experiencer::{is_kin, is_relative};
use super::topics::{RiskTopic, TopicInversion};
use crate::analysis::AnalyzedDocument;
use crate::lexicon::word_lists::{self, WordList};
use crate::structure::Section;
use crate::tokenized::TokenizedText;
use crate::{Experiencer, RiskClass};

/// Words before a death within which the relative is named.
const BEFORE: usize = 10;
/// Words after it: "suicidio de su padre".
const AFTER: usize = 4;

/// Adds risks of relatives; phrases there say nothing of the patient any more.
pub(crate) fn find(
    doc: &AnalyzedDocument<'_>,
    words: &RiskCueWords,
    settled: &ResolvedWords,
    out: &mut Vec<RiskCandidate>,
) {
    let mut found = Vec::new();
    for (index, sentence) in doc.sentences() {
        if settled.sentences.contains(&index) {
            continue;
        }
        for clause in clauses(doc.reading, &sentence.words) {
            let Some(death) = words.kin_death(doc.reading, clause.clone()) else { continue };
            if settled.holds(&death) || settled.denied.overlap(&death) {
                continue;
            }
            let topic =
                RiskTopic { class: RiskClass::AttemptHistory, words: death.clone(), turned: TopicInversion::No };
            // "No suicides in the family" is no history.
            if words.denied(doc.reading, &clause, &topic).is_some() {
                continue;
            }
            let Some(experiencer) = experiencer_of(doc, &clause, &death) else { continue };
            found.push(RiskCandidate {
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

fn experiencer_of(doc: &AnalyzedDocument<'_>, clause: &Range<usize>, death: &Range<usize>) -> Option<Experiencer> {
    static WORDS: WordList = WordList::listed(word_lists::RISK, "family_history.experiencer_of");
    let reading = doc.reading;
    let before = clause.start.max(death.start.saturating_sub(BEFORE))..death.start;
    let after = death.end..clause.end.min(death.end + AFTER);
    let of = after.clone().any(|word| matches!(reading.word(word), "of" | "de" | "del" | "in" | "en"));
    let named = before.clone().rev().find(|word| is_relative(reading.word(*word)));
    // "Mother reports that he tried to hang himself": the relative informs.
    let informs = named.is_some_and(|kin| (kin..death.start).any(|word| is_telling(reading.word(word))));
    if named.is_some() && !informs || of && is_kin(reading, &after) || doc.section(death.start) == Some(Section::Family)
    {
        return Some(Experiencer::Family);
    }
    let friend = |word: usize| WORDS.contains(reading.word(word));
    (!informs && before.clone().any(friend)).then_some(Experiencer::Other)
}

pub(super) fn is_telling(word: &str) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::RISK, "family_history.is_telling");
    WORDS.contains(word)
}

/// "Desde que murió su hermano piensa que …", "since her brother died …": a death that dates the wishes of today. The dead
/// have none, and a person named after the death is another subject. Plans and acts may be those of the dead.
pub(super) fn only_dates_the_wish(reading: &TokenizedText<'_>, person: &Range<usize>, found: &RiskPhrase) -> bool {
    let word = |at: usize| reading.word(at);
    let ahead = |words: usize| person.start.checked_sub(words).map_or("", word);
    let dies = |word: &str| matches!(word, "murio" | "fallecio");
    let dates = |word: &str| matches!(word, "que" | "cuando" | "since" | "after" | "when");
    let dead =
        dies(word(person.end)) || matches!((word(person.end), word(person.end + 1)), ("died", _) | ("passed", "away"));
    let dated = dies(ahead(1)) && dates(ahead(2)) || dead && dates(ahead(1));
    let earlier = |at: usize| {
        matches!(
            word(at),
            "decia"
                | "queria"
                | "contaba"
                | "said"
                | "used"
                | "tras"
                | "he"
                | "she"
                | "they"
                | "ella"
                | "quien"
                | "who"
        )
    };
    matches!(found.class, RiskClass::PassiveIdeation | RiskClass::ActiveIdeation)
        && dated
        && !(person.end..found.words.start).any(earlier)
}

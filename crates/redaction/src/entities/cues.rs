//! Words that announce a name, and words that never are one.

use std::sync::LazyLock;

use super::super::document::DocumentContext;
use super::super::token::LetterCase;
use super::{lexicon, name_context, person_verbs};
use crate::word_tables::{self, WordList, WordSet};

pub(crate) use super::cue_lists::{CUES, FUNCTION, MEETINGS, OPENERS, PARTICLES, RELATIONS, ROLES, TITLES};

/// Second words of two-word cues, so that other words are not combined with the one before them.
static SECOND: LazyLock<WordSet> = LazyLock::new(|| {
    CUES.iter().chain(MEETINGS.iter()).filter_map(|cue| cue.split_once(' ')).map(|(_, second)| second).collect()
});

/// Longest abbreviation after a relative that is an illness and no name.
const LONGEST_ABBREVIATION: usize = 4;

/// Why a run may be a name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameTrigger {
    None,
    /// Greeting, relation: the first word must look like a name.
    Weak,
    /// "Mi hermana": what follows may be a name no list knows.
    Relation,
    /// Title, "me llamo": what follows is a name.
    Strong,
}

/// The strongest trigger before a word.
pub(crate) fn trigger(context: &DocumentContext<'_>, at: usize) -> NameTrigger {
    let Some(mut before) = at.checked_sub(1) else { return NameTrigger::None };
    if name_context::is_greeted(context, at)
        || name_context::is_aged(context, at)
        || name_context::is_spoken_of(context, at)
    {
        return NameTrigger::Relation;
    }
    // "Prof.ª Egea": a raised letter belongs to the title before it.
    let raised = before > 1
        && matches!(context.plain(&context.tokens[before]), "a" | "o" | "ª" | "º")
        && context.plain(&context.tokens[before - 1]) == "."
        && context.tokens[before].span.start == context.tokens[before - 1].span.end;
    before -= usize::from(raised);
    let mut dotted = false;
    while matches!(context.plain(&context.tokens[before]), "." | "," | ":" | ";" | "(" | "\"") && !dotted {
        dotted = true;
        let Some(next) = before.checked_sub(1) else { return NameTrigger::None };
        before = next;
    }
    let sign = match (raised, dotted) {
        (true, _) => ".",
        (false, true) => context.plain(&context.tokens[at - 1]),
        (false, false) => "",
    };
    let word = context.lower(&context.tokens[before]);
    if name_context::is_posted(context, at, before, sign) {
        return NameTrigger::Relation;
    }
    let large = context.tokens[before].is_capitalized();
    let short = matches!(word, "d" | "tia" | "tio" | "padre" | "enf");
    // "Hx: MS. Meds: …": capital letters before a name that has small ones are a disease.
    let disease = word == "ms"
        && context.tokens[before].case == LetterCase::Upper
        && context.tokens[at].case != LetterCase::Upper;
    // "Padre HTA. Tía DM2.": a relative and what they have, no priest and no name.
    let illness = matches!(word, "tia" | "tio" | "padre")
        && context.tokens[at].case == LetterCase::Upper
        && context.tokens[at].span.len() <= LONGEST_ABBREVIATION;
    // "Seen by the nurse. Denies pain.": only an abbreviated title has a full stop before its name.
    let joins = sign.is_empty() || sign == "." && ABBREVIATED.contains(word) && !opens_a_sentence(context, at);
    if TITLES.contains(word)
        && joins
        && !disease
        && !illness
        && (!short || (large && word != "d") || (word == "d" && sign == "." && large))
    {
        return NameTrigger::Strong;
    }
    if matches!(sign, "." | ";") && !matches!(word, "fdo" | "atte") {
        return NameTrigger::None;
    }
    let first = before.checked_sub(1).filter(|_| SECOND.contains(word));
    let two = first.map(|first| format!("{} {word}", context.lower(&context.tokens[first])));
    let cue = CUES.contains(word) || two.as_deref().is_some_and(|two| CUES.contains(two));
    let named = two.as_deref().is_some_and(|two| matches!(two, "name is" | "nombre es"));
    if cue && (named || !is_weak_cue(word)) && sign != "," {
        return NameTrigger::Strong;
    }
    if RELATIONS.contains(word) && matches!(sign, "" | "," | ":" | "(") {
        let set_off = sign == "," && is_set_off(context, at);
        return if matches!(sign, "" | "(") || set_off { NameTrigger::Relation } else { NameTrigger::Weak };
    }
    if sign.is_empty() && (MEETINGS.contains(word) || two.as_deref().is_some_and(|two| MEETINGS.contains(two))) {
        return NameTrigger::Relation;
    }
    if ROLES.contains(word) && matches!(sign, "(" | ":") {
        return NameTrigger::Relation;
    }
    if cue {
        return NameTrigger::Weak;
    }
    NameTrigger::None
}

static ABBREVIATED: WordList = WordList::listed(word_tables::ENTITIES, "cues.abbreviated");

/// "Seen by Dr. Denies pain": a verb of people, in the form of notes, begins a sentence even after a title.
fn opens_a_sentence(context: &DocumentContext<'_>, at: usize) -> bool {
    let word = context.lower(&context.tokens[at]);
    (person_verbs::is_person_verb(word) || OPENERS.contains(word)) && !lexicon::word(word).given
}

/// "El hijo, Yeray, refiere": one capitalised word between commas.
fn is_set_off(context: &DocumentContext<'_>, at: usize) -> bool {
    let next = context.tokens.get(at + 1).map(|token| context.plain(token)).unwrap_or_default();
    context.tokens[at].is_capitalized() && matches!(next, "," | ")") && !context.no_case()
}

/// Function words with a capital letter ("Un", "Se", "The") begin no name.
pub(crate) fn is_function(lower: &str) -> bool {
    let contracted = ["'m", "'ll", "'ve", "'d", "'re", "n't", "it's"].iter().any(|ending| lower.ends_with(ending));
    contracted || FUNCTION.contains(lower) && lower.len() < 4 || PARTICLES.contains(lower) || lower.len() < 2
}

fn is_weak_cue(word: &str) -> bool {
    static WORDS: WordList = WordList::listed(word_tables::ENTITIES, "cues.is_weak_cue");
    WORDS.contains(word) || word == "is"
}

/// Words that begin the next field of a form or signature.
pub(crate) fn is_field(lower: &str) -> bool {
    static WORDS: WordList = WordList::listed(word_tables::ENTITIES, "cues.is_field");
    WORDS.contains(lower)
}

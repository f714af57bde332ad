//! Names in texts without capitals: speech and chat.

use super::super::document::DocumentContext;
use super::super::token::{LetterCase, TextToken};
use super::cues::{FUNCTION, NameTrigger, PARTICLES, is_function};
use super::words::near;
use super::{eponyms, lexicon, words};
use crate::word_tables::{self, WordList};
use anamnesis_text::Language;

/// Names in lower case: after a cue, or a first name with a surname, or alone in a text without capitals.
pub(crate) fn lower_run(context: &DocumentContext<'_>, at: usize, trigger: NameTrigger) -> Option<(usize, f64)> {
    let first = &context.tokens[at];
    let lower = context.lower(first);
    let word = lexicon::word(lower);
    if is_addressed(context, at) {
        return Some((at, 0.75));
    }
    let starts = match trigger {
        NameTrigger::Strong => {
            word.is_strong() || word.is_name() && (context.no_case() || word.given && !lexicon::is_eponym(lower))
        }
        NameTrigger::Weak | NameTrigger::Relation
            if context.no_case() && word.given && words::is_everyday_name(lower) =>
        {
            context.language == Language::English || lexicon::is_eponym(lower) || word.is_strong()
        }
        _ => word.given && word.is_strong(),
    };
    if !starts || !may_be_name(context, first) || !is_no_adjective(lower) {
        return None;
    }
    let last = lower_surnames(context, at, trigger, word.given && word.is_strong());
    let alone = context.no_case() && words::is_everyday_name(lower) && first.span.len() > 3;
    let enough = trigger != NameTrigger::None || last > at || alone;
    (enough && !eponyms::denotes_thing(context, at, last)).then_some((last, 0.7))
}

/// "spoke w/ dr okereke": a word that no list has, right after the title of a doctor or a woman.
pub(crate) fn is_addressed(context: &DocumentContext<'_>, at: usize) -> bool {
    let before = |by: usize| at.checked_sub(by).map(|at| context.lower(&context.tokens[at])).unwrap_or_default();
    let dotted = usize::from(before(1) == ".");
    if !matches!(before(1 + dotted), "dr" | "dra" | "mrs" | "doctor" | "doctora") || !near(context, at) {
        return false;
    }
    let token = &context.tokens[at];
    let lower = context.lower(token);
    // "elm dr apartment": the kind of a street follows a name or a number.
    let street = at.checked_sub(2 + dotted).is_some_and(|at| lexicon::is_name(context.lower(&context.tokens[at])));
    token.case == LetterCase::Lower
        && may_be_name(context, token)
        && !street
        && !lexicon::is_name(lower)
        && !lexicon::is_ordinary_in(context.language, lower)
        && !lexicon::is_rare(lower)
}

fn may_be_name(context: &DocumentContext<'_>, token: &TextToken) -> bool {
    let lower = context.lower(token);
    token.is_word() && !is_function(lower) && !FUNCTION.contains(lower) && lower.len() > 2 && !PARTICLES.contains(lower)
}

/// The last of the surnames that follow a first name in lower case. After a sure first name an everyday word that is a
/// surname counts too ("sofia rubio"), and after "me llamo" one word that no list knows.
fn lower_surnames(context: &DocumentContext<'_>, at: usize, trigger: NameTrigger, sure: bool) -> usize {
    let (mut last, mut surnames) = (at, 0);
    for look in at + 1..(at + 6).min(context.tokens.len()) {
        let token = &context.tokens[look];
        let lower = context.lower(token);
        if !near(context, look) {
            break;
        }
        let next = lexicon::word(lower);
        let weak = next.surname && surnames < 2 && (sure || trigger == NameTrigger::Strong);
        let unknown = trigger != NameTrigger::None && sure && surnames < 2 && is_unknown_surname(lower, next);
        if may_be_name(context, token) && (next.is_strong() || weak && is_no_adjective(lower) || unknown) {
            last = look;
            surnames += 1;
        } else if !PARTICLES.contains(lower) || matches!(lower, "y" | "e" | "i" | "el") {
            break;
        }
    }
    last
}

/// Words after a first name that describe the person more often than they name one.
fn is_no_adjective(lower: &str) -> bool {
    static WORDS: WordList = WordList::listed(word_tables::ENTITIES, "uncased_names.is_no_adjective");
    !WORDS.contains(lower)
}

/// Long enough, no everyday word, and without the ending of a verb or adverb.
fn is_unknown_surname(lower: &str, word: lexicon::LexiconEntry) -> bool {
    const ENDINGS: &[&str] = &[
        "ando", "iendo", "ado", "ada", "ido", "ida", "mente", "ar", "er", "ir", "aba", "ia", "ing", "ed", "ly", "amos",
        "emos", "on", "que", "ia", "ion", "dad", "os", "as", "bien",
    ];
    lower.len() >= 5 && !word.common && !word.is_name() && !ENDINGS.iter().any(|ending| lower.ends_with(ending))
}

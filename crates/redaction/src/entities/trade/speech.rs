//! What people begin to speak with, and words of every day that the model took for somebody.

use super::super::super::context::Context;
use super::super::super::finding::Finding;
use super::super::super::label;
use super::super::super::token::{Case, Kind, Token};
use super::super::cues::{FUNCTION, PARTICLES, ROLES, Trigger, trigger};
use super::super::organisation_lists::LAST;
use super::super::{deeds, lexicon, places, words};
use super::forms::words_of;
use crate::entities::trade::words as trade;
use anamnesis_text::Language;

/// One word with which people begin to speak or a note begins a sentence. A word that is a first name too must be
/// followed by a sign, as "Dale," and "Mira." are.
pub(super) fn is_opener(context: &Context<'_>, at: usize) -> bool {
    let token = &context.tokens[at];
    let lower = context.lower(token);
    if trade::is_nobody(lower) && !deeds::acts(context, at) {
        return true;
    }
    let begins = deeds::begins_sentence(context, at)
        || at.checked_sub(1).is_some_and(|before| {
            let sign = context.plain(&context.tokens[before]);
            matches!(sign, "¿" | "¡" | "," | ";" | "-" | "\"" | "(" | "«" | "'" | "–" | "/")
                || sign == ":" && !is_field_of_people(context, before)
        });
    let signed = context.tokens.get(at + 1).is_none_or(|next| {
        next.kind == Kind::Break || matches!(context.plain(next), "," | "." | "!" | "?" | ":" | "…" | ";")
    });
    let known = lexicon::word(lower);
    let spanish = context.language == Language::Spanish;
    if begins && trade::is_role(lower) && !known.is_strong() {
        return true;
    }
    if trade::opens(context.language, lower) {
        let pronoun = matches!(lower, "ella" | "usa" | "nada" | "mira" | "mire" | "vera");
        return match (known.given, words::is_everyday_name(lower)) {
            (true, true) => begins && signed && spanish && !is_called(context, at),
            (true, false) => begins && (signed || spanish && pronoun || is_asked(context, at)),
            (false, _) => begins || !token.is_large(),
        };
    }
    let called = words::is_everyday_name(lower) && at > 0 && context.plain(&context.tokens[at - 1]) == ",";
    begins && spanish && !known.given && !called && !places::is_place(lower) && trade::is_verb(lower)
}

/// "Ever had a seizure?": an ordinary word, and what is asked.
fn is_asked(context: &Context<'_>, at: usize) -> bool {
    let next = context.tokens.get(at + 1).map(|token| context.lower(token)).unwrap_or_default();
    matches!(next, "had" | "have" | "been" | "tried" | "felt" | "taken" | "thought" | "has" | "i" | "you" | "the")
        && lexicon::word(context.lower(&context.tokens[at])).common
}

/// "Assistant: Oh.": the colon of somebody's field.
fn is_field_of_people(context: &Context<'_>, colon: usize) -> bool {
    let word = colon.checked_sub(1).map(|at| context.lower(&context.tokens[at])).unwrap_or_default();
    ROLES.contains(word)
        || matches!(word, "assistant" | "name" | "nombre" | "present" | "surgeon" | "witness" | "student")
}

/// "Hola, Dale", "Gracias, Mira": a greeting before it, and nothing behind it but the end.
fn is_called(context: &Context<'_>, at: usize) -> bool {
    let end = context
        .tokens
        .get(at + 1)
        .is_none_or(|next| matches!(context.plain(next), "." | "!") || next.kind == Kind::Break);
    end && at > 0 && context.plain(&context.tokens[at - 1]) == ","
}

/// "hang myself", "la navajita del sacapuntas": words of every day in small letters, none of which a list of names or
/// places has, with nothing before them that leads to a name. A house or a place must have a word that none has: one of
/// oneself, or a verb.
pub(super) fn is_everyday_speech(context: &Context<'_>, one: &Finding, (first, end): (usize, usize)) -> bool {
    if one.recognizer != "learned" || trigger(context, first) != Trigger::None {
        return false;
    }
    let spanish = context.language != Language::English;
    let verb = |lower: &str| spanish && trade::is_verb(lower);
    let ordinary = |token: &Token| {
        let lower = context.lower(token);
        let known = lexicon::word(lower);
        let named = known.given || known.surname && !verb(lower) || places::is_place(lower);
        let small = !known.given
            && (FUNCTION.contains(lower) || PARTICLES.contains(lower) || trade::opens(context.language, lower));
        token.case == Case::Lower
            && (small
                || !named
                    && (lexicon::is_ordinary_in(context.language, lower)
                        || lexicon::is_rare(lower)
                        || spanish && is_word_of_spanish(lower)))
    };
    let told = |token: &Token| {
        let lower = context.lower(token);
        is_of_oneself(lower) || verb(lower) || spanish && is_small_form(lower)
    };
    let house = leads_to_a_house(context, first)
        || words_of(context, first, end).any(|token| LAST.contains(context.lower(token)));
    words_of(context, first, end).all(ordinary)
        && (one.label == label::PERSON
            || one.label == label::ORGANIZATION && !house
            || words_of(context, first, end).any(told))
}

/// Words before a house.
fn leads_to_a_house(context: &Context<'_>, first: usize) -> bool {
    let before = first.checked_sub(1).map(|at| context.lower(&context.tokens[at])).unwrap_or_default();
    matches!(
        before,
        "at" | "from"
            | "to"
            | "with"
            | "in"
            | "of"
            | "by"
            | "for"
            | "near"
            | "en"
            | "de"
            | "del"
            | "a"
            | "al"
            | "con"
            | "the"
            | "el"
            | "la"
    )
}

/// A form of a verb, a small form of a noun ("navajita") or a plural.
fn is_word_of_spanish(lower: &str) -> bool {
    let ordinary = |word: &str| lexicon::is_ordinary_in(Language::Spanish, word);
    trade::is_verb(lower)
        || is_small_form(lower)
        || lower.strip_suffix("es").or_else(|| lower.strip_suffix('s')).is_some_and(ordinary)
}

fn is_small_form(lower: &str) -> bool {
    let small = ["ita", "ito", "itas", "itos"].iter().filter_map(|ending| lower.strip_suffix(ending));
    let mut of = small.flat_map(|stem| ["a", "o", "e"].map(|ending| format!("{stem}{ending}")));
    of.any(|word| lexicon::is_ordinary_in(Language::Spanish, &word))
}

fn is_of_oneself(lower: &str) -> bool {
    matches!(
        lower,
        "myself"
            | "yourself"
            | "himself"
            | "herself"
            | "ourselves"
            | "themselves"
            | "me"
            | "mi"
            | "su"
            | "tu"
            | "my"
            | "his"
            | "her"
    ) || ["arme", "erme", "irme", "arse", "erse", "irse", "arte"].iter().any(|ending| lower.ends_with(ending))
}
